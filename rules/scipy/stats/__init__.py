"""Rules of `scipy.stats`."""

import scipy.stats

from rules.scipy import functions_without_rules
from rules.scipy.stats import (
    discrete,
    half_line,
    intervals,
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
    "moments",
    "multivariate",
    "order_statistics",
    "real_line",
    "reductions",
    "standard_scores",
    "standardised",
]

functions_without_rules.declare(scipy.stats)
