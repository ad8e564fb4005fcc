"""Rules of the second moments: var and std, with all their keywords."""

from multipledispatch import MDNotImplementedError

import numpy as np
from rulescore import apply_linear, frule, ignore_derivatives, pullback_wrt, pushforward, rrule, unbroadcast
from rulescore.typing import Array, Axis, DType, Flag, Mask, Number, OutputAndPullback, OutputAndTangent

from .array_like import as_array, as_array_tangent, conj
from .reduced_axes import (
    NOT_GIVEN,
    ReducedAxes,
    decline_discarded_imaginary_part,
    decline_out,
    given,
    is_plain,
    masked,
    masked_cotangent,
)


class Deviations:
    """The deviations d = a - μ from the mean, and their degrees of freedom f: the variance is v = Σ |d|² / f.

    That the mean moves with ``a`` adds nothing to the derivative, since Σ d = 0.
    """

    def __init__(self, a, axis, dtype, ddof, mean, correction, kept):
        self.axes = ReducedAxes(np.shape(a), axis)
        self.kept = kept
        a = as_array(a)
        count = self.axes.count(kept)
        if mean is NOT_GIVEN:
            # NumPy too computes the variance of float16 in float32.
            dtype = np.float32 if dtype is None and np.result_type(a) == np.float16 else dtype
            total = np.sum(masked(kept, a), keepdims=True, **given(axis=axis, dtype=dtype))
            mean = (total / np.maximum(count, 1)).astype(total.dtype) if total.dtype.kind in "fc" else total / count
        self.d = masked(kept, a - mean)
        f = count - (ddof if correction is NOT_GIVEN else correction)
        # Without a degree of freedom the variance is NaN or infinite whatever the numbers are, and so it is constant.
        self.has_freedom = ignore_derivatives(f) > 0
        self.f = np.where(self.has_freedom, f, 1)

    def variance_tangent(self, dd, df):
        """v̇ = (2 Σ Re(conj(d) ḋ) - v ḟ) / f, with length 1 along the reduced axes."""
        dv = apply_linear(lambda dd: self._sum(2 * np.real(conj(self.d) * masked(self.kept, dd))) / self.f, dd)
        return dv - apply_linear(lambda df: self._variance() * df / self.f, df)

    def deviations_bar(self, vbar):
        """d̄ = 2 d v̄ / f."""
        with np.errstate(invalid="ignore"):  # an infinite v̄ beside what is left out
            return masked_cotangent(self.kept, 2 * self._share(vbar) * self.d)

    def freedom_bar(self, vbar):
        """f̄ = -v v̄ / f, over all outputs."""
        return -np.sum(self._variance() * self._share(vbar))

    def unless_constant(self, dy):
        """A tangent, and 0 where there is no degree of freedom."""
        return np.where(self.has_freedom, dy, 0)

    def _share(self, vbar):
        return self.unless_constant(self.axes.share(vbar, self.f))

    def _variance(self):
        return self._sum(np.real(conj(self.d) * self.d)) / self.f

    def _sum(self, terms):
        return np.sum(terms, axis=self.axes.reduced, keepdims=True)


def decline_unusual_variance(a, dtype, out, mean):
    decline_out(out)
    decline_discarded_imaginary_part(a, dtype)
    if np.iscomplexobj(mean) and not np.iscomplexobj(a):
        raise MDNotImplementedError  # NumPy then squares the complex deviations without a modulus
    if mean is not NOT_GIVEN and np.broadcast_shapes(np.shape(a), np.shape(mean)) != np.shape(a):
        raise MDNotImplementedError  # NumPy then reduces the axes of the deviations, which are others than those of a


def one(y):
    """∂v/∂v."""
    return 1


def slope_of_sqrt(y):
    """∂y/∂v of y = √v, and 0 at 0: the standard deviation of a constant has its minimum there."""
    is_zero = y == 0
    return np.where(is_zero, 0, 0.5 / np.where(is_zero, 1, y))


def moment_and_tangent(f, slope, dd, df, a, axis, dtype, out, ddof, keepdims, mean, correction, where, kept):
    """``f`` of the variance v of what is ``kept``, and its tangent, with ``slope(y)`` = ∂f/∂v."""
    decline_unusual_variance(a, dtype, out, mean)
    options = given(axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, mean=mean, correction=correction, where=where)
    y = f(a, **options)
    deviations = Deviations(a, axis, dtype, ddof, mean, correction, kept)
    dy = deviations.unless_constant(slope(deviations.axes.restore(y)) * deviations.variance_tangent(dd, df))
    return y, np.reshape(dy, np.shape(y))


def moment_and_pullback(f, slope, a, axis, dtype, out, ddof, keepdims, mean, correction, where, kept):
    """``f`` of the variance v of what is ``kept``, and its pullback, with ``slope(y)`` = ∂f/∂v."""
    decline_unusual_variance(a, dtype, out, mean)
    options = given(axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, mean=mean, correction=correction, where=where)
    y = f(a, **options)
    is_usual = type(a) is np.ndarray and a.dtype.char in "fd" and type(ddof) is int and a.size
    is_usual = is_usual and dtype is None and mean is correction is kept is NOT_GIVEN

    @pullback_wrt(a, ..., ..., ..., ddof, ..., mean, correction)
    def moment_pullback(ybar):
        vbar = slope(y) * ybar.real
        deviations = Deviations(a, axis, dtype, ddof, mean, correction, kept)
        dbar = deviations.deviations_bar(vbar)

        def ddof_bar():
            return -deviations.freedom_bar(vbar)

        return dbar, ddof_bar, lambda: -unbroadcast(dbar, np.shape(mean)), ddof_bar

    @pullback_wrt(a)
    def usual_pullback(ybar):
        if not is_plain(ybar):
            return moment_pullback(ybar)[1]
        return plain_deviations_bar(slope(y) * ybar.real, a, ReducedAxes(a.shape, axis), ddof)

    return y, usual_pullback if is_usual else moment_pullback


def plain_deviations_bar(vbar, a, axes, ddof):
    """d̄ = 2 d v̄ / f of plain arrays, in one pass over them more than the deviations take."""
    f = axes.length - ddof
    if f <= 0:
        return np.zeros_like(a)
    d = a - np.add.reduce(a, axis=axes.reduced, keepdims=True) / a.dtype.type(axes.length)
    d *= axes.restore(2 * vbar / f)
    return d


@frule.register(np.var)
@pushforward
def var_frule(
    da: Array,
    dddof: Number,
    dmean: Array,
    dcorrection: Number,
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Array = None,
    ddof: Number = 0,
    keepdims: Flag = NOT_GIVEN,
    mean: Array = NOT_GIVEN,
    correction: Number = NOT_GIVEN,
    *,
    where: Mask = NOT_GIVEN,
) -> OutputAndTangent:
    dd, df = as_array_tangent(da, a) - dmean, -(dddof + dcorrection)
    return moment_and_tangent(np.var, one, dd, df, a, axis, dtype, out, ddof, keepdims, mean, correction, where, where)


@rrule.register(np.var)
def var_rrule(
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Array = None,
    ddof: Number = 0,
    keepdims: Flag = NOT_GIVEN,
    mean: Array = NOT_GIVEN,
    correction: Number = NOT_GIVEN,
    *,
    where: Mask = NOT_GIVEN,
) -> OutputAndPullback:
    """ā = 2 (a - μ) ȳ / f, where μ is the mean and f = n - ddof."""
    return moment_and_pullback(np.var, one, a, axis, dtype, out, ddof, keepdims, mean, correction, where, where)


@frule.register(np.std)
@pushforward
def std_frule(
    da: Array,
    dddof: Number,
    dmean: Array,
    dcorrection: Number,
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Array = None,
    ddof: Number = 0,
    keepdims: Flag = NOT_GIVEN,
    mean: Array = NOT_GIVEN,
    correction: Number = NOT_GIVEN,
    *,
    where: Mask = NOT_GIVEN,
) -> OutputAndTangent:
    dd, df = as_array_tangent(da, a) - dmean, -(dddof + dcorrection)
    return moment_and_tangent(
        np.std, slope_of_sqrt, dd, df, a, axis, dtype, out, ddof, keepdims, mean, correction, where, where
    )


@rrule.register(np.std)
def std_rrule(
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Array = None,
    ddof: Number = 0,
    keepdims: Flag = NOT_GIVEN,
    mean: Array = NOT_GIVEN,
    correction: Number = NOT_GIVEN,
    *,
    where: Mask = NOT_GIVEN,
) -> OutputAndPullback:
    """ā = (a - μ) ȳ / (f y), and 0 for the standard deviation of a constant."""
    return moment_and_pullback(
        np.std, slope_of_sqrt, a, axis, dtype, out, ddof, keepdims, mean, correction, where, where
    )


# The methods have the same positional parameters, as far as they have them.
rrule.alias(np.ndarray.var, np.var)
rrule.alias(np.ndarray.std, np.std)
