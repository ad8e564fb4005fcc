"""What the rules of rank filters, morphology, measurements and Fourier filters answer exactly: ties, labels, shifts."""

import numpy as np
import pytest
from scipy import ndimage

from rulescore import NoTangent, NotImplementedTangent, rrule, unthunk

NO = NoTangent()


def cotangents(f, *args, ybar, **kwargs):
    _, pullback = rrule(f, *args, **kwargs)
    return [unthunk(bar) for bar in pullback(ybar)[1:]]


# ---------------------------------------------------------------- filters that select


def test_the_element_that_is_selected_gets_the_cotangent():
    x, ybar = np.array([1.0, 5, 2, 4, 3]), np.array([1.0, 10, 100, 1000, 10000])
    assert cotangents(ndimage.maximum_filter, x, 3, ybar=ybar)[0].tolist() == [0, 111, 0, 11000, 0]
    assert cotangents(ndimage.minimum_filter1d, x, 3, ybar=ybar)[0].tolist() == [11, 0, 1100, 0, 10000]
    assert cotangents(ndimage.median_filter, x, 3, ybar=ybar)[0].tolist() == [1, 0, 10, 100, 11000]
    assert cotangents(ndimage.rank_filter, x, -1, 3, ybar=ybar)[0].tolist() == [0, 111, 0, 11000, 0]
    assert cotangents(ndimage.grey_erosion, x, 3, ybar=ybar)[0].tolist() == [11, 0, 1100, 0, 10000]


@pytest.mark.parametrize("f", [ndimage.maximum_filter, ndimage.minimum_filter, ndimage.grey_dilation])
def test_ties_share_equally(f):
    (xbar, *_) = cotangents(f, np.ones((5, 5)), size=3, mode="wrap", ybar=np.ones((5, 5)))
    np.testing.assert_allclose(xbar, np.ones((5, 5)))


def test_a_tie_within_a_window_is_shared():
    (xbar, *_) = cotangents(ndimage.maximum_filter1d, np.array([0.0, 2, 1, 2, 0]), 5, ybar=np.array([0.0, 0, 8, 0, 0]))
    assert xbar.tolist() == [0, 4, 0, 4, 0]


def test_what_is_selected_from_beyond_the_edge_goes_to_cval():
    bars = cotangents(ndimage.maximum_filter1d, np.array([1.0, 2]), 3, -1, None, "constant", 9.0, ybar=np.ones(2))
    assert bars[0].tolist() == [0, 0]
    assert bars[5] == 2


def test_a_structure_gets_the_cotangents_of_what_it_was_added_to():
    x = np.array([1.0, 2.0, 3.0])
    structure, ybar = np.array([5.0, 0, 0]), np.array([1.0, 10, 100])
    bars = cotangents(ndimage.grey_dilation, x, structure=structure, mode="wrap", ybar=ybar)
    assert bars[0].tolist() == [100, 1, 10]
    _, pullback = rrule(ndimage.grey_dilation, x, None, None, structure, mode="wrap")
    assert unthunk(pullback(ybar)[4]).tolist() == [111, 0, 0]
    _, pullback = rrule(ndimage.grey_erosion, x, None, None, structure, mode="wrap")
    assert unthunk(pullback(ybar)[4]).tolist() == [-111, 0, 0]


def test_opening_is_erosion_and_then_dilation():
    x = np.random.default_rng(0).standard_normal((6, 6))
    y, pullback = rrule(ndimage.grey_opening, x, 3)
    np.testing.assert_array_equal(y, ndimage.grey_opening(x, 3))
    eroded, back = rrule(ndimage.grey_erosion, x, 3)
    _, back_again = rrule(ndimage.grey_dilation, eroded, 3)
    expected = unthunk(back(unthunk(back_again(y)[1]))[1])
    np.testing.assert_allclose(unthunk(pullback(y)[1]), expected)


# ---------------------------------------------------------------- measurements

LABELS = np.array([0, 1, 1, 2, 2, 2])
X = np.array([9.0, 1, 3, 4, 4, 7])


def test_elements_get_the_cotangent_of_their_label():
    assert cotangents(ndimage.sum_labels, X, LABELS, [2, 1], ybar=np.array([1.0, 10]))[0].tolist() == [
        0,
        10,
        10,
        1,
        1,
        1,
    ]
    assert cotangents(ndimage.mean, X, LABELS, [2, 1], ybar=np.array([3.0, 10]))[0].tolist() == [0, 5, 5, 1, 1, 1]
    assert cotangents(ndimage.maximum, X, LABELS, [2, 1], ybar=np.array([1.0, 10]))[0].tolist() == [0, 0, 10, 0, 0, 1]
    assert cotangents(ndimage.median, X, LABELS, [1], ybar=np.array([1.0]))[0].tolist() == [0, 0.5, 0.5, 0, 0, 0]


def test_equal_elements_share():
    assert cotangents(ndimage.minimum, X, LABELS, 2, ybar=1.0)[0].tolist() == [0, 0, 0, 0.5, 0.5, 0]


def test_the_deviation_of_equal_elements_has_derivative_zero():
    assert cotangents(ndimage.standard_deviation, np.ones(4), ybar=1.0)[0].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    "f",
    [ndimage.sum_labels, ndimage.mean, ndimage.variance, ndimage.standard_deviation, ndimage.minimum, ndimage.median],
)
@pytest.mark.parametrize("index", [None, 1, [1, 2], np.array([[2], [1]])], ids=str)
def test_the_values_are_those_of_scipy(f, index):
    y, _ = rrule(f, X, LABELS, index)
    np.testing.assert_allclose(y, f(X, LABELS, index), rtol=1e-15)
    assert np.shape(y) == np.shape(f(X, LABELS, index))


def test_a_center_of_mass_moves_with_the_mass():
    bars = cotangents(ndimage.center_of_mass, np.array([1.0, 1.0, 2.0]), ybar=(1.0,))
    np.testing.assert_allclose(bars[0], (np.arange(3) - 1.25) / 4)


def test_where_something_is_has_no_derivative():
    assert rrule(ndimage.maximum_position, X)[1](1.0) == (NO,)
    assert rrule(ndimage.label, X)[1](None) == (NO,)


# ---------------------------------------------------------------- Fourier filters


def test_the_transpose_of_a_shift_is_the_shift_back():
    z = np.random.default_rng(0).standard_normal((4, 5)) + 0j
    xbar = cotangents(ndimage.fourier_shift, z, (0.3, 1.2), ybar=z)[0]
    np.testing.assert_allclose(xbar, ndimage.fourier_shift(z, (-0.3, -1.2)))


def test_the_derivative_by_a_shift_moves_an_image():
    x = np.cos(2 * np.pi * np.arange(16) / 16)
    y = np.fft.ifft(ndimage.fourier_shift(np.fft.fft(x), 0.0)).real
    ybar = np.fft.fft(np.eye(16)[3])
    shift_bar = cotangents(ndimage.fourier_shift, np.fft.fft(x), 0.0, ybar=ybar)[1]
    np.testing.assert_allclose(y, x, atol=1e-14)
    np.testing.assert_allclose(shift_bar / 16, 2 * np.pi / 16 * np.sin(2 * np.pi * 3 / 16))


def test_the_derivative_by_the_size_of_an_ellipsoid_is_missing():
    assert isinstance(
        cotangents(ndimage.fourier_ellipsoid, np.ones((3, 3)), 2.0, ybar=np.ones((3, 3)))[1], NotImplementedTangent
    )


# ---------------------------------------------------------------- inputs of other kinds


def test_a_number_is_measured_once_for_each_element_with_the_label():
    (xbar, *_) = cotangents(ndimage.sum_labels, np.array(2.5), np.array([1, 2, 1]), 1, ybar=1.0)
    assert xbar == 2


def test_one_sum_keeps_single_precision_and_several_do_not():
    x, labels = np.ones(3, np.float32), np.array([1, 2, 1])
    for index, dtype in ((1, np.float32), ([1, 2], np.float64)):
        y, pullback = rrule(ndimage.sum_labels, x, labels, index)
        assert y.dtype == ndimage.sum_labels(x, labels, index).dtype == dtype
        assert unthunk(pullback(y)[1]).dtype == np.float32


def test_the_median_of_no_elements_is_not_served():
    assert rrule(ndimage.median, np.ones(3), np.array([1, 2, 1]), [1, 5]) is None


def test_images_without_pixels_are_not_sampled():
    assert rrule(ndimage.map_coordinates, np.ones((0, 2)), np.ones((2, 1))) is None
    assert rrule(ndimage.rotate, np.ones((0, 2)), 30.0, reshape=False) is None


@pytest.mark.parametrize("index", [1, -3, [0, 2], [[1]]])
@pytest.mark.parametrize(
    "f", [ndimage.sum_labels, ndimage.mean, ndimage.variance, ndimage.minimum, ndimage.maximum, ndimage.center_of_mass]
)
def test_without_labels_everything_is_measured_whatever_the_index(f, index):
    x = np.array([1.0, 5, 2, 4])
    y, pullback = rrule(f, x, None, index)
    np.testing.assert_array_equal(y, f(x, None, index))
    ybar = (1.0,) if isinstance(y, tuple) else 1.0
    np.testing.assert_array_equal(unthunk(pullback(ybar)[1]), cotangents(f, x, ybar=ybar)[0])
