"""Rules of the solvers of algebraic Riccati equations, by the linear equation that the solution's tangent solves."""

import numpy as np
import scipy.linalg

from rules.numpy.array_like import as_array, as_array_tangent, seen_by_tracers, shape_of
from rules.numpy.products import adjoint
from rules.numpy.reduced_axes import stop_early, tangent_at
from rulescore import (
    AbstractZero,
    NoTangent,
    Thunk,
    ZeroTangent,
    frule,
    project_to,
    rrule,
    unbroadcast,
    unthunk,
)
from rulescore.tangents.projection import NON_DIFFERENTIABLE

NO_TANGENT = NoTangent()
ZERO_TANGENT = ZeroTangent()


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
        return z if self.e is None else adjoint(np.linalg.solve(adjoint(self.e), adjoint(z)))

    def times_e(self, z):
        return z if self.e is None else z @ self.e

    def sources(self, da, db, dq, dr, de, ds):
        """N."""
        half = n = ZERO_TANGENT
        left, of_e = self.left_factors()
        if not isinstance(da, AbstractZero):
            half = half + adjoint(left) @ da
        if not isinstance(db, AbstractZero):
            half = half - adjoint(left) @ db @ self.k
        if not isinstance(ds, AbstractZero):
            half = half - ds @ self.k
        if not isinstance(de, AbstractZero):
            half = half + adjoint(of_e) @ de
        if not isinstance(dq, AbstractZero):
            n = n + dq
        if not isinstance(dr, AbstractZero):
            n = n + adjoint(self.k) @ dr @ self.k
        return n if isinstance(half, AbstractZero) else n + half + adjoint(half)

    def tangent(self, n):
        return self.solve(adjoint(self.over_e(adjoint(self.over_e(n)))))

    def cotangents(self, xbar):
        """Functions for those of A, B, Q, R, E and S."""
        w = self.over_e_back(self.solve_adjoint(hermitian_part(xbar)))
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
        return np.linalg.solve(self.e, adjoint(np.linalg.solve(self.e, adjoint(z))))


class ContinuousLoop(Closed):
    def gain(self, a, r, s):
        right = self.times_e(adjoint(self.b) @ self.x)
        return np.linalg.solve(r, right if s is None else right + adjoint(s))

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
        return np.linalg.solve(r + b_h_x @ self.b, right if s is None else right + adjoint(s))

    def left_factors(self):
        return self.x @ self.f, -self.times_e(self.x)

    def solve(self, n):
        return seen_by_tracers(scipy.linalg.solve_discrete_lyapunov, adjoint(self.loop), n)

    def solve_adjoint(self, xbar):
        return seen_by_tracers(scipy.linalg.solve_discrete_lyapunov, self.loop, xbar)


def optional(x):
    return None if x is None else as_array(x)


def riccati_frule(f, loop, tangents, a, b, q, r, e, s, balanced):
    arguments = (a, b, q, r, e, s)
    moved = [
        ZERO_TANGENT if x is None else as_array_tangent(unthunk(tangent_at(tangents, i)), x)
        for i, x in enumerate(arguments)
    ]
    x = seen_by_tracers(f, a, b, q, r, e, s, balanced)
    if all(isinstance(part, AbstractZero) for part in moved):
        return x, ZERO_TANGENT
    closed = loop(x, as_array(a), as_array(b), as_array(r), optional(e), optional(s))
    return x, project_to(x)(hermitian_part(closed.tangent(closed.sources(*moved))))


def riccati_rrule(f, loop, a, b, q, r, e, s, balanced):
    x = seen_by_tracers(f, a, b, q, r, e, s, balanced)
    arguments = (a, b, q, r, e, s)
    projects = [project_to(argument) for argument in arguments]
    shapes = [None if argument is None else shape_of(argument) for argument in arguments]

    def riccati_pullback(xbar):
        xbar = unthunk(xbar)
        if isinstance(xbar, AbstractZero):
            return stop_early(NO_TANGENT, *[project(xbar) for project in projects])
        closed = loop(x, as_array(a), as_array(b), as_array(r), optional(e), optional(s))
        bars = closed.cotangents(xbar)
        return stop_early(
            NO_TANGENT,
            *[
                NO_TANGENT
                if project is NON_DIFFERENTIABLE
                else Thunk(lambda bar=bar, project=project, shape=shape: project(unbroadcast(bar(), shape)))
                for bar, project, shape in zip(bars, projects, shapes, strict=True)
            ],
        )

    return x, riccati_pullback


@frule.register(scipy.linalg.solve_continuous_are)
def solve_continuous_are_frule(tangents, a, b, q, r, e=None, s=None, balanced=True):
    return riccati_frule(scipy.linalg.solve_continuous_are, ContinuousLoop, tangents, a, b, q, r, e, s, balanced)


@rrule.register(scipy.linalg.solve_continuous_are)
def solve_continuous_are_rrule(a, b, q, r, e=None, s=None, balanced=True):
    """See `Closed`. SciPy refuses Q and R that are not Hermitian; their cotangents are."""
    return riccati_rrule(scipy.linalg.solve_continuous_are, ContinuousLoop, a, b, q, r, e, s, balanced)


@frule.register(scipy.linalg.solve_discrete_are)
def solve_discrete_are_frule(tangents, a, b, q, r, e=None, s=None, balanced=True):
    return riccati_frule(scipy.linalg.solve_discrete_are, DiscreteLoop, tangents, a, b, q, r, e, s, balanced)


@rrule.register(scipy.linalg.solve_discrete_are)
def solve_discrete_are_rrule(a, b, q, r, e=None, s=None, balanced=True):
    """See `Closed`."""
    return riccati_rrule(scipy.linalg.solve_discrete_are, DiscreteLoop, a, b, q, r, e, s, balanced)
