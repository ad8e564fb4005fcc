"""Mistakes that multiply the derivative by a number: -1, 0, 2, 1/3, 1j."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from ..evidence.vectorisation import Vector
from ..reports.numbers import told_apart
from .inputs import dropped_imaginary_part, missing_conjugate
from .measured_maps import Measured
from .observations import ENOUGH, Explanation, Observations, Prediction
from .rearrangements import times_i
from .sums import is_length, lengths

RATIO = "rule / finite difference = {}"

SAME = 1e-5
"""Two ratios this close are worth comparing; the comparison itself is stricter."""

LARGEST_DENOMINATOR = 12

NAMED = {
    "pi": math.pi,
    "2 pi": 2 * math.pi,
    "pi/2": math.pi / 2,
    "1/pi": 1 / math.pi,
    "1/(2 pi)": 0.5 / math.pi,
    "sqrt(2)": math.sqrt(2),
    "1/sqrt(2)": math.sqrt(0.5),
    "sqrt(pi)": math.sqrt(math.pi),
    "1/sqrt(pi)": 1 / math.sqrt(math.pi),
    "2/sqrt(pi)": 2 / math.sqrt(math.pi),
    "sqrt(2 pi)": math.sqrt(2 * math.pi),
    "1/sqrt(2 pi)": 1 / math.sqrt(2 * math.pi),
    "log(2)": math.log(2),
    "1/log(2)": 1 / math.log(2),
    "log(10)": math.log(10),
    "1/log(10)": 1 / math.log(10),
    "pi/180": math.pi / 180,
    "180/pi": 180 / math.pi,
}
"""Constants that rules are made of and forget."""


def forgotten_argument(seen: Observations) -> Iterator[Explanation]:
    """Everything is zero."""
    if any(np.any(o.result[seen.entries]) for o in seen.given):
        return
    yield Explanation(_nothing, f"the {seen.map.result} is zero")


def _nothing(_: Vector, entries: Vector) -> Measured:
    return Measured(np.zeros(len(entries)), np.zeros(len(entries)))


def left_out_entries(seen: Observations) -> Iterator[Explanation]:
    """Some entries are zero and the others right."""
    if _some_are_right(seen) and not any(map(seen.explained_by, dropped_imaginary_part(seen))):
        # Without all imaginary parts, which have a hint of their own.
        yield Explanation(_of_the_wrong(seen, 0.0), "the rule is zero", of_the_wrong=True)


def missing_mask(seen: Observations) -> Iterator[Explanation]:
    """Where the rule is wrong nothing depends on what moves, and elsewhere it is right."""
    if _some_are_right(seen):
        yield from unmasked(seen)


def unmasked(seen: Observations) -> Iterator[Explanation]:
    """Where the rule is wrong nothing depends on what moves."""
    if any(leaf.is_complex for leaf in seen.map.target.leaves()):
        return  # a superfluous imaginary part is another mistake
    entries = seen.entries[seen.wrong]
    is_zero = not any(np.any(truth.value[seen.wrong]) for truth in seen.truths)
    is_number = all(np.all(np.isfinite(o.result[entries])) for o in seen.given)
    if is_zero and is_number and all(seen.map.is_constant(o.given, entries) for o in seen.given):
        what = f"the true {seen.map.result} is zero and the rule's is not"
        yield Explanation(_as_given_where_wrong(seen), what, of_the_wrong=True)


def _as_given_where_wrong(seen: Observations) -> Prediction:
    """The derivative, and whatever the rule gives where it is wrong."""

    def predict(v: Vector, entries: Any) -> Measured:
        truth = seen.map.true(v, entries)
        given = next(o.result[entries] for o in seen.given if o.given is v)
        at = np.isin(entries, seen.entries[seen.wrong])
        return Measured(np.where(at, given, truth.value), np.where(at, 0.0, truth.error))

    return predict


def _some_are_right(seen: Observations) -> bool:
    return bool(np.any(~seen.wrong & (seen.truths[0].value != 0)))


def flipped_sign(seen: Observations) -> Iterator[Explanation]:
    if _some_are_right(seen) and any(map(seen.explained_by, missing_conjugate(seen))):
        return  # all imaginary parts, which have a hint of their own
    yield Explanation(_of_the_wrong(seen, -1.0), RATIO.format("-1"), of_the_wrong=True)


def factor_two(seen: Observations) -> Iterator[Explanation]:
    for factor, name in ((2.0, "2"), (0.5, "1/2")):
        yield Explanation(_of_the_wrong(seen, factor), RATIO.format(name), (name,), of_the_wrong=True)


def constant_factor(seen: Observations) -> Iterator[Explanation]:
    """Any other number, which has to be a simple one where few entries tell."""
    for sign, name in ((1.0, "1j"), (-1.0, "-1j")):
        turned = times_i(seen.map.target, sign)
        if turned is not None:
            dear = not seen.are_complete
            yield Explanation(seen.rearranged(turned), RATIO.format(name), (name,), dear=dear)
    ratio = _ratio(seen)
    if ratio is None or any(abs(ratio - c) <= SAME for c in (0.0, 1.0, -1.0, 2.0, 0.5)) or _is_mean_or_sum(seen, ratio):
        return
    named = constant_name(ratio)
    if named is not None:
        exact, text = named
        yield Explanation(_of_the_wrong(seen, exact), RATIO.format(text), (text,), of_the_wrong=True)
    elif np.count_nonzero(seen.wrong) >= ENOUGH:
        text, _ = told_apart(ratio, 1.0, digits=5)
        yield Explanation(_of_the_wrong(seen, ratio), RATIO.format(text), (text,), of_the_wrong=True)


def _is_mean_or_sum(seen: Observations, ratio: float) -> bool:
    """Whether another hint says all there is to say; a small number may be a coefficient as well."""
    return max(ratio, 1 / ratio) > 4.5 and any(is_length(ratio, n) or is_length(1 / ratio, n) for n in lengths(seen))


def _of_the_wrong(seen: Observations, factor: float) -> Prediction:
    return seen.right_but_for_the_wrong(partial(_times, factor))


def _times(factor: float, measured: Measured) -> Measured:
    return measured.times(factor)


def _ratio(seen: Observations) -> float | None:
    """Rule over finite difference where that is largest."""
    truth = np.where(seen.wrong, seen.truths[0].value, 0.0)
    place = int(np.argmax(np.abs(truth)))
    with np.errstate(all="ignore"):
        ratio = float(seen.given[0].result[seen.entries][place] / truth[place])
    return ratio if math.isfinite(ratio) else None


def constant_name(ratio: float) -> tuple[float, str] | None:
    """The simple number that a ratio is close to, and how one would write it; None where it is close to none.

    Examples
    --------
    >>> constant_name(0.33333333)
    (0.3333333333333333, '0.333 = 1/3')
    >>> constant_name(-3.0)
    (-3.0, '-3')
    """
    if abs(ratio) >= 1:
        whole = round(ratio)
        if abs(ratio - whole) <= SAME and abs(whole) <= 1000:
            return float(whole), str(whole)
    else:
        whole = round(1 / ratio)
        if abs(1 / ratio - whole) <= SAME and abs(whole) <= 1000:
            return 1 / whole, f"{ratio:.3g} = {'-' if whole < 0 else ''}1/{abs(whole)}"
    fraction = Fraction(ratio).limit_denominator(LARGEST_DENOMINATOR)
    if abs(ratio - fraction) <= SAME * abs(ratio) and abs(fraction.numerator) <= LARGEST_DENOMINATOR:
        return float(fraction), f"{ratio:.3g} = {fraction}"
    for name, value in NAMED.items():
        if abs(abs(ratio) - value) <= SAME * value:
            sign = "-" if ratio < 0 else ""
            return math.copysign(value, ratio), f"{ratio:.3g} = {sign}{name}"
    return None
