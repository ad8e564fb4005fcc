"""`scipy.sparse` arrays, of which SciPy is never imported here: whoever has one has imported it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def is_sparse(x: Any) -> bool:
    """Whether ``x`` is a `scipy.sparse` array or matrix."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(x))


class Pattern:
    """The entries that a sparse array stores, without their values.

    Parameters
    ----------
    x : sparse array or matrix
        Of any format and number of dimensions. Entries stored twice, which a format may allow, count once.
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
        self._coords = tuple(stored.coords) if hasattr(stored, "coords") else (stored.row, stored.col)

    def __len__(self) -> int:
        return len(self._coords[0])

    def values_of(self, dx: Any) -> Any:
        """The entries of a dense or sparse array of the same shape that belong to the pattern, as a vector."""
        if is_sparse(dx):
            dx = dx.tocsr() if len(self.shape) == 2 else dx.toarray()  # SciPy indexes other numbers of axes differently
        return np.asarray(dx[self._coords]).reshape(-1)

    def with_values(self, values: Any) -> Any:
        """A sparse array of the original's type, with these values in the pattern's order."""
        sparse: Any = sys.modules["scipy.sparse"]
        stored = sparse.coo_array((values, self._coords), shape=self.shape)
        if self._blocksize is not None:
            return self._type(stored.tobsr(self._blocksize), blocksize=self._blocksize)
        return self._type(stored.asformat(self._format))
