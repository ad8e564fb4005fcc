"""Elementwise functions of several arguments that meet kinks in some entries: which slopes are right there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rulescore import NoTangent, frule, rrule
from testutils import Report, check_rule

MODES = ("frule", "rrule")

Slopes = Callable[..., tuple[Any, ...]]


def checked(function: Callable[..., Any], slopes: Slopes, *args: Any, mode: str) -> Report:
    """The report on the rules that have these slopes, one for each argument."""

    def forward(tangents: Any, *args: Any) -> Any:
        return function(*args), sum(slope * dx for slope, dx in zip(slopes(*args), tangents[1:], strict=True))

    def backward(*args: Any) -> Any:
        return function(*args), lambda ybar: (NoTangent(), *(slope * ybar for slope in slopes(*args)))

    with frule.override(function, forward), rrule.override(function, backward):
        return check_rule(function, *args, modes=(mode,))


# Two kinks that cross: along one argument alone the function has a slope that it has nowhere around.


def crossing(bend: float) -> Callable[..., Any]:
    return lambda x, y: np.abs(x - y) - np.abs(x + y) + bend * np.abs(x)


def of_sides(bend: float, minus: float, plus: float, own: float = 0.0) -> Slopes:
    """The slopes of `crossing` where those of its three kinks are given."""

    def slopes(x: Any, y: Any) -> tuple[Any, Any]:
        of_minus, of_plus, of_own = (
            np.where(inside == 0, side, np.sign(inside)) for inside, side in ((x - y, minus), (x + y, plus), (x, own))
        )
        return of_minus - of_plus + bend * of_own, -of_minus - of_plus

    return slopes


def two_vectors(size: int, zeros: int) -> Any:
    x, y = np.random.default_rng(size).standard_normal((2, size))
    x[:zeros] = y[:zeros] = 0.0
    return x, y


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("size", "zeros"), [(20, 12), (50, 1), (64, 1), (200, 190), (5000, 1), (6000, 30)])
@pytest.mark.parametrize("sides", [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0), (0.0, 0.0)])
def test_a_member_that_one_argument_alone_does_not_show_is_right(sides, size, zeros, mode):
    report = checked(crossing(0.0), of_sides(0.0, *sides), *two_vectors(size, zeros), mode=mode)
    assert report.verdict == "pass", str(report)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [5, 5000])
@pytest.mark.parametrize(
    ("sides", "verdict"),
    [
        ((1.0, 1.0, 1.0), "pass"),
        ((-1.0, 1.0, -1.0), "pass"),
        ((0.0, 0.0, 0.0), "pass"),
        ((-1.0, -1.0, 1.0), "fail"),  # y > x > 0 > x + y is nowhere
        ((-3.0, 0.0, 0.0), "fail"),
        ((1.0, 1.0, 3.0), "fail"),
    ],
)
def test_a_member_is_right_where_one_argument_alone_shows_another(sides, verdict, size, mode):
    """Along x alone there is a kink, and along y alone none: where x has moved a little, y meets one."""
    report = checked(crossing(1.0), of_sides(1.0, *sides), *two_vectors(size, 1), mode=mode)
    assert report.verdict == verdict, str(report)


def spoiled(slopes: Slopes, size: int, place: int, change: Callable[[Any], Any]) -> Slopes:
    """The same slopes, of a call of this size changed in one place of the last argument."""

    def wrong(*args: Any) -> tuple[Any, ...]:
        *others, last = slopes(*args)
        if last.size == size:
            last = np.array(last, dtype=float)
            last[place] = change(last[place])
        return *others, last

    return wrong


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [50, 5000])
def test_a_small_mistake_beside_crossing_kinks_is_seen(size, mode):
    """The derivatives around the kink are known too coarsely for that."""
    slopes = spoiled(of_sides(0.0, 1.0, 1.0), size, 7, lambda slope: slope * (1 + 1e-6))
    report = checked(crossing(0.0), slopes, *two_vectors(size, 1), mode=mode)
    assert report.verdict == "fail", str(report)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("size", "zeros"), [(50, 1), (200, 190), (5000, 1), (5000, 30)])
@pytest.mark.parametrize("mistake", [-0.1, 4.5])
def test_a_wrong_slope_at_one_of_the_kinks_is_seen(mistake, size, zeros, mode):
    """The derivatives around reach from (0, -2) to (0, 2)."""
    slopes = spoiled(of_sides(0.0, 1.0, 1.0), size, zeros - 1, lambda slope: slope + mistake)
    report = checked(crossing(0.0), slopes, *two_vectors(size, zeros), mode=mode)
    assert report.verdict == "fail", str(report)


# Three arguments that are equal: along any line it looks smooth, with the slope of the one in the middle.


def clip(x: Any, low: Any, high: Any) -> Any:
    return np.minimum(np.maximum(x, low), high)


def slopes_that_choose(choice: int) -> Slopes:
    """One for the argument that `clip` returns; of equal ones for the first, second or third."""

    def slopes(*args: Any) -> tuple[Any, ...]:
        y = clip(*args)
        order = [choice, *(number for number in range(3) if number != choice)]
        chosen, left = [np.zeros(np.shape(y))] * 3, np.ones(np.shape(y))
        for number in order:
            chosen[number] = left * (args[number] == y)
            left = left - chosen[number]
        return tuple(chosen)

    return slopes


def with_equal_entries(size: int, equal: int) -> Any:
    rng = np.random.default_rng(size)
    x, low = rng.standard_normal((2, size))
    high = low + rng.uniform(0.1, 1.0, size)
    low[:equal] = high[:equal] = x[:equal]
    return x, low, high


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("size", "equal"), [(3, 1), (20, 5), (50, 12), (50, 50), (1000, 12), (5000, 1), (5000, 30)])
@pytest.mark.parametrize("choice", range(3))
def test_of_equal_arguments_any_may_be_chosen(choice, size, equal, mode):
    report = checked(clip, slopes_that_choose(choice), *with_equal_entries(size, equal), mode=mode)
    assert report.verdict == "pass", str(report)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("size", "equal"), [(20, 5), (50, 12), (5000, 30)])
@pytest.mark.parametrize("choice", range(3))
def test_but_not_more_than_one(choice, size, equal, mode):
    slopes = spoiled(slopes_that_choose(choice), size, equal - 1, lambda slope: slope + 1.0)
    report = checked(clip, slopes, *with_equal_entries(size, equal), mode=mode)
    assert report.verdict == "fail", str(report)
