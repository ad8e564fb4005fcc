"""Sample inputs for `scipy.sparse.linalg`."""

from . import (
    constants,
    direct,
    exponentials,
    general_eigenvalues,
    iterative,
    least_squares,
    operators,
    spectra,
)

__all__ = [
    "constants",
    "direct",
    "exponentials",
    "general_eigenvalues",
    "iterative",
    "least_squares",
    "operators",
    "spectra",
]
