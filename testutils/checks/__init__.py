"""The checks: each asks one question about the rules of one call, and none depends on another's answer.

To add one, write a function from a `Case` to `Finding` objects, decorate it with `check`, and put it in the list of its
module.
"""

from __future__ import annotations

from .algebra import ALGEBRA_CHECKS, both_modes_agree
from .check import Check, Finding, check, suitable
from .derivatives import DERIVATIVE_CHECKS
from .points import POINT_CHECKS
from .protocol import PROTOCOL_CHECKS
from .purity import PURITY_CHECKS, PURITY_CHECKS_OF_THE_FIRST_CALL
from .scalars import SCALAR_CHECKS
from .second_order import SECOND_ORDER_CHECKS
from .vacuity import VACUITY_CHECKS

CHECKS: tuple[Check, ...] = (
    *PROTOCOL_CHECKS,
    *DERIVATIVE_CHECKS,
    *ALGEBRA_CHECKS,
    *PURITY_CHECKS,
    *SECOND_ORDER_CHECKS,
)
"""Every check of a case and its variants, in the order in which a report lists them."""

CHECKS_AT_FULL_SIZE: tuple[tuple[Check, ...], ...] = (
    (*PROTOCOL_CHECKS, *PURITY_CHECKS_OF_THE_FIRST_CALL),
    (*DERIVATIVE_CHECKS, both_modes_agree),
)
"""What is asked of arguments with very many entries; all else of the same with fewer, where the function allows it.

First what is about the first calls of the rules, which are forgotten then: their arrays take memory.
"""

__all__ = [
    "CHECKS",
    "CHECKS_AT_FULL_SIZE",
    "DERIVATIVE_CHECKS",
    "POINT_CHECKS",
    "SCALAR_CHECKS",
    "VACUITY_CHECKS",
    "Check",
    "Finding",
    "check",
    "suitable",
]
