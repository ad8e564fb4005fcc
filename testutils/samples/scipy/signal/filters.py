"""Sample inputs for linear filters: coefficients that are not normalised, states, axes, both kinds of filter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.signal

from .... import with_tangent
from ...numpy.reductions import complex_normal
from ...sampling import Sample, sample, sample_inputs

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


def sections(rng: np.random.Generator, count: int, dtype: type = np.float64) -> object:
    """Stable second-order sections. The first of the coefficients a has to stay 1."""
    sos = scipy.signal.butter(2 * count, 0.3, output="sos") + 0.1 * rng.standard_normal((count, 6))
    sos[:, 3] = 1
    tangent = rng.standard_normal((count, 6))
    tangent[:, 3] = 0
    return with_tangent(sos.astype(dtype), tangent.astype(dtype))


def stable(rng: np.random.Generator, order: int) -> FloatArray:
    """Coefficients a of a filter that forgets."""
    return np.concatenate([[1.5], rng.uniform(-0.3, 0.3, order)])


@sample_inputs(scipy.signal.lfilter)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    yield sample(x(3), stable(rng, 2), x(8))
    yield sample(x(4), stable(rng, 1), x((2, 6)), _name="longer numerator")
    yield sample(x(2), stable(rng, 3), x((5, 2)), 0, _name="longer denominator")
    yield sample(x(3), [2.0], x((2, 5)), axis=1)
    yield sample(x(3), 1.0, x(5), _name="FIR")
    yield sample(0.5, stable(rng, 1), x(6), _name="numerator is a number")
    yield sample(complex_normal(rng, 2), stable(rng, 2) + 0.1j, complex_normal(rng, 7))
    yield sample(x(2).astype(np.float32), stable(rng, 1).astype(np.float32), x(5).astype(np.float32))
    yield sample([1.0, 0.5], [1.0, -0.2], x(6).tolist(), _name="lists")
    yield sample(x(70), stable(rng, 2), x((2, 80)), _name="many coefficients")
    yield sample(x(70), stable(rng, 2), x(9), _name="more coefficients than samples")
    yield sample([1, 2], np.array([2, 1]), x(5), _name="integer coefficients")


@sample_inputs(scipy.signal.lfilter)
def with_states(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    yield sample(x(3), stable(rng, 2), x(8), zi=x(2))
    yield sample(x(4), stable(rng, 2), x((2, 6)), -1, x((2, 3)))
    yield sample(x(2), stable(rng, 3), x((5, 2)), 0, x((3, 1)), _name="one state for all signals")
    yield sample(x(3), np.array([2.0]), x((2, 5)), zi=x((2, 2)), _name="FIR")
    yield sample(x(4), stable(rng, 3), x(2), zi=x(3), _name="fewer samples than states")
    yield sample(complex_normal(rng, 2), stable(rng, 2) + 0.1j, complex_normal(rng, 4), zi=complex_normal(rng, 2))


@sample_inputs(scipy.signal.sosfilt)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    yield sample(sections(rng, 1), x(7))
    yield sample(sections(rng, 3), x((6, 2)), 0)
    yield sample(sections(rng, 2), x((2, 5)), axis=-1)
    yield sample(sections(rng, 2), complex_normal(rng, 6))
    yield sample(sections(rng, 2), x(6), zi=x((2, 2)))
    yield sample(sections(rng, 2), x((5, 3)), 0, x((2, 2, 3)))
    yield sample(sections(rng, 2, np.float32), x(6).astype(np.float32))


@sample_inputs(scipy.signal.lfilter_zi)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(3), stable(rng, 2))
    yield sample(rng.standard_normal(4), stable(rng, 1), _name="longer numerator")
    yield sample([0.5], stable(rng, 3), _name="longer denominator")


@sample_inputs(scipy.signal.sosfilt_zi)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(sections(rng, 1))
    yield sample(sections(rng, 3))


@sample_inputs(scipy.signal.lfiltic)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    yield sample(x(3), stable(rng, 2), x(2))
    yield sample(x(4), stable(rng, 2), x(3), x(2))
    yield sample(x(2), stable(rng, 3), x(1), x=x(5))


@sample_inputs(scipy.signal.filtfilt)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    yield sample(x(3), stable(rng, 2), x(14))
    yield sample(x(2), stable(rng, 1), x((2, 9)), padtype="even")
    yield sample(x(2), stable(rng, 1), x((9, 2)), 0, "constant", 3)
    yield sample(x(2), stable(rng, 2), x((2, 5)), padtype=None)
    yield sample(x(2), stable(rng, 1), x(6), padlen=0)
    yield sample(x(3), [1.0], x(12), method="pad", _name="FIR")
    yield sample(x(2).astype(np.float32), stable(rng, 1).astype(np.float32), x(9).astype(np.float32))


@sample_inputs(scipy.signal.sosfiltfilt)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    yield sample(sections(rng, 1), x(12))
    yield sample(sections(rng, 2), x((2, 17)), -1, "even")
    yield sample(sections(rng, 2), x((6, 2)), 0, padtype="constant", padlen=4)
    yield sample(sections(rng, 1), x(5), padtype=None)
