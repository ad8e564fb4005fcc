"""Sample inputs for `scipy.ndimage`."""

from . import (
    building_blocks,
    correlations,
    fourier,
    measurements,
    rank_filters,
    smoothing,
    transforms,
)

__all__ = [
    "building_blocks",
    "correlations",
    "fourier",
    "measurements",
    "rank_filters",
    "smoothing",
    "transforms",
]
