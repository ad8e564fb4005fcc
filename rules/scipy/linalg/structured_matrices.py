"""Rules of what builds matrices of a structure: ``block_diag``, ``toeplitz``, ``circulant``, ``companion`` and others.

Most of them put the elements of a vector in fixed places of a matrix: y = x[places], whose transpose is `scatter`.
"""

import functools

import numpy as np

import scipy.linalg
from rulescore import apply_linear, frule, pullback_wrt, pushforward, rrule, seen_by_tracers, unbroadcast
from rulescore.typing import Array, Arrays, Choice, Count, OutputAndPullback, OutputAndTangent

from ...numpy.array_like import as_array, as_array_tangent, shape_of
from ...numpy.indexing import scatter
from .operands import decline_flattened_toeplitz, decline_matrices

# ---------------------------------------------------------------- elements in places


def at_least_1d(x):
    x = as_array(x)
    return x if np.ndim(x) else np.reshape(x, (1,))


def onto(bar, shape):
    """The cotangent of an argument of this shape, which is taken for a vector where it is a number."""
    return np.reshape(unbroadcast(bar, shape or (1,)), shape)


def full_tangent(dx, x):
    """The tangent as an array, also where it is zero: for what is linear in several arguments together."""
    return as_array_tangent(dx, x) + np.zeros_like(as_array(x))


def summed_onto(ybar, places, count):
    """x̄ᵢ = Σ ȳ of those elements of a matrix, or of each matrix of a stack, that come from xᵢ; none from i < 0."""
    where = places >= 0
    return scatter(ybar[..., where], (..., places[where]), (*np.shape(ybar)[:-2], count), ybar.dtype)


# ---------------------------------------------------------------- Toeplitz and Hankel matrices


def antidiagonal_sums(y):
    """Σ yᵢⱼ for i + j = 0, 1 ... up to the last row, and from there on with a zero in front.

    They are the sums of the columns, when the rows have as many zeros behind them and are cut one element shorter.
    """
    rows, columns = np.shape(y)[-2:]
    stack, width = np.shape(y)[:-2], rows + columns - 1
    if not rows or not columns:
        return np.zeros((*stack, rows), y.dtype), np.zeros((*stack, columns), y.dtype)
    with_zeros = np.concatenate([y, np.zeros((*stack, rows, rows), y.dtype)], axis=-1)
    flat = np.reshape(with_zeros, (*stack, rows * (width + 1)))[..., : rows * width]
    sums = np.sum(np.reshape(flat, (*stack, rows, width)), axis=-2)
    return sums[..., :rows], without_first(sums[..., rows - 1 :])


def diagonal_sums(y):
    """Σ yᵢⱼ for i - j = 0, 1 ..., and for j - i = 0, 1 ... with a zero in front: the main diagonal counts once."""
    below, above = antidiagonal_sums(y[..., ::-1, :])
    return below[..., ::-1], above


def without_first(x):
    """With a zero in the place of the first element."""
    return np.concatenate([np.zeros_like(x[..., :1]), x[..., 1:]], axis=-1)


toeplitz = functools.partial(seen_by_tracers, scipy.linalg.toeplitz)


@frule.register(scipy.linalg.toeplitz)
@pushforward
def toeplitz_frule(dc: Array, dr: Array, c: Array, r: Array = None) -> OutputAndTangent:
    decline_flattened_toeplitz(c, r)
    if r is None:
        return toeplitz(c), toeplitz(as_array_tangent(dc, c))
    return toeplitz(c, r), toeplitz(full_tangent(dc, c), full_tangent(dr, r))


@rrule.register(scipy.linalg.toeplitz)
def toeplitz_rrule(c: Array, r: Array = None) -> OutputAndPullback:
    """The sums of ȳ along the diagonals. Without a row, that is the conjugate of the column."""
    decline_flattened_toeplitz(c, r)
    shape_c, shape_r = shape_of(c), shape_of(r)

    @pullback_wrt(c, r)
    def toeplitz_pullback(ybar):
        below, above = diagonal_sums(ybar)
        return lambda: onto(below + np.conjugate(above) if r is None else below, shape_c), lambda: onto(above, shape_r)

    return toeplitz(c, r), toeplitz_pullback


hankel = functools.partial(seen_by_tracers, scipy.linalg.hankel)


@frule.register(scipy.linalg.hankel)
@pushforward
def hankel_frule(dc: Array, dr: Array, c: Array, r: Array = None) -> OutputAndTangent:
    decline_matrices(c, r)
    if r is None:
        return hankel(c), hankel(as_array_tangent(dc, c))
    return hankel(c, r), hankel(full_tangent(dc, c), full_tangent(dr, r))


@rrule.register(scipy.linalg.hankel)
def hankel_rrule(c: Array, r: Array = None) -> OutputAndPullback:
    """The sums of ȳ along what runs across the diagonals: of the column up to its last element, then of the row."""
    decline_matrices(c, r)
    shape_c, shape_r = shape_of(c), shape_of(r)

    @pullback_wrt(c, r)
    def hankel_pullback(ybar):
        of_column, of_row = antidiagonal_sums(ybar)
        return lambda: onto(of_column, shape_c), lambda: onto(of_row, shape_r)

    return hankel(c, r), hankel_pullback


circulant = functools.partial(seen_by_tracers, scipy.linalg.circulant)


@frule.register(scipy.linalg.circulant)
@pushforward
def circulant_frule(dc: Array, c: Array) -> OutputAndTangent:
    return circulant(c), circulant(as_array_tangent(dc, c))


@rrule.register(scipy.linalg.circulant)
def circulant_rrule(c: Array) -> OutputAndPullback:
    """The sums of ȳ along the diagonals, each with the one that continues it on the other side."""
    shape = shape_of(c)

    @pullback_wrt(c)
    def circulant_pullback(ybar):
        below, above = diagonal_sums(ybar)
        return np.reshape(below + np.concatenate([above[..., :1], above[..., :0:-1]], axis=-1), shape)

    return circulant(c), circulant_pullback


convolution_matrix = functools.partial(seen_by_tracers, scipy.linalg.convolution_matrix)


@frule.register(scipy.linalg.convolution_matrix)
@pushforward
def convolution_matrix_frule(da: Array, a: Array, n: Count, mode: Choice = "full") -> OutputAndTangent:
    return convolution_matrix(a, n, mode), convolution_matrix(as_array_tangent(da, a), n, mode)


@rrule.register(scipy.linalg.convolution_matrix)
def convolution_matrix_rrule(a: Array, n: Count, mode: Choice = "full") -> OutputAndPullback:
    """The sums of ȳ along the diagonals, on which the elements of ``a`` lie one after the other."""
    length = shape_of(a)[-1]
    cut_above = {"full": 0, "same": (min(n, length) - 1) // 2, "valid": min(n, length) - 1}

    @pullback_wrt(a)
    def convolution_matrix_pullback(ybar):
        below, above = diagonal_sums(ybar)
        first = n - 1 - cut_above[mode]
        return np.concatenate([above[..., :0:-1], below], axis=-1)[..., first : first + length]

    return convolution_matrix(a, n, mode), convolution_matrix_pullback


# ---------------------------------------------------------------- matrices of population and control theory


leslie = functools.partial(seen_by_tracers, scipy.linalg.leslie)


@frule.register(scipy.linalg.leslie)
@pushforward
def leslie_frule(df: Array, ds: Array, f: Array, s: Array) -> OutputAndTangent:
    return leslie(f, s), leslie(full_tangent(df, f), full_tangent(ds, s))


@rrule.register(scipy.linalg.leslie)
def leslie_rrule(f: Array, s: Array) -> OutputAndPullback:
    """The first row is f, and below the diagonal there is s."""
    shape_f, shape_s = shape_of(f), shape_of(s)

    def f_bar(ybar):
        return onto(ybar[..., 0, :], shape_f)

    def s_bar(ybar):
        return onto(np.diagonal(ybar, -1, -2, -1), shape_s)

    return leslie(f, s), pullback_wrt(f, s)(f_bar, s_bar)


diagsvd = functools.partial(seen_by_tracers, scipy.linalg.diagsvd)


@frule.register(scipy.linalg.diagsvd)
@pushforward
def diagsvd_frule(ds: Array, s: Array, M: Count, N: Count) -> OutputAndTangent:
    return diagsvd(s, M, N), diagsvd(as_array_tangent(ds, s), M, N)


@rrule.register(scipy.linalg.diagsvd)
def diagsvd_rrule(s: Array, M: Count, N: Count) -> OutputAndPullback:
    shape = shape_of(s)
    return diagsvd(s, M, N), pullback_wrt(s)(lambda ybar: np.reshape(np.diagonal(ybar, 0, -2, -1), shape))


@frule.register(scipy.linalg.companion)
@pushforward
def companion_frule(da: Array, a: Array) -> OutputAndTangent:
    y = seen_by_tracers(scipy.linalg.companion, a)
    return y, first_row(monic_tangent(at_least_1d(a), as_array_tangent(da, a)), np.shape(y))


def monic_tangent(a, da):
    """Of -a₁ / a₀, -a₂ / a₀ ..."""
    return (-da[..., 1:] + a[..., 1:] / a[..., :1] * da[..., :1]) / a[..., :1]


def monic_cotangent(a, row_bar):
    """The transpose of `monic_tangent`."""
    first = np.conjugate(a[..., :1])
    rest = -row_bar / first
    return np.concatenate([-np.sum(np.conjugate(a[..., 1:]) / first * rest, axis=-1, keepdims=True), rest], axis=-1)


def first_row(row, shape):
    """A matrix with this first row, and zeros below."""
    below = np.zeros((*shape[:-2], shape[-2] - 1, shape[-1]), row.dtype)
    return np.concatenate([row[..., None, :], below], axis=-2)


@rrule.register(scipy.linalg.companion)
def companion_rrule(a: Array) -> OutputAndPullback:
    """The first row is -aᵢ / a₀, and all else is constant."""
    y, vector = seen_by_tracers(scipy.linalg.companion, a), at_least_1d(a)
    return y, pullback_wrt(a)(lambda ybar: monic_cotangent(vector, ybar[..., 0, :]))


def fiedler_companion_places(n):
    """Which element of the row of -aᵢ / a₀ stands where in the matrix."""
    marks = scipy.linalg.fiedler_companion(np.concatenate([[1.0], -np.arange(2.0, n + 1)]))
    return np.where(marks > 1, marks - 2, -1).astype(int)


@frule.register(scipy.linalg.fiedler_companion)
@pushforward
def fiedler_companion_frule(da: Array, a: Array) -> OutputAndTangent:
    vector, y = at_least_1d(a), seen_by_tracers(scipy.linalg.fiedler_companion, a)
    if 0 in np.shape(y):
        return y, np.zeros_like(y)
    places = fiedler_companion_places(vector.shape[-1])
    moved = monic_tangent(vector, as_array_tangent(da, a))
    return y, np.where(places >= 0, moved[..., np.maximum(places, 0)], 0)


@rrule.register(scipy.linalg.fiedler_companion)
def fiedler_companion_rrule(a: Array) -> OutputAndPullback:
    y, vector, shape = seen_by_tracers(scipy.linalg.fiedler_companion, a), at_least_1d(a), shape_of(a)

    @pullback_wrt(a)
    def fiedler_companion_pullback(ybar):
        if 0 in np.shape(y):
            return np.zeros(shape, ybar.dtype)
        n = vector.shape[-1]
        return monic_cotangent(vector, summed_onto(ybar, fiedler_companion_places(n), n - 1))

    return y, fiedler_companion_pullback


@frule.register(scipy.linalg.fiedler)
@pushforward
def fiedler_frule(da: Array, a: Array) -> OutputAndTangent:
    da, vector, y = as_array_tangent(da, a), at_least_1d(a), seen_by_tracers(scipy.linalg.fiedler, a)
    if vector.size < 2:
        return y, np.zeros_like(y)
    signs = np.sign(vector[..., :, None] - vector[..., None, :])
    return y, np.real(np.conjugate(signs) * (da[..., :, None] - da[..., None, :]))


@rrule.register(scipy.linalg.fiedler)
def fiedler_rrule(a: Array) -> OutputAndPullback:
    """Of |aᵢ - aⱼ|, whose slope is its sign, and 0 where both are equal."""
    vector, shape = at_least_1d(a), shape_of(a)

    @pullback_wrt(a)
    def fiedler_pullback(ybar):
        if vector.size < 2:
            return np.zeros(shape, ybar.dtype)
        signed = np.sign(vector[..., :, None] - vector[..., None, :]) * np.real(ybar)
        return np.sum(signed, axis=-1) - np.sum(signed, axis=-2)

    return seen_by_tracers(scipy.linalg.fiedler, a), fiedler_pullback


# ---------------------------------------------------------------- block_diag and khatri_rao


block_diag = functools.partial(seen_by_tracers, scipy.linalg.block_diag)


@frule.register(scipy.linalg.block_diag)
@pushforward
def block_diag_frule(darrs: Arrays, *arrs: Arrays) -> OutputAndTangent:
    return block_diag(*arrs), block_diag(*map(full_tangent, darrs, arrs))


def matrix_shape(shape):
    return (1,) * (2 - len(shape)) + tuple(shape)


@rrule.register(scipy.linalg.block_diag)
def block_diag_rrule(*arrs: Arrays) -> OutputAndPullback:
    """Each block has its own part of ȳ."""
    cotangents, row, column = [], 0, 0
    for shape in map(shape_of, arrs):
        of_matrix = matrix_shape(shape)
        rows, columns = slice(row, row + of_matrix[-2]), slice(column, column + of_matrix[-1])
        cotangents.append(functools.partial(block_cotangent, shape, (..., rows, columns)))
        row, column = rows.stop, columns.stop
    return block_diag(*arrs), pullback_wrt(*arrs)(*cotangents)


def block_cotangent(shape, place, ybar):
    return np.reshape(unbroadcast(ybar[place], matrix_shape(shape)), shape)


khatri_rao = functools.partial(seen_by_tracers, scipy.linalg.khatri_rao)


@frule.register(scipy.linalg.khatri_rao)
@pushforward
def khatri_rao_frule(da: Array, db: Array, a: Array, b: Array) -> OutputAndTangent:
    of_a = apply_linear(lambda da: khatri_rao(da, b), as_array_tangent(da, a))
    return khatri_rao(a, b), of_a + apply_linear(lambda db: khatri_rao(a, db), as_array_tangent(db, b))


@rrule.register(scipy.linalg.khatri_rao)
def khatri_rao_rrule(a: Array, b: Array) -> OutputAndPullback:
    """y of row (i, j) is aᵢ bⱼ, column by column."""
    matrix_a, matrix_b = as_array(a), as_array(b)
    shape_a, shape_b = np.shape(matrix_a), np.shape(matrix_b)

    def pairs(ybar):
        return np.reshape(ybar, (*np.shape(ybar)[:-2], shape_a[-2], shape_b[-2], np.shape(ybar)[-1]))

    def a_bar(ybar):
        return unbroadcast(np.einsum("...ijk,...jk->...ik", pairs(ybar), np.conjugate(matrix_b)), shape_a)

    def b_bar(ybar):
        return unbroadcast(np.einsum("...ijk,...ik->...jk", pairs(ybar), np.conjugate(matrix_a)), shape_b)

    return khatri_rao(a, b), pullback_wrt(a, b)(a_bar, b_bar)
