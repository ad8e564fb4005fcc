"""Sample inputs for `scipy.sparse.linalg`."""

from testutils.samples.scipy.sparse_linalg import (
    direct,
    exponentials,
    iterative,
    least_squares,
    operators,
    spectra,
)

__all__ = ["direct", "exponentials", "iterative", "least_squares", "operators", "spectra"]
