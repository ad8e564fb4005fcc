"""Rules of `scipy.linalg`."""

import scipy.linalg
from rulescore import missing_rules, not_numerical

from .. import functions_without_rules
from . import (
    banded_systems,
    cholesky,
    constants,
    determinants,
    general_eigenvalues,
    hermitian_eigenvalues,
    inverses,
    kept_factors,
    linear_systems,
    lu,
    matrix_equations,
    matrix_exponential,
    matrix_functions,
    norms,
    operands,
    polar,
    qr,
    riccati_equations,
    schur,
    singular_values,
    structured_matrices,
    structures,
    toeplitz_systems,
    tridiagonal_eigenvalues,
)

__all__ = [
    "banded_systems",
    "cholesky",
    "constants",
    "determinants",
    "general_eigenvalues",
    "hermitian_eigenvalues",
    "inverses",
    "kept_factors",
    "linear_systems",
    "lu",
    "matrix_equations",
    "matrix_exponential",
    "matrix_functions",
    "norms",
    "operands",
    "polar",
    "qr",
    "riccati_equations",
    "schur",
    "singular_values",
    "structured_matrices",
    "structures",
    "toeplitz_systems",
    "tridiagonal_eigenvalues",
]

for _functions, _because in functions_without_rules.missing_in(scipy.linalg):
    missing_rules(*_functions, because=_because)
not_numerical(*functions_without_rules.not_numerical_in(scipy.linalg))
