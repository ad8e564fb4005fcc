"""Sample inputs for `scipy.ndimage`."""

from testutils.samples.scipy.ndimage import (
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
