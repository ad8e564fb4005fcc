"""Rules of what solves linear systems of equations: ``solve``, ``tensorsolve`` and ``lstsq``."""

import math

import numpy as np

from rules.numpy.array_like import as_array, as_array_tangent, conj
from rules.numpy.linalg.inverses import left_out, pinv_cotangent, pinv_tangent
from rules.numpy.linalg.lu_factors import LUFactors
from rules.numpy.linalg.singular_values import singular_values_rrule, values_and_tangents
from rules.numpy.products import adjoint
from rulescore import (
    AbstractZero,
    NoTangent,
    Tangent,
    ZeroTangent,
    frule,
    ignore_derivatives,
    project_to,
    pullback_wrt,
    pushforward,
    rrule,
    unbroadcast,
    unthunk,
)

NO_TANGENT = NoTangent()
ZERO_TANGENT = ZeroTangent()

# ---------------------------------------------------------------- solve


@frule.register(np.linalg.solve)
@pushforward
def solve_frule(da, db, a, b):
    """A dX = dB - dA X."""
    da, db = as_array_tangent(da, a), as_array_tangent(db, b)
    solve, _ = solvers(a, b)
    x = solve(b)
    is_vector = np.ndim(b) == 1
    dx = solve(db[..., None] - da @ x[..., None])[..., 0] if is_vector else solve(db - da @ x)
    return x, dx if dx.shape == x.shape else np.broadcast_to(dx, x.shape).copy()


@rrule.register(np.linalg.solve)
def solve_rrule(a, b):
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
def tensorsolve_frule(da, db, a, b, axes=None):
    a, b, da, db = as_array(a), as_array(b), as_array_tangent(da, a), as_array_tangent(db, b)
    system = TensorSystem(a, b, axes)
    tangents = NoTangent(), system.matrix(da), np.reshape(db, system.size)
    x, dx = solve_frule(tangents, system.matrix(a), np.reshape(b, system.size))
    return np.reshape(x, system.shape), np.reshape(dx, system.shape)


@rrule.register(np.linalg.tensorsolve)
def tensorsolve_rrule(a, b, axes=None):
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

    def _pinv(self):
        """P, and what its derivative needs besides."""
        cutoff = max(self.a.shape) * np.finfo(float).eps if self.rcond is None else self.rcond
        return np.linalg.pinv(self.a, cutoff), left_out(self.a, cutoff)

    def tangent(self, da, db):
        right = db if isinstance(da, AbstractZero) else db - da @ self.x
        if isinstance(da, AbstractZero):
            return self._p(right)
        if self.by_pinv:
            p, others = self._pinv()
            dx = pinv_tangent(self.a, p, da, others) @ self.b
            return dx if isinstance(db, AbstractZero) else dx + p @ db
        if not self.full_rows:
            right = right + self._p_h(adjoint(da) @ self.residuals())
        if self.full_columns:
            return self._p(right)
        outside = adjoint(da) @ self._p_h(self.x)
        return self._p(right - self.a @ outside) + outside

    def cotangents(self, xbar):
        """Ā, to be computed when it is needed, and B̄."""
        if self.by_pinv:
            p, others = self._pinv()
            return (lambda: pinv_cotangent(self.a, p, xbar @ adjoint(self.b), others)), adjoint(p) @ xbar
        z = self._p_h(xbar)

        def a_bar():
            abar = -z @ adjoint(self.x)
            if not self.full_rows:
                abar = abar + self.residuals() @ adjoint(self._p(z))
            if not self.full_columns:
                abar = abar + self._p_h(self.x) @ adjoint(xbar - adjoint(self.a) @ z)
            return abar

        return a_bar, z


def least_squares_frule(tangents, a, b, y, cutoff):
    """What ``lstsq`` returned and its tangent, for NumPy's and SciPy's. See `LeastSquares` for the solution.

    The sums of squares Σ|R|² move with B - A X alone, since X is optimal. The rank has no derivative, and the singular
    values that of ``svdvals``.
    """
    da, db = as_array_tangent(unthunk(tangents[1]), a), as_array_tangent(unthunk(tangents[2]), b)
    x, squares, rank, s = y
    if isinstance(da, AbstractZero) and isinstance(db, AbstractZero):
        return y, da + db
    a, b = as_array(a), as_array(b)
    problem = LeastSquares(a, b, x, rank, s, cutoff)
    db = db if isinstance(db, AbstractZero) else problem.columns(db)
    dx = project_to(x)(problem.as_given(problem.tangent(da, db)))
    dsquares = ds = ZERO_TANGENT
    if np.size(squares):
        moved = db if isinstance(da, AbstractZero) else db - da @ problem.x
        of_columns = 2 * np.sum(np.real(conj(problem.residuals()) * moved), axis=0)
        dsquares = project_to(squares)(np.reshape(of_columns, np.shape(squares)))
    if not isinstance(da, AbstractZero):
        ds = project_to(s)(values_and_tangents(da, a, hermitian=False)[1])
    return y, Tangent(tuple, dx, dsquares, NO_TANGENT, ds)


def least_squares_rrule(a, b, y, cutoff):
    """What ``lstsq`` returned and its pullback; see `least_squares_frule`."""
    x, squares, rank, s = y
    primals, a, b = (a, b), as_array(a), as_array(b)

    @pullback_wrt(*primals)
    def lstsq_pullback(ybar):
        xbar, squares_bar, _, s_bar = ybar
        problem = LeastSquares(a, b, x, rank, s, cutoff)
        terms, bbar = [], ZERO_TANGENT
        if not isinstance(xbar, AbstractZero):
            a_bar, bbar = problem.cotangents(problem.columns(xbar))
            terms.append(a_bar)
        if not isinstance(squares_bar, AbstractZero) and np.size(squares):
            of_residuals = 2 * problem.residuals() * squares_bar
            terms.append(lambda: -of_residuals @ adjoint(problem.x))
            bbar = bbar + of_residuals
        if not isinstance(s_bar, AbstractZero):
            terms.append(lambda: singular_values_rrule(a, hermitian=False)[1](s_bar)[1])
        bbar = bbar if isinstance(bbar, AbstractZero) else problem.as_given(bbar)
        return lambda: sum((term() for term in terms), ZERO_TANGENT), bbar

    return y, lstsq_pullback


@frule.register(np.linalg.lstsq)
def lstsq_frule(tangents, a, b, rcond=None):
    return least_squares_frule(tangents, a, b, np.linalg.lstsq(a, b, rcond), rcond)


@rrule.register(np.linalg.lstsq)
def lstsq_rrule(a, b, rcond=None):
    return least_squares_rrule(a, b, np.linalg.lstsq(a, b, rcond), rcond)
