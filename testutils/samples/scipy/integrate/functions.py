"""Sample inputs of the integrals of functions, and of the solvers of initial value problems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.integrate

from testutils.sampling import Sample, sample, sample_inputs

ROUNDED = 1e-6


def bell(t: Any, p: Any) -> Any:
    """A function of a number with a parameter."""
    return np.exp(-p * t**2)


def bells(t: Any, p: Any) -> Any:
    """Functions of a number with parameters."""
    return np.exp(-p * t)


def first_of_error(value: Any) -> Any:
    """A cotangent of an integral, and none of its error estimate."""
    return (value, 0.0)


@sample_inputs(scipy.integrate.quad)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    p = 0.5 + rng.random()
    yield sample(bell, 0.2, 1.5, (p,), _output_tangent=first_of_error(1.5), _rtol=ROUNDED)


@sample_inputs(scipy.integrate.quad_vec)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    bar = first_of_error(rng.standard_normal(2))
    yield sample(bells, 0.2, 1.5, args=(0.5 + rng.random(2),), _output_tangent=bar, _rtol=ROUNDED)


@sample_inputs(scipy.integrate.fixed_quad)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(bell, 0.2, 1.5, (0.5 + rng.random(),), 4, _rtol=ROUNDED)


def pendulum(t: Any, y: Any, p: Any) -> Any:
    """The rate of a damped pendulum."""
    return np.stack([y[1], -np.sin(y[0]) - p * y[1]])


def pendulum_of_state(y: Any, t: Any, p: Any) -> Any:
    """The same for solvers that give the state first."""
    return pendulum(t, y, p)


@sample_inputs(scipy.integrate.odeint)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    t, y0 = np.array([0.0, 0.5, 1.0]), rng.standard_normal(2)
    yield sample(pendulum_of_state, y0, t, (0.3,), rtol=1e-11, atol=1e-11, _rtol=1e-5)
