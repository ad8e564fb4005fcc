"""Rules of eigenvalues and eigenvectors of Hermitian matrices, and what all spectral rules need.

That is the gaps between eigenvalues, by which the derivatives of eigenvectors are divided, and the phases of complex
vectors, which LAPACK fixes by keeping one component of each vector real.
"""

import numpy as np
from rulescore import (
    AbstractZero,
    MissingDerivativeError,
    NotImplementedTangent,
    frule,
    ignore_derivatives,
    pullback_wrt,
    pushforward,
    rrule,
)
from rulescore.typing import Array, Choice, OutputAndPullback, OutputAndTangent

from ..array_like import as_array_tangent
from ..products import adjoint
from .cholesky import cotangent_of_triangle, hermitian_from

COINCIDE_WITHIN = 8
"""Values this many units of rounding apart, in units of the largest, are the same as far as LAPACK can tell."""

NO_EIGENVECTORS = (
    "eigenvectors of repeated eigenvalues: any basis of their common space is as good, so that the vectors have no "
    "derivative there. Use the eigenvalues alone, vectors of single eigenvalues (v[:, i]), or a matrix whose "
    "eigenvalues differ; a function of the matrix such as v @ diag(f(w)) @ v.T has to be computed without them"
)

# ---------------------------------------------------------------- gaps between values


def rounding_of(x):
    return np.finfo(x.dtype).eps


def differences(values):
    """λⱼ - λᵢ in row i and column j."""
    return values[..., None, :] - values[..., :, None]


def largest_of(sizes):
    """The largest number in each row, and 0 where there are none."""
    return np.max(sizes, axis=-1, keepdims=True) if sizes.shape[-1] else np.zeros((*sizes.shape[:-1], 1))


def coinciding(values):
    """Which pairs of values are the same within rounding errors; no value with itself."""
    values = ignore_derivatives(values)
    largest = largest_of(np.abs(values))[..., None]
    are_close = np.abs(differences(values)) <= COINCIDE_WITHIN * rounding_of(values) * largest
    return are_close & ~np.eye(values.shape[-1], dtype=bool)


def reciprocal(x, is_left_out):
    """1/x, and 0 for what is left out."""
    return np.where(is_left_out, 0, 1 / np.where(is_left_out, 1, x))


def reciprocal_differences(values, pairs):
    """F: 1/(λⱼ - λᵢ), with zeros on the diagonal and for pairs that coincide."""
    return reciprocal(differences(values), pairs | np.eye(values.shape[-1], dtype=bool))


def refuse_cotangents_of(columns, vectors_bar, message):
    """Raise if there are cotangents for columns that have no derivative. Zeros are of columns that nobody used."""
    if not np.any(columns):
        return
    is_used = np.any(ignore_derivatives(vectors_bar) != 0, axis=-2)
    if np.any(columns & is_used):
        raise MissingDerivativeError(message)


# ---------------------------------------------------------------- phases


def anchor_at(row, v):
    """A mask of the components that LAPACK keeps real, where that is one row of all vectors."""
    length = v.shape[-2]
    return np.arange(length)[:, None] == row % max(length, 1)


def anchors(v, anchor):
    """The real components vₖ in the anchor, and which of them vanish, so that the phase is anybody's.

    Then the vector turns by no phase at all, which is right for whatever does not depend on phases.
    """
    vk = np.real(np.sum(np.where(anchor, v, 0), axis=-2, keepdims=True))
    return vk, np.abs(ignore_derivatives(vk)) <= np.sqrt(rounding_of(v))


def phase_tangent(dv, v, anchor):
    """The t for which dv + i v t leaves the components in the anchor real."""
    return -np.imag(np.sum(np.where(anchor, dv, 0), axis=-2, keepdims=True)) * reciprocal(*anchors(v, anchor))


def turned(dv, v, anchor, t):
    """dv + i v t, with components in the anchor that are real without rounding errors."""
    dv = dv + 1j * v * t
    return np.where(anchor & ~anchors(v, anchor)[1], np.real(dv), dv)


def phase_cotangent(phase_bar, v, anchor):
    """The transpose of `phase_tangent`: what is added to the cotangent of dv for that of t."""
    return -1j * np.where(anchor, phase_bar * reciprocal(*anchors(v, anchor)), 0)


def turning(v, vbar):
    """The cotangent of the phases of the vectors: Im(vᴴ v̄)."""
    return np.imag(np.sum(np.conjugate(v) * vbar, axis=-2, keepdims=True))


# ---------------------------------------------------------------- Hermitian matrices


def is_upper(uplo):
    return uplo.upper() == "U"


def diagonal(x):
    return np.diagonal(x, axis1=-2, axis2=-1)


def real_row(uplo):
    """The components that LAPACK's reduction to a real tridiagonal matrix leaves real: the first ones, or the last."""
    return -1 if is_upper(uplo) else 0


def eigh_tangents(w, v, dh, uplo):
    """The tangents of eigenvalues and vectors for a Hermitian tangent of the matrix."""
    m = adjoint(v) @ dh @ v
    pairs = coinciding(w)
    if np.any(pairs):
        return np.real(diagonal(m)), NotImplementedTangent(NO_EIGENVECTORS)
    dv = v @ (reciprocal_differences(w, pairs) * m)
    if np.iscomplexobj(v):
        anchor = anchor_at(real_row(uplo), v)
        dv = turned(dv, v, anchor, phase_tangent(dv, v, anchor))
    return np.real(diagonal(m)), dv


def eigh_cotangent(w, v, wbar, vbar, uplo):
    """The transpose of `eigh_tangents`: X with Re⟨X, dH⟩ = Re⟨w̄, dw⟩ + Re⟨v̄, dv⟩; either of them may be a zero."""
    values_part = v * wbar[..., None, :]
    if isinstance(vbar, AbstractZero):  # nobody has used the vectors, which then need no derivative
        return values_part @ adjoint(v)
    pairs = coinciding(w)
    refuse_cotangents_of(np.any(pairs, axis=-1), vbar, NO_EIGENVECTORS)
    if np.iscomplexobj(v):
        vbar = vbar + phase_cotangent(turning(v, vbar), v, anchor_at(real_row(uplo), v))
    x = (values_part + v @ (reciprocal_differences(w, pairs) * (adjoint(v) @ vbar))) @ adjoint(v)
    return 0.5 * (x + adjoint(x))


@frule.register(np.linalg.eigh)
@pushforward
def eigh_frule(da: Array, a: Array, UPLO: Choice = "L") -> OutputAndTangent:
    y = np.linalg.eigh(a, UPLO)
    dh = hermitian_from(as_array_tangent(da, a), is_upper(UPLO))
    return y, eigh_tangents(*y, dh, UPLO)


@rrule.register(np.linalg.eigh)
def eigh_rrule(a: Array, UPLO: Choice = "L") -> OutputAndPullback:
    """dw = diag(M) and dV = V (F∘M) with M = Vᴴ dA V and Fᵢⱼ = 1/(wⱼ - wᵢ) (Giles 2008, §3.1).

    To a complex dV belongs i V t, with the phases t for which the components stay real that LAPACK keeps real: the
    first one of each vector, or the last one where it reads the upper triangle. NumPy reads one triangle of A; the
    other one has no cotangent.
    """
    y = np.linalg.eigh(a, UPLO)
    w, v = y

    @pullback_wrt(a)
    def eigh_pullback(ybar):
        wbar, vbar = ybar
        return cotangent_of_triangle(eigh_cotangent(w, v, wbar, vbar, UPLO), is_upper(UPLO))

    return y, eigh_pullback


@frule.register(np.linalg.eigvalsh)
@pushforward
def eigvalsh_frule(da: Array, a: Array, UPLO: Choice = "L") -> OutputAndTangent:
    w, v = np.linalg.eigh(a, UPLO)
    dh = hermitian_from(as_array_tangent(da, a), is_upper(UPLO))
    return w, np.real(np.sum(np.conjugate(v) * (dh @ v), axis=-2))


@rrule.register(np.linalg.eigvalsh)
def eigvalsh_rrule(a: Array, UPLO: Choice = "L") -> OutputAndPullback:
    """dwᵢ = vᵢᴴ dA vᵢ, hence Ā = V diag(w̄) Vᴴ, whether or not eigenvalues are repeated."""
    w, v = np.linalg.eigh(a, UPLO)

    @pullback_wrt(a)
    def eigvalsh_pullback(wbar):
        return cotangent_of_triangle((v * wbar[..., None, :]) @ adjoint(v), is_upper(UPLO))

    return w, eigvalsh_pullback
