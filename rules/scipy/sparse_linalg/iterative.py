"""Rules of the iterative solvers of square systems, by one more solution of such a system by the same method.

The solution is taken to satisfy A x = b, whatever the method and where it started from, so that dx = A⁻¹ (db - dA x),
b̄ = A⁻ᴴ x̄ and Ā = -b̄ xᴴ; each system is solved by the method of the primal, to its relative tolerance, with the adjoint
of its preconditioner. A solution that has not converged does not satisfy the equation, and is an error.
"""

import numpy as np
from scipy.sparse import linalg

from rules.numpy.array_like import as_array, as_array_tangent, seen_by_tracers
from rules.numpy.reduced_axes import stop_early
from rules.scipy.sparse_linalg.operators import (
    NO_TANGENT,
    adjoint,
    matrix_cotangent,
    projector_of_matrix,
    refuse_moving_operator,
    times,
)
from rulescore import AbstractZero, Tangent, Thunk, ZeroTangent, frule, ignore_derivatives, project_to, rrule, unthunk
from rulescore.tangents.projection import NON_DIFFERENTIABLE

ZERO_TANGENT = ZeroTangent()

OF_THE_PRIMAL = frozenset({"callback", "callback_type", "show", "outer_v", "CU", "check"})
"""Keywords that a second system is solved without: they watch the first one, or hold what was learnt from it."""


class System:
    """A x = b, with the method and the options by which it was solved."""

    def __init__(self, f, A, b, info, options):
        self.f, self.A, self.info = f, A, info
        self.options = {name: value for name, value in options.items() if name not in OF_THE_PRIMAL}
        atol = self.options.pop("atol", 0.0)
        if atol:
            # An absolute tolerance is one for b. Of another right side, the same accuracy is asked for.
            norm = np.linalg.norm(ignore_derivatives(as_array(b)))
            self.options["rtol"] = max(self.options.get("rtol", 1e-5), atol / norm if norm else 0.0)

    def solve(self, b):
        """The solution for another right side."""
        return self._solution(self.A, b, self.options)

    def solve_adjoint(self, b):
        """The solution of Aᴴ x = b."""
        options = dict(self.options)
        if "M" in options:
            options["M"] = adjoint(options["M"])
        if "M1" in options or "M2" in options:
            options["M1"], options["M2"] = adjoint(options.get("M2")), adjoint(options.get("M1"))
        return self._solution(adjoint(self.A), b, options)

    def _solution(self, A, b, options):
        self.refuse_unless_converged(self.info, "its solution")
        x, info = seen_by_tracers(self.f, A, b, **options)
        self.refuse_unless_converged(info, "a solution of the same method that its derivative needs")
        return x

    def refuse_unless_converged(self, info, what):
        if info != 0:
            raise np.linalg.LinAlgError(
                f"the derivative of {self.f.__name__} was asked for, but {what} has not converged (info={info}): "
                "allow more iterations (maxiter), ask for less (rtol), or precondition the system"
            )


def register_solver(f):
    """The rules of ``x, info = f(A, b, x0, **options)``."""

    @frule.register(f)
    def solver_frule(tangents, A, b, x0=None, **options):
        _, da, db, *_ = tangents
        x, info = seen_by_tracers(f, A, b, x0, **options)
        missing = refuse_moving_operator(A, da)
        if missing is not None:
            return (x, info), Tangent(tuple, missing, NO_TANGENT)
        right = ZERO_TANGENT if isinstance(db, AbstractZero) else np.reshape(as_array_tangent(db, b), np.shape(x))
        if not isinstance(da, AbstractZero):
            right = right - times(da, x)
        if isinstance(right, AbstractZero):
            return (x, info), Tangent(tuple, right, NO_TANGENT)
        dx = System(f, A, b, info, options).solve(right)
        return (x, info), Tangent(tuple, project_to(x)(dx), NO_TANGENT)

    @rrule.register(f)
    def solver_rrule(A, b, x0=None, **options):
        x, info = seen_by_tracers(f, A, b, x0, **options)
        project_a, project_b = projector_of_matrix(A), project_to(b)
        system, shape_b = System(f, A, b, info, options), np.shape(b)

        def solver_pullback(ybar):
            xbar = ybar if isinstance(ybar, AbstractZero) else unthunk(ybar[0])
            if isinstance(xbar, AbstractZero):
                return NO_TANGENT, xbar, xbar
            w = system.solve_adjoint(xbar)
            b_bar = NO_TANGENT if project_b is NON_DIFFERENTIABLE else project_b(np.reshape(w, shape_b))
            x0_bar = NO_TANGENT if x0 is None else project_to(x0)(ZERO_TANGENT)
            return stop_early(NO_TANGENT, Thunk(lambda: matrix_cotangent(project_a, A, (-w, x))), b_bar, x0_bar)

        return (x, info), solver_pullback


for _solver in (
    *(linalg.cg, linalg.cgs, linalg.bicg, linalg.bicgstab, linalg.gmres, linalg.lgmres, linalg.minres),
    *(linalg.qmr, linalg.tfqmr, linalg.gcrotmk),
):
    register_solver(_solver)
