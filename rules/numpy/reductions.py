"""Rules of the reductions sum, mean, prod, max, min and ptp, with all their keywords.

The variance and what is made of it is in `moments`; scans (``cumsum``) and order statistics are not here.
"""

import numpy as np

from rules.numpy.array_like import as_array, as_array_tangent, conj
from rules.numpy.reduced_axes import (
    NO_TANGENT,
    NOT_GIVEN,
    ReducedAxes,
    chosen,
    decline_discarded_imaginary_part,
    decline_out,
    given,
    is_plain,
    masked,
    projector_of,
    stop_early,
    tangent_at,
    with_underflow,
)
from rules.numpy.scans import balanced_exponents, ones_elsewhere, reverse, scaled, shifted, times
from rulescore import AbstractZero, StaticForm, Thunk, frule, ignore_derivatives, project_to, rrule, unthunk
from rulescore.tangents.projection import NON_DIFFERENTIABLE, ArrayProjector

# ---------------------------------------------------------------- sum and mean


@frule.register(np.sum)
def sum_frule(tangents, a, axis=None, dtype=None, out=None, keepdims=NOT_GIVEN, initial=NOT_GIVEN, where=NOT_GIVEN):
    decline_out(out)
    da, dinitial = as_array_tangent(tangents[1], a), tangent_at(tangents, 5)
    linear = given(axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    y = np.sum(a, **linear, **given(initial=initial))
    dy = da if isinstance(da, AbstractZero) else np.sum(da, **linear)
    if not isinstance(dinitial, AbstractZero):
        dy = dy + np.ones_like(y) * dinitial
    return y, project_to(y)(dy)


def sum_rrule(a, axis=None, dtype=None, out=None, keepdims=NOT_GIVEN, initial=NOT_GIVEN, where=NOT_GIVEN):
    """y = initial + Σ a, hence ā is ȳ copied along the axes of the sum."""
    if dtype is out is None and initial is where is NOT_GIVEN and type(a) is np.ndarray and a.dtype.kind == "f":
        return plain_sum_rrule(a, axis, keepdims is not NOT_GIVEN and keepdims)
    decline_out(out)
    y = np.sum(a, **given(axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where))
    project, project_initial, axes = project_to(a), projector_of(initial), ReducedAxes(np.shape(a), axis)

    def sum_pullback(ybar):
        initial_bar = project_initial(Thunk(lambda: np.sum(ybar)))
        return stop_early(NO_TANGENT, project(masked(where, axes.spread(ybar))), *[NO_TANGENT] * 4, initial_bar)

    return y, sum_pullback


def sum_of_all_vjp(ybar, y, a):
    """Copies of one number in the place of every element; ``a`` may be a blueprint."""
    if a.shape == () and isinstance(ybar, np.floating):
        return a.dtype.type(ybar)
    if type(ybar) is not np.ndarray and not isinstance(ybar, np.floating):
        return ArrayProjector(a.shape, a.dtype)(ReducedAxes(a.shape, None).spread(ybar))
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

    def sum_pullback(ybar):
        ybar = ybar if n is None else unthunk(ybar) / n
        if type(ybar) is not np.ndarray and not isinstance(ybar, np.floating):
            return NO_TANGENT, ArrayProjector(shape, dtype)(ReducedAxes(shape, axis).spread(ybar))
        # Dense, since BLAS is slow on the strides of 0 that np.broadcast_to gives.
        abar = np.empty(shape, dtype)
        abar[...] = ybar if axis is None or keepdims else ReducedAxes(shape, axis).restore(ybar)
        return NO_TANGENT, abar

    return sum_pullback


@frule.register(np.mean)
def mean_frule(tangents, a, axis=None, dtype=None, out=None, keepdims=NOT_GIVEN, *, where=NOT_GIVEN):
    decline_out(out)
    da = as_array_tangent(tangents[1], a)
    options = given(axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    y = np.mean(a, **options)
    return y, da if isinstance(da, AbstractZero) else project_to(y)(np.mean(da, **options))


def mean_rrule(a, axis=None, dtype=None, out=None, keepdims=NOT_GIVEN, *, where=NOT_GIVEN):
    """y = Σ a / n, hence ā is ȳ / n copied along the axes of the sum; with ``where``, n counts what it selects."""
    if dtype is out is None and where is NOT_GIVEN and type(a) is np.ndarray and a.dtype.char in "fd" and a.size:
        return plain_mean_rrule(a, axis, keepdims is not NOT_GIVEN and keepdims)
    decline_out(out)
    y = np.mean(a, **given(axis=axis, dtype=dtype, keepdims=keepdims, where=where))
    project, axes = project_to(a), ReducedAxes(np.shape(a), axis)

    def mean_pullback(ybar):
        # The mean of no elements is NaN, and has no element to give a cotangent to.
        n = np.maximum(axes.count(where), 1)
        return NO_TANGENT, project(masked(where, axes.spread(axes.share(ybar, n))))

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


def prod_frule_of(f, tangents, a, axis, dtype, out, keepdims, initial, where, kept):
    """The pushforward of a product ``f`` of what is ``kept`` among the elements that ``where`` selects."""
    decline_out(out)
    decline_discarded_imaginary_part(a, dtype)
    da, dinitial = as_array_tangent(tangents[1], a), tangent_at(tangents, 5)
    linear = given(axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    y, has_underflow = with_underflow(lambda a: f(a, **linear, **given(initial=initial)), a)
    dy = da
    if not isinstance(da, AbstractZero):
        factors = Factors(a, ReducedAxes(np.shape(a), axis), dtype, kept)
        if initial is NOT_GIVEN and is_plain_product(a, y, dtype):
            others = factors.plain_others(y, has_underflow)
        else:
            others = factors.others()
        dy = np.sum(masked(kept, times(others, da)), **given(axis=axis, dtype=dtype, keepdims=keepdims))
        dy = dy if initial is NOT_GIVEN else dy * initial
    if not isinstance(dinitial, AbstractZero):
        dy = dy + f(a, **linear) * dinitial
    return y, project_to(y)(dy)


def prod_rrule_of(f, a, axis, dtype, out, keepdims, initial, where, kept):
    """y = initial · Π a, hence āᵢ = conj(initial · Πⱼ≠ᵢ aⱼ) ȳ."""
    decline_out(out)
    decline_discarded_imaginary_part(a, dtype)
    linear = given(axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    y, has_underflow = with_underflow(lambda a: f(a, **linear, **given(initial=initial)), a)
    project, project_initial, axes = project_to(a), projector_of(initial), ReducedAxes(np.shape(a), axis)

    def abar(ybar):
        if isinstance(ybar, AbstractZero) or project is NON_DIFFERENTIABLE:
            return ybar
        factors = Factors(a, axes, dtype, kept)
        scale = axes.restore(ybar) if initial is NOT_GIVEN else axes.restore(ybar) * np.conjugate(initial)
        if initial is not NOT_GIVEN or not is_plain_product(a, y, dtype):
            bars = times(conj(factors.others()), scale)
        elif is_plain(ybar):
            bars = conj(factors.plain_others(y, has_underflow, conj(scale)))
        else:
            bars = times(conj(factors.plain_others(y, has_underflow)), scale)
        return masked(kept, bars)

    def prod_pullback(ybar):
        ybar = unthunk(ybar)
        initial_bar = project_initial(Thunk(lambda: np.sum(np.conjugate(f(a, **linear)) * ybar)))
        return stop_early(NO_TANGENT, project(abar(ybar)), *[NO_TANGENT] * 4, initial_bar)

    return y, prod_pullback


@frule.register(np.prod)
def prod_frule(tangents, a, axis=None, dtype=None, out=None, keepdims=NOT_GIVEN, initial=NOT_GIVEN, where=NOT_GIVEN):
    return prod_frule_of(np.prod, tangents, a, axis, dtype, out, keepdims, initial, where, kept=where)


@rrule.register(np.prod)
def prod_rrule(a, axis=None, dtype=None, out=None, keepdims=NOT_GIVEN, initial=NOT_GIVEN, where=NOT_GIVEN):
    return prod_rrule_of(np.prod, a, axis, dtype, out, keepdims, initial, where, kept=where)


# ---------------------------------------------------------------- max, min and ptp


def ties(a, y, axes, initial, kept):
    """Where an extremum is attained, by elements and by ``initial``, and in how many places.

    Elements that are NaN attain an extremum that is NaN. Where nothing does, the number of places is given as 1.
    """
    a = as_array(a)
    top = axes.restore(y)
    attained = a == top
    if np.any(top != top):
        attained = attained | (a != a)
    if kept is not NOT_GIVEN:
        attained = attained & kept
    count = axes.count(attained)
    if initial is NOT_GIVEN:
        return attained, False, np.maximum(count, 1)
    # `initial` is rounded to the array's precision before it is compared, so equality alone would miss it.
    by_initial = (initial == top) | (count == 0)
    return attained, by_initial, count + by_initial


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


def extremum_frule(f, tangents, a, axis, out, keepdims, initial, where, kept):
    """The pushforward of an extremum ``f`` of what is ``kept`` among the elements that ``where`` selects."""
    decline_out(out)
    da, dinitial = as_array_tangent(tangents[1], a), tangent_at(tangents, 4)
    y = f(a, **given(axis=axis, keepdims=keepdims, initial=initial, where=where))
    if isinstance(da, AbstractZero) and isinstance(dinitial, AbstractZero):
        return y, da
    axes = ReducedAxes(np.shape(a), axis)
    attained, by_initial, count = ties(a, y, axes, initial, kept)
    dy = da
    if not isinstance(da, AbstractZero):
        dy = np.sum(chosen(attained, da), **given(axis=axis, keepdims=True)) / count
    if not isinstance(dinitial, AbstractZero):
        dy = dy + np.where(by_initial, dinitial, 0) / count
    return y, project_to(y)(np.reshape(dy, np.shape(y)))


def extremum_rrule(f, a, axis, out, keepdims, initial, where, kept):
    decline_out(out)
    if type(a) is np.ndarray and a.dtype.kind == "f" and a.size and initial is where is NOT_GIVEN:
        return plain_extremum_rrule(f, a, axis, keepdims is not NOT_GIVEN and keepdims, kept)
    y = f(a, **given(axis=axis, keepdims=keepdims, initial=initial, where=where))
    return y, extremum_pullback_of(a, y, ReducedAxes(np.shape(a), axis), initial, kept)


def extremum_pullback_of(a, y, axes, initial, kept):
    project, project_initial = project_to(a), projector_of(initial)
    if project is project_initial is NON_DIFFERENTIABLE:  # integers, dates
        return lambda ybar: (NO_TANGENT,)
    attained, by_initial, count = ties(a, y, axes, initial, kept)

    def extremum_pullback(ybar):
        share = axes.share(ybar, count)
        initial_bar = project_initial(Thunk(lambda: np.sum(np.where(by_initial, share, 0))))
        return stop_early(NO_TANGENT, project(np.where(attained, share, 0)), *[NO_TANGENT] * 3, initial_bar)

    return extremum_pullback


REDUCTIONS = {np.max: np.maximum.reduce, np.min: np.minimum.reduce}


def plain_extremum_rrule(f, a, axis, keepdims, kept):
    """The rule of the most frequent calls, which seldom have a tie."""
    y = REDUCTIONS.get(f, f)(a, axis=axis, keepdims=keepdims)
    axes = ReducedAxes(a.shape, axis)
    single = SinglePlaces.of(a, y, axes)
    if single is None:
        return y, extremum_pullback_of(a, y, axes, NOT_GIVEN, kept)
    project = ArrayProjector(a.shape, a.dtype)

    def plain_extremum_pullback(ybar):
        ybar = unthunk(ybar)
        return NO_TANGENT, ybar if isinstance(ybar, AbstractZero) else project(single.scatter(ybar))

    return y, plain_extremum_pullback


@frule.register(np.max)
def max_frule(tangents, a, axis=None, out=None, keepdims=NOT_GIVEN, initial=NOT_GIVEN, where=NOT_GIVEN):
    return extremum_frule(np.max, tangents, a, axis, out, keepdims, initial, where, kept=where)


@rrule.register(np.max)
def max_rrule(a, axis=None, out=None, keepdims=NOT_GIVEN, initial=NOT_GIVEN, where=NOT_GIVEN):
    """ā = ȳ / k at the k elements that attain the maximum, and exactly 0 elsewhere."""
    return extremum_rrule(np.max, a, axis, out, keepdims, initial, where, kept=where)


@frule.register(np.min)
def min_frule(tangents, a, axis=None, out=None, keepdims=NOT_GIVEN, initial=NOT_GIVEN, where=NOT_GIVEN):
    return extremum_frule(np.min, tangents, a, axis, out, keepdims, initial, where, kept=where)


@rrule.register(np.min)
def min_rrule(a, axis=None, out=None, keepdims=NOT_GIVEN, initial=NOT_GIVEN, where=NOT_GIVEN):
    """ā = ȳ / k at the k elements that attain the minimum, and exactly 0 elsewhere."""
    return extremum_rrule(np.min, a, axis, out, keepdims, initial, where, kept=where)


@frule.register(np.ptp)
def ptp_frule(tangents, a, axis=None, out=None, keepdims=NOT_GIVEN):
    """ẏ is that of the maximum less that of the minimum."""
    decline_out(out)
    largest, smallest = (
        extremum_frule(f, tangents, a, axis, out, keepdims, NOT_GIVEN, NOT_GIVEN, NOT_GIVEN) for f in (np.max, np.min)
    )
    return largest[0] - smallest[0], largest[1] - smallest[1]


@rrule.register(np.ptp)
def ptp_rrule(a, axis=None, out=None, keepdims=NOT_GIVEN):
    """ā is that of the maximum less that of the minimum: 0 for a constant, which attains both everywhere."""
    decline_out(out)
    options = given(axis=axis, keepdims=keepdims)
    largest, smallest, axes = np.max(a, **options), np.min(a, **options), ReducedAxes(np.shape(a), axis)
    project, of_extrema = project_to(a), None
    if type(a) is np.ndarray and a.dtype.kind == "f" and a.size:
        of_extrema = SinglePlaces.of(a, largest, axes), SinglePlaces.of(a, smallest, axes)
    if of_extrema is None or None in of_extrema:
        of_max, of_min = (extremum_pullback_of(a, y, axes, NOT_GIVEN, NOT_GIVEN) for y in (largest, smallest))

        def ptp_pullback(ybar):
            (_, *of_largest), (_, *of_smallest) = of_max(ybar), of_min(ybar)
            return NO_TANGENT, *[project(x - z) for x, z in zip(of_largest, of_smallest, strict=True)]

        return largest - smallest, ptp_pullback
    of_max, of_min = of_extrema

    def single_ptp_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return NO_TANGENT, ybar
        abar = of_max.scatter(ybar)
        if is_plain(ybar):
            of_min.add_to(abar, -ybar)
            return NO_TANGENT, abar
        return NO_TANGENT, project(abar - of_min.scatter(ybar))

    return largest - smallest, single_ptp_pullback


# The methods have the same positional parameters; np.amax and np.amin are functions of their own.
for name in ("sum", "mean", "prod", "max", "min"):
    rrule.alias(getattr(np.ndarray, name), getattr(np, name))
rrule.alias(np.amax, np.max)
rrule.alias(np.amin, np.min)
