"""Rules of `scipy.interpolate`, and its classes for use with values that are being differentiated."""

import scipy.interpolate

from rules.scipy import functions_without_rules
from rules.scipy.interpolate import (
    bsplines,
    cubics,
    evaluation,
    grids,
    lines,
    piecewise,
    radial,
    scattered,
    surfaces,
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
from rules.scipy.interpolate.radial import RBFInterpolator
from rules.scipy.interpolate.scattered import (
    BarycentricInterpolator,
    KroghInterpolator,
    LinearNDInterpolator,
)
from rules.scipy.interpolate.surfaces import NdBSpline
from rulescore import missing_rules

__all__ = [
    "Akima1DInterpolator",
    "BSpline",
    "BarycentricInterpolator",
    "CubicHermiteSpline",
    "CubicSpline",
    "KroghInterpolator",
    "LinearNDInterpolator",
    "NdBSpline",
    "PPoly",
    "PchipInterpolator",
    "RBFInterpolator",
    "RegularGridInterpolator",
    "bsplines",
    "cubics",
    "evaluated",
    "evaluation",
    "grids",
    "interp1d",
    "lines",
    "piecewise",
    "radial",
    "scattered",
    "surfaces",
    "weighted_neighbours",
]

for _functions, _because in functions_without_rules.missing_in(scipy.interpolate):
    missing_rules(*_functions, because=_because)
