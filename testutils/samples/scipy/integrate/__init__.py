"""Sample inputs of `scipy.integrate`."""

from .. import closures as closures
from . import functions as functions
from . import sampled_data as sampled_data
