"""Rules of the direct solvers of sparse systems: ``spsolve``, the factors of ``splu``, ``spsolve_triangular``, ``inv``.

A X = B has dX = A⁻¹ (dB - dA X), hence B̄ = A⁻ᴴ X̄ and Ā = -B̄ Xᴴ (Giles 2008, §2.3.1), at the entries of A.
One factorisation serves the solution and its derivatives.
"""

import warnings

import numpy as np
from multipledispatch import MDNotImplementedError
from scipy import sparse
from scipy.sparse import linalg
from scipy.sparse.linalg import SuperLU

from rules.numpy.array_like import as_array_tangent, seen_by_tracers
from rules.scipy.sparse import SPARSE, dense
from rules.scipy.sparse_linalg.operators import NO_TANGENT, adjoint, matrix_cotangent, times
from rulescore import AbstractZero, Thunk, ZeroTangent, frule, not_implemented, project_to, rrule, unthunk
from rulescore.tangents.projection import NON_DIFFERENTIABLE

ZERO_TANGENT = ZeroTangent()

# ---------------------------------------------------------------- the factors


ADJOINT_OF = {"N": "H", "H": "N"}
FACTORS = not_implemented(
    "the factors of a scipy.sparse.linalg.splu, which do not know the pattern of their matrix: write spsolve(A, b), or "
    "make the factors by primitive(splu)(A), which keep their matrix"
)


def solve_by_factors(lu, rhs, trans="N", /):
    """``lu.solve(rhs, trans)``, which as a method of C takes ordinary arrays alone and tells nobody of others."""
    return seen_by_tracers(SuperLU.solve, lu, rhs, trans)


solve_by_factors.__qualname__, solve_by_factors.__module__ = "SuperLU.solve", "scipy.sparse.linalg"
rrule.alias(SuperLU.solve, solve_by_factors)


@frule.register(solve_by_factors)
def solve_by_factors_frule(tangents, lu, rhs, trans="N", /):
    dlu, drhs = tangents[1:3]
    x = solve_by_factors(lu, rhs, trans)
    if not isinstance(dlu, AbstractZero):
        return x, FACTORS
    return x, drhs if isinstance(drhs, AbstractZero) else solve_by_factors(lu, drhs, trans)


@rrule.register(solve_by_factors)
def solve_by_factors_rrule(lu, rhs, trans="N", /):
    """The solution is linear in the right side; A is a constant within its factors."""
    project = project_to(rhs)

    def solve_by_factors_pullback(xbar):
        xbar = unthunk(xbar)
        if isinstance(xbar, AbstractZero) or project is NON_DIFFERENTIABLE:
            return NO_TANGENT, NO_TANGENT, project(xbar)
        if trans == "T":  # A⁻ᵀ has the adjoint conj(A⁻¹)
            return NO_TANGENT, NO_TANGENT, project(np.conj(solve_by_factors(lu, np.conj(xbar), "N")))
        return NO_TANGENT, NO_TANGENT, project(solve_by_factors(lu, xbar, ADJOINT_OF[trans]))

    return solve_by_factors(lu, rhs, trans), solve_by_factors_pullback


class Factors:
    """The factors of a sparse matrix, for the systems A X = B and Aᴴ X = B in the types of both."""

    def __init__(self, a, permc_spec):
        self.lu = linalg.splu(a.tocsc(), permc_spec=permc_spec)
        self.is_complex = a.dtype.kind == "c"

    def solve(self, b, trans="N"):
        if b.dtype.kind == "c" and not self.is_complex:
            return self.solve(np.real(b), trans) + 1j * self.solve(np.imag(b), trans)
        # The factors have one type, and take no other.
        wanted = self.lu.U.dtype
        return solve_by_factors(self.lu, b if b.dtype == wanted else b.astype(wanted), trans)

    def solve_adjoint(self, b):
        return self.solve(b, "H")


# ---------------------------------------------------------------- spsolve


def factors_of(A, permc_spec, dtype=np.float32):
    """The factors, in a type that holds the right side too; None for a singular matrix, whose solution is NaN."""
    dtype = np.promote_types(A.dtype, dtype)
    try:
        return Factors(A if A.dtype == dtype else A.astype(dtype), permc_spec)
    except RuntimeError:
        return None


def decline_other_than_matrix(A):
    if A.ndim != 2 or A.dtype.kind not in "fc":
        raise MDNotImplementedError


@frule.register(linalg.spsolve, SPARSE)
def spsolve_frule(tangents, A, b, permc_spec=None, use_umfpack=True):
    """A dX = dB - dA X."""
    decline_other_than_matrix(A)
    _, da, db, *_ = tangents
    x = seen_by_tracers(linalg.spsolve, A, b, permc_spec, use_umfpack)
    right = ZERO_TANGENT if isinstance(db, AbstractZero) else columns_like(dense(as_array_tangent(db, b)), x)
    if not isinstance(da, AbstractZero):
        right = right - times(da, dense(x))
    if isinstance(right, AbstractZero):
        return x, right
    factors = factors_of(A, permc_spec)
    return x, project_to(x)(np.full(np.shape(right), np.nan) if factors is None else factors.solve(right))


@rrule.register(linalg.spsolve, SPARSE)
def spsolve_rrule(A, b, permc_spec=None, use_umfpack=True):
    """B̄ = A⁻ᴴ X̄ and Ā = -B̄ Xᴴ at the entries of A."""
    decline_other_than_matrix(A)
    # Of a sparse right side SciPy makes a sparse solution, and a tracer's AD system sees the call of SciPy's alone.
    is_plain = not hasattr(type(b), "__rule_type__") and not sparse.issparse(b)
    factors = factors_of(A, permc_spec, np.asarray(b).dtype) if is_plain else None
    if factors is None:
        x = seen_by_tracers(linalg.spsolve, A, b, permc_spec, use_umfpack)
    else:
        x = factors.solve(np.asarray(b))
        x = x.ravel() if x.ndim == 2 and x.shape[1] == 1 else x
    project_a, project_b, shape_b = project_to(A), project_to(b), np.shape(b)

    def spsolve_pullback(xbar):
        xbar = unthunk(xbar)
        if isinstance(xbar, AbstractZero):
            return NO_TANGENT, xbar, xbar
        known = factors_of(A, permc_spec) if factors is None else factors
        xbar = dense(xbar)
        columns = np.full(np.shape(xbar), np.nan) if known is None else known.solve_adjoint(xbar)
        b_bar = NO_TANGENT if project_b is NON_DIFFERENTIABLE else project_b(np.reshape(columns, shape_b))
        return NO_TANGENT, Thunk(lambda: matrix_cotangent(project_a, A, (-columns, dense(x)))), b_bar

    return x, spsolve_pullback


def columns_like(b, x):
    """A right side in the shape of the solution, which has no axis for a single column."""
    return b.reshape(np.shape(x)) if np.ndim(b) != np.ndim(x) else b


# ---------------------------------------------------------------- triangular systems


def triangle(a, lower, unit_diagonal):
    """The part of a matrix that a triangular solver reads."""
    diagonal = 1 if unit_diagonal else 0
    return sparse.tril(a, -diagonal) if lower else sparse.triu(a, diagonal)


def triangular_solution(A, b, lower, unit_diagonal):
    """The solution, where b may be a tracer."""
    return seen_by_tracers(linalg.spsolve_triangular, A, b, lower, False, False, unit_diagonal)


@frule.register(linalg.spsolve_triangular, SPARSE)
def spsolve_triangular_frule(tangents, A, b, lower=True, overwrite_A=False, overwrite_b=False, unit_diagonal=False):
    _, da, db, *_ = tangents
    x = triangular_solution(A, b, lower, unit_diagonal)
    right = ZERO_TANGENT if isinstance(db, AbstractZero) else db
    if not isinstance(da, AbstractZero):
        right = right - times(triangle(da, lower, unit_diagonal), x)
    if isinstance(right, AbstractZero):
        return x, right
    return x, project_to(x)(triangular_solution(A, right, lower, unit_diagonal))


@rrule.register(linalg.spsolve_triangular, SPARSE)
def spsolve_triangular_rrule(A, b, lower=True, overwrite_A=False, overwrite_b=False, unit_diagonal=False):
    """As `spsolve_rrule`; SciPy insists on a matrix that is triangular, so only that triangle has a cotangent."""
    x = triangular_solution(A, b, lower, unit_diagonal)
    project_a, project_b = project_to(A), project_to(b)

    def spsolve_triangular_pullback(xbar):
        xbar = unthunk(xbar)
        if isinstance(xbar, AbstractZero):
            return NO_TANGENT, xbar, xbar
        columns = triangular_solution(adjoint(A).tocsr(), xbar, not lower, unit_diagonal)

        def a_bar():
            abar = matrix_cotangent(project_a, A, (-columns, x))
            if isinstance(abar, AbstractZero):
                return abar
            return project_a(triangle(abar, lower, unit_diagonal))

        return NO_TANGENT, Thunk(a_bar), project_b(columns)

    return x, spsolve_triangular_pullback


# ---------------------------------------------------------------- the inverse


def inverse(A):
    """The inverse, without the advice to use another format, which concerns the caller."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sparse.SparseEfficiencyWarning)
        return linalg.inv(A)


@frule.register(linalg.inv, SPARSE)
def inv_frule(tangents, A):
    y, da = linalg.inv(A), tangents[1]
    return y, da if isinstance(da, AbstractZero) else project_to(y)(-(y @ da @ y))


@rrule.register(linalg.inv, SPARSE)
def inv_rrule(A):
    """Ā = -A⁻ᴴ Ȳ A⁻ᴴ at the entries of A."""
    y, project = linalg.inv(A), project_to(A)

    def inv_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero) or project is NON_DIFFERENTIABLE:
            return NO_TANGENT, project(ybar)
        y_h = adjoint(y)
        return NO_TANGENT, project(-(y_h @ ybar @ y_h))

    return y, inv_pullback
