"""Sample inputs for choosing between elements by a condition."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import with_tangent
from ..sampling import Sample, sample, sample_inputs
from ..versions import NUMPY
from .reductions import complex_normal


@sample_inputs(np.where)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, y = rng.standard_normal((3, 4)), rng.standard_normal((3, 4))
    condition = rng.random((3, 4)) < 0.5
    yield sample(condition, x, y)
    yield sample(condition, x, 0.5)
    yield sample(condition, 0, y, _name="integer branch")
    yield sample(condition, x[0], y[:, :1], _name="both branches broadcast")
    yield sample(condition[:, :1], x, y[0], _name="the condition broadcasts")
    yield sample(True, x, y[:1])
    yield sample(condition, 1.5, 2.5, _name="two numbers")
    yield sample(np.array(False), 1.5, np.float32(2.5), _name="0-d")
    yield sample(condition, x.astype(np.float32), y, _name="two precisions")
    yield sample(condition, x.astype(np.float32), y.astype(np.float32))
    yield sample(condition, x, complex_normal(rng, 3, 4), _name="real and complex")
    yield sample(rng.integers(0, 2, (3, 4)), x, y, _name="integer condition")
    yield sample(condition[0], x[0].tolist(), y, _name="a list as a branch")
    yield sample(np.zeros((0, 3), bool), np.zeros((0, 3)), 1.5, _name="empty")
    yield sample(condition, _constant=True, _name="the condition alone")


@sample_inputs(np.trim_zeros)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = np.array([0.0, 0.0, 1.5, 0.0, -2.5, 0.0])
    dx = np.array([0.0, 0.0, 0.7, 1.1, -0.4, 0.0])  # zeros at the ends stay there
    for trim in ("fb", "f", "b"):
        yield sample(with_tangent(x, dx), trim, _modes=("frule",), _name=f"zeros at the ends, {trim}")
    yield sample(with_tangent(np.outer(x, x), np.outer(dx, dx)), _modes=("frule",), _name="a matrix")
    yield sample(rng.standard_normal(3))
    yield sample(complex_normal(rng, 2, 3), "f")
    yield sample(rng.standard_normal((3, 2)).astype(np.float32))
    yield sample([1.5, 2.5], _name="list")
    yield sample(np.array([0, 1, 0]), _constant=True, _name="integers")


@sample_inputs(np.trim_zeros)
def along_axes(rng: np.random.Generator) -> Iterator[Sample]:
    x = np.zeros((4, 4))
    x[1:3, 2:] = rng.standard_normal((2, 2))
    for axis in (0, -1, (0, 1), ()) if NUMPY >= "2.4.0" else (0, -1):
        yield sample(with_tangent(x, 2 * x), axis=axis, _modes=("frule",))
