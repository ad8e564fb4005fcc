"""Sample inputs for `scipy.sparse.linalg`."""

from testutils.samples.scipy.sparse_linalg import (
    constants,
    direct,
    exponentials,
    iterative,
    least_squares,
    operators,
    spectra,
)

__all__ = ["constants", "direct", "exponentials", "iterative", "least_squares", "operators", "spectra"]
