"""Sample inputs for statistics that look at the order of numbers, and for standard scores and transformations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import stats

from rulescore import NoTangent

from ...numpy.sorting import apart
from ...random_tangents import with_tangent
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY


@sample_inputs(stats.iqr)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = apart(rng, 5, 4)
    yield sample(x)
    yield sample(x, 0)
    yield sample(x, axis=1, keepdims=True, rng=(10, 80))
    yield sample(x, scale="normal")
    yield sample(x, interpolation="midpoint")
    yield sample(apart(rng, 6).tolist(), _name="list")
    yield sample(apart(rng, 6).astype(np.float32), _name="float32")


@sample_inputs(stats.median_abs_deviation)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = apart(rng, 5, 4) + 0.3 * rng.standard_normal((5, 4)) ** 2
    yield sample(x)
    if SCIPY >= "1.17.0":
        yield sample(x, axis=1, keepdims=True)
    yield sample(x, axis=None)
    yield sample(x, scale="normal")
    yield sample(apart(rng, 5).tolist(), _name="list")


@sample_inputs(stats.trim_mean)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    share = with_tangent(0.2, NoTangent())
    x = apart(rng, 6, 5)
    yield sample(x, share)
    if SCIPY >= "1.17.0":
        yield sample(x, share, axis=1, keepdims=True)
    yield sample(x, share, axis=None)
    yield sample(apart(rng, 7).tolist(), share, _name="list")


@sample_inputs(stats.wasserstein_distance, stats.energy_distance)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = apart(rng, 9) / 3
    yield sample(x[:5], x[5:])
    yield sample(x[:3].tolist(), x[3:].tolist(), _name="lists")
    held = [with_tangent(rng.integers(1, 4, n), NoTangent()) for n in (5, 4)]
    yield sample(x[:5], x[5:], *held, _name="weights")


@sample_inputs(stats.expectile)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(apart(rng, 6))
    yield sample(apart(rng, 6), 0.3)
    yield sample(apart(rng, 6), 0.8, weights=np.arange(1, 7))


@sample_inputs(stats.zscore, stats.gzscore)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.uniform(0.5, 2.5, (5, 4))
    yield sample(x)
    yield sample(x, axis=1, ddof=1)
    yield sample(x, axis=None)
    yield sample(x[0].tolist(), _name="list")
    yield sample(x[:, 0].astype(np.float32), _rtol=1e-4, _name="float32, of differences of near numbers")


@sample_inputs(stats.zmap)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, compare = rng.standard_normal((5, 4)), rng.standard_normal((6, 4))
    yield sample(x, compare)
    yield sample(x, rng.standard_normal((5, 3)), axis=1, ddof=1)
    yield sample(x[0], compare[:, 0], axis=None)
    yield sample([0.5, 2.0], [0.0, 1.0, 3.0], _name="lists")


@sample_inputs(stats.boxcox)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.uniform(0.5, 2.5, 5)
    for lmbda in (0.7, -1.5, 2):
        yield sample(x, lmbda)
    yield sample(x, 1e-9, _name="almost logarithmic")


@sample_inputs(stats.yeojohnson)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal(6)
    for lmbda in (0.7, -1.5, 2):
        yield sample(x, lmbda)
    yield sample(x, 1e-9, _name="almost logarithmic")


# ---------------------------------------------------------------- ranks and counts, which have no derivative


@sample_inputs(stats.rankdata)
def of_ranks(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(apart(rng, 4, 5))
    yield sample(apart(rng, 4, 5), axis=1)


@sample_inputs(stats.tiecorrect)
def of_ties(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(stats.rankdata(apart(rng, 9)))


@sample_inputs(stats.percentileofscore)
def of_scores(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(apart(rng, 7), 0.1)


IN_OBJECTS = ("kendalltau", "spearmanr", "spearmanrho", "chatterjeexi", "wilcoxon", "mood")
OBJECTS = {"second order": "the AD does not look for numbers in SciPy's objects for results"}


@sample_inputs(*[getattr(stats, name) for name in IN_OBJECTS if hasattr(stats, name)])
def of_two_in_an_object(rng: np.random.Generator) -> Iterator[Sample]:
    x = apart(rng, 14) / 3
    yield sample(x[:7], x[7:], _skip=OBJECTS)


@sample_inputs(stats.mannwhitneyu)
def of_two_in_an_object_since_1_18(rng: np.random.Generator) -> Iterator[Sample]:
    x = apart(rng, 14) / 3
    yield sample(x[:7], x[7:], _skip=OBJECTS if SCIPY >= "1.18.0" else None)


@sample_inputs(stats.somersd, stats.ranksums, stats.kruskal, stats.ansari, stats.brunnermunzel)
def of_two(rng: np.random.Generator) -> Iterator[Sample]:
    x = apart(rng, 14) / 3
    yield sample(x[:7], x[7:])


@sample_inputs(stats.friedmanchisquare)
def of_three(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(*apart(rng, 3, 6))
