"""Calls that are timed in turns: each is repeated for a while whenever its turn comes.

What is measured is processor time, of all threads of the process: on a busy machine, the clock also counts what others
do meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

TURN = 1e-2
"""How many seconds a turn takes at least; a fast call is repeated."""

LONG_TURN = 0.7
"""The same where passes of the garbage collector count, which are rare and long."""

SLOW = 0.05
"""A call that takes more seconds needs no other call to warm the caches."""


class Repeated:
    """A call with what it took.

    Attributes
    ----------
    call : callable, optional
        What is timed; without it there is nothing to do in a turn.
    repetitions : int
        How often it is called in a turn.
    seconds : list of float
        What a call took, in each of the turns it had.
    """

    def __init__(self) -> None:
        self.call: Callable[[], Any] | None = None
        self.repetitions = 0
        self.seconds: list[float] = []

    def start(self, call: Callable[[], Any], turn: float = TURN) -> float:
        """Repeat a call, which has been made before, for some seconds a turn; how many it takes, roughly."""
        self.call, self.repetitions = call, 1
        for part in (min(turn, TURN), min(turn, TURN), turn):  # the first calls still fill caches
            took = min(self.time(), self.time())
            self.repetitions = max(1, round(part / took))
            if took > part:
                break
        return took

    def time(self) -> float:
        """How many seconds a call takes, now."""
        call = self.call
        assert call is not None
        numbers = range(self.repetitions)
        start = time.process_time()
        for _ in numbers:
            call()
        return (time.process_time() - start) / self.repetitions

    def take_turn(self) -> None:
        if self.call is not None:
            if not self.is_slow:
                self.call()  # the others have left the caches cold
            self.seconds.append(self.time())

    @property
    def is_slow(self) -> bool:
        return bool(self.seconds) and median(self.seconds) > SLOW

    def times_as_long_as(self, other: Repeated) -> float:
        return median(own / others for own, others in zip(self.seconds, other.seconds, strict=False))
