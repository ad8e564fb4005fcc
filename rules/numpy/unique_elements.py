"""Rules of sets of elements: ``unique`` and its kin, and the set operations.

What is kept of equal elements is the first of them, which takes the whole cotangent: the others are not in the output.
"""

import numpy as np
from rulescore import ZeroTangent, frule, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, Axis, Flag, OutputAndPullback, OutputAndTangent

from .array_like import as_array, as_array_tangent, shape_of
from .indexing import scatter
from .shape import tangents_of_items

# ---------------------------------------------------------------- keeping elements


def kept_tangent(da, a, places, axis=None):
    """The tangent of the elements of ``a`` in these places along an axis."""
    return np.take(as_array_tangent(da, a), places, axis)


def kept_bar(ybar, shape, places, axis=None):
    """ȳ in the places where the elements of an array of that shape came from."""
    if axis is None or not shape:
        return np.reshape(scatter(ybar, (places,), (int(np.prod(shape)),), ybar.dtype), shape)
    return scatter(ybar, (*(slice(None),) * (axis % len(shape)), places), shape, ybar.dtype)


# ---------------------------------------------------------------- unique


def unique_parts(ar, return_index, return_inverse, return_counts, axis, equal_nan, sorted):
    """What ``np.unique`` returns, in a list, and the places of the first occurrences."""
    options = {"axis": axis, "equal_nan": equal_nan}
    values, places, *others = np.unique(ar, True, return_inverse, return_counts, **options)
    if not sorted and not others and not return_index:
        # NumPy sorts what it needs the places of, and only that. A permutation is left that sorts both alike.
        unsorted = np.unique(ar, **options, sorted=False)
        if np.ndim(unsorted) == 1:
            places = places[np.argsort(np.argsort(unsorted, kind="stable"))]
        values = unsorted
    return [values, *([places] if return_index else []), *others], places


@frule.register(np.unique)
@pushforward
def unique_frule(
    dar: Array,
    ar: Array,
    return_index: Flag = False,
    return_inverse: Flag = False,
    return_counts: Flag = False,
    axis: Axis = None,
    *,
    equal_nan: Flag = True,
    sorted: Flag = True,
) -> OutputAndTangent:
    parts, places = unique_parts(ar, return_index, return_inverse, return_counts, axis, equal_nan, sorted)
    dy = kept_tangent(dar, ar, places, axis)
    return (parts[0], dy) if len(parts) == 1 else (tuple(parts), (dy, *[ZeroTangent()] * (len(parts) - 1)))


@rrule.register(np.unique)
def unique_rrule(
    ar: Array,
    return_index: Flag = False,
    return_inverse: Flag = False,
    return_counts: Flag = False,
    axis: Axis = None,
    *,
    equal_nan: Flag = True,
    sorted: Flag = True,
) -> OutputAndPullback:
    """Of equal elements the first one gets ȳ; of equal rows, with an axis, likewise."""
    parts, places = unique_parts(ar, return_index, return_inverse, return_counts, axis, equal_nan, sorted)
    return (parts[0] if len(parts) == 1 else tuple(parts)), unique_pullback(ar, places, axis, len(parts) > 1)


def unique_pullback(ar, places, axis=None, is_one_of_several=True):
    """The pullback of the unique elements, which may stand first among other outputs."""
    shape = shape_of(ar)
    return pullback_wrt(ar)(
        lambda ybar: kept_bar(ybar[0] if is_one_of_several else ybar, shape, places, axis),
    )


def register_unique(f, *names):
    """The rules of a function of the array API standard, whose output has the parts of these names of ``unique_all``.

    It counts every NaN as an element of its own.
    """
    result_type = type(f(np.zeros(0)))

    def parts_of(x):
        values, places, *others = np.unique(x, True, "inverse_indices" in names, "counts" in names, equal_nan=False)
        return result_type(values, *([places] if "indices" in names else []), *others), places

    @frule.register(f)
    @pushforward
    def unique_frule(dx: Array, x: Array) -> OutputAndTangent:
        y, places = parts_of(x)
        return y, (kept_tangent(dx, x, places), *[ZeroTangent()] * len(names))

    @rrule.register(f)
    def unique_rrule(x: Array) -> OutputAndPullback:
        y, places = parts_of(x)
        return y, unique_pullback(x, places)


register_unique(np.unique_all, "indices", "inverse_indices", "counts")
register_unique(np.unique_counts, "counts")
register_unique(np.unique_inverse, "inverse_indices")


@frule.register(np.unique_values)
@pushforward
def unique_values_frule(dx: Array, x: Array) -> OutputAndTangent:
    (y,), places = unique_parts(x, False, False, False, None, False, IS_SORTED)
    return y, kept_tangent(dx, x, places)


@rrule.register(np.unique_values)
def unique_values_rrule(x: Array) -> OutputAndPullback:
    (y,), places = unique_parts(x, False, False, False, None, False, IS_SORTED)
    return y, unique_pullback(x, places, is_one_of_several=False)


IS_SORTED = np.lib.NumpyVersion(np.__version__) < "2.3.0"
"""Whether ``unique_values`` sorts."""


# ---------------------------------------------------------------- set operations


def joined(arrays):
    return np.concatenate([np.ravel(as_array(a)) for a in arrays])


def set_tangent(tangents, arrays, dtype, places):
    """The tangent of the elements of two arrays, one behind the other, in these places."""
    return np.take(joined(tangents_of_items(tangents, arrays, dtype)), places)


def set_pullback(arrays, places):
    """The pullback of the elements of two arrays, one behind the other, in these places."""
    shapes = list(map(shape_of, arrays))
    sizes = [int(np.prod(shape)) for shape in shapes]

    def bar_of(i):
        start = sum(sizes[:i])
        is_here = (places >= start) & (places < start + sizes[i])
        return lambda ybar: kept_bar(ybar[is_here], shapes[i], places[is_here] - start)

    return pullback_wrt(*arrays)(bar_of(0), bar_of(1))


def first_places(a, is_unique):
    """The unique elements of an array, and their places; all of it where they are said to be unique."""
    if is_unique:
        a = np.ravel(as_array(a))
        return a, np.arange(a.size)
    return np.unique(a, return_index=True)


def union_of(ar1, ar2):
    return first_places(joined([ar1, ar2]), False)


def difference_of(ar1, ar2, assume_unique):
    values, places = first_places(ar1, assume_unique)
    ar2 = ar2 if assume_unique else np.unique(ar2)
    is_left = np.isin(values, ar2, assume_unique=True, invert=True)
    return values[is_left], places[is_left]


def symmetric_difference_of(ar1, ar2, assume_unique):
    (values1, places1), (values2, places2) = (first_places(a, assume_unique) for a in (ar1, ar2))
    values, places = joined([values1, values2]), np.concatenate([places1, places2 + np.size(ar1)])
    order = np.argsort(values)
    values = values[order]
    is_new = np.concatenate([[True], values[1:] != values[:-1], [True]])
    is_alone = is_new[1:] & is_new[:-1] if values.size else is_new[:0]
    return values[is_alone], places[order][is_alone]


@frule.register(np.union1d)
@pushforward
def union1d_frule(dar1: Array, dar2: Array, ar1: Array, ar2: Array) -> OutputAndTangent:
    y, places = union_of(ar1, ar2)
    return y, set_tangent((dar1, dar2), (ar1, ar2), y.dtype, places)


@rrule.register(np.union1d)
def union1d_rrule(ar1: Array, ar2: Array) -> OutputAndPullback:
    """What is in both arrays is an element of the first one."""
    y, places = union_of(ar1, ar2)
    return y, set_pullback((ar1, ar2), places)


@frule.register(np.setdiff1d)
@pushforward
def setdiff1d_frule(dar1: Array, _dar2: Array, ar1: Array, ar2: Array, assume_unique: Flag = False) -> OutputAndTangent:
    y, places = difference_of(ar1, ar2, assume_unique)
    return y, kept_tangent(dar1, ar1, places)


@rrule.register(np.setdiff1d)
def setdiff1d_rrule(ar1: Array, ar2: Array, assume_unique: Flag = False) -> OutputAndPullback:
    """The second array says which elements of the first one are kept, and none of its own are."""
    y, places = difference_of(ar1, ar2, assume_unique)
    return y, set_pullback((ar1, ar2), places)


@frule.register(np.setxor1d)
@pushforward
def setxor1d_frule(dar1: Array, dar2: Array, ar1: Array, ar2: Array, assume_unique: Flag = False) -> OutputAndTangent:
    y, places = symmetric_difference_of(ar1, ar2, assume_unique)
    return y, set_tangent((dar1, dar2), (ar1, ar2), y.dtype, places)


@rrule.register(np.setxor1d)
def setxor1d_rrule(ar1: Array, ar2: Array, assume_unique: Flag = False) -> OutputAndPullback:
    y, places = symmetric_difference_of(ar1, ar2, assume_unique)
    return y, set_pullback((ar1, ar2), places)


@frule.register(np.intersect1d)
@pushforward
def intersect1d_frule(
    dar1: Array, dar2: Array, ar1: Array, ar2: Array, assume_unique: Flag = False, return_indices: Flag = False
) -> OutputAndTangent:
    y, *indices = np.intersect1d(ar1, ar2, assume_unique, True)
    dy = set_tangent((dar1, dar2), (ar1, ar2), y.dtype, indices[0])
    return ((y, *indices), (dy, ZeroTangent(), ZeroTangent())) if return_indices else (y, dy)


@rrule.register(np.intersect1d)
def intersect1d_rrule(
    ar1: Array, ar2: Array, assume_unique: Flag = False, return_indices: Flag = False
) -> OutputAndPullback:
    """What is in both arrays is an element of the first one; of the second, if that is said to be unique and is not."""
    y, *indices = np.intersect1d(ar1, ar2, assume_unique, True)
    shapes, size = (shape_of(ar1), shape_of(ar2)), int(np.prod(shape_of(ar1)))
    is_first = indices[0] < size

    def bar(ybar, is_here, shape, start):
        ybar = ybar[0] if return_indices else ybar
        return kept_bar(ybar[is_here], shape, indices[0][is_here] - start)

    return (y, *indices) if return_indices else y, pullback_wrt(ar1, ar2)(
        lambda ybar: bar(ybar, is_first, shapes[0], 0),
        lambda ybar: ZeroTangent() if np.all(is_first) else bar(ybar, ~is_first, shapes[1], size),
    )
