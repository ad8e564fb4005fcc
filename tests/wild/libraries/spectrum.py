"""spectrum: estimates of spectra."""

import numpy as np
import spectrum

SIGNAL = np.random.default_rng(0).standard_normal(24)


def burg(X=SIGNAL):
    """spectrum.arburg"""
    coefficients, variance, reflections = spectrum.arburg(X, 3)
    return coefficients.real, variance, reflections.real


def yule_walker(X=SIGNAL):
    """spectrum.aryule"""
    return spectrum.aryule(X, 3)


def levinson(r=(3.0, 1.0, 0.5, 0.2)):
    """spectrum.LEVINSON"""
    return spectrum.LEVINSON(r)


def spectral_pairs(k=(0.3, 0.5, -0.2), r0=2.0):
    """spectrum.rc2poly"""
    return spectrum.rc2poly(k, r0)


def periodogram(data=SIGNAL):
    """spectrum.speriodogram"""
    return spectrum.speriodogram(data)


def covariance(X=SIGNAL):
    """spectrum.arcovar"""
    return np.real(spectrum.arcovar(X, 3)[0])


def correlation(X=SIGNAL):
    """spectrum.CORRELATION"""
    return spectrum.CORRELATION(X, maxlags=4)


def window(alpha=2.5):
    """spectrum.window.window_gaussian"""
    return spectrum.window.window_gaussian(9, alpha)
