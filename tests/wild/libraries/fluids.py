"""fluids: flow in pipes and channels."""

import fluids


def friction_factor(Re=1e5, eD=1e-4):
    """fluids.friction_factor"""
    return fluids.friction_factor(Re=Re, eD=eD)


def one_phase_dP(m=10.0, rho=1000.0, mu=1e-5, D=0.1, L=10.0):
    """fluids.one_phase_dP"""
    return fluids.one_phase_dP(m, rho, mu, D, 0.0, L)


def two_phase_dP(m=0.6, x=0.1, rhol=915.0, rhog=2.67, mul=180e-6, mug=14e-6, sigma=0.0487):
    """fluids.two_phase_dP"""
    return fluids.two_phase_dP(m, x, rhol=rhol, D=0.05, L=1.0, rhog=rhog, mul=mul, mug=mug, sigma=sigma)


def isothermal_gas(rho=11.3, fd=0.00185, P1=1e6, L=1000.0, D=0.5):
    """fluids.isothermal_gas"""
    return fluids.isothermal_gas(rho=rho, fd=fd, P1=P1, P2=9e5, L=L, D=D)


def atmosphere(Z=5000.0):
    """fluids.ATMOSPHERE_1976"""
    air = fluids.ATMOSPHERE_1976(Z)
    return air.T, air.P, air.rho, air.mu


def tank(D=1.5, L=5.0, h=0.6):
    """fluids.TANK.V_from_h"""
    vessel = fluids.TANK(D=D, L=L, horizontal=True, sideA="ellipsoidal", sideB="conical", sideA_a=0.4, sideB_a=0.7)
    return vessel.V_from_h(h)
