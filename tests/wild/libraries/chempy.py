"""chempy: physical chemistry."""

from chempy import electrolytes, kinetics
from chempy.einstein_smoluchowski import electrical_mobility_from_D
from chempy.henry import Henry
from chempy.properties.water_density_tanaka_2001 import water_density
from chempy.properties.water_viscosity_korson_1969 import water_viscosity


def density(T=298.15):
    """chempy.properties.water_density_tanaka_2001.water_density"""
    return water_density(T)


def viscosity(T=300.0):
    """chempy.properties.water_viscosity_korson_1969.water_viscosity"""
    return water_viscosity(T)


def activity(eps_r=78.5, T=298.15, IS=0.05):
    """chempy.electrolytes.davies_log_gamma"""
    return electrolytes.davies_log_gamma(IS, 2, electrolytes.A(eps_r, T, 997.0))


def arrhenius(A=1e10, Ea=40e3, T=300.0):
    """chempy.kinetics.arrhenius.arrhenius_equation"""
    return kinetics.arrhenius.arrhenius_equation(A, Ea, T)


def henry(T=310.0, P=0.21):
    """chempy.henry.Henry"""
    return Henry(1.2e-3, 1800, ref="carpenter_1966")(T) * P


def mobility(D=1e-9, T=298.0):
    """chempy.einstein_smoluchowski.electrical_mobility_from_D"""
    return electrical_mobility_from_D(D, 1, T)
