"""Rules of ``pad``, in all of its modes but those that are functions, which the AD systems follow themselves.

NumPy pads along one axis after the other, so that the corners are padding of padding. Along one axis the output is
[before(x), x, after(x)], and the pullback goes through the axes from the last to the first. In most modes the padding
is linear in the array and in the constants; the maximum, the minimum and the median have rules, which are used.
"""

from multipledispatch import MDNotImplementedError

import numpy as np
from rulescore import (
    AbstractZero,
    NoTangent,
    frule,
    no_tangent_pullback,
    project_to,
    pullback_wrt,
    rrule,
    unbroadcast,
    unthunk,
)
from rulescore.typing import Array, Choice, Count, OutputAndPullback, OutputAndTangent, Shape, Tangents

from .array_like import as_array, full_tangent, shape_of, who_converts
from .reduced_axes import NOT_GIVEN, tangent_at
from .shape import tangents_of_items

STATISTICS = {"maximum": np.max, "minimum": np.min, "mean": np.mean, "median": np.median}


# ---------------------------------------------------------------- arguments


def pairs_of(numbers, ndim):
    """Two numbers for each axis, as NumPy reads ``pad_width`` and ``stat_length``."""
    if isinstance(numbers, dict):
        by_axis = {axis % ndim: width for axis, width in numbers.items()}
        numbers = [np.broadcast_to(by_axis.get(axis, 0), 2) for axis in range(ndim)]
    if numbers is None or numbers is NOT_GIVEN:
        return [(None, None)] * ndim
    return np.broadcast_to(np.round(numbers).astype(np.intp), (ndim, 2)).tolist()


def beside(array, other):
    """The array, of the kind of what is padded with: NumPy hands over calls of ``pad`` for the array alone."""
    kind = who_converts(other)
    return as_array(array) if kind is None else np.asarray(array, like=kind)


# ---------------------------------------------------------------- parts


def along(axis, *bounds):
    """The index of a slice along an axis."""
    return (*(slice(None),) * axis, slice(*bounds))


def parts(y, axis, before, after):
    """What stands before the array along an axis, the array, and what stands after it."""
    end = np.shape(y)[axis] - after
    return y[along(axis, before)], y[along(axis, before, end)], y[along(axis, end, None)]


def total(x, axis):
    return np.sum(x, axis=axis, keepdims=True)


def upright(numbers, axis, ndim, dtype):
    """Numbers along an axis, beside an array of real or complex numbers; in its precision."""
    return np.reshape(np.asarray(numbers, np.empty(0, dtype).real.dtype), (-1, *(1,) * (ndim - axis - 1)))


# ---------------------------------------------------------------- linear modes: ȳ along one axis, without its padding


# These functions write to ȳ, which is a copy: what the padding stands for is added to what is left when it is cut off.


def add_to(ybar, axis, start, stop, xbar):
    """Add something to a slice along an axis."""
    ybar[along(axis, start, stop)] += xbar


def fold_edges(ybar, axis, before, after):
    """The first and the last element get the sum over their copies."""
    end = np.shape(ybar)[axis] - after
    left, _, right = parts(ybar, axis, before, after)
    fold_ends(ybar, axis, before, end, total(left, axis), total(right, axis))


def fold_ends(ybar, axis, begin, end, first, last):
    add_to(ybar, axis, begin, begin + 1, first)
    add_to(ybar, axis, end - 1, end, last)


def ramp(width, axis, ndim, dtype):
    """How much of the element at the edge is in each step of a ramp that begins at the end value."""
    return upright(np.arange(width) / max(width, 1), axis, ndim, dtype)


def fold_ramps(ybar, axis, before, after):
    """Before the array, step j of n is e + (x₀ - e) j/n for the end value e; after it the steps are the other way."""
    end = np.shape(ybar)[axis] - after
    left, _, right = parts(ybar, axis, before, after)
    rising, falling = (ramp(n, axis, np.ndim(ybar), ybar.dtype) for n in (before, after))
    falling = np.flip(falling, 0)
    fold_ends(ybar, axis, before, end, total(rising * left, axis), total(falling * right, axis))


def fold_copies(ybar, axis, before, after, mode, is_odd):
    """Every element gets the sum over its copies; odd reflections turn the sign and add multiples of the ends."""
    left, xbar, right = parts(ybar, axis, before, after)
    length = np.shape(xbar)[axis]
    origins = np.pad(np.arange(length), (before, after), mode)
    is_padding = np.ones(len(origins), bool)
    is_padding[before : before + length] = False
    padding = np.concatenate([left, right], axis)
    if is_odd and length > 1:  # a single element is repeated
        factors = odd_factors(before, after, length, mode)
        signs, of_first, of_last = (upright(n[is_padding], axis, np.ndim(ybar), ybar.dtype) for n in factors)
        fold_ends(ybar, axis, before, before + length, total(of_first * padding, axis), total(of_last * padding, axis))
        padding = signs * padding
    for place, origin, count, step in runs(origins[is_padding]):
        copies = padding[along(axis, place, place + count)]
        if step == -1:
            copies, origin = np.flip(copies, axis), origin - count + 1
        add_to(ybar, axis, before + origin, before + origin + count, copies)


def runs(origins):
    """The pieces of the padding that come from consecutive elements: where, from where, how many, which way."""
    steps = np.diff(origins)
    goes_on = (np.abs(steps) == 1) & (steps == np.concatenate([steps[:1], steps[:-1]]))
    starts = np.concatenate([[0], np.flatnonzero(~goes_on) + 1]) if len(origins) else np.zeros(0, int)
    counts = np.diff(np.append(starts, len(origins)))
    directions = np.append(steps, 1)[starts]
    return zip(starts.tolist(), origins[starts].tolist(), counts.tolist(), directions.tolist(), strict=True)


def odd_factors(before, after, length, mode):
    """The three factors in y = s x[origin] + b x[0] + e x[-1] along an axis, for each element of y.

    They are read off what NumPy makes of three vectors; s is 0 for copies of the ends, which are in b and e.
    """
    first, last, inner = np.zeros((3, length))
    first[0] = last[-1] = 1
    inner[1:-1] = 1 + np.arange(length - 2)
    y = np.pad(np.stack([first, last, inner]), ((0, 0), (before, after)), mode, reflect_type="odd")
    return np.sign(y[2]), y[0], y[1]


def folding(mode, is_odd=False):
    """The function that adds the padding of ȳ along an axis to what it was made of; None where that is nothing."""
    if mode in ("constant", "empty"):
        return None
    if mode in ("edge", "linear_ramp"):
        return fold_edges if mode == "edge" else fold_ramps
    return lambda ybar, axis, before, after: fold_copies(ybar, axis, before, after, mode, is_odd)


def array_bar(ybar, widths, fold):
    """ȳ without its padding, which goes back to what it was made of, from the last axis to the first."""
    if fold is not None and any(map(any, widths)):
        ybar = np.copy(ybar)
    for axis in reversed(range(len(widths))):
        if any(widths[axis]):
            if fold is not None:
                fold(ybar, axis, *widths[axis])
            ybar = parts(ybar, axis, *widths[axis])[1]
    return ybar


# ---------------------------------------------------------------- the constants: their shares of the padding


def values_bar(ybar, widths, shape, mode):
    """The cotangent of ``constant_values`` or ``end_values``, of a shape that broadcasts to two numbers an axis."""
    if not widths:
        return np.zeros(shape)
    shares, fold = [], folding(mode)
    ybar = ybar if fold is None else np.copy(ybar)
    for axis in reversed(range(len(widths))):
        before, after = widths[axis]
        left, _, right = parts(ybar, axis, before, after)
        if mode == "linear_ramp":
            left = (1 - ramp(before, axis, len(widths), ybar.dtype)) * left
            right = (1 - np.flip(ramp(after, axis, len(widths), ybar.dtype), 0)) * right
        shares.append(np.stack([np.sum(left), np.sum(right)]))
        if fold is not None:
            fold(ybar, axis, before, after)
        ybar = parts(ybar, axis, before, after)[1]
    return unbroadcast(np.stack(shares[::-1]), (1,) * (2 - len(shape)) + shape).reshape(shape)


# ---------------------------------------------------------------- statistics: by their own rules


class PaddingByStatistic:
    """What is needed to pad an array along one axis with a statistic of its ends, or of all of it."""

    def __init__(self, f, shape, axis, width, length):
        self.f, self.axis, self.width, self.shape = f, axis, width, shape
        n = self.shape[axis]
        lengths = [n if m is None else min(m, n) for m in length]
        self.is_of_all = lengths == [n, n]
        self.windows = [along(axis, lengths[0]), along(axis, n - lengths[1], None)][: 1 if self.is_of_all else 2]

    def joined(self, statistics, x):
        """The padded array."""
        copies = [
            np.broadcast_to(statistic, (*self.shape[: self.axis], count, *self.shape[self.axis + 1 :]))
            for statistic, count in zip((statistics[0], statistics[-1]), self.width, strict=True)
        ]
        return np.concatenate([copies[0], x, copies[1]], self.axis)

    def push(self, x, dx):
        """The padded array, and its tangent."""
        options = {"axis": self.axis, "keepdims": True}
        pairs = [found_or_declined(frule((NoTangent(), dx[w]), self.f, x[w], **options)) for w in self.windows]
        dys = [np.zeros(y.shape) if isinstance(dy, AbstractZero) else unthunk(dy) for y, dy in pairs]
        return self.joined([y for y, _ in pairs], x), self.joined(dys, dx)

    def pull(self, y):
        """Write the padding to where it belongs; its pullback, which writes to ȳ."""
        left, x, right = parts(y, self.axis, *self.width)
        pairs = [found_or_declined(rrule(self.f, x[w], axis=self.axis, keepdims=True)) for w in self.windows]
        left[...], right[...] = pairs[0][0], pairs[-1][0]
        pullbacks = [pullback for _, pullback in pairs]

        def pad_pullback(ybar):
            left, xbar, right = parts(ybar, self.axis, *self.width)
            bars = [total(left, self.axis), total(right, self.axis)]
            bars = [bars[0] + bars[1]] if self.is_of_all else bars
            for window, pullback, bar in zip(self.windows, pullbacks, bars, strict=True):
                xbar[window] += unthunk(pullback(bar)[1])
            return xbar

        return pad_pullback


def found_or_declined(result):
    """What a rule answered; where the statistic has none, neither has the padding."""
    if result is None:
        raise MDNotImplementedError
    return result


# ---------------------------------------------------------------- pad


class Padding:
    """A call of ``pad``.

    Attributes
    ----------
    mode : str
        How to pad.
    values : object
        The constants that the mode pads with, or `NOT_GIVEN`.
    name : str
        What these are called.
    f : callable or None
        The statistic that the mode pads with.
    """

    def __init__(self, pad_width, mode, constant_values, end_values, stat_length, reflect_type):
        if callable(mode):  # it writes the padding where it is to stand, which an AD system has to follow
            raise MDNotImplementedError
        self.pad_width, self.mode, self.stat_length = pad_width, mode, stat_length
        self.is_odd = reflect_type == "odd"
        self.name, self.values = "constant_values", constant_values
        if mode == "linear_ramp":
            self.name, self.values = "end_values", end_values
        # NumPy refuses the options of other modes, also where they have their defaults.
        options = {"constant_values": constant_values, "end_values": end_values}
        options |= {"stat_length": stat_length, "reflect_type": reflect_type}
        self.options = {name: value for name, value in options.items() if value is not NOT_GIVEN}
        self.f = STATISTICS.get(mode) if self.options.keys() <= {"stat_length"} else None

    def __call__(self, array):
        """The padded array. NumPy hands over a call for the array alone, which so has to be of the constants' kind."""
        return np.pad(beside(array, self.values), self.pad_width, self.mode, **self.options)

    def axes_with_statistics(self, shape):
        """The axes to be padded with a statistic, if any, with the widths and the lengths to take it of."""
        if self.f is None:
            return []
        ndim = len(shape)
        widths, lengths = pairs_of(self.pad_width, ndim), pairs_of(self.stat_length, ndim)
        widths_given = list(self.pad_width.values()) if isinstance(self.pad_width, dict) else self.pad_width
        is_integer = np.asarray(widths_given).dtype.kind == "i"
        if not is_integer or any(n is not None and n < 0 for pair in (*widths, *lengths) for n in pair):
            raise MDNotImplementedError  # which NumPy has an error for
        return [(axis, widths[axis], lengths[axis]) for axis in range(ndim) if any(widths[axis])]

    def push(self, array, darray, dvalues):
        """The padded array and its tangent, of floats."""
        axes = self.axes_with_statistics(np.shape(array))
        if axes:
            for axis, *numbers in axes:
                array, darray = PaddingByStatistic(self.f, np.shape(array), axis, *numbers).push(array, darray)
            return array, darray
        y, options = self(array), dict(self.options)
        if self.name in options:
            darray, options[self.name] = beside(darray, dvalues), dvalues
        return y, np.pad(darray, self.pad_width, "constant" if self.mode == "empty" else self.mode, **options)


@frule.register(np.pad)
def pad_frule(
    tangents: Tangents,
    array: Array,
    pad_width: Shape,
    mode: Choice = "constant",
    constant_values: Array = NOT_GIVEN,
    end_values: Array = NOT_GIVEN,
    *,
    stat_length: Count = NOT_GIVEN,
    reflect_type: Choice = NOT_GIVEN,
) -> OutputAndTangent:
    """ẏ is ẋ padded alike, with the tangents of the constants."""
    # No `pushforward`, which along zeros calls np.pad itself: that takes by keyword alone what has a place here.
    padding = Padding(pad_width, mode, constant_values, end_values, stat_length, reflect_type)
    darray, dvalues = tangents[1], tangent_at(tangents, 4 if mode == "linear_ramp" else 3)
    x = as_array(array)
    if is_without_tangent(x):  # what is padded with takes its type
        return padding(x), NoTangent()
    if isinstance(darray, AbstractZero) and isinstance(dvalues, AbstractZero):
        return padding(x), darray
    (dx,) = tangents_of_items([darray], [array], x.dtype)
    y, dy = padding.push(x, dx, full_tangent(dvalues, padding.values))
    return y, project_to(y)(dy)


@rrule.register(np.pad)
def pad_rrule(
    array: Array,
    pad_width: Shape,
    mode: Choice = "constant",
    constant_values: Array = NOT_GIVEN,
    end_values: Array = NOT_GIVEN,
    *,
    stat_length: Count = NOT_GIVEN,
    reflect_type: Choice = NOT_GIVEN,
) -> OutputAndPullback:
    """The padding of ȳ goes back to the elements and constants that it was made of, from the last axis to the first."""
    padding = Padding(pad_width, mode, constant_values, end_values, stat_length, reflect_type)
    x = as_array(array)
    if is_without_tangent(x):  # what is padded with takes its type
        return padding(x), no_tangent_pullback
    axes = padding.axes_with_statistics(np.shape(x))
    if axes:
        y, array_bar_of = padded_by_statistic(padding.f, x, pad_width, axes)
        return y, pullback_wrt(array)(array_bar_of)
    widths, shape_of_values = pairs_of(pad_width, np.ndim(x)), shape_of(padding.values)
    fold = folding(mode, padding.is_odd)
    options = (..., end_values) if mode == "linear_ramp" else (constant_values,)
    return padding(x), pullback_wrt(array, ..., ..., *options)(
        lambda ybar: array_bar(ybar, widths, fold),
        lambda ybar: values_bar(ybar, widths, shape_of_values, mode),
    )


def padded_by_statistic(f, x, pad_width, axes):
    """The padded array, and how ȳ becomes x̄: by the pullbacks of the axes, from the last to the first."""
    y, shape, pullbacks = np.pad(x, pad_width, "empty"), np.shape(x), []
    dtype = y.dtype
    widths = pairs_of(pad_width, len(shape))
    for axis, width, length in axes:
        # Along the axes that come later there is no padding yet.
        later = [
            slice(before, before + n) for (before, _), n in zip(widths[axis + 1 :], shape[axis + 1 :], strict=True)
        ]
        padded = y[(*(slice(None),) * (axis + 1), *later)]
        lengths = (*np.shape(y)[:axis], shape[axis], *shape[axis + 1 :])
        pullbacks.append(PaddingByStatistic(f, lengths, axis, width, length).pull(padded))

    def array_bar_of(ybar):
        ybar = ybar.astype(dtype)  # a copy, and complex where y is
        for pullback in reversed(pullbacks):
            ybar = pullback(ybar)
        return ybar

    return y, array_bar_of


def is_without_tangent(array):
    return array.dtype.kind not in "fc"
