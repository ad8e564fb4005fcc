"""Integrals of functions of which there are values at points: with respect to the values, the points and the spacing.

SciPy computes them with ordinary arrays only. So each is written here again, after SciPy's code and in NumPy's
functions, and it is that which AD systems differentiate; the values come from SciPy.
"""

import numpy as np

import scipy.integrate
from rulescore import NoTangent, frule_via_ad

from ...numpy.array_like import as_array
from ..named_arguments import filled, pulled, rules_by_name


def along_last(y, x, axis):
    """Values and points with the axis of integration last; points may be the same for all other axes."""
    y = as_array(y)
    if x is not None:
        x = as_array(x)
        x = x if np.ndim(x) == 1 else np.moveaxis(x, axis, -1)
    return np.moveaxis(y, axis, -1), x


def spacing(x, dx):
    return dx if x is None else np.diff(x, axis=-1)


def trapezoid(y, x, dx, axis):
    if x is not None and np.ndim(x) > 1:
        x = np.broadcast_to(x, np.shape(y))  # along the axis of integration too: a single point makes it 0
    y, x = along_last(y, x, axis)
    return np.sum(spacing(x, dx) * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)


def cumulative_trapezoid(y, x, dx, axis):
    y, x = along_last(y, x, axis)
    return np.moveaxis(np.cumsum(spacing(x, dx) * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1), -1, axis)


def parabolas(y, x, dx):
    """The integral over an odd number of points, two intervals at a time."""
    y0, y1, y2 = y[..., :-2:2], y[..., 1:-1:2], y[..., 2::2]
    if x is None:
        return np.sum(y0 + 4.0 * y1 + y2, axis=-1) * (dx / 3.0)
    h = np.diff(x, axis=-1)
    h0, h1 = h[..., 0::2], h[..., 1::2]
    ratio = divided(h0, h1)
    width = h0 + h1
    middle = y1 * (width * divided(width, h0 * h1))
    return np.sum(width / 6.0 * (y0 * (2.0 - divided(1.0, ratio)) + middle + y2 * (2.0 - ratio)), axis=-1)


def divided(a, b):
    """a / b, and 0 where b is 0, as for points that coincide."""
    return np.where(b != 0, a / np.where(b != 0, b, 1.0), 0.0)


def simpson(y, x, dx, axis):
    y, x = along_last(y, x, axis)
    n = np.shape(y)[-1]
    if n % 2:
        return parabolas(y, x, dx)
    h = spacing(x, dx)
    h0, h1 = (h, h) if x is None else (h[..., -2] if n > 2 else None, h[..., -1])
    if n == 2:
        return 0.5 * h1 * (y[..., -1] + y[..., -2])
    # The last interval, by the parabola through the last three points (Cartwright 2017).
    alpha = divided(2 * h1**2 + 3 * h0 * h1, 6 * (h1 + h0))
    beta = divided(h1**2 + 3.0 * h0 * h1, 6 * h0)
    eta = divided(h1**3, 6 * h0 * (h0 + h1))
    most = parabolas(y[..., :-1], None if x is None else x[..., :-1], dx)
    return most + alpha * y[..., -1] + beta * y[..., -2] - eta * y[..., -3]


def first_intervals(y, h):
    """For every three neighbouring points, the integral of their parabola over the first interval."""
    f1, f2, f3 = y[..., :-2], y[..., 1:-1], y[..., 2:]
    if np.ndim(h) == 0 or np.shape(h)[-1] == 1:
        return h / 3 * (5 * f1 / 4 + 2 * f2 - f3 / 4)
    x21, x32 = h[..., :-1], h[..., 1:]
    x21_x31 = x21 / (x21 + x32)
    product = x21_x31 * (x21 / x32)
    return x21 / 6 * ((3 - x21_x31) * f1 + (3 + product + x21_x31) * f2 - product * f3)


def cumulative_simpson(y, x, dx, axis, initial):
    y, x = along_last(y, x, axis)
    h = spacing(x, dx if np.ndim(dx) == 0 else np.moveaxis(as_array(dx), axis, -1))
    n = np.shape(y)[-1]
    if n < 3:
        sums = np.cumsum(h * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)
    else:
        forth = first_intervals(y, h)
        back = first_intervals(y[..., ::-1], h if np.ndim(h) == 0 else h[..., ::-1])[..., ::-1]
        # The even intervals are the first ones of a parabola, the odd ones and the last one the second ones.
        padded_forth = np.concatenate([forth, forth[..., -1:]], axis=-1)
        padded_back = np.concatenate([back[..., :1], back], axis=-1)
        is_first = (np.arange(n - 1) % 2 == 0) & (np.arange(n - 1) < n - 2)
        sums = np.cumsum(np.where(is_first, padded_forth, padded_back), axis=-1)
    if initial is not None:
        start = initial if np.ndim(initial) == 0 else np.moveaxis(as_array(initial), axis, -1)
        sums = sums + start
        sums = np.concatenate([np.zeros_like(y[..., :1]) + start, sums], axis=-1)
    return np.moveaxis(sums, -1, axis)


def romb(y, dx, axis):
    y = np.moveaxis(as_array(y), axis, -1)
    weights = scipy.integrate.romb(np.eye(np.shape(y)[-1]), axis=-1)
    weights = weights.astype(y.dtype) if y.dtype.kind in "fc" else weights
    return np.sum(y * weights, axis=-1) * dx


def register_integral(f, implementation, names, starts_at_zero=False):
    """The rules of a function of sampled data, whose arguments of some names an implementation takes."""

    def computed(call):
        def of(*arguments):
            y = implementation(*arguments)
            if not starts_at_zero or call.initial is None:
                return y
            first = np.zeros_like(np.take(y, [0], axis=call.axis)) if np.size(y) else y
            return np.concatenate([first, y], axis=call.axis)

        return of, tuple([getattr(call, name) for name in names])

    def cotangents(config, call, y, ybar):
        of, arguments = computed(call)
        return dict(zip(names, pulled(config, ybar, of, *arguments), strict=True))

    def tangent(config, call, y, d):
        of, arguments = computed(call)
        tangents = [NoTangent() if name == "axis" else getattr(d, name) for name in names]
        _, dy = frule_via_ad(config, (NoTangent(), *tangents), of, *arguments)
        return filled(dy, y)

    rules_by_name(f, cotangents, tangent)


register_integral(scipy.integrate.trapezoid, trapezoid, ("y", "x", "dx", "axis"))
register_integral(
    scipy.integrate.cumulative_trapezoid, cumulative_trapezoid, ("y", "x", "dx", "axis"), starts_at_zero=True
)
register_integral(scipy.integrate.simpson, simpson, ("y", "x", "dx", "axis"))
register_integral(scipy.integrate.cumulative_simpson, cumulative_simpson, ("y", "x", "dx", "axis", "initial"))
register_integral(scipy.integrate.romb, romb, ("y", "dx", "axis"))
