"""What of `scipy.integrate` has a derivative and no rule, and why."""

import scipy.integrate

from rulescore import missing_rules


def _missing(names, because):
    """Of functions by name: some are missing in an older SciPy."""
    functions = [getattr(scipy.integrate, name) for name in names.split() if hasattr(scipy.integrate, name)]
    missing_rules(*functions, because=because)


_missing(
    "cubature tanhsinh",
    "there is no rule for it yet; quad and quad_vec have rules with respect to limits and parameters, and dblquad, "
    "tplquad and nquad in several variables",
)
_missing(
    "nsum",
    "there is no rule for it yet; a sum of many terms written with numpy.sum is differentiated",
)
_missing(
    "qmc_quad",
    "its points are drawn at random by the sampler; draw them with scipy.stats.qmc and average the function over them, "
    "which is differentiated",
)
_missing(
    "newton_cotes",
    "the weights have no rule with respect to the points; simpson and trapezoid have rules with respect to points too",
)
_missing("lebedev_rule", "a table of points and weights for a whole number, which depends on nothing that moves")
