"""Rules of what solves matrix equations: of Sylvester, Lyapunov and Riccati."""

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy.linalg
from rulescore import (
    MissingDerivativeError,
    apply_linear,
    frule,
    ignore_derivatives,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
    unbroadcast,
)
from rulescore.typing import Array, Choice, OutputAndPullback, OutputAndTangent
from scipy.linalg import get_lapack_funcs

from ...numpy.array_like import as_array, as_array_tangent, shape_of
from ...numpy.products import adjoint
from ..finite_entries import of_finite
from ..working_precision import in_working_precision
from .operands import decline_unless_matrices

# ---------------------------------------------------------------- A X + X B = Q


class SchurForms:
    """A = U R Uᴴ and Bᴴ = V S Vᴴ of two ordinary matrices, by which both A X + X B = Q and its adjoint are solved."""

    def __init__(self, a, b):
        self.dtype, self.shape = a.dtype, (len(a), len(b) if b is not None else len(a))
        self.r, self.u = scipy.linalg.schur(a, output="real")
        self.s, self.v = (self.r, self.u) if b is None else scipy.linalg.schur(b.conj().T, output="real")
        self.is_singular = False

    @classmethod
    def of(cls, a, b):
        """None where this is left to SciPy. Without B, that is Aᴴ."""
        matrices = (a,) if b is None else (a, b)
        if any(type(x) is not np.ndarray or x.ndim != 2 or not x.size for x in matrices):
            return None
        return cls(a, b) if a.dtype.char in "fdFD" and a.dtype == matrices[-1].dtype else None

    def can_solve_for(self, q):
        return type(q) is np.ndarray and q.dtype == self.dtype and q.shape == self.shape

    def solve(self, q, adjoint_of=False):
        (trsyl,) = get_lapack_funcs(("trsyl",), (self.r, self.s))
        kind = {"trana": "C"} if adjoint_of else {"tranb": "C"}
        y, scale, info = trsyl(self.r, self.s, self.u.conj().T @ q @ self.v, **kind)
        self.is_singular |= info == 1  # and solved with other numbers, which LAPACK can divide by
        return self.u @ (scale * y) @ self.v.conj().T


SINGULAR = (
    "the solution of a matrix equation that is singular, or nearly so, has no derivative: of A X + X B = Q, A and -B "
    "have an eigenvalue in common; of X = A X Aᴴ + Q, two of A have the product 1. Move the eigenvalues, for instance "
    "by adding a small multiple of np.eye(n)"
)


def refuse_singular(forms, a, b):
    """Of A X + X B = Q; the solution would move by numbers without a meaning."""
    if forms is None:
        values = [eigenvalues(x) for x in (a, b)]
        is_singular = is_negligible(values[0][..., :, None], values[1][..., None, :])
    else:
        is_singular = forms.is_singular
    if is_singular:
        raise MissingDerivativeError(SINGULAR)


def eigenvalues(x):
    return np.linalg.eigvals(in_working_precision(ignore_derivatives(x)))


def is_negligible(one, other):
    """Whether the sum of two arrays has an entry that rounding alone makes another number than 0."""
    size = np.max(np.abs(one), initial=0) + np.max(np.abs(other), initial=0)
    return bool(np.any(np.abs(one + other) <= np.finfo(size.dtype).eps * size))


def of_one_type(*matrices):
    """All matrices in complex numbers, if one of them is.

    Else SciPy 1.17 takes the blocks in the Schur form of a real matrix for a triangle, and gives what is no solution.
    """
    if not any(map(np.iscomplexobj, matrices)) or all(map(np.iscomplexobj, matrices)):
        return matrices
    dtype = np.result_type(*(x.dtype for x in matrices))
    return tuple(x if np.iscomplexobj(x) else x.astype(dtype) for x in matrices)


class SylvesterEquation:
    """A X + X B = Q; Ẋ solves it for Q̇ - Ȧ X - X Ḃ. Q̄ = Z solves Aᴴ Z + Z Bᴴ = X̄, and Ā = -Z Xᴴ, B̄ = -Xᴴ Z."""

    def __init__(self, a, b):
        self.a, self.b, self.forms = a, b, SchurForms.of(a, b)

    def solve(self, q):
        if self.forms is not None and self.forms.can_solve_for(q):
            return self.forms.solve(q)
        return seen_by_tracers(scipy.linalg.solve_sylvester, *of_one_type(self.a, self.b, q))

    def refuse_singular(self):
        refuse_singular(self.forms, self.a, self.b)

    def solve_adjoint(self, xbar):
        if self.forms is not None and self.forms.can_solve_for(xbar):
            return self.forms.solve(xbar, adjoint_of=True)
        return seen_by_tracers(scipy.linalg.solve_sylvester, *of_one_type(adjoint(self.a), adjoint(self.b), xbar))


@frule.register(scipy.linalg.solve_sylvester)
@pushforward
def solve_sylvester_frule(da: Array, db: Array, dq: Array, a: Array, b: Array, q: Array) -> OutputAndTangent:
    decline_unless_matrices(a, b, q)
    da, db, dq = (as_array_tangent(dx, x) for dx, x in ((da, a), (db, b), (dq, q)))
    equation = SylvesterEquation(as_array(a), as_array(b))
    x = equation.solve(as_array(q))
    equation.refuse_singular()
    return x, equation.solve(dq - da @ x - x @ db)


@rrule.register(scipy.linalg.solve_sylvester)
def solve_sylvester_rrule(a: Array, b: Array, q: Array) -> OutputAndPullback:
    """See `SylvesterEquation`."""
    decline_unless_matrices(a, b, q)
    equation = SylvesterEquation(as_array(a), as_array(b))
    x, shapes = equation.solve(as_array(q)), [shape_of(part) for part in (a, b, q)]

    @pullback_wrt(a, b, q)
    def solve_sylvester_pullback(xbar):
        equation.refuse_singular()
        z, x_h = equation.solve_adjoint(xbar), adjoint(x)
        return (
            lambda: unbroadcast(-z @ x_h, shapes[0]),
            lambda: unbroadcast(-x_h @ z, shapes[1]),
            lambda: unbroadcast(z, shapes[2]),
        )

    return x, solve_sylvester_pullback


# ---------------------------------------------------------------- Lyapunov equations


class ContinuousLyapunov:
    """A X + X Aᴴ = Q. With Z of Aᴴ Z + Z A = X̄: Q̄ = Z and Ā = -Z Xᴴ - Zᴴ X."""

    def __init__(self, a):
        self.a, self.forms = a, SchurForms.of(a, None)

    def solve(self, q):
        if self.forms is not None and self.forms.can_solve_for(q):
            return self.forms.solve(q)
        return seen_by_tracers(scipy.linalg.solve_continuous_lyapunov, *of_one_type(self.a, q))

    def refuse_singular(self):
        refuse_singular(self.forms, self.a, adjoint(self.a))

    def solve_adjoint(self, xbar):
        if self.forms is not None and self.forms.can_solve_for(xbar):
            return self.forms.solve(xbar, adjoint_of=True)
        return seen_by_tracers(scipy.linalg.solve_continuous_lyapunov, *of_one_type(adjoint(self.a), xbar))

    def moved(self, x, da):
        """What Q has to move by, for X to stay."""
        return da @ x + x @ adjoint(da)

    def matrix_cotangent(self, x, z):
        return -z @ adjoint(x) - adjoint(z) @ x


class DiscreteLyapunov:
    """X = A X Aᴴ + Q. With Z of Z = Aᴴ Z A + X̄: Q̄ = Z and Ā = Z A Xᴴ + Zᴴ A X."""

    def __init__(self, a, method):
        self.a, self.method = a, method

    def solve(self, q):
        return seen_by_tracers(scipy.linalg.solve_discrete_lyapunov, self.a, q, self.method)

    def refuse_singular(self):
        values = eigenvalues(self.a)
        if is_negligible(-np.conj(values[..., :, None]) * values[..., None, :], np.ones(1)):
            raise MissingDerivativeError(SINGULAR)

    def solve_adjoint(self, xbar):
        return seen_by_tracers(scipy.linalg.solve_discrete_lyapunov, adjoint(self.a), xbar, self.method)

    def moved(self, x, da):
        a_h = adjoint(self.a)
        return -da @ (x @ a_h) - (self.a @ x) @ adjoint(da)

    def matrix_cotangent(self, x, z):
        return z @ self.a @ adjoint(x) + adjoint(z) @ self.a @ x


def decline_unless_square(*arrays):
    """What is no equation, and is not always refused by SciPy."""
    if any(len(shape_of(a)) < 2 or shape_of(a)[-1] != shape_of(a)[-2] for a in arrays):
        raise MDNotImplementedError


def solution_and_tangent(equation, da, dq, a, q):
    decline_unless_square(a, q)
    x = equation.solve(as_array(q))
    equation.refuse_singular()
    moved = apply_linear(lambda da: equation.moved(x, da), as_array_tangent(da, a))
    return x, of_finite(equation.solve, as_array_tangent(dq, q) - moved, (-2, -1))


def solution_and_pullback(equation, a, q):
    decline_unless_square(a, q)
    x, shape_a, shape_q = equation.solve(as_array(q)), shape_of(a), shape_of(q)

    @pullback_wrt(a, q)
    def lyapunov_pullback(xbar):
        equation.refuse_singular()
        z = of_finite(equation.solve_adjoint, xbar, (-2, -1))
        return lambda: unbroadcast(equation.matrix_cotangent(x, z), shape_a), lambda: unbroadcast(z, shape_q)

    return x, lyapunov_pullback


@frule.register(scipy.linalg.solve_continuous_lyapunov)
@pushforward
def solve_continuous_lyapunov_frule(da: Array, dq: Array, a: Array, q: Array) -> OutputAndTangent:
    return solution_and_tangent(ContinuousLyapunov(as_array(a)), da, dq, a, q)


@rrule.register(scipy.linalg.solve_continuous_lyapunov)
def solve_continuous_lyapunov_rrule(a: Array, q: Array) -> OutputAndPullback:
    return solution_and_pullback(ContinuousLyapunov(as_array(a)), a, q)


@frule.register(scipy.linalg.solve_discrete_lyapunov)
@pushforward
def solve_discrete_lyapunov_frule(da: Array, dq: Array, a: Array, q: Array, method: Choice = None) -> OutputAndTangent:
    return solution_and_tangent(DiscreteLyapunov(as_array(a), method), da, dq, a, q)


@rrule.register(scipy.linalg.solve_discrete_lyapunov)
def solve_discrete_lyapunov_rrule(a: Array, q: Array, method: Choice = None) -> OutputAndPullback:
    return solution_and_pullback(DiscreteLyapunov(as_array(a), method), a, q)
