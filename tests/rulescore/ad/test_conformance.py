"""The sample inputs of every installed rule, through the reference AD, judged by finite differences.

At first order all samples run in both modes. At second order the AD's own pullbacks and pushforwards are differentiated
again, in both modes, on `FEW` samples of each function; on as many, each argument is differentiated alone. Rules that
are added later are run without a line here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rulescore import rrule
from rulescore.ad import TracerConversionError, jvp, vjp
from rulescore.ad.containers import has_tangent_space
from rulescore.ad.tracers import Tracer, apply
from rulescore.ad.trees import flatten, unflatten
from rulescore.discovery import rule_entries
from testutils import conformance
from testutils.conformance_report import FunctionResult
from testutils.running import collect_targets
from testutils.sampling import Sample

FEW = 4
"""Of each function, spread evenly over its samples. At second order one takes as long as ten at first order."""

JUMP = (
    "equal elements change places as soon as they move apart, so the first derivative jumps, and finite differences of "
    "a jump may be anything"
)
INFINITE = "∂²xᵖ/∂x∂p = xᵖ⁻¹ (1 + p log x) is infinite at x = 0 and p = 1; times a tangent of 0 it is NaN"

NOT_TWICE_DIFFERENTIABLE = {
    ("numpy.angle", "tiny-numbers"): "the second derivative is larger than the largest number",
    ("numpy.power", "base-zero"): INFINITE,
    ("numpy.float_power", "base-zero"): INFINITE,
    ("numpy.sort", "ties"): JUMP,
    ("numpy.sort", "ties-in-rows"): JUMP,
    ("numpy.sort", "ties-in-one-row"): JUMP,
}
"""Samples, by function and name, that have no second derivative to compare with, and why."""

NOT_ASKED = {
    ("numpy.nan_to_num", "float32-3-True-float-float-float"): "NumPy hands over the call for its first argument alone",
    ("numpy.sum", "all-by-position"): "NumPy hands over the call for its first argument alone, not for initial=",
}
"""Samples of which one argument alone cannot be differentiated, and why. The AD says so."""

CONVERSIONS = frozenset({np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray})
"""What NumPy hands over only when it is told to with ``like=``."""


# ---------------------------------------------------------------- the AD, as samples need it


def as_a_program(f: Any) -> Callable[..., Any]:
    """The function of a sample, called as a program calls it; the AD's own functions as the AD calls them."""

    def call(*primals: Any) -> Any:
        args, kwargs = f.arguments(*primals)
        if f.function in CONVERSIONS:
            like = next((leaf for leaf in flatten(args[0])[0] if isinstance(leaf, Tracer)), None)
            return f.function(*args, **kwargs, like=like)
        if (getattr(f.function, "__module__", None) or "").startswith("rulescore.ad"):
            return apply(f.function, args, kwargs)
        return f(*primals)

    return call


def as_a_primitive(f: Any) -> Callable[..., Any]:
    """The function of a sample, which a list of numbers reaches as a list.

    ``np.sum([x, y])`` makes an array of the list before anybody is asked, which the AD refuses, and tells to write
    ``np.stack``. The rules of ``np.sum`` take lists none the less; calls of a `primitive` reach them.
    """

    def call(*primals: Any) -> Any:
        try:
            return as_a_program(f)(*primals)
        except TracerConversionError:
            args, kwargs = f.arguments(*primals)
            if f.function not in rrule or not any(map(is_list_of_numbers, args)):
                raise
            return apply(f.function, args, kwargs)

    return call


def is_list_of_numbers(x: Any) -> bool:
    return isinstance(x, (list, tuple)) and any(map(has_tangent_space, flatten(x)[0]))


class Floats:
    """The floats among the primals. A list of arrays may hold integers, which the AD asks one to leave out."""

    def __init__(self, primals: tuple[Any, ...]) -> None:
        self._leaves, self._structure = flatten(primals)
        self._places = [i for i, leaf in enumerate(self._leaves) if has_tangent_space(leaf)]
        self.values = self.of(primals)

    def of(self, primals: tuple[Any, ...]) -> list[Any]:
        leaves = flatten(primals)[0]
        return [leaves[place] for place in self._places]

    def primals(self, values: Any) -> tuple[Any, ...]:
        return self._in(self._leaves, values)

    def cotangents(self, bars: Any) -> tuple[Any, ...]:
        return self._in([None] * len(self._leaves), bars)

    def _in(self, leaves: list[Any], values: Any) -> tuple[Any, ...]:
        leaves = list(leaves)
        for place, value in zip(self._places, values, strict=True):
            leaves[place] = value
        return unflatten(self._structure, leaves)


def our_vjp(f: Any, *primals: Any, style: Any = as_a_primitive) -> Any:
    floats = Floats(primals)
    y, pullback = vjp(lambda *values: style(f)(*floats.primals(values)), *floats.values)
    return y, lambda ybar: floats.cotangents(pullback(ybar))


def our_jvp(f: Any, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    floats = Floats(primals)
    return jvp(
        lambda *values: as_a_primitive(f)(*floats.primals(values)), tuple(floats.values), tuple(floats.of(tangents))
    )


def vjp_as_a_program(f: Any, *primals: Any) -> Any:
    return our_vjp(f, *primals, style=as_a_program)


def of_one(f: Any, floats: Floats, i: int) -> Callable[[Any], Any]:
    """A function of one of the floats; the others are constants."""
    before, after = floats.values[:i], floats.values[i + 1 :]
    return lambda value: as_a_program(f)(*floats.primals([*before, value, *after]))


def vjp_one_by_one(f: Any, *primals: Any) -> Any:
    floats = Floats(primals)
    both = [vjp(of_one(f, floats, i), value) for i, value in enumerate(floats.values)]
    return both[0][0], lambda ybar: floats.cotangents([pullback(ybar)[0] for _, pullback in both])


def jvp_one_by_one(f: Any, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    floats = Floats(primals)
    pairs = zip(floats.values, floats.of(tangents), strict=True)
    both = [jvp(of_one(f, floats, i), (value,), (dx,)) for i, (value, dx) in enumerate(pairs)]
    structure = flatten(both[0][1])[1]
    return both[0][0], unflatten(structure, map(sum, zip(*(flatten(dy)[0] for _, dy in both), strict=True)))


# ---------------------------------------------------------------- the samples

rule_entries.load_all()
# Not all that there is: other test modules register rules too. Objects of a class have no name that `conformance`
# knows; the one there is, a checkpointed call, is differentiated in test_checkpoint.py.
TARGETS = {
    target.name: target
    for target in collect_targets(["rules", "rulescore.ad"])
    if target.samples and not target.name.startswith("instances_of")
}


def word(sample: Sample) -> str:
    """What names a sample, wherever it stands among the others."""
    return sample.id.partition("-")[2]


def only(*positions: int) -> Callable[[str, Sample], bool]:
    return lambda name, sample: sample.position not in positions


def few(name: str, exceptions: dict[tuple[str, str], str], vjp: Any) -> Callable[[str, Sample], bool]:
    """What leaves out all samples of a function but a few of those that are no exceptions."""
    samples = TARGETS[name].samples
    positions = {round(place) for place in np.linspace(0, max(len(samples) - 1, 0), FEW)}
    chosen = [sample for sample in samples if sample.position in positions and (name, word(sample)) not in exceptions]
    return only(*[sample.position for sample in chosen if not is_refused(name, sample, vjp)])


def is_refused(name: str, sample: Sample, vjp: Any) -> bool:
    """Whether NumPy makes an array of a list in the sample before the AD is asked, which the AD refuses."""
    if not any(map(is_list_of_numbers, sample.args)):
        return False
    (found,) = conformance(vjp, names=name, skip=only(sample.position)).functions
    return found.verdict == "unsupported" and "ordinary" in found.message


def problems(found: FunctionResult) -> str:
    """What is not right; empty where all is."""
    return "\n".join(f"{s.mode}, {s.sample}: {s.report or s.message}" for s in found.samples if s.verdict != "right")


def run(name: str, vjp: Any = our_vjp, jvp: Any = our_jvp, **options: Any) -> FunctionResult:
    (found,) = conformance(vjp, jvp, names=name, **options).functions
    return found


# ---------------------------------------------------------------- first order


@pytest.mark.parametrize("name", TARGETS)
def test_every_sample_is_right_in_both_modes(name: str) -> None:
    found = run(name)
    assert not problems(found)
    assert found.verdict in ("right", "not differentiable")


@pytest.mark.parametrize("name", TARGETS)
def test_each_argument_alone_is_right_in_both_modes(name: str) -> None:
    found = run(name, vjp_one_by_one, jvp_one_by_one, skip=few(name, NOT_ASKED, vjp_one_by_one))
    assert not problems(found)
    assert found.verdict in ("right", "not differentiable")


# ---------------------------------------------------------------- second order


@pytest.mark.parametrize("name", TARGETS)
def test_derivatives_of_derivatives_are_right_in_all_combinations_of_modes(name: str) -> None:
    found = run(name, order=2, skip=few(name, NOT_TWICE_DIFFERENTIABLE, vjp_as_a_program))
    assert not problems(found)
    assert found.verdict in ("right", "not differentiable")


# ---------------------------------------------------------------- exceptions


def at_exception(name: str, exception: str) -> Callable[[str, Sample], bool]:
    positions = [sample.position for sample in TARGETS[name].samples if word(sample) == exception]
    assert positions
    return only(*positions)


@pytest.mark.parametrize(("name", "exception"), NOT_TWICE_DIFFERENTIABLE)
def test_what_has_no_second_derivative_is_not_right(name: str, exception: str) -> None:
    assert problems(run(name, order=2, skip=at_exception(name, exception)))


@pytest.mark.parametrize(("name", "exception"), NOT_ASKED)
def test_arguments_that_numpy_does_not_hand_over_for_are_refused(name: str, exception: str) -> None:
    found = run(name, vjp_one_by_one, jvp_one_by_one, skip=at_exception(name, exception))
    assert found.verdict == "unsupported"
    assert "would lose its derivative" in found.message


def test_all_rules_are_run() -> None:
    assert {
        "numpy.sin",
        "numpy.ndarray.astype",
        "operator.getitem",
        "rulescore.ad.assignment.replaced",
    } <= TARGETS.keys()
    assert len(TARGETS) > 240


def test_lists_that_numpy_converts_are_refused_and_no_others() -> None:
    def refused(name: str) -> set[str]:
        return {word(sample) for sample in TARGETS[name].samples if is_refused(name, sample, vjp_as_a_program)}

    assert refused("numpy.sum") == {"list"}
    assert refused("numpy.stack") == refused("numpy.array") == set()
