"""Which numbers depend on which: the coefficients of a measured map that are not zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..comparison.verdicts import ERROR_ESTIMATES
from ..evidence.vectorisation import Layout
from .measured_maps import Measured, MeasuredMap

NEGLIGIBLE = 1e-9
"""A coefficient this much smaller than its neighbours is zero."""


def count(layout: Layout) -> int:
    """How many numbers an object has; a complex one counts once."""
    return sum(leaf.count for leaf in layout.leaves())


def numbers(layout: Layout) -> Any:
    """For every entry of a vector the number that it is a part of."""
    parts, start = [np.zeros(0, dtype=int)], 0
    for leaf in layout.leaves():
        parts.append(start + np.tile(np.arange(leaf.count), 2 if leaf.is_complex else 1))
        start += leaf.count
    return np.concatenate(parts)


def are_used(coefficients: Measured) -> Any:
    """Which coefficients are not zero."""
    size = np.abs(coefficients.value)
    return size > NEGLIGIBLE * np.max(size, initial=0.0) + ERROR_ESTIMATES * coefficients.error


def signs(measured: MeasuredMap, entry: int) -> Any:
    """How the numbers of the source count in one entry: 1, -1 or 0 (not at all). Complex ones have no sign."""
    row = measured.row(entry)
    used = are_used(row)
    found = np.zeros(count(measured.source), dtype=int)
    is_complex = any(leaf.is_complex for leaf in measured.source.leaves())
    found[numbers(measured.source)[used]] = 1 if is_complex else np.sign(row.value[used])
    return found


def sign_matrix(measured: MeasuredMap, entries: Any) -> Any:
    """How the numbers of the source (columns) count in those of the target with these entries (rows)."""
    _, owners = np.unique(numbers(measured.target)[entries], return_inverse=True)
    found = np.zeros((len(set(owners.tolist())), count(measured.source)), dtype=int)
    for owner, entry in zip(owners, entries, strict=True):
        own = signs(measured, int(entry))
        found[owner] = np.where(own != 0, own, found[owner])
    return found
