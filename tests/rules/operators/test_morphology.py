"""Grayscale dilation: TensorFlow's definition in a loop, and the gradient of PyTorch's maximum over its windows."""

import itertools

import numpy as np
import pytest

from rules.operators import dilation2d
from rulescore import rrule, unthunk
from rulescore.ad import grad


def as_defined(x, filters, strides, padding, dilations):
    """The definition of ``tf.nn.dilation2d``, element by element."""
    (n, height, width, channels), (kh, kw, _) = x.shape, filters.shape
    counts, lacks = [], []
    for size, k, s, d in zip((height, width), (kh, kw), strides, dilations, strict=True):
        span = (k - 1) * d + 1
        counts.append(-(-size // s) if padding == "SAME" else (size - span) // s + 1)
        lacks.append(max((counts[-1] - 1) * s + span - size, 0) if padding == "SAME" else 0)
    y = np.full((n, *counts, channels), -np.inf)
    for b, i, j, c in np.ndindex(y.shape):
        for k, m in itertools.product(range(kh), range(kw)):
            row = i * strides[0] + k * dilations[0] - lacks[0] // 2
            column = j * strides[1] + m * dilations[1] - lacks[1] // 2
            if 0 <= row < height and 0 <= column < width:
                y[b, i, j, c] = max(y[b, i, j, c], x[b, row, column, c] + filters[k, m, c])
    return y


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("strides", "dilations"), [((1, 1), (1, 1)), ((2, 3), (1, 1)), ((1, 2), (2, 1))])
def test_values_are_those_of_the_definition(strides, padding, dilations):
    rng = np.random.default_rng(0)
    x, filters = rng.standard_normal((2, 6, 7, 2)), rng.standard_normal((3, 2, 2))
    expected = as_defined(x, filters, strides, padding, dilations)
    np.testing.assert_array_equal(dilation2d(x, filters, strides, padding, dilations), expected)
    as_tensorflow = dilation2d(x, filters, [1, *strides, 1], padding, [1, *dilations, 1])
    np.testing.assert_array_equal(as_tensorflow, expected)


def test_gradients_are_those_of_torch():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    x, filters = rng.integers(0, 3, (2, 5, 6, 2)).astype(float), np.zeros((2, 3, 2))  # with many ties
    tensors = [torch.tensor(array, requires_grad=True) for array in (x, filters)]
    windows = tensors[0].unfold(1, 2, 1).unfold(2, 3, 2)
    expected = (windows + tensors[1].permute(2, 0, 1)).amax((-2, -1))
    y, pullback = rrule(dilation2d, x, filters, (1, 2))
    ybar = rng.standard_normal(y.shape)
    expected.backward(torch.tensor(ybar))
    for bar, tensor in zip(pullback(ybar)[1:], tensors, strict=True):
        np.testing.assert_allclose(unthunk(bar), tensor.grad.numpy(), atol=1e-14)


def test_what_reaches_over_the_edge_has_no_elements():
    x = np.full((1, 2, 1), -5.0)
    assert dilation2d(x, np.ones((1, 2, 1)), padding="SAME").ravel().tolist() == [-4, -4]
    assert grad(lambda x: dilation2d(x, np.ones((1, 2, 1)), padding="SAME").sum())(x).ravel().tolist() == [0.5, 1.5]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((np.ones((4, 4, 2)), np.ones((2, 2, 3))), ValueError, "for the same channels"),
        ((np.ones((4, 4)), np.ones((2, 2, 1))), ValueError, r"images of shape \(..., H, W, C\)"),
        ((np.ones((4, 4, 1)), np.ones((2, 2, 1)), 1, "same"), ValueError, 'give "VALID" or "SAME"'),
        ((np.ones((4, 4, 1), complex), np.ones((2, 2, 1))), TypeError, "which have no order"),
    ],
)
def test_what_does_not_fit_is_said(arguments, error, message):
    with pytest.raises(error, match=message):
        dilation2d(*arguments)
