"""pMuTT: thermochemistry of catalysts."""

import numpy as np
from pmutt.empirical.nasa import Nasa
from pmutt.statmech import StatMech, elec, rot, trans, vib

LOW = np.array([4.2, -2.0e-3, 6.5e-6, -5.5e-9, 1.8e-12, -3.0e4, -0.85])
HIGH = np.array([2.7, 2.9e-3, -7.7e-7, 9.4e-11, -4.3e-15, -2.99e4, 6.88])


def vibrations(wavenumbers=(3825.4, 3710.3, 1582.5), T=400.0):
    """pmutt.statmech.vib.HarmonicVib"""
    modes = vib.HarmonicVib(vib_wavenumbers=wavenumbers)
    return modes.get_CvoR(T=T), modes.get_SoR(T=T), modes.get_UoRT(T=T)


def translation(T=400.0, P=1.5):
    """pmutt.statmech.trans.FreeTrans"""
    return trans.FreeTrans(molecular_weight=18.0, n_degrees=3).get_SoR(T=T, P=P)


def gibbs(T=400.0, potential=-14.2):
    """pmutt.statmech.StatMech.get_GoRT"""
    water = StatMech(
        name="H2O",
        trans_model=trans.FreeTrans(n_degrees=3, molecular_weight=18.0),
        vib_model=vib.HarmonicVib(vib_wavenumbers=[3825.4, 3710.3, 1582.5]),
        rot_model=rot.RigidRotor(symmetrynumber=2, rot_temperatures=[40.1, 20.9, 13.4], geometry="nonlinear"),
        elec_model=elec.GroundStateElec(potentialenergy=potential, spin=0),
    )
    return water.get_GoRT(T=T, P=1.0)


def nasa(T=500.0, a_low=LOW):
    """pmutt.empirical.nasa.Nasa.get_GoRT"""
    gas = Nasa(name="H2O", T_low=200.0, T_mid=1000.0, T_high=3500.0, a_low=a_low, a_high=HIGH)
    return gas.get_CpoR(T=T), gas.get_HoRT(T=T), gas.get_GoRT(T=T)


def solid(temperature=300.0, T=400.0):
    """pmutt.statmech.vib.EinsteinVib"""
    return vib.EinsteinVib(einstein_temperature=temperature).get_CvoR(T=T)
