"""Rules of the LU decomposition: ``lu_factor``, ``lu_solve`` and ``lu``."""

import math

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy.linalg
from rulescore import (
    MissingDerivativeError,
    NoTangent,
    Tangent,
    ZeroTangent,
    apply_linear,
    frule,
    ignore_derivatives,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
    unbroadcast,
)
from rulescore.typing import Array, Arrays, Choice, Flag, OutputAndPullback, OutputAndTangent

from ...numpy.array_like import as_array, as_array_tangent, conj, shape_of
from ...numpy.products import adjoint
from ..working_precision import solve
from .linear_systems import LinearSystem, factors_under_operation, in_operation
from .operands import decline_unless_matrices

SINGULAR = (
    "the LU decomposition of a matrix whose leading rows or columns are linearly dependent: its factors have no "
    "derivative there. Use a matrix of full rank"
)


class TriangularFactors:
    """L and U of P A = L U, for matrices of any shape.

    With the first k rows and columns A₁₁ of P A, k the smaller of both numbers, and G = L₁⁻¹ dA₁₁ U₁⁻¹:
    dL₁ = L₁ Φ(G), where Φ takes what is below the diagonal, and dU₁ = (G - Φ(G)) U₁. The other rows of L move by
    (dA₂₁ - L₂ dU₁) U₁⁻¹, and the other columns of U by L₁⁻¹ (dA₁₂ - dL₁ U₂).
    """

    def __init__(self, lower, upper):
        self.k = k = lower.shape[-1]
        self.l1, self.l2 = lower[..., :k, :], lower[..., k:, :]
        self.u1, self.u2 = upper[..., :k], upper[..., k:]
        pivots = np.diagonal(ignore_derivatives(self.u1), axis1=-2, axis2=-1)
        if np.any(pivots == 0):
            raise MissingDerivativeError(SINGULAR)

    def _over_l(self, x, adjoint_of=False):
        """L₁⁻¹ X or L₁⁻ᴴ X."""
        return triangular(self.l1, x, 2 if adjoint_of else 0, lower=True)

    def _times_inverse_u(self, x, adjoint_of=False):
        """X U₁⁻¹ or X U₁⁻ᴴ."""
        return adjoint(triangular(self.u1, adjoint(x), 0 if adjoint_of else 2, lower=False))

    def tangents(self, da):
        """dL and dU, of a tangent with its rows permuted."""
        k = self.k
        g = self._times_inverse_u(self._over_l(da[..., :k, :k]))
        below = np.tril(g, -1)
        dl, du = self.l1 @ below, (g - below) @ self.u1
        if self.l2.shape[-2]:
            rest = self._times_inverse_u(da[..., k:, :] - self.l2 @ du)
            dl = np.concatenate([dl, rest], axis=-2)
        if self.u2.shape[-1]:
            rest = self._over_l(da[..., k:] - dl @ self.u2)
            du = np.concatenate([du, rest], axis=-1)
        return dl, du

    def cotangent(self, lbar, ubar):
        """The transpose of `tangents`, with its rows permuted still; either of the cotangents may be a zero."""
        k = self.k
        lbar = lbar + np.zeros_like(np.concatenate([self.l1, self.l2], axis=-2))
        ubar = ubar + np.zeros_like(np.concatenate([self.u1, self.u2], axis=-1))
        l1_bar, u1_bar, others = np.tril(lbar[..., :k, :], -1), np.triu(ubar[..., :k]), None
        if self.u2.shape[-1]:
            others, axis = self._over_l(ubar[..., k:], adjoint_of=True), -1
            l1_bar = np.tril(l1_bar - others @ adjoint(self.u2), -1)
        if self.l2.shape[-2]:
            others, axis = self._times_inverse_u(lbar[..., k:, :], adjoint_of=True), -2
            u1_bar = np.triu(u1_bar - adjoint(self.l2) @ others)
        g_bar = np.tril(adjoint(self.l1) @ l1_bar, -1) + np.triu(u1_bar @ adjoint(self.u1))
        abar = self._times_inverse_u(self._over_l(g_bar, adjoint_of=True), adjoint_of=True)
        return abar if others is None else np.concatenate([abar, others], axis=axis)


def triangular(a, b, trans, lower):
    if np.ndim(a) > 2:  # which ``lu`` takes, and ``solve_triangular`` only since SciPy 1.16
        return solve(in_operation(a, trans), b)
    return seen_by_tracers(scipy.linalg.solve_triangular, a, b, trans, lower, check_finite=False)


def unit_lower(packed):
    """L of the matrix that LAPACK keeps both factors in."""
    rows, columns = packed.shape[-2:]
    k = min(rows, columns)
    return np.tril(packed[..., :k], -1) + np.eye(rows, k, dtype=packed.dtype)


def upper(packed):
    return np.triu(packed[..., : min(packed.shape[-2:]), :])


def pack(lower, upper):
    """L without its diagonal, and U, in one matrix."""
    rows, columns = lower.shape[-2], upper.shape[-1]
    missing = np.zeros((*upper.shape[:-2], rows - upper.shape[-2], columns), upper.dtype)
    strict = np.tril(lower, -1)
    more = np.zeros((*lower.shape[:-1], columns - lower.shape[-1]), lower.dtype)
    return np.concatenate([strict, more], axis=-1) + np.concatenate([upper, missing], axis=-2)


# ---------------------------------------------------------------- permutations


def order_of(pivots, rows):
    """The rows of A in the order that LAPACK's exchanges put them in."""
    pivots = np.asarray(pivots, np.intp)  # LAPACK takes whole numbers of every type
    flat = np.reshape(pivots, (math.prod(pivots.shape[:-1]), pivots.shape[-1])).tolist()
    orders = []
    for exchanges in flat:
        order = list(range(rows))
        for i, j in enumerate(exchanges):
            order[i], order[j] = order[j], order[i]
        orders.append(order)
    return np.reshape(np.array(orders, dtype=np.intp), (*pivots.shape[:-1], rows))


def in_order(a, order):
    """The rows of a matrix, or of each matrix of a stack, in an order."""
    if order.ndim == 1:
        return a[..., order, :]
    stack = np.broadcast_shapes(a.shape[:-2], order.shape[:-1])
    a, order = np.broadcast_to(a, (*stack, *a.shape[-2:])), np.broadcast_to(order, (*stack, order.shape[-1]))
    return np.take_along_axis(a, order[..., None], axis=-2)


def permuted(a, order):
    """P A."""
    return in_order(a, order)


def permuted_back(a, order):
    """Pᵀ A."""
    return in_order(a, np.argsort(order, axis=-1))


# ---------------------------------------------------------------- lu_factor and lu_solve


def factorised(a, check_finite):
    """What SciPy returns; it takes no stacks before 1.16, and gives for one what is no factorisation."""
    decline_unless_matrices(a)
    packed, pivots = y = seen_by_tracers(scipy.linalg.lu_factor, a, check_finite=check_finite)
    if packed.size and np.ndim(pivots) != np.ndim(packed) - 1:
        raise MDNotImplementedError
    return y


@frule.register(scipy.linalg.lu_factor)
@pushforward
def lu_factor_frule(da: Array, a: Array, overwrite_a: Flag = False, check_finite: Flag = True) -> OutputAndTangent:
    y = factorised(a, check_finite)
    packed, pivots = y
    if not packed.size:
        return y, (ZeroTangent(), NoTangent())
    factors = TriangularFactors(unit_lower(packed), upper(packed))
    da = permuted(as_array_tangent(da, a), order_of(pivots, packed.shape[-2]))
    return y, (pack(*factors.tangents(da)), NoTangent())


@rrule.register(scipy.linalg.lu_factor)
def lu_factor_rrule(a: Array, overwrite_a: Flag = False, check_finite: Flag = True) -> OutputAndPullback:
    """See `TriangularFactors`; the exchanges of rows are constant."""
    y = factorised(a, check_finite)
    packed, pivots = y

    @pullback_wrt(a)
    def lu_factor_pullback(ybar):
        if not packed.size:
            return ZeroTangent()
        factors, bar = TriangularFactors(unit_lower(packed), upper(packed)), ybar[0]
        abar = factors.cotangent(np.tril(bar[..., : factors.k], -1), np.triu(bar[..., : factors.k, :]))
        return permuted_back(abar, order_of(pivots, packed.shape[-2]))

    return y, lu_factor_pullback


def factored_system(lu_and_piv, b, trans):
    """The system op(A) X = B with the factors of A."""
    packed, pivots = lu_and_piv

    def solve(b, check_finite=False, operation=trans):
        return seen_by_tracers(scipy.linalg.lu_solve, (packed, pivots), b, operation, check_finite=check_finite)

    def solve_adjoint(b):
        if trans == 1:
            return conj(solve(conj(b), operation=0))
        return solve(b, operation=0 if trans == 2 else 2)

    def applied(dpacked, x):
        factors = as_array(packed)
        dproduct = np.tril(dpacked, -1) @ upper(factors) + unit_lower(factors) @ np.triu(dpacked)
        return in_operation(permuted_back(dproduct, order_of(pivots, factors.shape[-1])), trans) @ x

    return LinearSystem(solve, solve_adjoint, applied, len(shape_of(b)) == 1)


@frule.register(scipy.linalg.lu_solve)
@pushforward
def lu_solve_frule(
    dlu_and_piv: Arrays,
    db: Array,
    lu_and_piv: Arrays,
    b: Array,
    trans: Choice = 0,
    overwrite_b: Flag = False,
    check_finite: Flag = True,
) -> OutputAndTangent:
    system = factored_system(lu_and_piv, b, trans)
    x = system.solve(b, check_finite)
    return x, system.tangent(x, as_array_tangent(dlu_and_piv[0], lu_and_piv[0]), as_array_tangent(db, b))


@rrule.register(scipy.linalg.lu_solve)
def lu_solve_rrule(
    lu_and_piv: Arrays, b: Array, trans: Choice = 0, overwrite_b: Flag = False, check_finite: Flag = True
) -> OutputAndPullback:
    """As `LinearSystem` with P A = L U, hence L̄ = P Ā Uᴴ below the diagonal and Ū = Lᴴ P Ā above it."""
    system = factored_system(lu_and_piv, b, trans)
    x = system.solve(b, check_finite)
    (packed, pivots), kind = lu_and_piv, type(lu_and_piv)
    shape_lu, shape_b = shape_of(packed), shape_of(b)

    @pullback_wrt(lu_and_piv, b)
    def lu_solve_pullback(xbar):
        columns, x_columns = system.cotangents(x, xbar)

        def pair_bar():
            left, right = factors_under_operation(columns, x_columns, trans)
            factors = as_array(packed)
            left = permuted(left, order_of(pivots, factors.shape[-1]))
            of_l = left @ adjoint(upper(factors) @ right)
            of_u = (adjoint(unit_lower(factors)) @ left) @ adjoint(right)
            return Tangent(kind, unbroadcast(-np.tril(of_l, -1) - np.triu(of_u), shape_lu), NoTangent())

        return pair_bar, lambda: unbroadcast(system.as_given(columns), shape_b)

    return x, lu_solve_pullback


# ---------------------------------------------------------------- lu


class SeparateFactors:
    """What ``lu`` returns: A = P L U, or both factors alone, the first one permuted."""

    def __init__(self, a, permute_l, check_finite, p_indices):
        keywords = {"check_finite": check_finite, "p_indices": p_indices}
        self.permute_l, self.y = permute_l, seen_by_tracers(scipy.linalg.lu, a, permute_l, **keywords)
        if permute_l:
            lower, self.upper = self.y
            # LAPACK's own order of the rows of P L: the one in which the matrix is lower triangular.
            self.back = self._order(seen_by_tracers(scipy.linalg.lu, ignore_derivatives(a), p_indices=True)[0])
            self.lower = permuted_back(lower, self.back)
        else:
            p, self.lower, self.upper = self.y
            p = ignore_derivatives(p)
            self.back = self._order(p if p_indices or not p.size else np.argmax(p, axis=-1))

    def _order(self, indices):
        """The indices p of A = L[p] U."""
        return np.asarray(indices).astype(np.intp)

    def factors(self):
        return TriangularFactors(self.lower, self.upper)

    def tangents(self, da):
        dl, du = self.factors().tangents(permuted_back(da, self.back))
        return (permuted(dl, self.back), du) if self.permute_l else (dl, du)

    def cotangent(self, lbar, ubar):
        if self.permute_l:
            lbar = apply_linear(lambda lbar: permuted_back(lbar, self.back), lbar)
        return permuted(self.factors().cotangent(lbar, ubar), self.back)


@frule.register(scipy.linalg.lu)
@pushforward
def lu_frule(
    da: Array,
    a: Array,
    permute_l: Flag = False,
    overwrite_a: Flag = False,
    check_finite: Flag = True,
    p_indices: Flag = False,
) -> OutputAndTangent:
    separate = SeparateFactors(a, permute_l, check_finite, p_indices)
    y = separate.y
    factors = separate.tangents(as_array_tangent(da, a)) if y[-1].size else (ZeroTangent(), ZeroTangent())
    return y, factors if permute_l else (ZeroTangent(), *factors)


@rrule.register(scipy.linalg.lu)
def lu_rrule(
    a: Array, permute_l: Flag = False, overwrite_a: Flag = False, check_finite: Flag = True, p_indices: Flag = False
) -> OutputAndPullback:
    """See `TriangularFactors`; the permutation is constant."""
    separate = SeparateFactors(a, permute_l, check_finite, p_indices)

    @pullback_wrt(a)
    def lu_pullback(ybar):
        *_, lbar, ubar = ybar
        return apply_linear(separate.cotangent, lbar, ubar) if separate.upper.size else ZeroTangent()

    return separate.y, lu_pullback
