"""Sample inputs of `scipy.optimize`."""

from .. import closures as closures
from . import minima as minima
from . import roots as roots
