"""The cumulative probability of several normal variables, where SciPy computes it from random points."""

import inspect

import numpy as np
import pytest
from scipy import integrate, stats

from rulescore.ad import grad, jvp, primitive

X = np.array([0.4, -0.3, 0.9, 0.2])


def covariance(rho):
    return np.full((4, 4), rho) + (1 - rho) * np.eye(4)


def exact(x, rho):
    """Of variables that share one: given that, the others are independent."""

    def given(z):
        return stats.norm.pdf(z) * np.prod(stats.norm.cdf((x - np.sqrt(rho) * z) / np.sqrt(1 - rho)))

    return integrate.quad(given, -12, 12, epsabs=1e-13, epsrel=1e-13)[0]


SEEDED = {"rng": 0} if "rng" in inspect.signature(stats.multivariate_normal.cdf).parameters else {}
"""With the same points each time, which SciPy before 1.16 does not let one choose."""


def probability(x, mean, cov):
    return primitive(stats.multivariate_normal.cdf)(x, mean, cov, **SEEDED)


def test_gradients_are_those_of_an_integral_over_one_variable():
    rho, h = 0.3, 1e-4
    by_x, by_mean, by_cov = grad(probability, argnums=(0, 1, 2))(X, np.zeros(4), covariance(rho))
    slopes = [(exact(X + h * e, rho) - exact(X - h * e, rho)) / (2 * h) for e in np.eye(4)]
    np.testing.assert_allclose(by_x, slopes, atol=1e-5)
    np.testing.assert_allclose(by_mean, -by_x, atol=1e-12)
    by_rho = (exact(X, rho + h) - exact(X, rho - h)) / (2 * h)
    np.testing.assert_allclose(np.sum(by_cov * (1 - np.eye(4))), by_rho, atol=1e-5)


def test_the_slope_along_a_covariance_is_that_of_scale():
    """Φ(δ; s² S) = Φ(δ / s; S), so that the derivatives by both are tied."""
    by_x, by_cov = grad(probability, argnums=(0, 2))(X, np.zeros(4), covariance(0.3))
    _, along = jvp(lambda cov: probability(X, np.zeros(4), cov), (covariance(0.3),), (2 * covariance(0.3),))
    np.testing.assert_allclose(along, -X @ by_x, atol=1e-5)
    np.testing.assert_allclose(np.sum(by_cov * 2 * covariance(0.3)), along, atol=1e-5)


def test_probabilities_between_limits_are_refused():
    with pytest.raises(TypeError, match="lower_limit"):
        grad(lambda x: primitive(stats.multivariate_normal.cdf)(x, np.zeros(4), covariance(0.3), lower_limit=-X))(X)
