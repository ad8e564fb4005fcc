"""Intervals that are halved as comparisons decide: whoever differentiates the steps gets a wrong derivative."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np

from rulescore.ad.in_place.tracer import Decisions
from rulescore.ad.messages.errors import NoRuleError
from rulescore.ad.tracing.tracers import value_beneath

INTERVALS = 12
"""How often an interval is halved, with both of its ends moved, until it is one that a bisection halves."""
STEPS = 24
"""The same of a step, which others halve too: a search along a line, or Romberg's integration."""
_MOST = 10_000
"""Larger arrays are not looked at."""


@dataclass(slots=True)
class _Halving:
    """What was halved last at a place, and how often it was half of the one before."""

    ends: tuple[Any, ...]
    decisions: int
    count: Any = 0
    moved: tuple[Any, ...] = (0, 0)


class Bisections(threading.local):
    """Notices bisections by what they do: halve an interval, or a step, after each decision.

    The result of a bisection depends on what it is about by comparisons alone, so that its steps say nothing of the
    derivative.
    """

    def __init__(self) -> None:
        self._halvings: dict[tuple[int, int], _Halving] = {}

    def note(self, frame: FrameType, *ends: Any) -> None:
        """Take note of an interval of which half is taken, by its ends, or of a step.

        Raises
        ------
        NoRuleError
            When it has been halved again and again, each time after a decision.
        """
        place, values = (id(frame.f_code), frame.f_lasti), tuple(map(value_beneath, ends))
        if not all(map(_is_looked_at, values)):
            self._halvings.pop(place, None)
            return
        last = self._halvings.get(place)
        now = self._halvings[place] = _Halving(tuple(map(np.array, values)), Decisions.count)
        if last is None or last.decisions == now.decisions or not _are_comparable(last.ends, now.ends):
            return
        with np.errstate(all="ignore"):
            is_found = _is_interval(last, now) if len(ends) == 2 else _is_step(last, now)
        if np.any(is_found):
            del self._halvings[place]
            raise NoRuleError(
                f"{frame.f_code.co_qualname} halves an interval again and again, as comparisons of values that are "
                f"being differentiated decide (line {frame.f_lineno} of {frame.f_code.co_filename}): the result of a "
                "bisection depends on its arguments by comparisons alone, so that its steps do not have its "
                "derivative. Let scipy.optimize.brentq find the root, which has a rule, or give the function a rule "
                "that knows the equation (@rrule.register)"
            )


def _is_looked_at(x: Any) -> bool:
    """Whether something is a number or an array, and no object of a program that is one of these too."""
    return type(x) in (float, int) or (type(x).__module__ == "numpy" and np.size(x) <= _MOST)


def _are_comparable(last: tuple[Any, ...], now: tuple[Any, ...]) -> bool:
    """Whether they are ends of the same kind: numbers, or arrays of one shape, of which some are no integers."""
    kinds = {x.dtype.kind for x in now}
    return [x.shape for x in last] == [x.shape for x in now] and "f" in kinds and kinds <= set("fiu")


def _is_interval(last: _Halving, now: _Halving) -> Any:
    (lower, upper), (old_lower, old_upper) = now.ends, last.ends
    width, old = abs(upper - lower), abs(np.subtract(old_upper, old_lower))
    rounding = 4 * np.finfo(float).eps * np.maximum(abs(lower), abs(upper))
    moved = lower != old_lower, upper != old_upper
    is_half = (abs(width - old / 2) <= 1e-3 * old + rounding) & (width > 0) & ~(moved[0] & moved[1])
    now.count = np.where(is_half, last.count + 1, 0)
    now.moved = tuple([np.where(is_half, n + is_one, 0) for n, is_one in zip(last.moved, moved, strict=True)])
    return (now.count >= INTERVALS) & (now.moved[0] > 1) & (now.moved[1] > 1)


def _is_step(last: _Halving, now: _Halving) -> Any:
    now.count = np.where((now.ends[0] == np.divide(last.ends[0], 2)) & (now.ends[0] != 0), last.count + 1, 0)
    return now.count >= STEPS
