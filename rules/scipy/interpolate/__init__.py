"""Rules of `scipy.interpolate`, and its classes for use with values that are being differentiated."""

from rules.scipy.interpolate import (
    bsplines,
    cubics,
    evaluation,
    grids,
    lines,
    piecewise,
    scattered,
    weighted_neighbours,
)
from rules.scipy.interpolate.bsplines import BSpline
from rules.scipy.interpolate.evaluation import evaluated
from rules.scipy.interpolate.grids import RegularGridInterpolator
from rules.scipy.interpolate.lines import interp1d
from rules.scipy.interpolate.piecewise import (
    Akima1DInterpolator,
    CubicHermiteSpline,
    CubicSpline,
    PchipInterpolator,
    PPoly,
)

__all__ = [
    "Akima1DInterpolator",
    "BSpline",
    "CubicHermiteSpline",
    "CubicSpline",
    "PPoly",
    "PchipInterpolator",
    "RegularGridInterpolator",
    "bsplines",
    "cubics",
    "evaluated",
    "evaluation",
    "grids",
    "interp1d",
    "lines",
    "piecewise",
    "scattered",
    "weighted_neighbours",
]
