"""Densities where a share or a probability is zero: their slope is that of a power, and not of 0 times an infinity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special, stats

from rulescore import NoTangent, ZeroTangent, ad, frule, rrule, unthunk

X = np.array([[0.2, 0.25, 0.2, 0.0], [0.3, 0.0, 0.3, 0.3], [0.1, 0.25, 0.0, 0.3], [0.4, 0.5, 0.5, 0.4]])
ALPHA = np.array([1.0, 2.0, 3.5, 1.5])
STEP = 1e-7


def dirichlet(x: Any, alpha: Any) -> Any:
    """The density, of shares that need not add up to 1."""
    constant = special.gammaln(np.sum(alpha)) - np.sum(special.gammaln(alpha))
    return np.exp(np.sum(special.xlogy(alpha[:, None] - 1, x), axis=0) + constant)


def test_a_density_at_a_share_of_zero_has_the_slope_to_its_right() -> None:
    y, pullback = rrule(stats.dirichlet.pdf, X, ALPHA)
    np.testing.assert_allclose(y, dirichlet(X, ALPHA))
    xbar = unthunk(pullback(np.ones(4))[1])
    for i, j in np.ndindex(X.shape):
        moved = X.copy()
        moved[i, j] += STEP
        slope = (dirichlet(moved, ALPHA) - y)[j] / STEP
        np.testing.assert_allclose(xbar[i, j], slope, rtol=1e-5, atol=1e-3)
        one = np.zeros(X.shape)
        one[i, j] = 1.0
        _, dy = frule((NoTangent(), one, ZeroTangent()), stats.dirichlet.pdf, X, ALPHA)
        np.testing.assert_allclose(dy[j], xbar[i, j])


def test_the_parameters_of_shares_of_zero_have_the_slope_of_a_power() -> None:
    x, alpha = X[:, 1:], np.array([1.5, 2.0, 3.5, 1.5])
    _, pullback = rrule(stats.dirichlet.pdf, x, alpha)
    found = unthunk(pullback(np.ones(3))[2])
    for i, one in enumerate(np.eye(4)):
        ahead, behind = (np.sum(dirichlet(x, alpha + side * 1e-6 * one)) for side in (1, -1))
        np.testing.assert_allclose(found[i], (ahead - behind) / 2e-6, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("alpha", [np.array([1.5, 3.0, 1.7]), np.array([1.5, 4.0, 1.7]), np.array([1.5, 1.0, 1.7])])
def test_second_derivatives_at_a_share_of_zero(alpha: Any) -> None:
    density = ad.primitive(stats.dirichlet.pdf)
    gradient = ad.grad(lambda x: np.sum(density(x, alpha)))
    x, h = np.array([0.1, 0.0]), 1e-6
    hessian = ad.hessian(lambda x: np.sum(density(x, alpha)))(x)
    along_first = (gradient(x + np.array([h, 0])) - gradient(x - np.array([h, 0]))) / (2 * h)
    np.testing.assert_allclose(hessian[0], along_first, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(hessian[1], (gradient(x + np.array([0, h])) - gradient(x)) / h, rtol=1e-4, atol=1e-3)


def masked(x: Any, alpha: Any) -> Any:
    y = ad.primitive(stats.dirichlet.pdf)(x, alpha)
    return np.where(y > 0, y, np.zeros_like(y))


def test_a_point_of_no_density_that_is_masked_has_no_part_in_either_mode() -> None:
    x, alpha = np.array([[0.2, 0.1], [0.3, 0.0]]), np.array([1.5, 2.5, 0.7])
    _, pull = ad.vjp(masked, x, alpha)
    bars = pull(np.ones(2))
    assert all(np.all(np.isfinite(bar)) for bar in bars)
    np.testing.assert_array_equal(bars[0][:, 1], 0.0)
    _, dy = ad.jvp(masked, (x, alpha), (x, alpha))
    np.testing.assert_allclose(np.sum(dy), np.sum(bars[0] * x) + np.sum(bars[1] * alpha))


def probability(x: Any, n: int, p: Any) -> float:
    if np.sum(x) != n:
        return 0.0
    p = np.append(p[:-1], 1 - np.sum(p[:-1]))
    coefficient = special.gammaln(n + 1) - np.sum(special.gammaln(x + 1.0))
    return float(np.exp(coefficient + np.sum(special.xlogy(x, p))))


@pytest.mark.filterwarnings("ignore:Some rows of `p`:FutureWarning")
@pytest.mark.parametrize("x", [[0, 3, 5], [1, 3, 4], [2, 2, 4], [1, 3, 3]])
def test_a_probability_of_zero_has_the_slope_to_its_right(x: list[int]) -> None:
    n, p, counts = 8, np.array([0.0, 0.4, 0.6]), np.array(x)
    y, pullback = rrule(stats.multinomial.pmf, counts, n, p)
    pbar = unthunk(pullback(1.0)[3])
    slopes = [(probability(counts, n, p + STEP * one) - y) / STEP for one in np.eye(3)]
    np.testing.assert_allclose(pbar, slopes, rtol=1e-5, atol=1e-6)


def test_a_factor_without_an_exponent_has_no_slope() -> None:
    _, pullback = rrule(stats.dirichlet.logpdf, np.array([0.0, 0.3, 0.7]), np.array([1.0, 2.0, 1.0]))
    np.testing.assert_allclose(unthunk(pullback(1.0)[1]), [0.0, 1 / 0.3, 0.0])
    _, pullback = rrule(stats.multinomial.logpmf, np.array([0, 3, 0]), 3, np.array([0.0, 0.3, 0.7]))
    np.testing.assert_allclose(unthunk(pullback(1.0)[3]), [0.0, 3 / 0.3, 0.0])
