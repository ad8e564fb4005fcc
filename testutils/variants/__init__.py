"""Variants of the input of a case: the same call in other memory, with other types, and on other values.

`run_layout_variants` belongs to every check: it changes the memory that arguments and cotangents lie in, and the type a
cotangent has, and compares with the plain call. `run_value_variants` makes a new case of each variant and checks that.
"""

from __future__ import annotations

from .catalogue import (
    FURTHER_POINTS,
    LAYOUT_VARIANTS,
    MADE_UP_POINTS,
    POINTS_OF_MANY_ENTRIES,
    VALUE_VARIANTS,
    VARIANTS,
    checked_claims,
    checked_skip,
    points_of_sample,
)
from .layout_runs import run_layout_variants
from .value_runs import run_made_up_points, run_value_variants, with_fewer_entries

__all__ = [
    "FURTHER_POINTS",
    "LAYOUT_VARIANTS",
    "MADE_UP_POINTS",
    "POINTS_OF_MANY_ENTRIES",
    "VALUE_VARIANTS",
    "VARIANTS",
    "checked_claims",
    "checked_skip",
    "points_of_sample",
    "run_layout_variants",
    "run_made_up_points",
    "run_value_variants",
    "with_fewer_entries",
]
