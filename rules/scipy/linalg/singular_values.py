"""Rules of singular values and vectors, and of the bases that SciPy makes of them: ``null_space`` and ``orth``."""

import numpy as np
import scipy.linalg
from multipledispatch import MDNotImplementedError

from rules.numpy.array_like import as_array_tangent, seen_by_tracers, shape_of
from rules.numpy.linalg.singular_values import svd_cotangent, svd_tangents
from rules.numpy.products import adjoint
from rules.scipy.linalg.batches import bars_of, tangents_of
from rulescore import (
    AbstractZero,
    NoTangent,
    NotImplementedTangent,
    ZeroTangent,
    frule,
    ignore_derivatives,
    project_to,
    rrule,
    unthunk,
)

NO_TANGENT = NoTangent()
ZERO_TANGENT = ZeroTangent()

# ---------------------------------------------------------------- svd


@frule.register(scipy.linalg.svd)
def svd_frule(
    tangents, a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True, lapack_driver="gesdd"
):
    da = as_array_tangent(unthunk(tangents[1]), a)
    keywords = {"check_finite": check_finite, "lapack_driver": lapack_driver}
    if isinstance(da, AbstractZero):
        return seen_by_tracers(scipy.linalg.svd, a, full_matrices, compute_uv, **keywords), da
    if not compute_uv:
        return values_frule(da, a, keywords)
    y = seen_by_tracers(scipy.linalg.svd, a, full_matrices, **keywords)
    return y, tangents_of(y, svd_tangents(*y, da))


@rrule.register(scipy.linalg.svd)
def svd_rrule(a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    """See `SingularVectors` for the formulas, and `values_rrule` for the values alone."""
    keywords = {"check_finite": check_finite, "lapack_driver": lapack_driver}
    if not compute_uv:
        return values_rrule(a, keywords)
    y, project = seen_by_tracers(scipy.linalg.svd, a, full_matrices, **keywords), project_to(a)

    def svd_pullback(ybar):
        bars = bars_of(ybar, 3)
        return NO_TANGENT, project(ZERO_TANGENT if bars is None else svd_cotangent(*y, *bars))

    return y, svd_pullback


def values_frule(da, a, keywords):
    u, s, vh = seen_by_tracers(scipy.linalg.svd, a, False, **keywords)
    return s, project_to(s)(np.real(np.sum(np.conjugate(u) * (da @ adjoint(vh)), axis=-2)))


def values_rrule(a, keywords):
    """dsᵢ = Re uᵢᴴ dA vᵢ, hence Ā = U diag(s̄) Vᴴ, whether or not singular values are repeated or zero."""
    (u, s, vh), project = seen_by_tracers(scipy.linalg.svd, a, False, **keywords), project_to(a)

    def values_pullback(sbar):
        sbar = unthunk(sbar)
        return NO_TANGENT, project(sbar if isinstance(sbar, AbstractZero) else (u * sbar[..., None, :]) @ vh)

    return s, values_pullback


@frule.register(scipy.linalg.svdvals)
def svdvals_frule(tangents, a, overwrite_a=False, check_finite=True):
    da = as_array_tangent(unthunk(tangents[1]), a)
    if isinstance(da, AbstractZero):
        return seen_by_tracers(scipy.linalg.svdvals, a, check_finite=check_finite), da
    return values_frule(da, a, {"check_finite": check_finite})


@rrule.register(scipy.linalg.svdvals)
def svdvals_rrule(a, overwrite_a=False, check_finite=True):
    return values_rrule(a, {"check_finite": check_finite})


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
def orth_frule(tangents, A, rcond=None):
    da = as_array_tangent(unthunk(tangents[1]), A)
    u, s, vh = seen_by_tracers(scipy.linalg.svd, A, False)
    rank = rank_of(s, shape_of(A)[-2:], rcond)
    y = u[..., :rank]
    if isinstance(da, AbstractZero):
        return y, da
    du = svd_tangents(u, s, vh, da)[0]
    return y, du if isinstance(du, NotImplementedTangent) else project_to(y)(du[..., :rank])


@rrule.register(scipy.linalg.orth)
def orth_rrule(A, rcond=None):
    """The singular vectors in U that belong to other singular values than 0; see `SingularVectors`."""
    (u, s, vh), project = seen_by_tracers(scipy.linalg.svd, A, False), project_to(A)
    rank = rank_of(s, shape_of(A)[-2:], rcond)

    def orth_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return NO_TANGENT, project(ybar)
        ubar = with_zero_columns(ybar, 0, u.shape[-1] - rank)
        return NO_TANGENT, project(svd_cotangent(u, s, vh, ubar, ZERO_TANGENT, ZERO_TANGENT))

    return u[..., :rank], orth_pullback


@frule.register(scipy.linalg.null_space)
def null_space_frule(tangents, A, rcond=None, *, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    da = as_array_tangent(unthunk(tangents[1]), A)
    u, s, vh = seen_by_tracers(scipy.linalg.svd, A, check_finite=check_finite, lapack_driver=lapack_driver)
    rank = rank_of(s, shape_of(A)[-2:], rcond)
    y = adjoint(vh[..., rank:, :])
    if isinstance(da, AbstractZero):
        return y, da
    dvh = svd_tangents(u, s, vh, da)[2]
    return y, dvh if isinstance(dvh, NotImplementedTangent) else project_to(y)(adjoint(dvh[..., rank:, :]))


@rrule.register(scipy.linalg.null_space)
def null_space_rrule(A, rcond=None, *, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    """The vectors in V that belong to no singular value, as in the rule of ``svd``: only their space has a derivative.

    The matrix has to have full rank. If it has not, the slightest change makes the space smaller.
    """
    u, s, vh = seen_by_tracers(scipy.linalg.svd, A, check_finite=check_finite, lapack_driver=lapack_driver)
    project, rank = project_to(A), rank_of(s, shape_of(A)[-2:], rcond)

    def null_space_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return NO_TANGENT, project(ybar)
        vh_bar = adjoint(with_zero_columns(ybar, rank, 0))
        return NO_TANGENT, project(svd_cotangent(u, s, vh, ZERO_TANGENT, ZERO_TANGENT, vh_bar))

    return adjoint(vh[..., rank:, :]), null_space_pullback
