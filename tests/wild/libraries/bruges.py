"""bruges: equations of geophysics."""

import bruges
import numpy as np

TRACE = np.sin(np.arange(32.0)) / 20


def zoeppritz(vp=2300.0, vs=1100.0, rho=2200.0):
    """bruges.reflection.zoeppritz_rpp"""
    return abs(bruges.reflection.zoeppritz_rpp(vp, vs, rho, 2800.0, 1500.0, 2350.0, 20.0))


def shuey(vp=2300.0, vs=1100.0, rho=2200.0, theta=15.0):
    """bruges.reflection.shuey"""
    return bruges.reflection.shuey(vp, vs, rho, 2800.0, 1500.0, 2350.0, theta)


def ricker(f=25.0):
    """bruges.filters.ricker"""
    return bruges.filters.ricker(0.128, 0.004, f)[0]


def gassmann(ksat1=15.0e9, phi=0.2):
    """bruges.rockphysics.smith_gassmann"""
    return bruges.rockphysics.smith_gassmann(ksat1, 38.0e9, 2.5e9, phi)


def backus(vp=(2300.0, 2800.0, 2500.0), vs=(1100.0, 1500.0, 1300.0), rho=(2200.0, 2350.0, 2300.0)):
    """bruges.rockphysics.backus"""
    return bruges.rockphysics.backus(vp, vs, rho, 3.0, 1.0)[:2]


def velocity(vp=2500.0, vs=1200.0, rho=2300.0):
    """bruges.rockphysics.moduli_dict"""
    moduli = bruges.rockphysics.moduli_dict(vp, vs, rho)
    return moduli["bulk"] / 1e9, moduli["mu"] / 1e9, moduli["pr"]


def depth(trace=TRACE):
    """bruges.transform.time_to_depth"""
    return bruges.transform.time_to_depth(trace, np.linspace(2000.0, 3000.0, 32), 0.002, 2.0)
