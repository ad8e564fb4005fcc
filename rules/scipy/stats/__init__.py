"""Rules of `scipy.stats`."""

from rules.scipy.stats import (
    discrete,
    half_line,
    intervals,
    missing,
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
    "missing",
    "moments",
    "multivariate",
    "order_statistics",
    "real_line",
    "reductions",
    "standard_scores",
    "standardised",
]
