"""rockphypy: physics of rocks."""

from rockphypy import BW, EM, GM, Anisotropy, Fluid


def hertz_mindlin(phi=0.36, sigma=20.0, G=44.0):
    """rockphypy.GM.hertzmindlin"""
    return GM.hertzmindlin(36.6, G, phi, 8.6, sigma, 0.8)


def hashin_shtrikman(f=0.4, K1=36.0, G1=45.0):
    """rockphypy.EM.HS"""
    return EM.HS(f, K1, 20.0, G1, 10.0, "upper")


def gassmann(K_dry=10.0, phi=0.25):
    """rockphypy.Fluid.Gassmann"""
    return Fluid.Gassmann(K_dry, 8.0, 36.6, 2.2, phi)


def brine(T=80.0, P=20.0, S=0.035):
    """rockphypy.BW.rho_K_brine"""
    return BW.rho_K_brine(T, P, S)


def thomsen(C11=40.0, C33=30.0, C13=10.0, C44=8.0):
    """rockphypy.Anisotropy.Thomsen"""
    return Anisotropy.Thomsen(C11, C33, C13, C44, 12.0, 2.5, 30.0)
