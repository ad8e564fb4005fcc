"""Sample inputs for the QR decomposition."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...sampling import Sample, sample, sample_inputs
from ..reductions import complex_normal


@sample_inputs(np.linalg.qr)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((4, 4)), _name="square")
    yield sample(rng.standard_normal((5, 3)), _name="tall")
    yield sample(rng.standard_normal((3, 5)), _name="wide")
    yield sample(complex_normal(rng, 3, 3), _name="complex, square")
    yield sample(complex_normal(rng, 4, 2), _name="complex, tall")
    yield sample(complex_normal(rng, 2, 4), _name="complex, wide")
    yield sample(rng.standard_normal((5, 3)), mode="complete", _name="complete, tall")
    yield sample(complex_normal(rng, 4, 2), mode="complete", _name="complete, complex, tall")
    yield sample(rng.standard_normal((2, 3)), mode="complete", _name="complete, wide")
    yield sample(rng.standard_normal((4, 3)), mode="r")
    yield sample(complex_normal(rng, 2, 3), "r", _name="r by position, complex, wide")
    yield sample(rng.standard_normal((4, 3)), mode="raw", _name="raw, tall")
    yield sample(rng.standard_normal((3, 4)), mode="raw", _name="raw, wide")
    yield sample(complex_normal(rng, 2, 3, 3), mode="raw", _name="raw, a stack of complex matrices")
    yield sample(rng.standard_normal((2, 4, 3)), _name="a stack of tall matrices")
    yield sample(complex_normal(rng, 2, 1, 2, 3), _name="a stack of stacks of complex, wide matrices")
    yield sample(rng.standard_normal((2, 4, 2)), mode="complete", _name="complete, a stack")
    yield sample(np.array([[1.0, 2.0], [2.0, 4.0]]) + 0.0, _name="square, of rank one less than full")
    yield sample(rng.standard_normal((3, 2)).astype(np.float32))
    yield sample(complex_normal(rng, 3, 2).astype(np.complex64), mode="complete")
    yield sample([[2.0, 0.5], [0.5, 3.0]], _name="a list of lists")
    yield sample(np.asfortranarray(rng.standard_normal((3, 3)))[::-1, :], _name="strided")
    yield sample(np.array([[2.5]]), _name="one by one")
    yield sample(rng.standard_normal((3, 1)), mode="complete", _name="complete, one column")
    yield sample(np.zeros((0, 3, 2)), _name="an empty stack")
