"""Sample inputs for `scipy.stats`."""

from . import (
    distributions,
    multivariate,
    order_statistics,
    reductions,
)

__all__ = ["distributions", "multivariate", "order_statistics", "reductions"]
