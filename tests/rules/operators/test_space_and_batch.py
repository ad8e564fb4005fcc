"""Images moved into the batch and back: the examples of TensorFlow's documentation, and each the other's inverse."""

import numpy as np
import pytest

from rules.operators import batch_to_space, space_to_batch

X = np.arange(1.0, 17.0).reshape(1, 4, 4, 1)


def test_it_is_what_tensorflow_documents():
    assert space_to_batch(X[:, :2, :2], (2, 2)).ravel().tolist() == [1, 2, 5, 6]
    blocks = space_to_batch(X, (2, 2))
    assert blocks[..., 0].tolist() == [[[1, 3], [9, 11]], [[2, 4], [10, 12]], [[5, 7], [13, 15]], [[6, 8], [14, 16]]]
    padded = space_to_batch(X.reshape(2, 2, 4, 1), (2, 2), [[0, 0], [2, 0]])
    assert padded.shape == (8, 1, 3, 1)
    assert padded.ravel().tolist() == [0, 1, 3, 0, 9, 11, 0, 2, 4, 0, 10, 12, 0, 5, 7, 0, 13, 15, 0, 6, 8, 0, 14, 16]


def test_one_undoes_the_other():
    x = np.random.default_rng(0).standard_normal((2, 3, 5, 4, 2))
    there = space_to_batch(x, (2, 3, 2), [(1, 0), (0, 1), (2, 0)])
    np.testing.assert_array_equal(batch_to_space(there, (2, 3, 2), [(1, 0), (0, 1), (2, 0)]), x)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: space_to_batch(X, (3, 2)), r"blocks \(3, 2\) do not divide axes of lengths \(4, 4\)"),
        (lambda: space_to_batch(X, (2, 2), [[1, 0]] * 3), "give a pair of numbers for each of 2 axes"),
        (lambda: space_to_batch(np.ones(3), 3), r"give one of shape \(batch, ...\)"),
        (lambda: batch_to_space(X, (2, 2)), "1 images are no whole number of blocks"),
        (lambda: batch_to_space(np.ones((2, 3)), 2, (4, 3)), "which have not so many"),
        (lambda: batch_to_space(X, (0, 1)), "give a whole number from 1 on"),
    ],
)
def test_what_does_not_fit_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()
