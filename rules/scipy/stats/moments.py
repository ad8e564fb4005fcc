"""Rules of the mean, variance, standard deviation and entropy of distributions, from one entry for each of these.

With θ for the shape parameters and the moments m, v and the entropy h in standardised form,

    mean = loc + scale m(θ)      ∂/∂loc = 1,   ∂/∂scale = m,           ∂/∂θ = scale m′
    var = scale² v(θ)            ∂/∂loc = 0,   ∂/∂scale = 2 scale v,   ∂/∂θ = scale² v′
    std = scale √v(θ)            ∂/∂loc = 0,   ∂/∂scale = √v,          ∂/∂θ = scale v′ / (2 √v)
    entropy = h(θ) + log scale   ∂/∂loc = 0,   ∂/∂scale = 1 / scale,   ∂/∂θ = h′

A moment that is infinite whatever the scale is constant there, and has slope 0; outside of the domain of the parameters
SciPy's value is NaN, and so is every slope.
"""

import numpy as np

from rulescore import scalar_rule
from scipy import stats

from ...numpy.array_like import as_array
from ..special.gamma import trigamma
from .standardised import method_with, standing_for

INSIDE = 3.0
"""In the domain of each parameter, with finite moments: where slopes are computed that are not used."""


def partial_by(slope, moment=None):
    """∂y/∂ of one argument, where ``slope(scale, *shapes)`` is that where the moment is finite."""

    def partial(y, *args):
        *shapes, _, scale = map(as_array, args)
        is_outside = np.isnan(y)
        *shapes, scale = (np.where(is_outside, INSIDE, x) for x in (*shapes, scale))
        found = slope(scale, *shapes)
        if moment is not None:
            found = np.where(np.isinf(moment(*shapes)), 0, found)
        return np.where(is_outside, np.nan, found)

    return partial


def tabulate_moments(name, mean, var, mean_slopes=(), var_slopes=(), entropy_slopes=()):
    """Register the rules of the four methods of one distribution.

    Parameters
    ----------
    name : str
        What `scipy.stats` calls the distribution.
    mean, var : callable
        ``mean(*shapes)`` is m, and ``var(*shapes)`` is v.
    mean_slopes, var_slopes, entropy_slopes : sequence of callable
        One for each shape parameter: ∂m/∂θ, ∂v/∂θ and ∂h/∂θ.
    """
    distribution = getattr(stats, name)
    shapes = distribution.shapes.split(", ") if distribution.shapes else []
    if not len(shapes) == len(mean_slopes) == len(var_slopes) == len(entropy_slopes):
        raise TypeError(f"{name} has the shape parameters {shapes}: give one slope of each moment for each")

    def register(method, *partials):
        scalar_rule(
            standing_for(getattr(distribution, method), method_with((*shapes, "loc", "scale"), name, method)), *partials
        )

    def root(*args):
        return np.sqrt(var(*args))

    register(
        "mean",
        *[partial_by(lambda scale, *x, of=of: scale * of(*x), mean) for of in mean_slopes],
        partial_by(lambda scale, *x: 1, mean),
        partial_by(lambda scale, *x: mean(*x), mean),
    )
    register(
        "var",
        *[partial_by(lambda scale, *x, of=of: scale * scale * of(*x), var) for of in var_slopes],
        partial_by(lambda scale, *x: 0),
        partial_by(lambda scale, *x: 2 * scale * var(*x), var),
    )
    register(
        "std",
        *[partial_by(lambda scale, *x, of=of: scale * of(*x) / (2 * root(*x)), var) for of in var_slopes],
        partial_by(lambda scale, *x: 0),
        partial_by(lambda scale, *x: root(*x), var),
    )
    register(
        "entropy",
        *[partial_by(lambda scale, *x, of=of: of(*x)) for of in entropy_slopes],
        partial_by(lambda scale, *x: 0),
        partial_by(lambda scale, *x: 1 / scale),
    )


# ---------------------------------------------------------------- without a shape


tabulate_moments("norm", lambda: 0.0, lambda: 1.0)
tabulate_moments("uniform", lambda: 0.5, lambda: 1 / 12)
tabulate_moments("expon", lambda: 1.0, lambda: 1.0)


# ---------------------------------------------------------------- of the gamma and beta functions


def trigamma_rest(a):
    """1 + (1 - a) ψ′(a), whose terms cancel where a is large: of h = a + log Γ(a) + (1 - a) ψ(a) it is the slope."""
    is_large = a > 50
    near, u = np.where(is_large, 1, a), 1 / np.where(is_large, a, 50)
    series = 1 / 2 + u * (1 / 3 + u * (1 / 6 + u * (1 / 30 - u * (1 / 30 + u * (1 / 42 - u / 42)))))
    return np.where(is_large, u * series, 1 + (1 - near) * trigamma(near))


tabulate_moments(
    "gamma",
    lambda a: a,
    lambda a: a,
    mean_slopes=[lambda a: 1],
    var_slopes=[lambda a: 1],
    entropy_slopes=[trigamma_rest],
)


def beta_variance(a, b):
    return a * b / ((a + b) ** 2 * (a + b + 1))


def beta_variance_slope(a, b):
    """With respect to a; with respect to b it is that of (b, a)."""
    total = a + b
    return b / (total**2 * (total + 1)) * (1 - 2 * a / total - a / (total + 1))


def beta_entropy_slope(a, b):
    """(a + b - 2) ψ′(a + b) - (a - 1) ψ′(a), of h = log B(a, b) - (a-1) ψ(a) - (b-1) ψ(b) + (a+b-2) ψ(a+b)."""
    return trigamma_rest(a) - trigamma_rest(a + b) - trigamma(a + b)


tabulate_moments(
    "beta",
    lambda a, b: a / (a + b),
    beta_variance,
    mean_slopes=[lambda a, b: b / (a + b) ** 2, lambda a, b: -a / (a + b) ** 2],
    var_slopes=[beta_variance_slope, lambda a, b: beta_variance_slope(b, a)],
    entropy_slopes=[beta_entropy_slope, lambda a, b: beta_entropy_slope(b, a)],
)


# ---------------------------------------------------------------- Student's t


def t_variance(df):
    """ν / (ν - 2), also of infinitely many degrees of freedom; infinite for two and less."""
    is_finite = df > 2
    return np.where(is_finite, 1 + 2 / (np.where(is_finite, df, 3) - 2), np.inf)


def t_variance_slope(df):
    is_finite = df > 2
    return np.where(is_finite, -2 / (np.where(is_finite, df, 3) - 2) ** 2, 0)


def t_entropy_slope(df):
    """(ν+1)/4 (ψ′((ν+1)/2) - ψ′(ν/2)) + 1/(2ν), whose terms cancel where ν is large.

    Of h = (ν+1)/2 (ψ((ν+1)/2) - ψ(ν/2)) + log(√ν B(ν/2, ½)).
    """
    is_large = df > 100
    near, u = np.where(is_large, 1, df), 1 / np.where(is_large, df, 100)
    square = u * u
    series = -1 - u / 2 + square * (1 + u) * (1 - square * (3 - 17 * square)) / 2
    slope = (near + 1) / 4 * (trigamma((near + 1) / 2) - trigamma(near / 2)) + 1 / (2 * near)
    return np.where(is_large, square * series, slope)


tabulate_moments(
    "t",
    lambda df: np.where(df > 1, 0.0, np.inf),
    t_variance,
    mean_slopes=[lambda df: 0],
    var_slopes=[t_variance_slope],
    entropy_slopes=[t_entropy_slope],
)
