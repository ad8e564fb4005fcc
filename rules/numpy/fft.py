"""Rules of the discrete Fourier transforms of `numpy.fft`, by their adjoints, and of the shifts of their output.

A transform of several axes is a chain of transforms of one axis, and its transpose the chain of their transposes, the
last one first. The transforms of an axis of length n are, but for the factor that ``norm`` asks for,

- fft: yₖ = Σⱼ aⱼ ωʲᵏ with ω = exp(-2πi/n), whose adjoint is the inverse transform with the opposite ``norm``;
- rfft: the first ⌊n/2⌋ + 1 of these, for real a, so that āⱼ = Re Σₖ conj(ωʲᵏ) ȳₖ;
- irfft: yⱼ = Re a₀ + 2 Re Σₖ aₖ conj(ωʲᵏ) + Re a_{n/2} (-1)ʲ, the last term for even n only;
- hfft and ihfft: irfft of the conjugate, and the conjugate of rfft.

Hence rfft and irfft are each other's adjoint up to the factor 2 of the inner frequencies, which stand for two.
"""

from multipledispatch import MDNotImplementedError

import numpy as np
from rulescore import (
    frule,
    linear_rule,
    no_tangent_pullback,
    pullback_wrt,
    pushforward,
    rrule,
)
from rulescore.typing import Array, Choice, Count, OutputAndPullback, OutputAndTangent

from .reduced_axes import NOT_GIVEN

OPPOSITE = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}
"""The ``norm`` with which the inverse transform is the adjoint: it moves the factor to the other side."""

# ---------------------------------------------------------------- adjoints along one axis of length n


def multiplicity(ybar, n, axis):
    """How many of all n frequencies each one of a half spectrum stands for: itself, and its mirror image if any."""
    count = np.full(n // 2 + 1, 2, ybar.real.dtype)
    count[0] = 1
    if n % 2 == 0:
        count[-1] = 1
    return np.reshape(count, (-1, *[1] * (np.ndim(ybar) - 1 - axis % np.ndim(ybar))))


def fft_adjoint(ybar, n, axis, norm):
    return np.fft.ifft(ybar, n, axis, OPPOSITE[norm])


def ifft_adjoint(ybar, n, axis, norm):
    return np.fft.fft(ybar, n, axis, OPPOSITE[norm])


def rfft_adjoint(ybar, n, axis, norm):
    return np.fft.irfft(ybar / multiplicity(ybar, n, axis), n, axis, OPPOSITE[norm])


def irfft_adjoint(ybar, n, axis, norm):
    return np.fft.rfft(ybar, n, axis, OPPOSITE[norm]) * multiplicity(ybar, n, axis)


def hfft_adjoint(ybar, n, axis, norm):
    return np.fft.ihfft(ybar, n, axis, OPPOSITE[norm]) * multiplicity(ybar, n, axis)


def ihfft_adjoint(ybar, n, axis, norm):
    return np.fft.hfft(ybar / multiplicity(ybar, n, axis), n, axis, OPPOSITE[norm])


def fitted(xbar, length, axis):
    """Undo the zero-padding (cut) or the cutting (pad with zeros) of an axis that had this length."""
    surplus = np.shape(xbar)[axis] - length
    if surplus == 0:
        return xbar
    if surplus > 0:
        return xbar[(*[slice(None)] * (axis % np.ndim(xbar)), slice(length))]
    zeros_after = [(0, 0)] * np.ndim(xbar)
    zeros_after[axis] = (0, -surplus)
    return np.pad(xbar, zeros_after)


# ---------------------------------------------------------------- transforms of one axis


def length_of_half(n):
    """The length of a half spectrum."""
    return n // 2 + 1


def length_of_mirrored(half):
    """The length of what has a half spectrum of this length, by default: even."""
    return 2 * (half - 1)


def along_one_axis(adjoint, default_length=int):
    """The transpose of a transform; ``default_length`` makes ``n`` of the length of the axis."""

    def transpose(ybar, a, n=None, axis=-1, norm=None, out: None = None):
        length = np.shape(a)[axis]
        n = default_length(length) if n is None else int(n)
        return fitted(adjoint(ybar, n, axis, norm), length, axis)

    return transpose


linear_rule(np.fft.fft, along_one_axis(fft_adjoint))
linear_rule(np.fft.ifft, along_one_axis(ifft_adjoint))
linear_rule(np.fft.rfft, along_one_axis(rfft_adjoint))
linear_rule(np.fft.irfft, along_one_axis(irfft_adjoint, length_of_mirrored))
linear_rule(np.fft.hfft, along_one_axis(hfft_adjoint, length_of_mirrored))
linear_rule(np.fft.ihfft, along_one_axis(ihfft_adjoint))

# ---------------------------------------------------------------- transforms of several axes


def lengths_and_axes(shape, s, axes, default_length=int):
    """The axes and the length n of each transform; ``default_length`` makes the last one, where ``s`` is not given."""
    if axes is None:
        axes = range(-len(shape if s is None else s), 0)
    axes = [int(axis) for axis in axes]
    if s is None:
        *others, last = [shape[axis] for axis in axes] or [None]
        return ([] if last is None else [*others, default_length(last)]), axes
    # -1 stands for the length of the axis, as None did before NumPy 2.
    return [shape[axis] if n is None or n == -1 else int(n) for n, axis in zip(s, axes, strict=True)], axes


def transposed_chain(ybar, shape, stages, norm):
    """Transpose transforms of one axis each, given as (adjoint, n, axis, length of the output) in NumPy's order."""
    shape, lengths_before = list(shape), []
    for _, _, axis, length in stages:
        lengths_before.append(shape[axis])
        shape[axis] = length
    for (adjoint, n, axis, _), length in reversed(list(zip(stages, lengths_before, strict=True))):
        ybar = fitted(adjoint(ybar, n, axis, norm), length, axis)
    return ybar


def along_all(adjoint, default_axes):
    """The transpose of fftn and ifftn, which begin with the last axis."""

    def transpose(ybar, a, s=None, axes=default_axes, norm=None, out: None = None):
        lengths, axes = lengths_and_axes(np.shape(a), s, axes)
        stages = [(adjoint, n, axis, n) for n, axis in zip(lengths, axes, strict=True)]
        return transposed_chain(ybar, np.shape(a), stages[::-1], norm)

    return transpose


def along_all_to_half(default_axes):
    """The transpose of rfftn, which begins with the real transform of the last axis."""

    def transpose(ybar, a, s=None, axes=default_axes, norm=None, out: None = None):
        lengths, axes = lengths_and_axes(np.shape(a), s, axes)
        *others, (n, last) = zip(lengths, axes, strict=True)
        stages = [(fft_adjoint, n, axis, n) for n, axis in others]
        stages.append((rfft_adjoint, n, last, length_of_half(n)))
        return transposed_chain(ybar, np.shape(a), stages[::-1], norm)

    return transpose


def along_all_from_half(default_axes):
    """The transpose of irfftn, which begins with the first axis and ends with the real transform of the last."""

    def transpose(ybar, a, s=None, axes=default_axes, norm=None, out: None = None):
        lengths, axes = lengths_and_axes(np.shape(a), s, axes, length_of_mirrored)
        *others, (n, last) = zip(lengths, axes, strict=True)
        stages = [(ifft_adjoint, n, axis, n) for n, axis in others]
        stages.append((irfft_adjoint, n, last, n))
        return transposed_chain(ybar, np.shape(a), stages, norm)

    return transpose


linear_rule(np.fft.fftn, along_all(fft_adjoint, default_axes=None))
linear_rule(np.fft.ifftn, along_all(ifft_adjoint, default_axes=None))
linear_rule(np.fft.rfftn, along_all_to_half(default_axes=None))
linear_rule(np.fft.irfftn, along_all_from_half(default_axes=None))
linear_rule(np.fft.fft2, along_all(fft_adjoint, default_axes=(-2, -1)))
linear_rule(np.fft.ifft2, along_all(ifft_adjoint, default_axes=(-2, -1)))
linear_rule(np.fft.rfft2, along_all_to_half(default_axes=(-2, -1)))
linear_rule(np.fft.irfft2, along_all_from_half(default_axes=(-2, -1)))

# ---------------------------------------------------------------- shifts

linear_rule(np.fft.fftshift, lambda ybar, x, axes=None: np.fft.ifftshift(ybar, axes))
linear_rule(np.fft.ifftshift, lambda ybar, x, axes=None: np.fft.fftshift(ybar, axes))

# ---------------------------------------------------------------- frequencies


def register_frequencies(f):
    """The rules of the frequencies of a transform, y = k / (n d), with respect to the spacing d: dy = -y dd / d."""

    @frule.register(f)
    @pushforward
    def frequencies_frule(dd: Array, n: Count, d: Array = 1.0, *, device: Choice = None) -> OutputAndTangent:
        require_number(d)
        y = f(n, d, device=device)
        return y, -y / d * dd

    @rrule.register(f)
    def frequencies_rrule(n: Count, d: Array = NOT_GIVEN, *, device: Choice = None) -> OutputAndPullback:
        if d is NOT_GIVEN:
            return f(n, device=device), no_tangent_pullback
        require_number(d)
        y = f(n, d, device=device)
        return y, pullback_wrt(..., d)(lambda ybar: -np.sum(np.conjugate(y / d) * ybar))


def require_number(d):
    if np.ndim(d):
        raise MDNotImplementedError


register_frequencies(np.fft.fftfreq)
register_frequencies(np.fft.rfftfreq)
