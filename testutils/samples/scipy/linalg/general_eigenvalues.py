"""Sample inputs for eigenvalues and eigenvectors of general matrices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.linalg

from ...numpy.linalg.matrices import regular, with_eigenvalues
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY

PHASES = dict.fromkeys(
    ("complex", "equal entries"),
    "eigenvalues become complex, and nothing fixes the phases of complex vectors relative to another matrix",
)


@sample_inputs(scipy.linalg.eig, scipy.linalg.eigvals)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(with_eigenvalues(rng, 1.0, 2.5, -3.0))
    yield sample(with_eigenvalues(rng, 1.0, 2 + 1.5j), _name="a conjugate pair")
    yield sample(with_eigenvalues(rng, 1 + 0.5j, 2.5 - 1j, -3.0, dtype=complex), _name="complex")
    if SCIPY >= "1.16.0":
        stack = np.stack([with_eigenvalues(rng, 1.0, 2.5, -3.0), with_eigenvalues(rng, 1.5, 3.0, -1.0)])
        yield sample(stack, _name="a stack")
    yield sample(with_eigenvalues(rng, 1.0, 2.5).astype(np.float32))
    yield sample(with_eigenvalues(rng, 1.0, 2.5), homogeneous_eigvals=True)
    yield sample([[2.0, 1.0], [0.25, -3.0]], _name="lists")


@sample_inputs(scipy.linalg.eig, scipy.linalg.eigvals)
def relative(rng: np.random.Generator) -> Iterator[Sample]:
    """To another matrix."""
    b = regular(rng, 3, 3)
    yield sample(b @ with_eigenvalues(rng, 1.0, 2.5, -3.0), b, _name="relative", _skip=PHASES)


@sample_inputs(scipy.linalg.eigvals)
def relative_and_complex(rng: np.random.Generator) -> Iterator[Sample]:
    b = regular(rng, 3, 3)
    complex_b = b + 1j * rng.standard_normal((3, 3))
    values = with_eigenvalues(rng, 1 + 0.5j, 2.5 - 1j, -3.0, dtype=complex)
    yield sample(complex_b @ values, complex_b, _name="relative, complex")
    yield sample(b @ with_eigenvalues(rng, 1.0, 2 + 1.5j), b, _name="relative, a conjugate pair")


@sample_inputs(scipy.linalg.eig)
def vectors(rng: np.random.Generator) -> Iterator[Sample]:
    """Left vectors, both, or none."""
    yield sample(with_eigenvalues(rng, 1.0, 2.5, -3.0), left=True, right=False)
    yield sample(with_eigenvalues(rng, 1.0, 2.5, -3.0), left=True)
    yield sample(with_eigenvalues(rng, 1 - 2j), left=True, _name="a conjugate pair, left")
    yield sample(with_eigenvalues(rng, 1 + 0.5j, 2.5 - 1j, -3.0, dtype=complex), left=True, _name="complex, left")
    yield sample(with_eigenvalues(rng, 1.0, 2.5, -3.0), right=False)
    b = regular(rng, 3, 3)
    yield sample(b @ with_eigenvalues(rng, 1.0, 2.5, -3.0), b, left=True, _name="relative, left", _skip=PHASES)
