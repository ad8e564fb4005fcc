"""What the search for what is wrong may cost, once it is known that something is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

EVALUATIONS_OF_LARGE_ARGUMENTS = 100
"""How many are made by default where the arguments have very many entries, each of which takes its time."""

VECTORS_AT_ONCE = 24
"""How many vectors of the length of arguments and output together a search keeps in memory at once, at most."""


class Counted(Protocol):
    """A function that counts how often it is evaluated."""

    evaluations: int


class SearchBudget:
    """The evaluations of the function that are left for a search.

    Parameters
    ----------
    size : int
        How many numbers arguments and output have.
    is_large : bool
        Whether the arguments have very many.
    max_evaluations, max_bytes : int or None
        See `testutils.check_rule`.

    Raises
    ------
    ValueError
        For a limit that is negative.

    Examples
    --------
    >>> budget = SearchBudget(3, False, max_evaluations=10)
    >>> budget.affords(10), budget.affords(11)
    (True, False)
    >>> budget.reason
    'the search for more ended at max_evaluations=10'
    """

    def __init__(
        self, size: int, is_large: bool = False, max_evaluations: int | None = None, max_bytes: int | None = None
    ) -> None:
        for name, limit in (("max_evaluations", max_evaluations), ("max_bytes", max_bytes)):
            if limit is not None and limit < 0:
                raise ValueError(f"{name}={limit!r}: write a number that is not negative, or None")
        default = EVALUATIONS_OF_LARGE_ARGUMENTS if is_large else math.inf
        self.left = default if max_evaluations is None else max_evaluations
        self._limit = f"max_evaluations={self.left}"
        if max_bytes is not None and 8 * size * VECTORS_AT_ONCE > max_bytes:
            self.left, self._limit = 0, f"max_bytes={max_bytes}"
        self._has_ended = False

    @property
    def reason(self) -> str:
        """Where the search has ended before its time, in words; empty where it has not."""
        return f"the search for more ended at {self._limit}" if self._has_ended and self._limit else ""

    def affords(self, evaluations: int) -> bool:
        """Whether so many are left; the search has ended where they are not."""
        if self.left < evaluations:
            self._has_ended = True
        return self.left >= evaluations

    def end(self) -> None:
        """Search no more, and say nothing of it: what is wrong is known from elsewhere."""
        self.left, self._limit = 0, ""

    @contextmanager
    def spending(self, function: Counted) -> Iterator[None]:
        """Count how often ``function`` is evaluated inside of the block."""
        before = function.evaluations
        try:
            yield
        finally:
            self.left -= function.evaluations - before
