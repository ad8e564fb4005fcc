"""What a mask leaves out has no part in derivatives, also where it is NaN: of every function that acts on each entry.

Whether one does so, its values tell: each entry of an argument moves nothing but entries of the output at its place.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from rulescore import MissingDerivativeError
from rulescore.ad import NoRuleError, TracerConversionError, UnrelatedOutputError, grad, jvp
from tests.fuzz.calls import functions, sampled

SAMPLES, MOST_ENTRIES = 2, 30
"""How many of a function, and of how many entries an argument."""

REFUSED = (NoRuleError, TracerConversionError, UnrelatedOutputError, MissingDerivativeError)

OF_NO_ENTRY_ALONE = {
    "interpolants, of points that are NaN": ("interpolate", "sample_axis"),
    "sequences between ends that are arrays": ("geomspace", "logspace"),
    "products over roots": ("freqs_zpk", "freqz_zpk"),
    "reductions over an axis of length one": ("logsumexp",),
    "densities of points, which are vectors": ("multivariate_normal",),
    "SciPy's own series does not end for them": ("hyp1f1", "hyperu"),
}
"""Whose rules do not know that they act on each entry, as their arguments are used together; pieces of their names."""

NAMES = [name for name in functions() if not any(part in name for part in sum(OF_NO_ENTRY_ALONE.values(), ()))]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("name", NAMES)
def test_what_is_missing_has_no_part_in_the_derivatives_of_what_acts_on_each_entry(name: str) -> None:
    for position in range(min(SAMPLES, len(functions()[name][1]))):
        for number, x in enumerate(sampled(name, position)[1]):
            if isinstance(x, np.ndarray) and x.dtype.kind in "fc" and 1 < x.size <= MOST_ENTRIES:
                call = of_argument(name, position, number)
                if acts_on_each_entry(call, x):
                    require_that_masks_keep_out(call, x)


@pytest.mark.parametrize(
    ("name", "acts"), [("numpy.sin", True), ("scipy.special._basic.zeta", True), ("numpy.cumsum", False)]
)
def test_what_acts_on_each_entry_is_known(name: str, acts: bool) -> None:
    assert acts_on_each_entry(of_argument(name, 0, 0), np.array([2.5, 1.5, 3.5])) == acts


def of_argument(name: str, position: int, number: int) -> Callable[[Any], list[Any]]:
    """The outputs of a sample's call, as a function of one of its arguments."""
    f, args, kwargs = sampled(name, position)

    def call(x: Any) -> list[Any]:
        y = f(*args[:number], x, *args[number + 1 :], **kwargs)
        return list(y) if isinstance(y, (tuple, list)) else [y]

    return call


def places(x: Any, y: Any) -> Any:
    """For each entry of an output, which entry of an argument is at its place; None where they do not broadcast."""
    try:
        return np.broadcast_to(np.arange(x.size).reshape(x.shape), np.shape(y))
    except ValueError:
        return None


def acts_on_each_entry(call: Callable[[Any], list[Any]], x: Any) -> bool:
    try:
        before = call(x.copy())
        for entry in range(x.size):
            moved = x.copy()
            moved.flat[entry] = moved.flat[entry] * 1.01 + 1e-3
            for y, other in zip(before, call(moved), strict=True):
                there = places(x, y)
                if there is None or np.shape(y) != np.shape(other) or np.asarray(y).dtype.kind not in "fciub":
                    return False
                if np.any((y != other) & ~(np.isnan(y) & np.isnan(other)) & (there != entry)):
                    return False
    except Exception:  # as of a point outside of the domain
        return False
    return True


def require_that_masks_keep_out(call: Callable[[Any], list[Any]], x: Any) -> None:
    missing, entry = x.copy(), x.size // 2
    missing.flat[entry] = np.nan
    try:
        outputs = call(missing.copy())
    except Exception:  # which refuses what is no number
        return
    for number, y in enumerate(outputs):
        is_kept = places(x, y) != entry
        if np.asarray(y).dtype.kind not in "fc" or not np.all(np.isfinite(np.asarray(y)[is_kept])):
            continue

        def kept(x: Any, number: int = number, is_kept: Any = is_kept) -> Any:
            y = call(x)[number]
            return np.sum(np.where(is_kept, np.real(y) + 0.5 * np.imag(y), 0.0))

        try:
            slopes = grad(kept)(missing.copy())
            curvatures = jvp(grad(kept), (missing.copy(),), (np.ones_like(missing),))[1]
            alone = jvp(grad(kept), (x.copy(),), (np.ones_like(x),))[1]
        except REFUSED:
            continue
        assert slopes.flat[entry] == 0
        assert np.all(np.isfinite(slopes))
        assert curvatures.flat[entry] == 0
        assert np.all(np.isfinite(curvatures) | ~np.isfinite(alone))
