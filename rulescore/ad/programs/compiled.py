"""Calls of functions in C with differentiated values: what they cannot take is an error that names them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from rulescore.ad.messages.errors import LeakedTracerError, NoRuleError, TracerConversionError, UnhashableError, no_rule
from rulescore.ad.messages.places import user_frame
from rulescore.ad.messages.public_functions import public_caller
from rulescore.ad.programs.buffers import holds_tracers
from rulescore.ad.programs.stand_ins.table import values_beneath
from rulescore.tangents.kinds import is_a


def called_natively(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call what is no function of Python's, and say so where it wants ordinary numbers and gets others."""
    if getattr(f, "__module__", None) == _CRASHES and (holds_tracers(args) or holds_tracers(kwargs)):
        raise _refusal(f, args, kwargs, "of anything else, it ends the process")
    try:
        return f(*args, **kwargs)
    except (NoRuleError, LeakedTracerError, UnhashableError, StopIteration):
        raise
    except Exception as error:
        if not holds_tracers(args) and not holds_tracers(kwargs):
            raise
        if not isinstance(error, TracerConversionError) and fails_anyway(f, args, kwargs, type(error)):
            raise
        raise _refusal(f, args, kwargs, str(error).partition("\n")[0]) from error


_CRASHES = "scipy.integrate._odepack"
"""A module whose functions end the process where an argument is no array and cannot be made one (SciPy 1.17)."""


def _refusal(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], what_came_of_it: str) -> NoRuleError:
    frame = user_frame(sys._getframe(2))
    where = f"called in {frame.f_code.co_qualname} at {frame.f_code.co_filename}:{frame.f_lineno}"
    reason = f"it is compiled, has no rule, and wants ordinary numbers or arrays ({where}): {what_came_of_it}"
    return no_rule(f, args, kwargs, reason, public_caller(f, sys._getframe(2)))


def fails_anyway(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], kind: type[BaseException]) -> bool:
    """Whether the same call of ordinary arrays raises the same kind of error."""
    values = [_copied(values_beneath(x)) for x in args]
    named = {name: _copied(values_beneath(x)) for name, x in kwargs.items()}
    try:
        f(*values, **named)
    except kind:
        return True
    except Exception:
        return False
    return False


def _copied(x: Any) -> Any:
    """A copy of an array, since the call may write into it."""
    return x.copy() if is_a(x, np.ndarray) else x
