"""Forward mode of a case: the frule, and the tangents of the output that it gives."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

from rulescore import AbstractZero, NoTangent

from ..comparison.copies import deep_copy
from ..evidence.vectorisation import Vector, strong_zero, vector_to_tangent
from ..reports.names import description_of
from .arguments import Argument
from .call import Call
from .directions import Directions
from .nearby import inputs_nearby
from .rule_calls import NotReachedError, Primal, RuleRaisedError, force, is_pair, reached, vector_of

_NOTED = 3
"""So many tangents are looked at again when others have been asked for."""


class ForwardMode:
    """What the frule of a call answers, each thing computed once."""

    def __init__(self, call: Call, directions: Directions) -> None:
        self._call, self._directions = call, directions
        self.returned: list[tuple[Any, Vector]] = []
        """The tangents that the first calls returned, each with what it was then."""
        self._pushforwards: dict[tuple[tuple[int, ...], int], Vector] = {}

    @cached_property
    def tangents(self) -> tuple[Any, ...]:
        """The tangents the first call of the frule gets; copies, so that writing to them shows."""
        return tuple(deep_copy(argument.tangent) for argument in self._call.arguments)

    @cached_property
    def attempt(self) -> tuple[tuple[Any, ...], Any]:
        """The first call of the frule along the case's tangents, whatever it returned."""
        return self._call.run_rule("frule", self.by_position(self.tangents))

    @cached_property
    def primal(self) -> Primal:
        """The first call of the frule, with the tangent it returned."""
        inputs, result = reached(lambda: self.attempt)
        if not is_pair(result):
            raise NotReachedError
        return Primal(inputs, *result)

    def forget_first_call(self) -> None:
        """Keep of the first call the tangent alone that it returned."""
        if "primal" in self.__dict__:
            self.primal = replace(self.primal, inputs=(), output=None)
            del self.attempt, self.tangents

    def run(self, tangents: tuple[Any, ...]) -> Primal:
        """Call the frule again, along ``tangents``, one per `Argument`."""
        inputs, result = self._call.run_rule("frule", self.by_position(tangents))
        if not is_pair(result):
            what = self._call.in_own_words("the frule")
            raise RuleRaisedError(f"{what} returned {description_of(result)} when it was called again")
        return Primal(inputs, *result)

    def by_position(self, tangents: tuple[Any, ...]) -> tuple[Any, ...]:
        """Tangents, one per `Argument`, as an frule takes them: one per positional argument.

        Tangents of keywords follow only as far as one has a derivative, since most rules bind none.
        """
        pairs = zip(self._call.arguments, tangents, strict=True)
        placed = {a.position: dx for a, dx in pairs if a.keyword is None or not isinstance(dx, AbstractZero)}
        return tuple(placed.get(position, NoTangent()) for position in range(max(placed) + 1))

    def along(self, arguments: Sequence[Argument], index: int) -> Vector:
        """The frule's tangent of the output when arguments move along their `directions`, computed once."""
        key = (tuple(argument.position for argument in arguments), index)
        if key not in self._pushforwards:
            self._pushforwards[key] = self._new_pushforward(arguments, index)
        return self._pushforwards[key]

    def _new_pushforward(self, arguments: Sequence[Argument], index: int) -> Vector:
        if index == 0 and len(arguments) == len(self._call.differentiable_arguments):
            return self._noted(reached(lambda: force(self.primal.derivative)))
        tangents = self._directions.tangents_of(self._directions.joint(arguments, index))
        try:
            return self.pushforward(tangents)
        except NotReachedError:
            # A derivative that is not implemented spoils the sum, unless its tangent is a strong zero.
            strong_zeros = [strong_zero(a.value) for a in self._call.arguments]
            pairs = zip(self._call.arguments, tangents, strong_zeros, strict=True)
            return self.pushforward(tuple(dx if a in arguments else zero for a, dx, zero in pairs))

    @cached_property
    def along_both(self) -> Vector:
        """The tangent of moving along the first direction and twice the second."""
        a, b = (self._directions.joint(self._call.differentiable_arguments, index) for index in (0, 1))
        return self.pushforward(self._directions.tangents_of(a + 2 * b))

    @cached_property
    def single_moves(self) -> list[Vector]:
        """The tangents of moving one argument each, while the others have a `ZeroTangent`; nothing where one fails."""
        zeros = [strong_zero(argument.value) for argument in self._call.arguments]
        moving = [place for place, argument in enumerate(self._call.arguments) if argument.differentiable]
        try:
            return [
                self.pushforward((*zeros[:place], self._call.arguments[place].tangent, *zeros[place + 1 :]))
                for place in moving
            ]
        except (NotReachedError, RuleRaisedError):
            return []

    def pushforward(self, tangents: tuple[Any, ...]) -> Vector:
        """The frule's tangent of the output along ``tangents``, as a vector."""
        return self._noted(force(self.run(tangents).derivative))

    def _noted(self, tangent: Any) -> Vector:
        """A tangent of the output as a vector; of the first few, the vector is another than what the rule returned."""
        vector = vector_of(self._call.expected, tangent, self._call.is_large)
        if len(self.returned) < _NOTED and not self._call.is_large:
            self.returned.append((tangent, vector))
        return vector

    def nearby(self, direction: Vector) -> list[Vector]:
        """What the frule returns when the arguments and their tangents change in their last digits."""
        found = []
        for shaken, inputs in inputs_nearby(self._call):
            with suppress(NotReachedError, RuleRaisedError):
                tangents = tuple(
                    vector_to_tangent(a.value, shaken(a.value, direction[self._directions.part_of(a)]))
                    for a in self._call.arguments
                )
                _, result = self._call.run_rule("frule", self.by_position(tangents), inputs=inputs)
                if is_pair(result):
                    found.append(vector_of(self._call.expected, force(result[1])))
        return found
