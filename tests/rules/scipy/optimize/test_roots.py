"""Roots, with respect to what the functions of their equations get as arguments and what they capture."""

import numpy as np
import pytest
import scipy.optimize

from rulescore import MissingDerivativeError, NoTangent, Tangent, ZeroTangent, frule, rrule
from rulescore.ad import grad, hessian, jvp, primitives
from rulescore.ad.system.reference_ad import AD
from rulescore.closures.explicit_calls import UnseenCaptureError

NO = NoTangent()
opt = primitives(scipy.optimize)
BRACKETING = ["brentq", "brenth", "ridder", "bisect", "toms748"]


def square_minus(x, p):
    return x**2 - p


# The root is √p.
SLOPE, CURVATURE, THIRD = 0.5 / np.sqrt(2), -0.25 * 2**-1.5, 0.375 * 2**-2.5


@pytest.mark.parametrize("name", BRACKETING)
def test_roots_within_a_bracket_move_with_their_arguments_to_third_order(name):
    find = getattr(opt, name)

    def f(p):
        return find(square_minus, 0.0, 5.0, (p,))

    assert grad(f)(2.0) == pytest.approx(SLOPE, rel=1e-9)
    assert jvp(f, (2.0,), (3.0,))[1] == pytest.approx(3 * SLOPE, rel=1e-9)
    assert grad(grad(f))(2.0) == pytest.approx(CURVATURE, rel=1e-9)
    assert grad(grad(grad(f)))(2.0) == pytest.approx(THIRD, rel=1e-9)


def test_the_bracket_has_no_influence_on_the_root():
    abar, bbar = rrule(AD, scipy.optimize.brentq, square_minus, 0.0, 5.0, (2.0,))[1](1.0)[2:4]
    assert isinstance(abar, ZeroTangent)
    assert isinstance(bbar, ZeroTangent)


class Offset:
    def __init__(self, p):
        self.p = p

    def __call__(self, x):
        return x**2 - self.p


def test_a_callable_object_has_a_structural_cotangent():
    y, pullback = rrule(AD, scipy.optimize.root, Offset(np.array([2.0, 3.0])), np.ones(2))
    np.testing.assert_allclose(y.x, np.sqrt([2, 3]))
    xbar = Tangent(scipy.optimize.OptimizeResult, x=np.array([1.0, 10.0]))
    np.testing.assert_allclose(pullback(xbar)[1].p, 0.5 / np.sqrt([2, 3]) * [1, 10])
    tangents = (NO, Tangent(Offset, p=np.ones(2)), np.zeros(2))
    _, dy = frule(AD, tangents, scipy.optimize.root, Offset(np.array([2.0, 3.0])), np.ones(2))
    np.testing.assert_allclose(dy.x, 0.5 / np.sqrt([2, 3]))


def test_a_field_of_the_result_that_depends_on_the_search_is_an_error_and_no_zero():
    p = np.array([2.0, 3.0])
    with pytest.raises(MissingDerivativeError, match="qtf"):
        grad(lambda p: np.sum(opt.root(square_minus, np.ones(2), (p,)).qtf))(p)
    with pytest.raises(MissingDerivativeError, match="qtf"):
        jvp(lambda p: np.sum(opt.root(square_minus, np.ones(2), (p,)).qtf), (p,), (p,))


def test_a_multiple_root_has_no_derivative():
    with pytest.raises(MissingDerivativeError, match="singular"):
        grad(lambda p: opt.newton(lambda x, p: p * x**3, 0.0, None, (p,)))(1.0)


def test_where_no_solution_was_found_there_is_no_derivative():
    def stopped(p):
        return np.sum(opt.root(lambda x, p: x**2 + p, np.ones(1), (p,)).x)

    with pytest.raises(MissingDerivativeError):
        grad(stopped)(2.0)


@pytest.mark.parametrize(
    "find",
    [
        lambda f: opt.brentq(f, 0.0, 5.0),
        lambda f: opt.newton(f, 1.3),
        lambda f: opt.root_scalar(f, bracket=(0.0, 5.0)).root,
        lambda f: opt.root_scalar(f, x0=1.0, x1=1.5).root,
        lambda f: opt.root(f, np.array([1.0])).x[0],
        lambda f: opt.fsolve(f, 1.0)[0],
        lambda f: opt.newton_krylov(f, np.array([1.0]), f_tol=1e-12)[0],
    ],
)
def test_roots_move_with_what_the_function_captures(find):
    def f(p):
        return find(lambda x: x**2 - p)

    assert grad(f)(2.0) == pytest.approx(SLOPE, rel=1e-7)
    assert jvp(f, (2.0,), (1.0,))[1] == pytest.approx(SLOPE, rel=1e-7)
    assert grad(grad(f))(2.0) == pytest.approx(CURVATURE, rel=1e-7)


def test_a_system_of_equations_that_returns_a_list():
    def f(p):
        return opt.root(lambda x: [x[0] ** 2 - p[0], x[0] * x[1] - p[1]], [1.0, 1.0]).x[1]

    p = np.array([2.0, 3.0])
    np.testing.assert_allclose(grad(f)(p), grad(lambda p: p[1] / np.sqrt(p[0]))(p), rtol=1e-8)
    np.testing.assert_allclose(hessian(f)(p), hessian(lambda p: p[1] / np.sqrt(p[0]))(p), rtol=1e-7, atol=1e-9)


def test_captured_values_and_arguments_and_the_start_at_once():
    def f(p, q, x0):
        return opt.root(lambda x, q: x**2 - p * q, x0, args=(q,)).x[0]

    dp, dq, dx0 = grad(f, argnums=(0, 1, 2))(2.0, 3.0, np.array([1.0]))
    assert (dp, dq) == pytest.approx((1.5 / np.sqrt(6), 1 / np.sqrt(6)), rel=1e-8)
    assert dx0.tolist() == [0]


def test_several_roots_found_at_once():
    p = np.array([2.0, 3.0])
    found = grad(lambda p: np.sum(opt.newton(lambda x: x**2 - p, np.ones(2))))(p)
    np.testing.assert_allclose(found, 0.5 / np.sqrt(p), rtol=1e-8)


def test_fixed_points():
    x = scipy.optimize.brentq(lambda x: np.cos(x) - x, 0, 1)
    expected = -x * np.sin(x) / (1 + np.sin(x))
    assert grad(lambda p: opt.fixed_point(lambda x: np.cos(p * x), 1.0))(1.0) == pytest.approx(expected, rel=1e-7)


def test_what_comes_from_a_global_is_an_error_that_names_the_way_out():
    def f(p):
        globals()["FROM_A_GLOBAL"] = p
        return opt.brentq(lambda x: x**2 - FROM_A_GLOBAL, 0.0, 5.0)  # noqa: F821

    with pytest.raises(UnseenCaptureError, match="args="):
        grad(f)(2.0)


def test_full_output_is_refused():
    with pytest.raises(TypeError, match="full_output"):
        grad(lambda p: opt.brentq(lambda x: x - p, 0.0, 5.0, full_output=True)[0])(2.0)
