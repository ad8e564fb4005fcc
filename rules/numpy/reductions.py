"""Rules of the reductions sum, mean, prod, max, min and ptp, with all their keywords.

The variance and what is made of it is in `moments`; scans (``cumsum``) and order statistics are not here.
"""

import numpy as np
from rulescore import (
    StaticForm,
    apply_linear,
    frule,
    ignore_derivatives,
    is_differentiable,
    no_tangent_pullback,
    project_to,
    pullback_wrt,
    pushforward,
    rrule,
)
from rulescore.typing import Array, Axis, DType, Flag, Mask, Number, OutputAndPullback, OutputAndTangent

from .array_like import as_array, as_array_tangent, conj
from .reduced_axes import (
    NOT_GIVEN,
    ReducedAxes,
    chosen,
    decline_discarded_imaginary_part,
    decline_out,
    given,
    is_plain,
    masked,
    masked_cotangent,
    with_underflow,
)
from .scans import balanced_exponents, ones_elsewhere, reverse, scaled, shifted, times

# ---------------------------------------------------------------- sum and mean


@frule.register(np.sum)
@pushforward
def sum_frule(
    da: Array,
    dinitial: Number,
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Array = None,
    keepdims: Flag = NOT_GIVEN,
    initial: Number = NOT_GIVEN,
    where: Mask = NOT_GIVEN,
) -> OutputAndTangent:
    decline_out(out)
    linear = given(axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    y = np.sum(a, **linear, **given(initial=initial))
    dy = np.sum(as_array_tangent(da, a), **linear)
    return y, dy + apply_linear(lambda dinitial: np.ones_like(y) * dinitial, dinitial)


def sum_rrule(
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Array = None,
    keepdims: Flag = NOT_GIVEN,
    initial: Number = NOT_GIVEN,
    where: Mask = NOT_GIVEN,
) -> OutputAndPullback:
    """y = initial + Σ a, hence ā is ȳ copied along the axes of the sum."""
    if dtype is out is None and initial is where is NOT_GIVEN and type(a) is np.ndarray and a.dtype.kind == "f":
        return plain_sum_rrule(a, axis, keepdims is not NOT_GIVEN and keepdims)
    decline_out(out)
    y = np.sum(a, **given(axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where))
    axes = ReducedAxes(np.shape(a), axis)

    @pullback_wrt(a, ..., ..., ..., ..., initial)
    def sum_pullback(ybar):
        return lambda: masked_cotangent(where, axes.spread(ybar)), lambda: np.sum(ybar)

    return y, sum_pullback


def sum_of_all_vjp(ybar, y, a):
    """Copies of one number in the place of every element; ``a`` may be a blueprint."""
    if a.shape == () and issubclass(type(ybar), np.floating):
        return a.dtype.type(ybar)
    if type(ybar) is not np.ndarray and not issubclass(type(ybar), np.floating):
        return project_to(a)(ReducedAxes(a.shape, None).spread(ybar))
    abar = np.empty(a.shape, a.dtype)
    abar.fill(ybar)
    return abar


rrule.add_rule(
    np.sum,
    sum_rrule,
    static=StaticForm(
        primal=lambda a: np.add.reduce(a, axis=None),
        vjps=(sum_of_all_vjp,),
        uses_output=(False,),
        uses_arguments=((False,),),
    ),
)


def plain_sum_rrule(a, axis, keepdims):
    """The rule of the most frequent call, without what only other calls need."""
    y = np.add.reduce(a, axis=axis, keepdims=keepdims)
    return y, plain_sum_pullback(a, axis, keepdims)


def plain_mean_rrule(a, axis, keepdims):
    """Likewise; as `np.mean` computes it in these precisions."""
    total = np.add.reduce(a, axis=axis, keepdims=keepdims)
    n = a.dtype.type(a.size // total.size)
    return total / n, plain_sum_pullback(a, axis, keepdims, n)


def plain_sum_pullback(a, axis, keepdims, n=None):
    """The pullback of a sum, divided by ``n`` where there is one."""
    shape, dtype = a.shape, a.dtype

    @pullback_wrt(a)
    def sum_pullback(ybar):
        ybar = ybar if n is None else ybar / n
        if not is_plain(ybar):
            return ReducedAxes(shape, axis).spread(ybar)
        # Dense, since BLAS is slow on the strides of 0 that np.broadcast_to gives.
        abar = np.empty(shape, dtype)
        abar[...] = ybar if axis is None or keepdims else ReducedAxes(shape, axis).restore(ybar)
        return abar

    return sum_pullback


@frule.register(np.mean)
@pushforward
def mean_frule(
    da: Array,
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Array = None,
    keepdims: Flag = NOT_GIVEN,
    *,
    where: Mask = NOT_GIVEN,
) -> OutputAndTangent:
    decline_out(out)
    options = given(axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    return np.mean(a, **options), np.mean(as_array_tangent(da, a), **options)


def mean_rrule(
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Array = None,
    keepdims: Flag = NOT_GIVEN,
    *,
    where: Mask = NOT_GIVEN,
) -> OutputAndPullback:
    """y = Σ a / n, hence ā is ȳ / n copied along the axes of the sum; with ``where``, n counts what it selects."""
    if dtype is out is None and where is NOT_GIVEN and type(a) is np.ndarray and a.dtype.char in "fd" and a.size:
        return plain_mean_rrule(a, axis, keepdims is not NOT_GIVEN and keepdims)
    decline_out(out)
    y = np.mean(a, **given(axis=axis, dtype=dtype, keepdims=keepdims, where=where))
    axes = ReducedAxes(np.shape(a), axis)

    @pullback_wrt(a)
    def mean_pullback(ybar):
        # The mean of no elements is NaN, and has no element to give a cotangent to.
        n = np.maximum(axes.count(where), 1)
        return masked_cotangent(where, axes.spread(axes.share(ybar, n)))

    return y, mean_pullback


def mean_of_all(a):
    """The mean of all elements; as `np.mean` computes it in these precisions."""
    return np.add.reduce(a, axis=None) / a.dtype.type(a.size) if a.dtype.char in "fd" and a.size else np.mean(a)


def mean_of_all_vjp(ybar, y, a):
    n = max(a.size, 1)  # the mean of no elements is NaN, and has no element to give a cotangent to
    return sum_of_all_vjp(ybar / (n if a.dtype.char != "e" else np.float32(n)), y, a)


rrule.add_rule(
    np.mean,
    mean_rrule,
    static=StaticForm(
        primal=mean_of_all,
        vjps=(mean_of_all_vjp,),
        uses_output=(False,),
        uses_arguments=((False,),),
    ),
)


# ---------------------------------------------------------------- prod


class Factors:
    """The numbers that products multiply, and their products without one of them.

    Parameters
    ----------
    a : array
        The numbers; what ``kept`` leaves out counts as 1.
    axes : ReducedAxes
        Where they are multiplied.
    dtype : dtype or None
        What they are multiplied in.
    kept : array of bool
        Which of them are multiplied.
    """

    def __init__(self, a, axes, dtype=None, kept=NOT_GIVEN):
        a = as_array(a)
        a = a if dtype is None else a.astype(dtype)
        self.a, self.axes = ones_elsewhere(kept, a), axes

    def others(self):
        """Πⱼ≠ᵢ aⱼ for every i: what stands before times what stands after.

        Without a division, so that it is exact with any number of zeros, and scaled by powers of two, which keep all
        products of neighbours near 1, so that none of them under- or overflows.
        """
        if self.axes.length == 0:
            return self.a
        rows = self._rows()
        exponents = balanced_exponents(ignore_derivatives(rows))
        steps = exponents - shifted(exponents, 0)
        factors = scaled(rows, -steps)
        before = shifted(np.cumprod(factors, -1), 1)
        after = reverse(shifted(np.cumprod(reverse(factors), -1), 1))
        return self._from_rows(scaled(times(before, after), exponents[..., -1:] - steps))

    def plain_others(self, y, has_underflow, weight=1):
        """``weight`` Πⱼ≠ᵢ aⱼ, of plain arrays: the product divided by aᵢ, if it has its full precision.

        What has not is a product with a zero, and one that is too large or too small.
        """
        a, axes = self.a, self.axes
        y = axes.restore(y)
        products = y * weight
        is_safe = has_full_precision(y) & (has_full_precision(products) | (weight == 0)) & (not has_underflow)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            if is_safe.all():
                return products / a
            rows = self._rows()
            if not is_safe.any():
                others = self._from_rows(others_in_rows(rows))
                return others if isinstance(weight, int) else times(weight, others)
            others = products / a
            order, is_unsafe = axes.reduced_last(), np.reshape(~is_safe, axes.outer)
            weights = np.reshape(np.broadcast_to(weight, axes.kept), axes.outer)[is_unsafe]
            of_rows = times(weights[:, None], others_in_rows(rows[is_unsafe]))
            kept_last = np.transpose(others, order)
            kept_last[is_unsafe] = np.reshape(of_rows, (-1, *kept_last.shape[len(axes.outer) :]))
            return others

    def _rows(self):
        in_order = np.transpose(self.a, self.axes.reduced_last())
        return np.reshape(in_order, (*self.axes.outer, self.axes.length))

    def _from_rows(self, rows):
        order = self.axes.reduced_last()
        return np.transpose(np.reshape(rows, [self.axes.shape[i] for i in order]), np.argsort(order))


def has_full_precision(x):
    """Whether numbers are finite, and neither zero nor so small that they lack digits."""
    size = abs(x)
    return (size >= SMALLEST_NORMAL[size.dtype.char]) & (size < np.inf)


SMALLEST_NORMAL = {char: np.finfo(char).tiny for char in "efdg"}


def others_in_rows(rows):
    """Πⱼ≠ᵢ aⱼ along the last axis, for plain arrays, whatever their numbers are."""
    if rows.dtype.kind != "f" or not np.all(np.isfinite(rows)):
        return Factors(rows, ReducedAxes(rows.shape, -1)).others()
    rows, shape = np.reshape(rows, (-1, rows.shape[-1])), rows.shape
    return np.reshape(others_of_finite_rows(rows), shape)


def others_of_finite_rows(rows):
    """With one zero all others have the product 0, with two zeros all have."""
    is_zero = rows == 0
    zeros = np.count_nonzero(is_zero, axis=-1)
    if not zeros.any():
        return ProductByExponents(rows).without_each()
    others = np.zeros_like(rows)
    has_none, has_one = zeros == 0, zeros == 1
    if has_none.any():
        others[has_none] = ProductByExponents(rows[has_none]).without_each()
    if has_one.any():
        rest = rows[has_one]
        rest[is_zero[has_one]] = 1
        products, has_underflow = with_underflow(lambda rows: np.multiply.reduce(rows, axis=-1), rest)
        is_rough = has_underflow or not np.all(np.isfinite(products))
        others[is_zero & has_one[:, None]] = ProductByExponents(rest).value() if is_rough else products
    return others


class ProductByExponents:
    """The products of numbers along the last axis, p 2^e with p between ½ and 1, so that none is too large or small."""

    def __init__(self, rows):
        self.mantissas, self.exponents = np.frexp(rows)
        p, e = self.mantissas, np.sum(self.exponents, axis=-1, dtype=np.int64)
        # So many mantissas have a product that is no less than the smallest number.
        together = np.finfo(rows.dtype).maxexp - 16
        while p.shape[-1] > 1:
            groups = -(-p.shape[-1] // together)
            if groups > 1:
                missing = groups * together - p.shape[-1]
                p = np.concatenate([p, np.ones((*p.shape[:-1], missing), p.dtype)], -1)
            p, exponents = np.frexp(np.multiply.reduce(np.reshape(p, (*p.shape[:-1], groups, -1)), axis=-1))
            e = e + np.sum(exponents, axis=-1, dtype=np.int64)
        self.p, self.e = p[..., 0], np.clip(e, -(10**9), 10**9).astype(np.intc)

    def value(self):
        return np.ldexp(self.p, self.e)

    def without_each(self):
        return np.ldexp(self.p[..., None] / self.mantissas, self.e[..., None] - self.exponents)


def is_plain_product(a, y, dtype):
    """Whether the product is one of plain arrays of the usual types, which need not be differentiated again."""
    return dtype is None and type(a) is np.ndarray and a.dtype.char in "fdFD" and a.size and y.dtype == a.dtype


def product_and_tangent(f, da, dinitial, a, axis, dtype, out, keepdims, initial, where, kept):
    """A product ``f`` of what is ``kept`` among the elements that ``where`` selects, and its tangent."""
    decline_out(out)
    decline_discarded_imaginary_part(a, dtype)
    linear = given(axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    y, has_underflow = with_underflow(lambda a: f(a, **linear, **given(initial=initial)), a)

    def along_a(da):
        factors = Factors(a, ReducedAxes(np.shape(a), axis), dtype, kept)
        if initial is NOT_GIVEN and is_plain_product(a, y, dtype):
            others = factors.plain_others(y, has_underflow)
        else:
            others = factors.others()
        dy = np.sum(masked(kept, times(others, da)), **given(axis=axis, dtype=dtype, keepdims=keepdims))
        return dy if initial is NOT_GIVEN else dy * initial

    dy = apply_linear(along_a, as_array_tangent(da, a))
    return y, dy + apply_linear(lambda dinitial: f(a, **linear) * dinitial, dinitial)


def product_and_pullback(f, a, axis, dtype, out, keepdims, initial, where, kept):
    """y = initial · Π a, hence āᵢ = conj(initial · Πⱼ≠ᵢ aⱼ) ȳ."""
    decline_out(out)
    decline_discarded_imaginary_part(a, dtype)
    linear = given(axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    y, has_underflow = with_underflow(lambda a: f(a, **linear, **given(initial=initial)), a)
    axes = ReducedAxes(np.shape(a), axis)

    def a_bar(ybar):
        factors = Factors(a, axes, dtype, kept)
        scale = axes.restore(ybar) if initial is NOT_GIVEN else axes.restore(ybar) * np.conjugate(initial)
        if initial is not NOT_GIVEN or not is_plain_product(a, y, dtype):
            bars = times(conj(factors.others()), scale)
        elif is_plain(ybar):
            bars = conj(factors.plain_others(y, has_underflow, conj(scale)))
        else:
            bars = times(conj(factors.plain_others(y, has_underflow)), scale)
        return masked_cotangent(kept, bars)

    if initial is NOT_GIVEN:
        return y, pullback_wrt(a)(a_bar)

    def initial_bar(ybar):
        return np.sum(np.conjugate(f(a, **linear)) * ybar)

    return y, pullback_wrt(a, ..., ..., ..., ..., initial)(a_bar, initial_bar)


@frule.register(np.prod)
@pushforward
def prod_frule(
    da: Array,
    dinitial: Number,
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Array = None,
    keepdims: Flag = NOT_GIVEN,
    initial: Number = NOT_GIVEN,
    where: Mask = NOT_GIVEN,
) -> OutputAndTangent:
    return product_and_tangent(np.prod, da, dinitial, a, axis, dtype, out, keepdims, initial, where, kept=where)


@rrule.register(np.prod)
def prod_rrule(
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Array = None,
    keepdims: Flag = NOT_GIVEN,
    initial: Number = NOT_GIVEN,
    where: Mask = NOT_GIVEN,
) -> OutputAndPullback:
    return product_and_pullback(np.prod, a, axis, dtype, out, keepdims, initial, where, kept=where)


# ---------------------------------------------------------------- max, min and ptp


class Ties:
    """Where extrema are attained, by elements and by ``initial``, which share each: a mask of them, and how many.

    Elements that are NaN attain an extremum that is NaN. Where nothing does, the number of places is given as 1.
    """

    def __init__(self, a, y, axes, initial, kept):
        a = as_array(a)
        top = axes.restore(y)
        attained = a == top
        if np.any(top != top):
            attained = attained | (a != a)
        if kept is not NOT_GIVEN:
            attained = attained & kept
        count = axes.count(attained)
        self.axes, self.attained = axes, attained
        if initial is NOT_GIVEN:
            self.by_initial, self.count = False, np.maximum(count, 1)
        else:
            # `initial` is rounded to the array's precision before it is compared, so equality alone would miss it.
            self.by_initial = (initial == top) | (count == 0)
            self.count = count + self.by_initial

    def mean(self, da):
        """Of the elements that attain each, with length 1 along the reduced axes."""
        return np.sum(chosen(self.attained, da), axis=self.axes.reduced, keepdims=True) / self.count

    def share_of_initial(self, dinitial):
        return np.where(self.by_initial, dinitial, 0) / self.count

    def scatter(self, ybar):
        """ȳ in the places of the extrema, and zeros elsewhere."""
        return np.where(self.attained, self.axes.share(ybar, self.count), 0)

    def initial_bar(self, ybar):
        return np.sum(np.where(self.by_initial, self.axes.share(ybar, self.count), 0))


class SinglePlaces:
    """The places of the extrema of a plain array, where each is attained once: much less to keep than a mask.

    Attributes
    ----------
    places : ndarray of int
        Their numbers in the array in C order.
    """

    __slots__ = ("axes", "dtype", "places")

    def __init__(self, axes, dtype, places):
        self.axes, self.dtype, self.places = axes, dtype, places

    @classmethod
    def of(cls, a, y, axes):
        """None if an extremum is attained several times, or NaN."""
        if axes.length == a.size:
            places = (a == (y if y.ndim == 0 else y.reshape(()))).ravel().nonzero()[0]
            return cls(axes, a.dtype, places) if places.size == 1 else None  # a NaN equals nothing
        places = (a == y.reshape(axes.kept)).ravel().nonzero()[0]
        if places.size != y.size or (y != y).any():
            return None
        return cls(axes, a.dtype, places)

    def scatter(self, ybar):
        """ȳ in the places of the extrema, and zeros elsewhere."""
        axes = self.axes
        if is_plain(ybar):
            abar = np.zeros(axes.shape, self.dtype)
            abar.reshape(-1)[self.places] = self._in_order(ybar.real)
            return abar
        mask = np.zeros(axes.shape, bool)
        mask.reshape(-1)[self.places] = True
        return np.where(mask, axes.restore(ybar), 0)

    def add_to(self, abar, ybar):
        """Add to a plain array in place what `scatter` gives."""
        abar.reshape(-1)[self.places] += self._in_order(ybar.real)

    def _in_order(self, ybar):
        axes = self.axes
        if np.ndim(ybar) == 0:
            return ybar
        if axes.length == axes.size:
            return ybar.reshape(-1)
        index = np.unravel_index(self.places, axes.shape)
        return ybar.reshape(axes.kept)[tuple([0 if i in axes.reduced else index[i] for i in range(len(index))])]


def extremum_and_tangent(f, da, dinitial, a, axis, out, keepdims, initial, where, kept):
    """An extremum ``f`` of what is ``kept`` among the elements that ``where`` selects, and its tangent."""
    decline_out(out)
    y = f(a, **given(axis=axis, keepdims=keepdims, initial=initial, where=where))
    places = Ties(a, y, ReducedAxes(np.shape(a), axis), initial, kept)
    dy = apply_linear(places.mean, as_array_tangent(da, a)) + apply_linear(places.share_of_initial, dinitial)
    return y, np.reshape(dy, np.shape(y))


def extremum_and_pullback(f, a, axis, out, keepdims, initial, where, kept):
    decline_out(out)
    axes = ReducedAxes(np.shape(a), axis)
    is_plain_call = initial is where is NOT_GIVEN and (kept is NOT_GIVEN or kept.all())
    if type(a) is np.ndarray and a.dtype.kind == "f" and a.size and is_plain_call:
        # The most frequent calls, which seldom have a tie.
        y = REDUCTIONS.get(f, f)(a, axis=axis, keepdims=keepdims is not NOT_GIVEN and keepdims)
        places = SinglePlaces.of(a, y, axes) or Ties(a, y, axes, NOT_GIVEN, kept)
        return y, pullback_wrt(a)(places.scatter)
    y = f(a, **given(axis=axis, keepdims=keepdims, initial=initial, where=where))
    if not is_differentiable(a) and not is_differentiable(initial):  # integers, dates
        return y, no_tangent_pullback
    places = Ties(a, y, axes, initial, kept)

    def a_bar(ybar):
        return masked_cotangent(kept, places.scatter(ybar))

    if initial is NOT_GIVEN:
        return y, pullback_wrt(a)(a_bar)
    return y, pullback_wrt(a, ..., ..., ..., initial)(a_bar, places.initial_bar)


REDUCTIONS = {np.max: np.maximum.reduce, np.min: np.minimum.reduce}


@frule.register(np.max)
@pushforward
def max_frule(
    da: Array,
    dinitial: Number,
    a: Array,
    axis: Axis = None,
    out: Array = None,
    keepdims: Flag = NOT_GIVEN,
    initial: Number = NOT_GIVEN,
    where: Mask = NOT_GIVEN,
) -> OutputAndTangent:
    return extremum_and_tangent(np.max, da, dinitial, a, axis, out, keepdims, initial, where, kept=where)


@rrule.register(np.max)
def max_rrule(
    a: Array,
    axis: Axis = None,
    out: Array = None,
    keepdims: Flag = NOT_GIVEN,
    initial: Number = NOT_GIVEN,
    where: Mask = NOT_GIVEN,
) -> OutputAndPullback:
    """ā = ȳ / k at the k elements that attain the maximum, and exactly 0 elsewhere."""
    return extremum_and_pullback(np.max, a, axis, out, keepdims, initial, where, kept=where)


@frule.register(np.min)
@pushforward
def min_frule(
    da: Array,
    dinitial: Number,
    a: Array,
    axis: Axis = None,
    out: Array = None,
    keepdims: Flag = NOT_GIVEN,
    initial: Number = NOT_GIVEN,
    where: Mask = NOT_GIVEN,
) -> OutputAndTangent:
    return extremum_and_tangent(np.min, da, dinitial, a, axis, out, keepdims, initial, where, kept=where)


@rrule.register(np.min)
def min_rrule(
    a: Array,
    axis: Axis = None,
    out: Array = None,
    keepdims: Flag = NOT_GIVEN,
    initial: Number = NOT_GIVEN,
    where: Mask = NOT_GIVEN,
) -> OutputAndPullback:
    """ā = ȳ / k at the k elements that attain the minimum, and exactly 0 elsewhere."""
    return extremum_and_pullback(np.min, a, axis, out, keepdims, initial, where, kept=where)


@frule.register(np.ptp)
@pushforward
def ptp_frule(
    da: Array, a: Array, axis: Axis = None, out: Array = None, keepdims: Flag = NOT_GIVEN
) -> OutputAndTangent:
    """ẏ is that of the maximum less that of the minimum."""
    decline_out(out)
    options = given(axis=axis, keepdims=keepdims)
    largest, smallest, axes = np.max(a, **options), np.min(a, **options), ReducedAxes(np.shape(a), axis)
    means = [Ties(a, y, axes, NOT_GIVEN, NOT_GIVEN).mean(as_array_tangent(da, a)) for y in (largest, smallest)]
    dlargest, dsmallest = (dy.astype(largest.dtype) for dy in means)
    return largest - smallest, np.reshape(dlargest - dsmallest, np.shape(largest))


@rrule.register(np.ptp)
def ptp_rrule(a: Array, axis: Axis = None, out: Array = None, keepdims: Flag = NOT_GIVEN) -> OutputAndPullback:
    """ā is that of the maximum less that of the minimum: 0 for a constant, which attains both everywhere."""
    decline_out(out)
    options = given(axis=axis, keepdims=keepdims)
    largest, smallest, axes = np.max(a, **options), np.min(a, **options), ReducedAxes(np.shape(a), axis)
    if not is_differentiable(a):
        return largest - smallest, no_tangent_pullback
    of_max = of_min = None
    if type(a) is np.ndarray and a.dtype.kind == "f" and a.size:
        of_max, of_min = SinglePlaces.of(a, largest, axes), SinglePlaces.of(a, smallest, axes)
    are_single = of_max is not None and of_min is not None
    if not are_single:
        of_max, of_min = (Ties(a, y, axes, NOT_GIVEN, NOT_GIVEN) for y in (largest, smallest))

    @pullback_wrt(a)
    def ptp_pullback(ybar):
        abar = of_max.scatter(ybar)
        if are_single and is_plain(ybar):
            of_min.add_to(abar, -ybar)
            return abar
        return abar - of_min.scatter(ybar)

    return largest - smallest, ptp_pullback


# The methods have the same positional parameters; np.amax and np.amin are functions of their own.
for name in ("sum", "mean", "prod", "max", "min"):
    rrule.alias(getattr(np.ndarray, name), getattr(np, name))
rrule.alias(np.amax, np.max)
rrule.alias(np.amin, np.min)
