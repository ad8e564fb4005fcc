"""Correlations of long signals at few lags, of which the cotangents of short kernels and of coefficients are made."""

import math

import numpy as np

import scipy.fft
from rulescore import seen_by_tracers

from ...numpy.array_like import conj
from .segments import segments

FEW_LAGS = 32
"""Up to how many coefficients are summed one by one. Of more, products of spectra take less time."""


def sums_over_lags(v, x, count):
    """Σₙ vₙ₊ⱼ x̅ₙ for j = 0, 1, ..., over all samples and all signals; time is the last axis of both."""
    length = x.shape[-1]
    if not length:
        return np.zeros(count, v.dtype)
    signals = math.prod(x.shape[:-1])
    v, x = np.reshape(v, (signals, v.shape[-1])), conj(np.reshape(x, (signals, length)))
    if count <= FEW_LAGS:
        overlaps = [max(min(length, v.shape[-1] - j), 0) for j in range(count)]
        return np.stack([np.einsum("ni,ni->", v[:, j : j + m], x[:, :m]) for j, m in enumerate(overlaps)])
    # Products of spectra of blocks, each with what lies behind it as far as the lags reach; their sum is enough.
    block = max(4 * count, 1024)
    blocks = -(-length // block)
    n = scipy.fft.next_fast_len(block + count - 1)
    x = np.pad(x, [(0, 0), (0, blocks * block - length)])
    v = np.pad(v, [(0, 0), (0, max(blocks * block + count - 1 - v.shape[-1], 0))])
    of_x = seen_by_tracers(scipy.fft.ifft, np.reshape(x, (-1, block)), n)
    of_v = seen_by_tracers(scipy.fft.fft, seen_by_tracers(segments, v, block + count - 1, block)[:, :blocks], n)
    sums = seen_by_tracers(scipy.fft.ifft, np.sum(np.reshape(of_v, (-1, n)) * of_x, axis=0))[:count] * n
    return sums if "c" in (v.dtype.kind, x.dtype.kind) else np.real(sums)
