"""What of `scipy.interpolate` has a derivative and no rule, and why."""

from scipy import interpolate

from rulescore import missing_rules


def _missing(names, because):
    """Of functions and classes by name: some are missing in an older SciPy, or gone in a newer one."""
    missing_rules(*[getattr(interpolate, n) for n in names.split() if hasattr(interpolate, n)], because=because)


_missing(
    "UnivariateSpline InterpolatedUnivariateSpline LSQUnivariateSpline",
    "FITPACK's objects for splines have no rules; make_interp_spline interpolates and make_lsq_spline fits with given "
    "knots, and both have rules with respect to points, values and knots",
)
_missing(
    "BivariateSpline RectBivariateSpline SmoothBivariateSpline LSQBivariateSpline SphereBivariateSpline "
    "RectSphereBivariateSpline SmoothSphereBivariateSpline LSQSphereBivariateSpline",
    "FITPACK's objects for splines in two variables have no rules; RegularGridInterpolator with method='cubic' and "
    "bisplev have rules",
)
_missing(
    "bisplrep", "it chooses its knots, which depend on the values in jumps; interpolate with RegularGridInterpolator"
)
_missing(
    "splprep make_splprep",
    "there is no rule yet; make_interp_spline takes curves too, with a parameter that is computed from the points",
)
_missing(
    "make_smoothing_spline",
    "there is no rule yet; make_lsq_spline, whose knots are given, has rules",
)
_missing("generate_knots", "which knots it adds depends on the values in jumps")
_missing(
    "CloughTocher2DInterpolator", "the slopes that it estimates by iteration have no rule; use LinearNDInterpolator"
)
_missing(
    "NdPPoly BPoly",
    "there is no rule yet; PPoly has rules (BPoly and PPoly convert into each other by from_bernstein_basis)",
)
_missing("Rbf", "it is superseded by RBFInterpolator, which has rules")
_missing("NearestNDInterpolator", "there is no rule yet; griddata with method='nearest' has rules")
_missing(
    "lagrange approximate_taylor_polynomial pade",
    "it returns objects of numpy.poly1d, which are not differentiated; KroghInterpolator and BarycentricInterpolator "
    "go through points, and have rules",
)
_missing("AAA FloaterHormannInterpolator", "there is no rule yet for rational interpolation")
_missing("insert", "there is no rule yet for knots that are added to a tck; bspline.insert_knot has none either")
_missing("sproot spalde", "there is no rule; find roots with scipy.optimize on splev, which is differentiated")
