"""Convolutions of neural networks, `conv1d`, `conv2d` and `conv3d`, with PyTorch's layout and options.

A convolution is one product of matrices, of the weights with the windows of all inputs side by side. It is linear in
the input, in the weights and in the bias, and each cotangent is a product of matrices again.
"""

import math

import numpy as np

from rulescore import apply_linear, frule, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, Count, OutputAndPullback, OutputAndTangent, Shape

from ..numpy.array_like import as_array, as_array_tangent
from ..numpy.products import adjoint
from .operator import operator
from .windows import WindowGrid, per_axis

# ---------------------------------------------------------------- the functions


@operator(onnx="Conv", tensorflow="tf.nn.conv1d")
def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation of signals with a bank of filters.

    Parameters
    ----------
    input : array_like, shape (..., C, L)
        C channels of length L; any number of leading axes.
    weight : array_like, shape (F, C // groups, K)
        One filter for each of the F output channels.
    bias : array_like, shape (F,), optional
        Added to each output channel.
    stride, dilation : int or tuple of int
        How far apart windows begin, and the elements of a window are.
    padding : int, tuple of int, ``"valid"`` or ``"same"``
        How many zeros are added on either side. ``"valid"`` adds none, ``"same"`` as many as keep the length (the odd
        one at the end), which takes ``stride=1``.
    groups : int
        Into how many groups the channels are divided; each group of outputs sees one group of inputs.

    Returns
    -------
    y : ndarray, shape (..., F, O)
        ``y[..., f, o] = bias[f] + Σ weight[f, c, k] input[..., c, o * stride + k * dilation]`` over the channels c of
        the group and the places k, on the padded input.

    Raises
    ------
    TypeError, ValueError
        When the shapes or the options do not fit each other.

    Notes
    -----
    Options, layout and result are those of ``torch.nn.functional.conv1d``. The windows are copied once, so that the
    memory taken is K times that of the input.

    Examples
    --------
    >>> import numpy as np
    >>> conv1d(np.arange(5.0)[None], np.array([[[-1.0, 0.0, 1.0]]]), padding="same")
    array([[ 1.,  2.,  2.,  2., -3.]])
    """
    return convolution("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


@operator(onnx="Conv", tensorflow="tf.nn.conv2d")
def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation of images with a bank of filters.

    Parameters
    ----------
    input : array_like, shape (..., C, H, W)
    weight : array_like, shape (F, C // groups, KH, KW)
    bias : array_like, shape (F,), optional
    stride, padding, dilation, groups
        As for `conv1d`; a tuple has a number for each axis.

    Returns
    -------
    y : ndarray, shape (..., F, OH, OW)

    Raises
    ------
    TypeError, ValueError
        When the shapes or the options do not fit each other.

    Examples
    --------
    >>> import numpy as np
    >>> conv2d(np.ones((1, 3, 3)), np.ones((1, 1, 2, 2)), stride=(1, 2), padding=(0, 1))
    array([[[2., 4.],
            [2., 4.]]])
    """
    return convolution("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


@operator(onnx="Conv", tensorflow="tf.nn.conv3d")
def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation of volumes with a bank of filters.

    Parameters
    ----------
    input : array_like, shape (..., C, D, H, W)
    weight : array_like, shape (F, C // groups, KD, KH, KW)
    bias : array_like, shape (F,), optional
    stride, padding, dilation, groups
        As for `conv1d`; a tuple has a number for each axis.

    Returns
    -------
    y : ndarray, shape (..., F, OD, OH, OW)

    Raises
    ------
    TypeError, ValueError
        When the shapes or the options do not fit each other.

    Examples
    --------
    >>> import numpy as np
    >>> conv3d(np.ones((1, 2, 2, 2)), np.ones((3, 1, 2, 2, 2))).shape
    (3, 1, 1, 1)
    """
    return convolution("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


def convolution(name, ndim, x, weight, bias, stride, padding, dilation, groups):
    x, weight = np.asarray(x), np.asarray(weight)
    bias = None if bias is None else np.asarray(bias)
    form = ConvolutionForm.of(name, ndim, x.shape, weight.shape, stride, padding, dilation, groups)
    y = form.of_columns(form.as_matrices(weight) @ form.columns(x))
    if bias is None:
        return y
    if bias.shape != weight.shape[:1]:
        raise ValueError(
            f"{name}: a bias of shape {bias.shape} for {len(weight)} output channels; give one number each"
        )
    return y + form.upright(bias)


# ---------------------------------------------------------------- the matrices that are multiplied


class ConvolutionForm:
    """How a convolution is a product of matrices: of the weights with the columns, G of each for G groups.

    A matrix of weights has a row for each filter of its group. A matrix of columns has a column for each window, those
    of all inputs side by side.
    """

    def __init__(self, grid, groups, batch, channels, lengths, filters):
        self.grid, self.groups, self.batch = grid, groups, batch
        self.channels, self.lengths, self.filters = channels, lengths, filters
        self.counts = grid.places(lengths)

    @classmethod
    def of(cls, name, ndim, x_shape, weight_shape, stride, padding, dilation, groups):
        """The form of a call, once it is known that its arguments fit each other."""
        axes = ("L", "HW", "DHW")[ndim - 1]
        if len(x_shape) < ndim + 1:
            raise ValueError(f"{name}: an input of shape {x_shape}; give one of shape (..., C, {', '.join(axes)})")
        if len(weight_shape) != ndim + 2 or 0 in weight_shape:
            raise ValueError(
                f"{name}: weights of shape {weight_shape}; give (F, C // groups, {', '.join('K' + a for a in axes)}), "
                "none of them 0"
            )
        channels, filters, (groups,) = x_shape[-ndim - 1], weight_shape[0], per_axis("groups", groups, 1, 1)
        if channels != groups * weight_shape[1] or filters % groups:
            raise ValueError(
                f"{name}: an input of {channels} channels and weights of shape {weight_shape} for groups={groups}: the "
                f"input needs groups * {weight_shape[1]} channels, and groups has to divide the {filters} filters"
            )
        strides, dilations = per_axis("stride", stride, ndim, 1), per_axis("dilation", dilation, ndim, 1)
        pads = pads_of(name, padding, weight_shape[2:], strides, dilations)
        grid = WindowGrid(weight_shape[2:], strides, dilations, pads)
        return cls(grid, groups, x_shape[: -ndim - 1], channels, x_shape[-ndim:], filters)

    def columns(self, x):
        """The windows of the input: (G, C/G · K, N · O)."""
        n = self.grid.ndim
        windows = np.reshape(self.grid.windows(x), (-1, self.channels, *self.grid.lengths, *self.counts))
        windows = np.transpose(windows, (*range(1, n + 2), 0, *range(n + 2, 2 * n + 2)))
        return np.reshape(windows, (self.groups, self.rows, self.width))

    def of_columns(self, y):
        """Products with the columns, (G, F/G, N · O), as an output: (..., F, O)."""
        y = np.reshape(y, (self.filters, math.prod(self.batch), *self.counts))
        return np.reshape(np.moveaxis(y, 0, 1), (*self.batch, self.filters, *self.counts))

    def as_columns(self, ybar):
        """The transpose of `of_columns`."""
        ybar = np.reshape(ybar, (math.prod(self.batch), self.filters, *self.counts))
        return np.reshape(np.moveaxis(ybar, 0, 1), (self.groups, self.filters // self.groups, self.width))

    def columns_added(self, columns):
        """The transpose of `columns`."""
        n = self.grid.ndim
        windows = np.reshape(columns, (self.channels, *self.grid.lengths, math.prod(self.batch), *self.counts))
        windows = np.transpose(windows, (n + 1, *range(n + 1), *range(n + 2, 2 * n + 2)))
        x = self.grid.overlap_add(windows, self.lengths)
        return np.reshape(x, (*self.batch, self.channels, *self.lengths))

    def as_matrices(self, weight):
        return np.reshape(weight, (self.groups, self.filters // self.groups, self.rows))

    def of_matrices(self, weight):
        return np.reshape(weight, (self.filters, self.channels // self.groups, *self.grid.lengths))

    def upright(self, bias):
        """One number for each output channel, beside an output."""
        return np.reshape(bias, (self.filters, *(1,) * self.grid.ndim))

    @property
    def rows(self):
        return self.channels // self.groups * self.grid.size

    @property
    def width(self):
        return math.prod(self.batch) * math.prod(self.counts)


def pads_of(name, padding, lengths, strides, dilations):
    """How many zeros stand before and after each axis."""
    if isinstance(padding, str):
        if padding == "valid":
            return ((0, 0),) * len(lengths)
        if padding != "same":
            raise ValueError(f'{name}: padding={padding!r}; give "valid", "same" or numbers of zeros')
        if any(stride != 1 for stride in strides):
            raise ValueError(f'{name}: padding="same" with stride={strides}: no padding keeps the length; give numbers')
        surplus = [(k - 1) * d for k, d in zip(lengths, dilations, strict=True)]
        return tuple([(n // 2, n - n // 2) for n in surplus])
    return tuple([(n, n) for n in per_axis("padding", padding, len(lengths), 0)])


# ---------------------------------------------------------------- the rules


def register_convolution(f, ndim):
    """The rules of a convolution over n axes."""

    @frule.register(f, tags=f.tags)
    @pushforward
    def convolution_frule(
        dinput: Array,
        dweight: Array,
        dbias: Array,
        input: Array,
        weight: Array,
        bias: Array = None,
        stride: Shape = 1,
        padding: Shape = 0,
        dilation: Shape = 1,
        groups: Count = 1,
    ) -> OutputAndTangent:
        """ẏ is the convolution of ẋ, that with ẇ, and the tangent of the bias."""
        x, w, options = as_array(input), as_array(weight), (stride, padding, dilation, groups)
        dx, dw, db = (as_array_tangent(dz, z) for dz, z in ((dinput, input), (dweight, weight), (dbias, bias)))
        y = f(input, weight, bias, *options)
        of_x = apply_linear(lambda dx: f(dx, w, None, *options), dx)
        of_w = apply_linear(lambda dw: f(x, dw, None, *options), dw)
        return y, of_x + of_w + np.broadcast_to(np.reshape(db, (-1, *(1,) * ndim)), np.shape(y))

    @rrule.register(f, tags=f.tags)
    def convolution_rrule(
        input: Array,
        weight: Array,
        bias: Array = None,
        stride: Shape = 1,
        padding: Shape = 0,
        dilation: Shape = 1,
        groups: Count = 1,
    ) -> OutputAndPullback:
        """Y = W X for the matrices of weights and of columns, hence X̄ = Wᴴ Ȳ and W̄ = Ȳ Xᴴ; the bias gets Σ ȳ."""
        x, w = as_array(input), as_array(weight)
        form = ConvolutionForm.of(f.__name__, ndim, np.shape(x), np.shape(w), stride, padding, dilation, groups)

        @pullback_wrt(input, weight, bias)
        def convolution_pullback(ybar):
            columns_bar = form.as_columns(ybar)
            return (
                lambda: form.columns_added(adjoint(form.as_matrices(w)) @ columns_bar),
                lambda: form.of_matrices(columns_bar @ adjoint(form.columns(x))),
                lambda: np.reshape(np.sum(columns_bar, axis=-1), -1),
            )

        return f(input, weight, bias, stride, padding, dilation, groups), convolution_pullback


for ndim, f in enumerate((conv1d, conv2d, conv3d), 1):
    register_convolution(f, ndim)
