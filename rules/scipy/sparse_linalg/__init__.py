"""Rules of `scipy.sparse.linalg`."""

from rules.scipy.sparse_linalg import (
    direct,
    exponentials,
    iterative,
    least_squares,
    missing,
    operators,
    spectra,
)

__all__ = ["direct", "exponentials", "iterative", "least_squares", "missing", "operators", "spectra"]
