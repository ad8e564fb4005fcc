"""Rules for `scipy.ndimage`, one sub-module per chapter of it."""

import scipy.ndimage
from rulescore import missing_rules, not_numerical

from .. import functions_without_rules
from . import (
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

for _functions, _because in functions_without_rules.missing_in(scipy.ndimage):
    missing_rules(*_functions, because=_because)
not_numerical(*functions_without_rules.not_numerical_in(scipy.ndimage))
