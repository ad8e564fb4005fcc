"""Rules of the second moments: var and std, with all their keywords."""

import numpy as np
from multipledispatch import MDNotImplementedError

from rules.numpy.array_like import as_array, as_array_tangent, conj
from rules.numpy.reduced_axes import (
    NO_TANGENT,
    NOT_GIVEN,
    ReducedAxes,
    decline_discarded_imaginary_part,
    decline_out,
    given,
    is_plain,
    masked,
    projector_of,
    stop_early,
    tangent_at,
)
from rulescore import AbstractZero, Thunk, frule, ignore_derivatives, project_to, rrule, unbroadcast, unthunk


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
        dv = self._sum(2 * np.real(conj(self.d) * masked(self.kept, dd))) / self.f
        return dv if isinstance(df, AbstractZero) else dv - self._variance() * df / self.f

    def deviations_bar(self, vbar):
        """d̄ = 2 d v̄ / f."""
        with np.errstate(invalid="ignore"):  # an infinite v̄ beside what is left out
            return masked(self.kept, 2 * self._share(vbar) * self.d)

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


def moment_frule(f, slope, tangents, a, axis, dtype, out, ddof, keepdims, mean, correction, where, kept):
    """The pushforward of ``f`` of the variance v of what is ``kept``, with ``slope(y)`` = ∂f/∂v."""
    decline_unusual_variance(a, dtype, out, mean)
    options = given(axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, mean=mean, correction=correction, where=where)
    y = f(a, **options)
    dd = as_array_tangent(tangents[1], a) - tangent_at(tangents, 6)
    df = -(tangent_at(tangents, 4) + tangent_at(tangents, 7))
    if isinstance(dd, AbstractZero) and isinstance(df, AbstractZero):
        return y, dd
    deviations = Deviations(a, axis, dtype, ddof, mean, correction, kept)
    dy = deviations.unless_constant(slope(deviations.axes.restore(y)) * deviations.variance_tangent(dd, df))
    return y, project_to(y)(np.reshape(dy, np.shape(y)))


def moment_rrule(f, slope, a, axis, dtype, out, ddof, keepdims, mean, correction, where, kept):
    """The pullback of ``f`` of the variance v of what is ``kept``, with ``slope(y)`` = ∂f/∂v."""
    decline_unusual_variance(a, dtype, out, mean)
    options = given(axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, mean=mean, correction=correction, where=where)
    y = f(a, **options)
    project, project_ddof, project_mean, project_correction = map(projector_of, (a, ddof, mean, correction))
    is_usual = type(a) is np.ndarray and a.dtype.char in "fd" and type(ddof) is int and a.size
    is_usual = is_usual and dtype is None and mean is correction is kept is NOT_GIVEN

    def moment_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return NO_TANGENT, project(ybar)
        vbar = slope(y) * ybar.real
        if is_usual and is_plain(ybar):
            return NO_TANGENT, project(plain_deviations_bar(vbar, a, ReducedAxes(a.shape, axis), ddof))
        deviations = Deviations(a, axis, dtype, ddof, mean, correction, kept)
        dbar = deviations.deviations_bar(vbar)
        mean_bar = Thunk(lambda: -unbroadcast(dbar, np.shape(mean)))
        ddof_bar = Thunk(lambda: -deviations.freedom_bar(vbar))
        of_options = (project_ddof(ddof_bar), NO_TANGENT, project_mean(mean_bar), project_correction(ddof_bar))
        return stop_early(NO_TANGENT, project(dbar), NO_TANGENT, NO_TANGENT, NO_TANGENT, *of_options)

    return y, moment_pullback


def plain_deviations_bar(vbar, a, axes, ddof):
    """d̄ = 2 d v̄ / f of plain arrays, in one pass over them more than the deviations take."""
    f = axes.length - ddof
    if f <= 0:
        return np.zeros_like(a)
    d = a - np.add.reduce(a, axis=axes.reduced, keepdims=True) / a.dtype.type(axes.length)
    d *= axes.restore(2 * vbar / f)
    return d


@frule.register(np.var)
def var_frule(
    tangents,
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=NOT_GIVEN,
    mean=NOT_GIVEN,
    correction=NOT_GIVEN,
    *,
    where=NOT_GIVEN,
):
    return moment_frule(np.var, one, tangents, a, axis, dtype, out, ddof, keepdims, mean, correction, where, where)


@rrule.register(np.var)
def var_rrule(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=NOT_GIVEN,
    mean=NOT_GIVEN,
    correction=NOT_GIVEN,
    *,
    where=NOT_GIVEN,
):
    """ā = 2 (a - μ) ȳ / f, where μ is the mean and f = n - ddof."""
    return moment_rrule(np.var, one, a, axis, dtype, out, ddof, keepdims, mean, correction, where, where)


@frule.register(np.std)
def std_frule(
    tangents,
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=NOT_GIVEN,
    mean=NOT_GIVEN,
    correction=NOT_GIVEN,
    *,
    where=NOT_GIVEN,
):
    return moment_frule(
        np.std, slope_of_sqrt, tangents, a, axis, dtype, out, ddof, keepdims, mean, correction, where, where
    )


@rrule.register(np.std)
def std_rrule(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=NOT_GIVEN,
    mean=NOT_GIVEN,
    correction=NOT_GIVEN,
    *,
    where=NOT_GIVEN,
):
    """ā = (a - μ) ȳ / (f y), and 0 for the standard deviation of a constant."""
    return moment_rrule(np.std, slope_of_sqrt, a, axis, dtype, out, ddof, keepdims, mean, correction, where, where)


# The methods have the same positional parameters, as far as they have them.
rrule.alias(np.ndarray.var, np.var)
rrule.alias(np.ndarray.std, np.std)
