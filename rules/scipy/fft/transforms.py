"""Rules of the Fourier transforms of `scipy.fft`, by their adjoints, and of the shifts of their output.

The adjoints are those of `rules.numpy.fft`: the inverse transform with the factor of ``norm`` on the other side, where
of a half spectrum the inner frequencies stand for two. Here SciPy's own transforms compute them, all axes at once. The
transforms of Hermitian data are rfftn and irfftn of the conjugate, or the conjugate of them, with the opposite norm.
"""

import numpy as np

import scipy.fft
from rulescore import seen_by_tracers

from ...numpy.array_like import conj
from ...numpy.fft import OPPOSITE, fitted, length_of_mirrored, multiplicity, register_frequencies
from ..linear_maps import linear_map

# ---------------------------------------------------------------- adjoints, for the lengths of the axes


def fftn_adjoint(ybar, n, axes, norm):
    return seen_by_tracers(scipy.fft.ifftn, ybar, axes=axes, norm=OPPOSITE[norm])


def ifftn_adjoint(ybar, n, axes, norm):
    return seen_by_tracers(scipy.fft.fftn, ybar, axes=axes, norm=OPPOSITE[norm])


def rfftn_adjoint(ybar, n, axes, norm):
    """The real part of the adjoint of fftn, from half the frequencies of the last of the axes."""
    ybar = ybar / multiplicity(ybar, n[-1], axes[-1])
    return seen_by_tracers(scipy.fft.irfftn, ybar, s=n, axes=axes, norm=OPPOSITE[norm])


def irfftn_adjoint(ybar, n, axes, norm):
    spectrum = seen_by_tracers(scipy.fft.rfftn, ybar, axes=axes, norm=OPPOSITE[norm])
    return spectrum * multiplicity(spectrum, n[-1], axes[-1])


def hfftn_adjoint(ybar, n, axes, norm):
    """y = irfftn(x̅)."""
    return conj(irfftn_adjoint(ybar, n, axes, OPPOSITE[norm]))


def ihfftn_adjoint(ybar, n, axes, norm):
    """y is the conjugate of rfftn(x)."""
    return rfftn_adjoint(conj(ybar), n, axes, OPPOSITE[norm])


ADJOINTS = {
    "fft": fftn_adjoint,
    "ifft": ifftn_adjoint,
    "rfft": rfftn_adjoint,
    "irfft": irfftn_adjoint,
    "hfft": hfftn_adjoint,
    "ihfft": ihfftn_adjoint,
}
FROM_HALF = ("irfft", "hfft")
"""Those of half spectra, whose default is the last length that has such a half, and an even one."""

# ---------------------------------------------------------------- transposes


def lengths_and_axes(shape, s, axes, is_from_half=False):
    """The axes and the length of each transform. SciPy takes one number for a sequence of one."""
    s, axes = ([x] if x is not None and np.ndim(x) == 0 else x for x in (s, axes))
    axes = range(-len(shape if s is None else s), 0) if axes is None else axes
    axes = [int(axis) for axis in axes]
    if s is not None:
        return [shape[axis] if n is None or n == -1 else int(n) for n, axis in zip(s, axes, strict=True)], axes
    lengths = [shape[axis] for axis in axes]
    if is_from_half:
        # Of several axes, a half spectrum of one frequency is taken for that of one number.
        lengths[-1] = max(length_of_mirrored(lengths[-1]), 1)
    return lengths, axes


def fitted_to(xbar, shape, axes):
    """Undo the zero-padding and cutting of some axes."""
    for axis in axes:
        xbar = fitted(xbar, shape[axis], axis)
    return xbar


def along_one_axis(name):
    def transpose(ybar, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
        lengths, axes = lengths_and_axes(x.shape, n, axis, name in FROM_HALF)
        return fitted_to(ADJOINTS[name](ybar, lengths, axes, norm), x.shape, axes)

    return transpose


def along_axes(name, default_axes):
    def transpose(ybar, x, s=None, axes=default_axes, norm=None, overwrite_x=False, workers=None, *, plan=None):
        lengths, axes = lengths_and_axes(x.shape, s, axes, name in FROM_HALF)
        return fitted_to(ADJOINTS[name](ybar, lengths, axes, norm), x.shape, axes) if axes else ybar

    return transpose


for name in ADJOINTS:
    linear_map(getattr(scipy.fft, name), along_one_axis(name))
    linear_map(getattr(scipy.fft, name + "n"), along_axes(name, None))
    linear_map(getattr(scipy.fft, name + "2"), along_axes(name, (-2, -1)))

# ---------------------------------------------------------------- shifts and frequencies

linear_map(scipy.fft.fftshift, lambda ybar, x, axes=None: np.fft.ifftshift(ybar, axes))
linear_map(scipy.fft.ifftshift, lambda ybar, x, axes=None: np.fft.fftshift(ybar, axes))
register_frequencies(scipy.fft.fftfreq)
register_frequencies(scipy.fft.rfftfreq)
