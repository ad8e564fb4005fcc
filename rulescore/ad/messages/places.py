"""Places in the user's code: which frame is the user's, and how an operation that was called there is named."""

from __future__ import annotations

import linecache
import os
import sys
from types import CodeType, FrameType
from typing import NamedTuple

import numpy as np

_PACKAGE = os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))
_INNER_FOLDERS = tuple(
    folder + os.sep
    for folder in (_PACKAGE, os.path.join(os.path.dirname(_PACKAGE), "rules"), os.path.dirname(np.__file__))
)


class Place(NamedTuple):
    """An operation and the line of the user's code that it came from."""

    operation: str
    function: str
    file: str
    line: int
    within: Place | None = None
    """The operation in whose backward pass it was called, where that was differentiated in its turn."""

    def __str__(self) -> str:
        source = linecache.getline(self.file, self.line).strip()
        shown = f"{self.operation}, called in {self.function} at {self.file}:{self.line}" + (source and f": {source}")
        return shown if self.within is None else f"{shown}\nwithin the backward pass of {self.within}"


# ---------------------------------------------------------------- frames


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The first frame, outwards from a given one, that belongs to neither this package, its rules nor NumPy."""
    known = _is_inner_file
    while frame is not None:
        inner = known.get(frame.f_code.co_filename)
        if not (is_inner(frame.f_code) if inner is None else inner):
            break
        frame = frame.f_back
    return frame


def is_inner(code: CodeType) -> bool:
    """Whether code belongs to this package, its rules or NumPy."""
    file = code.co_filename
    try:
        return _is_inner_file[file]
    except KeyError:
        return _is_inner_file.setdefault(file, file.startswith(_INNER_FOLDERS))


_is_inner_file: dict[str, bool] = {}  # asked for every frame between the user's code and the recording of an operation


def stacklevel_of_user() -> int:
    """The ``stacklevel`` for a warning from the calling function to be shown at the user's line."""
    frame = sys._getframe(1)
    level = 1
    while frame.f_back is not None and is_inner(frame.f_code):
        frame, level = frame.f_back, level + 1
    return level
