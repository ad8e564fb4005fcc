"""Random matrices of the kinds that linear algebra asks for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..reductions import complex_normal


def normal(rng: np.random.Generator, *shape: int, dtype: Any = float) -> Any:
    """Normally distributed numbers, in double precision."""
    return complex_normal(rng, *shape) if np.dtype(dtype).kind == "c" else rng.standard_normal(shape)


def regular(rng: np.random.Generator, *shape: int) -> Any:
    """Matrices with a dominant diagonal."""
    return rng.standard_normal(shape) + 4 * np.eye(shape[-1])


def positive_definite(rng: np.random.Generator, *shape: int, dtype: Any = float) -> Any:
    """Hermitian matrices with positive eigenvalues."""
    root = normal(rng, *shape, dtype=dtype)
    return (root @ np.conj(np.swapaxes(root, -1, -2)) + 3 * np.eye(shape[-1])).astype(dtype)


def hermitian(rng: np.random.Generator, *shape: int, dtype: Any = float) -> Any:
    """Hermitian matrices with eigenvalues of both signs, whose moduli lie at least 0.5 apart and from 0."""
    vectors = np.linalg.qr(normal(rng, *shape, dtype=dtype))[0]
    numbers = np.arange(shape[-1])
    values = (-1.0) ** numbers * (1 + numbers + rng.uniform(0, 0.5, shape[:-1]))
    return ((vectors * values[..., None, :]) @ np.conj(np.swapaxes(vectors, -1, -2))).astype(dtype)


def with_singular_values(rng: np.random.Generator, *shape: int, dtype: Any = float) -> Any:
    """Matrices whose singular values lie at least 0.5 apart, and from 0."""
    u, s, vh = np.linalg.svd(normal(rng, *shape, dtype=dtype), full_matrices=False)
    s = np.arange(s.shape[-1], 0, -1) + rng.uniform(0, 0.5, s.shape)
    return ((u * s[..., None, :]) @ vh).astype(dtype)


def with_eigenvalues(rng: np.random.Generator, *values: complex, dtype: Any = float) -> Any:
    """A matrix with these eigenvalues, in whose eigenvectors one component is clearly the largest.

    In a real matrix a complex one stands for a pair of conjugates.
    """
    blocks = [_block(value) if np.dtype(dtype).kind != "c" else np.array([[value]]) for value in values]
    size = sum(map(len, blocks))
    diagonal, place = np.zeros((size, size), dtype), 0
    for block in blocks:
        diagonal[place : place + len(block), place : place + len(block)] = block
        place += len(block)
    vectors = np.eye(size) + 0.2 / np.sqrt(size) * normal(rng, size, size, dtype=dtype)
    return vectors @ diagonal @ np.linalg.inv(vectors)


def _block(value: complex) -> Any:
    if not isinstance(value, complex):
        return np.array([[value]])
    return np.array([[value.real, 2 * value.imag], [-value.imag / 2, value.real]])


def of_singular_values(rng: np.random.Generator, values: Any, m: int, n: int | None = None, dtype: Any = float) -> Any:
    """A matrix with these singular values, and zeros for the others."""
    n = m if n is None else n
    left, right = (np.linalg.qr(normal(rng, k, k, dtype=dtype))[0] for k in (m, n))
    return (left[:, : len(values)] * np.array(values)) @ right[: len(values)]


def of_rank(rng: np.random.Generator, rank: int, m: int, n: int | None = None, dtype: Any = float) -> Any:
    """A matrix whose singular values are 0 (up to rounding errors), but for 1, 2, 3 and so on up to the rank."""
    return of_singular_values(rng, np.arange(1, rank + 1), m, n, dtype)
