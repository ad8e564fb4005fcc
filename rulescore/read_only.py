"""Arrays that may not be written into, such as those of other AD systems, for functions that refuse them.

Cython's typed buffers want memory that can be written into, also where nothing is written, as in several
functions of SciPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_REFUSAL = "buffer source array is read-only"


def called(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``f(*args, **kwargs)``, with copies of read-only arrays if it refuses these."""
    try:
        return f(*args, **kwargs)
    except ValueError as error:
        if _REFUSAL not in str(error):
            raise
        return f(*map(_writable, args), **{name: _writable(value) for name, value in kwargs.items()})


def _writable(x: Any) -> Any:
    return x.copy() if isinstance(x, np.ndarray) and not x.flags.writeable else x
