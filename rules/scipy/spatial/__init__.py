"""Rules of `scipy.spatial`."""

from . import (
    geometry,
    metrics,
    pairs,
    pairwise,
    rearranging,
    rotations,
)

__all__ = ["geometry", "metrics", "pairs", "pairwise", "rearranging", "rotations"]
