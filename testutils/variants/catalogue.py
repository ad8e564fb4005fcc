"""The names of the variants and what each does, and the reasons for which a person switches some off."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ..reports.results import CheckResult
from ..samples.sampling import SECOND_ORDER

LAYOUT_VARIANTS: Mapping[str, str] = {
    "Fortran order": "array arguments in Fortran order",
    "strides": "array arguments that are not contiguous and have negative strides",
    "read-only": "array arguments that are read-only",
    "tangents: Fortran order": "a cotangent, or tangents, in Fortran order",
    "tangents: strides": "a cotangent, or tangents, not contiguous and with negative strides",
    "tangents: read-only": "a read-only cotangent, or read-only tangents",
    "tangents: broadcast": "a cotangent with strides of 0, as np.broadcast_to gives",
    "tangents: another type": (
        "a cotangent, or tangents, of another type that means the same: a 0-d array, a NumPy scalar or a Python "
        "number; a real one in the place of a complex one; Tangent(tuple, ...) in the place of a tuple"
    ),
    "deterministic": "the same call once more",
}
"""The variants that change memory and types and no number. They cost next to nothing and run in every check."""

MADE_UP_POINTS: Mapping[str, str] = {
    "larger": "arguments 20 times as large",
    "larger, negated": "arguments 20 times as large and of the other sign",
    "smaller": "arguments a thousandth as large",
    "negated": "arguments of the other sign",
    "zero entry": "a zero among the entries of every array, or in the place of a number",
    "equal entries": "two equal entries in every array, or in two arguments",
}
"""Points that nobody writes down, at which a thorough check asks for the derivative alone."""

VALUE_VARIANTS: Mapping[str, str] = {
    "keywords": "positional arguments given by keyword",
    "0-d": "0-d arrays in the place of arrays",
    "empty": "an axis of length 0",
    "size-1 axis": "an axis of length 1, in all arrays or in one that then broadcasts, and an added leading axis",
    "float32": "arrays and NumPy scalars in single precision",
    "float16": "arrays and NumPy scalars in half precision",
    "complex": "complex numbers in the place of real ones",
    "integer": "whole numbers of an integer type, which have no derivative",
    "thousandfold": "arguments 1000 times as large",
    "zeros": "arguments that are zero throughout",
    "repeated values": "arrays of one value throughout",
    "indices": "integer arguments that repeat an entry, or count from the end",
}
"""The variants that change numbers, shapes or dtypes. Each is a check of its own, and they run when asked for."""

POINTS = (*MADE_UP_POINTS, "thousandfold", "zeros", "repeated values")
"""The variants that are other points of the same function. Where it has no derivative there, nothing fails."""

CLAIMED = ("keywords", "0-d", "empty", "float16", "complex")
"""The variants that a rule has to claim before it is wrong to answer them wrongly; see `testutils.variants.claims`."""

VARIANTS: Mapping[str, str] = {**LAYOUT_VARIANTS, **MADE_UP_POINTS, **VALUE_VARIANTS}
"""Every variant by name, with what it does."""

_MAY_BE_SKIPPED = (*VARIANTS, SECOND_ORDER)


def checked_skip(skip: Mapping[str, str] | None) -> dict[str, str]:
    """The variants to be left out, with the reasons.

    Parameters
    ----------
    skip : mapping of str to str, or None
        The reason by the name of the variant, as in ``{"complex": "weights are real by definition"}``, or by
        ``"second order"`` where there is no second derivative.

    Returns
    -------
    dict

    Raises
    ------
    TypeError
        When it is no mapping, or a reason no string.
    ValueError
        For a name that no variant has, and for an empty reason.

    Examples
    --------
    >>> checked_skip({"complex": "weights are real by definition"})
    {'complex': 'weights are real by definition'}
    """
    if skip is None:
        return {}
    if not isinstance(skip, Mapping):
        raise TypeError(
            f"skip={skip!r}: a variant is left out for a reason; write skip={{'complex': 'weights are real'}}. "
            f"The variants are {_names()}"
        )
    for name, reason in skip.items():
        if name not in _MAY_BE_SKIPPED:
            raise ValueError(f"skip={{{name!r}: ...}}: there is no such variant; the variants are {_names()}")
        if not isinstance(reason, str):
            raise TypeError(f"skip={{{name!r}: {reason!r}}}: the reason is no text; write why the variant is left out")
        if not reason.strip():
            raise ValueError(
                f"skip={{{name!r}: {reason!r}}}: the reason is empty; write why the variant {name!r} is left out. "
                f"The variants are {_names()}"
            )
    return dict(skip)


def checked_claims(strict: bool | Collection[str]) -> bool | Collection[str]:
    """Which kinds of `CLAIMED` the rules claim, as given.

    Raises
    ------
    ValueError
        For a name that is none of them.
    """
    if not isinstance(strict, bool):
        strict = (strict,) if isinstance(strict, str) else tuple(strict)
        if unknown := [name for name in strict if name not in CLAIMED]:
            raise ValueError(
                f"strict={unknown[0]!r}: what a rule may claim is {', '.join(map(repr, CLAIMED))}; True for all"
            )
    return strict


def _names() -> str:
    return ", ".join(map(repr, _MAY_BE_SKIPPED))


def result_name(variant: str) -> str:
    """What the results of a variant are called in a report."""
    return f"variant: {variant}"


def skipped_results(skip: Mapping[str, str], names: Mapping[str, str]) -> Iterator[CheckResult]:
    """A result for each of ``names`` that is left out, which says why."""
    for name, reason in skip.items():
        if name in names:
            yield CheckResult(result_name(name), "not run", f"left out: {reason}")
