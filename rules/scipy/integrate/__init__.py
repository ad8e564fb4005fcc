"""Rules of `scipy.integrate`."""

from rules.scipy.integrate import boundary_values as boundary_values
from rules.scipy.integrate import initial_values as initial_values
from rules.scipy.integrate import missing as missing
from rules.scipy.integrate import quadrature as quadrature
from rules.scipy.integrate import sampled_data as sampled_data
