"""Rules of singular values and vectors, and of the bases that SciPy makes of them: ``null_space`` and ``orth``."""

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy.linalg
from rulescore import (
    NotImplementedTangent,
    ZeroTangent,
    frule,
    ignore_derivatives,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
)
from rulescore.typing import Array, Choice, Flag, Number, OutputAndPullback, OutputAndTangent

from ...numpy.array_like import as_array_tangent, shape_of
from ...numpy.linalg.singular_values import svd_cotangent, svd_tangents
from ...numpy.products import adjoint

# ---------------------------------------------------------------- svd


@frule.register(scipy.linalg.svd)
@pushforward
def svd_frule(
    da: Array,
    a: Array,
    full_matrices: Flag = True,
    compute_uv: Flag = True,
    overwrite_a: Flag = False,
    check_finite: Flag = True,
    lapack_driver: Choice = "gesdd",
) -> OutputAndTangent:
    da, keywords = as_array_tangent(da, a), {"check_finite": check_finite, "lapack_driver": lapack_driver}
    if not compute_uv:
        return values_and_tangents(da, a, keywords)
    y = seen_by_tracers(scipy.linalg.svd, a, full_matrices, **keywords)
    return y, svd_tangents(*y, da)


@rrule.register(scipy.linalg.svd)
def svd_rrule(
    a: Array,
    full_matrices: Flag = True,
    compute_uv: Flag = True,
    overwrite_a: Flag = False,
    check_finite: Flag = True,
    lapack_driver: Choice = "gesdd",
) -> OutputAndPullback:
    """See `SingularVectors` for the formulas, and `values_and_pullback` for the values alone."""
    keywords = {"check_finite": check_finite, "lapack_driver": lapack_driver}
    if not compute_uv:
        return values_and_pullback(a, keywords)
    y = seen_by_tracers(scipy.linalg.svd, a, full_matrices, **keywords)
    return y, pullback_wrt(a)(lambda ybar: svd_cotangent(*y, *ybar))


def values_and_tangents(da, a, keywords):
    u, s, vh = seen_by_tracers(scipy.linalg.svd, a, False, **keywords)
    return s, np.real(np.sum(np.conjugate(u) * (da @ adjoint(vh)), axis=-2))


def values_and_pullback(a, keywords):
    """dsᵢ = Re uᵢᴴ dA vᵢ, hence Ā = U diag(s̄) Vᴴ, whether or not singular values are repeated or zero."""
    u, s, vh = seen_by_tracers(scipy.linalg.svd, a, False, **keywords)
    return s, pullback_wrt(a)(lambda sbar: (u * sbar[..., None, :]) @ vh)


@frule.register(scipy.linalg.svdvals)
@pushforward
def svdvals_frule(da: Array, a: Array, overwrite_a: Flag = False, check_finite: Flag = True) -> OutputAndTangent:
    return values_and_tangents(as_array_tangent(da, a), a, {"check_finite": check_finite})


@rrule.register(scipy.linalg.svdvals)
def svdvals_rrule(a: Array, overwrite_a: Flag = False, check_finite: Flag = True) -> OutputAndPullback:
    return values_and_pullback(a, {"check_finite": check_finite})


# ---------------------------------------------------------------- bases of the range and of the null space


def rank_of(s, shape, rcond):
    """How many singular values SciPy takes for others than zero."""
    s = ignore_derivatives(s)
    rcond = np.finfo(s.dtype).eps * max(shape) if rcond is None else rcond
    ranks = np.sum(s > rcond * np.max(s, axis=-1, keepdims=True, initial=0), axis=-1)
    if np.size(ranks) and np.any(ranks != np.max(ranks)):
        raise MDNotImplementedError  # a stack that SciPy refuses
    return int(np.max(ranks, initial=0))


def with_zero_columns(x, before, after):
    """A matrix between columns of zeros."""
    rows = x.shape[:-1]
    return np.concatenate([np.zeros((*rows, before), x.dtype), x, np.zeros((*rows, after), x.dtype)], axis=-1)


@frule.register(scipy.linalg.orth)
@pushforward
def orth_frule(dA: Array, _drcond: Number, A: Array, rcond: Number = None) -> OutputAndTangent:
    u, s, vh = seen_by_tracers(scipy.linalg.svd, A, False)
    rank = rank_of(s, shape_of(A)[-2:], rcond)
    du, _, _ = svd_tangents(u, s, vh, as_array_tangent(dA, A))
    return u[..., :rank], du if isinstance(du, NotImplementedTangent) else du[..., :rank]


@rrule.register(scipy.linalg.orth)
def orth_rrule(A: Array, rcond: Number = None) -> OutputAndPullback:
    """The singular vectors in U that belong to other singular values than 0; see `SingularVectors`."""
    u, s, vh = seen_by_tracers(scipy.linalg.svd, A, False)
    rank = rank_of(s, shape_of(A)[-2:], rcond)

    @pullback_wrt(A)
    def orth_pullback(ybar):
        ubar = with_zero_columns(ybar, 0, u.shape[-1] - rank)
        return svd_cotangent(u, s, vh, ubar, ZeroTangent(), ZeroTangent())

    return u[..., :rank], orth_pullback


@frule.register(scipy.linalg.null_space)
@pushforward
def null_space_frule(
    dA: Array,
    _drcond: Number,
    A: Array,
    rcond: Number = None,
    *,
    overwrite_a: Flag = False,
    check_finite: Flag = True,
    lapack_driver: Choice = "gesdd",
) -> OutputAndTangent:
    u, s, vh = seen_by_tracers(scipy.linalg.svd, A, check_finite=check_finite, lapack_driver=lapack_driver)
    rank = rank_of(s, shape_of(A)[-2:], rcond)
    _, _, dvh = svd_tangents(u, s, vh, as_array_tangent(dA, A))
    dy = dvh if isinstance(dvh, NotImplementedTangent) else adjoint(dvh[..., rank:, :])
    return columns_from(rank, vh), dy


@rrule.register(scipy.linalg.null_space)
def null_space_rrule(
    A: Array,
    rcond: Number = None,
    *,
    overwrite_a: Flag = False,
    check_finite: Flag = True,
    lapack_driver: Choice = "gesdd",
) -> OutputAndPullback:
    """The vectors in V that belong to no singular value, as in the rule of ``svd``: only their space has a derivative.

    The matrix has to have full rank. If it has not, the slightest change makes the space smaller.
    """
    u, s, vh = seen_by_tracers(scipy.linalg.svd, A, check_finite=check_finite, lapack_driver=lapack_driver)
    rank = rank_of(s, shape_of(A)[-2:], rcond)

    @pullback_wrt(A)
    def null_space_pullback(ybar):
        vh_bar = adjoint(with_zero_columns(ybar, rank, 0))
        return svd_cotangent(u, s, vh, ZeroTangent(), ZeroTangent(), vh_bar)

    return columns_from(rank, vh), null_space_pullback


def columns_from(rank, vh):
    """The vectors in V from one on: of a stack, as SciPy puts them together of those of the matrices."""
    vectors = adjoint(vh[..., rank:, :])
    return np.copy(vectors, order="C") if vectors.ndim > 2 else vectors
