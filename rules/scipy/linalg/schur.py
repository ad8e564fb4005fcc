"""Rules of the Schur decomposition A = Z T Zᴴ, with a triangular T or, of a real matrix, one with 2×2 blocks.

With M = Zᴴ dA Z and the skew-Hermitian X = Zᴴ dZ, dT = M - X T + T X. What T has below its blocks stays zero, which
determines X there: low(X T - T X) = low(M). Within a block X is the rotation that keeps its diagonal equal.
"""

import numpy as np

import scipy.linalg
from rulescore import (
    MissingDerivativeError,
    NoTangent,
    NotImplementedTangent,
    apply_linear,
    frule,
    ignore_derivatives,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
)
from rulescore.typing import Array, Choice, Count, Flag, OutputAndPullback, OutputAndTangent

from ...numpy.array_like import as_array_tangent
from ...numpy.linalg.eigenvalues import (
    COINCIDE_WITHIN,
    coinciding,
    diagonal,
    largest_of,
    reciprocal,
    rounding_of,
)
from ...numpy.products import adjoint

REPEATED = (
    "the Schur form of a matrix with repeated eigenvalues, or with a pair of them whose 2×2 block is a multiple of a "
    "rotation: any basis of their common space is as good, so that Z and T have no derivative there. Use a matrix "
    "whose eigenvalues differ, or the matrix function or equation solver that the form is wanted for (expm, sqrtm, "
    "solve_sylvester)"
)
NO_PHASE = (
    "the columns of Z, or what T has above its diagonal, of a complex Schur form, used in a way that depends on the "
    "phases of the columns, which LAPACK leaves to chance. Use what does not depend on them, such as abs(t), the "
    "diagonal of t, or z[:, :k] @ z[:, :k].conj().T"
)


class SchurForm:
    """A Schur form T, and the derivatives of T and Z.

    Attributes
    ----------
    heads : ndarray of bool
        Which columns of T are the first of a 2×2 block.
    upper, below : ndarray of bool
        Where T is not zero by its form, and where it is.
    """

    def __init__(self, t, z):
        self.t, self.z, self.size = t, z, t.shape[-1]
        fixed, places = ignore_derivatives(t), np.arange(self.size)
        self.heads = np.zeros(fixed.shape[:-1], bool)
        self.heads[..., :-1] = np.diagonal(fixed, -1, -2, -1) != 0
        # The first row of what is below the block of each column.
        first_below = places + 1 + self.heads
        self.below = places[:, None] >= first_below[..., None, :]
        self.upper = ~self.below
        self.has_blocks = bool(np.any(self.heads))
        if self.has_blocks:
            self._triangularise()
        else:
            self.triangle, self.rotation = t, None
        self._find_repeated()

    def _triangularise(self):
        """The triangle Dᴴ T D, where [[p, iq], [iq, p]] is the block of D for a block [[a, b], [c, a]] of T.

        LAPACK makes the diagonal of a block equal, and b and c of opposite signs.
        """
        b, c = (np.where(self.heads, self._beside_diagonal(offset), 1) for offset in (1, -1))
        total = np.abs(b) + np.abs(c)
        p = np.where(self.heads, np.sign(b) * np.sqrt(np.abs(b) / total), 0)
        q = np.where(self.heads, np.sqrt(np.abs(c) / total), 0)
        p = p + self._in_second(p) + ~(self.heads | self._in_second(self.heads))
        beside = q[..., :, None] * np.eye(self.size, k=1)
        self.rotation = p[..., :, None] * np.eye(self.size) + 1j * (beside + np.swapaxes(beside, -1, -2))
        self.triangle = adjoint(self.rotation) @ self.t @ self.rotation

    def _beside_diagonal(self, offset):
        """The entries of T beside the diagonal, and a last one which is 0, at the heads of blocks."""
        beside = np.diagonal(self.t, offset, -2, -1)
        padded = np.concatenate([beside, np.zeros((*beside.shape[:-1], 1), beside.dtype)], axis=-1)
        return np.where(self.heads, padded, 0)

    @staticmethod
    def _in_second(x):
        """What belongs to the first columns of blocks, in their second columns."""
        return np.concatenate([np.zeros_like(x[..., :1]), x[..., :-1]], axis=-1)

    def _find_repeated(self):
        """Whether the forms have no derivative."""
        values = diagonal(ignore_derivatives(self.triangle))
        largest = largest_of(np.max(np.abs(ignore_derivatives(self.t)), axis=-1, initial=0))
        self.spread = self._beside_diagonal(1) + self._beside_diagonal(-1)
        is_rotation = np.abs(ignore_derivatives(self.spread)) <= COINCIDE_WITHIN * rounding_of(self.t) * largest
        self.is_repeated = np.any(coinciding(values), axis=(-2, -1)) | np.any(self.heads & is_rotation, axis=-1)

    # What is below the blocks: low(X T - T X) = low(M), column by column.

    def lower_part(self, m):
        """The part of X below the blocks."""
        return self._in_triangle(m, self._forwards)

    def lower_cotangent(self, lower_bar):
        """The transpose of `lower_part`."""
        return self._in_triangle(lower_bar, self._backwards)

    def _in_triangle(self, right, solve):
        if self.rotation is None:
            return solve(right)
        found = self.rotation @ solve(adjoint(self.rotation) @ right @ self.rotation) @ adjoint(self.rotation)
        return np.where(self.below, np.real(found), 0)

    def _forwards(self, m):
        """(Tⱼⱼ - T) xⱼ = mⱼ - Σ xₖ Tₖⱼ over k < j, in the rows below."""
        columns = []
        for j in range(self.size):
            right = m[..., :, j]
            if j:
                right = right - (np.stack(columns, axis=-1) @ self.triangle[..., :j, j, None])[..., 0]
            columns.append(self._column(j, right))
        return np.stack(columns, axis=-1) if columns else m

    def _backwards(self, lower_bar):
        """(Tⱼⱼ - T)ᴴ kⱼ = l̄ⱼ - Σ kₖ conj(Tⱼₖ) over k > j, in the rows below."""
        columns = []
        for j in reversed(range(self.size)):
            right = lower_bar[..., :, j]
            if columns:
                known = np.stack(columns[::-1], axis=-1)
                right = right - (known @ np.conjugate(self.triangle[..., j, j + 1 :, None]))[..., 0]
            columns.append(self._column(j, right, 2))
        return np.stack(columns[::-1], axis=-1) if columns else lower_bar

    def _column(self, j, right, trans=0):
        """Of a triangular system, of which only the rows below the block of column j count."""
        rows, eye = self.below[..., :, j], np.eye(self.size, dtype=self.triangle.dtype)
        inside = rows[..., :, None] & rows[..., None, :]
        inside = inside & ~self.is_repeated[..., None, None]  # of which nothing is asked but zeros
        matrix = np.where(inside, self.triangle[..., j, j, None, None] * eye - self.triangle, eye)
        right = np.where(rows, right, 0)[..., None].astype(self.triangle.dtype)
        return seen_by_tracers(scipy.linalg.solve_triangular, matrix, right, trans, check_finite=False)[..., 0]

    # Both derivatives.

    def tangents(self, da):
        """dT and dZ."""
        if np.any(self.is_repeated):
            return NotImplementedTangent(REPEATED), NotImplementedTangent(REPEATED)
        m = adjoint(self.z) @ da @ self.z
        lower = self.lower_part(m)
        x = lower - adjoint(lower)
        if self.has_blocks:
            moved = diagonal(m - lower @ self.t + self.t @ lower)
            turns = self._turns(moved - np.concatenate([moved[..., 1:], moved[..., :1]], axis=-1))
            beside = turns[..., :, None] * np.eye(self.size, k=1)
            x = x + beside - np.swapaxes(beside, -1, -2)
        return np.where(self.upper, m - x @ self.t + self.t @ x, 0), self.z @ x

    def _turns(self, difference):
        """½ (p₁₁ - p₂₂) / (b + c): what keeps the diagonal of a block [[a, b], [c, a]] equal when p is added to it."""
        return 0.5 * difference * reciprocal(self.spread, ~self.heads | self.is_repeated[..., None])

    def cotangent(self, tbar, zbar):
        """Ā. With G = Zᴴ Z̄ - T̄ Tᴴ + Tᴴ T̄, the cotangent of X, it is Z (T̄ + K) Zᴴ.

        K below the blocks is the transpose of `lower_part` at low(G - Gᴴ). The rotations of blocks add to T̄ what makes
        their own cotangents vanish.
        """
        tbar = np.where(self.upper, tbar + np.zeros_like(self.t), 0)
        of_z = 0 + adjoint(self.z) @ zbar
        g = of_z + self._of_turning(tbar)
        if np.iscomplexobj(self.t):
            self._refuse_phases(ignore_derivatives(g), ignore_derivatives(tbar), ignore_derivatives(of_z))
        self._refuse_repeated(ignore_derivatives(g - adjoint(g)))
        if self.has_blocks:
            beside = np.diagonal(g, 1, -2, -1) - np.diagonal(g, -1, -2, -1)
            beside = np.concatenate([beside, np.zeros((*beside.shape[:-1], 1), beside.dtype)], axis=-1)
            turns = self._turns(beside)
            kept = (turns - self._in_second(turns))[..., :, None] * np.eye(self.size)
            tbar = tbar + kept
            g = g + self._of_turning(kept)
        lower_bar = np.where(self.below, g - adjoint(g), 0)
        return self.z @ (tbar + self.lower_cotangent(lower_bar)) @ adjoint(self.z)

    def _of_turning(self, tbar):
        """T̄ as a cotangent of X, by which T turns."""
        t_h = adjoint(self.t)
        return t_h @ tbar - tbar @ t_h

    def _refuse_phases(self, g, *bars):
        size = max(np.max(np.abs(bar), initial=0) for bar in bars)
        scale = size * max(1, np.max(np.abs(ignore_derivatives(self.t)), initial=0))
        if np.any(np.abs(np.imag(diagonal(g))) > np.sqrt(rounding_of(g)) * scale):
            raise MissingDerivativeError(NO_PHASE)

    def _refuse_repeated(self, turning):
        if np.any(self.is_repeated & np.any(np.tril(turning, -1) != 0, axis=(-2, -1))):
            raise MissingDerivativeError(REPEATED)


def decomposed(a, output, lwork, sort, check_finite):
    return seen_by_tracers(scipy.linalg.schur, a, output, lwork=lwork, sort=sort, check_finite=check_finite)


@frule.register(scipy.linalg.schur)
@pushforward
def schur_frule(
    da: Array,
    a: Array,
    output: Choice = "real",
    lwork: Count = None,
    overwrite_a: Flag = False,
    sort: Choice = None,
    check_finite: Flag = True,
) -> OutputAndTangent:
    y = decomposed(a, output, lwork, sort, check_finite)
    count = () if sort is None else (NoTangent(),)
    return y, (*SchurForm(y[0], y[1]).tangents(as_array_tangent(da, a)), *count)


@rrule.register(scipy.linalg.schur)
def schur_rrule(
    a: Array,
    output: Choice = "real",
    lwork: Count = None,
    overwrite_a: Flag = False,
    sort: Choice = None,
    check_finite: Flag = True,
) -> OutputAndPullback:
    """See `SchurForm`. The signs of the columns of Z are those that LAPACK gives them.

    The phases of the columns are free in a complex form: only functions that do not depend on them have a derivative,
    and dZ turns them by none. The number of eigenvalues that ``sort`` counts has no derivative.
    """
    y = decomposed(a, output, lwork, sort, check_finite)

    @pullback_wrt(a)
    def schur_pullback(ybar):
        return apply_linear(SchurForm(y[0], y[1]).cotangent, ybar[0], ybar[1])

    return y, schur_pullback
