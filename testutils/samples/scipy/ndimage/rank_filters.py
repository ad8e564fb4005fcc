"""Sample inputs for filters that select elements, and for the morphology of grey images."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import ndimage

from ...sampling import Sample, sample, sample_inputs
from .correlations import MODES


def apart(rng: np.random.Generator, *shape: int) -> Any:
    """Random numbers, none close to another."""
    size = int(np.prod(shape))
    return (rng.permutation(size) + rng.uniform(-0.3, 0.3, size)).reshape(shape) / 2


CROSS = np.array([[0, 1, 0], [1, 1, 1]])


@sample_inputs(ndimage.minimum_filter1d, ndimage.maximum_filter1d)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = apart(rng, 4, 5)
    for mode in MODES:
        yield sample(x, 4, mode=mode)
    yield sample(x, 3, 0, None, "wrap", 0, 1, _name="origin")
    yield sample(x, 7, 0, mode="mirror", _name="longer than the axis")
    yield sample(x.astype(np.float32), 3, _name="single precision")
    yield sample(x[0].tolist(), 2, _name="list")


@sample_inputs(ndimage.minimum_filter, ndimage.maximum_filter)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = apart(rng, 4, 5)
    for mode in MODES:
        yield sample(x, 3, mode=mode)
    yield sample(x, (2, 3), mode=("wrap", "nearest"), origin=(-1, 1), _name="options by axis")
    yield sample(x, footprint=CROSS, origin=(0, 1), _name="footprint")
    yield sample(x, footprint=np.ones((2, 3)), _name="footprint that is a box")
    yield sample(x, 2, axes=0)
    yield sample(x.astype(np.float32), 3, _name="single precision")


@sample_inputs(ndimage.median_filter)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = apart(rng, 4, 5)
    for mode in MODES:
        yield sample(x, 3, mode=mode)
    yield sample(x, (2, 4), _name="even sizes")
    yield sample(x, footprint=CROSS, origin=(-1, 1), _name="footprint")
    yield sample(x[0], 3, _name="one dimension")
    yield sample(x, 3, axes=(1,), _name="one axis")
    yield sample(x.astype(np.float32), 3, _name="single precision")


@sample_inputs(ndimage.rank_filter)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = apart(rng, 4, 5)
    for rank in (0, 2, -1):
        yield sample(x, rank, 3)
    yield sample(x, 1, footprint=CROSS, mode="mirror")
    yield sample(x.astype(np.float32), -2, 2, _name="single precision")


@sample_inputs(ndimage.percentile_filter)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = apart(rng, 4, 5)
    for percentile in (0, 30, -20, 100):
        yield sample(x, percentile, 3)
    yield sample(x, 41.5, footprint=CROSS, mode="wrap")


@sample_inputs(
    ndimage.grey_erosion,
    ndimage.grey_dilation,
    ndimage.grey_opening,
    ndimage.grey_closing,
    ndimage.white_tophat,
    ndimage.black_tophat,
    ndimage.morphological_gradient,
    ndimage.morphological_laplace,
)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = apart(rng, 5, 6)
    yield sample(x, 3)
    yield sample(x, (2, 3), mode="wrap")
    yield sample(x, footprint=CROSS, mode="nearest")
    yield sample(x, footprint=CROSS, origin=(0, 1), _name="origin")
    structure = np.array([[1.1, 0.3, 1.7], [0.2, 0.9, 1.4]])
    yield sample(x, structure=structure, mode="mirror")
    yield sample(x, footprint=CROSS, mode="constant", cval=-3.2, _name="value beyond the edges")
    yield sample(x, 3, mode="constant", cval=30.2, _name="high value beyond the edges")
    yield sample(x, footprint=CROSS, structure=np.array([[1, 0, 2], [0, 1, 1]]), _name="footprint and structure")
    yield sample(x.astype(np.float32), 2, _name="single precision")
