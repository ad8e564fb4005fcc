"""Sample inputs for `scipy.fftpack`: every type and ``norm``, odd and even lengths, cut and padded, every operator."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.fftpack

from ..numpy.reductions import complex_normal
from ..sampling import Sample, sample, sample_inputs
from .fft.hankel import fixed


@sample_inputs(scipy.fftpack.next_fast_len)
def lengths(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(7)


@sample_inputs(scipy.fftpack.fft, scipy.fftpack.ifft)
def of_one_axis(rng: np.random.Generator) -> Iterator[Sample]:
    x = complex_normal(rng, 3, 5, 2)
    yield sample(x[0, :, 0])
    yield sample(x, 4, 1)
    yield sample(x, n=7, axis=-2, overwrite_x=False)
    yield sample(rng.standard_normal((4, 3)), axis=0, _name="real")
    yield sample(rng.standard_normal(5).astype(np.float32), _name="single precision")
    yield sample(rng.standard_normal(4).tolist(), _name="list")


@sample_inputs(scipy.fftpack.rfft, scipy.fftpack.irfft)
def packed(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 5, 2))
    for n in (1, 2, 3, 4, 5, 6, 7):
        yield sample(x[0, :, 0], n)
    yield sample(x)
    yield sample(x, axis=1)
    yield sample(x, 4, 0, False)
    yield sample(rng.standard_normal(6).astype(np.float32), _name="single precision")


@sample_inputs(scipy.fftpack.fft2, scipy.fftpack.ifft2, scipy.fftpack.fftn, scipy.fftpack.ifftn)
def of_several_axes(rng: np.random.Generator) -> Iterator[Sample]:
    x = complex_normal(rng, 3, 4, 3)
    yield sample(x)
    yield sample(x, (2, 5), (-2, 0))
    yield sample(x, axes=(1, 0))
    yield sample(x[0], shape=(5, 2), overwrite_x=False)
    yield sample(rng.standard_normal((3, 5)).astype(np.float32), _name="single precision")


@sample_inputs(scipy.fftpack.dct, scipy.fftpack.idct, scipy.fftpack.dst, scipy.fftpack.idst)
def real_of_one_axis(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 5, 2))
    for kind in (1, 2, 3):
        yield sample(x[0].T, kind)
        yield sample(x[0].T, type=kind, norm="ortho")
        yield sample(x, kind, 3, 1, _name=f"cut, type {kind}")
        yield sample(x, kind, n=6, axis=-2, norm="ortho", _name=f"padded, type {kind}")
    yield sample(complex_normal(rng, 4), norm="ortho", _name="complex")
    yield sample(rng.standard_normal(5).astype(np.float32), overwrite_x=False, _name="single precision")


@sample_inputs(scipy.fftpack.dctn, scipy.fftpack.idctn, scipy.fftpack.dstn, scipy.fftpack.idstn)
def real_of_several_axes(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 4, 3))
    for kind in (1, 2, 3):
        yield sample(x, kind)
        yield sample(x, kind, (2, 5), (-2, 0), "ortho")
        yield sample(x[0], type=kind, axes=(1,))


def signals(rng: np.random.Generator) -> Iterator[np.ndarray[tuple[int, ...], np.dtype[np.inexact]]]:
    yield rng.standard_normal(8)
    yield rng.standard_normal(7)
    yield complex_normal(rng, 6)


@sample_inputs(scipy.fftpack.diff)
def derivatives(rng: np.random.Generator) -> Iterator[Sample]:
    for x in signals(rng):
        yield sample(x)
        yield sample(x, 2)
        yield sample(x, order=-1)
    yield sample(rng.standard_normal(8), 3, fixed(np.pi))
    yield sample(rng.standard_normal(8), 0, period=2.0)


@sample_inputs(scipy.fftpack.hilbert, scipy.fftpack.ihilbert)
def hilbert_transforms(rng: np.random.Generator) -> Iterator[Sample]:
    for x in signals(rng):
        yield sample(x)


@sample_inputs(scipy.fftpack.tilbert, scipy.fftpack.itilbert, scipy.fftpack.shift)
def of_a_width(rng: np.random.Generator) -> Iterator[Sample]:
    for x in signals(rng):
        yield sample(x, 1)
        yield sample(x, fixed(0.7), period=2.5)


@sample_inputs(scipy.fftpack.cs_diff, scipy.fftpack.sc_diff, scipy.fftpack.ss_diff, scipy.fftpack.cc_diff)
def of_two_widths(rng: np.random.Generator) -> Iterator[Sample]:
    for x in signals(rng):
        yield sample(x, 1, 2)
        yield sample(x, fixed(0.3), fixed(0.7), period=2.5)
