"""Sample inputs for the Fourier transforms: every keyword, odd and even lengths, cut and zero-padded."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal


def one_axis(x: np.ndarray[tuple[int, ...], np.dtype[np.inexact]]) -> Iterator[Sample]:
    """Transforms of one axis of an array of shape (3, 5, 2), cut and padded to odd and even lengths."""
    for n, norm in ((1, None), (2, "backward"), (3, "ortho"), (6, "forward"), (9, "ortho"), (12, "forward")):
        yield sample(x, n, 1, norm)
    yield sample(x, axis=-2)
    yield sample(x[0, 0].tolist(), _name="list")


def several_axes(x: np.ndarray[tuple[int, ...], np.dtype[np.inexact]]) -> Iterator[Sample]:
    """Transforms of several axes of an array of shape (3, 4, 3), in every form of ``s`` and ``axes``."""
    yield sample(x)
    yield sample(x, axes=[-3], norm="backward")
    yield sample(x, axes=(1, 0, -1), norm="forward")
    yield sample(x, s=(5, 3), axes=(0, -2), norm="ortho")
    yield sample(x, (2, 5), (-2, 0), "forward")
    yield sample(x, s=(4, -1), axes=(2, 1), norm="backward")
    yield sample(x, s=(3, 6), axes=(1, 1), _name="one axis twice, at two lengths")


@sample_inputs(np.fft.fft, np.fft.ifft, np.fft.irfft, np.fft.hfft)
def of_complex_numbers(rng: np.random.Generator) -> Iterator[Sample]:
    yield from one_axis(complex_normal(rng, 3, 5, 2))
    yield sample(complex_normal(rng, 5).astype(np.complex64))
    yield sample(complex_normal(rng, 4).astype(np.clongdouble))


@sample_inputs(np.fft.rfft, np.fft.ihfft)
def to_half_spectra(rng: np.random.Generator) -> Iterator[Sample]:
    yield from one_axis(rng.standard_normal((3, 5, 2)))


@sample_inputs(np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.ihfft, np.fft.irfft, np.fft.hfft)
def of_real_numbers(rng: np.random.Generator) -> Iterator[Sample]:
    for dtype in (np.float16, np.float32, np.longdouble):
        yield sample(rng.standard_normal(5).astype(dtype))
    yield sample(rng.standard_normal((8, 3)).T[::-1, ::2], norm="forward", _name="strided")


@sample_inputs(np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn, np.fft.irfft2, np.fft.irfftn)
def of_complex_arrays(rng: np.random.Generator) -> Iterator[Sample]:
    yield from several_axes(complex_normal(rng, 3, 4, 3))
    yield sample(complex_normal(rng, 3, 5).astype(np.complex64))


@sample_inputs(np.fft.rfft2, np.fft.rfftn)
def to_half_spectra_of_arrays(rng: np.random.Generator) -> Iterator[Sample]:
    yield from several_axes(rng.standard_normal((3, 4, 3)))


@sample_inputs(
    np.fft.fft2,
    np.fft.ifft2,
    np.fft.fftn,
    np.fft.ifftn,
    np.fft.irfft2,
    np.fft.irfftn,
    np.fft.rfft2,
    np.fft.rfftn,
)
def of_real_arrays(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((3, 4)), norm="ortho")
    yield sample(rng.standard_normal((3, 5)).astype(np.float32))


@sample_inputs(np.fft.fftshift, np.fft.ifftshift)
def shifts(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 4, 5))
    yield sample(x)
    yield sample(x, 2)
    yield sample(x, axes=-3)
    yield sample(x, axes=(0, -1))
    yield sample(x, axes=[1])
    yield sample(complex_normal(rng, 5))
    yield sample(rng.standard_normal(4).astype(np.float32))
    yield sample(np.zeros((0, 3)), _name="empty")


@sample_inputs(np.fft.fftfreq, np.fft.rfftfreq)
def frequencies(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(5, rng.uniform(0.5, 2.0))
    yield sample(6, d=-rng.uniform(0.5, 2.0))
    yield sample(3, np.float32(0.25))
    yield sample(4, _constant=True, _name="without spacing")
    yield sample(4, np.array(0.5), _name="0-d array")
    yield sample(1, 1.5, _name="one frequency")
    yield sample(4, 2, _constant=True, _name="integer")
