"""Sample inputs for the QR and RQ decompositions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg

from ...numpy.linalg.matrices import normal, with_singular_values
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY


def of_unequal_columns(rng: np.random.Generator, *shape: int, dtype: Any = float) -> Any:
    """Matrices whose columns are of clearly different lengths, so that pivoting puts them in one order."""
    return normal(rng, *shape, dtype=dtype) * np.array([1.0, 9.0, 3.0, 27.0])[: shape[-1]]


@sample_inputs(scipy.linalg.qr)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for mode in ("full", "r", "economic", "raw"):
        yield sample(with_singular_values(rng, 3, 3), mode=mode, _name=f"square, {mode}")
        yield sample(with_singular_values(rng, 4, 2), mode=mode, _name=f"tall, {mode}")
        yield sample(with_singular_values(rng, 2, 4), mode=mode, _name=f"wide, {mode}")
        yield sample(of_unequal_columns(rng, 4, 3), mode=mode, pivoting=True, _name=f"pivoting, {mode}")
    yield sample(with_singular_values(rng, 3, 3, dtype=complex), _name="complex")
    yield sample(with_singular_values(rng, 4, 2, dtype=complex), mode="economic", _name="complex, economic")
    yield sample(of_unequal_columns(rng, 3, 3, dtype=complex), pivoting=True, _name="complex, pivoting")
    if SCIPY >= "1.16.0":
        yield sample(with_singular_values(rng, 2, 3, 3), _name="a stack")
        yield sample(of_unequal_columns(rng, 2, 3, 3), mode="economic", pivoting=True, _name="a stack, pivoting")
    yield sample(with_singular_values(rng, 3, 2).astype(np.float32), mode="economic")


@sample_inputs(scipy.linalg.rq)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for mode in ("full", "economic"):
        yield sample(with_singular_values(rng, 3, 3), mode=mode, _name=f"square, {mode}")
        yield sample(with_singular_values(rng, 2, 4), mode=mode, _name=f"wide, {mode}")
    yield sample(with_singular_values(rng, 3, 3, dtype=complex), _name="complex")
    if SCIPY >= "1.16.0":
        yield sample(with_singular_values(rng, 2, 3, 3), _name="a stack")
