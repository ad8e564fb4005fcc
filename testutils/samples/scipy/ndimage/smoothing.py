"""Sample inputs for Gaussian, uniform, Sobel, Prewitt and Laplace filters."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np
from scipy import ndimage

from ...numpy.reductions import complex_normal
from ...sampling import Sample, sample, sample_inputs
from .correlations import MODES

WIDE = {"thousandfold": "a filter that many times as wide as the image takes minutes"}
of_width = functools.partial(sample, _skip=WIDE)


@sample_inputs(ndimage.gaussian_filter1d)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 6))
    for mode in MODES:
        yield of_width(x, 0.8, mode=mode)
    for order in (1, 2, 3, 4):
        yield of_width(x, 1.2, order=order, axis=0, truncate=3.0)
    yield of_width(x, np.array(1.5), -1, 1, None, "constant", 0.5, 2.0, _name="all by position")
    yield of_width(x, 0.7, radius=3)
    yield of_width(x, 2, _name="integer sigma")
    yield of_width(x.astype(np.float32), np.float32(1.1), _name="single precision")
    yield of_width(complex_normal(rng, 5), 0.9, mode="wrap", _name="complex")
    yield of_width(complex_normal(rng, 5).astype(np.complex64), 0.9, order=1, _name="complex64")
    yield of_width(x[0].tolist(), 1.3, _name="list")
    yield of_width(x[:, ::2], 0.6, 0, _name="strided")


@sample_inputs(ndimage.gaussian_filter)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((4, 5))
    for mode in MODES:
        yield of_width(x, 0.8, mode=mode)
    yield of_width(x, [0.7, 1.1], (1, 2), None, ["nearest", "mirror"], truncate=3.0, _name="a list for each option")
    yield of_width(x, np.array([0.7, 1.1]), radius=(2, 1), _name="array of sigmas")
    yield of_width(x, (0.0, 1.1), _name="no smoothing along one axis")
    yield of_width(x, 0.9, 0, None, "constant", 1.5, _name="value beyond the edges")
    yield of_width(x, 0.9, order=1, axes=1)
    yield of_width(rng.standard_normal((2, 3, 4)), (0.5, 0.8), axes=(2, 0), _name="two axes of three")
    yield of_width(x.astype(np.float32), 1.3, _name="single precision")
    yield of_width(complex_normal(rng, 3, 4), 0.8, _name="complex")
    yield of_width([[1.5, 2.0, -1.0]], 1.0, _name="list")
    yield of_width(np.arange(6), 1.5, _name="integers")


@sample_inputs(ndimage.gaussian_laplace, ndimage.gaussian_gradient_magnitude)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((4, 5))
    for mode in ("reflect", "nearest", "wrap"):
        yield of_width(x, 0.8, mode=mode)
    yield of_width(x, [0.7, 1.1], mode=["nearest", "mirror"], truncate=3.0, _name="a list for each option")
    yield of_width(x, 0.9, None, "constant", 1.5, _name="value beyond the edges")
    yield of_width(x, 0.9, axes=1, _name="one axis")
    yield of_width(x, 0.9, radius=2)
    yield of_width(x.astype(np.float32), 1.3, _name="single precision")
    yield of_width(rng.standard_normal((3, 3, 4)), (0.6, 0.8, 1.1), _name="three dimensions")
    yield of_width([[1.5, 2.0, -1.0], [0.5, 1.0, 0.0]], 1.0, _name="list")


@sample_inputs(ndimage.gaussian_laplace)
def of_complex_numbers(rng: np.random.Generator) -> Iterator[Sample]:
    yield of_width(complex_normal(rng, 3, 4), 0.8)


@sample_inputs(ndimage.uniform_filter1d)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((4, 5))
    for mode in MODES:
        yield sample(x, 4, mode=mode)
    yield sample(x, 3, 0, None, "constant", 1.5, 1, _name="value beyond the edges")
    yield sample(x, 4, origin=-2, _name="origin to the left")
    yield sample(x, 9, 0, mode="mirror", _name="longer than the axis")
    yield sample(x, 1, _name="nothing to do")
    yield sample(x.astype(np.float32), 3, _name="single precision")
    yield sample(complex_normal(rng, 5), 2, _name="complex")
    yield sample([1.5, 2.0, -1.0], 2, _name="list")


@sample_inputs(ndimage.uniform_filter)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((4, 5))
    for mode in MODES:
        yield sample(x, mode=mode)
    yield sample(x, (2, 3), None, ("wrap", "constant"), -0.5, (-1, 0), _name="a tuple for each option")
    yield sample(x, [1, 4], _name="one axis left alone")
    yield sample(x, 2, axes=0)
    yield sample(x.astype(np.float32), 3, _name="single precision")
    yield sample(complex_normal(rng, 3, 4), 2, _name="complex")
    yield sample([[1.5, 2.0, -1.0]], _name="list")


@sample_inputs(ndimage.sobel, ndimage.prewitt)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((4, 5))
    for mode in MODES:
        yield sample(x, mode=mode)
    yield sample(x, 0, None, ("wrap", "constant"), -0.5, _name="a mode for each axis")
    yield sample(rng.standard_normal((2, 3, 4)), 1, _name="three dimensions")
    yield sample(x.astype(np.float32), -2, _name="single precision")
    yield sample(complex_normal(rng, 3, 4), 0, _name="complex")
    yield sample([1.5, 2.0, -1.0], _name="list")


@sample_inputs(ndimage.laplace)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((4, 5))
    for mode in MODES:
        yield sample(x, mode=mode)
    yield sample(x, None, ("wrap", "constant"), -0.5, _name="a mode for each axis")
    yield sample(x, axes=(1,))
    yield sample(x.astype(np.float32), _name="single precision")
    yield sample(complex_normal(rng, 3, 4), _name="complex")
    yield sample([1.5, 2.0, -1.0], _name="list")
