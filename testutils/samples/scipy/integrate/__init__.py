"""Sample inputs of `scipy.integrate`."""

from testutils.samples.scipy import closures as closures
from testutils.samples.scipy.integrate import functions as functions
from testutils.samples.scipy.integrate import sampled_data as sampled_data
