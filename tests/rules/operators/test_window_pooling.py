"""Pooling over windows gives what PyTorch gives, but for ties, which share."""

import numpy as np
import pytest

from rules.operators import avg_pool1d, avg_pool2d, avg_pool3d, max_pool1d, max_pool2d, max_pool3d
from rulescore import NoTangent, frule, rrule, unthunk
from rulescore.ad import grad

RNG = np.random.default_rng(0)
OPTIONS = [
    {"kernel_size": 2},
    {"kernel_size": 3, "stride": 2, "padding": 1},
    {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True},
    {"kernel_size": 2, "stride": 3, "ceil_mode": True},
]
LENGTHS = [(8,), (7, 8), (4, 7, 8)]


@pytest.mark.parametrize("options", [*OPTIONS, {"kernel_size": 3, "stride": 1, "dilation": 2, "padding": 1}], ids=str)
@pytest.mark.parametrize(("f", "lengths"), [*zip((max_pool1d, max_pool2d, max_pool3d), LENGTHS, strict=True)])
def test_the_maximum_is_that_of_torch(f, lengths, options, agrees_with_torch):
    functional = pytest.importorskip("torch.nn.functional")
    if options.get("dilation") and len(lengths) == 3:
        lengths = (5, 7, 8)
    agrees_with_torch(f, getattr(functional, f.__name__), RNG.standard_normal((2, 3, *lengths)), **options)


@pytest.mark.parametrize("count_include_pad", [True, False])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(("f", "lengths"), [*zip((avg_pool1d, avg_pool2d, avg_pool3d), LENGTHS, strict=True)])
def test_the_mean_is_that_of_torch(f, lengths, options, count_include_pad, agrees_with_torch):
    functional = pytest.importorskip("torch.nn.functional")
    x, peer = RNG.standard_normal((2, 3, *lengths)), getattr(functional, f.__name__)
    agrees_with_torch(f, peer, x, **options, count_include_pad=count_include_pad)


def test_the_divisor_may_be_given(agrees_with_torch):
    functional = pytest.importorskip("torch.nn.functional")
    x = RNG.standard_normal((2, 3, 6, 6))
    agrees_with_torch(avg_pool2d, functional.avg_pool2d, x, kernel_size=2, divisor_override=3)


def test_ties_share_the_cotangent_of_their_window():
    x = np.array([[1.0, 1.0], [0.0, 1.0]])
    assert grad(lambda x: 6 * max_pool2d(x, 2).sum())(x).tolist() == [[2, 2], [0, 2]]
    _, dy = frule((NoTangent(), np.array([[3.0, 6.0], [9.0, 0.0]]), NoTangent()), max_pool2d, x, 2)
    assert dy.tolist() == [[3]]


def test_padding_is_never_the_largest_element():
    x = np.array([-1.0, -2.0])
    assert max_pool1d(x, 2, 2, 1).tolist() == [-1, -2]
    assert max_pool1d(np.array([-5, -7], np.int8), 2, 2, 1).tolist() == [-5, -7]
    assert grad(lambda x: max_pool1d(x, 2, 2, 1).sum())(np.full(2, -np.inf)).tolist() == [1, 1]


def test_nan_is_the_largest_element_and_gets_the_cotangent():
    x = np.array([1.0, np.nan, 2.0, 3.0])
    y, pullback = rrule(max_pool1d, x, 2)
    np.testing.assert_array_equal(y, [np.nan, 3])
    assert unthunk(pullback(np.array([5.0, 7.0]))[1]).tolist() == [0, 5, 0, 7]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: max_pool1d(np.ones(5), 2, padding=2), "give at most half of that"),
        (lambda: max_pool2d(np.ones(5), 2), "give one with 2 axes or more"),
        (lambda: max_pool1d(np.ones(3), 4), "they span 4; pad the axis"),
        (lambda: avg_pool1d(np.ones(5), 2, divisor_override=0), "give a number to divide by"),
        (lambda: avg_pool2d(np.ones((5, 5)), (2, 2, 2)), "kernel_size=.*one for each of the 2 axes"),
    ],
)
def test_what_does_not_fit_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_complex_numbers_have_no_maximum():
    with pytest.raises(TypeError, match="which have no order: pool their absolute values"):
        max_pool1d(np.ones(4, complex), 2)
