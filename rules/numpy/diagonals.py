"""Rules of diagonals and triangles: ``diag``, ``diagflat``, ``diagonal``, ``trace``, ``tril``, ``triu``."""

import numpy as np

from rules.numpy.array_like import as_array_tangent
from rules.numpy.indexing import scatter
from rules.numpy.reduced_axes import decline_out, given
from rulescore import AbstractZero, NoTangent, frule, linear_rule, project_to, rrule, unbroadcast, unthunk

NO_TANGENT = NoTangent()

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


def tracing_frule(f, da, a):
    """The pushforward of ``y = f(a)``: the trace of the tangent."""
    y = f(a)
    return y, da if isinstance(da, AbstractZero) else project_to(y)(f(as_array_tangent(da, a)))


def tracing_rrule(f, a, offset, axis1, axis2):
    """The pullback of ``y = f(a)``: ȳ times the identity."""
    project, shape = project_to(a), np.shape(a)

    def trace_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return NO_TANGENT, project(ybar)
        *stack, rows, columns = with_matrices_last(shape, axis1, axis2)
        length = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
        diagonal = np.broadcast_to(np.expand_dims(ybar, -1), (*stack, length))
        abar = onto_diagonal(diagonal, (*stack, rows, columns), offset)
        return NO_TANGENT, project(np.moveaxis(abar, (-2, -1), (axis1, axis2)))

    return f(a), trace_pullback


@frule.register(np.trace)
def trace_frule(tangents, a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    decline_out(out)
    return tracing_frule(lambda a: np.trace(a, offset, axis1, axis2, **given(dtype=dtype)), tangents[1], a)


@rrule.register(np.trace)
def trace_rrule(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    decline_out(out)
    options = given(dtype=dtype)
    return tracing_rrule(lambda a: np.trace(a, offset, axis1, axis2, **options), a, offset, axis1, axis2)


@frule.register(np.linalg.trace)
def linalg_trace_frule(tangents, x, /, *, offset=0, dtype=None):
    return tracing_frule(lambda x: np.linalg.trace(x, offset=offset, **given(dtype=dtype)), tangents[1], x)


@rrule.register(np.linalg.trace)
def linalg_trace_rrule(x, /, *, offset=0, dtype=None):
    """The matrices are in the last two axes, unlike those of ``np.trace``."""
    return tracing_rrule(lambda x: np.linalg.trace(x, offset=offset, **given(dtype=dtype)), x, offset, -2, -1)


rrule.alias(np.ndarray.trace, np.trace)

# ---------------------------------------------------------------- triangles: ȳ in the same triangle

# Of a vector, tril and triu make a matrix whose rows are copies of it; hence unbroadcast.
linear_rule(np.tril, lambda ybar, m, k=0: unbroadcast(np.tril(ybar, k), np.shape(m)))
linear_rule(np.triu, lambda ybar, m, k=0: unbroadcast(np.triu(ybar, k), np.shape(m)))
