"""What kind of thing a leaf is: whether it has a derivative, and why not."""

from __future__ import annotations

import numbers
import types
from typing import Any

import numpy as np

from rulescore.tangents.arithmetic import AbstractTangent
from rulescore.tangents.spaces import has_tangent_space
from rulescore.tangents.structure import structure_of


def is_integral(leaf: Any) -> bool:
    """Whether a leaf is a number or array of integers or booleans, which has no derivative."""
    if isinstance(leaf, (bool, int)):
        return True
    stands_for = getattr(type(leaf), "__rule_type__", type(leaf))
    return issubclass(stands_for, (np.ndarray, np.generic)) and leaf.dtype.kind in "iub"


def is_exotic(leaf: Any) -> bool:
    """Whether a leaf is a real number, or an array of such, but of a kind that is not differentiated."""
    if isinstance(leaf, np.ndarray):
        return leaf.dtype.names is not None
    return isinstance(leaf, numbers.Number) and not has_tangent_space(leaf) and not is_integral(leaf)


def hides_numbers(leaf: Any, depth: int = 3) -> bool:
    """Whether a leaf that is no number is an object with floats or tracers in it, which a tree does not reach."""
    if isinstance(leaf, np.ndarray):
        return leaf.dtype.kind == "O" and any(_is_or_hides_number(item, depth) for item in leaf.flat)
    if depth == 0 or isinstance(leaf, (AbstractTangent, types.ModuleType, type)):
        return False
    if isinstance(leaf, (set, frozenset)):
        return any(_is_or_hides_number(item, depth) for item in leaf)
    try:
        fields = structure_of(leaf)
    except (TypeError, AttributeError):  # an object that says nothing of what it holds
        return False
    return any(_is_or_hides_number(item, depth) for item in (fields or {}).values())


def _is_or_hides_number(item: Any, depth: int) -> bool:
    return has_tangent_space(item) or hides_numbers(item, depth - 1)
