"""Sample inputs for `scipy.stats`."""

from testutils.samples.scipy.stats import (
    distributions,
    multivariate,
    order_statistics,
    reductions,
)

__all__ = ["distributions", "multivariate", "order_statistics", "reductions"]
