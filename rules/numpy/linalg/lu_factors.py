"""The LU factors of a matrix, kept from a primal for its derivative."""

import numpy as np

from ..products import adjoint

WORTHWHILE = 32
"""The smallest number of rows for which keeping the factors pays: NumPy hands out none, and SciPy takes a while."""


class LUFactors:
    """P A = L U of one ordinary matrix, by LAPACK."""

    __slots__ = ("_getri", "_getrs", "_lu", "_pivots", "a", "is_singular")

    def __init__(self, a):
        from scipy.linalg import get_lapack_funcs  # here, since SciPy takes long to import

        getrf, self._getrs, self._getri = get_lapack_funcs(("getrf", "getrs", "getri"), (a,))
        self.a = a
        self._lu, self._pivots, info = getrf(a)
        self.is_singular = info > 0

    @classmethod
    def of(cls, a):
        """The factors, or None where they are left to NumPy: of stacks, of small matrices, of other kinds of arrays."""
        if type(a) is not np.ndarray or a.ndim != 2 or a.dtype.char not in "fdFD":
            return None
        return cls(a) if a.shape[0] == a.shape[1] >= WORTHWHILE else None

    def slogdet(self):
        """The sign of the determinant, and the logarithm of its modulus."""
        diagonal, swaps = np.diagonal(self._lu), np.count_nonzero(self._pivots != np.arange(len(self._pivots)))
        if self.is_singular:
            return self.a.dtype.type(0), self.a.real.dtype.type(-np.inf)
        sizes = np.abs(diagonal)
        return np.prod(diagonal / sizes) * self.a.dtype.type((-1) ** swaps), np.sum(np.log(sizes))

    def inverse(self):
        """A⁻¹ of a regular A."""
        return self._getri(self._lu, self._pivots, lwork=64 * len(self._pivots))[0]

    def can_solve_for(self, b):
        return type(b) is np.ndarray and b.dtype is self.a.dtype and b.ndim in (1, 2) and len(b) == len(self.a)

    def solve(self, b):
        """X of A X = B."""
        if self.is_singular:
            raise np.linalg.LinAlgError("Singular matrix")
        return self._solve(b, 0) if self.can_solve_for(b) else np.linalg.solve(self.a, b)

    def solve_adjoint(self, b):
        """X of Aᴴ X = B."""
        return self._solve(b, 2) if self.can_solve_for(b) else np.linalg.solve(adjoint(self.a), b)

    def _solve(self, b, transposed):
        return np.ascontiguousarray(self._getrs(self._lu, self._pivots, b, trans=transposed)[0])
