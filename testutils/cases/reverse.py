"""Reverse mode of a case: the rrule, its pullback, and the cotangents that it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rulescore import NoTangent

from ..comparison.copies import deep_copy
from ..evidence.vectorisation import Vector, vector_to_tangent
from ..reports.names import description_of
from .arguments import Argument
from .call import Call
from .nearby import inputs_nearby
from .rule_calls import (
    NotReachedError,
    Primal,
    RuleRaisedError,
    force,
    is_pair,
    reached,
    rule_code,
    vector_of,
)


@dataclass(frozen=True, eq=False)
class SecondCall:
    """The rrule called once more, and its pullback with the same cotangent."""

    run: Primal
    output: Any
    """A copy of the output, as it came."""
    cotangents: tuple[Any, ...]
    """What the pullback returned."""
    vectors: dict[str, Vector]
    """The same as it came, by label."""


class ReverseMode:
    """What the rrule of a call answers, each thing computed once."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._nearby: dict[bytes, list[tuple[Any, ...]]] = {}
        self._vectors: dict[int, Vector] = {}

    @cached_property
    def attempt(self) -> tuple[tuple[Any, ...], Any]:
        """The first call of the rrule, whatever it returned."""
        return self._call.run_rule("rrule")

    @cached_property
    def primal(self) -> Primal:
        """The first call of the rrule, with its pullback."""
        inputs, result = reached(lambda: self.attempt)
        if not is_pair(result) or not callable(result[1]):
            raise NotReachedError
        return Primal(inputs, *result)

    def forget_first_call(self) -> None:
        """Keep of the first call the cotangents as vectors; what else is asked for takes another call of the rule."""
        if "cotangents" not in self.__dict__:
            return
        _ = self.answered_arguments
        self.given_cotangent = None
        for name in ("attempt", "primal", "pullback_attempt", "cotangents"):
            self.__dict__.pop(name, None)

    def forget_cotangents(self) -> None:
        """Keep nothing of the first call; cotangents that are asked for take another one."""
        self.forget_first_call()
        self._vectors.clear()

    def run(self) -> Primal:
        """Call the rrule again, which has given an output and a pullback before."""
        inputs, result = self._call.run_rule("rrule")
        if not is_pair(result) or not callable(result[1]):
            raise RuleRaisedError(f"the rrule returned {description_of(result)} when it was called again")
        return Primal(inputs, *result)

    @cached_property
    def second(self) -> SecondCall:
        """A second call of the rule, after which the first one's results are as they were."""
        run = self.run()
        output = deep_copy(run.output)
        cotangents = self.pull(run.derivative, deep_copy(self._call.output_tangent))
        return SecondCall(run, output, cotangents, self.cotangent_vectors(cotangents))

    @cached_property
    def repeated(self) -> dict[str, Vector]:
        """What the pullback of the second call returns when it is called again with the same cotangent, by label."""
        again = self.pull(self.second.run.derivative, deep_copy(self._call.output_tangent))
        return self.cotangent_vectors(again)

    @cached_property
    def _is_repeatable(self) -> bool:
        with suppress(RuleRaisedError):
            first, again = self.second.vectors, self.repeated
            return first.keys() == again.keys() and all(
                np.array_equal(vector, again[label], equal_nan=True) for label, vector in first.items()
            )
        return False

    def answer(self, ybar: Any) -> dict[str, Vector]:
        """What the pullback makes of another cotangent, by label."""
        return self.cotangent_vectors(self.pull(self.another_pullback(), ybar))

    def another_pullback(self) -> Callable[[Any], Any]:
        """A pullback for another cotangent.

        That of the second call of the rule serves all who ask, if it gives the same when it is called again; else each
        has one of its own, and another check says why. Of very many entries it is not asked that often.
        """
        if self._call.is_large:
            return self._pullback_of_many
        return (self.second.run if self._is_repeatable else self.run()).derivative  # type: ignore[no-any-return]

    @cached_property
    def _pullback_of_many(self) -> Callable[[Any], Any]:
        return self.run().derivative  # type: ignore[no-any-return]

    @cached_property
    def pullback_attempt(self) -> Any:
        """Whatever the first call of the pullback returned."""
        pullback = self.primal.derivative
        self.given_cotangent = deep_copy(self._call.output_tangent)
        with rule_code(self._call.in_own_words("the pullback")):
            return pullback(self.given_cotangent)

    def pull(self, pullback: Callable[[Any], Any], ybar: Any) -> tuple[Any, ...]:
        """Call a pullback again, which has returned a tuple before."""
        with rule_code(self._call.in_own_words("the pullback")):
            cotangents = pullback(ybar)
        if not isinstance(cotangents, tuple):
            what = self._call.in_own_words("the pullback")
            raise RuleRaisedError(f"{what} returned {description_of(cotangents)} when it was called again")
        return cotangents

    @cached_property
    def cotangents(self) -> tuple[Any, ...]:
        """The first pullback's result, one entry per `Argument`, thunks not forced."""
        result = reached(lambda: self.pullback_attempt)
        if not isinstance(result, tuple) or len(result) > self._call.most_cotangents():
            raise NotReachedError
        return result

    def cotangent(self, argument: Argument) -> Any:
        """The cotangent of one argument, its thunk forced; `NotReachedError` where forcing raises."""
        return reached(lambda: force(entry_of(self.cotangents, argument)))

    def cotangent_vector(self, argument: Argument, cotangents: tuple[Any, ...] | None = None) -> Vector:
        """The cotangent of one argument as real numbers in the layout of `to_vector`.

        Taken from ``cotangents`` or from the first pullback's; `NotReachedError` where it is missing or has
        another shape than its primal.
        """
        if cotangents is not None:
            return vector_of(argument.value, force(entry_of(cotangents, argument)), self._call.is_large)
        if argument.position not in self._vectors:
            self._vectors[argument.position] = vector_of(argument.value, self.cotangent(argument), self._call.is_large)
        return self._vectors[argument.position]

    def hold(self, vectors: Mapping[Argument, Vector]) -> None:
        """Keep the first pullback's cotangents in other memory, which somebody holds anyway."""
        for argument, vector in vectors.items():
            self._vectors[argument.position] = vector

    def cotangent_vectors(self, cotangents: tuple[Any, ...]) -> dict[str, Vector]:
        """The cotangents that fit their primals as vectors of their own, by label."""
        vectors: dict[str, Vector] = {}
        for argument in self.answered_arguments:
            with suppress(NotReachedError):
                vectors[argument.label] = self.cotangent_vector(argument, cotangents)
        return vectors

    @cached_property
    def answered_arguments(self) -> tuple[Argument, ...]:
        """The arguments for which the first pullback gave a cotangent that fits its primal."""
        answered: list[Argument] = []
        for argument in self._call.differentiable_arguments:
            with suppress(NotReachedError):
                self.cotangent_vector(argument)
                answered.append(argument)
        return tuple(answered)

    def nearby(self, ybar: Vector) -> list[tuple[Any, ...]]:
        """What the pullback returns when the arguments and its cotangent change in their last digits."""
        key = ybar.tobytes()
        if key not in self._nearby:
            self._nearby[key] = list(self._pulled_nearby(ybar))
        return self._nearby[key]

    def _pulled_nearby(self, ybar: Vector) -> Iterator[tuple[Any, ...]]:
        for shaken, inputs in inputs_nearby(self._call):
            with suppress(NotReachedError, RuleRaisedError):
                _, result = self._call.run_rule("rrule", inputs=inputs)
                if is_pair(result) and callable(result[1]):
                    near = vector_to_tangent(self._call.expected, shaken(self._call.expected, ybar))
                    yield self.pull(result[1], self._call.as_output_tangent(near))


def entry_of(cotangents: tuple[Any, ...], argument: Argument) -> Any:
    """The cotangent of one argument; a pullback may stop early, and what is missing is `NoTangent`."""
    return cotangents[argument.position] if argument.position < len(cotangents) else NoTangent()
