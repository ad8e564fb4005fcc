"""What the rules of geometric transforms answer exactly: transposes, edges, coordinates, and what is declined."""

import numpy as np
import pytest
from scipy import ndimage

from rules.scipy.ndimage.spline_sampling import (
    coefficients_bar,
    coefficients_of,
    margin_of,
    sample_spline,
    spline_coefficients,
    spline_coefficients_spread,
)
from rulescore import MissingDerivativeError, NoTangent, rrule, unthunk
from rulescore.ad import grad, hessian, primitive

MODES = ("reflect", "constant", "nearest", "mirror", "wrap", "grid-mirror", "grid-constant", "grid-wrap")
NO = NoTangent()


def cotangents(f, *args, ybar, **kwargs):
    _, pullback = rrule(f, *args, **kwargs)
    return [unthunk(bar) for bar in pullback(ybar)[1:]]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", range(6))
@pytest.mark.parametrize("prefilter", [True, False])
def test_splines_are_sampled_as_scipy_does_it_within_and_far_outside(mode, order, prefilter):
    rng = np.random.default_rng(order)
    for shape in ((7, 5), (2, 3), (1, 4), (12,)):
        x, coordinates = rng.standard_normal(shape), rng.uniform(-25, 30, (len(shape), 60))
        plain = "reflect" if mode == "grid-mirror" else mode
        c = coefficients_of(x, order, plain, prefilter)
        none = ((0,) * len(shape),)
        y = sample_spline(c, coordinates + margin_of(order, plain, prefilter), order, plain, none)[0]
        expected = ndimage.map_coordinates(x, coordinates, order=order, mode=mode, prefilter=prefilter)
        np.testing.assert_allclose(y, expected, atol=1e-11)
        cbar = rng.standard_normal(c.shape)
        xbar = coefficients_bar(cbar, order, plain, prefilter)
        np.testing.assert_allclose(np.sum(c * cbar), np.sum(x * xbar), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", [2, 3, 4, 5])
@pytest.mark.parametrize("length", [2, 5, 33, 100])
def test_the_transposed_spline_filter_is_exact(mode, order, length):
    x, y = np.random.default_rng(length).standard_normal((2, length))
    forward = np.sum(spline_coefficients(x, order, (0,), mode) * y)
    np.testing.assert_allclose(forward, np.sum(x * spline_coefficients_spread(y, order, (0,), mode)), rtol=1e-10)


TRANSFORMS = [
    (ndimage.map_coordinates, (np.random.default_rng(0).uniform(-3, 9, (2, 30)),), {}),
    # Of an offset with which no pixel lies halfway between two others, where rounding decides on the nearest.
    (ndimage.affine_transform, (np.array([[0.9, 0.2], [-0.3, 1.1]]), (0.31, -0.43)), {"output_shape": (4, 9)}),
    (ndimage.affine_transform, (np.array([0.9, 1.3]), 0.4), {}),
    (ndimage.shift, ((1.3, -2.2),), {}),
    (ndimage.zoom, (1.6,), {}),
    (ndimage.rotate, (33.0,), {}),
]


# SciPy 1.15 warns of every matrix that is given by its diagonal.
@pytest.mark.filterwarnings("ignore:The behavior of affine_transform with a 1-D array:UserWarning")
@pytest.mark.parametrize("case", TRANSFORMS, ids=lambda case: case[0].__name__)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", [0, 1, 3])
def test_the_pullback_of_a_transform_is_its_exact_transpose_in_the_image(case, mode, order):
    f, args, keywords = case
    rng = np.random.default_rng(1)
    x = rng.standard_normal((6, 7))
    y, pullback = rrule(f, x, *args, order=order, mode=mode, **keywords)
    np.testing.assert_array_equal(y, f(x, *args, order=order, mode=mode, **keywords))
    ybar = rng.standard_normal(y.shape)
    np.testing.assert_allclose(np.sum(y * ybar), np.sum(x * unthunk(pullback(ybar)[1])), rtol=1e-10, atol=1e-10)


def test_a_line_is_shifted_by_its_slope():
    bars = cotangents(ndimage.shift, np.arange(6.0), 0.5, ybar=np.ones(6), order=1, mode="nearest")
    assert bars[1] == -5
    np.testing.assert_allclose(bars[0], [1.5, 1, 1, 1, 1, 0.5])


def test_at_the_last_pixel_the_slope_is_that_within():
    x = np.array([0.0, 1.0, 4.0])
    for mode in ("constant", "nearest", "mirror"):
        _, bar = cotangents(ndimage.map_coordinates, x, np.array([[2.0]]), ybar=np.ones(1), order=1, mode=mode)
        assert bar.tolist() == [[3]]


def test_outside_there_is_no_slope():
    x = np.array([0.0, 1.0, 4.0])
    for mode in ("constant", "nearest"):
        _, bar = cotangents(ndimage.map_coordinates, x, np.array([[-1.5, 3.5]]), ybar=np.ones(2), order=1, mode=mode)
        assert bar.tolist() == [[0, 0]]


def test_a_mirrored_coordinate_goes_the_other_way():
    x = np.array([0.0, 1.0, 4.0])
    _, bar = cotangents(ndimage.map_coordinates, x, np.array([[0.5, -0.5]]), ybar=np.ones(2), order=1, mode="mirror")
    assert bar.tolist() == [[1, -1]]


def test_images_are_registered_by_gradients():
    image = ndimage.gaussian_filter(np.random.default_rng(0).standard_normal((24, 24)), 2.0)
    target = ndimage.shift(image, (1.2, -0.7), mode="nearest")
    moved = primitive(ndimage.shift)

    def loss(by):
        return np.sum((moved(image, by, mode="nearest") - target) ** 2)

    by = np.array([1.0, -0.5])
    for _ in range(6):
        by = by - np.linalg.solve(hessian(loss)(by), grad(loss)(by))
    np.testing.assert_allclose(by, [1.2, -0.7], rtol=1e-6)


def test_the_zoom_only_decides_on_the_number_of_pixels():
    assert cotangents(ndimage.zoom, np.ones(5), 1.3, ybar=np.ones(6))[1] == 0


def test_what_a_mapping_depends_on_has_no_derivative_and_says_so():
    def mapping(place, by):
        return (place[0] + by,)

    xbar, *_, arguments_bar = cotangents(
        ndimage.geometric_transform, np.ones(4), mapping, extra_arguments=(0.3,), ybar=np.ones(4)
    )
    assert xbar.shape == (4,)
    with pytest.raises(MissingDerivativeError, match="map_coordinates"):
        float(arguments_bar)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_precision_is_kept_both_ways(dtype):
    x = np.ones((4, 4), dtype)
    y, pullback = rrule(ndimage.rotate, x, 20.0)
    assert y.dtype == dtype
    assert unthunk(pullback(y)[1]).dtype == dtype


@pytest.mark.parametrize(("f", "args"), [(ndimage.shift, (1.0,)), (ndimage.zoom, (2.0,)), (ndimage.rotate, (3.0,))])
def test_a_call_with_output_has_no_rule(f, args):
    assert rrule(f, np.ones((3, 3)), *args) is not None
    assert rrule(f, np.ones((3, 3)), *args, output=np.float32) is None
