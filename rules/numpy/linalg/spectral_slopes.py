"""The slopes of those norms of matrices that are made of singular values, as a function with rules of its own.

The derivative of singular vectors does not exist where any two singular values are equal; the second derivative of such
a norm does, unless just those that it is made of equal others. So the slopes are not differentiated by way of vectors.
"""

import numpy as np
from rulescore import frule, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, Choice, OutputAndPullback, OutputAndTangent

from ..products import adjoint


def spectral_slopes(a, orders):
    """U diag(γ) Vᴴ for each order of a norm, with γ = ∂y/∂σ, for matrices A = U diag(σ) Vᴴ.

    Parameters
    ----------
    a : array, shape (..., m, n)
    orders : tuple
        Of 2 (the largest singular value), -2 (the smallest) and "nuc" (their sum).

    Returns
    -------
    array, shape (number of orders, ..., m, n)
        Where singular values tie each has its share, and one that is zero has γ = 0.

    Examples
    --------
    >>> import numpy as np
    >>> spectral_slopes(np.diag([3.0, 0.0]), ("nuc",))
    array([[[1., 0.],
            [0., 0.]]])
    """
    kind = type(a)
    if hasattr(kind, "__rule_type__"):  # a tracer, whose AD system has to see the call
        return a.__array_function__(spectral_slopes, (kind,), (a, orders), {})
    return SpectralSlopes(a, orders).slopes()


class SpectralSlopes:
    """The slopes and their derivatives, from one singular value decomposition."""

    def __init__(self, a, orders):
        self.u, self.s, vh = np.linalg.svd(a, full_matrices=False)
        self.v = adjoint(vh)
        self.gammas = [gamma(self.s, order, 4 * max(a.shape[-2:])) for order in orders]

    def slopes(self):
        return np.stack([(self.u * g[..., None, :]) @ adjoint(self.v) for g in self.gammas])

    def tangent(self, da):
        """The tangents of all slopes."""
        return np.stack([self._moved(g, da) for g in self.gammas])

    def cotangent(self, slopes_bar):
        """The transpose; of second derivatives, which are symmetric."""
        return sum(self._moved(g, bar) for g, bar in zip(self.gammas, slopes_bar, strict=True))

    def _moved(self, g, da):
        """Second derivatives along dA: with K = Uᴴ dA V, H and S its Hermitian and its other part, U M Vᴴ with

            Mᵢⱼ = (γᵢ - γⱼ)/(σᵢ - σⱼ) Hᵢⱼ + (γᵢ + γⱼ)/(σᵢ + σⱼ) Sᵢⱼ,

        and outside of the columns of U and V, where σ and γ are 0, dA V diag(γ/σ) Vᴴ and U diag(γ/σ) Uᴴ dA.
        """
        u, v, s = self.u, self.v, self.s
        columns, rows = da @ v, adjoint(u) @ da
        k = rows @ v
        k_h = adjoint(k)
        g_i, g_j, s_i, s_j = g[..., :, None], g[..., None, :], s[..., :, None], s[..., None, :]
        by_difference, by_sum = quotient(g_i - g_j, s_i - s_j), quotient(g_i + g_j, s_i + s_j)
        m = by_difference * (0.5 * (k + k_h)) + by_sum * (0.5 * (k - k_h))
        ratio = quotient(g, s)
        moved = u @ m @ adjoint(v)
        if u.shape[-2] > u.shape[-1]:
            moved = moved + ((columns - u @ k) * ratio[..., None, :]) @ adjoint(v)
        if v.shape[-2] > v.shape[-1]:
            moved = moved + (u * ratio[..., None, :]) @ (rows - k @ adjoint(v))
        return moved


def gamma(s, order, roundings):
    """γ of a norm's order, for singular values that are known up to some roundings of the largest one."""
    if s.shape[-1] == 0:
        return s
    tolerance = roundings * np.finfo(s.dtype).eps * s[..., :1]
    is_positive = s > tolerance
    if order == "nuc":
        return is_positive.astype(s.dtype)
    extremum = s[..., :1] if order == 2 else s[..., -1:]
    attained = np.abs(s - extremum) <= tolerance
    return (attained & is_positive) / np.sum(attained, axis=-1, keepdims=True).astype(s.dtype)


def quotient(x, y):
    """x / y, and 0 where x is 0."""
    return np.where(x == 0, 0, x / np.where(x == 0, 1, y))


@frule.register(spectral_slopes)
@pushforward
def spectral_slopes_frule(da: Array, a: Array, orders: Choice) -> OutputAndTangent:
    decomposition = SpectralSlopes(a, orders)
    return decomposition.slopes(), decomposition.tangent(da)


@rrule.register(spectral_slopes)
def spectral_slopes_rrule(a: Array, orders: Choice) -> OutputAndPullback:
    decomposition = SpectralSlopes(a, orders)
    return decomposition.slopes(), pullback_wrt(a)(decomposition.cotangent)
