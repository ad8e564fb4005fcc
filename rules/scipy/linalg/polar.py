"""Rules of the polar decomposition, and of ``orthogonal_procrustes``, which is one."""

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy.linalg
from rulescore import (
    MissingDerivativeError,
    apply_linear,
    frule,
    ignore_derivatives,
    is_traced,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
    unbroadcast,
)
from rulescore.typing import Array, Choice, Flag, OutputAndPullback, OutputAndTangent

from ...numpy.array_like import as_array, as_array_tangent
from ...numpy.linalg.eigenvalues import reciprocal, rounding_of
from ...numpy.linalg.singular_values import outside
from ...numpy.products import adjoint
from ..working_precision import in_working_precision, solve

NO_UNITARY_FACTOR = (
    "the unitary factor of the polar decomposition of a matrix whose rank is too small to determine it: it has no "
    "derivative there. Use a matrix of full rank"
)


class UnitaryFactor:
    """U of A = U P or P U, by the singular value decomposition A = W diag(s) Vᴴ; U = W Vᴴ.

    With M = Wᴴ dA V, dU = W Ω Vᴴ + (1 - W Wᴴ) dA V s⁻¹ Vᴴ + W s⁻¹ Wᴴ dA (1 - V Vᴴ), Ωᵢⱼ = (M - Mᴴ)ᵢⱼ / (sᵢ + sⱼ): this
    keeps the columns or rows of U orthonormal and UᴴA Hermitian. It is a symmetric map of dA to dU, and its own
    transpose, and finite for repeated singular values.
    """

    def __init__(self, a):
        self.a = a
        if not is_traced(a):
            self.w, self.s, self.vh = scipy.linalg.svd(a, False)
            self.u = self.w @ self.vh
        else:  # since its singular vectors may have no derivative where it has one itself
            self.u, _ = seen_by_tracers(scipy.linalg.polar, a)
            self.s = np.linalg.svd(in_working_precision(ignore_derivatives(a)), compute_uv=False)

    def moved(self, x):
        """dU for the tangent of A; and the cotangent of A for that of U."""
        self._refuse_small_rank()
        rows, columns = x.shape[-2:]
        if is_traced(x, self.a):
            return moved_by_equation(self.u, self.a, x) if rows >= columns else self._moved_of_wide(x)
        w, v, s = self.w, adjoint(self.vh), self.s
        m = adjoint(w) @ x @ v
        sums = s[..., :, None] + s[..., None, :]
        moved = w @ (reciprocal(sums, sums == 0) * (m - adjoint(m))) @ self.vh
        if rows > columns:
            moved = moved + (outside(w, x @ v) / s[..., None, :]) @ self.vh
        if columns > rows:
            moved = moved + (w / s[..., None, :]) @ adjoint(outside(v, adjoint(x) @ w))
        return moved

    def _moved_of_wide(self, x):
        return adjoint(moved_by_equation(adjoint(self.u), adjoint(self.a), adjoint(x)))

    def _refuse_small_rank(self):
        """A real square matrix may lack one: the direction in which it maps nothing is left to the others' angles."""
        s, (rows, columns) = self.s, np.shape(self.a)[-2:]
        may_lack = 1 if rows == columns and not np.iscomplexobj(self.a) else 0
        counted = s[..., : s.shape[-1] - may_lack]
        rounding = rounding_of(s) * max(rows, columns)
        if counted.size and np.any(counted[..., -1] <= rounding * s[..., 0]):
            raise MissingDerivativeError(NO_UNITARY_FACTOR)


def moved_by_equation(u, a, x):
    """`UnitaryFactor.moved` for a tall A, without singular vectors, whose own derivatives need them to be single.

    K = Uᴴ dU solves K P + P K = Uᴴ dA - dAᴴ U.
    """
    p, inner = adjoint(u) @ a, adjoint(u) @ x
    k = seen_by_tracers(scipy.linalg.solve_sylvester, p, p, inner - adjoint(inner))
    if x.shape[-2] == x.shape[-1]:
        return u @ k
    return u @ k + adjoint(solve(adjoint(p), adjoint(outside(u, x))))


# ---------------------------------------------------------------- polar


def hermitian_part(x):
    return 0.5 * (x + adjoint(x))


class PolarFactors(UnitaryFactor):
    """U, and P = Uᴴ A on the right or A Uᴴ on the left, which moves as a product."""

    def __init__(self, a, side):
        super().__init__(a)
        self.is_right = side == "right"
        if not is_traced(a):
            vectors = adjoint(self.vh) if self.is_right else self.w
            self.y = self.u, (vectors * self.s[..., None, :]) @ adjoint(vectors)
        else:
            self.y = seen_by_tracers(scipy.linalg.polar, a, side)

    def tangents(self, da):
        du = self.moved(da)
        dp = (
            adjoint(self.u) @ da + adjoint(du) @ self.a
            if self.is_right
            else da @ adjoint(self.u) + self.a @ adjoint(du)
        )
        return du, hermitian_part(dp)

    def cotangent(self, ubar, pbar):
        """The transpose of `tangents`; either of the cotangents may be a zero."""
        pbar = apply_linear(hermitian_part, pbar)
        if self.is_right:
            return self.u @ pbar + self.moved(ubar + self.a @ pbar)
        return pbar @ self.u + self.moved(ubar + pbar @ self.a)


def decline_unknown_side(side):
    if side not in ("right", "left"):
        raise MDNotImplementedError


@frule.register(scipy.linalg.polar)
@pushforward
def polar_frule(da: Array, a: Array, side: Choice = "right") -> OutputAndTangent:
    factors = PolarFactors(as_array(a), side)
    return seen_by_tracers(scipy.linalg.polar, a, side), factors.tangents(as_array_tangent(da, a))


@rrule.register(scipy.linalg.polar)
def polar_rrule(a: Array, side: Choice = "right") -> OutputAndPullback:
    """See `UnitaryFactor` and `PolarFactors`."""
    decline_unknown_side(side)
    factors = PolarFactors(as_array(a), side)
    # As SciPy returns them, of a stack.
    y = list(factors.y) if np.ndim(factors.u) > 2 else factors.y
    return y, pullback_wrt(a)(lambda ybar: factors.cotangent(*ybar))


# ---------------------------------------------------------------- orthogonal_procrustes


@frule.register(scipy.linalg.orthogonal_procrustes)
@pushforward
def orthogonal_procrustes_frule(
    dA: Array, dB: Array, A: Array, B: Array, check_finite: Flag = True
) -> OutputAndTangent:
    a, b = as_array(A), as_array(B)
    factor = UnitaryFactor(adjoint(a) @ b)
    dm = apply_linear(adjoint, as_array_tangent(dA, A)) @ b + adjoint(a) @ as_array_tangent(dB, B)
    dscale = np.sum(np.real(np.conjugate(factor.u) * dm), axis=(-2, -1))
    return seen_by_tracers(scipy.linalg.orthogonal_procrustes, A, B, check_finite), (factor.moved(dm), dscale)


@rrule.register(scipy.linalg.orthogonal_procrustes)
def orthogonal_procrustes_rrule(A: Array, B: Array, check_finite: Flag = True) -> OutputAndPullback:
    """R is the unitary factor of M = Aᴴ B, and the scale the sum of its singular values, with the slope R."""
    a, b = as_array(A), as_array(B)

    @pullback_wrt(A, B)
    def orthogonal_procrustes_pullback(ybar):
        rbar, scale_bar = ybar
        factor = UnitaryFactor(adjoint(a) @ b)
        of_scale = factor.u * np.real(apply_linear(lambda scale_bar: np.expand_dims(scale_bar, (-2, -1)), scale_bar))
        mbar = apply_linear(factor.moved, rbar) + of_scale
        return lambda: unbroadcast(b @ adjoint(mbar), np.shape(a)), lambda: unbroadcast(a @ mbar, np.shape(b))

    return seen_by_tracers(scipy.linalg.orthogonal_procrustes, A, B, check_finite), orthogonal_procrustes_pullback
