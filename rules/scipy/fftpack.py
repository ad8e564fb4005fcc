"""Rules of `scipy.fftpack`: the older Fourier transforms, by those of `scipy.fft`, and pseudo-differential operators.

The transforms are those of `scipy.fft` but for two: a real spectrum is packed as y₀, Re y₁, Im y₁, Re y₂, …, and an
inverse cosine or sine transform is the one of the transposed type, without a factor. The operators multiply Fourier
coefficients by a function of the frequency: matrices that are symmetric where it is even, and antisymmetric where it is
odd, which makes it a derivative or a Hilbert transform.
"""

import functools

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy.fft
import scipy.fftpack
from rulescore import non_differentiable, seen_by_tracers

from ..numpy.array_like import as_array
from ..numpy.fft import fitted
from .fft.real_transforms import TRANSPOSED_TYPE
from .linear_maps import composed, linear_map

non_differentiable(scipy.fftpack.next_fast_len)

# ---------------------------------------------------------------- transforms


def along_one_axis(f):
    def transform(x, n=None, axis=-1, overwrite_x=False):
        return seen_by_tracers(f, as_array(x), n, axis)

    return transform


def with_axes(x):
    x = as_array(x)
    if not np.ndim(x):
        raise MDNotImplementedError  # of a number the transform is itself, in the same memory
    return x


def along_axes(f, default_axes):
    def transform(x, shape=None, axes=default_axes, overwrite_x=False):
        return seen_by_tracers(f, with_axes(x), shape, axes)

    return transform


for name in ("fft", "ifft"):
    composed(getattr(scipy.fftpack, name))(along_one_axis(getattr(scipy.fft, name)))
    composed(getattr(scipy.fftpack, name + "n"))(along_axes(getattr(scipy.fft, name + "n"), None))
    composed(getattr(scipy.fftpack, name + "2"))(along_axes(getattr(scipy.fft, name + "2"), (-2, -1)))


def type_of(type, is_inverse):
    """The type of the transform that is computed; `scipy.fftpack` has inverses of the first three."""
    return TRANSPOSED_TYPE[type] if is_inverse else type


def real_along_one_axis(f, is_inverse):
    def transform(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False):
        return seen_by_tracers(f, as_array(x), type_of(type, is_inverse), n, axis, norm)

    return transform


def real_along_axes(f, is_inverse):
    def transform(x, type=2, shape=None, axes=None, norm=None, overwrite_x=False):
        return seen_by_tracers(f, with_axes(x), type_of(type, is_inverse), shape, axes, norm)

    return transform


for name in ("dct", "dst"):
    for prefix in ("", "i"):
        one, several = (getattr(scipy.fft, name + suffix) for suffix in ("", "n"))
        composed(getattr(scipy.fftpack, prefix + name))(real_along_one_axis(one, bool(prefix)))
        composed(getattr(scipy.fftpack, prefix + name + "n"))(real_along_axes(several, bool(prefix)))

# ---------------------------------------------------------------- packed spectra


def decline_complex(x):
    if np.iscomplexobj(x):
        raise MDNotImplementedError  # an error of SciPy's


@composed(scipy.fftpack.rfft)
def rfft(x, n=None, axis=-1, overwrite_x=False):
    x, axis = as_array(x), int(axis)
    decline_complex(x)
    n = x.shape[axis] if n is None else int(n)
    spectrum = np.moveaxis(seen_by_tracers(scipy.fft.rfft, x, n, axis), axis, -1)
    parts = np.stack([np.real(spectrum), np.imag(spectrum)], axis=-1)
    parts = np.reshape(parts, (*spectrum.shape[:-1], 2 * spectrum.shape[-1]))
    return in_order(np.concatenate([parts[..., :1], parts[..., 2 : n + 1]], axis=-1), axis)


@composed(scipy.fftpack.irfft)
def irfft(x, n=None, axis=-1, overwrite_x=False):
    x, axis = as_array(x), int(axis)
    decline_complex(x)
    n = x.shape[axis] if n is None else int(n)
    packed = np.moveaxis(fitted(x, n, axis), axis, -1)
    zero = np.zeros((*packed.shape[:-1], 1), np.result_type(packed.dtype, np.float32))
    real = np.concatenate([packed[..., :1], packed[..., 1::2]], axis=-1)
    imaginary = np.concatenate([zero, packed[..., 2::2], *[zero] * (n % 2 == 0)], axis=-1)
    return in_order(seen_by_tracers(scipy.fft.irfft, real + 1j * imaginary, n), axis)


def in_order(y, axis):
    """With the last axis as another one, in memory in the order of the axes."""
    return np.copy(np.moveaxis(y, -1, axis), order="C")


# ---------------------------------------------------------------- pseudo-differential operators


@functools.partial(linear_map, scipy.fftpack.diff)
def diff_transpose(ybar, x, order=1, period=None):
    return (-1) ** int(order) * seen_by_tracers(scipy.fftpack.diff, ybar, order, period)


def of_signal(f):
    def transpose(ybar, x):
        return -seen_by_tracers(f, ybar)

    return transpose


def of_width(f):
    def transpose(ybar, x, h, period=None):
        return -seen_by_tracers(f, ybar, h, period)

    return transpose


def of_two_widths(f, sign):
    def transpose(ybar, x, a, b, period=None):
        return sign * seen_by_tracers(f, ybar, a, b, period)

    return transpose


for operator in (scipy.fftpack.hilbert, scipy.fftpack.ihilbert):
    linear_map(operator, of_signal(operator))
for operator in (scipy.fftpack.tilbert, scipy.fftpack.itilbert):
    linear_map(operator, of_width(operator))
for operator in (scipy.fftpack.cs_diff, scipy.fftpack.sc_diff):
    linear_map(operator, of_two_widths(operator, -1))
for operator in (scipy.fftpack.ss_diff, scipy.fftpack.cc_diff):
    linear_map(operator, of_two_widths(operator, 1))


@functools.partial(linear_map, scipy.fftpack.shift)
def shift_transpose(ybar, x, a, period=None):
    """That of a convolution: the same convolution of the reflected cotangent, reflected.

    Not the shift by -a, whose factors SciPy may have kept from a call with less precision.
    """
    return reflected(seen_by_tracers(scipy.fftpack.shift, reflected(ybar), a, period))


def reflected(y):
    """The samples at the opposite places of a period."""
    return np.roll(y[::-1], 1)
