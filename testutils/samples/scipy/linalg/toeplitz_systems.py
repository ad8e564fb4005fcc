"""Sample inputs for products and linear systems with Toeplitz and circulant matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg

from ...numpy.linalg.matrices import normal
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY


def dominant(rng: np.random.Generator, *shape: int, dtype: Any = float) -> Any:
    """Vectors whose first element is the largest."""
    return 0.5 * normal(rng, *shape, dtype=dtype) + 5 * (np.arange(shape[-1]) == 0)


@sample_inputs(scipy.linalg.solve_toeplitz)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(dominant(rng, 4), rng.standard_normal(4), _name="symmetric")
    yield sample((dominant(rng, 4), dominant(rng, 4)), rng.standard_normal((4, 2)), _name="a column and a row")
    yield sample(dominant(rng, 3, dtype=complex), normal(rng, 3, dtype=complex), _name="complex")
    pair = dominant(rng, 3, dtype=complex), dominant(rng, 3, dtype=complex)
    yield sample(pair, normal(rng, 3, dtype=complex), _name="a complex pair")
    if SCIPY >= "1.17.0":
        yield sample((dominant(rng, 2, 3), dominant(rng, 3)), rng.standard_normal((3, 2)), _name="a stack")


@sample_inputs(scipy.linalg.matmul_toeplitz)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(4), rng.standard_normal(4), _name="symmetric")
    yield sample((rng.standard_normal(3), rng.standard_normal(5)), rng.standard_normal((5, 2)), _name="wide")
    yield sample((rng.standard_normal(5), rng.standard_normal(2)), rng.standard_normal(2), _name="tall")
    yield sample(normal(rng, 3, dtype=complex), normal(rng, 3, dtype=complex), _name="complex")
    pair = normal(rng, 3, dtype=complex), normal(rng, 2, dtype=complex)
    yield sample(pair, rng.standard_normal((2, 2)), _name="a complex pair")
    if SCIPY >= "1.17.0":
        yield sample(
            (rng.standard_normal((2, 3)), rng.standard_normal(3)), rng.standard_normal((3, 2)), _name="a stack"
        )


@sample_inputs(scipy.linalg.solve_circulant)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(dominant(rng, 4), rng.standard_normal(4))
    yield sample(dominant(rng, 4), rng.standard_normal((4, 2)).T.copy(), baxis=1, outaxis=-1)
    yield sample(dominant(rng, 3, dtype=complex), normal(rng, 3, dtype=complex), _name="complex")
    yield sample(dominant(rng, 2, 3), rng.standard_normal((3, 2)), _name="a stack")
    yield sample(dominant(rng, 2, 3).T.copy(), rng.standard_normal((2, 3)), caxis=0, baxis=1, outaxis=1)
    yield sample([3.0, 1.0], [1.0, 2.0], _name="lists")
