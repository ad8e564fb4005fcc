"""Who else sees an array: counted references, which CPython alone has."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np

from rulescore.ad.in_place.memory import is_writeable


def _references(holder: Any, name: str) -> int:
    x = getattr(holder, name)
    return sys.getrefcount(x)


def _references_of_one_holder() -> int | None:
    """What `_references` counts for an object that nothing but its holder refers to; None where nothing is counted.

    That depends on the version of Python, so it is measured. Only CPython with its global lock counts so that a number
    can be relied on: otherwise every array passes for one that somebody else sees.
    """
    if sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None
    return _references(SimpleNamespace(array=np.empty(1)), "array")


_ONE_HOLDER = _references_of_one_holder()


def is_unseen(holder: Any, name: str) -> bool:
    """Whether the array that an attribute holds can be written to without anybody else noticing.

    Everything that reads an array later holds a reference to it: names in somebody's code, what a tape has saved,
    NumPy's views, which refer to their base. So nobody does when there is one reference, and the memory is its own.
    """
    if _ONE_HOLDER is None or type(getattr(holder, name)) is not np.ndarray or _references(holder, name) != _ONE_HOLDER:
        return False
    if not is_writeable(getattr(holder, name)):
        return False
    base = getattr(holder, name).base
    if base is None:
        return bool(getattr(holder, name).flags.owndata)
    # An array with gaps, made by `empty`: its memory belongs to another array, which nothing else may refer to.
    is_ours = type(base) is np.ndarray and base.dtype == np.uint8 and base.base is None
    del base
    return is_ours and _references(getattr(holder, name), "base") == _ONE_HOLDER
