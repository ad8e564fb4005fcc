"""What a function captured of another system's: a tensor, or what is being traced, which it cannot compute with."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from rulescore.tables.names import name_of


def of_captured(
    what: str, f: Callable[..., Any], is_foreign: Callable[[Any], bool], error: Exception
) -> TypeError | None:
    """What to raise in the place of an error, where a function names something of the other system; else None.

    Parameters
    ----------
    what : str
        How the user asked for the function, for the message: ``"to_jax"``.
    f : callable
        The function.
    is_foreign : callable
        Whether a value is one that the function cannot compute with.
    error : Exception
        What the call raised.
    """
    if not isinstance(error, TypeError | AttributeError | RuntimeError):  # an error of the function's own
        return None
    names = sorted(name for name, value in _named_by(f).items() if is_foreign(value))
    if not names:
        return None
    return TypeError(
        f"{what}({name_of(f)}): the function captured {', '.join(names)} from around it, of which it gets no array "
        f"as of its arguments: pass it as an argument. What was raised is {type(error).__name__}: {error}"
    )


def _named_by(f: Any) -> dict[str, Any]:
    try:
        found = inspect.getclosurevars(inspect.unwrap(f))
    except TypeError:  # no function of Python
        return {}
    return {**found.globals, **found.nonlocals}
