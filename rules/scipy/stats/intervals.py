"""Distributions on an interval: the slopes of their log-densities and distribution functions, standardised."""

import numpy as np

from rulescore import seen_by_tracers
from scipy import special, stats

from ..special.incomplete import betainc_wrt_a, betainc_wrt_b
from .standardised import HALF_LOG_2PI, tabulate

psi = special.digamma

tabulate("uniform", lambda z: 0 * z)
tabulate(
    "beta",
    lambda z, a, b: (a - 1) / z - (b - 1) / (1 - z),
    lambda z, a, b: np.log(z) - psi(a) + psi(a + b),
    lambda z, a, b: np.log1p(-z) - psi(b) + psi(a + b),
    cdf=[lambda z, a, b: betainc_wrt_a(a, b, z, 1 - z), lambda z, a, b: betainc_wrt_b(a, b, z, 1 - z)],
)
tabulate(
    "powerlaw",
    lambda z, a: (a - 1) / z,
    lambda z, a: 1 / a + np.log(z),
    quantile=[lambda z, a: -special.xlogy(z, z) / a],
)


# ---------------------------------------------------------------- between a and b


BOTH_ENDS = (lambda is_upper, a, b: np.where(is_upper, 0, 1), lambda is_upper, a, b: np.where(is_upper, 1, 0))

for _name in ("loguniform", "reciprocal"):
    tabulate(
        _name,
        lambda z, a, b: -1 / z,
        lambda z, a, b: 1 / (a * np.log(b / a)),
        lambda z, a, b: -1 / (b * np.log(b / a)),
        quantile=[
            lambda z, a, b: z * np.log(b / z) / (a * np.log(b / a)),
            lambda z, a, b: z * np.log(z / a) / (b * np.log(b / a)),
        ],
        inside=lambda a, b: (a + b) / 2,
        ends=BOTH_ENDS,
    )


def log_mass(a, b):
    """log(Φ(b) - Φ(a)), reflected to the left where both are positive, since Φ is accurate there."""
    is_right = a > 0
    left, right = np.where(is_right, -b, a), np.where(is_right, -a, b)
    log_right = special.log_ndtr(right)
    return log_right + np.log1p(-np.exp(special.log_ndtr(left) - log_right))


def truncated_density(z, a, b):
    return np.exp(-0.5 * z * z - HALF_LOG_2PI - log_mass(a, b))


def midpoint(a, b):
    """A point between, where one of them may be infinite."""
    low, high = np.where(np.isinf(a), np.minimum(b, 0) - 1, a), np.where(np.isinf(b), np.maximum(a, 0) + 1, b)
    return (low + high) / 2


tabulate(
    "truncnorm",
    lambda z, a, b: -z,
    lambda z, a, b: truncated_density(a, a, b),
    lambda z, a, b: -truncated_density(b, a, b),
    quantile=[
        lambda z, a, b: np.exp((z - a) * (z + a) / 2 + seen_by_tracers(stats.truncnorm.logsf, z, a, b)),
        lambda z, a, b: np.exp((z - b) * (z + b) / 2 + seen_by_tracers(stats.truncnorm.logcdf, z, a, b)),
    ],
    inside=midpoint,
    ends=BOTH_ENDS,
)


# ---------------------------------------------------------------- others


def johnsonsb_variate(z, a, b):
    return a + b * special.logit(z)


tabulate(
    "johnsonsb",
    lambda z, a, b: (2 * z - 1 - b * johnsonsb_variate(z, a, b)) / (z * (1 - z)),
    lambda z, a, b: -johnsonsb_variate(z, a, b),
    lambda z, a, b: 1 / b - special.logit(z) * johnsonsb_variate(z, a, b),
    quantile=[
        lambda z, a, b: -z * (1 - z) / b,
        lambda z, a, b: -z * (1 - z) * special.logit(z) / b,
    ],
)
tabulate(
    "triang",
    lambda z, c: 1 / np.where(z < c, z, z - 1),
    lambda z, c: 1 / np.where(z < c, -c, 1 - c),
    quantile=[lambda z, c: np.where(z < c, z / np.where(z < c, c, 1), (1 - z) / np.where(z < c, 1, 1 - c)) / 2],
)


def wrapcauchy_denominator(z, c):
    return 1 + c * c - 2 * c * np.cos(z)


tabulate(
    "wrapcauchy",
    lambda z, c: -2 * c * np.sin(z) / wrapcauchy_denominator(z, c),
    lambda z, c: -2 * c / (1 - c * c) - 2 * (c - np.cos(z)) / wrapcauchy_denominator(z, c),
    quantile=[lambda z, c: -2 * np.sin(z) / (1 - c * c)],
)
