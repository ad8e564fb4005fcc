"""Rules of the spectra of `scipy.signal`: short-time Fourier transforms and what is estimated from them.

All are made of the spectra of windowed segments, X = F(w · segment), and are differentiated as such, with respect to
the signals, the sampling rate, and a window that is an array or has a parameter.
"""

import inspect

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy.fft
import scipy.signal
from rulescore import seen_by_tracers

from ...numpy.array_like import as_array
from ..linear_maps import composed
from .filter_states import extended
from .segments import overlap_add, segments
from .windows import window_values

# SciPy 1.17 has given its defaults other names.
HANN, TUKEY = (inspect.signature(f).parameters["window"].default for f in (scipy.signal.stft, scipy.signal.spectrogram))


class Segmentation:
    """Which segments a spectrum is made of, and the window on each."""

    def __init__(self, n, window, nperseg, noverlap, nfft, default_overlap=2):
        if isinstance(window, (str, tuple)):
            self.length = min(256 if nperseg is None else int(nperseg), n)
            self.window = window_values(window, self.length)
        else:
            self.window = as_array(window)
            self.length = len(self.window)
        if self.window.dtype.kind == "c":
            raise MDNotImplementedError
        self.nfft = self.length if nfft is None else int(nfft)
        self.overlap = self.length // default_overlap if noverlap is None else int(noverlap)
        self.step = self.length - self.overlap

    def spectra(self, x, detrend, is_onesided):
        """X, with time as the axis before the last one, and frequency as the last."""
        pieces = seen_by_tracers(segments, x, self.length, self.step)
        if detrend:
            pieces = detrended(pieces, detrend)
        pieces = pieces * self.window.astype(pieces.real.dtype)
        return seen_by_tracers(scipy.fft.rfft if is_onesided else scipy.fft.fft, pieces, self.nfft)

    def frequencies(self, fs, is_onesided):
        numbers = np.fft.rfftfreq(self.nfft) if is_onesided else np.fft.fftfreq(self.nfft)
        return numbers * fs

    def power_scale(self, fs, scaling):
        """What |X|² is multiplied by."""
        if scaling == "density":
            return 1.0 / (fs * np.sum(self.window**2))
        return 1.0 / np.sum(self.window) ** 2


def in_precision(factor, x):
    """A number as an array that does not make x one of higher precision."""
    return (factor * np.ones(1)).astype(x.real.dtype)


def detrended(x, detrend):
    if callable(detrend):
        raise MDNotImplementedError  # what it does is not known
    if detrend in ("constant", "c"):
        return x - np.mean(x, axis=-1, keepdims=True)
    return seen_by_tracers(scipy.signal.detrend, x, type=detrend)


def as_signal(x, axis, y=0.0):
    """With samples of the type that SciPy computes in, where another signal is y, along the last axis."""
    x = np.moveaxis(as_array(x), int(axis), -1)  # of some functions, SciPy takes a whole number of any type
    dtype = np.result_type(x.dtype, np.float32, getattr(y, "dtype", y))
    return x.astype(dtype if x.dtype.kind == "c" else dtype.type(0).real.dtype, copy=False)


def doubled(power, nfft):
    """A one-sided power, where all frequencies but the first, and the last of an even number, stand for two."""
    weights = np.full(power.shape[-1], 2, power.real.dtype)
    weights[0] = 1
    if nfft % 2 == 0:
        weights[-1] = 1
    return power * weights


# ---------------------------------------------------------------- averages


def cross_spectrum(x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average):
    """The frequencies and the average of conj(X) Y over the segments; of |X|² where y is x."""
    is_same = y is x
    x, y = as_signal(x, axis, as_array(y)), None if is_same else as_signal(y, axis, as_array(x))
    n = x.shape[-1] if is_same else max(x.shape[-1], y.shape[-1])
    cut = Segmentation(n, window, nperseg, noverlap, nfft)
    is_onesided = return_onesided and x.dtype.kind != "c"

    def spectra(signal):
        longer = np.pad(signal, [(0, 0)] * (signal.ndim - 1) + [(0, n - signal.shape[-1])])
        return cut.spectra(longer, detrend, is_onesided)

    first = spectra(x)
    power = np.real(first) ** 2 + np.imag(first) ** 2 if is_same else np.conjugate(first) * spectra(y)
    power = power * in_precision(cut.power_scale(fs, scaling), power)
    power = doubled(power, cut.nfft) if is_onesided else power
    if average == "median":
        power = np.median(power, -2) if is_same else np.median(power.real, -2) + 1j * np.median(power.imag, -2)
        power = power / median_bias(first.shape[-2])
    else:
        power = np.mean(power, axis=-2)
    power = real_part(power) if is_same else power
    return cut.frequencies(fs, is_onesided), np.moveaxis(power, -1, int(axis))


def real_part(power):
    """Real numbers in memory as SciPy has them, who computes with complex ones."""
    return np.real(power.astype(np.result_type(power, np.complex64)))


def median_bias(n):
    """The expected median of a power over its mean, which SciPy has for odd n (arXiv:gr-qc/0509116, appendix B)."""
    even = 2 * np.arange(1.0, (n - 1) // 2 + 1)
    return float(1 + np.sum(1 / (even + 1) - 1 / even))


def power_of_same(x, y, *options, **named):
    """Of one array with itself SciPy gives real numbers."""
    f, power = csd(x, y, *options, **named)
    return f, np.real(power)


@composed(scipy.signal.csd, of_same=power_of_same)
def csd(
    x,
    y,
    fs=1.0,
    window=HANN,
    nperseg=None,
    noverlap=None,
    nfft=None,
    detrend="constant",
    return_onesided=True,
    scaling="density",
    axis=-1,
    average="mean",
):
    return cross_spectrum(x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)


@composed(scipy.signal.welch)
def welch(
    x,
    fs=1.0,
    window=HANN,
    nperseg=None,
    noverlap=None,
    nfft=None,
    detrend="constant",
    return_onesided=True,
    scaling="density",
    axis=-1,
    average="mean",
):
    return cross_spectrum(x, x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)


@composed(scipy.signal.periodogram)
def periodogram(
    x, fs=1.0, window="boxcar", nfft=None, detrend="constant", return_onesided=True, scaling="density", axis=-1
):
    """Of one segment, the whole signal or its first ``nfft`` samples."""
    x = np.moveaxis(as_array(x), int(axis), -1)
    length = x.shape[-1] if nfft is None else min(nfft, x.shape[-1])
    window = "boxcar" if window is None else window
    f, power = welch(x[..., :length], fs, window, length, 0, nfft, detrend, return_onesided, scaling)
    return f, np.moveaxis(power, -1, int(axis))


@composed(scipy.signal.coherence)
def coherence(
    x,
    y,
    fs=1.0,
    window=HANN,
    nperseg=None,
    noverlap=None,
    nfft=None,
    detrend="constant",
    axis=-1,
):
    """|P_xy|² / (P_xx P_yy)."""
    options = (fs, window, nperseg, noverlap, nfft, detrend, True, "density", axis)
    f, of_x = welch(x, *options)
    _, of_y = welch(y, *options)
    _, of_both = csd(x, y, *options)
    return f, (np.real(of_both) ** 2 + np.imag(of_both) ** 2) / of_x / of_y


# ---------------------------------------------------------------- over time


def times(cut, n, fs, shift=0.0):
    """The middles of the segments of n samples."""
    return (np.arange(cut.length / 2, n - cut.length / 2 + 1, cut.step) - shift) / fs


def short_time_spectra(x, cut, fs, detrend, return_onesided, scaling):
    """Frequencies and X, scaled; x is complex or not."""
    is_onesided = return_onesided and x.dtype.kind != "c"
    spectra = cut.spectra(x, detrend, is_onesided)
    scale = in_precision(np.sqrt(cut.power_scale(fs, scaling)), spectra)
    return cut.frequencies(fs, is_onesided), spectra * scale, is_onesided


def frequency_before_time(spectra, axis):
    """With frequency where the signal had time, and the segments' number as the last axis."""
    spectra = np.swapaxes(spectra, -1, -2)
    return np.moveaxis(spectra, -2, int(axis) - (axis < 0))


@composed(scipy.signal.stft)
def stft(
    x,
    fs=1.0,
    window=HANN,
    nperseg=256,
    noverlap=None,
    nfft=None,
    detrend=False,
    return_onesided=True,
    boundary="zeros",
    padded=True,
    axis=-1,
    scaling="spectrum",
):
    x = as_signal(x, axis)
    cut = Segmentation(x.shape[-1], window, nperseg, noverlap, nfft)
    half = cut.length // 2
    if boundary == "zeros":
        x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(half, half)])
    elif boundary is not None:
        x = extended(x, -1, boundary, half)
    if padded:
        missing = (-(x.shape[-1] - cut.length) % cut.step) % cut.length
        x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, missing)])
    f, spectra, _ = short_time_spectra(
        x, cut, fs, detrend, return_onesided, "spectrum" if scaling == "spectrum" else "density"
    )
    t = times(cut, x.shape[-1], fs, 0.0 if boundary is None else cut.length / 2)
    return f, t, frequency_before_time(spectra, axis)


@composed(scipy.signal.spectrogram)
def spectrogram(
    x,
    fs=1.0,
    window=TUKEY,
    nperseg=None,
    noverlap=None,
    nfft=None,
    detrend="constant",
    return_onesided=True,
    scaling="density",
    axis=-1,
    mode="psd",
):
    x = as_signal(x, axis)
    cut = Segmentation(x.shape[-1], window, nperseg, noverlap, nfft, default_overlap=8)
    f, spectra, is_onesided = short_time_spectra(x, cut, fs, detrend, return_onesided, scaling)
    if mode == "psd":
        spectra = np.real(spectra) ** 2 + np.imag(spectra) ** 2
        spectra = real_part(doubled(spectra, cut.nfft) if is_onesided else spectra)
    y = frequency_before_time(spectra, axis)
    if mode == "magnitude":
        y = np.abs(y)
    elif mode in ("angle", "phase"):
        y = np.angle(y)
        y = np.unwrap(y, axis=axis - (axis < 0)) if mode == "phase" else y
    return f, times(cut, x.shape[-1], fs), y


@composed(scipy.signal.istft)
def istft(
    Zxx,
    fs=1.0,
    window=HANN,
    nperseg=None,
    noverlap=None,
    nfft=None,
    input_onesided=True,
    boundary=True,
    time_axis=-1,
    freq_axis=-2,
    scaling="spectrum",
):
    """The overlap-add of the windowed segments, divided by that of the squared window."""
    time_axis, freq_axis = int(time_axis), int(freq_axis)
    spectra = np.moveaxis(as_array(Zxx), (time_axis, freq_axis), (-2, -1))
    default = 2 * (spectra.shape[-1] - 1) if input_onesided else spectra.shape[-1]
    nperseg = default if nperseg is None else int(nperseg)
    if nfft is None:
        nfft = nperseg if input_onesided and nperseg == default + 1 else default
    cut = Segmentation(nperseg, window, nperseg, noverlap, nfft)
    w = cut.window
    pieces = seen_by_tracers(scipy.fft.irfft if input_onesided else scipy.fft.ifft, spectra, cut.nfft)[
        ..., : cut.length
    ]
    scale = np.sum(w) if scaling == "spectrum" else np.sqrt(fs * np.sum(w**2))
    count = spectra.shape[-2]
    total = cut.length + (count - 1) * cut.step
    dtype = pieces.real.dtype
    x = seen_by_tracers(overlap_add, pieces * (w * scale).astype(dtype), cut.step, total)
    norm = seen_by_tracers(overlap_add, np.ones((count, 1), dtype) * (w**2).astype(dtype), cut.step, total)
    x = x / np.where(norm > 1e-10, norm, 1)
    if boundary:
        half = cut.length // 2
        if not half:
            raise MDNotImplementedError  # of which SciPy leaves nothing
        x = x[..., half : total - half]
    if x.ndim > 1 and time_axis != np.ndim(Zxx) - 1:
        time, frequency = (place % np.ndim(Zxx) for place in (time_axis, freq_axis))
        x = np.moveaxis(x, -1, time - 1 if frequency < time else time)
    return np.arange(x.shape[0]) / fs, x
