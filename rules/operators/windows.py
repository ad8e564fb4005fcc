"""Windows that slide over the last axes of an array, and their adjoint: the layer that convolutions, pooling and
morphology share.

`sliding_windows` shows an array once for every place in a window, and `overlap_add` adds up what belongs to the same
element. Each is the transpose of the other (im2col and col2im, PyTorch's unfold and fold), so that they are each
other's rule.
"""

import math
import operator as python_operator
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from rulescore import linear_rule

from ..numpy.array_like import shape_of
from ..numpy.reduced_axes import chosen
from .operator import operator

# ---------------------------------------------------------------- the two linear maps


@operator()
def sliding_windows(x, lengths, strides=1, dilations=1):
    """The windows over the last axes of an array.

    Parameters
    ----------
    x : array_like, shape (..., L1, ..., Ln)
    lengths : tuple of int, length n
        How many elements a window has along each axis; with n of them, windows go over the last n axes.
    strides, dilations : int or tuple of int
        How far apart two windows begin, and how far apart two elements of a window are; one number for all axes, or one
        for each.

    Returns
    -------
    y : ndarray, shape (..., K1, ..., Kn, O1, ..., On)
        ``y[..., k, o] = x[..., o * stride + k * dilation]`` along each axis; a view that cannot be written to.

    Raises
    ------
    ValueError
        When a window is longer than its axis, or there are more lengths than axes.

    Examples
    --------
    >>> import numpy as np
    >>> sliding_windows(np.arange(5), (2,), dilations=2)
    array([[0, 1, 2],
           [2, 3, 4]])
    """
    x, n = np.asarray(x), len(lengths)
    lengths = per_axis("lengths", lengths, n, 1)
    strides, dilations = per_axis("strides", strides, n, 1), per_axis("dilations", dilations, n, 1)
    if x.ndim < n:
        raise ValueError(
            f"sliding_windows {lengths} over an array of shape {x.shape}: give a length for each of its axes"
        )
    places(x.shape[x.ndim - n :], lengths, strides, dilations)
    spans = tuple([(k - 1) * d + 1 for k, d in zip(lengths, dilations, strict=True)])
    y = sliding_window_view(x, spans, tuple(range(-n, 0)))
    steps = [slice(None, None, s) for s in strides] + [slice(None, None, d) for d in dilations]
    leading = range(x.ndim - n)
    return np.transpose(y[(..., *steps)], (*leading, *range(x.ndim, x.ndim + n), *range(x.ndim - n, x.ndim)))


@operator()
def overlap_add(y, shape, strides=1, dilations=1):
    """What windows hold, added up where they overlap: the transpose of `sliding_windows`.

    Parameters
    ----------
    y : array_like, shape (..., K1, ..., Kn, O1, ..., On)
    shape : tuple of int, length n
        The lengths (L1, ..., Ln) of the axes that the windows were taken from.
    strides, dilations : int or tuple of int
        As for `sliding_windows`.

    Returns
    -------
    x : ndarray, shape (..., L1, ..., Ln)
        Every element is the sum of ``y`` over the places where `sliding_windows` shows it.

    Raises
    ------
    ValueError
        When the windows over axes of these lengths are others.

    Examples
    --------
    >>> import numpy as np
    >>> overlap_add(np.ones((2, 3)), (4,))
    array([1., 2., 2., 1.])
    """
    y, n = np.asarray(y), len(shape)
    strides, dilations = per_axis("strides", strides, n, 1), per_axis("dilations", dilations, n, 1)
    if y.ndim < 2 * n:
        raise ValueError(
            f"overlap_add of an array of shape {y.shape}: give two axes for each of the {n} in shape={shape}"
        )
    lengths, counts = y.shape[y.ndim - 2 * n : y.ndim - n], y.shape[y.ndim - n :]
    if places(shape, lengths, strides, dilations) != counts:
        raise ValueError(
            f"overlap_add of windows {lengths} in {counts} places: over axes of lengths {tuple(shape)} there are "
            f"{places(shape, lengths, strides, dilations)} of them; give the shape that `sliding_windows` had"
        )
    for axis in reversed(range(n)):  # one axis after the other, which takes K1 + K2 additions instead of K1 * K2
        y = _overlap_add_along(y, n, axis, shape[axis], strides[axis], dilations[axis])
    return y


def _overlap_add_along(y, n, axis, length, stride, dilation):
    """The last of the window axes, which stands before the n others, added into the axis of its places."""
    by_offset, place = np.moveaxis(y, -1 - n, 0), axis - n
    count = by_offset.shape[place]
    end = (slice(None),) * (n - 1 - axis)
    x = np.zeros((*by_offset.shape[1:place], length, *by_offset.shape[by_offset.ndim + place + 1 :]), y.dtype)
    if len(by_offset) <= count:
        for k, part in enumerate(by_offset):
            x[(..., slice(k * dilation, k * dilation + (count - 1) * stride + 1, stride), *end)] += part
        return x
    span = (len(by_offset) - 1) * dilation + 1
    for o, part in enumerate(np.moveaxis(by_offset, place, 0)):
        x[(..., slice(o * stride, o * stride + span, dilation), *end)] += np.moveaxis(part, 0, place)
    return x


def windows_transpose(ybar, x, lengths, strides=1, dilations=1):
    return overlap_add(ybar, shape_of(x)[-len(lengths) :], strides, dilations)


def overlap_add_transpose(xbar, y, shape, strides=1, dilations=1):
    return sliding_windows(xbar, shape_of(y)[-2 * len(shape) : -len(shape)], strides, dilations)


linear_rule(sliding_windows, windows_transpose)
linear_rule(overlap_add, overlap_add_transpose)


def places(shape, lengths, strides, dilations):
    """How many windows there are along each axis."""
    counts = []
    for length, k, s, d in zip(shape, lengths, strides, dilations, strict=True):
        span = (k - 1) * d + 1
        if span > length:
            raise ValueError(
                f"windows of {k} elements, {d} apart, over an axis of length {length}: they span {span}; pad the axis, "
                "or take shorter windows"
            )
        counts.append((length - span) // s + 1)
    return tuple(counts)


# ---------------------------------------------------------------- windows over a padded array


@dataclass(frozen=True, slots=True)
class WindowGrid:
    """Which windows there are over the last n axes of an array, that is padded first.

    Attributes
    ----------
    lengths, strides, dilations : tuple of int
        As for `sliding_windows`.
    pads : tuple of pairs of int
        How many elements are added before and after each axis.
    """

    lengths: tuple
    strides: tuple
    dilations: tuple
    pads: tuple

    @property
    def ndim(self):
        return len(self.lengths)

    @property
    def size(self):
        """How many elements a window has."""
        return math.prod(self.lengths)

    @property
    def axes(self):
        """The window axes in the result of `sliding_windows`."""
        return tuple(range(-2 * self.ndim, -self.ndim))

    def pad(self, x, value=0):
        if not any(map(any, self.pads)):
            return x
        return np.pad(x, ((0, 0),) * (np.ndim(x) - self.ndim) + self.pads, constant_values=value)

    def windows(self, x, value=0):
        """The windows over ``x``, padded with a value."""
        return sliding_windows(self.pad(x, value), self.lengths, self.strides, self.dilations)

    def overlap_add(self, y, shape):
        """The transpose of `windows`, for an array of this shape."""
        padded = tuple([sum(pad) + n for pad, n in zip(self.pads, shape[-self.ndim :], strict=True)])
        x = overlap_add(y, padded, self.strides, self.dilations)
        if not any(map(any, self.pads)):
            return x
        inside = [slice(before, n - after) for (before, after), n in zip(self.pads, padded, strict=True)]
        return x[(..., *inside)]

    def places(self, shape):
        """How many windows there are along each of the last axes of an array of this shape."""
        padded = [sum(pad) + n for pad, n in zip(self.pads, shape[len(shape) - self.ndim :], strict=True)]
        return places(padded, self.lengths, self.strides, self.dilations)

    def is_inside(self, shape):
        """Which elements of the windows are no padding, over arrays of this shape; True where there is no padding."""
        if not any(map(any, self.pads)):
            return True
        return self.windows(np.ones(shape[len(shape) - self.ndim :], bool), False)


def per_axis(name, value, n, least):
    """An option as one whole number for each of n axes; a single one stands for all of them."""
    numbers = value if isinstance(value, (tuple, list, np.ndarray)) else (value,) * n
    try:
        numbers = tuple(map(python_operator.index, numbers))
    except TypeError:
        raise TypeError(f"{name}={value!r}: give a whole number, or one for each of the {n} axes") from None
    numbers = numbers * n if len(numbers) == 1 else numbers
    if len(numbers) != n or min(numbers) < least:
        raise ValueError(f"{name}={value!r}: give a whole number from {least} on, or one for each of the {n} axes")
    return numbers


# ---------------------------------------------------------------- the largest element of each window


class LargestElements:
    """Where windows attain their maxima, which share equally what belongs to the maximum.

    Parameters
    ----------
    elements : array, shape (..., K1, ..., Kn, O1, ..., On)
        The windows.
    y : array, shape (..., O1, ..., On)
        Their maxima. One that is NaN is attained by the elements that are NaN.
    is_inside : array of bool, or True
        Which elements are no padding.
    """

    __slots__ = ("attained", "axes", "count")

    def __init__(self, elements, y, grid, is_inside):
        self.axes = grid.axes
        top = np.expand_dims(y, self.axes)
        # In C order, since that of the windows, whose strides come in no order, makes everything below slow.
        attained = np.equal(elements, top, order="C")
        if np.any(y != y):
            attained = attained | ((elements != elements) & (top != top))
        self.attained = attained if is_inside is True else attained & is_inside
        self.count = np.sum(self.attained, axis=self.axes, dtype=y.dtype)

    def shares(self, ybar):
        """ȳ divided among the elements that attain each maximum; exactly 0 for all others."""
        share = np.expand_dims(ybar / self.count, self.axes)
        return chosen(self.attained, np.broadcast_to(share, self.attained.shape))

    def mean(self, dx):
        """The mean of tangents of these elements."""
        return np.sum(chosen(self.attained, dx), axis=self.axes) / self.count
