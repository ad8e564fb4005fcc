"""Rules of determinants and their logarithms, singular matrices among them.

The derivative of a determinant is the adjugate, which exists where the inverse does not.
"""

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
from rulescore.typing import Array, OutputAndPullback, OutputAndTangent

from ..array_like import as_array, as_array_tangent
from ..products import adjoint
from .lu_factors import LUFactors

SlogdetResult = type(np.linalg.slogdet(np.eye(1)))  # NumPy has no public name for it

# ---------------------------------------------------------------- det


@frule.register(np.linalg.det)
@pushforward
def det_frule(da: Array, a: Array) -> OutputAndTangent:
    """d det A = tr(adj(A) dA)."""
    y, factors = factorised_det(a)
    return y, trace_of_product(adjugate(as_array(a), y, factors), as_array_tangent(da, a))


@rrule.register(np.linalg.det)
def det_rrule(a: Array) -> OutputAndPullback:
    """d det A = tr(adj(A) dA) (Jacobi), hence Ā = adj(A)ᴴ ȳ."""
    y, factors = factorised_det(a)

    @pullback_wrt(a)
    def det_pullback(ybar):
        return adjoint(adjugate(as_array(a), y, factors)) * as_matrices(ybar)

    return y, det_pullback


def factorised_det(a):
    """The determinant, and the factors of which it was made if there are any."""
    factors = LUFactors.of(a)
    if factors is None:
        return np.linalg.det(a), None
    sign, logabsdet = factors.slogdet()
    return sign * np.exp(logabsdet), factors


def factorised_slogdet(a):
    factors = LUFactors.of(a)
    return (np.linalg.slogdet(a), None) if factors is None else (SlogdetResult(*factors.slogdet()), factors)


def trace_of_product(a, b):
    """tr(A B) of every pair of matrices."""
    return np.sum(np.swapaxes(a, -1, -2) * b, axis=(-2, -1))


def as_matrices(numbers):
    """One number for each matrix of a stack, with axes to broadcast along the matrices."""
    return numbers[..., None, None] if np.ndim(numbers) else numbers


# ---------------------------------------------------------------- slogdet


@frule.register(np.linalg.slogdet)
@pushforward
def slogdet_frule(da: Array, a: Array) -> OutputAndTangent:
    """d log det A = tr(A⁻¹ dA): the real part moves the logarithm, the imaginary part turns the sign."""
    da = as_array_tangent(da, a)
    y, factors = factorised_slogdet(a)
    inverse, singular = inverse_but_of_singular(as_array(a), y.sign, factors)
    trace = trace_of_product(inverse, da)
    dsign = 1j * trace.imag * y.sign if np.iscomplexobj(a) else ZeroTangent()
    dlogdet = trace.real if singular is None else np.where(singular.where, singular.slope_along(da), trace.real)
    return y, (dsign, dlogdet)


@rrule.register(np.linalg.slogdet)
def slogdet_rrule(a: Array) -> OutputAndPullback:
    """Ā = A⁻ᴴ (l̄ + i Im(conj(sign) s̄)), with l̄ of the logarithm and s̄ of the sign.

    Where det A = 0 the logarithm is infinite, and its derivative is that of log x at x = 0: the limit of adj(A) / det A
    as det A tends to zero from above. That is ±∞ at the elements which change the determinant, and 0 at the others.
    The sign has the derivative 0 there, like `np.sign`.
    """
    y, factors = factorised_slogdet(a)
    is_complex = np.iscomplexobj(a)
    sign = y.sign

    def of_logarithm(weight):
        inverse, singular = inverse_but_of_singular(as_array(a), sign, factors)
        abar = adjoint(inverse) * as_matrices(weight)
        return abar if singular is None else np.where(as_matrices(singular.where), singular.slope_times(weight), abar)

    @pullback_wrt(a)
    def slogdet_pullback(ybar):
        sign_bar, weight = ybar
        if is_complex:
            weight = weight + 1j * (np.conjugate(sign) * sign_bar).imag
        return apply_linear(of_logarithm, weight)

    return y, slogdet_pullback


def inverse_but_of_singular(a, sign, factors):
    """The inverses of matrices, with the identity for singular ones, and the `Singular` ones if there are any."""
    is_singular = ignore_derivatives(sign) == 0
    if not np.any(is_singular):
        return (np.linalg.inv(a) if factors is None else factors.inverse()), None
    regular = np.where(as_matrices(is_singular), np.eye(a.shape[-1], dtype=a.dtype), a)
    return np.linalg.inv(regular), Singular(ignore_derivatives(a), is_singular)


class Singular:
    """The infinite derivatives of log|det A| where A is singular; constants, since their own derivative is no number.

    Attributes
    ----------
    where : ndarray of bool
        Which matrices are.
    """

    def __init__(self, a, where):
        n = a.shape[-1]
        self.where = where
        self._rounding = 4 * n * np.finfo(a.dtype).eps
        s = np.linalg.svd(a[where], compute_uv=False)
        if n > 1 and np.any(s[:, -2] <= self._rounding * s[:, 0]):
            raise MissingDerivativeError(
                "slogdet got a matrix whose rank is smaller by two or more than its size: all its cofactors are zero, "
                "so the derivative of log|det| is infinite without a direction. Keep such matrices out with np.where, "
                "or differentiate np.linalg.det, whose derivative is zero there"
            )
        self._adjugate = adjugate(a, np.zeros(a.shape[:-2], a.dtype))

    def slope_along(self, da):
        """The derivative along a tangent: ±∞, or 0 where the determinant does not change."""
        terms = np.swapaxes(self._adjugate, -1, -2) * ignore_derivatives(da)
        scale = np.sum(np.abs(terms), axis=(-2, -1))
        return infinite(np.sum(terms, axis=(-2, -1)).real, self._rounding * scale)

    def slope_times(self, weight):
        """The cotangents of the matrices from those of their logarithms."""
        slope = adjoint(self._adjugate) * as_matrices(np.real(ignore_derivatives(weight)))
        rounding = self._rounding * np.max(np.abs(slope), axis=(-2, -1), keepdims=True)
        if slope.dtype.kind != "c":
            return infinite(slope, rounding)
        parts = np.stack([infinite(slope.real, rounding), infinite(slope.imag, rounding)], axis=-1)
        return parts.view(slope.dtype)[..., 0]  # i times infinity would have a real part of NaN


def infinite(x, rounding):
    """Infinity with the signs of ``x``, and 0 for what is zero but for rounding errors."""
    return np.where(np.abs(x) <= rounding, 0, np.copysign(x.dtype.type(np.inf), x))


# ---------------------------------------------------------------- the adjugate

MOST_MINORS = 8
"""Of singular matrices whose rank is smaller than their size by more than this, the adjugate is given as zero.

So it is, with all its derivatives but those of an order that no program asks for.
"""


def adjugate(a, det, factors=None):
    """adj(A), the transpose of the matrix of cofactors: det(A) A⁻¹ wherever A⁻¹ exists.

    It is made of inverses of regular matrices and of sums and products alone. So its derivatives of every order are
    as exact as itself, and follow without a rule of its own.

    Parameters
    ----------
    a : array, shape (..., n, n)
        Matrices of any rank.
    det : array, shape (...)
        Their determinants.
    factors : LUFactors, optional
        Of the matrix, where there is one alone.
    """
    n = a.shape[-1]
    if n <= 3:
        return adjugate_of_small(a)
    inverse, is_regular = inverse_where_regular(a, det, factors)
    if np.all(is_regular):
        return as_matrices(det) * inverse
    matrices, is_regular = np.reshape(a, (-1, n, n)), np.reshape(is_regular, -1)
    places = [np.flatnonzero(is_regular)]
    parts = [np.reshape(det, (-1, 1, 1))[is_regular] * np.reshape(inverse, (-1, n, n))[is_regular]]
    irregular = np.flatnonzero(~is_regular)
    borders = Borders(ignore_derivatives(matrices)[irregular])
    # Matrices that lack the same number of ranks are worked on together.
    for k in np.unique(borders.lacking):
        alike = np.flatnonzero(borders.lacking == k)
        places.append(irregular[alike])
        parts.append(borders.adjugate(matrices[irregular[alike]], alike))
    in_order = np.concatenate(parts)[np.argsort(np.concatenate(places))]
    return np.reshape(in_order, a.shape)


def adjugate_of_small(a):
    """The cofactors of matrices of at most three rows, written out."""
    n = a.shape[-1]
    if n < 2:
        return np.ones_like(a)
    if n == 2:
        p, q, r, s = a[..., 0, 0], a[..., 0, 1], a[..., 1, 0], a[..., 1, 1]
        return np.stack([np.stack([s, -q], -1), np.stack([-r, p], -1)], -2)
    first, second, third = (a[..., j] for j in range(3))  # the columns
    return np.stack([np.cross(second, third), np.cross(third, first), np.cross(first, second)], -2)


def inverse_where_regular(a, det, factors):
    """The inverses of matrices that are far enough from singular ones, and which these are.

    The derivative of det(A) A⁻¹ is a difference of two numbers that exceed it by the condition number; half of the
    digits have to be left. (The number itself is right wherever A⁻¹ is finite.)
    """
    numbers, sizes = ignore_derivatives(a), np.abs(ignore_derivatives(det))
    limits = np.finfo(sizes.dtype)
    is_nan = np.isnan(sizes)
    is_regular = ((limits.tiny / limits.eps < sizes) & (sizes < limits.max)) | is_nan
    if not np.all(is_regular):
        a, factors = np.where(as_matrices(is_regular), a, np.eye(a.shape[-1], dtype=a.dtype)), None
    inverse = np.linalg.inv(a) if factors is None else factors.inverse()
    with np.errstate(over="ignore", invalid="ignore"):
        condition = norm_of_largest_column(numbers) * norm_of_largest_column(ignore_derivatives(inverse))
    return inverse, is_nan | (is_regular & (condition <= limits.eps**-0.5))


def norm_of_largest_column(a):
    return np.max(np.sum(np.abs(a), axis=-2), axis=-1, initial=0)


class Borders:
    """What makes matrices A regular: B = D A E + U₂ V₂ᴴ, where U₂ and V₂ belong to small singular values of D A E.

    All but A are constants. D and E are diagonal, of powers of 2 that bring the elements near 1, and |det B| with them.
    A singular value is small if it is so beside the largest one, but need not be zero.
    """

    def __init__(self, a):
        n = a.shape[-1]
        rows = binary_exponents(np.max(np.abs(a), axis=-1))[:, :, None]
        columns = binary_exponents(np.max(np.abs(times_power_of_two(a, -rows)), axis=-2))[:, None, :]
        u, s, vh = np.linalg.svd(times_power_of_two(a, -rows - columns))
        self.u, self.v = u, adjoint(vh)
        eps = np.finfo(s.dtype).eps
        is_small = s <= eps ** (1 / 3) * s[:, :1]
        self.lacking = np.count_nonzero(is_small, axis=-1)
        logs = np.sum(np.log2(np.where(is_small, 1, s)), -1) / np.maximum(n - self.lacking, 1)
        self.exponents = -rows - columns - np.round(logs).astype(int)[:, None, None]
        # Whether nothing but the rounding errors of the decomposition is left of the small ones.
        largest_small = np.max(np.where(is_small, s, 0), axis=-1)
        self.is_noise = largest_small <= 4 * n * eps * s[:, 0]
        # adj(A) = E adj(D A E) D / (det D det E).
        rows, columns = (np.swapaxes(each, -1, -2) for each in (rows, columns))
        total = np.sum(rows, axis=(-2, -1), keepdims=True) + np.sum(columns, axis=(-2, -1), keepdims=True)
        self.exponents_of_adjugate = total - rows - columns + (n - 1) * np.round(logs).astype(int)[:, None, None]

    def adjugate(self, a, place):
        """adj(A) of the matrices in these places: det(D A E) = det(B) det(W), W = I - V₂ᴴ B⁻¹ U₂, a row each small σ.

        Hence adj(D A E) = det(B) (det(W) B⁻¹ + B⁻¹ U₂ adj(W) V₂ᴴ B⁻¹), by the derivative of both sides.
        """
        n, k = a.shape[-1], self.lacking[place[0]]
        u, v = self.u[place][..., n - k :], self.v[place][..., n - k :]
        regular = times_power_of_two(a, self.exponents[place]) + u @ adjoint(v)
        inverse, det = np.linalg.inv(regular), np.linalg.det(regular)
        result = inverse
        if k:
            right = adjoint(v) @ inverse
            w = np.eye(k, dtype=u.dtype) - right @ u
            det_w = np.linalg.det(w)
            by_minors = k > 3 and np.all(self.is_noise[place])
            adj_w = adjugate_by_minors(w) if by_minors else adjugate(w, det_w)
            result = as_matrices(det_w) * inverse + inverse @ u @ adj_w @ right
        return times_power_of_two(as_matrices(det) * result, self.exponents_of_adjugate[place])


def binary_exponents(sizes):
    return np.frexp(sizes)[1]


def times_power_of_two(x, exponents):
    """x 2^exponents, in two steps, since the power may exceed the range of numbers where the product does not."""
    precision = ignore_derivatives(x).real.dtype
    limit, one = np.finfo(precision).maxexp - 2, precision.type(1)
    half = np.clip(exponents // 2, -limit, limit)
    return x * np.ldexp(one, half) * np.ldexp(one, np.clip(exponents - half, -limit, limit))


def adjugate_by_minors(a):
    """The determinants of A without a row and a column, of matrices that are zero but for rounding errors."""
    n = a.shape[-1]
    if n > MOST_MINORS:
        return np.zeros_like(a)
    others = np.array([[j for j in range(n) if j != i] for i in range(n)])
    minors = a[..., others[:, None, :, None], others[None, :, None, :]]
    signs = (-1.0) ** np.add.outer(np.arange(n), np.arange(n))
    return np.swapaxes(np.linalg.det(minors) * signs.astype(a.real.dtype), -1, -2)
