"""Rules of the cosine and sine transforms of `scipy.fft`: linear maps of real matrices.

Without ``orthogonalize``, and but for the factor that ``norm`` asks for, the transforms of length n are

- DCT-I: yₖ = x₀ + (-1)ᵏ xₙ₋₁ + 2 Σⱼ xⱼ cos(πjk/(n-1)), over inner j: a symmetric matrix times diag(1, 2, ..., 2, 1);
- DCT-II: yₖ = 2 Σⱼ xⱼ cos(πk(2j+1)/2n), and DCT-III: yₖ = x₀ + 2 Σⱼ xⱼ cos(πj(2k+1)/2n) over j > 0: each is the other's
  transpose, but for the first row of II, which is twice the first column of III;
- DST-II and DST-III likewise, with the last row and column in place of the first;
- DST-I, DCT-IV and DST-IV, which are symmetric.

``orthogonalize`` scales the exceptional rows and columns so that all this holds without exceptions. An inverse
transform is the transform of the transposed type with the opposite ``norm``.
"""

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy.fft
from rulescore import seen_by_tracers

from ...numpy.fft import OPPOSITE
from ..linear_maps import linear_map
from .transforms import fitted_to, lengths_and_axes

TRANSPOSED_TYPE = {1: 1, 2: 3, 3: 2, 4: 4}


def exceptions(kind, type, n):
    """The weights by which the transpose of the matrix differs from that of `TRANSPOSED_TYPE`.

    As (those of ȳ, those of x̄); None where there are none.
    """
    weights = np.ones(n)
    if type == 1 and kind == "dct":
        weights[1:-1] = 2
        return 1 / weights, weights
    if type in (1, 4):
        return None, None
    weights[0 if kind == "dct" else -1] = 2
    return (weights, None) if type == 2 else (None, 1 / weights)


def weighted(x, weights, axis):
    """x times weights along an axis, in its own precision."""
    if weights is None:
        return x
    weights = np.reshape(weights.astype(x.real.dtype), (-1, *[1] * (np.ndim(x) - 1 - axis % np.ndim(x))))
    return x * weights


def transposed(ybar, shape, kind, is_inverse, type, lengths, axes, norm, orthogonalize):
    """The transpose of a transform of some axes to these lengths."""
    if orthogonalize is None:
        orthogonalize = norm == "ortho"
    if is_inverse:
        type, norm = TRANSPOSED_TYPE[type], OPPOSITE[norm]
    weights = [(None, None) if orthogonalize else exceptions(kind, type, n) for n in lengths]
    for axis, (before, _) in zip(axes, weights, strict=True):
        ybar = weighted(ybar, before, axis)
    f = {"dct": scipy.fft.dctn, "dst": scipy.fft.dstn}[kind]
    xbar = seen_by_tracers(f, ybar, TRANSPOSED_TYPE[type], axes=axes, norm=norm, orthogonalize=orthogonalize)
    for axis, (_, after) in zip(axes, weights, strict=True):
        xbar = weighted(xbar, after, axis)
    return fitted_to(xbar, shape, axes)


def along_one_axis(kind, is_inverse):
    def transpose(ybar, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None):
        n = x.shape[axis] if n is None else n
        return transposed(ybar, x.shape, kind, is_inverse, type, [n], [axis], norm, orthogonalize)

    return transpose


def along_axes(kind, is_inverse):
    def transpose(
        ybar, x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None
    ):
        lengths, axes = lengths_and_axes(x.shape, s, axes)
        return transposed(ybar, x.shape, kind, is_inverse, type, lengths, axes, norm, orthogonalize) if axes else ybar

    return transpose


def check_orthogonalize(
    x, type=2, n_or_s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None, **lengths
):
    """SciPy (1.17 at least) takes no notice of ``orthogonalize`` for complex numbers."""
    if orthogonalize is not None and bool(orthogonalize) != (norm == "ortho") and np.iscomplexobj(x):
        raise MDNotImplementedError


for kind in ("dct", "dst"):
    for prefix in ("", "i"):
        linear_map(getattr(scipy.fft, prefix + kind), along_one_axis(kind, bool(prefix)), check_orthogonalize)
        linear_map(getattr(scipy.fft, prefix + kind + "n"), along_axes(kind, bool(prefix)), check_orthogonalize)
