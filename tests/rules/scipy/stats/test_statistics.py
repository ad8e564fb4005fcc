"""Descriptive statistics at the hard points: constant samples, ties, what is left out, what is not known."""

import mpmath
import numpy as np
import pytest
from scipy import stats

from rulescore import NoTangent, NotImplementedTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, hessian, jacfwd, jacrev, jvp, primitive

RNG = np.random.default_rng(4)


def cotangents(f, *args, ybar=1.0, **kwargs):
    return [unthunk(bar) for bar in rrule(f, *args, **kwargs)[1](ybar)[1:]]


@pytest.mark.filterwarnings("ignore:Precision loss", "ignore:invalid value", "ignore:divide by zero")
@pytest.mark.parametrize("f", [stats.tstd, stats.sem, stats.tsem, stats.skew, stats.kurtosis, stats.variation])
def test_a_constant_sample_has_a_finite_slope(f):
    (xbar,) = cotangents(f, np.full(4, 2.0))
    assert np.isfinite(xbar).all()


@pytest.mark.filterwarnings("ignore:Precision loss")
def test_scores_of_a_constant_sample_have_slope_zero():
    with np.errstate(invalid="ignore", divide="ignore"):
        (xbar,) = cotangents(stats.zscore, np.full(3, 2.0), ybar=np.ones(3))
    np.testing.assert_array_equal(xbar[~np.isnan(xbar)], 0)


def test_what_lies_outside_the_limits_has_no_cotangent_whatever_it_is():
    (xbar, *_) = cotangents(stats.tmean, np.array([1.0, 2.0, 100.0, -np.inf]), (0, 10))
    assert xbar.tolist() == [0.5, 0.5, 0, 0]
    (xbar, *_) = cotangents(stats.tmean, np.array([1.0, 2.0]), (1.0, 10), (False, True))
    assert xbar.tolist() == [0, 1]


def test_limits_have_no_slope_between_numbers():
    assert unthunk(rrule(stats.tmean, np.array([1.0, 2.0]), (0.5, 9.5))[1](1.0)[2]) in (NoTangent(), ZeroTangent())


def test_moments_of_the_first_orders_are_constant():
    x = RNG.standard_normal(4)
    assert cotangents(stats.moment, x, 1)[0].tolist() == [0] * 4
    assert cotangents(stats.moment, x, 0)[0].tolist() == [0] * 4


def test_what_the_samples_leave_out_is_not_served():
    assert rrule(stats.gmean, np.array([1.0, np.nan]), nan_policy="omit") is None
    assert rrule(stats.zscore, np.array([1.0, np.nan]), nan_policy="omit") is None
    assert rrule(stats.iqr, np.array([1.0, np.nan]), nan_policy="omit") is None


def test_the_likeliest_transformation_is_not_served():
    assert rrule(stats.boxcox, np.array([1.0, 2.0, 3.0]), None) is None
    assert rrule(stats.boxcox, np.array([1.0, 2.0, 3.0])) is None


def test_parameters_without_a_rule_say_so():
    _, pullback = rrule(stats.circmean, RNG.uniform(0, 1, 4), 2.0, 0.5)
    _, _, highbar, lowbar = map(unthunk, pullback(1.0))
    assert isinstance(highbar, NotImplementedTangent)
    assert "circmean with respect to low" in lowbar.message
    scalebar = unthunk(rrule(stats.iqr, RNG.uniform(0, 1, 4), None, (25, 75), 2.0)[1](1.0)[4])
    assert isinstance(scalebar, NotImplementedTangent)


def test_the_power_mean_passes_through_the_geometric_one():
    x = RNG.uniform(0.5, 2, 5)
    geometric = cotangents(stats.gmean, x)[0]
    np.testing.assert_allclose(cotangents(stats.pmean, x, 0)[0], geometric, rtol=1e-13)
    np.testing.assert_allclose(cotangents(stats.pmean, x, 1e-6)[0], geometric, rtol=1e-5)
    np.testing.assert_allclose(cotangents(stats.pmean, x, -1)[0], cotangents(stats.hmean, x)[0], rtol=1e-13)


@pytest.mark.parametrize("lmbda", [1e-12, 1e-3, 0.009, 0.011, -0.5])
def test_slopes_of_the_yeo_johnson_transformation_keep_their_digits(lmbda):
    for x in (0.3, 5.0, -0.7):
        power, size = (lmbda, x) if x >= 0 else (2 - lmbda, -x)
        with mpmath.workdps(40):
            exact = mpmath.diff(lambda p, size=size: ((1 + mpmath.mpf(size)) ** p - 1) / p, mpmath.mpf(power))
        lmbdabar = cotangents(stats.yeojohnson, np.array([x]), lmbda, ybar=np.ones(1))[1]
        np.testing.assert_allclose(float(lmbdabar), float(exact), rtol=1e-12)


def test_equal_samples_have_distance_zero_and_no_slope():
    x = np.array([1.0, 2.0, 3.0])
    for f in (stats.wasserstein_distance, stats.energy_distance):
        ubar, vbar = cotangents(f, x, x.copy())
        assert ubar.tolist() == vbar.tolist() == [0, 0, 0]


def test_samples_of_one_size_are_as_far_apart_as_their_sorted_numbers():
    u, v = np.array([3.0, 1.0, 2.5]), np.array([0.5, 2.0, 4.0])
    ubar, vbar = cotangents(stats.wasserstein_distance, u, v)
    np.testing.assert_allclose(ubar, [-1 / 3, 1 / 3, 1 / 3], rtol=1e-12)
    np.testing.assert_allclose(vbar, [-1 / 3, -1 / 3, 1 / 3], rtol=1e-12)


def test_ties_around_the_median_share_the_cotangent():
    xbar = cotangents(stats.iqr, np.array([1.0, 1.0, 3.0, 3.0]), None, (25, 75))[0]
    np.testing.assert_allclose(xbar, [-0.5, -0.5, 0.5, 0.5])


def test_single_precision_stays_single():
    x = RNG.uniform(0.5, 2, 5).astype(np.float32)
    for f in (stats.gmean, stats.skew, stats.tvar, stats.zscore, stats.iqr):
        y, pullback = rrule(f, x)
        assert unthunk(pullback(y)[1]).dtype == np.float32
        assert np.asarray(frule((NoTangent(), x), f, x)[1]).dtype == np.asarray(y).dtype


def test_a_program_differentiates_a_statistic_as_a_primitive():
    skew, x = primitive(stats.skew), RNG.standard_normal((4, 6))
    found = grad(lambda x: np.sum(skew(x, axis=1) ** 2))(x)
    d = x - x.mean(axis=1, keepdims=True)
    m2, m3 = (d**2).mean(axis=1, keepdims=True), (d**3).mean(axis=1, keepdims=True)
    wanted = 2 * m3 / m2**1.5 * (3 * (d**2 - m2) / m2**1.5 - 3 * m3 * d / m2**2.5) / 6
    np.testing.assert_allclose(found, wanted, rtol=1e-10)


def test_a_correlation_of_ranks_is_constant_in_a_program():
    spearmanr, x, y = primitive(stats.spearmanr), RNG.standard_normal(7), RNG.standard_normal(7)
    found = grad(lambda x: np.sum(x**2) * spearmanr(x, y).statistic)(x)
    np.testing.assert_allclose(found, 2 * x * stats.spearmanr(x, y).statistic, rtol=1e-14)


# ---------------------------------------------------------------- zeros among what means are taken of

WITH_A_ZERO = np.array([2.0, 0.0, 3.0])


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("p", [-1.5, -1, 0.7, 1, 2, 3.5])
@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 0.5])])
def test_power_means_with_a_zero(p, weights):
    pmean = primitive(stats.pmean)

    def f(a, p):
        return pmean(a, p, weights=weights)

    h = 1e-9  # numbers below 0 have no power
    wanted = np.array([(f(WITH_A_ZERO + h * e, p) - f(WITH_A_ZERO, p)) / h for e in np.eye(3)])
    if p == 0.7:  # as of a root
        assert wanted[1] > 100
        wanted[1] = np.inf
    np.testing.assert_allclose(grad(f)(WITH_A_ZERO, p), wanted, rtol=1e-5, atol=1e-6)
    of_p = (f(WITH_A_ZERO, p + 1e-5) - f(WITH_A_ZERO, p - 1e-5)) / 2e-5
    for jacobian in (jacrev, jacfwd):
        np.testing.assert_allclose(jacobian(f, 1)(WITH_A_ZERO, float(p)), of_p, rtol=1e-7)


@pytest.mark.parametrize(
    ("mean", "wanted"), [(stats.hmean, [0, 3, 0]), (stats.gmean, [0, np.inf, 0])], ids=["hmean", "gmean"]
)
def test_other_means_with_a_zero(mean, wanted):
    h, a = 1e-9, WITH_A_ZERO
    slopes = [(mean(a + h * e) - mean(a)) / h for e in np.eye(3)]
    np.testing.assert_allclose(np.minimum(slopes, 1e5), np.minimum(wanted, 1e5), rtol=1e-8)
    np.testing.assert_allclose(grad(primitive(mean))(a), wanted)
    np.testing.assert_array_equal(grad(primitive(mean))(np.array([0.0])), [1.0])


def test_the_mean_of_the_power_0_moves_with_the_power():
    a, pmean = np.array([1.0, 2.0, 3.0]), stats.pmean
    slope = (8 * (pmean(a, 1e-2) - pmean(a, -1e-2)) - (pmean(a, 2e-2) - pmean(a, -2e-2))) / 12e-2
    np.testing.assert_allclose(grad(primitive(pmean), 1)(a, 0.0), slope, rtol=1e-8)


def test_the_mean_of_the_power_0_has_the_second_and_third_derivatives_of_the_others():
    pmean, w = primitive(stats.pmean), np.array([0.3, 1.2, 0.8])
    z = np.array([0.7, 1.9, 3.1, *w, 0.0])

    def f(z):
        return pmean(z[:3], z[6], weights=z[3:6])

    def known(*moved, h):
        at = [mpmath.mpf(x) for x in z]
        for i, k in moved:
            at[i] += k * h
        *terms, p = at
        total = sum(terms[3:])
        if not p:
            return mpmath.exp(sum(w * mpmath.log(a) for a, w in zip(terms[:3], terms[3:], strict=True)) / total)
        return (sum(w * a**p for a, w in zip(terms[:3], terms[3:], strict=True)) / total) ** (1 / p)

    with mpmath.workdps(60):
        wanted = [
            [
                float(
                    sum(s * t * known((i, s), (j, t), h=mpmath.mpf(10) ** -12) for s in (1, -1) for t in (1, -1))
                    / 4e-24
                )
                for j in range(7)
            ]
            for i in range(7)
        ]
        of_third = [
            mpmath.mpf(k) * known((6, j), h=mpmath.mpf(10) ** -10) for j, k in ((2, 1), (1, -2), (-1, 2), (-2, -1))
        ]
        third = float(sum(of_third) / 2e-30)
    np.testing.assert_allclose(hessian(f)(z), wanted, rtol=1e-12, atol=1e-14)
    directions = np.eye(7)
    twice = [jvp(lambda z, e=e: jvp(f, (z,), (e,))[1], (z,), (e,))[1] for e in directions]
    np.testing.assert_allclose(twice, np.diag(wanted), rtol=1e-12, atol=1e-14)
    second = jvp(grad(lambda p: pmean(z[:3], p, weights=w)), (0.0,), (1.0,))[1]
    assert second == pytest.approx(wanted[6][6], rel=1e-12)
    found = jvp(lambda p: jvp(grad(lambda p: pmean(z[:3], p, weights=w)), (p,), (1.0,))[1], (0.0,), (1.0,))[1]
    assert found == pytest.approx(third, rel=1e-8)


def test_weights_by_keyword_and_a_power_move_together():
    """Not through SciPy's own branch for the power 0, in which the power does not occur."""
    a, w = np.array([0.7, 1.9, 3.1]), np.array([0.3, 1.2, 0.8])
    pmean = primitive(stats.pmean)
    alone = grad(lambda p: pmean(a, p, weights=w))(0.0)
    assert grad(lambda p, w: pmean(a, p, weights=w), (0, 1))(0.0, w)[0] == pytest.approx(alone, rel=1e-14)
    moment = primitive(stats.moment)
    slope = grad(lambda c: moment(a, 3, center=c))(0.4)
    assert slope == pytest.approx(
        (stats.moment(a, 3, center=0.4 + 1e-6) - stats.moment(a, 3, center=0.4 - 1e-6)) / 2e-6
    )
