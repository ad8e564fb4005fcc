"""Sample inputs for what tells how a sparse matrix looks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array, linalg

from ...sampling import Sample, sample, sample_inputs

if hasattr(linalg, "spbandwidth"):  # SciPy 1.16

    @sample_inputs(linalg.is_sptriangular, linalg.spbandwidth)
    def _(rng: np.random.Generator) -> Iterator[Sample]:
        yield sample(csr_array(np.triu(rng.standard_normal((4, 4)), -1)))
