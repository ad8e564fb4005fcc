"""Rules of `scipy.optimize`."""

from rules.scipy.optimize import least_squares as least_squares
from rules.scipy.optimize import linear_problems as linear_problems
from rules.scipy.optimize import minimization as minimization
from rules.scipy.optimize import missing as missing
from rules.scipy.optimize import roots as roots
