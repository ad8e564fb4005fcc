"""Short ways to fill the tables: one line where the mathematics is one line."""

from rulescore.definitions.declarations import ignore_derivatives, not_implemented
from rulescore.definitions.elementwise import derivatives_given_output, scalar_rule
from rulescore.definitions.linear import linear_rule
from rulescore.definitions.partials import OneOver
from rulescore.definitions.static import static_rule

__all__ = [
    "OneOver",
    "derivatives_given_output",
    "ignore_derivatives",
    "linear_rule",
    "not_implemented",
    "scalar_rule",
    "static_rule",
]
