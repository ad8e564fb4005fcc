"""Sample inputs for interpolation on lines and grids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import interpolate
from scipy.sparse import linalg as sparse_linalg

from rulescore import instances_of

from ...numpy.reductions import complex_normal
from ...sampling import Sample, sample, sample_inputs
from .splines import abscissas, between, built


@sample_inputs(interpolate.interp1d)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    cls, x = interpolate.interp1d, abscissas(rng, 7)
    q = between(rng, x, 3)
    for kind in ("linear", "nearest", "zero", "quadratic", "cubic"):
        yield built(cls, (x, rng.standard_normal(7)), q, kind=kind)
    yield built(cls, (x[::-1].copy(), rng.standard_normal((7, 2))), q, axis=0, _name="in descending order")
    yield built(cls, (x, rng.standard_normal(7)), q + 20.0, kind="cubic", fill_value="extrapolate")
    equal = {"repeated values": "between equal abscissas SciPy divides by 0"}
    yield built(cls, (x, rng.standard_normal(7)), q + 20.0, bounds_error=False, fill_value=(0.5, 1.5), _skip=equal)


@sample_inputs(instances_of(interpolate.interp1d))
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = abscissas(rng, 7)
    q, y = between(rng, x, 2, 2), rng.standard_normal((2, 7))
    for kind in ("linear", "nearest", "nearest-up", "previous", "next", "zero", "slinear", "quadratic", "cubic", 4):
        yield sample(q, _function=interpolate.interp1d(x, y, kind), _name=str(kind))
    beyond = between(rng, x, 4, beyond=2.0)
    yield sample(beyond, _function=interpolate.interp1d(x, y[0], fill_value="extrapolate"), _name="extrapolated")
    line: Any = interpolate.interp1d
    filled = line(x, y[0], bounds_error=False, fill_value=(0, 1))
    yield sample(beyond, _function=filled, _name="filled")
    yield sample(q, _function=line(x, complex_normal(rng, 7), "cubic"), _name="complex")


@sample_inputs(interpolate.RegularGridInterpolator)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    cls, grid = interpolate.RegularGridInterpolator, (abscissas(rng, 4), abscissas(rng, 5))
    q = np.stack([between(rng, x, 3) for x in grid], axis=-1)
    for method in ("linear", "nearest", "slinear"):
        yield built(cls, (grid, rng.standard_normal((4, 5))), q, method=method, fill_value=None)
    cubic: dict[str, Any] = {"method": "cubic", "fill_value": None, "solver": sparse_linalg.spsolve}
    yield built(cls, (grid, rng.standard_normal((4, 5))), q, **cubic, _name="cubic")
    descending = (grid[0][::-1].copy(),)
    yield built(cls, (descending, rng.standard_normal((4, 2))), q[:, :1], fill_value=None, _name="descending")


@sample_inputs(instances_of(interpolate.RegularGridInterpolator))
def _(rng: np.random.Generator) -> Iterator[Sample]:
    grid = abscissas(rng, 6), abscissas(rng, 7)
    values = rng.standard_normal((6, 7))
    q = np.stack([between(rng, x, 5) for x in grid], axis=-1)
    make: Any = interpolate.RegularGridInterpolator
    for method in ("linear", "nearest"):
        yield sample(q, _function=make(grid, values, method, fill_value=None), _name=method)
    for method in ("slinear", "cubic", "quintic"):
        # The other solvers iterate, and stop at some five digits.
        made = make(grid, values, method, fill_value=None, solver=sparse_linalg.spsolve)
        yield sample(q, _function=made, _name=method)
    trailing = make(grid, rng.standard_normal((6, 7, 2)), bounds_error=False, fill_value=None)
    yield sample(q + 5.0, _function=trailing, _name="extrapolated, more axes")
    yield sample(q[0], _function=make(grid, complex_normal(rng, 6, 7), fill_value=None), _name="complex, one point")


@sample_inputs(interpolate.interpn)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    grid = abscissas(rng, 4), abscissas(rng, 5)
    values = rng.standard_normal((4, 5))
    q = np.stack([between(rng, x, 2, 3) for x in grid], axis=-1)
    for method in ("linear", "nearest"):
        yield sample(grid, values, q, method)
    yield sample(grid, values, q + 4.0, bounds_error=False, fill_value=None)
    yield sample(grid, values, q + 4.0, bounds_error=False, fill_value=0.5)
    yield sample((grid[0][::-1].copy(), grid[1]), values, (q[..., 0], q[..., 1]), _name="descending, in parts")
    cube = (*grid, abscissas(rng, 3))
    yield sample(cube, rng.standard_normal((4, 5, 3)), np.stack([between(rng, x, 2) for x in cube], axis=-1))
