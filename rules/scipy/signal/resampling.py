"""Rules of what changes the number of samples: `upfirdn`, `resample`, `resample_poly`, `decimate` of `scipy.signal`."""

import math

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy
import scipy.fft
import scipy.signal
from rulescore import apply_linear, frule, not_implemented, pullback_wrt, pushforward, rrule, seen_by_tracers
from rulescore.typing import Array, Axis, Choice, Count, Number, OutputAndPullback, OutputAndTangent

from ...numpy.array_like import as_array, conj, shape_of
from ...numpy.fft import fitted
from ...numpy.products import bilinear_and_tangent
from ..linear_maps import composed
from .filter_states import part, sosfiltfilt
from .filters import padded, sosfilt_call
from .lags import sums_over_lags
from .windows import window_values

# ---------------------------------------------------------------- upfirdn


def upfirdn_call(h, x, up=1, down=1, axis=-1):
    return seen_by_tracers(scipy.signal.upfirdn, h, x, up, down, axis)


OF_CVAL = not_implemented("scipy.signal.upfirdn with respect to cval; put samples of that value around the signal")


def decline_boundary(mode, cval):
    """Signals that go on beyond their ends with anything but zeros are not served."""
    if mode != "constant" or cval not in (0, None):
        raise MDNotImplementedError


def spread(x, gap):
    """x with zeros between its samples along the last axis, one in ``gap`` places being a sample."""
    if gap == 1:
        return x
    x = np.pad(x[..., None], [(0, 0)] * x.ndim + [(0, gap - 1)])
    return np.reshape(x, (*x.shape[:-2], x.shape[-2] * gap))


@frule.register(scipy.signal.upfirdn)
@pushforward
def upfirdn_frule(
    dh: Array,
    dx: Array,
    dcval: Number,
    h: Array,
    x: Array,
    up: Count = 1,
    down: Count = 1,
    axis: Axis = -1,
    mode: Choice = "constant",
    cval: Number = 0,
) -> OutputAndTangent:
    decline_boundary(mode, cval)
    y, dy = bilinear_and_tangent(lambda h, x: upfirdn_call(h, x, up, down, axis), dh, dx, h, x)
    return y, dy + apply_linear(lambda dcval: OF_CVAL, dcval)


@rrule.register(scipy.signal.upfirdn)
def upfirdn_rrule(
    h: Array, x: Array, up: Count = 1, down: Count = 1, axis: Axis = -1, mode: Choice = "constant", cval: Number = 0
) -> OutputAndPullback:
    """yₘ = Σᵢ xᵢ h(m·down - i·up), where x̄ᵢ = Σₘ ȳₘ h̅(m·down - i·up) is such a filter itself, with up for down.

    Its coefficients are those of h turned around, with as many zeros before them that a sample of ȳ stands at the end.
    """
    decline_boundary(mode, cval)
    up, down = int(up), int(down)
    y = upfirdn_call(h, x, up, down, axis)
    taps, samples, shape = as_array(h), as_array(x), shape_of(h)
    count, length = len(taps), samples.shape[axis]

    def x_bar(ybar):
        longer = padded(taps, count + (1 - count) % up)
        every = upfirdn_call(conj(longer[::-1]), ybar, down, up, axis)
        return fitted(part(every, axis, (len(longer) - 1) // up, None), length, axis)

    def h_bar(ybar):
        signal, bar = spread(np.moveaxis(samples, axis, -1), up), spread(np.moveaxis(ybar, axis, -1), down)
        return np.reshape(sums_over_lags(bar, signal, count), shape)

    return y, pullback_wrt(h, x, ..., ..., ..., ..., cval)(h_bar, x_bar, lambda ybar: OF_CVAL)


# ---------------------------------------------------------------- resample

LIES_AS_GIVEN = scipy.signal.resample(np.ones((4, 2), complex), 3).flags.c_contiguous
"""Whether `scipy.signal.resample` of complex numbers transforms along the axis that it is given, as SciPy 1.15 does."""

LEAVES_TWO = np.lib.NumpyVersion(scipy.__version__) < "1.16.0"
"""Whether SciPy drops the second of two frequencies that become one, where a complex signal is to have two samples."""


def of_type(weights, x):
    """Constant weights in the precision of x; in their own where x has whole numbers."""
    return weights.astype(x.real.dtype) if x.dtype.kind in "fc" else weights


def window_of_spectrum(window, x, n):
    if window is None or hasattr(window, "shape"):
        return window
    if callable(window):
        return window(scipy.fft.fftfreq(n))
    values = np.fft.fftshift(window_values(window, n))
    return values if x.dtype.kind == "c" else of_type(values, x)  # SciPy makes complex128 of complex64 here


def resample_half_spectrum(x, num, window):
    """The middle of the spectrum of real signals, and of the window what it does to both halves."""
    n = x.shape[-1]
    m = min(n, num)
    spectrum = seen_by_tracers(scipy.fft.rfft, x)
    if window is not None:
        half = n // 2
        window = np.concatenate([window[:1], (window[1 : half + 1] + np.flip(window[n - half :])) / 2])
        spectrum = (spectrum * window).astype(spectrum.dtype)  # SciPy multiplies in place
    weights = np.full(m // 2 + 1, num / n)
    if m % 2 == 0 and num != n:
        weights[m // 2] *= 2 if num < n else 0.5
    return seen_by_tracers(scipy.fft.irfft, spectrum[..., : m // 2 + 1] * of_type(weights, x), n=num)


def resample_spectrum(spectrum, num, window):
    """The middle of a spectrum; a frequency at its edge is joined from two, or split."""
    n = spectrum.shape[-1]
    m = min(n, num)
    spectrum = spectrum if window is None else spectrum * window
    head, tail = spectrum[..., : m // 2 + 1], spectrum[..., n - (m - m // 2 - 1) :]
    if m % 2 == 0 and num != n and not (LEAVES_TWO and num == 2 < n):
        edge, rest = head[..., m // 2 :], head[..., : m // 2]
        if num < n:
            head = np.concatenate([rest, edge + spectrum[..., n - m // 2 : n - m // 2 + 1]], axis=-1)
        else:
            head, tail = np.concatenate([rest, edge / 2], axis=-1), np.concatenate([edge / 2, tail], axis=-1)
    between = np.zeros((*spectrum.shape[:-1], num - head.shape[-1] - tail.shape[-1]), spectrum.dtype)
    return seen_by_tracers(scipy.fft.ifft, np.concatenate([head, between, tail], axis=-1) * (num / n))


@composed(scipy.signal.resample)
def resample(x, num, t=None, axis=0, window=None, domain="time"):
    x = np.moveaxis(as_array(x), axis, -1)
    n = x.shape[-1]
    window = window_of_spectrum(window, x, n)
    if domain == "time" and x.dtype.kind != "c":
        y = resample_half_spectrum(x, num, window)
    else:
        y = resample_spectrum(seen_by_tracers(scipy.fft.fft, x) if domain == "time" else x, num, window)
    y = np.moveaxis(y, -1, axis)
    y = np.copy(y, order="C") if LIES_AS_GIVEN and x.dtype.kind == "c" else y
    return y if t is None else (y, t[0] + (t[1] - t[0]) * (n / num) * np.arange(num))


# ---------------------------------------------------------------- resample_poly and decimate

BACKGROUNDS = {"mean": np.mean, "median": np.median, "minimum": np.min, "maximum": np.max}


def low_pass(x, window, count, cutoff):
    """SciPy's own filter `firwin`: a windowed sinc whose sum is 1, in the precision of x."""
    h = np.sinc(cutoff * (np.arange(count) - (count - 1) / 2)) * window_values(window, count, fftbins=False)
    h = h / np.sum(h)
    return of_type(h, x)


@composed(scipy.signal.resample_poly)
def resample_poly(x, up, down, axis=0, window=("kaiser", 5.0), padtype="constant", cval=None):
    """`upfirdn` with the filter in the middle, and what is taken for the background put back."""
    x, up, down = as_array(x), int(up), int(down)
    up, down = up // math.gcd(up, down), down // math.gcd(up, down)
    if up == down == 1:
        return np.copy(x)
    if padtype not in BACKGROUNDS:
        decline_boundary(padtype, cval)
    h = as_array(window) if isinstance(window, list) or hasattr(window, "shape") else None
    h = low_pass(x, window, 20 * max(up, down) + 1, 1 / max(up, down)) if h is None else h
    h, half = h * up, (len(h) - 1) // 2
    before = down - half % down
    skipped, wanted = (half + before) // down, -(-x.shape[axis] * up // down)
    h = np.concatenate([np.zeros(before, h.dtype), h])
    # As many zeros behind it as give all the samples that are wanted.
    h = padded(h, max(len(h), (skipped + wanted - 1) * down + 1 - (x.shape[axis] - 1) * up))
    background = BACKGROUNDS[padtype](x, axis=axis, keepdims=True) if padtype in BACKGROUNDS else None
    y = upfirdn_call(h, x if background is None else x - background, up, down, axis)
    y = part(y, axis, skipped, skipped + wanted)
    return y if background is None else y + background


@composed(scipy.signal.decimate)
def decimate(x, q, n=None, ftype="iir", axis=-1, zero_phase=True):
    """A filter, of which every q-th sample is kept. Filters given as a system are not served."""
    x = as_array(x)
    if ftype == "fir":
        h = low_pass(x, "hamming", (20 * q if n is None else n) + 1, 1 / q)
        if zero_phase:
            return resample_poly(x, 1, q, axis=axis, window=h)
        return part(upfirdn_call(h, x, 1, q, axis), axis, -(-x.shape[axis] // q))
    if ftype != "iir":
        raise MDNotImplementedError
    sos = of_type(scipy.signal.cheby1(8 if n is None else n, 0.05, 0.8 / q, output="sos"), x)
    y = sosfiltfilt(sos, x, axis) if zero_phase else sosfilt_call(sos, x, axis)
    return part(y, axis, None, None, q)
