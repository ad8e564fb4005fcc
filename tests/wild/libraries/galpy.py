"""galpy: dynamics of galaxies."""

from galpy.orbit import Orbit
from galpy.potential import (
    HernquistPotential,
    LogarithmicHaloPotential,
    MiyamotoNagaiPotential,
    NFWPotential,
    evaluatePotentials,
    evaluateRforces,
    vcirc,
)


def miyamoto_nagai(a=0.5, b=0.0375, R=1.0, z=0.1):
    """galpy.potential.MiyamotoNagaiPotential"""
    return MiyamotoNagaiPotential(a=a, b=b, normalize=1.0)(R, z)


def force(a=2.0, R=1.0, z=0.1):
    """galpy.potential.evaluateRforces"""
    return evaluateRforces([NFWPotential(a=a, normalize=0.4), HernquistPotential(a=0.3, normalize=0.6)], R, z)


def rotation_curve(R=(0.5, 1.0, 2.0)):
    """galpy.potential.vcirc"""
    return vcirc(MiyamotoNagaiPotential(a=0.5, b=0.0375, normalize=1.0), R)


def triaxial(q=0.9, core=0.1, R=1.0, z=0.2, phi=0.3):
    """galpy.potential.LogarithmicHaloPotential"""
    return evaluatePotentials(LogarithmicHaloPotential(q=q, core=core, b=0.8), R, z, phi=phi)


def energy(R=1.0, vR=0.1, vT=1.1, z=0.1, vz=0.05):
    """galpy.orbit.Orbit.E"""
    return Orbit([R, vR, vT, z, vz, 0.0]).E(pot=MiyamotoNagaiPotential(a=0.5, b=0.0375, normalize=1.0))
