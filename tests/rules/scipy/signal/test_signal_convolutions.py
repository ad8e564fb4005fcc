"""The rules of convolutions and correlations against the matrices of the maps, for every mode and boundary."""

import itertools

import numpy as np
import pytest
import scipy.signal

from rulescore import NoTangent, Thunk, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, primitives

MODES = ("full", "same", "valid")


def normal(rng, *shape, is_complex=False):
    return rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if is_complex else 0)


def assert_adjoint(f, a, b, *args, **keywords):
    """Re⟨f(da, b), ȳ⟩ = Re⟨da, ā⟩ and Re⟨f(a, db), ȳ⟩ = Re⟨db, b̄⟩."""
    rng = np.random.default_rng(1)
    y, pullback = rrule(f, a, b, *args, **keywords)
    np.testing.assert_array_equal(y, f(a, b, *args, **keywords))
    ybar = normal(rng, *y.shape, is_complex=np.iscomplexobj(y))
    abar, bbar = (unthunk(bar) for bar in pullback(ybar)[1:3])
    da, db = (normal(rng, *x.shape, is_complex=np.iscomplexobj(x)) for x in (a, b))
    for dx, xbar, moved in ((da, abar, (da, b)), (db, bbar, (a, db))):
        assert (xbar.shape, xbar.dtype) == (dx.shape, dx.dtype)
        dy = f(*moved, *args, **keywords)
        np.testing.assert_allclose(np.real(np.vdot(ybar, dy)), np.real(np.vdot(xbar, dx)), rtol=1e-10, atol=1e-10)
    dy = frule((NoTangent(), da, db, *[NoTangent()] * len(args)), f, a, b, *args, **keywords)[1]
    np.testing.assert_allclose(dy, f(da, b, *args, **keywords) + f(a, db, *args, **keywords), atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("method", ["direct", "fft", "auto"])
@pytest.mark.parametrize("f", [scipy.signal.convolve, scipy.signal.correlate], ids=lambda f: f.__name__)
def test_convolutions_of_all_lengths_are_adjoint(f, method, mode):
    rng = np.random.default_rng(0)
    for n, m in itertools.product(range(1, 7), repeat=2):
        for complex_a, complex_b in itertools.product((False, True), repeat=2):
            a, b = normal(rng, n, is_complex=complex_a), normal(rng, m, is_complex=complex_b)
            assert_adjoint(f, a, b, mode, method)
    assert_adjoint(f, normal(rng, 3, 5, 2), normal(rng, 2, 4, 2), mode, method)


@pytest.mark.parametrize("count", [1, 7, 32, 33, 80])
def test_short_kernels_of_long_signals_are_adjoint(count):
    rng = np.random.default_rng(0)
    for length in (2500, 5000):
        for mode in MODES:
            assert_adjoint(scipy.signal.convolve, normal(rng, length), normal(rng, count), mode, "direct")
        assert_adjoint(scipy.signal.correlate, normal(rng, length, is_complex=True), normal(rng, count))
        assert_adjoint(scipy.signal.oaconvolve, normal(rng, count), normal(rng, length, is_complex=True), "full")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", [scipy.signal.fftconvolve, scipy.signal.oaconvolve], ids=lambda f: f.__name__)
def test_convolutions_along_some_axes_are_adjoint_where_others_broadcast(f, mode):
    rng = np.random.default_rng(0)
    for shape1, shape2, axes in (
        ((3, 5), (3, 2), 1),
        ((1, 5), (4, 2), -1),
        ((4, 5), (1, 3), (1,)),
        ((3, 4, 2), (2, 4, 1), [0]),
        ((2, 3, 4), (2, 5, 4), 1),
        ((5, 1, 6), (2, 3, 4), (0, 2)),
        ((5, 4), (1, 3), None),
    ):
        assert_adjoint(f, normal(rng, *shape1), normal(rng, *shape2, is_complex=True), mode, axes)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("boundary", ["fill", "pad", "wrap", "circular", "symm", "symmetric"])
@pytest.mark.parametrize("f", [scipy.signal.convolve2d, scipy.signal.correlate2d], ids=lambda f: f.__name__)
def test_convolutions_of_images_are_adjoint_for_every_boundary(f, boundary, mode):
    rng = np.random.default_rng(0)
    for shape1, shape2 in (((3, 4), (2, 2)), ((3, 4), (3, 1)), ((2, 3), (5, 4)), ((4, 4), (4, 4))):
        for is_complex in (False, True):
            a, b = normal(rng, *shape1, is_complex=is_complex), normal(rng, *shape2, is_complex=is_complex)
            assert_adjoint(f, a, b, mode, boundary)


def test_the_fill_value_gets_the_sum_of_what_the_kernel_meets_outside():
    _, pullback = rrule(scipy.signal.convolve2d, np.ones((1, 2)), np.array([[1.0, 10.0]]), "full", "fill", 2.0)
    # y is [x₀ + 10 f, x₁ + 10 x₀, f + 10 x₁], of the extended image (f, x₀, x₁, f).
    bars = [unthunk(bar) for bar in pullback(np.array([[1.0, 1.0, 1.0]]))]
    np.testing.assert_allclose(bars[1], [[11, 11]])
    np.testing.assert_allclose(bars[2], [[4, 4]])
    np.testing.assert_allclose(bars[5], 11)


def test_a_boundary_that_numpy_cannot_pad_by_is_declined():
    assert rrule(scipy.signal.convolve2d, np.ones((2, 2)), np.ones((2, 2)), "same", "reflect") is None


def test_cotangents_are_computed_when_they_are_asked_for_and_not_before():
    _, pullback = rrule(scipy.signal.convolve, np.ones(4), np.ones(2))
    _, abar, bbar = pullback(np.ones(5))
    assert isinstance(abar, Thunk)
    assert isinstance(bbar, Thunk)
    assert rrule(scipy.signal.convolve, np.arange(3), np.ones(2))[1](np.ones(4))[1] is NoTangent()
    assert pullback(ZeroTangent())[1:] == (ZeroTangent(), ZeroTangent())


def test_single_precision_stays_single_precision():
    a, b = np.ones((4, 4), np.float32), np.ones((2, 2), np.float32)
    for f in (scipy.signal.convolve, scipy.signal.correlate2d, scipy.signal.oaconvolve):
        y, pullback = rrule(f, a, b)
        assert y.dtype == np.float32
        assert [unthunk(bar).dtype for bar in pullback(y)[1:3]] == [np.float32, np.float32]


def test_a_deconvolution_by_gradient_finds_the_kernel():
    """The Hessian of half the squared error is the autocorrelation of the signal, by differentiating twice."""
    signal = primitives(scipy.signal)
    x, k = np.array([1.0, -2.0, 0.5, 3.0]), np.array([0.5, 1.0])
    y = np.convolve(x, k)

    def error(k):
        return 0.5 * np.sum((signal.fftconvolve(x, k) - y) ** 2)

    np.testing.assert_allclose(grad(error)(k), 0, atol=1e-13)
    rows = [grad(lambda k, i=i: grad(error)(k)[i])(k) for i in range(2)]
    lags = np.correlate(x, x, "full")[len(x) - 1 :]
    np.testing.assert_allclose(rows, [[lags[0], lags[1]], [lags[1], lags[0]]], rtol=1e-12)
