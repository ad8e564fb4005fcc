"""Rules of the products of vectors and matrices: matmul, dot, inner, vdot, vecdot, matvec, vecmat.

All are bilinear: ẏ = ȧ·b + a·ḃ in forward mode, and in reverse mode the product of ȳ with the adjoint of the other
factor, summed over what was broadcast.
"""

import functools
import math
import operator

import numpy as np
from rulescore import (
    AbstractZero,
    NoTangent,
    StaticForm,
    frule,
    project_to,
    pullback_wrt,
    pushforward,
    rrule,
    unbroadcast,
    unthunk,
)
from rulescore.typing import Array, Axis, Flag, Needs, OutputAndPullback, OutputAndTangent

from .array_like import as_array, as_array_tangent, conj


def adjoint(x):
    """xᴴ: the conjugate transpose of the matrices in the last two axes."""
    # np.conjugate would copy a real array, its method does not.
    transposed = x.T if x.ndim == 2 else np.swapaxes(x, -1, -2)
    return transposed.conj() if type(x) is np.ndarray else conj(transposed)


def bilinear_and_tangent(f, da, db, a, b):
    """ẏ = f(ȧ, b) + f(a, ḃ)."""
    da, db = as_array_tangent(da, a), as_array_tangent(db, b)
    a, b = as_array(a), as_array(b)
    y = f(a, b)
    if isinstance(da, AbstractZero) or isinstance(db, AbstractZero):  # one factor alone moves, mostly
        return y, f(a, db) if isinstance(da, AbstractZero) else f(da, b)
    return y, f(da, b) + f(a, db)


def bilinear_and_pullback(f, a_bar, b_bar, a, b, needs):
    """A bilinear ``f`` and its pullback, with ā = a_bar(ȳ, b, shape of a) and b̄ = b_bar(ȳ, a, shape of b).

    Each factor is kept only if the other one's cotangent may be asked for.
    """
    x, z = (a, b) if type(a) is type(b) is np.ndarray else (as_array(a), as_array(b))
    shape_a, shape_b = getattr(x, "shape", ()), getattr(z, "shape", ())  # np.shape takes three times as long
    pullback = pullback_wrt(a, b, needs=needs)(
        lambda ybar: a_bar(ybar, z, shape_a), lambda ybar: b_bar(ybar, x, shape_b)
    )
    return f(x, z), pullback


# ---------------------------------------------------------------- dot and matmul


def dot_a_bar(ybar, b, shape):
    """Ā = Ȳ Bᴴ, where all axes but the one that the product sums over are flattened into one."""
    if len(shape) == 2 and getattr(b, "ndim", 0) == 2:
        return ybar @ adjoint(b)
    if not shape or not np.ndim(b):
        return unbroadcast(ybar * conj(b), shape)
    if b.ndim == 1:
        return (ybar if len(shape) == 1 else ybar[..., None]) * conj(b)
    if b.ndim > 2:
        b = np.reshape(np.moveaxis(b, -2, 0), (shape[-1], math.prod(b.shape[:-2]) * b.shape[-1]))
    return np.reshape(np.reshape(ybar, (math.prod(shape[:-1]), b.shape[1])) @ adjoint(b), shape)


def dot_b_bar(ybar, a, shape):
    """B̄ = Aᴴ Ȳ, flattened likewise."""
    if shape and len(shape) <= 2 and getattr(a, "ndim", 0) == 2:
        return adjoint(a) @ ybar
    if not shape or not np.ndim(a):
        return unbroadcast(ybar * conj(a), shape)
    if a.ndim == 1:
        return conj(a) * ybar if len(shape) == 1 else conj(a)[:, None] * ybar[..., None, :]
    rows, length = math.prod(a.shape[:-1]), a.shape[-1]
    columns = shape[:-2] + shape[-1:] if len(shape) > 1 else ()
    bbar = adjoint(np.reshape(a, (rows, length))) @ np.reshape(ybar, (rows, math.prod(columns)))
    return np.moveaxis(np.reshape(bbar, (length, *columns)), 0, -2) if len(shape) > 2 else np.reshape(bbar, shape)


def matmul_a_bar(ybar, b, shape):
    """Ā = Ȳ Bᴴ, summed over the matrices of a stack that share one ``a``."""
    if b.ndim > 2:
        if len(shape) > 2:
            return unbroadcast(ybar @ adjoint(b), shape)
        if len(shape) == 2:  # the stack's axes stand before the rows, those of dot's output behind them
            ybar = np.moveaxis(ybar, -2, 0)
    return dot_a_bar(ybar, b, shape)


def matmul_b_bar(ybar, a, shape):
    """B̄ = Aᴴ Ȳ, summed over the matrices of a stack that share one ``b``."""
    if len(shape) <= 2 or a.ndim == 1:
        return dot_b_bar(ybar, a, shape)
    return unbroadcast(adjoint(a) @ ybar, shape)


@frule.register(np.dot)
@pushforward
def dot_frule(da: Array, db: Array, a: Array, b: Array) -> OutputAndTangent:
    return bilinear_and_tangent(np.dot, da, db, a, b)


@rrule.register(np.dot)
def dot_rrule(a: Array, b: Array, *, needs: Needs = None) -> OutputAndPullback:
    return bilinear_and_pullback(np.dot, dot_a_bar, dot_b_bar, a, b, needs)


@frule.register(np.matmul)
@pushforward
def matmul_frule(dx1: Array, dx2: Array, x1: Array, x2: Array, /) -> OutputAndTangent:
    return bilinear_and_tangent(np.matmul, dx1, dx2, x1, x2)


def matmul_rrule(x1: Array, x2: Array, /, *, needs: Needs = None) -> OutputAndPullback:
    if needs is not None and are_real_matrices(x1, x2):
        return real_matrices_and_pullback(x1, x2, needs)
    return bilinear_and_pullback(np.matmul, matmul_a_bar, matmul_b_bar, x1, x2, needs)


def are_real_matrices(a, b):
    return type(a) is type(b) is np.ndarray and a.ndim == b.ndim == 2 and a.dtype is b.dtype and a.dtype.char in "fd"


def real_matrices_and_pullback(a, b, needs):
    """Ā = Ȳ Bᵀ and B̄ = Aᵀ Ȳ of the most frequent products, by a plain closure: a tenth of a small recurrent network."""
    needs_a, needs_b = needs
    kept_a, kept_b = a if needs_b else None, b if needs_a else None

    def matrix_product_pullback(ybar):
        if type(ybar) is not np.ndarray:
            ybar = unthunk(ybar)
            if isinstance(ybar, AbstractZero):
                return NoTangent(), ybar, ybar
        return (
            NoTangent(),
            NoTangent() if kept_b is None else ybar @ kept_b.T,
            NoTangent() if kept_a is None else kept_a.T @ ybar,
        )

    return a @ b, matrix_product_pullback


def matmul_first_vjp(ybar, y, x1, x2):
    """Ā; one of the two, and either's values, may be blueprints."""
    if type(ybar) is type(x2) is np.ndarray and x2.ndim == 2 == len(x1.shape) and are_real_of_one_type(ybar, x1, x2):
        return ybar @ x2.T
    return fitting(matmul_a_bar(ybar, x2, x1.shape), x1)


def matmul_second_vjp(ybar, y, x1, x2):
    """B̄ likewise."""
    if type(ybar) is type(x1) is np.ndarray and x1.ndim == 2 >= len(x2.shape) and are_real_of_one_type(ybar, x1, x2):
        return x1.T @ ybar
    return fitting(matmul_b_bar(ybar, x1, x2.shape), x2)


def are_real_of_one_type(ybar, x1, x2):
    return x1.dtype is x2.dtype is ybar.dtype and ybar.dtype.kind == "f"


def fitting(xbar, x):
    """A cotangent in the shape and dtype of ``x``, which may be a blueprint."""
    return xbar if xbar.dtype is x.dtype and xbar.shape == x.shape else project_to(x)(xbar)


rrule.add_rule(
    np.matmul,
    matmul_rrule,
    static=StaticForm(
        primal=np.matmul,
        vjps=(matmul_first_vjp, matmul_second_vjp),
        uses_output=(False, False),
        uses_arguments=((False, True), (True, False)),
    ),
)


# ---------------------------------------------------------------- inner and vdot


def inner_a_bar(ybar, b, shape):
    """Ā = Ȳ conj(B), as y is A Bᵀ when all axes but the last are flattened into one."""
    if not shape or not np.ndim(b):
        return unbroadcast(ybar * conj(b), shape)
    rows, length = math.prod(b.shape[:-1]), b.shape[-1]
    ybar = np.reshape(ybar, (math.prod(shape[:-1]), rows))
    return np.reshape(ybar @ conj(np.reshape(b, (rows, length))), shape)


def inner_b_bar(ybar, a, shape):
    """B̄ = Ȳᵀ conj(A)."""
    if not shape or not np.ndim(a):
        return unbroadcast(ybar * conj(a), shape)
    rows, length = math.prod(a.shape[:-1]), a.shape[-1]
    ybar = np.reshape(ybar, (rows, math.prod(shape[:-1])))
    return np.reshape(ybar.T @ conj(np.reshape(a, (rows, length))), shape)


@frule.register(np.inner)
@pushforward
def inner_frule(da: Array, db: Array, a: Array, b: Array, /) -> OutputAndTangent:
    return bilinear_and_tangent(np.inner, da, db, a, b)


@rrule.register(np.inner)
def inner_rrule(a: Array, b: Array, /, *, needs: Needs = None) -> OutputAndPullback:
    return bilinear_and_pullback(np.inner, inner_a_bar, inner_b_bar, a, b, needs)


@frule.register(np.vdot)
@pushforward
def vdot_frule(da: Array, db: Array, a: Array, b: Array, /) -> OutputAndTangent:
    return bilinear_and_tangent(np.vdot, da, db, a, b)


@rrule.register(np.vdot)
def vdot_rrule(a: Array, b: Array, /, *, needs: Needs = None) -> OutputAndPullback:
    """y = Σ conj(a) b, hence ā = conj(ȳ) b and b̄ = ȳ a; both are flattened first."""

    def a_bar(ybar, b, shape):
        return conj(ybar) * np.reshape(b, shape)

    def b_bar(ybar, a, shape):
        return ybar * np.reshape(a, shape)

    return bilinear_and_pullback(np.vdot, a_bar, b_bar, a, b, needs)


# ---------------------------------------------------------------- stacks of vectors


def vecdot_along(axis, keepdims):
    return functools.partial(np.vecdot, axis=axis, **({"keepdims": True} if keepdims else {}))


@frule.register(np.vecdot)
@pushforward
def vecdot_frule(
    dx1: Array, dx2: Array, x1: Array, x2: Array, /, *, axis: Axis = -1, keepdims: Flag = False
) -> OutputAndTangent:
    return bilinear_and_tangent(vecdot_along(axis, keepdims), dx1, dx2, x1, x2)


@rrule.register(np.vecdot)
def vecdot_rrule(
    x1: Array, x2: Array, /, *, axis: Axis = -1, keepdims: Flag = False, needs: Needs = None
) -> OutputAndPullback:
    """y = Σ conj(x₁) x₂ along an axis, hence x̄₁ = conj(ȳ) x₂ and x̄₂ = ȳ x₁."""

    def x1_bar(ybar, x2, shape):
        return along_axis(np.conjugate(ybar), x2, shape)

    def x2_bar(ybar, x1, shape):
        return along_axis(ybar, x1, shape)

    def along_axis(ybar, other, shape):
        # Each factor has its own axis of that number, and none is left of it in the output, or one of length 1.
        ybar = np.squeeze(ybar, axis) if keepdims else ybar
        place = axis % len(shape)
        moved_shape = (*shape[:place], *shape[place + 1 :], shape[place])
        xbar = np.expand_dims(ybar, -1) * np.moveaxis(other, axis, -1)
        return np.moveaxis(unbroadcast(xbar, moved_shape), -1, place)

    return bilinear_and_pullback(vecdot_along(axis, keepdims), x1_bar, x2_bar, x1, x2, needs)


def matvec_a_bar(ybar, x, shape):
    """Ā = ȳ xᴴ."""
    if len(shape) == 2:
        return inner_b_bar(ybar, x, shape)
    return unbroadcast(ybar[..., None] * conj(x)[..., None, :], shape)


def matvec_x_bar(ybar, a, shape):
    """x̄ = Aᴴ ȳ."""
    return unbroadcast(np.matvec(adjoint(a), ybar), shape)


@frule.register(np.matvec)
@pushforward
def matvec_frule(dx1: Array, dx2: Array, x1: Array, x2: Array, /) -> OutputAndTangent:
    return bilinear_and_tangent(np.matvec, dx1, dx2, x1, x2)


@rrule.register(np.matvec)
def matvec_rrule(x1: Array, x2: Array, /, *, needs: Needs = None) -> OutputAndPullback:
    """y = A x, for stacks of matrices and vectors."""
    return bilinear_and_pullback(np.matvec, matvec_a_bar, matvec_x_bar, x1, x2, needs)


def vecmat_x_bar(ybar, a, shape):
    """x̄ = A conj(ȳ)."""
    return unbroadcast(np.matvec(a, conj(ybar)), shape)


def vecmat_a_bar(ybar, x, shape):
    """Ā = x ȳᵀ."""
    if len(shape) == 2:
        return inner_b_bar(x, conj(ybar), shape)
    return unbroadcast(x[..., None] * ybar[..., None, :], shape)


@frule.register(np.vecmat)
@pushforward
def vecmat_frule(dx1: Array, dx2: Array, x1: Array, x2: Array, /) -> OutputAndTangent:
    return bilinear_and_tangent(np.vecmat, dx1, dx2, x1, x2)


@rrule.register(np.vecmat)
def vecmat_rrule(x1: Array, x2: Array, /, *, needs: Needs = None) -> OutputAndPullback:
    """y = xᴴ A, for stacks of vectors and matrices."""
    return bilinear_and_pullback(np.vecmat, vecmat_x_bar, vecmat_a_bar, x1, x2, needs)


rrule.alias(np.ndarray.dot, np.dot)
rrule.alias(operator.matmul, np.matmul)
