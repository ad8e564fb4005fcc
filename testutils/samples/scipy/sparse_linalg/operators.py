"""Sample inputs for products with operators, which are constants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from rulescore import NoTangent

from ...numpy.reductions import complex_normal
from ...random_tangents import with_tangent
from ...sampling import Sample, sample, sample_inputs
from ..sparse import stored
from .iterative import uncached

OPERATOR: Any = linalg.LinearOperator
OTHER_LENGTHS = {"size-1 axis": "an operator has the lengths it was made for", "empty": "likewise", "0-d": "likewise"}


@sample_inputs(OPERATOR.matvec, OPERATOR.rmatvec)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    square = with_tangent(uncached(sparse.csr_array(stored(rng, 4, 4))), NoTangent())
    yield sample(square, rng.standard_normal(4), _skip=OTHER_LENGTHS)
    z = with_tangent(uncached(sparse.csr_array(stored(rng, 4, 4, dtype=complex))), NoTangent())
    yield sample(z, complex_normal(rng, 4), _skip=OTHER_LENGTHS)


@sample_inputs(OPERATOR.matmat, OPERATOR.rmatmat)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    square = with_tangent(uncached(sparse.csr_array(stored(rng, 4, 4))), NoTangent())
    yield sample(square, rng.standard_normal((4, 3)), _skip=OTHER_LENGTHS)
