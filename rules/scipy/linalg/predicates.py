"""What tells how a matrix looks, in numbers without a derivative: ``bandwidth``, ``ishermitian``, ``issymmetric``."""

import scipy.linalg

from rulescore import non_differentiable

for predicate in (scipy.linalg.bandwidth, scipy.linalg.ishermitian, scipy.linalg.issymmetric):
    non_differentiable(predicate)
