"""Rules of the solvers of algebraic Riccati equations, by the linear equation that the solution's tangent solves."""

import scipy.linalg
from rulescore import apply_linear, frule, pullback_wrt, pushforward, rrule, seen_by_tracers, unbroadcast
from rulescore.typing import Array, Flag, OutputAndPullback, OutputAndTangent

from ...numpy.array_like import as_array, as_array_tangent, shape_of
from ...numpy.products import adjoint
from ..finite_entries import of_finite
from ..working_precision import solve
from .operands import up_to_the_last


def hermitian_part(x):
    return 0.5 * (x + adjoint(x))


class Closed:
    """The closed loop of a solution X: its gain K and its matrix F = A - B K, both of which X makes optimal.

    So X moves by none of the gain's own motion. In continuous time, with K = R⁻¹ (Bᴴ X E + Sᴴ),

        Eᴴ Ẋ F + Fᴴ Ẋ E + N = 0,   N = Q̇ + 2 H(Eᴴ X Ȧ + Ėᴴ X F - (Eᴴ X Ḃ + Ṡ) K) + Kᴴ Ṙ K,

    and in discrete time, with K = (R + Bᴴ X B)⁻¹ (Bᴴ X A + Sᴴ),

        Fᴴ Ẋ F - Eᴴ Ẋ E + N = 0,   N = Q̇ + 2 H(Fᴴ X Ȧ - Eᴴ X Ė - (Fᴴ X Ḃ + Ṡ) K) + Kᴴ Ṙ K,

    where H is the Hermitian part. Both are Lyapunov equations of F E⁻¹.

    What SciPy 1.17 returns for an E does not solve the equation, unless ``balanced=False``: it forgets to balance E.
    The derivative is that of the solution.
    """

    def __init__(self, x, a, b, r, e, s):
        self.x, self.b, self.e = x, b, e
        self.k = self.gain(a, r, s)
        self.f = a - b @ self.k
        self.loop = self.f if e is None else self.over_e(self.f)

    def over_e(self, z):
        """Z E⁻¹."""
        return z if self.e is None else adjoint(solve(adjoint(self.e), adjoint(z)))

    def times_e(self, z):
        return z if self.e is None else z @ self.e

    def sources(self, da, db, dq, dr, de, ds):
        """N."""
        left, of_e = self.left_factors()
        half = adjoint(left) @ da - adjoint(left) @ db @ self.k - ds @ self.k + adjoint(of_e) @ de
        return dq + adjoint(self.k) @ dr @ self.k + half + apply_linear(adjoint, half)

    def tangent(self, n):
        return of_finite(self.solve, adjoint(self.over_e(adjoint(self.over_e(n)))), (-2, -1))

    def cotangents(self, xbar):
        """Functions for those of A, B, Q, R, E and S."""
        w = self.over_e_back(of_finite(self.solve_adjoint, hermitian_part(xbar), (-2, -1)))
        left, of_e = self.left_factors()
        return (
            lambda: 2 * left @ w,
            lambda: -2 * left @ w @ adjoint(self.k),
            lambda: w,
            lambda: self.k @ w @ adjoint(self.k),
            lambda: 2 * of_e @ w,
            lambda: -2 * w @ adjoint(self.k),
        )

    def over_e_back(self, z):
        """E⁻¹ Z E⁻ᴴ."""
        if self.e is None:
            return z
        return solve(self.e, adjoint(solve(self.e, adjoint(z))))


class ContinuousLoop(Closed):
    def gain(self, a, r, s):
        right = self.times_e(adjoint(self.b) @ self.x)
        return solve(r, right if s is None else right + adjoint(s))

    def left_factors(self):
        """Those of Ȧ and Ė in N."""
        return self.times_e(self.x), self.x @ self.f

    def solve(self, n):
        return seen_by_tracers(scipy.linalg.solve_continuous_lyapunov, adjoint(self.loop), -n)

    def solve_adjoint(self, xbar):
        return -seen_by_tracers(scipy.linalg.solve_continuous_lyapunov, self.loop, xbar)


class DiscreteLoop(Closed):
    def gain(self, a, r, s):
        b_h_x = adjoint(self.b) @ self.x
        right = b_h_x @ a
        return solve(r + b_h_x @ self.b, right if s is None else right + adjoint(s))

    def left_factors(self):
        return self.x @ self.f, -self.times_e(self.x)

    def solve(self, n):
        return seen_by_tracers(scipy.linalg.solve_discrete_lyapunov, adjoint(self.loop), n)

    def solve_adjoint(self, xbar):
        return seen_by_tracers(scipy.linalg.solve_discrete_lyapunov, self.loop, xbar)


def optional(x):
    return None if x is None else as_array(x)


def solution_and_tangent(f, loop, tangents, a, b, q, r, e, s, balanced):
    moved = [as_array_tangent(dz, z) for dz, z in zip(tangents, (a, b, q, r, e, s), strict=True)]
    x = seen_by_tracers(f, *up_to_the_last(a, b, q, r, e, s), balanced=balanced)
    closed = loop(x, as_array(a), as_array(b), as_array(r), optional(e), optional(s))
    return x, hermitian_part(closed.tangent(closed.sources(*moved)))


def solution_and_pullback(f, loop, a, b, q, r, e, s, balanced):
    arguments = a, b, q, r, e, s
    x = seen_by_tracers(f, *up_to_the_last(*arguments), balanced=balanced)
    shapes = [None if argument is None else shape_of(argument) for argument in arguments]

    @pullback_wrt(*arguments)
    def riccati_pullback(xbar):
        closed = loop(x, as_array(a), as_array(b), as_array(r), optional(e), optional(s))
        parts = zip(closed.cotangents(xbar), shapes, strict=True)
        return tuple([lambda bar=bar, shape=shape: unbroadcast(bar(), shape) for bar, shape in parts])

    return x, riccati_pullback


@frule.register(scipy.linalg.solve_continuous_are)
@pushforward
def solve_continuous_are_frule(
    da: Array,
    db: Array,
    dq: Array,
    dr: Array,
    de: Array,
    ds: Array,
    a: Array,
    b: Array,
    q: Array,
    r: Array,
    e: Array = None,
    s: Array = None,
    balanced: Flag = True,
) -> OutputAndTangent:
    tangents = da, db, dq, dr, de, ds
    return solution_and_tangent(scipy.linalg.solve_continuous_are, ContinuousLoop, tangents, a, b, q, r, e, s, balanced)


@rrule.register(scipy.linalg.solve_continuous_are)
def solve_continuous_are_rrule(
    a: Array, b: Array, q: Array, r: Array, e: Array = None, s: Array = None, balanced: Flag = True
) -> OutputAndPullback:
    """See `Closed`. SciPy refuses Q and R that are not Hermitian; their cotangents are."""
    return solution_and_pullback(scipy.linalg.solve_continuous_are, ContinuousLoop, a, b, q, r, e, s, balanced)


@frule.register(scipy.linalg.solve_discrete_are)
@pushforward
def solve_discrete_are_frule(
    da: Array,
    db: Array,
    dq: Array,
    dr: Array,
    de: Array,
    ds: Array,
    a: Array,
    b: Array,
    q: Array,
    r: Array,
    e: Array = None,
    s: Array = None,
    balanced: Flag = True,
) -> OutputAndTangent:
    tangents = da, db, dq, dr, de, ds
    return solution_and_tangent(scipy.linalg.solve_discrete_are, DiscreteLoop, tangents, a, b, q, r, e, s, balanced)


@rrule.register(scipy.linalg.solve_discrete_are)
def solve_discrete_are_rrule(
    a: Array, b: Array, q: Array, r: Array, e: Array = None, s: Array = None, balanced: Flag = True
) -> OutputAndPullback:
    """See `Closed`."""
    return solution_and_pullback(scipy.linalg.solve_discrete_are, DiscreteLoop, a, b, q, r, e, s, balanced)
