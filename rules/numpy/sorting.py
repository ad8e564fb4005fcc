"""Rules that put elements in order of their size, and of those that pick elements by their number or by a condition.

Sorting and partitioning share a cotangent equally among ties; what stands in order of its size does not depend on
which of two equal elements came first. So ``sort(x)[-1]`` has the derivative of ``max(x)``.
"""

import functools

from multipledispatch import MDNotImplementedError

import numpy as np
from rulescore import (
    Selected,
    Tangent,
    apply_linear,
    frule,
    is_differentiable,
    no_tangent_pullback,
    project_to,
    pullback_wrt,
    pushforward,
    rrule,
    unbroadcast,
)
from rulescore.typing import (
    Array,
    Arrays,
    Axis,
    Choice,
    Flag,
    Index,
    Mask,
    OutputAndPullback,
    OutputAndTangent,
    Tangents,
)

from .array_like import as_array, as_array_tangent, shape_of
from .indexing import named, scatter
from .reduced_axes import decline_out
from .shape import tangents_of_items

# ---------------------------------------------------------------- picking by number: ȳ added in its place


def picked_bar(a, y, numbers, axis, by_mask=False):
    """How ȳ becomes ā, where ``y`` are the elements of these numbers along the axis; of all without one.

    What a mask leaves out stays zero, whatever slope it meets on its way.
    """
    shape, dtype = np.shape(a), y.dtype
    lengths, index = (int(np.prod(shape)),), (numbers,)
    if axis is not None and shape:
        lengths, index = shape, (*(slice(None),) * (axis % len(shape)), numbers)

    def a_bar(ybar):
        abar = np.reshape(scatter(ybar, index, lengths, dtype), shape)
        return Selected(lambda: abar, np.reshape(named(index, lengths), shape)) if by_mask else abar

    return a_bar


def in_range(numbers, length, mode):
    """The numbers of elements that those beyond the end stand for, as integers for indexing."""
    numbers = np.asarray(numbers)
    numbers = numbers.astype(np.intp) if numbers.dtype.kind != "i" else numbers
    if mode == "wrap":
        return numbers % length if numbers.size else numbers
    return np.clip(numbers, 0, length - 1) if mode == "clip" else numbers


def length_along(a, axis):
    """How many elements there are to pick from; what has no axes is an array of length 1 for NumPy."""
    return np.size(a) if axis is None or not np.ndim(a) else np.shape(a)[axis]


@frule.register(np.take)
def take_frule(
    tangents: Tangents, a: Array, indices: Index, axis: Axis = None, out: Array = None, mode: Choice = "raise"
) -> OutputAndTangent:
    decline_out(out)  # along zeros too, for which a `pushforward` is not asked
    f = functools.partial(np.take, indices=indices, axis=axis, mode=mode)
    return f(a), apply_linear(f, as_array_tangent(tangents[1], a))


@rrule.register(np.take)
def take_rrule(
    a: Array, indices: Index, axis: Axis = None, out: Array = None, mode: Choice = "raise"
) -> OutputAndPullback:
    """y = a[..., i, ...], hence ȳ is added to ā[..., i, ...]; an element that is taken twice gets the sum."""
    decline_out(out)
    y = np.take(a, indices, axis=axis, mode=mode)
    numbers = in_range(indices, length_along(a, axis), mode)
    return y, pullback_wrt(a)(picked_bar(a, y, numbers, axis))


@frule.register(np.compress)
def compress_frule(
    tangents: Tangents, condition: Mask, a: Array, axis: Axis = None, out: Array = None
) -> OutputAndTangent:
    decline_out(out)
    f = functools.partial(np.compress, condition, axis=axis)
    return f(a), apply_linear(f, as_array_tangent(tangents[2], a))


@rrule.register(np.compress)
def compress_rrule(condition: Mask, a: Array, axis: Axis = None, out: Array = None) -> OutputAndPullback:
    """The condition may be shorter than the axis, whose other elements are then left out."""
    decline_out(out)
    y = np.compress(condition, a, axis=axis)
    return y, pullback_wrt(..., a)(picked_bar(a, y, np.flatnonzero(condition), axis, by_mask=True))


@frule.register(np.ndarray.compress)
@pushforward
def ndarray_compress_frule(
    da: Array, _dcondition: Mask, a: Array, /, condition: Mask, axis: Axis = None, out: Array = None
) -> OutputAndTangent:
    decline_out(out)
    return np.compress(condition, a, axis=axis), np.compress(condition, da, axis=axis)


@rrule.register(np.ndarray.compress)
def ndarray_compress_rrule(a: Array, /, condition: Mask, axis: Axis = None, out: Array = None) -> OutputAndPullback:
    decline_out(out)
    y = np.compress(condition, a, axis=axis)
    return y, pullback_wrt(a)(picked_bar(a, y, np.flatnonzero(condition), axis, by_mask=True))


@frule.register(np.extract)
@pushforward
def extract_frule(_dcondition: Mask, darr: Array, condition: Mask, arr: Array) -> OutputAndTangent:
    return np.extract(condition, arr), np.extract(condition, as_array_tangent(darr, arr))


@rrule.register(np.extract)
def extract_rrule(condition: Mask, arr: Array) -> OutputAndPullback:
    y = np.extract(condition, arr)
    return y, pullback_wrt(..., arr)(picked_bar(arr, y, np.flatnonzero(condition), None, by_mask=True))


@frule.register(np.delete)
@pushforward
def delete_frule(darr: Array, arr: Array, obj: Index, axis: Axis = None) -> OutputAndTangent:
    return np.delete(arr, obj, axis), np.delete(as_array_tangent(darr, arr), obj, axis)


@rrule.register(np.delete)
def delete_rrule(arr: Array, obj: Index, axis: Axis = None) -> OutputAndPullback:
    """What is kept gets its part of ȳ, what is deleted 0."""
    y = np.delete(arr, obj, axis)
    kept = np.delete(np.arange(length_along(arr, axis)), obj)
    is_a_mask = getattr(obj, "dtype", np.dtype(int)).kind == "b"
    return y, pullback_wrt(arr)(picked_bar(arr, y, kept, axis, by_mask=is_a_mask))


@frule.register(np.take_along_axis)
@pushforward
def take_along_axis_frule(darr: Array, arr: Array, indices: Index, axis: Axis = -1) -> OutputAndTangent:
    darr = as_array_tangent(darr, arr)
    return np.take_along_axis(arr, indices, axis), np.take_along_axis(darr, indices, axis)


@rrule.register(np.take_along_axis)
def take_along_axis_rrule(arr: Array, indices: Index, axis: Axis = -1) -> OutputAndPullback:
    """As `take_rrule`, with other numbers in each row."""
    y = np.take_along_axis(arr, indices, axis)
    shape, dtype = np.shape(arr), y.dtype

    @pullback_wrt(arr)
    def take_along_axis_pullback(ybar):
        lengths = (int(np.prod(shape)),) if axis is None else shape
        index = index_along(indices, lengths, 0 if axis is None else axis % len(shape))
        return np.reshape(scatter(ybar, index, lengths, dtype), shape)

    return y, take_along_axis_pullback


def index_along(indices, shape, axis):
    """The index that stands for the numbers of elements along an axis, in each row those of that row."""
    rows = [np.reshape(np.arange(n), (-1,) + (1,) * (len(shape) - i - 1)) for i, n in enumerate(shape)]
    return (*rows[:axis], indices, *rows[axis + 1 :])


# ---------------------------------------------------------------- inserting


@frule.register(np.insert)
@pushforward
def insert_frule(
    darr: Array, dvalues: Array, arr: Array, obj: Index, values: Array, axis: Axis = None
) -> OutputAndTangent:
    y = np.insert(as_array(arr), obj, as_array(values), axis)
    darr, dvalues = tangents_of_items((darr, dvalues), (arr, values), y.dtype)
    # The values are converted to the type of the array, and lose their imaginary part in one of real numbers.
    return y, np.insert(darr, obj, dvalues if y.dtype.kind == "c" else np.real(dvalues), axis)


@rrule.register(np.insert)
def insert_rrule(arr: Array, obj: Index, values: Array, axis: Axis = None) -> OutputAndPullback:
    """Inserting the numbers of elements into each other tells where each element of y comes from."""
    y = np.insert(as_array(arr), obj, as_array(values), axis)
    if not is_differentiable(y):  # the values are rounded
        return y, no_tangent_pullback
    shape, narrow, dtype = shape_of(arr), shape_of(values), y.dtype
    of_arr, of_values = (np.reshape(np.arange(np.prod(s, dtype=int)), s) for s in (shape, narrow))
    origins = np.ravel(np.insert(of_arr, obj, -1 - of_values, axis))
    is_from_arr = origins >= 0

    def from_places(ybar, places, numbers, shape):
        size = int(np.prod(shape))
        return np.reshape(scatter(np.reshape(ybar, -1)[places], numbers, (size,), dtype), shape)

    def arr_bar(ybar):
        return from_places(ybar, is_from_arr, origins[is_from_arr], shape)

    def values_bar(ybar):
        return from_places(ybar, ~is_from_arr, -1 - origins[~is_from_arr], narrow)

    return y, pullback_wrt(arr, ..., values)(arr_bar, values_bar)


# ---------------------------------------------------------------- choosing between arrays


def items_of(choices, bars):
    """Cotangents of the items, as one of what holds them: a list, a tuple, or an array along its first axis."""
    return Tangent(type(choices), *bars) if isinstance(choices, (list, tuple)) else np.stack(bars)


def items_as_arrays(choices):
    """The choices, with arrays in the place of lists."""
    return [as_array(x) for x in choices] if isinstance(choices, (list, tuple)) else choices


@frule.register(np.choose)
def choose_frule(
    tangents: Tangents, a: Array, choices: Arrays, out: Array = None, mode: Choice = "raise"
) -> OutputAndTangent:
    decline_out(out)
    y, numbers = np.choose(a, items_as_arrays(choices), mode=mode), in_range(a, len(choices), mode)

    def chosen_tangent(dchoices):
        dy = np.zeros(np.shape(y), y.dtype)
        for k, (dx, x) in enumerate(zip(list(dchoices), choices, strict=True)):
            dy = np.where(numbers == k, as_array_tangent(dx, x), dy)
        return dy

    return y, project_to(y)(apply_linear(chosen_tangent, tangents[2]))


@rrule.register(np.choose)
def choose_rrule(a: Array, choices: Arrays, out: Array = None, mode: Choice = "raise") -> OutputAndPullback:
    """Each array gets ȳ where it was chosen and exactly 0 elsewhere, whatever stands there."""
    decline_out(out)
    numbers, shapes = in_range(a, len(choices), mode), [shape_of(x) for x in choices]

    @pullback_wrt(..., choices)
    def choose_pullback(ybar):
        def chosen(k):
            return Selected(lambda: np.where(numbers == k, ybar, 0), numbers == k)

        return items_of(choices, [unbroadcast(chosen(k), shape) for k, shape in enumerate(shapes)])

    return np.choose(a, items_as_arrays(choices), mode=mode), choose_pullback


rrule.alias(np.ndarray.take, np.take)
rrule.alias(np.ndarray.choose, np.choose)

# ---------------------------------------------------------------- order of size


class Ranks:
    """Which elements of an array, along its last axis, stand where when they are sorted.

    Attributes
    ----------
    order : ndarray
        The numbers of the elements in order of their size.
    groups, sizes : ndarray or None
        For each place in that order, in one row, the number of the group of equal elements there; how many there
        are in each group. None when no two elements are equal.
    """

    __slots__ = ("groups", "order", "sizes")

    def __init__(self, order, in_order):
        self.order, self.groups, self.sizes = order, None, None
        is_new = np.ones(np.shape(order), bool)
        is_new[..., 1:] = in_order[..., 1:] != in_order[..., :-1]
        if not is_new.all():
            self.groups = np.cumsum(is_new) - 1
            self.sizes = np.bincount(self.groups)

    def sort(self, x):
        """Something that belongs to the elements, in their order; the mean of it where they are equal."""
        return self.shared(np.take_along_axis(x, self.order, -1))

    def unsort(self, x):
        """The transpose of `sort`."""
        return np.take_along_axis(self.shared(x), np.argsort(self.order, -1), -1)

    def shared(self, x):
        """The mean of each group of equal elements, in the place of each of them; a symmetric linear map."""
        if self.groups is None:
            return x
        sums = scatter(np.reshape(x, -1), self.groups, self.sizes.shape, x.dtype)
        return np.reshape((sums / self.sizes.astype(x.dtype))[self.groups], np.shape(x))


def sorted_along(a, axis):
    """The sorted array and its `Ranks`.

    What is being differentiated is sorted by NumPy's function, whose rules share at ties as these do: the elements in
    their order have another derivative there. And so is what lies in memory otherwise than those elements would.
    """
    is_plain = type(a) is np.ndarray and a.flags.c_contiguous and axis in (None, -1, a.ndim - 1)
    y = None if is_plain else np.sort(a, axis=axis)
    a = with_axis_last(a, axis)
    order = np.argsort(a, -1, kind="stable")
    in_order = np.take_along_axis(a, order, -1) if is_plain else with_axis_last(y, axis)
    return with_axis_back(in_order, axis) if is_plain else y, Ranks(order, in_order)


def with_axis_last(x, axis):
    """The array with an axis last; all elements in one row without one."""
    return np.reshape(x, -1) if axis is None else np.moveaxis(x, axis, -1)


def with_axis_back(x, axis):
    return x if axis is None else np.moveaxis(x, -1, axis)


def sorted_tangent(da, ranks, axis):
    """The tangent of the sorted array."""
    return with_axis_back(ranks.sort(with_axis_last(da, axis)), axis)


def unsorted_cotangent(ybar, ranks, axis, shape):
    """ȳ of the sorted array, which has one axis where it was sorted without one, in the places of the elements."""
    return np.reshape(with_axis_back(ranks.unsort(with_axis_last(ybar, axis)), axis), shape)


@frule.register(np.sort)
def sort_frule(
    tangents: Tangents, a: Array, axis: Axis = -1, kind: Choice = None, order: Choice = None, *, stable: Flag = None
) -> OutputAndTangent:
    decline_fields(order)  # also along zeros, for which a `pushforward` is not asked
    y, ranks = sorted_along(as_array(a), axis)
    return y, apply_linear(lambda da: sorted_tangent(da, ranks, axis), as_array_tangent(tangents[1], a))


@rrule.register(np.sort)
def sort_rrule(
    a: Array, axis: Axis = -1, kind: Choice = None, order: Choice = None, *, stable: Flag = None
) -> OutputAndPullback:
    """Every element gets the ȳ of the place where it went; equal elements the mean of those of their places."""
    decline_fields(order)
    (y, ranks), shape = sorted_along(as_array(a), axis), np.shape(a)
    return y, pullback_wrt(a)(lambda ybar: unsorted_cotangent(ybar, ranks, axis, shape))


@frule.register(np.sort_complex)
@pushforward
def sort_complex_frule(da: Array, a: Array) -> OutputAndTangent:
    y, ranks = sorted_along(as_array(a), -1)
    return as_complex(y), sorted_tangent(as_array_tangent(da, a), ranks, -1)


@rrule.register(np.sort_complex)
def sort_complex_rrule(a: Array) -> OutputAndPullback:
    """As `sort_rrule`; real numbers become complex ones, and get the real part of their cotangents."""
    (y, ranks), shape = sorted_along(as_array(a), -1), shape_of(a)
    return as_complex(y), pullback_wrt(a)(lambda ybar: unsorted_cotangent(ybar, ranks, -1, shape))


def as_complex(x):
    """A sorted array in the type that ``np.sort_complex`` gives it."""
    return x if x.dtype.kind == "c" else x.astype(np.sort_complex(np.empty(0, x.dtype)).dtype)


@frule.register(np.partition)
@pushforward
def partition_frule(
    da: Array, a: Array, kth: Index, axis: Axis = -1, kind: Choice = "introselect", order: Choice = None
) -> OutputAndTangent:
    decline_fields(order)
    y = np.partition(a, kth, axis, kind)
    in_order = sorted_along(as_array(a), axis)[1].sort(with_axis_last(as_array_tangent(da, a), axis))
    return y, with_axis_back(np.take_along_axis(in_order, np.argsort(places_of(y, axis), -1), -1), axis)


@rrule.register(np.partition)
def partition_rrule(
    a: Array, kth: Index, axis: Axis = -1, kind: Choice = "introselect", order: Choice = None
) -> OutputAndPullback:
    """As `sort_rrule`; where NumPy put the elements that it left without order is found by sorting the result."""
    decline_fields(order)
    y, shape = np.partition(a, kth, axis, kind), shape_of(a)

    @pullback_wrt(a)
    def partition_pullback(ybar):
        in_order = np.take_along_axis(with_axis_last(ybar, axis), places_of(y, axis), -1)
        ranks = sorted_along(as_array(a), axis)[1]
        return np.reshape(with_axis_back(ranks.unsort(in_order), axis), shape)

    return y, partition_pullback


def places_of(y, axis):
    """The places where the elements of a partitioned array stand, in order of their size."""
    return np.argsort(with_axis_last(y, axis), -1, kind="stable")


def decline_fields(order):
    """Arrays with fields to sort by have no tangents."""
    if order is not None:
        raise MDNotImplementedError
