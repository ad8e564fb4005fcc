"""Rules of the methods of distributions, all from one short entry for each distribution in standardised form.

The entry gives ∂ℓ/∂z and ∂ℓ/∂θ of the logarithm ℓ(z; θ) of the density, and ∂z/∂θ of a quantile, which does not
vanish in the tails, or else ∂F/∂θ of the distribution function, where z = (x - loc) / scale. All else follows, in terms
of what SciPy computes itself, with f for the density at x:

    logpdf = ℓ(z; θ) - log scale     ∂/∂x = ℓ' / scale,   ∂/∂loc = -∂/∂x,   ∂/∂scale = -(1 + z ℓ') / scale
    pdf                              those of logpdf, times f
    cdf = F(z; θ)                    ∂/∂x = f,   ∂/∂loc = -f,   ∂/∂scale = -z f,   ∂/∂θ = ∂F/∂θ = -f scale ∂z/∂θ
    sf = 1 - F                       the negative
    logcdf, logsf                    those of cdf and sf, divided by these; f/F and f/S may be given as they are
    ppf, isf                         ∂/∂p = ±1/f,   ∂/∂loc = 1,   ∂/∂scale = z,   ∂/∂θ = scale ∂z/∂θ = -(∂F/∂θ) / f

Of a discrete distribution, the number k and loc are whole and have no derivative; θ has the one above, with pmf for f.

Where the density vanishes it is constant, and its logarithm has slope 0; at the edge of its support, a density that
does not vanish there has the slope from within. The methods are bound methods of SciPy's objects: the rules belong to
those of the distribution that the module offers (``scipy.stats.norm.logpdf``), not to a frozen one's.
"""

import inspect

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import (
    derivatives_given_output,
    missing_rules,
    non_differentiable,
    not_implemented,
    rrule,
    scalar_rule,
    seen_by_tracers,
)
from scipy import special, stats

from ..working_precision import in_double_at_most

DENSITIES = ("pdf", "logpdf")
CONTINUOUS = (*DENSITIES, "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
MASSES = ("pmf", "logpmf")
DISCRETE = (*MASSES, "cdf", "logcdf", "sf", "logsf")
STEPS = ("ppf", "isf")
"""Methods of discrete distributions whose values are whole numbers."""

HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)


# ---------------------------------------------------------------- for the entries


MILLS = (12277827850, -576037442, 29752066, -1708394, 110410, -8162, 706, -74, 10, -2, 1)
"""The coefficients of z⁻²¹, ..., z⁻³, z⁻¹ in the asymptotic series of minus `mills_excess` (OEIS A000698)."""


def _mills(z):
    """Where z is below -16; φ(z) / Φ(z), there 1; and φ(z) / Φ(z) + z by its series, of -16 elsewhere."""
    is_far = z < -16
    near, far = np.where(is_far, 0, z), np.where(is_far, z, -16)
    u = 1 / (far * far)
    series = 0.0
    for coefficient in MILLS:
        series = series * u + coefficient
    return is_far, np.exp(-0.5 * near * near - HALF_LOG_2PI - special.log_ndtr(near)), -series / far


def inverse_mills(z):
    """φ(z) / Φ(z), also far to the left, where both vanish."""
    is_far, ratio, excess = _mills(z)
    return np.where(is_far, excess - z, ratio)


def mills_excess(z):
    """φ(z) / Φ(z) + z, two terms that cancel far to the left. Its relative error stays below 2e-11."""
    is_far, ratio, excess = _mills(z)
    return np.where(is_far, excess, ratio + z)


def partial_of(f, position, *args):
    """∂f/∂args[position], by the rule of ``f``."""
    return derivatives_given_output(f, f(*args), *args)[0][position]


# ---------------------------------------------------------------- one distribution


DEFAULTS = {"loc": 0, "scale": 1}


def method_with(parameters, distribution, name):
    """A function with the arguments of a bound method by name, which sees to it that tracers are seen."""
    bound = getattr(getattr(stats, distribution), name)

    def call(*args, **kwargs):
        if any(np.iscomplexobj(x) for x in (*args, *kwargs.values())):
            raise MDNotImplementedError  # some of SciPy's formulas take them, though no density is of them
        return seen_by_tracers(bound, *args, **kwargs)

    kind, no_default = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
    call.__signature__ = inspect.Signature(
        [inspect.Parameter(key, kind, default=DEFAULTS.get(key, no_default)) for key in parameters]
    )
    call.__name__, call.__qualname__, call.__module__ = name, f"{distribution}.{name}", "scipy.stats"
    call.__doc__ = f"See ``scipy.stats.{distribution}.{name}``."
    return call


class Entry:
    """What the rules of a distribution's methods are made of.

    Parameters
    ----------
    name : str
        What `scipy.stats` calls the distribution.
    slope : callable or None
        ``slope(z, *shapes)`` is ∂ℓ/∂z. None for the number of a discrete distribution.
    of_shapes : sequence of callable
        One for each shape parameter: ∂ℓ/∂θ. None where it is not known, and for a whole number.
    of_quantile, of_cdf : sequence of callable
        One for each shape parameter: ∂z/∂θ where the probability stays what it is, or None, and then ∂F/∂θ. None in
        both where that is not known.
    inside : float or callable
        A point where the density does not vanish, given the shapes; its slopes are computed there instead, where they
        are not used.
    ends : sequence of callable
        One for each shape parameter, where the support depends on them: ``end(is_upper, *shapes)`` is the slope of its
        upper or lower end, and zero where that is infinite.
    ratios : mapping of str to callable
        By "logcdf" or "logsf", f/F or f/S of the standardised point and the shapes, where the logarithms of the two
        grow so fast that nothing is left of their difference.
    """

    def __init__(self, name, slope, of_shapes, of_quantile, of_cdf, inside, ends=None, ratios=None):
        self.name, self.distribution = name, getattr(stats, name)
        self.shapes = tuple(self.distribution.shapes.split(", ")) if self.distribution.shapes else ()
        self.slope, self.inside, self.ratios = slope, inside, ratios or {}
        none = [None] * len(self.shapes)
        self.of_shapes, self.ends = tuple(of_shapes), tuple(ends or none)
        self.of_quantile, self.of_cdf = tuple(of_quantile or none), tuple(of_cdf or none)
        if not len(self.of_shapes) == len(self.of_quantile) == len(self.of_cdf) == len(self.shapes):
            raise TypeError(f"{name} has the shape parameters {self.shapes}: give one slope for each")
        self.density = "pmf" if hasattr(self.distribution, "pmf") else "pdf"

    @property
    def parameters(self):
        """The names of a method's arguments after the first, which SciPy has from the distribution."""
        return (*self.shapes, "loc") if self.density == "pmf" else (*self.shapes, "loc", "scale")

    def method(self, name):
        """A method as a function; see `method_with`."""
        return method_with((self.first(name), *self.parameters), self.name, name)

    def first(self, name):
        """What SciPy calls the first argument of a method."""
        return "q" if name in STEPS else "k" if self.density == "pmf" else "x"

    def standardised(self, x, args):
        """z and the shapes. Of a discrete distribution x is whole, and there is no scale."""
        x, *args = map(in_double_at_most, (x, *args))
        if self.density == "pmf":
            return (np.floor(x) - args[-1], *args[:-1])
        return ((x - args[-2]) / args[-1], *args[:-2])

    def within(self, is_outside, point):
        """A standardised point, moved to where the density does not vanish if it stands outside."""
        z, *shapes = point
        inside = self.inside(*shapes) if callable(self.inside) else self.inside
        return (np.where(is_outside, inside, z), *shapes)

    def with_slopes(self):
        """For each shape parameter its name, and ∂z/∂θ and ∂F/∂θ, of which one is None, or both."""
        return zip(self.shapes, self.of_quantile, self.of_cdf, strict=True)

    def density_at(self, x, args):
        return seen_by_tracers(getattr(self.distribution, self.density), *map(in_double_at_most, (x, *args)))

    def log_density_at(self, x, args):
        return seen_by_tracers(getattr(self.distribution, f"log{self.density}"), *map(in_double_at_most, (x, *args)))

    def absent(self, name):
        """In the place of the slope of a shape parameter that has none: nothing if it is a whole number."""
        return None if self.density == "pmf" else self.missing(name)

    def missing(self, name):
        return not_implemented(f"scipy.stats.{self.name} with respect to {name}")


# ---------------------------------------------------------------- the density and its logarithm


def density_partials(entry, name):
    """The partial derivatives of pdf or logpdf, pmf or logpmf."""
    is_log = name.startswith("log")

    def partial_by(compute):
        """From what a function of the standardised point and the scale says of the logarithm."""

        def partial(y, x, *args):
            is_outside = np.equal(y, -np.inf if is_log else 0)
            slope = compute(entry.within(is_outside, entry.standardised(x, args)), args[-1])
            return np.where(is_outside, 0, slope if is_log else y * slope)

        return partial

    slope = entry.slope
    of_shapes = [
        entry.absent(key) if of is None else partial_by(lambda point, _, of=of: of(*point))
        for key, of in zip(entry.shapes, entry.of_shapes, strict=True)
    ]
    if entry.density == "pmf":
        return [None, *of_shapes, None]
    return [
        partial_by(lambda point, scale: slope(*point) / scale),
        *of_shapes,
        partial_by(lambda point, scale: -slope(*point) / scale),
        partial_by(lambda point, scale: -(1 + point[0] * slope(*point)) / scale),
    ]


# ---------------------------------------------------------------- the distribution function and its like


def cdf_partials(entry, name):
    """The partial derivatives of cdf, sf, logcdf or logsf."""
    is_log, sign = name.startswith("log"), -1 if name.endswith("sf") else 1

    def is_constant(y):
        """Where the function is as far as its values tell: 0 or 1."""
        return (y == -np.inf) | (y == 0) if is_log else (y <= 0) | (y >= 1)

    def slope_of_x(y, x, args):
        """f, or f/F by a formula or by the logarithms of the two, with a relative error of |log F| roundings."""
        if not is_log:
            return sign * entry.density_at(x, args)
        log_density = entry.log_density_at(x, args)
        is_zero = np.equal(y, -np.inf)
        if name in entry.ratios:
            is_flat = is_zero | np.equal(log_density, -np.inf)
            ratio = entry.ratios[name](*entry.within(is_flat, entry.standardised(x, args)))
            return sign * np.where(is_flat, 0, ratio / args[-1])
        log_ratio = np.where(is_zero, 0, log_density) - np.where(is_zero, 0, y)
        return sign * np.where(is_zero, 0, np.exp(log_ratio))

    def slope_of_scale(y, x, args):
        slope = slope_of_x(y, x, args)
        is_zero = slope == 0
        return -np.where(is_zero, 0, slope) * np.where(is_zero, 0, entry.standardised(x, args)[0])

    def by_quantile(of):
        def partial(y, x, *args):
            is_flat = is_constant(y)
            point = entry.within(is_flat, entry.standardised(x, args))
            loc, scale = args[-2:]
            slope = slope_of_x(y, np.where(is_flat, loc + scale * point[0], x), args)
            return np.where(is_flat, 0, -scale * slope * of(*point))

        return partial

    def of_shape(of):
        def partial(y, x, *args):
            is_flat = is_constant(y)
            slope = sign * of(*entry.within(is_flat, entry.standardised(x, args)))
            return np.where(is_flat, 0, slope * np.exp(-np.where(is_flat, 0, y)) if is_log else slope)

        return partial

    def absent(key, of_density):
        return entry.absent(key) if of_density is None else entry.missing(key)

    of_shapes = [
        by_quantile(quantile) if quantile else of_shape(of) if of else absent(key, of_density)
        for (key, quantile, of), of_density in zip(entry.with_slopes(), entry.of_shapes, strict=True)
    ]
    if entry.density == "pmf":
        return [None, *of_shapes, None]
    return [
        lambda y, x, *args: slope_of_x(y, x, args),
        *of_shapes,
        lambda y, x, *args: -slope_of_x(y, x, args),
        lambda y, x, *args: slope_of_scale(y, x, args),
    ]


def ppf_partials(entry, name):
    """The partial derivatives of ppf or isf, whose output is the point y with F(y) = p."""
    sign = -1 if name == "isf" else 1

    def density_at(y, p, args):
        """The density, 1 where it is not used; at the edges, and where rounding has made an edge of a point.

        There SciPy's ppf is flat, so that its slope is 0.
        """
        is_edge, density = (p <= 0) | (p >= 1), entry.density_at(y, args)
        is_lost = np.logical_not(is_edge | ((density > 0) & (density < np.inf)))
        return np.where(is_lost, 1, density), is_edge, is_lost

    def slope_of_p(y, p, *args):
        density, _, is_lost = density_at(y, p, args)
        return np.where(is_lost, 0, sign / density)

    def of_shape(quantile, of, end):
        def partial(y, p, *args):
            density, is_edge, is_lost = density_at(y, p, args)
            is_flat, point = is_edge | is_lost, entry.standardised(y, args)
            at_edge = 0 if end is None else args[-1] * end(p >= 1 if sign > 0 else p <= 0, *point[1:])
            within = entry.within(is_flat, point)
            slope = args[-1] * quantile(*within) if quantile else -of(*within) / np.where(is_flat, 1, density)
            return np.where(is_flat, np.where(is_edge, at_edge, 0), slope)

        return partial

    return [
        slope_of_p,
        *[
            of_shape(quantile, of, end) if quantile or of else entry.missing(key)
            for (key, quantile, of), end in zip(entry.with_slopes(), entry.ends, strict=True)
        ],
        lambda y, p, *args: 1,
        lambda y, p, *args: entry.standardised(y, args)[0],
    ]


# ---------------------------------------------------------------- registering


PARTIALS = {
    **dict.fromkeys((*DENSITIES, *MASSES), density_partials),
    **dict.fromkeys(("cdf", "logcdf", "sf", "logsf"), cdf_partials),
    **dict.fromkeys(("ppf", "isf"), ppf_partials),
}


NO_SUM = "it has no closed form: add up the pmf, which has rules, over whole numbers"


def tabulate(name, slope, *of_shapes, quantile=(), cdf=(), inside=0.5, ends=None, ratios=None):
    """Register the rules of all methods of a continuous distribution; see `Entry`."""
    register_methods(Entry(name, slope, of_shapes, quantile, cdf, inside, ends, ratios), CONTINUOUS)


def tabulate_discrete(name, *of_shapes, cdf=(), inside=1):
    """Register the rules of all methods of a discrete distribution, or of its mass function where no more is known."""
    entry = Entry(name, None, of_shapes, (), cdf, inside)
    if any(of_shapes):
        register_methods(entry, DISCRETE if cdf else MASSES)
        if not cdf:
            missing_rules(*[named(entry, method) for method in DISCRETE if method not in MASSES], because=NO_SUM)
    for method in STEPS if any(of_shapes) else (*DISCRETE, *STEPS):  # all, where the parameters are whole too
        non_differentiable(named(entry, method))


def register_methods(entry, names):
    for name in names:
        scalar_rule(named(entry, name), *PARTIALS[name](entry, name))


def named(entry, name):
    """A method of an entry's distribution as a function, which has the rules of the bound method."""
    return standing_for(getattr(entry.distribution, name), entry.method(name))


def standing_for(bound, method):
    """The function again, which now has the rules of a bound method.

    What a bound method carries would count as an argument of it, and a distribution holds more than numbers.
    """
    rrule.alias(bound, method)
    return method
