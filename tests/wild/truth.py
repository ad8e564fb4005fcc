"""What is true of an entry: its value, and its derivative along a direction of each argument by finite differences."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from testutils.evidence.finite_differences import directional_derivative

Vector = np.ndarray[Any, Any]

LARGEST_ERROR = 1e-5
"""Of a finite difference that is believed, of the largest component. Those of the list were chosen below 1e-6."""

RTOL_OF_VALUE = 1e-9
RTOL = 2e-5
"""Of the largest component, beside ten times what the finite differences say of their own error.

The derivative of a solution is not that of its approximation: that of `scipy.integrate.odeint` at its own tolerance,
1.5e-8, differs from the finite differences by 6.4e-6 in ``nashpy``; all others that are right do by less than 1e-6.
"""


class NoTruthError(Exception):
    """The entry's finite differences say little, or nothing: its numbers have to be chosen anew."""


def leaves(y: Any) -> list[Any]:
    """The numbers and arrays within dicts, lists and tuples."""
    return list(_leaves(y))


def _leaves(y: Any) -> Iterator[Any]:
    if isinstance(y, dict):
        y = list(y.values())
    if isinstance(y, list | tuple):
        for item in y:
            yield from _leaves(item)
    else:
        yield y


def vector(parts: list[Any]) -> Vector:
    """Numbers and arrays as a vector of real numbers: of complex ones the real parts and the imaginary ones."""
    flat = [np.ravel(np.asarray(part)) for part in parts]
    return np.concatenate([np.concatenate([x.real, x.imag]) if x.dtype.kind == "c" else x for x in flat])


@dataclass(frozen=True)
class Truth:
    """Of an entry: where among the leaves of its output the numbers are, what they are, and how they move."""

    function: Callable[..., Any]
    primals: tuple[Any, ...]
    moving: list[int]
    values: list[Any]
    cotangents: list[Any]
    directions: list[Any]
    slopes: list[Vector]
    errors: list[Vector]

    @classmethod
    def of(cls, function: Callable[..., Any], primals: tuple[Any, ...]) -> Truth:
        """Call the function as it is."""
        rng = np.random.default_rng(0)
        found = leaves(called(function, primals))
        moving = [i for i, leaf in enumerate(found) if np.asarray(leaf).dtype.kind in "fc"]
        values = [np.asarray(found[i]) for i in moving]
        if not values or not np.all(np.isfinite(vector(values))):
            raise NoTruthError("the value is no number")
        directions = [_direction(rng, x) for x in primals]
        slopes, errors = [], []
        for position, dx in enumerate(directions):

            def along(x: Any, position: int = position) -> Vector:
                moved = (*primals[:position], x, *primals[position + 1 :])
                return vector([leaves(called(function, moved))[i] for i in moving])

            estimate = directional_derivative(along, [primals[position]], [dx])
            scale = np.max(np.abs(estimate.value), initial=0.0)
            if not np.max(estimate.error, initial=0.0) <= LARGEST_ERROR * scale or scale == 0.0:
                raise NoTruthError(f"the derivative of argument {position} is not known: {estimate.note}")
            slopes.append(estimate.value)
            errors.append(estimate.error)
        cotangents = [_cotangent(rng, y) for y in values]
        return cls(function, primals, moving, values, cotangents, directions, slopes, errors)

    def outputs(self, function: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
        """The function, of whose output the numbers are left: for a system to differentiate."""

        def numbers(*primals: Any) -> tuple[Any, ...]:
            found = leaves(called(function, primals))
            return tuple([found[i] for i in self.moving])

        return numbers

    def check_value(self, values: list[Any]) -> None:
        """Raise `WrongError` where a system computes something else than the function."""
        expected, got = vector(self.values), vector(values)
        if got.shape != expected.shape:
            raise WrongError(f"the value has {got.size} numbers, not {expected.size}")
        _compare("the value", got, expected, RTOL_OF_VALUE * np.max(np.abs(expected)))

    def check_sum(self, value: Any) -> None:
        """Raise `WrongError` where the sum of the values, weighed with the cotangents, is another one."""
        terms = vector(self.values) * vector(self.cotangents)
        _compare("the value", value, np.sum(terms), RTOL_OF_VALUE * np.sum(np.abs(terms)))

    def check_pushed(self, position: int, tangents: list[Any]) -> None:
        """Raise `WrongError` where the derivative along the direction of an argument is another one."""
        slope, error = self.slopes[position], self.errors[position]
        got = vector(tangents)
        if got.shape != slope.shape:
            raise WrongError(f"forward, argument {position}: {got.size} numbers, not {slope.size}")
        _compare(f"forward, argument {position}", got, slope, 10 * error + RTOL * np.max(np.abs(slope)))

    def check_pulled(self, cotangents: list[Any]) -> None:
        """Raise `WrongError` where what is pulled back does not agree with the finite differences."""
        ybar = vector(self.cotangents)
        for position, (xbar, dx) in enumerate(zip(cotangents, self.directions, strict=True)):
            slope, error = self.slopes[position], self.errors[position]
            got, expected = np.sum(np.asarray(xbar) * dx), ybar @ slope
            tolerance = np.abs(ybar) @ (10 * error + RTOL * np.abs(slope)) + RTOL * np.max(np.abs(ybar * slope))
            _compare(f"reverse, argument {position}", got, expected, tolerance)


class WrongError(Exception):
    """A system's numbers are not those of the function."""


def called(function: Callable[..., Any], primals: tuple[Any, ...]) -> Any:
    """The function's output, at arguments that it may write into, and with the same random numbers each time."""
    np.random.seed(0)  # noqa: NPY002 - some of the libraries draw from it
    with np.errstate(all="ignore"):
        return function(*[copy.copy(x) if type(x) is np.ndarray else x for x in primals])


def _compare(what: str, got: Any, expected: Any, tolerance: Any) -> None:
    difference = np.abs(got - expected)
    if not np.all(difference <= tolerance):
        raise WrongError(f"{what} is off by {np.max(difference):.1e} of {np.max(np.abs(expected)):.1e}")


def _direction(rng: np.random.Generator, x: Any) -> Any:
    """Relative to the size of each number, for they are of different units; zeros move by a tenth of the largest."""
    if not isinstance(x, np.ndarray):
        return x or 1.0
    size = np.abs(x)
    return rng.standard_normal(x.shape) * (size + 0.1 * (np.max(size) or 10.0))


def _cotangent(rng: np.random.Generator, y: Any) -> Any:
    ybar = rng.standard_normal(y.shape)
    return ybar + 1j * rng.standard_normal(y.shape) if y.dtype.kind == "c" else ybar
