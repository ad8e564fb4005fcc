"""Sample inputs for the order statistics: every method, between elements and at them, ties, NaN, weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .sorting import JUMP, apart

METHODS = (
    *("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull"),
    *("linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest"),
)


def with_nan(x: Any, *places: Any) -> Any:
    """A copy with NaN in some places."""
    x = x.copy()
    for place in places:
        x[place] = np.nan
    return x


@sample_inputs(np.median, np.nanmedian)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = apart(rng, 3, 4, 5)
    yield sample(x)
    for axis in (0, 1, -1, (0, 2), (-1, 0, 1), ()):
        yield sample(x, axis)
    yield sample(x, axis=1, keepdims=True)
    yield sample(x, (2, 0), None, False, True)
    yield sample(apart(rng, 7), overwrite_input=True)
    yield sample(apart(rng, 6).astype(np.float32))
    yield sample(np.array([1.0, 2.0, 2.0, 3.0, 0.0]), _name="ties", _skip=JUMP)
    yield sample(np.array([[1.0, 2.0, 2.0], [3.0, 3.0, 4.0]]), 1, _name="ties in rows", _skip=JUMP)
    yield sample(apart(rng, 5, 4).T, 0, _name="strided")
    yield sample(np.asfortranarray(apart(rng, 3, 4)), 1, _name="Fortran order")
    yield sample(np.array([[3, 1], [2, 2]]), _constant=True, _name="integers")
    yield sample(apart(rng, 5).tolist(), _name="list")
    yield sample(np.array([1.5]), _name="one element")
    yield sample(np.array(1.5), _name="0-d array")
    yield sample(np.float64(2.5), _name="number")
    yield sample(np.zeros((2, 0)), 0, _name="empty")
    yield sample(apart(rng, 4, 3), 0, _name="matrix")


@sample_inputs(np.median)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(apart(rng, 4) + 1j * apart(rng, 4), _name="complex")
    yield sample((apart(rng, 2, 5) + 1j).astype(np.complex64), -1, _name="complex64")


@sample_inputs(np.nanmedian)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(with_nan(apart(rng, 6), 2, 4), _name="NaN")
    yield sample(with_nan(apart(rng, 3, 5), (0, 1), (2, 2), (2, 4)), 1, _name="NaN in rows")
    yield sample(with_nan(apart(rng, 3, 5), (0, 1), (2, 2)), 0, keepdims=True)


def of_levels(rng: np.random.Generator, one: float) -> Iterator[Sample]:
    """Levels are given in parts of ``one``."""
    x, q = apart(rng, 3, 4, 5), 0.31 * one
    for method in METHODS:
        yield sample(apart(rng, 6), q, method=method)
        yield sample(x, one * np.array([0.1, 0.35, 0.62]), axis=1, method=method)
    for axis in (None, -1, (0, 2), (-1, 0, 1)):
        yield sample(x, q, axis)
    yield sample(x, q, 1, None, True, "hazen", True, _name="all by position")
    yield sample(x, one * np.array([[0.2, 0.9], [0.45, 0.7]]), axis=1, keepdims=True)
    yield sample(x, [0.15 * one, 0.15 * one, 0.8 * one], axis=0, _name="list of levels")
    yield sample(apart(rng, 4, 3).T, q, 1, _name="strided")
    yield sample(apart(rng, 5).astype(np.float32), q)
    yield sample(apart(rng, 5).astype(np.float32), np.array([q], np.float32))
    yield sample(np.array([3, 1, 2, 2, 7]), q, _name="integers")
    yield sample(apart(rng, 5).tolist(), q, _name="list")
    yield sample(apart(rng, 5), np.array(q), _name="0-d level")
    yield sample(np.array(1.5), q, _name="0-d array")
    yield sample(np.array([[1.0, 2.0, 2.0, 3.0], [0.5, 0.5, 1.5, 4.0]]), q, 1, _name="ties in rows", _skip=JUMP)
    yield sample(
        np.array([2.0, 1.0, 2.0, 3.0, 4.0, 4.0]),
        [0.25 * one, 0.9 * one],
        method="lower",
        _name="ties at an element",
        _skip=JUMP,
    )
    yield sample(apart(rng, 2, 100), one * np.linspace(0.0037, 0.991, 90), axis=1, _name="many levels")
    yield sample(apart(rng, 8), 0.63 * one, method="linear")


def with_weights(rng: np.random.Generator, one: float) -> Iterator[Sample]:
    """Likewise."""
    x, q = apart(rng, 3, 4), 0.37 * one
    weighted = {"method": "inverted_cdf"}
    yield sample(x, q, weights=rng.uniform(0.5, 1.5, (3, 4)), **weighted)
    yield sample(x, [q, 0.81 * one], axis=1, weights=rng.uniform(0.5, 1.5, (3, 4)), **weighted)
    yield sample(x, q, axis=(1, 0), weights=rng.uniform(0.5, 1.5, (4, 3)), **weighted)
    yield sample(x, q, axis=0, weights=np.array([[0], [2], [1]]) + np.arange(4), keepdims=True, **weighted)
    tied = np.array([2.0, 2.0, 2.0, 3.0])
    yield sample(tied, 0.41 * one, weights=np.array([9, 1, 0, 1]), **weighted, _name="tie that one element decides")
    yield sample(x.astype(np.float32), q, weights=rng.uniform(0.5, 1.5, (3, 4)).astype(np.float32), **weighted)


def of_rows_with_nan(rng: np.random.Generator, one: float) -> Iterator[Sample]:
    """Likewise, for what leaves out NaN."""
    x = with_nan(apart(rng, 3, 6), (0, 1), (2, 2), (2, 4))
    for method in METHODS:
        yield sample(x, one * np.array([0.22, 0.57]), 1, method=method)
    yield sample(x, 0.33 * one, _name="NaN")
    yield sample(x, 0.33 * one, axis=0, weights=rng.uniform(0.5, 1.5, (3, 6)), method="inverted_cdf")


# What NumPy's versions that leave out NaN do not take, or give in another order of axes.
@sample_inputs(np.quantile)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = apart(rng, 3, 4, 2)
    yield sample(x, np.array([[0.2, 0.9], [0.45, 0.7]]), axis=(0, 1), keepdims=True)
    yield sample(x, [0.37, 0.81], axis=1, weights=rng.uniform(0.5, 1.5, 4), method="inverted_cdf")
    yield sample(x, 0.37, axis=(2, 0), weights=np.arange(6).reshape(2, 3), method="inverted_cdf")


@sample_inputs(np.quantile, np.nanquantile)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from with_weights(rng, 1)
    yield from of_levels(rng, 1)


@sample_inputs(np.percentile, np.nanpercentile)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from with_weights(rng, 100)
    yield from of_levels(rng, 100)


@sample_inputs(np.nanquantile)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from of_rows_with_nan(rng, 1)


@sample_inputs(np.nanpercentile)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from of_rows_with_nan(rng, 100)
