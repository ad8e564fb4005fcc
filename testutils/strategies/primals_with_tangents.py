"""Tangents of any primal, and primals together with their tangents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st

from ..evidence.vectorisation import layout_of, vector_to_tangent
from ..samples.random_tangents import PrimalWithTangent, with_tangent
from .dense_arrays import arrays


def tangents(primal: Any, elements: st.SearchStrategy[float] | None = None) -> st.SearchStrategy[Any]:
    """Tangents of a given primal.

    Parameters
    ----------
    primal : object
        Number, array or any nesting of them; see `testutils.evidence.vectorisation.to_vector`.
    elements : strategy of float, optional
        What its entries (of complex numbers, the parts) are drawn from; `floats` by default.

    Returns
    -------
    SearchStrategy
        Of tangents as `testutils.evidence.vectorisation.vector_to_tangent` makes them: arrays for arrays, a `Tangent`
        for a container or object, ``NoTangent()`` for what has no derivative.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(tangents((2.0, "label", 1)), lambda dx: dx[0] > 2)
    Tangent(tuple, 3.0, NoTangent(), NoTangent())
    """
    if isinstance(primal, st.SearchStrategy):
        raise TypeError(
            f"tangents({primal!r}): a strategy was given where a primal is wanted; write with_tangents(strategy) for "
            "primals with their tangents, or strategy.flatmap(tangents) for tangents alone"
        )
    size = layout_of(primal).size
    vectors = arrays(float, size, elements, layouts="C")
    return vectors.map(lambda vector: vector_to_tangent(primal, vector))


@st.composite
def with_tangents(
    draw: st.DrawFn,
    /,
    strategy: st.SearchStrategy[Any],
    tangents_of: Callable[[Any], st.SearchStrategy[Any]] = tangents,
) -> PrimalWithTangent:
    """Primals with their tangents, in the form of `rulescore.testing.with_tangent`.

    Parameters
    ----------
    strategy : strategy
        Of primals.
    tangents_of : callable
        From a primal to a strategy of its tangents, where not all will do:
        ``with_tangents(symmetric_matrices(3), lambda a: symmetric_matrices(3))``.

    Returns
    -------
    SearchStrategy

    Examples
    --------
    >>> from hypothesis import find
    >>> from rulescore.testing import strategies
    >>> found = find(with_tangents(strategies.floats()), lambda x: x.tangent > 1)
    >>> type(found).__name__, found.tangent > 1
    ('PrimalWithTangent', True)
    """
    primal = draw(strategy)
    return with_tangent(primal, draw(tangents_of(primal)))
