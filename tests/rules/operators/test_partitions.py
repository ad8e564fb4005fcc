"""Rows dealt out and stitched together: TensorFlow's examples, exact cotangents, and what does not fit."""

import numpy as np
import pytest

from rules.operators import dynamic_partition, dynamic_stitch
from rulescore import ZeroTangent, rrule, unthunk
from rulescore.ad import grad, jvp


def test_a_partition_is_what_tensorflow_documents():
    parts = dynamic_partition(np.array([10.0, 20, 30, 40, 50]), [0, 0, 1, 1, 0], 2)
    assert [part.tolist() for part in parts] == [[10, 20, 50], [30, 40]]


def test_stitching_is_what_tensorflow_documents():
    indices = [6, [4, 1], [[5, 2], [0, 3]]]
    data = [[61.0, 62.0], [[41.0, 42.0], [11.0, 12.0]], [[[51.0, 52.0], [21.0, 22.0]], [[1.0, 2.0], [31.0, 32.0]]]]
    merged = dynamic_stitch(indices, data)
    assert merged.tolist() == [[1, 2], [11, 12], [21, 22], [31, 32], [41, 42], [51, 52], [61, 62]]


def test_a_partition_stitched_together_is_the_array_and_so_is_the_gradient():
    x, numbers = np.random.default_rng(0).standard_normal((6, 2)), np.array([2, 0, 1, 2, 0, 2])
    rows = dynamic_partition(np.arange(6), numbers, 3)

    def there_and_back(x):
        return dynamic_stitch(rows, dynamic_partition(x, numbers, 3))

    np.testing.assert_array_equal(there_and_back(x), x)
    np.testing.assert_array_equal(grad(lambda x: (there_and_back(x) ** 2).sum())(x), 2 * x)
    np.testing.assert_array_equal(jvp(there_and_back, (x,), (x + 1,))[1], x + 1)


def test_parts_nobody_asked_about_count_as_zero():
    _, pullback = rrule(dynamic_partition, np.ones(3), [0, 1, 0], 2)
    assert pullback((ZeroTangent(), np.array([5.0])))[1].tolist() == [0, 5, 0]


def test_of_several_rows_for_one_place_the_last_one_stands_and_gets_the_cotangent():
    data = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]
    y, pullback = rrule(dynamic_stitch, [[0, 2], [2, 2]], data)
    assert y.tolist() == [1, 0, 4]
    bars = unthunk(pullback(np.array([10.0, 20.0, 30.0]))[2])
    assert [bar.tolist() for bar in bars] == [[10, 0], [0, 30]]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: dynamic_partition(np.ones(3), [0, 1, 2], 2), ValueError, "numbers from 0 to 2, of 2 parts"),
        (lambda: dynamic_partition(np.ones(3), [0, 1], 2), ValueError, "give one number for each row"),
        (
            lambda: dynamic_partition(np.ones(2), [0.0, 1.0], 2),
            TypeError,
            "partitions of type float64; give whole numbers",
        ),
        (
            lambda: dynamic_stitch([[0, 1]], [np.ones(3)]),
            ValueError,
            r"array 0 has the shape \(3,\) and indices \(2,\)",
        ),
        (lambda: dynamic_stitch([[-1]], [np.ones(1)]), ValueError, "an index is -1"),
        (lambda: dynamic_stitch([[0], [1]], [np.ones(1)]), ValueError, "give a list of indices"),
    ],
)
def test_what_does_not_fit_is_said(call, error, message):
    with pytest.raises(error, match=message):
        call()
