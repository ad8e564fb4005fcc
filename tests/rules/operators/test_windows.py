"""Windows and their adjoint: what convolutions, pooling and morphology are made of."""

import numpy as np
import pytest

from rules.operators import overlap_add, sliding_windows


@pytest.mark.parametrize(("lengths", "strides", "dilations"), [((3, 2), (2, 1), (1, 3)), ((6, 2), (1, 4), (1, 1))])
def test_overlap_add_is_the_adjoint_of_the_windows(lengths, strides, dilations):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 7, 9))
    y = sliding_windows(x, lengths, strides, dilations)
    assert y[1, 1, 1, 1, 1] == x[1, strides[0] + dilations[0], strides[1] + dilations[1]]
    ybar = rng.standard_normal(y.shape)
    np.testing.assert_allclose(np.sum(y * ybar), np.sum(x * overlap_add(ybar, (7, 9), strides, dilations)))


def test_both_are_those_of_torch():
    torch = pytest.importorskip("torch")
    unfold, fold = torch.nn.functional.unfold, torch.nn.functional.fold
    x, options = np.random.default_rng(0).standard_normal((2, 3, 7, 6)), {"dilation": (1, 2), "stride": (2, 1)}
    y = sliding_windows(x, (3, 2), (2, 1), (1, 2))
    columns = unfold(torch.tensor(x), (3, 2), **options)
    np.testing.assert_array_equal(y.reshape(2, 18, -1), columns)
    np.testing.assert_allclose(overlap_add(y, (7, 6), (2, 1), (1, 2)), fold(columns, (7, 6), (3, 2), **options))


def test_windows_are_no_copy():
    x = np.ones((4, 5))
    y = sliding_windows(x, (2,), (1,), (1,))
    assert np.shares_memory(x, y)
    assert not y.flags.writeable


def test_wrong_lengths_are_told():
    with pytest.raises(ValueError, match="windows of 3 elements, 2 apart, over an axis of length 4: they span 5"):
        sliding_windows(np.ones(4), (3,), (1,), (2,))
    with pytest.raises(ValueError, match=r"over axes of lengths \(5,\) there are \(4,\) of them"):
        overlap_add(np.ones((2, 3)), (5,))
    with pytest.raises(ValueError, match=r"sliding_windows \(2, 2\) over an array of shape \(4,\)"):
        sliding_windows(np.ones(4), (2, 2))
    with pytest.raises(ValueError, match=r"give two axes for each of the 2 in shape=\(5, 5\)"):
        overlap_add(np.ones((2, 3)), (5, 5))
