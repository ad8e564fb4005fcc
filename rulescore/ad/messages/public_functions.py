"""The function of a library that a person can give a rule, where what stopped is a private one beneath it."""

from __future__ import annotations

import itertools
import sys
from types import FrameType
from typing import Any

from rulescore.ad.messages.places import is_inner


def public_caller(f: Any, frame: FrameType | None) -> str | None:
    """The innermost public function of a library, on the way to a private one of it.

    Parameters
    ----------
    f : object
        What has been called.
    frame : frame
        Where the way begins that is walked outwards, to the first frame of another's code.

    Returns
    -------
    name : str or None
        As it is given to ``rrule.register``. None where ``f`` is public itself, or nothing on the way is.
    """
    module = getattr(f, "__module__", None) or ""
    if not module or reached_as(module, getattr(f, "__qualname__", getattr(f, "__name__", ""))) is not None:
        return None
    library = module.partition(".")[0]
    while frame is not None:
        home = frame.f_globals.get("__name__", "")
        if home.partition(".")[0] == library:
            found = reached_as(home, frame.f_code.co_qualname)
            if found is not None:
                return found
        elif not is_inner(frame.f_code):
            return None
        frame = frame.f_back
    return None


def reached_as(module: str, name: str) -> str | None:
    """The name by which a function is reached with no underscore on the way; None where there is none."""
    owner, _, last = name.rpartition(".")
    if owner and last in ("__init__", "__call__"):
        found = reached_as(module, owner)
        return found if last == "__init__" or found is None else f"instances_of({found})"
    parts = name.split(".")
    if any(part.startswith(("_", "<")) for part in parts):
        return None
    homes = itertools.accumulate(
        itertools.takewhile(lambda part: not part.startswith("_"), module.split(".")), "{}.{}".format
    )
    for home in reversed(list(homes)):
        member: Any = sys.modules.get(home)
        for part in parts:
            member = getattr(member, part, None)
        if member is not None:
            return f"{home}.{name}"
    return None
