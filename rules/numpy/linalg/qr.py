"""Rules of the QR decomposition, in all modes."""

from multipledispatch import MDNotImplementedError

import numpy as np
from rulescore import (
    MissingDerivativeError,
    ZeroTangent,
    apply_linear,
    frule,
    ignore_derivatives,
    pullback_wrt,
    pushforward,
    rrule,
)
from rulescore.typing import Array, Choice, OutputAndPullback, OutputAndTangent

from ..array_like import as_array_tangent
from ..products import adjoint
from .cholesky import lower_half

DEPENDENT_COLUMNS = (
    "the QR decomposition of a matrix whose leading columns are linearly dependent: Q is not determined by them, and "
    "neither it nor R has a derivative. Use a matrix of full rank, np.linalg.svd or np.linalg.pinv"
)

NO_REFLECTION = (
    "the QR decomposition in the modes 'complete' and 'raw' of a matrix with a column in which nothing is left to "
    "eliminate: LAPACK leaves out the reflection there, and does one for the slightest change of the matrix, so that "
    "the columns of Q beyond those of the matrix jump. Use mode='reduced', or the projection 1 - Q Qᴴ with its Q"
)


class OrthogonalFactors:
    """Q and R of A = Q R, with at most as many columns of Q as A has, and as many rows of R.

    With the first columns A₁ = Q R₁ of A, as many as determine Q, and C = Qᴴ dA₁ R₁⁻¹, whose missing columns are
    zeros: dQ = Q Ω + (1 - Q Qᴴ) dA₁ R₁⁻¹ and dR = Qᴴ dA - Ω R. R stays triangular and its diagonal real, as LAPACK
    computes it, for the skew-Hermitian Ω that below its diagonal is C, and on it the imaginary part of C: Φ(C) - Φ(C)ᴴ,
    where Φ takes the lower triangle and half of the diagonal. (Walter, Lehmann and Lamour 2012.)

    The last column of a square real Q is determined by all the others, up to a sign, so the rank of A may be one less.
    """

    def __init__(self, q, r):
        self.q, self.r = q, r
        rows, self.k = q.shape[-2:]
        self.is_tall = rows > self.k
        self.first = self.k if self.is_tall or np.iscomplexobj(q) else max(self.k - 1, 0)
        self.r_first = r[..., : self.first, : self.first]
        self._refuse_dependent_columns()

    def _refuse_dependent_columns(self):
        r = ignore_derivatives(self.r_first)
        lengths = np.sqrt(np.sum(np.abs(r) ** 2, axis=-2))
        rounding = np.finfo(r.dtype).eps * self.q.shape[-2]
        if np.any(np.abs(np.diagonal(r, axis1=-2, axis2=-1)) <= rounding * lengths):
            raise MissingDerivativeError(DEPENDENT_COLUMNS)

    def tangents(self, da):
        """dQ and dR."""
        q_h = adjoint(self.q)
        b = with_zeros(divided_by(da[..., : self.first], self.r_first), self.k)
        c = q_h @ b
        half = lower_half(c)
        omega = half - adjoint(half)
        dq = self.q @ omega
        return dq + (b - self.q @ c) if self.is_tall else dq, with_real_diagonal(q_h @ da - omega @ self.r)

    def cotangent(self, q_bar, r_bar):
        """The transpose of `tangents`; each of the cotangents may be a zero, but not both."""
        of_q = apply_linear(lambda q_bar: adjoint(self.q) @ q_bar, q_bar)
        r_bar = np.triu(r_bar)
        omega_bar = of_q - r_bar @ adjoint(self.r)
        c_bar = lower_half(omega_bar - adjoint(omega_bar))
        c_bar = c_bar[..., : self.first] - (of_q if self.is_tall else 0)
        along_q = r_bar + with_zeros(divided_by_adjoint(c_bar, self.r_first), self.r.shape[-1])
        abar = self.q @ along_q
        return abar + apply_linear(lambda q_bar: divided_by_adjoint(q_bar, self.r), q_bar) if self.is_tall else abar


def with_real_diagonal(r):
    """The upper triangle, with the real part of the diagonal."""
    return np.triu(r, 1) + np.real(r * np.eye(*r.shape[-2:], dtype=r.dtype))


def with_zeros(x, columns):
    """Matrices with columns of zeros behind their own."""
    missing = columns - x.shape[-1]
    return np.concatenate([x, np.zeros((*x.shape[:-1], missing), x.dtype)], axis=-1) if missing else x


def with_rows(x, rows):
    """Matrices with rows of zeros below their own."""
    return transposed(with_zeros(transposed(x), rows))


def transposed(x):
    return np.swapaxes(x, -1, -2)


def divided_by(x, r):
    """X R⁻¹, for an upper triangular R."""
    if is_for_blas(x, r):
        return triangular_solve(r, x.T, trans_a=1).T
    return transposed(np.linalg.solve(transposed(r), transposed(x)))


def divided_by_adjoint(x, r):
    """X R⁻ᴴ, for an upper triangular R."""
    if is_for_blas(x, r):
        return triangular_solve(r.conj(), x.T, trans_a=0).T
    return adjoint(np.linalg.solve(r, adjoint(x)))


def is_for_blas(x, r):
    return type(x) is type(r) is np.ndarray and x.ndim == 2 and x.dtype == r.dtype and x.size > 0


def triangular_solve(r, y, trans_a):
    """R⁻¹ Y or R⁻ᵀ Y by BLAS, which makes use of the zeros in R, as NumPy's solvers do not."""
    from scipy.linalg import get_blas_funcs  # here, since SciPy takes long to import

    trsm = get_blas_funcs("trsm", (r, y))
    return trsm(1.0, r, y, trans_a=trans_a)


# ---------------------------------------------------------------- what NumPy returns in each mode


class Reduced:
    """Of mode='reduced': the factors themselves."""

    def __init__(self, q, r):
        self.q, self.r = q, r

    def tangents(self, dq, dr):
        """The tangents of what NumPy returns, for those of the factors."""
        return dq, dr

    def cotangents(self, q_bar, r_bar):
        """The transpose of `tangents`; either of the cotangents may be a zero."""
        return q_bar, r_bar


class Complete:
    """Of mode='complete', for a tall A: a square Q = [Q₁ Q₂], of which the factor Q₁ determines the rest.

    LAPACK's Q is a product of reflections, 1 - V T Vᴴ with as many columns V = [V₁; V₂] as A has. So for Q₁ =
    [Q₁₁; Q₂₁] and the identity [E₁ E₂], E₁ - Q₁ = V T V₁ᴴ, from which V₂ V₁⁻¹ = -Q₂₁ (1 - Q₁₁)⁻¹ follows and then
    Q₂ = E₂ - V T V₂ᴴ = E₂ + (E₁ - Q₁) Z, where Z = (1 - Q₁₁)⁻ᴴ Q₂₁ᴴ.
    """

    def __init__(self, q, r):
        self.n = n = r.shape[-1]
        self.q, self.r = q[..., :n], r[..., :n, :]

    def tangents(self, dq, dr):
        """The tangents of what NumPy returns, for those of the factors."""
        reflected, inverse_h, z = self.reflections()
        top, below = dq[..., : self.n, :], dq[..., self.n :, :]
        drest = reflected @ (inverse_h @ (adjoint(below) + adjoint(top) @ z)) - dq @ z
        return np.concatenate([dq, drest], axis=-1), with_rows(dr, dq.shape[-2])

    def cotangents(self, q_bar, r_bar):
        """The transpose of `tangents`; either of the cotangents may be a zero."""
        return apply_linear(self._q_cotangent, q_bar), r_bar[..., : self.n, :]

    def _q_cotangent(self, q_bar):
        q_bar, rest_bar = q_bar[..., : self.n], q_bar[..., self.n :]
        try:
            reflected, inverse_h, z = self.reflections()
        except MissingDerivativeError:
            if np.any(ignore_derivatives(rest_bar) != 0):
                raise
            return q_bar  # nobody has used the other columns
        y_h = adjoint(adjoint(inverse_h) @ (adjoint(reflected) @ rest_bar))
        return q_bar + np.concatenate([z @ y_h, y_h], axis=-2) - rest_bar @ adjoint(z)

    def reflections(self):
        """E₁ - Q₁, (1 - Q₁₁)⁻ᴴ and Z. The determinant of 1 - Q₁₁ is the product of LAPACK's τ, of 0 or at least 1."""
        reflected = np.eye(*self.q.shape[-2:], dtype=self.q.dtype) - self.q
        try:
            inverse_h = adjoint(np.linalg.inv(reflected[..., : self.n, :]))
        except np.linalg.LinAlgError:
            raise MissingDerivativeError(NO_REFLECTION) from None
        if np.any(np.abs(ignore_derivatives(inverse_h)) > 1 / np.sqrt(np.finfo(self.q.dtype).eps)):
            raise MissingDerivativeError(NO_REFLECTION)
        return reflected, inverse_h, -inverse_h @ adjoint(reflected[..., self.n :, :])


class Raw:
    """Of mode='raw': below R the V of Q = 1 - V T Vᴴ, without the ones on its diagonal, and the factors τ.

    As Q is unitary, T⁻¹ + T⁻ᴴ = Vᴴ V, so that the upper triangular T⁻¹ has 1/τ on its diagonal. The first columns of Q
    give E₁ - Q₁ = V U with U = T V₁ᴴ, which is an LU decomposition. So with G = V₁⁻¹ d(1 - Q₁₁) U⁻¹, dV₁ is V₁ times
    the part of G below its diagonal, dU the rest of G times U, and dτ the diagonal of dU.

    A square or wide real matrix has a last τ that is always 0, and V no column for it.
    """

    def __init__(self, h, tau):
        packed = transposed(h)
        rows, self.columns = packed.shape[-2:]
        self.k = min(rows, self.columns)
        self.n = n = self.k if rows > self.columns or np.iscomplexobj(h) else max(self.k - 1, 0)
        tau = tau[..., :n]
        if np.any(ignore_derivatives(tau) == 0):
            raise MissingDerivativeError(NO_REFLECTION)
        self.v = np.tril(packed[..., :n], -1) + np.eye(rows, n, dtype=packed.dtype)
        inverse_t = np.triu(adjoint(self.v) @ self.v, 1) + np.eye(n, dtype=packed.dtype) * (1 / tau)[..., None, :]
        all_u = np.linalg.solve(inverse_t, adjoint(self.v[..., : self.k, :]))
        self.u = all_u[..., :n]
        self.q, self.r = np.eye(rows, self.k, dtype=packed.dtype) - self.v @ all_u, np.triu(packed[..., : self.k, :])

    def tangents(self, dq, dr):
        """The tangents of what NumPy returns, for those of the factors."""
        n, v_top = self.n, self.v[..., : self.n, :]
        dreflected = divided_by(-dq[..., :n], self.u)
        g = np.linalg.solve(v_top, dreflected[..., :n, :])
        dv_top, du_over_u = v_top @ np.tril(g, -1), np.triu(g)
        dv_below = dreflected[..., n:, :] - self.v[..., n:, :] @ du_over_u
        dv = np.concatenate([dv_top, dv_below], axis=-2)
        dtau = np.diagonal(du_over_u @ self.u, axis1=-2, axis2=-1)
        dpacked = with_zeros(dv, self.columns) + with_rows(dr, dv.shape[-2])
        return transposed(dpacked), with_zeros(dtau[..., None, :], self.k)[..., 0, :]

    def cotangents(self, h_bar, tau_bar):
        """The transpose of `tangents`; either of the cotangents may be a zero."""
        n, v_top = self.n, self.v[..., : self.n, :]
        packed_bar = transposed(h_bar) + np.zeros((*self.v.shape[:-1], self.columns), self.v.dtype)
        v_bar = np.tril(packed_bar[..., :n], -1)
        top_bar, below_bar = v_bar[..., :n, :], v_bar[..., n:, :]
        u_bar = -adjoint(self.v[..., n:, :]) @ below_bar
        u_bar = u_bar + np.eye(n, dtype=self.v.dtype) * tau_bar[..., None, :n] @ adjoint(self.u)
        g_bar = np.tril(adjoint(v_top) @ top_bar, -1) + np.triu(u_bar)
        reflected_bar = np.concatenate([np.linalg.solve(adjoint(v_top), g_bar), below_bar], axis=-2)
        q_bar = -divided_by_adjoint(reflected_bar, self.u)
        return with_zeros(q_bar, self.k), np.triu(packed_bar[..., : self.k, :])


# ---------------------------------------------------------------- the rules


def decline_unknown_mode(mode):
    if mode not in ("reduced", "complete", "r", "raw"):
        raise MDNotImplementedError


def decomposition(a, mode):
    """Q and R as NumPy returns them; in the mode 'r' Q too, by which R moves."""
    return np.linalg.qr(a) if mode in ("reduced", "r") else np.linalg.qr(a, mode)


def in_mode(mode, y):
    """What is known of a decomposition."""
    if mode == "raw":
        return Raw(*y)
    q, r = y
    return Complete(q, r) if q.shape[-1] > r.shape[-1] else Reduced(q, r)


@frule.register(np.linalg.qr)
@pushforward
def qr_frule(da: Array, a: Array, mode: Choice = "reduced") -> OutputAndTangent:
    decline_unknown_mode(mode)
    y = decomposition(a, mode)
    returned = in_mode(mode, y)
    dy = returned.tangents(*OrthogonalFactors(returned.q, returned.r).tangents(as_array_tangent(da, a)))
    return (y[1], dy[1]) if mode == "r" else (y, dy)


@rrule.register(np.linalg.qr)
def qr_rrule(a: Array, mode: Choice = "reduced") -> OutputAndPullback:
    """See `OrthogonalFactors` for the formulas, and `Complete` and `Raw` for what only these modes have."""
    decline_unknown_mode(mode)
    y = decomposition(a, mode)

    @pullback_wrt(a)
    def qr_pullback(ybar):
        q_bar, r_bar = (ZeroTangent(), ybar) if mode == "r" else ybar
        returned = in_mode(mode, y)
        factors = OrthogonalFactors(returned.q, returned.r)
        return factors.cotangent(*returned.cotangents(q_bar, r_bar))

    return (y[1] if mode == "r" else y), qr_pullback
