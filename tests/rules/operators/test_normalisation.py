"""`softmax`, `logsumexp` and `layer_norm`: what SciPy and PyTorch give, masks, and the hard points."""

import numpy as np
import pytest
from scipy import special

from rules.operators import layer_norm, logsumexp, softmax
from rulescore import rrule, unthunk
from rulescore.ad import grad, hessian

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2)])
def test_without_a_mask_they_are_those_of_scipy(axis):
    x = 10 * RNG.standard_normal((2, 3, 4))
    np.testing.assert_allclose(softmax(x, axis), special.softmax(x, axis), rtol=1e-13)
    for keepdims in (False, True):
        np.testing.assert_allclose(logsumexp(x, axis, keepdims), special.logsumexp(x, axis, keepdims=keepdims))


@pytest.mark.parametrize("axis", [0, -1])
def test_gradients_are_those_of_torch(axis, agrees_with_torch):
    torch = pytest.importorskip("torch")
    x = RNG.standard_normal((3, 4))
    agrees_with_torch(softmax, lambda x, axis: torch.softmax(x, axis), x, axis=axis)
    agrees_with_torch(logsumexp, lambda x, axis: torch.logsumexp(x, axis), x, axis=axis)


def test_what_a_mask_leaves_out_is_exactly_zero_whatever_it_is():
    x, where = np.array([1.0, np.inf, 2.0, np.nan]), np.array([True, False, True, False])
    np.testing.assert_allclose(softmax(x, where=where)[::2], special.softmax([1.0, 2.0]))
    for f in (lambda x: logsumexp(x, where=where), lambda x: softmax(x, where=where)[0]):
        assert grad(f)(x)[1::2].tolist() == [0, 0]
        assert np.isfinite(hessian(f)(x)).all()


def test_nothing_has_zero_softmax_and_a_logarithm_of_minus_infinity_without_derivative():
    x, nothing = np.ones(3), np.zeros(3, bool)
    assert softmax(x, where=nothing).tolist() == [0, 0, 0]
    assert logsumexp(x, where=nothing) == -np.inf
    assert grad(lambda x: logsumexp(x, where=nothing))(x).tolist() == [0, 0, 0]
    assert grad(lambda x: softmax(x, where=nothing).sum())(x).tolist() == [0, 0, 0]


def test_large_numbers_do_not_overflow():
    x = np.array([1e4, 1e4 - 1])
    np.testing.assert_allclose(logsumexp(x), 1e4 + np.log1p(np.exp(-1)))
    np.testing.assert_allclose(grad(logsumexp)(-x), special.softmax(-x))


@pytest.mark.parametrize("shape", [(4,), (3, 4)])
def test_layer_norm_is_that_of_torch(shape):
    torch = pytest.importorskip("torch")
    x, weight, bias = RNG.standard_normal((2, 3, 4)), RNG.standard_normal(shape), RNG.standard_normal(shape)
    tensors = [torch.tensor(array, requires_grad=True) for array in (x, weight, bias)]
    expected = torch.nn.functional.layer_norm(tensors[0], shape, *tensors[1:], eps=0.1)
    y, pullback = rrule(layer_norm, x, shape, weight, bias, 0.1)
    np.testing.assert_allclose(y, expected.detach().numpy(), atol=1e-14)
    ybar = np.cos(np.arange(y.size)).reshape(y.shape)
    expected.backward(torch.tensor(ybar))
    x_bar, _, weight_bar, bias_bar, _ = map(unthunk, pullback(ybar)[1:])
    for bar, tensor in zip((x_bar, weight_bar, bias_bar), tensors, strict=True):
        np.testing.assert_allclose(bar, tensor.grad.numpy(), atol=1e-13)


def test_constant_numbers_have_a_derivative():
    gradient = grad(lambda x: layer_norm(x, 3)[0])(np.full(3, 7.0))
    np.testing.assert_allclose(gradient, np.array([2, -1, -1]) / 3 / np.sqrt(1e-5))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: softmax(np.ones(3), where=[1, 0, 1]), TypeError, "where= of int64; give an array of bool"),
        (lambda: softmax(np.ones(3), where=np.ones((2, 3), bool)), ValueError, r"a mask \(2, 3\) does not broadcast"),
        (lambda: logsumexp(np.ones(3, complex)), TypeError, "give their real parts"),
        (lambda: layer_norm(np.ones((2, 3)), 2), ValueError, r"of shape \(2, 3\) over axes \(2,\)"),
        (
            lambda: layer_norm(np.ones((2, 3)), 3, np.ones(2)),
            ValueError,
            r"weight of shape \(2,\); give one of shape \(3,\)",
        ),
    ],
)
def test_what_does_not_fit_is_said(call, error, message):
    with pytest.raises(error, match=message):
        call()
