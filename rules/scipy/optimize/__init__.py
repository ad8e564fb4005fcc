"""Rules of `scipy.optimize`."""

import scipy.optimize

from rules.scipy import functions_without_rules
from rules.scipy.optimize import least_squares as least_squares
from rules.scipy.optimize import linear_problems as linear_problems
from rules.scipy.optimize import minimization as minimization
from rules.scipy.optimize import roots as roots

functions_without_rules.declare(scipy.optimize)
