"""Distributions on all real numbers: the slopes of their log-densities and distribution functions, standardised."""

import numpy as np

from rulescore import seen_by_tracers
from scipy import special, stats

from ..special.incomplete import gammainc_wrt_a
from .standardised import inverse_mills, mills_excess, partial_of, tabulate

psi = special.digamma

tabulate("cauchy", lambda z: -2 * z / (1 + z * z))
tabulate("gumbel_l", lambda z: -np.expm1(z), ratios={"logsf": lambda z: np.exp(z)})
tabulate("gumbel_r", lambda z: np.expm1(-z), ratios={"logcdf": lambda z: np.exp(-z)})
tabulate("laplace", lambda z: -np.sign(z))
tabulate("logistic", lambda z: -np.tanh(z / 2))
tabulate("moyal", lambda z: np.expm1(-z) / 2)
tabulate("norm", lambda z: -z, ratios={"logcdf": inverse_mills, "logsf": lambda z: inverse_mills(-z)})


# ---------------------------------------------------------------- Student's t


def t_normalisation(df):
    """ψ((ν+1)/2) - ψ(ν/2) - 1/ν, whose terms cancel where ν is large."""
    is_large = df > 1e3
    near, far = np.where(is_large, 1, df), np.where(is_large, df, 1e3)
    return np.where(is_large, 1 / (2 * far**2) - 1 / (4 * far**4), psi((near + 1) / 2) - psi(near / 2) - 1 / near)


def t_slope_of_df(z, df):
    q = z * z / df
    return (t_normalisation(df) - np.log1p(q) + (1 + 1 / df) * q / (1 + q)) / 2


tabulate(
    "t",
    lambda z, df: -z * (1 + 1 / df) / (1 + z * z / df),
    t_slope_of_df,
    cdf=[lambda z, df: partial_of(special.stdtr, 0, df, z)],
)


# ---------------------------------------------------------------- noncentral t


def nct_power(k, z, df, nc):
    """∫ wᵏ φ(a w - δ) h(w) dw for k > 0, where h is the density of chi for ν, and a = z/√ν: √ν times f for k = 1.

    For other k as much of the density for ν + k - 1 at the same a, by wᵏ⁻¹ h(w).
    """
    more = df + (k - 1)
    density = seen_by_tracers(stats.nct.pdf, z * np.sqrt(more / df), more, nc)
    return (
        np.sqrt(more) * density * np.exp((k - 1) * np.log(2) / 2 + special.gammaln(more / 2) - special.gammaln(df / 2))
    )


def nct_slope(z, df, nc):
    f = np.sqrt(df) * seen_by_tracers(stats.nct.pdf, z, df, nc)
    return (nc * nct_power(2, z, df, nc) - z / np.sqrt(df) * nct_power(3, z, df, nc)) / (np.sqrt(df) * f)


def nct_slope_of_nc(z, df, nc):
    f = np.sqrt(df) * seen_by_tracers(stats.nct.pdf, z, df, nc)
    return z / np.sqrt(df) * nct_power(2, z, df, nc) / f - nc


def nct_cdf_slope(z, df, nc):
    """-∫ φ(a w - δ) h(w) dw; where there is no density for ν - 1, by parts: ν times it is (1 + a²) I₂ - a δ I₁."""
    is_single = df <= 1
    two, one, a = np.where(is_single, 2, df), np.where(is_single, df, 1), z / np.sqrt(df)
    by_parts = (1 + a * a) * nct_power(2, a * np.sqrt(one), one, nc) - a * nc * nct_power(1, a * np.sqrt(one), one, nc)
    return -np.where(is_single, by_parts / one, nct_power(0, a * np.sqrt(two), two, nc))


tabulate("nct", nct_slope, None, nct_slope_of_nc, cdf=[None, nct_cdf_slope])


# ---------------------------------------------------------------- normal variates, transformed


tabulate(
    "skewnorm",
    lambda z, a: -z + a * inverse_mills(a * z),
    lambda z, a: z * inverse_mills(a * z),
    quantile=[lambda z, a: inverse_mills(a * z) / (1 + a * a)],
)


tabulate(
    "exponnorm",
    lambda z, K: mills_excess(z - 1 / K) - z,
    lambda z, K: (mills_excess(z - 1 / K) / K - 1) / K,
    quantile=[lambda z, K: mills_excess(z - 1 / K) / K],
)


def johnsonsu_variate(z, a, b):
    return a + b * np.arcsinh(z)


tabulate(
    "johnsonsu",
    lambda z, a, b: -z / (1 + z * z) - b * johnsonsu_variate(z, a, b) / np.sqrt(1 + z * z),
    lambda z, a, b: -johnsonsu_variate(z, a, b),
    lambda z, a, b: 1 / b - np.arcsinh(z) * johnsonsu_variate(z, a, b),
    quantile=[
        lambda z, a, b: -np.sqrt(1 + z * z) / b,
        lambda z, a, b: -np.sqrt(1 + z * z) * np.arcsinh(z) / b,
    ],
)


# ---------------------------------------------------------------- others with a shape


def gennorm_slope(z, beta):
    """-β sign(z) |z|ᵝ⁻¹, which for β = 2 is -2z; for lesser ones its slope at 0 is infinite, as a cube root's is."""
    is_center, is_steep = z == 0, (beta > 1) & (beta < 2)
    away = np.where(is_center, 1, z)
    at_center = np.where(is_steep, -np.cbrt(np.where(is_center & is_steep, z, 1)), np.where(beta == 2, -2, 0) * z)
    return np.where(is_center, at_center, -beta * np.sign(away) * np.abs(away) ** (beta - 1))


def gennorm_slope_of_beta(z, beta):
    """1/β + ψ(1/β)/β² - |z|ᵝ log|z|."""
    is_center = z == 0
    size = np.abs(np.where(is_center, 1, z))
    return gennorm_normalisation(beta) - np.where(is_center, 0, size**beta * np.log(size))


def gennorm_normalisation(beta):
    """The slope of log β - log Γ(1/β)."""
    return 1 / beta + psi(1 / beta) / beta**2


def gennorm_cdf_slope(z, beta):
    """Of ½ + ½ sign(z) P(1/β, |z|ᵝ), which is ½ + z β / 2Γ(1/β) close to 0: there the two terms would cancel."""
    is_center = z == 0
    away = np.where(is_center, 1, z)
    size = np.abs(away)
    power = size**beta
    of_power = size * np.log(size) * np.exp(-power - special.gammaln(1 / beta))
    slope = np.sign(away) * (of_power - gammainc_wrt_a(1 / beta, power) / beta**2) / 2
    density = beta / (2 * special.gamma(1 / beta))
    return np.where(is_center, z * density * gennorm_normalisation(beta), slope)


tabulate("gennorm", gennorm_slope, gennorm_slope_of_beta, cdf=[gennorm_cdf_slope])


def log_expit_ratio(x):
    """log σ(x) / σ(-x), of which both vanish to the right."""
    is_right = x > 40  # where it is -1 - exp(-x)/2
    x = np.where(is_right, 0, x)
    return np.where(is_right, -1, special.log_expit(x) / special.expit(-x))


tabulate(
    "genlogistic",
    lambda z, c: (c + 1) * special.expit(-z) - 1,
    lambda z, c: 1 / c + special.log_expit(z),
    quantile=[lambda z, c: -log_expit_ratio(z) / c],
)
tabulate(
    "vonmises",
    lambda z, kappa: -kappa * np.sin(z),
    lambda z, kappa: np.cos(z) - special.i1e(kappa) / special.i0e(kappa),
)


# ---------------------------------------------------------------- extreme values


def log1p_ratio(x, c):
    """log(1 + c x) / c, which is smooth at c = 0: x g(c x) with g(t) = log(1 + t) / t."""
    t = c * x
    is_small = np.abs(t) < 1e-2
    far, near = np.where(is_small, 1, t), np.where(is_small, t, 0)
    series = sum((-1) ** k / (k + 1) * near**k for k in range(9))
    return x * np.where(is_small, series, np.log1p(far) / far)


def log1p_ratio_slope(x, c):
    """Its derivative with respect to c: x² h(c x) with h(t) = (t / (1 + t) - log(1 + t)) / t²."""
    t = c * x
    is_small = np.abs(t) < 1e-2
    far, near = np.where(is_small, 1, t), np.where(is_small, t, 0)
    series = sum((-1) ** (k + 1) * (k + 1) / (k + 2) * near**k for k in range(8))
    return x * x * np.where(is_small, series, (far / (1 + far) - np.log1p(far)) / far**2)


def genextreme_parts(z, c):
    """u with F = exp(-exp(u)), and ∂u/∂c."""
    return log1p_ratio(-z, c), log1p_ratio_slope(-z, c)


def genextreme_slope(z, c):
    return (np.exp(log1p_ratio(-z, c)) + c - 1) / (1 - c * z)


def genextreme_ratio(z, c):
    """f/F = exp(u) / (1 - c z)."""
    return np.exp(log1p_ratio(-z, c)) / (1 - c * z)


def genextreme_slope_of_c(z, c):
    u, du = genextreme_parts(z, c)
    return (1 - c - np.exp(u)) * du - u


def genextreme_end_slope(is_upper, c):
    """Of 1/c, the upper end for a positive c, and the lower one for a negative."""
    is_finite = np.where(is_upper, c > 0, c < 0)
    return np.where(is_finite, -1 / np.where(is_finite, c, 1) ** 2, 0)


tabulate(
    "genextreme",
    genextreme_slope,
    genextreme_slope_of_c,
    quantile=[lambda z, c: (1 - c * z) * log1p_ratio_slope(-z, c)],
    inside=0.0,
    ends=[genextreme_end_slope],
    ratios={"logcdf": genextreme_ratio},
)
