"""Sample inputs for `hausdorff_distance` and `chamfer_distance`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rulescore.operators import chamfer_distance, hausdorff_distance

from ..numpy.sorting import JUMP, apart
from ..sampling import Sample, sample, sample_inputs

Rng = np.random.Generator


@sample_inputs(hausdorff_distance, chamfer_distance)
def _distances(rng: Rng) -> Iterator[Sample]:
    for directed in (False, True):
        yield sample(apart(rng, 4, 5), directed=directed)
        yield sample(apart(rng, 2, 3, 3, 4).astype(np.float32), directed=directed, _name=f"stacked, {directed}")
    x, y = rng.standard_normal((4, 3)), rng.standard_normal((5, 3))
    for metric in ("euclidean", "sqeuclidean", "cityblock", "chebyshev"):
        for directed in (False, True):
            yield sample(x, y, metric, directed)
    yield sample(rng.standard_normal((2, 1, 4, 2)), rng.standard_normal((3, 5, 2)), _name="stacks")
    yield sample(x.astype(np.float32), y.astype(np.float32), _name="float32")
    yield sample(rng.standard_normal((3, 4)).T, y, _name="strided")
    yield sample([[0.0, 0.5], [1.0, 0.2]], [[0.3, 0.0]], _name="lists")
    square = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    yield sample(square, np.array([[0.5, 0.5], [2.0, 0.5]]), _name="ties", _skip=JUMP)


@sample_inputs(hausdorff_distance)
def _hausdorff_distance(rng: Rng) -> Iterator[Sample]:
    yield sample(np.array([[0.5, 1.0], [1.0, 0.5]]), _name="rows that are as far", _skip=JUMP)


@sample_inputs(chamfer_distance)
def _chamfer_distance(rng: Rng) -> Iterator[Sample]:
    yield sample(np.array([[0.5, 0.5], [1.0, 0.75]]), _name="columns that are as near", _skip=JUMP)
