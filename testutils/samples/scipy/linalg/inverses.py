"""Sample inputs for what inverts matrices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.linalg

from ...numpy.linalg.matrices import hermitian, positive_definite, regular, with_singular_values
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY


@sample_inputs(scipy.linalg.inv)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(regular(rng, 3, 3))
    if SCIPY >= "1.16.0":
        yield sample(regular(rng, 2, 3, 3), _name="a stack")
    yield sample(regular(rng, 3, 3) + 1j * rng.standard_normal((3, 3)), _name="complex")
    yield sample(regular(rng, 3, 3).astype(np.float32))
    yield sample([[2.0, 1.0], [0.5, 3.0]], _name="lists")
    yield sample(np.asfortranarray(regular(rng, 3, 3)), _name="in Fortran order")
    if SCIPY >= "1.17.0":
        for name in ("gen", "upper triangular", "lower triangular"):
            yield sample(regular(rng, 3, 3), assume_a=name)
        for name in ("sym", "her", "pos"):
            yield sample(positive_definite(rng, 3, 3), assume_a=name, _name=f"{name}, real")
            yield sample(
                positive_definite(rng, 3, 3, dtype=complex), assume_a=name, lower=True, _name=f"{name}, complex"
            )


@sample_inputs(scipy.linalg.pinv)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(with_singular_values(rng, 4, 2))
    yield sample(with_singular_values(rng, 2, 4))
    yield sample(with_singular_values(rng, 3, 3), return_rank=True)
    if SCIPY >= "1.16.0":
        yield sample(with_singular_values(rng, 2, 4, 3), _name="a stack")
    yield sample(with_singular_values(rng, 3, 2, dtype=complex), _name="complex")
    yield sample(with_singular_values(rng, 3, 2).astype(np.float32))
    yield sample(with_singular_values(rng, 3, 3), atol=1.8, _name="a singular value left out")
    yield sample(with_singular_values(rng, 3, 3), rtol=0.4, _name="singular values left out")
    yield sample([[2.0, 1.0], [0.5, 3.0]], _name="lists")


@sample_inputs(scipy.linalg.pinvh)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(hermitian(rng, 3, 3))
    yield sample(hermitian(rng, 3, 3), lower=False)
    yield sample(hermitian(rng, 3, 3, dtype=complex), _name="complex")
    yield sample(hermitian(rng, 3, 3, dtype=complex), lower=False, return_rank=True, _name="complex, upper")
    if SCIPY >= "1.16.0":
        yield sample(hermitian(rng, 2, 3, 3), _name="a stack")
    yield sample(hermitian(rng, 3, 3), rtol=0.4, _name="an eigenvalue left out")
    yield sample(hermitian(rng, 3, 3).astype(np.float32))
