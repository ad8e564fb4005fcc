"""Sample inputs for smoothing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.signal

from ...numpy.reductions import complex_normal
from ...numpy.sorting import apart
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY

ROUNDED = dict.fromkeys(
    ("size-1 axis", "integer"),
    "a slope of one number, or at a mirror, is zero but for rounding, which is compared",
)


@sample_inputs(scipy.signal.detrend)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    yield sample(x(6))
    yield sample(x((5, 2)), 0, "constant")
    yield sample(x((2, 8)), type="linear", bp=3)
    yield sample(x((8, 2)), axis=0, bp=[2, 5])
    yield sample(complex_normal(rng, 5))
    yield sample(x(6).astype(np.float32))
    yield sample(x(5).tolist(), type="constant", _name="list")


@sample_inputs(scipy.signal.savgol_filter)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    for mode in ("mirror", "constant", "nearest", "wrap", "interp"):
        yield sample(x(9), 5, 2, mode=mode)
        yield sample(x((7, 2)), 5, 3, 1, 0.5, 0, mode, _skip=ROUNDED)
    yield sample(x(9), 4, 1, mode="nearest", _name="even length")
    yield sample(x(9), 4, 1, _name="even length, polynomials at the ends")
    yield sample(x(5), 5, 2, _name="one window")
    yield sample(x(7), 3, 2, 2, 2.0)
    yield sample(x(7), 5, 1, mode="constant", cval=1.5)
    yield sample(x(7).astype(np.float32), 3, 1)


@sample_inputs(scipy.signal.medfilt)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(apart(rng, 7))
    yield sample(apart(rng, 9), 5)
    yield sample(apart(rng, 4, 5), [3, 1])
    yield sample(apart(rng, 6).astype(np.float32), 3)


@sample_inputs(scipy.signal.medfilt2d)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(apart(rng, 4, 5))
    yield sample(apart(rng, 5, 5), (1, 3))


@sample_inputs(scipy.signal.order_filter)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(apart(rng, 6) + 5.5, np.ones(3), 0)
    yield sample(apart(rng, 4, 4), np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]]), 3)


IN_AN_OBJECT = {"second order": "the AD does not look for numbers in SciPy's objects for results"}
NEGATIVE = {"negated": "of negative weights there is no minimum, of which SciPy warns"}

if SCIPY >= "1.18.0":

    @sample_inputs(scipy.signal.whittaker_henderson)
    def penalised(rng: np.random.Generator) -> Iterator[Sample]:
        x = rng.standard_normal
        yield sample(x(9), lamb=2.5, _skip=IN_AN_OBJECT)
        yield sample(x(7), lamb=0.7, order=3, weights=rng.uniform(0.5, 2.0, 7), _skip=IN_AN_OBJECT | NEGATIVE)
        weights = np.array([1.0, 0.0, 0.5, 0.0, 2.0])
        yield sample(x(5), lamb=1.5, order=1, weights=weights, _name="no weight", _skip=IN_AN_OBJECT | NEGATIVE)
        yield sample(x(3), lamb=3.0, _name="shortest", _skip=IN_AN_OBJECT)


@sample_inputs(scipy.signal.wiener)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(9))
    yield sample(rng.standard_normal((4, 5)), 3, 0.3)
    yield sample(rng.standard_normal((4, 5)), [3, 1], noise=0.3)
