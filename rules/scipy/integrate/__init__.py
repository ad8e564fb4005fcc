"""Rules of `scipy.integrate`."""

import scipy.integrate

from rules.scipy import functions_without_rules
from rules.scipy.integrate import boundary_values as boundary_values
from rules.scipy.integrate import initial_values as initial_values
from rules.scipy.integrate import quadrature as quadrature
from rules.scipy.integrate import sampled_data as sampled_data
from rulescore import missing_rules

for _functions, _because in functions_without_rules.missing_in(scipy.integrate):
    missing_rules(*_functions, because=_because)
