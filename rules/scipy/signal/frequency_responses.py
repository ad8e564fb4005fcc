"""Rules of the frequency responses of filters in `scipy.signal`, with respect to coefficients and frequencies."""

import operator

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy.signal

from ...numpy.array_like import as_array
from ..linear_maps import composed
from .filters import coefficients, in_types_of


def angular_frequencies(worN, whole, fs, include_nyquist=False, default=512):
    """The frequencies in radians per sample, and in the unit of ``fs``."""
    if worN is None or is_integer(worN):
        count = default if worN is None else operator.index(worN)
        w = np.linspace(0, 2 * np.pi if whole else np.pi, count, endpoint=include_nyquist and not whole)
        return w, w * (fs / (2 * np.pi))
    frequencies = np.atleast_1d(as_array(worN))
    return 2 * np.pi * frequencies / fs, frequencies * 1.0


def is_integer(n):
    try:
        operator.index(n)
    except TypeError:
        return False
    return True


def decline_plot(plot):
    """A function that is called with the response, for what it does besides."""
    if plot is not None:
        raise MDNotImplementedError


def polynomial(b, z):
    """b₀ + b₁ z + b₂ z² + ..."""
    b = coefficients(b)
    if b.ndim > 1:
        raise MDNotImplementedError
    return np.polyval(b[::-1], z)


def roots_product(z, roots):
    """Π (z - root)."""
    roots = np.atleast_1d(as_array(roots))
    if roots.ndim > 1:
        raise MDNotImplementedError
    return np.prod(z[..., None] - roots, axis=-1)


@composed(scipy.signal.freqz)
def freqz(b, a=1, worN=512, whole=False, plot=None, fs=2 * np.pi, include_nyquist=False):
    decline_plot(plot)
    w, frequencies = angular_frequencies(worN, whole, fs, include_nyquist)
    z = np.exp(-1j * w)
    y = frequencies, polynomial(b, z) / polynomial(a, z)
    return in_types_of(scipy.signal.freqz, y, b, a, worN, whole, None, fs, include_nyquist)


@composed(scipy.signal.freqz_zpk, takes_nothing=True)
def freqz_zpk(z, p, k, worN=512, whole=False, fs=2 * np.pi):
    w, frequencies = angular_frequencies(worN, whole, fs)
    point = np.exp(1j * w)
    y = frequencies, k * roots_product(point, z) / roots_product(point, p)
    return in_types_of(scipy.signal.freqz_zpk, y, z, p, k, worN, whole, fs)


def sections_response(sos, worN=512, whole=False, fs=2 * np.pi):
    """The product of those of the sections."""
    sections = as_array(sos)
    w, frequencies = angular_frequencies(worN, whole, fs)
    z, h = np.exp(-1j * w), 1.0
    for i in range(len(sections)):
        h = h * (polynomial(sections[i, :3], z) / polynomial(sections[i, 3:], z))
    return in_types_of(scipy.signal.freqz_sos, (frequencies, h), sos, worN, whole, fs)


composed(scipy.signal.freqz_sos)(sections_response)
composed(scipy.signal.sosfreqz)(sections_response)


def given_frequencies(worN):
    """Those that SciPy chooses depend on the filter, by a search."""
    if worN is None or is_integer(worN):
        raise MDNotImplementedError
    return np.atleast_1d(as_array(worN))


@composed(scipy.signal.freqs, gives_views=True)
def freqs(b, a, worN=200, plot=None):
    decline_plot(plot)
    w = given_frequencies(worN)
    return w, np.polyval(coefficients(b), 1j * w) / np.polyval(coefficients(a), 1j * w)


@composed(scipy.signal.freqs_zpk, takes_nothing=True, gives_views=True)
def freqs_zpk(z, p, k, worN=200):
    w = given_frequencies(worN)
    return w, k * roots_product(1j * w, z) / roots_product(1j * w, p)


@composed(scipy.signal.group_delay)
def group_delay(system, w=512, whole=False, fs=2 * np.pi):
    """-d arg H / dω, from the logarithmic derivative of b(z) a̅(1/z) as SciPy has it."""
    b, a = (coefficients(part) for part in system)
    w, frequencies = angular_frequencies(w, whole, fs)
    c = np.convolve(b, np.conjugate(a[::-1]))
    z = np.exp(-1j * w)
    delay = np.real(polynomial(c * np.arange(len(c)), z) / polynomial(c, z)) - len(a) + 1
    if not np.all(np.isfinite(delay)):  # where SciPy gives 0 and a warning
        raise MDNotImplementedError
    return frequencies, delay
