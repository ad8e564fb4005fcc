"""Minima, fits and programs: against closed forms where there are some, else against finite differences."""

import numpy as np
import pytest
import scipy.optimize

from rulescore import MissingDerivativeError
from rulescore.ad import grad, hessian, jvp, primitives

opt = primitives(scipy.optimize)
W = np.array([0.7, -0.3, 1.1])


def central(f, p, h=1e-4):
    """The gradient by differences of fourth order."""
    p = np.asarray(p, float)
    found = np.zeros(p.shape)
    for i in np.ndindex(p.shape):
        e = np.zeros(p.shape)
        e[i] = h
        found[i] = (-f(p + 2 * e) + 8 * f(p + e) - 8 * f(p - e) + f(p - 2 * e)) / (12 * h)
    return found


def assert_right(f, p, rtol=1e-4, atol=1e-4):
    """Both modes agree with differences, whose precision is that of the solver, and with each other exactly."""
    p = np.asarray(p, float)
    found = grad(f)(p)
    np.testing.assert_allclose(found, central(f, p), rtol=rtol, atol=atol)
    v = np.random.default_rng(0).standard_normal(p.shape)
    np.testing.assert_allclose(jvp(f, (p,), (v,))[1], np.sum(found * v), rtol=1e-7, atol=1e-9)


def ridge(x, a, b):
    """Its minimum solves (AᵀA + λ) x = Aᵀ b."""
    return np.sum((a @ x - b) ** 2) + 0.1 * np.sum(x**2)


A = np.array([[1.0, 2.0, 0.5], [0.3, -1.0, 1.0], [2.0, 0.1, 0.4], [0.5, 0.5, -1.5]])
B = np.array([1.0, -2.0, 0.5, 0.3])


def solution_of_ridge(a, b):
    return np.linalg.solve(a.T @ a + 0.1 * np.eye(3), a.T @ b)


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "Newton-CG", "trust-constr", "SLSQP", "CG"])
def test_the_minimum_of_a_quadratic_function(method):
    def f(a, b):
        jac = (lambda x: 2 * a.T @ (a @ x - b) + 0.2 * x) if method == "Newton-CG" else None
        return W @ opt.minimize(lambda x: ridge(x, a, b), np.zeros(3), method=method, jac=jac, tol=1e-12).x

    for position in (0, 1):
        found = grad(f, position)(A, B)
        expected = grad(lambda a, b: W @ solution_of_ridge(a, b), position)(A, B)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_second_derivatives_of_a_minimum():
    def f(b):
        return opt.minimize(lambda x: ridge(x, A * b[0], b), np.zeros(3), tol=1e-11).x[0]

    expected = hessian(lambda b: solution_of_ridge(A * b[0], b)[0])(B)
    np.testing.assert_allclose(hessian(f)(B), expected, rtol=1e-4, atol=1e-5)


def test_the_least_value_moves_with_the_function_alone():
    def f(p):
        return opt.minimize(lambda x: np.sum((x - p) ** 4 + x**2 * p), np.ones(2), tol=1e-11).fun

    assert_right(f, [1.2, 0.7])


def test_a_function_that_returns_its_gradient_too():
    def f(p):
        def both(x):
            return np.sum((x - p) ** 4 + x**2), 4 * (x - p) ** 3 + 2 * x

        return W[:2] @ opt.minimize(both, np.ones(2), jac=True, tol=1e-12).x

    assert_right(f, [1.2, 0.7])


def test_a_minimum_at_a_bound_moves_with_the_bound():
    def f(p):
        bounds = [(p[0], None), (None, 5.0)]
        return W[:2] @ opt.minimize(lambda x: np.sum((x - p[1]) ** 2), [3.0, 3.0], bounds=bounds).x

    np.testing.assert_allclose(grad(f)(np.array([2.0, 1.0])), W[:2], atol=1e-6)
    np.testing.assert_allclose(grad(f)(np.array([0.5, 1.0])), [0, W[0] + W[1]], atol=1e-6)


def test_bounds_as_an_object():
    def f(p):
        bounds = scipy.optimize.Bounds(np.zeros(2), np.array([0.5, 9.0]))
        return W[:2] @ opt.minimize(lambda x: np.sum((x - p) ** 2), [0.1, 0.1], bounds=bounds).x

    np.testing.assert_allclose(grad(f)(np.array([2.0, 1.0])), [0, W[1]], atol=1e-6)


def test_an_equality_projects():
    # The point of the plane Σ x = p₃ nearest to p₀₁₂ is p - (Σ p - p₃)/3.
    def f(p):
        plane = {"type": "eq", "fun": lambda x: np.sum(x) - p[3]}
        return W @ opt.minimize(lambda x: np.sum((x - p[:3]) ** 2), np.ones(3), constraints=plane, tol=1e-13).x

    expected = np.append(W - np.sum(W) / 3, np.sum(W) / 3)
    np.testing.assert_allclose(grad(f)(np.array([1.2, 0.8, 0.3, 1.0])), expected, atol=1e-6)


def test_inequalities_count_where_they_hold_the_minimum():
    def f(p):
        disc = {"type": "ineq", "fun": lambda x, r: r**2 - np.sum(x**2), "args": (p[2],)}
        far = {"type": "ineq", "fun": lambda x: x[0] + 100}
        start = np.array([0.1, 0.1])
        return W[:2] @ opt.minimize(lambda x: np.sum((x - p[:2]) ** 2), start, constraints=[disc, far], tol=1e-13).x

    def projected(p):
        return W[:2] @ (p[:2] * p[2] / np.sqrt(p[0] ** 2 + p[1] ** 2))

    outside = np.array([2.0, 1.0, 1.5])
    np.testing.assert_allclose(grad(f)(outside), grad(projected)(outside), atol=1e-5)
    np.testing.assert_allclose(grad(f)(np.array([0.3, 0.2, 1.5])), [W[0], W[1], 0], atol=1e-5)


def test_linear_and_nonlinear_constraints_as_objects():
    def f(p):
        plane = scipy.optimize.LinearConstraint(np.ones((1, 3)), 1.0, 1.0)
        ball = scipy.optimize.NonlinearConstraint(lambda x: np.sum(x**2) * p[2], -1.0, 1.0)
        start, constraints = np.full(3, 0.3), [plane, ball]
        objective = lambda x: np.sum((x - 3 * p) ** 2)  # noqa: E731
        return W @ opt.minimize(objective, start, constraints=constraints, method="SLSQP", tol=1e-13).x

    assert_right(f, [1.2, 0.8, 1.3], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    "find",
    [
        lambda f: opt.minimize_scalar(f, tol=1e-12).x,
        lambda f: opt.minimize_scalar(f, bounds=(0.0, 3.0), options={"xatol": 1e-12}).x,
        lambda f: opt.minimize_scalar(f, tol=1e-12).fun,
        lambda f: opt.brent(f, tol=1e-12),
        lambda f: opt.golden(f, tol=1e-12),
        lambda f: opt.fminbound(f, 0.0, 3.0, xtol=1e-12),
        lambda f: opt.fmin(lambda x: f(x[0]), 1.0, xtol=1e-12, ftol=1e-14, disp=0)[0],
        lambda f: opt.fmin_bfgs(lambda x: f(x[0]), 1.0, gtol=1e-10, disp=0)[0],
    ],
)
def test_minima_of_functions_of_one_number(find):
    assert_right(lambda p: find(lambda x: (x - p) ** 4 + x**2), 1.3)


def test_a_search_that_ends_at_the_end_of_its_interval_moves_with_it():
    def x(p):
        return opt.minimize_scalar(lambda x: (x - 1) ** 2, bounds=(p, 3.0), options={"xatol": 1e-10}).x

    assert grad(x)(2.0) == pytest.approx(1)
    assert grad(x)(0.5) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("method", "used"),
    [("L-BFGS-B", lambda y: y.hess_inv.todense()[0, 0]), ("Nelder-Mead", lambda y: y.final_simplex[0][0, 0])],
)
def test_what_the_search_leaves_behind_is_an_error_and_no_zero(method, used):
    def f(p):
        return used(opt.minimize(lambda x: np.sum((x - p) ** 2), np.zeros(2), method=method))

    with pytest.raises(MissingDerivativeError):
        grad(f)(1.3)
    with pytest.raises(MissingDerivativeError):
        jvp(f, (1.3,), (1.0,))


# ---------------------------------------------------------------- fits

T = np.linspace(0, 1, 12)
DATA = 2 * np.exp(-1.3 * T) + 0.05 * np.sin(20 * T)
TIGHT = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-14}


@pytest.mark.parametrize("loss", ["linear", "soft_l1", "huber", "cauchy", "arctan"])
def test_robust_fits(loss):
    def f(p):
        def residuals(x):
            return x[0] * np.exp(-x[1] * T) - DATA * p[0] - p[1] * T

        return W[:2] @ opt.least_squares(residuals, [1.0, 1.0], loss=loss, f_scale=0.03, **TIGHT).x

    assert_right(f, [1.1, 0.2])


def test_cost_and_residuals_of_a_fit():
    def result(p):
        return opt.least_squares(lambda x: x[0] * np.exp(-x[1] * T) - DATA * p[0] - p[1] * T, [1.0, 1.0], **TIGHT)

    assert_right(lambda p: result(p).cost, [1.1, 0.2])
    assert_right(lambda p: T @ result(p).fun, [1.1, 0.2])


def test_a_linear_fit_is_that_of_lstsq():
    def f(b):
        return W @ opt.least_squares(lambda x: A @ x - b, np.zeros(3)).x

    np.testing.assert_allclose(grad(f)(B), W @ np.linalg.pinv(A), rtol=1e-6)


def curve(t, a, b):
    return a * np.exp(-b * t)


def jacobian_of_curve(t, a, b):
    return np.stack([np.exp(-b * t), -a * t * np.exp(-b * t)], axis=-1)


def test_a_curve_moves_with_the_data_and_their_weights():
    def parameters(x, y, sigma):
        return W[:2] @ opt.curve_fit(curve, x, y, np.ones(2), sigma, xtol=1e-15, ftol=1e-15)[0]

    assert_right(lambda y: parameters(T, y, None), DATA)
    assert_right(lambda x: parameters(x, DATA, None), T)
    assert_right(lambda sigma: parameters(T, DATA, sigma), 1 + T)


@pytest.mark.parametrize("absolute", [True, False])
def test_the_covariance_of_a_curve(absolute):
    # Without the exact Jacobian the covariance is that of differences, which are too noisy to be compared with.
    options = {"jac": jacobian_of_curve, "xtol": 1e-15, "ftol": 1e-15}

    def f(y):
        return np.sum(opt.curve_fit(curve, T, y, np.ones(2), 1 + T, absolute, **options)[1])

    assert_right(f, DATA)


def test_a_curve_of_a_function_that_captures():
    def f(s):
        return W[:2] @ opt.curve_fit(lambda t, a, b: a * np.exp(-b * t * s), T, DATA, xtol=1e-15, ftol=1e-15)[0]

    _, b = scipy.optimize.curve_fit(curve, T, DATA, xtol=1e-15, ftol=1e-15)[0]
    assert grad(f)(1.5) == pytest.approx(-W[1] * b / 1.5**2, rel=1e-6)


# ---------------------------------------------------------------- linear problems


def test_coefficients_that_nnls_holds_at_zero_stay_there():
    b = np.array([1.0, -2.0])
    found = grad(lambda b: np.sum(opt.nnls(np.eye(2), b)[0]))(b)
    assert found.tolist() == [1, 0]
    assert_right(lambda a: W @ opt.nnls(a, B)[0], A)
    assert_right(lambda a: opt.nnls(a, B)[1], A)


def test_least_squares_of_more_coefficients_than_values_have_no_derivative():
    with pytest.raises(MissingDerivativeError, match="linearly dependent"):
        grad(lambda a: np.sum(opt.lsq_linear(a, 0.1 * np.ones(1), (-1, 1)).x ** 2))(np.array([[0.3, -0.7, 0.1]]))


def test_least_squares_may_have_coefficients_of_very_different_sizes():
    a = np.array([[1e9, 1.0], [1e8, -0.3], [2e9, 0.1]])
    assert_right(lambda b: np.array([1e9, 1.0]) @ opt.nnls(a, b)[0], np.array([1.0, 0.3, 2.0]))


def test_linear_least_squares_within_bounds():
    assert_right(lambda a: W @ opt.lsq_linear(a, B, (-0.2, 0.2), "bvls").x, A)
    assert_right(lambda b: opt.lsq_linear(A, b, (-0.2, 0.2), "bvls").cost, B)
    assert_right(lambda low: W @ opt.lsq_linear(A, B, (low, 0.2), "bvls").x, -0.2 * np.ones(3))
    assert_right(lambda high: W @ opt.lsq_linear(A, B, (-0.2, high), "bvls").x, 0.2)


C, A_UB, B_UB = np.array([-1.0, -2.0]), np.array([[1.0, 1.0], [1.0, 3.0], [3.0, 0.5]]), np.array([4.0, 6.0, 50.0])


def test_the_vertex_of_a_linear_program():
    def solved(c, a, b):
        return opt.linprog(c, a, b)

    assert_right(lambda a: W[:2] @ solved(C, a, B_UB).x, A_UB)
    assert_right(lambda b: W[:2] @ solved(C, A_UB, b).x, B_UB)
    assert_right(lambda c: solved(c, A_UB, B_UB).fun, C)
    assert grad(lambda c: np.sum(solved(c, A_UB, B_UB).x))(C).tolist() == [0, 0]
    assert_right(lambda p: W[:2] @ opt.linprog(C, A_UB, B_UB, bounds=[(0, p[0]), (p[1], 9)]).x, [1.5, 0.1])


def test_a_degenerate_program_has_no_derivative():
    with pytest.raises(MissingDerivativeError, match="4 constraints hold"):
        grad(lambda b: np.sum(opt.linprog(C, np.ones((2, 2)), b, bounds=[(0, 0.5), (0, 0.5)]).x))(np.ones(2))
