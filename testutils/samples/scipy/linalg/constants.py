"""Sample inputs for what tells how a matrix looks, and for matrices of which only the size is given."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.linalg

from ...sampling import Sample, sample, sample_inputs


@sample_inputs(scipy.linalg.bandwidth, scipy.linalg.ishermitian, scipy.linalg.issymmetric)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(np.triu(rng.standard_normal((3, 3)), -1))
    yield sample(np.eye(3))


@sample_inputs(
    scipy.linalg.dft,
    scipy.linalg.hadamard,
    scipy.linalg.helmert,
    scipy.linalg.hilbert,
    scipy.linalg.invhilbert,
    scipy.linalg.pascal,
    scipy.linalg.invpascal,
)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(4)
