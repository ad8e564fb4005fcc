"""Rules of `scipy.interpolate`, and its classes for use with values that are being differentiated."""

import scipy.interpolate
from rulescore import missing_rules

from .. import functions_without_rules
from . import (
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
from .bsplines import BSpline
from .evaluation import evaluated
from .grids import RegularGridInterpolator
from .lines import interp1d
from .piecewise import (
    Akima1DInterpolator,
    CubicHermiteSpline,
    CubicSpline,
    PchipInterpolator,
    PPoly,
)
from .radial import RBFInterpolator
from .scattered import (
    BarycentricInterpolator,
    KroghInterpolator,
    LinearNDInterpolator,
)
from .surfaces import NdBSpline

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
