"""What the rules of correlations and smoothing answer exactly: transposes, edges, and what is declined."""

import numpy as np
import pytest
from scipy import ndimage

from rules.scipy.ndimage.boundaries import extend, fold
from rules.scipy.ndimage.smoothing import gaussian_weights
from rulescore import NoTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, hessian, primitive

MODES = ("reflect", "constant", "nearest", "mirror", "wrap", "grid-mirror", "grid-constant", "grid-wrap")
NO = NoTangent()


def cotangents(f, *args, ybar, **kwargs):
    _, pullback = rrule(f, *args, **kwargs)
    return [unthunk(bar) for bar in pullback(ybar)[1:]]


# ---------------------------------------------------------------- transposes


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("length", [1, 2, 3, 8])
def test_folding_is_the_transpose_of_extending_as_scipy_does_it(mode, length):
    rng = np.random.default_rng(length)
    x, z = rng.standard_normal((length, 2)), rng.standard_normal((length + 14, 2))
    beyond = extend(x, 0, 5, 9, mode)
    np.testing.assert_allclose(np.sum(beyond * z), np.sum(x * fold(z, 0, 5, 9, mode)))
    for shift in (-5, -1, 4, 9):
        one_there = np.zeros(19)
        one_there[9 + shift] = 1
        np.testing.assert_array_equal(
            ndimage.correlate1d(x, one_there, 0, mode=mode), beyond[5 + shift : 5 + shift + length]
        )


LINEAR = [
    (ndimage.correlate1d, ([1.0, -2.0, 0.5, 3.0],), {"origin": 1}),
    (ndimage.convolve, ([[1.0, 2.0], [0.5, -1.0], [3.0, 0.0]],), {"origin": (-1, 0)}),
    (ndimage.gaussian_filter, (1.3,), {"order": (0, 1)}),
    (ndimage.gaussian_filter1d, (2.0,), {"axis": 0}),
    (ndimage.uniform_filter, ((4, 3),), {}),
    (ndimage.sobel, (0,), {}),
    (ndimage.prewitt, (), {}),
    (ndimage.laplace, (), {}),
    (ndimage.gaussian_laplace, (0.8,), {}),
]


@pytest.mark.parametrize("case", LINEAR, ids=lambda case: case[0].__name__)
@pytest.mark.parametrize("mode", MODES)
def test_the_pullback_of_a_linear_filter_is_its_exact_transpose(mode, case):
    f, args, keywords = case
    rng = np.random.default_rng(3)
    x, ybar = rng.standard_normal((6, 7)), rng.standard_normal((6, 7))
    y, pullback = rrule(f, x, *args, mode=mode, **keywords)
    np.testing.assert_array_equal(y, f(x, *args, mode=mode, **keywords))
    np.testing.assert_allclose(np.sum(y * ybar), np.sum(x * unthunk(pullback(ybar)[1])), rtol=1e-13)


def test_a_cotangent_of_one_number_repeated_is_filtered_rightly():
    """SciPy's own correlate of such an array is wrong."""
    x, w = np.ones((4, 5)), np.random.default_rng(0).standard_normal((2, 3))
    for f in (ndimage.correlate, ndimage.convolve):
        repeated = cotangents(f, x, w, ybar=np.broadcast_to(1.0, (4, 5)), mode="mirror")[0]
        np.testing.assert_array_equal(repeated, cotangents(f, x, w, ybar=np.ones((4, 5)), mode="mirror")[0])
        still = ZeroTangent()
        _, dy = frule((NO, np.broadcast_to(1.0, (4, 5)), still), f, x, w)
        np.testing.assert_allclose(dy, np.full((4, 5), w.sum()))


def test_what_is_beyond_the_edge_is_a_copy_of_what_is_within():
    (xbar,) = cotangents(ndimage.correlate1d, np.zeros(3), [1.0, 0.0, 0.0], ybar=np.array([1.0, 10, 100]))[:1]
    assert xbar.tolist() == [11, 100, 0]
    by_mode = {"wrap": [10, 100, 1], "nearest": [11, 100, 0], "mirror": [10, 101, 0], "constant": [10, 100, 0]}
    for mode, expected in by_mode.items():
        bars = cotangents(ndimage.correlate1d, np.zeros(3), [1, 0, 0], ybar=np.array([1.0, 10, 100]), mode=mode)
        assert bars[0].tolist() == expected


def test_the_cotangent_of_cval_is_the_sum_of_the_weights_that_lie_outside():
    bars = cotangents(
        ndimage.correlate1d, np.ones(3), [2.0, 3.0, 5.0], -1, None, "constant", 0.7, ybar=np.array([1.0, 10, 100])
    )
    assert bars[5] == 2 + 500
    assert bars[2:5] == [NO] * 3


# ---------------------------------------------------------------- the Gaussian


@pytest.mark.parametrize("order", range(6))
def test_the_weights_of_a_gaussian_are_those_of_scipy_and_their_slope_is_right(order):
    impulse = np.zeros(25)
    impulse[12] = 1
    weights, slope = gaussian_weights(2.3, order, 9)
    np.testing.assert_allclose(
        ndimage.gaussian_filter1d(impulse, 2.3, order=order, radius=9)[3:22], weights[::-1], atol=1e-15
    )
    h = 1e-5
    difference = (gaussian_weights(2.3 + h, order, 9)[0] - gaussian_weights(2.3 - h, order, 9)[0]) / (2 * h)
    np.testing.assert_allclose(slope, difference, atol=1e-9)


def test_a_blur_is_fitted_by_its_width():
    image = np.random.default_rng(1).standard_normal((12, 12))
    target = ndimage.gaussian_filter(image, 1.4)
    blur = primitive(ndimage.gaussian_filter)

    def loss(sigma):
        return np.sum((blur(image, sigma) - target) ** 2)

    sigma = 1.1
    for _ in range(8):
        sigma = sigma - grad(loss)(sigma) / hessian(loss)(sigma)
    np.testing.assert_allclose(sigma, 1.4, rtol=1e-6)


def test_an_axis_without_smoothing_has_no_part_in_sigma():
    sigma_bar = cotangents(ndimage.gaussian_filter, np.eye(4), (0.0, 1.1), ybar=np.ones((4, 4)))[1]
    assert sigma_bar[0] == 0
    assert np.isfinite(sigma_bar[1])


def test_a_gradient_of_length_zero_has_derivative_zero():
    xbar, _ = cotangents(ndimage.gaussian_gradient_magnitude, np.ones((4, 4)), 1.0, ybar=np.ones((4, 4)))
    np.testing.assert_array_equal(xbar, np.zeros((4, 4)))


# ---------------------------------------------------------------- types


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize(
    ("f", "args"),
    [(ndimage.correlate1d, ([1.0, 2.0, 3.0],)), (ndimage.gaussian_filter, (1.0,)), (ndimage.uniform_filter, (3,))],
)
def test_precision_is_kept_both_ways(f, args, dtype):
    x = np.ones((4, 4), dtype)
    y, pullback = rrule(f, x, *args)
    assert y.dtype == dtype
    assert unthunk(pullback(y)[1]).dtype == dtype
    _, dy = frule((NO, x, *[NO] * len(args)), f, x, *args)
    assert dy.dtype == dtype


def test_integers_have_no_derivative():
    y, pullback = rrule(ndimage.correlate1d, np.arange(5), [0.5, 0.5])
    assert y.dtype == int
    assert pullback(np.ones(5)) == (NO,)


@pytest.mark.parametrize(
    ("f", "args"), [(ndimage.correlate1d, ([1.0],)), (ndimage.gaussian_filter, (1.0,)), (ndimage.laplace, ())]
)
def test_a_call_with_output_has_no_rule(f, args):
    assert rrule(f, np.ones(3), *args) is not None
    assert rrule(f, np.ones(3), *args, output=np.float32) is None
    assert rrule(f, np.ones(3), *args, output=np.zeros(3)) is None


def test_what_nobody_asks_for_is_not_computed(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("computed")

    monkeypatch.setattr("rules.scipy.ndimage.correlations.correlation_weights", refuse)
    _, pullback = rrule(ndimage.correlate1d, np.ones(4), np.ones(3))
    assert unthunk(pullback(np.ones(4))[1]).tolist() == [3, 3, 3, 3]


def test_the_slope_by_a_weight_depends_on_what_lies_beyond_the_edge():
    """Of zeros, the first and the last of three weights see the value beyond once each."""
    correlate1d, x = primitive(ndimage.correlate1d), np.zeros(4)

    def total(weights, cval):
        return np.sum(correlate1d(x, weights, mode="constant", cval=cval))

    of_weights = grad(total)
    mixed = grad(lambda cval: np.sum(np.array([1.0, 10.0, 100.0]) * of_weights(np.ones(3), cval)))(2.0)
    np.testing.assert_allclose(mixed, 101)
