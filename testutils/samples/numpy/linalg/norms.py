"""Sample inputs for norms of vectors and matrices, and condition numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rulescore.shipped import import_shipped

from ...sampling import Sample, sample, sample_inputs
from ..reductions import complex_normal
from .matrices import of_singular_values, regular

spectral_slopes = import_shipped("rules.numpy.linalg.spectral_slopes").spectral_slopes

VECTOR_ORDERS = (None, 2, 1, np.inf, -np.inf, 0, -1, -2, 3, 4.5, 1.5, 0.5, -0.5)
BY_WAY_OF_VECTORS = {"second order": "that is the third of a norm, which comes from singular vectors, as these do not"}
MATRIX_ORDERS = (None, "fro", "nuc", 2, -2, 1, -1, np.inf, -np.inf)


def away_from_zero(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Numbers of both signs, at least 0.3 from 0."""
    return rng.choice([-1.0, 1.0], shape) * rng.uniform(0.3, 2, shape)


@sample_inputs(np.linalg.norm)
def of_vectors(rng: np.random.Generator) -> Iterator[Sample]:
    for order in VECTOR_ORDERS:
        yield sample(away_from_zero(rng, 4), ord=order, _name=f"order {order}")
        yield sample(away_from_zero(rng, 3, 4), ord=order, axis=1, keepdims=True, _name=f"order {order} of rows")
    for order in (None, 1, np.inf, -1, 3):
        yield sample(complex_normal(rng, 3, 2), ord=order, axis=0, _name=f"order {order}, complex")
        yield sample(away_from_zero(rng, 3, 2).astype(np.float32), ord=order, axis=-1, _name=f"order {order}, float32")
    yield sample(rng.standard_normal((2, 3, 4)), _name="of all elements")
    yield sample(rng.standard_normal((2, 3, 4)), keepdims=True, _name="of all elements, with axes")
    yield sample(rng.standard_normal((2, 3, 4)), None, 1)
    yield sample(away_from_zero(rng, 2, 3, 4), 3, (-1,), True)
    yield sample(away_from_zero(rng, 4), 2.5, _name="a float as the order")
    yield sample(away_from_zero(rng, 3, 4), 2.0, 1, _name="a float as the order of rows")
    yield sample(away_from_zero(rng, 3, 4), -1.0, 0, True, _name="a negative float as the order")
    yield sample(complex_normal(rng, 4).astype(np.complex64), _name="complex64")
    yield sample(rng.standard_normal((4, 6))[::2, ::-2], ord=3, axis=0, _name="strided")
    yield sample(rng.standard_normal((3, 4)).tolist(), axis=1, _name="a list of lists")
    yield sample(1.5, _name="Python float")
    yield sample(np.array(-1.5), _name="0-d array")
    yield sample(np.zeros((2, 0)), axis=1, _name="nothing")
    yield sample(np.array([3.0, 0.0, -4.0]), ord=3, _name="with a zero")
    yield sample(np.array([3.0, 0.0, -4.0]), _name="length, with a zero")


@sample_inputs(np.linalg.norm)
def of_matrices(rng: np.random.Generator) -> Iterator[Sample]:
    for order in MATRIX_ORDERS:
        yield sample(of_singular_values(rng, [3.0, 2.0, 1.0], 3, 4), ord=order, _name=f"matrix, order {order}")
        stack = of_singular_values(rng, [3.0, 2.0, 1.0], 4, 3)[:, None, :] * np.array([1.0, 2.0])[:, None]
        yield sample(stack, ord=order, axis=(2, 0), keepdims=True, _name=f"matrices, order {order}")
        tall = of_singular_values(rng, [3.0, 1.5], 3, 2, complex)
        yield sample(tall, ord=order, axis=(-2, -1), _name=f"complex matrix, order {order}")
    for values in ([2.0, 1.0, 1.0], [2.0, 1.0, 0.0]):
        yield sample(of_singular_values(rng, values, 3), 2, _name=f"the largest of {values}")
    yield sample(of_singular_values(rng, [2.0, 2.0, 1.0], 3), -2, _name="the smallest of [2, 2, 1]")
    yield sample(of_singular_values(rng, [2.0, 2.0, 2.0], 3), "nuc", _name="nuclear norm of a rotation")
    yield sample(of_singular_values(rng, [2.0, 1.0], 2).astype(np.float32), "nuc", _name="nuclear norm, float32")
    yield sample(of_singular_values(rng, [2.0, 1.0], 2, 2, complex).astype(np.complex64), 2, _name="complex64")


@sample_inputs(np.linalg.vector_norm)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for order in VECTOR_ORDERS[1:]:
        yield sample(away_from_zero(rng, 3, 4), ord=order, _name=f"order {order}")
        yield sample(away_from_zero(rng, 2, 3, 4), ord=order, axis=(0, 2), keepdims=True, _name=f"order {order}, axes")
    x = away_from_zero(rng, 2, 3, 4)
    for axis in (1, -1, (2, 1), (0,)):
        yield sample(x, axis=axis)
    yield sample(x, keepdims=True)
    yield sample(complex_normal(rng, 3, 4), axis=0, ord=3, _name="complex")
    yield sample(rng.standard_normal(4).astype(np.float32))
    yield sample(complex_normal(rng, 4).astype(np.complex64), ord=1)
    yield sample(rng.standard_normal((3, 4)).tolist(), axis=1, _name="a list of lists")
    yield sample(np.zeros((2, 0)), axis=1, _name="nothing")


@sample_inputs(np.linalg.matrix_norm)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for order in MATRIX_ORDERS[1:]:
        yield sample(of_singular_values(rng, [3.0, 2.0, 1.0], 3, 4), ord=order, _name=f"order {order}")
    stack = np.array([1.0, 2.0])[:, None, None] * of_singular_values(rng, [3.0, 2.0], 2, 3)
    yield sample(stack)
    yield sample(stack, keepdims=True, ord="nuc")
    yield sample(stack.astype(np.float32), ord=1)
    yield sample(of_singular_values(rng, [3.0, 2.0], 2, 3, complex), ord=2, _name="complex")
    yield sample([[2.0, 1.0], [0.5, 3.0]], _name="a list of lists")


@sample_inputs(np.linalg.cond)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for order in MATRIX_ORDERS:
        yield sample(of_singular_values(rng, [3.0, 2.0, 1.0], 3), p=order, _name=f"order {order}")
        yield sample(of_singular_values(rng, [3.0, 2.0, 1.0], 3, 3, complex), p=order, _name=f"order {order}, complex")
        yield sample(regular(rng, 2, 3, 3), p=order, _name=f"order {order}, a stack of matrices")
    yield sample(of_singular_values(rng, [3.0, 2.0], 2, 4), _name="wide")
    yield sample(of_singular_values(rng, [3.0, 2.0], 4, 2), -2, _name="tall")
    yield sample(of_singular_values(rng, [3.0, 2.0, 2.0, 1.0], 4), _name="equal singular values in between")
    yield sample(regular(rng, 3, 3).astype(np.float32))
    yield sample(regular(rng, 3, 3).astype(np.float32), "fro")
    yield sample([[2.0, 1.0], [0.5, 3.0]], 1, _name="a list of lists")


@sample_inputs(spectral_slopes)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(of_singular_values(rng, [3.0, 2.0, 1.0], 3), (2, -2, "nuc"))
    yield sample(of_singular_values(rng, [3.0, 2.0], 4, 2), ("nuc", 2), _name="tall")
    yield sample(of_singular_values(rng, [3.0, 2.0], 2, 4, complex), ("nuc", -2), _name="wide, complex")
    equal = of_singular_values(rng, [3.0, 2.0, 2.0, 1.0], 4, 5, complex)
    yield sample(equal, (2, -2), _name="equal ones in between", _skip=BY_WAY_OF_VECTORS)
    stack = np.array([1.0, 2.0])[:, None, None] * of_singular_values(rng, [3.0, 2.0], 2, 3)
    yield sample(stack, (2,), _name="a stack of matrices")
    yield sample(stack.astype(np.float32), ("nuc",))
