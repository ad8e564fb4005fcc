"""Sample inputs for `scipy.spatial`."""

from . import (
    distances,
    geometry,
    rearranging,
    rotations,
)

__all__ = ["distances", "geometry", "rearranging", "rotations"]
