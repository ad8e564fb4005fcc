"""How the definers of SciPy's rules bind the arguments of a call, and what types they give its output."""

import numpy as np
import pytest
import scipy.ndimage
import scipy.signal

from rules.scipy.linear_maps import Arguments, linear_map
from rulescore import rrule
from rulescore.ad import jvp, primitive, vjp


def scaled(x, size=None, cval=0.0, overwrite_x=False, **more):
    return 2 * np.asarray(x)


def scaled_transpose(ybar, x, size=None, cval=0.0, overwrite_x=False, **more):
    return 2 * ybar


linear_map(scaled, scaled_transpose)


@pytest.mark.parametrize(
    ("args", "kwargs", "bound"),
    [
        ((1,), {}, ((1,), {})),
        ((1, 2), {}, ((1, 2), {})),
        ((1,), {"cval": 3.0}, ((1, None, 3.0), {})),
        ((), {"cval": 3.0, "x": 1}, ((1, None, 3.0), {})),
        ((1,), {"overwrite_x": True}, ((1, None, 0.0, False), {})),
        ((1, 2, 3.0, True), {}, ((1, 2, 3.0, False), {})),
        ((1,), {"other": 4}, ((1,), {"other": 4})),
    ],
)
def test_a_keyword_gets_its_position_and_a_permission_to_overwrite_is_not_used(args, kwargs, bound):
    assert Arguments(scaled, scaled_transpose, leading=1).bind(args, kwargs) == bound


def test_a_keyword_behind_one_that_was_left_out_has_a_cotangent():
    x, structure = np.arange(12.0).reshape(3, 4) ** 2, np.array([[0.0, 1.0], [2.0, 0.5]])
    y, pullback = rrule(scipy.ndimage.grey_erosion, x, structure=structure, mode="mirror")
    bars = pullback(np.ones_like(y))
    assert bars[4].sum() == -y.size  # y is a minimum of x - structure


@pytest.mark.parametrize("num", [4, np.int64(4), np.uint8(4)])
def test_an_output_has_the_type_that_the_function_gives_it_for_numpys_integers(num):
    x = np.linspace(1, 2, 6).astype(np.float32)
    resample = primitive(scipy.signal.resample)
    y, pullback = vjp(lambda x: resample(x, num), x)
    wanted = scipy.signal.resample(x, num)
    assert y.dtype == wanted.dtype
    np.testing.assert_allclose(y, wanted, rtol=1e-6)
    (xbar,) = pullback(np.ones_like(y))
    assert xbar.dtype == x.dtype
    np.testing.assert_allclose(xbar @ x, wanted.sum(), rtol=1e-6)
    assert jvp(lambda x: resample(x, num), (x,), (x,))[1].dtype == wanted.dtype
