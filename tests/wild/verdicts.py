"""A verdict on a system and an entry, and what is told of an error: its class, its message, and where it was raised."""

from __future__ import annotations

import re
import textwrap
import traceback
from pathlib import Path
from typing import NamedTuple

from tests.processes import ROOT

SYSTEMS_FILES = re.compile(r"/(rulescore|rules|testutils|tests|jax|jaxlib|autograd|numpy|scipy)/|<frozen|<__array")

COMPILED = re.compile(r"it is compiled, has no rule|and is implemented in C|code in C, called in")
"""What `NoRuleError` and `TracerConversionError` say of compiled code; a subclass of arrays, say, is none."""


class Verdict(NamedTuple):
    """One of ``right``, ``wrong``, ``error`` and ``no truth``, and what there is to say of it."""

    kind: str
    message: str = ""
    place: str = ""
    is_compiled: bool = False
    """Whether a value that is being differentiated has reached compiled code without a rule."""

    @classmethod
    def of_error(cls, kind: str, error: BaseException) -> Verdict:
        """The verdict when a system, or an entry itself, raised something."""
        return cls(kind, described(error), place_of(error), reaches_compiled_code(error))


def reaches_compiled_code(error: BaseException) -> bool:
    """Whether it is, or comes of, an error of ours that says so."""
    return any(isinstance(cause, TypeError) and COMPILED.search(str(cause)) for cause in _causes(error))


def _causes(error: BaseException | None) -> list[BaseException]:
    """The error, and what it came of; which may be what it started with."""
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def described(error: BaseException) -> str:
    """The class and the first line, cut if it is long.

    It is without colours, and without what differs each time: the addresses of objects, and where things are installed.
    """
    line = next(iter(str(error).strip().splitlines()), "")
    text = re.sub(
        rf" at 0x[0-9a-f]+|[^\s\"'(]*/site-packages/|{ROOT}/|\x1b\[[0-9;]*m", "", f"{type(error).__name__}: {line}"
    )
    return textwrap.shorten(text, 300, placeholder=" ...")


def place_of(error: BaseException) -> str:
    """The line of the library, or of the entry, in which the error came up."""
    frames = traceback.extract_tb(error.__traceback__)
    outside = [
        frame for frame in frames if not SYSTEMS_FILES.search(frame.filename) or "/wild/libraries/" in frame.filename
    ]
    if not outside:
        return ""
    frame = outside[-1]
    name = frame.filename.rpartition("site-packages/")[2]
    if name == frame.filename:
        name = Path(name).name
    return f"{name}:{frame.lineno}: {frame.line}".removesuffix(": ")
