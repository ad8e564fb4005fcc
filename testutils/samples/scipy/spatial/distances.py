"""Sample inputs for distances: of two vectors, and of all pairs of points."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.spatial import distance

from rulescore import NoTangent

from ...random_tangents import with_tangent
from ...sampling import Sample, sample, sample_inputs


def numbers(rng: np.random.Generator, *shape: int) -> Any:
    """Random numbers whose sizes are no two alike, and none of which is close to 0."""
    sizes = np.arange(1, 1 + np.prod(shape)) / np.prod(shape) + rng.uniform(0.05, 0.15, int(np.prod(shape)))
    return (rng.permutation(sizes) * rng.choice([-1.0, 1.0], int(np.prod(shape)))).reshape(shape)


def positive_definite(rng: np.random.Generator, n: int) -> Any:
    x = rng.standard_normal((n, n))
    return x @ x.T / n + np.eye(n)


@sample_inputs(
    *(distance.braycurtis, distance.canberra, distance.chebyshev, distance.cityblock, distance.correlation),
    *(distance.cosine, distance.euclidean, distance.minkowski, distance.sqeuclidean),
)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(numbers(rng, 5), numbers(rng, 5))
    yield sample(numbers(rng, 3).tolist(), numbers(rng, 3).tolist(), _name="lists")
    yield sample(numbers(rng, 4).astype(np.float32), numbers(rng, 4).astype(np.float32), _name="float32")
    yield sample(numbers(rng, 8)[::2], numbers(rng, 4), _name="strided")
    yield sample(numbers(rng, 4), np.array([1, 2, -3, 4]), _name="integers")
    yield sample(numbers(rng, 5), numbers(rng, 5), w=rng.uniform(0.5, 1.5, 5), _name="weights by keyword")


@sample_inputs(
    *(distance.braycurtis, distance.canberra, distance.chebyshev, distance.cityblock, distance.correlation),
    *(distance.cosine, distance.euclidean, distance.sqeuclidean),
)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(numbers(rng, 5), numbers(rng, 5), rng.uniform(0.5, 1.5, 5), _name="weights")


@sample_inputs(distance.correlation)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(numbers(rng, 5), numbers(rng, 5), None, False, _name="not centered")


@sample_inputs(distance.minkowski)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for p in (1, 3, 2.5):
        yield sample(numbers(rng, 5), numbers(rng, 5), p)
    tiny = {"smaller": "a thousandth of p is an exponent for which the distance overflows"}
    yield sample(numbers(rng, 5), numbers(rng, 5), 3.0, rng.uniform(0.5, 1.5, 5), _name="weights", _skip=tiny)
    yield sample(numbers(rng, 5), numbers(rng, 5), with_tangent(np.inf, NoTangent()), _name="infinite p")


@sample_inputs(distance.seuclidean)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(numbers(rng, 5), numbers(rng, 5), rng.uniform(0.5, 1.5, 5))
    yield sample(numbers(rng, 3).tolist(), numbers(rng, 3).tolist(), [1.0, 2.0, 0.5], _name="lists")


@sample_inputs(distance.mahalanobis)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(numbers(rng, 4), numbers(rng, 4), positive_definite(rng, 4))
    skewed = positive_definite(rng, 4) + np.triu(rng.standard_normal((4, 4)), 1) / 4
    yield sample(numbers(rng, 4), numbers(rng, 4), skewed, _name="not symmetric")


@sample_inputs(distance.jensenshannon)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.uniform(0.5, 1.5, 5), rng.uniform(0.5, 1.5, 5))
    yield sample(rng.uniform(0.5, 1.5, 5), rng.uniform(0.5, 1.5, 5), with_tangent(2.0, NoTangent()))
    yield sample(rng.uniform(0.5, 1.5, (3, 4)), rng.uniform(0.5, 1.5, (3, 4)), axis=1)
    yield sample(rng.uniform(0.5, 1.5, (3, 4)), rng.uniform(0.5, 1.5, (3, 4)), axis=0, keepdims=True)
    yield sample(rng.uniform(0.5, 1.5, (3, 4)), rng.uniform(0.5, 1.5, (3, 1)), axis=0, _name="broadcast")
    yield sample([0.5, 1.0, 1.5], [1.0, 1.0, 0.5], _name="lists")


OPTIONS: dict[str, dict[str, Any]] = {
    **{name: {} for name in ("braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "euclidean")},
    "jensenshannon": {},
    "minkowski": {"p": 3},
    "seuclidean": {"V": np.array([1.0, 2.0, 0.5])},
    "sqeuclidean": {},
    "mahalanobis": {"VI": np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.25], [0.0, 0.25, 1.5]])},
}
"""The metrics, with the options that they need."""


def points(rng: np.random.Generator, metric: str, count: int) -> Any:
    return rng.uniform(0.5, 1.5, (count, 3)) if metric == "jensenshannon" else numbers(rng, count, 3)


@sample_inputs(distance.cdist)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for metric, options in OPTIONS.items():
        yield sample(points(rng, metric, 4), points(rng, metric, 2), metric, **options)
    a, b = numbers(rng, 3, 3), numbers(rng, 2, 3)
    yield sample(a, b)
    w = rng.uniform(0.5, 1.5, 3)
    for metric in ("euclidean", "minkowski", "cosine", "correlation", "chebyshev", "braycurtis"):
        yield sample(a, b, metric, w=w, _name=f"weighted {metric}")
    yield sample(a, b, metric="cb", _name="short name")
    yield sample(a, b, distance.euclidean, _name="function")
    yield sample(a.astype(np.float32), b.astype(np.float32), _name="float32")
    yield sample(np.asfortranarray(a), b[:, ::-1], "sqeuclidean", _name="strided")
    yield sample(a.tolist(), b.tolist(), _name="lists")
    yield sample(a[:0], b, _name="no points")
    yield sample(1e6 + a, 1e6 + b, _name="far from the origin")
    yield sample(a, b, "hamming")


@sample_inputs(distance.pdist)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for metric, options in OPTIONS.items():
        yield sample(points(rng, metric, 4), metric, **options)
    x = numbers(rng, 4, 3)
    yield sample(x)
    yield sample(x, "minkowski", p=1.5, w=rng.uniform(0.5, 1.5, 3))
    yield sample(x.astype(np.float32), _name="float32")
    yield sample(x.tolist(), _name="list")
    yield sample(x[:2], _name="two points")
    yield sample(np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]]), "sqeuclidean", _name="coinciding")


@sample_inputs(
    *(distance.hamming, distance.jaccard, distance.dice, distance.rogerstanimoto, distance.russellrao),
    *(distance.sokalsneath, distance.yule),
    *([distance.sokalmichener] if hasattr(distance, "sokalmichener") else []),  # before SciPy 1.17
)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(np.array([True, False, True, True]), np.array([True, True, False, True]), _constant=True)


@sample_inputs(distance.hamming)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(np.array([1, 2, 3]), np.array([1, 5, 4]), rng.uniform(0.5, 1.5, 3), _name="weights")


@sample_inputs(distance.is_valid_y, distance.num_obs_y)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.uniform(1, 2, 6))


@sample_inputs(distance.is_valid_dm, distance.num_obs_dm)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(distance.squareform(rng.uniform(1, 2, 6)))
