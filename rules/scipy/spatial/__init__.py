"""Rules of `scipy.spatial`."""

from rules.scipy.spatial import (
    geometry,
    metrics,
    pairs,
    pairwise,
    rearranging,
    rotations,
)

__all__ = ["geometry", "metrics", "pairs", "pairwise", "rearranging", "rotations"]
