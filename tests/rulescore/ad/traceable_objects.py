"""Programs with arrays of Python objects, whose elements compute by themselves; for traceable."""

from __future__ import annotations

import numpy as np

from tests.rulescore.ad.traceable_patterns import of_array, of_numbers


class Components(np.ndarray):
    """The components of vectors on a grid, each an array of its own shape."""

    def __new__(cls, *components):
        found = np.empty(len(components), object).view(cls)
        for i, component in enumerate(components):
            found[i] = component
        return found


GRID = Components(np.linspace(-1.0, 1.0, 4)[None, :], np.linspace(0.0, 2.0, 3)[:, None], 0.5)


@of_array
def distances_on_a_grid(x):
    return np.linalg.norm(GRID - np.asarray(x))


@of_array
def projections_on_a_grid(x):
    return np.exp(-np.inner(GRID, x)) + np.dot(GRID, x / np.linalg.norm(x))


@of_array
def operators_of_objects(x):
    numbers = np.array([1.0, 2.0, 3.0], object)
    table = np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]], object)
    changed = numbers.copy()
    changed += x
    changed *= -abs(x - numbers)
    product = table @ x
    return changed[0] * changed[1] + changed[2] * product[0] + np.sum(numbers**x / x) + np.tensordot(numbers, x, 1)


@of_array
def functions_of_objects(x):
    numbers = np.array([1.0, 2.0, 3.0], object)
    values = numbers * x
    table = np.outer(numbers, x)
    filled = np.empty(3, object)
    np.multiply(x, x, out=filled)
    return (
        np.sum(values) * np.mean(values)
        + np.max(values)
        + np.cumsum(values)[1]
        + np.add.reduce(table)[0]
        + np.where(numbers > 1, x, numbers).sum()
        + np.einsum("i,i", numbers, x)
        + np.convolve(numbers, x)[1]
        + filled[0] * filled[1]
    )


@of_array
def objects_that_become_numbers(x):
    values = np.array([1.0, 2.0, 3.0], object) * x
    return values.astype(float) ** 2 * np.array(values, dtype=float) + np.array(list(values)) * np.asarray(
        values, float
    )


@of_array
def blocks_of_objects(x):
    blocks = np.empty((2, 2), object)
    for i in range(2):
        for j in range(2):
            blocks[i, j] = np.outer(x, x) * (1 + i + 2 * j)
    whole = np.concatenate([np.concatenate(row, axis=1) for row in blocks], axis=0)
    return whole * np.vstack(blocks[0])[0, 1] + np.stack(blocks[1]).sum()


@of_numbers()
def roots_of_a_polynomial_object(a, b, c):
    p = np.poly1d([a, -5.0 * b, c])
    return np.roots(p) * np.polyder(p)(a) + np.sort(p.roots)
