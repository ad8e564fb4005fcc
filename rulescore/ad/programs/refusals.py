"""Refusals, which a program's own handlers do not get to see."""

from __future__ import annotations

import sys

from rulescore.ad.messages.errors import (
    MissingAttributeError,
    NoRuleError,
    NoSourceError,
    TracerConversionError,
    UnhashableError,
)
from rulescore.tangents.arithmetic import MissingDerivativeError

_REFUSALS = (NoRuleError, NoSourceError, TracerConversionError, MissingDerivativeError)


def caught() -> None:
    """Raise again what a handler of the program is not meant for: it would go on, with other numbers."""
    refusal = refusal_in(sys.exc_info()[1])
    if refusal is not None:
        raise refusal


def refusal_in(error: BaseException | None) -> BaseException | None:
    """The error that says that a derivative would be lost, if one led to another error.

    Not those that answer a question of the program: whether something has an attribute, or a hash.
    """
    while error is not None:
        if isinstance(error, _REFUSALS) and not isinstance(error, (MissingAttributeError, UnhashableError)):
            return error
        error = error.__cause__ or error.__context__
    return None
