"""Sample inputs for spline filters and geometric transforms of images.

Coordinates keep away from where a spline has a kink or a step: of order 1 at pixels, of order 0 between them, and at
the edges where an image is not continued smoothly.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import ndimage

from rulescore import NoTangent

from .... import with_tangent
from ...numpy.reductions import complex_normal
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY
from .correlations import MODES


def coordinates_within(rng: np.random.Generator, shape: tuple[int, ...], *points: int, beyond: int = 0) -> Any:
    """Random points within an image or somewhat beyond, none close to a pixel, the middle of two, or an edge."""
    lengths = np.reshape(shape, (-1,) + (1,) * len(points))
    whole = rng.integers(-beyond, lengths - 1 + beyond, (len(shape), *points))
    return whole + rng.choice([0.0, 0.5], whole.shape) + rng.uniform(0.1, 0.4, whole.shape)


@sample_inputs(ndimage.spline_filter1d)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((4, 5))
    for mode in MODES:
        yield sample(x, mode=mode)
        yield sample(rng.standard_normal(40), 4, mode=mode, _name=f"many pixels, {mode}")
    for order in range(6):
        yield sample(x, order, 0)
    yield sample(x.astype(np.float32), 3, _name="single precision")
    yield sample([1.5, 2.0, -1.0], _name="list")
    yield sample(x[:, :1], _name="one pixel")


@sample_inputs(ndimage.spline_filter)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((4, 5))
    for mode in MODES:
        yield sample(x, mode=mode)
    for order in (2, 4, 5):
        yield sample(x, order)
    yield sample(x.astype(np.float32), _name="single precision")
    yield sample(x[0].tolist(), _name="list")


@sample_inputs(ndimage.map_coordinates)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    shape = (4, 5)
    x = rng.standard_normal(shape)
    for mode in MODES:
        yield sample(x, coordinates_within(rng, shape, 6, beyond=4), mode=mode)
    for order in range(6):
        yield sample(x, coordinates_within(rng, shape, 2, 3), order=order, mode="mirror")
    yield sample(x, coordinates_within(rng, shape, 4, beyond=3), None, 1, "constant", 1.5, _name="value beyond")
    yield sample(x, coordinates_within(rng, shape, 4, beyond=3), mode="grid-constant", cval=1.5)
    for mode in ("reflect", "nearest", "grid-constant"):
        yield sample(x, coordinates_within(rng, shape, 4, beyond=3), mode=mode, prefilter=False)
    yield sample(x[0], coordinates_within(rng, (5,), 3), order=2, _name="one dimension")
    yield sample(rng.standard_normal((3, 4, 3)), coordinates_within(rng, (3, 4, 3), 3), _name="three dimensions")
    yield sample(x.astype(np.float32), coordinates_within(rng, shape, 4), _name="image in single precision")
    yield sample(
        x.astype(np.float32), coordinates_within(rng, shape, 4).astype(np.float32), _name="all in single precision"
    )
    yield sample(complex_normal(rng, *shape), coordinates_within(rng, shape, 4), mode="wrap", _name="complex")
    yield sample(complex_normal(rng, *shape).astype(np.complex64), coordinates_within(rng, shape, 4), order=1)
    yield sample(x, coordinates_within(rng, shape, 3).tolist(), _name="list of coordinates")
    yield sample(x, coordinates_within(rng, shape, 1), _name="one point")
    yield sample(x, np.array([[0, 1], [2, 4]]), order=1, _name="integer coordinates")


def bent(place: tuple[int, ...], by: float = 0.3) -> tuple[float, ...]:
    """Where the pixels of a transform come from."""
    i, j = place
    return (0.8 * i + by, 0.1 * i + 0.7 * j + by)


@sample_inputs(ndimage.geometric_transform)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((4, 5))
    yield sample(x, bent)
    yield sample(x, bent, (3, 3), order=1, mode="nearest")
    yield sample(x, bent, None, None, 2, "constant", 0.5, _name="value beyond")
    yield sample(x, bent, mode="reflect", extra_arguments=with_tangent((0.4,), NoTangent()))
    yield sample(
        x.astype(np.float32),
        bent,
        extra_keywords=with_tangent({"by": 0.6}, NoTangent()),
        mode="grid-constant",
        cval=1.5,
    )


@sample_inputs(ndimage.affine_transform)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((4, 5))
    matrix = np.array([[0.83, 0.27], [-0.19, 0.71]])
    for mode in MODES:
        yield sample(x, matrix, np.array([0.33, 0.41]), mode=mode)
    for order in (0, 1, 2, 4, 5):
        yield sample(x, matrix, 0.22, order=order, mode="mirror")
    yield sample(x, matrix, [0.3, -0.4], (3, 2), None, 3, "constant", 1.5, _name="value beyond")
    if SCIPY >= "1.16.0":  # before, it warns of every diagonal
        yield sample(x, np.array([0.83, 0.71]), np.array([0.33, 0.41]), mode="nearest", _name="diagonal")
        yield sample(x, np.array([0.83, 0.71]), 0.23, (5, 3), mode="reflect", _name="diagonal, other shape")
    homogeneous = np.array([[0.83, 0.27, 0.33], [-0.19, 0.71, 0.41]])
    yield sample(x, homogeneous, mode="mirror", _name="homogeneous")
    yield sample(rng.standard_normal((3, 2, 4)), np.diag([0.7, 0.8, 0.6]), 0.17, order=1, _name="three dimensions")
    yield sample(x, matrix[:, :1], 0.37, (4,), _name="a line through the image")
    yield sample(x.astype(np.float32), matrix.astype(np.float32), 0.37, _name="single precision")
    yield sample(complex_normal(rng, 4, 5), matrix, 0.37, mode="wrap", _name="complex")
    yield sample(x, matrix, 0.37, prefilter=False)
    yield sample(x, matrix.tolist(), (0.33, 0.41), _name="lists")


@sample_inputs(ndimage.shift)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((4, 5))
    for mode in MODES:
        yield sample(x, (1.3, -0.6), mode=mode)
    for order in range(6):
        yield sample(x, 0.37, order=order)
    yield sample(x, np.array([0.4, -1.3]), None, 3, "constant", 1.5, _name="value beyond")
    yield sample(x, [0.4, -1.3], mode="grid-constant", cval=0.5, _name="list")
    yield sample(rng.standard_normal((3, 2, 4)), 0.7, mode="mirror", _name="three dimensions")
    yield sample(x.astype(np.float32), np.float32(0.4), _name="single precision")
    yield sample(complex_normal(rng, 4), 0.4, mode="wrap", _name="complex")
    yield sample(x, 0.4, prefilter=False)
    yield sample([1.5, 2.0, -1.0, 0.5], 0.4, _name="list of pixels")


@sample_inputs(ndimage.zoom)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((4, 5))
    for mode in MODES:
        yield sample(x, 1.6, mode=mode)
    for order in range(6):
        yield sample(x, (0.75, 2.0), order=order)
    yield sample(x, [2, 1], None, 3, "constant", 1.5, _name="integers")
    yield sample(x, 1.6, mode="grid-constant", grid_mode=True)
    yield sample(x, 2, mode="nearest", grid_mode=True, _name="by area")
    yield sample(x, 1, _name="nothing to do")
    yield sample(x.astype(np.float32), 1.2, _name="single precision")
    yield sample(complex_normal(rng, 3, 4), 2, _name="complex")
    yield sample(x, 1.4, prefilter=False)


@sample_inputs(ndimage.rotate)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((4, 5))
    for mode in MODES:
        yield sample(x, 27.0, reshape=False, mode=mode)
    for order in range(6):
        yield sample(x, -71.3, order=order, mode="mirror")
    yield sample(x, np.array(33.0), (0, 1), True, None, 3, "constant", 1.5, _name="value beyond")
    yield sample(rng.standard_normal((3, 2, 4)), 19.0, (2, 0), _name="three dimensions")
    yield sample(x.astype(np.float32), 27.0, _name="single precision")
    yield sample(complex_normal(rng, 4, 3), 27.0, mode="nearest", _name="complex")
    yield sample(x, 30, _name="integer angle")
