"""Sample inputs of `scipy.optimize`."""

from testutils.samples.scipy import closures as closures
from testutils.samples.scipy.optimize import minima as minima
from testutils.samples.scipy.optimize import roots as roots
