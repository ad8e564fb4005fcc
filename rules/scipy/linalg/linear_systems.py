"""Rules of what solves linear systems of equations with dense matrices: ``solve``, ``solve_triangular``, ``lstsq``."""

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
from rulescore.typing import Array, Choice, Flag, Number, OutputAndPullback, OutputAndTangent

from ...numpy.array_like import as_array, as_array_tangent, conj, shape_of
from ...numpy.linalg.linear_systems import least_squares_pullback, least_squares_tangent
from ...numpy.products import adjoint
from ..working_precision import in_working_precision
from .kept_factors import kept_factors
from .operands import decline_unless_matrices
from .structures import Structure

# ---------------------------------------------------------------- what all systems A X = B have in common


class LinearSystem:
    """X of A X = B, by any solver. A Ẋ = Ḃ - Ȧ X; B̄ = A⁻ᴴ X̄ and Ā = -B̄ Xᴴ (Giles 2008, §2.3.1).

    Parameters
    ----------
    solve, solve_adjoint : callable
        A⁻¹ B and A⁻ᴴ B for a right side, a vector or the columns of a matrix. Tangents and cotangents may be infinite,
        so that none of both refuses them.
    applied : callable
        ``applied(da, x)`` is Ȧ X, for a tangent of what the matrix is made of.
    is_vector : bool
        Whether B is a single vector, also beside a stack of matrices.
    """

    def __init__(self, solve, solve_adjoint, applied, is_vector):
        self.solve, self.solve_adjoint, self.applied, self.is_vector = solve, solve_adjoint, applied, is_vector

    def as_columns(self, x):
        return x[..., None] if self.is_vector else x

    def as_given(self, columns):
        return columns[..., 0] if self.is_vector else columns

    def tangent(self, x, da, db):
        right = self.as_columns(db) - apply_linear(lambda da: self.applied(da, self.as_columns(x)), da)
        dx = self.as_given(apply_linear(self.solve, right))  # of a pair of factors the tangent may hold only zeros
        return dx if np.shape(dx) == np.shape(x) else np.broadcast_to(dx, np.shape(x)).copy()

    def cotangents(self, x, xbar):
        """The columns Λ of B̄ and those of X, of which Ā = -Λ Xᴴ."""
        return self.solve_adjoint(self.as_columns(xbar)), self.as_columns(x)


# ---------------------------------------------------------------- solve


def structured_system(a, b, lower, assume_a, transposed):
    """The system of ``solve``, by one factorisation where it can be kept, and its structure."""
    decline_unless_matrices(a)
    a = as_array(a)
    if a.shape[-1] == 1 and shape_of(b)[-2:][:1] != (1,):
        raise MDNotImplementedError  # a number that SciPy divides any number of rows by
    # A single number is all that SciPy divides by, whatever it is said to be.
    structure = Structure(None if a.size == 1 else assume_a, lower)
    flipped, a_h = structure.adjoint(), adjoint(a)
    factors = None if transposed else kept_factors(a, structure)

    def solve(b, check_finite=False):
        if factors is not None and factors.can_solve_for(b):
            return factors.solve(b)
        return solved(a, b, structure, check_finite)

    def solve_adjoint(b):
        if factors is not None and factors.can_solve_for(b):
            return factors.solve_adjoint(b)
        return solved(a_h, b, flipped)

    def solved(a, b, structure, check_finite=False):
        keywords = {"lower": structure.lower, "check_finite": check_finite, "transposed": transposed}
        return seen_by_tracers(scipy.linalg.solve, a, b, assume_a=structure.name, **keywords)

    def applied(da, x):
        matrix = structure.read(da)
        return (np.swapaxes(matrix, -1, -2) if transposed else matrix) @ x

    return LinearSystem(solve, solve_adjoint, applied, len(shape_of(b)) == 1), structure


@frule.register(scipy.linalg.solve)
@pushforward
def solve_frule(
    da: Array,
    db: Array,
    a: Array,
    b: Array,
    lower: Flag = False,
    overwrite_a: Flag = False,
    overwrite_b: Flag = False,
    check_finite: Flag = True,
    assume_a: Choice = None,
    transposed: Flag = False,
) -> OutputAndTangent:
    system, _ = structured_system(a, b, lower, assume_a, transposed)
    x = system.solve(b, check_finite)
    return x, system.tangent(x, as_array_tangent(da, a), as_array_tangent(db, b))


@rrule.register(scipy.linalg.solve)
def solve_rrule(
    a: Array,
    b: Array,
    lower: Flag = False,
    overwrite_a: Flag = False,
    overwrite_b: Flag = False,
    check_finite: Flag = True,
    assume_a: Choice = None,
    transposed: Flag = False,
) -> OutputAndPullback:
    """See `LinearSystem`. What ``assume_a`` makes SciPy leave unread has no cotangent."""
    system, structure = structured_system(a, b, lower, assume_a, transposed)

    x, shape_a, shape_b = system.solve(b, check_finite), shape_of(a), shape_of(b)

    @pullback_wrt(a, b)
    def solve_pullback(xbar):
        columns, x_columns = system.cotangents(x, xbar)

        def a_bar():
            left, right = (conj(x_columns), conj(columns)) if transposed else (columns, x_columns)
            return unbroadcast(structure.cotangent(-left @ adjoint(right)), shape_a)

        return a_bar, lambda: unbroadcast(system.as_given(columns), shape_b)

    return x, solve_pullback


# ---------------------------------------------------------------- solve_triangular

OPERATIONS = {"N": 0, "T": 1, "C": 2}


def triangle_of(lower, unit_diagonal):
    """What is read of a triangular matrix."""
    take, outermost = (np.tril, -1) if lower else (np.triu, 1)
    return lambda a: take(a, outermost if unit_diagonal else 0)


def triangular_system(a, b, trans, lower, unit_diagonal):
    """The system op(A) X = B, with op(A) as ``trans`` says it: A, Aᵀ or Aᴴ."""
    a, trans = as_array(a), OPERATIONS.get(trans, trans)
    if trans not in OPERATIONS.values():
        raise MDNotImplementedError  # of which SciPy makes something, which depends on its version
    triangle = triangle_of(lower, unit_diagonal)

    def solve(b, check_finite=False, operation=trans):
        return seen_by_tracers(
            scipy.linalg.solve_triangular, a, b, operation, lower, unit_diagonal, check_finite=check_finite
        )

    def solve_adjoint(b):
        if trans == 1:
            return conj(solve(conj(b), operation=0))
        return solve(b, operation=0 if trans == 2 else 2)

    def applied(da, x):
        return in_operation(triangle(da), trans) @ x

    return LinearSystem(solve, solve_adjoint, applied, len(shape_of(b)) == 1), trans


def in_operation(a, trans):
    """A, Aᵀ or Aᴴ."""
    if trans == 0:
        return a
    return np.swapaxes(a, -1, -2) if trans == 1 else adjoint(a)


def factors_under_operation(left, right, trans):
    """The factors of Ā = -left rightᴴ, of those of the cotangent of op(A)."""
    if trans == 0:
        return left, right
    return (conj(right), conj(left)) if trans == 1 else (right, left)


@frule.register(scipy.linalg.solve_triangular)
@pushforward
def solve_triangular_frule(
    da: Array,
    db: Array,
    a: Array,
    b: Array,
    trans: Choice = 0,
    lower: Flag = False,
    unit_diagonal: Flag = False,
    overwrite_b: Flag = False,
    check_finite: Flag = True,
) -> OutputAndTangent:
    system, _ = triangular_system(a, b, trans, lower, unit_diagonal)
    x = system.solve(b, check_finite)
    return x, system.tangent(x, as_array_tangent(da, a), as_array_tangent(db, b))


@rrule.register(scipy.linalg.solve_triangular)
def solve_triangular_rrule(
    a: Array,
    b: Array,
    trans: Choice = 0,
    lower: Flag = False,
    unit_diagonal: Flag = False,
    overwrite_b: Flag = False,
    check_finite: Flag = True,
) -> OutputAndPullback:
    """See `LinearSystem`. Only the triangle that is read has a cotangent, without its diagonal where that is 1."""
    system, trans = triangular_system(a, b, trans, lower, unit_diagonal)
    triangle, x = triangle_of(lower, unit_diagonal), system.solve(b, check_finite)
    shape_a, shape_b = shape_of(a), shape_of(b)

    @pullback_wrt(a, b)
    def solve_triangular_pullback(xbar):
        columns, x_columns = system.cotangents(x, xbar)

        def a_bar():
            left, right = factors_under_operation(columns, x_columns, trans)
            return unbroadcast(triangle(-left @ adjoint(right)), shape_a)

        return a_bar, lambda: unbroadcast(system.as_given(columns), shape_b)

    return x, solve_triangular_pullback


# ---------------------------------------------------------------- lstsq


def solved_by_lstsq(a, b, cond, check_finite, lapack_driver):
    """What SciPy returns, and the singular values, which one of the drivers does not tell."""
    if lapack_driver == "gelsy" or len(shape_of(a)) != 2:
        raise MDNotImplementedError
    y = seen_by_tracers(scipy.linalg.lstsq, a, b, cond, check_finite=check_finite, lapack_driver=lapack_driver)
    cutoff = np.finfo(ignore_derivatives(y[3]).dtype).eps if cond is None else cond
    return y, cutoff


@frule.register(scipy.linalg.lstsq)
@pushforward
def lstsq_frule(
    da: Array,
    db: Array,
    _dcond: Number,
    a: Array,
    b: Array,
    cond: Number = None,
    overwrite_a: Flag = False,
    overwrite_b: Flag = False,
    check_finite: Flag = True,
    lapack_driver: Choice = None,
) -> OutputAndTangent:
    y, cutoff = solved_by_lstsq(a, b, cond, check_finite, lapack_driver)
    moved = in_working_precision(as_array_tangent(da, a)), in_working_precision(as_array_tangent(db, b))
    return y, least_squares_tangent(*moved, in_working_precision(a), in_working_precision(b), y, cutoff)


@rrule.register(scipy.linalg.lstsq)
def lstsq_rrule(
    a: Array,
    b: Array,
    cond: Number = None,
    overwrite_a: Flag = False,
    overwrite_b: Flag = False,
    check_finite: Flag = True,
    lapack_driver: Choice = None,
) -> OutputAndPullback:
    y, cutoff = solved_by_lstsq(a, b, cond, check_finite, lapack_driver)
    pull = least_squares_pullback(in_working_precision(a), in_working_precision(b), y, cutoff)

    @pullback_wrt(a, b)
    def lstsq_pullback(ybar):
        xbar, squares_bar, *others = ybar
        _, *bars = pull((xbar, np.real(squares_bar), *others))  # SciPy 1.18 gives real numbers a complex type
        return tuple(bars)

    return y, lstsq_pullback
