"""Pooling over windows, as neural networks do it: the maximum and the mean, over one, two and three axes.

Pooling over the segments of a matrix, which may be uneven, is `pool`.
"""

import math

import numpy as np

from rulescore import frule, ignore_derivatives, linear_rule, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, Flag, OutputAndPullback, OutputAndTangent, Shape

from ..numpy.array_like import as_array, as_array_tangent, shape_of
from .operator import operator
from .windows import LargestElements, WindowGrid, per_axis, sliding_windows

# ---------------------------------------------------------------- the largest element


@operator(onnx="MaxPool", tensorflow="tf.nn.max_pool1d")
def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    """The largest element of each window of signals.

    Parameters
    ----------
    input : array_like, shape (..., L)
        Any number of leading axes.
    kernel_size : int or tuple of int
        How many elements a window has.
    stride : int or tuple of int, optional
        How far apart windows begin; by default they follow each other.
    padding : int or tuple of int
        How many elements stand before and after the axis, at most half a window; none of them is the largest.
    dilation : int or tuple of int
        How far apart the elements of a window are.
    ceil_mode : bool
        Whether a last window that is not full counts.

    Returns
    -------
    y : ndarray, shape (..., O)
        In the type of ``input``. Equal largest elements share a cotangent equally; PyTorch gives it to the first one.

    Raises
    ------
    TypeError, ValueError
        When the options do not fit the input.

    Notes
    -----
    Options and values are those of ``torch.nn.functional.max_pool1d``.

    Examples
    --------
    >>> import numpy as np
    >>> max_pool1d(np.array([1.0, 3.0, 2.0, 5.0, 4.0]), 2)
    array([3., 5.])
    """
    return max_pool("max_pool1d", 1, input, kernel_size, stride, padding, dilation, ceil_mode)


@operator(onnx="MaxPool", tensorflow="tf.nn.max_pool2d")
def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    """The largest element of each window of images.

    Parameters
    ----------
    input : array_like, shape (..., H, W)
    kernel_size, stride, padding, dilation, ceil_mode
        As for `max_pool1d`; a tuple has a number for each axis.

    Returns
    -------
    y : ndarray, shape (..., OH, OW)

    Raises
    ------
    TypeError, ValueError
        When the options do not fit the input.

    Examples
    --------
    >>> import numpy as np
    >>> max_pool2d(np.arange(12.0).reshape(3, 4), 2)
    array([[5., 7.]])
    """
    return max_pool("max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode)


@operator(onnx="MaxPool", tensorflow="tf.nn.max_pool3d")
def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    """The largest element of each window of volumes.

    Parameters
    ----------
    input : array_like, shape (..., D, H, W)
    kernel_size, stride, padding, dilation, ceil_mode
        As for `max_pool1d`; a tuple has a number for each axis.

    Returns
    -------
    y : ndarray, shape (..., OD, OH, OW)

    Raises
    ------
    TypeError, ValueError
        When the options do not fit the input.

    Examples
    --------
    >>> import numpy as np
    >>> max_pool3d(np.arange(8.0).reshape(2, 2, 2), 2)
    array([[[7.]]])
    """
    return max_pool("max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool(name, ndim, x, kernel_size, stride, padding, dilation, ceil_mode):
    x = np.asarray(x)
    grid = pooling_grid(name, ndim, x.shape, kernel_size, stride, padding, dilation, ceil_mode)
    x = grid.pad(x, lowest(x.dtype))
    for axis in range(-ndim, 0):  # one axis after the other: the maximum of maxima
        x = reduced_along(np.max, x, axis, grid)
    return x


def lowest(dtype):
    """The number that is larger than none of a type."""
    if dtype.kind == "c":
        raise TypeError(f"max_pool of {dtype} numbers, which have no order: pool their absolute values, or their parts")
    return {"f": -np.inf, "b": False}.get(dtype.kind, np.iinfo(dtype).min if dtype.kind in "iu" else None)


def reduced_along(f, x, axis, grid):
    """A reduction of the windows along one axis."""
    options = [(option[axis],) for option in (grid.lengths, grid.strides, grid.dilations)]
    along = sliding_windows(np.moveaxis(x, axis, -1), *options)
    # A copy, since NumPy is slow where the windows are the shortest strides.
    return np.moveaxis(f(np.ascontiguousarray(along), axis=-2), -1, axis)


def pooling_grid(name, ndim, shape, kernel_size, stride, padding, dilation=1, ceil_mode=False):
    """The windows of a call, once it is known that its arguments fit each other."""
    if len(shape) < ndim:
        raise ValueError(f"{name}: an input of shape {shape}; give one with {ndim} axes or more")
    lengths = per_axis("kernel_size", kernel_size, ndim, 1)
    strides = lengths if stride is None else per_axis("stride", stride, ndim, 1)
    dilations, pads = per_axis("dilation", dilation, ndim, 1), per_axis("padding", padding, ndim, 0)
    pairs = []
    for size, k, s, d, pad in zip(shape[-ndim:], lengths, strides, dilations, pads, strict=True):
        span = (k - 1) * d + 1
        if 2 * pad > span:
            raise ValueError(f"{name}: padding={padding} for windows that span {span}: give at most half of that")
        if ceil_mode:
            # A window that would begin in the padding at the end is left out.
            last = min(-(-(size + 2 * pad - span) // s), (size + pad - 1) // s)
            pairs.append((pad, max(pad, last * s + span - size - pad)))
        else:
            pairs.append((pad, pad))
    return WindowGrid(lengths, strides, dilations, tuple(pairs))


def register_max_pool(f, ndim):
    """The rules of the maximum over windows: ẏ is the mean of the tangents of the largest elements."""

    def largest_elements(x, y, grid):
        x, y = ignore_derivatives(x), ignore_derivatives(y)
        return LargestElements(grid.windows(x, -np.inf), y, grid, grid.is_inside(np.shape(x)))

    @frule.register(f, tags=f.tags)
    @pushforward
    def max_pool_frule(
        dinput: Array,
        input: Array,
        kernel_size: Shape,
        stride: Shape = None,
        padding: Shape = 0,
        dilation: Shape = 1,
        ceil_mode: Flag = False,
    ) -> OutputAndTangent:
        y, x = f(input, kernel_size, stride, padding, dilation, ceil_mode), as_array(input)
        grid = pooling_grid(f.__name__, ndim, np.shape(x), kernel_size, stride, padding, dilation, ceil_mode)
        return y, largest_elements(x, y, grid).mean(grid.windows(as_array_tangent(dinput, input)))

    @rrule.register(f, tags=f.tags)
    def max_pool_rrule(
        input: Array,
        kernel_size: Shape,
        stride: Shape = None,
        padding: Shape = 0,
        dilation: Shape = 1,
        ceil_mode: Flag = False,
    ) -> OutputAndPullback:
        """Each ȳ is divided among the largest elements of its window."""
        y, x = f(input, kernel_size, stride, padding, dilation, ceil_mode), as_array(input)
        grid = pooling_grid(f.__name__, ndim, np.shape(x), kernel_size, stride, padding, dilation, ceil_mode)

        @pullback_wrt(input)
        def max_pool_pullback(ybar):
            return grid.overlap_add(largest_elements(x, y, grid).shares(ybar), np.shape(x))

        return y, max_pool_pullback


for ndim, f in enumerate((max_pool1d, max_pool2d, max_pool3d), 1):
    register_max_pool(f, ndim)

# ---------------------------------------------------------------- the mean


@operator(onnx="AveragePool", tensorflow="tf.nn.avg_pool1d")
def avg_pool1d(
    input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
):
    """The mean of each window of signals.

    Parameters
    ----------
    input : array_like, shape (..., L)
        Any number of leading axes.
    kernel_size, stride, padding, ceil_mode
        As for `max_pool1d`; the padding consists of zeros.
    count_include_pad : bool
        Whether the zeros count as elements.
    divisor_override : int, optional
        What the sum is divided by, in the place of the number of elements.

    Returns
    -------
    y : ndarray, shape (..., O)

    Raises
    ------
    TypeError, ValueError
        When the options do not fit the input.

    Notes
    -----
    Options and values are those of ``torch.nn.functional.avg_pool1d``, and the divisor those of its like for images.

    Examples
    --------
    >>> import numpy as np
    >>> avg_pool1d(np.array([1.0, 3.0, 2.0, 5.0, 4.0]), 2)
    array([2. , 3.5])
    """
    return avg_pool(
        "avg_pool1d", 1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


@operator(onnx="AveragePool", tensorflow="tf.nn.avg_pool2d")
def avg_pool2d(
    input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
):
    """The mean of each window of images.

    Parameters
    ----------
    input : array_like, shape (..., H, W)
    kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        As for `avg_pool1d`; a tuple has a number for each axis.

    Returns
    -------
    y : ndarray, shape (..., OH, OW)

    Raises
    ------
    TypeError, ValueError
        When the options do not fit the input.

    Examples
    --------
    >>> import numpy as np
    >>> avg_pool2d(np.arange(12.0).reshape(3, 4), 2)
    array([[2.5, 4.5]])
    """
    return avg_pool(
        "avg_pool2d", 2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


@operator(onnx="AveragePool", tensorflow="tf.nn.avg_pool3d")
def avg_pool3d(
    input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
):
    """The mean of each window of volumes.

    Parameters
    ----------
    input : array_like, shape (..., D, H, W)
    kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        As for `avg_pool1d`; a tuple has a number for each axis.

    Returns
    -------
    y : ndarray, shape (..., OD, OH, OW)

    Raises
    ------
    TypeError, ValueError
        When the options do not fit the input.

    Examples
    --------
    >>> import numpy as np
    >>> avg_pool3d(np.arange(8.0).reshape(2, 2, 2), 2)
    array([[[3.5]]])
    """
    return avg_pool(
        "avg_pool3d", 3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def avg_pool(name, ndim, x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    x = np.asarray(x)
    x = x if x.dtype.kind in "fc" else x.astype(float)
    grid = pooling_grid(name, ndim, x.shape, kernel_size, stride, padding, ceil_mode=ceil_mode)
    divisors = divisors_of(name, x.shape, x.dtype, grid, padding, count_include_pad, divisor_override)
    x = grid.pad(x)
    for axis in range(-ndim, 0):
        x = reduced_along(np.sum, x, axis, grid)
    return x / divisors


def divisors_of(name, shape, dtype, grid, padding, count_include_pad, divisor_override):
    """What the sum of each window is divided by."""
    real = np.empty(0, dtype).real.dtype
    if divisor_override is not None:
        if divisor_override == 0:
            raise ValueError(f"{name}: divisor_override=0; give a number to divide by, or leave it out")
        return real.type(divisor_override)
    counts = []
    pads = per_axis("padding", padding, grid.ndim, 0)
    for size, k, s, pad, n in zip(
        shape[-grid.ndim :], grid.lengths, grid.strides, pads, grid.places(shape), strict=True
    ):
        begin = np.arange(n) * s - pad
        # What `ceil_mode` adds beyond the padding never counts.
        end = np.minimum(begin + k, size + pad)
        counts.append(end - begin if count_include_pad else np.minimum(end, size) - np.maximum(begin, 0))
    return math.prod(np.ix_(*counts)).astype(real)


def avg_pool_transpose_of(name, ndim):
    def avg_pool_transpose(
        ybar, input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
    ):
        """Every element of a window gets ȳ divided by their number."""
        shape = shape_of(input)
        grid = pooling_grid(name, ndim, shape, kernel_size, stride, padding, ceil_mode=ceil_mode)
        share = ybar / divisors_of(name, shape, ybar.dtype, grid, padding, count_include_pad, divisor_override)
        counts = np.shape(share)[-ndim:]
        copies = np.broadcast_to(np.expand_dims(share, grid.axes), (*shape[:-ndim], *grid.lengths, *counts))
        return grid.overlap_add(copies, shape)

    return avg_pool_transpose


for ndim, f in enumerate((avg_pool1d, avg_pool2d, avg_pool3d), 1):
    linear_rule(f, avg_pool_transpose_of(f.__name__, ndim), tags=tuple(f.tags))
