"""How a report names functions and values."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from rulescore.shipped import public_name
from rulescore.tables.signatures import InstancesOf


def name_of(function: Any) -> str:
    """The name people know a function by: ``numpy.sin``, ``mypkg.pool``; of an object, its type's."""
    if isinstance(function, InstancesOf):
        return f"instances_of({name_of(function.cls)})"
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    if name is None and (name := _name_in_special(function)) is None:
        function = type(function)
        name = function.__qualname__
    # A method's descriptor knows its class only; the module that CPython implements `operator` in is no name at all.
    owner = function if getattr(function, "__module__", None) else getattr(function, "__objclass__", None)
    module = public_name(getattr(owner, "__module__", None) or "").replace("_operator", "operator")
    name = name.replace("<locals>.", "")
    if not module and isinstance(function, np.ufunc):  # SciPy's know no module
        module = "scipy.special" if _name_in_special(function) else ""
    return f"{module}.{name}" if module not in ("", "builtins", "__main__") else str(name)


def _name_in_special(function: Any) -> str | None:
    """The name of one of SciPy's special functions, of which some know none themselves."""
    if type(function).__module__.partition(".")[0] not in ("numpy", "scipy"):
        return None
    members = vars(sys.modules.get("scipy.special", sys))
    return next((name for name, member in members.items() if member is function), None)


def description_of(x: Any) -> str:
    """A value as a reader needs it: ``float64[3, 2]``, ``list[float64[3], float]``; small settings as they are."""
    shape, dtype = attribute_of(x, "shape"), attribute_of(x, "dtype")
    if isinstance(shape, tuple) and dtype is not None:
        kind = "" if type(x).__name__ in ("ndarray", str(dtype)) else f"{type(x).__name__} of "
        return f"{kind}{dtype}[{', '.join(map(str, shape))}]" if shape or kind else _zero_dimensional(x)
    if x is None or isinstance(x, (bool, int, str)):
        return repr(x)
    if type(x) in (list, tuple):
        return (
            f"{type(x).__name__}[{', '.join(map(description_of, x))}]"
            if len(x) < 5
            else f"{type(x).__name__} of {len(x)}"
        )
    if callable(x) and attribute_of(x, "__name__") is not None:
        return name_of(x)
    return type(x).__name__


def option_of(text: str, of_sample: bool) -> str:
    """An option of the testers as it is written for them, or in a sample input."""
    return f"sample(..., _{text})" if of_sample else text


def attribute_of(x: Any, name: str) -> Any:
    """An attribute, or None where there is none: somebody's object may then raise any error."""
    try:
        return getattr(x, name, None)
    except Exception:
        return None


def _zero_dimensional(x: Any) -> str:
    return f"{x.dtype}[]" if type(x).__name__ == "ndarray" else str(x.dtype)


def counted(count: int, noun: str) -> str:
    """A number of things in good grammar: ``1 function``, ``2 functions``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
