"""Rules that rearrange elements without computing: transposing, reshaping, adding and removing axes, joining arrays.

Selecting elements (``operator.getitem``, ``np.where``) lives in `indexing` and `selection`.
"""

import functools
import itertools
import math

import numpy as np
from rulescore import AbstractZero, Tangent, frule, linear_rule, pullback_wrt, pushforward, rrule, unbroadcast
from rulescore.typing import Array, Arrays, Axis, Choice, DType, Flag, OutputAndPullback, OutputAndTangent, Shape

from .array_like import as_array_tangent, shape_of
from .reduced_axes import NOT_GIVEN, given

# ---------------------------------------------------------------- axes: ȳ moved back


def inverse_permutation(axes):
    """The axes that undo a transposition; of negative numbers too."""
    return None if axes is None else np.argsort([axis % len(axes) for axis in axes]).tolist()


linear_rule(np.transpose, lambda ybar, a, axes=None: np.transpose(ybar, inverse_permutation(axes)))
linear_rule(np.swapaxes, lambda ybar, a, axis1, axis2: np.swapaxes(ybar, axis1, axis2))
linear_rule(np.moveaxis, lambda ybar, a, source, destination: np.moveaxis(ybar, destination, source))
linear_rule(np.matrix_transpose, lambda ybar, x, /: np.matrix_transpose(ybar))

rrule.alias(np.ndarray.swapaxes, np.swapaxes)


@frule.register(np.ndarray.transpose)
@pushforward
def ndarray_transpose_frule(da: Array, a: Array, /, *axes: Axis) -> OutputAndTangent:
    return a.transpose(*axes), da.transpose(*axes)


@rrule.register(np.ndarray.transpose)
def ndarray_transpose_rrule(a: Array, /, *axes: Axis) -> OutputAndPullback:
    """The axes come one by one, as one tuple, or not at all, which reverses them."""
    one_by_one = axes and not (axes[0] is None or np.ndim(axes[0]))
    inverse = inverse_permutation(axes if one_by_one else axes[0] if axes else None)
    return a.transpose(*axes), pullback_wrt(a)(lambda ybar: np.transpose(ybar, inverse))


# ---------------------------------------------------------------- lengths: ȳ in the shape of the argument

linear_rule(np.expand_dims, lambda ybar, a, axis: np.reshape(ybar, np.shape(a)))
linear_rule(np.squeeze, lambda ybar, a, axis=None: np.reshape(ybar, np.shape(a)))
linear_rule(np.broadcast_to, lambda ybar, array, shape, subok=False: unbroadcast(ybar, np.shape(array)))

rrule.alias(np.ndarray.squeeze, np.squeeze)


def unless_c(order):
    """``order=`` where it is not the default: other array libraries know the order "C" alone."""
    return {} if order == "C" else {"order": order}


def resolved_order(a, order):
    """The order that "A" stands for: "F" for an array that is Fortran contiguous and not C contiguous, else "C"."""
    if order != "A":
        return order
    flags = getattr(a, "flags", None)
    return "F" if flags is not None and flags.fnc else "C"


def reshaping_tangent(da, a, y, order):
    """The tangent of ``y``, which has the elements of ``a``, read and written in ``order``."""
    return np.reshape(as_array_tangent(da, a), np.shape(y), **unless_c(resolved_order(a, order)))


def reshaping_pullback(a, order):
    """The pullback of what reads and writes the elements of ``a`` in ``order``."""
    shape, order = np.shape(a), resolved_order(a, order)
    return pullback_wrt(a)(lambda ybar: np.reshape(ybar, shape, **unless_c(order)))


@frule.register(np.reshape)
@pushforward
def reshape_frule(da: Array, a: Array, /, shape: Shape, order: Choice = "C", *, copy: Flag = None) -> OutputAndTangent:
    y = np.reshape(a, shape, **unless_c(order), **given(copy=copy))
    return y, reshaping_tangent(da, a, y, order)


@rrule.register(np.reshape)
def reshape_rrule(a: Array, /, shape: Shape, order: Choice = "C", *, copy: Flag = None) -> OutputAndPullback:
    return np.reshape(a, shape, **unless_c(order), **given(copy=copy)), reshaping_pullback(a, order)


@frule.register(np.ndarray.reshape)
@pushforward
def ndarray_reshape_frule(
    da: Array, a: Array, /, *shape: Shape, order: Choice = "C", copy: Flag = None
) -> OutputAndTangent:
    y = a.reshape(*shape, **unless_c(order), **given(copy=copy))
    return y, reshaping_tangent(da, a, y, order)


@rrule.register(np.ndarray.reshape)
def ndarray_reshape_rrule(a: Array, /, *shape: Shape, order: Choice = "C", copy: Flag = None) -> OutputAndPullback:
    """The lengths come one by one or as one tuple."""
    return a.reshape(*shape, **unless_c(order), **given(copy=copy)), reshaping_pullback(a, order)


def memory_axes(a):
    """The axes of ``a`` as they lie in memory: in this order a reading row by row is one in order "K"."""
    if not hasattr(a, "strides"):
        return range(np.ndim(a))
    fastest = []  # as NumPy sorts them: axes of stride 0 stay between those that they stand between
    for axis in reversed(range(a.ndim)):
        outer, place = abs(a.strides[axis]), len(fastest)
        for i in reversed(range(len(fastest))):
            inner = abs(a.strides[fastest[i]])
            if inner and outer:
                if inner <= outer:
                    break
                place = i
        fastest.insert(place, axis)
    return fastest[::-1]


def flattening_tangent(da, a, y, order):
    """The tangent of ``y``, all elements of ``a`` in ``order``."""
    if order != "K":
        return reshaping_tangent(da, a, y, order)
    return np.reshape(np.transpose(as_array_tangent(da, a), memory_axes(a)), -1)


def flattening_pullback(a, order):
    """The pullback of all elements of ``a`` in ``order``."""
    if order != "K":
        return reshaping_pullback(a, order)
    axes = memory_axes(a)
    lengths, inverse = [np.shape(a)[axis] for axis in axes], inverse_permutation(axes)
    return pullback_wrt(a)(lambda ybar: np.transpose(np.reshape(ybar, lengths), inverse))


@frule.register(np.ravel)
@pushforward
def ravel_frule(da: Array, a: Array, order: Choice = "C") -> OutputAndTangent:
    y = np.ravel(a, **unless_c(order))
    return y, flattening_tangent(da, a, y, order)


@rrule.register(np.ravel)
def ravel_rrule(a: Array, order: Choice = "C") -> OutputAndPullback:
    return np.ravel(a, **unless_c(order)), flattening_pullback(a, order)


@frule.register(np.ndarray.flatten)
@pushforward
def flatten_frule(da: Array, a: Array, /, order: Choice = "C") -> OutputAndTangent:
    y = a.flatten(**unless_c(order))
    return y, flattening_tangent(da, a, y, order)


@rrule.register(np.ndarray.flatten)
def flatten_rrule(a: Array, /, order: Choice = "C") -> OutputAndPullback:
    return a.flatten(**unless_c(order)), flattening_pullback(a, order)


rrule.alias(np.ndarray.ravel, np.ravel)

# ---------------------------------------------------------------- joining: ȳ cut into the pieces


def tangents_of_items(darrays, arrays, dtype):
    """A tangent for each item of a sequence of arrays, zeros where there is none."""
    items = darrays if isinstance(darrays, Tangent) else list(darrays)
    return [
        np.zeros(shape_of(array), dtype) if isinstance(item, AbstractZero) else as_array_tangent(item, array)
        for item, array in zip(items, arrays, strict=True)
    ]


def joining_frule(f, darrays, arrays, dtype, casting):
    """The pushforward of ``y = f(arrays)``: the tangents joined alike."""
    y = f(arrays, **given(dtype=dtype, casting=casting))
    return y, f(tangents_of_items(darrays, arrays, y.dtype), **given(casting=casting))


def joining_rrule(f, cut, arrays, dtype, casting):
    """The pullback of ``y = f(arrays)``, where ``cut(ybar)`` gives the pieces, one for each array."""
    kind = type(arrays) if isinstance(arrays, (list, tuple)) else None  # None for an array, along its first axis

    @pullback_wrt(arrays)
    def join_pullback(ybar):
        pieces = cut(ybar)
        return np.stack(pieces) if kind is None else Tangent(kind, *pieces)

    return f(arrays, **given(dtype=dtype, casting=casting)), join_pullback


@frule.register(np.concatenate)
@pushforward
def concatenate_frule(
    darrays: Arrays, arrays: Arrays, /, axis: Axis = 0, *, dtype: DType = None, casting: Choice = NOT_GIVEN
) -> OutputAndTangent:
    return joining_frule(functools.partial(np.concatenate, axis=axis), darrays, arrays, dtype, casting)


@rrule.register(np.concatenate)
def concatenate_rrule(
    arrays: Arrays, /, axis: Axis = 0, *, dtype: DType = None, casting: Choice = NOT_GIVEN
) -> OutputAndPullback:
    """The cotangent of each array is the slice of ȳ that it filled; with ``axis=None``, in its own shape."""
    shapes = [shape_of(array) for array in arrays]
    lengths = [math.prod(shape) if axis is None else shape[axis] for shape in shapes]
    bounds = list(itertools.pairwise(itertools.accumulate(lengths, initial=0)))

    def cut(ybar):
        if axis is None:
            return [np.reshape(ybar[i:j], shape) for (i, j), shape in zip(bounds, shapes, strict=True)]
        before = (slice(None),) * (axis % ybar.ndim)
        return [ybar[(*before, slice(i, j))] for i, j in bounds]

    return joining_rrule(functools.partial(np.concatenate, axis=axis), cut, arrays, dtype, casting)


@frule.register(np.stack)
@pushforward
def stack_frule(
    darrays: Arrays, arrays: Arrays, axis: Axis = 0, *, dtype: DType = None, casting: Choice = NOT_GIVEN
) -> OutputAndTangent:
    return joining_frule(functools.partial(np.stack, axis=axis), darrays, arrays, dtype, casting)


@rrule.register(np.stack)
def stack_rrule(
    arrays: Arrays, axis: Axis = 0, *, dtype: DType = None, casting: Choice = NOT_GIVEN
) -> OutputAndPullback:
    """The cotangent of each array is the layer of ȳ that it filled."""
    count = len(arrays)

    def cut(ybar):
        before = (slice(None),) * (axis % ybar.ndim)
        return [ybar[(*before, i)] for i in range(count)]

    return joining_rrule(functools.partial(np.stack, axis=axis), cut, arrays, dtype, casting)
