"""Sample inputs for the parts of complex numbers, away from 0, where the angle jumps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal


@sample_inputs(np.real, np.imag, np.angle)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    z = complex_normal(rng, 3, 2)
    yield sample(z)
    yield sample(z.astype(np.complex64))
    yield sample(z.astype(np.clongdouble).T)
    yield sample(z.real.copy(), _name="real array")
    yield sample(np.float32(1.5), _name="NumPy scalar")
    yield sample(1.5 - 0.5j, _name="Python complex")
    yield sample(-1.5, _name="Python float")
    yield sample(np.complex64(1.5 - 0.5j), _name="NumPy complex scalar")
    yield sample(np.array(1.5 - 0.5j), _name="0-d array")
    yield sample([1.5 - 0.5j, -2.0 + 1j], _name="list")


@sample_inputs(np.angle)
def in_degrees(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(complex_normal(rng, 3), True)
    yield sample(complex_normal(rng, 2, 2).astype(np.complex64), deg=True)
    yield sample(rng.standard_normal(3), deg=True)
    yield sample(
        1e-200 * complex_normal(rng, 3),
        _atol=0.0,
        _name="tiny numbers",
        _skip={"second order": "the second derivative is larger than the largest number"},
    )
