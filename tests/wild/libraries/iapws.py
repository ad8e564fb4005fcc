"""iapws: standards of water and steam."""

from iapws import IAPWS95, IAPWS97
from iapws import _iapws as standards


def steam(T=400.0, P=0.2):
    """iapws.IAPWS97"""
    state = IAPWS97(T=T, P=P)
    return state.h, state.s, state.v, state.cp


def saturated(T=370.0):
    """iapws.IAPWS97(x)"""
    state = IAPWS97(T=T, x=0.5)
    return state.P, state.h


def helmholtz(T=500.0, P=1.0):
    """iapws.IAPWS95"""
    state = IAPWS95(T=T, P=P)
    return state.rho, state.h, state.w


def viscosity(rho=998.0, T=298.15):
    """iapws._iapws._Viscosity"""
    return standards._Viscosity(rho, T)


def ice(T=250.0, P=1.0):
    """iapws._iapws._Ice"""
    state = standards._Ice(T, P)
    return state["rho"], state["h"], state["cp"]
