"""Kernel estimates of a density, as programs make them: by SciPy's class, whose compiled sums have rules."""

import numpy as np
import pytest
from scipy import stats
from scipy.linalg import _decomp_update
from scipy.stats import gaussian_kde

from rulescore.ad import grad, hessian, jvp, traceable
from rulescore.ad.messages.errors import NoRuleError
from testutils import jacobian_fd

RNG = np.random.default_rng(0)
DATA, PLANE = RNG.standard_normal(9), RNG.standard_normal((2, 7))
WEIGHTS, OF_PLANE = RNG.uniform(0.5, 2, 9), RNG.uniform(0.5, 2, 7)
X, POINTS = np.array([0.3, 1.0]), RNG.standard_normal((2, 3))


def narrowed(b):
    kde = gaussian_kde(DATA)
    kde.set_bandwidth(b[0])
    kde.set_bandwidth(kde.factor / 3)
    return kde.logpdf(X).sum()


PROGRAMS = {
    "data": (lambda x: gaussian_kde(x)(X).sum(), DATA),
    "Silverman": (lambda x: gaussian_kde(x, "silverman").evaluate(X).sum(), DATA),
    "weights": (lambda w: gaussian_kde(DATA, weights=w)(X).sum(), WEIGHTS),
    "points": (lambda x: gaussian_kde(DATA, weights=WEIGHTS).pdf(x).sum(), X),
    "bandwidth": (lambda b: gaussian_kde(DATA, bw_method=b[0])(X).sum(), np.array([0.4])),
    "bandwidth by a function": (
        lambda b: gaussian_kde(DATA, lambda kde: b[0] * kde.scotts_factor())(X).sum(),
        np.array([1.3]),
    ),
    "bandwidth set later": (narrowed, np.array([0.7])),
    "data in the plane": (lambda x: gaussian_kde(x, weights=OF_PLANE)(POINTS).sum(), PLANE),
    "points in the plane": (lambda x: gaussian_kde(PLANE)(x).sum(), POINTS),
    "one point": (lambda x: gaussian_kde(PLANE)(x)[0], POINTS[:, 0].copy()),
    "logarithm by data": (lambda x: gaussian_kde(x, weights=OF_PLANE).logpdf(POINTS).sum(), PLANE),
    "logarithm by weights": (lambda w: gaussian_kde(PLANE, weights=w).logpdf(POINTS).sum(), OF_PLANE),
    "marginal": (lambda x: gaussian_kde(x).marginal([1])(X).sum(), PLANE),
    "integral": (lambda x: gaussian_kde(x).integrate_box_1d(-1, 0.5), DATA),
    "product of two": (lambda x: gaussian_kde(x).integrate_kde(gaussian_kde(x * x)), DATA),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_estimates_are_differentiated_twice(name):
    f, x = PROGRAMS[name]
    slope, curvature = grad(traceable(f))(x), hessian(traceable(f))(x)
    np.testing.assert_allclose(np.ravel(slope), np.ravel(jacobian_fd(f, x).value), rtol=1e-7, atol=1e-9)
    again = jacobian_fd(grad(traceable(f)), x).value
    np.testing.assert_allclose(np.ravel(curvature), np.ravel(again), rtol=1e-6, atol=1e-8)
    dx = np.cos(np.arange(x.size)).reshape(x.shape)
    np.testing.assert_allclose(jvp(traceable(f), (x,), (dx,))[1], np.sum(slope * dx))


def test_the_logarithm_has_a_slope_where_the_density_is_zero():
    """Far out the nearest of the data alone counts: the slope is (x₁ - ξ) / h²."""
    kde = gaussian_kde(DATA)
    assert kde(500.0) == 0
    slope = grad(traceable(lambda x: kde.logpdf(x)[0]))(500.0)
    np.testing.assert_allclose(slope, (DATA.max() - 500) / kde.covariance[0, 0], rtol=1e-9)


def test_weights_of_zero_have_a_slope():
    def log_density(w):
        return stats.gaussian_kde(DATA, weights=w).logpdf(X).sum()

    weights, h = np.where(np.arange(9) == 2, 0, WEIGHTS), 1e-6
    ahead = [(log_density(weights + i * h * np.eye(9)[2]) - log_density(weights)) / h for i in (1, 2)]
    np.testing.assert_allclose(grad(traceable(log_density))(weights)[2], 2 * ahead[0] - ahead[1] / 2, rtol=1e-5)


def test_rules_of_one_compiled_function_are_not_those_of_others():
    """Also of the same type, and called in the same program."""

    def f(x):
        density = gaussian_kde(x)(X).sum()
        return density * _decomp_update.qr_insert(np.eye(2), np.eye(2), x[:2], 0)[1].sum()

    with pytest.raises(NoRuleError, match="qr_insert"):
        grad(traceable(f))(DATA)
    g = traceable(lambda x: gaussian_kde(x)(X).sum() * _decomp_update.qr_insert(np.eye(2), np.eye(2), X, 0)[1].sum())
    assert np.all(np.isfinite(grad(g)(DATA)))
