"""Sample inputs for singular values and vectors, and the bases made of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.linalg

from ...numpy.linalg.matrices import with_singular_values
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY

PHASE = dict.fromkeys(("complex", "size-1 axis"), "nothing fixes the basis of what belongs to no singular value")


@sample_inputs(scipy.linalg.svd)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(with_singular_values(rng, 3, 3))
    yield sample(with_singular_values(rng, 3, 2), full_matrices=False)
    yield sample(with_singular_values(rng, 2, 3), False)
    yield sample(with_singular_values(rng, 3, 2), compute_uv=False)
    for driver in ("gesdd", "gesvd"):
        tall, wide = with_singular_values(rng, 3, 2, dtype=complex), with_singular_values(rng, 2, 3, dtype=complex)
        yield sample(tall, False, lapack_driver=driver, _name=f"complex, {driver}")
        yield sample(wide, False, lapack_driver=driver, _name=f"complex, wide, {driver}")
    yield sample(with_singular_values(rng, 3, 3, dtype=complex), lapack_driver="gesvd", _name="complex, square")
    if SCIPY >= "1.16.0":
        yield sample(with_singular_values(rng, 2, 3, 3), _name="a stack")
    yield sample(with_singular_values(rng, 3, 3).astype(np.float32))
    yield sample(with_singular_values(rng, 3, 2), _name="tall, with one vector more", _skip=PHASE)


@sample_inputs(scipy.linalg.svdvals)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(with_singular_values(rng, 3, 2))
    yield sample(with_singular_values(rng, 2, 3, dtype=complex), _name="complex")
    if SCIPY >= "1.16.0":
        yield sample(with_singular_values(rng, 2, 3, 3), _name="a stack")
    yield sample(with_singular_values(rng, 3, 3).astype(np.float32))
    yield sample([[2.0, 1.0], [0.5, 3.0]], _name="lists")


@sample_inputs(scipy.linalg.orth)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(with_singular_values(rng, 4, 2))
    yield sample(with_singular_values(rng, 2, 4))
    yield sample(with_singular_values(rng, 3, 2, dtype=complex), _name="complex")
    if SCIPY >= "1.16.0":
        yield sample(with_singular_values(rng, 2, 3, 2), _name="a stack")
    yield sample(with_singular_values(rng, 3, 3), 0.4)


@sample_inputs(scipy.linalg.null_space)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(with_singular_values(rng, 2, 3), _name="a single vector", _skip=PHASE)
    if SCIPY >= "1.16.0":
        yield sample(with_singular_values(rng, 2, 2, 3), _name="a stack", _skip=PHASE)
    yield sample(with_singular_values(rng, 1, 2).astype(np.float32), _skip=PHASE)
