"""Sample inputs for the fast Hankel transforms."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.fft

from rulescore import NoTangent

from .... import with_tangent
from ...sampling import Sample, sample, sample_inputs


def fixed(value: float) -> object:
    """A number in which the transform is not differentiated."""
    return with_tangent(value, NoTangent())


@sample_inputs(scipy.fft.fht, scipy.fft.ifht)
def transforms(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(8), fixed(0.1), fixed(0.5))
    yield sample(rng.standard_normal(7), fixed(0.2), 1, _name="odd length")
    yield sample(rng.standard_normal((2, 6)), fixed(0.1), fixed(-0.3), fixed(0.2), fixed(0.4), _name="bias and offset")
    yield sample(rng.standard_normal((3, 5)), dln=0.1, mu=2.0, bias=-0.2, offset=0.1)
    # Single precision leaves an error of the largest coefficient's in entries that nearly cancel.
    yield sample(rng.standard_normal(8).astype(np.float32), fixed(0.1), fixed(0.5), _rtol=1e-3, _atol=1e-4)


@sample_inputs(scipy.fft.fhtoffset)
def offsets(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(0.1, 2.0, 0.5)
    yield sample(0.07, 0.3, 0.2, 0.4)
    yield sample(rng.uniform(0.2, 0.5), mu=1.5, bias=-0.3)
