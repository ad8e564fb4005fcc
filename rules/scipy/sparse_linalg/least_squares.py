"""Rules of the iterative solvers of least-squares problems, ``lsqr`` and ``lsmr``.

Their solution is x = A⁺ b, the smallest of those that make the residuals r = b - A x smallest. With P = A⁺, w = Pᴴ x̄,

    ẋ = P (ḃ - Ȧ x) + P Pᴴ Ȧᴴ r + (1 - P A) Ȧᴴ Pᴴ x,
    b̄ = w,   Ā = -w xᴴ + r (P w)ᴴ + (Pᴴ x) (x̄ - Aᴴ w)ᴴ

(Golub and Pereyra 1973), where each product with P or Pᴴ is a problem for the same method. With damping d it is the
problem of the matrix with the rows d·1 below A. The rank of A is taken to be kept.
"""

from typing import Any

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import NoTangent, apply_linear, frule, not_implemented, pullback_wrt, pushforward, rrule, seen_by_tracers
from rulescore.typing import Array, Number, OutputAndPullback, OutputAndTangent
from scipy import sparse
from scipy.sparse import linalg
from scipy.sparse.linalg import LinearOperator

from ...numpy.array_like import as_array, as_array_tangent
from ...numpy.reduced_axes import NOT_GIVEN
from .operators import (
    adjoint,
    cotangent_of_operator_or,
    moving_matrix,
    primal_of_matrix,
    times,
)

ESTIMATES = not_implemented(
    "what lsqr and lsmr return beside the solution: compute it from the solution, as np.linalg.norm(b - A @ x)"
)


class Problem:
    """min |A x - b|² + d² |x|², with the method and the options by which it was solved."""

    def __init__(self, f, A, b, x, damp, options):
        self.f, self.A, self.x, self.damp = f, A, x, damp
        self.b = np.reshape(as_array(b), -1)
        self.options = {name: value for name, value in options.items() if name not in ("show", "calc_var")}
        self.rows, self.columns = A.shape
        self.damped = with_damping(A, damp) if damp else A

    def residuals(self):
        return self.b - times(self.A, self.x)

    def p(self, b):
        """P b, for a right side of A, or of A with its rows of damping."""
        if len(b) == self.rows:
            return seen_by_tracers(self.f, self.A, b, self.damp, **self.options)[0]
        return seen_by_tracers(self.f, self.damped, b, 0.0, **self.options)[0]

    def p_adjoint(self, x):
        """Pᴴ x, of the matrix with its rows of damping."""
        return seen_by_tracers(self.f, adjoint(self.damped), x, 0.0, **self.options)[0]

    def tangent(self, da, db):
        dx = self.p(db - times(da, self.x))
        dx = dx + apply_linear(lambda da: self.p(self.p_adjoint(times(adjoint(da), self.residuals()))), da)
        if self.rows < self.columns and not self.damp:
            outside = apply_linear(lambda da: times(adjoint(da), self.p_adjoint(self.x)), da)
            dx = dx + outside - apply_linear(lambda outside: self.p(times(self.A, outside)), outside)
        return dx

    def cotangents(self, xbar):
        """b̄ = w, and the pairs of vectors whose products make up Ā."""
        w = self.p_adjoint(xbar)
        top = w[: self.rows]

        def pairs():
            found = [(-top, self.x), (self.residuals(), self.p(w))]
            if self.rows < self.columns and not self.damp:
                found.append((self.p_adjoint(self.x), xbar - times(adjoint(self.A), top)))
            return found

        return top, pairs


def with_damping(A, damp):
    """A with the rows d·1 below."""
    if isinstance(A, LinearOperator):
        columns, rows = A.shape[1], A.shape[0]

        def below(x):
            x = np.reshape(x, -1)
            return np.concatenate([A.matvec(x), damp * x])

        def back(y):
            y = np.reshape(y, -1)
            return A.rmatvec(y[:rows]) + damp * y[rows:]

        return LinearOperator((rows + columns, columns), matvec=below, rmatvec=back, dtype=A.dtype)
    if sparse.issparse(A):
        return sparse.vstack([A, damp * sparse.eye_array(A.shape[1])], format="csr")
    return np.concatenate([as_array(A), damp * np.eye(A.shape[1])])


DAMPING = not_implemented("the damping of lsqr and lsmr: append the rows damp * eye(n) to the matrix, and zeros to b")


def decline_other_shapes(A, b):
    """SciPy's solvers take some that do not fit, and return what means nothing."""
    if len(getattr(A, "shape", ())) != 2 or np.size(b) != A.shape[0] or not A.shape[1]:
        raise MDNotImplementedError


def register_least_squares(f, count):
    """The rules of ``x, *others = f(A, b, damp, **options)`` with so many other outputs."""

    @frule.register(f)
    @pushforward
    def least_squares_frule(
        dA: Array, db: Array, ddamp: Number, A: Array, b: Array, damp: Number = 0.0, **options: Any
    ) -> OutputAndTangent:
        decline_other_shapes(A, b)
        y = seen_by_tracers(f, A, b, damp, **options)
        dA, missing = moving_matrix(A, dA)
        db = np.reshape(as_array_tangent(db, b), -1)
        dx = apply_linear(lambda dA, db: Problem(f, A, b, y[0], damp, options).tangent(dA, db), dA, db)
        return y, (dx + missing + DAMPING * ddamp, NoTangent(), NoTangent(), *[ESTIMATES] * (count - 2))

    @rrule.register(f)
    def least_squares_rrule(A: Array, b: Array, damp: Number = NOT_GIVEN, **options: Any) -> OutputAndPullback:
        decline_other_shapes(A, b)
        damping = 0.0 if damp is NOT_GIVEN else damp
        y, shape_b = seen_by_tracers(f, A, b, damping, **options), np.shape(b)

        @pullback_wrt(primal_of_matrix(A), b, damp)
        def least_squares_pullback(ybar):
            xbar, _, _, *of_estimates = ybar
            if any(map(np.any, of_estimates)):
                return ESTIMATES, ESTIMATES, DAMPING
            problem = Problem(f, A, b, y[0], damping, options)
            # Cotangents of the estimates may be written out as zeros, and that of the solution be none.
            top, pairs = problem.cotangents(xbar + np.zeros_like(y[0]))
            return lambda: cotangent_of_operator_or(A, pairs), lambda: np.reshape(top, shape_b), DAMPING

        return y, least_squares_pullback


register_least_squares(linalg.lsqr, 9)
register_least_squares(linalg.lsmr, 7)
