"""What of `scipy.optimize` has no rule, and why; and what has no derivative."""

import scipy.optimize

from rulescore import missing_rules, non_differentiable, not_numerical


def _named(names):
    """Functions by name: some are missing in an older SciPy, or gone in a newer one."""
    return [getattr(scipy.optimize, name) for name in names.split() if hasattr(scipy.optimize, name)]


non_differentiable(scipy.optimize.linear_sum_assignment)  # whole numbers
not_numerical(*_named("show_options linprog_verbose_callback check_grad"))

missing_rules(
    *_named("fmin_l_bfgs_b fmin_slsqp fmin_tnc fmin_cobyla"),
    because="there is no rule for it; minimize has rules with these methods, bounds and constraints included",
)
missing_rules(
    *_named("basinhopping brute differential_evolution direct dual_annealing shgo"),
    because="there is no rule for global searches; give what they find to minimize, as x0=, which has rules",
)
missing_rules(
    *_named("milp quadratic_assignment"),
    because="the solution of an integer program jumps, and is constant between; linprog has rules",
)
missing_rules(
    *_named("bracket line_search"),
    because="what a step of a search finds depends on how it searches; minimize and minimize_scalar have rules for the "
    "minimum itself",
)
missing_rules(
    *_named("approx_fprime"),
    because="it is a finite difference; the AD system has the exact gradient of the function",
)
missing_rules(
    *_named("isotonic_regression"),
    because="there is no rule yet; its values are means of blocks of the data, which numpy.mean has rules for",
)
missing_rules(
    *_named("rosen rosen_der rosen_hess rosen_hess_prod"),
    because="a function to test solvers with; write it with NumPy, the sum of 100 (x[1:] - x[:-1]²)² + (1 - x[:-1])², "
    "and its derivatives come from the AD system",
)
