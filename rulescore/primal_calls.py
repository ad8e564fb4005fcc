"""Calls of functions that know NumPy's own arrays alone: that see no tracer, or refuse read-only memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore.tangents.kinds import is_a

_REFUSAL = "buffer source array is read-only"


def seen_by_tracers(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a function that hands over to no other library: an AD system that traces an argument has to see the call.

    Parameters
    ----------
    f : callable
        A function that NumPy's protocols do not reach, as most of SciPy's.
    *args, **kwargs : object
        What it is called with. Read-only arrays are copied where it refuses them.

    Returns
    -------
    object
        What it returns, or what the AD system makes of the call.

    Examples
    --------
    >>> import math
    >>> seen_by_tracers(math.hypot, 3.0, 4.0)
    5.0
    """
    tracer = tracer_within((*args, *kwargs.values()))
    if tracer is None:
        return called(f, args, kwargs)
    return tracer.__array_function__(f, (type(tracer),), args, kwargs)


def is_traced(*values: Any) -> bool:
    """Whether an AD system differentiates one of these values, or what stands within lists and tuples among them.

    Examples
    --------
    >>> from rulescore.ad import grad
    >>> seen = []
    >>> gradient = grad(lambda x: seen.append(is_traced([x, 1.0])) or x**2)(3.0)
    >>> seen, is_traced(3.0)
    ([True], False)
    """
    return tracer_within(values) is not None


def tracer_within(x: Any) -> Any:
    """What an AD system traces, also within lists and tuples; None where there is no such thing."""
    kind = type(x)
    if issubclass(kind, (list, tuple)):
        for part in x:
            if type(part) not in _PLAIN:
                found = tracer_within(part)
                if found is not None:
                    return found
        return None
    return x if hasattr(kind, "__rule_type__") else None


_PLAIN = frozenset({np.ndarray, np.float64, float, int, bool, complex, str, slice, type(None)})
"""The types of most arguments, of which it takes longer to find out that they have no such attribute."""


def called(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``f(*args, **kwargs)``, with copies of read-only arrays if it refuses these.

    Cython's typed buffers want memory that can be written into, also where nothing is written.
    """
    try:
        return f(*args, **kwargs)
    except ValueError as error:
        if _REFUSAL not in str(error):
            raise
        return f(*map(_writable, args), **{name: _writable(value) for name, value in kwargs.items()})


def _writable(x: Any) -> Any:
    return x.copy() if is_a(x, np.ndarray) and not x.flags.writeable else x
