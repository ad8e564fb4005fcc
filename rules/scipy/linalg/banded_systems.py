"""Rules of linear systems with banded matrices, whose diagonals are the rows of an array, and of their Cholesky factor.

With l diagonals below and u above, row k of that array holds the elements (j + k - u, j) of the matrix, by j. All
derivatives here work on these rows, but that of the Cholesky factor, which works on blocks along the diagonal, and on
the whole matrix where it is differentiated itself.
"""

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy.linalg
from rulescore import NoTangent, frule, pullback_wrt, pushforward, rrule, seen_by_tracers, unbroadcast
from rulescore.typing import Array, Arrays, Flag, OutputAndPullback, OutputAndTangent

from ...numpy.array_like import as_array, as_array_tangent, conj, shape_of
from ...numpy.indexing import scatter
from ...numpy.linalg.cholesky import (
    cotangent_of_triangle,
    hermitian_from,
    lower_cholesky_cotangent,
    lower_cholesky_tangent,
)
from .cholesky import factor_cotangent, factor_tangent
from .linear_systems import LinearSystem

# ---------------------------------------------------------------- bands


def shifted(x, steps):
    """xᵢ₊ₛ in row i, along the last axis but one; zeros from outside."""
    n = np.shape(x)[-2]
    steps = max(-n, min(n, steps))
    if steps == 0:
        return x
    zeros = np.zeros((*np.shape(x)[:-2], abs(steps), np.shape(x)[-1]), x.dtype)
    parts = [x[..., steps:, :], zeros] if steps > 0 else [zeros, x[..., :steps, :]]
    return np.concatenate(parts, axis=-2)


def band_product(ab, upper, x):
    """A X."""
    terms = [shifted(ab[..., k, :, None] * x, upper - k) for k in range(np.shape(ab)[-2])]
    return sum(terms[1:], terms[0])


def band_of_product(left, right, count, upper):
    """The diagonals of left rightᴴ, as many as ``count``."""
    right = conj(right)
    return np.stack([np.sum(shifted(left, k - upper) * right, axis=-1) for k in range(count)], axis=-2)


def adjoint_band(ab, lower):
    """The diagonals of Aᴴ, of which those above are as many as those of A below."""
    count = np.shape(ab)[-2]
    rows = [shifted(conj(ab[..., count - 1 - k, :, None]), k - lower)[..., 0] for k in range(count)]
    return np.stack(rows, axis=-2)


def in_band(n, count, upper):
    """Which elements of the array lie in the matrix, and where."""
    row, column = np.arange(count)[:, None] + np.arange(n) - upper, np.broadcast_to(np.arange(n), (count, n))
    inside = (row >= 0) & (row < n)
    return inside, row[inside], column[inside]


def dense(ab, upper):
    """The matrix of these diagonals."""
    count, n = np.shape(ab)[-2:]
    inside, rows, columns = in_band(n, count, upper)
    return scatter(ab[..., inside], (..., rows, columns), (*np.shape(ab)[:-2], n, n), ab.dtype)


def outside_of_matrix(ab, upper):
    """The elements that lie in no matrix, of which a Cholesky factor keeps what was there."""
    return np.where(in_band(np.shape(ab)[-1], np.shape(ab)[-2], upper)[0], 0, ab)


def diagonals(a, count, upper):
    """The diagonals of a matrix."""
    n = np.shape(a)[-1]
    inside, rows, columns = in_band(n, count, upper)
    return scatter(a[..., rows, columns], (..., *np.nonzero(inside)), (*np.shape(a)[:-2], count, n), a.dtype)


# ---------------------------------------------------------------- solve_banded


def banded_system(l_and_u, ab, b):
    lower, upper = l_and_u
    if np.ndim(lower) or np.ndim(upper):
        raise MDNotImplementedError
    lower, upper, ab = int(lower), int(upper), as_array(ab)

    def solve(b, check_finite=False):
        return seen_by_tracers(scipy.linalg.solve_banded, (lower, upper), ab, b, check_finite=check_finite)

    def solve_adjoint(b):
        flipped = adjoint_band(ab, lower)
        return seen_by_tracers(scipy.linalg.solve_banded, (upper, lower), flipped, b, check_finite=False)

    def applied(dab, x):
        return band_product(dab, upper, x)

    return LinearSystem(solve, solve_adjoint, applied, len(shape_of(b)) == 1), upper


@frule.register(scipy.linalg.solve_banded)
@pushforward
def solve_banded_frule(
    dab: Array,
    db: Array,
    l_and_u: Arrays,
    ab: Array,
    b: Array,
    overwrite_ab: Flag = False,
    overwrite_b: Flag = False,
    check_finite: Flag = True,
) -> OutputAndTangent:
    system, _ = banded_system(l_and_u, ab, b)
    x = system.solve(b, check_finite)
    return x, system.tangent(x, as_array_tangent(dab, ab), as_array_tangent(db, b))


@rrule.register(scipy.linalg.solve_banded)
def solve_banded_rrule(
    l_and_u: Arrays,
    ab: Array,
    b: Array,
    overwrite_ab: Flag = False,
    overwrite_b: Flag = False,
    check_finite: Flag = True,
) -> OutputAndPullback:
    """See `LinearSystem`; the adjoint system has the diagonals of Aᴴ, and Ā is wanted on those of A alone."""
    system, upper = banded_system(l_and_u, ab, b)
    x, shape_ab, shape_b = system.solve(b, check_finite), shape_of(ab), shape_of(b)

    @pullback_wrt(..., ab, b)
    def solve_banded_pullback(xbar):
        left, right = system.cotangents(x, xbar)
        return (
            lambda: unbroadcast(-band_of_product(left, right, shape_ab[-2], upper), shape_ab),
            lambda: unbroadcast(system.as_given(left), shape_b),
        )

    return x, solve_banded_pullback


# ---------------------------------------------------------------- solveh_banded


class HermitianBand:
    """A Hermitian matrix of whose diagonals those on one side are given, with a real one in the middle."""

    def __init__(self, count, lower):
        if not count:
            raise MDNotImplementedError
        self.count, self.upper = count, 0 if lower else count - 1
        self.is_main = np.arange(count)[:, None] == self.upper

    def with_half_diagonal(self, ab):
        """Half of the matrix, of which the other half is the adjoint."""
        return np.where(self.is_main, 0.5 * np.real(ab), ab)

    def product(self, ab, x):
        half, other = self.with_half_diagonal(ab), self.count - 1 - self.upper
        return band_product(half, self.upper, x) + band_product(adjoint_band(half, other), other, x)

    def cotangent(self, left, right):
        """Of the diagonals, for Ā = -left rightᴴ."""
        both = band_of_product(left, right, self.count, self.upper)
        return -self.with_half_diagonal(both + band_of_product(right, left, self.count, self.upper))


def hermitian_banded_system(ab, b, lower):
    ab = as_array(ab)
    band = HermitianBand(np.shape(ab)[-2], lower)

    def solve(b, check_finite=False):
        return seen_by_tracers(scipy.linalg.solveh_banded, ab, b, lower=lower, check_finite=check_finite)

    return LinearSystem(solve, solve, band.product, len(shape_of(b)) == 1), band


@frule.register(scipy.linalg.solveh_banded)
@pushforward
def solveh_banded_frule(
    dab: Array,
    db: Array,
    ab: Array,
    b: Array,
    overwrite_ab: Flag = False,
    overwrite_b: Flag = False,
    lower: Flag = False,
    check_finite: Flag = True,
) -> OutputAndTangent:
    system, _ = hermitian_banded_system(ab, b, lower)
    x = system.solve(b, check_finite)
    return x, system.tangent(x, as_array_tangent(dab, ab), as_array_tangent(db, b))


@rrule.register(scipy.linalg.solveh_banded)
def solveh_banded_rrule(
    ab: Array,
    b: Array,
    overwrite_ab: Flag = False,
    overwrite_b: Flag = False,
    lower: Flag = False,
    check_finite: Flag = True,
) -> OutputAndPullback:
    """See `LinearSystem`; the system is its own adjoint."""
    system, band = hermitian_banded_system(ab, b, lower)
    x, shape_ab, shape_b = system.solve(b, check_finite), shape_of(ab), shape_of(b)

    @pullback_wrt(ab, b)
    def solveh_banded_pullback(xbar):
        left, right = system.cotangents(x, xbar)
        return (
            lambda: unbroadcast(band.cotangent(left, right), shape_ab),
            lambda: unbroadcast(system.as_given(left), shape_b),
        )

    return x, solveh_banded_pullback


# ---------------------------------------------------------------- cholesky_banded and cho_solve_banded


def decline_without_diagonals(ab):
    if len(shape_of(ab)) < 2 or 0 in shape_of(ab):
        raise MDNotImplementedError


@frule.register(scipy.linalg.cholesky_banded)
@pushforward
def cholesky_banded_frule(
    dab: Array, ab: Array, overwrite_ab: Flag = False, lower: Flag = False, check_finite: Flag = True
) -> OutputAndTangent:
    decline_without_diagonals(ab)
    y = seen_by_tracers(scipy.linalg.cholesky_banded, ab, lower=lower, check_finite=check_finite)
    dab = as_array_tangent(dab, ab)
    count = np.shape(y)[-2]
    upper = 0 if lower else count - 1
    if is_worth_blocks(y, dab):
        dfactor = banded_tangent(y, dab, lower)
    else:
        dfactor = diagonals(factor_tangent(dense(y, upper), dense(dab, upper), lower), count, upper)
    return y, dfactor + outside_of_matrix(dab, upper)


@rrule.register(scipy.linalg.cholesky_banded)
def cholesky_banded_rrule(
    ab: Array, overwrite_ab: Flag = False, lower: Flag = False, check_finite: Flag = True
) -> OutputAndPullback:
    """As the rule of ``cholesky``; see `banded_cotangent`."""
    decline_without_diagonals(ab)
    y = seen_by_tracers(scipy.linalg.cholesky_banded, ab, lower=lower, check_finite=check_finite)

    @pullback_wrt(ab)
    def cholesky_banded_pullback(ybar):
        count = np.shape(y)[-2]
        upper = 0 if lower else count - 1
        ybar = np.where(np.arange(count)[:, None] == upper, np.real(ybar), ybar)  # as the diagonal is
        if is_worth_blocks(y, ybar):
            abar = banded_cotangent(y, ybar, lower)
        else:
            abar = diagonals(factor_cotangent(dense(y, upper), dense(ybar, upper), lower), count, upper)
        return abar + outside_of_matrix(ybar, upper)

    return y, cholesky_banded_pullback


def block_length(count):
    """Of the blocks along the diagonal: as many as the band is wide, but enough to make their number small."""
    return max(count - 1, 48)


def is_worth_blocks(y, dy):
    return type(y) is type(dy) is np.ndarray and y.ndim == 2 and y.shape[1] > 2 * block_length(len(y))


def banded_tangent(y, da, lower):
    """The tangent of the factor's diagonals, block by block; the letters are those of `banded_cotangent`."""
    if not lower:
        return adjoint_band(banded_tangent(adjoint_band(y, 0), adjoint_band(da, 0), lower=True), len(y) - 1)
    n, size, dy = y.shape[1], block_length(len(y)), np.zeros_like(y)
    previous = dprevious = None
    for start in range(0, n, size):
        stop, before = min(start + size, n), start - size
        factor, dblock = (block_of(band, start, stop, start, stop) for band in (y, da))
        dblock = hermitian_from(dblock, upper=False)
        if start:
            m, dc = (block_of(band, start, stop, before, start) for band in (y, da))
            right = dc - m @ dprevious.conj().T
            dm = scipy.linalg.solve_triangular(previous, right.conj().T, lower=True, check_finite=False).conj().T
            add_block(dy, dm, start, before)
            moved = dm @ m.conj().T
            dblock = dblock - moved - moved.conj().T
        previous, dprevious = factor, lower_cholesky_tangent(factor, dblock)
        add_block(dy, dprevious, start, start)
    return np.where(np.arange(len(y))[:, None] == 0, dy.real, dy)  # without rounding errors on the diagonal


def banded_cotangent(y, ybar, lower):
    """The cotangent of the diagonals, from the last block on the diagonal to the first.

    With the blocks Lₖ on the diagonal of L and Mₖ to their left, Aₖ = Lₖ Lₖᴴ + Mₖ Mₖᴴ and Cₖ = Mₖ Lₖ₋₁ᴴ.
    So each Lₖ has the cotangent of a small Cholesky factor, P of Aₖ, to which Mₖ adds -2 P Mₖ to its own, Q; and with
    the cotangent C̄ = Q Lₖ₋₁⁻¹, -C̄ᴴ Mₖ comes to that of Lₖ₋₁.
    """
    if not lower:  # U = Lᴴ
        count = len(y)
        y, ybar = adjoint_band(y, 0), adjoint_band(ybar, 0)
        # Cotangents of the elements above the diagonal are the conjugates of those below it.
        return adjoint_band(banded_cotangent(y, ybar, lower=True), count - 1)
    count, n = y.shape
    size, abar, of_l = block_length(count), np.zeros_like(y), 0
    starts = range(0, n, size)
    for start in reversed(starts):
        stop = min(start + size, n)
        factor, factor_bar = (block_of(band, start, stop, start, stop) for band in (y, ybar))
        p = lower_cholesky_cotangent(factor, np.tril(factor_bar + of_l))
        add_block(abar, cotangent_of_triangle(p, upper=False), start, start)
        if start == 0:
            return abar
        before = start - size
        m, q = (block_of(band, start, stop, before, start) for band in (y, ybar))
        q = q - 2 * p @ m
        previous = block_of(y, before, start, before, start)
        c_bar = scipy.linalg.solve_triangular(previous, q.conj().T, trans=2, lower=True, check_finite=False).conj().T
        add_block(abar, c_bar, start, before)
        of_l = -c_bar.conj().T @ m
    return abar


def block_of(band, row, last_row, column, last_column):
    """A block of a lower triangular matrix with these diagonals."""
    rows, columns = np.arange(row, last_row)[:, None], np.arange(column, last_column)
    place = rows - columns
    inside = (place >= 0) & (place < len(band))
    return np.where(inside, band[np.where(inside, place, 0), columns], 0)


def add_block(band, block, row, column):
    """What of a block lies on these diagonals, written there."""
    rows, columns = row + np.arange(block.shape[0])[:, None], column + np.arange(block.shape[1])
    place = rows - columns
    inside = (place >= 0) & (place < len(band))
    band[place[inside], np.broadcast_to(columns, place.shape)[inside]] += block[inside]


class BandedFactor:
    """The system L Lᴴ X = B, or Uᴴ U X = B, with the diagonals of the factor."""

    def __init__(self, cb_and_lower, b):
        cb, self.lower = cb_and_lower
        self.cb, self.count = as_array(cb), shape_of(cb)[-2]
        self.upper = 0 if self.lower else self.count - 1
        self.system = LinearSystem(self.solve, self.solve, self.applied, len(shape_of(b)) == 1)

    def solve(self, b, check_finite=False):
        pair = (self.cb, self.lower)
        return seen_by_tracers(scipy.linalg.cho_solve_banded, pair, b, check_finite=check_finite)

    def times_adjoint(self, cb, x):
        """Lᴴ X, or Uᴴ X."""
        other = self.count - 1 - self.upper
        return band_product(adjoint_band(cb, other), other, x)

    def applied(self, dcb, x):
        if self.lower:
            first = band_product(dcb, 0, self.times_adjoint(self.cb, x))
            return first + band_product(self.cb, 0, self.times_adjoint(dcb, x))
        first = self.times_adjoint(dcb, band_product(self.cb, self.upper, x))
        return first + self.times_adjoint(self.cb, band_product(dcb, self.upper, x))

    def cotangent(self, left, right):
        """Of the factor, L̄ = (Ā + Āᴴ) L or Ū = U (Ā + Āᴴ) with Ā = -left rightᴴ, on its diagonals."""
        if self.lower:
            pairs = (left, self.times_adjoint(self.cb, right)), (right, self.times_adjoint(self.cb, left))
        else:
            pairs = (
                (band_product(self.cb, self.upper, left), right),
                (band_product(self.cb, self.upper, right), left),
            )
        first, second = (band_of_product(*pair, self.count, self.upper) for pair in pairs)
        return -(first + second)


@frule.register(scipy.linalg.cho_solve_banded)
@pushforward
def cho_solve_banded_frule(
    dcb_and_lower: Arrays,
    db: Array,
    cb_and_lower: Arrays,
    b: Array,
    overwrite_b: Flag = False,
    check_finite: Flag = True,
) -> OutputAndTangent:
    factor = BandedFactor(cb_and_lower, b)
    dcb, x = as_array_tangent(dcb_and_lower[0], cb_and_lower[0]), factor.solve(b, check_finite)
    return x, factor.system.tangent(x, dcb, as_array_tangent(db, b))


@rrule.register(scipy.linalg.cho_solve_banded)
def cho_solve_banded_rrule(
    cb_and_lower: Arrays, b: Array, overwrite_b: Flag = False, check_finite: Flag = True
) -> OutputAndPullback:
    """As the rule of ``cho_solve``; see `BandedFactor`."""
    factor = BandedFactor(cb_and_lower, b)
    x, shape_c, shape_b = factor.solve(b, check_finite), shape_of(cb_and_lower[0]), shape_of(b)

    @pullback_wrt(cb_and_lower, b)
    def cho_solve_banded_pullback(xbar):
        left, right = factor.system.cotangents(x, xbar)
        return (
            lambda: (unbroadcast(factor.cotangent(left, right), shape_c), NoTangent()),
            lambda: unbroadcast(factor.system.as_given(left), shape_b),
        )

    return x, cho_solve_banded_pullback
