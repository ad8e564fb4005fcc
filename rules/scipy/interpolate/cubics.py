"""Rules of piecewise cubic interpolants: `CubicSpline`, `PchipInterpolator`, `Akima1DInterpolator` and their relatives.

All are Hermite splines: cubic between two points whose values and slopes are given. They differ in how the slopes are
made of the points, which is written here in functions that can be differentiated, with respect to the values and to
where they are.
"""

import functools

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import apply_linear, frule, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, OutputAndPullback, OutputAndTangent
from scipy import interpolate, linalg

from ...numpy.array_like import as_array
from ..linear_maps import composed
from ..ndimage.boundaries import fixed, handing_over
from .piecewise import (
    Akima1DInterpolator,
    CubicHermiteSpline,
    CubicSpline,
    PchipInterpolator,
    PPoly,
    as_doubles,
    beside,
    built,
    decline_descending,
    ppoly_values,
)

# ---------------------------------------------------------------- a tridiagonal system


@handing_over
def solve_tridiagonal(bands, b):
    """x of A x = b, where A has these upper, main and lower diagonals, as `scipy.linalg.solve_banded` has them."""
    return np.reshape(
        linalg.solve_banded((1, 1), bands, np.reshape(b, (np.shape(b)[0], -1)), check_finite=False), np.shape(b)
    )


def transposed(bands):
    """The diagonals of Aᵀ."""
    upper, main, lower = bands
    none = 0 * main[:1]
    return np.stack([np.concatenate([none, lower[:-1]]), main, np.concatenate([upper[1:], none])])


def times_tridiagonal(bands, x):
    upper, main, lower = bands
    none = 0 * x[:1]
    return (
        beside(main, x) * x
        + np.concatenate([beside(upper[1:], x) * x[1:], none])
        + np.concatenate([none, beside(lower[:-1], x) * x[:-1]])
    )


@frule.register(solve_tridiagonal)
@pushforward
def solve_tridiagonal_frule(dbands: Array, db: Array, bands: Array, b: Array) -> OutputAndTangent:
    """From A x = b, A ẋ = ḃ - Ȧ x."""
    x = solve_tridiagonal(bands, b)
    return x, solve_tridiagonal(bands, db - apply_linear(lambda dbands: times_tridiagonal(dbands, x), dbands))


@rrule.register(solve_tridiagonal)
def solve_tridiagonal_rrule(bands: Array, b: Array) -> OutputAndPullback:
    """b̄ = A⁻ᴴ x̄ and Ā = -b̄ xᴴ, of which the three diagonals are kept."""
    x = solve_tridiagonal(bands, b)

    @pullback_wrt(bands, b)
    def solve_pullback(xbar):
        b_bar = functools.cache(lambda: solve_tridiagonal(transposed(np.conj(bands)), xbar))

        def bands_bar():
            flat, other = (np.reshape(a, (np.shape(a)[0], -1)) for a in (b_bar(), np.conj(x)))
            main, upper, lower = (
                -np.sum(p, axis=1) for p in (flat * other, flat[:-1] * other[1:], flat[1:] * other[:-1])
            )
            none = 0 * main[:1]
            return np.stack([np.concatenate([none, upper]), main, np.concatenate([lower, none])])

        return bands_bar, b_bar

    return x, solve_pullback


# ---------------------------------------------------------------- points


def prepared(x, y, axis):
    """Points and values in double precision, with the interpolated axis of the values first, and its number."""
    x, y = as_doubles(x), as_doubles(y)
    axis = int(axis) % np.ndim(y)
    if np.ndim(x) != 1 or np.shape(x)[0] != np.shape(y)[axis] or np.shape(x)[0] < 2 or np.size(y) == 0:
        raise MDNotImplementedError  # SciPy says what is wrong
    return x, np.moveaxis(y, axis, 0), axis


def hermite_coefficients(x, y, slopes):
    """The coefficients of the cubics with these values and slopes at the points."""
    h = beside(x[1:] - x[:-1], y)
    secants = (y[1:] - y[:-1]) / h
    t = (slopes[:-1] + slopes[1:] - 2 * secants) / h
    return np.stack([t / h, (secants - slopes[:-1]) / h - t, slopes[:-1], y[:-1]])


@composed(interpolate.CubicHermiteSpline)
def cubic_hermite_spline(x, y, dydx, axis=0, extrapolate=None):
    x, y, axis = prepared(x, y, axis)
    slopes = np.moveaxis(as_doubles(dydx), axis, 0)
    c = hermite_coefficients(x, y, slopes)
    return built(CubicHermiteSpline, c, x, True if extrapolate is None else extrapolate, axis)


@composed(interpolate.PPoly)
def ppoly(c, x, extrapolate=None, axis=0):
    c, x = as_doubles(c), as_doubles(x)
    decline_descending(x)
    axis = int(axis)
    if axis != 0:
        c = np.moveaxis(np.moveaxis(c, axis + 1, 0), axis + 1, 0)
    return built(PPoly, c, x, True if extrapolate is None else extrapolate, axis)


# ---------------------------------------------------------------- cubic splines


def conditions(bc_type):
    """The conditions at both ends: names, or pairs of the order of a derivative and its value."""
    both = (bc_type, bc_type) if isinstance(bc_type, str) else tuple(bc_type)
    named = {"clamped": (1, 0.0), "natural": (2, 0.0)}
    return [named.get(bc, bc) if isinstance(bc, str) else bc for bc in both]


def spline_slopes(x, y, bc_type):
    """The slopes at the points that make the second derivative continuous, and what is asked for at the ends."""
    n, (first, last) = np.shape(x)[0], conditions(bc_type)
    h = x[1:] - x[:-1]
    d = beside(h, y)
    secants = (y[1:] - y[:-1]) / d
    if n == 2:
        first, last = ((1, secants[0]) if isinstance(bc, str) else bc for bc in (first, last))
    if isinstance(first, str) and first == "periodic":
        return periodic_slopes(h, d, secants, n)
    if n == 3 and isinstance(first, str) and isinstance(last, str):  # a parabola through the points
        middle = (d[1] * secants[0] + d[0] * secants[1]) / (d[0] + d[1])
        return np.stack([2 * secants[0] - middle, middle, 2 * secants[1] - middle])
    inner = 3 * (d[1:] * secants[:-1] + d[:-1] * secants[1:])
    left, left_b = end_condition(first, h[0], h[1] if n > 2 else None, secants[0], secants[1] if n > 2 else None)
    right, right_b = end_condition(
        last, h[-1], h[-2] if n > 2 else None, secants[-1], secants[-2] if n > 2 else None, -1
    )
    none = 0 * h[:1]
    bands = np.stack(
        [
            np.concatenate([none, left[1:], h[:-1]]),
            np.concatenate([left[:1], 2 * (h[:-1] + h[1:]), right[:1]]),
            np.concatenate([h[1:], right[1:], none]),
        ]
    )
    zeros = np.zeros((1, *np.shape(y)[1:]))
    return solve_tridiagonal(bands, np.concatenate([left_b + zeros, inner, right_b + zeros]))


def end_condition(bc, h, next_h, secant, next_secant, sign=1):
    """The row of the system for one end: the factors of the slopes there and next to it, and the right-hand side."""
    one = 1 + 0 * h
    if isinstance(bc, str):  # not-a-knot: the third derivative is continuous at the point next to the end
        both = h + next_h
        return np.stack([next_h, both]), ((h + 2 * both) * next_h * secant + h**2 * next_secant) / both
    order, value = bc
    if order == 1:
        return np.stack([one, 0 * one]), as_doubles(value)
    return np.stack([2 * h, h]), 3 * secant * h - sign * 0.5 * as_array(value) * h**2


def periodic_slopes(h, d, secants, n):
    """As above, around the circle: the last unknown is eliminated, by the solutions with and without it."""
    if n == 3:
        slope = np.sum(secants / d, axis=0) / np.sum(1 / d, axis=0)
        return np.stack([slope] * 3)
    # Unknowns 0 to n-2; the interval before the first point is the last one.
    before, after = np.concatenate([d[-1:], d[:-1]]), d
    secants_before = np.concatenate([secants[-1:], secants[:-1]])
    b = 3 * (after * secants_before + before * secants)
    h_before = np.concatenate([h[-1:], h[:-1]])
    none = 0 * h[:1]
    bands = np.stack(
        [
            np.concatenate([none, h_before[: n - 3]]),
            2 * (h_before + h)[: n - 2],
            np.concatenate([h[1 : n - 2], none]),
        ]
    )
    # The column of the last unknown, in the equations of the others.
    column = np.concatenate([h[:1], np.zeros(n - 4), h_before[n - 3 : n - 2]])
    s1 = solve_tridiagonal(bands, b[: n - 2])
    s2 = solve_tridiagonal(bands, -column)
    corner, below, main = h[n - 2], h_before[n - 2], 2 * (h[n - 2] + h_before[n - 2])
    last = (b[n - 2] - below * s1[0] - corner * s1[-1]) / (main + below * s2[0] + corner * s2[-1])
    others = s1 + last * beside(s2, s1)
    return np.concatenate([others, last[None], others[:1]])


@composed(interpolate.CubicSpline)
def cubic_spline(x, y, axis=0, bc_type="not-a-knot", extrapolate=None):
    x, y, axis = prepared(x, y, axis)
    if extrapolate is None:
        extrapolate = "periodic" if isinstance(bc_type, str) and bc_type == "periodic" else True
    return built(CubicSpline, hermite_coefficients(x, y, spline_slopes(x, y, bc_type)), x, extrapolate, axis)


# ---------------------------------------------------------------- slopes of neighbouring secants


def chosen(condition, a, b):
    return np.where(fixed(condition), a, b)


def one_sided_slope(h0, h1, m0, m1):
    """The slope at an end, of three points, limited so that the shape is kept (Moler 2004, §3.6)."""
    d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    is_too_steep = (np.sign(fixed(m0)) != np.sign(fixed(m1))) & (np.abs(fixed(d)) > 3 * np.abs(fixed(m0)))
    return chosen(np.sign(fixed(d)) != np.sign(fixed(m0)), 0 * d, chosen(is_too_steep, 3 * m0, d))


def monotone_slopes(x, y):
    """Weighted harmonic means of neighbouring secants, and zero where these differ in sign (Fritsch, Butland 1984)."""
    h = beside(x[1:] - x[:-1], y)
    m = (y[1:] - y[:-1]) / h
    if np.shape(y)[0] == 2:
        return np.concatenate([m, m])
    is_monotone = np.sign(fixed(m[1:])) * np.sign(fixed(m[:-1])) > 0
    w1, w2 = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    m0, m1 = chosen(is_monotone, m[:-1], 1.0), chosen(is_monotone, m[1:], 1.0)
    inner = chosen(is_monotone, (w1 + w2) / (w1 / m0 + w2 / m1), 0.0)
    first = one_sided_slope(h[0], h[1], m[0], m[1])
    last = one_sided_slope(h[-1], h[-2], m[-1], m[-2])
    return np.concatenate([first[None], inner, last[None]])


def pchip_coefficients(x, y, axis):
    x, y, axis = prepared(x, y, axis)
    if np.iscomplexobj(y):
        raise MDNotImplementedError
    return hermite_coefficients(x, y, monotone_slopes(x, y)), x, axis


@composed(interpolate.PchipInterpolator)
def pchip_interpolator(x, y, axis=0, extrapolate=None):
    c, x, axis = pchip_coefficients(x, y, axis)
    return built(PchipInterpolator, c, x, True if extrapolate is None else extrapolate, axis)


@composed(interpolate.pchip_interpolate)
def pchip_interpolate(xi, yi, x, der=0, axis=0):
    c, breaks, axis = pchip_coefficients(xi, yi, axis)
    if np.ndim(der) == 0:
        return ppoly_values(c, breaks, x, int(der), True, axis)
    return [ppoly_values(c, breaks, x, int(nu), True, axis) for nu in der]


def akima_slopes(x, y, method):
    """Means of the secants to both sides, weighted by how much those beyond the other one bend (Akima 1970)."""
    h = beside(x[1:] - x[:-1], y)
    m = (y[1:] - y[:-1]) / h
    if np.shape(y)[0] == 2:
        return np.concatenate([m, m])
    m = extended_secants(m)
    bends = np.abs(m[1:] - m[:-1])
    if method == "makima":
        bends = bends + 0.5 * np.abs(m[1:] + m[:-1])
    f1, f2 = bends[2:], bends[:-2]
    both = f1 + f2
    is_defined = fixed(both) > 1e-9 * np.max(fixed(both))
    weighted = m[1:-2] + f2 / chosen(is_defined, both, 1.0) * (m[2:-1] - m[1:-2])
    return chosen(is_defined, weighted, 0.5 * (m[3:] + m[:-3]))


def extended_secants(m):
    """The secants, with two more at each end that go on as the last ones do."""
    left, right = 2 * m[:1] - m[1:2], 2 * m[-1:] - m[-2:-1]
    return np.concatenate([2 * left - m[:1], left, m, right, 2 * right - m[-1:]])


@composed(interpolate.Akima1DInterpolator)
def akima_interpolator(x, y, axis=0, *, method="akima", extrapolate=None):
    x, y, axis = prepared(x, y, axis)
    if np.iscomplexobj(y) or method not in ("akima", "makima"):
        raise MDNotImplementedError
    c = hermite_coefficients(x, y, akima_slopes(x, y, method))
    return built(Akima1DInterpolator, c, x, False if extrapolate is None else extrapolate, axis)
