"""Sample inputs for the cosine and sine transforms: every type, with every ``norm`` and ``orthogonalize``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.fft

from ...numpy.reductions import complex_normal
from ...sampling import Sample, sample, sample_inputs

NORMS = (None, "backward", "ortho", "forward")


@sample_inputs(scipy.fft.dct, scipy.fft.idct, scipy.fft.dst, scipy.fft.idst)
def of_one_axis(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 5, 2))
    for kind in (1, 2, 3, 4):
        for norm in NORMS:
            yield sample(x[0].T, kind, norm=norm)
        yield sample(x, kind, 3, 1, _name=f"cut, type {kind}")
        yield sample(x, kind, n=6, axis=-2, norm="ortho", orthogonalize=False, _name=f"padded, type {kind}")
        yield sample(x[:, 0, 0], type=kind, orthogonalize=True)
    yield sample(complex_normal(rng, 4), norm="ortho", orthogonalize=True, _name="complex")
    yield sample(rng.standard_normal((8, 3)).T[:, ::2], overwrite_x=False, workers=1, _name="strided")
    yield sample(rng.standard_normal(5).astype(np.float32))
    yield sample(complex_normal(rng, 4).astype(np.complex64), 3)
    yield sample(rng.standard_normal(4).tolist(), _name="list")


@sample_inputs(scipy.fft.dctn, scipy.fft.idctn, scipy.fft.dstn, scipy.fft.idstn)
def of_several_axes(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 4, 3))
    for kind, norm in zip((1, 2, 3, 4), NORMS, strict=True):
        yield sample(x, kind, norm=norm)
        yield sample(x, kind, (2, 5), (-2, 0), norm=norm)
        yield sample(x, type=kind, axes=(1, -1), norm="ortho", orthogonalize=False)
        yield sample(x[0], kind, 6, 1, orthogonalize=True, _name=f"one axis, type {kind}")
    yield sample(x, 2, (), (), _name="no axis")
    yield sample(complex_normal(rng, 3, 4).astype(np.complex64), 3, overwrite_x=False)
