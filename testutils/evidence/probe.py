"""What is known about the derivative of a function along one direction, bought evaluation by evaluation.

A `Probe` begins with one cheap finite difference and goes on only while the question it is asked is undecided: further
steps, extended precision, the complex step, derivatives from each side, and, before a rule is accused, a second method.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ..comparison.verdicts import BLOCK, ERROR_ESTIMATES, FAIL, INCONCLUSIVE, NEGLIGIBLE, PASS, RESOLVED
from .brackets import AT_ONCE, CORNER, EDGE, INFINITE, ROUGH, Bracket, Question, notes_of_a_pass
from .finite_differences import FiniteDifferenceMethod, central_fdm, method_for, unusable
from .lines import Line
from .second_opinions import (
    approach,
    complex_step,
    extended_estimate,
    one_sided,
    step_sweep,
)
from .stencils import EPSILON
from .step_search import KINK, StepSearch
from .vector_function import VectorFunction
from .vectorisation import Vector, repeated

MOST_EVALUATIONS = 154
"""How often a check evaluates the function as long as nothing speaks against the rule."""

_OF_RESOLUTION, _FEW_AT_ONCE = 1e-3, 0.05
"""Of very many entries, by which part of what is looked for it may be off; and so few are looked at more closely."""

_SHORT = (1e-6, 1e-7, 1e-8, 1e-9)
"""The steps, in units of the scale, one after the other, for those of them that are not smooth."""
_MOST_IN_VAIN = 1
"""How many of them may end no nearer to a kink than they have to."""

_LONGER, _SHORTER = 4e-3, 1e-4
"""The first step, in units of the scale, for those that do not agree, whose slope is small beside their rounding.

And for those that differ as terms of a sum, which move faster than the others.
"""

_FINEST_AT_ONCE = 1e-10
"""Where smaller mistakes are looked for, in sums of very many terms, four evaluations do not show them."""

_COARSE = 1e-9
"""A relative error above this asks for extended precision, where the function keeps it."""

_COARSE_OF_MANY = 1e-7
"""Where all but a few of very many entries are known better than that, no further step is tried."""

_STEPS_AT_SPECIAL_POINTS = 2

_UNRESOLVED, _UNRESOLVED_OF_MANY = 1e-3, 1e-5
"""A relative error above this is none of round-off alone; and of very many entries is worth a further step."""

_MIXED, _ALIKE = 1e6, 1e3
"""Entries whose magnitudes differ by more than the first factor have no step in common, but by the second they have."""

_FEW, _FINER_OF_MANY = 1e-2, 3
"""Of very many entries so few may want steps of their own, each step much shorter than the last."""

_FEWEST_STEPS, _MOST_STEPS = 10, 22
"""How many steps a sweep takes, as many as can be paid for."""

_DOUBT = 10.0
"""How much larger than estimated an error may be that stands alone against a rule."""

_DIGITS_COST = 40
"""How many evaluations it takes at most to hear the function in extended precision."""

_MOVED_LATER = 0.2
"""The largest part of the entries that stood still with short steps that may move with longer ones."""

_QUIET = 100.0
"""Noise in rounding errors of the value, above which small differences prove nothing."""

_PATIENCE_AT_A_GLANCE = 4
"""How many steps are tried where nobody has asked, before all else is."""

_SPLITS, _SPLITS_OF_MANY = 8, 2
"""How many ways of splitting a direction are tried before its slopes count as additive, and of very many entries."""

_HALVINGS = 24
"""How many blocks of entries the search for those at a kink may try."""


class Probe:
    """One direction, and everything that was found out about the derivative along it.

    Parameters
    ----------
    function : VectorFunction
    direction : ndarray
    fdm : FiniteDifferenceMethod or None
        A method the user has chosen is not second-guessed in extended precision or by other steps.
    first_step : float or None
        A step that was good along another direction, in units of the scale of this one.
    special : bool
        Whether the point has shown itself as a kink, an edge or a pole along another direction. No long search for a
        step is worth its evaluations then.
    weights : ndarray or None
        Weights of the output whose sum is wanted more precisely than its terms.
    is_wrong : bool
        Whether the rule is known to be wrong, so that the first steps are enough to say so here.
    at_once : bool
        Whether four evaluations may settle it, as they have along other directions.

    Attributes
    ----------
    bracket : Bracket
        What is known.
    unconfirmed : ndarray of bool
        The output entries of which the second method has seen nothing, where it was asked and did not accuse a rule.
    """

    def __init__(
        self,
        function: VectorFunction,
        direction: Vector,
        fdm: FiniteDifferenceMethod | None = None,
        first_step: float | None = None,
        special: bool = False,
        weights: Vector | None = None,
        is_wrong: bool = False,
        at_once: bool = True,
    ) -> None:
        self._function = function
        self.direction = direction
        self._fdm = fdm
        self._special = special
        self._weights = weights if weights is not None and np.any(weights) else None
        self._escalated, self._is_wrong = False, is_wrong
        self._is_large = function.y.size > BLOCK
        self._first_step, self._scale = first_step, 1.0
        self._first: float | None = None
        self._search: StepSearch | None = None
        self._is_of_sum = False
        self._may_be_settled = at_once
        self._at_once: tuple[Vector, Vector, Any] | None = None
        known = unusable(function, direction)
        self._is_known = known is not None
        if known is None:
            unknown = repeated(np.nan, function.y.size)
            self.bracket = Bracket(unknown, unknown, repeated(np.inf, function.y.size))
        else:
            self.bracket = Bracket(known.value, known.value, known.error, (known.note,))
        self.unconfirmed: Any = repeated(False, function.y.size)
        self._differences: list[Vector] = []
        self._further = function.central_differences(direction) if known is None else iter(())

    @cached_property
    def _mixed(self) -> bool:
        return _of_mixed_magnitudes(self._function.scales, self.direction)

    @cached_property
    def _line(self) -> Line:
        """The function along the direction, for each output by itself."""
        return self._function.line(self.direction)

    @property
    def is_special(self) -> bool:
        """Whether the point is a kink, an edge of the domain or a pole along this direction."""
        return bool(notes_of_a_pass(self.bracket))

    @property
    def is_kink(self) -> bool:
        """Whether there is no derivative, as far as this direction tells."""
        return bool(np.any(self.bracket.kinks)) or CORNER in self.bracket.notes

    @property
    def has_met_a_kink(self) -> bool:
        """Whether the first steps already have shown that there is none."""
        return self.is_kink or any(KINK in note for note in self.bracket.notes)

    @property
    def best_step(self) -> float | None:
        """The step that served best, in units of the scale of the direction."""
        return self._search.best_step / self._scale if self._search is not None and self._search.count else None

    @property
    def was_settled_at_once(self) -> bool:
        """Whether four evaluations have not been too few, as far as they were asked."""
        return self._at_once is None or not self._has_begun

    @property
    def _has_begun(self) -> bool:
        """Whether a step was tried."""
        return self._search is not None and self._search.count > 0

    def answer(self, question: Question, is_accused: bool = False) -> np.ndarray[Any, Any]:
        """The verdicts on a question, after as many evaluations as it takes.

        Few where the rule ``is_accused`` already, by what is known of other directions, and plainly wrong in this.
        """
        if self._is_known or ((is_accused or self._is_wrong) and self._is_plainly_wrong(question)):
            return question.verdicts(self.bracket)
        if self._is_settled_at_once(question):
            return self._pass_of(question)
        if not self._escalated:
            steps = self._search_steps(question)
            if self._is_large:
                self._search_finer(question)
            if self._is_wrong or question.is_fine(self.bracket, steps):
                return question.verdicts(self.bracket)
        verdicts = question.verdicts(self.bracket)
        if not self._escalated and (np.any(verdicts != PASS) or self._is_coarse()):
            self._escalate(question)
        verdicts = question.verdicts(self.bracket)
        return self._accused(question) if np.any(verdicts == FAIL) else verdicts

    def glance(self, question: Question) -> np.ndarray[Any, Any]:
        """The verdicts on a question after a few steps where they speak for a rule, and else after all it takes.

        Of a kink no more is found out either: what is undecided there stays so.
        """
        if not self._is_known and not self._escalated:
            if self._is_settled_at_once(question):
                return self._pass_of(question)
            for most in (1, _PATIENCE_AT_A_GLANCE):
                if self._begin().count < most:
                    self._search_steps(question, most)
                verdicts = question.verdicts(self.bracket)
                if np.all(verdicts == PASS):
                    return verdicts
            if any(KINK in note for note in self.bracket.notes) and not np.any(verdicts == FAIL):
                return verdicts
        return self.answer(question)

    def agrees(self, question: Question, within: float) -> bool:
        """Whether a rule agrees with a difference of two evaluations, which does not know how good it is."""
        if any(np.all(question.agreement(difference, within)) for difference in self._differences):
            return True
        for difference in self._further:
            self._differences.append(difference)
            if np.all(question.agreement(difference, within)):
                return True
        return False

    def _is_settled_at_once(self, question: Question) -> bool:
        """Whether the rule agrees with the first few evaluations as exactly as any finite difference is known.

        Two numbers do not by accident. And at a kink, of which a report tells, the function is not smooth.
        """
        if not self._may_be_settled or self._has_begun or self._escalated or self._special or self._fdm is not None:
            return False
        if self.direction.size > BLOCK and not self._is_large:
            return False  # in few sums of very many terms four evaluations show too little
        if self._is_wrong or (question.resolution < _FINEST_AT_ONCE and not self._is_large):
            return False
        if self._at_once is None:
            self._at_once = self._four_evaluations()
        value, error, is_smooth = self._at_once
        within = question.relative + max(AT_ONCE, _OF_RESOLUTION * question.resolution if self._is_large else 0.0)
        if not np.all(is_smooth if question.weights is None else is_smooth | (question.weights == 0)):
            return False
        if question.weights is None:
            places = np.flatnonzero(~question.agreement(value, within, error))
            is_settled = not places.size or self._are_settled(places, question.part(places))
        else:
            is_settled = bool(question.agreement(value, within))
        if is_settled:
            self.bracket = Bracket.of(value, error)
        return is_settled

    def _is_plainly_wrong(self, question: Question) -> bool:
        """Whether four evaluations say that the rule is far off."""
        if self._fdm is not None or self._has_begun:
            return False
        found = at_a_glance(self._function, self.direction, question)
        if found is None or not np.any(question.verdicts(found) == FAIL):
            return False
        self.bracket = found
        return True

    def _four_evaluations(self) -> tuple[Vector, Vector, Any]:
        """`Line.at_once`; where a few of very many entries are not smooth, as beside a kink, with shorter steps.

        What is not smooth then either may be noise, which two further steps tell from a kink.
        """
        value, error, is_smooth = self._line.at_once()
        rough = np.flatnonzero(~is_smooth)
        if self._is_large and 0 < rough.size <= _FEW_AT_ONCE * value.size:
            in_vain = 0
            for step in _SHORT:
                before = rough
                found = self._line.of_components(rough).at_once(step, is_cautious=True)
                value[rough], error[rough], is_smooth[rough] = found
                rough = rough[~is_smooth[rough]]
                in_vain += rough.size > before.size / 2
                if not rough.size or in_vain > _MOST_IN_VAIN:  # the others are beside a kink, and not noisy
                    break
            if rough.size:
                search = StepSearch(method_for(self._function), self._line.of_components(rough))
                value[rough], error[rough] = search.run(lambda *found: search.count >= _STEPS_AT_SPECIAL_POINTS)
                is_smooth[rough] = not search.note
        return value, error, is_smooth

    def _pass_of(self, question: Question) -> np.ndarray[Any, Any]:
        return np.full(self._function.y.shape if question.weights is None else (), PASS)

    def _are_settled(self, places: Any, few: Question) -> bool:
        """Whether further steps settle those few of very many entries that four evaluations do not."""
        if not self._is_large or places.size > _FEW_AT_ONCE * self._function.y.size:
            return False

        def decided(value: Vector, error: Vector) -> bool:
            is_fine = not np.any(self._rough(value, error)) or few.is_fine(Bracket.of(value, error), search.count)
            return is_fine or search.count >= _FINER_OF_MANY

        assert self._at_once is not None
        search = StepSearch(method_for(self._function), self._line.of_components(places))
        value, error = search.run(decided, _LONGER * self._line.scale)
        is_open = few.verdicts(Bracket.of(value, error)) != PASS
        if np.any(is_open):  # what was known by steps that end before a kink may be all that can be known
            shorter = (known[places] for known in self._at_once[:2])
            value, error = (np.where(is_open, *both) for both in zip(shorter, (value, error), strict=True))
            if np.any(few.verdicts(Bracket.of(value, error)) != PASS):
                return False
        self._correct(places, value, error)
        return True

    def _correct(self, places: Any, value: Vector, error: Vector) -> None:
        """Put what is known better into what four evaluations have said."""
        if self._at_once is not None:
            every, errors, is_smooth = self._at_once
            every[places], errors[places], is_smooth[places] = value, error, True

    def closer(self, places: Any) -> Bracket:
        """What is known of a few of very many entries after steps that are chosen for them."""
        search = StepSearch(self._fdm or method_for(self._function), self._line.of_components(places))

        def decided(value: Vector, error: Vector) -> bool:
            return search.count >= _FINER_OF_MANY or not np.any(self._rough(value, error))

        value, error = search.run(decided, _SHORTER * self._line.scale)
        self._correct(places, value, error)
        return Bracket.of(value, error)

    def _begin(self, of_sum: bool = False) -> StepSearch:
        """The search for steps; with ``of_sum``, for the weighted sum of the output alone, until more is asked."""
        if self._search is None or (self._is_of_sum and not of_sum):
            self._is_of_sum = of_sum and self._weights is not None
            line = self._function.line(self.direction, self._weights)
            line = line.of_components(slice(-1, None)) if self._is_of_sum else line
            self._scale = line.scale
            self._first = None if self._first_step is None else self._first_step * line.scale
            self._search = StepSearch(self._fdm or method_for(self._function), line)
        return self._search

    def _search_steps(self, question: Question, most: int = 1000) -> int:
        """Try steps until the question is decided; how many."""
        search = self._begin(self._is_wrong and question.weights is not None)

        worst: list[float] = []

        def decided(value: Vector, error: Vector) -> bool:
            if search.count >= most:
                return True
            worst.append(_worst_relative(value, error))
            if search.count >= _STEPS_AT_SPECIAL_POINTS and (self._special or self._mixed):
                return True
            if self._is_large and 0 < np.count_nonzero(self._rough(value, error)) <= _FEW * value.size:
                return True  # the others need no further step, and these have one of their own
            if self._is_large and question.weights is None:
                with np.errstate(all="ignore"):
                    coarse = np.count_nonzero(error > _COARSE_OF_MANY * np.abs(value))
                if coarse <= _FEW * value.size:
                    return True
            if len(worst) > 3 and _UNRESOLVED < worst[-1] < 10.0 and worst[-1] > 0.3 * worst[-3]:
                return True  # shorter steps do not help, so this is no matter of the step
            return question.is_fine(self._bracket_of(value, error), search.count)

        adaptive = self._fdm is None or self._fdm.adapt
        value, error = search.run(decided, self._first) if adaptive else search.unadapted()
        self.bracket = replace(self._bracket_of(value, error, search.note), unseen=EPSILON / search.reach)
        return search.count

    def _bracket_of(self, value: Vector, error: Vector, note: str = "") -> Bracket:
        if not self._is_of_sum or self._weights is None:
            return Bracket.of(value, error, self._weights, note)
        return _bracket_of_sum(self._function, self._weights, value, error, note)

    def _is_coarse(self) -> bool:
        """Whether extended precision could say more; of very many entries some are always coarse."""
        if self._is_large:
            return False
        with np.errstate(all="ignore"):
            coarse = self.bracket.error > _COARSE * np.abs(self.bracket.value)
        return bool(np.any(coarse & np.isfinite(self.bracket.error)) and np.all(self._function.epsilon <= _COARSE))

    def _escalate(self, question: Question) -> None:
        """Everything else that can be found out about the derivative itself."""
        self._escalated = True
        assert self._search is not None
        rungs: list[tuple[int, Callable[[Question], None]]] = [
            (2, self._step_into_the_complex),
            (48, self._move_by_magnitude),
            *([] if self._is_large else [(24, self._search_finer)]),  # there it has been done
            (25, self._extend),
            (24, self._look_at_both_sides),
        ]
        unresolved = _worst_relative(self.bracket.value, self.bracket.error) > _UNRESOLVED
        if self._special or self._search.note or unresolved:
            # Kinks and edges are more likely then, and extended precision is of no use to them.
            rungs[-2:] = reversed(rungs[-2:])
        if self._is_large and self._are_few(self.bracket):
            rungs = [(2, self._step_into_the_complex), (24, self._look_at_both_sides)]
        for evaluations, rung in rungs:
            undecided = np.any(question.verdicts(self.bracket) != PASS)
            worthwhile = undecided or (self._is_coarse() and rung != self._look_at_both_sides)
            if worthwhile and self._affordable(evaluations):
                rung(question)

    def _affordable(self, evaluations: int) -> bool:
        return self._function.evaluations + evaluations <= MOST_EVALUATIONS

    def _move_by_magnitude(self, question: Question) -> None:
        """Where entries of very different magnitudes move, the sum of the derivatives along each magnitude's part.

        Together they have no good step: what is short for one is beneath the rounding of another.
        """
        if not self._mixed or (self._is_large and self._are_few(self.bracket)):
            return
        scales = self._function.scales
        bins = np.floor(np.log(np.where(np.isfinite(scales), scales, 1.0)) / math.log(_ALIKE))
        value, error = np.zeros(self._function.y.shape), np.zeros(self._function.y.shape)
        for part in np.unique(bins[self.direction != 0]):
            line = self._function.line(np.where(bins == part, self.direction, 0.0))
            search = StepSearch(replace(method_for(self._function), adapt=0), line)
            found, own = search.run(lambda value, error: bool(np.all((error <= 1e-6 * np.abs(value)) | (value == 0))))
            value, error = value + found, error + own
        self.bracket = self.bracket.where(_better(value, error, self.bracket), value, value, error)

    def _rough(self, value: Vector, error: Vector) -> Any:
        """The entries that are not known well enough."""
        with np.errstate(all="ignore"):
            if not self._is_large:
                return np.asarray(error > _UNRESOLVED * np.abs(value))
            still = (value == 0) & (error <= NEGLIGIBLE * float(np.linalg.norm(self.direction)))  # of which that is all
            return np.asarray(error > _UNRESOLVED_OF_MANY * np.abs(value)) & ~still

    def _are_few(self, known: Bracket) -> bool:
        """Whether all but a few entries are known well enough."""
        return bool(np.count_nonzero(self._rough(known.value, known.error)) <= _FEW * known.error.size)

    def _search_finer(self, question: Question) -> None:
        """Further searches with much shorter steps, for components that others have kept from theirs."""
        if self._search is None or self._search.note:
            return
        step = self._search.shortest
        # Of very many entries, the rounding of those that are large is held against the small ones too.
        rounds, shorter = (_FINER_OF_MANY, 1e-2) if self._is_large else (1, 1e-3)
        for _ in range(rounds):
            known = self.bracket
            mask = self._rough(known.value, known.error) & np.isfinite(known.error)
            is_decided = not self._is_large and bool(np.all(question.verdicts(known) == PASS))
            if is_decided or not np.any(mask) or np.all(mask):
                return
            search = StepSearch(replace(method_for(self._function), adapt=0), self._line.of_components(mask))
            found, error = search.run(
                lambda value, error: self._is_large or bool(np.all(error <= 1e-8 * np.abs(value))), shorter * step
            )
            value, spread, step = known.value.copy(), known.error.copy(), search.shortest
            value[mask], spread[mask] = found, error
            self.bracket = known.where(mask & _better(value, spread, known), value, value, spread)

    def _extend(self, question: Question) -> None:
        """Central differences once more, in extended precision."""
        extended = self._function.extended if self._fdm is None else None
        if extended is None:
            return
        known = self.bracket

        def improved(value: Vector, error: Vector) -> Bracket:
            return known.where(~known.kinks & _better(value, error, known), value, value, error)

        before = extended.evaluations
        first = self._search.best_step if self._search is not None and self._search.count else None
        estimate = extended_estimate(extended, self.direction, lambda *found: question.is_fine(improved(*found)), first)
        self._function.evaluations += extended.evaluations - before
        self.bracket = improved(estimate.value, estimate.error)

    def _step_into_the_complex(self, question: Question) -> None:
        """Believed only where a finite difference says the same, and never against a rule."""
        if self._search is None or self._search.note:
            return  # what a function does with complex numbers at a kink or an edge is its own affair
        estimate = complex_step(self._function, self.direction, self._line.scale)
        if estimate is None:
            return
        with np.errstate(all="ignore"):
            agrees = np.abs(estimate.value - self.bracket.value) <= self.bracket.error
            agrees &= self.bracket.error <= 1e-2 * np.abs(self.bracket.value)
        better = agrees & (estimate.error < self.bracket.error)
        improved = self.bracket.where(better, estimate.value, estimate.value, estimate.error)
        if not np.any(question.verdicts(improved) > question.verdicts(self.bracket)):
            self.bracket = improved

    def _look_at_both_sides(self, question: Question) -> None:
        """Kinks, edges of the domain and infinite slopes, where central differences are not resolved."""
        with np.errstate(all="ignore"):
            resolved = self.bracket.error <= 1e-6 * np.abs(self.bracket.value)
        moving = np.flatnonzero(np.isfinite(self._line.centre) & ~resolved & ~(self.bracket.error == 0))
        if moving.size:
            line, known = self._line.of_components(moving), self.bracket.part(moving)
            self.bracket = self.bracket.with_part(moving, self._from_both_sides(line, known))

    def _from_both_sides(self, line: Line, known: Bracket) -> Bracket:
        moving = np.ones(known.error.shape, dtype=bool)
        unit = float(np.linalg.norm(self.direction))
        assert self._search is not None
        if self._search.note == KINK:
            return _with_sides(line, known, unit, moving, False, False)
        rightwards, leftwards = approach(line, 1), approach(line, -1)
        infinite = np.isinf(rightwards.slope) & ((rightwards.slope == leftwards.slope) | leftwards.outside)
        known = _infinite(known, infinite, rightwards.slope)
        backwards = ~infinite & np.isinf(leftwards.slope) & rightwards.outside
        known = _infinite(known, backwards, leftwards.slope)
        for inside, outside in ((rightwards, leftwards), (leftwards, rightwards)):
            found = outside.outside & (inside.error <= NEGLIGIBLE * np.maximum(unit, np.abs(inside.limit)))
            known = known.where(moving & found, inside.limit, inside.limit, inside.error, EDGE)
            moving = moving & ~found
        moving = moving & ~np.isinf(rightwards.slope) & ~np.isinf(leftwards.slope)
        if np.any(moving):
            known = _with_sides(line, known, unit, moving, rightwards.outside, leftwards.outside)
        return known

    def entries_at_kinks(self, ybar: Vector) -> Any:
        """Which entries of the arguments meet a kink of ⟨ȳ, f⟩ when they move alone, found by halving.

        Returns
        -------
        mask : ndarray of bool, or None
            None where there are too many to be found at a moderate price, and where the others do too.
        """
        if self._is_known:
            return None
        mask = np.zeros(self.direction.size, dtype=bool)
        blocks = [np.flatnonzero(self.direction)]
        for _ in range(_HALVINGS):
            if not blocks:
                return mask if self.is_smooth_without(mask, ybar) else None
            block = blocks.pop()
            if not self._bends(block, ybar):
                continue
            if block.size == 1:
                mask[block] = True
            else:
                blocks += np.array_split(block, 2)
        return None

    def _bends(self, block: Any, ybar: Vector) -> bool:
        """Whether the second difference along some entries is as large as a kink makes it."""
        function, direction = self._function, np.zeros(self.direction.size)
        direction[block] = self.direction[block]
        h = 1e-6 * self._line.scale
        with np.errstate(all="ignore"):
            right, left = (function.at(function.x + side * h * direction) - function.y for side in (1, -1))
            slope, bend = abs(float(ybar @ (right - left))), abs(float(ybar @ (right + left)))
            noise = float(np.abs(ybar) @ (function.epsilon * np.abs(function.y)))
        return not bend <= 1e-3 * slope + 100 * noise

    def is_smooth_without(self, mask: Any, ybar: Vector) -> bool:
        """Whether ⟨ȳ, f⟩ has one slope along all other entries, here and where those of a mask have moved a little.

        Each of two numbers that are equal may move alone and meet no kink, where both together do.
        """
        function, h = self._function, 1e-6 * self._line.scale
        rest, held = np.where(mask, 0.0, self.direction), np.where(mask, self.direction, 0.0)
        slopes = []
        with np.errstate(all="ignore"):
            for shift in (0.0, 100.0 * h, -100.0 * h) if mask.any() else (0.0,):
                base = function.x + shift * held
                centre = function.at(base.copy()) if shift else function.y
                slopes += [side * float(ybar @ (function.at(base + side * h * rest) - centre)) for side in (1, -1)]
            noise = float(np.abs(ybar) @ (function.epsilon * np.abs(function.y)))
        return max(slopes) - min(slopes) <= 1e-3 * max(map(abs, slopes)) + 100 * noise

    # Before a rule is accused.

    def _accused(self, question: Question) -> np.ndarray[Any, Any]:
        """The verdicts when a rule seems wrong: is it rounding, is it a corner, does a second method say the same?"""
        question.measure_noise()
        verdicts = question.verdicts(self.bracket)
        is_noise = not np.any(verdicts == FAIL)  # of the rule, which at a tie comes with every last digit
        if self._fdm is None:
            verdicts = verdicts if is_noise else self._confirmed(question)
            if np.any(verdicts != PASS):
                verdicts = self._with_more_digits(question, verdicts)
        if np.any(verdicts == FAIL if not is_noise else verdicts != PASS) and self._has_corner:
            self.bracket = replace(self.bracket, notes=(*self.bracket.notes, CORNER))
            # What a derivative is here, one line does not tell; see `testutils.evidence.generalised`.
            verdicts = np.where(verdicts == FAIL, INCONCLUSIVE, verdicts)
        return verdicts

    @cached_property
    def _has_corner(self) -> bool:
        """Whether the slopes along parts of the direction do not add up to the slope along all of it.

        At ties the slopes along single directions can be smooth, precise and equal from both sides (that of the median
        of three equal numbers is the median of the velocities), and yet a rule that shares among the ties agrees with
        none of them.
        """
        moving = np.flatnonzero(self.direction)
        if moving.size < 2:
            return False
        rng = np.random.default_rng(moving.size)
        whole = self._quotient(self.direction, 1.0)
        for _ in range(_SPLITS_OF_MANY if self._is_large else _SPLITS):
            weights = np.zeros(self.direction.size)
            weights[moving] = rng.uniform(-1.0, 2.0, moving.size)
            parts = [weights * self.direction, (1.0 - weights) * self.direction]
            slopes = [whole, *(self._quotient(part, 1.0) for part in parts)]
            with np.errstate(all="ignore"):
                gap = np.abs(slopes[0] - slopes[1] - slopes[2])
                is_apart = gap - 1e-3 * sum(map(np.abs, slopes))
                if not np.any((is_apart > 0) & np.isfinite(gap)):
                    continue  # most often, so that nobody needs to know how good the slopes are
                coarse = [self._quotient(direction, 3.0) for direction in (self.direction, *parts)]
                errors = sum(np.abs(fine - other) for fine, other in zip(slopes, coarse, strict=True))
                if np.any((is_apart > 10 * errors) & np.isfinite(gap)):
                    return True
        return False

    def _quotient(self, direction: Vector, steps: float) -> Vector:
        """One central difference, with a short step."""
        function, h = self._function, 1e-6 * steps * self._line.scale
        if not np.any(direction):
            return np.zeros(function.y.shape)
        with np.errstate(all="ignore"):
            return np.asarray(
                (function.at(function.x + h * direction) - function.at(function.x - h * direction)) / (2.0 * h), float
            )

    def _confirmed(self, question: Question) -> np.ndarray[Any, Any]:
        """The verdicts when a second method is heard too. Where the two differ, neither is as sure as it was."""
        first = self.bracket
        verdicts = question.verdicts(first)
        if self._is_large and question.weights is not None:
            return self._confirmed_as_a_whole(question, question.weights)
        smooth = ~first.kinks & np.isfinite(first.lower)
        value, error, noise, stairs = self._swept(np.flatnonzero(verdicts == FAIL)[:BLOCK])
        # Entries of the output that do not move at all are judged apart from those that do. Some may move with longer
        # steps, near a kink; where many do, the function is rounded, and the first method has seen nothing.
        still = (first.lower == 0) & (first.error == 0)
        moved = still & ~((value == 0) & np.isfinite(error))
        if np.count_nonzero(moved) <= _MOVED_LATER * np.count_nonzero(still):
            value, error, noise = (np.where(still, 0.0, found) for found in (value, error, noise))
        second = first.where(smooth, value, value, error)
        doubted = (verdicts == FAIL) & (question.verdicts(second) != FAIL)
        if np.any(doubted) and not np.any(self._contradict(first, second) | (noise > _QUIET) | stairs):
            # The sweep knows too little for so small a difference.
            second = self._by_more_points()
            value, error = second.value, second.error
            doubted = (verdicts == FAIL) & (question.verdicts(second) != FAIL)
        if not np.any(doubted):
            return verdicts
        self.unconfirmed = ~second.resolved(float(np.linalg.norm(self.direction)))
        with np.errstate(all="ignore"):
            unsure = np.fmax(np.fmax(error, first.error), np.abs(value - first.lower))
        contradicted = smooth & self._contradict(first, Bracket(value, value, error))
        seen = stairs | (noise > _QUIET)  # by the second method alone, which knows what that makes of its error
        unsure, contradicted = np.where(seen, error, unsure), contradicted | (smooth & stairs)
        self.bracket = first.where(contradicted, value, value, unsure, ROUGH)
        # Where the other method knows too little to say anything, the first one's error is not trusted fully.
        unheard = doubted & smooth & ~contradicted
        self.bracket = self.bracket.where(unheard, first.lower, first.lower, _DOUBT * first.error)
        settled = np.where(question.verdicts(self.bracket) == PASS, PASS, INCONCLUSIVE)
        return np.where(doubted, settled, verdicts)

    def _confirmed_as_a_whole(self, question: Question, weights: Vector) -> np.ndarray[Any, Any]:
        """The same for one number, a sum of very many: the second method looks at the sum alone."""
        line = self._function.line(self.direction, weights).of_components(slice(-1, None))
        unknown = np.broadcast_to(np.inf, self.bracket.error.shape)
        method = central_fdm(7, 1, adapt=0, max_range=0.03)
        second = self.bracket
        for value, error in (step_sweep(line, _FEWEST_STEPS)[:2], StepSearch(method, line).run()):
            known = weights, float(value[0]), float(error[0])
            second = replace(self.bracket, error=unknown, total=known)
            verdicts = question.verdicts(second)
            if np.all(verdicts == FAIL):
                return verdicts
        self.bracket = second
        return verdicts

    def _with_more_digits(self, question: Question, verdicts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The verdicts when the function in extended precision is heard too.

        A function that loses digits inside, as 1 + tanh(x) of a large negative x, is a staircase with steps so long
        that a finite difference sees one of them, which is as smooth as can be. With more digits its steps are others.
        """
        extended = self._function.extended_and_measured if self._affordable(_DIGITS_COST) else None
        if extended is None:
            return verdicts
        first = self.bracket
        before = extended.evaluations
        estimate = extended_estimate(extended, self.direction)  # with long steps, whatever served here
        self._function.evaluations += extended.evaluations - before
        known = ~first.kinks & np.isfinite(first.lower) & np.isfinite(estimate.error)
        second = first.where(known, estimate.value, estimate.value, estimate.error)
        heard = question.verdicts(second)
        doubted = (verdicts != PASS) & (heard != FAIL)
        if not np.any(doubted):
            return verdicts
        self.bracket = second
        return np.where(doubted, heard, verdicts)

    @cached_property
    def _sweep(self) -> tuple[Vector, Vector, Vector, Vector]:
        """What `step_sweep` finds."""
        affordable = (MOST_EVALUATIONS - self._function.evaluations) // 2 - 1
        return step_sweep(self._line, min(max(affordable, _FEWEST_STEPS), _MOST_STEPS))

    def _swept(self, accused: Any) -> tuple[Vector, Vector, Vector, Vector]:
        """What it finds; of very many entries, about those that are accused, while the others stay as they are."""
        if not self._is_large:
            return self._sweep
        shape = self.bracket.error.shape
        found = self.bracket.value.copy(), self.bracket.error.copy(), np.zeros(shape), np.zeros(shape, dtype=bool)
        of_accused = step_sweep(self._line.of_components(accused), _FEWEST_STEPS)
        for every, one in zip(found, of_accused, strict=True):
            every[accused] = one
        return found

    def _contradict(self, first: Bracket, second: Bracket) -> Any:
        with np.errstate(all="ignore"):
            return np.abs(first.value - second.value) > ERROR_ESTIMATES * (first.error + second.error)

    def _by_more_points(self) -> Bracket:
        """Differences of nine points, whose truncation has nothing in common with that of five."""
        function, weights = self._function, self._weights
        line = self._line if weights is None else function.line(self.direction, weights)
        method = central_fdm(7, 1, adapt=0, max_range=0.03)
        first = 2.3 * self._search.best_step if self._search is not None and self._search.count else None
        value, error = StepSearch(method, line).run(first=first)
        return Bracket.of(value, error, weights)


def at_a_glance(function: VectorFunction, direction: Vector, question: Question) -> Bracket | None:
    """What four evaluations say along a direction, where that is plain; None where it takes more of them."""
    weights = question.weights
    if unusable(function, direction) is not None or (weights is not None and not np.any(weights)):
        return None
    line = function.line(direction, weights)
    if weights is not None:
        line = line.of_components(slice(-1, None))
    value, error, _ = line.at_once(is_cautious=True)
    known = Bracket.of(value, error) if weights is None else _bracket_of_sum(function, weights, value, error, "")
    return known if question.is_plain(known) else None


def weighted_derivative(
    function: VectorFunction, direction: Vector, weights: Vector, fdm: FiniteDifferenceMethod | None = None
) -> Bracket:
    """One finite difference along a direction, with that of a weighted sum of the output found as a whole."""
    known = unusable(function, direction)
    if known is not None:
        return Bracket.of(known.value, known.error, note=known.note)
    wanted = weights if np.any(weights) else None
    if wanted is not None and function.y.size > BLOCK:
        return _derivative_as_a_whole(function, direction, weights, fdm)
    search = StepSearch(fdm or method_for(function), function.line(direction, wanted))
    value, error = search.unadapted() if fdm is not None and not fdm.adapt else search.run()
    return Bracket.of(value, error, wanted, search.note)


def _derivative_as_a_whole(
    function: VectorFunction, direction: Vector, weights: Vector, fdm: FiniteDifferenceMethod | None
) -> Bracket:
    """The same of very many outputs, about which one by one nothing is found out."""
    line = function.line(direction, weights).of_components(slice(-1, None))
    search = StepSearch(fdm or method_for(function), line)
    value, error = search.unadapted() if fdm is not None and not fdm.adapt else search.run()
    return _bracket_of_sum(function, weights, value, error, search.note)


def _bracket_of_sum(function: VectorFunction, weights: Vector, value: Vector, error: Vector, note: str) -> Bracket:
    nothing, unknown = (np.broadcast_to(number, function.y.shape) for number in (0.0, np.inf))
    return Bracket(nothing, nothing, unknown, (note,), (weights, float(value[0]), float(error[0])))


def _better(value: Vector, error: Vector, known: Bracket) -> Any:
    """Where an estimate is more precise than what is known, or knows itself where the other does not."""
    with np.errstate(all="ignore"):
        was_lost = ~(known.error <= RESOLVED * np.abs(known.value))
        is_lost = ~(error <= RESOLVED * np.abs(value))
        return np.where(was_lost == is_lost, error < known.error, was_lost)


def _infinite(known: Bracket, where: Any, slope: Vector) -> Bracket:
    return known.where(where, slope, slope, np.zeros(slope.shape), INFINITE)


def _with_sides(line: Line, known: Bracket, unit: float, moving: Any, right_outside: Any, left_outside: Any) -> Bracket:
    """What is known where the derivatives from each side are heard too."""
    sides = one_sided(line, 1e-3 * line.scale, unit)
    right, left = moving & sides.right_found, moving & sides.left_found
    lower, upper = np.fmin(sides.left, sides.right), np.fmax(sides.left, sides.right)
    with np.errstate(all="ignore"):
        differ = right & left & (upper - lower > ERROR_ESTIMATES * (sides.left_error + sides.right_error))
    known = known.where(differ, lower, upper, np.fmax(sides.left_error, sides.right_error), KINK)
    known = known.where(right & left_outside, sides.right, sides.right, sides.right_error, EDGE)
    return known.where(left & right_outside, sides.left, sides.left, sides.left_error, EDGE)


def _worst_relative(value: Vector, error: Vector) -> float:
    with np.errstate(all="ignore"):
        relative = np.abs(value)
        np.divide(error, relative, out=relative)
    return float(np.max(relative, initial=0.0, where=error != 0))


def _of_mixed_magnitudes(scales: Vector, direction: Vector) -> bool:
    if not np.all(direction):
        scales = scales[direction != 0]
    return scales.size > 1 and bool(np.max(scales) > _MIXED * np.min(scales))
