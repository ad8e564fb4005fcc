"""Integrals of functions and of sampled data, against closed forms."""

import numpy as np
import pytest
import scipy.integrate

from rulescore import MissingDerivativeError
from rulescore.ad import grad, hessian, jvp, primitives
from testutils import vjp_fd

integrate = primitives(scipy.integrate)


def decay(t, p):
    return np.exp(-p * t)


@pytest.mark.parametrize(("a", "b"), [(0.5, 2.0), (2.0, 0.5), (0.5, np.inf)])
def test_parameters_and_limits_to_second_order(a, b):
    def f(p, a):
        return integrate.quad(decay, a, b, (p,))[0]

    def closed(p, a):
        return (np.exp(-p * a) - np.exp(-p * b)) / p if np.isfinite(b) else np.exp(-p * a) / p

    for position in (0, 1):
        assert grad(f, position)(1.3, a) == pytest.approx(grad(closed, position)(1.3, a), rel=1e-8)
        second = grad(grad(f, position), 0)(1.3, a)
        assert second == pytest.approx(grad(grad(closed, position), 0)(1.3, a), rel=1e-7)
    assert jvp(f, (1.3, a), (1.0, 2.0))[1] == pytest.approx(jvp(closed, (1.3, a), (1.0, 2.0))[1], rel=1e-8)


def test_a_gaussian_over_the_whole_line():
    def f(p):
        return integrate.quad(lambda t: np.exp(-p * t**2), -np.inf, np.inf)[0]

    assert grad(f)(2.0) == pytest.approx(-0.5 * np.sqrt(np.pi) * 2**-1.5, rel=1e-8)
    assert grad(grad(f))(2.0) == pytest.approx(0.75 * np.sqrt(np.pi) * 2**-2.5, rel=1e-8)


def test_a_limit_where_the_function_is_infinite_is_not_evaluated_unless_it_moves():
    def f(p):
        return integrate.quad(lambda t: np.exp(-p * t) * t**-0.5, 0, np.inf)[0]  # √(π/p)

    assert grad(f)(2.0) == pytest.approx(-0.5 * np.sqrt(np.pi) * 2**-1.5, rel=1e-6)


def test_weights_and_points():
    def weighted(p):
        return integrate.quad(lambda t: np.exp(-p * t), 0, 1.0, weight="cos", wvar=3.0)[0]

    def plain(p):
        return integrate.quad(lambda t: np.exp(-p * t) * np.cos(3.0 * t), 0, 1.0)[0]

    assert grad(weighted)(1.2) == pytest.approx(grad(plain)(1.2), rel=1e-8)
    with pytest.raises(MissingDerivativeError, match="weight"):
        grad(lambda w: integrate.quad(lambda t: t, 0.0, 1.0, weight="cos", wvar=w)[0])(3.0)
    with pytest.raises(MissingDerivativeError, match="weight"):
        grad(lambda b: integrate.quad(lambda t: t, 0.0, b, weight="cos", wvar=3.0)[0])(3.0)


def test_the_error_estimate_has_no_derivative():
    with pytest.raises(MissingDerivativeError, match="error estimate"):
        grad(lambda p: integrate.quad(decay, 0.0, 1.0, (p,))[1])(2.0)


def test_complex_integrands():
    def f(p):
        y = integrate.quad(lambda t: np.exp(1j * p * t), 0.0, 1.0, complex_func=True)[0]
        return np.real(y * np.conj(y))

    assert grad(f)(1.2) == pytest.approx(grad(lambda p: (2 - 2 * np.cos(p)) / p**2)(1.2), rel=1e-8)


def test_integrals_of_vectors():
    p = np.array([1.2, 0.8])

    def f(p):
        return np.sum(integrate.quad_vec(lambda t: np.exp(-p * t), 0, p[0])[0] ** 2)

    def closed(p):
        return np.sum(((1 - np.exp(-p * p[0])) / p) ** 2)

    np.testing.assert_allclose(grad(f)(p), grad(closed)(p), rtol=1e-8)
    np.testing.assert_allclose(hessian(f)(p), hessian(closed)(p), rtol=1e-7)


def test_double_and_triple_integrals_with_limits_that_move():
    # ∫₀^p ∫₀^{qx} (y + p) dy dx = q²p³/6 + q p³/2, and with a third variable up to 1 the same
    def double(p, q):
        return integrate.dblquad(lambda y, x: y + p, 0, p, 0, lambda x: q * x)[0]

    def triple(p, q):
        return integrate.tplquad(lambda z, y, x: y + p, 0, p, 0, lambda x: q * x, 0, 1)[0]

    def several(p, q):
        return integrate.nquad(lambda y, x: y + p, [lambda x: (0, q * x), (0, p)])[0]

    def closed(p, q):
        return q**2 * p**3 / 6 + q * p**3 / 2

    for f in (double, triple, several):
        found = grad(f, argnums=(0, 1))(1.2, 0.8)
        assert found == pytest.approx(grad(closed, argnums=(0, 1))(1.2, 0.8), rel=1e-8)


def test_gauss_legendre():
    def f(p, b):
        return integrate.fixed_quad(lambda t: p * t**3, 0.0, b, n=3)[0]

    assert grad(f, argnums=(0, 1))(2.0, 3.0) == pytest.approx((81 / 4, 54), rel=1e-12)


# ---------------------------------------------------------------- sampled data

Y = np.random.default_rng(1).standard_normal((3, 6))
X = np.cumsum(0.5 + np.random.default_rng(2).random((3, 6)), axis=1)
FUNCTIONS = ["trapezoid", "simpson", "cumulative_trapezoid", "cumulative_simpson"]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("n", [2, 3, 5, 6])
@pytest.mark.parametrize("of_one", [True, False])
def test_sampled_data_and_points(name, n, of_one):
    y, x = Y[:, :n], X[0, :n] if of_one else X[:, :n]
    f = getattr(scipy.integrate, name)
    ybar = np.cos(np.arange(np.size(f(y, x=x)))).reshape(np.shape(f(y, x=x)))

    def loss(y, x):
        return np.sum(ybar * getattr(integrate, name)(y, x=x))

    ybar_found, xbar_found = grad(loss, argnums=(0, 1))(y, x)
    expected = vjp_fd(lambda y, x: f(y, x=x), ybar, (y, x)).value
    np.testing.assert_allclose(ybar_found, expected[0], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(xbar_found, expected[1], rtol=1e-7, atol=1e-9)


def test_romberg_is_linear_in_the_values_and_the_spacing():
    y = Y[0, :5]
    found = grad(lambda y, dx: integrate.romb(y, dx), argnums=(0, 1))(y, 0.3)
    np.testing.assert_allclose(found[0], [scipy.integrate.romb(e, 0.3) for e in np.eye(5)])
    assert found[1] == pytest.approx(scipy.integrate.romb(y))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_single_precision_stays(name):
    y = Y.astype(np.float32)
    found = grad(lambda y: np.sum(getattr(integrate, name)(y)))(y)
    assert found.dtype == np.float32


def inner_from(scale):
    """A lower limit of the innermost integral that closes over a parameter."""
    return lambda x, y: 0.1 * scale * x * y


def test_triple_integrals_with_inner_limits_that_move():
    # Smooth functions of x and y at the lower and the upper end, each with a parameter of its own.
    def triple(p, q, r, tplquad):
        def ceiling(x, y):
            return 1 + r * np.sin(x + y)

        value, _ = tplquad(
            *(lambda z, y, x: np.exp(-p * z) * (x + y * z), 0, 1 + 0.2 * q),
            *(lambda x: 0.1 * p * x, lambda x: 1 + q * x),
            *(inner_from(q), ceiling),
        )
        return value

    at = (0.7, 0.4, 0.5)
    expected = vjp_fd(lambda *x: triple(*x, scipy.integrate.tplquad), 1.0, at).value
    np.testing.assert_allclose(grad(lambda *x: triple(*x, integrate.tplquad), (0, 1, 2))(*at), expected, rtol=1e-7)
    tangents = (0.3, -1.0, 2.0)
    _, dy = jvp(lambda *x: triple(*x, integrate.tplquad), at, tangents)
    assert dy == pytest.approx(np.dot(expected, tangents), rel=1e-7)
