"""Rules of the Cholesky factor."""

import numpy as np
from rulescore import frule, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, Flag, OutputAndPullback, OutputAndTangent

from ..array_like import as_array_tangent
from ..products import adjoint


def lower_half(x):
    """Φ(X): the lower triangle, with half of the diagonal."""
    return np.tril(x) - 0.5 * (x * np.eye(x.shape[-1], dtype=x.dtype))


def hermitian_from(a, upper):
    """The Hermitian matrix of which `np.linalg.cholesky` reads one triangle, the diagonal's real part among it."""
    triangle = np.triu(a, 1) if upper else np.tril(a, -1)
    diagonal = a * np.eye(a.shape[-1], dtype=a.dtype)
    return triangle + adjoint(triangle) + diagonal.real


def cotangent_of_triangle(p, upper):
    """The transpose of `hermitian_from`, for a Hermitian P: each element of the triangle stands for two of P."""
    triangle = 2 * (np.triu(p, 1) if upper else np.tril(p, -1))
    return triangle + (p * np.eye(p.shape[-1], dtype=p.dtype)).real


def lower_cholesky_tangent(factor, da):
    """L Φ(L⁻¹ dA L⁻ᴴ)."""
    inner = np.linalg.solve(factor, adjoint(np.linalg.solve(factor, adjoint(da))))
    return factor @ lower_half(inner)


def lower_cholesky_cotangent(factor, factor_bar):
    """The P with Re⟨P, dA⟩ = Re⟨L̄, dL⟩ for Hermitian dA: half of S + Sᴴ with S = L⁻ᴴ Φ(Lᴴ L̄) L⁻¹."""
    if type(factor) is type(factor_bar) is np.ndarray and factor.ndim == 2 and factor.dtype.kind == "f" and factor.size:
        s = similar_by_blas(factor, factor_bar)
    else:
        factor_h = adjoint(factor)
        inner = lower_half(factor_h @ factor_bar)
        s = np.linalg.solve(factor_h, adjoint(np.linalg.solve(factor_h, adjoint(inner))))
    return 0.5 * (s + adjoint(s))


def similar_by_blas(factor, factor_bar):
    """S by two triangular solves, a fifth of the work of two general ones."""
    from scipy.linalg import get_blas_funcs  # here, since SciPy takes long to import

    trmm, trsm = get_blas_funcs(("trmm", "trsm"), (factor,))
    upper = np.asfortranarray(factor.T)
    inner = trmm(1.0, upper, np.asfortranarray(factor_bar))
    inner = np.asfortranarray(np.tril(inner))
    inner[np.diag_indices_from(inner)] *= 0.5
    left = trsm(1.0, upper, inner, overwrite_b=1)
    return trsm(1.0, upper, left, side=1, trans_a=1, overwrite_b=1)


@frule.register(np.linalg.cholesky)
@pushforward
def cholesky_frule(da: Array, a: Array, /, *, upper: Flag = False) -> OutputAndTangent:
    y = np.linalg.cholesky(a, upper=upper)
    factor = adjoint(y) if upper else y
    dfactor = lower_cholesky_tangent(factor, hermitian_from(as_array_tangent(da, a), upper))
    return y, adjoint(dfactor) if upper else dfactor


@rrule.register(np.linalg.cholesky)
def cholesky_rrule(a: Array, /, *, upper: Flag = False) -> OutputAndPullback:
    """A = L Lᴴ, hence dL = L Φ(L⁻¹ dA L⁻ᴴ), where Φ takes the lower triangle and half of the diagonal (Murray 2016).

    NumPy reads one triangle of A; the other one has no cotangent, and each element of the first that of two.
    """
    y = np.linalg.cholesky(a, upper=upper)

    @pullback_wrt(a)
    def cholesky_pullback(ybar):
        factor, factor_bar = (adjoint(y), adjoint(ybar)) if upper else (y, ybar)
        p = lower_cholesky_cotangent(factor, np.tril(factor_bar))
        return cotangent_of_triangle(p, upper)

    return y, cholesky_pullback
