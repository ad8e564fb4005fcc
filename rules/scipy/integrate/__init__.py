"""Rules of `scipy.integrate`."""

from rules.scipy.integrate import initial_values as initial_values
from rules.scipy.integrate import quadrature as quadrature
from rules.scipy.integrate import sampled_data as sampled_data
