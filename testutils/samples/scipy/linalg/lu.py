"""Sample inputs for the LU decomposition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg

from ...numpy.linalg.matrices import normal, regular
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY


def shuffled(rng: np.random.Generator, *shape: int, dtype: Any = float) -> Any:
    """Matrices whose largest elements stand clear of the others, in rows of any order."""
    matrix = normal(rng, *shape, dtype=dtype) + 5 * np.eye(shape[-2], shape[-1])
    return matrix[..., rng.permutation(shape[-2]), :]


@sample_inputs(scipy.linalg.lu_factor, scipy.linalg.lu)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(shuffled(rng, 4, 4))
    yield sample(shuffled(rng, 4, 2), _name="tall")
    yield sample(shuffled(rng, 2, 4), _name="wide")
    yield sample(shuffled(rng, 3, 3, dtype=complex), _name="complex")
    yield sample(shuffled(rng, 4, 2, dtype=complex), _name="complex, tall")
    yield sample(shuffled(rng, 3, 3).astype(np.float32))
    yield sample(np.asfortranarray(shuffled(rng, 3, 3)), _name="in Fortran order")
    yield sample([[2.0, 1.0], [5.0, 3.0]], _name="lists")


@sample_inputs(scipy.linalg.lu, *([scipy.linalg.lu_factor] if SCIPY >= "1.16.0" else []))
def stacks(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(shuffled(rng, 2, 3, 3), _name="a stack")
    yield sample(shuffled(rng, 2, 2, 4), _name="a stack of wide ones")


@sample_inputs(scipy.linalg.lu)
def returned(rng: np.random.Generator) -> Iterator[Sample]:
    """In the other forms that it returns."""
    yield sample(shuffled(rng, 4, 4), permute_l=True)
    yield sample(shuffled(rng, 4, 2), True, _name="tall, permuted")
    yield sample(shuffled(rng, 2, 3, 3), permute_l=True, _name="a stack, permuted")
    yield sample(shuffled(rng, 4, 4), p_indices=True)
    yield sample(shuffled(rng, 2, 4, 3), p_indices=True, _name="a stack, indices")


@sample_inputs(scipy.linalg.lu_solve)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    pivots = np.array([1, 2, 2], dtype=np.int32)
    skip = dict.fromkeys(("empty", "size-1 axis"), "the exchanges name rows that are no longer there")

    def factors(*shape: int, dtype: Any = float) -> Any:
        more = normal(rng, *shape, dtype=dtype) if dtype is complex else 0
        return (regular(rng, *shape) + more, np.broadcast_to(pivots, shape[:-1]).copy())

    for trans in (0, 1, 2):
        yield sample(factors(3, 3), rng.standard_normal(3), trans, _name=f"trans {trans}", _skip=skip)
        yield sample(
            factors(3, 3, dtype=complex), normal(rng, 3, 2, dtype=complex), trans, _name=f"complex {trans}", _skip=skip
        )
    if SCIPY >= "1.16.0":
        yield sample(factors(2, 3, 3), rng.standard_normal((2, 3, 2)), _name="stacks", _skip=skip)
        yield sample(factors(2, 3, 3), rng.standard_normal(3), _name="stack of matrices, one vector", _skip=skip)
    packed, order = factors(3, 3)
    single = {**skip, "thousandfold": "a triangle of ones and numbers that large is no well-conditioned factor"}
    yield sample((packed.astype(np.float32), order), rng.standard_normal(3).astype(np.float32), _skip=single)
