"""What may stand in ``axis=`` and in ``x[...]``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import hypothesis.strategies as st
import numpy as np
from hypothesis.extra import numpy as hnp

from .dense_arrays import chosen_from, shapes

Shape: TypeAlias = tuple[int, ...]

INDEX_KINDS = ("basic", "integer arrays", "boolean", "mixed")
"""NumPy's kinds of indices, the simplest first."""


def axes(ndim: int, *, allow_none: bool = True, allow_tuple: bool = True) -> st.SearchStrategy[Any]:
    """What ``axis=`` may be for an array of ``ndim`` axes: None, an axis (also negative), a tuple of axes (also empty).

    Parameters
    ----------
    ndim : int
    allow_none, allow_tuple : bool
        Whether None and tuples are among them.

    Returns
    -------
    SearchStrategy

    Raises
    ------
    ValueError
        Where nothing is left: a 0-d array has no axis.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(axes(3), lambda axis: isinstance(axis, tuple) and len(axis) == 2)
    (0, 1)
    """
    choices: list[st.SearchStrategy[Any]] = [st.none()] if allow_none else []
    if ndim:
        choices += [st.integers(0, ndim - 1), st.integers(-ndim, -1)]
    if allow_tuple:
        choices.append(hnp.valid_tuple_axes(ndim, min_size=0))
    if not choices:
        raise ValueError(
            f"axes({ndim}, allow_none=False, allow_tuple=False): a 0-d array has no axis; allow None or tuples"
        )
    return st.one_of(choices)


def indices(shape: Shape | int, *, kinds: str | Sequence[str] = INDEX_KINDS) -> st.SearchStrategy[Any]:
    """What may stand in ``x[...]`` for an array ``x`` of this shape.

    Parameters
    ----------
    shape : int or tuple of int
    kinds : str or sequence of str
        Any of `INDEX_KINDS`: whole numbers, slices, ``...`` and ``None``; arrays or lists of whole numbers (with
        repetitions and negative ones); boolean masks; tuples that mix arrays with the others.

    Returns
    -------
    SearchStrategy
        Of indices that do not raise. An array that has an axis of length 0, or none, has no index arrays, and basic
        indices or masks stand in for them.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(indices((3, 4), kinds="boolean"), lambda index: index.ndim == 2).shape
    (3, 4)
    """
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    kinds = chosen_from(kinds, INDEX_KINDS, "kinds")
    can_gather = len(shape) > 0 and 0 not in shape
    of_kind = {
        "basic": _basic_indices(shape),
        "integer arrays": _gathering_indices(shape) if can_gather else _basic_indices(shape),
        "boolean": _masks(shape),
        "mixed": _mixed_indices(shape) if can_gather else _masks(shape),
    }
    return st.one_of([of_kind[kind] for kind in INDEX_KINDS if kind in kinds])


def _basic_indices(shape: Shape) -> st.SearchStrategy[Any]:
    """A number or a slice for the first axis, or a tuple for all."""
    numbers = [st.integers(-shape[0], shape[0] - 1)] if shape and shape[0] else []
    slices = [st.slices(shape[0])] if shape else []
    return st.one_of([*numbers, *slices, hnp.basic_indices(shape, allow_newaxis=True)])


def _gathering_indices(shape: Shape) -> st.SearchStrategy[Any]:
    """One array of whole numbers for every leading axis that is indexed, or a list for the first."""
    results = shapes(max_dims=2, max_side=3)
    lists = st.lists(st.integers(-shape[0], shape[0] - 1), min_size=1, max_size=4)
    tuples = st.integers(1, len(shape)).flatmap(
        lambda count: hnp.integer_array_indices(shape[:count], result_shape=results)
    )
    singles = hnp.integer_array_indices(shape[:1], result_shape=results).map(lambda index: index[0])
    return st.one_of(lists, singles, tuples)


def _masks(shape: Shape) -> st.SearchStrategy[Any]:
    """Masks over the first axes; over all of them for a 0-d array, which is a boolean."""
    if not shape:
        return st.booleans().map(np.bool_)
    return st.integers(1, len(shape)).flatmap(lambda count: hnp.arrays(bool, shape[:count]))


@st.composite
def _mixed_indices(draw: st.DrawFn, /, shape: Shape) -> tuple[Any, ...]:
    """Arrays for some axes, numbers and slices for others, with a new axis or an ellipsis between."""
    result = draw(shapes(min_dims=1, max_dims=2, max_side=3))
    gathered = draw(st.integers(0, len(shape) - 1))
    masked = draw(st.booleans())
    index: list[Any] = []
    for axis, side in enumerate(shape):
        whole = st.integers(-side, side - 1)
        index_arrays = hnp.arrays(np.intp, result, elements=whole, fill=st.nothing())
        # A mask beside an array has to select just as many entries; beside numbers and slices it is free.
        first = hnp.arrays(bool, side) if masked else index_arrays
        others = st.one_of(st.slices(side), whole) if masked else st.one_of(st.slices(side), whole, index_arrays)
        index.append(draw(first if axis == gathered else others))
    special = draw(st.sampled_from(["none", "new axis", "ellipsis", "fewer"]))
    place = draw(st.integers(0, len(index)))
    if special == "new axis":
        index.insert(place, None)
    elif special == "ellipsis":
        index.insert(place, ...)
    elif special == "fewer":
        index = index[: max(gathered + 1, place)]
    return tuple(index)
