"""Rules of piecewise linear interpolation: `numpy.interp`.

Between two points the derivative is that of the line through them. In a point, where two lines meet, it is that of the
line to the right, and in the last point that of the line to the left: the line on which NumPy computes the value. Both
are members of the generalised derivative. Outside of the points the value is constant, and does not depend on ``x``.
"""

import functools

from multipledispatch import MDNotImplementedError

import numpy as np
from rulescore import MissingDerivativeError, frule, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, Number, OutputAndPullback, OutputAndTangent

from .array_like import as_array, conj, full_tangent, shape_of
from .indexing import scatter

DECREASING = (
    "np.interp of points xp that do not increase: NumPy does not look, and takes the value of some line. Sort the "
    "points: order = np.argsort(xp), np.interp(x, xp[order], fp[order])"
)


class Segments:
    """In which piece of the function each ``x`` lies, for points ``xp`` that increase.

    The pieces are numbered: 0 is all that is left of the points, 1 to n - 1 are the lines between two of n points, n is
    all that is right of them. One more is the last point where no line ends in it. On piece k the value is
    (1 - t) aₖ + t bₖ with the values at its ends, and outside t = 0.

    Attributes
    ----------
    piece : ndarray of int
        The piece that each ``x`` lies in.
    weight : ndarray
        t: how far it is from one end of that piece to the other.
    slopes : ndarray
        Those of the pieces; 0 outside.
    """

    __slots__ = ("count", "piece", "slopes", "weight")

    def __init__(self, x, xp, fp):
        n = self.count = len(xp)
        self.piece = np.searchsorted(xp, x, "right")
        runs, rises = xp[1:] - xp[:-1], fp[1:] - fp[:-1]
        if np.any(runs < 0):
            raise MissingDerivativeError(DECREASING)
        is_empty = runs == 0  # nothing lies there
        runs = np.where(is_empty, 1, runs)
        zero, one = np.zeros(1, rises.dtype), np.ones(1, runs.dtype)
        self.slopes = np.concatenate([zero, np.where(is_empty, 0, rises / runs), zero, zero])
        # The last point belongs to the line to its left. Of two equal ones the value is that of the last.
        last = n - 1 if n > 1 and not is_empty[-1] else n + 1
        self.piece = np.where(x == xp[-1], last, self.piece)
        starts = np.concatenate([xp[:1], xp, xp[-1:]])
        self.weight = (x - starts[self.piece]) / np.concatenate([one, runs, one, one])[self.piece]
        is_inside = (self.piece > 0) & (self.piece < n)
        if not np.all(is_inside):
            self.weight = np.where(is_inside, self.weight, 0)

    def slope(self):
        return self.slopes[self.piece]

    def ends(self, points, left, right):
        """Something that belongs to the points, at the first and at the second end of all pieces."""
        left, right = (points[i] if end is None else end for i, end in ((0, left), (-1, right)))
        first = np.concatenate([np.reshape(left, (1,)), points[:-1], np.reshape(right, (1,)), points[-1:]])
        zero = np.zeros(1, points.dtype)
        return first, np.concatenate([zero, points[1:], zero, zero])

    def sums(self, ybar):
        """Σ (1 - t) ȳ and Σ t ȳ over all that lies in a piece: the cotangents of its two ends."""
        ybar, piece, weight = (np.reshape(part, -1) for part in (ybar, self.piece, self.weight))
        shape, dtype = (self.count + 2,), np.result_type(ybar.dtype, weight.dtype)
        return scatter((1 - weight) * ybar, piece, shape, dtype), scatter(weight * ybar, piece, shape, dtype)

    def points_bar(self, first, second, has_left, has_right):
        """The transpose of `ends` for the points."""
        zero = np.zeros(1, first.dtype)
        left, right = (zero if has_left else first[:1]), (zero if has_right else first[-2:-1])
        inner = np.concatenate([first[1:-2], right + first[-1:]])
        inner = inner + np.concatenate([zero, second[1:-2]])
        return np.concatenate([inner[:1] + left, inner[1:]])


class Periodic:
    """The points of one period in order, with one more at either side, as NumPy has them."""

    __slots__ = ("order", "period", "turns_of_x", "turns_of_xp")

    def __init__(self, x, xp, period):
        self.period = np.abs(period)
        self.turns_of_x, self.turns_of_xp = np.floor_divide(x, self.period), np.floor_divide(xp, self.period)
        self.order = np.argsort(np.remainder(xp, self.period))

    def reduced(self, x, xp, fp):
        x, xp = np.remainder(x, self.period), np.remainder(xp, self.period)[self.order]
        xp = np.concatenate([xp[-1:] - self.period, xp, xp[:1] + self.period])
        return x, xp, self.wrapped(fp)

    def wrapped(self, points):
        points = points[self.order]
        return np.concatenate([points[-1:], points, points[:1]])

    def tangents(self, dx, dxp, dfp, dperiod, sign):
        """The tangents of what `reduced` returns."""
        dperiod = dperiod * sign
        dxp = self.wrapped(dxp - self.turns_of_xp * dperiod)
        ends = np.concatenate([[-1.0], np.zeros(len(dxp) - 2), [1.0]])
        return dx - self.turns_of_x * dperiod, dxp + ends * dperiod, self.wrapped(dfp)

    def unwrapped(self, points_bar):
        """The transpose of `wrapped`."""
        inner = points_bar[1:-1]
        inner = np.concatenate([inner[:1] + points_bar[-1:], inner[1:]])
        inner = np.concatenate([inner[:-1], inner[-1:] + points_bar[:1]])
        return inner[np.argsort(self.order)]

    def period_bar(self, xbar, xp_bar, sign):
        """The cotangent of the period, from those of what `reduced` returns."""
        of_points = np.sum(self.turns_of_xp * self.unwrapped(xp_bar))
        return sign * (xp_bar[-1] - xp_bar[0] - of_points - np.sum(self.turns_of_x * xbar))


def prepared(x, xp, fp, left, right, period):
    """The value of ``np.interp``, and what it is the value at: x, xp, fp, left, right and the order of the points."""
    x, xp, fp = (np.asarray(part) if issubclass(type(part), (float, int)) else as_array(part) for part in (x, xp, fp))
    if period is None or not np.all(period):  # of the period 0 NumPy has an error
        return np.interp(x, xp, fp, left, right, period), (x, xp, fp, left, right), None
    if np.ndim(xp) != 1 or np.shape(xp) != np.shape(fp) or any(map(np.iscomplexobj, (x, xp, period))):
        raise MDNotImplementedError  # an error of NumPy's too, or of what is complex, a part of it
    periodic = Periodic(x, xp, period)
    x, xp, fp = periodic.reduced(x, xp, fp)
    return np.interp(x, xp, fp), (x, xp, fp, None, None), periodic


@frule.register(np.interp)
@pushforward
def interp_frule(
    dx: Array,
    dxp: Array,
    dfp: Array,
    dleft: Number,
    dright: Number,
    dperiod: Number,
    x: Array,
    xp: Array,
    fp: Array,
    left: Number = None,
    right: Number = None,
    period: Number = None,
) -> OutputAndTangent:
    y, (x_in, xp_in, fp_in, *ends), periodic = prepared(x, xp, fp, left, right, period)
    dx, dxp, dfp = map(full_tangent, (dx, dxp, dfp), (x, xp, fp))
    if periodic is not None:
        dx, dxp, dfp = periodic.tangents(dx, dxp, dfp, 0.0 + dperiod, np.sign(period))
    segments = Segments(x_in, xp_in, fp_in)
    dends = [None if end is None else 0.0 + dend for end, dend in zip(ends, (dleft, dright), strict=True)]
    of_first, of_second = segments.ends(dfp, *dends)
    first, second = segments.ends(dxp, 0.0, 0.0)
    first, second = of_first - segments.slopes * first, of_second - segments.slopes * second
    along = segments.slope() * dx + (1 - segments.weight) * first[segments.piece]
    return y, along + segments.weight * second[segments.piece]


@rrule.register(np.interp)
def interp_rrule(
    x: Array, xp: Array, fp: Array, left: Number = None, right: Number = None, period: Number = None
) -> OutputAndPullback:
    """y = f₀ (1 - t) + f₁ t with t = (x - x₀) / (x₁ - x₀), and the slope s = (f₁ - f₀) / (x₁ - x₀).

    Hence x̄ = conj(s) ȳ. Of ȳ, f̄₀ gets the part 1 - t and f̄₁ the part t; of -x̄, the same parts go to x̄₀ and x̄₁. Since s
    is one number for all that lies on one line, both are known from the sums of these parts over each line.
    """
    y, (x_in, xp_in, fp_in, left_in, right_in), periodic = prepared(x, xp, fp, left, right, period)
    shape = shape_of(x)

    @pullback_wrt(x, xp, fp, left, right, period)
    def interp_pullback(ybar):
        segments = Segments(x_in, xp_in, fp_in)
        sums = functools.cache(lambda: segments.sums(ybar))

        def points_bar(first, second):
            return segments.points_bar(first, second, left_in is not None, right_in is not None)

        @functools.cache
        def xbar():
            return np.real(conj(segments.slope()) * ybar)

        @functools.cache
        def reduced_xp_bar():
            slopes = conj(segments.slopes)
            return points_bar(*[-np.real(slopes * part) for part in sums()])

        def in_given_order(points_bar):
            return points_bar if periodic is None else periodic.unwrapped(points_bar)

        return (
            lambda: np.reshape(xbar(), shape),
            lambda: in_given_order(reduced_xp_bar()),
            lambda: in_given_order(points_bar(*sums())),
            # With a period nothing is outside.
            lambda: sums()[0][0],
            lambda: sums()[0][-2],
            lambda: periodic.period_bar(xbar(), reduced_xp_bar(), np.sign(period)),
        )

    return y, interp_pullback
