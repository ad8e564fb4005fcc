"""Sample inputs of `rulescore.closures`: calls of SciPy's solvers as functions of what their functions captured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.integrate
import scipy.optimize

from rulescore import instances_of
from rulescore.closures.explicit_calls import ExplicitCall, made_explicit

from ..sampling import Sample, sample, sample_inputs


def call_of(count: int, call_with: Any) -> ExplicitCall:
    """The call that a program makes of so many values that are differentiated.

    ``call_with(values)`` is the function that is called, its arguments, and its keywords.
    """
    from rulescore.ad import vjp

    found = []

    def program(values: Any) -> Any:
        explicit = made_explicit(*call_with(values))
        assert explicit is not None
        found.append(explicit[0])
        return values[0]

    vjp(program, [1.0] * count)
    return found[0]


def root(values: Any) -> Any:
    """A root of a function that captures two values."""
    return scipy.optimize.toms748, (lambda x: values[0] * x**3 + x - values[1], 0, 4), {}


def area(values: Any) -> Any:
    """An integral of a function that captures one value, up to another, with an argument by keyword."""
    return scipy.integrate.fixed_quad, (lambda t, c: np.exp(-values[0] * c * t), 0, values[1]), {"args": (values[2],)}


@sample_inputs(instances_of(ExplicitCall))
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample([*(1.0 + rng.random(2))], _function=call_of(2, root), _name="a root", _rtol=1e-6)
    bar = (1.5, None)
    yield sample([*(1.0 + rng.random(3))], _function=call_of(3, area), _name="an integral", _output_tangent=bar)
