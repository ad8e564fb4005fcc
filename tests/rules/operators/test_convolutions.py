"""Convolutions give what PyTorch gives, with every option, and say what does not fit."""

import numpy as np
import pytest

from rules.operators import conv1d, conv2d, conv3d
from rulescore import rrule, unthunk
from rulescore.ad import grad

RNG = np.random.default_rng(0)
OPTIONS = [
    {},
    {"stride": 2, "padding": 1},
    {"dilation": 2, "padding": "same"},
    {"padding": "valid", "groups": 2},
    {"stride": 3, "padding": 2, "dilation": 2, "groups": 4},
]


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths:UserWarning")
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(("f", "lengths"), [(conv1d, (9,)), (conv2d, (7, 8)), (conv3d, (5, 6, 7))])
def test_values_and_gradients_are_those_of_torch(f, lengths, options, agrees_with_torch):
    functional = pytest.importorskip("torch.nn.functional")
    x = RNG.standard_normal((3, 4, *lengths))
    weight = RNG.standard_normal((8, 4 // options.get("groups", 1), *(2, 3, 2)[: len(lengths)]))
    agrees_with_torch(f, getattr(functional, f.__name__), x, weight, RNG.standard_normal(8), **options)


def test_each_axis_has_options_of_its_own(agrees_with_torch):
    functional = pytest.importorskip("torch.nn.functional")
    x, weight = RNG.standard_normal((2, 3, 8, 9)), RNG.standard_normal((2, 3, 3, 2))
    agrees_with_torch(conv2d, functional.conv2d, x, weight, stride=(1, 2), padding=(2, 0), dilation=(2, 3))


def test_leading_axes_are_a_batch():
    x, weight = RNG.standard_normal((2, 3, 4, 6)), RNG.standard_normal((5, 4, 2))
    np.testing.assert_allclose(conv1d(x, weight)[1, 2], conv1d(x[1, 2], weight))
    assert conv1d(x[:0], weight).shape == (0, 3, 5, 5)
    assert grad(lambda x: conv1d(x, weight).sum())(x).shape == x.shape


def test_single_precision_stays_single():
    x, weight = RNG.standard_normal((1, 2, 5)).astype(np.float32), RNG.standard_normal((3, 2, 2)).astype(np.float32)
    y, pullback = rrule(conv1d, x, weight)
    assert y.dtype == np.float32
    assert {unthunk(bar).dtype for bar in pullback(y)[1:]} == {np.dtype(np.float32)}


@pytest.mark.parametrize(
    ("x", "weight", "options", "message"),
    [
        (
            (3, 5),
            (2, 4, 2),
            {},
            r"3 channels and weights of shape \(2, 4, 2\) for groups=1",
        ),
        ((4, 5), (3, 2, 2), {"groups": 2}, "groups has to divide the 3 filters"),
        ((4, 5), (2, 4), {}, r"give \(F, C // groups, KL\)"),
        ((5,), (2, 4, 2), {}, r"give one of shape \(..., C, L\)"),
        ((4, 5), (2, 4, 2), {"bias": np.ones(3)}, r"a bias of shape \(3,\) for 2 output channels"),
        ((4, 5), (2, 4, 2), {"padding": "same", "stride": 2}, "no padding keeps the length"),
        ((4, 5), (2, 4, 2), {"padding": "full"}, 'give "valid", "same" or numbers'),
        ((4, 5), (2, 4, 2), {"stride": (1, 1)}, r"stride=\(1, 1\): give a whole number from 1 on"),
        ((4, 5), (2, 4, 2), {"dilation": 0}, "dilation=0: give a whole number from 1 on"),
        ((4, 2), (2, 4, 3), {}, "they span 3; pad the axis"),
    ],
)
def test_what_does_not_fit_is_said_before_any_work(x, weight, options, message):
    with pytest.raises(ValueError, match=message):
        conv1d(np.ones(x), np.ones(weight), **options)
