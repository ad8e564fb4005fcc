"""Where in the user's code an operation came from whose backward pass has failed.

A tape does not record this, since that would cost more than many operations do. Once something has failed, the function
is run again on a tape that does, and the error gets a note.
"""

from __future__ import annotations

import contextvars
import sys
from collections.abc import Callable, Iterable
from typing import Any

from rulescore.ad.engine.entries import FAILED_AT, LEAF, Entry, Key
from rulescore.ad.engine.tapes import Tape
from rulescore.ad.messages.errors import full_name
from rulescore.ad.messages.places import Place, is_inner
from rulescore.tangents.masked import Selected
from rulescore.tangents.thunks import unthunk

is_placing: contextvars.ContextVar[bool] = contextvars.ContextVar("rulescore_is_placing", default=False)
"""Whether functions are being run again in search of a place, so that every tape has to know places."""

_walking: contextvars.ContextVar[Place | None] = contextvars.ContextVar("rulescore_walking", default=None)
"""The place of the operation whose backward pass is under way."""


class PlacingTape(Tape):
    """A tape that remembers where its operations came from: the place of each entry by its key."""

    __slots__ = ("_operation", "places")

    def __init__(self, system: Any, kind: Any) -> None:
        super().__init__(system, kind)
        self._operation: Any = None
        self.places: dict[int, Place | None] = {}

    def process(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self._operation = f
        return super().process(f, args, kwargs)

    def keep(self, entry: Entry) -> int:
        place = self.places[len(self)] = _place_of("an operation" if entry is LEAF else full_name(self._operation))
        return super().keep(entry if entry is LEAF else _Placed(entry, place))


class _Placed(Entry):
    """An entry that says where it came from while it passes its cotangent on."""

    __slots__ = ("_entry", "_place")

    def __init__(self, entry: Entry, place: Place | None) -> None:
        self._entry = entry
        self._place = place

    @property
    def is_elementwise(self) -> bool:  # type: ignore[override]
        return self._entry.is_elementwise

    @property
    def keeps_places(self) -> bool:  # type: ignore[override]
        return self._entry.keeps_places

    def cotangents(self, ybar: Any) -> Iterable[tuple[Key, Any]]:
        token = _walking.set(self._place)
        try:  # and does all the work now: neither thunks nor a generator would know the place later
            return [(key, bar if type(bar) is Selected else unthunk(bar)) for key, bar in self._entry.cotangents(ybar)]
        finally:
            _walking.reset(token)


def _place_of(operation: str) -> Place | None:
    """The place of an operation that is being recorded.

    In a backward pass it is an operation of a rule: of the user's own, or else of one that the user does not know, and
    then the place is that of the operation whose rule it is.
    """
    frame = sys._getframe(1)
    while frame is not None and is_inner(frame.f_code) and frame.f_code is not _Placed.cotangents.__code__:
        frame = frame.f_back  # type: ignore[assignment]
    within = _walking.get()
    if frame is None or frame.f_code is _Placed.cotangents.__code__:
        return within
    code = frame.f_code
    return Place(operation, code.co_qualname, code.co_filename, frame.f_lineno, within)


def explain(error: Exception, length: int, tape: PlacingTape, run_again: Callable[[Tape], Any]) -> None:
    """Give an error of a walk back a note that says where the operation came from that it happened in.

    ``length`` is how many entries the tape had that was walked back; ``run_again`` records the same on an empty one.
    """
    position = vars(error).pop(FAILED_AT, None)
    if position is not None:
        error.add_note(_explanation(position, length, tape, run_again))


def _explanation(position: int, length: int, tape: PlacingTape, run_again: Callable[[Tape], Any]) -> str:
    token = is_placing.set(True)
    try:
        with tape:
            run_again(tape)
    except BaseException:  # whatever it is: what is told about is the first error
        return "in a backward pass; of which operation is not known, since the function failed when it was run again"
    finally:
        is_placing.reset(token)
    place = tape.places.get(position)
    if place is None or len(tape) != length:
        return (
            "in a backward pass; of which operation is not known, since the function did something else when it was "
            "run again"
        )
    return f"in the backward pass of {place}"
