"""Rules that put elements in order of their size, and of those that pick elements by their number or by a condition.

Sorting and partitioning share a cotangent equally among ties; what stands in order of its size does not depend on
which of two equal elements came first. So ``sort(x)[-1]`` has the derivative of ``max(x)``.
"""

import numpy as np
from multipledispatch import MDNotImplementedError

from rules.numpy.array_like import as_array, as_array_tangent, shape_of
from rules.numpy.indexing import scatter
from rules.numpy.reduced_axes import decline_out, given
from rulescore import AbstractZero, NoTangent, Tangent, Thunk, frule, project_to, rrule, unbroadcast, unthunk
from rulescore.tangents.projection import NON_DIFFERENTIABLE

NO_TANGENT = NoTangent()

# ---------------------------------------------------------------- picking by number: ȳ added in its place


def picking_frule(f, da, a):
    """The pushforward of ``y = f(a)``, where f picks elements."""
    return f(a), da if isinstance(da, AbstractZero) else f(as_array_tangent(da, a))


def picking_rrule(f, a, numbers, axis):
    """The pullback of ``y = f(a)``, which are the elements of these numbers along the axis; of all without one."""
    y, project, shape = f(a), project_to(a), np.shape(a)
    dtype = y.dtype

    def pick_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero) or project is NON_DIFFERENTIABLE:
            return NO_TANGENT, project(ybar)
        if axis is None or not shape:
            return NO_TANGENT, project(np.reshape(scatter(ybar, (numbers,), (int(np.prod(shape)),), dtype), shape))
        before = (slice(None),) * (axis % len(shape))
        return NO_TANGENT, project(scatter(ybar, (*before, numbers), shape, dtype))

    return y, pick_pullback


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
def take_frule(tangents, a, indices, axis=None, out=None, mode="raise"):
    decline_out(out)
    return picking_frule(lambda a: np.take(a, indices, axis=axis, mode=mode), tangents[1], a)


@rrule.register(np.take)
def take_rrule(a, indices, axis=None, out=None, mode="raise"):
    """y = a[..., i, ...], hence ȳ is added to ā[..., i, ...]; an element that is taken twice gets the sum."""
    decline_out(out)
    numbers = in_range(indices, length_along(a, axis), mode)
    return picking_rrule(lambda a: np.take(a, indices, axis=axis, mode=mode), a, numbers, axis)


@frule.register(np.compress)
def compress_frule(tangents, condition, a, axis=None, out=None):
    decline_out(out)
    return picking_frule(lambda a: np.compress(condition, a, axis=axis), tangents[2], a)


@rrule.register(np.compress)
def compress_rrule(condition, a, axis=None, out=None):
    """The condition may be shorter than the axis, whose other elements are then left out."""
    decline_out(out)
    y, pullback = picking_rrule(lambda a: np.compress(condition, a, axis=axis), a, np.flatnonzero(condition), axis)

    def compress_pullback(ybar):
        _, abar = pullback(ybar)
        return NO_TANGENT, NO_TANGENT, abar

    return y, compress_pullback


@frule.register(np.ndarray.compress)
def ndarray_compress_frule(tangents, a, /, condition, axis=None, out=None):
    decline_out(out)
    return picking_frule(lambda a: np.compress(condition, a, axis=axis), tangents[1], a)


@rrule.register(np.ndarray.compress)
def ndarray_compress_rrule(a, /, condition, axis=None, out=None):
    decline_out(out)
    return picking_rrule(lambda a: np.compress(condition, a, axis=axis), a, np.flatnonzero(condition), axis)


@frule.register(np.extract)
def extract_frule(tangents, condition, arr):
    return picking_frule(lambda a: np.extract(condition, a), tangents[2], arr)


@rrule.register(np.extract)
def extract_rrule(condition, arr):
    y, pullback = picking_rrule(lambda a: np.extract(condition, a), arr, np.flatnonzero(condition), None)

    def extract_pullback(ybar):
        _, arr_bar = pullback(ybar)
        return NO_TANGENT, NO_TANGENT, arr_bar

    return y, extract_pullback


@frule.register(np.delete)
def delete_frule(tangents, arr, obj, axis=None):
    return picking_frule(lambda a: np.delete(a, obj, axis), tangents[1], arr)


@rrule.register(np.delete)
def delete_rrule(arr, obj, axis=None):
    """What is kept gets its part of ȳ, what is deleted 0."""
    kept = np.delete(np.arange(length_along(arr, axis)), obj)
    return picking_rrule(lambda a: np.delete(a, obj, axis), arr, kept, axis)


@frule.register(np.take_along_axis)
def take_along_axis_frule(tangents, arr, indices, axis=-1):
    return picking_frule(lambda a: np.take_along_axis(a, indices, axis), tangents[1], arr)


@rrule.register(np.take_along_axis)
def take_along_axis_rrule(arr, indices, axis=-1):
    """As `take_rrule`, with other numbers in each row."""
    y = np.take_along_axis(arr, indices, axis)
    project, shape, dtype = project_to(arr), np.shape(arr), y.dtype

    def take_along_axis_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero) or project is NON_DIFFERENTIABLE:
            return NO_TANGENT, project(ybar)
        lengths = (int(np.prod(shape)),) if axis is None else shape
        index = index_along(indices, lengths, 0 if axis is None else axis % len(shape))
        return NO_TANGENT, project(np.reshape(scatter(ybar, index, lengths, dtype), shape))

    return y, take_along_axis_pullback


def index_along(indices, shape, axis):
    """The index that stands for the numbers of elements along an axis, in each row those of that row."""
    rows = [np.reshape(np.arange(n), (-1,) + (1,) * (len(shape) - i - 1)) for i, n in enumerate(shape)]
    return (*rows[:axis], indices, *rows[axis + 1 :])


# ---------------------------------------------------------------- inserting


@frule.register(np.insert)
def insert_frule(tangents, arr, obj, values, axis=None):
    _, darr, _, dvalues, *_ = tangents
    y = np.insert(as_array(arr), obj, as_array(values), axis)
    project = project_to(y)
    if project is NON_DIFFERENTIABLE or (isinstance(darr, AbstractZero) and isinstance(dvalues, AbstractZero)):
        return y, project(darr + dvalues)
    darr = np.zeros(shape_of(arr), y.dtype) if isinstance(darr, AbstractZero) else as_array_tangent(darr, arr)
    dvalues = np.zeros(shape_of(values)) if isinstance(dvalues, AbstractZero) else as_array_tangent(dvalues, values)
    # The values are converted to the type of the array, and lose their imaginary part in one of real numbers.
    return y, np.insert(darr, obj, dvalues if y.dtype.kind == "c" else np.real(dvalues), axis)


@rrule.register(np.insert)
def insert_rrule(arr, obj, values, axis=None):
    """Inserting the numbers of elements into each other tells where each element of y comes from."""
    y = np.insert(as_array(arr), obj, as_array(values), axis)
    (shape, narrow), projects = (shape_of(arr), shape_of(values)), [project_to(arr), project_to(values)]
    if project_to(y) is NON_DIFFERENTIABLE:
        return y, lambda ybar: (NO_TANGENT,)
    of_arr, of_values = (np.reshape(np.arange(np.prod(s, dtype=int)), s) for s in (shape, narrow))
    origins, dtype = np.ravel(np.insert(of_arr, obj, -1 - of_values, axis)), y.dtype
    is_from_arr = origins >= 0

    def insert_pullback(ybar):
        def bar_of(places, numbers, size, shape):
            bar = unthunk(ybar)
            if isinstance(bar, AbstractZero):
                return bar
            return np.reshape(scatter(np.reshape(bar, -1)[places], numbers, (size,), dtype), shape)

        arr_bar = Thunk(lambda: bar_of(is_from_arr, origins[is_from_arr], of_arr.size, shape))
        values_bar = Thunk(lambda: bar_of(~is_from_arr, -1 - origins[~is_from_arr], of_values.size, narrow))
        return NO_TANGENT, projects[0](arr_bar), NO_TANGENT, projects[1](values_bar)

    return y, insert_pullback


# ---------------------------------------------------------------- choosing between arrays


def items_of(choices, bars):
    """Cotangents of the items, as one of what holds them: a list, a tuple, or an array along its first axis."""
    return Tangent(type(choices), *bars) if isinstance(choices, (list, tuple)) else np.stack(bars)


def items_as_arrays(choices):
    """The choices, with arrays in the place of lists."""
    return [as_array(x) for x in choices] if isinstance(choices, (list, tuple)) else choices


@frule.register(np.choose)
def choose_frule(tangents, a, choices, out=None, mode="raise"):
    decline_out(out)
    dchoices = tangents[2]
    y = np.choose(a, items_as_arrays(choices), mode=mode)
    project = project_to(y)
    if isinstance(dchoices, AbstractZero) or project is NON_DIFFERENTIABLE:
        return y, project(dchoices)
    numbers = in_range(a, len(choices), mode)
    dchoices = dchoices if isinstance(dchoices, Tangent) else list(dchoices)
    dy = np.zeros(np.shape(y), y.dtype)
    for k, (dx, x) in enumerate(zip(dchoices, choices, strict=True)):
        if not isinstance(dx, AbstractZero):
            dy = np.where(numbers == k, as_array_tangent(dx, x), dy)
    return y, project(dy)


@rrule.register(np.choose)
def choose_rrule(a, choices, out=None, mode="raise"):
    """Each array gets ȳ where it was chosen and exactly 0 elsewhere, whatever stands there."""
    decline_out(out)
    numbers = in_range(a, len(choices), mode)
    project, shapes = project_to(choices), [shape_of(x) for x in choices]

    def choose_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero) or project is NON_DIFFERENTIABLE:
            return NO_TANGENT, NO_TANGENT, project(ybar)
        bars = [unbroadcast(np.where(numbers == k, ybar, 0), shape) for k, shape in enumerate(shapes)]
        return NO_TANGENT, NO_TANGENT, project(items_of(choices, bars))

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
    """The sorted array and its `Ranks`."""
    a = with_axis_last(a, axis)
    order = np.argsort(a, -1, kind="stable")
    in_order = np.take_along_axis(a, order, -1)
    return with_axis_back(in_order, axis), Ranks(order, in_order)


def with_axis_last(x, axis):
    """The array with an axis last; all elements in one row without one."""
    return np.reshape(x, -1) if axis is None else np.moveaxis(x, axis, -1)


def with_axis_back(x, axis):
    return x if axis is None else np.moveaxis(x, -1, axis)


@frule.register(np.sort)
def sort_frule(tangents, a, axis=-1, kind=None, order=None, *, stable=None):
    decline_fields(order)
    if isinstance(tangents[1], AbstractZero):
        return np.sort(a, axis, kind, **given(stable=stable)), tangents[1]
    y, ranks = sorted_along(as_array(a), axis)
    return y, with_axis_back(ranks.sort(with_axis_last(as_array_tangent(tangents[1], a), axis)), axis)


@rrule.register(np.sort)
def sort_rrule(a, axis=-1, kind=None, order=None, *, stable=None):
    """Every element gets the ȳ of the place where it went; equal elements the mean of those of their places."""
    decline_fields(order)
    project, shape = project_to(a), np.shape(a)
    if project is NON_DIFFERENTIABLE:
        return np.sort(a, axis, kind, **given(stable=stable)), lambda ybar: (NO_TANGENT,)
    y, ranks = sorted_along(as_array(a), axis)

    def sort_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return NO_TANGENT, ybar
        # Without an axis ȳ has one.
        abar = with_axis_back(ranks.unsort(with_axis_last(ybar, axis)), axis)
        return NO_TANGENT, project(np.reshape(abar, shape))

    return y, sort_pullback


@frule.register(np.sort_complex)
def sort_complex_frule(tangents, a):
    y, dy = sort_frule(tangents, as_array(a))
    y = as_complex(y)
    return y, project_to(y)(dy)


@rrule.register(np.sort_complex)
def sort_complex_rrule(a):
    """As `sort_rrule`; real numbers become complex ones, and get the real part of their cotangents."""
    y, pullback = sort_rrule(as_array(a))
    project = project_to(a)

    def sort_complex_pullback(ybar):
        return NO_TANGENT, NO_TANGENT if project is NON_DIFFERENTIABLE else project(pullback(ybar)[1])

    return as_complex(y), sort_complex_pullback


def as_complex(x):
    """A sorted array in the type that ``np.sort_complex`` gives it."""
    return x if x.dtype.kind == "c" else x.astype(np.sort_complex(np.empty(0, x.dtype)).dtype)


@frule.register(np.partition)
def partition_frule(tangents, a, kth, axis=-1, kind="introselect", order=None):
    decline_fields(order)
    y, da = np.partition(a, kth, axis, kind), tangents[1]
    if isinstance(da, AbstractZero):
        return y, da
    in_order = sorted_along(as_array(a), axis)[1].sort(with_axis_last(as_array_tangent(da, a), axis))
    return y, with_axis_back(np.take_along_axis(in_order, np.argsort(places_of(y, axis), -1), -1), axis)


@rrule.register(np.partition)
def partition_rrule(a, kth, axis=-1, kind="introselect", order=None):
    """As `sort_rrule`; where NumPy put the elements that it left without order is found by sorting the result."""
    decline_fields(order)
    y, project, shape = np.partition(a, kth, axis, kind), project_to(a), np.shape(a)
    if project is NON_DIFFERENTIABLE:
        return y, lambda ybar: (NO_TANGENT,)

    def partition_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return NO_TANGENT, ybar
        in_order = np.take_along_axis(with_axis_last(ybar, axis), places_of(y, axis), -1)
        abar = with_axis_back(sorted_along(as_array(a), axis)[1].unsort(in_order), axis)
        return NO_TANGENT, project(np.reshape(abar, shape))

    return y, partition_pullback


def places_of(y, axis):
    """The places where the elements of a partitioned array stand, in order of their size."""
    return np.argsort(with_axis_last(y, axis), -1, kind="stable")


def decline_fields(order):
    """Arrays with fields to sort by have no tangents."""
    if order is not None:
        raise MDNotImplementedError
