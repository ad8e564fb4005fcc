"""Rules of eigenvalues and eigenvectors of general matrices."""

import numpy as np
from rulescore import (
    MissingDerivativeError,
    NotImplementedTangent,
    apply_linear,
    frule,
    ignore_derivatives,
    pullback_wrt,
    pushforward,
    rrule,
)
from rulescore.typing import Array, OutputAndPullback, OutputAndTangent

from ..array_like import as_array_tangent
from ..products import adjoint
from .eigenvalues import (
    NO_EIGENVECTORS,
    coinciding,
    diagonal,
    phase_cotangent,
    phase_tangent,
    reciprocal_differences,
    refuse_cotangents_of,
    rounding_of,
    turned,
    turning,
)

DEFECTIVE = (
    "eigenvalues of a defective matrix, which has too few eigenvectors: they move like roots of what the matrix moves "
    "by, so that their derivatives are infinite. Use a matrix whose eigenvalues differ; sums of powers of all "
    "eigenvalues are np.trace(np.linalg.matrix_power(a, n))"
)


def solve_vectors(v, x):
    """V⁻¹ X."""
    try:
        return np.linalg.solve(v, x)
    except np.linalg.LinAlgError:
        raise MissingDerivativeError(DEFECTIVE) from None


def is_defective(w, v):
    """Which matrices have repeated eigenvalues, and vectors that are dependent up to rounding."""
    w, v = ignore_derivatives(w), ignore_derivatives(v)
    is_repeated = np.any(coinciding(w), axis=(-2, -1))
    return is_repeated & (np.linalg.cond(v) >= 1 / (8 * rounding_of(v))) if np.any(is_repeated) else is_repeated


def eigvals_tangents(w, v, da):
    """M = V⁻¹ dA V and dw = diag(M)."""
    m = solve_vectors(v, da @ v)
    return m, NotImplementedTangent(DEFECTIVE) if np.any(is_defective(w, v)) else diagonal(m)


def eigvals_cotangent(w, v, wbar, vectors_part=0):
    """V⁻ᴴ (diag(w̄) + what else there is) Vᴴ.

    The eigenvalues of a defective matrix have infinite derivatives. Their sum has a finite one, that of the trace, and
    so have sums of their powers, in which the second derivatives of the powers take part: of these, w̄ knows nothing.
    """

    def values_part(wbar):
        if np.any(is_defective(w, v)):
            raise MissingDerivativeError(DEFECTIVE)
        return np.eye(v.shape[-1], dtype=v.dtype) * wbar[..., None, :]

    v_h = adjoint(v)
    return solve_vectors(v_h, (vectors_part + apply_linear(values_part, wbar)) @ v_h)


def largest_components(v):
    """A mask of the component of each vector that LAPACK makes real: the largest one, the first real one of a tie."""
    v = ignore_derivatives(v)
    if not v.shape[-2]:
        return np.zeros(v.shape, bool)
    sizes = np.where(np.imag(v) == 0, np.abs(v), -1)
    return np.arange(v.shape[-2])[:, None] == np.argmax(sizes, axis=-2, keepdims=True)


def scale_tangent(dv, v):
    """The real r for which dv + v r keeps the length of the vectors."""
    return -np.real(np.sum(np.conjugate(v) * dv, axis=-2, keepdims=True))


def eig_tangents(w, v, da):
    """The tangents of eigenvalues and eigenvectors."""
    m, dw = eigvals_tangents(w, v, da)
    pairs = coinciding(w)
    if np.any(pairs):
        return dw, NotImplementedTangent(NO_EIGENVECTORS)
    dv = v @ (reciprocal_differences(w, pairs) * m)
    dv = dv + v * scale_tangent(dv, v)
    if np.iscomplexobj(v):
        anchor = largest_components(v)
        dv = turned(dv, v, anchor, phase_tangent(dv, v, anchor))
    return dw, dv


def eig_cotangent(w, v, wbar, vbar):
    """The transpose of `eig_tangents`; either of the cotangents may be a zero, but not both."""

    def vectors_part(vbar):
        pairs = coinciding(w)
        refuse_cotangents_of(np.any(pairs, axis=-1), vbar, NO_EIGENVECTORS)
        # What moves v along itself the length and the phase take back.
        unscaled_bar = vbar + v * scale_tangent(vbar, v)
        if np.iscomplexobj(v):
            unscaled_bar = unscaled_bar + phase_cotangent(turning(v, vbar), v, largest_components(v))
        return np.conjugate(reciprocal_differences(w, pairs)) * (adjoint(v) @ unscaled_bar)

    return eigvals_cotangent(w, v, wbar, apply_linear(vectors_part, vbar))


@frule.register(np.linalg.eig)
@pushforward
def eig_frule(da: Array, a: Array) -> OutputAndTangent:
    y = np.linalg.eig(a)
    return y, eig_tangents(*y, as_array_tangent(da, a))


@rrule.register(np.linalg.eig)
def eig_rrule(a: Array) -> OutputAndPullback:
    """With M = V⁻¹ dA V, dw = diag(M) and dV = V (F∘M + diag(r + i t)), where Fᵢⱼ = 1/(wⱼ - wᵢ) (Giles 2008, §3.1).

    LAPACK gives the vectors length 1, which the real r preserve, and makes the largest component of each real, which
    the real t preserve. Hence Ā = V⁻ᴴ (diag(w̄) + conj(F)∘(Vᴴ v̄')) Vᴴ, where v̄' has lost what changes r and t.
    """
    y = np.linalg.eig(a)
    w, v = y

    @pullback_wrt(a)
    def eig_pullback(ybar):
        return eig_cotangent(w, v, *ybar)

    return y, eig_pullback


@frule.register(np.linalg.eigvals)
@pushforward
def eigvals_frule(da: Array, a: Array) -> OutputAndTangent:
    w, v = np.linalg.eig(a)
    return w, eigvals_tangents(w, v, as_array_tangent(da, a))[1]


@rrule.register(np.linalg.eigvals)
def eigvals_rrule(a: Array) -> OutputAndPullback:
    """dw = diag(V⁻¹ dA V), hence Ā = V⁻ᴴ diag(w̄) Vᴴ, whether or not eigenvalues are repeated."""
    w, v = np.linalg.eig(a)

    @pullback_wrt(a)
    def eigvals_pullback(wbar):
        return eigvals_cotangent(w, v, wbar)

    return w, eigvals_pullback
