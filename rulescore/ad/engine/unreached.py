"""What nothing has reached is a strong zero: where NaN came out of a differentiation, it is done again with masks.

The zeros beside what an index has read are no small numbers but nothing at all, and an infinite slope times nothing is
nothing. To follow which zeros these are takes longer, so it is done only where there is NaN that it may keep out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from rulescore.ad.tracing.tracers import Tracer, value_beneath
from rulescore.tangents.kinds import is_a
from rulescore.tangents.masked import Selected, everywhere, follows_all, follows_marks, where_not_zero
from rulescore.tangents.sparsity import is_sparse

Seeds = list[tuple[Any, Any]]


def has_nan(bars: Iterable[Any]) -> bool:
    """Whether there is NaN in derivatives; of batches that is asked where their directions are put together."""
    for bar in bars:
        if type(bar) is np.ndarray:
            total = np.vdot(bar, bar)  # in half the time of np.isnan(bar).any(); `dot` would warn of overflow
            if total != total:
                return True
        elif isinstance(bar, Tracer):
            if bar._trace.differentiates and has_nan((bar._value,)):
                return True
        elif is_a(bar, np.generic) and bar != bar:
            return True
    return False


def masked(bar: Any, is_given: bool) -> Any:
    """A derivative to begin with, with its mask.

    The zeros of one that somebody has given are strong: he asks for the derivative of a sum without these entries, or
    along a direction in which these do not move. Those of one that has been computed may be small numbers.
    """
    if isinstance(bar, Selected) or not hasattr(bar, "dtype") or is_sparse(value_beneath(bar)):
        return bar
    is_strong = not isinstance(bar, Tracer) and (is_given or follows_marks())
    return where_not_zero(bar) if is_strong else everywhere(bar)


def masked_seeds(seeds: Seeds, is_given: bool) -> Seeds:
    """The same of all seeds of a walk back."""
    return [(key, masked(bar, is_given)) for key, bar in seeds]


def pulled_back_within(tape: Any, seeds: Seeds, keep: bool = False, with_masks: bool = False) -> list[Any]:
    """The cotangents of a tape that a rule has made, with masks where those are followed that it was called for.

    Of those with masks what the rule gives has some too, where it is to be given ``with_masks``.
    """
    with_masks = with_masks and any(type(seed) is Selected for _, seed in seeds)
    seeds = masked_seeds(seeds, False) if follows_all() else seeds
    return tape.pull_back(seeds, keep, with_masks)  # type: ignore[no-any-return]
