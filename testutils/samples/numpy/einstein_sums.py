"""Sample inputs for einsum."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .products import mixed_types
from .reductions import complex_normal


@sample_inputs(np.einsum)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for equation, *shapes in (
        ("ij,jk->ik", (2, 3), (3, 4)),
        ("ij,jk", (2, 3), (3, 4)),
        ("Ba , bA", (2, 3), (4, 5)),
        ("i,i->", (3,), (3,)),
        ("i,j->ij", (3,), (2,)),
        ("ij->ji", (2, 3)),
        ("ba", (2, 3)),
        ("ij->", (2, 3)),
        ("ij->i", (2, 3)),
        ("ij,k->k", (2, 3), (4,)),
        ("ii", (3, 3)),
        ("ii->i", (3, 3)),
        ("iij->j", (3, 3, 2)),
        ("ijji->ij", (2, 3, 3, 2)),
        ("iii,i->", (3, 3, 3), (3,)),
        ("ii,ij,jj->j", (3, 3), (3, 2), (2, 2)),
        ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
        ("i,i,i->i", (3,), (3,), (3,)),
        ("...ij,...jk->...ik", (5, 2, 3), (3, 4)),
        ("...ij,...jk", (2, 1, 2, 3), (5, 3, 4)),
        ("i...,i...->...", (2, 1, 3), (2, 4, 1)),
        ("...,...", (2, 3), (3,)),
        ("...ii->...i", (2, 3, 3)),
        ("i...j->j...i", (2, 3, 4)),
        ("ij,ij->ij", (2, 3), (1, 3)),
        ("ij,ij->", (2, 1), (1, 3)),
        ("i,i->", (3,), (1,)),
        ("ij,j->i", (2, 3), (1,)),
        (",i->i", (), (3,)),
        ("ij,jk->ik", (0, 3), (3, 2)),
        ("ij,jk->ik", (2, 0), (0, 3)),
    ):
        yield sample(equation, *map(rng.standard_normal, shapes))


@sample_inputs(np.einsum)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    a, b, c = rng.standard_normal((2, 3)), rng.standard_normal((3, 4)), rng.standard_normal((4, 2))
    yield sample(a, [0, 1], b, [1, 2])
    yield sample(a, [0, 1], b, [1, 2], [2, 0])
    yield sample(a, [26, 3])
    yield sample(a, [..., 1], b, (1, 2), [2, ...])
    yield sample(rng.standard_normal((3, 3)), [0, 0])
    for optimize in (True, "greedy", "optimal", ("greedy", 100), ["einsum_path", (0, 1), (0, 1)]):
        yield sample("ij,jk,kl->il", a, b, c, optimize=optimize)
    yield sample(a, [0, 1], b, [1, 2], optimize=True)
    yield sample("ij,kj->k", a, rng.standard_normal((1, 3)), optimize=True)
    yield sample("i,ii", a[0], rng.standard_normal((3, 3)), optimize=True)
    yield sample("ij,jk", a, b, dtype=np.float32, casting="same_kind")
    yield sample("ij,jk", a, b, dtype=complex, order="F", out=None)
    yield sample("ij,j", a.astype(np.float32), complex_normal(rng, 3))
    yield sample("ij,j", a.tolist(), rng.standard_normal(3), _name="list")
    yield sample("i,->i", a[0], 1.5, _name="Python float")
    for mixed in mixed_types(rng, (2, 3), (3, 2)):
        yield sample("ij,jk->ki", *mixed.args)
