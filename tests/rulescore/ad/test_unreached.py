"""Of what a program leaves out no derivative is NaN, in any mode, though the slope there be infinite."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import ndimage, special, stats

from rules.scipy.ndimage.correlations import correlation_weights
from rulescore import pullback_wrt, rrule
from rulescore.ad import checkpoint, grad, hessian, jacfwd, jacrev, jvp, linearize, primitive, primitives, variable, vjp
from tests.fuzz.modes import FIRST, SECOND, Question

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

X = np.array([0.7, 0.0, 0.4, 1.3])
KEPT = X > 0


@dataclasses.dataclass
class OfOneArray:
    """A program as `Question` asks for it."""

    f: Callable[[Any], Any]

    def arguments(self) -> list[Any]:
        return [X.copy()]

    def function(self) -> Callable[[Any], Any]:
        return self.f


SECOND_ALONE = "a power whose second derivative alone is infinite"

SLOPES: dict[str, Callable[[Any], Any]] = {
    "a root": np.sqrt,
    "a logarithm": np.log,
    SECOND_ALONE: lambda x: x**1.5,
    "a quotient": lambda x: 1 / (1 + np.sqrt(x)),
    "an elliptic integral": lambda x: primitives(special).ellipk(1 - x),
}


@primitive
def only_in_reverse(x: Any) -> Any:
    return np.sqrt(x)


@rrule.register(only_in_reverse)
def only_in_reverse_rrule(x: Any) -> Any:
    y = np.sqrt(x)
    return y, pullback_wrt(x)(lambda ybar: ybar / (2 * y))


def with_a_row_of_zeros(x: Any) -> Any:
    y = np.zeros((2, 3), like=x)
    y[0] = x * x
    return y


def in_a_loop(x: Any) -> Any:
    """Two steps of what the denoising by total variation does."""
    out = x * 1
    p = np.zeros(3)
    for _ in range(2):
        g = np.zeros(3, like=x)
        g[:-1] = np.diff(out)
        p = (p - 0.2 * g) / (1 + np.sqrt(g**2))
        out = x - p
    return out


def assigned(y: Any) -> Any:
    y = y * 1
    y[~KEPT] = 0.5
    return np.sin(y)


def overwritten(y: Any) -> Any:
    z = np.cos(y)
    z[1] = z[0] * z[2]
    return z


# What is made of the values, of which the second one meets the slope.
WAYS: dict[str, Callable[[Any], Any]] = {
    "a view": lambda y: np.sin(y[2:]),
    "an item": lambda y: y[0] * y[-1],
    "an index": lambda y: y[[0, 3, 2, 3]] ** 2,
    "a mask": lambda y: np.exp(y[KEPT]),
    "reshape": lambda y: np.sin(y.reshape(2, 2)[1]),
    "a transposed view": lambda y: np.sin(y.reshape(2, 2).T[0]),
    "where": lambda y: np.where(KEPT, y * y, 0),
    "a sum of some": lambda y: np.sum(y * y, where=KEPT),
    "an assignment by a mask": assigned,
    "an assignment by number": overwritten,
    "take": lambda y: np.take(y, [3, 0]) * np.take(y, [2, 2]),
    "delete": lambda y: np.delete(y, 1) ** 2,
    "split": lambda y: np.sin(np.split(y, [1, 2])[2]) * y[0],
    "unpacking": lambda y: [*y][2] * [*y][3],
    "an outer product": lambda y: np.outer(y[2:], y[:1]),
    "an outer product with what is kept": lambda y: np.outer(X[:3], y.reshape(-1)[2:]),
    "a product of matrices": lambda y: y.reshape(2, 2)[:, :1].T @ np.ones((2, 2)) @ np.sin(y[2:]),
    "einsum": lambda y: np.einsum("i,j->ij", y[2:], y[2:]),
    "roll": lambda y: np.roll(y, 1)[[0, 1, 3]] ** 2,
    "a sum of what was joined": lambda y: np.cumsum(np.concatenate([y[:1], y[2:]])),
    "a checkpointed function": lambda y: checkpoint(np.sin)(y)[2:],
}


def differences(f: Callable[[Any], Any], along: Any) -> Any:
    """The derivative along a direction of what does not depend on the entry with the slope."""
    h = 1e-4 * along * KEPT
    return (8 * (f(X + h) - f(X - h)) - (f(X + 2 * h) - f(X - 2 * h))) / 12e-4


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("slope", SLOPES)
def test_what_is_left_out_stays_out_in_every_mode(slope: str, way: str) -> None:
    question = Question(OfOneArray(lambda x: WAYS[way](SLOPES[slope](x))))  # type: ignore[arg-type]
    (dx,), of_sum = question.dx, question.of_sum()
    weights = np.ravel(question.weights[0])
    slope_along, curvature = differences(of_sum, dx), differences(grad(of_sum), dx)
    assert np.all(np.isfinite(curvature))
    for name, mode in {**FIRST, **SECOND}.items():
        if slope == SECOND_ALONE and name == "imperative twice":
            continue  # the first pass has nothing to keep out, and is not made again
        answer, first = mode(question), name in FIRST
        if answer.cotangents is None:
            found = weights @ np.ravel(answer.tangent) if first else answer.tangent
            wanted = slope_along if first else curvature @ dx
        else:
            (gradient,) = answer.cotangents
            assert gradient[1] == 0, name
            found, wanted = (gradient @ dx, slope_along) if first else (gradient, curvature)
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-8, err_msg=name)


# From x to an output with an infinite slope where x does not move.
UNMOVED: dict[str, Callable[[Any], Any]] = {
    "a constant entry": lambda x: np.sqrt(np.append(x, 0.0)),
    "differences with a constant end": lambda x: np.sqrt(np.sum(np.diff(x, append=x[-1:]) ** 2)[None] + np.zeros(2)),
    "assigned constants": lambda x: np.sqrt(with_a_row_of_zeros(x)),
    "norms of rows": lambda x: np.sqrt(np.sum(with_a_row_of_zeros(x) ** 2, axis=1)),
    "a constant factor": lambda x: np.sqrt(np.diag([1.0, 0.0, 2.0]) @ x),
    "the other branch": lambda x: np.sqrt(np.where(np.arange(3) > 0, x, 0.0)),
    "a product": lambda x: np.append(x, 1.0) * np.sqrt(np.append(x, 0.0)),
    "a power": lambda x: np.append(x, 0.0) ** np.append(x, 0.5),
    "several outputs": lambda x: np.sqrt(np.split(np.append(x, [0.0, 1.0]), [3])[1]) + x[:2],
    "checkpointed": lambda x: checkpoint(np.sqrt)(np.append(x, 0.0)),
    "in a loop": in_a_loop,
    "a sum within a rule": lambda x: primitives(stats).gmean(np.append(x, 0.0)) + x,
    "a sum within a rule, of a list": lambda x: primitives(stats).gmean([x[0], 0, x[1]]) + x,
    "a sum of some within a rule": lambda x: np.linalg.norm(with_a_row_of_zeros(x), axis=1),
    "a transposed rule": lambda x: only_in_reverse(np.append(x, 0.0)),
}

Z = np.array([0.5, 1.5, 2.0])
DZ = np.array([0.3, -1.0, 0.7])

FORWARD: dict[str, Callable[[Any], Any]] = {
    "jvp": lambda f: jvp(f, (Z,), (DZ,))[1],
    "linearize": lambda f: linearize(f, Z)[1](DZ),
    "jacfwd": lambda f: jacfwd(f)(Z) @ DZ,
    "jacrev": lambda f: jacrev(f)(Z) @ DZ,
    "by the gradient": lambda f: vjp(f, Z)[1](np.ones(np.shape(f(Z))))[0] @ DZ,
}


@pytest.mark.parametrize("mode", FORWARD)
@pytest.mark.parametrize("name", UNMOVED)
def test_what_does_not_move_has_no_slope(name: str, mode: str) -> None:
    f = UNMOVED[name]
    h = 1e-4
    wanted = (8 * (f(Z + h * DZ) - f(Z - h * DZ)) - (f(Z + 2 * h * DZ) - f(Z - 2 * h * DZ))) / (12 * h)
    if mode == "by the gradient":
        if name == "a constant factor":
            pytest.skip("only forward mode knows that the factor is never reached")
        wanted = np.sum(wanted)
    np.testing.assert_allclose(FORWARD[mode](f), wanted, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", [name for name in UNMOVED if name != "a constant factor"])
def test_what_does_not_move_has_no_second_derivative(name: str) -> None:
    f = UNMOVED[name]
    loss = lambda x: np.sum(np.sin(f(x)))  # noqa: E731
    wanted = [(grad(loss)(Z + e) - grad(loss)(Z - e)) / 2e-5 for e in 1e-5 * np.eye(3)]
    by_forward = [grad(lambda x, e=e: jvp(loss, (x,), (e,))[1])(Z) for e in np.eye(3)]
    twice = [jvp(lambda x, e=e: jvp(loss, (x,), (e,))[1], (Z,), (DZ,))[1] for e in np.eye(3)]
    for found in (hessian(loss)(Z), jacfwd(grad(loss))(Z), jacrev(grad(loss))(Z), by_forward):
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(twice, wanted @ DZ, rtol=1e-6, atol=1e-7)


def test_of_what_a_direction_leaves_alone() -> None:
    x = np.array([0.0, 4.0])
    np.testing.assert_array_equal(jvp(np.sqrt, (x,), (np.array([0.0, 1.0]),))[1], [0, 0.25])
    np.testing.assert_array_equal(vjp(np.sqrt, x)[1](np.array([0.0, 1.0]))[0], [0, 0.25])
    np.testing.assert_array_equal(linearize(np.sqrt, x)[1](np.array([0.0, 1.0])), [0, 0.25])
    for jacobian in (jacfwd, jacrev):
        np.testing.assert_array_equal(jacobian(np.sqrt)(x), [[np.inf, 0], [0, 0.25]])


# What has no derivative at 0, or none that the chain rule knows: nothing is made a zero.
UNDEFINED: dict[str, Callable[[Any], Any]] = {
    "log(x²)": lambda x: np.log(x**2),
    "(x²)^¼": lambda x: (x**2) ** 0.25,
    "√x²": lambda x: np.sqrt(x) ** 2,
    "0 √x": lambda x: 0 * np.sqrt(x),
    "log(x x)": lambda x: np.log(x * x),
    "log(x·x)": lambda x: np.log(x @ x) + x,
    "log of an einsum": lambda x: np.log(np.einsum("i,i", x, x)) + x,
    "log of a product": lambda x: np.log(np.outer(x, x)[0]),
    "a checkpointed root": lambda x: checkpoint(np.sqrt)(x) ** 2,
    "a root of a checkpointed square": lambda x: np.log(checkpoint(np.square)(x)),
    "NaN": lambda x: x * np.nan,
}


@pytest.mark.parametrize("name", UNDEFINED)
def test_nan_of_other_causes_stays(name: str) -> None:
    f, zero, one = UNDEFINED[name], np.zeros(1), np.ones(1)
    x = variable(zero)
    np.sum(f(x)).backward()
    for found in (
        jvp(f, (zero,), (one,))[1],
        vjp(f, zero)[1](one)[0],
        grad(lambda x: np.sum(f(x)))(zero),
        linearize(f, zero)[1](one),
        jacfwd(f)(zero),
        jacrev(f)(zero),
        x.grad,
    ):
        assert np.all(np.isnan(found))


def test_zeros_that_are_nothing_else_and_not_certain_pass_through_functions_that_change_the_shape() -> None:
    def branches(x: Any) -> Any:
        z = (np.array([[1.3], [1.2]]) * x).reshape(-1).copy()
        z[::2] *= 3.0
        return np.where(z > 0, z, np.zeros_like(z))

    x, dx = np.array([-0.4, 0.5]), np.array([2.0, 3.0])
    np.testing.assert_allclose(linearize(branches, x)[1](dx), [0, 1.3 * 3, 0, 1.2 * 3])


def test_marks_go_through_code_that_skips_nan() -> None:
    """SciPy's filters take a weight that is NaN for one that is zero."""
    rng = np.random.default_rng(0)
    ybar, image, dy, dx = rng.standard_normal((4, 6))
    correlate = primitives(ndimage).correlate1d

    def weights(ybar: Any, image: Any) -> Any:
        bars = correlation_weights(ybar, image, (3,), (0,), [0], "constant")
        return np.where(bars > 0, bars, 0.0)

    def filtered(x: Any, y: Any) -> Any:
        roots = np.sqrt(np.append(x[:2] ** 2, 0.0))  # of which the last one does not move, and has an infinite slope
        return correlate(y[:4] * 1.0, roots, mode="constant")

    for f in (weights, filtered):
        h = 1e-6
        wanted = (f(ybar + h * dy, image + h * dx) - f(ybar - h * dy, image - h * dx)) / (2 * h)
        np.testing.assert_allclose(linearize(f, ybar, image)[1](dy, dx), wanted, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(jvp(f, (ybar, image), (dy, dx))[1], wanted, rtol=1e-6, atol=1e-8)


def test_an_infinite_slope_of_what_moves_stays_infinite() -> None:
    zero = np.zeros(2)
    for found in (jvp(np.sqrt, (zero,), (np.array([1.0, 0.0]),))[1], vjp(np.sqrt, zero)[1](np.array([1.0, 0.0]))[0]):
        np.testing.assert_array_equal(found, [np.inf, 0])


def test_a_function_that_is_another_one_each_time_is_left_alone() -> None:
    rng = np.random.default_rng(0)
    f = lambda x: np.sqrt(np.append(x, 0.0)) * rng.uniform()  # noqa: E731
    assert np.isnan(jvp(f, (Z,), (DZ,))[1][-1])
