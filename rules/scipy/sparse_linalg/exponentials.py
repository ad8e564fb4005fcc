"""Rules of functions of sparse matrices: ``expm_multiply``, ``expm`` and ``matrix_power``."""

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import (
    ZeroTangent,
    apply_linear,
    frule,
    ignore_derivatives,
    not_implemented,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
)
from rulescore.typing import Array, Count, Flag, Number, OutputAndPullback, OutputAndTangent, Sparse
from scipy import sparse
from scipy.sparse import linalg

from ...numpy.array_like import as_array, as_array_tangent
from ..sparse.operations import SPARSE
from .operators import (
    adjoint,
    as_columns,
    cotangent_of_operator_or,
    moving_matrix,
    primal_of_matrix,
)

TIMES = not_implemented("the times of expm_multiply: scale the matrix, expm_multiply(t * A, B)")

# ---------------------------------------------------------------- exp(A) B


class Exponential:
    """exp(t A) B at the times that ``expm_multiply`` is asked for: one, t = 1, or a grid of them."""

    def __init__(self, A, B, start, stop, num, endpoint, traceA):
        self.A, self.B, self.traceA = A, B, traceA
        self.is_one = start is None and stop is None and num is None and endpoint is None
        given = {"num": num, "endpoint": endpoint}
        grid = {name: value for name, value in given.items() if value is not None}
        self.times = np.ones(1) if self.is_one else np.linspace(start, stop, **grid)

    def tangent(self, dA, dB):
        """The derivative of exp(tA) B: that of exp(tA) along Ȧ is the upper right block of exp(t [[A, Ȧ], [0, A]])."""
        rows = [self._tangent_at(t, dA, dB) for t in self.times.tolist()]
        return rows[0] if self.is_one else np.stack(rows)

    def _tangent_at(self, t, dA, dB):
        of_b = apply_linear(lambda dB: propagated(self.A, dB, t, self.traceA), dB)
        return apply_linear(lambda dA: self._along(dA, t), dA) + of_b

    def _along(self, dA, t):
        below = np.concatenate([np.zeros_like(self.B), self.B])
        return propagated(block_triangle(self.A, dA), below, t)[: self.A.shape[0]]

    def cotangents(self, ybar):
        """B̄ = Σ exp(tA)ᴴ ȳ(t); and the pairs whose products, summed, are Ā (see `integrals`)."""
        rows = [ybar] if self.is_one else list(ybar)
        a_h, moving = adjoint(self.A), list(zip(self.times.tolist(), rows, strict=True))
        trace = None if self.traceA is None else np.conj(self.traceA)
        bbar = sum((propagated(a_h, row, t, trace) for t, row in moving), ZeroTangent())
        return bbar, lambda: [pair for t, row in moving for pair in self.integrals(a_h, row, t)]

    def integrals(self, a_h, row, t):
        """Pairs (l, r) with Σ l rᴴ = t ∫ exp(s t A)ᴴ ȳ (exp((1-s) t A) B)ᴴ ds, over 0 < s < 1.

        By Gauss's formula of 12 points on pieces of the interval short enough for it: the integrand is an exponential
        of 2 |tA|, so that its error is below 1e-16 of the largest value where a piece has |tA| ≤ 4.
        """
        norm = abs(t) * norm_of(self.A)
        pieces = max(1, int(np.ceil(norm / 4)))
        points, weights = np.polynomial.legendre.leggauss(12)
        points = np.concatenate([(points + 1) / 2 + i for i in range(pieces)]) / pieces
        weights = np.tile(weights / (2 * pieces), pieces)
        # The points lie symmetrically: at 1 - s there is one too.
        left, right = along(a_h, row, t * points), along(self.A, self.B, t * points)[::-1]
        return [(t * weight * x, y) for weight, x, y in zip(weights, left, right, strict=True)]


def propagated(A, B, t, trace=None):
    """exp(t A) B."""
    options = {} if trace is None else {"traceA": t * trace}
    return seen_by_tracers(linalg.expm_multiply, A if t == 1 else t * A, B, **options) if t != 0 else B


def along(A, x, times_):
    """exp(t A) x for increasing times, each from the one before."""
    found, now = [], 0.0
    for t in times_.tolist():
        x = propagated(A, x, t - now)
        found.append(x)
        now = t
    return found


def norm_of(A):
    values = abs(ignore_derivatives(A))
    return float(values.sum(axis=0).max()) if A.shape[0] else 0.0


def block_triangle(A, dA):
    """[[A, Ȧ], [0, A]]."""
    if sparse.issparse(A):
        return sparse.block_array([[A, dA], [None, A]], format="csr")
    zeros = np.zeros(A.shape)
    return np.concatenate([np.concatenate([A, dA], axis=1), np.concatenate([zeros, A], axis=1)])


@frule.register(linalg.expm_multiply)
@pushforward
def expm_multiply_frule(
    dA: Sparse,
    dB: Array,
    dstart: Array,
    dstop: Array,
    _dtraceA: Number,
    A: Sparse,
    B: Array,
    start: Array = None,
    stop: Array = None,
    num: Count = None,
    endpoint: Flag = None,
    traceA: Number = None,
) -> OutputAndTangent:
    y = seen_by_tracers(linalg.expm_multiply, A, B, start, stop, num, endpoint, traceA)
    dA, missing = moving_matrix(A, dA)
    exponential = Exponential(as_array(A), as_array(B), start, stop, num, endpoint, traceA)
    dy = apply_linear(exponential.tangent, dA, as_array_tangent(dB, B))
    return y, dy + missing + TIMES * dstart + TIMES * dstop


@rrule.register(linalg.expm_multiply)
def expm_multiply_rrule(
    A: Sparse,
    B: Array,
    start: Array = None,
    stop: Array = None,
    num: Count = None,
    endpoint: Flag = None,
    traceA: Number = None,
) -> OutputAndPullback:
    """B̄ = exp(A)ᴴ Ȳ and Ā = ∫ exp(sA)ᴴ Ȳ (exp((1-s)A) B)ᴴ ds, at the entries of A."""
    y = seen_by_tracers(linalg.expm_multiply, A, B, start, stop, num, endpoint, traceA)
    matrix, columns = as_array(A), as_array(B)

    @pullback_wrt(primal_of_matrix(A), B, start, stop)
    def expm_multiply_pullback(ybar):
        bbar, pairs = Exponential(matrix, columns, start, stop, num, endpoint, traceA).cotangents(ybar)

        def joined():
            """One pair of matrices, of the columns of all."""
            left, right = zip(*pairs(), strict=True)
            return [tuple(np.concatenate([as_columns(x) for x in both], axis=1) for both in (left, right))]

        return lambda: cotangent_of_operator_or(matrix, joined), bbar, TIMES, TIMES

    return y, expm_multiply_pullback


# ---------------------------------------------------------------- exp(A)


def upper_right(A, dA):
    """The derivative of exp(A) along a direction."""
    n = A.shape[0]
    return linalg.expm(block_triangle(A, dA).tocsc())[:n, n:]


@frule.register(linalg.expm, SPARSE)
@pushforward
def expm_frule(dA: Sparse, A: Sparse) -> OutputAndTangent:
    return linalg.expm(A), upper_right(A, dA)


@rrule.register(linalg.expm, SPARSE)
def expm_rrule(A: Sparse) -> OutputAndPullback:
    """Ā is the derivative of exp(Aᴴ) along Ȳ, at the entries of A (Higham, Functions of Matrices, §3.2)."""
    return linalg.expm(A), pullback_wrt(A)(lambda ybar: upper_right(adjoint(A), sparse.csc_array(ybar)))


# ---------------------------------------------------------------- powers


def powers_below(A, power):
    """A⁰, A¹, ... up to A to the power - 1."""
    found = [sparse.eye_array(A.shape[0], dtype=A.dtype, format="csr")]
    for _ in range(power - 1):
        found.append(found[-1] @ A)
    return found[:power]


def decline_other_powers(power):
    if not isinstance(power, (int, np.integer)) or power < 0:
        raise MDNotImplementedError


def sum_of_products(powers, x):
    """Σ Aⁱ X Aʲ over i + j = power - 1."""
    return sum((a @ x @ b for a, b in zip(powers, reversed(powers), strict=True)), 0 * x)


@frule.register(linalg.matrix_power, SPARSE)
@pushforward
def matrix_power_frule(dA: Sparse, A: Sparse, power: Count) -> OutputAndTangent:
    decline_other_powers(power)
    return linalg.matrix_power(A, power), sum_of_products(powers_below(A, power), dA)


@rrule.register(linalg.matrix_power, SPARSE)
def matrix_power_rrule(A: Sparse, power: Count) -> OutputAndPullback:
    """Ā = Σ (Aᴴ)ⁱ Ȳ (Aᴴ)ʲ over i + j = power - 1, at the entries of A."""
    decline_other_powers(power)

    @pullback_wrt(A)
    def matrix_power_pullback(ybar):
        return sum_of_products(powers_below(adjoint(A), power), ybar)

    return linalg.matrix_power(A, power), matrix_power_pullback
