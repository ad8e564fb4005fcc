"""One call of one function, with everything the checks need to know about it, each thing computed once.

A case runs rules and finite differences but judges nothing; the judging is in `testutils.checks`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np

from rulescore import frule, rrule
from rulescore.tables.table import RuleTable

from ..evidence.vectorisation import entries_of, layout_of, vector_to_tangent
from ..reports.places import RulePlace
from ..samples.random_tangents import PrimalWithTangent
from . import MODES
from .arguments import Argument
from .call import Call
from .cancellation import Cancellation
from .directions import Directions
from .forward import ForwardMode
from .precision import Precision
from .reverse import ReverseMode
from .rule_places import PlacedRule, place_in_table
from .search_budget import SearchBudget


class Case(Call):
    """A call, what its rules answer in both modes, and what finite differences say.

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
    max_evaluations, max_bytes : int or None
        What the search for what is wrong may cost.
    of_sample : bool
        Whether it is the call of a sample input, in which the options are written with an underscore.

    Attributes
    ----------
    reverse : ReverseMode
    forward : ForwardMode
    directions : Directions
    precision : Precision
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
        max_evaluations: int | None = None,
        max_bytes: int | None = None,
        of_sample: bool = False,
    ) -> None:
        if unknown := [mode for mode in modes if mode not in MODES]:
            raise ValueError(f"modes={modes!r}: {unknown[0]!r} is no mode of differentiation; write 'frule' or 'rrule'")
        if fdm is not None and fdm.q != 1:
            raise ValueError(f"fdm= is a method for derivatives of order {fdm.q}; give one with q=1")
        if order not in (1, 2):
            raise ValueError(f"order={order!r}: write 1, or 2 to have the pullback differentiated too")
        super().__init__(
            function,
            args,
            fkwargs or {},
            modes=modes,
            rrule_f=rrule_f,
            frule_f=frule_f,
            config=config,
            output_tangent=output_tangent,
            rng=rng,
            of_sample=of_sample,
        )
        self.order, self.fdm = order, fdm
        self.given_rtol, self.given_atol = rtol, atol
        self.reverse = ReverseMode(self)
        self.directions = Directions(self, self.reverse, fdm)
        self.forward = ForwardMode(self, self.directions)
        self.max_evaluations, self.max_bytes = max_evaluations, max_bytes
        SearchBudget(0, False, max_evaluations, max_bytes)  # wrong limits are an error before work starts
        self._places: dict[str, RulePlace | None] = {}

    @cached_property
    def search(self) -> SearchBudget:
        """What is left for the search for what is wrong."""
        function = self.vector_function
        return SearchBudget(function.x.size + function.y.size, self.is_large, self.max_evaluations, self.max_bytes)

    @cached_property
    def precision(self) -> Precision:
        """The tolerances."""
        return Precision(self.epsilon, self.given_rtol, self.given_atol)

    def tolerating(self, rtol: float) -> Case:
        """The same case, with all that is known of it, and another relative tolerance."""
        other = copy(self)
        other.given_rtol = rtol
        for name in ("precision", "more_precise", "cancellation"):  # what depends on it
            other.__dict__.pop(name, None)
        return other

    def forget_first_calls(self) -> None:
        """Keep nothing of the first calls of the rules but what they returned as derivatives, to save memory."""
        self.forward.forget_first_call()
        self.reverse.forget_first_call()

    def places(self, modes: Sequence[str]) -> tuple[RulePlace, ...]:
        """Where the rules of these modes are defined that answer the call; none for an AD system."""
        for mode in modes:
            if mode not in self._places:
                self._places[mode] = self._place(mode)
        return tuple([place for mode in modes if (place := self._places[mode]) is not None])

    def _place(self, mode: str) -> RulePlace | None:
        rule = self.rules[mode]
        if isinstance(rule, RuleTable):
            tangents = None if mode == "rrule" else self.forward.by_position(self.forward.tangents)
            return place_in_table(rule, mode, self.copies(), tangents, self._config_of(rule))
        return rule.place if isinstance(rule, PlacedRule) else None

    @cached_property
    def more_precise(self) -> Case | None:
        """The same case with the same numbers in more digits, where the function keeps them.

        In float64 what came in less, and in extended precision what came in float64. It shares what finite differences
        have found, since those are of the function in float64 anyway.
        """
        finer = self.vector_function if self.vector_function.promoted else self.vector_function.extended
        if finer is None:
            return None

        def promoted(argument: Argument) -> PrimalWithTangent:
            layout = layout_of(argument.value)
            value = layout.rebuild(entries_of(layout).astype(finer.x.dtype), True)
            return PrimalWithTangent(value, vector_to_tangent(value, self.directions.of(argument, 0)))

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
        twin.directions.share(self.directions)
        twin.vector_function = self.vector_function
        twin.expected = finer.value
        twin.coarseness = self.epsilon / twin.epsilon
        twin.output_tangent = twin.as_output_tangent(vector_to_tangent(twin.expected, self.output_cotangent_vector))
        return twin

    @cached_property
    def cancellation(self) -> Cancellation:
        """How far a right rule may be from the truth because terms of it cancel."""
        return Cancellation(self, self.directions, self.more_precise)
