"""Rules of what `scipy.signal` computes by a Fourier transform of the whole signal: Hilbert and chirp z-transforms."""

import inspect
import operator

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy.fft
import scipy.signal
from rulescore import seen_by_tracers

from ...numpy.array_like import as_array
from ..linear_maps import composed


def decline_complex(x):
    """Of which SciPy says that it has no Hilbert transform."""
    if np.iscomplexobj(x):
        raise MDNotImplementedError


def positive_frequencies(n, dtype, at_the_edge):
    """2 for the positive frequencies, 1 for that of a constant, and for the highest of an even number if asked."""
    weights = np.zeros(n, dtype)
    weights[0] = 1
    weights[1 : (n + 1) // 2] = 2
    if n % 2 == 0:
        weights[n // 2] = at_the_edge
    return weights


@composed(scipy.signal.hilbert)
def hilbert(x, N=None, axis=-1):
    x = as_array(x)
    decline_complex(x)
    n = x.shape[axis] if N is None else N
    spectrum = np.moveaxis(seen_by_tracers(scipy.fft.fft, x, n, axis), axis, -1)
    spectrum = spectrum * positive_frequencies(n, spectrum.real.dtype, at_the_edge=1)
    return seen_by_tracers(scipy.fft.ifft, np.moveaxis(spectrum, -1, axis), axis=axis)


HAS_AXES = "axes" in inspect.signature(scipy.signal.hilbert2).parameters
"""Of `scipy.signal.hilbert2`, since SciPy 1.17, with which the highest frequency is left out. Before, it is kept."""


@composed(scipy.signal.hilbert2)
def hilbert2(x, N=None, axes=(-2, -1)):
    x = np.atleast_2d(as_array(x))
    decline_complex(x)
    n = [x.shape[axis] for axis in axes] if N is None else [N, N] if np.ndim(N) == 0 else list(N)
    spectrum = np.moveaxis(seen_by_tracers(scipy.fft.fft2, x, n, axes), axes, (-2, -1))
    rows, columns = (positive_frequencies(length, spectrum.real.dtype, at_the_edge=not HAS_AXES) for length in n)
    spectrum = spectrum * (rows[:, None] * columns)
    return seen_by_tracers(scipy.fft.ifft2, np.moveaxis(spectrum, (-2, -1), axes), axes=axes)


# ---------------------------------------------------------------- on a spiral of the complex plane


def chirp_transform(x, starts, chirp, axis):
    """yₖ = cₖ Σₙ xₙ sₙ cₙ / cₖ₋ₙ, a convolution (Bluestein), where c₋ₙ is cₙ; s are as many as x has samples."""
    x = np.moveaxis(x, axis, -1)
    n, m = x.shape[-1], len(chirp[1])
    before, behind = chirp
    length = scipy.fft.next_fast_len(n + m - 1)
    kernel = 1 / np.concatenate([np.flip(before[1:n]), behind])
    spectrum = seen_by_tracers(scipy.fft.fft, x * (starts * before[:n]), length) * seen_by_tracers(
        scipy.fft.fft, kernel, length
    )
    y = seen_by_tracers(scipy.fft.ifft, spectrum)[..., n - 1 : n + m - 1] * behind
    return np.moveaxis(y, -1, axis)


@composed(scipy.signal.czt)
def czt(x, m=None, w=None, a=1 + 0j, axis=-1):
    x = as_array(x)
    n = x.shape[axis]
    m = n if m is None else operator.index(m)
    k = np.arange(max(m, n))
    chirp = np.exp(-1j * np.pi * (k**2 % (2 * m)) / m) if w is None else w ** (k**2 / 2)
    return chirp_transform(x, (1.0 * a) ** -k[:n], (chirp, chirp[:m]), axis)


@composed(scipy.signal.zoom_fft)
def zoom_fft(x, fn, m=None, fs=2, endpoint=False, axis=-1):
    x = as_array(x)
    n = x.shape[axis]
    m = n if m is None else operator.index(m)
    fn = as_array(fn)
    first, last = (fn[0], fn[1]) if np.size(fn) == 2 else (0.0, np.reshape(fn, ()))
    k = np.arange(max(m, n), dtype=np.min_scalar_type(-(max(m, n) ** 2)))  # SciPy's, which has a part in the precision
    precision = np.result_type(x.dtype, k.dtype, getattr(fn, "dtype", float), np.complex64)
    scale = (last - first) / fs * (m / (m - 1) if endpoint else 1)
    chirp = np.exp(-1j * np.pi * scale / m * k**2)
    return chirp_transform(x, np.exp(-2j * np.pi * first / fs * k[:n]), (chirp, chirp[:m]), axis).astype(precision)
