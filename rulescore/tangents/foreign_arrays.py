"""Arrays that are not what rules for NumPy's functions are written for: masked arrays, matrices, and sparse arrays.

To a masked array NumPy's functions do something else than to its numbers, to a matrix its operators do, and of a sparse
array they know nothing. Which rules serve them nevertheless is decided where calls are dispatched.
"""

from __future__ import annotations

import weakref
from typing import Any, Literal

Kind = Literal["masked", "matrix", "sparse"]

_KINDS: dict[tuple[str, str], Kind] = {
    ("numpy.ma", "MaskedArray"): "masked",
    ("numpy.ma.core", "MaskedArray"): "masked",
    ("numpy", "matrix"): "matrix",
    ("scipy.sparse", "sparray"): "sparse",
    ("scipy.sparse._base", "sparray"): "sparse",
    ("scipy.sparse", "spmatrix"): "sparse",
    ("scipy.sparse._matrix", "spmatrix"): "sparse",
}
"""By the names of the classes, whose modules need not be imported."""


def foreign_kind(cls: type) -> Kind | None:
    """What kind of foreign array the objects of a class are; None where they are none."""
    try:
        return _kinds[cls]
    except KeyError:
        found = (_KINDS.get((base.__module__, base.__name__)) for base in cls.__mro__)
        return _kinds.setdefault(cls, next((kind for kind in found if kind is not None), None))


_kinds: weakref.WeakKeyDictionary[type, Kind | None] = weakref.WeakKeyDictionary()


def refuse_masked_cotangent(dx: Any) -> None:
    """The error for a masked array in the place of a cotangent."""
    if foreign_kind(type(dx)) == "masked":
        raise TypeError("a masked array was given for a cotangent, which has no mask: write dx.filled(0)")
