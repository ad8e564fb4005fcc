"""The walk back from results to arguments: sums of cotangents, and how entries pass them on."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from rulescore.ad.engine.entries import FAILED_AT, Entry, Key, Parts
from rulescore.tangents.masked import Selected
from rulescore.tangents.not_implemented import NotImplementedTangent
from rulescore.tangents.thunks import InplaceableThunk, Thunk
from rulescore.tangents.zero import AbstractZero


class Cotangents:
    """What has reached each entry so far; the seeds are what some entries begin with.

    Only entries that are ``wanted`` are sent any, and what would go elsewhere is not even computed. Where sums are
    ``kept``, they can be taken again. ``in_place`` says whether sums that were made here are added to in place.
    """

    def __init__(
        self,
        seeds: Iterable[tuple[Key, Any]],
        wanted: Collection[Key] | None = None,
        kept: Collection[Key] = (),
        in_place: bool = True,
    ) -> None:
        self._sums: dict[Key, Any] = {}
        # The sums that were made here, and may be added to in place: a pullback may return the cotangent it was given,
        # or one array for several arguments.
        self._own: set[Key] = set()
        self._wanted = wanted
        self._kept = kept
        self._in_place = in_place
        for key, ybar in seeds:
            self.add(key, ybar)

    def take(self, key: Key) -> Any:
        """The sum at an entry, None where nothing has arrived."""
        self._own.discard(key)
        return self._sums.get(key) if key in self._kept else self._sums.pop(key, None)

    def written_out(self, key: Key) -> Any:
        """The sum at an argument, without its mask."""
        total = self.take(key)
        return total.written_out() if type(total) is Selected else total

    def add(self, key: Key, xbar: Any) -> None:
        """Add what a pullback has returned: an array, a thunk, a zero."""
        if self._wanted is not None and key not in self._wanted:
            return
        old = self._sums.get(key)
        if isinstance(xbar, InplaceableThunk) and key in self._own:
            xbar.add_to(old)
            return
        if isinstance(xbar, Thunk):
            xbar = xbar.opened() if old is None or type(old) is Selected else xbar.force()
        if isinstance(xbar, AbstractZero):
            return
        if isinstance(xbar, NotImplementedTangent):
            xbar.fail()
        if old is None:
            self._sums[key] = xbar
        elif type(old) is Parts:
            old.update(xbar)
        elif type(old) is Selected:
            self._sums[key] = old.joined(xbar)
        elif key in self._own and type(xbar) is np.ndarray and xbar.dtype is old.dtype:
            old += xbar
        else:
            self._sums[key] = total = old + xbar
            if type(total) is np.ndarray and self._in_place:
                self._own.add(key)


def walk_back(steps: Iterable[tuple[Key, Entry]], bars: Cotangents) -> None:
    """Each entry passes on to its parents what has reached it, the last entry first."""
    key = None
    try:
        for key, entry in steps:
            ybar = bars.take(key)
            if ybar is not None:
                is_masked = type(ybar) is Selected and not entry.is_elementwise
                for parent, xbar in entry.cotangents_of_masked(ybar) if is_masked else entry.cotangents(ybar):
                    bars.add(parent, xbar)
    except Exception as error:
        # `explain` and `go_back` pop it, and say where in the user's code that was; the innermost walk tells first.
        vars(error).setdefault(FAILED_AT, key)
        raise
