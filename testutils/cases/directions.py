"""The directions in which the derivative of a call is tested, and finite differences along them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..evidence.generalised import MOST_CALLS, GeneralisedDerivative
from ..evidence.probe import Probe
from ..evidence.vectorisation import Vector, layout_of, tangent_in_place, vector_to_tangent
from .arguments import Argument
from .call import Call
from .reverse import ReverseMode
from .rule_calls import NotReachedError

BALANCE = (0.05, 20.0)
"""Bounds of the weights that balance the entries of a direction."""

SAMPLED = 1 << 16
"""Of how many entries at least, if there are so many, their median is taken."""


class Directions:
    """Directions of the arguments of a call, and what is known of its derivative along them."""

    def __init__(self, call: Call, reverse: ReverseMode, fdm: Any) -> None:
        self._call, self._reverse, self._fdm = call, reverse, fdm
        self._first_step: float | None = None
        self._is_wrong = False
        self._directions: dict[tuple[int, int], Vector] = {}
        self._probes: dict[tuple[tuple[int, ...], int], Probe] = {}
        self._around: dict[tuple[tuple[int, ...], bytes, tuple[int, ...] | None], GeneralisedDerivative] = {}
        self._beside_kinks: dict[tuple[tuple[int, ...], bytes], Probe | None] = {}

    def share(self, others: Directions) -> None:
        """Use, and add to, what is known to another one."""
        self._directions, self._probes = others._directions, others._probes
        self._around, self._beside_kinks = others._around, others._beside_kinks

    def begin_with(self, others: Directions, is_wrong: bool) -> None:
        """Try the step first, in units of the scale, that was good along the directions of a like call.

        Where the rules are wrong for that, what seems wrong here is taken to be.
        """
        self._first_step, self._is_wrong = others._good_step(), is_wrong

    def _good_step(self) -> float | None:
        steps = (probe.best_step for probe in self._probes.values())
        return next((step for step in steps if step is not None), self._first_step)

    def of(self, argument: Argument, index: int) -> Vector:
        """A direction in which the derivative with respect to one argument is tested.

        The first is the argument's own tangent; in the second every entry weighs about as much in the pullback's result
        as any other, so that an error in a single entry shows. Where the tangent was given there is that one alone:
        others may leave the domain (of symmetric matrices, say).
        """
        key = argument.position, min(index, self.count(argument) - 1)
        if key not in self._directions:
            self._directions[key] = self._balanced(argument) if key[1] else self._own(argument)
        return self._directions[key]

    def count(self, argument: Argument) -> int:
        """How many directions there are."""
        return 1 if argument.given else 2

    def _own(self, argument: Argument) -> Vector:
        return tangent_in_place(layout_of(argument.value), argument.tangent)

    def _balanced(self, argument: Argument) -> Vector:
        layout = layout_of(argument.value)
        generator = np.random.default_rng([argument.position, layout.size])
        balanced = 2.0 * generator.integers(0, 2, layout.size) - 1.0
        balanced *= generator.uniform(0.5, 1.5, layout.size)
        balanced *= self._balance(argument)
        # As the argument's own precision has it, since an frule gets it so.
        return tangent_in_place(layout, layout.tangent(balanced))

    def _balance(self, argument: Argument) -> Vector | float:
        """Weights that make large entries of a cotangent small and small ones large, within bounds."""
        try:
            xbar = np.abs(self._reverse.cotangent_vector(argument)) if "rrule" in self._call.modes else np.zeros(0)
        except NotReachedError:
            return 1.0
        usable = np.isfinite(xbar) & (xbar > 0)
        if not usable.any():
            return 1.0
        few = slice(None, None, -(-xbar.size // SAMPLED))
        with np.errstate(all="ignore"):
            weights = np.divide(np.median(xbar[usable][few]), xbar, out=xbar)
            np.clip(weights, *BALANCE, out=weights)
        weights[~usable] = 1.0
        return weights

    def compared(self, arguments: Sequence[Argument]) -> Sequence[int]:
        """Along which directions rules are compared with finite differences: of very many entries, along one."""
        count = max(map(self.count, arguments), default=0)
        if not self._call.is_large or count < 2:
            return range(count)
        return (count - 1,) if "rrule" in self._call.modes else (0,)

    def joint(self, arguments: Sequence[Argument], index: int) -> Vector:
        """Several arguments moving at once, each along its direction of this index, as one vector over all."""
        joint = self.combined(arguments, (self.of(argument, index) for argument in arguments))
        if len(arguments) > 1:  # each takes no memory beside that, of which there may be much
            for argument in arguments:
                key = argument.position, min(index, self.count(argument) - 1)
                self._directions[key] = joint[self.part_of(argument)]
        return joint

    def combined(self, arguments: Sequence[Argument], vectors: Iterable[Vector]) -> Vector:
        """One vector for each of some arguments as one over all, zero for the others; for reading."""
        size, vectors = self._call.vector_function.x.size, list(vectors)
        if sum(vector.size for vector in vectors) == size and vectors:
            return vectors[0] if len(vectors) == 1 else np.concatenate(vectors)
        combined = np.zeros(size)
        for argument, vector in zip(arguments, vectors, strict=True):
            combined[self.part_of(argument)] = vector
        return combined

    def part_of(self, argument: Argument) -> slice[int, int, None]:
        """Where an argument lies in a vector over all of them."""
        return self._call.vector_function.arguments[self._call.arguments.index(argument)][1]

    def tangents_of(self, direction: Vector) -> tuple[Any, ...]:
        """A vector over all arguments as tangents, one per `Argument`."""
        return tuple(vector_to_tangent(a.value, direction[self.part_of(a)]) for a in self._call.arguments)

    def probe(self, arguments: Sequence[Argument], index: int) -> Probe:
        """What is known of the derivative when these arguments move along their directions of this index."""
        if index < 0:
            index += max(map(self.count, arguments))
        key = tuple(argument.position for argument in arguments), index
        if key not in self._probes:
            direction = self.joint(arguments, index)
            self._probes[key] = self.another_probe(direction)
        return self._probes[key]

    def another_probe(self, direction: Vector) -> Probe:
        """What is to be known along a direction that nobody else asks about."""
        special = any(probe.is_special for probe in self._probes.values())
        # The weighted sum is what an rrule is asked for; a single output has none.
        wanted = "rrule" in self._call.modes and self._call.vector_function.y.size > 1
        weights = self._call.output_cotangent_vector if wanted else None
        function, at_once = self._call.vector_function, all(p.was_settled_at_once for p in self._probes.values())
        return Probe(function, direction, self._fdm, self._good_step(), special, weights, self._is_wrong, at_once)

    def meet_a_kink(self, arguments: Sequence[Argument]) -> bool:
        """Whether there is no derivative with respect to these arguments, as far as is known by now."""
        positions = tuple(argument.position for argument in arguments)
        return any(probe.is_kink for (moving, _), probe in self._probes.items() if moving == positions)

    def beside_kinks(self, arguments: Sequence[Argument], ybar: Vector) -> Probe | None:
        """What is known when all moves but the entries that meet a kink of ⟨ȳ, f⟩; None if nothing is left, or unknown.

        None, too, where a tangent was given.
        """
        key = tuple(argument.position for argument in arguments), ybar.tobytes()
        if key not in self._beside_kinks:
            self._beside_kinks[key] = self._probe_beside_kinks(arguments, ybar)
        return self._beside_kinks[key]

    def _probe_beside_kinks(self, arguments: Sequence[Argument], ybar: Vector) -> Probe | None:
        whole = self.probe(arguments, 1)
        at_kinks = None if any(argument.given for argument in arguments) else whole.entries_at_kinks(ybar)
        if at_kinks is None or not np.any(whole.direction[~at_kinks]):
            return None
        return Probe(self._call.vector_function, np.where(at_kinks, 0.0, whole.direction), self._fdm)

    def around(
        self,
        arguments: Sequence[Argument],
        ybar: Vector,
        most_calls: int = MOST_CALLS,
        entries: tuple[int, ...] | None = None,
    ) -> GeneralisedDerivative | None:
        """The derivatives of ⟨ȳ, f⟩ around the point when these arguments move; None where a tangent was given.

        With respect to some entries alone, where these are given.
        """
        if any(argument.given for argument in arguments):
            return None
        key = tuple(argument.position for argument in arguments), ybar.tobytes(), entries
        if key not in self._around:
            moving = np.zeros(self._call.vector_function.x.size, dtype=bool)
            for argument in arguments:
                moving[self.part_of(argument)] = True
            self._around[key] = GeneralisedDerivative(self._call.vector_function, ybar, moving, most_calls, entries)
        return self._around[key]

    def embedded(self, argument: Argument, direction: Vector) -> Vector:
        """A direction of one argument as a vector over all of them, in which the others stay."""
        joint = np.zeros(self._call.vector_function.x.size)
        joint[self.part_of(argument)] = direction
        return joint
