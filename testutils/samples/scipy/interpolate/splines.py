"""Sample inputs for splines and other piecewise polynomials: building them, and calling them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import interpolate

from rulescore import instances_of, seen_by_tracers
from rulescore.shipped import import_shipped

from ...numpy.reductions import complex_normal
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY

bsplines = import_shipped("rules.scipy.interpolate.bsplines")
evaluated = import_shipped("rules.scipy.interpolate.evaluation").evaluated


def abscissas(rng: np.random.Generator, n: int) -> Any:
    """Points in ascending order, none close to the next."""
    return np.cumsum(rng.uniform(0.6, 1.4, n))


def between(rng: np.random.Generator, x: Any, *shape: int, beyond: float = 0.0) -> Any:
    """Points within the range of others or somewhat beyond, none of them close to one of those."""
    interval = rng.integers(0, len(x) - 1, shape)
    inside = x[interval] + rng.uniform(0.2, 0.8, shape) * (x[interval + 1] - x[interval])
    return inside + np.where(rng.uniform(size=shape) < 0.5, 0.0, beyond * (x[-1] - x[0]))


# ---------------------------------------------------------------- objects that are built, and called


def built(
    build: Any,
    data: tuple[Any, ...],
    points: Any,
    nu: int = 0,
    _name: str | None = None,
    _skip: dict[str, str] | None = None,
    **options: Any,
) -> Sample:
    """A sample of what builds an object, by calling that: the rules return objects of classes of their own."""
    return sample(build, data, points, nu, options, _function=evaluated, _name=_name or str(options), _skip=_skip)


@sample_inputs(interpolate.CubicSpline, evaluated)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    cls = interpolate.CubicSpline
    for n in (2, 3, 4, 7):
        x = abscissas(rng, n)
        for bc in ("not-a-knot", "natural", "clamped"):
            yield built(cls, (x, rng.standard_normal(n)), between(rng, x, 3), bc_type=bc)
    x = abscissas(rng, 6)
    q = between(rng, x, 3)
    given = ((1, np.array([0.3, 0.5])), (2, np.array([-0.4, 0.1])))
    yield built(cls, (x, rng.standard_normal((6, 2))), q, bc_type=given, _name="derivatives that are given")
    yield built(cls, (x, rng.standard_normal((2, 6))), q, 1, axis=1, bc_type=("natural", "not-a-knot"), _name="axis 1")
    yield built(cls, (x, complex_normal(rng, 6)), q, _name="complex")
    yield built(cls, (np.arange(5), rng.standard_normal(5)), q[:1] / 3, _name="integer points")


@sample_inputs(interpolate.PchipInterpolator)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    cls, x = interpolate.PchipInterpolator, abscissas(rng, 7)
    q = between(rng, x, 6)
    yield built(cls, (x, rng.standard_normal(7)), q)
    yield built(cls, (x, np.cumsum(rng.uniform(0.5, 2, 7))), q, _name="monotone")
    yield built(cls, (x, np.array([3.0, 2.0, 2.5, 2.4, 1.0, 1.5, -2.0])), q, _name="ends that are limited")
    yield built(cls, (x, rng.standard_normal((2, 7))), q, axis=1)
    yield built(cls, (x[:2], rng.standard_normal(2)), between(rng, x[:2], 3), _name="two points")


@sample_inputs(interpolate.Akima1DInterpolator)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    cls, x = interpolate.Akima1DInterpolator, abscissas(rng, 7)
    q = between(rng, x, 6)
    yield built(cls, (x, rng.standard_normal(7)), q)
    yield built(cls, (x, rng.standard_normal((2, 7))), q, axis=-1)
    yield built(cls, (x, rng.standard_normal(7)), q + 20.0, method="makima", extrapolate=True)
    yield built(cls, (x[:3], rng.standard_normal(3)), between(rng, x[:3], 3), _name="three points")


@sample_inputs(interpolate.CubicHermiteSpline)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    cls, x = interpolate.CubicHermiteSpline, abscissas(rng, 5)
    yield built(cls, (x, rng.standard_normal(5), rng.standard_normal(5)), between(rng, x, 4))
    yield built(cls, (x, rng.standard_normal((2, 5)), rng.standard_normal((2, 5))), between(rng, x, 4), 1, axis=1)


@sample_inputs(interpolate.PPoly)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    cls, x = interpolate.PPoly, abscissas(rng, 5)
    yield built(cls, (rng.standard_normal((3, 4)), x), between(rng, x, 4))
    yield built(cls, (rng.standard_normal((3, 4, 2)), x), between(rng, x, 4, beyond=2.0), extrapolate="periodic")


@sample_inputs(interpolate.BSpline)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    cls, t = interpolate.BSpline, abscissas(rng, 9)
    yield built(cls, (t, rng.standard_normal(5), 3), between(rng, t[3:6], 4))
    yield built(cls, (t, rng.standard_normal((2, 6)), 2), between(rng, t[2:7], 4), 1, axis=1, extrapolate=False)
    yield built(cls, (t, rng.standard_normal(5), 3), between(rng, t[3:6], 4, beyond=2.0), _name="beyond")


BEYOND = "of one point, SciPy 1.17 makes too few knots, and reads and writes beyond them"
ONE_POINT = {"size-1 axis": BEYOND, "0-d": BEYOND}


def on_given_knots(x: Any, y: Any, t: Any) -> Any:
    """A spline on given knots, with an error where SciPy 1.17 writes beyond the band of its equations."""
    bsplines.require_a_spline_between(x, 3, t)
    return seen_by_tracers(interpolate.make_interp_spline, x, y, t=t)


@sample_inputs(interpolate.make_interp_spline)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    build, x = interpolate.make_interp_spline, abscissas(rng, 8)
    q = between(rng, x[3:5], 4)
    for k in (1, 2, 3, 4, 5):
        yield built(build, (x, rng.standard_normal(8), k), q, _skip=ONE_POINT if k == 1 else None)
    for bc in ("natural", "clamped", ([(1, 0.3)], [(2, 0.4)])):
        yield built(build, (x, rng.standard_normal(8)), q, bc_type=bc, _skip=ONE_POINT)
    t = np.concatenate([x[0] - [0.4, 0.3, 0.2, 0.1], x[2:-2], x[-1] + [0.1, 0.2, 0.3, 0.4]])
    yield built(on_given_knots, (x, rng.standard_normal(8)), q, t=t, _name="knots that are given")
    yield built(build, (x, rng.standard_normal((2, 8))), q, 1, axis=1)
    yield built(build, (x, complex_normal(rng, 8)), q, _name="complex")


@sample_inputs(interpolate.make_lsq_spline)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    build, x = interpolate.make_lsq_spline, abscissas(rng, 9)
    t = np.concatenate([x[0] - [2.3, 2.2, 2.1, 2.0], x[4:5] + 0.2, x[-1] + [2.0, 2.1, 2.2, 2.3]])
    q = between(rng, x, 4)
    yield built(build, (x, rng.standard_normal(9), t), q)
    yield built(build, (x, rng.standard_normal((9, 2)), t), q, w=rng.uniform(0.5, 2.0, 9), _name="weights")
    if SCIPY >= "1.16.0":  # before, an error about memory
        yield built(build, (x, rng.standard_normal((2, 9)), t[1:-1]), q, k=2, axis=1)


@sample_inputs(interpolate.make_splrep)
def interpolating(rng: np.random.Generator) -> Iterator[Sample]:
    """Of degrees for which it interpolates without smoothing."""
    x = abscissas(rng, 8)
    for k in (2, 3):
        yield built(interpolate.make_splrep, (x, rng.standard_normal(8)), between(rng, x, 4), k=k)


@sample_inputs(interpolate.NdBSpline)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    t = abscissas(rng, 7), abscissas(rng, 8)
    q = np.stack([between(rng, t[0][2:5], 3), between(rng, t[1][3:5], 3)], axis=-1)
    cls = interpolate.NdBSpline
    yield built(cls, (t, rng.standard_normal((4, 4)), (2, 3)), q)
    yield built(cls, (t, rng.standard_normal((4, 4, 2)), (2, 3)), q + 9.0)


@sample_inputs(instances_of(interpolate.NdBSpline))
def _(rng: np.random.Generator) -> Iterator[Sample]:
    t = abscissas(rng, 7), abscissas(rng, 8)
    q = np.stack([between(rng, t[0][2:5], 3), between(rng, t[1][3:5], 3)], axis=-1)
    yield sample(q, _function=interpolate.NdBSpline(t, rng.standard_normal((4, 4)), (2, 3)))


@sample_inputs(interpolate.bisplev)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    tx, ty, c = abscissas(rng, 8), abscissas(rng, 9), rng.standard_normal(4 * 5)
    x, y = np.sort(between(rng, tx[3:5], 3)), np.sort(between(rng, ty[3:6], 2))
    yield sample(x, y, (tx, ty, c, 3, 3))
    yield sample(x, y[:1], (tx, ty, c, 3, 3), 1, 2)
    yield sample(x[0], y[0], (tx, ty, c, 3, 3), _name="one point")


# ---------------------------------------------------------------- objects that are called


@sample_inputs(instances_of(interpolate.PPoly))
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = abscissas(rng, 6)
    q = between(rng, x, 2, 3)
    spline = interpolate.CubicSpline(x, rng.standard_normal((6, 2)))
    yield sample(q, _function=spline)
    yield sample(q, 1, _function=spline)
    yield sample(q, nu=4, _function=spline, _name="derivative that is zero")
    yield sample(between(rng, x, 4, beyond=1.0), _function=spline, _name="beyond")
    yield sample(q[0, 0], _function=interpolate.CubicSpline(x, complex_normal(rng, 6)), _name="complex")
    yield sample(q, _function=interpolate.PchipInterpolator(x, rng.standard_normal((2, 6)), axis=1), _name="axis 1")
    yield sample(q, _function=interpolate.Akima1DInterpolator(x, rng.standard_normal(6)), _name="Akima")
    periodic = interpolate.PPoly(rng.standard_normal((3, 5)), x, extrapolate="periodic")
    yield sample(between(rng, x, 5, beyond=2.0), _function=periodic, _name="periodic")
    yield sample(q.astype(np.float32), _function=spline, _name="points in single precision")


@sample_inputs(instances_of(interpolate.BSpline))
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = abscissas(rng, 8)
    q = between(rng, x[1:-1], 2, 3)
    spline = interpolate.BSpline(x - 0.2, rng.standard_normal((4, 2)), 3)
    yield sample(q, _function=spline)
    yield sample(q, 1, _function=spline)
    yield sample(q, _function=interpolate.BSpline(x, rng.standard_normal((2, 5)), 2, axis=1), _name="axis 1")
    yield sample(q, _function=interpolate.BSpline(x, complex_normal(rng, 4), 3), _name="complex")
    interpolating = interpolate.make_interp_spline(x, rng.standard_normal(8))
    yield sample(between(rng, x, 5), _function=interpolating, _name="repeated knots")


# ---------------------------------------------------------------- functions


@sample_inputs(interpolate.pchip_interpolate)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = abscissas(rng, 6)
    yield sample(x, rng.standard_normal(6), between(rng, x, 4))
    yield sample(x, rng.standard_normal((2, 6)), between(rng, x, 4), 1, 1)


@sample_inputs(interpolate.splrep)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = abscissas(rng, 8)
    for k in (1, 3, 5):
        yield sample(x, rng.standard_normal(8), k=k)
    yield sample(x, rng.standard_normal(8), s=0)


UNCHECKED = dict.fromkeys(
    ["0-d", "empty", "size-1 axis", "negated"],
    "FITPACK does not check its knots, and reads beyond those that are too few: it crashes or returns anything",
)


@sample_inputs(interpolate.splev)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = abscissas(rng, 8)
    tck = (x, rng.standard_normal(4), 3)
    q = between(rng, x[3:5], 3)
    yield sample(q, tck, _skip=UNCHECKED)
    yield sample(q, tck, 1, _skip=UNCHECKED)
    yield sample(q - 3.0, tck, ext=1, _skip=UNCHECKED)
    yield sample(np.concatenate([q, q + 30.0]), tck, ext=3, _skip=UNCHECKED)


@sample_inputs(interpolate.splder, interpolate.splantider)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    tck = (abscissas(rng, 9), np.concatenate([rng.standard_normal(5), np.zeros(4)]), 3)
    yield sample(tck, _skip=UNCHECKED)
    yield sample(tck, 2, _skip=UNCHECKED)


@sample_inputs(interpolate.splint)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = abscissas(rng, 9)
    tck = (x, np.concatenate([rng.standard_normal(5), np.zeros(4)]), 3)
    yield sample(x[3] + 0.2, x[5] - 0.3, tck, _skip=UNCHECKED)
    yield sample(x[4], x[0], tck, _name="beyond", _skip=UNCHECKED)
