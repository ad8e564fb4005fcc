"""Arrays for tests of derivatives, in every layout, and groups of arrays whose shapes fit together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import hypothesis.strategies as st
import numpy as np
from hypothesis.extra import numpy as hnp

from .numbers import MARGIN, MAX_MAGNITUDE, MIN_MAGNITUDE, Domain

Array: TypeAlias = np.ndarray[Any, Any]

LAYOUTS = ("C", "Fortran", "strided", "negative strides", "read-only")
"""How an array may lie in memory, the simplest first."""

_DRAWN_SINGLY = 64
"""Up to this many entries each is drawn; of larger arrays a few are, and the others share one value."""


def shapes(
    min_dims: int = 0, max_dims: int = 3, min_side: int = 1, max_side: int = 4
) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of small arrays, 0-d ones among them. ``min_side=0`` adds empty arrays.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(shapes(), lambda shape: len(shape) == 2)
    (1, 1)
    """
    return hnp.array_shapes(min_dims=min_dims, max_dims=max_dims, min_side=min_side, max_side=max_side)


def arrays(
    dtype: Any = float,
    shape: Any = None,
    elements: st.SearchStrategy[Any] | None = None,
    *,
    min_value: float | None = None,
    max_value: float | None = None,
    min_magnitude: float = MIN_MAGNITUDE,
    max_magnitude: float = MAX_MAGNITUDE,
    away_from: Sequence[complex] = (),
    margin: float = MARGIN,
    distinct: bool = False,
    layouts: str | Sequence[str] = LAYOUTS,
) -> st.SearchStrategy[Array]:
    """Arrays for tests of derivatives: finite, well-scaled, no subnormals, in every layout.

    Parameters
    ----------
    dtype : dtype or strategy of dtypes
        float32, float64, complex64 or complex128.
    shape : int, tuple of int or strategy of these, optional
        By default small shapes of up to three axes, ``()`` among them: a 0-d array. Of more than 64 entries most are
        equal, unless ``distinct``.
    elements : strategy, optional
        What the entries are drawn from, in the place of the range that the next options describe.
    min_value, max_value, min_magnitude, max_magnitude, away_from
        Which numbers; see `floats` and `complexes`.
    margin : float
        How far entries are from the points in ``away_from``, and from each other where they are ``distinct``.
    distinct : bool
        Whether entries are at least ``margin`` apart, as functions with ties (``max``, ``sort``) want them.
    layouts : str or sequence of str
        How the array may lie in memory: any of `LAYOUTS`.

    Returns
    -------
    SearchStrategy
        Shrinks to few axes, short axes, the layout that comes first, and simple numbers.

    Raises
    ------
    ValueError
        When no numbers are left, or too few for ``distinct`` entries.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(arrays(shape=3), lambda x: x[1] > 2)
    array([0., 3., 0.])
    >>> find(arrays(shape=3, distinct=True, margin=0.5), lambda x: True)
    array([0., 1., 2.])
    """
    layouts = chosen_from(layouts, LAYOUTS, "layouts")
    if elements is not None and (min_value, max_value, *away_from) != (None, None):
        raise TypeError(
            "arrays(elements=..., min_value=, max_value= or away_from=): elements= alone says which numbers are drawn; "
            "put the range into that strategy, as in elements=floats(min_value=1)"
        )
    options: dict[str, Any] = {
        "min_magnitude": min_magnitude,
        "max_magnitude": max_magnitude,
        "min_value": min_value,
        "max_value": max_value,
        "away_from": tuple(away_from),
        "margin": margin,
    }
    dtypes = dtype if isinstance(dtype, st.SearchStrategy) else st.just(Domain.of(dtype, **options).dtype)
    shape = shapes() if shape is None else shape
    every_shape = shape if isinstance(shape, st.SearchStrategy) else st.just(shape)
    return _arrays(dtypes, every_shape, elements, options, distinct, layouts)


@st.composite
def _arrays(
    draw: st.DrawFn,
    /,
    dtypes: st.SearchStrategy[Any],
    every_shape: st.SearchStrategy[Any],
    elements: st.SearchStrategy[Any] | None,
    options: dict[str, Any],
    distinct: bool,
    layouts: Sequence[str],
) -> Array:
    domain = Domain.of(draw(dtypes), **options)
    drawn_shape = draw(every_shape)
    shape = (drawn_shape,) if isinstance(drawn_shape, int) else tuple(drawn_shape)
    size = math.prod(shape)
    if distinct:
        values = draw(_distinct_entries(domain, size, elements)).reshape(shape)
    else:
        entries = domain.numbers() if elements is None else elements
        fill = st.nothing() if size <= _DRAWN_SINGLY else entries
        values = draw(hnp.arrays(domain.dtype, shape, elements=entries, fill=fill))
    return _in_layout(values, draw(st.sampled_from(layouts)))


@st.composite
def _distinct_entries(
    draw: st.DrawFn, /, domain: Domain, size: int, elements: st.SearchStrategy[Any] | None = None
) -> Array:
    """A vector whose entries are ``domain.margin`` apart."""
    taken: list[Any] = []

    def is_apart(value: Any) -> bool:
        return all(abs(value - other) >= domain.margin for other in taken)

    if elements is None and not domain.has_room_for(size):
        raise ValueError(
            f"{size} distinct entries: {domain}, have no room for so many that are {domain.margin} apart; "
            "give a smaller margin= or a larger max_magnitude="
        )
    for _ in range(size):
        entries = domain.away_also(taken).numbers() if elements is None else elements.filter(is_apart)
        taken.append(draw(entries))
    return np.array(taken, domain.dtype)


def _in_layout(values: Array, layout: str) -> Array:
    """A copy of an array that lies in memory as one of `LAYOUTS` says. A 0-d array can only be read-only or not."""
    if layout == "read-only":
        values = values.copy()
        values.flags.writeable = False
    elif values.ndim == 0 or layout == "C":
        values = np.array(values, order="C")
    elif layout == "Fortran":
        values = np.array(values, order="F")
    elif layout == "strided":
        # NaN between the entries shows who reads memory that is not the array's.
        spread = np.full((*values.shape[:-1], 2 * values.shape[-1]), np.nan, values.dtype)
        spread[..., ::2] = values
        values = spread[..., ::2]
    else:
        backwards = (slice(None, None, -1),) * values.ndim
        values = values[backwards].copy()[backwards]
    return values


def chosen_from(given: str | Sequence[str], known: Sequence[str], option: str) -> Sequence[str]:
    """The names that were given to an option, which have to be known."""
    names = (given,) if isinstance(given, str) else tuple(given)
    if not names or (unknown := [name for name in names if name not in known]):
        wrong = repr(unknown[0]) if names else "nothing"
        raise ValueError(f"{option}={given!r}: {wrong} was given; choose among {', '.join(map(repr, known))}")
    return names


@st.composite
def broadcastable_arrays(
    draw: st.DrawFn,
    /,
    n: int,
    dtype: Any = float,
    *,
    min_dims: int = 0,
    max_dims: int = 3,
    min_side: int = 1,
    max_side: int = 4,
    distinct: bool = False,
    layouts: str | Sequence[str] = LAYOUTS,
    **options: Any,
) -> tuple[Array, ...]:
    """Tuples of ``n`` arrays whose shapes broadcast.

    Parameters
    ----------
    n : int
        How many arrays.
    dtype : dtype or strategy of dtypes
        See `arrays`; a strategy may draw another dtype for each.
    min_dims, max_dims, min_side, max_side : int
        See `shapes`.
    distinct : bool
        Whether no two entries tie, be they of one array or of two; needs a single dtype.
    layouts, **options
        As for `arrays`.

    Returns
    -------
    SearchStrategy
        Of tuples. `rule_tester` takes one argument after the other, so write
        ``broadcastable_arrays(2).map(lambda pair: sample(*pair))``, with `rulescore.testing.sample`.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(broadcastable_arrays(2), lambda pair: pair[0].shape == (2,))
    (array([0., 0.]), array(0.))
    """
    of_shapes = hnp.mutually_broadcastable_shapes(
        num_shapes=n, min_dims=min_dims, max_dims=max_dims, min_side=min_side, max_side=max_side
    )
    return draw(_arrays_of_shapes(of_shapes, dtype, distinct, layouts, options))


@st.composite
def _arrays_of_shapes(
    draw: st.DrawFn,
    /,
    of_shapes: st.SearchStrategy[hnp.BroadcastableShapes],
    dtype: Any,
    distinct: bool,
    layouts: str | Sequence[str],
    options: dict[str, Any],
) -> tuple[Array, ...]:
    every_shape = draw(of_shapes).input_shapes
    if not distinct:
        return tuple(draw(arrays(dtype, shape, layouts=layouts, **options)) for shape in every_shape)
    sizes = [math.prod(shape) for shape in every_shape]
    together = draw(arrays(dtype, sum(sizes), distinct=True, layouts="C", **options))
    parts = np.split(together, np.cumsum(sizes)[:-1])
    every_layout = st.sampled_from(chosen_from(layouts, LAYOUTS, "layouts"))
    return tuple(
        _in_layout(part.reshape(shape), draw(every_layout)) for part, shape in zip(parts, every_shape, strict=True)
    )


@st.composite
def matmul_arrays(
    draw: st.DrawFn,
    /,
    dtype: Any = float,
    *,
    max_dims: int = 3,
    min_side: int = 1,
    max_side: int = 4,
    distinct: bool = False,
    layouts: str | Sequence[str] = LAYOUTS,
    **options: Any,
) -> tuple[Array, Array]:
    """Pairs of arrays that ``@`` multiplies: vectors, matrices and stacks of matrices whose shapes broadcast.

    Parameters
    ----------
    dtype, distinct, layouts, **options
        As for `arrays`; see also `broadcastable_arrays`.
    max_dims : int
        At most this many axes, the two of the matrix included.
    min_side, max_side : int
        See `shapes`.

    Returns
    -------
    SearchStrategy

    Examples
    --------
    >>> from hypothesis import find
    >>> len(find(matmul_arrays(), lambda pair: pair[0].shape == (2, 3))[1])
    3
    """
    of_shapes = hnp.mutually_broadcastable_shapes(
        signature=np.matmul.signature, max_dims=max(0, max_dims - 2), min_side=min_side, max_side=max_side
    )
    a, b = draw(_arrays_of_shapes(of_shapes, dtype, distinct, layouts, options))
    return a, b
