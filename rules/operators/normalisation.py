"""Exponentials made to add up to one, the logarithm of their sum, and numbers brought to mean 0 and variance 1.

`softmax` and `logsumexp` leave out what a mask does, before anything is computed with it.
"""

import numpy as np

from rulescore import frule, pullback_wrt, pushforward, rrule, unbroadcast
from rulescore.typing import Array, Axis, Flag, Mask, Number, OutputAndPullback, OutputAndTangent, Shape

from ..numpy.array_like import as_array, as_array_tangent, conj
from ..numpy.reduced_axes import ReducedAxes
from .operator import operator
from .windows import per_axis

# ---------------------------------------------------------------- softmax


@operator(onnx="Softmax", tensorflow="tf.nn.softmax")
def softmax(x, axis=-1, where=None):
    """Positive numbers that add up to one, in the proportion of the exponentials.

    Parameters
    ----------
    x : array_like
        Real numbers.
    axis : int, tuple of int or None
        Over which axes they add up to one; None for all.
    where : array_like of bool, optional
        Which elements take part, in a shape that broadcasts to that of ``x``. The others get exactly 0, whatever they
        are.

    Returns
    -------
    y : ndarray
        exp(x) / Σ exp(x), in the shape of ``x``; zeros where no element takes part.

    Raises
    ------
    TypeError
        When the numbers are complex, or the mask is none.

    Examples
    --------
    >>> import numpy as np
    >>> softmax([0.0, np.log(3.0), 7.0], where=[True, True, False])
    array([0.25, 0.75, 0.  ])
    """
    e, _ = exponentials("softmax", x, axis, where)
    total = np.sum(e, axis=axis, keepdims=True)
    return e / np.where(total == 0, 1, total)


def exponentials(name, x, axis, where):
    """The exponentials of what takes part, divided by the largest of them, and the logarithm of that one."""
    x = np.asarray(x)
    if x.dtype.kind == "c":
        raise TypeError(f"{name} of complex numbers, of which none is the largest: give their real parts")
    x = x if x.dtype.kind == "f" else x.astype(float)
    if where is not None:
        x = np.where(mask_of(name, where, x.shape), x, x.dtype.type(-np.inf))
    largest = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    largest = np.where(np.isfinite(largest), largest, x.dtype.type(0))
    return np.exp(x - largest), largest


def mask_of(name, where, shape):
    mask = np.asarray(where)
    if mask.dtype != bool:
        raise TypeError(f"{name}: where= of {mask.dtype}; give an array of bool, True for what takes part")
    if mask.shape != shape:
        try:
            mask = np.broadcast_to(mask, shape)
        except ValueError:
            raise ValueError(f"{name} of shape {shape}: a mask {mask.shape} does not broadcast to it") from None
    return mask


def softmax_map(dx, y, axis):
    """dy = y (dx - Σ y dx), a symmetric map: pushforward and pullback are the same."""
    product = y * dx
    return product - y * np.sum(product, axis=axis, keepdims=True)


def masked(where, dx):
    return dx if where is None else np.where(where, dx, 0)


@frule.register(softmax, tags=softmax.tags)
@pushforward
def softmax_frule(dx: Array, x: Array, axis: Axis = -1, where: Mask = None) -> OutputAndTangent:
    y = softmax(x, axis, where)
    return y, softmax_map(masked(where, as_array_tangent(dx, x)), y, axis)


@rrule.register(softmax, tags=softmax.tags)
def softmax_rrule(x: Array, axis: Axis = -1, where: Mask = None) -> OutputAndPullback:
    y = softmax(x, axis, where)
    return y, pullback_wrt(x)(lambda ybar: softmax_map(masked(where, ybar), y, axis))


# ---------------------------------------------------------------- logsumexp


@operator(onnx="ReduceLogSumExp", tensorflow="tf.reduce_logsumexp")
def logsumexp(x, axis=None, keepdims=False, where=None):
    """The logarithm of the sum of exponentials, without overflow.

    Parameters
    ----------
    x : array_like
        Real numbers.
    axis : int, tuple of int or None
        The axes of the sum; None for all.
    keepdims : bool
        Whether the axes of the sum stay, with length 1.
    where : array_like of bool, optional
        Which elements take part, in a shape that broadcasts to that of ``x``.

    Returns
    -------
    y : ndarray or scalar
        log Σ exp(x); -inf where no element takes part, whose derivative is 0.

    Raises
    ------
    TypeError
        When the numbers are complex, or the mask is none.

    Examples
    --------
    >>> import numpy as np
    >>> round(float(logsumexp([1000.0, 1000.0])), 12)
    1000.69314718056
    """
    e, largest = exponentials("logsumexp", x, axis, where)
    total = np.sum(e, axis=axis, keepdims=True)
    with np.errstate(divide="ignore"):
        y = np.log(total) + largest
    return y if keepdims else np.squeeze(y, axis)[()]


@frule.register(logsumexp, tags=logsumexp.tags)
@pushforward
def logsumexp_frule(
    dx: Array, x: Array, axis: Axis = None, keepdims: Flag = False, where: Mask = None
) -> OutputAndTangent:
    y, dx = logsumexp(x, axis, keepdims, where), as_array_tangent(dx, x)
    return y, np.sum(softmax(x, axis, where) * masked(where, dx), axis=axis, keepdims=bool(keepdims))


@rrule.register(logsumexp, tags=logsumexp.tags)
def logsumexp_rrule(x: Array, axis: Axis = None, keepdims: Flag = False, where: Mask = None) -> OutputAndPullback:
    """∂y/∂x is the softmax."""

    @pullback_wrt(x)
    def logsumexp_pullback(ybar):
        shares = softmax(x, axis, where)
        return ReducedAxes(np.shape(shares), axis).restore(ybar) * shares

    return logsumexp(x, axis, keepdims, where), logsumexp_pullback


# ---------------------------------------------------------------- layer_norm

EPS = 1e-5
"""The default of PyTorch. In the rules it is None, which has no tangent."""


@operator(onnx="LayerNormalization", tensorflow="tf.keras.layers.LayerNormalization")
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=EPS):
    """Numbers brought to mean 0 and variance 1 over the last axes, then scaled and shifted.

    Parameters
    ----------
    input : array_like, shape (..., *normalized_shape)
        Real numbers.
    normalized_shape : int or tuple of int
        The lengths of the axes that mean and variance are taken over.
    weight, bias : array_like, shape normalized_shape, optional
        What the result is multiplied by, and what is added then.
    eps : float
        Added to the variance, so that constant numbers have a derivative.

    Returns
    -------
    y : ndarray
        (x - mean) / √(variance + eps) · weight + bias, in the shape of ``input``.

    Raises
    ------
    TypeError, ValueError
        When the shapes do not fit each other, or the numbers are complex.

    Notes
    -----
    As ``torch.nn.functional.layer_norm`` (Ba, Kiros & Hinton 2016, Layer normalization).

    Examples
    --------
    >>> import numpy as np
    >>> layer_norm(np.array([[1.0, 3.0], [5.0, 5.0]]), 2, eps=0.0625).round(6)
    array([[-0.970143,  0.970143],
           [ 0.      ,  0.      ]])
    """
    standardised = Standardised(np.asarray(input), normalized_shape, eps)
    return standardised.affine(*[None if x is None else np.asarray(x) for x in (weight, bias)])


class Standardised:
    """Numbers brought to mean 0 and variance 1 over the last axes.

    Attributes
    ----------
    x : ndarray
        The numbers x̂ = r (x - mean).
    r : ndarray
        1 / √(variance + eps), with length 1 along these axes.
    """

    def __init__(self, x, normalized_shape, eps):
        lengths = normalized_shape if isinstance(normalized_shape, (tuple, list)) else (normalized_shape,)
        self.lengths = per_axis("normalized_shape", lengths, len(lengths), 0) if lengths else ()
        if not lengths or np.shape(x)[max(np.ndim(x) - len(lengths), 0) :] != self.lengths:
            raise ValueError(
                f"layer_norm of shape {np.shape(x)} over axes {self.lengths}: give the lengths of the last ones"
            )
        if x.dtype.kind == "c" or np.iscomplexobj(eps):
            raise TypeError("layer_norm of complex numbers: give their real and imaginary parts as axes of their own")
        x = x if x.dtype.kind == "f" else x.astype(float)
        self.axes = tuple(range(-len(lengths), 0))
        centred = x - self.mean(x)
        self.r = 1 / np.sqrt(self.mean(centred * centred) + (EPS if eps is None else eps))
        self.x = centred * self.r

    def mean(self, x):
        return np.mean(x, axis=self.axes, keepdims=True)

    def affine(self, weight, bias):
        for name, values in (("weight", weight), ("bias", bias)):
            if values is not None and np.shape(values) != self.lengths:
                raise ValueError(f"layer_norm: {name} of shape {np.shape(values)}; give one of shape {self.lengths}")
        y = self.x if weight is None else self.x * weight
        return y if bias is None else y + bias

    def map(self, dx):
        """dx̂ = r (dx - mean of dx - x̂ · mean of x̂ dx), a symmetric map."""
        return self.r * (dx - self.mean(dx) - self.x * self.mean(self.x * dx))

    @property
    def slope_in_eps(self):
        """∂x̂/∂eps."""
        return self.x * self.r**2 / -2


@frule.register(layer_norm, tags=layer_norm.tags)
@pushforward
def layer_norm_frule(
    dinput: Array,
    dweight: Array,
    dbias: Array,
    deps: Number,
    input: Array,
    normalized_shape: Shape,
    weight: Array = None,
    bias: Array = None,
    eps: Number = None,
) -> OutputAndTangent:
    dx, dw, db = (as_array_tangent(dx, x) for dx, x in ((dinput, input), (dweight, weight), (dbias, bias)))
    x, w, b = map(as_array, (input, weight, bias))
    standardised = Standardised(x, normalized_shape, eps)
    dy = standardised.map(dx) + standardised.slope_in_eps * deps
    if weight is not None:
        dy = dy * w + standardised.x * dw
    return standardised.affine(w, b), dy + np.broadcast_to(db, np.shape(x))


@rrule.register(layer_norm, tags=layer_norm.tags)
def layer_norm_rrule(
    input: Array, normalized_shape: Shape, weight: Array = None, bias: Array = None, eps: Number = None
) -> OutputAndPullback:
    """x̄ is the same symmetric map of ȳ · weight as ẋ goes through; weight and bias get sums over the other axes."""
    x, w, b = map(as_array, (input, weight, bias))
    standardised = Standardised(x, normalized_shape, eps)

    @pullback_wrt(input, ..., weight, bias, eps)
    def layer_norm_pullback(ybar):
        scaled = ybar if weight is None else ybar * conj(w)
        return (
            lambda: standardised.map(scaled),
            lambda: unbroadcast(ybar * standardised.x, standardised.lengths),
            lambda: unbroadcast(ybar, standardised.lengths),
            lambda: np.sum(scaled * standardised.slope_in_eps),
        )

    return standardised.affine(w, b), layer_norm_pullback
