"""Rules of the direct solvers of sparse systems: ``spsolve``, the factors of ``splu``, ``spsolve_triangular``, ``inv``.

A X = B has dX = A⁻¹ (dB - dA X), hence B̄ = A⁻ᴴ X̄ and Ā = -B̄ Xᴴ (Giles 2008, §2.3.1), at the entries of A.
One factorisation serves the solution and its derivatives.
"""

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import apply_linear, frule, not_implemented, pullback_wrt, pushforward, rrule, seen_by_tracers
from rulescore.typing import Array, Choice, Flag, OutputAndPullback, OutputAndTangent, Struct
from scipy import sparse
from scipy.sparse import linalg
from scipy.sparse.linalg import SuperLU

from ...numpy.array_like import as_array_tangent
from ..sparse.operations import SPARSE, dense
from .operators import adjoint, matrix_cotangent, times

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
@pushforward
def solve_by_factors_frule(
    dlu: Struct, drhs: Array, lu: Struct, rhs: Array, trans: Choice = "N", /
) -> OutputAndTangent:
    dx = apply_linear(lambda drhs: solve_by_factors(lu, drhs, trans), drhs)
    return solve_by_factors(lu, rhs, trans), dx + FACTORS * dlu


@rrule.register(solve_by_factors)
def solve_by_factors_rrule(lu: Struct, rhs: Array, trans: Choice = "N", /) -> OutputAndPullback:
    """The solution is linear in the right side; A is a constant within its factors."""

    @pullback_wrt(..., rhs)
    def solve_by_factors_pullback(xbar):
        if trans == "T":  # A⁻ᵀ has the adjoint conj(A⁻¹)
            return np.conj(solve_by_factors(lu, np.conj(xbar), "N"))
        return solve_by_factors(lu, xbar, ADJOINT_OF[trans])

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
@pushforward
def spsolve_frule(
    dA: Array, db: Array, A: Array, b: Array, permc_spec: Choice = None, use_umfpack: Flag = True
) -> OutputAndTangent:
    """A dX = dB - dA X."""
    decline_other_than_matrix(A)
    x = seen_by_tracers(linalg.spsolve, A, b, permc_spec, use_umfpack)
    right = columns_like(dense(as_array_tangent(db, b)), x) - times(dA, dense(x))
    factors = factors_of(A, permc_spec)
    return x, np.full(np.shape(right), np.nan) if factors is None else factors.solve(right)


@rrule.register(linalg.spsolve, SPARSE)
def spsolve_rrule(A: Array, b: Array, permc_spec: Choice = None, use_umfpack: Flag = True) -> OutputAndPullback:
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
    shape_b = np.shape(b)

    @pullback_wrt(A, b)
    def spsolve_pullback(xbar):
        known = factors_of(A, permc_spec) if factors is None else factors
        xbar = dense(xbar)
        columns = np.full(np.shape(xbar), np.nan) if known is None else known.solve_adjoint(xbar)
        return lambda: matrix_cotangent(A, (-columns, dense(x))), lambda: np.reshape(columns, shape_b)

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
@pushforward
def spsolve_triangular_frule(
    dA: Array,
    db: Array,
    A: Array,
    b: Array,
    lower: Flag = True,
    overwrite_A: Flag = False,
    overwrite_b: Flag = False,
    unit_diagonal: Flag = False,
) -> OutputAndTangent:
    x = triangular_solution(A, b, lower, unit_diagonal)
    right = db - apply_linear(lambda dA: times(triangle(dA, lower, unit_diagonal), x), dA)
    return x, triangular_solution(A, right, lower, unit_diagonal)


@rrule.register(linalg.spsolve_triangular, SPARSE)
def spsolve_triangular_rrule(
    A: Array,
    b: Array,
    lower: Flag = True,
    overwrite_A: Flag = False,
    overwrite_b: Flag = False,
    unit_diagonal: Flag = False,
) -> OutputAndPullback:
    """As `spsolve_rrule`; SciPy insists on a matrix that is triangular, so only that triangle has a cotangent."""
    x = triangular_solution(A, b, lower, unit_diagonal)

    @pullback_wrt(A, b)
    def spsolve_triangular_pullback(xbar):
        columns = triangular_solution(adjoint(A).tocsr(), xbar, not lower, unit_diagonal)
        return lambda: triangle(matrix_cotangent(A, (-columns, x)), lower, unit_diagonal), columns

    return x, spsolve_triangular_pullback


# ---------------------------------------------------------------- the inverse


@frule.register(linalg.inv, SPARSE)
@pushforward
def inv_frule(dA: Array, A: Array) -> OutputAndTangent:
    y = linalg.inv(A)
    return y, -(y @ dA @ y)


@rrule.register(linalg.inv, SPARSE)
def inv_rrule(A: Array) -> OutputAndPullback:
    """Ā = -A⁻ᴴ Ȳ A⁻ᴴ at the entries of A."""
    y = linalg.inv(A)

    @pullback_wrt(A)
    def inv_pullback(ybar):
        y_h = adjoint(y)
        return -(y_h @ ybar @ y_h)

    return y, inv_pullback
