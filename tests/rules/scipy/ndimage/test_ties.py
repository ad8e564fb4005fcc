"""Filters of images of whole numbers, which are full of equal elements, against finite differences.

Where a filter has a derivative all the same, the rule has to give it: not a share for each of the equal elements.
"""

import numpy as np
import pytest
from scipy import ndimage

from rulescore import rrule, unthunk
from rulescore.ad import grad, hessian, jacfwd, jacrev, primitive

CROSS = np.array([[0, 1, 0], [1, 1, 1]])
MODES = ("reflect", "constant", "nearest", "mirror", "wrap", "grid-constant")
STEP = 1e-5

MORPHOLOGY = (
    ndimage.grey_erosion,
    ndimage.grey_dilation,
    ndimage.grey_opening,
    ndimage.grey_closing,
    ndimage.white_tophat,
    ndimage.black_tophat,
    ndimage.morphological_gradient,
    ndimage.morphological_laplace,
)
RANKS = {
    "median": (ndimage.median_filter, ()),
    "second": (ndimage.rank_filter, (1,)),
    "last but one": (ndimage.rank_filter, (-2,)),
    "percentile": (ndimage.percentile_filter, (30,)),
}
COMPARING = {**RANKS, **{f.__name__: (f, ()) for f in MORPHOLOGY}}


class OfImageAndBeyond:
    """A filter as a function of one vector: the image, and as its last entry what is beyond the edges."""

    def __init__(self, f, args, shape, **how):
        self.f, self.args, self.shape, self.how = f, args, shape, how

    def __call__(self, z, f=None):
        x, cval = np.reshape(z[:-1], self.shape), z[-1]
        return np.ravel((f or self.f)(x, *self.args, cval=cval, **self.how))

    def traced(self, z):
        return self(z, primitive(self.f))


def differences(f, z):
    """The matrix of central differences."""
    return np.stack([(f(z + STEP * e) - f(z - STEP * e)) / (2 * STEP) for e in np.eye(len(z))], axis=1)


def has_a_derivative(f, z, slopes, rng):
    """For each entry of the output, whether the function goes on as its slopes say, in many directions."""
    is_smooth = np.ones(len(slopes), bool)
    for _ in range(12):
        direction = rng.standard_normal(len(z))
        is_smooth &= np.abs((f(z + STEP * direction) - f(z)) / STEP - slopes @ direction) < 1e-6
    return is_smooth


def assert_right_where_there_is_a_derivative(f, z, rng):
    slopes = differences(f, z)
    is_smooth = has_a_derivative(f, z, slopes, rng)
    for jacobian in (jacrev, jacfwd):
        np.testing.assert_allclose(jacobian(f.traced)(z)[is_smooth], slopes[is_smooth], atol=1e-6)
    return np.count_nonzero(is_smooth)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", COMPARING)
def test_the_derivative_at_equal_elements(name, mode):
    f, args = COMPARING[name]
    rng, checked = np.random.default_rng(0), 0
    for shape, how in (
        ((6,), {"size": 3}),
        ((5,), {"size": 4, "origin": -1}),
        ((3, 4), {"size": (3, 2)}),
        ((4, 3), {"footprint": CROSS}),
    ) * 2:
        z = rng.integers(0, 3, int(np.prod(shape)) + 1).astype(float)
        checked += assert_right_where_there_is_a_derivative(OfImageAndBeyond(f, args, shape, mode=mode, **how), z, rng)
    assert checked


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", MORPHOLOGY)
def test_the_derivative_at_equal_elements_with_a_structure(f, mode):
    rng, checked = np.random.default_rng(1), 0
    for footprint in (None, CROSS, None, CROSS):
        structure = rng.integers(0, 2, (2, 3)).astype(float)
        how = {"footprint": footprint, "structure": structure, "mode": mode}
        z = rng.integers(0, 3, 13).astype(float)
        checked += assert_right_where_there_is_a_derivative(OfImageAndBeyond(f, (), (3, 4), **how), z, rng)
    assert checked


@pytest.mark.parametrize("mode", ["wrap", "constant"])
@pytest.mark.parametrize(
    ("name", "structure"),
    [
        ("median", None),
        ("second", None),
        *[(name, structure) for name in ("grey_opening", "black_tophat") for structure in (None, np.zeros((3, 3)))],
    ],
)
def test_where_all_is_equal_the_derivative_is_that_of_images_right_beside(name, structure, mode):
    """The mean of those where elements ascend and descend with their places: a member of the generalised derivative."""
    f, args = COMPARING[name]
    how = {"size": 3} if structure is None else {"structure": structure}
    filtered, step = OfImageAndBeyond(f, args, (4, 4), mode=mode, **how), 1e-3
    z, places = np.ones(17), step * np.arange(17.0)
    if structure is not None:
        places[-1] = -step  # what is beyond the edges is the first there
    beside = [differences(filtered, z + sign * places) for sign in (1, -1)]
    np.testing.assert_allclose(jacrev(filtered.traced)(z), (beside[0] + beside[1]) / 2, atol=1e-6)


def test_a_source_that_is_there_more_than_once_is_the_median():
    """Before the edge b, b, a: of equal a and b, the median is b wherever they move."""
    median = OfImageAndBeyond(ndimage.median_filter, (), (3,), size=3)
    assert jacrev(median.traced)(np.array([2.0, 2.0, 5.0, 0.0]))[0].tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("f", [ndimage.median_filter, ndimage.grey_opening, ndimage.grey_closing, ndimage.white_tophat])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_values_are_those_of_scipy_where_some_are_nan(f, dtype):
    x = np.random.default_rng(0).integers(0, 4, (5, 6)).astype(dtype)
    x[1, 2] = x[4, 5] = np.nan
    expected = f(x, 3)
    y, pullback = rrule(f, x, 3)
    np.testing.assert_array_equal(y, expected)
    xbar = pullback(np.where(np.isnan(y), 0, 1).astype(dtype))[1]
    assert xbar.dtype == dtype
    assert np.all(np.isfinite(xbar))


@pytest.mark.parametrize("f", [ndimage.median_filter, ndimage.grey_opening])
def test_beside_a_nan_the_derivative_is_that_of_what_was_picked(f):
    x = np.random.default_rng(0).permutation(np.arange(40.0))
    x[20] = np.nan
    y = f(x, 3)
    picked = x[:, None] == y
    assert not picked[20].any()
    assert np.isfinite(y[18:23]).any()
    xbar = rrule(f, x, 3)[1](np.ones(40))[1]
    np.testing.assert_array_equal(xbar, picked.sum(1))


@pytest.mark.parametrize("f", [ndimage.median_filter, ndimage.grey_opening, ndimage.maximum_filter])
@pytest.mark.parametrize("x", [[3.0, 7, 1, 5, 2, 8, 0, 4, 6], [0.0, 2, 2, 1, 1, 0, 2, 2, 2]], ids=["apart", "equal"])
def test_second_derivatives_of_the_squares_of_what_is_picked(f, x):
    x, weights = np.array(x), np.arange(1.0, 10.0)

    def squares(x):
        return np.sum(primitive(f)(x, 3) ** 2 * weights)

    found = hessian(squares)(x)
    np.testing.assert_allclose(found, found.T)
    # Of a function that is homogeneous of degree 2, H x is the gradient.
    np.testing.assert_allclose(found @ x, grad(squares)(x), rtol=1e-12)
    np.testing.assert_allclose(jacfwd(jacfwd(squares))(x), found, rtol=1e-12)


@pytest.mark.parametrize(
    "f", [ndimage.maximum_filter, ndimage.median_filter, ndimage.grey_dilation, ndimage.grey_opening]
)
def test_a_footprint_of_floats_decides_and_has_no_derivative(f):
    x, footprint = np.random.default_rng(0).standard_normal((4, 5)), np.array([[0.0, 1.0], [1.0, 1.0]])
    _, pullback = rrule(f, x, None, footprint)
    _, xbar, _, footprint_bar = pullback(np.ones((4, 5)))[:4]
    np.testing.assert_array_equal(xbar, rrule(f, x, None, footprint.astype(int))[1](np.ones((4, 5)))[1])
    assert not np.any(unthunk(footprint_bar))
