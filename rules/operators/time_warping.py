"""Soft dynamic time warping: the soft minimum of the costs of all monotone alignments of two series."""

import functools
import math

import numpy as np

from rulescore import frule, ignore_derivatives, is_traced, pullback_wrt, pushforward, rrule, unbroadcast
from rulescore.typing import Array, Number, OutputAndPullback, OutputAndTangent

from ..numpy.array_like import as_array, as_array_tangent, shape_of
from .compiled import Compiled
from .operator import operator
from .set_distances import AT_ONCE, METRICS


@operator()
def soft_dtw(x, y=None, gamma=1.0):
    """The discrepancy of two series that may run at different speeds, smoothed so that it has derivatives everywhere.

    Parameters
    ----------
    x : array_like, shape (..., n, d), or (..., n, m)
        A series of n points; without ``y``, the costs of aligning each point of one series with each of another.
    y : array_like, shape (..., m, d), optional
        The other series. Costs are the squared distances.
    gamma : float
        The width of the smoothing, positive. As it goes to 0, the result goes to that of dynamic time warping.

    Returns
    -------
    y : ndarray or scalar, shape (...)

    Raises
    ------
    ValueError
        For shapes that do not fit, series without points, and a ``gamma`` that is not positive.
    TypeError
        For complex numbers.

    Notes
    -----
    -γ log Σ exp(-⟨A, C⟩ / γ) over all alignments A, by the recursion rᵢⱼ = cᵢⱼ + softmin(rᵢ₋₁ⱼ₋₁, rᵢ₋₁ⱼ, rᵢⱼ₋₁) (Cuturi
    and Blondel 2017). The derivative with respect to the costs is the expected alignment E, and that with respect to γ
    is (y - ⟨E, C⟩) / γ. It is computed one antidiagonal after the other; with numba, one element after the other. Some
    rows of long series are held at a time, so that memory grows with m √n, not with n m; second derivatives need all.

    Examples
    --------
    >>> import numpy as np
    >>> c = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> round(float(soft_dtw(c, gamma=1.0)), 6), round(float(soft_dtw(c, gamma=0.1)), 6)
    (-0.551445, -9e-06)
    >>> float(soft_dtw([[0.0], [1.0]], [[0.0], [0.0], [1.0]], 1e-3)) < 0.01
    True
    """
    alignments, _ = alignments_of(x, y, gamma)
    return alignments.value()


def alignments_of(x, y, gamma):
    """Those of two series, with `Strips` of long ones, or of a matrix of costs; and gamma. Or an error."""
    if y is not None:
        series = as_array(x), as_array(y)
        shapes = [z.shape for z in series]
        if (
            all(type(z) is np.ndarray and z.dtype.char in "fd" and len(z.shape) > 1 for z in series)
            and not is_traced(gamma)
            and shapes[0][-1] == shapes[1][-1]
            and shapes[0][-2] * shapes[1][-2] > AT_ONCE
        ):
            return Strips(*series, checked(gamma)), gamma
    return Alignments(costs_of(x, y), checked(gamma)), gamma


def checked(gamma):
    if np.shape(gamma) or not gamma > 0:
        raise ValueError(f"soft_dtw(gamma={gamma!r}): the width of the smoothing is one positive number")
    return gamma


def costs_of(x, y):
    """The matrix of costs; or an error."""
    shape = shape_of(x)
    if y is not None:
        other = shape_of(y)
        if len(shape) < 2 or len(other) < 2 or shape[-1] != other[-1]:
            raise ValueError(
                f"soft_dtw(x, y) aligns two series of points, and got x of shape {shape} and y of shape {other}: give "
                "them the shapes (..., n, d) and (..., m, d), of points with d coordinates"
            )
        x, y = as_array(x), as_array(y)
        difference = x[..., :, None, :] - y[..., None, :, :]
        c = np.sum(difference * difference, axis=-1)
    else:
        c = as_array(x)
    if len(shape) < 2 or 0 in c.shape[-2:]:
        raise ValueError(
            f"soft_dtw(c) takes a matrix of costs with a row and a column at least, and got one of shape {np.shape(c)}"
        )
    if c.dtype.kind == "c":
        raise TypeError("soft_dtw takes real costs or series, and got complex ones: pass np.abs(x - y) ** 2 as costs")
    return c if c.dtype.kind == "f" else c.astype(np.float64)


class Alignments:
    """All alignments of two series, the matrices that they are weighted with, and their expectation.

    Written in functions that tracers take, for derivatives of the derivative; loops serve plain arrays.
    """

    def __init__(self, c, gamma):
        self.c, self.gamma = c, gamma
        self.n, self.m = c.shape[-2:]
        self.is_plain = type(c) is np.ndarray and c.dtype.char in "fd" and not is_traced(gamma)
        self.is_compiled = self.is_plain and soft_minima_loop.is_available()
        if self.is_compiled:
            self.flat = np.ascontiguousarray(np.reshape(c, (-1, self.n, self.m)), np.float64)  # one type of arrays
            self.r = np.full((len(self.flat), self.n + 1, self.m + 1), np.inf)
            self.r[:, 0, 0] = 0
            soft_minima_loop(self.flat, float(gamma), self.r)
        else:
            self.r, self.weights = self.by_diagonals()

    def value(self):
        if self.is_compiled:
            return np.reshape(self.r[:, -1, -1], self.c.shape[:-2]).astype(self.c.dtype)[()]
        return self.r[..., self.n - 1]

    def expected(self):
        """How often, in the mean, an alignment goes through each pair of points: the derivative by the costs."""
        if self.is_compiled:
            e = np.zeros((len(self.r), self.n + 2, self.m + 2))
            e[:, self.n, self.m] = 1
            expected_loop(self.flat, float(self.gamma), self.r, e)
            return np.reshape(e[:, 1:-1, 1:-1], self.c.shape).astype(self.c.dtype)
        return self.expected_by_diagonals()

    def by_diagonals(self):
        """The last element of r in its row, and for each antidiagonal the weights of the three predecessors.

        The antidiagonal k holds in place i what the matrix has in row i and column k - i.
        """
        n, m, gamma = self.n, self.m, self.gamma
        rows = np.arange(n)
        before = r = None
        every = []
        for k in range(n + m - 1):
            cols = k - rows
            is_inside = (cols >= 0) & (cols < m)
            c = np.where(is_inside, self.c[..., rows, np.clip(cols, 0, m - 1)], 0)
            if k == 0:
                before, r = np.zeros_like(c), c
                every.append(())
                continue
            # From the left, from above, and from both: which of these are inside, and their values.
            masks = is_inside & (cols > 0), is_inside & (rows > 0), is_inside & (cols > 0) & (rows > 0)
            values = r, shifted(r, 1), shifted(before, 1)
            least = ignore_derivatives(
                np.min([np.where(f, ignore_derivatives(v), np.inf) for f, v in zip(masks, values, strict=True)], axis=0)
            )
            least = np.where(np.isfinite(least), least, 0)
            terms = [
                np.where(f, np.exp((least - np.where(f, v, least)) / gamma), 0)
                for f, v in zip(masks, values, strict=True)
            ]
            total = np.where(is_inside, sum(terms), 1)
            with np.errstate(divide="ignore"):  # where all alignments cost ∞
                before, r = r, np.where(is_inside, c + least - gamma * np.log(total), 0)
            every.append([term / np.where(total == 0, 1, total) for term in terms])
        return r, every

    def expected_by_diagonals(self):
        """What leaves each pair of points arrives at the pairs before it, in the proportions of their weights."""
        rows, cols = np.arange(self.n)[:, None], np.arange(self.m)
        last = self.n + self.m - 2
        end = np.where(np.arange(self.n) == self.n - 1, 1.0, 0.0).astype(self.c.dtype)
        every = [np.broadcast_to(end, (*self.c.shape[:-2], self.n))]
        nothing = np.zeros(self.n, self.c.dtype)
        for k in range(last - 1, -1, -1):
            left, above, _ = self.weights[k + 1]
            e = every[-1] * left + shifted(every[-1] * above, -1)
            if k + 2 <= last:
                e = e + shifted(every[-2] * self.weights[k + 2][2], -1)
            every.append(e + nothing)
        stacked = np.stack(every[::-1], axis=-2)
        return stacked[..., rows + cols, rows]


class Strips:
    """The alignments of two long series of plain numbers, of which some rows are held at a time.

    What comes before each strip of rows is kept; the strip itself is computed again for the expectation.
    """

    def __init__(self, x, y, gamma):
        self.dtype, self.gamma = np.result_type(x, y), float(gamma)
        self.leading = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
        self.x, self.y = (
            np.reshape(np.broadcast_to(z, self.leading + z.shape[-2:]), (-1, *z.shape[-2:])) for z in (x, y)
        )
        n, m = self.x.shape[1], self.y.shape[1]
        height = max(AT_ONCE // m, math.isqrt(n))
        self.rows = [slice(top, min(top + height, n)) for top in range(0, n, height)]
        self.before = np.full((len(self.x), len(self.rows) + 1, m + 1), np.inf)
        self.before[:, 0, 0] = 0
        for pair in range(len(self.x)):
            for number in range(len(self.rows)):
                self.before[pair, number + 1] = self.strip(pair, number)[1][0, -1]

    def strip(self, pair, number):
        """The costs of a strip, and its soft minima with what comes before it."""
        c = METRICS["sqeuclidean"].matrix(self.x[pair, self.rows[number]], self.y[pair])[None]
        r = np.full((1, c.shape[1] + 1, c.shape[2] + 1), np.inf)
        r[0, 0] = self.before[pair, number]
        if soft_minima_loop.is_available():
            soft_minima_loop(c, self.gamma, r)
        else:
            fill_soft_minima(c[0], self.gamma, r[0])
        return c, r

    def value(self):
        return np.reshape(self.before[:, -1, -1], self.leading).astype(self.dtype)[()]

    @functools.cached_property
    def gradients(self):
        """Those of the value by both series, and the expected cost ⟨E, C⟩."""
        xbar, ybar, cost = np.empty(self.x.shape), np.zeros(self.y.shape), np.zeros(len(self.x))
        for pair, y in enumerate(self.y):
            arriving = np.zeros(len(y) + 2)
            arriving[-2] = 1
            for number in reversed(range(len(self.rows))):
                rows, (c, r) = self.rows[number], self.strip(pair, number)
                height, x = c.shape[1], self.x[pair, rows]
                e = np.zeros((1, height + 2, len(y) + 2))
                e[0, height] = arriving
                if expected_loop.is_available():
                    expected_loop(c, self.gamma, r, e)
                else:
                    fill_expected(c[0], self.gamma, r[0], e[0])
                arriving, e = e[0, 0], e[0, 1:-1, 1:-1]
                xbar[pair, rows] = 2 * (np.sum(e, axis=1)[:, None] * x - e @ y)
                ybar[pair] += 2 * (np.sum(e, axis=0)[:, None] * y - e.T @ x)
                cost[pair] += np.sum(e * np.where(e == 0, 0, c[0]))
        return (
            np.reshape(xbar, self.leading + xbar.shape[1:]).astype(self.dtype),
            np.reshape(ybar, self.leading + ybar.shape[1:]).astype(self.dtype),
            np.reshape(cost, self.leading).astype(self.dtype),
        )


def shifted(x, by):
    """The elements one place further, or one place back, with 0 where nothing comes from."""
    gap = np.zeros((*x.shape[:-1], 1), x.dtype)
    parts = [gap, x[..., :-1]] if by > 0 else [x[..., 1:], gap]
    return np.concatenate(parts, axis=-1)


@Compiled
def soft_minima_loop(c, gamma, r):
    """Write the soft minima to ``r``, which has one more row and column: ∞, or what comes before the first row."""
    for b in range(c.shape[0]):
        for i in range(1, c.shape[1] + 1):
            for j in range(1, c.shape[2] + 1):
                p, q, s = r[b, i - 1, j - 1], r[b, i - 1, j], r[b, i, j - 1]
                least = min(p, q, s)
                if least == np.inf:
                    r[b, i, j] = np.inf
                else:
                    total = np.exp((least - p) / gamma) + np.exp((least - q) / gamma) + np.exp((least - s) / gamma)
                    r[b, i, j] = c[b, i - 1, j - 1] + least - gamma * np.log(total)


@Compiled
def expected_loop(c, gamma, r, e):
    """Write the expected alignment to ``e``, which has one more row and column on each side.

    It holds 0, and in the last of these rows what arrives there from elsewhere.
    """
    n, m = c.shape[1], c.shape[2]
    for b in range(c.shape[0]):
        for i in range(n, 0, -1):
            for j in range(m, 0, -1):
                # What arrives at (i, j) goes on to the three before it.
                here = e[b, i, j]
                if here == 0 or r[b, i, j] == np.inf:
                    continue
                level = r[b, i, j] - c[b, i - 1, j - 1]
                e[b, i - 1, j - 1] += here * np.exp((level - r[b, i - 1, j - 1]) / gamma)
                e[b, i - 1, j] += here * np.exp((level - r[b, i - 1, j]) / gamma)
                e[b, i, j - 1] += here * np.exp((level - r[b, i, j - 1]) / gamma)


# What the loops write, in NumPy: one antidiagonal after the other, of one pair of series.


def antidiagonals(n, m):
    """Rows and columns of each, in matrices with one more row and column before the first."""
    for k in range(2, n + m + 1):
        i = np.arange(max(1, k - m), min(n, k - 1) + 1)
        yield i, k - i


def fill_soft_minima(c, gamma, r):
    for i, j in antidiagonals(*c.shape):
        before = np.stack([r[i - 1, j - 1], r[i - 1, j], r[i, j - 1]])
        least = before.min(0)
        base = np.where(np.isfinite(least), least, 0)
        with np.errstate(divide="ignore"):  # where all alignments cost ∞
            r[i, j] = c[i - 1, j - 1] + base - gamma * np.log(np.sum(np.exp((base - before) / gamma), axis=0))


def fill_expected(c, gamma, r, e):
    for i, j in reversed(list(antidiagonals(*c.shape))):
        is_reached = (e[i, j] != 0) & np.isfinite(r[i, j])
        i, j = i[is_reached], j[is_reached]
        here, level = e[i, j], r[i, j] - c[i - 1, j - 1]
        for rows, cols in ((i - 1, j - 1), (i - 1, j), (i, j - 1)):
            e[rows, cols] += here * np.exp((level - r[rows, cols]) / gamma)


# ---------------------------------------------------------------- rules


@frule.register(soft_dtw)
@pushforward
def soft_dtw_frule(
    dx: Array, dy: Array, dgamma: Number, x: Array, y: Array = None, gamma: Number = 1.0
) -> OutputAndTangent:
    """⟨E, dC⟩ + (z - ⟨E, C⟩) / γ dγ."""
    dx, dy = as_array_tangent(dx, x), as_array_tangent(dy, y)
    alignments, _ = alignments_of(x, y, gamma)
    z = alignments.value()
    if isinstance(alignments, Strips):
        of_x, of_y, cost = alignments.gradients
        dz = np.sum(of_x * dx, axis=(-2, -1)) + np.sum(of_y * dy, axis=(-2, -1))
        return z, dz + (z - cost) / gamma * dgamma
    e, c = alignments.expected(), alignments.c
    if y is None:
        dz = np.sum(e * dx, axis=(-2, -1))
    else:
        difference = as_array(x)[..., :, None, :] - as_array(y)[..., None, :, :]
        moved = dx[..., :, None, :] - dy[..., None, :, :]
        dz = np.sum(2 * e[..., None] * difference * moved, axis=(-3, -2, -1))
    return z, dz + by_gamma(z, e, c, gamma) * dgamma


def by_gamma(z, e, c, gamma):
    """Minus the entropy of the alignments. Those that cost ∞ have no part in it."""
    return (z - np.sum(e * np.where(e == 0, 0, c), axis=(-2, -1))) / gamma


@rrule.register(soft_dtw)
def soft_dtw_rrule(x: Array, y: Array = None, gamma: Number = None) -> OutputAndPullback:
    """C̄ = z̄ E; from there to series x̄ᵢ = 2 Σⱼ c̄ᵢⱼ (xᵢ - yⱼ)."""
    alignments, width = alignments_of(x, y, 1.0 if gamma is None else gamma)
    z = alignments.value()
    if isinstance(alignments, Strips):

        @pullback_wrt(x, y, gamma)
        def strips_pullback(zbar):
            of_x, of_y, cost = alignments.gradients
            seed = np.reshape(zbar, (*np.shape(zbar), 1, 1))
            return (
                lambda: unbroadcast(seed * of_x, shape_of(x)),
                lambda: unbroadcast(seed * of_y, shape_of(y)),
                lambda: np.sum(zbar * (z - cost)) / width,
            )

        return z, strips_pullback

    @pullback_wrt(x, y, gamma)
    def soft_dtw_pullback(zbar):
        e = alignments.expected()
        cbar = np.reshape(zbar, (*np.shape(zbar), 1, 1)) * e

        def pulled(bar, this, that):
            sums = np.sum(bar, axis=-1)[..., None]
            return unbroadcast(2 * (sums * as_array(this) - np.matmul(bar, as_array(that))), shape_of(this))

        return (
            lambda: cbar if y is None else pulled(cbar, x, y),
            lambda: pulled(np.swapaxes(cbar, -1, -2), y, x),
            lambda: np.sum(zbar * by_gamma(z, e, alignments.c, width)),
        )

    return z, soft_dtw_pullback
