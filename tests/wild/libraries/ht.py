"""ht: heat transfer."""

import ht


def nusselt_in_pipe(Re=1e5, Pr=1.2, eD=1e-3):
    """ht.Nu_conv_internal"""
    return ht.Nu_conv_internal(Re=Re, Pr=Pr, eD=eD)


def boiling(rhol=957.854, rhog=0.595593, mul=2.79e-4, kl=0.68, Cpl=4217.0, Hvap=2.257e6, sigma=0.0589, Te=4.9):
    """ht.Rohsenow"""
    return ht.Rohsenow(rhol=rhol, rhog=rhog, mul=mul, kl=kl, Cpl=Cpl, Hvap=Hvap, sigma=sigma, Te=Te, Csf=0.011, n=1.26)


def exchanger(mh=5.2, mc=1.45, UA=3041.75):
    """ht.effectiveness_NTU_method"""
    solution = ht.effectiveness_NTU_method(
        mh=mh, mc=mc, Cph=1860.0, Cpc=1900.0, subtype="crossflow, mixed Cmax", Tci=15.0, Thi=130.0, UA=UA
    )
    return solution["Q"], solution["Tco"], solution["Tho"]


def log_mean(Thi=100.0, Tho=60.0, Tci=30.0, Tco=40.2):
    """ht.LMTD"""
    return ht.LMTD(Thi=Thi, Tho=Tho, Tci=Tci, Tco=Tco)


def radiation(T=400.0, wavelength=4e-6):
    """ht.blackbody_spectral_radiance"""
    return ht.blackbody_spectral_radiance(T, wavelength)
