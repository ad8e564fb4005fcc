"""Sample inputs for the linear maps that the rules of `scipy.ndimage` are made of, and their transposes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import ndimage

from rulescore import NoTangent
from rulescore.shipped import import_shipped

from .... import with_tangent
from ...numpy.reductions import complex_normal
from ...sampling import Sample, sample, sample_inputs
from .rank_filters import apart
from .transforms import coordinates_within

_correlations = import_shipped("rules.scipy.ndimage.correlations")
correlation_spread = _correlations.correlation_spread
correlation_weights = _correlations.correlation_weights
_ranks = import_shipped("rules.scipy.ndimage.ranks")
Picks = _ranks.Picks
gather_picked = _ranks.gather_picked
picked = _ranks.picked
spread_picked = _ranks.spread_picked
uniform_spread = import_shipped("rules.scipy.ndimage.smoothing").uniform_spread
_spline_sampling = import_shipped("rules.scipy.ndimage.spline_sampling")
enlarged = _spline_sampling.enlarged
enlarged_spread = _spline_sampling.enlarged_spread
sample_axis = _spline_sampling.sample_axis
sample_spline = _spline_sampling.sample_spline
spline_coefficients = _spline_sampling.spline_coefficients
spline_coefficients_spread = _spline_sampling.spline_coefficients_spread
spread_axis = _spline_sampling.spread_axis
spread_spline = _spline_sampling.spread_spline
_windows = import_shipped("rules.scipy.ndimage.windows")
Window = _windows.Window
gather_structure = _windows.gather_structure
gather_ties = _windows.gather_ties
selected = _windows.selected
spread_structure = _windows.spread_structure
spread_ties = _windows.spread_ties

WHOLE = "the rules made of it call it with arrays that fit each other"
OF_ITS_SHAPE = {"0-d": WHOLE, "empty": WHOLE, "size-1 axis": WHOLE}
OF_FLOATS = {
    **OF_ITS_SHAPE,
    "integer": "what SciPy makes of an image of integers it rounds, so that no rule asks for it",
}


@sample_inputs(correlation_spread)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    y = rng.standard_normal((4, 5))
    yield sample(y, rng.standard_normal(3), (1,), [1], "reflect")
    yield sample(y, rng.standard_normal((2, 3)), (0, 1), [-1, 0], "mirror")
    yield sample(complex_normal(rng, 4, 5), complex_normal(rng, 3), (0,), [0], "constant")


@sample_inputs(correlation_weights)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    y, x = rng.standard_normal((4, 5)), rng.standard_normal((4, 5))
    yield sample(y, x, (3,), (1,), [1], "nearest", _skip=OF_FLOATS)
    yield sample(y, x, (2, 3), (0, 1), [-1, 0], "wrap", _skip=OF_FLOATS)
    yield sample(y, x, (2, 3), (0, 1), [-1, 0], "constant", 1.5, _skip=OF_FLOATS)
    z, w = complex_normal(rng, 4, 5), complex_normal(rng, 4, 5)
    yield sample(z, w, (3,), (0,), [0], "constant", _skip=OF_FLOATS)


@sample_inputs(uniform_spread)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((4, 5)), 3, 1, "reflect", 0)
    yield sample(complex_normal(rng, 4, 5), 4, 0, "wrap", 1)


@sample_inputs(spline_coefficients, spline_coefficients_spread)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((4, 5)), 3, (0, 1), "mirror")
    yield sample(complex_normal(rng, 40), 5, (0,), "constant")


@sample_inputs(enlarged)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((3, 2)), 4, "nearest", _skip=OF_ITS_SHAPE)
    yield sample(complex_normal(rng, 3), 2, "grid-constant", _skip=OF_ITS_SHAPE)


@sample_inputs(enlarged_spread)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((9, 8)), 3, "nearest", _skip=OF_ITS_SHAPE)
    yield sample(complex_normal(rng, 7), 2, "grid-constant", _skip=OF_ITS_SHAPE)


@sample_inputs(sample_spline)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    shape = (4, 5)
    yield sample(rng.standard_normal(shape), coordinates_within(rng, shape, 3, beyond=2), 3, "reflect", ((0, 0),))
    yield sample(complex_normal(rng, *shape), coordinates_within(rng, shape, 3), 4, "constant", ((1, 0), (0, 2)))


@sample_inputs(spread_spline)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    shape = (4, 5)
    x = coordinates_within(rng, shape, 3, beyond=2)
    yield sample(rng.standard_normal((1, 3)), x, 3, "reflect", ((0, 0),), shape, _skip=OF_ITS_SHAPE)
    yield sample(complex_normal(rng, 2, 3), x, 4, "constant", ((1, 0), (0, 2)), shape, _skip=OF_ITS_SHAPE)


@sample_inputs(sample_axis)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = coordinates_within(rng, (5,), 6, beyond=2)[0]
    yield sample(rng.standard_normal((4, 5)), x, 1, 3, "reflect", 0)
    yield sample(complex_normal(rng, 5, 2), x, 0, 4, "nearest", 1)


@sample_inputs(spread_axis)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = coordinates_within(rng, (5,), 6, beyond=2)[0]
    yield sample(rng.standard_normal((4, 6)), x, 1, 3, "reflect", 0, 5)
    yield sample(complex_normal(rng, 6, 2), x, 0, 4, "nearest", 1, 5)


def extremes(rng: np.random.Generator) -> list[Any]:
    """An image of integers with ties, its maxima in windows of three, and that window, none of which moves."""
    x = rng.integers(0, 4, (4, 5))
    return [
        x,
        ndimage.maximum_filter1d(x, 3),
        with_tangent(Window(np.ones(3, bool), [1], [0], ["reflect"], 0), NoTangent()),
    ]


@sample_inputs(gather_ties, spread_ties)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((4, 5)), *extremes(rng), _skip=OF_ITS_SHAPE)


@sample_inputs(gather_structure, spread_structure)
def of_structures(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(3), *extremes(rng), _function=gather_structure, _skip=OF_ITS_SHAPE)
    yield sample(rng.standard_normal((4, 5)), *extremes(rng), _function=spread_structure, _skip=OF_ITS_SHAPE)


@sample_inputs(selected)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(apart(rng, 4, 5), size=3, _function=ndimage.maximum_filter)


def picks_of_medians(x: Any) -> Any:
    """Which elements are medians, found already: finding them when they are asked for writes to the object."""
    picks = Picks(medians, x, 1.0)
    _ = picks.numbers
    return with_tangent(picks, NoTangent())


def medians(x: Any, cval: Any) -> Any:
    return ndimage.median_filter(x, 3, mode="constant", cval=cval)


@sample_inputs(gather_picked, spread_picked)
def of_picks(rng: np.random.Generator) -> Iterator[Sample]:
    for x in (apart(rng, 4, 5), rng.integers(0, 4, (4, 5)).astype(float)):
        picks = picks_of_medians(x)
        yield sample(rng.standard_normal(21), picks, _function=gather_picked, _skip=OF_ITS_SHAPE)
        yield sample(rng.standard_normal((4, 5)), picks, _function=spread_picked, _skip=OF_ITS_SHAPE)


@sample_inputs(picked)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(apart(rng, 4, 5), 3, _function=ndimage.median_filter)
