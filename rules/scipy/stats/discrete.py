"""Discrete distributions: the slopes of the logarithm of their mass functions, and of their distribution functions.

They are slopes with respect to the real parameters: the number k that a distribution is of is whole, and so are some of
its parameters. Slopes of a distribution function are telescoping sums, and most are the mass function at a neighbour.
"""

import numpy as np

from rulescore import seen_by_tracers
from scipy import special, stats

from ..special.incomplete import betainc_wrt_a
from ..special.zeta_and_beta import zeta_wrt_x
from .standardised import tabulate_discrete

psi = special.digamma


def pmf(name, k, *parameters):
    return seen_by_tracers(getattr(stats, name).pmf, k, *parameters)


tabulate_discrete(
    "bernoulli",
    lambda k, p: (k - p) / (p * (1 - p)),
    cdf=[lambda k, p: -1.0 * (k == 0) + 0 * p],
)
tabulate_discrete(
    "binom",
    None,
    lambda k, n, p: (k - n * p) / (p * (1 - p)),
    cdf=[None, lambda k, n, p: -n * pmf("binom", k, np.maximum(n - 1, 0), p)],
)
tabulate_discrete(
    "betabinom",
    None,
    lambda k, n, a, b: psi(k + a) - psi(n + a + b) - psi(a) + psi(a + b),
    lambda k, n, a, b: psi(n - k + b) - psi(n + a + b) - psi(b) + psi(a + b),
)
tabulate_discrete(
    "geom",
    lambda k, p: 1 / p - (k - 1) / (1 - p),
    cdf=[lambda k, p: k * (1 - p) ** (k - 1)],
)
tabulate_discrete("hypergeom", None, None, None)
tabulate_discrete(
    "nbinom",
    lambda k, n, p: psi(k + n) - psi(n) + np.log(p),
    lambda k, n, p: n / p - k / (1 - p),
    cdf=[
        lambda k, n, p: betainc_wrt_a(n, k + 1, p, 1 - p),
        lambda k, n, p: (n + k) / p * pmf("nbinom", k, n, p),
    ],
)
tabulate_discrete(
    "poisson",
    lambda k, mu: k / mu - 1,
    cdf=[lambda k, mu: -pmf("poisson", k, mu)],
)
tabulate_discrete(
    "skellam",
    lambda k, m, n: pmf("skellam", k - 1, m, n) / pmf("skellam", k, m, n) - 1,
    lambda k, m, n: pmf("skellam", k + 1, m, n) / pmf("skellam", k, m, n) - 1,
    cdf=[lambda k, m, n: -pmf("skellam", k, m, n), lambda k, m, n: pmf("skellam", k + 1, m, n)],
)
tabulate_discrete(
    "zipf",
    lambda k, a: -np.log(k) - zeta_wrt_x(a, 1.0) / seen_by_tracers(special.zeta, a, 1.0),
)
