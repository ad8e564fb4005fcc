"""Attention: means of values, weighted by how well their keys match a query."""

import functools
import math

import numpy as np

from rulescore import frule, pullback_wrt, pushforward, rrule, unbroadcast
from rulescore.typing import Array, Flag, Index, Mask, Number, OutputAndPullback, OutputAndTangent

from ..numpy.array_like import as_array, as_array_tangent, shape_of
from .normalisation import softmax, softmax_map
from .operator import operator


@operator(onnx="Attention")
def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None):
    """The mean of the values for each query, weighted by the softmax of its products with the keys.

    Parameters
    ----------
    query : array_like, shape (..., L, E)
    key : array_like, shape (..., S, E)
    value : array_like, shape (..., S, V)
        Leading axes broadcast.
    attn_mask : array_like, shape (..., L, S), optional
        Of bool: which keys take part for each query. Of real numbers: what is added to the scores.
    dropout_p : float
        Only 0: what is left out at random has to be drawn by the caller, and given as a mask.
    is_causal : bool
        Whether query i sees only the keys up to i.
    scale : float, optional
        What products are multiplied by; 1 / √E by default.

    Returns
    -------
    y : ndarray, shape (..., L, V)
        softmax(scale · query keyᵀ + mask) value. A query for which no key takes part gets zeros.

    Raises
    ------
    TypeError, ValueError
        When the shapes do not fit each other, or the mask is one of whole numbers.

    Notes
    -----
    Options and values are those of ``torch.nn.functional.scaled_dot_product_attention``, but that ``is_causal`` and a
    mask may come together (Vaswani et al. 2017, Attention is all you need, eq. 1). The scores take memory for L S
    numbers.

    Examples
    --------
    >>> import numpy as np
    >>> keys, values = np.eye(2), np.array([[1.0], [3.0]])
    >>> scaled_dot_product_attention(np.array([[0.0, 0.0], [0.0, 50.0]]), keys, values)
    array([[2.],
           [3.]])
    """
    arrays = [np.asarray(x) for x in (query, key, value)]
    mask = None if attn_mask is None else np.asarray(attn_mask)
    return Attention(*arrays, mask, dropout_p, is_causal, scale).values()


class Attention:
    """The scores of an attention, and the weights that their softmax gives the values."""

    def __init__(self, q, k, v, mask, dropout_p, is_causal, scale):
        check_shapes(q.shape, k.shape, v.shape)
        if any(x.dtype.kind == "c" for x in (q, k, v)):
            raise TypeError("scaled_dot_product_attention of complex numbers: give real ones")
        if dropout_p != 0:
            raise ValueError(
                f"scaled_dot_product_attention: dropout_p={dropout_p}; draw what is left out, and give it as attn_mask"
            )
        self.q, self.k, self.v = q, k, v
        self.scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
        self.products = q @ np.swapaxes(k, -1, -2)
        scores, where = self.products * self.scale, None
        if mask is not None:
            where = self.takes_part(mask)
            scores = scores if where is not None else scores + mask
        if is_causal:
            causal = np.tri(*scores.shape[-2:], dtype=bool)
            where = causal if where is None else where & causal
        self.weights = softmax(scores, -1, None if where is None else np.broadcast_to(where, scores.shape))

    def takes_part(self, mask):
        """The mask, if it is one of bool."""
        try:
            fits = np.broadcast_shapes(mask.shape, self.products.shape) == self.products.shape
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(
                f"scaled_dot_product_attention: a mask of shape {mask.shape} does not broadcast to the scores, "
                f"{self.products.shape}"
            )
        if mask.dtype.kind not in "fb":
            raise TypeError(
                f"scaled_dot_product_attention: attn_mask of {mask.dtype}; give bool, True for what takes part, or "
                "real numbers to add to the scores"
            )
        return mask if mask.dtype == bool else None

    def values(self):
        return self.weights @ self.v

    def scores_bar(self, ybar):
        """The cotangent of the scores."""
        weights_bar = ybar @ np.swapaxes(self.v, -1, -2)
        # Of values that were broadcast along leading axes, the weights have more of these than ȳ, or fewer.
        return softmax_map(unbroadcast(weights_bar, self.weights.shape), self.weights, -1)


def check_shapes(q, k, v):
    """Whether queries, keys and values fit each other."""
    if min(map(len, (q, k, v))) >= 2 and q[-1] == k[-1] and k[-2] == v[-2] and q[-1]:
        try:
            np.broadcast_shapes(q[:-2], k[:-2], v[:-2])
            return
        except ValueError:
            pass
    raise ValueError(
        f"scaled_dot_product_attention of queries {q}, keys {k} and values {v}: give shapes (..., L, E), (..., S, E) "
        "and (..., S, V), E not 0, whose leading axes broadcast"
    )


@frule.register(scaled_dot_product_attention, tags=scaled_dot_product_attention.tags)
@pushforward
def attention_frule(
    dquery: Array,
    dkey: Index,
    dvalue: Array,
    dattn_mask: Array,
    dscale: Number,
    query: Array,
    key: Index,
    value: Array,
    attn_mask: Mask = None,
    dropout_p: Number = 0.0,
    is_causal: Flag = False,
    scale: Number = None,
) -> OutputAndTangent:
    """Ṗ is the map of softmax of the scores' tangent, and ẏ = Ṗ V + P V̇."""
    dq, dk, dv = (as_array_tangent(dx, x) for dx, x in ((dquery, query), (dkey, key), (dvalue, value)))
    form = Attention(*map(as_array, (query, key, value, attn_mask)), dropout_p, is_causal, scale)
    dscores = (
        dq @ np.swapaxes(form.k, -1, -2) * form.scale
        + form.q @ np.swapaxes(dk, -1, -2) * form.scale
        + form.products * dscale
        + as_array_tangent(dattn_mask, attn_mask)
    )
    dweights = softmax_map(np.broadcast_to(dscores, form.weights.shape), form.weights, -1)
    return form.values(), dweights @ form.v + form.weights @ dv


@rrule.register(scaled_dot_product_attention, tags=scaled_dot_product_attention.tags)
def attention_rrule(
    query: Array,
    key: Index,
    value: Array,
    attn_mask: Mask = None,
    dropout_p: Number = 0.0,
    is_causal: Flag = False,
    scale: Number = None,
) -> OutputAndPullback:
    """V̄ = Pᵀ ȳ; the scores get the map of softmax of ȳ Vᵀ, and pass it on to queries, keys, mask and scale."""
    form = Attention(*map(as_array, (query, key, value, attn_mask)), dropout_p, is_causal, scale)

    @pullback_wrt(query, key, value, attn_mask, ..., ..., scale)
    def attention_pullback(ybar):
        scores_bar = functools.cache(lambda: form.scores_bar(ybar))  # the values alone have no need of it
        return (
            lambda: unbroadcast(scores_bar() @ form.k * form.scale, np.shape(form.q)),
            lambda: unbroadcast(np.swapaxes(scores_bar(), -1, -2) @ form.q * form.scale, np.shape(form.k)),
            lambda: unbroadcast(np.swapaxes(form.weights, -1, -2) @ ybar, np.shape(form.v)),
            lambda: unbroadcast(scores_bar(), shape_of(attn_mask)),
            lambda: np.sum(scores_bar() * form.products),
        )

    return form.values(), attention_pullback
