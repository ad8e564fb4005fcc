"""Rules of `scipy.integrate`."""

import scipy.integrate
from rulescore import missing_rules

from .. import functions_without_rules
from . import boundary_values as boundary_values
from . import initial_values as initial_values
from . import quadrature as quadrature
from . import sampled_data as sampled_data

for _functions, _because in functions_without_rules.missing_in(scipy.integrate):
    missing_rules(*_functions, because=_because)
