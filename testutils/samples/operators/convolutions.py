"""Sample inputs for the convolutions of neural networks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rulescore.operators import conv1d, conv2d, conv3d

from ..sampling import Sample, sample, sample_inputs

Rng = np.random.Generator


@sample_inputs(conv1d)
def _conv1d(rng: Rng) -> Iterator[Sample]:
    normal = rng.standard_normal
    x, w, b = normal((2, 4, 7)), normal((6, 4, 3)), normal(6)
    yield sample(x, w)
    yield sample(x, w, b)
    yield sample(x, w, b, 2, 1, 2, _name="stride, padding and dilation")
    yield sample(x, normal((6, 2, 2)), padding="same", groups=2, _name="groups, same length")
    yield sample(x, normal((4, 1, 3)), b[:4], padding="valid", groups=4, _name="one group for each channel")
    yield sample(x[0], w, _name="one input")
    yield sample(normal((2, 3, 4, 5)), w, stride=(3,), padding=(2,), _name="two leading axes")
    yield sample(x.astype(np.float32), w.astype(np.float32), b.astype(np.float32), _name="float32")
    yield sample(x + 1j * normal(x.shape), w + 1j * normal(w.shape), b, _name="complex")
    yield sample(np.array([[1, 2, 3, 4]]), normal((2, 1, 2)), _name="an input of whole numbers")
    yield sample([[0.5, 1.5, -1.0]], [[[2.0, -0.5]]], [0.25], _name="lists")


@sample_inputs(conv2d)
def _conv2d(rng: Rng) -> Iterator[Sample]:
    normal = rng.standard_normal
    x, w, b = normal((2, 4, 5, 6)), normal((2, 4, 3, 2)), normal(2)
    yield sample(x, w, b)
    yield sample(x, w, None, (2, 1), (1, 0), (1, 3))
    yield sample(x, normal((4, 2, 2, 2)), normal(4), padding="same", groups=2, _name="groups, same lengths")
    yield sample(x, normal((3, 4, 1, 1)), _name="windows of one element")
    yield sample(x[0], w, stride=2, _name="one input")


@sample_inputs(conv3d)
def _conv3d(rng: Rng) -> Iterator[Sample]:
    normal = rng.standard_normal
    x, w = normal((2, 2, 3, 4, 3)), normal((2, 2, 2, 2, 3))
    yield sample(x, w, normal(2))
    yield sample(x, normal((2, 1, 2, 1, 2)), None, (1, 2, 1), 1, (1, 1, 2), 2, _name="all options")
