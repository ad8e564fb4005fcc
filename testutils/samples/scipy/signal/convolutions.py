"""Sample inputs for convolutions and correlations: every mode, method and boundary, of signals and images."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.signal

from ...numpy.reductions import complex_normal
from ...sampling import Sample, sample, sample_inputs

MODES = ("full", "same", "valid")

NOT_EMPTY = {"empty": "SciPy ends the process, by a division by zero, where an empty image goes on beyond its edges"}


@sample_inputs(scipy.signal.convolve, scipy.signal.correlate)
def by_method(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    for mode in MODES:
        for method in ("direct", "fft"):
            yield sample(x(6), x(3), mode, method)
            yield sample(x((3, 4)), complex_normal(rng, 2, 4), mode, method)
        yield sample(x(3), x(6), mode=mode)
        yield sample(x((2, 5, 3)), x((2, 2, 1)), mode=mode)
    yield sample(x(5).astype(np.float32), x(2).astype(np.float32), "same")
    yield sample(complex_normal(rng, 4).astype(np.complex64), complex_normal(rng, 2).astype(np.complex64))
    yield sample(x(4).tolist(), [1.0, 2.0], _name="lists")
    yield sample(x(5), np.array([1, 2]), "valid", _name="integer kernel")
    yield sample(x(()), x(()), _name="no dimension")
    yield sample(x((4, 3)).T[:, ::2], x((2, 2)), _name="strided")


@sample_inputs(scipy.signal.fftconvolve, scipy.signal.oaconvolve)
def by_axes(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    for mode in MODES:
        yield sample(x(7), x(3), mode)
        yield sample(x(2), x(5), mode=mode)
        yield sample(x((3, 5)), x((1, 4)), mode, axes=1)
        yield sample(x((2, 3, 4)), complex_normal(rng, 2, 3, 2), mode, (0, -1), _name=f"two axes, {mode}")
    yield sample(x((1, 4)), x((3, 2)), "full", [-1], _name="the signal broadcasts")
    yield sample(x((3, 4)), x((2, 4)), axes=0)
    yield sample(x(6).astype(np.float32), x(2).astype(np.float32), "same")
    yield sample(x(60), x(2), "same", _name="long and short")
    yield sample(x(4).tolist(), [1.0, 2.0], _name="lists")


@sample_inputs(scipy.signal.convolve2d, scipy.signal.correlate2d)
def of_images(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    for mode in MODES:
        for boundary in ("fill", "wrap", "symm"):
            yield sample(x((3, 5)), x((2, 3)), mode, boundary, _skip=NOT_EMPTY)
        yield sample(x((3, 4)), x((3, 2)), mode, "fill", 1.5)
        yield sample(complex_normal(rng, 4, 4), complex_normal(rng, 2, 4), mode=mode, boundary="symm", _skip=NOT_EMPTY)
    yield sample(x((2, 3)), x((4, 4)), "valid", _name="kernel larger than the image")
    yield sample(complex_normal(rng, 2, 3), complex_normal(rng, 3, 3), "valid", "fill", _name="complex, swapped")
    yield sample(x((2, 2)), x((4, 3)), "same", "wrap", _name="boundary met several times", _skip=NOT_EMPTY)
    yield sample(x((2, 2)), x((5, 3)), "same", "symm", _name="boundary mirrored several times", _skip=NOT_EMPTY)
    yield sample(x((3, 3)).astype(np.float32), x((2, 2)).astype(np.float32))
    yield sample([[1.0, 2.0, 3.0], [0.5, 1.5, 0.0]], [[1.0, -1.0]], _name="lists")
