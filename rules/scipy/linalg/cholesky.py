"""Rules of the Cholesky factor, as a matrix and as what ``cho_solve`` takes."""

import numpy as np

import scipy.linalg
from rulescore import (
    NoTangent,
    ZeroTangent,
    apply_linear,
    frule,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
    unbroadcast,
)
from rulescore.typing import Array, Arrays, Flag, OutputAndPullback, OutputAndTangent

from ...numpy.array_like import as_array, as_array_tangent, shape_of
from ...numpy.linalg.cholesky import (
    cotangent_of_triangle,
    hermitian_from,
    lower_cholesky_cotangent,
    lower_cholesky_tangent,
)
from ...numpy.products import adjoint
from ..working_precision import in_working_precision
from .linear_systems import LinearSystem
from .operands import CHO_FACTOR_CLEANS, decline_unless_matrices

# ---------------------------------------------------------------- the factor, L or U = Lᴴ


def factor_tangent(factor, da, lower):
    """The tangent of a triangular factor."""
    lower_factor = factor if lower else adjoint(factor)
    dfactor = lower_cholesky_tangent(lower_factor, hermitian_from(in_working_precision(da), upper=not lower))
    return dfactor if lower else adjoint(dfactor)


def factor_cotangent(factor, factor_bar, lower):
    """The cotangent of the triangle of A that is read."""
    if not lower:
        factor, factor_bar = adjoint(factor), adjoint(factor_bar)
    p = lower_cholesky_cotangent(factor, np.tril(factor_bar))
    return cotangent_of_triangle(p, upper=not lower)


def triangle(x, lower):
    return np.tril(x) if lower else np.triu(x)


def left_by_lapack(x, lower):
    """What of A is in ``cho_factor`` still there, in the triangle that the factor does not need."""
    if CHO_FACTOR_CLEANS:
        return ZeroTangent()
    return np.triu(x, 1) if lower else np.tril(x, -1)


@frule.register(scipy.linalg.cholesky)
@pushforward
def cholesky_frule(
    da: Array, a: Array, lower: Flag = False, overwrite_a: Flag = False, check_finite: Flag = True
) -> OutputAndTangent:
    decline_unless_matrices(a)
    y = seen_by_tracers(scipy.linalg.cholesky, a, lower, check_finite=check_finite)
    return y, factor_tangent(y, as_array_tangent(da, a), lower)


@rrule.register(scipy.linalg.cholesky)
def cholesky_rrule(
    a: Array, lower: Flag = False, overwrite_a: Flag = False, check_finite: Flag = True
) -> OutputAndPullback:
    """As the rule of `np.linalg.cholesky`; SciPy reads the upper triangle unless it is told otherwise."""
    decline_unless_matrices(a)
    y = seen_by_tracers(scipy.linalg.cholesky, a, lower, check_finite=check_finite)

    @pullback_wrt(a)
    def cholesky_pullback(ybar):
        return factor_cotangent(y, ybar, lower)

    return y, cholesky_pullback


# ---------------------------------------------------------------- cho_factor and cho_solve


@frule.register(scipy.linalg.cho_factor)
@pushforward
def cho_factor_frule(
    da: Array, a: Array, lower: Flag = False, overwrite_a: Flag = False, check_finite: Flag = True
) -> OutputAndTangent:
    decline_unless_matrices(a)
    da, y = as_array_tangent(da, a), seen_by_tracers(scipy.linalg.cho_factor, a, lower, check_finite=check_finite)
    dc = factor_tangent(triangle(y[0], lower), da, lower) + left_by_lapack(da, lower)
    return y, (dc, NoTangent())


@rrule.register(scipy.linalg.cho_factor)
def cho_factor_rrule(
    a: Array, lower: Flag = False, overwrite_a: Flag = False, check_finite: Flag = True
) -> OutputAndPullback:
    """As `cholesky_rrule`, beside `left_by_lapack`."""
    decline_unless_matrices(a)
    y = seen_by_tracers(scipy.linalg.cho_factor, a, lower, check_finite=check_finite)
    factor = triangle(y[0], lower)

    @pullback_wrt(a)
    def cho_factor_pullback(ybar):
        cbar, _ = ybar
        return apply_linear(lambda c: factor_cotangent(factor, c, lower) + left_by_lapack(c, lower), cbar)

    return y, cho_factor_pullback


def factored_system(c_and_lower, b):
    """The system L Lᴴ X = B, or Uᴴ U X = B, which is its own adjoint."""
    c, lower = c_and_lower

    def solve(b, check_finite=False):
        return seen_by_tracers(scipy.linalg.cho_solve, (c, lower), b, check_finite=check_finite)

    def applied(dc, x):
        factor, dfactor = triangle(as_array(c), lower), triangle(dc, lower)
        if lower:
            return dfactor @ (adjoint(factor) @ x) + factor @ (adjoint(dfactor) @ x)
        return adjoint(dfactor) @ (factor @ x) + adjoint(factor) @ (dfactor @ x)

    return LinearSystem(solve, solve, applied, len(shape_of(b)) == 1)


@frule.register(scipy.linalg.cho_solve)
@pushforward
def cho_solve_frule(
    dc_and_lower: Arrays, db: Array, c_and_lower: Arrays, b: Array, overwrite_b: Flag = False, check_finite: Flag = True
) -> OutputAndTangent:
    system = factored_system(c_and_lower, b)
    x = system.solve(b, check_finite)
    return x, system.tangent(x, as_array_tangent(dc_and_lower[0], c_and_lower[0]), as_array_tangent(db, b))


@rrule.register(scipy.linalg.cho_solve)
def cho_solve_rrule(
    c_and_lower: Arrays, b: Array, overwrite_b: Flag = False, check_finite: Flag = True
) -> OutputAndPullback:
    """B̄ = A⁻¹ X̄ and Ā = -B̄ Xᴴ with A = L Lᴴ, hence L̄ = (Ā + Āᴴ) L in its triangle; Ū = U (Ā + Āᴴ)."""
    system = factored_system(c_and_lower, b)
    (c, lower), x = c_and_lower, system.solve(b, check_finite)
    shape_c, shape_b = shape_of(c), shape_of(b)

    @pullback_wrt(c_and_lower, b)
    def cho_solve_pullback(xbar):
        left, right = system.cotangents(x, xbar)

        def pair_bar():
            factor = triangle(as_array(c), lower)
            if lower:
                cbar = left @ (adjoint(right) @ factor) + right @ (adjoint(left) @ factor)
            else:
                cbar = (factor @ left) @ adjoint(right) + (factor @ right) @ adjoint(left)
            return unbroadcast(-triangle(cbar, lower), shape_c), NoTangent()

        return pair_bar, lambda: unbroadcast(system.as_given(left), shape_b)

    return x, cho_solve_pullback
