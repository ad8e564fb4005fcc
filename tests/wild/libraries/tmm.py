"""tmm: optics of thin films."""

from math import inf

import tmm


def coating(n=2.2, d=100.0, theta=0.3, wavelength=550.0):
    """tmm.coh_tmm"""
    result = tmm.coh_tmm("s", [1, n, 1.45 + 0.02j, 1.5], [inf, d, 80.0, inf], theta, wavelength)
    return result["R"], result["T"]


def unpolarized(n=2.2, d=100.0, theta=0.3):
    """tmm.unpolarized_RT"""
    result = tmm.unpolarized_RT([1, n, 3.3 + 0.3j, 1], [inf, d, 300.0, inf], theta, 400.0)
    return result["R"], result["T"]


def ellipsometry(d=1000.0, n=2.0):
    """tmm.ellips"""
    result = tmm.ellips([1, n, 3.8 + 0.05j], [inf, d, inf], 1.2, 633.0)
    return result["psi"], result["Delta"]


def thick_substrate(n=2.2, d=120.0):
    """tmm.inc_tmm"""
    result = tmm.inc_tmm("p", [1, n, 1.5 + 1e-6j, 1], [inf, d, 1e5, inf], ["i", "c", "i", "i"], 0.2, 500.0)
    return result["R"], result["T"]


def absorption(d=100.0):
    """tmm.absorp_in_each_layer"""
    return tmm.absorp_in_each_layer(tmm.coh_tmm("p", [1, 2.2 + 0.2j, 3.3 + 0.3j, 1], [inf, d, 300.0, inf], 0.3, 400.0))
