"""Rules that rearrange elements without computing: transposing, reshaping, adding and removing axes, joining arrays.

Selecting elements (``operator.getitem``, ``np.where``) lives in `indexing` and `selection`.
"""

import functools
import itertools
import math

import numpy as np

from rules.numpy.array_like import as_array_tangent, shape_of
from rules.numpy.reduced_axes import NOT_GIVEN, given
from rulescore import AbstractZero, NoTangent, Tangent, frule, linear_rule, project_to, rrule, unbroadcast
from rulescore.tangents.projection import NON_DIFFERENTIABLE

NO_TANGENT = NoTangent()

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
def ndarray_transpose_frule(tangents, a, /, *axes):
    return a.transpose(*axes), tangents[1].transpose(*axes)


@rrule.register(np.ndarray.transpose)
def ndarray_transpose_rrule(a, /, *axes):
    """The axes come one by one, as one tuple, or not at all, which reverses them."""
    project = project_to(a)
    one_by_one = axes and not (axes[0] is None or np.ndim(axes[0]))
    inverse = inverse_permutation(axes if one_by_one else axes[0] if axes else None)

    def transpose_pullback(ybar):
        return NO_TANGENT, project(np.transpose(ybar, inverse))

    return a.transpose(*axes), transpose_pullback


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


def reshaping_frule(f, da, a, order):
    """The pushforward of ``y = f(a)``, which reads and writes the elements in ``order``."""
    y = f(a)
    if isinstance(da, AbstractZero):
        return y, da
    return y, np.reshape(as_array_tangent(da, a), np.shape(y), **unless_c(resolved_order(a, order)))


def reshaping_rrule(f, a, order):
    """The pullback of ``y = f(a)``, which reads and writes the elements in ``order``."""
    project, shape, order = project_to(a), np.shape(a), resolved_order(a, order)

    def reshape_pullback(ybar):
        return NO_TANGENT, project(np.reshape(ybar, shape, **unless_c(order)))

    return f(a), reshape_pullback


@frule.register(np.reshape)
def reshape_frule(tangents, a, /, shape, order="C", *, copy=None):
    return reshaping_frule(lambda a: np.reshape(a, shape, **unless_c(order), **given(copy=copy)), tangents[1], a, order)


@rrule.register(np.reshape)
def reshape_rrule(a, /, shape, order="C", *, copy=None):
    return reshaping_rrule(lambda a: np.reshape(a, shape, **unless_c(order), **given(copy=copy)), a, order)


@frule.register(np.ndarray.reshape)
def ndarray_reshape_frule(tangents, a, /, *shape, order="C", copy=None):
    return reshaping_frule(lambda a: a.reshape(*shape, **unless_c(order), **given(copy=copy)), tangents[1], a, order)


@rrule.register(np.ndarray.reshape)
def ndarray_reshape_rrule(a, /, *shape, order="C", copy=None):
    """The lengths come one by one or as one tuple."""
    return reshaping_rrule(lambda a: a.reshape(*shape, **unless_c(order), **given(copy=copy)), a, order)


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


def flattening_frule(f, da, a, order):
    """The pushforward of ``y = f(a)``, all elements in ``order``."""
    if order != "K" or isinstance(da, AbstractZero):
        return reshaping_frule(f, da, a, order)
    return f(a), np.reshape(np.transpose(as_array_tangent(da, a), memory_axes(a)), -1)


def flattening_rrule(f, a, order):
    """The pullback of ``y = f(a)``, all elements in ``order``."""
    if order != "K":
        return reshaping_rrule(f, a, order)
    project, axes = project_to(a), memory_axes(a)
    lengths, inverse = [np.shape(a)[axis] for axis in axes], inverse_permutation(axes)

    def flatten_pullback(ybar):
        return NO_TANGENT, project(np.transpose(np.reshape(ybar, lengths), inverse))

    return f(a), flatten_pullback


@frule.register(np.ravel)
def ravel_frule(tangents, a, order="C"):
    return flattening_frule(lambda a: np.ravel(a, **unless_c(order)), tangents[1], a, order)


@rrule.register(np.ravel)
def ravel_rrule(a, order="C"):
    return flattening_rrule(lambda a: np.ravel(a, **unless_c(order)), a, order)


@frule.register(np.ndarray.flatten)
def flatten_frule(tangents, a, /, order="C"):
    return flattening_frule(lambda a: a.flatten(**unless_c(order)), tangents[1], a, order)


@rrule.register(np.ndarray.flatten)
def flatten_rrule(a, /, order="C"):
    return flattening_rrule(lambda a: a.flatten(**unless_c(order)), a, order)


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
    if isinstance(darrays, AbstractZero):
        return y, darrays
    project = project_to(y)
    if project is NON_DIFFERENTIABLE:
        return y, NO_TANGENT
    return y, project(f(tangents_of_items(darrays, arrays, y.dtype), **given(casting=casting)))


def joining_rrule(f, cut, arrays, dtype, casting):
    """The pullback of ``y = f(arrays)``, where ``cut(ybar)`` gives the pieces, one for each array."""
    y = f(arrays, **given(dtype=dtype, casting=casting))
    is_array = not isinstance(arrays, (list, tuple))  # its items then lie along its first axis
    kind, projects = type(arrays), [project_to(array) for array in arrays]

    def join_pullback(ybar):
        if isinstance(ybar, AbstractZero):
            return NO_TANGENT, ybar
        if all(project is NON_DIFFERENTIABLE for project in projects):
            return NO_TANGENT, NO_TANGENT
        bars = [project(piece) for project, piece in zip(projects, cut(ybar), strict=True)]
        return NO_TANGENT, np.stack(bars) if is_array else Tangent(kind, *bars)

    return y, join_pullback


@frule.register(np.concatenate)
def concatenate_frule(tangents, arrays, /, axis=0, *, dtype=None, casting=NOT_GIVEN):
    return joining_frule(functools.partial(np.concatenate, axis=axis), tangents[1], arrays, dtype, casting)


@rrule.register(np.concatenate)
def concatenate_rrule(arrays, /, axis=0, *, dtype=None, casting=NOT_GIVEN):
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
def stack_frule(tangents, arrays, axis=0, *, dtype=None, casting=NOT_GIVEN):
    return joining_frule(functools.partial(np.stack, axis=axis), tangents[1], arrays, dtype, casting)


@rrule.register(np.stack)
def stack_rrule(arrays, axis=0, *, dtype=None, casting=NOT_GIVEN):
    """The cotangent of each array is the layer of ȳ that it filled."""
    count = len(arrays)

    def cut(ybar):
        before = (slice(None),) * (axis % ybar.ndim)
        return [ybar[(*before, i)] for i in range(count)]

    return joining_rrule(functools.partial(np.stack, axis=axis), cut, arrays, dtype, casting)
