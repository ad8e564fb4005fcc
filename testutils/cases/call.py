"""One call under test: a function and what it is called with, its own output, and how rules are called in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from rulescore import AbstractZero, NoTangent
from rulescore.tables.table import RuleTable
from rulescore.tangents.structure import tuple_of

from ..comparison.copies import deep_copy, shared_arrays, way_to_itself
from ..comparison.spaces import precision_of
from ..evidence.vector_function import VectorFunction
from ..evidence.vectorisation import Vector, layout_of, tangent_in_place, tangent_to_vector, vector_to_tangent
from ..reports.names import description_of, name_of, option_of
from ..samples.random_tangents import PrimalWithTangent, rand_tangent
from .arguments import Argument, SampleError, parameter_names, primal_of
from .config import TestConfig
from .rule_calls import rule_code
from .rule_places import in_own_words

MANY_ENTRIES = 1 << 13
"""Of a call with more numbers in its arguments, only what is about these numbers is checked at full size."""


class Call:
    """A function, its arguments with their tangents, and the rules that are asked about them; see `Case`."""

    def __init__(
        self,
        function: Any,
        args: tuple[Any, ...],
        fkwargs: Mapping[str, Any],
        *,
        modes: tuple[str, ...],
        rrule_f: Callable[..., Any],
        frule_f: Callable[..., Any],
        config: Any,
        output_tangent: Any,
        rng: np.random.Generator | int | None,
        of_sample: bool,
    ) -> None:
        self.modes = modes
        self.of_sample = of_sample
        self.coarseness = 1.0
        """The last digit in which its numbers are known, in units of their own last place."""
        self.may_be_shortened = True
        """Whether the same call with fewer entries says something about it."""
        self.rules: dict[str, Callable[..., Any]] = {"rrule": rrule_f, "frule": frule_f}
        self.config = config
        self._binding_config: Any = None
        self.rng = np.random.default_rng(0 if rng is None else rng)
        self.kwargs = {name: primal_of(value) for name, value in fkwargs.items()}
        self.given_output_tangent = output_tangent
        self.function, self.args = primal_of(function), tuple(map(primal_of, args))
        self.arguments = tuple(self._arguments(function, args, fkwargs))

    def _arguments(self, function: Any, args: tuple[Any, ...], given_kwargs: Mapping[str, Any]) -> Iterator[Argument]:
        yield self._argument(0, "the function itself", function)
        names = parameter_names(self.function)
        for index, arg in enumerate(args):
            name = f" ({names[index]})" if index < len(names) else ""
            yield self._argument(index + 1, f"argument {index}{name}", arg)
        for position, keyword in sorted(self._bound_keywords(given_kwargs).items()):
            yield self._argument(position + 1, f"argument {position} ({keyword})", given_kwargs[keyword], keyword)

    def _argument(self, position: int, label: str, arg: Any, keyword: str | None = None) -> Argument:
        value = primal_of(arg)
        if isinstance(arg, PrimalWithTangent):
            moves = arg.tangent is not NoTangent()
            return Argument(position, label, value, True, moves, lambda: arg.tangent, keyword)
        try:
            if "frule" not in self.modes and layout_of(value).size > MANY_ENTRIES:  # drawn if somebody asks for it
                seed = int(self.rng.integers(1 << 63))
                self._refuse_what_holds_itself(label, value)
                drawn = partial(_tangent_of_many, seed, value)
                return Argument(position, label, value, False, True, drawn, keyword)
            tangent = rand_tangent(self.rng, value)
        except Exception as error:
            raise SampleError(f"{self.call}: no random tangent for {label}: {error}") from error
        moves = tangent is not NoTangent()
        if moves:
            self._refuse_what_holds_itself(label, value)
        return Argument(position, label, value, False, moves, lambda: tangent, keyword)

    def _refuse_what_holds_itself(self, what: str, x: Any) -> None:
        way = way_to_itself(x)
        if way is not None:
            raise SampleError(
                f"{self.call}: {what}, {description_of(x)}, holds itself (at {way}): where its numbers are moved, the "
                "one within would stay as it is. Give an object without that reference, or test a function of the "
                "numbers that calls this one"
            )

    @cached_property
    def call(self) -> str:
        """The call as a reader would write it, with types for values."""
        args = [description_of(arg) for arg in self.args]
        keywords = [f"{name}={description_of(value)}" for name, value in self.kwargs.items()]
        return f"{name_of(self.function)}({', '.join([*args, *keywords])})"

    @cached_property
    def differentiable_arguments(self) -> tuple[Argument, ...]:
        """The arguments whose derivative is tested, the function itself included."""
        return tuple(argument for argument in self.arguments if argument.differentiable)

    @cached_property
    def is_declared_constant(self) -> bool:
        """Whether nothing is differentiated on purpose: by `non_differentiable`, or by the tangents given."""
        if any(argument.given for argument in self.arguments) and not self.differentiable_arguments:
            return True
        tables: list[Any] = [table for table in self.rules.values() if isinstance(table, RuleTable)]
        return any("non-differentiable" in record.tags for table in tables for record in table.records(self.function))

    @cached_property
    def is_large(self) -> bool:
        """Whether its arguments have so many numbers that what is asked of all of them is asked sparingly."""
        return sum(layout_of(argument.value).size for argument in self.arguments) > MANY_ENTRIES

    # The function itself.

    @cached_property
    def expected(self) -> Any:
        """The output of the function itself."""
        return self._primal_run[0]

    @cached_property
    def expected_sharing(self) -> set[tuple[str, str]]:
        """Which arrays of its output share memory with which of function, arguments and keywords."""
        return self._primal_run[1]

    @cached_property
    def _primal_run(self) -> tuple[Any, set[tuple[str, str]]]:
        function, args, kwargs = inputs = self.copies()
        try:
            output = function(*args, **kwargs)
            sharing = shared_arrays(output, inputs)
        except Exception as error:
            raise SampleError(
                f"{self.call}: the function itself raises {type(error).__name__} on these arguments ({error}); "
                "give arguments that it accepts"
            ) from error
        self._refuse_what_holds_itself("the output", output)
        return output, sharing

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
    def epsilon(self) -> float:
        """The machine epsilon of the coarsest number among arguments and output."""
        return precision_of(*(argument.value for argument in self.arguments), self.expected)

    @cached_property
    def output_tangent(self) -> Any:
        """The cotangent given to the pullback, a tuple of the same kind for a tuple."""
        if self.given_output_tangent is not None:
            try:
                tangent_to_vector(self.expected, self.given_output_tangent)
            except (TypeError, ValueError) as error:
                option = option_of("output_tangent=", self.of_sample)
                raise SampleError(f"{self.call}: {option} does not fit the output: {error}") from error
            return self.given_output_tangent
        tangent = rand_tangent(self.rng, self.expected)
        value = self.vector_function.y
        known = np.isfinite(value)
        if known.any() and not known.all():
            # Entries of the output that are no numbers have no derivative, and say nothing against those that are.
            tangent = vector_to_tangent(self.expected, np.where(known, tangent_to_vector(self.expected, tangent), 0.0))
        return self.as_output_tangent(tangent)

    def as_output_tangent(self, tangent: Any) -> Any:
        """A tangent of the output in the form in which pullbacks get it."""
        is_structural = isinstance(self.expected, tuple) and not isinstance(tangent, (AbstractZero, tuple))
        return tuple_of(type(self.expected), tangent) if is_structural else tangent

    @cached_property
    def output_cotangent_vector(self) -> Vector:
        """The cotangent of the output as real numbers."""
        return tangent_in_place(layout_of(self.expected), self.output_tangent)

    @cached_property
    def vector_function(self) -> VectorFunction:
        """The function under test as one from vectors to vectors."""
        values = [a.value for a in self.arguments]
        function = VectorFunction(self._call_with, values, strict=False, value=lambda: self.expected)
        if function.promoted and function.y.size != layout_of(self.expected).size:
            # Another length in more digits, as of a polynomial whose leading zeros are trimmed.
            function = VectorFunction(self._call_with, values, strict=False, promotes=False)
        return function

    def _call_with(self, function: Any, *values: Any) -> Any:
        keywords = {a.keyword: value for a, value in zip(self.arguments[1:], values, strict=True) if a.keyword}
        return function(*values[: len(self.args)], **{**self.kwargs, **keywords})

    # A rule in its place.

    def in_own_words(self, text: str, modes: tuple[str, ...] = ()) -> str:
        """A message about its rules, in the words of who wrote them."""
        return in_own_words(text, self.rules, modes)

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
        with rule_code(self.in_own_words(f"the {mode}")):
            return inputs, rule(*configs, *leading, function, *args, **kwargs)

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

    def most_cotangents(self) -> int:
        """How many cotangents a pullback may return: one per positional argument, also where that kept its default."""
        return 1 + max(len(self._names_of_parameters("rrule")), len(self._bound("rrule")[0]))

    def _bound(self, mode: str, *inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        function, args, kwargs = inputs or (self.function, self.args, self.kwargs)
        table = self.rules[mode]
        if not kwargs or not isinstance(table, RuleTable):
            return args, kwargs
        return table.bind(function, args, kwargs, self._binding_config)

    def _config_of(self, table: Any) -> Any:
        """What rules that call back receive."""
        return TestConfig() if self.config is None and isinstance(table, RuleTable) else self.config


def _tangent_of_many(seed: int, value: Any) -> Any:
    return rand_tangent(np.random.default_rng(seed), value)
