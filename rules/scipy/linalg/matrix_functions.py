"""Rules of ``sqrtm``, ``logm``, ``fractional_matrix_power`` and ``signm``, and `logm_frechet`, the derivative of one.

The transpose of E ↦ L(A, E) is Ȳ ↦ L(A, Ȳᴴ)ᴴ. That is L(Aᴴ, Ȳ) but for negative eigenvalues, where the logarithms of A
and Aᴴ lie on both sides of the cut.
"""

from typing import Any

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy.linalg
from rulescore import (
    AbstractZero,
    MissingDerivativeError,
    NoTangent,
    ZeroTangent,
    apply_linear,
    frule,
    ignore_derivatives,
    is_traced,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
    unbroadcast,
    unthunk,
)
from rulescore.typing import Array, OutputAndPullback, OutputAndTangent
from scipy.linalg import get_lapack_funcs

from ...numpy.array_like import as_array, as_array_tangent, conj, shape_of
from ...numpy.products import adjoint
from .matrix_exponential import (
    block,
    broadcast_pair,
    frechet_of_exp,
    parts_of_block,
    tangent_of_block,
)

SINGULAR = (
    "the {} of a singular matrix, whose derivative is infinite, as that of the root or logarithm of 0. Use a matrix "
    "whose eigenvalues are not 0, for instance by adding a small multiple of np.eye(n)"
)

# ---------------------------------------------------------------- sqrtm: X Ẋ + Ẋ X = Ȧ


def decline_number(a):
    """SciPy takes a number in the place of a matrix for something else than a matrix of one element."""
    if len(shape_of(a)) < 2:
        raise MDNotImplementedError


def refuse_singular(a, name):
    numbers = ignore_derivatives(a)
    with np.errstate(all="ignore"):
        condition = np.linalg.cond(numbers, 1) if numbers.size else np.zeros(1)
    if not np.all(condition < 1 / np.finfo(numbers.dtype).eps):
        raise MissingDerivativeError(SINGULAR.format(name))


def sylvester(a, b, q):
    return seen_by_tracers(scipy.linalg.solve_sylvester, a, b, q)


@frule.register(scipy.linalg.sqrtm)
@pushforward
def sqrtm_frule(dA: Array, A: Array) -> OutputAndTangent:
    decline_number(A)
    x = seen_by_tracers(scipy.linalg.sqrtm, A)
    if 0 in np.shape(x):
        return x, ZeroTangent()
    refuse_singular(x, "square root")
    return x, sylvester(x, x, as_array_tangent(dA, A))


@rrule.register(scipy.linalg.sqrtm)
def sqrtm_rrule(A: Array) -> OutputAndPullback:
    """X X = A, hence X Ẋ + Ẋ X = Ȧ, and Ā solves Xᴴ Ā + Ā Xᴴ = X̄ (Higham 2008, §6.1)."""
    decline_number(A)
    x = seen_by_tracers(scipy.linalg.sqrtm, A)

    @pullback_wrt(A)
    def sqrtm_pullback(xbar):
        if 0 in np.shape(x):
            return ZeroTangent()
        refuse_singular(x, "square root")
        x_h = adjoint(x)
        return sylvester(x_h, x_h, xbar)

    return x, sqrtm_pullback


# ---------------------------------------------------------------- the derivative of the logarithm

NEAR_ONE = 0.264
"""So near to 1 that the approximant of 7 terms is exact in double precision (Al-Mohy, Higham and Relton 2013)."""

MOST_ROOTS = 100


def logm_frechet(a: Any, e: Any) -> Any:
    """The derivative of the principal logarithm of a matrix in a direction.

    Parameters
    ----------
    a : ndarray, shape (..., n, n)
        Matrices without the eigenvalue 0.
    e : ndarray, shape (..., n, n)
        Directions; both are broadcast against each other.

    Returns
    -------
    l : ndarray, shape (..., n, n)

    Notes
    -----
    In the Schur form of A, square roots are taken until they are near 1, by which the direction goes through as many
    Sylvester equations. There log(1 + X) = Σ wⱼ X (1 + tⱼ X)⁻¹ with the nodes and weights of Gauss on [0, 1], whose
    derivative is Σ wⱼ (1 + tⱼ X)⁻¹ E (1 + tⱼ X)⁻¹ (Al-Mohy, Higham and Relton 2013).

    A function of its own, with rules of its own, so that the pullback of `scipy.linalg.logm` can be differentiated.

    Examples
    --------
    >>> import numpy as np
    >>> logm_frechet(np.diag([1.0, 2.0]), np.eye(2))
    array([[1. , 0. ],
           [0. , 0.5]])
    """
    if np.iscomplexobj(e) and not np.iscomplexobj(a):
        # A real matrix has to stay one: it may have negative eigenvalues, a complex one moves off the cut with them.
        return logm_frechet(a, np.real(e)) + 1j * logm_frechet(a, np.imag(e))
    if is_traced(a, e):
        return seen_by_tracers(logm_frechet, a, e)
    a, e = broadcast_pair(a, e)
    result = [log_direction(matrix, direction) for matrix, direction in zip(stacked(a), stacked(e), strict=True)]
    return np.reshape(np.array(result), a.shape)


def stacked(a):
    return np.reshape(a, (-1, *a.shape[-2:]))


ON_THE_CUT = (
    "the logarithm or a fractional power of a complex matrix with an eigenvalue on the negative real axis, where they "
    "jump. Use a real matrix, or one without such eigenvalues"
)


def refuse_cut(values):
    rounding = len(values) * np.finfo(values.dtype).eps * np.max(np.abs(values), initial=0)
    if np.any((values.real < 0) & (np.abs(values.imag) <= rounding)):
        raise MissingDerivativeError(ON_THE_CUT)


def log_direction(a, e):
    """`logm_frechet` of one matrix."""
    if not (np.all(np.isfinite(e)) and np.all(np.isfinite(a))):  # a block matrix has a direction within it
        return np.full(e.shape, np.nan, e.dtype)
    t, z = scipy.linalg.schur(a, output="real")
    if np.iscomplexobj(a):
        refuse_cut(np.diagonal(t))
    if not np.iscomplexobj(t) and (np.any(np.diagonal(t, -1)) or np.any(np.diagonal(t) < 0)):
        t, z = scipy.linalg.rsf2csf(t, z)
    sizes = np.abs(np.diagonal(t))
    if np.any(sizes <= np.finfo(t.dtype).eps * np.max(sizes, initial=0)):
        raise MissingDerivativeError(SINGULAR.format("logarithm"))
    e = z.conj().T @ e @ z
    (trsyl,) = get_lapack_funcs(("trsyl",), (t, e))
    one, t, roots = np.eye(len(t)), np.triu(t), 0
    while np.max(np.sum(np.abs(t - one), axis=0), initial=0) > NEAR_ONE and roots < MOST_ROOTS:
        t = np.triu(scipy.linalg.sqrtm(t))
        solution, scale, _ = trsyl(t, t, e)
        e, roots = solution * scale, roots + 1
    nodes, weights = np.polynomial.legendre.leggauss(7)
    total = 0
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        denominator = one + node * (t - one)
        left = scipy.linalg.solve_triangular(denominator, e)
        total = total + weight * scipy.linalg.solve_triangular(denominator, left.T, trans=1).T
    return 2.0**roots * (z @ total @ z.conj().T)


@frule.register(logm_frechet)
@pushforward
def logm_frechet_frule(da: Array, de: Array, a: Array, e: Array) -> OutputAndTangent:
    """By the derivative of a block matrix's logarithm; in E it is linear."""
    y = logm_frechet(a, e)
    if isinstance(da, AbstractZero):  # without a block matrix, of twice the size
        return y, logm_frechet(a, de)
    a, e = broadcast_pair(a, e)
    n = a.shape[-1]
    return y, logm_frechet(block(a, e), tangent_of_block(da, de, a))[..., :n, n:]


@rrule.register(logm_frechet)
def logm_frechet_rrule(a: Array, e: Array) -> OutputAndPullback:
    shape_a, shape_e = np.shape(a), np.shape(e)

    @pullback_wrt(a, e)
    def logm_frechet_pullback(ybar):
        full_a, full_e = broadcast_pair(a, e)

        def a_bar():
            ybar_h = adjoint(ybar)
            none = np.zeros_like(ybar_h)
            rows = [np.concatenate([none, none], axis=-1), np.concatenate([ybar_h, none], axis=-1)]
            m = logm_frechet(block(full_a, full_e), np.concatenate(rows, axis=-2))
            return unbroadcast(parts_of_block(adjoint(m))[0], shape_a)

        return a_bar, lambda: unbroadcast(adjoint(logm_frechet(full_a, adjoint(ybar))), shape_e)

    return logm_frechet(a, e), logm_frechet_pullback


# ---------------------------------------------------------------- logm


@frule.register(scipy.linalg.logm)
@pushforward
def logm_frule(dA: Array, A: Array) -> OutputAndTangent:
    decline_number(A)
    return seen_by_tracers(scipy.linalg.logm, A), logm_frechet(as_array(A), as_array_tangent(dA, A))


@rrule.register(scipy.linalg.logm)
def logm_rrule(A: Array) -> OutputAndPullback:
    """See `logm_frechet`."""
    decline_number(A)

    @pullback_wrt(A)
    def logm_pullback(ybar):
        return adjoint(logm_frechet(as_array(A), adjoint(ybar)))

    return seen_by_tracers(scipy.linalg.logm, A), logm_pullback


# ---------------------------------------------------------------- fractional_matrix_power


def is_whole(t):
    return float(ignore_derivatives(t)).is_integer()


class PowerOfMatrix:
    """Aᵗ = exp(t log A): L(A, E) = L_exp(t log A, t L_log(A, E)), and dAᵗ/dt = log(A) Aᵗ; of a whole t by products."""

    def __init__(self, a, t):
        self.a, self.t = as_array(a), t

    def log(self):
        return seen_by_tracers(scipy.linalg.logm, self.a)

    def tangent(self, da):
        if is_whole(self.t):
            return frule(
                (NoTangent(), da, NoTangent()), np.linalg.matrix_power, self.a, int(ignore_derivatives(self.t))
            )[1]
        return frechet_of_exp(self.t * self.log(), self.t * logm_frechet(self.a, da))

    def matrix_cotangent(self, ybar):
        if is_whole(self.t):
            return unthunk(rrule(np.linalg.matrix_power, self.a, int(ignore_derivatives(self.t)))[1](ybar)[1])
        of_log = frechet_of_exp(adjoint(self.t * self.log()), ybar)
        return adjoint(logm_frechet(self.a, self.t * adjoint(of_log)))


@frule.register(scipy.linalg.fractional_matrix_power)
@pushforward
def fractional_matrix_power_frule(dA: Array, dt: Array, A: Array, t: Array) -> OutputAndTangent:
    decline_number(A)
    y, power = seen_by_tracers(scipy.linalg.fractional_matrix_power, A, t), PowerOfMatrix(A, t)
    dy = apply_linear(power.tangent, as_array_tangent(dA, A))
    return y, dy + apply_linear(lambda dt: power.log() @ y * dt, dt)


@rrule.register(scipy.linalg.fractional_matrix_power)
def fractional_matrix_power_rrule(A: Array, t: Array) -> OutputAndPullback:
    """See `PowerOfMatrix`."""
    decline_number(A)
    y, power = seen_by_tracers(scipy.linalg.fractional_matrix_power, A, t), PowerOfMatrix(A, t)
    return y, pullback_wrt(A, t)(power.matrix_cotangent, lambda ybar: np.sum(np.real(conj(power.log() @ y) * ybar)))


# ---------------------------------------------------------------- signm


def sign_direction(s, n, e):
    """L of N L + L N = E - S E S, with S = sign(A) and N = S A (Higham 2008, theorem 5.3)."""
    return sylvester(n, n, e - s @ e @ s)


@frule.register(scipy.linalg.signm)
@pushforward
def signm_frule(dA: Array, A: Array) -> OutputAndTangent:
    decline_number(A)
    s = seen_by_tracers(scipy.linalg.signm, A)
    refuse_singular(as_array(A), "sign")
    return s, sign_direction(s, s @ as_array(A), as_array_tangent(dA, A))


@rrule.register(scipy.linalg.signm)
def signm_rrule(A: Array) -> OutputAndPullback:
    """See `sign_direction`: Ā = G - Sᴴ G Sᴴ with Nᴴ G + G Nᴴ = S̄."""
    decline_number(A)
    s = seen_by_tracers(scipy.linalg.signm, A)

    @pullback_wrt(A)
    def signm_pullback(sbar):
        refuse_singular(as_array(A), "sign")
        s_h, n_h = adjoint(s), adjoint(s @ as_array(A))
        g = sylvester(n_h, n_h, sbar)
        return g - s_h @ g @ s_h

    return s, signm_pullback
