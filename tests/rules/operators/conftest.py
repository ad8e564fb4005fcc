"""What the tests of operators share: the comparison with PyTorch, in values and in gradients."""

import numpy as np
import pytest

from rulescore import rrule, unthunk


@pytest.fixture
def agrees_with_torch():
    """``check(f, peer, *arrays, **options)``: both give the same output and the same cotangents of all arrays."""
    torch = pytest.importorskip("torch")

    def check(f, peer, *arrays, **options):
        tensors = [torch.tensor(x, requires_grad=x.dtype.kind == "f") for x in arrays]
        expected = peer(*tensors, **options)
        y, pullback = rrule(f, *arrays, **options)
        np.testing.assert_allclose(y, expected.detach().numpy(), rtol=1e-12, atol=1e-13)
        ybar = np.cos(np.arange(y.size)).reshape(y.shape)
        expected.backward(torch.tensor(ybar))
        for x, bar in zip(tensors, pullback(ybar)[1:], strict=False):  # those of options follow
            if x.requires_grad:
                np.testing.assert_allclose(unthunk(bar), x.grad.numpy(), rtol=1e-11, atol=1e-12)

    return check
