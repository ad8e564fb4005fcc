"""Sample inputs for the functions without derivative: their difference quotient is zero between the jumps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal


@sample_inputs(
    *(np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.argsort),
    *(np.ndarray.argmax, np.ndarray.argmin, np.ndarray.argsort),
)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((3, 4)))
    yield sample(rng.standard_normal((3, 4)), axis=0)


@sample_inputs(np.argpartition, np.ndarray.argpartition)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(5), 2)


@sample_inputs(np.lexsort)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((2, 5)))


@sample_inputs(
    *(np.argwhere, np.nonzero, np.flatnonzero, np.ndarray.nonzero, np.count_nonzero),
    *(np.any, np.all, np.ndarray.any, np.ndarray.all),
    *(np.iscomplex, np.isreal, np.shape, np.ndim, np.size, np.iscomplexobj, np.isrealobj, np.isscalar),
    *(np.isfortran, np.iterable, np.result_type, np.min_scalar_type, np.common_type),
    *(np.tril_indices_from, np.triu_indices_from),
)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((2, 3)))
    yield sample(complex_normal(rng, 3, 3).astype(np.complex64))


@sample_inputs(np.diag_indices_from, np.linalg.matrix_rank)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((3, 3)))


@sample_inputs(np.isposinf, np.isneginf)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((2, 3)))
    yield sample(rng.standard_normal(3).astype(np.float32))


@sample_inputs(np.searchsorted)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(np.sort(rng.standard_normal(5)), rng.standard_normal(3), side="right")
    yield sample(rng.standard_normal(5), 0.5, sorter=np.arange(5))


@sample_inputs(np.ndarray.searchsorted)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(np.sort(rng.standard_normal(5)), rng.standard_normal(3))


@sample_inputs(np.digitize)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(3), np.sort(rng.standard_normal(5)), right=True)


@sample_inputs(
    *(np.isclose, np.allclose, np.array_equal, np.array_equiv, np.isin),
    *(np.shares_memory, np.may_share_memory),
)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(3), rng.standard_normal(3))


@sample_inputs(np.can_cast)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(3).dtype, np.float32)


@sample_inputs(np.einsum_path)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample("ij,jk->ik", rng.standard_normal((2, 3)), rng.standard_normal((3, 4)))


@sample_inputs(np.zeros_like, np.ones_like)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((2, 3)))
    yield sample(complex_normal(rng, 3), dtype=complex, shape=(2,))
    yield sample(1.5)


@sample_inputs(np.empty_like)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    # Without elements: what else is in there may be anything.
    yield sample(rng.standard_normal((0, 3)))
    yield sample(rng.standard_normal(3), shape=(0,))


@sample_inputs(np.empty)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample((2, 0), dtype=np.float32)


@sample_inputs(np.zeros, np.ones)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(3)
    yield sample((2, 3), dtype=np.complex64, order="F")


@sample_inputs(np.eye, np.tri)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(3)
    yield sample(2, 4, k=1, dtype=np.float32)


@sample_inputs(np.identity, np.diag_indices, np.tril_indices, np.triu_indices)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(3)


@sample_inputs(np.indices)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample((2, 3), dtype=float)
    yield sample((2, 3), sparse=True)


@sample_inputs(np.ix_)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample([0, 2], np.array([True, False, True]), _constant=True)


@sample_inputs(np.mask_indices)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(3, np.triu, 1)


@sample_inputs(np.ravel_multi_index)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample((np.array([0, 1]), np.array([2, 5])), (2, 3), mode="clip")


@sample_inputs(np.unravel_index)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(np.array([0, 5]), (2, 3), order="F")


def between_jumps(rng: np.random.Generator) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Numbers near integers, but neither at them nor half way between them."""
    return rng.integers(-4, 5, (2, 3)) + rng.choice([-1, 1], (2, 3)) * rng.uniform(0.1, 0.3, (2, 3))


@sample_inputs(np.round, np.around, np.ndarray.round)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = between_jumps(rng)
    yield sample(x)
    yield sample(10 * x, decimals=-1)
    yield sample(x[0] + 1j * x[1])
    yield sample(x.astype(np.float32), 0)


@sample_inputs(np.fix)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(between_jumps(rng))
    yield sample(between_jumps(rng).astype(np.float32))
