"""Square matrices of a kind: symmetric, positive definite, invertible, with a spectrum that is known."""

from __future__ import annotations

import math
from typing import Any

import hypothesis.strategies as st
import numpy as np

from .dense_arrays import Array, arrays
from .numbers import MARGIN


@st.composite
def symmetric_matrices(
    draw: st.DrawFn,
    /,
    n: int | st.SearchStrategy[int] | None = None,
    dtype: Any = float,
    *,
    batch: Any = (),
    distinct: bool = False,
    **options: Any,
) -> Array:
    """Symmetric matrices, Hermitian ones for a complex dtype.

    Parameters
    ----------
    n : int or strategy of int, optional
        The side; 1 to 4 by default.
    dtype : dtype or strategy of dtypes
    batch : tuple of int or strategy of these
        The shape of a stack of matrices.
    distinct : bool
        Whether eigenvalues are at least ``margin`` apart, since eigenvectors have no derivative where they tie.
    **options
        As for `arrays`. Where eigenvalues are distinct, the magnitudes are theirs.

    Returns
    -------
    SearchStrategy
        Of arrays of shape ``(*batch, n, n)``.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(symmetric_matrices(2), lambda a: a[0, 1] > 2)
    array([[0., 3.],
           [3., 0.]])
    """
    if distinct:
        return draw(_spectral_matrices(n, dtype, batch, options, distinct, hermitian=True))
    *stack, side = draw(_stack_shapes(n, batch))
    entries = draw(arrays(dtype, (*stack, side, side), layouts="C", **options))
    lower = np.tril(entries, -1)
    diagonal = np.einsum("...ii->...i", entries).real[..., None] * np.eye(side)
    return np.asarray(lower + diagonal + lower.conj().mT, entries.dtype)


def positive_definite_matrices(
    n: int | st.SearchStrategy[int] | None = None,
    dtype: Any = float,
    *,
    batch: Any = (),
    max_condition: float = 100.0,
    distinct: bool = False,
    margin: float = MARGIN,
) -> st.SearchStrategy[Array]:
    """Symmetric (Hermitian) matrices with positive eigenvalues, well-conditioned.

    Parameters
    ----------
    n, dtype, batch, distinct
        As for `symmetric_matrices`.
    max_condition : float
        The largest condition number; eigenvalues lie between its inverse square root and its square root.
    margin : float
        How far ``distinct`` eigenvalues are apart.

    Returns
    -------
    SearchStrategy
        Of arrays of shape ``(*batch, n, n)``; shrinks to the identity.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(positive_definite_matrices(2), lambda a: True)
    array([[1., 0.],
           [0., 1.]])
    """
    spectrum = {**_spectrum(max_condition), "margin": margin}
    return _spectral_matrices(n, dtype, batch, spectrum, distinct, hermitian=True)


def invertible_matrices(
    n: int | st.SearchStrategy[int] | None = None,
    dtype: Any = float,
    *,
    batch: Any = (),
    max_condition: float = 100.0,
    distinct: bool = False,
    margin: float = MARGIN,
) -> st.SearchStrategy[Array]:
    """Well-conditioned square matrices, whose singular values may be ``distinct``; see `positive_definite_matrices`.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(invertible_matrices(2), lambda a: a[1, 1] > 2)
    array([[1., 0.],
           [0., 3.]])
    """
    spectrum = {**_spectrum(max_condition), "margin": margin}
    return _spectral_matrices(n, dtype, batch, spectrum, distinct, hermitian=False)


def _spectrum(max_condition: float) -> dict[str, float]:
    if not 1 <= max_condition < math.inf:
        raise ValueError(f"max_condition={max_condition}: condition numbers are 1 or larger; give a finite one")
    return {"min_value": max_condition**-0.5, "max_value": max_condition**0.5}


def _stack_shapes(n: int | st.SearchStrategy[int] | None, batch: Any) -> st.SearchStrategy[tuple[int, ...]]:
    sides = st.integers(1, 4) if n is None else st.just(n) if isinstance(n, int) else n
    stacks = batch if isinstance(batch, st.SearchStrategy) else st.just(tuple(batch))
    return st.tuples(stacks, sides).map(lambda pair: (*pair[0], pair[1]))


@st.composite
def _spectral_matrices(
    draw: st.DrawFn,
    /,
    n: int | st.SearchStrategy[int] | None,
    dtype: Any,
    batch: Any,
    spectrum: dict[str, Any],
    distinct: bool,
    hermitian: bool,
) -> Array:
    """U diag(s) Vᴴ with s drawn from a range and reflections U and V, so that the spectrum is known."""
    dtype = np.dtype(draw(dtype) if isinstance(dtype, st.SearchStrategy) else dtype)
    *stack, side = draw(_stack_shapes(n, batch))
    matrices = np.empty((*stack, side, side), dtype)
    for place in np.ndindex(*stack):
        s = draw(arrays(np.finfo(dtype).dtype, side, distinct=distinct, layouts="C", **spectrum))
        left = draw(_reflections(side, dtype.kind == "c"))
        right = left if hermitian else draw(_reflections(side, dtype.kind == "c")) * draw(st.sampled_from((1, -1)))
        product = (left * s) @ right.conj().T
        matrices[place] = (product + product.conj().T) / 2 if hermitian else product
    return matrices


@st.composite
def _reflections(draw: st.DrawFn, /, side: int, is_complex: bool) -> Array:
    """Householder's I - 2 v vᴴ / (vᴴ v) for small whole numbers v; the identity for v = 0."""
    kind = complex if is_complex else float
    v = np.array(draw(st.lists(st.integers(-3, 3), min_size=side, max_size=side)), kind)
    if is_complex:
        v += 1j * np.array(draw(st.lists(st.integers(-3, 3), min_size=side, max_size=side)))
    length = np.vdot(v, v).real
    return np.eye(side, dtype=kind) - (2 / length if length else 0.0) * np.outer(v, v.conj())
