"""PyAstronomy: tools of astronomers."""

import numpy as np
from PyAstronomy import pyasl

LINE = 1.0 - 0.5 * np.exp(-(np.linspace(-3, 3, 61) ** 2))


def kepler_ellipse(a=1.0, e=0.3, i=60.0, Omega=20.0, w=40.0):
    """PyAstronomy.pyasl.KeplerEllipse"""
    return pyasl.KeplerEllipse(a, 2.0, e=e, Omega=Omega, w=w, i=i).xyzPos(np.array([0.1, 0.5, 1.3]))


def planck(T=5777.0, wavelength=500e-9):
    """PyAstronomy.pyasl.planck"""
    return pyasl.planck(T, lam=wavelength)


def roche(q=0.5, x=0.3, y=0.2, z=0.1):
    """PyAstronomy.pyasl.rochepot_dl"""
    return pyasl.rochepot_dl(x, y, z, q)


def vacuum(wavelength=(4000.0, 5000.0, 6000.0)):
    """PyAstronomy.pyasl.airtovac2"""
    return pyasl.airtovac2(wavelength)


def dereddened(flux=(1.0, 2.0, 1.5), ebv=0.3):
    """PyAstronomy.pyasl.unred"""
    return pyasl.unred(np.array([3500.0, 5000.0, 8000.0]), flux, ebv=ebv)


def transit_time(a=0.05, rp=1.0, rs=1.0, i=88.0, P=3.0):
    """PyAstronomy.pyasl.transitDuration"""
    return pyasl.transitDuration(a, rp, rs, i, P)


def broadened(flux=LINE, width=0.4):
    """PyAstronomy.pyasl.broadGaussFast"""
    return pyasl.broadGaussFast(np.linspace(5000.0, 5006.0, 61), flux, width)


def separation(ra=(10.0, 11.0), dec=(20.0, 20.5)):
    """PyAstronomy.pyasl.getAngDist"""
    return pyasl.getAngDist(ra[0], dec[0], ra[1], dec[1])
