"""Rules of what builds matrices of a structure: ``block_diag``, ``toeplitz``, ``circulant``, ``companion`` and others.

Most of them put the elements of a vector in fixed places of a matrix: y = x[places], whose transpose is `scatter`.
"""

import functools

import numpy as np
import scipy.linalg
from multipledispatch import MDNotImplementedError

from rules.numpy.array_like import as_array, as_array_tangent, seen_by_tracers, shape_of
from rules.numpy.indexing import scatter
from rules.numpy.products import bilinear_and_pullback, bilinear_and_tangent
from rulescore import (
    AbstractZero,
    NoTangent,
    Thunk,
    ZeroTangent,
    frule,
    project_to,
    pushforward,
    rrule,
    unbroadcast,
    unthunk,
)

NO_TANGENT = NoTangent()
ZERO_TANGENT = ZeroTangent()

# ---------------------------------------------------------------- elements in places


def at_least_1d(x):
    x = as_array(x)
    return x if np.ndim(x) else np.reshape(x, (1,))


def itself(ybar):
    return ybar


def placed_rrule(y, arguments, cotangents, shared=itself):
    """The reverse rule of a matrix whose elements come linearly from its arguments.

    Each cotangent is a function of what all of them have in common, which is a function of ȳ.
    """
    projects, shapes = [project_to(x) for x in arguments], [shape_of(x) for x in arguments]

    def placed_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return NO_TANGENT, *(project(ybar) for project in projects)
        if 0 in np.shape(y):
            zeros = [np.zeros(shape, ybar.dtype) for shape in shapes]
            return NO_TANGENT, *(project(bar) for project, bar in zip(projects, zeros, strict=True))
        common = Thunk(lambda: shared(ybar))
        bars = [
            Thunk(lambda bar=bar, project=project, shape=shape: project(np.reshape(bar(unthunk(common)), shape)))
            for bar, project, shape in zip(cotangents, projects, shapes, strict=True)
        ]
        return NO_TANGENT, *bars

    return y, placed_pullback


def tangent_or_zeros(dx, x):
    """A tangent as an array, also where it is zero."""
    return np.zeros_like(x) if isinstance(dx, AbstractZero) else dx


def linear_frule(f, tangents, *arguments):
    """ẏ = f(ẋ) of a function that is linear in all its arguments together."""
    dxs = [as_array_tangent(unthunk(dx), x) for dx, x in zip(tangents[1:], arguments, strict=True)]
    y = f(*arguments)
    if all(isinstance(dx, AbstractZero) for dx in dxs):
        return y, ZERO_TANGENT
    moved = [tangent_or_zeros(dx, as_array(x)) for dx, x in zip(dxs, arguments, strict=True)]
    return y, project_to(y)(f(*moved))


def summed_onto(ybar, places, count):
    """x̄ᵢ = Σ ȳ of those elements of a matrix, or of each matrix of a stack, that come from xᵢ; none from i < 0."""
    where = places >= 0
    return scatter(ybar[..., where], (..., places[where]), (*np.shape(ybar)[:-2], count), ybar.dtype)


# ---------------------------------------------------------------- Toeplitz and Hankel matrices


def antidiagonal_sums(y):
    """Σ yᵢⱼ for i + j = 0, 1 ... of a matrix: its rows with as many zeros behind them, cut one element shorter."""
    rows, columns = np.shape(y)[-2:]
    stack, width = np.shape(y)[:-2], rows + columns - 1
    with_zeros = np.concatenate([y, np.zeros((*stack, rows, rows), y.dtype)], axis=-1)
    flat = np.reshape(with_zeros, (*stack, rows * (width + 1)))[..., : rows * width]
    return np.sum(np.reshape(flat, (*stack, rows, width)), axis=-2)


def diagonal_sums(y):
    """Σ yᵢⱼ for i - j = 0, 1 ..., and for j - i = 0, 1 ... with a zero in front: the main diagonal counts once."""
    rows = np.shape(y)[-2]
    sums = antidiagonal_sums(y[..., ::-1, :])
    return sums[..., :rows][..., ::-1], without_first(sums[..., rows - 1 :])


def without_first(x):
    """With a zero in the place of the first element."""
    return np.concatenate([np.zeros_like(x[..., :1]), x[..., 1:]], axis=-1)


@frule.register(scipy.linalg.toeplitz)
def toeplitz_frule(tangents, c, r=None):
    arguments = (c,) if r is None else (c, r)
    return linear_frule(
        functools.partial(seen_by_tracers, scipy.linalg.toeplitz), tangents[: len(arguments) + 1], *arguments
    )


@rrule.register(scipy.linalg.toeplitz)
def toeplitz_rrule(c, r=None):
    """The sums of ȳ along the diagonals. Without a row, that is the conjugate of the column."""
    y, shape = seen_by_tracers(scipy.linalg.toeplitz, c, r), np.shape(at_least_1d(c))
    if r is None:
        bars = [lambda sums: unbroadcast(sums[0] + np.conjugate(sums[1]), shape)]
        return placed_rrule(y, (c,), bars, diagonal_sums)
    shape_r = np.shape(at_least_1d(r))
    bars = [lambda sums: unbroadcast(sums[0], shape), lambda sums: unbroadcast(sums[1], shape_r)]
    return placed_rrule(y, (c, r), bars, diagonal_sums)


@frule.register(scipy.linalg.hankel)
def hankel_frule(tangents, c, r=None):
    decline_matrices(c, r)
    arguments = (c,) if r is None else (c, r)
    return linear_frule(
        functools.partial(seen_by_tracers, scipy.linalg.hankel), tangents[: len(arguments) + 1], *arguments
    )


def decline_matrices(*arguments):
    """What SciPy will soon take for stacks of vectors, and flattens still."""
    if any(len(shape_of(x)) > 1 for x in arguments if x is not None):
        raise MDNotImplementedError


@rrule.register(scipy.linalg.hankel)
def hankel_rrule(c, r=None):
    """The sums of ȳ along what runs across the diagonals: of the column up to its last element, then of the row."""
    decline_matrices(c, r)
    y = seen_by_tracers(scipy.linalg.hankel, c, r)
    rows, arguments = np.shape(y)[0], (c,) if r is None else (c, r)
    bars = [lambda sums: sums[:rows], lambda sums: without_first(sums[rows - 1 :])]
    return placed_rrule(y, arguments, bars[: len(arguments)], antidiagonal_sums)


@frule.register(scipy.linalg.circulant)
def circulant_frule(tangents, c):
    return linear_frule(functools.partial(seen_by_tracers, scipy.linalg.circulant), tangents, c)


@rrule.register(scipy.linalg.circulant)
def circulant_rrule(c):
    """The sums of ȳ along the diagonals, each with the one that continues it on the other side."""

    def c_bar(ybar):
        below, above = diagonal_sums(ybar)
        return below + np.concatenate([above[..., :1], above[..., :0:-1]], axis=-1)

    return placed_rrule(seen_by_tracers(scipy.linalg.circulant, c), (c,), [c_bar])


@frule.register(scipy.linalg.convolution_matrix)
def convolution_matrix_frule(tangents, a, n, mode="full"):
    return linear_frule(lambda a: seen_by_tracers(scipy.linalg.convolution_matrix, a, n, mode), tangents[:2], a)


@rrule.register(scipy.linalg.convolution_matrix)
def convolution_matrix_rrule(a, n, mode="full"):
    """The sums of ȳ along the diagonals, on which the elements of ``a`` lie one after the other."""
    length = shape_of(a)[-1]
    cut_above = {"full": 0, "same": (min(n, length) - 1) // 2, "valid": min(n, length) - 1}

    def a_bar(ybar):
        below, above = diagonal_sums(ybar)
        first = n - 1 - cut_above[mode]
        return np.concatenate([above[..., :0:-1], below], axis=-1)[..., first : first + length]

    return placed_rrule(seen_by_tracers(scipy.linalg.convolution_matrix, a, n, mode), (a,), [a_bar])


# ---------------------------------------------------------------- matrices of population and control theory


@frule.register(scipy.linalg.leslie)
def leslie_frule(tangents, f, s):
    return linear_frule(functools.partial(seen_by_tracers, scipy.linalg.leslie), tangents, f, s)


@rrule.register(scipy.linalg.leslie)
def leslie_rrule(f, s):
    """The first row is f, and below the diagonal there is s."""
    shape_f, shape_s = shape_of(f), shape_of(s)

    def f_bar(ybar):
        return unbroadcast(ybar[..., 0, :], shape_f)

    def s_bar(ybar):
        return unbroadcast(np.diagonal(ybar, -1, -2, -1), shape_s)

    return placed_rrule(seen_by_tracers(scipy.linalg.leslie, f, s), (f, s), [f_bar, s_bar])


@frule.register(scipy.linalg.diagsvd)
def diagsvd_frule(tangents, s, M, N):
    return linear_frule(lambda s: seen_by_tracers(scipy.linalg.diagsvd, s, M, N), tangents[:2], s)


@rrule.register(scipy.linalg.diagsvd)
def diagsvd_rrule(s, M, N):
    y = seen_by_tracers(scipy.linalg.diagsvd, s, M, N)
    return placed_rrule(y, (s,), [lambda ybar: np.diagonal(ybar, 0, -2, -1)])


@frule.register(scipy.linalg.companion)
def companion_frule(tangents, a):
    da, y = as_array_tangent(unthunk(tangents[1]), a), seen_by_tracers(scipy.linalg.companion, a)
    if isinstance(da, AbstractZero):
        return y, da
    return y, project_to(y)(first_row(monic_tangent(at_least_1d(a), da), np.shape(y)))


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
def companion_rrule(a):
    """The first row is -aᵢ / a₀, and all else is constant."""
    y, vector = seen_by_tracers(scipy.linalg.companion, a), at_least_1d(a)
    return placed_rrule(y, (a,), [lambda ybar: monic_cotangent(vector, ybar[..., 0, :])])


def fiedler_companion_places(n):
    """Which element of the row of -aᵢ / a₀ stands where in the matrix."""
    marks = scipy.linalg.fiedler_companion(np.concatenate([[1.0], -np.arange(2.0, n + 1)]))
    return np.where(marks > 1, marks - 2, -1).astype(int)


@frule.register(scipy.linalg.fiedler_companion)
def fiedler_companion_frule(tangents, a):
    da, y = as_array_tangent(unthunk(tangents[1]), a), seen_by_tracers(scipy.linalg.fiedler_companion, a)
    if isinstance(da, AbstractZero) or len(np.shape(y)) < 2:
        return y, ZERO_TANGENT
    vector = at_least_1d(a)
    places = fiedler_companion_places(vector.shape[-1])
    moved = monic_tangent(vector, da)
    return y, project_to(y)(np.where(places >= 0, moved[..., np.maximum(places, 0)], 0))


@rrule.register(scipy.linalg.fiedler_companion)
def fiedler_companion_rrule(a):
    y, vector = seen_by_tracers(scipy.linalg.fiedler_companion, a), at_least_1d(a)

    def a_bar(ybar):
        if len(np.shape(y)) < 2:
            return np.zeros_like(vector)
        n = vector.shape[-1]
        return monic_cotangent(vector, summed_onto(ybar, fiedler_companion_places(n), n - 1))

    return placed_rrule(y, (a,), [a_bar])


@frule.register(scipy.linalg.fiedler)
def fiedler_frule(tangents, a):
    da, y = as_array_tangent(unthunk(tangents[1]), a), seen_by_tracers(scipy.linalg.fiedler, a)
    vector = at_least_1d(a)
    if isinstance(da, AbstractZero) or vector.size < 2:
        return y, ZERO_TANGENT
    signs = np.sign(vector[..., :, None] - vector[..., None, :])
    return y, project_to(y)(np.real(np.conjugate(signs) * (da[..., :, None] - da[..., None, :])))


@rrule.register(scipy.linalg.fiedler)
def fiedler_rrule(a):
    """Of |aᵢ - aⱼ|, whose slope is its sign, and 0 where both are equal."""
    vector = at_least_1d(a)

    def a_bar(ybar):
        if vector.size < 2:
            return np.zeros_like(vector)
        signed = np.sign(vector[..., :, None] - vector[..., None, :]) * np.real(ybar)
        return np.sum(signed, axis=-1) - np.sum(signed, axis=-2)

    return placed_rrule(seen_by_tracers(scipy.linalg.fiedler, a), (a,), [a_bar])


# ---------------------------------------------------------------- block_diag and khatri_rao


@frule.register(scipy.linalg.block_diag)
def block_diag_frule(tangents, *arrs):
    return linear_frule(functools.partial(seen_by_tracers, scipy.linalg.block_diag), tangents, *arrs)


def matrix_shape(shape):
    return (1,) * (2 - len(shape)) + tuple(shape)


@rrule.register(scipy.linalg.block_diag)
def block_diag_rrule(*arrs):
    """Each block has its own part of ȳ."""
    shapes = [matrix_shape(shape_of(x)) for x in arrs]
    cotangents, row, column = [], 0, 0
    for shape in shapes:
        rows, columns = slice(row, row + shape[-2]), slice(column, column + shape[-1])
        cotangents.append(lambda ybar, i=rows, j=columns, shape=shape: unbroadcast(ybar[..., i, j], shape))
        row, column = rows.stop, columns.stop
    return placed_rrule(seen_by_tracers(scipy.linalg.block_diag, *arrs), arrs, cotangents)


@frule.register(scipy.linalg.khatri_rao)
@pushforward
def khatri_rao_frule(da, db, a, b):
    return bilinear_and_tangent(functools.partial(seen_by_tracers, scipy.linalg.khatri_rao), da, db, a, b)


@rrule.register(scipy.linalg.khatri_rao)
def khatri_rao_rrule(a, b):
    """y of row (i, j) is aᵢ bⱼ, column by column."""

    def pairs(ybar, rows_a, rows_b):
        return np.reshape(ybar, (*np.shape(ybar)[:-2], rows_a, rows_b, np.shape(ybar)[-1]))

    def a_bar(ybar, b, shape):
        parts = pairs(ybar, shape[-2], np.shape(b)[-2])
        return unbroadcast(np.einsum("...ijk,...jk->...ik", parts, np.conjugate(b)), shape)

    def b_bar(ybar, a, shape):
        parts = pairs(ybar, np.shape(a)[-2], shape[-2])
        return unbroadcast(np.einsum("...ijk,...ik->...jk", parts, np.conjugate(a)), shape)

    return bilinear_and_pullback(functools.partial(seen_by_tracers, scipy.linalg.khatri_rao), a_bar, b_bar, a, b, None)
