"""Rules of the window functions of `scipy.signal.windows` that have a parameter, and of `get_window`.

A window of n points is a function of the parameter and of the place, which runs from -(n-1)/2 to (n-1)/2. One for a
Fourier transform (``sym=False``) has a point more, which is cut off.
"""

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy.linalg
import scipy.signal
from rulescore import ignore_derivatives, is_traced, non_differentiable, seen_by_tracers
from scipy.signal import windows

from ...numpy.array_like import as_array
from ..linear_maps import composed


def length(M):
    """The number of points, which SciPy takes as a whole number of any type."""
    if int(M) != M or M < 0:
        raise ValueError("Window length M must be a non-negative integer")
    return int(M)


def of_places(function):
    """A window from a function of the places and the parameters; the definition of the rule that serves SciPy's."""

    def values(M, sym, *parameters):
        M = length(M)
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
    """exp(-|t/σ|²ᵖ / 2). At t = 0 the exponent does not depend on p, as long as that keeps its sign."""
    size = np.where(t == 0, 1.0, np.abs(t)) / np.abs(sig)
    return np.exp(-0.5 * np.where(t == 0, np.power(0.0, 2 * ignore_derivatives(p)), size ** (2 * p)))


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
    return np.exp(-np.abs(np.arange(length(M)) - center) / tau)


@composed(windows.kaiser_bessel_derived)
def kaiser_bessel_derived(M, beta, *, sym=True):
    """The roots of the partial sums of a Kaiser window, up and down again."""
    M = length(M)
    if not sym or M < 1 or M % 2:
        raise MDNotImplementedError
    sums = np.cumsum(kaiser_values(M // 2 + 1, True, beta))
    half = np.sqrt(sums[:-1] / sums[-1])
    return np.concatenate([half, half[::-1]])


# ---------------------------------------------------------------- by their Fourier transform


@composed(windows.chebwin)
def chebwin(M, at, sym=True):
    """The inverse Fourier transform of a Chebyshev polynomial of degree n - 1, at β cos(πk / n)."""
    M = length(M)
    if M <= 1:
        return np.ones(M) + 0 * at
    # The window is a function of |at|, whose derivative at 0 is 0.
    level = np.abs(at) if at != 0 else 0.0
    count = M if sym else M + 1
    order, k = count - 1.0, np.arange(count)
    beta = np.cosh(np.arccosh(10 ** (level / 20.0)) / order)
    x = beta * np.cos(np.pi * k / count)
    is_outside = np.abs(ignore_derivatives(x)) > 1
    outside = np.cosh(order * np.arccosh(np.where(is_outside, np.abs(x), 2.0)))
    inside = np.cos(order * np.arccos(np.where(is_outside, 0.0, x)))
    sign = np.where(ignore_derivatives(x) < -1, 2 * (count % 2) - 1, 1)
    p = np.where(is_outside, sign * outside, inside)
    if count % 2:
        w = np.real(np.fft.fft(p))[: (count + 1) // 2]
        w = np.concatenate([w[:0:-1], w])
    else:
        w = np.real(np.fft.fft(p * np.exp(1j * np.pi / count * k)))[1 : count // 2 + 1]
        w = np.concatenate([w[::-1], w])
    return (w / np.max(w))[:M] + 0 * np.abs(at)


def arccosh_squared(decibels):
    """arccosh(u)² of u = 10^(dB / 20), which is smooth at u = 1, where the slope of arccosh is infinite.

    arccosh(1 + v) = 2 arsinh √(v / 2), whose square is 2v - v²/3 + 4v³/45 - ...
    """
    v = np.expm1(decibels * (np.log(10) / 20))
    if 0 <= v < 1e-5:
        return v * (2 - v * (1 / 3 - v * (4 / 45)))
    return 4 * np.arcsinh(np.sqrt(v / 2)) ** 2


@composed(windows.taylor)
def taylor(M, nbar=4, sll=30, norm=True, sym=True):
    """1 + 2 Σₘ Fₘ cos(2π m t / n), whose coefficients make nearly equal side lobes of the level asked for."""
    M, nbar = length(M), int(nbar)
    if M <= 1 or nbar <= 1:
        return np.ones(M) + 0 * sll
    count = M if sym else M + 1
    a2 = arccosh_squared(sll) / np.pi**2
    m = np.arange(1, nbar)
    s2 = nbar**2 / (a2 + (nbar - 0.5) ** 2)
    others = np.where(np.eye(len(m), dtype=bool), 1.0, 1 - (m[:, None] / m) ** 2)
    numerators = np.prod(1 - (m**2)[:, None] / s2 / (a2 + (m - 0.5) ** 2), axis=1)
    coefficients = (-1.0) ** (m + 1) * numerators / (2 * np.prod(others, axis=1))

    def window(n):
        return 1 + 2 * np.cos(2 * np.pi * m * ((n - count / 2 + 0.5) / count)[:, None]) @ coefficients

    w = window(np.arange(count))
    return (w / window(np.array([(count - 1) / 2])) if norm else w)[:M]


# ---------------------------------------------------------------- by eigenvectors


@composed(windows.dpss)
def dpss(M, NW, Kmax=None, sym=True, norm=None, return_ratios=False):
    """Eigenvectors of the tridiagonal matrix with cos(2π NW / n) ((n - 1 - 2t) / 2)² and t (n - t) / 2."""
    M, Kmax = length(M), Kmax if Kmax is None else int(Kmax)
    if M <= 1 or return_ratios:
        raise MDNotImplementedError
    norm = ("approximate" if Kmax is None else 2) if norm is None else norm
    # SciPy checks the arguments, and chooses the signs.
    expected = windows.dpss(M, ignore_derivatives(NW), Kmax, sym, norm)
    count, highest = M if sym else M + 1, 1 if Kmax is None else Kmax
    t = np.arange(count)
    diagonal = ((count - 1 - 2 * t) / 2.0) ** 2 * np.cos(2 * np.pi * NW / count)
    # Of the largest alone there would be no derivative: it needs all others.
    _, vectors = seen_by_tracers(scipy.linalg.eigh_tridiagonal, diagonal, t[1:] * (count - t[1:]) / 2.0)
    tapers = np.swapaxes(vectors[:, ::-1], 0, 1)[:highest]
    signs = np.sign(np.sum(np.reshape(expected, (highest, M)) * ignore_derivatives(tapers)[:, :M], axis=1))
    tapers = tapers * signs[:, None]
    if norm != 2:
        tapers = tapers / np.max(tapers)
        if count % 2 == 0:
            tapers = tapers * correction(tapers[0], NW, norm)
    tapers = np.copy(tapers[::-1])[::-1, :M]  # in memory as SciPy has them, whose eigenvectors come in the other order
    return tapers[0] if Kmax is None else tapers


def correction(taper, NW, norm):
    """What makes the largest value of the window between its points 1, where their number is even."""
    count = len(taper)
    if norm == "approximate":
        return count**2 / (count**2 + NW)
    k = np.arange(count // 2 + 1)
    shifts = np.where(k == 0, 1, 2 * np.exp(1j * np.pi * (1 - 1.0 / count) * k))
    return count / np.sum(np.real(np.fft.rfft(taper) * shifts))


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
    "chebwin": chebwin,
    "cheb": chebwin,
    "taylor": taylor,
    "taylorwin": taylor,
    "kaiser_bessel_derived": kaiser_bessel_derived,
    "kaiser bessel derived": kaiser_bessel_derived,
    "kbd": kaiser_bessel_derived,
    "dpss": dpss,
}


def window_values(window, n, fftbins=True):
    """What `scipy.signal.get_window` gives, of parameters that may be differentiated."""
    if not is_traced(window):
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
