"""Rules of indexing: ``operator.getitem`` of arrays, lists, tuples and dicts, and `scatter`, its transpose."""

import operator
from typing import Any

from multipledispatch import MDNotImplementedError

import numpy as np
from rulescore import (
    AbstractZero,
    InplaceableThunk,
    NoTangent,
    Selected,
    StaticForm,
    Tangent,
    Thunk,
    ZeroTangent,
    batching,
    frule,
    project_to,
    pullback_wrt,
    pushforward,
    rrule,
    unbroadcast,
    unthunk,
)
from rulescore.typing import Array, DType, Index, OutputAndPullback, OutputAndTangent, Shape, Tangents

NO_TANGENT = NoTangent()
ZERO_TANGENT = ZeroTangent()

# ---------------------------------------------------------------- arrays


def scatter(ybar: Any, index: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Zeros with ``ybar`` added at ``index``: the transpose of ``x[index]``.

    Parameters
    ----------
    ybar : array_like
        The numbers to add, in the shape of ``x[index]``.
    index : object
        Any index that NumPy takes. What it names several times receives the sum.
    shape : tuple of int
        The shape of ``x``.
    dtype : dtype
        The type of ``x``.

    Returns
    -------
    xbar : ndarray
        Of that shape and type.

    Notes
    -----
    A function of its own, with rules of its own, so that the pullback of indexing can be differentiated again.

    Examples
    --------
    >>> import numpy as np
    >>> scatter(np.array([1.0, 2.0, 3.0]), [0, 0, 2], (4,), np.dtype(float))
    array([3., 0., 3., 0.])
    """
    kind = type(ybar)
    protocol = getattr(kind, "__array_function__", None)
    if protocol is None or protocol is np.ndarray.__array_function__:
        xbar = np.zeros(shape, dtype)
        if not is_basic(index):
            return add_at(xbar, index, ybar)
        xbar[index] = ybar  # a fifth of the time that adding takes
        return xbar
    if hasattr(kind, "__rule_type__") or not hasattr(kind, "__setitem__"):  # a tracer, or what cannot be written to
        return ybar.__array_function__(scatter, (kind,), (ybar, index, shape, dtype), {})
    if names_each_once(index):
        return scatter_lazily(np.zeros(shape, dtype, like=ybar), index, ybar)
    return add_at(np.zeros(shape, dtype), index, ybar)


def scatter_lazily(zeros, index, ybar):
    """``ybar`` written into another library's array; Dask's takes no new axes in an index."""
    entries = index if isinstance(index, tuple) else (index,)
    if any(entry is None for entry in entries):
        index = tuple([entry for entry in entries if entry is not None])
        ybar = np.reshape(ybar, np.broadcast_to(0, zeros.shape)[index].shape)
    zeros[index] = ybar
    return zeros


def add_at(accumulator, index, ybar):
    """``accumulator[index] += ybar`` in place, where repeated indices accumulate."""
    if is_basic(index):
        part = accumulator[index]
        if type(part) is np.ndarray:  # a view; the statement below would assign it to its own place once more
            part += ybar
            return accumulator
    if names_each_once(index):
        accumulator[index] += ybar
    elif accumulator.ndim > 1 and accumulator.flags.c_contiguous and 16 * np.size(ybar) > accumulator.size:
        # np.add.at is several times faster in one dimension, which pays where many elements are added.
        places = np.arange(accumulator.size).reshape(accumulator.shape)[index]
        np.add.at(accumulator.reshape(-1), places.reshape(-1), np.reshape(ybar, -1))
    else:
        np.add.at(accumulator, index, ybar)
    return accumulator


def is_basic(index):
    """Whether an index consists of numbers and slices of Python's, so that what it names is a view."""
    for entry in index if type(index) is tuple else (index,):  # noqa: SIM110 (a generator takes twice as long)
        if type(entry) not in BASIC_INDICES:
            return False
    return True


def names_each_once(index):
    """Whether an index cannot name an element twice, because it holds no array of integers."""
    if is_basic(index):
        return True
    entries = index if isinstance(index, tuple) else (index,)
    return all(isinstance(entry, BASIC_TYPES) or np.asarray(entry).dtype == bool for entry in entries)


def names_by_mask(index):
    """Whether an index holds an array of booleans, so that what it leaves out is masked."""
    entries = index if type(index) is tuple else (index,)
    return any(type(entry) is np.ndarray and entry.dtype == bool for entry in entries)


def named(index, shape):
    """The mask of the elements that an index names."""
    mask = np.zeros(shape, bool)
    mask[index] = True
    return mask


BASIC_INDICES = frozenset({int, slice, type(None), type(...)})
BASIC_TYPES = (*BASIC_INDICES, np.integer)
"""What may stand in an index without making it an advanced one, and ``bool``, which is an ``int`` for Python."""


@batching.register(scatter)
def scatter_of_batch(batch, f, args, kwargs):
    ybar, index, shape, dtype = args
    found = batch.assigned(index, len(shape), ybar)
    if found is None:
        return NotImplemented
    entries, values = found
    return f(values, entries, (batch.size, *shape), dtype)


@frule.register(scatter)
@pushforward
def scatter_frule(dybar: Array, ybar: Array, index: Index, shape: Shape, dtype: DType) -> OutputAndTangent:
    return scatter(ybar, index, shape, dtype), scatter(dybar, index, shape, dtype)


@rrule.register(scatter)
def scatter_rrule(ybar: Array, index: Index, shape: Shape, dtype: DType) -> OutputAndPullback:
    narrow = np.shape(ybar)

    @pullback_wrt(ybar)
    def scatter_pullback(xbar_bar):
        ybar_bar = xbar_bar[index]
        wide = np.shape(ybar_bar)
        # Adding to an array broadcasts what is added, and drops its leading axes of length 1.
        if wide != narrow:
            ybar_bar = np.reshape(unbroadcast(ybar_bar, narrow[max(len(narrow) - len(wide), 0) :]), narrow)
        return ybar_bar

    return scatter(ybar, index, shape, dtype), scatter_pullback


def decline_unless_array(x):
    """What indexing does to an object of another type is that type's own business."""
    if not hasattr(x, "shape") or not hasattr(x, "dtype"):
        raise MDNotImplementedError


@frule.register(operator.getitem)
def getitem_frule(tangents: Tangents, x: Array, index: Index, /) -> OutputAndTangent:
    decline_unless_array(x)
    return x[index], tangents[1][index]


def unchanging(index):
    """An index that stays what it is when somebody writes to the arrays and lists in it."""
    if is_basic(index):
        return index
    entries = index if type(index) is tuple else (index,)
    entries = [entry.copy() if issubclass(type(entry), (np.ndarray, list)) else entry for entry in entries]
    return tuple(entries) if type(index) is tuple else entries[0]


def getitem_rrule(x: Array, index: Index, /) -> OutputAndPullback:
    """x̄ is zero but for x̄[index], to which ȳ is added; added in place where there is an x̄ already.

    What a mask leaves out stays zero, whatever slope it meets on its way.
    """
    if type(x) is not np.ndarray:
        decline_unless_array(x)
    shape, dtype = x.shape, x.dtype
    # Of real arrays, the most frequent ones, `scatter` gives the type of `x`.
    project = None if type(x) is np.ndarray and dtype.kind == "f" else project_to(x)
    index = unchanging(index)

    def getitem_pullback(ybar):
        if isinstance(ybar, AbstractZero):
            return NO_TANGENT, ybar
        if project is not None and not project.has_tangent_space:
            return NO_TANGENT, NO_TANGENT

        def add_to(accumulator):
            return add_at(accumulator, index, unthunk(ybar))

        def value():
            bar = scatter(unthunk(ybar), index, shape, dtype)
            return bar if project is None else project(bar)

        if names_by_mask(index):
            return NO_TANGENT, Selected(value, named(index, shape))
        # What is being differentiated cannot be added to an ordinary array in place.
        is_plain = type(ybar) is np.ndarray or issubclass(type(ybar), (np.generic, float, complex))
        return NO_TANGENT, InplaceableThunk(add_to, value) if is_plain else Thunk(value)

    return x[index], getitem_pullback


rrule.add_rule(
    operator.getitem,
    getitem_rrule,
    static=StaticForm(
        primal=operator.getitem,
        vjps=(lambda ybar, y, x, index: scatter(ybar, index, x.shape, x.dtype), None),
        uses_output=(False, False),
        uses_arguments=((False, True), (False, False)),
        add_to=(lambda accumulator, ybar, y, x, index: add_at(accumulator, index, ybar), None),
    ),
)


# ---------------------------------------------------------------- lists, tuples and dicts


@frule.register(operator.getitem, (list, tuple))
@pushforward
def sequence_getitem_frule(dx: Array, x: Array, index: Index, /) -> OutputAndTangent:
    y, dy = x[index], list(dx)[index]
    return y, Tangent(type(y), *dy) if isinstance(index, slice) else dy


@rrule.register(operator.getitem, (list, tuple))
def sequence_getitem_rrule(x: Array, index: Index, /) -> OutputAndPullback:
    y = x[index]
    project, kind, count = project_to(y), type(x), len(x)

    def getitem_pullback(ybar):
        ybar = project(ybar)
        if isinstance(ybar, AbstractZero):
            return NO_TANGENT, ybar
        xbar = [ZERO_TANGENT] * count
        xbar[index] = ybar
        return NO_TANGENT, Tangent(kind, *xbar)

    return y, getitem_pullback


@frule.register(operator.getitem, dict)
@pushforward
def dict_getitem_frule(dx: Array, x: Array, key: Index, /) -> OutputAndTangent:
    return x[key], dx[key]


@rrule.register(operator.getitem, dict)
def dict_getitem_rrule(x: Array, key: Index, /) -> OutputAndPullback:
    y = x[key]
    project, kind = project_to(y), type(x)

    def getitem_pullback(ybar):
        return NO_TANGENT, Tangent(kind, {key: project(ybar)})

    return y, getitem_pullback


for container in (np.ndarray, list, tuple, dict):
    rrule.alias(container.__getitem__, operator.getitem)
