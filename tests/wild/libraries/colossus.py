"""colossus: cosmology and haloes of galaxies."""

from colossus.cosmology import cosmology
from colossus.halo import mass_so, profile_nfw
from colossus.lss import bias

COSMOLOGY = cosmology.setCosmology("planck18", interpolation=False, persistence="")


def distance(z=0.8):
    """colossus.cosmology.cosmology.Cosmology.luminosityDistance"""
    return COSMOLOGY.luminosityDistance(z)


def expansion(z=(0.1, 0.5, 2.0)):
    """colossus.cosmology.cosmology.Cosmology.Hz"""
    return COSMOLOGY.Hz(z)


def growth(z=1.2):
    """colossus.cosmology.cosmology.Cosmology.growthFactor"""
    return COSMOLOGY.growthFactor(z)


def nfw(M=1e12, c=10.0, r=(20.0, 50.0, 200.0)):
    """colossus.halo.profile_nfw.NFWProfile.density"""
    return profile_nfw.NFWProfile(M=M, c=c, z=0.0, mdef="vir").density(r)


def enclosed_mass(rhos=1e7, rs=20.0, r=(20.0, 50.0, 200.0)):
    """colossus.halo.profile_nfw.NFWProfile.enclosedMass"""
    return profile_nfw.NFWProfile(rhos=rhos, rs=rs).enclosedMass(r)


def power_spectrum(k=(0.01, 0.1, 1.0)):
    """colossus.cosmology.cosmology.Cosmology.matterPowerSpectrum"""
    return COSMOLOGY.matterPowerSpectrum(k)


def radius(M=1e12, z=0.5):
    """colossus.halo.mass_so.M_to_R"""
    return mass_so.M_to_R(M, z, "200c")


def halo_bias(nu=1.5):
    """colossus.lss.bias.haloBiasFromNu"""
    return bias.haloBiasFromNu(nu, z=0.0, mdef="200m", model="tinker10")
