"""One call of one function, with everything the checks need to know about it, each thing computed once.

A case runs rules and finite differences but judges nothing; the judging is in `testutils.checks`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rulescore import AbstractZero, NoTangent, ZeroTangent, frule, rrule
from rulescore.tables.table import RuleTable
from testutils.cases import MODES
from testutils.cases.config import TestConfig
from testutils.cases.rule_calls import NotReachedError, RuleRaisedError, force, is_pair, reached, rule_code, vector_of
from testutils.comparison.copies import deep_copy
from testutils.comparison.spaces import precision_of
from testutils.comparison.verdicts import Tolerance
from testutils.evidence.finite_differences import Estimate, derivative_along
from testutils.evidence.probe import Probe
from testutils.evidence.vector_function import VectorFunction
from testutils.evidence.vectorisation import (
    Vector,
    entries_of,
    layout_of,
    tangent_to_vector,
    unit_roundoff,
    vector_to_tangent,
)
from testutils.reports.names import description_of, name_of
from testutils.samples.random_tangents import PrimalWithTangent, rand_tangent

ROUNDING = 32.0
"""Rounding error of a sum of well-conditioned terms, in machine epsilons of their magnitude."""

BALANCE = (0.05, 20.0)
"""Bounds of the weights that balance the entries of a direction."""

NEARBY = 6
"""How many points an ulp or two away tell the rounding noise of a rule."""


class SampleError(ValueError):
    """The inputs of a test are unusable: the function itself raises on them, or a tangent does not fit."""


@dataclass(frozen=True, eq=False)
class Argument:
    """A positional argument of a case, or the function itself at position 0, as it stands in a pullback's result."""

    position: int
    label: str
    value: Any
    tangent: Any
    given: bool
    keyword: str | None = None

    @property
    def differentiable(self) -> bool:
        """Whether its cotangent is a number, array or structure, and not `NoTangent`."""
        return self.tangent is not NoTangent()


@dataclass(frozen=True, eq=False)
class Primal:
    """A rule's own call: the copies it was given, and the output it returned with the way to its derivative."""

    inputs: tuple[Any, ...]
    output: Any
    derivative: Any


class Case:
    """A function, its arguments and the tangents along which its rules are tested.

    Parameters
    ----------
    function : callable
    args : tuple
        Positional arguments; one made by `with_tangent` carries its tangent.
    fkwargs : mapping
    modes : tuple of str
        ``"frule"``, ``"rrule"`` or both.
    rrule_f, frule_f : callable
        The rule tables, or an AD system in their place.
    config : RuleConfig or None
        What rules that call back into AD receive. None means `TestConfig` for the rule tables and nothing for others.
    output_tangent : object or None
        The cotangent given to the pullback; None means a random one.
    rtol, atol : float or None
        None means what the precision of arguments and output allows.
    fdm : object or None
        The finite difference method.
    order : int
        2 to have the pullback differentiated too.
    rng : numpy.random.Generator, int or None
    """

    def __init__(
        self,
        function: Any,
        args: tuple[Any, ...],
        *,
        fkwargs: Mapping[str, Any] | None = None,
        modes: tuple[str, ...] = MODES,
        rrule_f: Callable[..., Any] = rrule,
        frule_f: Callable[..., Any] = frule,
        config: Any = None,
        output_tangent: Any = None,
        rtol: float | None = None,
        atol: float | None = None,
        fdm: Any = None,
        order: int = 1,
        rng: np.random.Generator | int | None = None,
    ) -> None:
        if unknown := [mode for mode in modes if mode not in MODES]:
            raise ValueError(f"modes={modes!r}: {unknown[0]!r} is no mode of differentiation; write 'frule' or 'rrule'")
        if fdm is not None and fdm.q != 1:
            raise ValueError(f"fdm= is a method for derivatives of order {fdm.q}; give one with q=1")
        if order not in (1, 2):
            raise ValueError(f"order={order!r}: write 1, or 2 to have the pullback differentiated too")
        self.modes = modes
        self.order = order
        self.rules: dict[str, Callable[..., Any]] = {"rrule": rrule_f, "frule": frule_f}
        self.config = config
        self._binding_config: Any = None
        self.fdm = fdm
        self.rng = np.random.default_rng(0 if rng is None else rng)
        self.kwargs = {name: _primal(value) for name, value in (fkwargs or {}).items()}
        self.given_output_tangent = output_tangent
        self.function, self.args = _primal(function), tuple(map(_primal, args))
        self.arguments = tuple(self._arguments(function, args, fkwargs or {}))
        self.given_rtol, self.given_atol = rtol, atol
        self._directions: dict[int, list[Vector]] = {}
        self._probes: dict[tuple[tuple[int, ...], int], Probe] = {}
        self._pushforwards: dict[tuple[tuple[int, ...], int], Vector] = {}

    # What is being tested.

    def _arguments(self, function: Any, args: tuple[Any, ...], given_kwargs: Mapping[str, Any]) -> Iterator[Argument]:
        yield self._argument(0, "the function itself", function)
        names = _parameter_names(self.function)
        for index, arg in enumerate(args):
            name = f" ({names[index]})" if index < len(names) else ""
            yield self._argument(index + 1, f"argument {index}{name}", arg)
        for position, keyword in sorted(self._bound_keywords(given_kwargs).items()):
            yield self._argument(position + 1, f"argument {position} ({keyword})", given_kwargs[keyword], keyword)

    def _argument(self, position: int, label: str, arg: Any, keyword: str | None = None) -> Argument:
        value = _primal(arg)
        given = isinstance(arg, PrimalWithTangent)
        if given:
            return Argument(position, label, value, arg.tangent, True, keyword)
        try:
            tangent = rand_tangent(self.rng, value)
        except Exception as error:
            raise SampleError(f"{self.call}: no random tangent for {label}: {error}") from error
        return Argument(position, label, value, tangent, False, keyword)

    def _bound_keywords(self, given: Mapping[str, Any]) -> dict[int, str]:
        """The keywords that the rule takes by position, so that its pullback may answer for them.

        A rule that calls back into AD takes all by position, its tolerances too, in which the function is no smooth
        one: of such a rule only those count that carry a tangent of their own, as made by `with_tangent`.
        """
        mode = "rrule" if "rrule" in self.modes else "frule"
        bound = self._positions_of_keywords(mode)
        asked = {name for name, x in given.items() if isinstance(x, PrimalWithTangent) and x.tangent is not NoTangent()}
        if asked <= set(bound.values()):
            return bound
        self._binding_config = self._config_of(self.rules[mode])
        return bound | {p: name for p, name in self._positions_of_keywords(mode).items() if name in asked}

    def _positions_of_keywords(self, mode: str) -> dict[int, str]:
        bound, rest = self._bound(mode)
        moved = self.kwargs.keys() - rest.keys()
        if not moved:
            return {}
        names = self._names_of_parameters(mode)
        return {p: name for p, name in enumerate(names[: len(bound)]) if name in moved}

    def _names_of_parameters(self, mode: str) -> Sequence[str | None]:
        """Those that the rule takes by position; none of a rule that is in no table."""
        table = self.rules[mode]
        if not isinstance(table, RuleTable):
            return ()
        return table.parameter_names(self.function, self.args, self.kwargs, self._binding_config) or ()

    def _bound(self, mode: str, *inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        function, args, kwargs = inputs or (self.function, self.args, self.kwargs)
        table = self.rules[mode]
        if not kwargs or not isinstance(table, RuleTable):
            return args, kwargs
        return table.bind(function, args, kwargs, self._binding_config)

    def _config_of(self, table: Any) -> Any:
        """What rules that call back receive."""
        return TestConfig() if self.config is None and isinstance(table, RuleTable) else self.config

    @cached_property
    def call(self) -> str:
        """The call as a reader would write it, with types for values."""
        args = [description_of(arg) for arg in self.args]
        keywords = [f"{name}={description_of(value)}" for name, value in self.kwargs.items()]
        return f"{name_of(self.function)}({', '.join([*args, *keywords])})"

    @cached_property
    def expected(self) -> Any:
        """The output of the function itself."""
        return self._primal_run[1]

    @cached_property
    def expected_inputs(self) -> tuple[Any, ...]:
        """The copies of function, arguments and keywords from which `expected` was computed."""
        return self._primal_run[0]

    @cached_property
    def _primal_run(self) -> tuple[tuple[Any, ...], Any]:
        function, args, kwargs = inputs = self.copies()
        try:
            return inputs, function(*args, **kwargs)
        except Exception as error:
            raise SampleError(
                f"{self.call}: the function itself raises {type(error).__name__} on these arguments ({error}); "
                "give arguments that it accepts"
            ) from error

    def copies(self) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        """Fresh copies of function, arguments and keywords."""
        function = deep_copy(self.function)
        if function is not self.function and any(
            self._known_by_identity(rule, function) for rule in self.rules.values()
        ):
            function = self.function
        return function, deep_copy(self.args), deep_copy(self.kwargs)

    def _known_by_identity(self, table: Any, copied: Any) -> bool:
        """Whether an object has rules that a copy of it has not."""
        return isinstance(table, RuleTable) and table.records(copied) != table.records(self.function)

    @cached_property
    def differentiable_arguments(self) -> tuple[Argument, ...]:
        """The arguments whose derivative is tested, the function itself included."""
        return tuple(argument for argument in self.arguments if argument.differentiable)

    @cached_property
    def epsilon(self) -> float:
        """The machine epsilon of the coarsest number among arguments and output."""
        return precision_of(*(argument.value for argument in self.arguments), self.expected)

    @cached_property
    def tolerance(self) -> Tolerance:
        """When rule and finite difference agree: to the rounding of a sum, beside the finite difference's own error."""
        relative = ROUNDING * self.epsilon if self.given_rtol is None else self.given_rtol
        tiny = next(
            float(np.finfo(t).tiny) for t in (np.float64, np.float32, np.float16) if self.epsilon <= np.finfo(t).eps
        )
        return Tolerance(relative, self.given_atol or 0.0, max(1e-9, 2e3 * self.epsilon), tiny)

    @cached_property
    def output_tolerance(self) -> float:
        """How far the rule's output may be from the function's, relative to it; CRTU's 1e-9 in double precision."""
        default = max(1e-9, 2e3 * self.epsilon) if self.epsilon < 1e-4 else 20 * self.epsilon
        return default if self.given_rtol is None else self.given_rtol

    @cached_property
    def rounding(self) -> float:
        """How far two results of the same rule may be apart, relative to their magnitude."""
        return max(0.1 * self.output_tolerance, 16 * self.epsilon)

    def noise(self, *vectors: Vector) -> float:
        """The rounding error of a number that is linear in each of the vectors, with coefficients of order one.

        What a derivative that is exactly zero may come out as: the sum of x - mean(x), for example.
        """
        return 16 * self.epsilon * math.prod(float(np.linalg.norm(vector)) for vector in vectors)

    # Running rules.

    def run_rule(self, mode: str, *leading: Any, inputs: Any = None) -> tuple[tuple[Any, ...], Any]:
        """Call a rule on fresh copies of the arguments, or on ``inputs``; returns these and whatever it returned."""
        function, args, kwargs = inputs = inputs or self.copies()
        rule = self.rules[mode]
        if self._binding_config is not None or (leading and len(leading[0]) > 1 + len(args)):
            # A keyword with a tangent: only by position can its tangent be given too, and rules that call back answer
            # for what was given by position.
            args, kwargs = self._bound(mode, *inputs)
            leading = tuple((*dx, *[NoTangent()] * (1 + len(args) - len(dx))) for dx in leading)
        config = self._config_of(rule)
        configs = () if config is None else (config,)
        with rule_code(f"the {mode}"):
            return inputs, rule(*configs, *leading, function, *args, **kwargs)

    def run_rrule(self) -> Primal:
        """Call the rrule again, which has given an output and a pullback before."""
        inputs, result = self.run_rule("rrule")
        if not is_pair(result) or not callable(result[1]):
            raise RuleRaisedError(f"the rrule returned {description_of(result)} when it was called again")
        return Primal(inputs, *result)

    def run_frule(self, tangents: tuple[Any, ...]) -> Primal:
        """Call the frule again, along ``tangents``, one per `Argument`."""
        inputs, result = self.run_rule("frule", self.by_position(tangents))
        if not is_pair(result):
            raise RuleRaisedError(f"the frule returned {description_of(result)} when it was called again")
        return Primal(inputs, *result)

    def by_position(self, tangents: tuple[Any, ...]) -> tuple[Any, ...]:
        """Tangents, one per `Argument`, as an frule takes them: one per positional argument.

        Tangents of keywords follow only as far as one has a derivative, since most rules bind none.
        """
        pairs = zip(self.arguments, tangents, strict=True)
        placed = {a.position: dx for a, dx in pairs if a.keyword is None or not isinstance(dx, AbstractZero)}
        return tuple(placed.get(position, NoTangent()) for position in range(max(placed) + 1))

    @cached_property
    def reverse_attempt(self) -> tuple[tuple[Any, ...], Any]:
        """The first call of the rrule, whatever it returned."""
        return self.run_rule("rrule")

    @cached_property
    def forward_attempt(self) -> tuple[tuple[Any, ...], Any]:
        """The first call of the frule along the case's tangents, whatever it returned."""
        return self.run_rule("frule", self.by_position(self.forward_tangents))

    @cached_property
    def reverse(self) -> Primal:
        """The first call of the rrule, with its pullback."""
        inputs, result = reached(lambda: self.reverse_attempt)
        if not is_pair(result) or not callable(result[1]):
            raise NotReachedError
        return Primal(inputs, *result)

    @cached_property
    def forward(self) -> Primal:
        """The first call of the frule, with the tangent it returned."""
        inputs, result = reached(lambda: self.forward_attempt)
        if not is_pair(result):
            raise NotReachedError
        return Primal(inputs, *result)

    @cached_property
    def forward_tangents(self) -> tuple[Any, ...]:
        """The tangents the first call of the frule gets; copies, so that writing to them shows."""
        return tuple(deep_copy(argument.tangent) for argument in self.arguments)

    @cached_property
    def output_tangent(self) -> Any:
        """The cotangent given to the pullback, a plain tuple for a tuple."""
        if self.given_output_tangent is not None:
            try:
                tangent_to_vector(self.expected, self.given_output_tangent)
            except (TypeError, ValueError) as error:
                raise SampleError(f"{self.call}: output_tangent= does not fit the output: {error}") from error
            return self.given_output_tangent
        return self.as_output_tangent(rand_tangent(self.rng, self.expected))

    def as_output_tangent(self, tangent: Any) -> Any:
        """A tangent of the output in the form in which pullbacks get it."""
        plain_tuple = isinstance(self.expected, tuple) and not isinstance(tangent, (AbstractZero, tuple))
        return tuple(tangent) if plain_tuple else tangent

    def pull(self, pullback: Callable[[Any], Any], ybar: Any) -> tuple[Any, ...]:
        """Call a pullback again, which has returned a tuple before."""
        with rule_code("the pullback"):
            cotangents = pullback(ybar)
        if not isinstance(cotangents, tuple):
            raise RuleRaisedError(f"the pullback returned {description_of(cotangents)} when it was called again")
        return cotangents

    @cached_property
    def pullback_attempt(self) -> Any:
        """Whatever the first call of the pullback returned."""
        pullback = self.reverse.derivative
        self.given_cotangent = deep_copy(self.output_tangent)
        with rule_code("the pullback"):
            return pullback(self.given_cotangent)

    @cached_property
    def cotangents(self) -> tuple[Any, ...]:
        """The first pullback's result, one entry per `Argument`, thunks not forced."""
        result = reached(lambda: self.pullback_attempt)
        if not isinstance(result, tuple) or len(result) > self.most_cotangents:
            raise NotReachedError
        return result

    @cached_property
    def most_cotangents(self) -> int:
        """How many cotangents a pullback may return: one per positional argument, also where that kept its default."""
        names = self._names_of_parameters("rrule")
        return 1 + max(len(names), len(self._bound("rrule")[0]))

    def cotangent(self, argument: Argument) -> Any:
        """The cotangent of one argument, its thunk forced; `NotReachedError` where forcing raises."""
        return reached(lambda: force(entry_of(self.cotangents, argument)))

    def cotangent_vector(self, argument: Argument, cotangents: tuple[Any, ...] | None = None) -> Vector:
        """The cotangent of one argument as real numbers in the layout of `to_vector`.

        Taken from ``cotangents`` or from the first pullback's; `NotReachedError` where it is missing or has
        another shape than its primal.
        """
        found = self.cotangent(argument) if cotangents is None else force(entry_of(cotangents, argument))
        return vector_of(argument.value, found)

    def cotangent_vectors(self, cotangents: tuple[Any, ...]) -> dict[str, Vector]:
        """The cotangents that fit their primals as copied vectors, by label."""
        vectors: dict[str, Vector] = {}
        for argument in self.answered_arguments:
            with suppress(NotReachedError):
                vectors[argument.label] = self.cotangent_vector(argument, cotangents).copy()
        return vectors

    @cached_property
    def answered_arguments(self) -> tuple[Argument, ...]:
        """The arguments for which the first pullback gave a cotangent that fits its primal."""
        answered: list[Argument] = []
        for argument in self.differentiable_arguments:
            with suppress(NotReachedError):
                self.cotangent_vector(argument)
                answered.append(argument)
        return tuple(answered)

    def pushforward_vector(self, arguments: Sequence[Argument], index: int) -> Vector:
        """The frule's tangent of the output when arguments move along their `directions`, computed once."""
        key = (tuple(argument.position for argument in arguments), index)
        if key not in self._pushforwards:
            self._pushforwards[key] = self._new_pushforward(arguments, index)
        return self._pushforwards[key]

    def _new_pushforward(self, arguments: Sequence[Argument], index: int) -> Vector:
        if index == 0 and len(arguments) == len(self.differentiable_arguments):
            return vector_of(self.expected, reached(lambda: force(self.forward.derivative)))
        tangents = self.tangents_of(self.direction_of(arguments, index))
        try:
            return self.pushforward(tangents)
        except NotReachedError:
            # A derivative that is not implemented spoils the sum, unless its tangent is a strong zero.
            strong_zeros = [ZeroTangent() if a.differentiable else NoTangent() for a in self.arguments]
            pairs = zip(self.arguments, tangents, strong_zeros, strict=True)
            return self.pushforward(tuple(dx if a in arguments else zero for a, dx, zero in pairs))

    def pushforward(self, tangents: tuple[Any, ...]) -> Vector:
        """The frule's tangent of the output along ``tangents``, as a vector."""
        return vector_of(self.expected, force(self.run_frule(tangents).derivative))

    @cached_property
    def output_cotangent_vector(self) -> Vector:
        """The cotangent of the output as real numbers."""
        return np.asarray(tangent_to_vector(self.expected, self.output_tangent))

    # Directions, and finite differences along them.

    def directions(self, argument: Argument) -> list[Vector]:
        """Directions in which the derivative with respect to one argument is tested.

        The argument's own tangent, and one in which every entry weighs about as much in the pullback's result as any
        other, so that an error in a single entry shows. Where the tangent was given there is that one alone: others may
        leave the domain (of symmetric matrices, say).
        """
        if argument.position not in self._directions:
            self._directions[argument.position] = self._new_directions(argument)
        return self._directions[argument.position]

    def _new_directions(self, argument: Argument) -> list[Vector]:
        own = np.asarray(tangent_to_vector(argument.value, argument.tangent))
        if argument.given:
            return [own]
        generator = np.random.default_rng([argument.position, own.size])
        signs = generator.choice((-1.0, 1.0), own.size)
        balanced = signs * generator.uniform(0.5, 1.5, own.size) * self._balance(argument)
        # As the argument's own precision has it, since an frule gets it so.
        return [own, np.asarray(tangent_to_vector(argument.value, vector_to_tangent(argument.value, balanced)))]

    def _balance(self, argument: Argument) -> Vector | float:
        """Weights that make large entries of a cotangent small and small ones large, within bounds."""
        try:
            xbar = np.abs(self.cotangent_vector(argument)) if "rrule" in self.modes else np.zeros(0)
        except NotReachedError:
            return 1.0
        usable = np.isfinite(xbar) & (xbar > 0)
        if not usable.any():
            return 1.0
        with np.errstate(all="ignore"):
            weights = np.clip(np.median(xbar[usable]) / xbar, *BALANCE)
        return np.where(usable, weights, 1.0)

    def direction_of(self, arguments: Sequence[Argument], index: int) -> Vector:
        """Several arguments moving at once, each along its direction of this index, as one vector over all."""
        direction = np.zeros(self.vector_function.x.size)
        for argument in arguments:
            own = self.directions(argument)
            direction[self.part_of(argument)] = own[min(index, len(own) - 1)]
        return direction

    def part_of(self, argument: Argument) -> slice[int, int, None]:
        """Where an argument lies in a vector over all of them."""
        return self.vector_function.arguments[self.arguments.index(argument)][1]

    def tangents_of(self, direction: Vector) -> tuple[Any, ...]:
        """A vector over all arguments as tangents, one per `Argument`."""
        return tuple(vector_to_tangent(a.value, direction[self.part_of(a)]) for a in self.arguments)

    @cached_property
    def vector_function(self) -> VectorFunction:
        """The function under test as one from vectors to vectors."""
        return VectorFunction(self._call_with, [a.value for a in self.arguments], strict=False)

    def probe(self, arguments: Sequence[Argument], index: int) -> Probe:
        """What is known of the derivative when these arguments move along their directions of this index."""
        if index < 0:
            index += max(len(self.directions(argument)) for argument in arguments)
        key = tuple(argument.position for argument in arguments), index
        if key not in self._probes:
            others = list(self._probes.values())
            step = next((step for probe in others if (step := probe.best_step) is not None), None)
            special = any(probe.is_special for probe in others)
            direction = self.direction_of(arguments, index)
            # The weighted sum is what an rrule is asked for; a single output has none.
            wanted = "rrule" in self.modes and self.vector_function.y.size > 1
            weights = self.output_cotangent_vector if wanted else None
            self._probes[key] = Probe(self.vector_function, direction, self.fdm, step, special, weights)
        return self._probes[key]

    def derivative_along(self, argument: Argument, direction: Vector, fdm: Any = None) -> Estimate:
        """The derivative of the output when one argument moves along a direction and all others stay."""
        return derivative_along(self.vector_function, self.embedded(argument, direction), fdm or self.fdm)

    def embedded(self, argument: Argument, direction: Vector) -> Vector:
        """A direction of one argument as a vector over all of them, in which the others stay."""
        joint = np.zeros(self.vector_function.x.size)
        joint[self.part_of(argument)] = direction
        return joint

    @cached_property
    def in_double_precision(self) -> Case | None:
        """The same case with the same numbers in float64, where they came in less and the function takes them so.

        It shares what finite differences have found, since those are of the function in float64 anyway.
        """
        if not self.vector_function.promoted:
            return None

        def promoted(argument: Argument) -> PrimalWithTangent:
            layout = layout_of(argument.value)
            value = layout.rebuild(entries_of(layout), True)
            return PrimalWithTangent(value, vector_to_tangent(value, self.directions(argument)[0]))

        values = {argument.position: promoted(argument) for argument in self.arguments if argument.differentiable}
        args = [values.get(position, arg) for position, arg in enumerate(self.args, 1)]
        keywords = {a.keyword: values[a.position] for a in self.arguments if a.keyword and a.differentiable}
        twin = Case(
            values.get(0, self.function),
            tuple(args),
            fkwargs={**self.kwargs, **keywords},
            modes=self.modes,
            rrule_f=self.rules["rrule"],
            frule_f=self.rules["frule"],
            config=self.config,
            rtol=self.given_rtol,
            atol=self.given_atol,
            fdm=self.fdm,
        )
        twin._directions, twin._probes = self._directions, self._probes
        twin.vector_function = self.vector_function
        twin.expected = self.vector_function.value
        twin.output_tangent = twin.as_output_tangent(vector_to_tangent(twin.expected, self.output_cotangent_vector))
        return twin

    # How far rounding moves the rules' results.

    @cached_property
    def nearby_cotangents(self) -> list[tuple[Any, ...]]:
        """What the pullback returns when the arguments and its cotangent change in their last digits."""
        found = []
        for shaken, inputs in self._nearby():
            with suppress(NotReachedError, RuleRaisedError):
                _, result = self.run_rule("rrule", inputs=inputs)
                if is_pair(result) and callable(result[1]):
                    ybar = vector_to_tangent(self.expected, shaken(self.expected, self.output_cotangent_vector))
                    found.append(self.pull(result[1], self.as_output_tangent(ybar)))
        return found

    def nearby_pushforwards(self, direction: Vector) -> list[Vector]:
        """What the frule returns when the arguments and their tangents change in their last digits."""
        found = []
        for shaken, inputs in self._nearby():
            with suppress(NotReachedError, RuleRaisedError):
                tangents = tuple(
                    vector_to_tangent(a.value, shaken(a.value, direction[self.part_of(a)])) for a in self.arguments
                )
                _, result = self.run_rule("frule", self.by_position(tangents), inputs=inputs)
                if is_pair(result):
                    found.append(vector_of(self.expected, force(result[1])))
        return found

    def _nearby(self) -> Iterator[tuple[Callable[[Any, Vector], Vector], Any]]:
        generator = np.random.default_rng(1)

        def shaken(x: Any, entries: Vector) -> Vector:
            """Entries in the layout of ``x``, moved by up to two units in the last place of its precision."""
            return np.asarray(entries * (1.0 + generator.integers(-2, 3, entries.size) * unit_roundoff(layout_of(x))))

        for _ in range(NEARBY):
            function, args, kwargs = self.copies()
            moved = list(args)
            for argument in self.arguments[1:]:
                layout = layout_of(argument.value)
                near = layout.rebuild(shaken(argument.value, entries_of(layout)), False)
                if argument.keyword is not None:
                    kwargs[argument.keyword] = near
                elif argument.differentiable:
                    moved[argument.position - 1] = near
            yield shaken, (function, tuple(moved), kwargs)

    def _call_with(self, function: Any, *values: Any) -> Any:
        keywords = {a.keyword: value for a, value in zip(self.arguments[1:], values, strict=True) if a.keyword}
        return function(*values[: len(self.args)], **{**self.kwargs, **keywords})


def entry_of(cotangents: tuple[Any, ...], argument: Argument) -> Any:
    """The cotangent of one argument; a pullback may stop early, and what is missing is `NoTangent`."""
    return cotangents[argument.position] if argument.position < len(cotangents) else NoTangent()


def _primal(arg: Any) -> Any:
    return arg.primal if isinstance(arg, PrimalWithTangent) else arg


def _parameter_names(function: Any) -> list[str]:
    """The names of a function's positional parameters, none where Python does not know them."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter.name for parameter in parameters if parameter.kind in positional]
