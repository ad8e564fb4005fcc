"""Rules of diagonals and triangles: ``diag``, ``diagflat``, ``diagonal``, ``trace``, ``tril``, ``triu``."""

import numpy as np
from rulescore import frule, linear_rule, pullback_wrt, pushforward, rrule, unbroadcast
from rulescore.typing import Array, Axis, Count, DType, OutputAndPullback, OutputAndTangent

from .array_like import as_array_tangent
from .indexing import scatter
from .reduced_axes import decline_out, given

# ---------------------------------------------------------------- diagonals: ȳ put back among zeros


def onto_diagonal(ybar, shape, offset):
    """Matrices of a shape (..., rows, columns) with ``ybar``, of shape (..., n), on a diagonal and zeros elsewhere.

    In a row-major matrix the diagonal is a slice, with one element more than a row from one entry to the next.
    """
    *stack, rows, columns = shape
    start = -offset * columns if offset < 0 else offset
    places = slice(start, start + ybar.shape[-1] * (columns + 1), columns + 1)
    return np.reshape(scatter(ybar, (..., places), (*stack, rows * columns), ybar.dtype), shape)


def with_matrices_last(shape, axis1, axis2):
    """A shape with two axes moved to the end."""
    axis1, axis2 = axis1 % len(shape), axis2 % len(shape)
    others = [length for axis, length in enumerate(shape) if axis not in (axis1, axis2)]
    return (*others, shape[axis1], shape[axis2])


def diag_transpose(ybar, v, k=0):
    """Of a vector ``diag`` makes a matrix, of a matrix a vector."""
    return np.diag(ybar, k) if np.ndim(v) == 1 else onto_diagonal(ybar, np.shape(v), k)


def diagonal_transpose(ybar, a, offset=0, axis1=0, axis2=1):
    abar = onto_diagonal(ybar, with_matrices_last(np.shape(a), axis1, axis2), offset)
    return np.moveaxis(abar, (-2, -1), (axis1, axis2))


linear_rule(np.diag, diag_transpose)
linear_rule(np.diagflat, lambda ybar, v, k=0: np.reshape(np.diag(ybar, k), np.shape(v)))
linear_rule(np.diagonal, diagonal_transpose)
linear_rule(np.linalg.diagonal, lambda ybar, x, /, *, offset=0: onto_diagonal(ybar, np.shape(x), offset))
rrule.alias(np.ndarray.diagonal, np.diagonal)

# ---------------------------------------------------------------- traces: ȳ on the whole diagonal


def tracing_pullback(a, offset, axis1, axis2):
    """The pullback of a trace: ȳ times the identity."""
    shape = np.shape(a)

    @pullback_wrt(a)
    def trace_pullback(ybar):
        *stack, rows, columns = with_matrices_last(shape, axis1, axis2)
        length = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
        diagonal = np.broadcast_to(np.expand_dims(ybar, -1), (*stack, length))
        abar = onto_diagonal(diagonal, (*stack, rows, columns), offset)
        return np.moveaxis(abar, (-2, -1), (axis1, axis2))

    return trace_pullback


@frule.register(np.trace)
@pushforward
def trace_frule(
    da: Array, a: Array, offset: Count = 0, axis1: Axis = 0, axis2: Axis = 1, dtype: DType = None, out: Array = None
) -> OutputAndTangent:
    decline_out(out)
    options = given(dtype=dtype)
    da = as_array_tangent(da, a)
    return np.trace(a, offset, axis1, axis2, **options), np.trace(da, offset, axis1, axis2, **options)


@rrule.register(np.trace)
def trace_rrule(
    a: Array, offset: Count = 0, axis1: Axis = 0, axis2: Axis = 1, dtype: DType = None, out: Array = None
) -> OutputAndPullback:
    decline_out(out)
    return np.trace(a, offset, axis1, axis2, **given(dtype=dtype)), tracing_pullback(a, offset, axis1, axis2)


@frule.register(np.linalg.trace)
@pushforward
def linalg_trace_frule(dx: Array, x: Array, /, *, offset: Count = 0, dtype: DType = None) -> OutputAndTangent:
    options = {"offset": offset, **given(dtype=dtype)}
    return np.linalg.trace(x, **options), np.linalg.trace(as_array_tangent(dx, x), **options)


@rrule.register(np.linalg.trace)
def linalg_trace_rrule(x: Array, /, *, offset: Count = 0, dtype: DType = None) -> OutputAndPullback:
    """The matrices are in the last two axes, unlike those of ``np.trace``."""
    return np.linalg.trace(x, offset=offset, **given(dtype=dtype)), tracing_pullback(x, offset, -2, -1)


rrule.alias(np.ndarray.trace, np.trace)

# ---------------------------------------------------------------- triangles: ȳ in the same triangle

# Of a vector, tril and triu make a matrix whose rows are copies of it; hence unbroadcast.
linear_rule(np.tril, lambda ybar, m, k=0: unbroadcast(np.tril(ybar, k), np.shape(m)))
linear_rule(np.triu, lambda ybar, m, k=0: unbroadcast(np.triu(ybar, k), np.shape(m)))
