"""Rules of the iterative solvers of square systems, by one more solution of such a system by the same method.

The solution is taken to satisfy A x = b, whatever the method and where it started from, so that dx = A⁻¹ (db - dA x),
b̄ = A⁻ᴴ x̄ and Ā = -b̄ xᴴ; each system is solved by the method of the primal, to its relative tolerance, with the adjoint
of its preconditioner. A solution that has not converged does not satisfy the equation, and is an error.
"""

from typing import Any

import numpy as np

from rulescore import (
    MissingDerivativeError,
    NoTangent,
    ZeroTangent,
    apply_linear,
    frule,
    ignore_derivatives,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
)
from rulescore.typing import Array, OutputAndPullback, OutputAndTangent
from scipy.sparse import linalg

from ...numpy.array_like import as_array, as_array_tangent
from ..finite_entries import finite_entries, nan_where_not_finite
from .operators import (
    adjoint,
    matrix_cotangent,
    moving_matrix,
    primal_of_matrix,
    times,
)

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
        x, info = seen_by_tracers(self.f, A, finite_entries(b), **options)
        self.refuse_unless_converged(info, "a solution of the same method that its derivative needs")
        return nan_where_not_finite(x, b)

    def refuse_unless_converged(self, info, what):
        if info != 0:
            happened, advice = "has not converged", "allow more iterations (maxiter), a larger tolerance (rtol, atol)"
            if info < 0:
                happened, advice = "was not found, since the method broke down", "use another one, such as gmres"
            raise MissingDerivativeError(
                f"the derivative of {self.f.__name__} was asked for, but {what} {happened} (info={info}): {advice}, or "
                "precondition the system (M)"
            )


def register_solver(f):
    """The rules of ``x, info = f(A, b, x0, **options)``."""

    @frule.register(f)
    @pushforward
    def solver_frule(
        dA: Array, db: Array, _dx0: Array, A: Array, b: Array, x0: Array = None, **options: Any
    ) -> OutputAndTangent:
        x, info = seen_by_tracers(f, A, b, x0, **options)
        dA, missing = moving_matrix(A, dA)
        right = np.reshape(as_array_tangent(db, b), np.shape(x)) - times(dA, x)
        dx = apply_linear(lambda right: System(f, A, b, info, options).solve(right), right)
        return (x, info), (dx + missing, NoTangent())

    @rrule.register(f)
    def solver_rrule(A: Array, b: Array, x0: Array = None, **options: Any) -> OutputAndPullback:
        x, info = seen_by_tracers(f, A, b, x0, **options)
        system, shape_b = System(f, A, b, info, options), np.shape(b)

        @pullback_wrt(primal_of_matrix(A), b, x0)
        def solver_pullback(ybar):
            xbar, _ = ybar
            w = system.solve_adjoint(xbar)
            return lambda: matrix_cotangent(A, (-w, x)), lambda: np.reshape(w, shape_b), ZeroTangent()

        return (x, info), solver_pullback


for _solver in (
    *(linalg.cg, linalg.cgs, linalg.bicg, linalg.bicgstab, linalg.gmres, linalg.lgmres, linalg.minres),
    *(linalg.qmr, linalg.tfqmr, linalg.gcrotmk),
):
    register_solver(_solver)
