"""Sample inputs for `scipy.spatial`."""

from testutils.samples.scipy.spatial import (
    distances,
    rearranging,
)

__all__ = ["distances", "rearranging"]
