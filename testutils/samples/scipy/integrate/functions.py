"""Sample inputs of the integrals of functions, and of the solvers of initial and boundary value problems."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.integrate

from rulescore import Tangent
from rulescore.shipped import import_shipped

from ...sampling import Sample, sample, sample_inputs
from ..optimize.problems import IN_PARTS

_quadrature = import_shipped("rules.scipy.integrate.quadrature")
quad_of_array = _quadrature.quad_of_array
quad_vec_alone = _quadrature.quad_vec_alone


def bell(t: Any, p: Any) -> Any:
    """A function of a number with a parameter."""
    return np.exp(-p * t**2)


def bells(t: Any, p: Any) -> Any:
    """Functions of a number with parameters."""
    return np.exp(-p * t)


def first_of_error(value: Any) -> Any:
    """A cotangent of an integral, and none of its error estimate."""
    return (value, 0.0)


SMALL = {"larger": "the integral is smaller there than the absolute tolerance of quad"}


@sample_inputs(scipy.integrate.quad)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    p = 0.5 + rng.random()
    yield sample(bell, 0.2, 1.5, (p,), _output_tangent=first_of_error(1.5), _skip=IN_PARTS | SMALL)


@sample_inputs(scipy.integrate.quad_vec)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    bar = first_of_error(rng.standard_normal(2))
    yield sample(bells, 0.2, 1.5, args=(0.5 + rng.random(2),), _output_tangent=bar, _skip=IN_PARTS)


@sample_inputs(scipy.integrate.fixed_quad)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(bell, 0.2, 1.5, (0.5 + rng.random(),), 4)


@dataclass
class Bells:
    """Functions of a number, with parameters of their own."""

    p: Any

    def __call__(self, t: Any) -> Any:
        return bells(t, self.p)


@sample_inputs(quad_of_array)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(bells, 0.2, 1.5, (0.5 + rng.random(2),), _skip=SMALL)
    yield sample(bells, 0.2, 1.5, (0.5 + rng.random(2),), settings={"limit": 60}, _skip=SMALL)


@sample_inputs(quad_vec_alone)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(Bells(0.5 + rng.random(2)), 0.2, 1.5, {}, _skip=IN_PARTS)


def hill(y: Any, x: Any, p: Any) -> Any:
    """A polynomial of two numbers with a parameter: what is steep somewhere takes thousands of values."""
    return p**2 * x + p * y**2


def sloped(x: Any) -> Any:
    """A limit that depends on the variable outside."""
    return 0.5 + x


@sample_inputs(scipy.integrate.dblquad)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    bar, p = first_of_error(1.5), (0.5 + rng.random(),)
    yield sample(hill, 0.1, 1.0, 0.0, 0.7, p, _output_tangent=bar, _skip=IN_PARTS)
    yield sample(hill, 0.1, 1.0, 0.0, sloped, p, _output_tangent=bar, _skip=IN_PARTS)


def mound(z: Any, y: Any, x: Any) -> Any:
    """A function of three numbers."""
    return x + y * z**2


@sample_inputs(scipy.integrate.tplquad)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    # Inner limits are integers, which do not move: a gradient that has them takes several times as long. Those of
    # dblquad and nquad move, whose rules are made in the same way.
    limits = (0.1, 0.9 + rng.random(), 0, 1, -1, 2)
    yield sample(mound, *limits, _output_tangent=first_of_error(1.5), _skip=IN_PARTS)


@sample_inputs(scipy.integrate.nquad)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    ranges, p = [(0.1, 1.0), (0.0, 0.7)], (0.5 + rng.random(),)
    yield sample(hill, ranges, p, _output_tangent=first_of_error(1.5), _skip=IN_PARTS)


def pendulum(t: Any, y: Any, p: Any) -> Any:
    """The rate of a damped pendulum."""
    return np.stack([y[1], -np.sin(y[0]) - p * y[1]])


TWO = dict.fromkeys(["empty", "size-1 axis"], "a pendulum has two components")
TIGHT = {"rtol": 1e-11, "atol": 1e-11}
TIGHTLY_SOLVED = 1e-7  # rules and finite differences were seen to differ by up to 1e-9, which are solved to 1e-11


def pendulum_of_state(y: Any, t: Any, p: Any) -> Any:
    """The same for solvers that give the state first."""
    return pendulum(t, y, p)


@sample_inputs(scipy.integrate.odeint)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    t, y0 = np.array([0.0, 0.1, 0.2]), rng.standard_normal(2)
    yield sample(pendulum_of_state, y0, t, (0.3,), **TIGHT, _rtol=TIGHTLY_SOLVED, _skip=TWO)


@sample_inputs(scipy.integrate.solve_ivp)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    times, y0 = np.array([0.1, 0.3]), rng.standard_normal(2)
    of_result = type(scipy.integrate.solve_ivp(pendulum, (0.0, 1.0), y0, args=(0.3,)))
    known = Tangent(of_result, t=rng.standard_normal(2), y=rng.standard_normal((2, 2)))
    yield sample(
        *(pendulum, (0.0, 0.4), y0, "DOP853", times),
        args=(0.3,),
        **TIGHT,
        _output_tangent=known,
        _skip=IN_PARTS | TWO,
        _rtol=TIGHTLY_SOLVED,
        _name="times that are asked for",
    )


# ---------------------------------------------------------------- boundary value problems


@dataclass
class Beam:
    """y'' = p x + q y, which is solved in one step of Newton's method."""

    p: Any
    q: Any

    def __call__(self, x: Any, y: Any) -> Any:
        return np.stack([y[1], self.p * x + self.q * y[0]])


@dataclass
class Ends:
    """What a beam is at its ends."""

    left: Any
    right: Any

    def __call__(self, first: Any, last: Any) -> Any:
        return np.stack([first[0] - self.left, last[0] - self.right])


@sample_inputs(scipy.integrate.solve_bvp)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    beam, ends, x = Beam(1.0 + rng.random(), rng.random()), Ends(*rng.standard_normal(2)), np.linspace(0.1, 1.3, 6)
    of_result = type(scipy.integrate.solve_bvp(beam, ends, x, np.zeros((2, 6))))
    fields = {name: rng.standard_normal((2, 6)) for name in ("y", "yp")}
    known = Tangent(of_result, x=rng.standard_normal(6), **fields)
    yield sample(beam, ends, x, np.zeros((2, 6)), _output_tangent=known, _skip=IN_PARTS)
