"""Sample inputs for `scipy.sparse.linalg`."""

from testutils.samples.scipy.sparse_linalg import (
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
