"""Ufuncs whose output is an integer or a truth value: they have no derivative."""

import numpy as np
from rulescore import non_differentiable

non_differentiable(np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
non_differentiable(np.logical_and, np.logical_or, np.logical_xor, np.logical_not)
non_differentiable(np.isfinite, np.isinf, np.isnan, np.isnat)
non_differentiable(np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift)
non_differentiable(np.bitwise_count, np.gcd, np.lcm)
