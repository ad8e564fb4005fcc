"""Rules of singular values and their vectors."""

import functools

import numpy as np
from rulescore import (
    MissingDerivativeError,
    NotImplementedTangent,
    ZeroTangent,
    apply_linear,
    frule,
    ignore_derivatives,
    pullback_wrt,
    pushforward,
    rrule,
)
from rulescore.typing import Array, Flag, OutputAndPullback, OutputAndTangent

from ..array_like import as_array_tangent
from ..products import adjoint
from .cholesky import cotangent_of_triangle, hermitian_from
from .eigenvalues import (
    anchor_at,
    coinciding,
    diagonal,
    eigh_cotangent,
    eigh_tangents,
    largest_of,
    phase_cotangent,
    phase_tangent,
    reciprocal,
    reciprocal_differences,
    refuse_cotangents_of,
    rounding_of,
    turned,
    turning,
)

SVDResult = type(np.linalg.svd(np.eye(1)))  # NumPy has no public name for it

NO_SINGULAR_VECTORS = (
    "singular vectors of repeated or zero singular values: any basis of their common space is as good, so that the "
    "vectors have no derivative there. Use the singular values alone, vectors of single values (u[:, i]), or a matrix "
    "whose singular values differ"
)

NO_BASIS = (
    "the vectors of np.linalg.svd(full_matrices=True) that belong to no singular value, used in a way that depends on "
    "which basis of their space LAPACK picks: only their space has a derivative. Use the projection on it, "
    "u2 @ u2.conj().T, or full_matrices=False"
)


class SingularVectors:
    """U and V of A = U diag(s) Vᴴ, where A has at least as many rows as columns; of Aᴴ for a wide A.

    With M = Uᴴ dA V, Uᴴ dU = X + Y and Vᴴ dV = X - Y, where Xᵢⱼ = Hᵢⱼ/(sⱼ - sᵢ) of the Hermitian part H of M and
    Yᵢⱼ = Kᵢⱼ/(sⱼ + sᵢ) of its other part K. In the dimensions outside of its columns U moves by (1 - U Uᴴ) dA V / s.
    (Townsend 2016; Wan and Zhang 2019 for complex matrices.)

    Both vectors of a pair may be turned by the same phase. LAPACK reduces A to a real bidiagonal matrix and keeps the
    first row of V real (measured; of U for a wide A); so do dU + i U t and dV + i V t for the right phases t.

    Parameters
    ----------
    u : array of shape (..., m, n) or (..., m, m)
        The columns after the n-th belong to no singular value. They move only as far as they must, to stay orthogonal
        to the others: only their space, and not which basis of it LAPACK picks, has a derivative.
    s : array of shape (..., n)
    v : array of shape (..., n, n)
    """

    def __init__(self, u, s, v):
        n = s.shape[-1]
        self.u, self.rest, self.s, self.v = u[..., :n], u[..., n:], s, v
        self.is_square, self.is_complex = u.shape[-2] == n, np.iscomplexobj(u)
        self.pairs = coinciding(s)
        constant = ignore_derivatives(s)
        self.is_zero = constant <= rounding_of(s) * u.shape[-2] * largest_of(constant)

    def without_derivative(self):
        """Which columns of U and of V have no derivative.

        The vector in U to a singular value of 0 is determined, up to its sign, only by all the others.
        """
        repeated = np.any(self.pairs, axis=-1)
        return repeated if self.is_square and not self.is_complex else repeated | self.is_zero, repeated

    def reciprocals(self):
        """1/(sⱼ - sᵢ), 1/(sⱼ + sᵢ) and 1/sⱼ."""
        s, zero = self.s, self.is_zero
        sums = reciprocal(s[..., None, :] + s[..., :, None], zero[..., None, :] & zero[..., :, None])
        return reciprocal_differences(s, self.pairs), sums, reciprocal(s, zero)[..., None, :]

    def tangents(self, da):
        """The tangents of all of U, of s and of V; missing ones for vectors without derivative."""
        m = adjoint(self.u) @ da @ self.v
        ds = np.real(diagonal(m))
        no_u, no_v = map(np.any, self.without_derivative())
        if no_v:
            return NotImplementedTangent(NO_SINGULAR_VECTORS), ds, NotImplementedTangent(NO_SINGULAR_VECTORS)
        by_difference, by_sum, by_s = self.reciprocals()
        m_h = adjoint(m)
        x, y = by_difference * (0.5 * (m + m_h)), by_sum * (0.5 * (m - m_h))
        du, dv = self.u @ (x + y), self.v @ (x - y)
        if not self.is_square:
            du = du + outside(self.u, da @ self.v) * by_s
        if self.is_complex:
            anchor = anchor_at(0, self.v)
            t = phase_tangent(dv, self.v, anchor)
            du, dv = du + 1j * self.u * t, turned(dv, self.v, anchor, t)
        if no_u:
            return NotImplementedTangent(NO_SINGULAR_VECTORS), ds, dv
        if self.rest.shape[-1]:
            du = np.concatenate([du, -self.u @ (adjoint(du) @ self.rest)], axis=-1)
        return du, ds, dv

    def cotangent(self, ubar, sbar, vbar):
        """The transpose of `tangents`, for the cotangents of all of U, of s and of V, some of which may be zeros."""
        along_u = self.u * sbar[..., None, :] + apply_linear(self._of_vectors, ubar, vbar)
        return along_u @ adjoint(self.v)

    def _of_vectors(self, ubar, vbar):
        n = self.s.shape[-1]
        ubar, rest_bar = ubar[..., :n], ubar[..., n:]
        vbar = vbar + np.zeros_like(self.v)
        self._refuse(ubar, rest_bar, vbar)
        if self.is_complex:
            phase_bar = turning(self.u, ubar) + turning(self.v, vbar)
            vbar = vbar + phase_cotangent(phase_bar, self.v, anchor_at(0, self.v))
        by_difference, by_sum, by_s = self.reciprocals()
        of_u, of_v = adjoint(self.u) @ ubar, adjoint(self.v) @ vbar
        x_bar, y_bar = by_difference * (of_u + of_v), by_sum * (of_u - of_v)
        m_bar = 0.5 * (x_bar + adjoint(x_bar) + y_bar - adjoint(y_bar))
        if self.is_square:
            return self.u @ m_bar
        moved = outside(self.u, ubar) - self.rest @ (apply_linear(adjoint, rest_bar) @ self.u)
        return self.u @ m_bar + moved * by_s

    def _refuse(self, ubar, rest_bar, vbar):
        """Raise for cotangents of what has no derivative."""
        no_u, no_v = self.without_derivative()
        refuse_cotangents_of(no_v, vbar, NO_SINGULAR_VECTORS)
        apply_linear(lambda ubar: refuse_cotangents_of(no_u, ubar, NO_SINGULAR_VECTORS), ubar)

        def refuse_rest(rest_bar):
            refuse_cotangents_of(np.any(self.is_zero, axis=-1, keepdims=True), rest_bar, NO_SINGULAR_VECTORS)
            refuse_dependence_on_basis(ignore_derivatives(self.rest), ignore_derivatives(rest_bar))

        if self.rest.shape[-1]:
            apply_linear(refuse_rest, rest_bar)


def outside(v, x):
    """(1 - V Vᴴ) X, projected twice: what is left after the first time may be small beside its rounding errors."""
    v_h = adjoint(v)
    x = x - v @ (v_h @ x)
    return x - v @ (v_h @ x)


def refuse_dependence_on_basis(rest, rest_bar):
    """Raise unless every basis of the space of the rest does as well, for which restᴴ r̄ has to be Hermitian."""
    product = adjoint(rest) @ rest_bar
    sizes, errors = np.abs(rest_bar), np.abs(product - adjoint(product))
    if sizes.size and np.max(errors) > np.sqrt(rounding_of(rest)) * np.max(sizes):
        raise MissingDerivativeError(NO_BASIS)


def is_wide(u, vh):
    return u.shape[-2] < vh.shape[-1]


def svd_tangents(u, s, vh, da):
    """The tangents of U, s and Vᴴ."""
    if is_wide(u, vh):
        dv, ds, du = SingularVectors(adjoint(vh), s, u).tangents(adjoint(da))
    else:
        du, ds, dv = SingularVectors(u, s, adjoint(vh)).tangents(da)
    return du, ds, adjoint_tangent(dv)


def svd_cotangent(u, s, vh, ubar, sbar, vh_bar):
    """The transpose of `svd_tangents`."""
    vbar = apply_linear(adjoint, vh_bar)
    if is_wide(u, vh):
        return adjoint(SingularVectors(adjoint(vh), s, u).cotangent(vbar, sbar, ubar))
    return SingularVectors(u, s, adjoint(vh)).cotangent(ubar, sbar, vbar)


def adjoint_tangent(dx):
    return dx if isinstance(dx, NotImplementedTangent) else adjoint(dx)


# ---------------------------------------------------------------- by way of the eigenvalues of a Hermitian matrix


class HermitianSVD:
    """The singular values of a Hermitian matrix, of which NumPy reads the lower triangle: the eigenvalues' moduli.

    U are the eigenvectors, and so are V, up to the signs of the eigenvalues.
    """

    def __init__(self, a):
        w, v = np.linalg.eigh(a)
        self.w, self.v = w, v
        self.order = np.argsort(np.abs(ignore_derivatives(w)), axis=-1)[..., ::-1]
        self.back = np.argsort(self.order, axis=-1)
        self.s, constant = self.sorted(np.abs(w)), self.sorted(ignore_derivatives(w))
        # NumPy gives the vectors of an eigenvalue of 0 a sign too, but its modulus does not move with it.
        self.sign, self.slope = np.copysign(1.0, constant), np.sign(constant)

    def sorted(self, x):
        return np.take_along_axis(x, self.order, axis=-1)

    def sorted_columns(self, x):
        return np.take_along_axis(x, self.order[..., None, :], axis=-1)

    def vectors(self):
        u = self.sorted_columns(self.v)
        return u, adjoint(u * self.sign[..., None, :])

    def tangents(self, da):
        dw, dv = eigh_tangents(self.w, self.v, hermitian_from(da, upper=False), "L")
        ds = self.slope * self.sorted(dw)
        if isinstance(dv, NotImplementedTangent):
            return dv, ds, dv
        du = self.sorted_columns(dv)
        return du, ds, adjoint(du * self.sign[..., None, :])

    def values(self):
        """The singular values alone, in memory as NumPy has them: backwards."""
        return np.copy(self.s[..., ::-1])[..., ::-1]

    def cotangent(self, ubar, sbar, vh_bar):
        """The transpose of `tangents`; at an eigenvalue of 0, where its modulus has a kink, s̄ goes nowhere."""
        wbar = np.take_along_axis(self.slope * sbar, self.back, axis=-1)
        columns = ubar + apply_linear(adjoint, vh_bar) * self.sign[..., None, :]
        columns = np.take_along_axis(columns, self.back[..., None, :], axis=-1)
        return cotangent_of_triangle(eigh_cotangent(self.w, self.v, wbar, columns, "L"), upper=False)


# ---------------------------------------------------------------- the rules


@frule.register(np.linalg.svd)
@pushforward
def svd_frule(
    da: Array, a: Array, full_matrices: Flag = True, compute_uv: Flag = True, hermitian: Flag = False
) -> OutputAndTangent:
    da = as_array_tangent(da, a)
    if not compute_uv:
        return values_and_tangents(da, a, hermitian)
    if hermitian:
        by_eigh = HermitianSVD(a)
        u, vh = by_eigh.vectors()
        y, dy = SVDResult(u, by_eigh.s, vh), by_eigh.tangents(da)
    else:
        y = np.linalg.svd(a, full_matrices)
        dy = svd_tangents(*y, da)
    return y, dy


@rrule.register(np.linalg.svd)
def svd_rrule(
    a: Array, full_matrices: Flag = True, compute_uv: Flag = True, hermitian: Flag = False
) -> OutputAndPullback:
    """See `SingularVectors` for the formulas, and `singular_values_rrule` for the values alone."""
    if not compute_uv:
        return singular_values_rrule(a, hermitian)
    if hermitian:
        by_eigh = HermitianSVD(a)
        u, vh = by_eigh.vectors()
        y, cotangent = SVDResult(u, by_eigh.s, vh), by_eigh.cotangent
    else:
        y = np.linalg.svd(a, full_matrices)
        cotangent = functools.partial(svd_cotangent, *y)

    @pullback_wrt(a)
    def svd_pullback(ybar):
        return cotangent(*ybar)

    return y, svd_pullback


def values_and_tangents(da, a, hermitian):
    """dsᵢ = Re uᵢᴴ dA vᵢ."""
    if hermitian:
        by_eigh = HermitianSVD(a)
        dh, v = hermitian_from(da, upper=False), by_eigh.v
        dw = np.real(np.sum(np.conjugate(v) * (dh @ v), axis=-2))
        return by_eigh.values(), by_eigh.slope * by_eigh.sorted(dw)
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return s, np.real(np.sum(np.conjugate(u) * (da @ adjoint(vh)), axis=-2))


def singular_values_rrule(a, hermitian):
    """dsᵢ = Re uᵢᴴ dA vᵢ, hence Ā = U diag(s̄) Vᴴ, whether or not singular values are repeated or zero."""
    if hermitian:
        by_eigh = HermitianSVD(a)
        s, zero = by_eigh.values(), ZeroTangent()
    else:
        u, s, vh = np.linalg.svd(a, full_matrices=False)

    @pullback_wrt(a)
    def singular_values_pullback(sbar):
        return by_eigh.cotangent(zero, sbar, zero) if hermitian else (u * sbar[..., None, :]) @ vh

    return s, singular_values_pullback


@frule.register(np.linalg.svdvals)
@pushforward
def svdvals_frule(dx: Array, x: Array, /) -> OutputAndTangent:
    return values_and_tangents(as_array_tangent(dx, x), x, hermitian=False)


@rrule.register(np.linalg.svdvals)
def svdvals_rrule(x: Array, /) -> OutputAndPullback:
    return singular_values_rrule(x, hermitian=False)
