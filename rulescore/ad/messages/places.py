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


class _InnerFiles(dict[str, bool]):
    """Whether a file belongs to this package, its rules or NumPy: asked for every frame on the way to the user's."""

    def __missing__(self, file: str) -> bool:
        self[file] = is_inner = file.startswith(_INNER_FOLDERS)
        return is_inner


is_inner_file = _InnerFiles()


def is_inner(code: CodeType) -> bool:
    """Whether code belongs to this package, its rules or NumPy."""
    return is_inner_file[code.co_filename]


def user_frame(frame: FrameType) -> FrameType:
    """The first frame, outwards from a given one, that is the user's; the given one where there is none."""
    found: FrameType | None = frame
    while found is not None and is_inner_file[found.f_code.co_filename]:
        found = found.f_back
    return found or frame


def stacklevel_of_user() -> int:
    """The ``stacklevel`` for a warning from the calling function to be shown at the user's line."""
    frame = sys._getframe(1)
    level = 1
    while frame.f_back is not None and is_inner(frame.f_code):
        frame, level = frame.f_back, level + 1
    return level
