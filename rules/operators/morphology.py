"""Grayscale morphology: `dilation2d`, in which the sum and the product of a convolution are a maximum and a sum."""

import numpy as np

from rulescore import apply_linear, frule, ignore_derivatives, pullback_wrt, pushforward, rrule, unbroadcast
from rulescore.typing import Array, OutputAndPullback, OutputAndTangent, Shape

from ..numpy.array_like import as_array, as_array_tangent
from .operator import operator
from .windows import LargestElements, WindowGrid, per_axis


@operator(tensorflow="tf.nn.dilation2d")
def dilation2d(input, filters, strides=1, padding="VALID", dilations=1):
    """The dilation of images by a structuring element for each channel.

    Parameters
    ----------
    input : array_like, shape (..., H, W, C)
        Channels last, as in TensorFlow.
    filters : array_like, shape (KH, KW, C)
        What is added to the elements of each window.
    strides, dilations : int, pair of int, or four of them
        How far apart windows begin, and the elements of a window are. TensorFlow's form has a 1 before and after.
    padding : ``"VALID"`` or ``"SAME"``
        ``"SAME"`` has ``ceil(H / stride)`` windows, of which some reach over the edge, where there are no elements.

    Returns
    -------
    y : ndarray, shape (..., OH, OW, C)
        ``y[..., i, j, c] = max over k, l of input[..., i * s1 + k * d1, j * s2 + l * d2, c] + filters[k, l, c]``.
        Equal largest sums share a cotangent equally.

    Raises
    ------
    TypeError, ValueError
        When the shapes or the options do not fit each other.

    Notes
    -----
    Options and values are those of ``tf.nn.dilation2d``. The erosion is ``-dilation2d(-input, filters[::-1, ::-1])``.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])[..., None]
    >>> dilation2d(image, np.zeros((2, 2, 1)))[..., 0]
    array([[0., 1.]])
    """
    x, filters = np.asarray(input), np.asarray(filters)
    if "c" in (x.dtype.kind, filters.dtype.kind):
        raise TypeError("dilation2d of complex numbers, which have no order: give their absolute values")
    grid = dilation_grid(x.shape, filters.shape, strides, padding, dilations)
    return channels_last(np.max(sums(x, filters, grid, -np.inf), axis=grid.axes))


def dilation_grid(x_shape, filters_shape, strides, padding, dilations):
    """The windows of a call, once it is known that its arguments fit each other."""
    if len(x_shape) < 3 or len(filters_shape) != 3 or filters_shape[2] != x_shape[-1] or 0 in filters_shape:
        raise ValueError(
            f"dilation2d of images {x_shape} by filters {filters_shape}: give images of shape (..., H, W, C) and "
            "filters of shape (KH, KW, C), for the same channels"
        )
    strides, dilations = (
        per_axis(name, option[1:3] if isinstance(option, (tuple, list)) and len(option) == 4 else option, 2, 1)
        for name, option in (("strides", strides), ("dilations", dilations))
    )
    pads = ((0, 0), (0, 0))
    if padding == "SAME":
        pads = tuple(
            [
                same_padding(n, (k - 1) * d + 1, s)
                for n, k, s, d in zip(x_shape[-3:-1], filters_shape, strides, dilations, strict=False)
            ]
        )
    elif padding != "VALID":
        raise ValueError(f'dilation2d: padding={padding!r}; give "VALID" or "SAME"')
    return WindowGrid(tuple(filters_shape[:2]), strides, dilations, pads)


def same_padding(length, span, stride):
    """What TensorFlow pads for ``ceil(length / stride)`` windows: the odd one at the end."""
    missing = max((-(-length // stride) - 1) * stride + span - length, 0)
    return missing // 2, missing - missing // 2


def channels_first(x):
    return np.moveaxis(x, -1, -3)


def channels_last(x):
    return np.moveaxis(x, -3, -1)


def upright(filters):
    """The filters beside the windows of channels: (C, KH, KW, 1, 1)."""
    return np.moveaxis(filters, -1, 0)[..., None, None]


def sums(x, filters, grid, value):
    """What the maximum goes over: the windows, padded with a value, plus the filters."""
    # In C order, since that of the windows, whose strides come in no order, makes everything that follows slow.
    return np.add(grid.windows(channels_first(x), value), upright(filters), order="C")


def largest_sums(x, filters, y, grid):
    x, filters, y = map(ignore_derivatives, (x, filters, y))
    is_inside = grid.is_inside(np.shape(channels_first(x)))
    return LargestElements(sums(x, filters, grid, -np.inf), channels_first(y), grid, is_inside)


@frule.register(dilation2d, tags=dilation2d.tags)
@pushforward
def dilation2d_frule(
    dinput: Array,
    dfilters: Array,
    input: Array,
    filters: Array,
    strides: Shape = 1,
    padding: Shape = "VALID",
    dilations: Shape = 1,
) -> OutputAndTangent:
    """ẏ is the mean of ẋ plus the filters' tangent, over the largest sums."""
    y = dilation2d(input, filters, strides, padding, dilations)
    x, dx, w, dw = (
        as_array(input),
        as_array_tangent(dinput, input),
        as_array(filters),
        as_array_tangent(dfilters, filters),
    )
    grid = dilation_grid(np.shape(x), np.shape(w), strides, padding, dilations)
    largest = largest_sums(x, w, y, grid)
    dsums = apply_linear(grid.windows, channels_first(dx)) + upright(dw)
    return y, channels_last(largest.mean(np.broadcast_to(dsums, largest.attained.shape)))


@rrule.register(dilation2d, tags=dilation2d.tags)
def dilation2d_rrule(
    input: Array, filters: Array, strides: Shape = 1, padding: Shape = "VALID", dilations: Shape = 1
) -> OutputAndPullback:
    """Each ȳ is divided among the largest sums, whose two terms both get the share."""
    y = dilation2d(input, filters, strides, padding, dilations)
    x, w = as_array(input), as_array(filters)
    grid = dilation_grid(np.shape(x), np.shape(w), strides, padding, dilations)

    @pullback_wrt(input, filters)
    def dilation2d_pullback(ybar):
        shares = largest_sums(x, w, y, grid).shares(channels_first(ybar))
        return (
            lambda: channels_last(grid.overlap_add(shares, np.shape(channels_first(x)))),
            lambda: np.moveaxis(unbroadcast(shares, upright(w).shape)[..., 0, 0], 0, -1),
        )

    return y, dilation2d_pullback
