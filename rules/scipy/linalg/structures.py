"""What SciPy reads of a matrix whose structure the caller has named: a triangle, some diagonals, or all of it."""

import numpy as np

from ...numpy.array_like import as_array
from ...numpy.linalg.cholesky import cotangent_of_triangle, hermitian_from
from ...numpy.products import adjoint

SYMMETRIC = ("sym", "symmetric")
HERMITIAN = ("her", "hermitian", "pos", "positive definite")
OF_THE_ADJOINT = {"upper triangular": "lower triangular", "lower triangular": "upper triangular"}


class Structure:
    """A structure of square matrices, by its name in ``assume_a``.

    ``read`` gives the matrix that SciPy computes with; it is linear over the real numbers, and serves tangents too.
    ``cotangent`` is its transpose.
    """

    def __init__(self, assume_a, lower):
        self.name, self.lower = assume_a, bool(lower)

    def adjoint(self):
        """The structure of the adjoint matrices."""
        return Structure(OF_THE_ADJOINT.get(self.name, self.name), not self.lower)

    def read(self, a):
        if self.name in SYMMETRIC:
            half = np.tril(a) if self.lower else np.triu(a)
            return half + np.swapaxes(half, -1, -2) - on_diagonal(a)
        if self.name in HERMITIAN:
            return hermitian_from(a, upper=not self.lower)
        return self._part(a)

    def cotangent(self, abar):
        if self.name in SYMMETRIC:
            both = abar + np.swapaxes(abar, -1, -2)
            return (np.tril(both) if self.lower else np.triu(both)) - on_diagonal(abar)
        if self.name in HERMITIAN:
            return cotangent_of_triangle(0.5 * (abar + adjoint(abar)), upper=not self.lower)
        return self._part(abar)

    def _part(self, a):
        if self.name == "diagonal":
            return on_diagonal(a)
        if self.name == "tridiagonal":
            return np.triu(np.tril(a, 1), -1)
        if self.name == "upper triangular":
            return np.triu(a)
        return np.tril(a) if self.name == "lower triangular" else a


def on_diagonal(a):
    """The matrix with the diagonal of ``a`` and zeros elsewhere."""
    return as_array(a) * np.eye(a.shape[-1], dtype=a.dtype)
