"""Sample inputs for the rules of `numpy.linalg`: matrices far from singular ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from testutils.samples.numpy.reductions import complex_normal
from testutils.sampling import Sample, sample, sample_inputs


@sample_inputs(np.linalg.inv)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    shift = 4 * np.eye(3)
    matrix = rng.standard_normal((3, 3)) + shift
    yield sample(matrix)
    yield sample(complex_normal(rng, 3, 3) + shift)
    yield sample(rng.standard_normal((2, 1, 3, 3)) + shift, _name="a stack of matrices")
    yield sample(complex_normal(rng, 2, 3, 3) + shift, _name="a stack of complex matrices")
    yield sample(matrix.astype(np.float32))
    yield sample((complex_normal(rng, 3, 3) + shift).astype(np.complex64))
    yield sample(np.asfortranarray(matrix), _name="in Fortran order")
    yield sample([[2.0, 1.0], [0.5, 3.0]], _name="a list of lists")
    yield sample(np.array([[2.5]]))
    yield sample(np.zeros((0, 0)), _name="nothing")
