"""chemicals: properties of pure substances and mixtures."""

import chemicals


def saturation_pressure(T=300.0, Tc=369.83, Pc=4.248e6, omega=0.152):
    """chemicals.Lee_Kesler"""
    return chemicals.Lee_Kesler(T, Tc, Pc, omega)


def wagner(T=100.0):
    """chemicals.Wagner"""
    return chemicals.Wagner(T, 190.53, 4596420.0, a=-6.00435, b=1.1885, c=-0.834082, d=-1.22833)


def rachford_rice(zs=(0.5, 0.3, 0.2), Ks=(1.685, 0.742, 0.532)):
    """chemicals.flash_inner_loop"""
    return chemicals.flash_inner_loop(zs=list(zs), Ks=list(Ks))


def water_density(T=300.0, P=1e6):
    """chemicals.iapws95_rho"""
    return chemicals.iapws95_rho(T, P)


def costald(T=272.03889, Tc=369.83333, Vc=0.20008161e-3, omega=0.1532):
    """chemicals.COSTALD"""
    return chemicals.COSTALD(T, Tc, Vc, omega)


def viscosity_of_gas_mixture(zs=(0.6, 0.4), mus=(1.2e-5, 1.9e-5)):
    """chemicals.Wilke"""
    return chemicals.Wilke(ys=list(zs), mus=list(mus), MWs=[16.04, 28.01])
