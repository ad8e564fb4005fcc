"""The branch that `np.where` does not take adds nothing, also where its derivative is infinite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rulescore import Selected, not_implemented, scalar_rule, unthunk
from rulescore.ad import grad, hessian, jacrev, jvp, primitive, variable, vjp

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

X = np.array([0.0, 2.0])

# From x to a loss, with the derivative at 0 and 2.
LOSSES: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "a ufunc": (lambda x: np.where(x > 0, np.log(x), 0), [0, 0.5]),
    "several": (lambda x: np.where(x > 0, np.sqrt(8 * x**2 / x), 0), [0, 1]),
    "the other branch": (lambda x: np.where(x <= 0, 0, 1 / x), [0, -0.25]),
    "a quotient": (lambda x: np.where(x > 0, 4 / np.sqrt(2 * x), 0), [0, -0.5]),
    "signs": (lambda x: np.where(x > 0, -np.log(+x), 0), [0, -0.5]),
    "a use beside it": (lambda x: np.where(x > 0, np.log(x), 0) + 3 * x, [3, 3.5]),
    "within each other": (lambda x: np.where(x > 0, np.where(x > 1, np.log(x), np.sqrt(x)), 0), [0, 0.5]),
    "broadcasting": (lambda x: np.where(x > 0, np.log(x) + np.zeros((3, 1)), 0)[0], [0, 0.5]),
}


@pytest.mark.parametrize("name", LOSSES)
def test_the_branch_that_is_not_taken_adds_nothing(name: str) -> None:
    f, slopes = LOSSES[name]
    np.testing.assert_allclose(grad(lambda x: np.sum(f(x)))(X), slopes)
    np.testing.assert_allclose(jacrev(f)(X), np.diag(slopes))
    np.testing.assert_allclose(vjp(f, X)[1](np.ones(2))[0], slopes)
    np.testing.assert_allclose(jvp(f, (X,), (np.ones(2),))[1], slopes)


@pytest.mark.parametrize("name", LOSSES)
def test_the_same_of_variables(name: str) -> None:
    f, slopes = LOSSES[name]
    x = variable(X.copy())
    np.sum(f(x)).backward()
    np.testing.assert_allclose(x.grad, slopes)


def test_of_numbers() -> None:
    assert grad(lambda x: np.where(x > 0, np.log(x), 0))(0.0) == 0
    assert grad(grad(lambda x: np.where(x > 0, np.log(x), 0)))(0.0) == 0
    assert grad(grad(lambda x: np.where(x > 0, np.log(x), 0)))(2.0) == -0.25


def test_second_derivatives() -> None:
    np.testing.assert_allclose(hessian(lambda x: np.sum(np.where(x > 0, np.log(x), 0)))(X), np.diag([0, -0.25]))


def test_where_a_factor_is_differentiated_too() -> None:
    # The cotangent meets a partial derivative that another differentiation traces, and keeps the way to both.
    def gradient(x: Any) -> Any:
        return vjp(lambda x, w: np.where(x > 0, x**2 * w, 0), x, np.array([5.0, 7.0]))[1](np.ones(2))[1]

    np.testing.assert_allclose(jacrev(gradient)(X), np.diag([0, 4.0]))


def test_what_infinite_derivatives_are_elsewhere_is_left_alone() -> None:
    assert grad(np.sqrt)(0.0) == np.inf
    assert np.isnan(grad(lambda x: np.where(x > -1, np.sqrt(x) * 0, 0))(0.0))


@primitive
def scaled(x: Any, c: Any = 2.0) -> Any:
    return x * c


@primitive
def weighted(x: Any, c: Any) -> Any:
    return x * c


@primitive
def weighted_product(x: Any, c: Any, weight: Any) -> Any:
    return x * c * weight


@primitive
def sine_and_product(x: Any, c: Any) -> Any:
    return np.sin(x), x * c


scalar_rule(scaled, lambda y, x, c: c, lambda y, x, c: x)
scalar_rule(weighted, lambda y, x, c: c, not_implemented("the derivative with respect to the weight"))
scalar_rule(weighted_product, lambda y, x, c, w: c * w, lambda y, x, c, w: x * w, not_implemented("the weight"))
scalar_rule(sine_and_product, lambda y, x, c: (np.cos(x), c), lambda y, x, c: (None, x))

OF_TWO_ARGUMENTS: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "one by keyword": (lambda x: np.where(x > 0, scaled(np.log(x), c=3.0), 0), [0, 1.5]),
    "one by default": (lambda x: np.where(x > 0, scaled(np.log(x)), 0), [0, 1]),
    "a missing derivative": (lambda x: np.where(x > 0, weighted(np.log(x), 3.0), 0), [0, 1.5]),
    "broadcasting": (lambda x: np.where(x > 0, weighted(np.log(x), np.ones((3, 1))), 0)[0], [0, 0.5]),
    "all by position": (lambda x: np.where(x > 0, scaled(np.log(x), 3.0), 0), [0, 1.5]),
    "both": (
        lambda x: np.where(x > 0, weighted_product(np.log(x), np.sqrt(x), 1), 0),
        [0, (1 + np.log(2) / 2) / 2**0.5],
    ),
    "several outputs": (lambda x: np.where(x > 0, sine_and_product(np.log(2 + x), 2.0)[1], 0), [0, 0.5]),
}


@pytest.mark.parametrize("name", OF_TWO_ARGUMENTS)
def test_of_functions_of_two_arguments(name: str) -> None:
    f, slopes = OF_TWO_ARGUMENTS[name]
    np.testing.assert_allclose(grad(lambda x: np.sum(f(x)))(X), slopes)
    np.testing.assert_allclose(jacrev(f)(X), np.diag(slopes))
    x = variable(X.copy())
    np.sum(f(x)).backward()
    np.testing.assert_allclose(x.grad, slopes)


def test_rules_of_functions_that_are_not_elementwise_get_ordinary_arrays() -> None:
    seen: list[type] = []

    @primitive
    def watched(x: Any) -> Any:
        return 2 * x

    from rulescore import NoTangent, rrule

    @rrule.register(watched)
    def watched_rrule(x: Any) -> Any:
        def pullback(ybar: Any) -> Any:
            seen.append(type(ybar))
            return NoTangent(), 2 * ybar

        return 2 * x, pullback

    grad(lambda x: np.sum(np.where(x > 0, watched(x), 0)))(X)
    assert seen == [np.ndarray, np.ndarray]  # for the numbers, and to know which of them are masked
    seen.clear()
    grad(lambda x: np.sum(np.sin(watched(x))))(X)
    assert seen == [np.ndarray]


def test_selected_arithmetic() -> None:
    ybar = Selected(lambda: np.array([0.0, 2.0]), np.array([False, True]))
    infinite = np.array([np.inf, 3.0])
    for product in (ybar * infinite, infinite * ybar, np.multiply(infinite, ybar)):
        assert type(product) is Selected
        np.testing.assert_array_equal(unthunk(product), [0, 6])
    np.testing.assert_array_equal(unthunk(ybar / np.array([0.0, 4.0])), [0, 0.5])
    np.testing.assert_array_equal(unthunk(-ybar), [0, -2])
    assert type(ybar + infinite) is np.ndarray
    assert type(np.exp(ybar)) is np.ndarray
    assert type(ybar * np.ones((3, 1))) is np.ndarray


def test_of_complex_numbers() -> None:
    z = np.array([0j, 2j])
    loss = lambda z: np.sum(np.real(np.where(np.abs(z) > 0, np.log(z), 0)))  # noqa: E731
    np.testing.assert_allclose(grad(loss)(z), [0, 0.5j])
