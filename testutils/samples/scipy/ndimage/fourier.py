"""Sample inputs for the Fourier filters of images."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import ndimage

from rulescore import NoTangent

from .... import with_tangent
from ...numpy.reductions import complex_normal
from ...sampling import Sample, sample, sample_inputs


@sample_inputs(ndimage.fourier_gaussian, ndimage.fourier_shift)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    z = complex_normal(rng, 4, 5)
    yield sample(z, 0.7)
    yield sample(z, (0.4, -1.1))
    yield sample(z, np.array([0.4, 0.6]), 8, 1)
    yield sample(complex_normal(rng, 3, 4), [0.4, 0.6], n=5, axis=0)
    yield sample(rng.standard_normal((4, 5)), 0.7, _name="real")
    yield sample(z.astype(np.complex64), 0.7, _name="complex64")
    yield sample(complex_normal(rng, 2, 3, 4), 0.3, _name="three dimensions")


@sample_inputs(ndimage.fourier_uniform, ndimage.fourier_ellipsoid)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    z = complex_normal(rng, 4, 5)
    yield sample(z, 3)
    yield sample(z, with_tangent((2.5, 1.5), NoTangent()))
    yield sample(z, 2, 8, 1)
    yield sample(rng.standard_normal((4, 5)), 2, _name="real")
    yield sample(z.astype(np.complex64), 2, _name="complex64")
