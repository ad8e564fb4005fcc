"""A tangent or cotangent that is NaN makes all NaN that it has a part in.

An infinite slope times nothing is NaN, and the AD asks for it: where NaN comes out, it looks again for what has nothing
to do with it. A rule that leaves NaN out, as code does that means missing numbers by it, returns other numbers instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from optree import tree_map

from rulescore import MissingDerivativeError, NoTangent, Tangent, ZeroTangent, frule, rrule, unthunk
from tests.fuzz.calls import functions, own
from testutils import Sample

ENTRIES = 2


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", functions())
def test_no_rule_leaves_nan_out(name: str) -> None:
    f, (sample, *_) = functions()[name]
    for moved, lost in linear_maps(f, sample):
        for one, nan in zip(moved, lost, strict=True):
            assert np.shape(one) == np.shape(nan)
            assert not np.any(np.isfinite(one) & (one != 0) & np.isfinite(nan))


def linear_maps(f: Any, sample: Sample) -> Iterator[tuple[list[Any], list[Any]]]:
    """What both rules make of a unit vector and of the same vector of NaN."""
    f = f if sample.function is None else sample.function
    args, kwargs = tree_map(own, (sample.args, dict(sample.fkwargs)))

    def forward(i: int) -> Callable[[Any], Any]:
        def pushed(dx: Any) -> Any:
            tangents = (NoTangent(), *[dx if j == i else ZeroTangent() for j in range(len(args))])
            found = frule(tangents, f, *args, **kwargs)
            return None if found is None else found[1]

        return pushed

    found = rrule(f, *args, **kwargs)
    maps = [(x, forward(i)) for i, x in enumerate(args) if frule.records(f)]
    maps += [] if found is None else [found]
    rng = np.random.default_rng(0)
    for x, linear in maps:
        if not isinstance(x, np.ndarray) or x.dtype.kind not in "fc" or not x.size:
            continue
        for entry in rng.choice(x.size, min(ENTRIES, x.size), replace=False):
            unit, nan = np.zeros((2, *x.shape), x.dtype)
            unit.flat[entry], nan.flat[entry] = 1.0, np.nan
            try:
                yield numbers_in(linear(unit)), numbers_in(linear(nan))
            except (MissingDerivativeError, ValueError, np.linalg.LinAlgError):  # which says so
                continue


def numbers_in(tangent: Any) -> list[Any]:
    tangent = unthunk(tangent)
    if isinstance(tangent, Tangent):
        return [x for part in tangent.fields.values() for x in numbers_in(part)]
    if isinstance(tangent, tuple | list):
        return [x for part in tangent for x in numbers_in(part)]
    return [np.asarray(tangent)] if isinstance(tangent, np.ndarray | np.generic | float | complex) else []
