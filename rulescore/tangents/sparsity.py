"""`scipy.sparse` arrays, of which SciPy is never imported here: whoever has one has imported it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def is_sparse(x: Any) -> bool:
    """Whether ``x`` is a `scipy.sparse` array or matrix."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and issubclass(type(x), (sparse.sparray, sparse.spmatrix))


class Pattern:
    """The entries that a sparse array stores, without their values; made by `pattern_of`.

    Parameters
    ----------
    x : sparse array or matrix
        Of any format and number of dimensions. Entries stored twice, which a format may allow, count once.

    Attributes
    ----------
    shape : tuple of int
        The shape of ``x``.
    """

    __slots__ = ("_blocksize", "_coords", "_format", "_type", "shape")

    def __init__(self, x: Any) -> None:
        self.shape = x.shape
        self._type = type(x)
        self._format = x.format
        self._blocksize = getattr(x, "blocksize", None)
        if x.format == "dia":  # its conversion drops the zeros on the diagonals
            x = type(x)((np.ones_like(x.data), x.offsets), shape=x.shape)
        stored = x.tocoo()
        if not getattr(x, "has_canonical_format", True):
            summed = stored.copy()
            summed.sum_duplicates()
            stored = summed if summed.nnz < stored.nnz else stored
        self._coords = _coords_of(stored)

    @property
    def coords(self) -> tuple[Any, ...]:
        """For each axis, the indices of the entries."""
        return self._coords

    def __len__(self) -> int:
        return len(self._coords[0])

    def values_of(self, dx: Any) -> Any:
        """The entries of a dense or sparse array of the same shape that belong to the pattern, as a vector."""
        if not len(self):  # for which SciPy returns a sparse array
            return np.zeros(0, dx.dtype)
        if self.is_of(dx):
            return dx.data
        if is_sparse(dx):
            dx = dx.tocsr() if len(self.shape) == 2 else dx.toarray()  # SciPy indexes other numbers of axes differently
        return np.asarray(dx[self.coords]).reshape(-1)

    def is_of(self, dx: Any) -> bool:
        """Whether an array has this pattern, in the same order; not told of most formats."""
        if not is_sparse(dx) or dx.format != "coo" or len(dx.data) != len(self):
            return False
        return all(map(_are_equal, _coords_of(dx), self.coords))

    def with_values(self, values: Any) -> Any:
        """A sparse array of the original's type, with these values in the pattern's order."""
        sparse: Any = sys.modules["scipy.sparse"]
        stored = sparse.coo_array((values, self.coords), shape=self.shape)
        if self._blocksize is not None:
            return self._type(stored.tobsr(self._blocksize), blocksize=self._blocksize)
        return self._type(stored.asformat(self._format))


def _coords_of(stored: Any) -> tuple[Any, ...]:
    return tuple(stored.coords) if hasattr(stored, "coords") else (stored.row, stored.col)


def _are_equal(one: Any, other: Any) -> bool:
    return one is other or np.array_equal(one, other)


class CompressedPattern(Pattern):
    """The pattern of a CSR or CSC array whose entries are in order and stored once each: that of its own index arrays.

    So nothing is computed before an entry is asked for, and nothing converted. The index arrays are kept, not copied.
    """

    __slots__ = ("_indices", "_indptr")

    def __init__(self, x: Any) -> None:
        self.shape = x.shape
        self._type = type(x)
        self._format = x.format
        self._indices, self._indptr = x.indices, x.indptr

    @property
    def coords(self) -> tuple[Any, ...]:
        major = np.repeat(np.arange(len(self._indptr) - 1, dtype=self._indices.dtype), np.diff(self._indptr))
        return (major, self._indices) if self._format == "csr" else (self._indices, major)

    def __len__(self) -> int:
        return len(self._indices)

    def values_of(self, dx: Any) -> Any:
        return dx.data if self.is_of(dx) else super().values_of(dx)

    def is_of(self, dx: Any) -> bool:
        return (
            is_sparse(dx)
            and dx.format == self._format
            and _are_equal(dx.indices, self._indices)
            and _are_equal(dx.indptr, self._indptr)
        )

    def with_values(self, values: Any) -> Any:
        # Copies, since SciPy drops zeros and sorts entries in place.
        return self._type((values, self._indices.copy(), self._indptr.copy()), shape=self.shape)


def pattern_of(x: Any) -> Pattern:
    """The pattern of a sparse array."""
    is_compressed = x.format in ("csr", "csc") and x.ndim == 2 and x.has_canonical_format
    return CompressedPattern(x) if is_compressed else Pattern(x)
