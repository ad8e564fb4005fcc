"""Sample inputs for `scipy.stats`."""

from . import (
    distributions,
    kernel_estimates,
    multivariate,
    order_statistics,
    reductions,
)

__all__ = ["distributions", "kernel_estimates", "multivariate", "order_statistics", "reductions"]
