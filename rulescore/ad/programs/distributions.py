"""The distributions of `scipy.stats`: a frozen one has one of its own, which the rules do not know."""

from __future__ import annotations

import sys
import types
from typing import Any

from rulescore.ad.programs.rules_by_code import is_served

INFRASTRUCTURE = "scipy.stats._distn_infrastructure"


def with_rule(f: types.MethodType) -> types.MethodType | None:
    """The method with a rule that stands for one of a distribution; None where there is none."""
    if is_served(f):
        return f
    distribution: Any = f.__self__
    known: Any = getattr(sys.modules["scipy.stats"], str(getattr(distribution, "name", None)), None)
    if type(known) is not type(distribution) or known._updated_ctor_param() != distribution._updated_ctor_param():
        return None
    found = getattr(known, f.__name__)
    return found if is_served(found) else None
