"""The derivatives of a sample input through a backend, beside those of the reference AD."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from types import MethodDescriptorType
from typing import Any, NamedTuple

import numpy as np
import optree

from rulescore import NoTangent
from tests.rulescore.backends.systems import Function, Reference, System
from testutils.samples.random_tangents import PrimalWithTangent
from testutils.samples.sampling import Sample

REFERENCE = Reference()


class Outcome(NamedTuple):
    """What a backend does with a sample in one mode: ``"right"``, ``"wrong"``, ``"raises"``, or why it is not asked."""

    verdict: str
    message: str = ""


class Problem:
    """A sample input as a function of its arrays, with cotangents and tangents.

    Raises
    ------
    NothingToDifferentiateError
        When there is no array with a derivative among arguments or results, or the function needs other objects.
    """

    def __init__(self, function: Any, sample: Sample) -> None:
        self.function = function if sample.function is None else sample.function
        if isinstance(self.function, MethodDescriptorType):  # of NumPy's arrays: it wants to be called as a method
            name = self.function.__name__
            self.function = lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs)
        self._kwargs = {name: _primal(value) for name, value in (sample.fkwargs or {}).items()}
        leaves, self._structure = optree.tree_flatten(tuple(sample.args))
        self._leaves = list(map(_primal, leaves))
        fixed = [isinstance(x, PrimalWithTangent) and x.tangent is NoTangent() for x in leaves]
        self._places = [i for i, x in enumerate(self._leaves) if REFERENCE.is_array(x) and not fixed[i]]
        self.primals = [np.asarray(self._leaves[i])[()] for i in self._places]
        rng = sample.rng()
        self.tangents = [_random_like(rng, x) for x in self.primals]
        outputs = self.in_system(REFERENCE)(*self.primals) if self._places else []
        if not outputs:
            raise NothingToDifferentiateError
        self.cotangents = [_random_like(rng, y) for y in outputs]
        self._references: dict[str, Any] = {}

    def in_system(self, system: System, is_compiled: bool = False) -> Function:
        """The outputs that have a derivative, from the arrays that have one."""
        converted = system.convert(self.function)
        if is_compiled:
            converted = system.compiled(converted)

        def outputs(*arrays: Any) -> list[Any]:
            leaves = list(self._leaves)
            for i, x in zip(self._places, arrays, strict=True):
                leaves[i] = x
            y = converted(*optree.tree_unflatten(self._structure, leaves), **self._kwargs)
            return [part for part in optree.tree_leaves(y) if system.is_array(part)]

        return outputs

    def derivative(self, system: System, mode: str) -> Callable[..., list[Any]]:
        """A derivative as a function of the arrays."""
        f = self.in_system(system)
        ybars, dxs = map(system.array, self.cotangents), map(system.array, self.tangents)
        ybars, dxs = list(ybars), list(dxs)

        def gradient(*xs: Any) -> list[Any]:
            return system.vjp(f, xs, ybars)

        return {
            "reverse": gradient,
            "forward": lambda *xs: system.jvp(f, xs, dxs),
            "reverse over reverse": lambda *xs: system.vjp(gradient, xs, dxs),
            "forward over reverse": lambda *xs: system.jvp(gradient, xs, dxs),
        }[mode]

    def reference(self, mode: str) -> list[Any] | None:
        """The derivative by the reference AD; None where there is none."""
        if mode not in self._references:
            try:
                self._references[mode] = self._arrays_of(REFERENCE, self.derivative(REFERENCE, mode))
            except Exception:  # opted out of second derivatives, for instance
                self._references[mode] = None
        return self._references[mode]  # type: ignore[no-any-return]

    def outcome(self, system: System, mode: str, is_compiled: bool = False) -> Outcome:
        """What the system answers, compared with the reference AD."""
        expected = self.reference(mode)
        if expected is None:
            return Outcome("no reference")
        try:
            derivative = self.derivative(system, mode)
            if is_compiled:
                derivative = self._compiled(system, mode)
            found = self._arrays_of(system, derivative)
        except Exception as error:
            causes = [error, *filter(None, [error.__cause__, error.__context__])]
            return Outcome("raises", " <- ".join(f"{type(cause).__name__}: {cause}" for cause in causes))
        for number, (x, y) in enumerate(zip(found, expected, strict=True)):
            apart = _apart(x, y)
            if not apart <= 1.0:
                return Outcome("wrong", f"array {number}: {x} in place of {y}")
        return Outcome("right")

    def _compiled(self, system: System, mode: str) -> Callable[..., list[Any]]:
        if system.framework == "torch":  # what is compiled is the function, which is then differentiated
            f = self.in_system(system, is_compiled=True)
            return lambda *xs: system.vjp(f, xs, [system.array(ybar) for ybar in self.cotangents])
        return system.compiled(self.derivative(system, mode))

    def _arrays_of(self, system: System, derivative: Callable[..., list[Any]]) -> list[Any]:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return [_as_numpy(y) for y in derivative(*map(system.array, self.primals))]


class NothingToDifferentiateError(Exception):
    """A sample input without arrays, or results, that have a derivative."""


def _primal(x: Any) -> Any:
    return x.primal if isinstance(x, PrimalWithTangent) else x


def _random_like(rng: np.random.Generator, x: Any) -> Any:
    parts = rng.standard_normal(np.shape(x)) + (1j * rng.standard_normal(np.shape(x)) if np.iscomplexobj(x) else 0)
    return np.asarray(parts, x.dtype if hasattr(x, "dtype") else None)[()]


def _as_numpy(x: Any) -> Any:
    if hasattr(x, "resolve_conj"):
        return x.detach().resolve_conj().resolve_neg().numpy()
    while hasattr(x, "_value"):
        x = x._value
    return np.asarray(x)


def _apart(x: Any, y: Any) -> float:
    """How far apart two arrays are, in units of what rounding explains."""
    if np.shape(x) != np.shape(y):
        return np.inf
    if np.size(x) == 0:
        return 0.0
    epsilon = float(max(np.finfo(x.dtype).eps, np.finfo(y.dtype).eps))
    finite = np.isfinite(y)
    if not np.array_equal(np.isfinite(x), finite):
        return np.inf
    scale = float(np.max(np.abs(y[finite]), initial=0.0))
    tolerance = 1e6 * epsilon * scale + 1e-12  # second derivatives by iterative solvers lose some digits more
    return float(np.max(np.abs(x[finite] - y[finite]), initial=0.0)) / tolerance


def problems(function: Any, samples: Sequence[Sample]) -> list[tuple[Sample, Problem]]:
    """Those samples of a function that a backend can be asked about."""
    found = []
    for sample in samples:
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found.append((sample, Problem(function, sample)))
        except NothingToDifferentiateError:
            pass
    return found
