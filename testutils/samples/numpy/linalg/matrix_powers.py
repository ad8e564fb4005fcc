"""Sample inputs for powers of a matrix and products of several."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from ...sampling import Sample, sample, sample_inputs
from ..reductions import complex_normal
from .matrices import regular


@sample_inputs(np.linalg.matrix_power)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    matrix = rng.standard_normal((3, 3))
    for n in (0, 1, 2, 3, 4, 5, 7, 8):
        yield sample(matrix, n)
    for n in (-1, -2, -3, -6):
        yield sample(regular(rng, 3, 3), n)
    yield sample(matrix / np.linalg.norm(matrix, 2), 100, _name="a large power")
    yield sample(np.diag([1.0, -1.0, 0.5]), 1001, _name="a very large power")
    yield sample(rng.standard_normal((2, 1, 3, 3)), 5, _name="a stack of matrices")
    yield sample(regular(rng, 2, 3, 3), -2, _name="a negative power of a stack")
    yield sample(complex_normal(rng, 3, 3), 5, _name="complex")
    yield sample(complex_normal(rng, 3, 3) + 4 * np.eye(3), -3, _name="a negative power, complex")
    yield sample(np.diag([1.0, 0.0, 0.0]), 3, _name="singular")
    yield sample(matrix.astype(np.float32), 3)
    yield sample(regular(rng, 3, 3).astype(np.complex64), np.int64(-2))
    yield sample(np.asfortranarray(matrix), 4, _name="in Fortran order")
    yield sample([[2.0, 1.0], [0.5, 3.0]], 3, _name="a list of lists")
    yield sample(np.zeros((0, 0)), 3, _name="nothing")


@sample_inputs(np.linalg.multi_dot)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    def matrices(*lengths: int) -> list[np.ndarray]:
        return [rng.standard_normal(shape) for shape in itertools.pairwise(lengths)]

    yield sample(matrices(2, 3, 4), _name="two")
    yield sample(matrices(2, 3, 4, 5), _name="three")
    yield sample(matrices(4, 2, 5, 3, 2), _name="four")
    yield sample(matrices(4, 1, 5, 1, 3, 2, 2), _name="six")
    yield sample(tuple(matrices(2, 3, 4, 2)), _name="a tuple")
    yield sample([rng.standard_normal(3), *matrices(3, 4, 2)], _name="a vector in front")
    yield sample([*matrices(2, 3, 4), rng.standard_normal(4)], _name="a vector at the end")
    yield sample([rng.standard_normal(2), *matrices(2, 3, 4), rng.standard_normal(4)], _name="vectors at both ends")
    yield sample([rng.standard_normal(2), rng.standard_normal(2)], _name="two vectors")
    yield sample([complex_normal(rng, 2, 3), *matrices(3, 4), complex_normal(rng, 4, 2)], _name="complex and real")
    yield sample([x.astype(np.float32) for x in matrices(2, 3, 4, 2)], _name="float32")
    yield sample([*matrices(2, 3), np.arange(12).reshape(3, 4), *matrices(4, 2)], _name="integers among them")
    yield sample(rng.standard_normal((3, 2, 2)), _name="an array of matrices")
    yield sample(matrices(2, 0, 4, 3), _name="nothing in between")
    yield sample(matrices(2, 3, 4), out=None)
