"""Constants of every type: the same numbers give the same derivative, in eight bits as in sixty-four."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from optree import tree_leaves

from rulescore import AbstractTangent, AbstractZero, NoTangent, frule, rrule, unthunk
from testutils.cases.config import TestConfig
from testutils.runs.running import collect_targets
from testutils.samples.random_tangents import rand_tangent

TYPES = (np.int8, np.uint8, np.bool_, np.int64, np.float16, np.float32)
LARGEST = 100
"""The largest number that is put into a constant, which all types but the last have."""

CONFIG = TestConfig()

TARGETS = {target.name: target for target in collect_targets(["numpy", "scipy", "rules.operators"])}


def plain(x: Any) -> Any:
    return getattr(x, "primal", x)


def constants_of(every: dict[Any, Any]) -> Iterator[tuple[Any, Any]]:
    """The arguments that are real numbers or arrays of them, as whole numbers in double precision."""
    for place, x in every.items():
        if isinstance(x, np.ndarray | np.number | float) and np.asarray(x).dtype.kind in "iuf":
            with np.errstate(all="ignore"):
                whole = np.clip((np.round if np.ndim(x) else np.ceil)(np.asarray(x, float)), 0, LARGEST)
            yield place, whole if isinstance(x, np.ndarray) else float(whole)


def retyped(constant: Any) -> Iterator[tuple[str, Any]]:
    """The same numbers in other types, as far as these have them."""
    for kind in TYPES:
        changed = np.asarray(constant).astype(kind)
        if np.array_equal(changed.astype(float), constant):
            yield kind.__name__, changed if isinstance(constant, np.ndarray) else changed[()]
    if not isinstance(constant, np.ndarray):
        yield "int", int(constant)


def output_and_cotangents(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], ybar: Any = None) -> Any:
    """The output and what the pullback makes of a cotangent; None where function or rule refuse the call."""
    try:
        args, kwargs = copy.deepcopy((args, kwargs))
        found = rrule.call(f, args, kwargs, config=CONFIG)
        if found is None:
            return None
        y, pullback = found
        ybar = rand_tangent(y, np.random.default_rng(0)) if ybar is None else ybar
        return y, ybar, [unthunk(bar) for bar in pullback(ybar)[1:]]
    except Exception:  # what it has against these numbers, it says of those in double precision too
        return None


def plain_output(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    try:
        args, kwargs = copy.deepcopy((args, kwargs))
        return f(*args, **kwargs)
    except Exception:
        return None


def types_of(tree: Any) -> list[str]:
    leaves = [x for x in tree_leaves(tree) if isinstance(x, np.ndarray | np.number | float | complex)]
    return [np.asarray(x).dtype.name for x in leaves]


def numbers(tree: Any) -> Any:
    parts = [np.zeros(0)]
    for leaf in tree_leaves(tree):
        if isinstance(leaf, np.ndarray | np.number | float | complex) and np.asarray(leaf).dtype.kind in "fc":
            parts.append(np.asarray(leaf, complex).reshape(-1))
    return np.concatenate(parts)


def problems(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[str]:
    every = dict(enumerate(args)) | kwargs

    def call_with(place: Any, x: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        changed = every | {place: x}
        return tuple([changed[k] for k in range(len(args))]), {name: changed[name] for name in kwargs}

    for place, constant in constants_of(every):
        known = output_and_cotangents(f, *call_with(place, constant))
        if known is None or not np.all(np.isfinite(numbers(known[0]))):
            continue
        for name, changed in retyped(constant):
            again = output_and_cotangents(f, *call_with(place, changed), known[1])
            own = plain_output(f, *call_with(place, changed))
            others = [x for k, x in every.items() if k != place and isinstance(x, np.ndarray) and x.dtype.kind == "f"]
            if others and again is not None and own is not None and types_of(again[0]) != types_of(own):
                yield f"argument {place} as {name}: the rule's output is of {types_of(again[0])}, not {types_of(own)}"
            if again is None or types_of(again[0]) != types_of(known[0]):
                continue
            if numbers(again[0]).shape != numbers(known[0]).shape:
                continue
            if not np.allclose(numbers(again[0]), numbers(known[0]), rtol=1e-12, atol=1e-12):
                continue  # to the function itself it is another number
            for k, (bar, other) in enumerate(zip(known[2], again[2], strict=False)):
                if k == place or isinstance(bar, AbstractTangent) or isinstance(other, AbstractZero):
                    continue
                here, there = numbers(bar), numbers(other)
                with np.errstate(all="ignore"):
                    scale = np.max(np.abs(here), initial=1.0, where=np.isfinite(here))
                    same = np.isclose(there, here, rtol=1e-9, atol=1e-9 * scale, equal_nan=True)
                if here.shape != there.shape or not np.all(same):
                    yield f"argument {place} as {name} {changed!r}: cotangent {k} is {other!r}, not {bar!r}"


@pytest.mark.parametrize("name", TARGETS)
def test_the_type_of_a_constant_changes_no_derivative(name: str) -> None:
    target = TARGETS[name]
    found: list[str] = []
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in target.samples[:12]:
            f = target.function if sample.function is None else sample.function
            args = tuple(map(plain, sample.args))
            found += [f"{sample.id}: {text}" for text in problems(f, args, dict(sample.fkwargs))]
    assert not found, "\n".join(found[:5])


@pytest.mark.parametrize("f", [np.quantile, np.percentile])
def test_whole_numbers_that_may_be_overwritten_are_left_alone(f: Any) -> None:
    """The function is asked for the type of its result, with the arguments that the rule was given."""
    a = np.random.default_rng(0).integers(-5, 5, (3, 4, 5))
    before = a.copy()
    tangents = (NoTangent(), NoTangent(), 1.0, *[NoTangent()] * 5)
    for table, leading in ((rrule, ()), (frule, (tangents,))):
        assert table(*leading, f, a, 0.3, 1, None, True, "hazen", True) is not None
        assert np.array_equal(a, before)
