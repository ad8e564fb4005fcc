"""Rules of `scipy.optimize`."""

import scipy.optimize
from rulescore import missing_rules, non_differentiable, not_numerical

from .. import functions_without_rules
from . import least_squares as least_squares
from . import linear_problems as linear_problems
from . import minimization as minimization
from . import roots as roots

for _functions, _because in functions_without_rules.missing_in(scipy.optimize):
    missing_rules(*_functions, because=_because)
non_differentiable(*functions_without_rules.constant_in(scipy.optimize))
not_numerical(*functions_without_rules.not_numerical_in(scipy.optimize))
