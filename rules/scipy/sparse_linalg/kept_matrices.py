"""Rules of ``splu`` and ``factorized`` with respect to the matrix: what they return knows its matrix.

An object of SciPy's knows neither the values nor the pattern of its matrix. So the rules return an object of a class
of this package, which holds the matrix beside it; its tangent is structural, with the matrix as the only field that
moves. A X = B has dX = A⁻¹ (dB - dA X), hence B̄ = A⁻ᴴ X̄ and Ā = -B̄ Xᴴ (Giles 2008, §2.3.1), at the entries of A.
"""

from multipledispatch import MDNotImplementedError

from rulescore import (
    AbstractZero,
    NoTangent,
    Tangent,
    apply_linear,
    frule,
    ignore_derivatives,
    is_traced,
    not_implemented,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
)
from rulescore.typing import Array, Choice, Count, Number, OutputAndPullback, OutputAndTangent, Struct, Tangents
from scipy.sparse import linalg

from ..linear_maps import composed
from ..sparse.operations import SPARSE
from .direct import ADJOINT_OF, decline_other_than_matrix, solve_by_factors
from .operators import adjoint, conj, matrix_cotangent, times

FACTOR = not_implemented(
    "the factors L and U of a scipy.sparse.linalg.splu, whose pattern changes with the matrix: use its solve(b)"
)

# ---------------------------------------------------------------- solutions


def matrix_of(A, trans):
    """The matrix whose systems are solved."""
    return {"N": lambda: A, "T": lambda: A.transpose(), "H": lambda: adjoint(A)}[trans]()


def factored_solution(A, b, trans, factors):
    """X of A X = B, or of the system with Aᵀ or Aᴴ, by factors of A that SciPy has made."""
    if is_traced(A, b):
        return seen_by_tracers(factored_solution, A, b, trans, factors)
    return solve_by_factors(factors, b, trans)


def adjoint_solution(A, x, trans, factors):
    """The solution of the adjoint system; that of Aᵀ is conj(A)."""
    if trans == "T":
        return conj(factored_solution(A, conj(x), "N", factors))
    return factored_solution(A, x, ADJOINT_OF[trans], factors)


def moved_solution(dA, db, A, x, trans, factors):
    """A dX = dB - dA X, or the same of Aᵀ or Aᴴ."""
    right = db - apply_linear(lambda dA: times(matrix_of(dA, trans), x), dA)
    return factored_solution(A, right if right.dtype == x.dtype else right.astype(x.dtype), trans, factors)


def solution_cotangents(A, x, xbar, trans, factors):
    """Ā, to be computed on demand, and B̄; see `factored_solution_rrule`."""
    columns = adjoint_solution(A, xbar if xbar.dtype == x.dtype else xbar.astype(x.dtype), trans, factors)

    def a_bar():
        pairs = {"N": (-columns, x), "T": (-conj(x), conj(columns)), "H": (-x, columns)}
        return matrix_cotangent(A, pairs[trans])

    return a_bar, columns


@frule.register(factored_solution, SPARSE)
@pushforward
def factored_solution_frule(
    dA: Array, db: Array, A: Array, b: Array, trans: Choice, factors: Struct
) -> OutputAndTangent:
    x = factored_solution(A, b, trans, factors)
    return x, moved_solution(dA, db, A, x, trans, factors)


@rrule.register(factored_solution, SPARSE)
def factored_solution_rrule(A: Array, b: Array, trans: Choice, factors: Struct) -> OutputAndPullback:
    """B̄ = A⁻ᴴ X̄ and Ā = -B̄ Xᴴ; with Aᵀ or Aᴴ in the place of A, Ā is the transpose or the adjoint of that."""
    x = factored_solution(A, b, trans, factors)
    return x, pullback_wrt(A, b)(lambda xbar: solution_cotangents(A, x, xbar, trans, factors))


# ---------------------------------------------------------------- objects


class KeptSuperLU:
    """What the rules of ``splu`` return: the object of SciPy's, and its matrix.

    Attributes
    ----------
    matrix : sparse array
        The matrix, which may be differentiated.
    """

    def __init__(self, matrix, factors):
        self.matrix, self._factors = matrix, factors

    def solve(self, rhs, trans="N"):
        """As the method of SciPy's."""
        return factored_solution(self.matrix, rhs, trans, self._factors)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if name in ("L", "U") and is_traced(self.matrix):
            FACTOR.fail()
        return getattr(self._factors, name)


class Factorized(KeptSuperLU):
    """What the rules of ``factorized`` return: a function of the right side."""

    def __call__(self, rhs):
        return self.solve(rhs)


@frule.register(KeptSuperLU.solve)
@pushforward
def solve_frule(dself: Struct, drhs: Array, self: Struct, rhs: Array, trans: Choice = "N") -> OutputAndTangent:
    x = self.solve(rhs, trans)
    return x, moved_solution(dself.matrix, drhs, self.matrix, x, trans, self._factors)


@rrule.register(KeptSuperLU.solve)
def solve_rrule(self: Struct, rhs: Array, trans: Choice = "N") -> OutputAndPullback:
    """See `factored_solution_rrule`."""
    x = self.solve(rhs, trans)

    @pullback_wrt(self, rhs)
    def solve_pullback(xbar):
        a_bar, columns = solution_cotangents(self.matrix, x, xbar, trans, self._factors)
        return lambda: Tangent(type(self), matrix=a_bar()), columns

    return x, solve_pullback


# ---------------------------------------------------------------- what makes them


def splu_of(A, options):
    decline_other_than_matrix(A)
    return KeptSuperLU(A, linalg.splu(ignore_derivatives(A), *options))


def factorized_of(A, options):
    decline_other_than_matrix(A)
    solve = linalg.factorized(ignore_derivatives(A))
    if not isinstance(getattr(solve, "__self__", None), linalg.SuperLU):
        raise MDNotImplementedError  # made by UMFPACK, where that is installed and used
    return Factorized(A, solve.__self__)


def with_tangent(y, da):
    # No pushforward, which calls SciPy's function along a zero, and would return an object without its matrix.
    return y, da if isinstance(da, AbstractZero) else Tangent(type(y), matrix=da, _factors=NoTangent())


def with_pullback(y, A):
    return y, pullback_wrt(A)(lambda ybar: ybar.matrix)


@frule.register(linalg.splu, SPARSE)
def splu_frule(
    tangents: Tangents,
    A: Array,
    permc_spec: Choice = None,
    diag_pivot_thresh: Number = None,
    relax: Count = None,
    panel_size: Count = None,
    options: Choice = None,
) -> OutputAndTangent:
    return with_tangent(splu_of(A, (permc_spec, diag_pivot_thresh, relax, panel_size, options)), tangents[1])


@rrule.register(linalg.splu, SPARSE)
def splu_rrule(
    A: Array,
    permc_spec: Choice = None,
    diag_pivot_thresh: Number = None,
    relax: Count = None,
    panel_size: Count = None,
    options: Choice = None,
) -> OutputAndPullback:
    """The cotangent of the matrix is that of the field ``matrix``, which solutions give it."""
    return with_pullback(splu_of(A, (permc_spec, diag_pivot_thresh, relax, panel_size, options)), A)


@frule.register(linalg.factorized, SPARSE)
def factorized_frule(tangents: Tangents, A: Array) -> OutputAndTangent:
    return with_tangent(factorized_of(A, ()), tangents[1])


@rrule.register(linalg.factorized, SPARSE)
def factorized_rrule(A: Array) -> OutputAndPullback:
    """As `splu_rrule`."""
    return with_pullback(factorized_of(A, ()), A)


# ---------------------------------------------------------------- both in one


def factored_and_solved(factorise, A, b, trans="N", options=None):
    """Factorise a matrix and solve one system.

    Parameters
    ----------
    factorise : callable
        `scipy.sparse.linalg.splu` or `scipy.sparse.linalg.factorized`.
    A : sparse array
        The matrix.
    b : array
        The right side.
    trans : str, optional
        As of ``SuperLU.solve``; the function that ``factorized`` returns takes none.
    options : dict, optional
        The keyword arguments of ``factorise``.

    Returns
    -------
    x : array
        ``factorise(A, **options).solve(b, trans)``.
    """
    factors = seen_by_tracers(factorise, A, **({} if options is None else options))
    solve = factors.solve if hasattr(factors, "solve") else factors
    return seen_by_tracers(solve, b) if trans == "N" else seen_by_tracers(solve, b, trans)


composed(factored_and_solved)(factored_and_solved)
