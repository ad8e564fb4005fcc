"""Sample inputs for what copies an array or converts it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import with_tangent
from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal
from .shape import layouts


@sample_inputs(np.copy, np.ndarray.copy)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for layout, x in layouts(rng):
        for order in "CFAK":
            yield sample(x, order=order, _name=f"{layout} array in order {order}")
    yield sample(complex_normal(rng, 2, 3).astype(np.complex64))
    yield sample(rng.standard_normal(3).astype(np.float32), "F")
    yield sample(np.array(1.5), _name="0-d array")
    yield sample(np.arange(3), _constant=True, _name="integers")


@sample_inputs(np.copy)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(1.5, _name="Python float")
    yield sample([1.5, 2, rng.standard_normal()], _name="list")
    yield sample(rng.standard_normal(3), "K", True, _name="subok")


@sample_inputs(np.ndarray.astype, np.astype)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, z = rng.standard_normal((2, 3)), complex_normal(rng, 2, 3)
    yield sample(x, np.float64)
    yield sample(x, np.float64, copy=False, _name="to itself")
    yield sample(x.astype(np.float32), np.float64)
    yield sample(x, "complex128", _name="real to complex")
    yield sample(z, np.complex128, copy=False)
    yield sample(np.array(1.5), complex, _name="0-d array")
    yield sample(np.arange(3), float, _constant=True, _name="integers to floats")
    yield sample(x, np.int64, _name="floats to integers")
    yield sample(x, bool, _name="floats to truth values")


@sample_inputs(np.ndarray.astype)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((2, 3))
    yield sample(x, float, "F")
    yield sample(x, complex, order="K", casting="safe", subok=False, copy=True)


@sample_inputs(np.array)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, y, z = rng.standard_normal(3), rng.standard_normal(3), complex_normal(rng, 2, 2)
    yield sample(x)
    yield sample(z, copy=False, order="C", subok=True)
    yield sample(x, complex, ndmin=3)
    yield sample(1.5, ndmin=2, _name="Python float")
    yield sample([x, y], _name="list of arrays")
    yield sample([[1.5, 2.5], [3, 4.5]], _name="nested list")
    yield sample(((1.5, 2.5j), (3.5, 4.5)), _name="real and complex numbers")
    yield sample([x, 2 * x], int, _name="floats to integers")


@sample_inputs(np.asarray, np.asanyarray)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, z = rng.standard_normal((2, 3)), complex_normal(rng, 2)
    yield sample(x)
    yield sample(x, complex, "F")
    yield sample(x, dtype=np.float64, order="F", copy=True)
    yield sample(z, copy=None)
    yield sample(1.5, _name="Python float")
    yield sample([x[0], x[1]], _name="list of arrays")
    yield sample(np.arange(3), float, _constant=True, _name="integers")


@sample_inputs(np.ascontiguousarray, np.asfortranarray)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for layout, x in layouts(rng):
        yield sample(x, _name=f"{layout} array")
    yield sample(complex_normal(rng, 2, 2), np.complex128)
    yield sample(rng.standard_normal(2).astype(np.float32), dtype=complex)
    yield sample(1.5, _name="Python float")
    yield sample([1.5, 2.5], _name="list")


@sample_inputs(np.asarray_chkfinite)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((2, 3))
    yield sample(x)
    yield sample(x, np.float32, "F")
    yield sample(complex_normal(rng, 2), dtype=None, order="C")
    yield sample([1.5, 2.5], complex, _name="list")
    yield sample(1.5, _name="Python float")
    yield sample(np.arange(3), _constant=True, _name="integers")


@sample_inputs(np.require)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((2, 3))
    for requirements in (None, "F", ["C", "O", "W"], "E"):
        yield sample(x, None, requirements)
    yield sample(x, np.float32, requirements=["A"])
    yield sample(x.T[::-1], requirements="C", _name="strided")
    yield sample(complex_normal(rng, 2), dtype=np.complex64)
    yield sample([1.5, 2.5], float, _name="list")
    yield sample(np.arange(3), float, "C", _constant=True, _name="integers")


@sample_inputs(np.real_if_close)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, z = rng.standard_normal((2, 3)), complex_normal(rng, 2, 3)
    yield sample(x)
    yield sample(z)
    yield sample(z, tol=0.5)
    yield sample(with_tangent(x + 0j, rng.standard_normal((2, 3)) + 0j), _name="real numbers in complex ones")
    yield sample(z.astype(np.complex64), tol=1000)
    yield sample(z, 1e17, _name="large tolerance")
    yield sample(x.astype(np.float32))
    yield sample([1.5, 2.5], _name="list")
    yield sample(np.arange(3), _constant=True, _name="integers")
