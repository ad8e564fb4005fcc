"""What functions are called, and where they are defined."""

from __future__ import annotations

import functools
import inspect
import sys
from typing import Any

from rulescore.shipped import public_name
from rulescore.tables.signatures import InstancesOf


def name_of(f: Any) -> str:
    """A function's name as a person would write it."""
    if isinstance(f, InstancesOf):
        return f"instances_of({f.cls.__qualname__})"
    if isinstance(f, functools.partial):
        return f"partial({name_of(f.func)})"
    return str(getattr(f, "__qualname__", None) or getattr(f, "__name__", None) or f"{type(f).__qualname__} object")


def place_of(f: Any) -> tuple[str, str, int]:
    """The module, file and line where a function is defined."""
    unwrapped = inspect.unwrap(f)
    code = getattr(unwrapped, "__code__", None) or getattr(type(unwrapped).__call__, "__code__", None)
    module = public_name(getattr(f, "__module__", None) or "?")
    return (module, "?", 0) if code is None else (module, code.co_filename, code.co_firstlineno)


def place_of_caller() -> tuple[str, str, int]:
    """The module, file and line from which the function that asks was called."""
    frame = sys._getframe(2)
    return public_name(frame.f_globals.get("__name__", "?")), frame.f_code.co_filename, frame.f_lineno
