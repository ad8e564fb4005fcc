"""Rules of the states in which filters begin, and of the filters that run forwards and backwards in time.

They are made of `scipy.signal.lfilter`, `sosfilt` and NumPy's functions, and are differentiated as such.
"""

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy.signal

from ...numpy.array_like import as_array
from ..linear_maps import composed
from .filters import coefficients, filtered, in_types_of, padded, sosfilt_call


@composed(scipy.signal.lfilter_zi)
def lfilter_zi(b, a):
    """The state that a constant input of 1 leaves as it is: (1 - A) z = b₁.. - a₁.. b₀, A the companion matrix."""
    b, a = coefficients(b), coefficients(a)
    if a[0] == 0:
        raise MDNotImplementedError
    given = b, a
    b, a = b / a[0], a / a[0]
    count = max(len(b), len(a))
    b, a = padded(b, count), padded(a, count)
    one = np.ones(1, np.result_type(b.dtype, a.dtype))
    transposed_companion = np.concatenate([-a[1:, None], np.eye(count - 1, k=1, dtype=one.dtype)[:, 1:]], axis=1)
    zi = np.linalg.solve(np.eye(count - 1, dtype=one.dtype) - transposed_companion, b[1:] - a[1:] * b[0])
    is_mixed = given[0].dtype != given[1].dtype  # as of whole numbers and others, of which each version makes its own
    return in_types_of(scipy.signal.lfilter_zi, zi, *given) if is_mixed else zi


@composed(scipy.signal.sosfilt_zi)
def sosfilt_zi(sos):
    """The states of the sections, each of which gets what those before it make of a constant."""
    sos, scale, states = as_array(sos), 1.0, []
    for i in range(len(sos)):
        b, a = sos[i, :3], sos[i, 3:]
        states.append(scale * lfilter_zi(b, a))
        scale = scale * (np.sum(b) / np.sum(a))
    return np.stack(states)


IS_NORMALISED = scipy.signal.lfiltic([1.0], [2.0, 2.0], [1.0])[0] == -1
"""Whether `scipy.signal.lfiltic` divides by a₀: SciPy 1.15 does not."""


@composed(scipy.signal.lfiltic)
def lfiltic(b, a, y, x=None):
    """The state after these outputs and inputs, the last one first: zₖ = (Σₘ bₖ₊ₘ₊₁ xₘ - aₖ₊ₘ₊₁ yₘ) / a₀."""
    b, a, y = coefficients(b), coefficients(a), as_array(y)
    if np.ndim(y) != 1 or np.ndim(x) > 1:
        raise MDNotImplementedError
    order = max(len(b), len(a)) - 1
    zi = -of_past(a, y, order)
    zi = zi.astype(np.result_type(zi.dtype, b.dtype)) if x is None else zi + of_past(b, as_array(x), order)
    return zi / a[0] if IS_NORMALISED else zi


def of_past(b, x, order):
    """Σₘ bₖ₊ₘ₊₁ xₘ for k = 0, ..., order - 1."""
    numbers = np.add.outer(np.arange(order), np.arange(1, order + 1))
    x = padded(x[: len(b) - 1], order)
    return np.matmul(padded(b, 2 * order + 1)[numbers], x)


# ---------------------------------------------------------------- forwards and backwards


def part(x, axis, *limits):
    """A slice of x along an axis."""
    return x[(*[slice(None)] * (axis % x.ndim), slice(*limits))]


def extended(x, axis, padtype, edge):
    """x and ``edge`` samples more at both ends."""
    if padtype is None or not edge:
        return x
    first, last = part(x, axis, 1), part(x, axis, -1, None)
    if padtype == "constant":
        widths = [(edge, edge) if i == axis % x.ndim else (0, 0) for i in range(x.ndim)]
        return np.pad(x, widths, mode="edge")
    before = np.flip(part(x, axis, 1, edge + 1), axis)
    after = np.flip(part(x, axis, -edge - 1, -1), axis)
    if padtype == "odd":
        before, after = 2 * first - before, 2 * last - after
    return np.concatenate([before, x, after], axis=axis)


def both_ways(run, zi, x, axis, padtype, padlen, ntaps):
    """The filter ``run(x, zi)`` forwards and backwards, each time from the state ``zi`` times the first sample."""
    edge = 0 if padtype is None else 3 * ntaps if padlen is None else max(padlen, 0)
    y = extended(x, axis, padtype, edge)
    for _ in range(2):
        y, _ = run(y, zi * part(y, axis, 1))
        y = np.flip(y, axis)
    return part(y, axis, edge, -edge) if edge else y


@composed(scipy.signal.filtfilt)
def filtfilt(b, a, x, axis=-1, padtype="odd", padlen=None, method="pad", irlen=None):
    """Of Gustafsson's method there is no rule yet."""
    b, a, x = coefficients(b), coefficients(a), as_array(x)
    if method != "pad":
        raise MDNotImplementedError
    zi = lfilter_zi(b, a)
    zi = np.reshape(zi, [-1 if i == axis % x.ndim else 1 for i in range(x.ndim)])
    return both_ways(lambda y, z: filtered(b, a, y, axis, z), zi, x, axis, padtype, padlen, max(len(a), len(b)))


@composed(scipy.signal.sosfiltfilt)
def sosfiltfilt(sos, x, axis=-1, padtype="odd", padlen=None):
    sos, x = as_array(sos), as_array(x)
    spare = min(np.count_nonzero(sos[:, 2] == 0), np.count_nonzero(sos[:, 5] == 0))
    zi = sosfilt_zi(sos)
    zi = np.reshape(zi, (len(sos), *[2 if i == axis % x.ndim else 1 for i in range(x.ndim)]))
    ntaps = 2 * len(sos) + 1 - int(spare)
    return both_ways(lambda y, z: sosfilt_call(sos, y, axis, z), zi, x, axis, padtype, padlen, ntaps)
