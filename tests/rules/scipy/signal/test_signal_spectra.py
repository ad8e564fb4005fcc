"""What is composed gives SciPy's own output for every option, and linear maps their adjoints."""

import itertools

import numpy as np
import pytest
import scipy.signal

from rules.scipy.signal.segments import overlap_add, segments
from rulescore import NoTangent, frule, rrule, unthunk
from rulescore.ad import grad, jvp, primitives, vjp

signal = primitives(scipy.signal)


def normal(*shape, is_complex=False):
    rng = np.random.default_rng(0)
    return rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if is_complex else 0)


def assert_same(rule_output, output):
    for one, other in zip(rule_output, output, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        np.testing.assert_allclose(one, other, rtol=1e-9 if one.itemsize > 4 else 1e-4, atol=1e-6)


def assert_adjoint(f, x, *args, output=lambda y: y, **keywords):
    y, pullback = rrule(f, x, *args, **keywords)
    y = output(y)
    np.testing.assert_allclose(y, output(f(x, *args, **keywords)), rtol=1e-9, atol=1e-12)
    ybar = np.cos(np.arange(y.size)).reshape(y.shape) + (0.3j if np.iscomplexobj(y) else 0)
    bars = pullback(ybar if output(0) == 0 else (NoTangent(), NoTangent(), ybar))
    xbar = unthunk(bars[1])
    assert (xbar.shape, xbar.dtype) == (x.shape, x.dtype)
    np.testing.assert_allclose(np.real(np.vdot(ybar, y)), np.real(np.vdot(xbar, x)), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(("length", "step", "total"), [(4, 2, 11), (3, 3, 9), (5, 1, 8), (2, 5, 13), (4, 3, 4)])
def test_segments_and_their_sum_are_transposes(length, step, total):
    x = normal(2, total)
    pieces = segments(x, length, step)
    np.testing.assert_array_equal(pieces[:, -1], x[:, (pieces.shape[1] - 1) * step :][:, :length])
    y = np.sin(np.arange(pieces.size)).reshape(pieces.shape)
    np.testing.assert_allclose(np.vdot(pieces, y), np.vdot(x, overlap_add(y, step, total)), rtol=1e-12)


@pytest.mark.parametrize("scaling", ["density", "spectrum"])
@pytest.mark.parametrize("detrend", ["constant", "linear", False])
def test_averaged_spectra_are_scipys(scaling, detrend):
    for dtype, average, sides in itertools.product((float, complex, np.float32), ("mean", "median"), (True, False)):
        x = normal(3, 50, is_complex=dtype is complex).astype(dtype)
        options = {"nperseg": 10, "noverlap": 3, "nfft": 12, "detrend": detrend, "scaling": scaling}
        options |= {"average": average, "return_onesided": sides and dtype is not complex, "fs": 3.0}
        assert_same(rrule(scipy.signal.welch, x, **options)[0], scipy.signal.welch(x, **options))
        y = np.roll(x, 2, axis=-1) + 1
        assert_same(rrule(scipy.signal.csd, x, y, **options)[0], scipy.signal.csd(x, y, **options))


def test_spectra_over_time_are_scipys():
    for dtype, axis, boundary in itertools.product((float, np.float32), (0, -1), ("zeros", "even", "odd", None)):
        x = normal(31, 31).astype(dtype)
        options = {"fs": 2.0, "nperseg": 8, "noverlap": 5, "axis": axis, "boundary": boundary}
        options |= {"scaling": "psd", "padded": axis == 0}
        assert_same(rrule(scipy.signal.stft, x, **options)[0], scipy.signal.stft(x, **options))
    for mode, nfft in itertools.product(("psd", "complex", "magnitude", "angle", "phase"), (None, 11)):
        options = {"nperseg": 8, "nfft": nfft, "mode": mode}
        assert_same(rrule(scipy.signal.spectrogram, x, **options)[0], scipy.signal.spectrogram(x, **options))


def test_short_time_transforms_are_adjoint_and_inverse():
    x = normal(2, 40)
    third = {"output": lambda y: y[2] if isinstance(y, tuple) else 1}
    assert_adjoint(scipy.signal.stft, x, nperseg=8, **third)
    assert_adjoint(scipy.signal.stft, x, nperseg=9, noverlap=2, detrend="linear", boundary="odd", **third)
    stft, istft = signal.stft, signal.istft
    gradient = grad(lambda x: 0.5 * np.sum(istft(stft(x, nperseg=8)[2], nperseg=8)[1][..., :40] ** 2))(x)
    np.testing.assert_allclose(gradient, x, rtol=1e-10, atol=1e-12)


def test_the_power_of_white_noise_has_parsevals_gradient():
    """The periodogram sums to the mean square, of a signal without its mean."""
    x = normal(16)
    gradient = grad(lambda x: np.sum(signal.periodogram(x)[1]) / 16)(x)
    np.testing.assert_allclose(gradient, 2 * (x - np.mean(x)) / 16, rtol=1e-12, atol=1e-15)


def test_the_sampling_rate_scales_frequencies_and_densities():
    x, dfs = normal(32), 1.0
    tangents = (NoTangent(), NoTangent(), dfs)
    (f, power), (df, dpower) = frule(tangents, scipy.signal.periodogram, x, 4.0)
    np.testing.assert_allclose(df, f / 4)
    np.testing.assert_allclose(dpower, -power / 4)


def test_one_frequency_of_hilbert_is_adjoint():
    for n, length in itertools.product((1, 2, 5, 6, 9), (5, 6)):
        assert_adjoint(scipy.signal.hilbert, normal(3, length), n)
    assert_adjoint(scipy.signal.hilbert2, normal(4, 5), (3, 6))
    assert rrule(scipy.signal.hilbert, np.ones(4) + 1j) is None


@pytest.mark.parametrize("is_complex", [False, True])
def test_resampling_is_scipys_and_adjoint_for_all_lengths(is_complex):
    for n, num in itertools.product(range(1, 9), repeat=2):
        assert_adjoint(scipy.signal.resample, normal(n, 2, is_complex=is_complex), num)
    for up, down in itertools.product(range(1, 6), repeat=2):
        assert_adjoint(scipy.signal.resample_poly, normal(11, is_complex=is_complex), up, down)
    for length, up, down in itertools.product((1, 2, 5, 9), range(1, 5), range(1, 5)):
        x, h = normal(2, 7, is_complex=is_complex), np.cos(np.arange(length))
        y, pullback = rrule(scipy.signal.upfirdn, h, x, up, down)
        ybar = np.sin(np.arange(y.size)).reshape(y.shape)
        hbar, xbar = (unthunk(bar) for bar in pullback(ybar)[1:3])
        np.testing.assert_allclose(np.real(np.vdot(ybar, y)), np.real(np.vdot(xbar, x)), rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(np.real(np.vdot(ybar, y)), np.vdot(hbar, h), rtol=1e-11, atol=1e-12)


def test_upfirdn_beyond_the_ends_is_declined():
    assert rrule(scipy.signal.upfirdn, np.ones(3), np.ones(4), mode="symmetric") is None
    assert rrule(scipy.signal.upfirdn, np.ones(3), np.ones(4), cval=1.0) is None


@pytest.mark.parametrize("mode", ["mirror", "constant", "nearest", "wrap", "interp"])
def test_savitzky_golay_is_scipys_and_adjoint(mode):
    for length, order, deriv in ((3, 1, 0), (5, 2, 1), (7, 3, 2), (4, 1, 0), (6, 2, 1)):
        if mode == "interp" or length % 2:
            assert_adjoint(scipy.signal.savgol_filter, normal(9, 2), length, order, deriv, 0.5, axis=0, mode=mode)


def test_a_polynomial_without_its_trend_has_no_gradient_along_the_trend():
    x = normal(3, 12)
    for options in ({}, {"type": "constant"}, {"bp": [4, 9]}):
        assert_adjoint(scipy.signal.detrend, x, **options)
        xbar = unthunk(rrule(scipy.signal.detrend, x, **options)[1](np.ones_like(x))[1])
        np.testing.assert_allclose(xbar, 0, atol=1e-14)


def test_overwriting_data_is_not_made_use_of():
    x = normal(6)
    before = x.copy()
    rrule(scipy.signal.detrend, x, overwrite_data=True)
    np.testing.assert_array_equal(x, before)


def test_the_median_filter_passes_the_cotangent_to_the_median():
    _, pullback = rrule(scipy.signal.medfilt, np.array([3.0, 1.0, 2.0, 5.0]), 3)
    # The medians are x₁, x₂, x₂, x₂, of windows with a zero at both ends.
    assert unthunk(pullback(np.array([1.0, 10.0, 100.0, 1000.0]))[1]).tolist() == [0, 1, 1110, 0]


def test_czt_on_the_unit_circle_is_the_fourier_transform():
    x, ybar = normal(7), normal(7, is_complex=True)
    xbar = unthunk(rrule(scipy.signal.czt, x)[1](ybar)[1])
    np.testing.assert_allclose(xbar, np.real(np.fft.ifft(ybar) * 7), rtol=1e-11)


def test_a_window_by_name_has_the_derivative_of_its_parameter():
    slope = grad(lambda beta: np.sum(signal.get_window(("kaiser", beta), 9)))(3.0)
    h = 1e-3
    sums = [np.sum(scipy.signal.get_window(("kaiser", 3.0 + e), 9)) for e in (h, -h, 2 * h, -2 * h)]
    np.testing.assert_allclose(slope, (8 * (sums[0] - sums[1]) - (sums[2] - sums[3])) / (12 * h), rtol=1e-10)


def test_the_delay_of_a_delay_is_constant():
    _, pullback = rrule(scipy.signal.group_delay, (np.array([0.0, 0.0, 1.0]), np.array([1.0])), 4)
    bars = pullback((NoTangent(), np.ones(4)))[1]
    y = scipy.signal.group_delay((np.array([0.0, 0.0, 1.0]), np.array([1.0])), 4)[1]
    np.testing.assert_allclose(y, 2)
    np.testing.assert_allclose(next(iter(bars))[2], 0, atol=1e-13)


@pytest.mark.filterwarnings("ignore")
def test_the_delay_of_a_singular_frequency_is_the_constant_that_scipy_makes_of_it():
    b, w, h = np.array([1.0, -1.0]), np.array([0.0, 1.0]), 1e-6
    with np.errstate(all="ignore"):
        y, dy = jvp(lambda b: signal.group_delay((b, np.ones(1)), w)[1], (b,), (np.array([0.0, 1.0]),))
        np.testing.assert_array_equal(y, scipy.signal.group_delay((b, np.ones(1)), w)[1])
    ahead, behind = (scipy.signal.group_delay(([1.0, -1.0 + step], np.ones(1)), w[1:])[1] for step in (h, -h))
    np.testing.assert_allclose(dy, [0.0, *(ahead - behind) / (2 * h)], rtol=1e-6)


def test_sections_with_a_leading_zero_are_multiplied_as_scipy_does():
    sos = np.array([[0.0, -1.0, 1.0, 1.0, 0.5, 0.2], [2.0, 1.0, 1.0, 1.0, 0.3, 0.1]])
    wanted = scipy.signal.sos2tf(sos)
    found = vjp(lambda sos: signal.sos2tf(sos), sos)[0]
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, strict=True)
