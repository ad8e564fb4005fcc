"""Rules of the matrix exponential, of its derivative ``expm_frechet``, and of what SciPy makes of it: ``cosm`` ...

The derivative of f(A) in a direction E is L(A, E), linear in E. For the functions here, whose Taylor series have real
coefficients, the transpose of E ↦ L(A, E) is Ȳ ↦ L(Aᴴ, Ȳ) (Higham 2008, §3.2). So both rules of a function are made of
its L, which is made of that of the exponential.
"""

import math

import numpy as np

import scipy.linalg
from rulescore import (
    AbstractZero,
    ZeroTangent,
    apply_linear,
    frule,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
    unbroadcast,
)
from rulescore.typing import Array, Choice, Flag, OutputAndPullback, OutputAndTangent

from ...numpy.array_like import as_array, as_array_tangent
from ...numpy.products import adjoint
from ..finite_entries import finite_entries, nan_where_not_finite, of_finite
from ..working_precision import in_working_precision


def register_matrix_function(f, frechet):
    """Both rules of ``f(A)``, by ``frechet(A, E)``."""

    @frule.register(f)
    @pushforward
    def matrix_function_frule(dA: Array, A: Array) -> OutputAndTangent:
        y, da = seen_by_tracers(f, A), as_matrix(as_array_tangent(dA, A))
        return y, frechet(as_matrix(A), da) if math.prod(np.shape(y)) else np.zeros_like(y)

    @rrule.register(f)
    def matrix_function_rrule(A: Array) -> OutputAndPullback:
        y = seen_by_tracers(f, A)

        @pullback_wrt(A)
        def matrix_function_pullback(ybar):
            if not math.prod(np.shape(y)):
                return ybar
            return np.reshape(frechet(adjoint(as_matrix(A)), ybar), np.shape(as_array(A)))

        return y, matrix_function_pullback


def as_matrix(a):
    """A number as a matrix, which is what ``expm`` takes it for."""
    a = in_working_precision(a)
    return a if np.ndim(a) > 1 else np.reshape(a, (1, 1))


# ---------------------------------------------------------------- the exponential and its derivative


def exponential_and_frechet(a, e):
    """exp(A) and L(A, E)."""
    y, dy = seen_by_tracers(scipy.linalg.expm_frechet, a, finite_entries(e), check_finite=False)
    return y, nan_where_not_finite(dy, e, (-2, -1))


def frechet_of_exp(a, e):
    """L(A, E), for each pair of two stacks: ``expm`` takes these, and ``expm_frechet`` only since SciPy 1.16."""
    if np.ndim(a) > 2 and np.shape(a)[0]:
        return np.stack([frechet_of_exp(a[i], e[i]) for i in range(np.shape(a)[0])])
    y = seen_by_tracers(scipy.linalg.expm_frechet, a, finite_entries(e), compute_expm=False, check_finite=False)
    return nan_where_not_finite(y, e, (-2, -1))


register_matrix_function(scipy.linalg.expm, frechet_of_exp)


def block(a, e):
    """[[A, E], [0, A]], of which a function is [[f(A), L(A, E)], [0, f(A)]] (Mathias 1996)."""
    below = np.zeros_like(a)
    return np.concatenate([np.concatenate([a, e], axis=-1), np.concatenate([below, a], axis=-1)], axis=-2)


def tangent_of_block(da, de, a):
    """The tangent of a block matrix; either of its parts may be a zero."""
    return block(*(np.broadcast_to(dx + np.zeros((), a.dtype), np.shape(a)) for dx in (da, de)))


def parts_of_block(m):
    """The diagonal blocks' sum and the upper right one: the transpose of `block`."""
    n = m.shape[-1] // 2
    return m[..., :n, :n] + m[..., n:, n:], m[..., :n, n:]


def broadcast_pair(a, e):
    """Both matrices, or stacks of matrices, of one shape and type."""
    a, e = as_array(a), as_array(e)
    shape, dtype = np.broadcast_shapes(np.shape(a), np.shape(e)), np.result_type(a.dtype, e.dtype, np.float32)
    a, e = (x if np.shape(x) == shape else np.broadcast_to(x, shape) for x in (a, e))
    return a.astype(dtype), e.astype(dtype)


@frule.register(scipy.linalg.expm_frechet)
@pushforward
def expm_frechet_frule(
    dA: Array,
    dE: Array,
    A: Array,
    E: Array,
    method: Choice = None,
    compute_expm: Flag = True,
    check_finite: Flag = True,
) -> OutputAndTangent:
    """The derivative of a block matrix's exponential; in E, L is linear."""
    da, de = as_array_tangent(dA, A), as_array_tangent(dE, E)
    y = seen_by_tracers(scipy.linalg.expm_frechet, A, E, method, compute_expm, check_finite)
    if isinstance(da, AbstractZero):  # without a block matrix, of twice the size
        dl = of_finite(
            lambda de: seen_by_tracers(
                scipy.linalg.expm_frechet, A, de, method, compute_expm=False, check_finite=check_finite
            ),
            de,
            (-2, -1),
        )
        return y, (da, dl) if compute_expm else dl
    a, e = broadcast_pair(A, E)
    m = frechet_of_exp(block(a, e), tangent_of_block(da, de, a))
    n = a.shape[-1]
    return y, (m[..., :n, :n], m[..., :n, n:]) if compute_expm else m[..., :n, n:]


@rrule.register(scipy.linalg.expm_frechet)
def expm_frechet_rrule(
    A: Array, E: Array, method: Choice = None, compute_expm: Flag = True, check_finite: Flag = True
) -> OutputAndPullback:
    """Ē = L(Aᴴ, L̄), and Ā by the derivative of a block matrix's exponential."""
    y = seen_by_tracers(scipy.linalg.expm_frechet, A, E, method, compute_expm, check_finite)
    shape_a, shape_e = np.shape(as_array(A)), np.shape(as_array(E))

    @pullback_wrt(A, E)
    def expm_frechet_pullback(ybar):
        exp_bar, lbar = ybar if compute_expm else (ZeroTangent(), ybar)
        a, e = broadcast_pair(A, E)

        def a_bar():
            if isinstance(lbar, AbstractZero):  # without a block matrix, of twice the size
                return unbroadcast(frechet_of_exp(adjoint(a), exp_bar), shape_a)
            none = np.zeros_like(lbar)
            rows = [np.concatenate([exp_bar + none, lbar], axis=-1), np.concatenate([none, none], axis=-1)]
            m = frechet_of_exp(adjoint(block(a, e)), np.concatenate(rows, axis=-2))
            return unbroadcast(parts_of_block(m)[0], shape_a)

        def e_bar(lbar):
            return unbroadcast(frechet_of_exp(adjoint(a), lbar), shape_e)

        return a_bar, lambda: apply_linear(e_bar, lbar)

    return y, expm_frechet_pullback


# ---------------------------------------------------------------- trigonometric and hyperbolic functions


def are_real(*arrays):
    return not any(map(np.iscomplexobj, arrays))


def exponentials(a, e):
    """exp(A) and exp(-A), and their derivatives."""
    return *exponential_and_frechet(a, e), *exponential_and_frechet(-a, -e)


def cos_and_sin(a, e):
    """cos(A) and sin(A), and their derivatives, by exp(±iA); of a real matrix by one of them."""
    if are_real(a, e):
        y, dy = exponential_and_frechet(1j * a, 1j * e)
        return y.real, dy.real, y.imag, dy.imag
    plus, dplus, minus, dminus = exponentials(1j * a, 1j * e)
    return 0.5 * (plus + minus), 0.5 * (dplus + dminus), -0.5j * (plus - minus), -0.5j * (dplus - dminus)


def cosh_and_sinh(a, e):
    plus, dplus, minus, dminus = exponentials(a, e)
    return 0.5 * (plus + minus), 0.5 * (dplus + dminus), 0.5 * (plus - minus), 0.5 * (dplus - dminus)


def frechet_of_cos(a, e):
    return cos_and_sin(a, e)[1]


def frechet_of_sin(a, e):
    return cos_and_sin(a, e)[3]


def frechet_of_cosh(a, e):
    return 0.5 * (frechet_of_exp(a, e) + frechet_of_exp(-a, -e))


def frechet_of_sinh(a, e):
    return 0.5 * (frechet_of_exp(a, e) - frechet_of_exp(-a, -e))


def frechet_of_quotient(c, dc, s, ds):
    """Of T = C⁻¹ S."""
    return np.linalg.solve(c, ds - dc @ np.linalg.solve(c, s))


def frechet_of_tan(a, e):
    return frechet_of_quotient(*cos_and_sin(a, e))


def frechet_of_tanh(a, e):
    return frechet_of_quotient(*cosh_and_sinh(a, e))


register_matrix_function(scipy.linalg.cosm, frechet_of_cos)
register_matrix_function(scipy.linalg.sinm, frechet_of_sin)
register_matrix_function(scipy.linalg.tanm, frechet_of_tan)
register_matrix_function(scipy.linalg.coshm, frechet_of_cosh)
register_matrix_function(scipy.linalg.sinhm, frechet_of_sinh)
register_matrix_function(scipy.linalg.tanhm, frechet_of_tanh)
