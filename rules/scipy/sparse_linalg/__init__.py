"""Rules of `scipy.sparse.linalg`."""

import scipy.sparse.linalg

from rules.scipy import functions_without_rules
from rules.scipy.sparse_linalg import (
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

functions_without_rules.declare(scipy.sparse.linalg)
