"""Rules for `scipy.ndimage`, one sub-module per chapter of it."""

from rules.scipy.ndimage import (
    affine_transforms,
    boundaries,
    correlations,
    fourier,
    measurements,
    missing,
    rank_filters,
    smoothing,
    spline_sampling,
    transforms,
    windows,
)

__all__ = [
    "affine_transforms",
    "boundaries",
    "correlations",
    "fourier",
    "measurements",
    "missing",
    "rank_filters",
    "smoothing",
    "spline_sampling",
    "transforms",
    "windows",
]
