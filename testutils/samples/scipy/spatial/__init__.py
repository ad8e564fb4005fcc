"""Sample inputs for `scipy.spatial`."""

from testutils.samples.scipy.spatial import (
    distances,
    geometry,
    rearranging,
    rotations,
)

__all__ = ["distances", "geometry", "rearranging", "rotations"]
