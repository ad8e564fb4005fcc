"""Rules of the fast Hankel transforms of `scipy.fft`, and of the offset that suits them best."""

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy.fft
from rulescore import frule, pullback_wrt, pushforward, rrule, seen_by_tracers
from rulescore.typing import Number, OutputAndPullback, OutputAndTangent

from ..linear_maps import linear_map


def fht_transpose(ybar, a, dln, mu, offset=0.0, bias=0.0):
    """The transform itself, whose matrix is symmetric.

    FFTLog (Hamilton 2000) is a circular convolution C followed by R, which turns around: for a circulant matrix,
    (RC)ᵀ = CᵀR = RC. The power laws of the bias stand on both sides.
    """
    return seen_by_tracers(scipy.fft.fht, ybar, dln, mu, offset=offset, bias=bias)


def ifht_transpose(ybar, A, dln, mu, offset=0.0, bias=0.0):
    """The inverse of a symmetric matrix is one."""
    return seen_by_tracers(scipy.fft.ifht, ybar, dln, mu, offset=offset, bias=bias)


linear_map(scipy.fft.fht, fht_transpose)
linear_map(scipy.fft.ifht, ifht_transpose)

# ---------------------------------------------------------------- the offset of low ringing


def offset_partials(y, dln, mu, initial=0.0, bias=0.0):
    """∂y/∂ of the four, of y = ln 2 + δ (Im ln Γ(z₊) + Im ln Γ(z₋)) / π - δ m with z± = (μ + 1 ± q)/2 + iπ/2δ.

    m is a whole number, which brings y close to ``initial``, and changes in jumps; y itself stays in its class modulo
    δ, so that it does not depend on ``initial`` between them. With t = Im ln Γ(z₊) + Im ln Γ(z₋) over π, less m,
    y = ln 2 + δt.
    """
    from scipy import special  # here, since the transforms do without its rules

    height = np.pi / (2 * dln)
    digammas = [special.digamma((mu + 1 + sign * bias) / 2 + 1j * height) for sign in (1, -1)]
    of_dln = (y - np.log(2)) / dln - np.real(digammas[0] + digammas[1]) / (2 * dln)
    of_mu = np.imag(digammas[0] + digammas[1]) * dln / (2 * np.pi)
    of_bias = np.imag(digammas[0] - digammas[1]) * dln / (2 * np.pi)
    return of_dln, of_mu, 0.0, of_bias


def decline_complex(*arguments):
    """The imaginary parts, which make the offset a function of the conjugates too, mean nothing for the transform."""
    if any(np.iscomplexobj(argument) for argument in arguments):
        raise MDNotImplementedError


@frule.register(scipy.fft.fhtoffset)
@pushforward
def fhtoffset_frule(
    ddln: Number,
    dmu: Number,
    _dinitial: Number,
    dbias: Number,
    dln: Number,
    mu: Number,
    initial: Number = 0.0,
    bias: Number = 0.0,
) -> OutputAndTangent:
    decline_complex(dln, mu, initial, bias)
    y = seen_by_tracers(scipy.fft.fhtoffset, dln, mu, initial, bias)
    of_dln, of_mu, _, of_bias = offset_partials(y, dln, mu, initial, bias)
    return y, of_dln * ddln + of_mu * dmu + of_bias * dbias


@rrule.register(scipy.fft.fhtoffset)
def fhtoffset_rrule(dln: Number, mu: Number, initial: Number = 0.0, bias: Number = 0.0) -> OutputAndPullback:
    decline_complex(dln, mu, initial, bias)
    y = seen_by_tracers(scipy.fft.fhtoffset, dln, mu, initial, bias)

    @pullback_wrt(dln, mu, initial, bias)
    def fhtoffset_pullback(ybar):
        return tuple(partial * ybar for partial in offset_partials(y, dln, mu, initial, bias))

    return y, fhtoffset_pullback
