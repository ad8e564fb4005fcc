"""Sample inputs for the Fourier transforms: every keyword, odd and even lengths, cut and zero-padded."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.fft

from ...numpy.fft import one_axis
from ...numpy.reductions import complex_normal
from ...sampling import Sample, sample, sample_inputs


def several_axes(x: np.ndarray[tuple[int, ...], np.dtype[np.inexact]]) -> Iterator[Sample]:
    """Transforms of several axes of an array of shape (3, 4, 3), in every form of ``s`` and ``axes``."""
    yield sample(x)
    yield sample(x, axes=[-3], norm="backward")
    yield sample(x, axes=1, norm="ortho")
    yield sample(x, axes=(1, 0, -1), norm="forward")
    yield sample(x, (2, 5), (-2, 0), "forward")
    yield sample(x, s=(5, 3), axes=(0, -2), norm="ortho", overwrite_x=False)
    yield sample(x, s=(4, -1), axes=(2, 1), norm="backward", workers=1)


@sample_inputs(scipy.fft.fft, scipy.fft.ifft, scipy.fft.irfft, scipy.fft.hfft)
def of_complex_numbers(rng: np.random.Generator) -> Iterator[Sample]:
    yield from one_axis(complex_normal(rng, 3, 5, 2))
    yield sample(complex_normal(rng, 5).astype(np.complex64))
    yield sample(complex_normal(rng, 4), 4, -1, None, False, 1, _name="all by position")


@sample_inputs(scipy.fft.rfft, scipy.fft.ihfft)
def to_half_spectra(rng: np.random.Generator) -> Iterator[Sample]:
    yield from one_axis(rng.standard_normal((3, 5, 2)))


@sample_inputs(scipy.fft.fft, scipy.fft.ifft, scipy.fft.rfft, scipy.fft.ihfft, scipy.fft.irfft, scipy.fft.hfft)
def of_real_numbers(rng: np.random.Generator) -> Iterator[Sample]:
    for dtype in (np.float32, np.longdouble):
        yield sample(rng.standard_normal(5).astype(dtype), plan=None)
    yield sample(rng.standard_normal((8, 3)).T[::-1, ::2], norm="forward", overwrite_x=False, _name="strided")


@sample_inputs(
    scipy.fft.fft2,
    scipy.fft.ifft2,
    scipy.fft.fftn,
    scipy.fft.ifftn,
    scipy.fft.irfft2,
    scipy.fft.irfftn,
    scipy.fft.hfft2,
    scipy.fft.hfftn,
)
def of_complex_arrays(rng: np.random.Generator) -> Iterator[Sample]:
    yield from several_axes(complex_normal(rng, 3, 4, 3))
    yield sample(complex_normal(rng, 3, 5).astype(np.complex64))


@sample_inputs(scipy.fft.rfft2, scipy.fft.rfftn, scipy.fft.ihfft2, scipy.fft.ihfftn)
def to_half_spectra_of_arrays(rng: np.random.Generator) -> Iterator[Sample]:
    yield from several_axes(rng.standard_normal((3, 4, 3)))


@sample_inputs(
    scipy.fft.fft2,
    scipy.fft.ifft2,
    scipy.fft.fftn,
    scipy.fft.ifftn,
    scipy.fft.irfft2,
    scipy.fft.irfftn,
    scipy.fft.rfft2,
    scipy.fft.rfftn,
    scipy.fft.hfft2,
    scipy.fft.hfftn,
    scipy.fft.ihfft2,
    scipy.fft.ihfftn,
)
def of_real_arrays(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((3, 4)), norm="ortho")
    yield sample(rng.standard_normal((3, 5)).astype(np.float32))


@sample_inputs(scipy.fft.fftshift, scipy.fft.ifftshift)
def shifts(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 4, 5))
    yield sample(x)
    yield sample(x, 2)
    yield sample(x, axes=(0, -1))
    yield sample(complex_normal(rng, 5))
    yield sample(rng.standard_normal(4).astype(np.float32))


@sample_inputs(scipy.fft.fftfreq, scipy.fft.rfftfreq)
def frequencies(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(5, rng.uniform(0.5, 2.0))
    yield sample(6, d=-rng.uniform(0.5, 2.0))
    yield sample(4, _name="without spacing")
