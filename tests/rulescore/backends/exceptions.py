"""Why a backend does not answer for some sample inputs: what the error says, and what that means."""

from __future__ import annotations

import re

_VALUES = (
    "the shape or dtype of the result depends on values, which a compiled program does not know; `result_shapes=` "
    "tells it"
)

REASONS = {
    r"(shapes|types|these).* (may not )?depend on values": _VALUES,
    r"returned an empty array when it was called with made-up": _VALUES,
    r"unexpected JAX type \(e.g. shape/dtype\) for argument to (VJP|vjp) function": _VALUES,
    r"could not be found by calling it": (
        "the function takes neither zeros nor numbers around one, with which the shapes of its result are found; "
        "`result_shapes=` tells them"
    ),
    r"float128|complex256|long-double|longdouble": "JAX and PyTorch have no numbers of extended precision",
    r"order-A|in-order-K": "`order='A'` and `'K'` ask how an array lies in memory, which these systems do not keep",
    r"partition array is read-only": (
        "`overwrite_input=True` asks to write into memory that belongs to the system, where it may not"
    ),
    r"getitem returned str": "the result is text",
    r"sorting pytree dictionary keys": "a dict among the arguments has keys that cannot be sorted",
    r"doesn't match the broadcast shape": _VALUES,
    r"neither an array nor hashable": ("an argument is an object that cannot be hashed, as fixed arguments have to be"),
    r"assume_constant_result argument conversion failed": (
        "an argument is an object that a compiled program of PyTorch does not take for a constant"
    ),
}
"""By a regular expression that finds the error's message."""


def reason_for(message: str) -> str | None:
    """What an error means; None where it is none of those that are known."""
    return next((reason for pattern, reason in REASONS.items() if re.search(pattern, message, re.DOTALL)), None)
