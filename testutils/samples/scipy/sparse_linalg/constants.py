"""Sample inputs for what tells how a sparse matrix looks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array, linalg

from ...sampling import Sample, sample, sample_inputs

OF_THIS_VERSION = [getattr(linalg, name) for name in ("is_sptriangular", "spbandwidth") if hasattr(linalg, name)]


@sample_inputs(*OF_THIS_VERSION)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(csr_array(np.triu(rng.standard_normal((4, 4)), -1)))
