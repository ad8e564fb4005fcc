"""How the definers of SciPy's rules bind the arguments of a call, and what types they give its output."""

import numpy as np
import pytest
import scipy.fftpack
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


@pytest.mark.parametrize("period", [None, 5.0])
@pytest.mark.parametrize("a", [1, 0.3, np.float16(-1)], ids=repr)
@pytest.mark.parametrize("n", [6, 7])
def test_a_shift_back_is_the_transpose_whatever_scipy_has_kept(n, a, period):
    """SciPy keeps the factors of a shift, also those of half precision, for all that is shifted by as much."""
    scipy.fftpack.shift(np.ones(n), np.float16(-1), period)
    matrix = np.transpose([scipy.fftpack.shift(unit, a, period) for unit in np.eye(n)])
    _, pull = vjp(lambda x: primitive(scipy.fftpack.shift)(x, a, period), np.arange(1.0, n + 1))
    ybar = np.random.default_rng(0).standard_normal(n)
    np.testing.assert_allclose(pull(ybar)[0], matrix.T @ ybar, rtol=0, atol=1e-13)
