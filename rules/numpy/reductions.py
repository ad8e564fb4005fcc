"""Rules of the reductions sum, mean, prod, max and min, with all their keywords.

The variance and what is made of it is in `moments`; scans (``cumsum``) and order statistics are not here.
"""

import numpy as np

from rules.numpy.array_like import as_array, as_array_tangent, conj
from rules.numpy.reduced_axes import (
    NO_TANGENT,
    NOT_GIVEN,
    ReducedAxes,
    decline_discarded_imaginary_part,
    decline_out,
    given,
    masked,
    projector_of,
    stop_early,
    tangent_at,
)
from rulescore import AbstractZero, StaticForm, Thunk, frule, project_to, rrule, unthunk
from rulescore.projection import NON_DIFFERENTIABLE, ArrayProjector

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
    if type(ybar) is not np.ndarray and not isinstance(ybar, np.floating):
        return ArrayProjector(a.shape, a.dtype)(ReducedAxes(a.shape, None).spread(ybar))
    abar = np.empty(a.shape, a.dtype)
    abar[...] = ybar
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


@rrule.register(np.mean)
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


# ---------------------------------------------------------------- prod


def products_of_others(a, axis, dtype):
    """Πⱼ≠ᵢ aⱼ for every i: what stands before times what stands after.

    Without a division, so that it is exact with any number of zeros and where the whole product under- or overflows.
    """
    axes = ReducedAxes(np.shape(a), axis)
    if axes.length == 0:
        return a
    kept = [i for i in range(np.ndim(a)) if i not in axes.reduced]
    order = (*kept, *axes.reduced)
    in_order = np.transpose(a, order)
    outer = in_order.shape[: len(kept)]
    factors = np.reshape(in_order, (*outer, axes.length))
    one = np.ones((*outer, 1), factors.dtype)
    before = np.cumprod(np.concatenate([one, factors[..., :-1]], axis=-1), axis=-1, dtype=dtype)
    after = np.cumprod(np.concatenate([one, factors[..., :0:-1]], axis=-1), axis=-1, dtype=dtype)[..., ::-1]
    with np.errstate(over="ignore", invalid="ignore"):
        others = before * after
        meaningless = np.isnan(others) & ~np.isnan(before + after)
        if np.any(meaningless):  # 0·∞, where the zero is exact and the infinity has overflowed
            others = np.where(meaningless, 0, others)
    return np.transpose(np.reshape(others, in_order.shape), np.argsort(order))


def factors_of(a, where):
    """The numbers that a product multiplies: 1 for what ``where`` leaves out."""
    a = as_array(a)
    return a if where is NOT_GIVEN else np.where(where, a, np.ones((), a.dtype))


@frule.register(np.prod)
def prod_frule(tangents, a, axis=None, dtype=None, out=None, keepdims=NOT_GIVEN, initial=NOT_GIVEN, where=NOT_GIVEN):
    decline_out(out)
    decline_discarded_imaginary_part(a, dtype)
    da, dinitial = as_array_tangent(tangents[1], a), tangent_at(tangents, 5)
    linear = given(axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    y = np.prod(a, **linear, **given(initial=initial))
    dy = da
    if not isinstance(da, AbstractZero):
        dy = np.sum(products_of_others(factors_of(a, where), axis, dtype) * da, **linear)
        dy = dy if initial is NOT_GIVEN else dy * initial
    if not isinstance(dinitial, AbstractZero):
        dy = dy + np.prod(a, **linear) * dinitial
    return y, project_to(y)(dy)


@rrule.register(np.prod)
def prod_rrule(a, axis=None, dtype=None, out=None, keepdims=NOT_GIVEN, initial=NOT_GIVEN, where=NOT_GIVEN):
    """y = initial · Π a, hence āᵢ = conj(initial · Πⱼ≠ᵢ aⱼ) ȳ."""
    decline_out(out)
    decline_discarded_imaginary_part(a, dtype)
    linear = given(axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    y = np.prod(a, **linear, **given(initial=initial))
    project, project_initial, axes = project_to(a), projector_of(initial), ReducedAxes(np.shape(a), axis)

    def prod_pullback(ybar):
        others = products_of_others(factors_of(a, where), axis, dtype)
        scale = axes.restore(ybar) if initial is NOT_GIVEN else axes.restore(ybar) * np.conjugate(initial)
        abar = project(masked(where, conj(others) * scale))
        initial_bar = project_initial(Thunk(lambda: np.sum(np.conjugate(np.prod(a, **linear)) * ybar)))
        return stop_early(NO_TANGENT, abar, *[NO_TANGENT] * 4, initial_bar)

    return y, prod_pullback


# ---------------------------------------------------------------- max and min


def ties(a, y, axes, initial, where):
    """Where an extremum is attained, by elements and by ``initial``, and in how many places.

    Elements that are NaN attain an extremum that is NaN.
    """
    a = as_array(a)
    top = axes.restore(y)
    attained = a == top
    if np.any(top != top):
        attained = attained | (a != a)
    if where is not NOT_GIVEN:
        attained = attained & where
    count = axes.count(attained)
    if initial is NOT_GIVEN:
        return attained, False, count
    # `initial` is rounded to the array's precision before it is compared, so equality alone would miss it.
    by_initial = (initial == top) | (count == 0)
    return attained, by_initial, count + by_initial


def extremum_frule(f, tangents, a, axis, out, keepdims, initial, where):
    decline_out(out)
    da, dinitial = as_array_tangent(tangents[1], a), tangent_at(tangents, 4)
    y = f(a, **given(axis=axis, keepdims=keepdims, initial=initial, where=where))
    if isinstance(da, AbstractZero) and isinstance(dinitial, AbstractZero):
        return y, da
    axes = ReducedAxes(np.shape(a), axis)
    attained, by_initial, count = ties(a, y, axes, initial, where)
    dy = da
    if not isinstance(da, AbstractZero):
        dy = np.sum(np.where(attained, da, 0), **given(axis=axis, keepdims=True)) / count
    if not isinstance(dinitial, AbstractZero):
        dy = dy + np.where(by_initial, dinitial, 0) / count
    return y, project_to(y)(np.reshape(dy, np.shape(y)))


def extremum_rrule(f, a, axis, out, keepdims, initial, where):
    decline_out(out)
    y = f(a, **given(axis=axis, keepdims=keepdims, initial=initial, where=where))
    project, project_initial = project_to(a), projector_of(initial)
    if project is project_initial is NON_DIFFERENTIABLE:  # integers, dates
        return y, lambda ybar: (NO_TANGENT,)
    axes = ReducedAxes(np.shape(a), axis)
    attained, by_initial, count = ties(a, y, axes, initial, where)

    def extremum_pullback(ybar):
        share = axes.share(ybar, count)
        initial_bar = project_initial(Thunk(lambda: np.sum(np.where(by_initial, share, 0))))
        return stop_early(NO_TANGENT, project(np.where(attained, share, 0)), *[NO_TANGENT] * 3, initial_bar)

    return y, extremum_pullback


@frule.register(np.max)
def max_frule(tangents, a, axis=None, out=None, keepdims=NOT_GIVEN, initial=NOT_GIVEN, where=NOT_GIVEN):
    return extremum_frule(np.max, tangents, a, axis, out, keepdims, initial, where)


@rrule.register(np.max)
def max_rrule(a, axis=None, out=None, keepdims=NOT_GIVEN, initial=NOT_GIVEN, where=NOT_GIVEN):
    """ā = ȳ / k at the k elements that attain the maximum, and exactly 0 elsewhere."""
    return extremum_rrule(np.max, a, axis, out, keepdims, initial, where)


@frule.register(np.min)
def min_frule(tangents, a, axis=None, out=None, keepdims=NOT_GIVEN, initial=NOT_GIVEN, where=NOT_GIVEN):
    return extremum_frule(np.min, tangents, a, axis, out, keepdims, initial, where)


@rrule.register(np.min)
def min_rrule(a, axis=None, out=None, keepdims=NOT_GIVEN, initial=NOT_GIVEN, where=NOT_GIVEN):
    """ā = ȳ / k at the k elements that attain the minimum, and exactly 0 elsewhere."""
    return extremum_rrule(np.min, a, axis, out, keepdims, initial, where)


# The methods have the same positional parameters; np.amax and np.amin are functions of their own.
for name in ("sum", "mean", "prod", "max", "min"):
    rrule.alias(getattr(np.ndarray, name), getattr(np, name))
rrule.alias(np.amax, np.max)
rrule.alias(np.amin, np.min)
