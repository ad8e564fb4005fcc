"""Arrays that are not what rules for NumPy's functions are written for: masked arrays, matrices, and sparse arrays.

To a masked array NumPy's functions do something else than to its numbers, to a matrix its operators do, and of a sparse
array they know nothing. So the rules that come with NumPy's entry point do not serve them, whatever their signatures
say; rules that name these classes do, wherever they come from.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any, Literal

from rulescore.records import RuleRecord, name_of

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

_ADVICE: dict[str, str] = {
    "masked": "the mask would get lost on the way to the derivative: write np.where(a.mask, 0, a.data), or pass a.data "
    "and where=~a.mask to a reduction",
    "matrix": "of a matrix, operators mean something else: write np.asarray(m)",
}


def foreign_kind(cls: type) -> Kind | None:
    """What kind of foreign array the objects of a class are; None where they are none."""
    try:
        return _kinds[cls]
    except KeyError:
        found = (_KINDS.get((base.__module__, base.__name__)) for base in cls.__mro__)
        return _kinds.setdefault(cls, next((kind for kind in found if kind is not None), None))


_kinds: weakref.WeakKeyDictionary[type, Kind | None] = weakref.WeakKeyDictionary()


def is_out_of_place(record: RuleRecord, types: Iterable[type]) -> bool:
    """Whether a rule for one of NumPy's functions would be called with a foreign array. Constants are for all."""
    return record.entry == "numpy" and "non-differentiable" not in record.tags and any(map(foreign_kind, types))


def refuse_foreign(f: Any, records: Iterable[RuleRecord], types: Iterable[type]) -> None:
    """The error for a call that a rule would serve, were the arguments no masked arrays and no matrices.

    Raises
    ------
    TypeError
        Naming the class, and what to write instead.
    """
    for cls in types:
        advice = _ADVICE.get(foreign_kind(cls) or "")
        if advice is not None and any(is_out_of_place(record, [cls]) for record in records):
            raise TypeError(
                f"the rules of {name_of(f)} are for arrays, and one argument is a {cls.__name__}: {advice}. Or "
                f"register a rule for {cls.__name__}"
            )


def refuse_masked_cotangent(dx: Any) -> None:
    """The error for a masked array in the place of a cotangent."""
    if foreign_kind(type(dx)) == "masked":
        raise TypeError("a masked array was given for a cotangent, which has no mask: write dx.filled(0)")
