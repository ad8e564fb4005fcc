"""Attention gives what PyTorch gives, and zeros where no key takes part."""

import numpy as np
import pytest

from rules.operators import scaled_dot_product_attention
from rulescore.ad import grad

RNG = np.random.default_rng(0)
Q, K, V = RNG.standard_normal((2, 3, 4, 5)), RNG.standard_normal((2, 3, 6, 5)), RNG.standard_normal((2, 3, 6, 2))
MASK = RNG.random((4, 6)) < 0.7
MASK[:, 0] = True


@pytest.mark.parametrize("options", [{}, {"scale": 0.3}, {"is_causal": True}], ids=str)
def test_values_and_gradients_are_those_of_torch(options, agrees_with_torch):
    functional = pytest.importorskip("torch.nn.functional")
    agrees_with_torch(scaled_dot_product_attention, functional.scaled_dot_product_attention, Q, K, V, **options)


@pytest.mark.parametrize(
    "mask",
    [MASK, RNG.standard_normal((4, 6)), RNG.standard_normal((3, 1, 6))],
    ids=["of bool", "added", "broadcast"],
)
def test_masks_are_those_of_torch(mask, agrees_with_torch):
    functional = pytest.importorskip("torch.nn.functional")
    agrees_with_torch(scaled_dot_product_attention, functional.scaled_dot_product_attention, Q, K, V, mask)


def test_causal_and_a_mask_may_come_together():
    together = scaled_dot_product_attention(Q, K, V, MASK, is_causal=True)
    np.testing.assert_array_equal(together, scaled_dot_product_attention(Q, K, V, MASK & np.tri(4, 6, dtype=bool)))


def test_a_query_that_no_key_takes_part_for_gets_zeros_and_gives_none_a_gradient():
    mask = MASK.copy()
    mask[1] = False
    assert not scaled_dot_product_attention(Q, K, V, mask)[..., 1, :].any()
    gradient = grad(lambda q: (scaled_dot_product_attention(q, K, V, mask) ** 2).sum())(Q)
    assert np.isfinite(gradient).all()
    assert not gradient[..., 1, :].any()


def test_leading_axes_broadcast():
    y = scaled_dot_product_attention(Q[0], K[:, :1], V)
    np.testing.assert_allclose(y[1, 2], scaled_dot_product_attention(Q[0, 2], K[1, 0], V[1, 2]))
    gradient = grad(lambda k: scaled_dot_product_attention(Q[0], k, V).sum())(K[:, :1])
    assert gradient.shape == (2, 1, 6, 5)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((Q, K, V[..., :5, :]), ValueError, r"give shapes \(..., L, E\), \(..., S, E\)"),
        ((Q, K[0, :2], V), ValueError, "whose leading axes broadcast"),
        ((Q, K, V, MASK.astype(int)), TypeError, "attn_mask of int64; give bool"),
        ((Q, K, V, MASK.T), ValueError, r"a mask of shape \(6, 4\) does not broadcast"),
        ((Q, K, V, None, 0.1), ValueError, "dropout_p=0.1; draw what is left out"),
        ((Q + 0j, K, V), TypeError, "of complex numbers"),
    ],
)
def test_what_does_not_fit_is_said(arguments, error, message):
    with pytest.raises(error, match=message):
        scaled_dot_product_attention(*arguments)
