"""The gradient of a chain of n operations takes time and memory linear in n, and no recursion."""

from __future__ import annotations

import gc
import sys
import threading
import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rulescore.ad import grad, ignore_derivatives, jvp, value_and_grad, vjp

LONG = 100_000
"""A hundred times deeper than Python recurses."""

TURN = np.array([[0.6, -0.8], [0.8, 0.6]])


def assigned(y: Any) -> Any:
    y[0] = 1.001 * y[1]
    return y


def increased(y: Any) -> Any:
    y += 1e-3
    return y


LINKS: dict[str, Callable[[Any], Any]] = {
    "ufunc": np.sin,
    "operator": lambda y: y + 1e-3,
    "operator with itself": lambda y: 0.5 * y * y,
    "rule": lambda y: TURN @ y,
    "index": lambda y: 1.001 * y[::-1],
    "view of a view": lambda y: y[::-1],
    "list": lambda y: np.stack([y[1], y[0]]),
    "iteration": lambda y: np.stack(list(y)),
    "assignment": assigned,
    "in place": increased,
}
"""From two numbers to two numbers."""


def chained(link: Callable[[Any], Any], length: int) -> Callable[[Any], Any]:
    """A link applied so many times, summed with weights that tell the two numbers apart."""

    def chain(x: Any) -> Any:
        y = x + 0.0
        for _ in range(length):
            y = link(y)
        return 2.0 * y[0] - y[1]

    return chain


X = np.array([0.5, -0.25])


def central_difference(f: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
    steps = 1e-6 * np.eye(x.size)
    return np.array([(f(x + step) - f(x - step)) / 2e-6 for step in steps])


def test_a_gradient_does_not_recurse() -> None:
    def chain(x: Any) -> Any:
        for _ in range(LONG):
            x = x + 1e-5 * np.sin(x)
        return x

    step = 1e-30j  # the complex step: no subtraction, so exact
    assert grad(chain)(0.5) == pytest.approx(chain(0.5 + step).imag / 1e-30, rel=1e-9)


@pytest.mark.parametrize("name", LINKS)
def test_a_gradient_goes_through_more_operations_than_python_recurses(name: str) -> None:
    length = 2 * sys.getrecursionlimit() + 1
    chain = chained(LINKS[name], length)
    value, gradient = value_and_grad(chain)(X)
    assert value == chain(X)
    np.testing.assert_allclose(gradient, central_difference(chain, X), rtol=1e-6, atol=1e-8)


def test_a_gradient_needs_no_deep_stack() -> None:
    """Neither of Python's frames nor of C's, as freeing nested objects might."""
    found = []
    chain = chained(LINKS["ufunc"], LONG)
    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=lambda: found.append(grad(chain)(X)))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    np.testing.assert_allclose(found[0], grad(chain)(X))


def peak_of(call: Callable[[], Any]) -> int:
    """Bytes that a call needs at the most, beyond what is there before."""
    call()  # what is cached for good is not counted
    gc.collect()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def calls_of(call: Callable[[], Any]) -> int:
    """How many functions a call calls, of Python and of C: a measure of time that no other process disturbs."""
    call()
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return count


SHORT = 500


@pytest.mark.parametrize("name", LINKS)
@pytest.mark.parametrize("measure", [peak_of, calls_of])
def test_a_gradient_costs_twice_as_much_for_twice_as_many_operations(measure: Callable[..., int], name: str) -> None:
    costs = [measure(lambda n=n: grad(chained(LINKS[name], n))(X)) for n in (SHORT, 2 * SHORT)]
    assert 1.8 < costs[1] / costs[0] < 2.2


@pytest.mark.parametrize("measure", [peak_of, calls_of])
def test_a_second_derivative_costs_twice_as_much_for_twice_as_many_operations(measure: Callable[..., int]) -> None:
    def second(n: int) -> Any:
        chain = chained(np.sin, n)
        return grad(lambda x: np.sum(grad(chain)(x) ** 2))(X)

    costs = [measure(lambda n=n: second(n)) for n in (SHORT, 2 * SHORT)]
    assert 1.8 < costs[1] / costs[0] < 2.2


@pytest.mark.short_cuts
def test_an_operation_on_few_numbers_is_remembered_in_half_a_kilobyte(monkeypatch: pytest.MonkeyPatch) -> None:
    # Where other tests have given rules to plain functions, those are looked for in the chain, which takes memory too.
    monkeypatch.setattr("rulescore.ad.messages.unused_rules._suspects", {})
    for name in ("ufunc", "operator", "operator with itself"):
        grad(chained(LINKS[name], 1))(X)  # the first call loads the rules
        peak = peak_of(lambda name=name: grad(chained(LINKS[name], 10 * SHORT))(X))
        operations = 10 * SHORT * (2 if name == "operator with itself" else 1)
        assert peak / operations < 512


def test_forward_mode_remembers_nothing() -> None:
    x, dx = np.ones(1000), np.ones(1000)
    peaks = [peak_of(lambda n=n: jvp(chained(np.sin, n), (x,), (dx,))) for n in (10, 1000)]
    assert peaks[1] < 1.2 * peaks[0]


def test_a_long_vjp_can_be_called_again_and_is_freed_when_it_is_dropped() -> None:
    alive = []

    def chain(x: Any) -> Any:
        for i in range(LONG):
            x = np.sin(x)
            if i % (LONG // 10) == 0:
                alive.append(weakref.ref(ignore_derivatives(x).base))
        return x

    _, vjp_fn = vjp(chain, X)
    np.testing.assert_array_equal(vjp_fn(np.ones(2))[0], vjp_fn(np.ones(2))[0])
    assert len(alive) == 10
    assert all(x() is not None for x in alive)
    del vjp_fn
    assert all(x() is None for x in alive)


@pytest.mark.parametrize("name", LINKS)
def test_differentiating_leaves_no_cycles(name: str) -> None:
    """What is not used any more is freed by counting references, and the collector finds nothing."""

    def differentiate() -> None:
        chain = chained(LINKS[name], 10)
        _, vjp_fn = vjp(chain, X)
        vjp_fn(1.0)
        grad(chain)(X)
        jvp(chain, (X,), (X,))
        grad(lambda x: np.sum(grad(chain)(x)))(X)

    differentiate()
    gc.collect()
    gc.disable()
    try:
        differentiate()
        assert gc.collect() == 0
    finally:
        gc.enable()
