"""The one thing that cannot be seen: an ordinary array that a rule has kept, and that is overwritten afterwards.

The page on automatic differentiation says that the derivative is wrong then. So that this hides nothing else, a program
is examined once more with copies of ordinary arrays given to the rules.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
from optree import tree_map

from rulescore.ad.engine import tapes
from rulescore.ad.system.reference_ad import AD


def is_overwritten(is_wrong: Callable[[], bool]) -> bool:
    """Whether something is wrong with the arrays that rules are given, and right with copies of these."""
    with mock.patch.object(AD, "short_cuts", False):
        if not is_wrong():  # then it is a short cut that is wrong
            return False
        with _given_copies():
            return not is_wrong()


@contextlib.contextmanager
def _given_copies() -> Iterator[None]:
    strip = tapes.strip

    def stripped(trace: Any, args: tuple[Any, ...]) -> Any:
        return strip(trace, tuple([tree_map(_copied, x) if type(x) in _HOLDERS else x for x in args]))

    with mock.patch.object(tapes, "strip", stripped):
        yield


_HOLDERS = (np.ndarray, list, tuple, dict)


def _copied(x: Any) -> Any:
    return x.copy() if type(x) is np.ndarray else x
