"""Where in the user's code an operation came from whose backward pass has failed.

A tape does not record this, since that would cost more than many operations do. Once something has failed, the function
is run again on a tape that does, and the error gets a note. That tape knows of each operation the first frame outside
this package, its rules and NumPy.
"""

from __future__ import annotations

import contextvars
import linecache
import os
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

import rulescore
from rulescore.ad import tapes
from rulescore.ad.errors import full_name
from rulescore.ad.tapes import ClosedTape, Tape, walk_back

_PACKAGE = os.path.dirname(os.path.abspath(rulescore.__file__))
_INNER_FOLDERS = tuple(
    folder + os.sep
    for folder in (_PACKAGE, os.path.join(os.path.dirname(_PACKAGE), "rules"), os.path.dirname(np.__file__))
)


class Place(NamedTuple):
    """An operation and the line of the user's code that it came from.

    Attributes
    ----------
    within : Place or None
        The operation in whose backward pass it was called, where that was differentiated in its turn.
    """

    operation: str
    function: str
    file: str
    line: int
    within: Place | None = None

    def __str__(self) -> str:
        source = linecache.getline(self.file, self.line).strip()
        shown = f"{self.operation}, called in {self.function} at {self.file}:{self.line}" + (source and f": {source}")
        return shown if self.within is None else f"{shown}\nwithin the backward pass of {self.within}"


# ---------------------------------------------------------------- frames


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The first frame, outwards from a given one, that belongs to neither this package, its rules nor NumPy."""
    while frame is not None and is_inner(frame.f_code):
        frame = frame.f_back
    return frame


def is_inner(code: CodeType) -> bool:
    """Whether code belongs to this package, its rules or NumPy."""
    return code.co_filename.startswith(_INNER_FOLDERS)


def stacklevel_of_user() -> int:
    """The ``stacklevel`` for a warning from the calling function to be shown at the user's line."""
    frame = sys._getframe(1)
    level = 1
    while frame.f_back is not None and is_inner(frame.f_code):
        frame, level = frame.f_back, level + 1
    return level


def _place_of_operation(frame: FrameType | None) -> Place | None:
    """The place of the operation that is being recorded, seen from a frame of the tape."""
    operation = place = None
    while frame is not None:
        code = frame.f_code
        if code is walk_back.__code__ and isinstance(frame.f_locals["tape"], PlacingTape):
            # An operation of a backward pass: of the user's own rule, or else of a rule that the user does not know.
            outer = frame.f_locals["tape"].places.get(len(frame.f_locals["bars"]))
            return outer if place is None else place._replace(within=outer)
        if operation is None and code.co_filename == tapes.__file__:
            f = frame.f_locals.get("ufunc", frame.f_locals.get("f"))
            operation = None if f is None else full_name(f)
        if place is None and not is_inner(code):
            place = Place(operation or "an operation", code.co_qualname, code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return place


# ---------------------------------------------------------------- tapes that know places

_is_placing: contextvars.ContextVar[bool] = contextvars.ContextVar("rulescore_is_placing", default=False)


class PlacingTape(Tape):
    """A tape that remembers where its operations came from.

    Attributes
    ----------
    places : dict
        The place of each entry by its position.
    """

    __slots__ = ("_wanted", "places")

    def __init__(self, wanted: int | None = None) -> None:
        super().__init__()
        self._wanted = wanted
        self.places: dict[int, Place | None] = {}

    def append(self, entry: Any) -> None:
        if self._wanted is None or self._wanted == len(self):
            self.places[len(self)] = _place_of_operation(sys._getframe(1))
        super().append(entry)

    def close(self) -> None:
        self.__class__ = _ClosedPlacingTape


class _ClosedPlacingTape(PlacingTape):
    __slots__ = ()
    append = ClosedTape.append
    process = ClosedTape.process


def new_tape() -> Tape:
    """An empty tape; one that knows places where the differentiation it is for is run in search of a place."""
    return PlacingTape() if _is_placing.get() else Tape()


def explain(error: Exception, length: int, run_again: Callable[[Tape], Any]) -> None:
    """Give an error of `walk_back` a note that says where the operation came from that it happened in.

    Parameters
    ----------
    error : Exception
        What `walk_back` raised.
    length : int
        How many entries the tape had that was walked back.
    run_again : callable
        Records the same on another tape.
    """
    position = vars(error).pop("position", None)
    if position is not None:
        error.add_note(_explanation(position, length, run_again))


def _explanation(position: int, length: int, run_again: Callable[[Tape], Any]) -> str:
    tape = PlacingTape(position)
    token = _is_placing.set(True)
    try:
        run_again(tape)
    except BaseException:  # whatever it is: what is told about is the first error
        return "in a backward pass; of which operation is not known, since the function failed when it was run again"
    finally:
        _is_placing.reset(token)
        tape.close()
    place = tape.places.get(position)
    if place is None or len(tape) != length:
        return (
            "in a backward pass; of which operation is not known, since the function did something else when it was "
            "run again"
        )
    return f"in the backward pass of {place}"
