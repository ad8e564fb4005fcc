"""Rules of `scipy.spatial`."""

from rules.scipy.spatial import (
    metrics,
    pairs,
    pairwise,
    rearranging,
)

__all__ = ["metrics", "pairs", "pairwise", "rearranging"]
