"""Distributions on the positive numbers: the slopes of their log-densities and distribution functions, standardised."""

import numpy as np

from rulescore import seen_by_tracers
from scipy import special, stats

from ..special.incomplete import betainc_wrt_a, betainc_wrt_b, gammainc_wrt_a
from .real_line import log1p_ratio, log1p_ratio_slope, log_expit_ratio
from .standardised import partial_of, tabulate

psi = special.digamma


def gamma_weight(a, x):
    """xᵃ exp(-x) / Γ(a)."""
    return np.exp(special.xlogy(a, x) - x - special.gammaln(a))


def power_quantile(z, *shapes):
    """∂z/∂c where F depends on zᶜ, and c is the last of the shapes."""
    return -special.xlogy(z, z) / shapes[-1]


tabulate("expon", lambda z: -1.0 + 0 * z)
tabulate("halfcauchy", lambda z: -2 * z / (1 + z * z))
tabulate("halfnorm", lambda z: -z)
tabulate("levy", lambda z: (1 / z - 3) / (2 * z))
tabulate("maxwell", lambda z: 2 / z - z)
tabulate("rayleigh", lambda z: 1 / z - z, ratios={"logsf": lambda z: z})


# ---------------------------------------------------------------- of the gamma function


tabulate(
    "gamma",
    lambda z, a: (a - 1) / z - 1,
    lambda z, a: np.log(z) - psi(a),
    cdf=[lambda z, a: gammainc_wrt_a(a, z)],
)
tabulate(
    "chi2",
    lambda z, df: (df / 2 - 1) / z - 0.5,
    lambda z, df: (np.log(z / 2) - psi(df / 2)) / 2,
    cdf=[lambda z, df: gammainc_wrt_a(df / 2, z / 2) / 2],
)
tabulate(
    "chi",
    lambda z, df: (df - 1) / z - z,
    lambda z, df: np.log(z) - (np.log(2) + psi(df / 2)) / 2,
    cdf=[lambda z, df: gammainc_wrt_a(df / 2, z * z / 2) / 2],
)
tabulate(
    "invgamma",
    lambda z, a: (1 / z - a - 1) / z,
    lambda z, a: -np.log(z) - psi(a),
    cdf=[lambda z, a: -gammainc_wrt_a(a, 1 / z)],
)
tabulate(
    "gengamma",
    lambda z, a, c: (c * (a - z**c) - 1) / z,
    lambda z, a, c: c * np.log(z) - psi(a),
    lambda z, a, c: 1 / c + (a - z**c) * np.log(z),
    quantile=[None, power_quantile],
    cdf=[lambda z, a, c: np.sign(c) * gammainc_wrt_a(a, z**c), None],
)
tabulate(
    "nakagami",
    lambda z, nu: (2 * nu - 1) / z - 2 * nu * z,
    lambda z, nu: np.log(nu) + 1 - psi(nu) + 2 * np.log(z) - z * z,
    cdf=[lambda z, nu: gammainc_wrt_a(nu, nu * z * z) + gamma_weight(nu, nu * z * z) / nu],
)


# ---------------------------------------------------------------- of the beta function


tabulate(
    "betaprime",
    lambda z, a, b: (a - 1) / z - (a + b) / (1 + z),
    lambda z, a, b: np.log(z) - np.log1p(z) - psi(a) + psi(a + b),
    lambda z, a, b: -np.log1p(z) - psi(b) + psi(a + b),
    cdf=[
        lambda z, a, b: betainc_wrt_a(a, b, z / (1 + z), 1 / (1 + z)),
        lambda z, a, b: betainc_wrt_b(a, b, z / (1 + z), 1 / (1 + z)),
    ],
)


def f_slope_of_dfn(z, m, n):
    total = n + m * z
    return (np.log(m * z / total) + (n - n * z) / total - psi(m / 2) + psi((m + n) / 2)) / 2


def f_slope_of_dfd(z, m, n):
    total = n + m * z
    return (np.log(n / total) + (m * z - m) / total - psi(n / 2) + psi((m + n) / 2)) / 2


tabulate(
    "f",
    lambda z, m, n: (m / 2 - 1) / z - m * (m + n) / (2 * (n + m * z)),
    f_slope_of_dfn,
    f_slope_of_dfd,
    cdf=[
        lambda z, m, n: partial_of(special.fdtr, 0, m, n, z),
        lambda z, m, n: partial_of(special.fdtr, 1, m, n, z),
    ],
)


def ncf_ratio(z, m, n, nc):
    """Of the densities of m z / (n + m z) for m + 2 and for m."""
    more = seen_by_tracers(stats.ncf.pdf, m * z / (m + 2), m + 2, n, nc)
    return m / (m + 2) * more / seen_by_tracers(stats.ncf.pdf, z, m, n, nc)


def ncf_slope(z, m, n, nc):
    total = n + m * z
    return (m - 2 + nc * ncf_ratio(z, m, n, nc)) * n / (2 * z * total) - m * (n + 2) / (2 * total)


def ncf_cdf_slope(z, m, n, nc):
    """Minus half of what is between the F of m and of m + 2, by the density for n - 2 where there is one."""
    is_narrow = n <= 2
    wide, odds = np.where(is_narrow, 4, n), m * z / n
    density = seen_by_tracers(stats.ncf.pdf, odds * (wide - 2) / (m + 2), m + 2, wide - 2, nc)
    more = seen_by_tracers(stats.ncf.cdf, odds * n / (m + 2), m + 2, n, nc)
    return np.where(is_narrow, (more - seen_by_tracers(stats.ncf.cdf, z, m, n, nc)) / 2, -density / (m + 2))


tabulate(
    "ncf",
    ncf_slope,
    None,
    None,
    lambda z, m, n, nc: (ncf_ratio(z, m, n, nc) - 1) / 2,
    cdf=[None, None, ncf_cdf_slope],
)


# ---------------------------------------------------------------- powers


tabulate(
    "weibull_min",
    lambda z, c: (c - 1 - c * z**c) / z,
    lambda z, c: 1 / c + (1 - z**c) * np.log(z),
    quantile=[power_quantile],
    ratios={"logsf": lambda z, c: c * z ** (c - 1)},
)
tabulate(
    "weibull_max",
    lambda z, c: (c - 1 - c * (-z) ** c) / z,
    lambda z, c: 1 / c + (1 - (-z) ** c) * np.log(-z),
    quantile=[lambda z, c: -special.xlogy(z, -z) / c],
    inside=-0.5,
    ratios={"logcdf": lambda z, c: c * (-z) ** (c - 1)},
)
tabulate(
    "lomax",
    lambda z, c: -(c + 1) / (1 + z),
    lambda z, c: 1 / c - np.log1p(z),
    quantile=[lambda z, c: -(1 + z) * np.log1p(z) / c],
)
tabulate(
    "pareto",
    lambda z, b: -(b + 1) / z,
    lambda z, b: 1 / b - np.log(z),
    quantile=[power_quantile],
    inside=2.0,
)


def genpareto_end_slope(is_upper, c):
    """Of -1/c, the upper end for a negative c."""
    is_finite = is_upper & (c < 0)
    return np.where(is_finite, 1 / np.where(is_finite, c, 1) ** 2, 0)


tabulate(
    "genpareto",
    lambda z, c: -(1 + c) / (1 + c * z),
    lambda z, c: -log1p_ratio(z, c) - (1 + c) * log1p_ratio_slope(z, c),
    quantile=[lambda z, c: -(1 + c * z) * log1p_ratio_slope(z, c)],
    inside=0.0,
    ends=[genpareto_end_slope],
)
tabulate(
    "gompertz",
    lambda z, c: 1 - c * np.exp(z),
    lambda z, c: 1 / c - np.expm1(z),
    quantile=[lambda z, c: np.expm1(-z) / c],
)


# ---------------------------------------------------------------- logistic in the logarithm


tabulate(
    "fisk",
    lambda z, c: -(1 + c * np.tanh(c * np.log(z) / 2)) / z,
    lambda z, c: 1 / c - np.log(z) * np.tanh(c * np.log(z) / 2),
    quantile=[power_quantile],
)


tabulate(
    "burr",
    lambda z, c, d: (c * ((d + 1) * special.expit(-c * np.log(z)) - 1) - 1) / z,
    lambda z, c, d: 1 / c + np.log(z) * ((d + 1) * special.expit(-c * np.log(z)) - 1),
    lambda z, c, d: 1 / d + special.log_expit(c * np.log(z)),
    quantile=[
        lambda z, c, d: power_quantile(z, c),
        lambda z, c, d: -z / (c * d) * log_expit_ratio(c * np.log(z)),
    ],
)
tabulate(
    "burr12",
    lambda z, c, d: (c * (1 - (d + 1) * special.expit(c * np.log(z))) - 1) / z,
    lambda z, c, d: 1 / c + np.log(z) * (1 - (d + 1) * special.expit(c * np.log(z))),
    lambda z, c, d: 1 / d + special.log_expit(-c * np.log(z)),
    quantile=[
        lambda z, c, d: power_quantile(z, c),
        lambda z, c, d: z / (c * d) * log_expit_ratio(-c * np.log(z)),
    ],
)


# ---------------------------------------------------------------- normal and Laplacian in the logarithm


tabulate(
    "lognorm",
    lambda z, s: -(1 + np.log(z) / s**2) / z,
    lambda z, s: (np.log(z) ** 2 / s**2 - 1) / s,
    quantile=[lambda z, s: z * np.log(z) / s],
)
tabulate(
    "loglaplace",
    lambda z, c: -(1 + c * np.sign(np.log(z))) / z,
    lambda z, c: 1 / c - np.abs(np.log(z)),
    quantile=[power_quantile],
)


# ---------------------------------------------------------------- normal variates, otherwise


tabulate(
    "foldnorm",
    lambda z, c: c * np.tanh(c * z) - z,
    lambda z, c: z * np.tanh(c * z) - c,
    quantile=[lambda z, c: np.tanh(c * z)],
)


def invgauss_quantile_slope(z, mu):
    """With F = Φ((z/μ - 1)/√z) + exp(2/μ) Φ(-w), w = (z/μ + 1)/√z, so that ∂F/∂μ = -2/μ² exp(2/μ) Φ(-w)."""
    return np.sqrt(2 * np.pi) / mu**2 * z**1.5 * special.erfcx((z / mu + 1) / np.sqrt(2 * z))


def mills_tail(x):
    """Φ(-x) / φ(x)."""
    return float(np.sqrt(np.pi / 2)) * special.erfcx(x / float(np.sqrt(2)))


FARTHEST = 37.6
"""From about here on Φ(x) / φ(x) is no number."""


def invgauss_ratio(sign):
    """f/F and f/S, with v = (z/μ - 1)/√z and w as above, of which φ(v) = exp(2/μ) φ(w), and f = φ(v) / √z³."""

    def ratio(z, mu):
        root = np.sqrt(z)
        v = sign * (z / mu - 1) / root
        is_far = v > FARTHEST  # where nothing is left of the density, nor of its slopes
        whole = mills_tail(-np.where(is_far, 0, v)) + sign * mills_tail((z / mu + 1) / root)
        return np.where(is_far, 0, 1 / (z * root * whole))

    return ratio


tabulate(
    "invgauss",
    lambda z, mu: (1 / z**2 - 1 / mu**2 - 3 / z) / 2,
    lambda z, mu: (z - mu) / mu**3,
    quantile=[invgauss_quantile_slope],
    ratios={"logcdf": invgauss_ratio(1), "logsf": invgauss_ratio(-1)},
)


def bessel_ratio(z, b):
    """I₁(b z) / I₀(b z)."""
    return special.i1e(b * z) / special.i0e(b * z)


tabulate(
    "rice",
    lambda z, b: 1 / z - z + b * bessel_ratio(z, b),
    lambda z, b: -b + z * bessel_ratio(z, b),
    quantile=[bessel_ratio],
)


def ncx2_ratio(z, df, nc):
    """√(z/λ) I_{ν/2}(√(λz)) / I_{ν/2-1}(√(λz)): the ratio of the densities for ν + 2 and for ν."""
    root = np.sqrt(nc * z)
    return np.sqrt(z / nc) * special.ive(df / 2, root) / special.ive(df / 2 - 1, root)


tabulate(
    "ncx2",
    lambda z, df, nc: (df / 2 - 1) / z - 0.5 + nc / (2 * z) * ncx2_ratio(z, df, nc),
    None,
    lambda z, df, nc: (ncx2_ratio(z, df, nc) - 1) / 2,
    quantile=[None, ncx2_ratio],
)
