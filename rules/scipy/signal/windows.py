"""Rules of the window functions of `scipy.signal.windows` that have a parameter, and of `get_window`.

A window of n points is a function of the parameter and of the place, which runs from -(n-1)/2 to (n-1)/2. One for a
Fourier transform (``sym=False``) has a point more, which is cut off.
"""

import numpy as np
import scipy.signal
from multipledispatch import MDNotImplementedError
from scipy.signal import windows

from rules.numpy.array_like import as_array, tracer_within
from rules.scipy.linear_maps import composed
from rulescore import non_differentiable


def of_places(function):
    """A window from a function of the places and the parameters; the definition of the rule that serves SciPy's."""

    def values(M, sym, *parameters):
        if M <= 1:
            return np.ones(M)
        count = M if sym else M + 1
        return function(np.arange(count) - (count - 1) / 2, *parameters)[:M]

    return values


@of_places
def kaiser_values(t, beta):
    """I₀(β √(1 - (t/T)²)) / I₀(β), where T is the largest t."""
    return np.i0(beta * np.sqrt(1 - (t / t[-1]) ** 2)) / np.i0(beta * np.ones(()))


@of_places
def gaussian_values(t, std):
    return np.exp(-(t**2) / (2 * std**2))


@of_places
def general_gaussian_values(t, p, sig):
    """exp(-|t/σ|²ᵖ / 2). At t = 0 the exponent does not depend on p."""
    size = np.where(t == 0, 1.0, np.abs(t)) / np.abs(sig)
    return np.exp(-0.5 * np.where(t == 0, 0.0, size ** (2 * p)))


@of_places
def general_cosine_values(t, a):
    """Σₖ aₖ cos(kφ), where φ runs from -π to π."""
    a = as_array(a)
    phi = np.pi * t / t[-1]
    return np.cos(phi[:, None] * np.arange(len(a))) @ a


@of_places
def general_hamming_values(t, alpha):
    return alpha + (1 - alpha) * np.cos(np.pi * t / t[-1])


@of_places
def exponential_values(t, tau):
    """exp(-|t| / τ), about the middle."""
    return np.exp(-np.abs(t) / tau)


@of_places
def tukey_values(t, alpha):
    """Flat in the middle and with a cosine at both ends, over the part α of the window in all."""
    if alpha <= 0:
        return np.ones(len(t)) + 0 * alpha
    if alpha >= 1:
        return 0.5 + 0.5 * np.cos(np.pi * t / t[-1]) + 0 * alpha
    n = 2 * t[-1]
    from_end = t[-1] - np.abs(t)
    # The points that SciPy counts to the ends, by the width rounded down.
    at_the_end = from_end < np.floor(alpha * n / 2.0) + 1
    slope = 0.5 * (1 + np.cos(np.pi * (-1 + 2.0 * from_end / alpha / n)))
    return np.where(at_the_end, slope, 1.0)


@composed(windows.kaiser)
def kaiser(M, beta, sym=True):
    return kaiser_values(M, sym, beta)


@composed(windows.gaussian)
def gaussian(M, std, sym=True):
    return gaussian_values(M, sym, std)


@composed(windows.general_gaussian)
def general_gaussian(M, p, sig, sym=True):
    return general_gaussian_values(M, sym, p, sig)


@composed(windows.general_cosine)
def general_cosine(M, a, sym=True):
    return general_cosine_values(M, sym, a)


@composed(windows.general_hamming)
def general_hamming(M, alpha, sym=True):
    return general_hamming_values(M, sym, alpha)


@composed(windows.tukey)
def tukey(M, alpha=0.5, sym=True):
    return tukey_values(M, sym, alpha)


@composed(windows.exponential)
def exponential(M, center=None, tau=1.0, sym=True):
    """About another point than the middle only without symmetry, as in SciPy."""
    if center is None:
        return exponential_values(M, sym, tau)
    if sym:
        raise MDNotImplementedError
    return np.exp(-np.abs(np.arange(M) - center) / tau)


# ---------------------------------------------------------------- by name

BY_NAME = {
    "kaiser": kaiser,
    "ksr": kaiser,
    "gaussian": gaussian,
    "gauss": gaussian,
    "gss": gaussian,
    "general gaussian": general_gaussian,
    "general_gaussian": general_gaussian,
    "general gauss": general_gaussian,
    "general_gauss": general_gaussian,
    "ggs": general_gaussian,
    "general cosine": general_cosine,
    "general_cosine": general_cosine,
    "general hamming": general_hamming,
    "general_hamming": general_hamming,
    "tukey": tukey,
    "tuk": tukey,
    "exponential": exponential,
    "poisson": exponential,
}


def window_values(window, n, fftbins=True):
    """What `scipy.signal.get_window` gives, of parameters that may be differentiated."""
    if tracer_within(window) is None:
        return scipy.signal.get_window(window, n, fftbins)
    name, parameters = (window[0], window[1:]) if isinstance(window, tuple) else ("kaiser", (window,))
    for ending, periodic in (("_periodic", True), ("_symmetric", False)):
        if name.endswith(ending):
            name, fftbins = name.removesuffix(ending), periodic
    if name not in BY_NAME:
        raise MDNotImplementedError
    return BY_NAME[name](n, *parameters, sym=not fftbins)


@composed(scipy.signal.get_window)
def get_window(window, Nx, fftbins=True):
    return window_values(window, Nx, fftbins)


# Of integers; of a float, of which some of these make a window too, it would be a silent zero.
non_differentiable(
    *[
        getattr(windows, name)
        for name in (
            "barthann",
            "bartlett",
            "blackman",
            "blackmanharris",
            "bohman",
            "boxcar",
            "cosine",
            "flattop",
            "hamming",
            "hann",
            "lanczos",
            "nuttall",
            "parzen",
            "triang",
        )
    ],
    types=((int, np.integer),),
)
