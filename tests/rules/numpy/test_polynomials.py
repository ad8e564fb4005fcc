"""What the rules of polynomials answer: exact answers, equal roots, leading zeros, and what they refuse."""

import mpmath
import numpy as np
import pytest

from rulescore import MissingDerivativeError, NoTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, hessian, jacfwd, jacrev, vjp


def cotangents(f, *args, ybar, **kwargs):
    return [unthunk(bar) for bar in rrule(f, *args, **kwargs)[1](ybar)[1:]]


def complex_numbers(rng, n):
    return rng.standard_normal(n) + 1j * rng.standard_normal(n)


# ---------------------------------------------------------------- values


def test_coefficients_get_powers_and_x_the_derivative():
    p_bar, x_bar = cotangents(np.polyval, np.array([1.0, 0.0, 3.0]), np.array([2.0, -1.0]), ybar=np.array([1.0, 10.0]))
    assert p_bar.tolist() == [4 + 10, 2 - 10, 1 + 10]
    assert x_bar.tolist() == [4, -20]


def test_at_zero_the_coefficients_get_0_but_for_the_last():
    p_bar, x_bar = cotangents(np.polyval, np.array([1.0, 2.0, 3.0]), np.zeros(2), ybar=np.ones(2))
    assert p_bar.tolist() == [0, 0, 2]
    assert x_bar.tolist() == [2, 2]


def test_second_derivative_of_a_value_is_that_of_the_polynomial():
    p = np.array([1.0, -2.0, 0.5, 3.0])
    assert grad(grad(lambda x: np.polyval(p, x)))(1.5) == pytest.approx(6 * 1.5 - 4)
    mixed = jacfwd(grad(lambda x, p: np.polyval(p, x)), 1)(1.5, p)
    np.testing.assert_allclose(mixed, [3 * 1.5**2, 3.0, 1, 0])


def test_objects_of_polynomials_are_left_to_numpy():
    for f in (np.polyadd, np.polymul, np.polyval):
        assert rrule(f, np.poly1d([1.0, 2.0]), np.array([1.0, 2.0])) is None
    assert rrule(np.polyval, np.array([1.0, 2.0]), np.poly1d([1.0, 2.0])) is None


# ---------------------------------------------------------------- sums, products, quotients


def test_the_shorter_polynomial_gets_the_last_coefficients():
    bars = cotangents(np.polysub, np.ones(2), np.ones(4), ybar=np.array([1.0, 2.0, 4.0, 8.0]))
    assert bars[0].tolist() == [4, 8]
    assert bars[1].tolist() == [-1, -2, -4, -8]


def test_zeros_before_the_first_coefficient_are_no_part_of_a_product():
    a1, a2 = np.array([0.0, 0.0, 2.0, 3.0]), np.array([1.0, 5.0])
    y = np.polymul(a1, a2)
    assert len(y) == 3
    a1_bar, a2_bar = cotangents(np.polymul, a1, a2, ybar=np.array([1.0, 10.0, 100.0]))
    assert a1_bar.tolist() == [0, 0, 51, 510]
    assert a2_bar.tolist() == [32, 320]


@pytest.mark.parametrize(("m", "n"), [(5, 3), (4, 4), (3, 1), (2, 4)])
def test_quotient_and_remainder_have_the_derivatives_of_their_equation(m, n):
    """From u = q v + r: u̇ = q̇ v + q v̇ + ṙ."""
    rng = np.random.default_rng(0)
    u, v, du, dv = (complex_numbers(rng, k) for k in (m, n, m, n))
    (q, r), (dq, dr) = frule((NoTangent(), du, dv), np.polydiv, u, v)
    assert dr.shape == r.shape
    sides = du, np.polyadd(np.polyadd(np.convolve(dq, v), np.convolve(q, dv)), dr)
    np.testing.assert_allclose(np.polysub(*sides), 0, atol=1e-12)
    qbar, rbar = complex_numbers(rng, len(q)), complex_numbers(rng, len(r))
    ubar, vbar = cotangents(np.polydiv, u, v, ybar=(qbar, rbar))
    forward = (np.vdot(qbar, dq) + np.vdot(rbar, dr)).real
    np.testing.assert_allclose((np.vdot(ubar, du) + np.vdot(vbar, dv)).real, forward)


def test_a_division_without_remainder_is_differentiated_too():
    v = np.array([1.0, -2.0])
    u = np.convolve(v, [1.0, 3.0, 2.0])
    ubar, vbar = cotangents(np.polydiv, u, v, ybar=(np.array([0, 0, 1.0]), ZeroTangent()))
    # The last coefficient of the quotient is u₂ + 2 u₁ + 4 u₀ for this v.
    assert ubar.tolist() == [4, 2, 1, 0]
    assert np.isfinite(vbar).all()


def test_single_precision_is_kept_by_the_cotangents():
    a, b = np.array([1.5, 2.0, 0.5], np.float32), np.array([0.5, 1.0], np.float32)
    for f in (np.polyval, np.polyadd, np.polysub, np.polymul):
        y = f(a, b)
        assert y.dtype == np.float32
        assert [bar.dtype for bar in cotangents(f, a, b, ybar=y)] == [np.float32] * 2
    assert [bar.dtype for bar in cotangents(np.polydiv, a, b, ybar=np.polydiv(a, b))] == [np.float32] * 2
    for f in (np.polyder, np.polyint, np.poly, np.roots, np.vander):
        (bar,) = cotangents(f, a, ybar=f(a))[:1]
        assert bar.dtype == np.float32


# ---------------------------------------------------------------- derivatives and integrals


def test_coefficients_that_a_derivative_loses_get_zero():
    assert cotangents(np.polyder, np.ones(4), 2, ybar=np.array([1.0, 1.0]))[0].tolist() == [6, 2, 0, 0]
    assert cotangents(np.polyder, np.ones(2), 5, ybar=np.zeros(0))[0].tolist() == [0, 0]


def test_the_derivative_of_a_table_of_coefficients_is_refused_in_reverse_mode():
    assert np.polyder(np.ones((2, 1))).shape == (1, 1)
    with pytest.raises(MissingDerivativeError, match="for each polynomial"):
        grad(lambda p: np.sum(np.polyder(p)))(np.ones((2, 1)))


def test_constants_of_integration_are_integrated_too():
    p_bar, _, k_bar = cotangents(np.polyint, np.ones(2), 3, np.ones(3), ybar=np.ones(5))
    np.testing.assert_allclose(p_bar, [1 / 24, 1 / 6])
    np.testing.assert_allclose(k_bar, [1 / 2, 1, 1])
    assert cotangents(np.polyint, np.ones(2), 3, 1.5, ybar=np.ones(5))[2] == 2.5
    np.testing.assert_allclose(cotangents(np.polyint, np.ones(2), 1, np.ones(3), ybar=np.ones(3))[2], [1, 0, 0])


# ---------------------------------------------------------------- roots


def test_moving_an_equal_root_changes_the_polynomial_as_any_other():
    # (x - 1)² (x - 2): moving one of the ones gives -(x - 1)(x - 2).
    np.testing.assert_allclose(jacrev(np.poly)(np.array([1.0, 1.0, 2.0])).T[0], [0, -1, 3, -2])


def test_polynomial_of_a_matrix_whose_eigenvalues_are_equal():
    """The characteristic polynomial is one of the entries, so it is smooth where eigenvalues are not."""
    a = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    ybar = np.array([0.0, 1.0, 2.0, 4.0])
    (abar,) = cotangents(np.poly, a, ybar=ybar)

    def coefficients(m):
        minors = sum(m[i, i] * m[j, j] - m[i, j] * m[j, i] for i in range(3) for j in range(i))
        return np.stack([1.0 + 0 * m[0, 0], -np.trace(m), minors, -np.linalg.det(m)])

    np.testing.assert_allclose(abar, vjp(coefficients, a)[1](ybar)[0], atol=1e-6)


def test_polynomial_of_conjugate_roots_is_real_and_so_is_what_comes_back():
    roots = np.array([1 + 2j, 1 - 2j])
    y, pullback = rrule(np.poly, roots)
    assert y.dtype == float
    # y₁ = -(r₁ + r₂), y₂ = r₁ r₂
    np.testing.assert_allclose(pullback(np.array([0.0, 1.0, 0.0]))[1], [-1, -1])
    np.testing.assert_allclose(pullback(np.array([0.0, 0.0, 1.0]))[1], np.conj(roots[::-1]))


def test_roots_undo_poly():
    roots = np.array([3.0, -1.5, 0.5])
    np.testing.assert_allclose(jacrev(lambda r: np.sort(np.roots(np.poly(r))))(roots), np.eye(3)[[1, 2, 0]], atol=1e-12)


@pytest.mark.filterwarnings("ignore:Descending:DeprecationWarning")  # of mpmath, since version 1.4
@pytest.mark.parametrize("k", range(4))
def test_roots_agree_with_mpmath_to_second_order(k):
    p = np.array([1.0, -0.5, 2.0, -3.0])
    real = int(np.flatnonzero(np.roots(p).imag == 0)[0])

    def root(t):
        coefficients = [mpmath.mpf(c) for c in p]
        coefficients[k] += t
        return next(r.real for r in mpmath.polyroots(coefficients, extraprec=200) if abs(r.imag) < 1e-20)

    with mpmath.workdps(40):
        wanted = [float(mpmath.diff(root, 0, order)) for order in (1, 2)]

    def ours(t):
        return np.real(np.roots(p + t * np.eye(4)[k])[real])

    np.testing.assert_allclose([grad(ours)(0.0), grad(grad(ours))(0.0)], wanted, rtol=1e-10)


def test_a_root_at_zero_is_moved_by_the_last_coefficient_alone():
    roots, pullback = rrule(np.roots, np.array([1.0, -1.0, 0.0]))
    p_bar = pullback((roots == 0).astype(float))[1]
    np.testing.assert_allclose(p_bar, [0, 0, 1])


def test_equal_roots_have_no_derivative_and_say_so():
    for p in (np.array([1.0, 0.0, 0.0]), np.array([2.0, 1.0, 0.0, 0.0])):
        roots, pullback = rrule(np.roots, p)
        with pytest.raises(MissingDerivativeError, match="two roots are equal"):
            pullback(np.ones_like(roots))
        with pytest.raises(MissingDerivativeError, match="two roots are equal"):
            frule((NoTangent(), np.ones(len(p))), np.roots, p)


def test_a_leading_zero_moves_the_roots_that_are_there():
    """The implicit function theorem holds for them; that another one comes from infinity is no derivative."""
    _, pullback = rrule(np.roots, np.array([0.0, 1.0, -2.0]))
    np.testing.assert_allclose(pullback(np.ones(1))[1], [-4, -2, -1])


# ---------------------------------------------------------------- powers


def test_powers_of_zero_have_finite_derivatives():
    (xbar,) = cotangents(np.vander, np.array([0.0, 2.0]), 3, ybar=np.ones((2, 3)))
    assert xbar.tolist() == [1, 5]
    np.testing.assert_allclose(np.diag(hessian(lambda x: np.sum(np.vander(x, 3)))(np.array([0.0, 2.0]))), [2, 2])


def test_powers_in_either_order_and_of_any_number():
    x, rng = np.array([0.5, 2.0, -1.0]), np.random.default_rng(0)
    for n in range(5):
        ybar = rng.standard_normal((3, n))
        wanted = sum((k * x ** (k - 1) * ybar[:, k] for k in range(1, n)), np.zeros(3))
        np.testing.assert_allclose(cotangents(np.vander, x, n, True, ybar=ybar)[0], wanted)
        np.testing.assert_allclose(cotangents(np.vander, x, n, ybar=ybar[:, ::-1])[0], wanted)


def test_integers_and_zero_cotangents():
    for f in (np.poly, np.roots, np.vander, np.polyder):
        y, pullback = rrule(f, np.array([1, 3, 2]))
        assert pullback(y)[1:2] in ((NoTangent(),), ())
        y, pullback = rrule(f, np.array([1.0, 3.0, 2.0]))
        assert pullback(ZeroTangent())[1] is ZeroTangent()
