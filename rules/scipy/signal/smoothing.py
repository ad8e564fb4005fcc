"""Rules of `scipy.signal`'s smoothing of signals: detrending, Savitzky-Golay and median filters."""

import itertools

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy.linalg
import scipy.signal
from rulescore import MissingDerivativeError, seen_by_tracers

from ...numpy.array_like import as_array
from ..finite_entries import of_finite
from ..linear_maps import composed, linear_map
from ..ndimage.boundaries import fixed
from .filters import filtered


def detrend_transpose(ybar, data, axis=-1, type="linear", bp=0, overwrite_data=False):
    """An orthogonal projection, onto what no trend is in."""
    return detrended(ybar, axis, type, bp)


def detrended(x, axis=-1, type="linear", bp=0, overwrite_data=False):
    return of_finite(lambda x: seen_by_tracers(scipy.signal.detrend, x, axis=axis, type=type, bp=bp), x, axis)


linear_map(scipy.signal.detrend, detrend_transpose, of_tangent=detrended)

PADDING = {"mirror": "reflect", "constant": "constant", "nearest": "edge", "wrap": "wrap"}
"""What NumPy calls the modes."""


@composed(scipy.signal.savgol_filter)
def savgol_filter(x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp", cval=0.0):
    """The value of a polynomial fit: a filter, and at the ends, where its mode is "interp", a matrix."""
    x, window_length, polyorder, deriv = as_array(x), int(window_length), int(polyorder), int(deriv)
    x = x if x.dtype in (np.float32, np.float64) else x.astype(float)
    c = scipy.signal.savgol_coeffs(window_length, polyorder, deriv=deriv).astype(x.dtype)
    one = np.array([1, 0], x.dtype)  # of the denominators that mean 1, this one has SciPy stay in C
    after, n = window_length // 2, x.shape[axis]
    x = np.moveaxis(x, axis, -1)
    if mode == "interp":
        # All that the fits of a whole window make of it.
        fits = scipy.signal.savgol_filter(np.eye(window_length), window_length, polyorder, deriv, axis=0)
        fits = fits.astype(x.dtype)
        first = np.matmul(x[..., :window_length], fits[:after].T)
        last = np.matmul(x[..., n - window_length :], fits[window_length - after :].T)
        inner = filtered(c, one, x)[..., 2 * after : n]
        y = np.concatenate([first, inner, last], axis=-1)
    else:
        beyond = cval if mode == "constant" else 0
        widths = [(0, 0)] * (x.ndim - 1) + [(window_length - 1 - after, after)]
        x = (np.pad(x - beyond, widths, mode=PADDING[mode]) + beyond).astype(x.dtype)
        y = filtered(c, one, x)[..., window_length - 1 :]
    y = y if deriv == 0 else (y / delta**deriv).astype(c.dtype)
    return np.copy(np.moveaxis(y, -1, axis), order="C")


# ---------------------------------------------------------------- order statistics


def ranked(x, footprint, rank):
    """The element of this rank of those around each, with zeros outside; ties share as in `numpy.sort`.

    But where a zero has this rank whichever way the elements that are zero move, it is one outside, which does not.
    """
    if not x.shape:
        raise MDNotImplementedError
    widths = [(length // 2, length - 1 - length // 2) for length in footprint.shape]
    places = [place for place in itertools.product(*map(range, footprint.shape)) if footprint[place]]

    def around(x):
        wide = np.pad(x, widths)
        parts = [wide[tuple([slice(p, p + n) for p, n in zip(place, x.shape, strict=True)])] for place in places]
        return np.stack(parts, axis=-1)

    y, plain = np.copy(np.sort(around(x), axis=-1)[..., rank], order="C"), fixed(x)
    if np.all(plain != 0):
        return y
    outside = len(places) - np.sum(around(np.ones(x.shape, int)), axis=-1)
    zeros = np.sum(around(plain == 0), axis=-1)
    rank_of_zero = range(len(places))[rank] - np.sum(around(plain < 0), axis=-1)
    return np.where((zeros <= rank_of_zero) & (rank_of_zero < outside), 0, y)


@composed(scipy.signal.medfilt)
def medfilt(volume, kernel_size=None):
    volume = np.atleast_1d(as_array(volume))
    size = np.broadcast_to(3 if kernel_size is None else kernel_size, volume.ndim)
    return ranked(volume, np.ones(size, bool), int(np.prod(size)) // 2)


@composed(scipy.signal.medfilt2d)
def medfilt2d(input, kernel_size=3):
    size = np.broadcast_to(kernel_size, 2)
    return ranked(as_array(input), np.ones(size, bool), int(np.prod(size)) // 2)


@composed(scipy.signal.order_filter)
def order_filter(a, domain, rank):
    return ranked(as_array(a), as_array(domain) != 0, int(rank))


@composed(scipy.signal.wiener)
def wiener(im, mysize=None, noise=None):
    """The local mean, and of what differs from it more where the variance is above that of the noise."""
    im = as_array(im)
    size = np.broadcast_to(3 if mysize is None else mysize, im.ndim)
    ones = np.ones(size)
    mean = seen_by_tracers(scipy.signal.correlate, im, ones, "same") / ones.size
    variance = seen_by_tracers(scipy.signal.correlate, im**2, ones, "same") / ones.size - mean**2
    noise = np.mean(variance) if noise is None else noise
    is_noise = variance < noise
    smoothed = mean + (im - mean) * (1 - noise / np.where(is_noise, 1.0, variance))
    return np.where(is_noise, mean, smoothed)


# ---------------------------------------------------------------- penalised differences


def penalty_bands(n, order):
    """The diagonals of Dᵀ D, where D x are the differences of x of an order, as `solveh_banded` has them."""
    d = np.diff(np.eye(order + 1), order, axis=0)[0]
    diagonals = [np.convolve(np.ones(n - order), d[: order + 1 - k] * d[k:]) for k in range(order + 1)]
    return np.stack([np.pad(diagonal, (0, k)) for k, diagonal in enumerate(diagonals)])


def whittaker_henderson(signal, lamb="reml", order=2, weights=None):
    """x of (W + λ Dᵀ D) x = W y, for weights W and differences D, where λ is given."""
    if isinstance(lamb, str):
        raise MissingDerivativeError(
            f'scipy.signal.whittaker_henderson with lamb="{lamb}", which is found by a search: give a number, such as '
            "the lamb of a result"
        )
    made = scipy.signal.whittaker_henderson(fixed(signal), lamb=fixed(lamb), order=order, weights=fixed(weights))
    y, w = as_array(signal) * 1.0, 1.0 if weights is None else as_array(weights)
    if weights is not None:
        y = np.where(np.isfinite(fixed(y)), y, 0.0)  # what is not has no weight
    n = np.shape(y)[0]
    penalty, unit = lamb * penalty_bands(n, order), np.concatenate([np.ones((1, n)), np.zeros((order, n))])
    # SciPy fits a polynomial where λ is infinite to rounding, and where the matrix has no Cholesky factor.
    if np.all(fixed(penalty) == fixed(penalty + 8 * w * unit)):
        raise MDNotImplementedError
    try:
        x = seen_by_tracers(scipy.linalg.solveh_banded, penalty + w * unit, w * y, lower=True)
    except np.linalg.LinAlgError as error:
        raise MDNotImplementedError from error
    return type(made)(x=x, lamb=lamb)


if hasattr(scipy.signal, "whittaker_henderson"):  # since SciPy 1.18
    composed(scipy.signal.whittaker_henderson)(whittaker_henderson)
