"""What the rules of special functions answer at zeros, poles, kinks and the ends of domains; orders and parameters."""

import mpmath
import numpy as np
import pytest
from scipy import special

from rulescore import NoTangent, NotImplementedTangent, frule, rrule, unthunk
from rulescore.ad import grad, hessian, primitive


def cotangents(f, *args, **kwargs):
    y, pullback = rrule(f, *args, **kwargs)
    return [unthunk(bar) for bar in pullback(np.ones_like(y))[1:]]


# ---------------------------------------------------------------- zeros and poles


def test_the_inverse_of_gamma_is_differentiable_at_the_poles_of_gamma():
    (bar,) = cotangents(special.rgamma, np.array([0.0, -1.0, -2.0, -3.0]))
    np.testing.assert_allclose(bar, [1, -1, 2, -6], rtol=1e-14)  # (-1)ⁿ n!


def test_a_binomial_coefficient_that_is_zero_has_a_derivative():
    # binom(n, 3) = n (n-1) (n-2) / 6
    bar, _ = cotangents(special.binom, np.array([0.0, 1.0, 2.0]), np.full(3, 3.0))
    np.testing.assert_allclose(bar, [1 / 3, -1 / 6, 1 / 3], rtol=1e-13)


def test_comb_is_constant_where_scipy_sets_it_to_zero():
    bars = cotangents(special.comb, np.array([2.5, 5.0]), np.array([3.5, 2.0]))
    np.testing.assert_allclose(bars[0], [0, 4.5], rtol=1e-13)  # n (n-1) / 2
    assert bars[1][0] == 0


def test_the_sine_integral_is_differentiable_at_zero():
    _, pullback = rrule(special.sici, np.array([0.5]))
    assert unthunk(pullback((np.ones(1), np.zeros(1)))[1]) == pytest.approx(np.sin(0.5) / 0.5)
    assert grad(lambda x: special.shichi(x)[0])(1e-9) == 1


def test_the_integral_of_struve_over_x_is_differentiable_twice_at_zero():
    np.testing.assert_allclose(cotangents(special.it2struve0, np.array([-1e-9, 0.0, 1e-9]))[0], -2 / np.pi, rtol=1e-14)
    assert grad(special.it2struve0)(0.0) == -2 / np.pi
    assert grad(grad(special.it2struve0))(0.0) == 0


@pytest.mark.parametrize(("z", "m"), [(-1000.0, -13.3), (-6000.0, -33.7), (-1000.0, 2.5), (-2.0, -4.5)])
def test_a_rising_factorial_that_is_zero_has_a_derivative_where_the_gamma_functions_overflow(z, m):
    # (z)ₘ = Γ(z+m) Γ(1-z) sin(πz) / π
    exact = np.cos(np.pi * z) * special.gammasgn(z + m) * np.exp(special.gammaln(z + m) + special.gammaln(1 - z))
    zbar, mbar = cotangents(special.poch, z, m)
    assert zbar == pytest.approx(exact, rel=1e-10, abs=0)
    assert mbar == 0


def test_spence_is_differentiable_twice_at_one():
    assert grad(special.spence)(1.0) == -1
    assert grad(grad(special.spence))(1.0) == pytest.approx(0.5)


def test_bessel_functions_are_differentiable_at_zero():
    assert cotangents(special.i0, np.array([0.0]))[0] == 0
    assert cotangents(special.i1, np.array([0.0]))[0] == 0.5
    assert cotangents(special.j1, np.array([0.0]))[0] == 0.5
    np.testing.assert_array_equal(cotangents(special.jv, np.array([0, 1, 2]), np.zeros(3))[1], [0, 0.5, 0])


def test_kelvin_functions_are_differentiable_at_zero():
    assert cotangents(special.beip, np.array([0.0]))[0] == 0.5
    assert cotangents(special.berp, np.array([0.0]))[0] == 0


def test_elliptic_integrals_are_differentiable_twice_at_parameter_zero():
    for f, slopes in ((special.ellipk, (1 / 8, 9 / 64)), (special.ellipe, (-1 / 8, -3 / 64))):
        assert grad(f)(0.0) == pytest.approx(np.pi * slopes[0], rel=1e-14)
        assert grad(grad(f))(0.0) == pytest.approx(np.pi * slopes[1], rel=1e-12)


def test_arithmetic_geometric_mean_of_negative_numbers():
    np.testing.assert_array_equal(cotangents(special.agm, -0.3, -0.7), cotangents(special.agm, 0.3, 0.7))


def test_legendre_polynomials_are_differentiable_at_the_ends():
    n = np.arange(5)
    np.testing.assert_array_equal(cotangents(special.eval_legendre, n, np.ones(5))[1], n * (n + 1) / 2)


def test_spherical_harmonics_are_differentiable_at_the_pole():
    _, pullback = rrule(special.sph_harm_y, 1, 1, 0.0, 0.0)
    assert unthunk(pullback(1.0)[3]) == pytest.approx(-np.sqrt(3 / (8 * np.pi)))


def test_incomplete_gamma_at_the_ends():
    bars = cotangents(special.gammainc, np.array([2.0, 2.0, 1.0]), np.array([0.0, np.inf, 0.0]))
    np.testing.assert_array_equal(bars[0], [0, 0, 0])
    np.testing.assert_array_equal(bars[1], [0, 0, 1])


def test_incomplete_beta_at_the_ends():
    bars = cotangents(special.betainc, np.full(2, 2.0), np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    np.testing.assert_array_equal(bars[0], [0, 0])
    np.testing.assert_array_equal(bars[2], [2, 0])


def test_student_distribution_does_not_depend_on_the_degrees_in_the_middle():
    assert cotangents(special.stdtr, 3.0, 0.0)[0] == 0
    assert cotangents(special.stdtr, 3.0, np.inf)[0] == 0


# ---------------------------------------------------------------- entropies and losses


def test_xlogy_at_zero():
    with np.errstate(divide="ignore"):
        xbar, ybar = cotangents(special.xlogy, np.zeros(2), np.array([0.0, 2.0]))
    np.testing.assert_array_equal(xbar, [-np.inf, np.log(2)])
    np.testing.assert_array_equal(ybar, [0, 0])


def test_xlogy_at_zero_keeps_its_mixed_second_derivative():
    h = hessian(lambda v: special.xlogy(v[0], v[1]))(np.array([0.0, 2.0]))
    np.testing.assert_allclose(h, [[0, 0.5], [0.5, 0]])


def test_relative_entropies_at_the_origin_have_the_derivative_along_the_diagonal():
    zero = np.zeros(1)
    np.testing.assert_array_equal(np.ravel(cotangents(special.rel_entr, zero, zero)), [1, -1])
    np.testing.assert_array_equal(np.ravel(cotangents(special.kl_div, zero, zero)), [0, 0])


def test_entropy_at_zero_has_an_infinite_derivative():
    with np.errstate(divide="ignore"):
        assert cotangents(special.entr, np.zeros(1))[0] == np.inf


def test_huber_at_the_edge_and_pseudo_huber_at_the_origin():
    delta_bar, r_bar = cotangents(special.huber, np.ones(3), np.array([1.0, -1.0, 3.0]))
    np.testing.assert_array_equal(delta_bar, [0, 0, 2])
    np.testing.assert_array_equal(r_bar, [1, -1, 1])
    np.testing.assert_array_equal(np.ravel(cotangents(special.pseudo_huber, np.zeros(1), np.zeros(1))), [0, 0])


def test_logistic_functions_keep_their_digits_far_out():
    assert cotangents(special.expit, 40.0)[0] == pytest.approx(np.exp(-40.0), rel=1e-14)
    assert cotangents(special.log_ndtr, -1e4)[0] == pytest.approx(1e4, rel=1e-7)
    assert cotangents(special.log_ndtr, 60.0)[0] == 0


def test_the_logarithm_of_box_and_cox_is_differentiable_in_the_power():
    _, bar = cotangents(special.boxcox, 3.0, 0.0)
    assert bar == pytest.approx(np.log(3) ** 2 / 2, rel=1e-15)
    assert cotangents(special.boxcox, 0.0, 2.0)[1] == 0.25


def test_lambert_w_at_zero():
    assert cotangents(special.lambertw, 0.0)[0] == 1


# ---------------------------------------------------------------- orders and parameters

MISSING = [
    (special.jv, (0.5, 1.0), 0),
    (special.iv, (0.5, 1.0), 0),
    (special.ive, (0.5, 1.0), 0),
    (special.hankel1, (0.5, 1.0 + 1j), 0),
    (special.struve, (0.5, 1.0), 0),
    (special.hyp2f1, (0.5, 1.0, 2.0, 0.3), 1),
    (special.hyp1f1, (0.5, 1.0, 2.0), 0),
    (special.eval_jacobi, (2, 0.5, 0.7, 0.3), 1),
    (special.jvp, (0.5, 1.0), 0),
]


@pytest.mark.parametrize(("f", "args", "position"), MISSING, ids=lambda f: getattr(f, "__name__", None))
def test_a_missing_derivative_is_never_zero(f, args, position):
    bars = rrule(f, *args)[1](1.0)[1:]
    assert isinstance(unthunk(bars[position]), NotImplementedTangent)
    assert not isinstance(unthunk(bars[-1]), NotImplementedTangent)
    tangents = [NoTangent()] * (1 + len(args))
    tangents[1 + position] = 1.0
    assert isinstance(frule(tuple(tangents), f, *args)[1], NotImplementedTangent)


def test_a_missing_derivative_says_so_when_it_is_asked_for():
    with pytest.raises(Exception, match=r"scipy.special.iv with respect to the order"):
        grad(lambda v: special.iv(v, 1.0))(0.5)
    assert grad(lambda x: special.iv(0.5, x))(1.0) > 0


def test_whole_orders_have_no_derivative():
    assert cotangents(special.jv, 2, 1.5)[0] is NoTangent()
    assert cotangents(special.polygamma, 2, 1.5)[0] is NoTangent()
    assert cotangents(special.eval_hermite, 2, 1.5)[0] is NoTangent()


def test_numbers_of_events_have_no_derivative():
    k_bar, n_bar, p_bar = cotangents(special.bdtr, 1, 3, 0.25)
    assert k_bar is n_bar is NoTangent()
    assert p_bar == pytest.approx(-6 * 0.25 * 0.75)  # of (1-p)³ + 3 p (1-p)²
    assert cotangents(special.bdtr, 3, 3, 0.25)[2] == 0


# ---------------------------------------------------------------- complex numbers that are not holomorphic


def test_scaled_bessel_functions_of_complex_numbers_are_differentiated_as_real_maps():
    for f in (special.ive, special.jve, special.yve):
        z, dz, step = 0.7 - 1.2j, 0.3 + 0.8j, 1e-6
        _, dy = frule((NoTangent(), NoTangent(), dz), f, 1, z)
        assert dy == pytest.approx((f(1, z + step * dz) - f(1, z - step * dz)) / (2 * step), rel=1e-8)
        _, pullback = rrule(f, 1, z)
        ybar = 1.1 - 0.4j
        zbar = unthunk(pullback(ybar)[2])
        assert (np.conj(ybar) * dy).real == pytest.approx((np.conj(zbar) * dz).real, rel=1e-13)


def test_the_logarithm_of_the_normal_distribution_does_not_overflow_off_the_real_axis():
    z = 9 + 30j
    assert np.conj(cotangents(special.log_ndtr, z)[0]) == pytest.approx(-z, rel=2e-3)


def test_scaled_airy_functions_of_complex_numbers_have_no_rule():
    assert rrule(special.airye, 1 + 1j) is None


# ---------------------------------------------------------------- precision and second order

WITHOUT_DIFFERENCES = (
    (special.gammaln, (1.5,)),
    (special.erf, (0.5,)),
    (special.xlogy, (0.5, 1.5)),
    (special.gammainc, (1.5, 0.5)),
    (special.betainc, (1.5, 2.5, 0.3)),
    (special.kv, (1.5, 0.5)),
    (special.stdtr, (3.0, 0.5)),
    (special.ellipkinc, (0.4, 0.3)),
)


@pytest.mark.parametrize(("f", "args"), WITHOUT_DIFFERENCES, ids=lambda f: getattr(f, "__name__", None))
def test_float32_stays_float32(f, args):
    arrays = [np.full(2, x, np.float32) for x in args]
    doubles = cotangents(f, *[np.full(2, x) for x in args])
    for bar, precise in zip(cotangents(f, *arrays), doubles, strict=True):
        assert bar.dtype == np.float32
        np.testing.assert_allclose(bar, precise, rtol=2e-5)


def test_mixed_second_derivatives_of_parameters_are_symmetric_and_right():
    # ∂²P/∂a∂x = ∂/∂a of the density
    h = hessian(lambda v: special.gammainc(v[0], v[1]))(np.array([2.5, 1.7]))
    density = 1.7**1.5 * np.exp(-1.7) / special.gamma(2.5)
    np.testing.assert_allclose(h[0, 1], density * (np.log(1.7) - special.psi(2.5)), rtol=1e-13)
    np.testing.assert_allclose(h, h.T, rtol=1e-12)


def test_inverses_undo_the_functions_in_their_derivatives_too():
    a, b, p = 1.3, 2.4, 0.35
    x = special.betaincinv(a, b, p)
    forward, back = cotangents(special.betainc, a, b, x), cotangents(special.betaincinv, a, b, p)
    assert back[2] == pytest.approx(1 / forward[2], rel=1e-12)
    assert back[0] == pytest.approx(-forward[0] / forward[2], rel=1e-12)


def test_second_derivatives_at_a_zero_of_products_of_whole_numbers():
    # binom(n, 3) = n (n-1) (n-2) / 6, and (z)₄ = z (z+1) (z+2) (z+3)
    assert grad(grad(lambda n: special.binom(n, 3.0)))(1.0) == pytest.approx(0, abs=1e-13)
    assert grad(grad(lambda n: special.binom(n, 3.0)))(2.0) == pytest.approx(1, rel=1e-12)
    assert grad(grad(lambda z: special.poch(z, 4)))(-2.0) == pytest.approx(-2, rel=1e-12)


def inverse_boxcox(y, power):
    return mpmath.power(1 + power * y, 1 / power) if power else mpmath.exp(y)


@pytest.mark.parametrize("power", [0.0, 1e-9, -0.3])
@pytest.mark.parametrize("y", [1.3, 1e-3, 0.0])
def test_the_inverse_of_boxcox_has_its_higher_derivatives_where_it_is_the_exponential_function(y, power):
    found = hessian(lambda v: special.inv_boxcox(v[0], v[1]))(np.array([y, power]))
    with mpmath.workdps(60):
        of_y, mixed, of_power, third = (
            float(mpmath.diff(inverse_boxcox, (y, power), n)) for n in ((2, 0), (1, 1), (0, 2), (0, 3))
        )
    np.testing.assert_allclose(found, [[of_y, mixed], [mixed, of_power]], rtol=1e-12, atol=1e-20)
    found = grad(grad(grad(lambda t: special.inv_boxcox(y, t))))(power)
    np.testing.assert_allclose(found, third, rtol=1e-11, atol=1e-20)


def test_xlogy_of_zero_and_a_negative_number_is_constant():
    assert cotangents(special.xlogy, 0.0, -1.0) == [0, 0]


def test_quantiles_at_the_end_do_not_move_with_the_parameters():
    with np.errstate(divide="ignore"):  # in the probability the slope is infinite
        assert cotangents(special.gammainccinv, 2.5, 1.0) == [0, -np.inf]
        assert cotangents(special.betaincinv, 2.5, 1.5, 0.0) == [0, 0, np.inf]
        assert cotangents(special.chdtri, 5.0, 1.0) == [0, -np.inf]
        assert cotangents(special.gdtrix, 1.5, 2.5, 0.0)[1:] == [0, np.inf]
        if special.fdtri(5.0, 2.5, 0.0) == 0:  # before SciPy 1.17 there is no such quantile
            assert cotangents(special.fdtri, 5.0, 2.5, 0.0) == [0, 0, np.inf]


def quotient(f, x):
    """The derivative by a central difference in high precision."""
    x = mpmath.mpf(x)
    h = (abs(x) or 1) * mpmath.mpf(10) ** -14
    return float(mpmath.re((f(x + h) - f(x - h)) / (2 * h)))


@pytest.mark.parametrize(
    ("function", "args", "end"),
    [
        ("fdtridfd", (2.0, 0.77, 0.77), 1e100),
        ("stdtridf", (0.95, 1.0), 1e10),
        ("stdtridf", (0.4, 1.0), -1e100),
    ],
)
def test_parameters_that_a_search_does_not_find_are_constant(function, args, end):
    assert getattr(special, function)(*args) == end
    f = primitive(getattr(special, function))
    for position in range(len(args)):
        assert grad(f, position)(*args) == 0
        assert grad(grad(f, position), position)(*args) == 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("df", "p"), [(0.002, 4e-4), (0.01, 0.001), (0.003, 0.99)])
def test_the_end_of_the_search_for_a_quantile_of_student_moves_with_the_degrees_of_freedom(df, p, dtype):
    df, p, f = dtype(df), dtype(p), special.stdtrit
    h = df * dtype(0.01)
    np.testing.assert_allclose(grad(f, 0)(df, p), (f(df + h, p) - f(df - h, p)) / (2 * h), rtol=1e-4)
    assert f(df, p * dtype(1.01)) == f(df, p)
    assert grad(f, 1)(df, p) == 0


@pytest.mark.parametrize(
    ("function", "args"),
    [
        ("gammaincinv", (0.0017, 7e-4)),
        ("gammainccinv", (0.0017, 0.9999)),
        ("betaincinv", (0.0017, 0.5, 7e-4)),
        ("betainccinv", (0.0017, 0.5, 0.9993)),
        ("chdtri", (0.003, 0.9999)),
        ("fdtri", (0.003, 2.0, 7e-4)),
        ("gdtria", (7e-4, 0.0017, 0.001)),
        ("gdtrix", (1.2, 0.0017, 7e-4)),
    ],
)
def test_what_has_underflown_is_constant_to_all_orders(function, args):
    f = primitive(getattr(special, function))
    assert f(*args) <= np.finfo(float).tiny
    for position in range(len(args)):
        assert grad(f, position)(*args) == 0
        for other in range(len(args)):
            assert grad(grad(f, position), other)(*args) == 0


def test_what_is_constant_to_rounding_has_no_curvature_either():
    args = (-70.0, -6e-4)
    assert special.inv_boxcox1p(*args) == -1
    with np.errstate(invalid="ignore"):  # of the logarithm of 0, which a mask keeps out
        for position, other in ((0, 0), (0, 1), (1, 0), (1, 1)):
            assert grad(grad(special.inv_boxcox1p, position), other)(*args) == 0


@pytest.mark.parametrize("degree", [1.5, 3.0, 60.25, 200.5, 400.0])
@pytest.mark.parametrize(
    ("function", "other", "x"),
    [
        ("eval_chebyt", mpmath.chebyt, 0.3),
        ("eval_sh_chebyt", lambda n, x: mpmath.chebyt(n, 2 * x - 1), 0.8),
        ("eval_chebyc", lambda n, x: 2 * mpmath.chebyt(n, x / 2), -0.4),
        ("eval_chebyu", mpmath.chebyu, 0.95),
        ("eval_legendre", mpmath.legendre, 0.95),
        ("eval_sh_legendre", lambda n, x: mpmath.legendre(n, 2 * x - 1), 0.97),
    ],
)
def test_polynomials_of_high_degrees_and_of_those_that_are_not_whole(degree, function, other, x):
    with mpmath.workdps(60):
        wanted = quotient(lambda x: other(degree, x), x)
    found = grad(lambda x: primitive(getattr(special, function))(degree, x))(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-8)


@pytest.mark.parametrize("ratio", [1e-300, 1e-20, 0.9e-9, 1.1e-9, 1e-5, 0.3, 1.0])
def test_the_mean_of_numbers_of_very_different_sizes(ratio):
    mean = primitive(special.agm)
    with mpmath.workdps(60):
        small = quotient(lambda a: mpmath.agm(a, 3), ratio)
        large = quotient(lambda b: mpmath.agm(ratio, b), 3.0)
    np.testing.assert_allclose(grad(lambda a: mean(a, 3.0))(ratio), small, rtol=1e-12)
    np.testing.assert_allclose(grad(lambda a: mean(3.0, a))(ratio), small, rtol=1e-12)
    np.testing.assert_allclose(grad(lambda b: mean(ratio, b))(3.0), large, rtol=1e-12)
    assert grad(lambda a: mean(a, 3.0))(0.0) == np.inf
    assert grad(lambda b: mean(0.0, b))(3.0) == 0


@pytest.mark.parametrize("x", [-1e300, -800.0, -30.0, -1.5, -1.0, -1e-9, 0.0, 1e-3, 0.99, 1.01, 3.0, 40.0, 700.0])
def test_the_slope_of_exprel_is_right_everywhere(x: float) -> None:
    with mpmath.workdps(50):
        exact = mpmath.mpf(x)
        wanted = mpmath.mpf(1) / 2 if x == 0 else (mpmath.exp(exact) * (exact - 1) + 1) / exact**2
    np.testing.assert_allclose(rrule(special.exprel, x)[1](1.0)[1], float(wanted), rtol=4e-15)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("x", "wanted"), [(-np.inf, 0.0), (1e300, np.inf), (np.inf, np.inf), (np.nan, np.nan)])
def test_the_slope_of_exprel_ends_far_out(x: float, wanted: float) -> None:
    """SciPy's ₁F₁, by which it was computed, does not end at infinity."""
    np.testing.assert_equal(rrule(special.exprel, x)[1](1.0)[1], wanted)
    np.testing.assert_equal(unthunk(rrule(special.boxcox, 2.0, x)[1](1.0)[2]), np.log(2.0) ** 2 * wanted)
