"""Sample inputs for correlations and convolutions of images."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import ndimage

from ...numpy.reductions import complex_normal
from ...sampling import Sample, sample, sample_inputs

MODES = ("reflect", "constant", "nearest", "mirror", "wrap", "grid-mirror", "grid-constant", "grid-wrap")


@sample_inputs(ndimage.correlate1d, ndimage.convolve1d)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, w = rng.standard_normal((4, 5)), rng.standard_normal(4)
    for mode in MODES:
        yield sample(x, w, mode=mode)
    yield sample(x, w[:3], 0, _name="axis 0")
    yield sample(x, w[:3], -2, None, "constant", 1.5, 1, _name="value beyond the edges")
    yield sample(x, w, origin=-2, mode="wrap", _name="origin to the left")
    yield sample(x, w, origin=1, mode="nearest", _name="origin to the right")
    yield sample(x, w[:1], _name="one weight")
    yield sample(x[:, :2], rng.standard_normal(9), mode="mirror", _name="more weights than elements")
    yield sample(x[:, :1], w, mode="reflect", _name="one element")
    yield sample(x, w.astype(np.float32), _name="weights in single precision")
    yield sample(x.astype(np.float32), w.astype(np.float32), _name="single precision")
    yield sample(x[0], w.tolist(), _name="list of weights")
    yield sample(x[0].tolist(), w, _name="list")
    yield sample(complex_normal(rng, 3, 4), w, mode="mirror", _name="complex image")
    yield sample(x, complex_normal(rng, 3), _name="complex weights")
    z = complex_normal(rng, 5)
    yield sample(z, complex_normal(rng, 3), mode="constant", cval=0.5 - 1j, _name="complex")
    yield sample(z.astype(np.complex64), w[:2], _name="complex64")
    yield sample(rng.standard_normal((2, 3, 4)).transpose(2, 0, 1), w[:2], 1, _name="strided")
    yield sample(np.arange(5), w, _name="integers")


@sample_inputs(ndimage.correlate, ndimage.convolve)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, w = rng.standard_normal((4, 5)), rng.standard_normal((3, 2))
    for mode in MODES:
        yield sample(x, w, mode=mode)
    yield sample(x, w, None, "constant", -0.5, 0, _name="value beyond the edges")
    yield sample(x, w, origin=(1, -1), mode="mirror", _name="origins")
    yield sample(x, rng.standard_normal((7, 5)), mode="wrap", _name="more weights than elements")
    yield sample(x, w[:, 0], axes=1, _name="one axis")
    yield sample(rng.standard_normal((3, 2, 4)), w, axes=(2, 0), origin=(-1, 1), _name="two axes of three")
    yield sample(x[0], w[:, 0], _name="one dimension")
    yield sample(x.astype(np.float32), w.astype(np.float32), _name="single precision")
    yield sample(complex_normal(rng, 3, 3), complex_normal(rng, 2, 3), mode="nearest", _name="complex")
    yield sample(x, complex_normal(rng, 2, 2), _name="complex weights")
    yield sample(complex_normal(rng, 3, 4).astype(np.complex64), w, _name="complex64")
    yield sample([[1.5, 2.0], [-1.0, 0.5]], w.tolist(), _name="lists")
    yield sample(rng.standard_normal((2, 3, 3)), rng.standard_normal((2, 1, 2)), _name="three dimensions")
