"""The names of the variants and what each does, and the reasons for which a person switches some off."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping

from ..reports.names import option_of
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
    "zeros": "arguments that are zero throughout",
}
"""Points that nobody writes down. Of the rules a check asks for the derivative alone there."""

POINTS_OF_MANY_ENTRIES = ("larger, negated", "smaller", "zero entry", "equal entries")
"""Those of them that are visited with very many entries, where function and rules do not serve fewer."""

FURTHER_POINTS: Mapping[str, str] = {
    "thousandfold": "arguments 1000 times as large",
    "repeated values": "arrays of one value throughout",
}
"""More such points, for a thorough check."""

VALUE_VARIANTS: Mapping[str, str] = {
    "keywords": "positional arguments given by keyword",
    "0-d": "0-d arrays in the place of arrays",
    "empty": "an axis of length 0",
    "size-1 axis": "an axis of length 1, in all arrays or in one that then broadcasts, and an added leading axis",
    "float32": "arrays and NumPy scalars in single precision",
    "float16": "arrays and NumPy scalars in half precision",
    "complex": "complex numbers in the place of real ones",
    "integer": "whole numbers of an integer type, which have no derivative",
    "indices": "integer arguments that repeat an entry, or count from the end",
}
"""The variants that change numbers, shapes or dtypes. Each is a check of its own, and they run when asked for."""

CLAIMED = ("keywords", "0-d", "empty", "float16", "complex")
"""The variants that a rule has to claim before it is wrong to answer them wrongly; see `testutils.variants.claims`."""

VARIANTS: Mapping[str, str] = {**LAYOUT_VARIANTS, **MADE_UP_POINTS, **FURTHER_POINTS, **VALUE_VARIANTS}
"""Every variant by name, with what it does."""

_MAY_BE_SKIPPED = (*VARIANTS, SECOND_ORDER)


def points_of_sample(position: int, count: int) -> tuple[str, ...]:
    """The made-up points that are visited from one of ``count`` samples of a function; from all together, each is.

    Examples
    --------
    >>> points_of_sample(0, 4), points_of_sample(3, 4)
    (('larger', 'larger, negated'), ('zeros', 'larger'))
    """
    names = list(MADE_UP_POINTS)
    share = math.ceil(len(names) / count)
    return tuple(names[place % len(names)] for place in range(position * share, (position + 1) * share))


def checked_skip(skip: Mapping[str, str] | None, of_sample: bool = False) -> dict[str, str]:
    """The variants to be left out, with the reasons.

    Parameters
    ----------
    skip : mapping of str to str, or None
        The reason by the name of the variant, as in ``{"complex": "weights are real by definition"}``, or by
        ``"second order"`` where there is no second derivative.
    of_sample : bool
        Whether a sample input gives it.

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
        example = "skip={'complex': 'weights are real'}"
        raise TypeError(
            f"{option_of(f'skip={skip!r}', of_sample)}: a variant is left out for a reason; write "
            f"{option_of(example, of_sample)}. The variants are {_names()}"
        )
    for name, reason in skip.items():
        if name not in _MAY_BE_SKIPPED:
            option = option_of(f"skip={{{name!r}: ...}}", of_sample)
            raise ValueError(f"{option}: there is no such variant; the variants are {_names()}")
        option = option_of(f"skip={{{name!r}: {reason!r}}}", of_sample)
        if not isinstance(reason, str):
            raise TypeError(f"{option}: the reason is no text; write why the variant is left out")
        if not reason.strip():
            raise ValueError(
                f"{option}: the reason is empty; write why the variant {name!r} is left out. "
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
