"""Rules of the larger and the smaller of two numbers.

At a tie each argument gets half of the derivative. `maximum` and `minimum` return a NaN among their arguments and so
give the derivative to it; `fmax` and `fmin` ignore a NaN beside a number and so give it to the number. Two NaN are a
tie. The shares always sum to one. Complex numbers are ordered by their real parts, then by their imaginary parts.
"""

import numpy as np
from rulescore import scalar_rule

from .precision import one_like


def _share(x, is_result, other_is_result):
    """The derivative with respect to ``x``: 1 where it is the result, ½ where the other argument is so too, else 0."""
    return np.where(is_result & other_is_result, one_like(x) / 2, is_result)


def _of_maximum(x, other):
    return _share(x, np.greater_equal(x, other) | np.isnan(x), np.greater_equal(other, x) | np.isnan(other))


def _of_minimum(x, other):
    return _share(x, np.less_equal(x, other) | np.isnan(x), np.less_equal(other, x) | np.isnan(other))


def _of_fmax(x, other):
    return _share(x, np.greater_equal(x, other) | np.isnan(other), np.greater_equal(other, x) | np.isnan(x))


def _of_fmin(x, other):
    return _share(x, np.less_equal(x, other) | np.isnan(other), np.less_equal(other, x) | np.isnan(x))


scalar_rule(np.maximum, lambda y, a, b: _of_maximum(a, b), lambda y, a, b: _of_maximum(b, a))
scalar_rule(np.minimum, lambda y, a, b: _of_minimum(a, b), lambda y, a, b: _of_minimum(b, a))
scalar_rule(np.fmax, lambda y, a, b: _of_fmax(a, b), lambda y, a, b: _of_fmax(b, a))
scalar_rule(np.fmin, lambda y, a, b: _of_fmin(a, b), lambda y, a, b: _of_fmin(b, a))
