"""Mistakes about indices that occur more than once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from ..evidence.vectorisation import Vector
from .coefficients import numbers, sign_matrix, signs
from .inputs import ignored_part
from .measured_maps import Measured, MeasuredMap
from .observations import Explanation, Observations
from .sums import one_slice


def assigned_index(seen: Observations) -> Iterator[Explanation]:
    """Of all that should be accumulated in one entry there is only what came last, or first.

    Asked only where every entry of the source counts in one entry of the target at most, as when an array is indexed;
    or in two with opposite signs, as in differences of indexed arrays. And where slices or parts do not say the same.
    """
    if any(map(seen.explained_by, chain(one_slice(seen), ignored_part(seen)))):
        return
    for index, which in ((-1, "last"), (0, "first")):
        for what, has_sign, thinned in _thinnings(sign_matrix(seen.map, seen.few_entries)):
            yield Explanation(
                partial(_accumulated, seen.map, index, has_sign, thinned),
                f"of several {what} the {which} is all that the rule has",
                dear=True,
            )


def _thinnings(matrix: Any) -> Iterator[tuple[str, bool, tuple[int, ...]]]:
    """What may have been assigned: its name, whether signs matter, and contributions of which sign."""
    used = matrix != 0
    if np.all(np.sum(used, axis=0) <= 1) and np.any(np.sum(used, axis=1) > 1):
        yield "contributions", False, (1,)
    repeated = tuple(sign for sign in (1, -1) if np.any(np.sum(matrix == sign, axis=1) > 1))
    both_signs = all(np.any(matrix == sign) and np.all(np.sum(matrix == sign, axis=0) <= 1) for sign in (1, -1))
    if both_signs:
        names = {1: "positive contributions", -1: "negative contributions"}
        yield from ((names[sign], True, (sign,)) for sign in repeated)
        if len(repeated) > 1:
            yield "contributions of each sign", True, repeated


def _accumulated(
    measured: MeasuredMap, index: int, has_sign: bool, thinned: tuple[int, ...], v: Vector, entries: Any
) -> Measured:
    """The sum of all contributions but those that were overwritten."""
    value, error = np.zeros(len(entries)), np.zeros(len(entries))
    owners = numbers(measured.source)
    for place, entry in enumerate(entries):
        row, own = measured.row(int(entry)), signs(measured, int(entry))
        own = own if has_sign else np.abs(own)
        kept = own != 0
        for sign in thinned:
            candidates = np.flatnonzero(own == sign)
            kept[candidates] = False
            kept[candidates[index : index + 1 or None]] = True
        used = kept[owners]
        value[place], error[place] = row.value[used] @ v[used], row.error[used] @ np.abs(v[used])
    return Measured(value, error)
