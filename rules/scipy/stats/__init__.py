"""Rules of `scipy.stats`."""

import scipy.stats
from rulescore import missing_rules, non_differentiable

from .. import functions_without_rules
from . import (
    discrete,
    half_line,
    intervals,
    kernel_estimates,
    moments,
    multivariate,
    order_statistics,
    real_line,
    reductions,
    standard_scores,
    standardised,
)

__all__ = [
    "discrete",
    "half_line",
    "intervals",
    "kernel_estimates",
    "moments",
    "multivariate",
    "order_statistics",
    "real_line",
    "reductions",
    "standard_scores",
    "standardised",
]

for _functions, _because in functions_without_rules.missing_in(scipy.stats):
    missing_rules(*_functions, because=_because)
non_differentiable(*functions_without_rules.constant_in(scipy.stats))
