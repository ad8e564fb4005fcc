"""Rules of the iterative solvers of least-squares problems, ``lsqr`` and ``lsmr``.

Their solution is x = A⁺ b, the smallest of those that make the residuals r = b - A x smallest. With P = A⁺, w = Pᴴ x̄,

    ẋ = P (ḃ - Ȧ x) + P Pᴴ Ȧᴴ r + (1 - P A) Ȧᴴ Pᴴ x,
    b̄ = w,   Ā = -w xᴴ + r (P w)ᴴ + (Pᴴ x) (x̄ - Aᴴ w)ᴴ

(Golub and Pereyra 1973), where each product with P or Pᴴ is a problem for the same method. With damping d it is the
problem of the matrix with the rows d·1 below A. The rank of A is taken to be kept.
"""

import numpy as np
from multipledispatch import MDNotImplementedError
from scipy import sparse
from scipy.sparse import linalg
from scipy.sparse.linalg import LinearOperator

from rules.numpy.array_like import as_array, as_array_tangent, seen_by_tracers
from rules.numpy.reduced_axes import NOT_GIVEN, projector_of, stop_early
from rules.scipy.sparse_linalg.operators import (
    NO_TANGENT,
    adjoint,
    matrix_cotangent,
    projector_of_matrix,
    refuse_moving_operator,
    times,
)
from rulescore import AbstractZero, Tangent, Thunk, ZeroTangent, frule, not_implemented, project_to, rrule, unthunk
from rulescore.tangents.projection import NON_DIFFERENTIABLE

ZERO_TANGENT = ZeroTangent()

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
        right = db if isinstance(da, AbstractZero) else db - times(da, self.x)
        dx = self.p(right)
        if isinstance(da, AbstractZero):
            return dx
        adjoint_da = adjoint(da)
        dx = dx + self.p(self.p_adjoint(times(adjoint_da, self.residuals())))
        if self.rows < self.columns and not self.damp:
            outside = times(adjoint_da, self.p_adjoint(self.x))
            dx = dx + outside - self.p(times(self.A, outside))
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

    def tangent_of_output(dx):
        others = ZERO_TANGENT if isinstance(dx, AbstractZero) else ESTIMATES
        return Tangent(tuple, dx, NO_TANGENT, NO_TANGENT, *[others] * (count - 2))

    @frule.register(f)
    def least_squares_frule(tangents, A, b, damp=0.0, **options):
        _, da, db, *rest = tangents
        decline_other_shapes(A, b)
        y = seen_by_tracers(f, A, b, damp, **options)
        missing = refuse_moving_operator(A, da)
        if missing is None and rest and not isinstance(rest[0], AbstractZero):
            missing = DAMPING
        if missing is not None:
            return y, tangent_of_output(missing)
        db = ZERO_TANGENT if isinstance(db, AbstractZero) else np.reshape(as_array_tangent(db, b), -1)
        if isinstance(da, AbstractZero) and isinstance(db, AbstractZero):
            return y, tangent_of_output(db)
        return y, tangent_of_output(project_to(y[0])(Problem(f, A, b, y[0], damp, options).tangent(da, db)))

    @rrule.register(f)
    def least_squares_rrule(A, b, damp=NOT_GIVEN, **options):
        decline_other_shapes(A, b)
        damp_bar = NO_TANGENT if projector_of(damp) is NON_DIFFERENTIABLE else DAMPING
        damp = 0.0 if damp is NOT_GIVEN else damp
        y = seen_by_tracers(f, A, b, damp, **options)
        project_a, project_b, shape_b = projector_of_matrix(A), project_to(b), np.shape(b)

        def least_squares_pullback(ybar):
            if isinstance(ybar, AbstractZero):
                return NO_TANGENT, ybar, ybar
            xbar, *others = [unthunk(part) for part in ybar]
            if any(not isinstance(bar, AbstractZero) and np.any(bar) for bar in others[2:]):
                return NO_TANGENT, ESTIMATES, ESTIMATES
            if isinstance(xbar, AbstractZero):
                return NO_TANGENT, xbar, xbar
            w, pairs = Problem(f, A, b, y[0], damp, options).cotangents(xbar)
            b_bar = NO_TANGENT if project_b is NON_DIFFERENTIABLE else project_b(np.reshape(w, shape_b))
            return stop_early(NO_TANGENT, Thunk(lambda: matrix_cotangent(project_a, A, *pairs())), b_bar, damp_bar)

        return y, least_squares_pullback


register_least_squares(linalg.lsqr, 9)
register_least_squares(linalg.lsmr, 7)
