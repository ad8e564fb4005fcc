"""Sample inputs for measurements of labelled images, and for functions of images that have no derivative."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import ndimage

from ...sampling import Sample, sample, sample_inputs

SMOOTH = (
    ndimage.sum_labels,
    ndimage.sum,
    ndimage.mean,
    ndimage.variance,
    ndimage.standard_deviation,
    ndimage.minimum,
    ndimage.maximum,
    ndimage.median,
)


@sample_inputs(*SMOOTH)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.permutation(20).reshape(4, 5) + rng.uniform(-0.3, 0.3, (4, 5))
    labels = np.array([[0, 1, 1, 2, 2], [1, 1, 3, 3, 2], [0, 0, 3, 3, 3], [4, 4, 3, 0, 0]])
    yield sample(x)
    yield sample(x, labels)
    yield sample(x, labels, 3)
    yield sample(x, labels, [3, 1, 2])
    yield sample(x, labels, np.array([[4, 1], [2, 3]]))
    yield sample(x, index=1, _name="no labels")
    yield sample(x, labels[0], 1, _name="labels that broadcast")
    yield sample(x.astype(np.float32), labels, [1, 2], _name="single precision")
    yield sample(x.tolist(), labels, 1, _name="list")


@sample_inputs(ndimage.center_of_mass, ndimage.extrema)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.permutation(20).reshape(4, 5) + rng.uniform(0.6, 0.9, (4, 5))
    labels = np.array([[0, 1, 1, 2, 2], [1, 1, 3, 3, 2], [0, 0, 3, 3, 3], [4, 4, 3, 0, 0]])
    yield sample(x)
    yield sample(x, labels)
    yield sample(x, labels, 3)
    yield sample(x, labels, [3, 1, 2])


@sample_inputs(
    ndimage.minimum_position,
    ndimage.maximum_position,
    ndimage.label,
    ndimage.binary_closing,
    ndimage.binary_dilation,
    ndimage.binary_erosion,
    ndimage.binary_fill_holes,
    ndimage.binary_opening,
    ndimage.binary_propagation,
    ndimage.binary_hit_or_miss,
    ndimage.distance_transform_cdt,
)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(np.round(rng.uniform(0.6, 2, (4, 5))) * (rng.uniform(size=(4, 5)) < 0.7))


@sample_inputs(ndimage.find_objects, ndimage.value_indices)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.integers(0, 3, (4, 5)))


@sample_inputs(ndimage.histogram)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.uniform(0, 4, (4, 5)), 0, 4, 3)


@sample_inputs(ndimage.watershed_ift)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    markers = np.zeros((4, 5), np.int16)
    markers[0, 0], markers[3, 4] = 1, 2
    yield sample(rng.integers(0, 9, (4, 5)).astype(np.uint8), markers)
