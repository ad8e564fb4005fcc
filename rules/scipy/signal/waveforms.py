"""Rules of the waveforms of `scipy.signal`, with respect to time and their parameters."""

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy.signal

from ...numpy.array_like import as_array
from ..linear_maps import composed

# ---------------------------------------------------------------- chirps


def chirp_phase(t, f0, t1, f1, method, vertex_zero):
    """2π times the integral of the frequency from 0 to t."""
    if method in ("linear", "lin", "li"):
        return 2 * np.pi * (f0 * t + 0.5 * (f1 - f0) / t1 * t**2)
    if method in ("quadratic", "quad", "q"):
        beta = (f1 - f0) / t1**2
        if vertex_zero:
            return 2 * np.pi * (f0 * t + beta * t**3 / 3)
        return 2 * np.pi * (f1 * t + beta * ((t1 - t) ** 3 - t1**3) / 3)
    if f0 == f1 or f0 == 0 or f1 == 0:  # where the formulas below do not hold
        raise MDNotImplementedError
    if method in ("logarithmic", "log", "lo"):
        beta = t1 / np.log(f1 / f0)
        return 2 * np.pi * beta * f0 * ((f1 / f0) ** (t / t1) - 1.0)
    if method in ("hyperbolic", "hyp"):
        singularity = -f1 * t1 / (f0 - f1)
        return 2 * np.pi * (-singularity * f0) * np.log(np.abs(1 - t / singularity))
    raise MDNotImplementedError


@composed(scipy.signal.chirp)
def chirp(t, f0, t1, f1, method="linear", phi=0, vertex_zero=True, complex=False):
    phase = chirp_phase(as_array(t), f0, t1, f1, method, vertex_zero) + np.pi / 180 * phi
    return np.exp(1j * phase) if complex else np.cos(phase)


@composed(scipy.signal.sweep_poly)
def sweep_poly(t, poly, phi=0):
    """Of the frequency p(t). Objects for polynomials are not served."""
    if isinstance(poly, np.poly1d):
        raise MDNotImplementedError
    return np.cos(2 * np.pi * np.polyval(np.polyint(as_array(poly)), as_array(t)) + np.pi / 180 * phi)


@composed(scipy.signal.gausspulse)
def gausspulse(t, fc=1000, bw=0.5, bwr=-6, tpr=-60, retquad=False, retenv=False):
    if isinstance(t, str):
        raise MDNotImplementedError
    t = as_array(t)
    a = -((np.pi * fc * bw) ** 2) / (4.0 * np.log(10.0 ** (bwr / 20.0)))
    envelope = np.exp(-a * t * t)
    outputs = [envelope * np.cos(2 * np.pi * fc * t)]
    outputs += [envelope * np.sin(2 * np.pi * fc * t)] if retquad else []
    outputs += [envelope] if retenv else []
    return tuple(outputs) if len(outputs) > 1 else outputs[0]


# ---------------------------------------------------------------- piecewise


@composed(scipy.signal.sawtooth)
def sawtooth(t, width=1):
    """From -1 up to 1 in the part w of a period, and down again."""
    t, w = as_array(t), as_array(width) * np.ones(())
    place = np.mod(t * np.ones(()), 2 * np.pi)
    if np.any((w < 0) | (w > 1)):
        raise MDNotImplementedError  # where SciPy gives NaN
    rises = place < w * 2 * np.pi
    up = place / (np.pi * np.where(rises, w, 1.0)) - 1
    down = (np.pi * (w + 1) - place) / (np.pi * (1 - np.where(rises, 0.0, w)))
    return np.where(rises, up, down)


@composed(scipy.signal.square)
def square(t, duty=0.5):
    """1 in a part of each period and -1 in the rest, with the derivative 0."""
    t, duty = as_array(t), as_array(duty) * np.ones(())
    if np.any((duty < 0) | (duty > 1)):
        raise MDNotImplementedError  # where SciPy gives NaN
    return np.where(np.mod(t * np.ones(()), 2 * np.pi) < duty * 2 * np.pi, 1.0, -1.0)
