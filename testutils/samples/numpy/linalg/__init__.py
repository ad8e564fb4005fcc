"""Sample inputs for the rules of `numpy.linalg`."""

from . import (
    cholesky,
    determinants,
    eigenvalues,
    general_eigenvalues,
    inverses,
    linear_systems,
    matrix_powers,
    norms,
    qr,
    singular_values,
)

__all__ = [
    "cholesky",
    "determinants",
    "eigenvalues",
    "general_eigenvalues",
    "inverses",
    "linear_systems",
    "matrix_powers",
    "norms",
    "qr",
    "singular_values",
]
