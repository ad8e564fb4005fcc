"""Rules of descriptive statistics, which make one number of each sample: from a table of their gradients.

A statistic y of the samples x along some axes has ẏ = Σ (∂y/∂x) ẋ and x̄ = ȳ ∂y/∂x, once the axes are those of one row.
The gradients are functions of rows; what they need besides is computed in them.
"""

import functools
from typing import Any

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import ZeroTangent, apply_linear, frule, not_implemented, rrule, unbroadcast
from rulescore.typing import OutputAndPullback, OutputAndTangent, Tangents
from scipy import special, stats

from ...numpy.array_like import as_array, as_array_tangent, shape_of
from ...numpy.reduced_axes import ReducedAxes
from ..spatial.metrics import divided
from ..working_precision import in_double_at_most
from .named_arguments import Arguments

GEOMETRY = {"axis", "keepdims", "nan_policy"}
"""The keywords that say what a sample is, and not what is computed of it."""

NUMBERS = {"p", "center", "lmb"}
"""Arguments that are one number for all samples."""

CONSTANT = {"limits", "inclusive"}
"""What numbers are compared with: constant until one of them is passed."""


class Statistic:
    """A function of SciPy's that makes one number of each sample.

    Parameters
    ----------
    f : callable
        The function.
    gradients : dict
        By the name of an argument: ``gradient(y, *rows, **options)`` is ∂y/∂ of it in rows, of which ``y`` is a column,
        or in a column, of a parameter that is one number.
    options : tuple of str
        The other arguments that the gradients take, by keyword.
    """

    def __init__(self, f, gradients, options):
        self.f, self.gradients, self.options = f, gradients, options
        self.arguments = Arguments(f, GEOMETRY, {*gradients})

    def call(self, args, kwargs):
        return StatisticOf(self, self.arguments.values(args, kwargs))


class StatisticOf:
    """One call of a statistic."""

    def __init__(self, statistic, values):
        self.statistic, self.values = statistic, values
        self.decline_what_is_not_known()
        first = statistic.arguments.names[0]
        self.first = as_array(values[first if first != "lmb" else "data"])
        if any(np.iscomplexobj(as_array(values[name])) for name in statistic.gradients):
            raise MDNotImplementedError
        self.axes = ReducedAxes(np.shape(self.first), values.get("axis", 0))  # SciPy learnt some names late
        self.decline_what_is_wider()
        self.options = {name: values[name] for name in statistic.options}

    def decline_what_is_not_known(self):
        """Keywords of SciPy's that came later, and samples of which something is left out."""
        known = {*self.statistic.gradients, *self.statistic.options, *GEOMETRY}
        for name, parameter in self.statistic.arguments.signature.parameters.items():
            value = self.values[name]
            if name not in known and value is not parameter.default:
                raise MDNotImplementedError
        if self.values.get("nan_policy", "propagate") == "omit":
            raise MDNotImplementedError

    def decline_what_is_wider(self):
        """Weights, say, for more samples than there are, which SciPy then repeats."""
        for name in self.statistic.gradients:
            shape = shape_of(self.values[name]) if self.values[name] is not None else ()
            if np.broadcast_shapes(shape, self.axes.shape) != self.axes.shape or (name in NUMBERS and shape):
                raise MDNotImplementedError

    def rows(self, x, name):
        """An array with the axes of a sample last, as one; a number for all samples as it is."""
        if x is None or name in NUMBERS:
            return x
        x = np.broadcast_to(x, self.axes.shape) if np.shape(x) != self.axes.shape else x
        return np.reshape(np.transpose(x, self.axes.reduced_last()), (*self.axes.outer, self.axes.length))

    def back(self, x):
        """The inverse of `rows`."""
        order = self.axes.reduced_last()
        shape = tuple(self.axes.shape[i] for i in order)
        return np.transpose(np.reshape(x, shape), np.argsort(order))

    def column(self, y):
        return np.reshape(y, (*self.axes.outer, 1))

    def gradient(self, name, y):
        rows = [self.rows(as_array(self.values[key]), key) for key in self.statistic.gradients]
        return self.statistic.gradients[name](self.column(y), *rows, **self.options)

    def pushed(self, name, y, dx):
        """What the tangent of one argument contributes."""
        x = self.values[name]
        dx = as_array_tangent(dx, x)
        terms = self.gradient(name, y) * self.rows(dx, name)
        terms = np.broadcast_to(terms, (*self.axes.outer, terms.shape[-1]))
        return np.reshape(np.sum(terms, axis=-1), np.shape(y))

    def pulled(self, name, y, ybar):
        shape = shape_of(self.values[name])
        bar = self.gradient(name, y) * self.column(ybar)
        if name in NUMBERS:
            return np.sum(bar)
        bar = np.broadcast_to(bar, (*self.axes.outer, self.axes.length))
        return unbroadcast(self.back(bar), shape)


def tabulate(f, options=(), **gradients):
    """Register the rules of a statistic; see `Statistic`."""
    statistic = Statistic(f, gradients, options)
    arguments = statistic.arguments

    def without_gradient(name):
        """The derivative with respect to an argument that the table has no gradient of."""
        if name in CONSTANT:
            return ZeroTangent()
        return not_implemented(f"scipy.stats.{f.__name__} with respect to {name}")

    @arguments.pushforward
    def statistic_frule(tangents: Tangents, *args: Any, **kwargs: Any) -> OutputAndTangent:
        call = statistic.call(args, kwargs)
        y = arguments.called(args, kwargs)
        first, *others = (
            apply_linear(functools.partial(call.pushed, name, y), dx)
            if name in gradients
            else without_gradient(name) * dx
            for name, dx in tangents.items()
        )
        return y, sum(others, first)

    def statistic_rrule(*args: Any, **kwargs: Any) -> OutputAndPullback:
        call = statistic.call(args, kwargs)
        y = arguments.called(args, kwargs)

        def cotangent(name, ybar):
            return call.pulled(name, y, ybar) if name in gradients else without_gradient(name)

        return y, arguments.pullback(cotangent, args, kwargs)

    statistic_rrule.__signature__ = arguments.signature
    frule.add_rule(f, statistic_frule)
    rrule.add_rule(f, statistic_rrule)


# ---------------------------------------------------------------- for the gradients


def mean_of(x):
    return np.mean(x, axis=-1, keepdims=True)


def sum_of(x):
    return np.sum(x, axis=-1, keepdims=True)


def deviations(x):
    return x - mean_of(x)


def power(d, k):
    """dᵏ by products, which take a tenth of the time of NumPy's powers."""
    y = d
    for _ in range(k - 1):
        y = y * d
    return y if k else np.ones_like(d)


def central(x, k):
    """The central moments of a row, of order k."""
    return mean_of(power(deviations(x), k))


def central_slope(x, k):
    """∂mₖ/∂x = k (dᵏ⁻¹ - mₖ₋₁) / n."""
    if k < 2:
        return np.zeros_like(x)
    return k / x.shape[-1] * deviations(power(deviations(x), k - 1))


def shares(x, w):
    """The weights as shares of 1."""
    return 1 / x.shape[-1] if w is None else w / sum_of(w)


# ---------------------------------------------------------------- means


def quotients_by_mean(a, y, p, w):
    """r = a / y of a mean of the power p. Where the mean is 0, it is made of the zeros alone, which move together.

    Then they are to it as their share to the power of -1/p is to 1, and the others are infinitely many times as large.
    """
    is_zero = y == 0
    share_of_zeros = sum_of(np.where(a == 0, shares(a, w), 0))
    at_zero = np.where(a == 0, np.where(is_zero, share_of_zeros, 1) ** (-1 / p), np.inf)
    return np.where(is_zero, at_zero, a / np.where(is_zero, 1, y))


def logarithms(r):
    """log r; 0 for 0 and ∞, whose powers leave nothing of it."""
    return np.log(np.where((r > 0) & (r < np.inf), r, 1))


def gmean_slope(y, a, w):
    """y w / Σw / a. A zero that is alone has an infinite slope, and none of several has any."""
    share, is_zero = shares(a, w), a == 0
    at_zero = np.where(sum_of(is_zero) > 1, 0, np.where(np.broadcast_to(share, np.shape(a)) < 1, np.inf, 1))
    return np.where(is_zero, at_zero, y * share / np.where(is_zero, 1, a))


def gmean_slope_of_weights(y, a, w):
    return y * logarithms(a / np.where(y == 0, 1, y)) / sum_of(w)


tabulate(stats.gmean, a=gmean_slope, weights=gmean_slope_of_weights)
tabulate(
    stats.hmean,
    a=lambda y, a, w: pmean_slope(y, a, -1, w),
    weights=lambda y, a, w: pmean_slope_of_weights(y, a, -1, w),
)


def is_geometric(p):
    return np.ndim(p) == 0 and p == 0


def logarithms_of_quotients(y, a):
    """l = log r at p = 0, where rᵖ = exp(p l): what is written with it moves with p however often it is asked."""
    return logarithms(a / np.where(y == 0, 1, y))


def pmean_slope(y, a, p, w):
    """w / Σw rᵖ⁻¹."""
    if is_geometric(p):
        return gmean_slope(y, a, w) * np.exp(p * logarithms_of_quotients(y, a))
    return shares(a, w) * quotients_by_mean(a, y, p, w) ** (p - 1)


def pmean_slope_of_p(y, a, p, w):
    """y / p Σ w rᵖ log r / Σw, and y Σ w (l²/2 + p l³/3 + p² l⁴/8 + ...) / Σw around p = 0, since Σ w rᵖ = Σ w."""
    if is_geometric(p):
        l = logarithms_of_quotients(y, a)  # noqa: E741 (the letter of the derivation)
        return y * sum_of(shares(a, w) * l * l * (1 / 2 + p * l * (1 / 3 + p * l / 8)))
    r = quotients_by_mean(a, y, p, w)
    powers = np.where(r < np.inf, r, 1) ** p
    return y / p * sum_of(shares(a, w) * powers * logarithms(r))


def pmean_slope_of_weights(y, a, p, w):
    """y (rᵖ - 1) / p / Σw, and y (l + p l²/2 + p² l³/6 + ...) / Σw around p = 0."""
    if is_geometric(p):
        l = logarithms_of_quotients(y, a)  # noqa: E741
        return y * l * (1 + p * l * (1 / 2 + p * l / 6)) / sum_of(w)
    return y * (quotients_by_mean(a, y, p, w) ** p - 1) / p / sum_of(w)


tabulate(stats.pmean, a=pmean_slope, p=pmean_slope_of_p, weights=pmean_slope_of_weights)


# ---------------------------------------------------------------- moments


def moment_slope(y, a, center, order):
    if np.ndim(order) or order != int(order) or order < 0:
        raise MDNotImplementedError
    order = int(order)
    if center is None:
        return central_slope(a, order)
    return order / a.shape[-1] * (a - center) ** (order - 1) if order else np.zeros_like(a)


tabulate(
    stats.moment,
    options=("order",),
    a=moment_slope,
    center=lambda y, a, center, order: -order * mean_of((a - center) ** (order - 1)) if order else 0 * y,
)


def skew_slope(y, a, bias):
    n = a.shape[-1]
    m2, m3 = central(a, 2), central(a, 3)
    slope = divided(central_slope(a, 3) - divided(1.5 * m3, m2) * central_slope(a, 2), m2**1.5)
    return slope if bias or n < 3 else slope * np.sqrt(n * (n - 1)) / (n - 2)


def kurtosis_slope(y, a, bias, fisher):
    n = a.shape[-1]
    m2, m4 = central(a, 2), central(a, 4)
    slope = divided(central_slope(a, 4) - divided(2 * m4, m2) * central_slope(a, 2), m2**2)
    return slope if bias or n < 4 else slope * (n * n - 1) / ((n - 2) * (n - 3))


tabulate(stats.skew, options=("bias",), a=skew_slope)
tabulate(stats.kurtosis, options=("bias", "fisher"), a=kurtosis_slope)


def sem_slope(y, a, ddof):
    """Of √(Σ d² / (n - ddof) / n)."""
    n = a.shape[-1]
    return divided(deviations(a), (n - ddof) * n * y)


def variation_slope(y, a, ddof):
    """Of s / μ."""
    n, mean = a.shape[-1], mean_of(a)
    return divided(deviations(a), (n - ddof) * y * mean * mean) - y / (n * mean)


tabulate(stats.sem, options=("ddof",), a=sem_slope)
tabulate(stats.variation, options=("ddof",), a=variation_slope)
tabulate(
    stats.gstd,
    options=("ddof",),
    a=lambda y, a, ddof: divided(y * deviations(np.log(a)), (a.shape[-1] - ddof) * np.log(y) * a),
)


# ---------------------------------------------------------------- k-statistics


def kstat_slope(y, data, n):
    size = data.shape[-1]
    if n == 1:
        return np.ones_like(data) / size
    if n == 2:
        return central_slope(data, 2) * size / (size - 1)
    if n == 3:
        return central_slope(data, 3) * size**2 / ((size - 1) * (size - 2))
    of_four = (size + 1) * central_slope(data, 4) - 6 * (size - 1) * central(data, 2) * central_slope(data, 2)
    return of_four * size**2 / ((size - 1) * (size - 2) * (size - 3))


def kstatvar_slope(y, data, n):
    size = data.shape[-1]
    of_two = kstat_slope(y, data, 2)
    if n == 1:
        return of_two / size
    k2 = central(data, 2) * size / (size - 1)
    return (4 * size * k2 * of_two + (size - 1) * kstat_slope(y, data, 4)) / (size * (size + 1))


tabulate(stats.kstat, options=("n",), data=kstat_slope)
tabulate(stats.kstatvar, options=("n",), data=kstatvar_slope)


# ---------------------------------------------------------------- within limits


def kept(a, limits, inclusive):
    """Which elements lie within the limits."""
    low, high = limits or (None, None)
    mask = np.ones(np.shape(a), bool)
    if low is not None:
        mask = mask & ((a >= low) if inclusive[0] else (a > low))
    if high is not None:
        mask = mask & ((a <= high) if inclusive[1] else (a < high))
    return mask


def kept_deviations(a, mask):
    """The deviations from the mean of what is kept, and how much that is."""
    count = sum_of(mask)
    return np.where(mask, a - divided(sum_of(np.where(mask, a, 0)), count), 0), count


def tmean_slope(y, a, limits, inclusive):
    mask = kept(a, limits, inclusive)
    return divided(mask, sum_of(mask))


def tvar_slope(y, a, limits, inclusive, ddof):
    d, count = kept_deviations(a, kept(a, limits, inclusive))
    return divided(2 * d, count - ddof)


def tstd_slope(y, a, limits, inclusive, ddof):
    return divided(tvar_slope(y, a, limits, inclusive, ddof), 2 * y)


def tsem_slope(y, a, limits, inclusive, ddof):
    """Of s / √n."""
    count = sum_of(kept(a, limits, inclusive))
    return divided(tvar_slope(y, a, limits, inclusive, ddof), 2 * y * count)


tabulate(stats.tmean, options=("limits", "inclusive"), a=tmean_slope)
tabulate(stats.tvar, options=("limits", "inclusive", "ddof"), a=tvar_slope)
tabulate(stats.tstd, options=("limits", "inclusive", "ddof"), a=tstd_slope)
tabulate(stats.tsem, options=("limits", "inclusive", "ddof"), a=tsem_slope)


# ---------------------------------------------------------------- on a circle


class Circle:
    """The mean direction C + i S of angles θ, its length R, and its slopes along and across."""

    def __init__(self, samples, high, low):
        self.scale = 2 * np.pi / (high - low)
        angles = (samples - low) * self.scale
        cosine, sine = np.cos(angles), np.sin(angles)
        c, s = mean_of(cosine), mean_of(sine)
        self.length = np.sqrt(c * c + s * s)
        n = samples.shape[-1]
        self.across = divided(c * cosine + s * sine, n * self.length**2)
        self.along = divided(s * cosine - c * sine, n * self.length) * self.scale


def circstd_slope(y, samples, high, low, normalize):
    """Of √(-2 log R)."""
    circle = Circle(samples, high, low)
    root = y if normalize else y * circle.scale
    slope = -divided(divided(circle.along, circle.length), root)
    return slope if normalize else slope / circle.scale


tabulate(stats.circmean, options=("high", "low"), samples=lambda y, x, high, low: Circle(x, high, low).across)
tabulate(stats.circvar, options=("high", "low"), samples=lambda y, x, high, low: -Circle(x, high, low).along)
tabulate(stats.circstd, options=("high", "low", "normalize"), samples=circstd_slope)


# ---------------------------------------------------------------- entropies


def entropy_slope_of_pk(y, pk, qk, base):
    """Of -Σ P log P, or Σ P log(P/Q), with the shares P and Q; each slope is relative to its mean, as Σ P = 1."""
    unit = 1 if base is None else np.log(base)
    logarithms = np.log(pk / sum_of(pk)) - (0 if qk is None else np.log(qk / sum_of(qk)))
    return (logarithms / unit * (-1 if qk is None else 1) - y) / sum_of(pk)


def entropy_slope_of_qk(y, pk, qk, base):
    unit = 1 if base is None else np.log(base)
    return (1 - pk / sum_of(pk) / (qk / sum_of(qk))) / (sum_of(qk) * unit)


tabulate(stats.entropy, options=("base",), pk=entropy_slope_of_pk, qk=entropy_slope_of_qk)


# ---------------------------------------------------------------- likelihoods of transformations


def slope_of_power(log_x, lmbda):
    """∂/∂λ of expm1(λ L)/λ: L² g(λL) with g(t) = (t eᵗ - eᵗ + 1)/t²."""
    t = lmbda * log_x
    is_small = np.abs(t) < 1e-2
    far, near = np.where(is_small, 1, t), np.where(is_small, t, 0)
    series = sum(near**k * (k + 1) / special.factorial(k + 2) for k in range(8))
    return log_x * log_x * np.where(is_small, series, (far * np.exp(far) - np.expm1(far)) / far**2)


def likelihood_slopes(y_slope, of_lambda, transformed, log_slope, log_jacobian, lmb):
    """The slopes of (λ-1) Σ J - n/2 log var(y), with respect to x and to λ."""
    d = deviations(transformed)
    variance = mean_of(d * d)
    return (lmb - 1) * log_slope - d * y_slope / variance, sum_of(log_jacobian - d * of_lambda / variance)


def boxcox_slopes(lmb, x):
    log_x = np.log(x)
    return likelihood_slopes(
        np.exp((lmb - 1) * log_x), slope_of_power(log_x, lmb), special.boxcox(x, lmb), 1 / x, log_x, lmb
    )


def yeojohnson_parts(x, lmbda):
    """The transformed x, and its slopes with respect to x and λ."""
    x, lmbda = in_double_at_most(x), in_double_at_most(lmbda)
    is_positive = x >= 0
    sign = np.where(is_positive, 1, -1)
    log_x, power = np.log1p(sign * x), np.where(is_positive, lmbda, 2 - lmbda)
    y = sign * special.boxcox1p(sign * x, power)
    return y, np.exp((power - 1) * log_x), slope_of_power(log_x, power)


def yeojohnson_slopes(lmb, x):
    y, slope, of_lambda = yeojohnson_parts(x, lmb)
    sign = np.where(x >= 0, 1, -1)
    jacobian = sign * np.log1p(sign * x)
    return likelihood_slopes(slope, of_lambda, y, 1 / (1 + sign * x), jacobian, lmb)


tabulate(
    stats.boxcox_llf,
    lmb=lambda y, lmb, data: boxcox_slopes(lmb, data)[1],
    data=lambda y, lmb, data: boxcox_slopes(lmb, data)[0],
)
tabulate(
    stats.yeojohnson_llf,
    lmb=lambda y, lmb, data: yeojohnson_slopes(lmb, data)[1],
    data=lambda y, lmb, data: yeojohnson_slopes(lmb, data)[0],
)
