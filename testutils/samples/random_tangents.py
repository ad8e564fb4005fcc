"""Random tangents of any argument, in numbers that are easy to read in a message, and primals with a fixed tangent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..comparison.verdicts import BLOCK
from ..evidence.vectorisation import Vector, layout_of, tangent_to_vector


def rand_tangent(rng: np.random.Generator, x: Any) -> Any:
    """A random tangent of ``x``: short decimals between -9 and 9, none of them 0.

    Short so that a person can follow them through a message, spread wide so that they do not cluster around 0, where
    they would hide mistakes; ChainRulesTestUtils.jl does the same.

    Parameters
    ----------
    rng : numpy.random.Generator
        Where the numbers come from.
    x : object
        The primal; see `testutils.evidence.vectorisation.to_vector` for what it may be.

    Returns
    -------
    tangent : object
        Of the primal's shape, dtype and (for sparse arrays) pattern: hundredths for real numbers, tenths for the parts
        of complex ones, a `Tangent` for containers and objects, `NoTangent()` for integers, booleans, strings,
        functions, and containers of nothing else.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rand_tangent(rng, (1.0, "label", 3))
    Tangent(tuple, -7.66, NoTangent(), NoTangent())
    """
    layout = layout_of(x)
    parts = [_short_decimals(rng, leaf.size, 10 if leaf.is_complex else 100) for leaf in layout.leaves()]
    return layout.tangent(np.concatenate(parts) if parts else np.zeros(0))


def _short_decimals(rng: np.random.Generator, size: int, per_unit: int) -> Vector:
    largest = 9 * per_unit
    if size > BLOCK:  # in one draw, of short integers: a fifth of the time
        short = rng.integers(-largest, largest, size, dtype=np.int16)
        short += short >= 0
        return np.asarray(short / float(per_unit))
    if size == 1:  # the same draws without an array: a third of the time
        number, sign = int(rng.integers(1, largest + 1)), 1 - 2 * int(rng.integers(0, 2))
        return np.array([number * sign / per_unit])
    numbers = rng.integers(1, largest + 1, size)
    numbers *= 1 - 2 * rng.integers(0, 2, size)
    return np.asarray(numbers / per_unit)


@dataclass(frozen=True, eq=False)
class PrimalWithTangent:
    """An argument together with the tangent that a test shall use for it; see `with_tangent`."""

    primal: Any
    tangent: Any


def with_tangent(x: Any, dx: Any) -> PrimalWithTangent:
    """Fix the tangent of an argument of a test, which is random otherwise.

    Parameters
    ----------
    x : object
        The argument.
    dx : object
        Its tangent, of the same shape; ``NoTangent()`` when the argument is not to be differentiated.

    Returns
    -------
    argument : PrimalWithTangent
        To be passed to a tester in the place of ``x``.

    Raises
    ------
    TangentMismatchError
        (A `ValueError`.) When the tangent does not fit the argument.

    Examples
    --------
    >>> with_tangent(2.0, 1.0)
    PrimalWithTangent(primal=2.0, tangent=1.0)
    >>> with_tangent(np.ones(2), 1.0)
    Traceback (most recent call last):
        ...
    testutils.evidence.vectorisation.TangentMismatchError: a tangent of shape () was given for the primal, which has \
the shape (2,): give a tangent of exactly that shape
    """
    tangent_to_vector(x, dx)
    return PrimalWithTangent(x, dx)
