"""What rules return lies in memory as what the functions return, since later views and writes depend on it."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from optree import tree_leaves

from rulescore import NoTangent, frule, rrule
from testutils.cases.config import TestConfig
from testutils.runs.running import collect_targets
from testutils.samples.random_tangents import rand_tangent

CONFIG = TestConfig()

TARGETS = {target.name: target for target in collect_targets(["numpy", "scipy", "rules.operators"])}


def strided(x: Any) -> Any:
    view = np.zeros(tuple(2 * n for n in x.shape), x.dtype)[tuple(slice(None, None, -2) for _ in x.shape)]
    view[...] = x
    return view


LAYOUTS: dict[str, Callable[[Any], Any]] = {"C": np.copy, "Fortran": np.asfortranarray, "strides": strided}


def strides_of(y: Any) -> tuple[int, ...]:
    return tuple(stride for stride, length in zip(y.strides, y.shape, strict=True) if length > 1)


def outputs(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The outputs of the rules, as far as they serve the call."""
    tangents = (NoTangent(), *[rand_tangent(x, np.random.default_rng(0)) for x in args])
    for name, call in (
        ("rrule", lambda: rrule.call(f, args, kwargs, config=CONFIG)),
        ("frule", lambda: frule.call(f, args, kwargs, tangents=tangents, config=CONFIG)),
    ):
        try:
            found = call()
        except Exception:  # what it does not serve is no matter of memory
            continue
        if found is not None:
            yield name, found[0]


@pytest.mark.parametrize("name", TARGETS)
def test_outputs_lie_in_memory_as_those_of_the_function(name: str) -> None:
    target, wrong = TARGETS[name], []
    is_scipys = name.startswith("scipy.")  # of what lies there with gaps, these are no matter
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in target.samples[:12]:
            f = target.function if sample.function is None else sample.function
            plain = [getattr(x, "primal", x) for x in sample.args]
            for layout, laid_out in LAYOUTS.items():
                args = tuple([laid_out(x) if type(x) is np.ndarray and x.ndim else x for x in plain])
                try:
                    expected = f(*copy.copy(args), **sample.fkwargs)
                except Exception:
                    continue
                for mode, y in outputs(f, args, dict(sample.fkwargs)):
                    for a, b in zip(tree_leaves(expected), tree_leaves(y), strict=True):
                        if type(a) is not np.ndarray or type(b) is not np.ndarray or a.size < 2:
                            continue
                        is_dense = a.flags.c_contiguous or a.flags.f_contiguous
                        if strides_of(a) != strides_of(b) and (is_dense or not is_scipys):
                            wrong.append(f"{mode}, {sample.id}, {layout}: {b.strides}, not {a.strides}")
    assert not wrong, "\n".join(wrong[:5])
