"""Rules of some eigenvalues and singular values of large matrices: ``eigsh`` and ``svds``, by what they return alone.

For an eigenpair λ, v of a Hermitian A, λ̇ = vᴴ Ȧ v and v̇ = (λ - A)⁺ Ȧ v. Of the pseudoinverse, the part within the
known vectors is a sum over them, and that outside of them the solution of a system, by ``minres``, to rounding error.
Singular vectors are halves of the eigenvectors of [[0, A], [Aᴴ, 0]], whose eigenvalues are ±σ.
"""

from typing import Any

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import (
    MissingDerivativeError,
    apply_linear,
    frule,
    is_traced,
    project_to,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
)
from rulescore.typing import Array, Axis, Choice, Count, Flag, OutputAndPullback, OutputAndTangent
from scipy.sparse import linalg
from scipy.sparse.linalg import LinearOperator

from ...numpy.linalg.eigenvalues import NO_EIGENVECTORS, coinciding, reciprocal_differences
from ..sparse.operations import SPARSE
from .operators import adjoint, matrix_cotangent, times


class Eigenpairs:
    """Some eigenvalues of a Hermitian matrix, known by its products, and their vectors in columns."""

    def __init__(self, apply, values, vectors):
        self.apply, self.values, self.vectors = apply, values, vectors
        # In double precision, in which the systems are solved: those of single precision are orthogonal to 7 digits.
        self.basis = np.linalg.qr(vectors.astype(np.result_type(vectors, np.float64)))[0]

    def slopes(self, x):
        """(λᵢ - A)⁺ xᵢ for each pair i; xᵢ is a column, and zero where nobody asks.

        Of what is differentiated itself, a zero may move.
        """
        pairs = coinciding(self.values)
        used = np.full(x.shape[1], True) if is_traced(x) else np.any(x != 0, axis=0)
        if np.any(pairs & used):
            raise MissingDerivativeError(NO_EIGENVECTORS)
        inside = np.conj(self.vectors.T) @ x
        within = self.vectors @ (-reciprocal_differences(self.values, pairs).T * inside)
        outside = [self._outside(i, x[:, i]) if used[i] else np.zeros_like(x[:, i]) for i in range(len(self.values))]
        return within + np.stack(outside, axis=1)

    def _outside(self, i, x):
        """The part orthogonal to the known vectors."""
        right = self._projected(x)
        n, rounding = len(x), np.finfo(right.dtype).eps
        if self.vectors.shape[1] == n:  # there is none
            return np.zeros_like(right)
        if not is_traced(x) and np.linalg.norm(right) <= 4 * np.finfo(x.dtype).eps * np.linalg.norm(x):
            return np.zeros_like(right)

        def shifted(y):
            return self._projected(self.values[i] * y - self.apply(self._projected(y)))

        matrix = LinearOperator((n, n), shifted, rmatvec=shifted, dtype=right.dtype)
        if right.dtype.kind == "c":  # of which minres knows nothing
            options = {"rtol": 450 * rounding, "restart": min(n, 100), "maxiter": 20 * n}
            solution, info = seen_by_tracers(linalg.gmres, matrix, right, **options)
        else:
            solution, info = seen_by_tracers(linalg.minres, matrix, right, rtol=45 * rounding, maxiter=20 * n)
        if info != 0:
            raise MissingDerivativeError(
                f"the derivative of an eigenvector was asked for, and the system that it solves has not converged "
                f"(info={info}): its eigenvalue {self.values[i]} is too close to others; use eigenvalues alone"
            )
        return self._projected(solution)

    def _projected(self, x):
        return x - self.basis @ (np.conj(self.basis.T) @ x)


# ---------------------------------------------------------------- eigsh


def decline_generalised(M, A):
    decline_traced(A)
    if M is not None:
        raise MDNotImplementedError


def decline_traced(A):
    """ARPACK takes no tracers, and the systems for vectors are not solved in functions that do."""
    if hasattr(type(A), "__rule_type__"):
        raise MissingDerivativeError(
            "scipy.sparse.linalg.eigs, eigsh and svds have first derivatives only. For second ones, use np.linalg.eig, "
            "eigh or svd of a dense matrix"
        )
    if A.dtype.kind not in "fc":
        raise MDNotImplementedError


def in_order_of(y, w, x):
    """What belongs to the values w, in the order in which the same values stand in y."""
    return x[np.argsort(w)][np.argsort(np.argsort(y))]


@frule.register(linalg.eigsh, (*SPARSE, np.ndarray))
@pushforward
def eigsh_frule(
    dA: Array,
    _dsigma: Array,
    _dv0: Array,
    A: Array,
    k: Count = 6,
    M: Count = None,
    sigma: Array = None,
    which: Choice = "LM",
    v0: Array = None,
    *,
    return_eigenvectors: Flag = True,
    **options: Any,
) -> OutputAndTangent:
    decline_generalised(M, A)
    w, v = linalg.eigsh(A, k, None, sigma, which, v0, **options)
    moved = times(dA, v)
    dw = np.real(np.sum(np.conj(v) * moved, axis=0))
    if not return_eigenvectors:
        y = linalg.eigsh(A, k, None, sigma, which, v0, return_eigenvectors=False, **options)
        return y, in_order_of(y, w, dw)
    return (w, v), (dw, Eigenpairs(lambda x: A @ x, w, v).slopes(moved))


@rrule.register(linalg.eigsh, (*SPARSE, np.ndarray))
def eigsh_rrule(
    A: Array,
    k: Count = 6,
    M: Count = None,
    sigma: Array = None,
    which: Choice = "LM",
    v0: Array = None,
    *,
    return_eigenvectors: Flag = True,
    **options: Any,
) -> OutputAndPullback:
    """Ā = Σ (λ̄ v + (λ - A)⁺ v̄) vᴴ, at the entries of A, each of which counts as one of its own.

    The sign of a vector is that which ARPACK gives it, and its phase is free: only functions that do not depend on it
    have a derivative.
    """
    decline_generalised(M, A)
    w, v = linalg.eigsh(A, k, None, sigma, which, v0, **options)
    if not return_eigenvectors:
        # Without vectors, SciPy may put them into another order.
        y = linalg.eigsh(A, k, None, sigma, which, v0, return_eigenvectors=False, **options)
        return y, pullback_wrt(A)(lambda ybar: matrix_cotangent(A, (v * in_order_of(w, y, ybar), v)))

    @pullback_wrt(A)
    def eigsh_pullback(ybar):
        wbar, vbar = ybar
        left = v * wbar + apply_linear(lambda vbar: Eigenpairs(lambda x: A @ x, w, v).slopes(vbar), vbar)
        return matrix_cotangent(A, (left, v))

    return (w, v), eigsh_pullback


# ---------------------------------------------------------------- svds


class SingularTriplets:
    """Some singular values, and the vectors of both sides in columns."""

    def __init__(self, A, u, s, v):
        self.A, self.u, self.s, self.v = A, u, s, v
        self.rows = A.shape[0]

    def slopes(self, of_u, of_v):
        """(σᵢ - H)⁺ x, for H = [[0, A], [Aᴴ, 0]] and the columns x = (xᵤ, xᵥ), of which one half may be zero."""
        a_h = adjoint(self.A)
        known = np.concatenate([np.concatenate([self.u, self.v]), np.concatenate([self.u, -self.v])], axis=1)
        values = np.concatenate([self.s, -self.s])

        def apply(x):
            return np.concatenate([self.A @ x[self.rows :], a_h @ x[: self.rows]])

        x = np.concatenate([of_u + np.zeros_like(self.u), of_v + np.zeros_like(self.v)])
        every = np.concatenate([x, np.zeros_like(x)], axis=1)
        return Eigenpairs(apply, values, known / np.sqrt(2)).slopes(every)[:, : len(self.s)]


def decline_part_of_vectors(return_singular_vectors, A):
    decline_traced(A)
    if return_singular_vectors not in (True, False):
        raise MDNotImplementedError


@frule.register(linalg.svds, (*SPARSE, np.ndarray))
@pushforward
def svds_frule(
    dA: Array, A: Array, k: Count = 6, *, return_singular_vectors: Flag = True, **options: Any
) -> OutputAndTangent:
    decline_part_of_vectors(return_singular_vectors, A)
    u, s, vh = linalg.svds(A, k, **options)
    v = np.conj(vh.T)
    of_u, of_v = times(dA, v), times(adjoint(dA), u)
    ds = np.real(np.sum(np.conj(u) * of_u, axis=0))
    if not return_singular_vectors:
        return s, ds
    slopes = SingularTriplets(A, u, s, v).slopes(of_u, of_v)
    return (u, s, vh), (slopes[: len(u)], ds, np.conj(slopes[len(u) :].T))


@rrule.register(linalg.svds, (*SPARSE, np.ndarray))
def svds_rrule(A: Array, k: Count = 6, *, return_singular_vectors: Flag = True, **options: Any) -> OutputAndPullback:
    """Ā = Σ σ̄ u vᴴ + hᵤ vᴴ + u hᵥᴴ, where (hᵤ, hᵥ) is what `SingularTriplets` makes of (ū, v̄)."""
    decline_part_of_vectors(return_singular_vectors, A)
    u, s, vh = linalg.svds(A, k, **options)
    v = np.conj(vh.T)
    if not return_singular_vectors:
        return s, pullback_wrt(A)(lambda sbar: matrix_cotangent(A, (u * sbar, v)))

    @pullback_wrt(A)
    def svds_pullback(ybar):
        ubar, sbar, vhbar = ybar
        slopes = apply_linear(SingularTriplets(A, u, s, v).slopes, ubar, np.conj(vhbar.T))
        return matrix_cotangent(A, (u * sbar, v), (slopes[: len(u)], v), (u, slopes[len(u) :]))

    return (u, s, vh), svds_pullback


# ---------------------------------------------------------------- norms


def norm_slopes(x, onto_x, ord, axis, y):
    """∂y/∂x at the entries of x, and which output each of them belongs to; ties share equally, and 0 has slope 0."""
    values, places = onto_x.entries_of(x), onto_x.coordinates
    sizes = np.abs(values)
    signs = values / np.where(sizes == 0, 1, sizes)
    if axis is None and ord in (None, "fro", "f"):
        return values / (y if y else 1), None
    if axis is None and ord == 2:
        u, _, vh = linalg.svds(x, k=1)
        return u[places[0], 0] * vh[0, places[1]], None
    if axis is None and ord in (1, -1, np.inf, -np.inf):
        lines = places[1] if ord in (1, -1) else places[0]
        count = x.shape[1] if ord in (1, -1) else x.shape[0]
        are_extreme = np.bincount(lines, sizes, minlength=count) == y
        return signs * (are_extreme / max(np.count_nonzero(are_extreme), 1))[lines], None
    if axis is None or np.ndim(axis):
        raise MDNotImplementedError
    lines = places[1 - axis % 2]
    along = np.asarray(y)[lines]
    if ord in (None, 2):
        return values / np.where(along == 0, 1, along), lines
    if ord == 1:
        return signs, lines
    if ord == np.inf:
        are_extreme = sizes == along
        ties = np.bincount(lines, are_extreme, minlength=len(y))
        return signs * are_extreme / np.maximum(ties, 1)[lines], lines
    raise MDNotImplementedError


def decline_unless_matrix(x):
    if x.ndim != 2 or x.dtype.kind not in "fc":
        raise MDNotImplementedError


@frule.register(linalg.norm, SPARSE)
@pushforward
def norm_frule(dx: Array, _dord: Choice, x: Array, ord: Choice = None, axis: Axis = None) -> OutputAndTangent:
    decline_unless_matrix(x)
    y, onto_x = linalg.norm(x, ord, axis), project_to(x)
    slopes, lines = norm_slopes(x, onto_x, ord, axis, y)
    terms = np.real(np.conj(slopes) * onto_x.entries_of(dx))
    return y, np.sum(terms) if lines is None else np.bincount(lines, terms, minlength=len(y))


@rrule.register(linalg.norm, SPARSE)
def norm_rrule(x: Array, ord: Choice = None, axis: Axis = None) -> OutputAndPullback:
    """x̄ = ȳ ∂y/∂x at the entries; a zero that is not stored has no cotangent."""
    decline_unless_matrix(x)
    y, onto_x = linalg.norm(x, ord, axis), project_to(x)
    slopes, lines = norm_slopes(x, onto_x, ord, axis, y)

    @pullback_wrt(onto_x)
    def norm_pullback(ybar):
        return onto_x.of_entries(slopes * (ybar if lines is None else ybar[lines]))

    return y, norm_pullback
