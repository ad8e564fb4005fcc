"""Rules of what solves linear systems of equations: ``solve``, ``tensorsolve`` and ``lstsq``."""

import functools
import math

import numpy as np
from rulescore import (
    NoTangent,
    ZeroTangent,
    apply_linear,
    frule,
    ignore_derivatives,
    pullback_wrt,
    pushforward,
    rrule,
    unbroadcast,
    unthunk,
)
from rulescore.typing import Array, Axis, Number, OutputAndPullback, OutputAndTangent

from ..array_like import as_array, as_array_tangent, conj
from ..products import adjoint
from .inverses import left_out, pinv_cotangent, pinv_tangent
from .lu_factors import LUFactors
from .singular_values import singular_values_rrule, values_and_tangents

# ---------------------------------------------------------------- solve


@frule.register(np.linalg.solve)
@pushforward
def solve_frule(da: Array, db: Array, a: Array, b: Array) -> OutputAndTangent:
    """A dX = dB - dA X."""
    return solution_and_tangent(as_array_tangent(da, a), as_array_tangent(db, b), a, b)


def solution_and_tangent(da, db, a, b):
    solve, _ = solvers(a, b)
    x = solve(b)
    is_vector = np.ndim(b) == 1
    dx = solve(db[..., None] - da @ x[..., None])[..., 0] if is_vector else solve(db - da @ x)
    return x, dx if dx.shape == x.shape else np.broadcast_to(dx, x.shape).copy()


@rrule.register(np.linalg.solve)
def solve_rrule(a: Array, b: Array) -> OutputAndPullback:
    """A X = B, hence B̄ = A⁻ᴴ X̄ and Ā = -B̄ Xᴴ (Giles 2008, §2.3.1)."""
    solve, solve_adjoint = solvers(a, b)
    x = solve(b)
    shape_a, shape_b, is_vector = np.shape(a), np.shape(b), np.ndim(b) == 1

    @pullback_wrt(a, b)
    def solve_pullback(xbar):
        columns = solve_adjoint(xbar[..., None] if is_vector else xbar)
        return (
            lambda: unbroadcast(-columns @ adjoint(x[..., None] if is_vector else x), shape_a),
            lambda: unbroadcast(columns[..., 0] if is_vector else columns, shape_b),
        )

    return x, solve_pullback


# What programs that call NumPy's generalised ufunc themselves get.
rrule.alias(np.linalg._umath_linalg.solve, np.linalg.solve)


def solvers(a, b):
    """The functions that solve A X = B and Aᴴ X = B, of one factorisation where it can be kept."""
    if type(a) is type(b) is np.ndarray and a.dtype is b.dtype and b.ndim in (1, 2) and b.size:
        factors = LUFactors.of(a)
        if factors is not None:
            return factors.solve, factors.solve_adjoint
    return lambda b: np.linalg.solve(a, b), lambda b: np.linalg.solve(adjoint(as_array(a)), b)


# ---------------------------------------------------------------- tensorsolve


class TensorSystem:
    """The matrix of a ``tensorsolve``: the axes of A to sum over number its columns, and are moved to its end."""

    def __init__(self, a, b, axes):
        self.order = list(range(np.ndim(a)))
        for axis in axes or ():
            self.order.remove(axis)
            self.order.append(axis)
        self.moved_shape = tuple(np.shape(a)[axis] for axis in self.order)
        self.shape = self.moved_shape[np.ndim(b) :]
        """That of the solution."""
        self.size = math.prod(self.shape)

    def matrix(self, a):
        return np.reshape(np.transpose(a, self.order), (self.size, self.size))

    def tensor(self, abar):
        return np.transpose(np.reshape(abar, self.moved_shape), np.argsort(self.order))


@frule.register(np.linalg.tensorsolve)
@pushforward
def tensorsolve_frule(da: Array, db: Array, a: Array, b: Array, axes: Axis = None) -> OutputAndTangent:
    a, b, da, db = as_array(a), as_array(b), as_array_tangent(da, a), as_array_tangent(db, b)
    system = TensorSystem(a, b, axes)
    x, dx = solution_and_tangent(
        system.matrix(da), np.reshape(db, system.size), system.matrix(a), np.reshape(b, system.size)
    )
    return np.reshape(x, system.shape), np.reshape(dx, system.shape)


@rrule.register(np.linalg.tensorsolve)
def tensorsolve_rrule(a: Array, b: Array, axes: Axis = None) -> OutputAndPullback:
    """The rule of ``solve``, between reshapings."""
    primals, a, b = (a, b), as_array(a), as_array(b)
    system, shape_b = TensorSystem(a, b, axes), np.shape(b)
    x, solve_pullback = solve_rrule(system.matrix(a), np.reshape(b, system.size))

    @pullback_wrt(*primals)
    def tensorsolve_pullback(xbar):
        _, abar, bbar = solve_pullback(np.reshape(xbar, system.size))
        return lambda: system.tensor(unthunk(abar)), lambda: np.reshape(unthunk(bbar), shape_b)

    return np.reshape(x, system.shape), tensorsolve_pullback


# ---------------------------------------------------------------- lstsq


class LeastSquares:
    """The derivative of X = A⁺ B, of the smallest X among those that make the residuals R = B - A X smallest.

    From that of the pseudoinverse P, without P itself: with Y = Pᴴ X,

        Ẋ = P (Ḃ - Ȧ X) + P Pᴴ Ȧᴴ R + (I - P A) Ȧᴴ Y,
        B̄ = Z = Pᴴ X̄,   Ā = -Z Xᴴ + R (P Z)ᴴ + Y (X̄ - Aᴴ Z)ᴴ,

    where each product with P or Pᴴ is a least-squares problem. With as many independent rows as there are, R = 0; with
    columns, the last term is 0. With neither, A is taken to keep its rank, as in `pinv_rrule`.
    """

    def __init__(self, a, b, x, rank, s, rcond):
        self.a, self.rcond, self.is_vector = a, rcond, np.ndim(b) == 1
        self.b, self.x = self.columns(b), self.columns(x)
        m, n = a.shape
        self.full_rows, self.full_columns = rank == m, rank == n
        numbers = ignore_derivatives(s)
        rounding = 4 * max(m, n) * np.finfo(numbers.dtype).eps
        # Singular values below the cutoff that are not zero turn the vectors of the others.
        self.by_pinv = bool(np.any(numbers[rank:] > rounding * numbers[:1]))

    def columns(self, b):
        return b[:, None] if self.is_vector else b

    def as_given(self, columns):
        return columns[:, 0] if self.is_vector else columns

    def residuals(self):
        return self.b - self.a @ self.x

    def _p(self, b):
        return np.linalg.lstsq(self.a, b, self.rcond)[0]

    def _p_h(self, x):
        return np.linalg.lstsq(adjoint(self.a), x, self.rcond)[0]

    @functools.cached_property
    def _pinv(self):
        """P, and what its derivative needs besides."""
        cutoff = max(self.a.shape) * np.finfo(float).eps if self.rcond is None else self.rcond
        return np.linalg.pinv(self.a, cutoff), left_out(self.a, cutoff)

    def tangent(self, da, db):
        if self.by_pinv:
            p, others = self._pinv
            return apply_linear(lambda da: pinv_tangent(self.a, p, da, others) @ self.b, da) + p @ db
        right, outside = db - da @ self.x, ZeroTangent()
        if not self.full_rows:
            right = right + apply_linear(lambda da: self._p_h(adjoint(da) @ self.residuals()), da)
        if not self.full_columns:
            outside = apply_linear(lambda da: adjoint(da) @ self._p_h(self.x), da)
        return self._p(right - self.a @ outside) + outside

    def rhs_cotangent(self, xbar):
        """B̄ = Z."""
        return adjoint(self._pinv[0]) @ xbar if self.by_pinv else self._p_h(xbar)

    def matrix_cotangent(self, xbar, z):
        """Ā, of X̄ and Z."""
        if self.by_pinv:
            p, others = self._pinv
            return pinv_cotangent(self.a, p, xbar @ adjoint(self.b), others)
        abar = -z @ adjoint(self.x)
        if not self.full_rows:
            abar = abar + self.residuals() @ adjoint(self._p(z))
        if not self.full_columns:
            abar = abar + self._p_h(self.x) @ adjoint(xbar - adjoint(self.a) @ z)
        return abar


def least_squares_tangent(da, db, a, b, y, cutoff):
    """The tangent of what ``lstsq`` returned, for NumPy's and SciPy's. See `LeastSquares` for the solution.

    The sums of squares Σ|R|² move with B - A X alone, since X is optimal. The rank has no derivative, and the singular
    values that of ``svdvals``.
    """
    x, squares, rank, s = y
    da, db = as_array_tangent(da, a), as_array_tangent(db, b)
    a, b = as_array(a), as_array(b)
    problem = LeastSquares(a, b, x, rank, s, cutoff)
    db = problem.columns(db)
    dsquares = ZeroTangent()
    if np.size(squares):
        of_columns = 2 * np.sum(np.real(conj(problem.residuals()) * (db - da @ problem.x)), axis=0)
        dsquares = np.reshape(of_columns, np.shape(squares))
    ds = apply_linear(lambda da: values_and_tangents(da, a, hermitian=False)[1], da)
    return problem.as_given(problem.tangent(da, db)), dsquares, NoTangent(), ds


def least_squares_pullback(a, b, y, cutoff):
    """Its transpose."""
    x, squares, rank, s = y
    primals, a, b = (a, b), as_array(a), as_array(b)

    @pullback_wrt(*primals)
    def lstsq_pullback(ybar):
        xbar, squares_bar, _, s_bar = ybar
        problem = LeastSquares(a, b, x, rank, s, cutoff)
        xbar = problem.columns(xbar)
        z = apply_linear(problem.rhs_cotangent, xbar)
        of_residuals = 2 * problem.residuals() * squares_bar if np.size(squares) else ZeroTangent()

        def of_values(s_bar):
            return unthunk(singular_values_rrule(a, hermitian=False)[1](s_bar)[1])

        def a_bar():
            of_squares = -of_residuals @ adjoint(problem.x)
            return apply_linear(problem.matrix_cotangent, xbar, z) + of_squares + apply_linear(of_values, s_bar)

        return a_bar, problem.as_given(z + of_residuals)

    return lstsq_pullback


@frule.register(np.linalg.lstsq)
@pushforward
def lstsq_frule(da: Array, db: Array, _drcond: Number, a: Array, b: Array, rcond: Number = None) -> OutputAndTangent:
    y = np.linalg.lstsq(a, b, rcond)
    return y, least_squares_tangent(da, db, a, b, y, rcond)


@rrule.register(np.linalg.lstsq)
def lstsq_rrule(a: Array, b: Array, rcond: Number = None) -> OutputAndPullback:
    y = np.linalg.lstsq(a, b, rcond)
    return y, least_squares_pullback(a, b, y, rcond)
