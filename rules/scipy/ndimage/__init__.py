"""Rules for `scipy.ndimage`, one sub-module per chapter of it."""

import scipy.ndimage

from rules.scipy import functions_without_rules
from rules.scipy.ndimage import (
    affine_transforms,
    boundaries,
    correlations,
    fourier,
    measurements,
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
    "rank_filters",
    "smoothing",
    "spline_sampling",
    "transforms",
    "windows",
]

functions_without_rules.declare(scipy.ndimage)
