"""Many directions at once: what a linear map makes of the unit vectors, in as few passes as can be."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rulescore.ad.batches.batch import Batch
from rulescore.ad.tracing.tracers import Tracer, value_beneath
from rulescore.tangents.zero import AbstractZero, ZeroTangent

BATCH_ELEMENTS = 2**18
"""How many numbers a batch of directions may hold: more directions are taken in several passes.

Every intermediate result of a pass is held for all its directions at once. This many (2 MiB of float64) keep most of
them within a processor's cache, and the overhead of an operation is small beside its work long before.
"""


def images_of_unit_vectors(linear_map: Callable[[list[Any]], Any], sources: list[Any]) -> list[list[Any]]:
    """What a linear map makes of the unit vectors.

    It maps one direction per source, of which some may be `ZeroTangent`, to a sequence of images. The sources are
    numbers and arrays of the shape and dtype of the directions, and ``images[k][j]`` has the shape
    ``(sources[k].size, *shape of image j)``.
    """
    apply = _applied_to_many(linear_map, all(isinstance(value_beneath(x), (np.ndarray, np.generic)) for x in sources))
    if len(sources) > 1 and not any(isinstance(x, Tracer) for x in sources):
        images = _images(apply, sources, range(len(sources)))
        if all(type(image) is np.ndarray and not np.isnan(image).any() for image in itertools.chain(*images)):
            return images
    # A unit vector in one source is zero in the others: there it is a strong zero only if it is not in the batch, and
    # no NaN, where the derivative is infinite.
    return [images for k in range(len(sources)) for images in _images(apply, sources, (k,))]


def _images(apply: Callable[..., list[Any]], sources: list[Any], members: Sequence[int]) -> list[list[Any]]:
    """The images of the unit vectors in some of the sources."""
    sizes = [sources[k].size for k in members]
    bounds = list(itertools.pairwise(itertools.accumulate(sizes, initial=0)))
    total = largest = max(1, sum(sizes))  # of sources without elements zero is mapped, to know the shapes
    passes: list[list[Any]] = []
    start = 0
    while start < total:
        stop = min(total, start + max(1, BATCH_ELEMENTS // largest))
        directions: list[Any] = [ZeroTangent()] * len(sources)
        for k, (first, last) in zip(members, bounds, strict=True):
            if (first < stop and start < last) or not any(sizes):
                rows = np.eye(stop - start, last - first, start - first, sources[k].dtype)
                directions[k] = rows.reshape(stop - start, *sources[k].shape)
        passes.append(apply(directions, stop - start))
        largest = max(largest, *[image[:1].size for image in passes[0]])
        start = stop
    images = [parts[0] if len(parts) == 1 else np.concatenate(parts) for parts in zip(*passes, strict=True)]
    return [[image[first:last] for image in images] for first, last in bounds]


def _applied_to_many(linear_map: Callable[[list[Any]], Any], takes_batches: bool) -> Callable[..., list[Any]]:
    """The linear map as one of some directions, counted along axis 0: all at once if it can take them so."""

    def apply(directions: list[Any], count: int) -> list[Any]:
        nonlocal takes_batches
        if count > 1 and takes_batches:
            try:
                return _at_once(linear_map, directions, count)
            except Exception:
                # Rules may do to a cotangent what only an array withstands. If that was not it, it will happen again.
                takes_batches = False
        return _one_after_the_other(linear_map, directions, count)

    return apply


def _at_once(linear_map: Callable[[list[Any]], Any], directions: list[Any], count: int) -> list[Any]:
    """The images of some directions, with the direction in axis 0, in one pass."""
    batch = Batch(count)
    images = linear_map([x if isinstance(x, AbstractZero) else batch.tracer(x) for x in directions])
    return [batch.values(image) for image in images]


def _one_after_the_other(linear_map: Callable[[list[Any]], Any], directions: list[Any], count: int) -> list[Any]:
    """The same in a pass for each direction."""
    images = [linear_map([x if isinstance(x, AbstractZero) else x[i] for x in directions]) for i in range(count)]
    return [np.stack(parts) for parts in zip(*images, strict=True)]
