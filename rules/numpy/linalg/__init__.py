"""Rules for `numpy.linalg`; its products, traces and diagonals live with those of `numpy`."""

from . import (
    cholesky,
    determinants,
    eigenvalues,
    general_eigenvalues,
    inverses,
    linear_systems,
    lu_factors,
    matrix_powers,
    norms,
    qr,
    singular_values,
    spectral_slopes,
)

__all__ = [
    "cholesky",
    "determinants",
    "eigenvalues",
    "general_eigenvalues",
    "inverses",
    "linear_systems",
    "lu_factors",
    "matrix_powers",
    "norms",
    "qr",
    "singular_values",
    "spectral_slopes",
]
