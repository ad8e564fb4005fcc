"""How a report writes numbers: short, and yet so that two that differ do not read alike."""

from __future__ import annotations

import math
from itertools import combinations

DIGITS = 10
"""Significant digits of a number in a report."""

MOST_DIGITS = 17
"""With these every number of double precision reads otherwise than its neighbours."""


def told_apart(*numbers: float, digits: int = DIGITS) -> tuple[str, ...]:
    """Numbers as text, in as many digits as it takes that no two of them that differ read alike.

    Parameters
    ----------
    *numbers : float
    digits : int
        As many suffice in most cases.

    Returns
    -------
    texts : tuple of str
        One for each number, all with the same number of significant digits.

    Examples
    --------
    >>> told_apart(-1.5, 1.5)
    ('-1.5', '1.5')
    >>> told_apart(1.23456789012, 1.23456789034)
    ('1.2345678901', '1.2345678903')
    """
    pairs = [(i, j) for i, j in combinations(range(len(numbers)), 2) if _differ(numbers[i], numbers[j])]
    for count in range(digits, MOST_DIGITS + 1):
        texts = tuple(f"{number:.{count}g}" for number in numbers)
        if all(texts[i] != texts[j] for i, j in pairs):
            break
    return texts


def in_short(*numbers: float) -> tuple[str, ...]:
    """Numbers as text, whether they read alike or not."""
    return tuple([f"{number:.{DIGITS}g}" for number in numbers])


def _differ(a: float, b: float) -> bool:
    return a != b and not (math.isnan(a) and math.isnan(b))


def rounded_up(number: float) -> float:
    """The next larger number with one digit.

    Examples
    --------
    >>> rounded_up(1.2e-4), rounded_up(3e-3), rounded_up(0.0095)
    (0.0002, 0.003, 0.01)
    """
    exponent = math.floor(math.log10(number))
    digit = math.ceil(number / 10.0**exponent * (1.0 - 1e-9))
    return float(f"{digit}e{exponent}")


def as_written(number: float) -> str:
    """A number of one digit as one writes it.

    Examples
    --------
    >>> as_written(3e-11), as_written(2e-3), as_written(0.01)
    ('3e-11', '2e-3', '0.01')
    """
    digit, exponent = f"{number:.0e}".split("e")
    return f"{number:g}" if int(exponent) >= -2 else f"{digit}e{int(exponent)}"
