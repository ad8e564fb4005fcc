"""Methods of distributions: against high precision in the tails, at the edges of supports, and how calls get here."""

import functools

import mpmath
import numpy as np
import pytest
from scipy import stats

from rulescore import NoTangent, NotImplementedTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, hessian, primitive
from rulescore.tangents.arithmetic import MissingDerivativeError
from testutils import jacobian_fd
from testutils.samples.scipy.stats.distributions import DISCRETE, SHAPES

METHODS = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")


def cotangents(f, *args, ybar=1.0, **kwargs):
    return [unthunk(bar) for bar in rrule(f, *args, **kwargs)[1](ybar)[1:]]


# ---------------------------------------------------------------- against high precision

mpmath.mp.dps = 40

LOG_DENSITIES = {
    "norm": lambda z: -z * z / 2,
    "gamma": lambda z, a: (a - 1) * mpmath.log(z) - z - mpmath.loggamma(a),
    "beta": lambda z, a, b: (a - 1) * mpmath.log(z) + (b - 1) * mpmath.log(1 - z) - mpmath.log(mpmath.beta(a, b)),
    "t": lambda z, v: (
        mpmath.loggamma((v + 1) / 2)
        - mpmath.loggamma(v / 2)
        - mpmath.log(v) / 2
        - (v + 1) / 2 * mpmath.log(1 + z * z / v)
    ),
    "skewnorm": lambda z, a: -z * z / 2 + mpmath.log(mpmath.ncdf(a * z)),
    "exponnorm": lambda z, k: 1 / (2 * k * k) - z / k - mpmath.log(k) + mpmath.log(mpmath.ncdf(z - 1 / k)),
    "genextreme": lambda z, c: (
        (1 - c) / c * mpmath.log(1 - c * z) - mpmath.exp(mpmath.log(1 - c * z) / c) if c else -z - mpmath.exp(-z)
    ),
    "genpareto": lambda z, c: -(1 + 1 / c) * mpmath.log(1 + c * z) if c else -z,
    "rice": lambda z, b: mpmath.log(z) - (z * z + b * b) / 2 + mpmath.log(mpmath.besseli(0, b * z)),
    "logistic": lambda z: -z - 2 * mpmath.log(1 + mpmath.exp(-z)),
    "truncnorm": lambda z, a, b: -z * z / 2 - mpmath.log(mpmath.ncdf(b) - mpmath.ncdf(a)),
    "invgauss": lambda z, m: -3 * mpmath.log(z) / 2 - (z - m) ** 2 / (2 * z * m * m),
}

POINTS = [
    ("norm", (37.0,)),
    ("norm", (-1e-9,)),
    ("gamma", (1e-6, 1e-3)),
    ("gamma", (300.0, 250.0)),
    ("beta", (1e-5, 0.02, 30.0)),
    ("beta", (0.999, 50.0, 0.3)),
    ("t", (40.0, 1.5)),
    ("t", (3.0, 5e3)),
    ("t", (3.0, 1e6)),
    ("skewnorm", (-8.0, 4.0)),
    ("exponnorm", (-12.0, 0.3)),
    ("exponnorm", (30.0, 2.0)),
    ("exponnorm", (0.5, 1e-3)),
    ("genextreme", (0.7, 1e-9)),
    ("genextreme", (0.7, -0.004)),
    ("genpareto", (3.0, 1e-9)),
    ("genpareto", (3.0, 0.003)),
    ("rice", (90.0, 60.0)),
    ("logistic", (-60.0,)),
    ("truncnorm", (9.5, 9.0, 12.0)),
    ("truncnorm", (-10.5, -12.0, -10.0)),
    ("invgauss", (0.02, 0.4)),
]


@pytest.mark.parametrize(("name", "point"), POINTS, ids=lambda x: str(x).replace(" ", ""))
def test_slopes_of_log_densities_keep_their_digits(name, point):
    bars = cotangents(getattr(stats, name).logpdf, *point)
    for i, bar in enumerate(bars[: len(point)]):
        order = tuple(int(j == i) for j in range(len(point)))
        exact = mpmath.diff(LOG_DENSITIES[name], tuple(map(mpmath.mpf, point)), order, h=mpmath.mpf(10) ** -18)
        # Where ℓ has a term that cancels, as the normalisation of t for many degrees of freedom.
        tolerance = 1e-8 if (name, point) == ("t", (3.0, 1e6)) else 2e-11
        np.testing.assert_allclose(float(bar), float(exact), rtol=tolerance, atol=1e-300, err_msg=f"argument {i}")


@pytest.mark.parametrize(("x", "a"), [(12.0, 0.5), (1e-4, 2.0), (60.0, 20.0)])
def test_slopes_of_survival_functions_keep_their_digits_where_these_are_tiny(x, a):
    xbar, abar = cotangents(stats.gamma.sf, x, a)
    exact = mpmath.diff(lambda a: mpmath.gammainc(a, x, mpmath.inf, regularized=True), mpmath.mpf(a))
    np.testing.assert_allclose(float(abar), float(exact), rtol=1e-9)
    np.testing.assert_allclose(float(xbar), -stats.gamma.pdf(x, a), rtol=1e-12)


@pytest.mark.parametrize("x", [-40.0, -10.0, 0.0, 10.0])
def test_the_logarithm_of_the_normal_distribution_function_has_the_mills_ratio_for_a_slope(x):
    exact = mpmath.npdf(x) / mpmath.ncdf(x)
    np.testing.assert_allclose(float(cotangents(stats.norm.logcdf, x)[0]), float(exact), rtol=1e-12)
    np.testing.assert_allclose(float(cotangents(stats.norm.logsf, -x)[0]), -float(exact), rtol=1e-12)


# ---------------------------------------------------------------- noncentral ones


def nct_cdf(t, df, nc):
    """∫ Φ(t w/√ν - δ) h(w) dw, with h the density of chi."""

    def given(w):
        scale = 2 ** (1 - df / 2) / mpmath.gamma(df / 2)
        return mpmath.ncdf(t * w / mpmath.sqrt(df) - nc) * w ** (df - 1) * mpmath.exp(-w * w / 2) * scale

    return mpmath.quad(given, [0, 1, 2, 4, 8, 12, 20])


def ncf_cdf(x, dfn, dfd, nc):
    """A mean over numbers of Poisson's of central ones."""
    y = dfn * x / (dfd + dfn * x)
    return mpmath.fsum(
        mpmath.exp(-nc / 2)
        * (nc / 2) ** j
        / mpmath.factorial(j)
        * mpmath.betainc(dfn / 2 + j, dfd / 2, 0, y, regularized=True)
        for j in range(60)
    )


@pytest.mark.parametrize(
    ("distribution", "cdf", "point"),
    [
        (stats.nct, nct_cdf, (1.3, 3.2, 0.7)),
        (stats.nct, nct_cdf, (-0.8, 0.6, 0.5)),
        (stats.nct, nct_cdf, (2.0, 0.6, 1.1)),
        (stats.ncf, ncf_cdf, (1.3, 3.2, 4.5, 0.7)),
        (stats.ncf, ncf_cdf, (0.8, 2.5, 1.2, 1.5)),
    ],
)
def test_slopes_of_noncentral_distributions_against_high_precision(distribution, cdf, point):
    """Also for so few degrees of freedom that there is no density for less."""
    last, exact = len(point) - 1, tuple(map(mpmath.mpf, point))

    def derivative(of_x, of_nc):
        with mpmath.workdps(25):
            return float(mpmath.diff(cdf, exact, (of_x, *[0] * (last - 1), of_nc)))

    by_x, *_, by_nc = grad(primitive(distribution.cdf), argnums=(0, last))(*point)
    np.testing.assert_allclose([by_x, by_nc], [derivative(1, 0), derivative(0, 1)], rtol=1e-11)
    by_x, *_, by_nc = grad(primitive(distribution.pdf), argnums=(0, last))(*point)
    np.testing.assert_allclose([by_x, by_nc], [derivative(2, 0), derivative(1, 1)], rtol=1e-11)


def upper_gauss(w):
    return mpmath.erfc(w / mpmath.sqrt(2)) / 2


LOG_TAILS = {
    "gumbel_l.logsf": (lambda z: -mpmath.exp(z), (45.0,)),
    "gumbel_r.logcdf": (lambda z: -mpmath.exp(-z), (-45.0,)),
    "genextreme.logcdf": (lambda z, c: -((1 - c * z) ** (1 / c)), (-1e4, 0.1)),
    "rayleigh.logsf": (lambda z: -z * z / 2, (1e9,)),
    "norm.logcdf": (lambda z: mpmath.log(upper_gauss(-z)), (-3e3,)),
    "norm.logsf": (lambda z: mpmath.log(upper_gauss(z)), (3e3,)),
    "invgauss.logcdf": (
        lambda z, m: mpmath.log(
            upper_gauss((1 - z / m) / mpmath.sqrt(z)) + mpmath.exp(2 / m) * upper_gauss((z / m + 1) / mpmath.sqrt(z))
        ),
        (1e-4, 0.4),
    ),
    "weibull_min.logsf": (lambda z, c: -(z**c), (1.5, 20.0)),
    "weibull_max.logcdf": (lambda z, c: -((-z) ** c), (-1.5, 20.0)),
    "lognorm.logsf": (lambda z, s: mpmath.log(upper_gauss(mpmath.log(z) / s)), (1.7, 8e-3)),
    "lognorm.logcdf": (lambda z, s: mpmath.log(upper_gauss(-mpmath.log(z) / s)), (0.6, 8e-3)),
    "burr.logcdf": (lambda z, c, d: -d * mpmath.log(1 + z**-c), (0.1, 50.0, 26.0)),
    "invgauss.logsf": (
        lambda z, m: mpmath.log(
            upper_gauss((z / m - 1) / mpmath.sqrt(z)) - mpmath.exp(2 / m) * upper_gauss((z / m + 1) / mpmath.sqrt(z))
        ),
        (0.4, 7e-3),
    ),
    "truncnorm.logcdf": (
        lambda z, a, b: mpmath.log((upper_gauss(-z) - upper_gauss(-a)) / (upper_gauss(-b) - upper_gauss(-a))),
        (-39.5, -40.0, 3.0),
    ),
}


@pytest.mark.parametrize("name", LOG_TAILS)
def test_slopes_of_logarithms_are_right_where_the_probability_is_smaller_than_any_number(name):
    log_tail, point = LOG_TAILS[name]
    distribution, method = name.split(".")
    method = getattr(getattr(stats, distribution), method)
    assert np.exp(method(*point)) < 1e-300
    bars = cotangents(method, *point)[: len(point)]
    with mpmath.workdps(200):
        point = tuple(map(mpmath.mpf, point))
        orders = [tuple(int(j == i) for j in range(len(point))) for i in range(len(point))]
        exact = [float(mpmath.diff(log_tail, point, order, h=mpmath.mpf(10) ** -60)) for order in orders]
    np.testing.assert_allclose(bars, exact, rtol=1e-10)


OUTSIDE = {
    "weibull_min.logsf": (-1.0, 2.5),
    "weibull_max.logcdf": (1.0, 2.5),
    "genextreme.logcdf": (5.0, 0.3),
    "rayleigh.logsf": (-1.0,),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_the_logarithm_of_a_certain_probability_is_constant(name):
    distribution, method = name.split(".")
    method = getattr(getattr(stats, distribution), method)
    assert method(*OUTSIDE[name]) == 0
    np.testing.assert_array_equal(cotangents(method, *OUTSIDE[name], 0.0, 1.0), 0)


# ---------------------------------------------------------------- mean, variance, standard deviation, entropy


def entropy_of_beta(a, b):
    psi, total = mpmath.digamma, a + b
    return mpmath.log(mpmath.beta(a, b)) - (a - 1) * psi(a) - (b - 1) * psi(b) + (total - 2) * psi(total)


def entropy_of_t(v):
    difference = mpmath.digamma((v + 1) / 2) - mpmath.digamma(v / 2)
    return (v + 1) / 2 * difference + mpmath.log(mpmath.sqrt(v) * mpmath.beta(v / 2, 0.5))


ENTROPIES = {
    "gamma": lambda a: a + mpmath.loggamma(a) + (1 - a) * mpmath.digamma(a),
    "beta": entropy_of_beta,
    "t": entropy_of_t,
}


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("gamma", (1e-3,)),
        ("gamma", (49.9,)),
        ("gamma", (50.1,)),
        ("gamma", (1e6,)),
        ("beta", (0.01, 40.0)),
        ("beta", (1e3, 1e3)),
        ("beta", (3e4, 0.7)),
        ("t", (0.1,)),
        ("t", (99.9,)),
        ("t", (100.1,)),
        ("t", (1e6,)),
    ],
    ids=lambda x: str(x).replace(" ", ""),
)
def test_slopes_of_entropies_keep_their_digits(name, shapes):
    bars = cotangents(getattr(stats, name).entropy, *shapes)
    for i, bar in enumerate(bars):
        order = tuple(int(j == i) for j in range(len(shapes)))
        exact = mpmath.diff(ENTROPIES[name], tuple(map(mpmath.mpf, shapes)), order, h=mpmath.mpf(10) ** -18)
        np.testing.assert_allclose(float(bar), float(exact), rtol=2e-12, err_msg=f"argument {i}")


def test_the_slope_of_the_entropy_of_gamma_does_not_see_where_its_formula_changes():
    slope = grad(primitive(stats.gamma.entropy))
    np.testing.assert_allclose(grad(slope)(50 - 1e-9), grad(slope)(50 + 1e-9), rtol=1e-8)


@pytest.mark.parametrize("name", ["gamma", "beta", "t"])
@pytest.mark.parametrize("method", ["mean", "var", "std", "entropy"])
def test_outside_of_the_domain_every_slope_is_nan(name, method):
    first, scale = np.array([2.5, -1.0, 0.0, 2.5, 2.5]), np.array([1.5, 1.5, 1.5, -1.0, 0.0])
    others = SHAPES[name][1:]
    with np.errstate(all="raise"):
        bars = cotangents(getattr(getattr(stats, name), method), first, *others, np.zeros(5), scale, ybar=np.ones(5))
    for bar in (bars[0], *bars[-2:]):
        assert np.isnan(bar).tolist() == [False, True, True, True, True]


@pytest.mark.parametrize(("method", "df"), [("mean", 0.8), ("var", 1.5), ("std", 2.0)])
def test_a_moment_that_is_infinite_is_constant(method, df):
    f = getattr(stats.t, method)
    assert f(df, 0.3, 1.7) == np.inf
    with np.errstate(all="raise"):
        assert [float(bar) for bar in cotangents(f, df, 0.3, 1.7)] == [0.0, 0.0, 0.0]


def test_infinitely_many_degrees_of_freedom_are_those_of_the_normal_distribution():
    for method in ("mean", "var", "std", "entropy"):
        dfbar, *bars = cotangents(getattr(stats.t, method), np.inf, 0.3, 1.7)
        assert dfbar == 0
        assert bars == cotangents(getattr(stats.norm, method), 0.3, 1.7)


# ---------------------------------------------------------------- relations between the methods


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_the_slope_of_the_quantile_function_is_the_inverse_of_that_of_the_distribution_function(name):
    distribution, shapes = getattr(stats, name), SHAPES[name]
    p = np.array([0.2, 0.7])
    x = distribution.ppf(p, *shapes, 0.3, 1.7)
    of_x = cotangents(distribution.cdf, x, *shapes, 0.3, 1.7, ybar=np.ones(2))[0]
    of_p = cotangents(distribution.ppf, p, *shapes, 0.3, 1.7, ybar=np.ones(2))[0]
    np.testing.assert_allclose(of_x * of_p, 1, rtol=1e-8)


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_what_the_distribution_function_gains_the_survival_function_loses(name):
    distribution, shapes = getattr(stats, name), SHAPES[name]
    x = distribution.ppf(0.4, *shapes)
    gained, lost = (rrule(f, x, *shapes, 0.0, 1.0)[1](1.0)[1:] for f in (distribution.cdf, distribution.sf))
    for g, s in zip(map(unthunk, gained), map(unthunk, lost), strict=True):
        if isinstance(g, NotImplementedTangent):
            assert isinstance(s, NotImplementedTangent)
        else:
            np.testing.assert_allclose(g, -s, rtol=1e-9, atol=1e-12)


# ---------------------------------------------------------------- the edge of the support


@pytest.mark.parametrize("method", ["pdf", "logpdf", "cdf", "sf"])
@pytest.mark.parametrize(("name", "x"), [("gamma", -1.0), ("beta", -0.5), ("beta", 1.5), ("pareto", 0.5)])
def test_outside_of_the_support_every_slope_is_zero(name, x, method):
    with np.errstate(all="raise"):
        bars = cotangents(getattr(getattr(stats, name), method), x, *SHAPES[name], 0.0, 1.0)
    assert [float(bar) for bar in bars] == [0.0] * len(bars)


def test_at_the_edge_the_slope_is_the_one_from_within():
    xbar, locbar, scalebar = cotangents(stats.expon.pdf, 0.0, 0.0, 2.0)
    assert (xbar, locbar, scalebar) == (-0.25, 0.25, -0.25)


def test_a_density_that_is_infinite_says_so():
    with np.errstate(divide="ignore", invalid="ignore"):
        (xbar,) = cotangents(stats.gamma.logpdf, 0.0, 0.5, ybar=1.0)[:1]
    assert xbar == -np.inf


def test_points_outside_do_not_spoil_second_derivatives():
    logpdf = primitive(stats.gamma.logpdf)
    found = hessian(lambda a: np.sum(np.where(np.array([True, False]), logpdf(np.array([2.0, -1.0]), a), 0)))(2.5)
    wanted = -float(mpmath.polygamma(1, 2.5))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "shapes", "p", "wanted"),
    [
        ("genextreme", (0.5,), 1.0, [-4]),
        ("genextreme", (-0.5,), 0.0, [-4]),
        ("genpareto", (-0.5,), 1.0, [4]),
        ("truncnorm", (-1.0, 2.0), 0.0, [1, 0]),
        ("loguniform", (0.5, 3.0), 1.0, [0, 1]),
    ],
)
def test_the_end_of_the_support_moves_with_the_shapes(name, shapes, p, wanted):
    distribution = getattr(stats, name)
    for method, q in ((distribution.ppf, p), (distribution.isf, 1 - p)):
        with np.errstate(divide="ignore"):
            bars = cotangents(method, q, *shapes, 0.0, 3.0)[1:-2]
        np.testing.assert_allclose(bars, 3 * np.array(wanted))


# ---------------------------------------------------------------- discrete distributions


@pytest.mark.parametrize("name", sorted(DISCRETE))
def test_whole_numbers_have_no_derivative(name):
    (shapes, numbers), distribution = DISCRETE[name], getattr(stats, name)
    bars = rrule(distribution.logpmf, numbers[1], *shapes)[1](1.0)[1:]
    kinds = [isinstance(unthunk(bar), NoTangent) for bar in bars] or [True]
    assert kinds[0]
    assert all(kinds[1 + i] for i, shape in enumerate(shapes) if isinstance(shape, int) and 1 + i < len(kinds))
    assert rrule(distribution.ppf, 0.5, *shapes)[1](1.0) == (NoTangent(),)


def test_the_poisson_distribution_function_has_minus_the_mass_for_a_slope():
    _, mubar = cotangents(stats.poisson.cdf, 4, 2.5)
    np.testing.assert_allclose(mubar, -stats.poisson.pmf(4, 2.5), rtol=1e-14)


# ---------------------------------------------------------------- how calls get here


def test_keywords_have_their_cotangents_in_the_places_of_the_arguments():
    _, pullback = rrule(stats.gamma.logpdf, 2.0, a=1.5, scale=0.5)
    _, xbar, abar, locbar, scalebar = map(unthunk, pullback(1.0))
    wanted = cotangents(stats.gamma.logpdf, 2.0, 1.5, 0.0, 0.5)
    np.testing.assert_allclose([xbar, abar, scalebar], [wanted[0], wanted[1], wanted[3]])
    assert locbar is NoTangent()


def test_a_partial_of_a_method_is_served():
    f = functools.partial(stats.norm.logpdf, loc=1.0)
    y, pullback = rrule(f, 2.0)
    assert y == stats.norm.logpdf(2.0, 1.0)
    assert unthunk(pullback(1.0)[1]) == -1.0


def test_a_program_calls_the_method_as_a_primitive():
    logpdf, x = primitive(stats.norm.logpdf), np.array([0.5, -1.0, 2.0])

    def loss(mu, sigma):
        return -np.sum(logpdf(x, loc=mu, scale=sigma))

    found = grad(loss, (0, 1))(0.25, 1.5)
    wanted = -np.sum((x - 0.25) / 1.5**2), -np.sum((x - 0.25) ** 2 / 1.5**3 - 1 / 1.5)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


def test_distributions_without_an_entry_have_no_rule():
    assert rrule(stats.argus.logpdf, 0.5, 1.0) is None


def test_complex_numbers_are_not_served():
    assert rrule(stats.cauchy.logpdf, 0.5 + 1j) is None


def test_a_parameter_whose_derivative_is_not_known_says_so_and_does_no_harm():
    _, pullback = rrule(stats.vonmises.cdf, 0.5, 2.0)
    _, xbar, kappabar = map(unthunk, pullback(1.0))
    np.testing.assert_allclose(xbar, stats.vonmises.pdf(0.5, 2.0))
    assert isinstance(kappabar, NotImplementedTangent)
    assert "vonmises with respect to kappa" in kappabar.message
    y, dy = frule((NoTangent(), 1.0, NoTangent()), stats.vonmises.cdf, 0.5, 2.0)
    np.testing.assert_allclose(dy, stats.vonmises.pdf(0.5, 2.0))
    assert y == stats.vonmises.cdf(0.5, 2.0)


def test_a_zero_cotangent_stays_zero():
    bars = cotangents(stats.norm.cdf, np.ones(3), 0.0, 1.0, ybar=ZeroTangent())
    assert all(isinstance(bar, ZeroTangent) for bar in bars)


def test_constant_parameters_cost_nothing(monkeypatch):
    """The slope of a shape parameter is a quadrature, which a number that is not differentiated does not start."""
    _, pullback = rrule(stats.gamma.cdf, np.ones(3), 2)
    monkeypatch.setattr("rules.scipy.stats.half_line.gammainc_wrt_a", lambda *args: pytest.fail("computed"))
    unthunk(pullback(np.ones(3))[1])


# ---------------------------------------------------------------- several variables


def test_the_covariance_has_a_symmetric_cotangent():
    cov = np.array([[2.0, 0.5], [0.5, 1.0]])
    x, mean = np.array([[1.0, -1.0], [0.0, 2.0]]), np.array([0.5, 0.0])
    _, xbar, meanbar, covbar = map(unthunk, rrule(stats.multivariate_normal.logpdf, x, mean, cov)[1](np.ones(2)))
    inverse = np.linalg.inv(cov)
    solved = (x - mean) @ inverse
    np.testing.assert_allclose(xbar, -solved)
    np.testing.assert_allclose(meanbar, solved.sum(axis=0))
    np.testing.assert_allclose(covbar, (solved.T @ solved - 2 * inverse) / 2)


def test_the_entropy_of_several_variables_has_half_the_inverse_for_its_slope():
    mean, cov = np.zeros(2), np.array([[2.0, 0.5], [0.5, 1.0]])
    meanbar, covbar = cotangents(stats.multivariate_normal.entropy, mean, cov, ybar=3.0)
    np.testing.assert_array_equal(meanbar, np.zeros(2))
    np.testing.assert_allclose(covbar, 1.5 * np.linalg.inv(cov), rtol=1e-14)


@pytest.mark.parametrize("cov", [np.ones((2, 2)), np.array([1.0, 1e-12]), stats.Covariance.from_diagonal([1.0, 2.0])])
def test_the_entropy_of_a_singular_covariance_is_not_served(cov):
    assert rrule(stats.multivariate_normal.entropy, np.zeros(2), cov) is None


def test_the_log_likelihood_of_a_normal_sample_has_its_hessian():
    logpdf, x = primitive(stats.multivariate_normal.logpdf), np.array([[1.0, -1.0], [0.0, 2.0], [1.5, 0.5]])
    cov = np.array([[2.0, 0.5], [0.5, 1.0]])
    found = hessian(lambda mean: np.sum(logpdf(x, mean, cov)))(np.zeros(2))
    np.testing.assert_allclose(found, -3 * np.linalg.inv(cov), rtol=1e-12)


# ---------------------------------------------------------------- where a density has its peak


def log_density_of_gennorm(z, beta):
    return mpmath.log(beta / 2) - mpmath.loggamma(1 / beta) - abs(z) ** beta


def distribution_of_gennorm(z, beta):
    return 0.5 + mpmath.sign(z) * mpmath.gammainc(1 / beta, 0, abs(z) ** beta, regularized=True) / 2


@pytest.mark.parametrize("beta", [2.0, 3.5])
@pytest.mark.parametrize(("name", "of"), [("logpdf", log_density_of_gennorm), ("cdf", distribution_of_gennorm)])
@pytest.mark.parametrize("z", [0.0, 1e-5, -0.7])
def test_second_derivatives_of_the_generalised_normal_distribution(name, of, beta, z):
    found = hessian(lambda v: primitive(getattr(stats.gennorm, name))(v[0], v[1]))(np.array([z, beta]))
    of_z, mixed, of_beta = (float(mpmath.diff(of, (z, beta), n)) for n in ((2, 0), (1, 1), (0, 2)))
    np.testing.assert_allclose(found, [[of_z, mixed], [mixed, of_beta]], rtol=1e-8, atol=1e-10)


def test_a_second_derivative_that_is_infinite_at_a_peak_is_so():
    logpdf = primitive(stats.gennorm.logpdf)
    assert grad(logpdf)(0.0, 1.5) == 0
    with np.errstate(divide="ignore"):
        assert grad(grad(logpdf))(0.0, 1.5) == -np.inf


@pytest.mark.parametrize("method", ["pdf", "logpdf"])
def test_a_normal_density_on_a_plane_moves_along_it(method):
    f = primitive(getattr(stats.multivariate_normal, method))
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0][:, :2]
    cov, mean = basis @ np.diag([1.0, 2.5]) @ basis.T, np.array([0.1, 0.2, -0.3, 0.4])
    z, dz = np.array([0.3, -0.7]), np.array([1.0, 0.4])

    def along(t):
        return f(mean + basis @ (z + t * dz), mean, cov, allow_singular=True)

    np.testing.assert_allclose(grad(along)(0.2), jacobian_fd(along, 0.2).value, rtol=1e-7)
    np.testing.assert_allclose(grad(grad(along))(0.2), jacobian_fd(grad(along), 0.2).value, rtol=1e-7)

    def center(s):
        return f(basis @ z, basis @ (z * s), cov, allow_singular=True)

    np.testing.assert_allclose(grad(center)(0.2), jacobian_fd(center, 0.2).value, rtol=1e-7)
    with pytest.raises(MissingDerivativeError, match="cov"):
        grad(lambda s: f(mean, mean, cov * s, allow_singular=True))(1.0)

    def regular(s):
        return f(mean, 0 * mean, np.eye(4) * s, allow_singular=True)

    np.testing.assert_allclose(grad(regular)(1.3), jacobian_fd(regular, 1.3).value, rtol=1e-7)
    assert rrule(stats.multivariate_t.logpdf, mean, mean, cov, 3.0, True) is None


def test_the_logarithm_of_what_is_1_to_rounding_has_no_curvature():
    args, f = (2.0, 1e-3), primitive(stats.invgauss.logcdf)
    assert f(*args) == 0
    for position, other in ((0, 0), (0, 1), (1, 0), (1, 1)):
        assert grad(grad(f, position), other)(*args) == 0
