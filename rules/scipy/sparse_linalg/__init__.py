"""Rules of `scipy.sparse.linalg`."""

from rules.scipy.sparse_linalg import (
    direct,
    exponentials,
    general_eigenvalues,
    iterative,
    kept_matrices,
    least_squares,
    missing,
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
    "missing",
    "operators",
    "spectra",
]
