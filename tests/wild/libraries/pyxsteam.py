"""pyXSteam: tables of steam."""

from pyXSteam.XSteam import XSteam


def enthalpy(p=10.0, T=300.0):
    """pyXSteam.XSteam.h_pt"""
    return XSteam(XSteam.UNIT_SYSTEM_MKS).h_pt(p, T)


def saturation(T=150.0):
    """pyXSteam.XSteam.psat_t"""
    return XSteam(XSteam.UNIT_SYSTEM_MKS).psat_t(T)


def conductivity(p=10.0, T=300.0):
    """pyXSteam.XSteam.tc_pt"""
    return XSteam(XSteam.UNIT_SYSTEM_MKS).tc_pt(p, T)


def temperature(p=20.0, h=3000.0):
    """pyXSteam.XSteam.t_ph"""
    return XSteam(XSteam.UNIT_SYSTEM_MKS).t_ph(p, h)
