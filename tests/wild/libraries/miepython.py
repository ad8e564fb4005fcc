"""miepython: scattering of light by spheres."""

import miepython


def efficiencies(m=1.5, d=2.0, lambda0=0.6):
    """miepython.efficiencies"""
    return miepython.efficiencies(m, d, lambda0)


def small(x=0.05):
    """miepython.small_sphere"""
    return miepython.small_sphere(1.33 - 0.01j, x)


def intensities(x=3.0, mu=(-0.5, 0.1, 0.8)):
    """miepython.i_unpolarized"""
    return miepython.i_unpolarized(1.5 - 0.1j, x, mu)


def spheres(x=(1.0, 2.0, 5.0)):
    """miepython.efficiencies_mx"""
    return miepython.efficiencies_mx(1.33 - 0.1j, x)
