"""Rules of products and linear systems with Toeplitz and circulant matrices, which are given by a row and a column.

Their cotangents are sums along the diagonals of Λ Xᴴ, correlations, and computed by the fast Fourier transform.
"""

import numpy as np
import scipy.linalg
from multipledispatch import MDNotImplementedError

from rules.numpy.array_like import as_array, as_array_tangent, conj, seen_by_tracers, shape_of
from rules.scipy.linalg.linear_systems import LinearSystem
from rulescore import (
    AbstractZero,
    NoTangent,
    Tangent,
    Thunk,
    ZeroTangent,
    frule,
    ignore_derivatives,
    project_to,
    rrule,
    unbroadcast,
    unthunk,
)
from rulescore.tangents.projection import NON_DIFFERENTIABLE

NO_TANGENT = NoTangent()
ZERO_TANGENT = ZeroTangent()

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

    def tangent_of_pair(self, tangent):
        """The tangent of the column and the row."""
        if isinstance(tangent, AbstractZero):
            return None
        if not self.is_pair:
            dc = as_array_tangent(unthunk(tangent), self.given)
            return None if isinstance(dc, AbstractZero) else (dc, conj(dc))
        parts = [as_array_tangent(unthunk(tangent[i]), self.given[i]) for i in range(2)]
        if all(isinstance(part, AbstractZero) for part in parts):
            return None
        return tuple(
            np.zeros(np.shape(x)) if isinstance(part, AbstractZero) else part
            for part, x in zip(parts, self.pair, strict=True)
        )

    def cotangent(self, left, right):
        """The cotangent of what was given, for that of the matrix, left rightᴴ."""
        cbar, rbar = diagonal_sums(left, right)
        rbar = np.concatenate([np.zeros_like(rbar[..., :1]), rbar[..., 1:]], axis=-1)
        if not self.is_pair:
            return project_to(self.given)(unbroadcast(cbar + conj(rbar), np.shape(self.c)))
        if self.is_constant():
            return NO_TANGENT
        bars = [project_to(x)(unbroadcast(bar, shape_of(x))) for x, bar in zip(self.given, (cbar, rbar), strict=True)]
        return Tangent(tuple, *bars)

    def is_constant(self):
        return all(project_to(x) is NON_DIFFERENTIABLE for x in self.given)

    def no_cotangent(self, zero):
        if self.is_pair:
            bars = [project_to(x)(zero) for x in self.given]
            return NO_TANGENT if self.is_constant() else Tangent(tuple, *bars)
        return project_to(self.given)(zero)


def toeplitz_system(matrix, b, check_finite):
    def solve(b):
        return seen_by_tracers(scipy.linalg.solve_toeplitz, matrix.pair, b, check_finite=check_finite)

    def solve_adjoint(b):
        return seen_by_tracers(scipy.linalg.solve_toeplitz, matrix.adjoint(), b, check_finite=check_finite)

    def applied(dpair, x):
        return seen_by_tracers(scipy.linalg.matmul_toeplitz, dpair, x)

    return LinearSystem(solve, solve_adjoint, applied, len(shape_of(b)) == 1)


@frule.register(scipy.linalg.solve_toeplitz)
def solve_toeplitz_frule(tangents, c_or_cr, b, check_finite=True):
    matrix = ToeplitzMatrix(c_or_cr)
    system, b = toeplitz_system(matrix, b, check_finite), as_array(b)
    dpair, db, x = matrix.tangent_of_pair(tangents[1]), as_array_tangent(unthunk(tangents[2]), b), system.solve(b)
    if dpair is None and isinstance(db, AbstractZero):
        return x, ZERO_TANGENT
    return x, system.tangent(x, ZERO_TANGENT if dpair is None else dpair, db)


@rrule.register(scipy.linalg.solve_toeplitz)
def solve_toeplitz_rrule(c_or_cr, b, check_finite=True):
    """See `LinearSystem`; the adjoint matrix is one of Toeplitz too."""
    matrix = ToeplitzMatrix(c_or_cr)
    system = toeplitz_system(matrix, b, check_finite)
    x, project_b, shape_b = system.solve(b), project_to(b), shape_of(b)

    def solve_toeplitz_pullback(xbar):
        if isinstance(xbar, AbstractZero):
            return NO_TANGENT, matrix.no_cotangent(xbar), project_b(xbar)
        left, right = system.cotangents(x, unthunk(xbar))
        cbar = matrix.cotangent(-left, right) if matrix.is_pair else Thunk(lambda: matrix.cotangent(-left, right))
        return NO_TANGENT, cbar, Thunk(lambda: project_b(unbroadcast(system.as_given(left), shape_b)))

    return x, solve_toeplitz_pullback


@frule.register(scipy.linalg.matmul_toeplitz)
def matmul_toeplitz_frule(tangents, c_or_cr, x, check_finite=False, workers=None):
    matrix, keywords = ToeplitzMatrix(c_or_cr), {"check_finite": check_finite, "workers": workers}
    dpair, dx = matrix.tangent_of_pair(tangents[1]), as_array_tangent(unthunk(tangents[2]), x)
    y = seen_by_tracers(scipy.linalg.matmul_toeplitz, matrix.pair, x, **keywords)
    dy = ZERO_TANGENT
    if dpair is not None:
        dy = dy + seen_by_tracers(scipy.linalg.matmul_toeplitz, dpair, x, **keywords)
    if not isinstance(dx, AbstractZero):
        dy = dy + seen_by_tracers(scipy.linalg.matmul_toeplitz, matrix.pair, dx, **keywords)
    return y, dy if isinstance(dy, AbstractZero) else project_to(y)(dy)


@rrule.register(scipy.linalg.matmul_toeplitz)
def matmul_toeplitz_rrule(c_or_cr, x, check_finite=False, workers=None):
    """X̄ = Tᴴ Ȳ, and the sums of Ȳ Xᴴ along the diagonals."""
    matrix, keywords = ToeplitzMatrix(c_or_cr), {"check_finite": check_finite, "workers": workers}
    y = seen_by_tracers(scipy.linalg.matmul_toeplitz, matrix.pair, x, **keywords)
    project_x, shape_x = project_to(x), shape_of(x)
    is_vector = len(shape_x) == 1

    def columns(z):
        return z[..., None] if is_vector else z

    def matmul_toeplitz_pullback(ybar):
        if isinstance(ybar, AbstractZero):
            return NO_TANGENT, matrix.no_cotangent(ybar), project_x(ybar)
        ybar = columns(unthunk(ybar))

        def x_bar():
            xbar = seen_by_tracers(scipy.linalg.matmul_toeplitz, matrix.adjoint(), ybar, **keywords)
            return project_x(unbroadcast(xbar[..., 0] if is_vector else xbar, shape_x))

        def c_bar():
            return matrix.cotangent(ybar, columns(as_array(x)))

        return NO_TANGENT, c_bar() if matrix.is_pair else Thunk(c_bar), Thunk(x_bar)

    return y, matmul_toeplitz_pullback


# ---------------------------------------------------------------- solve_circulant


class CirculantSystem:
    """X = F⁻¹ (F B / F c) with the Fourier transform F. B̄ = F⁻¹ Λ with Λ = F X̄ / conj(F c), c̄ = -F⁻¹ (Λ conj(F X)).

    What ``singular="lstsq"`` takes for zero in F c has no part in X, nor in its derivative.
    """

    def __init__(self, c, b, tol, caxis, baxis, outaxis):
        self.c, self.b, self.axes = as_array(c), as_array(b), (caxis, baxis, outaxis)
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

    def tangent(self, x, dc, db):
        caxis, baxis, outaxis = self.axes
        right = 0
        if not isinstance(db, AbstractZero):
            right = np.fft.fft(self.moved(np.reshape(db, np.shape(self.b)), baxis), axis=-1)
        if not isinstance(dc, AbstractZero):
            of_dc = np.fft.fft(self.moved(np.reshape(dc, np.shape(self.c)), caxis), axis=-1)
            right = right - of_dc * np.fft.fft(self.moved(x, outaxis), axis=-1)
        return np.moveaxis(self.inverse(self.kept(right / self.of_c)), -1, outaxis)

    def cotangents(self, x, xbar):
        """Functions for c̄ and B̄."""
        caxis, baxis, outaxis = self.axes
        spectrum = self.kept(np.fft.fft(self.moved(xbar, outaxis), axis=-1) / np.conjugate(self.of_c))

        def c_bar():
            cbar = -np.fft.ifft(spectrum * np.conjugate(np.fft.fft(self.moved(x, outaxis), axis=-1)), axis=-1)
            return np.moveaxis(unbroadcast(cbar, self.shape_c), -1, caxis)

        def b_bar():
            return np.moveaxis(unbroadcast(np.fft.ifft(spectrum, axis=-1), self.shape_b), -1, baxis)

        return c_bar, b_bar


def decline_nothing(*arrays):
    if any(0 in shape_of(x) for x in arrays):
        raise MDNotImplementedError


@frule.register(scipy.linalg.solve_circulant)
def solve_circulant_frule(tangents, c, b, singular="raise", tol=None, caxis=-1, baxis=0, outaxis=0):
    decline_nothing(c, b)
    dc, db = as_array_tangent(unthunk(tangents[1]), c), as_array_tangent(unthunk(tangents[2]), b)
    x = seen_by_tracers(scipy.linalg.solve_circulant, c, b, singular, tol, caxis, baxis, outaxis)
    if isinstance(dc, AbstractZero) and isinstance(db, AbstractZero):
        return x, ZERO_TANGENT
    return x, project_to(x)(CirculantSystem(c, b, tol, caxis, baxis, outaxis).tangent(x, dc, db))


@rrule.register(scipy.linalg.solve_circulant)
def solve_circulant_rrule(c, b, singular="raise", tol=None, caxis=-1, baxis=0, outaxis=0):
    """See `CirculantSystem`."""
    decline_nothing(c, b)
    x = seen_by_tracers(scipy.linalg.solve_circulant, c, b, singular, tol, caxis, baxis, outaxis)
    projects, shapes = (project_to(c), project_to(b)), (shape_of(c), shape_of(b))

    def solve_circulant_pullback(xbar):
        xbar = unthunk(xbar)
        if isinstance(xbar, AbstractZero):
            return NO_TANGENT, *(project(xbar) for project in projects)
        bars = CirculantSystem(c, b, tol, caxis, baxis, outaxis).cotangents(x, xbar)
        return NO_TANGENT, *[
            Thunk(lambda bar=bar, project=project, shape=shape: project(np.reshape(bar(), shape)))
            for bar, project, shape in zip(bars, projects, shapes, strict=True)
        ]

    return x, solve_circulant_pullback
