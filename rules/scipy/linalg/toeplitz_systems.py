"""Rules of products and linear systems with Toeplitz and circulant matrices, which are given by a row and a column.

Their cotangents are sums along the diagonals of Λ Xᴴ, correlations, and computed by the fast Fourier transform.
"""

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy.linalg
from rulescore import (
    apply_linear,
    frule,
    ignore_derivatives,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
    unbroadcast,
)
from rulescore.typing import Array, Axis, Choice, Count, Flag, Number, OutputAndPullback, OutputAndTangent

from ...numpy.array_like import as_array, as_array_tangent, conj, shape_of
from .linear_systems import LinearSystem
from .operands import decline_flattened_toeplitz

# ---------------------------------------------------------------- a Toeplitz matrix


def diagonal_sums(left, right):
    """Σ leftᵢ conj(rightⱼ) for i - j = 0, 1 ... and for j - i = 0, 1 ..., summed over the columns of both."""
    rows, columns = np.shape(left)[-2], np.shape(right)[-2]
    length = rows + columns - 1
    product = np.fft.fft(left, length, axis=-2) * np.conjugate(np.fft.fft(right, length, axis=-2))
    sums = np.fft.ifft(np.sum(product, axis=-1), axis=-1)
    if not np.iscomplexobj(left) and not np.iscomplexobj(right):
        sums = np.real(sums)
    below = sums[..., :rows]
    return below, np.concatenate([sums[..., :1], sums[..., : rows - 1 : -1]], axis=-1)


class ToeplitzMatrix:
    """The matrix with a first column c and a first row r, whose own first element does not count.

    Without a row, that is the conjugate of the column.
    """

    def __init__(self, c_or_cr):
        self.given, self.is_pair = c_or_cr, isinstance(c_or_cr, tuple)
        c, r = c_or_cr if self.is_pair else (c_or_cr, None)
        decline_flattened_toeplitz(c, r)
        self.c = as_array(c)
        self.r = as_array(r) if self.is_pair else conj(self.c)
        self.pair = self.c, self.r
        if 0 in np.shape(self.c) or 0 in np.shape(self.r) or not np.shape(self.c):
            raise MDNotImplementedError

    def adjoint(self):
        """The column and the row of the adjoint matrix."""
        first, others = self.c[..., :1], self.r[..., 1:]
        stack = np.broadcast_shapes(np.shape(first)[:-1], np.shape(others)[:-1])
        parts = [x if np.shape(x)[:-1] == stack else np.broadcast_to(x, (*stack, x.shape[-1])) for x in (first, others)]
        return conj(np.concatenate(parts, axis=-1)), conj(self.c)

    def tangent_of_pair(self, dc_or_cr):
        """The tangent of the column and the row."""
        if not self.is_pair:
            dc = as_array_tangent(dc_or_cr, self.given)
            return dc, conj(dc)
        # With arrays added, since one of both may be zero.
        return tuple(
            as_array_tangent(dx, given) + np.zeros_like(x)
            for dx, given, x in zip(dc_or_cr, self.given, self.pair, strict=True)
        )

    def cotangent(self, left, right):
        """The cotangent of what was given, for that of the matrix, left rightᴴ."""
        cbar, rbar = diagonal_sums(left, right)
        rbar = np.concatenate([np.zeros_like(rbar[..., :1]), rbar[..., 1:]], axis=-1)
        if not self.is_pair:
            return unbroadcast(cbar + conj(rbar), np.shape(self.c))
        return unbroadcast(cbar, np.shape(self.c)), unbroadcast(rbar, np.shape(self.r))


def toeplitz_system(matrix, b):
    def solve(b, check_finite=False):
        return seen_by_tracers(scipy.linalg.solve_toeplitz, matrix.pair, b, check_finite=check_finite)

    def solve_adjoint(b):
        return seen_by_tracers(scipy.linalg.solve_toeplitz, matrix.adjoint(), b, check_finite=False)

    def applied(dc_or_cr, x):
        return seen_by_tracers(scipy.linalg.matmul_toeplitz, matrix.tangent_of_pair(dc_or_cr), x)

    return LinearSystem(solve, solve_adjoint, applied, len(shape_of(b)) == 1)


@frule.register(scipy.linalg.solve_toeplitz)
@pushforward
def solve_toeplitz_frule(
    dc_or_cr: Array, db: Array, c_or_cr: Array, b: Array, check_finite: Flag = True
) -> OutputAndTangent:
    system = toeplitz_system(ToeplitzMatrix(c_or_cr), b)
    x = system.solve(as_array(b), check_finite)
    return x, system.tangent(x, dc_or_cr, as_array_tangent(db, b))


@rrule.register(scipy.linalg.solve_toeplitz)
def solve_toeplitz_rrule(c_or_cr: Array, b: Array, check_finite: Flag = True) -> OutputAndPullback:
    """See `LinearSystem`; the adjoint matrix is one of Toeplitz too."""
    matrix = ToeplitzMatrix(c_or_cr)
    system = toeplitz_system(matrix, b)
    x, shape_b = system.solve(b, check_finite), shape_of(b)

    @pullback_wrt(c_or_cr, b)
    def solve_toeplitz_pullback(xbar):
        left, right = system.cotangents(x, xbar)
        return lambda: matrix.cotangent(-left, right), lambda: unbroadcast(system.as_given(left), shape_b)

    return x, solve_toeplitz_pullback


@frule.register(scipy.linalg.matmul_toeplitz)
@pushforward
def matmul_toeplitz_frule(
    dc_or_cr: Array, dx: Array, c_or_cr: Array, x: Array, check_finite: Flag = False, workers: Count = None
) -> OutputAndTangent:
    matrix, dx = ToeplitzMatrix(c_or_cr), as_array_tangent(dx, x)

    def product(pair, x):
        return seen_by_tracers(scipy.linalg.matmul_toeplitz, pair, x, check_finite=check_finite, workers=workers)

    of_matrix = apply_linear(lambda dc_or_cr: product(matrix.tangent_of_pair(dc_or_cr), x), dc_or_cr)
    return product(matrix.pair, x), of_matrix + apply_linear(lambda dx: product(matrix.pair, dx), dx)


@rrule.register(scipy.linalg.matmul_toeplitz)
def matmul_toeplitz_rrule(
    c_or_cr: Array, x: Array, check_finite: Flag = False, workers: Count = None
) -> OutputAndPullback:
    """X̄ = Tᴴ Ȳ, and the sums of Ȳ Xᴴ along the diagonals."""
    matrix, shape_x = ToeplitzMatrix(c_or_cr), shape_of(x)
    is_vector = len(shape_x) == 1

    def product(pair, x):
        return seen_by_tracers(scipy.linalg.matmul_toeplitz, pair, x, check_finite=check_finite, workers=workers)

    def columns(z):
        return z[..., None] if is_vector else z

    def c_bar(ybar):
        return matrix.cotangent(columns(ybar), columns(as_array(x)))

    def x_bar(ybar):
        xbar = product(matrix.adjoint(), columns(ybar))
        return unbroadcast(xbar[..., 0] if is_vector else xbar, shape_x)

    return product(matrix.pair, x), pullback_wrt(c_or_cr, x)(c_bar, x_bar)


# ---------------------------------------------------------------- solve_circulant


class CirculantSystem:
    """X = F⁻¹ (F B / F c) with the Fourier transform F. B̄ = F⁻¹ Λ with Λ = F X̄ / conj(F c), c̄ = -F⁻¹ (Λ conj(F X)).

    What ``singular="lstsq"`` takes for zero in F c has no part in X, nor in its derivative.
    """

    def __init__(self, c, b, tol, caxis, baxis, outaxis):
        self.c, self.b, self.axes = as_array(c), as_array(b), (int(caxis), int(baxis), int(outaxis))
        self.c, self.b = (np.reshape(x, (1,)) if not np.ndim(x) else x for x in (self.c, self.b))
        self.shape_c, self.shape_b = np.shape(self.moved(self.c, caxis)), np.shape(self.moved(self.b, baxis))
        of_c = np.fft.fft(self.moved(self.c, caxis), axis=-1)
        sizes = np.abs(ignore_derivatives(of_c))
        if tol is None:
            tol = np.max(sizes, axis=-1, keepdims=True) * sizes.shape[-1] * np.finfo(np.float64).eps
        self.is_zero = sizes <= np.asarray(tol)
        self.of_c = np.where(self.is_zero, 1, of_c)
        self.is_real = not np.iscomplexobj(self.c) and not np.iscomplexobj(self.b)

    def moved(self, x, axis):
        return np.moveaxis(x, axis, -1)

    def kept(self, spectrum):
        return np.where(self.is_zero, 0, spectrum) if np.any(self.is_zero) else spectrum

    def inverse(self, spectrum):
        x = np.fft.ifft(spectrum, axis=-1)
        return np.real(x) if self.is_real else x

    def spectrum(self, x, axis):
        return np.fft.fft(self.moved(x, axis), axis=-1)

    def tangent(self, x, dc, db):
        caxis, baxis, outaxis = self.axes

        def applied(dc):
            return self.spectrum(np.reshape(dc, np.shape(self.c)), caxis) * self.spectrum(x, outaxis)

        right = apply_linear(lambda db: self.spectrum(np.reshape(db, np.shape(self.b)), baxis), db)
        right = right - apply_linear(applied, dc)
        return np.moveaxis(self.inverse(self.kept(right / self.of_c)), -1, outaxis)

    def cotangents(self, x, xbar):
        """Functions for c̄ and B̄."""
        caxis, baxis, outaxis = self.axes
        spectrum = self.kept(self.spectrum(xbar, outaxis) / np.conjugate(self.of_c))

        def c_bar():
            cbar = -np.fft.ifft(spectrum * np.conjugate(self.spectrum(x, outaxis)), axis=-1)
            return np.moveaxis(unbroadcast(cbar, self.shape_c), -1, caxis)

        def b_bar():
            return np.moveaxis(unbroadcast(np.fft.ifft(spectrum, axis=-1), self.shape_b), -1, baxis)

        return c_bar, b_bar


def decline_nothing(*arrays):
    if any(0 in shape_of(x) for x in arrays):
        raise MDNotImplementedError


@frule.register(scipy.linalg.solve_circulant)
@pushforward
def solve_circulant_frule(
    dc: Array,
    db: Array,
    _dtol: Number,
    c: Array,
    b: Array,
    singular: Choice = "raise",
    tol: Number = None,
    caxis: Axis = -1,
    baxis: Axis = 0,
    outaxis: Axis = 0,
) -> OutputAndTangent:
    decline_nothing(c, b)
    x = seen_by_tracers(scipy.linalg.solve_circulant, c, b, singular, tol, caxis, baxis, outaxis)
    system = CirculantSystem(c, b, tol, caxis, baxis, outaxis)
    return x, system.tangent(x, as_array_tangent(dc, c), as_array_tangent(db, b))


@rrule.register(scipy.linalg.solve_circulant)
def solve_circulant_rrule(
    c: Array,
    b: Array,
    singular: Choice = "raise",
    tol: Number = None,
    caxis: Axis = -1,
    baxis: Axis = 0,
    outaxis: Axis = 0,
) -> OutputAndPullback:
    """See `CirculantSystem`."""
    decline_nothing(c, b)
    x = seen_by_tracers(scipy.linalg.solve_circulant, c, b, singular, tol, caxis, baxis, outaxis)
    shape_c, shape_b = shape_of(c), shape_of(b)

    @pullback_wrt(c, b)
    def solve_circulant_pullback(xbar):
        c_bar, b_bar = CirculantSystem(c, b, tol, caxis, baxis, outaxis).cotangents(x, xbar)
        return lambda: np.reshape(c_bar(), shape_c), lambda: np.reshape(b_bar(), shape_b)

    return x, solve_circulant_pullback
