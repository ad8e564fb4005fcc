"""Attention: means of values, weighted by how well their keys match a query."""

import math

import numpy as np

from rules.numpy.array_like import as_array, as_array_tangent
from rules.numpy.reduced_axes import stop_early
from rules.operators.cotangents import cotangents
from rules.operators.normalisation import softmax, softmax_map
from rules.operators.operator import operator
from rulescore import AbstractZero, NoTangent, Thunk, ZeroTangent, frule, project_to, rrule, unbroadcast, unthunk

NO_TANGENT = NoTangent()


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

    def score_bar(self, ybar):
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
def attention_frule(tangents, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None):
    """Ṗ is the map of softmax of the scores' tangent, and ẏ = Ṗ V + P V̇."""
    _, *given = (*tangents, *[NO_TANGENT] * 4)[:8]
    arguments = query, key, value, attn_mask
    dq, dk, dv, dmask = (as_array_tangent(dx, x) for dx, x in zip(given, arguments, strict=False))
    dscale = given[6]
    form = Attention(*map(as_array, arguments), dropout_p, is_causal, scale)
    y, dscores, dy = form.values(), ZeroTangent(), ZeroTangent()
    if not isinstance(dq, AbstractZero):
        dscores = dscores + dq @ np.swapaxes(form.k, -1, -2) * form.scale
    if not isinstance(dk, AbstractZero):
        dscores = dscores + form.q @ np.swapaxes(dk, -1, -2) * form.scale
    if not isinstance(dscale, AbstractZero):
        dscores = dscores + form.products * dscale
    dscores = dscores + dmask
    if not isinstance(dscores, AbstractZero):
        dy = dy + softmax_map(np.broadcast_to(dscores, form.weights.shape), form.weights, -1) @ form.v
    if not isinstance(dv, AbstractZero):
        dy = dy + form.weights @ dv
    return y, dy if isinstance(dy, AbstractZero) else project_to(y)(dy)


@rrule.register(scaled_dot_product_attention, tags=scaled_dot_product_attention.tags)
def attention_rrule(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None):
    """V̄ = Pᵀ ȳ; the scores get the map of softmax of ȳ Vᵀ, and pass it on to queries, keys, mask and scale."""
    arguments = query, key, value, attn_mask
    projects = [project_to(argument) for argument in (*arguments, scale)]  # None has no tangent
    form = Attention(*map(as_array, arguments), dropout_p, is_causal, scale)

    def attention_pullback(ybar):
        scores = Thunk(lambda: form.score_bar(unthunk(ybar)))

        def q_bar():
            return unbroadcast(unthunk(scores) @ form.k * form.scale, np.shape(form.q))

        def k_bar():
            return unbroadcast(np.swapaxes(unthunk(scores), -1, -2) @ form.q * form.scale, np.shape(form.k))

        def v_bar():
            return unbroadcast(np.swapaxes(form.weights, -1, -2) @ unthunk(ybar), np.shape(form.v))

        def mask_bar():
            return unbroadcast(unthunk(scores), np.shape(as_array(attn_mask)))

        def scale_bar():
            return np.sum(unthunk(scores) * form.products)

        *bars, scale_cotangent = cotangents(ybar, projects, (q_bar, k_bar, v_bar, mask_bar, scale_bar))
        return stop_early(NO_TANGENT, *bars, NO_TANGENT, NO_TANGENT, scale_cotangent)

    return form.values(), attention_pullback
