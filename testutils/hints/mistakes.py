"""The table of known mistakes, the simplest first, and the hints that are made from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from . import factors, indices, inputs, orders, sums
from .measured_maps import attempt
from .observations import ENOUGH, Explanation, Observations, SecondPoint

MOST_HINTS = 2
"""Where more mistakes than these explain the rule equally well, the evidence tells too little to go on."""


@dataclass(frozen=True)
class Mistake:
    """A mistake that people make in rules.

    Attributes
    ----------
    name : str
    text : str
        What a hint calls it, the rest of a sentence that begins with "looks like"; with a place for each of the
        explanation's words.
    explanations : callable
        How a rule with this mistake comes to its numbers; one explanation for each way of making it.
    """

    name: str
    text: str
    explanations: Callable[[Observations], Iterator[Explanation]]

    def hint(self, seen: Observations, second: SecondPoint) -> str | None:
        """The hint, where one of the explanations accounts for everything that was seen."""
        for explanation in self.explanations(seen):
            if seen.explained_by(explanation):
                nearby = second.observations
                if self._is_confirmed(explanation, seen, nearby):
                    where = "" if nearby is None else ", and at a point nearby"
                    evidence = f"{explanation.evidence} {seen.coverage(explanation)}{where}"
                    return f"{self.text.format(*explanation.words)} ({evidence})"
        return None

    def _is_confirmed(self, explanation: Explanation, seen: Observations, nearby: Observations | None) -> bool:
        """Whether the same holds at a second point; without one, several entries have to agree."""
        if nearby is None:
            return int(np.count_nonzero(seen.wrong)) >= ENOUGH
        return any(
            (other.words, other.evidence) == (explanation.words, explanation.evidence) and nearby.explained_by(other)
            for other in self.explanations(nearby)
        )


MISTAKES: tuple[Mistake, ...] = (
    Mistake("forgotten argument", "a forgotten argument", factors.forgotten_argument),
    Mistake("imaginary part", "a dropped imaginary part", inputs.dropped_imaginary_part),
    Mistake("left out entries", "entries that were left out", factors.left_out_entries),
    Mistake("missing mask", "a missing mask", factors.missing_mask),
    Mistake("sign", "a flipped sign", factors.flipped_sign),
    Mistake("factor 2", "a factor {}", factors.factor_two),
    Mistake("ignored axis", "an axis or keepdims that was ignored", sums.ignored_axis),
    Mistake("sum for mean", "a sum instead of a mean", sums.sum_for_mean),
    Mistake("mean for sum", "a mean instead of a sum", sums.mean_for_sum),
    Mistake("missing cotangent", "a missing {} factor", inputs.missing_factor),
    Mistake("ignored part", "a part of the {} that was ignored", inputs.ignored_part),
    Mistake("swapped parts", "two parts that were swapped", orders.swapped_parts),
    Mistake("conjugate", "a missing or superfluous conjugate", inputs.missing_conjugate),
    Mistake("missing sum", "a missing sum over {}", sums.one_slice),
    Mistake("cumulative direction", "the wrong cumulative direction", orders.wrong_cumulative_direction),
    Mistake("transposed", "a transposed matrix", orders.transposed_matrix),
    Mistake("another argument", "the derivative of another argument", inputs.another_argument),
    Mistake("swapped arguments", "swapped arguments", inputs.swapped_arguments),
    Mistake("assigned index", "a repeated index assigned instead of accumulated", indices.assigned_index),
    Mistake("reversed axis", "a reversed axis", orders.reversed_axis),
    Mistake(
        "at the output", "a derivative evaluated at the output instead of the input", inputs.evaluated_at_the_output
    ),
    Mistake("shift", "a shift by one", orders.shift_by_one),
    Mistake("constant factor", "a constant factor {}", factors.constant_factor),
)
"""Every mistake that is recognised in the numbers of a derivative."""

_OF_SOME_ENTRIES = ("sign", "factor 2", "imaginary part", "conjugate", "constant factor")

MISTAKES_IN_SOME_ENTRIES: tuple[Mistake, ...] = (
    Mistake("left out entries", "entries that were left out", factors.forgotten_argument),
    Mistake("missing mask", "a missing mask", factors.unmasked),
    *(mistake for mistake in MISTAKES if mistake.name in _OF_SOME_ENTRIES),
)
"""Those that can be made in some entries of an argument alone, where only these move."""


def hints(seen: Observations, second: SecondPoint, mistakes: tuple[Mistake, ...] = MISTAKES) -> tuple[str, ...]:
    """The mistakes that explain what was seen, at most `MOST_HINTS` of them."""
    found: list[str] = []
    if not seen.wrong.any():
        return ()
    for mistake in mistakes:
        hint = attempt(partial(mistake.hint, seen, second))
        if hint is not None:
            found.append(hint)
        if len(found) == MOST_HINTS:
            break
    return tuple(found)
