"""How `scipy.ndimage` continues an image beyond its edges, and the transpose of that: `extend` and `fold`.

What is beyond an edge is a copy of something within. So the cotangent of what is beyond is added where it came from.
"""

import functools

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import ignore_derivatives, is_traced, seen_by_tracers

SYNONYMS = {"grid-mirror": "reflect", "grid-wrap": "wrap", "grid-constant": "constant"}
"""What modes are called that mean the same for filters."""


def handing_over(function):
    """A function of our own, whose calls a tracer's AD system sees."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        if not is_traced(*args, *kwargs.values()):
            return function(*args, **kwargs)
        return seen_by_tracers(call, *args, **kwargs)

    return call


def fixed(x):
    """A number or array that decides on something, as on the size of a kernel; as a value, also where it is traced."""
    return ignore_derivatives(x)


def one_for_each(option, count):
    """An option that may be given once for all axes or once for each."""
    if isinstance(option, str) or not (isinstance(option, (list, tuple)) or np.ndim(option)):
        return [option] * count
    options = [option[i] for i in range(len(option))]
    if len(options) != count:
        raise MDNotImplementedError  # SciPy says what is wrong
    return options


def axes_of(axes, ndim):
    """The axes that a filter goes over, as numbers from 0; what has no axes is not served."""
    if ndim == 0:
        raise MDNotImplementedError
    if axes is None:
        return tuple(range(ndim))
    return tuple([int(axis) % ndim for axis in ([axes] if np.ndim(axes) == 0 else axes)])


def sources(places, length, mode):
    """The places within an axis that places beyond its ends are copies of."""
    mode = SYNONYMS.get(mode, mode)
    if mode == "wrap":
        return places % length
    if mode == "nearest" or length == 1:
        return np.clip(places, 0, length - 1)
    period = 2 * length if mode == "reflect" else 2 * length - 2
    places = places % period
    return np.where(places < length, places, (period - 1 if mode == "reflect" else period) - places)


def extend(x, axis, before, after, mode, cval=0.0):
    """An array continued along an axis, by so many elements before and after it."""
    if not (before or after):
        return x
    length = x.shape[axis]
    if SYNONYMS.get(mode, mode) != "constant":
        return np.take(x, sources(np.arange(-before, length + after), length, mode), axis)
    widths = [(0, 0)] * x.ndim
    widths[axis] = (before, after)
    return np.pad(x, widths, constant_values=cval)


def fold(z, axis, before, after, mode):
    """The transpose of `extend`: what is beyond the ends, added where it came from."""
    if not (before or after):
        return z
    z = np.moveaxis(z, axis, 0)
    length = len(z) - before - after
    x, mode = z[before : before + length].copy(order="K"), SYNONYMS.get(mode, mode)
    if mode == "nearest" or (length == 1 and mode != "constant"):
        x[0] += np.sum(z[:before], axis=0)
        x[-1] += np.sum(z[before + length :], axis=0)
    elif mode != "constant":
        places = np.arange(-before, length + after)
        blocks = places // (length - 1 if mode == "mirror" else length)  # in each of them, no element comes twice
        for beyond in (slice(before), slice(before + length, None)):
            cuts = np.flatnonzero(np.diff(blocks[beyond])) + 1
            for of_z, here in zip(np.split(z[beyond], cuts), np.split(places[beyond], cuts), strict=True):
                x[sources(here, length, mode)] += of_z
    return np.moveaxis(x, 0, axis)
