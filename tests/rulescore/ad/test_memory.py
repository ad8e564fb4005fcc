"""What a differentiation keeps, for how long, and to what it writes."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rulescore import InplaceableThunk, NoTangent, ZeroTangent, rrule
from rulescore.ad import grad, ignore_derivatives, jvp, primitive, value_and_grad, vjp

X = np.linspace(0.5, 1.5, 6)
MASK = np.array([True, False, True, True, False, False])
WEIGHTS = np.arange(36.0).reshape(6, 6)


# ---------------------------------------------------------------- what is kept


def array_within(x: Any) -> Any:
    """The array that a tracer holds, of which `ignore_derivatives` hands out a view that cannot be written to."""
    view = ignore_derivatives(x)
    return view if view.base is None else view.base


class Kept:
    """Which of the arrays of an operation ``y = f(x, c)`` are still there."""

    def __init__(self, f: Callable[[Any, Any], Any]) -> None:
        self._f = f
        self._references: dict[str, weakref.ref[Any]] = {}

    def __call__(self, argument: Any) -> Any:
        x, c = argument + 0.0, X[::-1].copy()  # an addition keeps nothing
        y = self._f(x, c)
        for name, array in {"x": x, "c": c, "y": y}.items():
            self._references[name] = weakref.ref(array_within(array))
        return np.sum(y)  # and a sum neither

    def names(self) -> str:
        return "".join(name for name, reference in self._references.items() if reference() is not None)


NEEDED = {
    "x + c": (lambda x, c: x + c, ""),
    "c - x": (lambda x, c: c - x, ""),
    "x * c": (lambda x, c: x * c, "c"),
    "np.multiply(c, x)": (lambda x, c: np.multiply(c, x), "c"),
    "x * x": (lambda x, c: x * x, "x"),
    "x / c": (lambda x, c: x / c, "c"),
    "x**2": (lambda x, c: x**2, "x"),
    "x + c * c": (lambda x, c: x + c * c, ""),
    "-x": (lambda x, c: -x, ""),
    "np.sin(x)": (lambda x, c: np.sin(x), "x"),
    "np.exp(x)": (lambda x, c: np.exp(x), "y"),
    "np.sqrt(x)": (lambda x, c: np.sqrt(x), "y"),
    "np.where(mask, x, c)": (lambda x, c: np.where(MASK, x, c), ""),
    "np.where(mask, c, x)": (lambda x, c: np.where(MASK, c, x), ""),
    "x @ matrix": (lambda x, c: x @ WEIGHTS, ""),
    "c @ x": (lambda x, c: np.outer(c @ x, 1.0), "c"),
    "x @ c": (lambda x, c: np.outer(x @ c, 1.0), "c"),
    "x[1:]": (lambda x, c: x[1:] + 0.0, ""),
    "x[mask]": (lambda x, c: x[MASK], ""),
    "x.reshape": (lambda x, c: x.reshape(2, 3) + 0.0, ""),
    "np.sum(x)": (lambda x, c: np.sum(x, keepdims=True), ""),
    "np.mean(x)": (lambda x, c: np.mean(x, keepdims=True), ""),
    "np.cumsum(x)": (lambda x, c: np.cumsum(x), ""),
    "np.concatenate": (lambda x, c: np.concatenate([x, c]), ""),
    "np.stack": (lambda x, c: np.stack([c, x]), ""),
}
"""Operations, and which of their arrays the derivative with respect to x reads."""


@pytest.mark.parametrize("operation", NEEDED)
def test_only_what_the_derivative_reads_is_kept(operation: str) -> None:
    f, needed = NEEDED[operation]
    kept = Kept(f)
    _, vjp_fn = vjp(kept, X)
    gc.collect()
    assert kept.names() == needed
    vjp_fn(1.0)
    del vjp_fn
    assert kept.names() == ""


def test_both_factors_are_kept_where_both_are_differentiated() -> None:
    kept = Kept(lambda x, c: x * (c * x[0]))
    _, vjp_fn = vjp(kept, X)
    gc.collect()
    assert kept.names() == "xc"
    del vjp_fn
    assert kept.names() == ""


# ---------------------------------------------------------------- how long


class Witness:
    """A function ``y = 2x`` whose pullback notes what else is alive when it is called."""

    def __init__(self) -> None:
        self.arrays: list[weakref.ref[Any]] = []
        self.pullbacks: list[weakref.ref[Any]] = []
        self.cotangents: list[weakref.ref[Any]] = []
        self.seen: list[tuple[int, int, int]] = []
        """For each call: how many arrays, pullbacks and cotangents of the others were alive."""

        @primitive
        def double(x: Any) -> Any:
            return 2.0 * x

        @rrule.register(double)
        def double_rrule(x: Any) -> Any:
            y = 2.0 * x

            def double_pullback(ybar: Any) -> Any:
                self.seen.append(tuple(sum(ref() is not None for ref in refs) for refs in self._all()))
                self.cotangents.append(weakref.ref(ybar))
                return NoTangent(), 2.0 * ybar

            self.arrays.append(weakref.ref(y))
            self.pullbacks.append(weakref.ref(double_pullback))
            return y, double_pullback

        self.double = double

    def _all(self) -> tuple[list[weakref.ref[Any]], ...]:
        return self.arrays, self.pullbacks, self.cotangents


def chain_of(witness: Witness, count: int) -> Callable[[Any], Any]:
    def chain(x: Any) -> Any:
        for _ in range(count):
            x = np.sin(witness.double(x))  # the sine keeps its argument
        return np.sum(x)

    return chain


COUNT = 6


def test_saved_arrays_and_pullbacks_are_freed_on_the_way_back() -> None:
    witness = Witness()
    gc.disable()
    try:
        grad(chain_of(witness, COUNT))(X)
    finally:
        gc.enable()
    arrays, pullbacks, cotangents = zip(*witness.seen, strict=True)
    remaining = range(COUNT, 0, -1)
    # The pullback that is being called is alive, and its own output may be.
    assert all(seen <= n for seen, n in zip(arrays, remaining, strict=True))
    assert all(seen <= n for seen, n in zip(pullbacks, remaining, strict=True))
    assert max(cotangents) <= 1
    assert not any(ref() is not None for refs in (witness.arrays, witness.pullbacks) for ref in refs)


def test_a_vjp_keeps_all_of_it_until_it_is_dropped() -> None:
    witness = Witness()
    _, vjp_fn = vjp(chain_of(witness, COUNT), X)
    first, second = vjp_fn(1.0)[0], vjp_fn(1.0)[0]
    np.testing.assert_array_equal(first, second)
    assert {seen[:2] for seen in witness.seen} == {(COUNT, COUNT)}
    del vjp_fn
    assert not any(ref() is not None for refs in (witness.arrays, witness.pullbacks) for ref in refs)


def test_what_an_exception_interrupts_is_freed() -> None:
    witness = Witness()

    def interrupted(x: Any) -> Any:
        chain_of(witness, COUNT)(x)
        raise KeyError

    with pytest.raises(KeyError):
        grad(interrupted)(X)
    assert not any(ref() is not None for ref in witness.arrays)


# ---------------------------------------------------------------- how much

SIZE = 50_000
LENGTH = 20


def arrays_at_peak(call: Callable[[], Any]) -> float:
    """How many arrays of `SIZE` a call needs at the most, beyond what is there before."""
    call()
    gc.collect()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1] / (8 * SIZE)
    finally:
        tracemalloc.stop()


def repeated(link: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def chain(x: Any) -> Any:
        y = x
        for _ in range(LENGTH):
            y = link(y)
        return np.sum(y)

    return chain


LARGE = np.full(SIZE, 0.5)
KEPT_BY_A_LINK = {
    "a sine keeps its argument": (np.sin, 1),
    "an exponential keeps its result": (lambda y: np.exp(-y), 1),
    "a constant summand is not kept": (lambda y: y + LARGE, 0),
    "a constant factor is the user's": (lambda y: y * LARGE, 0),
    "a view is no array": (lambda y: y[::-1].reshape(2, -1).T.reshape(-1, order="F"), 0),
    "a product keeps both": (lambda y: (0.1 * y + 1.0) * (0.1 * y - 1.0), 2),
}


@pytest.mark.parametrize("link", KEPT_BY_A_LINK)
def test_the_peak_is_what_the_links_keep(link: str) -> None:
    f, kept = KEPT_BY_A_LINK[link]
    working = 5  # what one operation and its derivative need
    assert arrays_at_peak(lambda: value_and_grad(repeated(f))(LARGE)) < kept * LENGTH + working


def test_forward_mode_needs_a_few_arrays() -> None:
    assert arrays_at_peak(lambda: jvp(repeated(np.sin), (LARGE,), (LARGE,))) < 6


# ---------------------------------------------------------------- what is written to


def test_cotangents_are_added_in_place_where_nobody_else_sees_them() -> None:
    accumulators = []

    @primitive
    def part(x: Any, i: int) -> Any:
        return x[i]

    @rrule.register(part)
    def part_rrule(x: Any, i: int) -> Any:
        def part_pullback(ybar: Any) -> Any:
            def add_to(accumulator: Any) -> Any:
                accumulators.append(accumulator)
                accumulator[i] += ybar
                return accumulator

            def value() -> Any:
                xbar = np.zeros(6)
                xbar[i] = ybar
                return xbar

            return NoTangent(), InplaceableThunk(add_to, value)

        return x[i], part_pullback

    gradient = grad(lambda x: sum(i * part(x, i) for i in range(6)))(X)
    np.testing.assert_array_equal(gradient, range(6))
    assert len(accumulators) >= 4
    assert all(accumulator is accumulators[0] for accumulator in accumulators)


def test_adding_up_takes_no_array_for_each_summand() -> None:
    factors = [np.full(SIZE, float(i)) for i in range(LENGTH)]
    # ... other than the results themselves: all forward, while the derivative keeps the factors only.
    assert arrays_at_peak(lambda: grad(lambda x: sum(np.sum(x * factor) for factor in factors))(LARGE)) < 6


def test_a_cotangent_that_a_rule_returns_twice_is_not_written_to() -> None:
    handed_out = []

    @primitive
    def plus(a: Any, b: Any) -> Any:
        return a + b

    @rrule.register(plus)
    def plus_rrule(a: Any, b: Any) -> Any:
        def plus_pullback(ybar: Any) -> Any:
            handed_out.append((ybar, ybar.copy()))
            return NoTangent(), ybar, ybar

        return a + b, plus_pullback

    def f(x: Any) -> Any:
        return np.sum(np.sin(plus(plus(x, x), plus(x, 2.0 * x))))

    np.testing.assert_allclose(grad(f)(X), 5 * np.cos(5 * X))
    assert len(handed_out) == 3
    for given, before in handed_out:
        np.testing.assert_array_equal(given, before)


def test_an_array_that_a_rule_keeps_and_returns_is_not_written_to() -> None:
    jacobian = np.arange(6.0)

    @primitive
    def weighted(x: Any) -> Any:
        return x @ jacobian

    @rrule.register(weighted)
    def weighted_rrule(x: Any) -> Any:
        return x @ jacobian, lambda ybar: (NoTangent(), jacobian)

    gradient = grad(lambda x: weighted(x) + weighted(x) + weighted(x))(X)
    np.testing.assert_array_equal(gradient, 3 * np.arange(6.0))
    np.testing.assert_array_equal(jacobian, np.arange(6.0))
    gradient = grad(lambda x: 5 * x[0] + weighted(x))(X)  # what indexing adds to is the rule's array
    np.testing.assert_array_equal(gradient, np.arange(6.0) + 5 * np.eye(6)[0])
    np.testing.assert_array_equal(jacobian, np.arange(6.0))


FUNCTIONS_OF_TWO = {
    "x": lambda x, c: x,
    "x + c": lambda x, c: x + c,
    "x - c + x": lambda x, c: x - c + x,
    "x * c": lambda x, c: x * c,
    "x.reshape": lambda x, c: x.reshape(2, 3).T.reshape(-1, order="F"),
    "x[::-1]": lambda x, c: x[::-1],
    "concatenate": lambda x, c: np.concatenate([x, c])[:6],
    "where": lambda x, c: np.where(MASK, x, c),
    "pair": lambda x, c: (x, x),
    "sum of views": lambda x, c: x[::-1] + x + x[::-1],
}


@pytest.mark.parametrize("name", FUNCTIONS_OF_TWO)
def test_what_the_user_gave_is_not_written_to_and_not_handed_out(name: str) -> None:
    """Arguments, constants and cotangents; the results may be written to."""
    f, x, c = FUNCTIONS_OF_TWO[name], X.copy(), X[::-1].copy()
    y, vjp_fn = vjp(f, x, c)
    seeds = tuple(np.full(6, 2.0) for _ in y) if isinstance(y, tuple) else np.full(6, 2.0)
    given = [x, c, *(seeds if isinstance(seeds, tuple) else [seeds])]
    before = [array.copy() for array in given]
    first = vjp_fn(seeds)
    expected = [bar.copy() for bar in first]
    for bar in first:
        bar += 1.0
    for array, value in zip(given, before, strict=True):
        np.testing.assert_array_equal(array, value)
    for bar, value in zip(vjp_fn(seeds), expected, strict=True):
        np.testing.assert_array_equal(bar, value)


def test_gradients_of_several_arguments_are_separate_arrays() -> None:
    first, second = grad(lambda a, b: np.sum((a + b) * X), argnums=(0, 1))(X, X)
    assert not np.shares_memory(first, second)
    assert not np.shares_memory(first, X)
    first[...] = 0.0
    np.testing.assert_array_equal(second, X)


def test_in_place_updates_of_traced_arrays_leave_the_users_arrays_alone() -> None:
    x, c = X.copy(), X.copy()

    def f(x: Any) -> Any:
        y = x
        y += c
        y[0] = 3.0
        z = c + 0.0 * x
        z[1:] *= x[1:]
        return np.sum(y * z)

    grad(f)(x)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(c, X)


def test_a_zero_cotangent_costs_no_array() -> None:
    @primitive
    def ignored(x: Any) -> Any:
        return np.sum(x)

    @rrule.register(ignored)
    def ignored_rrule(x: Any) -> Any:
        return np.sum(x), lambda ybar: (NoTangent(), ZeroTangent())

    assert arrays_at_peak(lambda: grad(lambda x: sum(ignored(x) for _ in range(LENGTH)) + x[0])(LARGE)) < 3
