"""Rules of what inverts matrices: ``inv``, ``pinv`` and ``tensorinv``."""

import math

import numpy as np
from rulescore import frule, ignore_derivatives, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, Count, Flag, Number, OutputAndPullback, OutputAndTangent

from ..array_like import as_array, as_array_tangent
from ..products import adjoint
from ..reduced_axes import NOT_GIVEN
from .cholesky import cotangent_of_triangle, hermitian_from

# ---------------------------------------------------------------- inv and tensorinv


@frule.register(np.linalg.inv)
@pushforward
def inv_frule(da: Array, a: Array) -> OutputAndTangent:
    """d(A⁻¹) = -A⁻¹ dA A⁻¹."""
    y = np.linalg.inv(a)
    return y, -y @ as_array_tangent(da, a) @ y


@rrule.register(np.linalg.inv)
def inv_rrule(a: Array) -> OutputAndPullback:
    """d(A⁻¹) = -A⁻¹ dA A⁻¹, hence Ā = -A⁻ᴴ Ȳ A⁻ᴴ (Giles 2008, §2.2.3)."""
    y = np.linalg.inv(a)
    y_h = adjoint(y)

    @pullback_wrt(a)
    def inv_pullback(ybar):
        return -y_h @ ybar @ y_h

    return y, inv_pullback


@frule.register(np.linalg.tensorinv)
@pushforward
def tensorinv_frule(da: Array, a: Array, ind: Count = 2) -> OutputAndTangent:
    y = np.linalg.tensorinv(a, ind)
    # The inverse has the axes of the rows of A last, that is all but as many as are in front of the others.
    matrix = as_matrix(y, np.ndim(y) - ind)
    dy = -matrix @ as_matrix(as_array_tangent(da, a), ind) @ matrix
    return y, np.reshape(dy, np.shape(y))


@rrule.register(np.linalg.tensorinv)
def tensorinv_rrule(a: Array, ind: Count = 2) -> OutputAndPullback:
    """As `inv_rrule`, where the first ``ind`` axes number the rows of a matrix and the others its columns."""
    y, shape = np.linalg.tensorinv(a, ind), np.shape(a)

    @pullback_wrt(a)
    def tensorinv_pullback(ybar):
        y_h = adjoint(as_matrix(y, len(shape) - ind))
        return np.reshape(-y_h @ as_matrix(ybar, len(shape) - ind) @ y_h, shape)

    return y, tensorinv_pullback


def as_matrix(x, ind):
    """The array whose rows are numbered by the first axes and whose columns by the others."""
    shape = np.shape(x)
    return np.reshape(x, (math.prod(shape[:ind]), math.prod(shape[ind:])))


# ---------------------------------------------------------------- pinv


@frule.register(np.linalg.pinv)
@pushforward
def pinv_frule(
    da: Array, _drcond: Number, a: Array, rcond: Number = None, hermitian: Flag = False, *, rtol: Number = NOT_GIVEN
) -> OutputAndTangent:
    y = np.linalg.pinv(a, rcond, hermitian, **rtol_given(rtol))
    a, da = as_array(a), as_array_tangent(da, a)
    if hermitian:
        a, da = hermitian_from(a, upper=False), hermitian_from(da, upper=False)
    return y, pinv_tangent(a, y, da, left_out(a, relative_cutoff(a, rcond, rtol)))


@rrule.register(np.linalg.pinv)
def pinv_rrule(
    a: Array, rcond: Number = None, hermitian: Flag = False, *, rtol: Number = NOT_GIVEN
) -> OutputAndPullback:
    """Ṗ = -P Ȧ P + P Pᴴ Ȧᴴ (I - A P) + (I - P A) Ȧᴴ Pᴴ P, where A keeps its rank (Golub and Pereyra 1973, eq. 4.12).

    Where the rank is not full the pseudoinverse jumps to infinity in all other directions, so this is all there is.
    With ``hermitian`` NumPy reads one triangle of A, and the other one has no cotangent.
    """
    y = np.linalg.pinv(a, rcond, hermitian, **rtol_given(rtol))

    @pullback_wrt(a)
    def pinv_pullback(ybar):
        matrix = hermitian_from(as_array(a), upper=False) if hermitian else as_array(a)
        abar = pinv_cotangent(matrix, y, ybar, left_out(matrix, relative_cutoff(matrix, rcond, rtol)))
        return cotangent_of_triangle(0.5 * (abar + adjoint(abar)), upper=False) if hermitian else abar

    return y, pinv_pullback


def rtol_given(rtol):
    return {} if rtol is NOT_GIVEN else {"rtol": rtol}


def relative_cutoff(a, rcond, rtol):
    """Which singular values ``pinv`` counts as zero, as a fraction of the largest one."""
    if rcond is not None:
        return rcond
    if rtol is NOT_GIVEN:
        return 1e-15
    return max(a.shape[-2:]) * np.finfo(a.dtype).eps if rtol is None else rtol


def pinv_tangent(a, p, da, left_out):
    """Ṗ of the formula in `pinv_rrule`, and what those singular values add that are left out but not zero."""
    da_h, p_h = adjoint(da), adjoint(p)
    right, left = product(p, p_h, da_h), product(da_h, p_h, p)
    dp = (right - product(right, a, p)) + (left - product(p, a, left)) - product(p, da, p)
    return dp if left_out is None else dp + left_out.tangent(da)


def pinv_cotangent(a, p, pbar, left_out):
    """Its transpose: Ā = (I - A P) P̄ᴴ P Pᴴ + Pᴴ P P̄ᴴ (I - P A) - Pᴴ P̄ Pᴴ."""
    pbar_h, p_h = adjoint(pbar), adjoint(p)
    right, left = product(pbar_h, p, p_h), product(p_h, p, pbar_h)
    abar = (right - product(a, p, right)) + (left - product(left, p, a)) - product(p_h, pbar, p_h)
    return abar if left_out is None else abar + left_out.cotangent(pbar)


def product(x, y, z):
    """x y z in the order that takes fewer multiplications; a matrix of all rows by all rows may be large."""
    (rows, inner), (other, columns) = x.shape[-2:], z.shape[-2:]
    first, last = rows * other * (inner + columns), inner * columns * (other + rows)
    return (x @ y) @ z if first <= last else x @ (y @ z)


def left_out(a, cutoff):
    """The `LeftOut` of matrices; None where nothing is left out but zeros, the usual case."""
    numbers = ignore_derivatives(a)
    rounding = 4 * max(numbers.shape[-2:]) * np.finfo(np.result_type(numbers, np.float32)).eps
    cutoff = np.asarray(ignore_derivatives(cutoff))
    if numbers.size == 0 or np.all(cutoff <= rounding):
        return None
    s = np.linalg.svd(numbers, compute_uv=False)
    largest = s[..., :1]
    if not np.any((s > rounding * largest) & (s <= cutoff[..., None] * largest)):
        return None
    return LeftOut(a, cutoff)


class LeftOut:
    """Singular values that the cutoff makes ``pinv`` leave out though they are not zero.

    The pseudoinverse is then that of the nearest matrix A₁ of smaller rank. As A moves, the singular vectors of those
    kept (i) mix with those of the others (j): with K = Uᴴ Ȧ V and q = sⱼ / sᵢ, the part of Ṗ that the usual formula,
    in which sⱼ = 0, lacks is V M Uᴴ with Mⱼᵢ = (q Kⱼᵢ + q² conj(Kᵢⱼ)) / (sᵢ² - sⱼ²), and Mᵢⱼ likewise.
    """

    def __init__(self, a, cutoff):
        self.u, s, vh = np.linalg.svd(a, full_matrices=False)
        self.v = adjoint(vh)
        numbers = ignore_derivatives(s)
        is_kept = numbers > cutoff[..., None] * numbers[..., :1]
        pairs = is_kept[..., :, None] & ~is_kept[..., None, :]
        s_i, s_j = np.where(pairs, s[..., :, None], 1), np.where(pairs, s[..., None, :], 0)
        q, weights = s_j / s_i, pairs / ((s_i - s_j) * (s_i + s_j))
        self.straight, self.crossed = (x + np.swapaxes(x, -1, -2) for x in (q * weights, q * q * weights))

    def tangent(self, da):
        return self.v @ self._mixed(adjoint(self.u) @ da @ self.v) @ adjoint(self.u)

    def cotangent(self, pbar):
        return self.u @ self._mixed(adjoint(self.v) @ pbar @ self.u) @ adjoint(self.v)

    def _mixed(self, k):
        return self.straight * k + self.crossed * adjoint(k)
