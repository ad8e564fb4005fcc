"""thermo: equations of state, activity coefficients and flashes."""

import thermo
from thermo import PRMIX, UNIFAC, CEOSGas, CEOSLiquid, ChemicalConstantsPackage, FlashVL, PropertyCorrelationsPackage
from thermo.nrtl import NRTL


def peng_robinson(T=400.0, P=1e6):
    """thermo.PR"""
    state = thermo.PR(Tc=507.6, Pc=3025000.0, omega=0.2975, T=T, P=P)
    return state.V_g, state.H_dep_g, state.S_dep_g, state.fugacity_g


def mixture(T=115.0, P=1e6, zs=(0.5, 0.5)):
    """thermo.PRMIX"""
    state = PRMIX(
        T=T,
        P=P,
        Tcs=[126.1, 190.6],
        Pcs=[33.94e5, 46.04e5],
        omegas=[0.04, 0.011],
        zs=list(zs),
        kijs=[[0, 0.01], [0.01, 0]],
    )
    return state.V_l, state.V_g, state.lnphis_l


def nrtl(T=343.15, x=0.252):
    """thermo.NRTL.gammas"""
    return NRTL(T=T, xs=[x, 1 - x], tau_bs=[[0, -61.02], [682.8, 0]], alpha_cs=[[0, 0.2974], [0.2974, 0]]).gammas()


def unifac(T=333.15, x=0.4):
    """thermo.UNIFAC.from_subgroups"""
    model = UNIFAC.from_subgroups(T=T, xs=[x, 1 - x], chemgroups=[{1: 2, 2: 4}, {1: 1, 2: 1, 18: 1}])
    return model.gammas(), model.GE()


def flash(T=150.0, P=2e6):
    """thermo.FlashVL.flash"""
    constants = ChemicalConstantsPackage(
        Tcs=[190.564, 305.32],
        Pcs=[4599000.0, 4872000.0],
        omegas=[0.008, 0.098],
        MWs=[16.04, 30.07],
        CASs=["74-82-8", "74-84-0"],
    )
    gases = [thermo.HeatCapacityGas(poly_fit=(50.0, 1000.0, [1e-9, 2e-6, 1e-2, 30.0 + 5 * i])) for i in range(2)]
    correlations = PropertyCorrelationsPackage(constants=constants, HeatCapacityGases=gases, skip_missing=True)
    eos = {"Pcs": constants.Pcs, "Tcs": constants.Tcs, "omegas": constants.omegas}
    gas = CEOSGas(PRMIX, eos_kwargs=eos, HeatCapacityGases=gases)
    liquid = CEOSLiquid(PRMIX, eos_kwargs=eos, HeatCapacityGases=gases)
    state = FlashVL(constants, correlations, liquid=liquid, gas=gas).flash(zs=[0.5, 0.5], T=T, P=P)
    return state.H(), state.rho_mass()
