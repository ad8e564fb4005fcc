"""Rules of `scipy.sparse.linalg`."""

import scipy.sparse.linalg
from rulescore import missing_rules, non_differentiable, not_numerical

from .. import functions_without_rules
from . import (
    direct,
    exponentials,
    general_eigenvalues,
    iterative,
    kept_matrices,
    least_squares,
    operators,
    spectra,
)

__all__ = [
    "direct",
    "exponentials",
    "general_eigenvalues",
    "iterative",
    "kept_matrices",
    "least_squares",
    "operators",
    "spectra",
]

for _functions, _because in functions_without_rules.missing_in(scipy.sparse.linalg):
    missing_rules(*_functions, because=_because)
non_differentiable(*functions_without_rules.constant_in(scipy.sparse.linalg))
not_numerical(*functions_without_rules.not_numerical_in(scipy.sparse.linalg))
