"""dust-extinction: dust between the stars (models of astropy)."""

import astropy.units as u
import numpy as np
from dust_extinction.parameter_averages import CCM89, F99, O94

X = np.array([0.5, 1.5, 4.0, 6.0]) / u.micron


def cardelli(Rv=3.1):
    """dust_extinction.parameter_averages.CCM89"""
    return CCM89(Rv=Rv)(X)


def extinguished(Rv=3.1, Av=1.2):
    """dust_extinction.parameter_averages.O94.extinguish"""
    return O94(Rv=Rv).extinguish(X, Av=Av)


def evaluated(x=(0.5, 1.5, 4.0, 6.0)):
    """dust_extinction.parameter_averages.CCM89.evaluate"""
    return CCM89(Rv=3.1).evaluate(x, 3.1)


def fitzpatrick(Rv=3.1):
    """dust_extinction.parameter_averages.F99"""
    return F99(Rv=Rv)(X)
