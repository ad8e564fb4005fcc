"""burnman: minerals of the deep Earth."""

from burnman.classes.mineral import Mineral
from burnman.eos import birch_murnaghan, debye, vinet

PERICLASE = {
    "name": "periclase",
    "equation_of_state": "slb3",
    "K_0": 161.4e9,
    "Kprime_0": 3.84,
    "G_0": 131.0e9,
    "Gprime_0": 2.1,
    "V_0": 1.1244e-5,
    "E_0": 0.0,
    "F_0": -596000.0,
    "T_0": 300.0,
    "P_0": 0.0,
    "Debye_0": 767.0,
    "grueneisen_0": 1.36,
    "q_0": 1.7,
    "eta_s_0": 2.8,
    "molar_mass": 0.0403,
    "n": 2,
}


def stixrude(pressure=50e9, temperature=2000.0):
    """burnman.Mineral.set_state"""
    rock = Mineral(PERICLASE)
    rock.set_state(pressure, temperature)
    return rock.V, rock.K_T / 1e16, rock.G / 1e16


def birch(volume=1.0e-5, K_0=161.4e9):
    """burnman.eos.birch_murnaghan.bulk_modulus"""
    return birch_murnaghan.bulk_modulus(volume, {**PERICLASE, "K_0": K_0})


def vinet_pressure(x=0.9, K_0=161.4e9):
    """burnman.eos.vinet.vinet"""
    return vinet.vinet(x, {**PERICLASE, "K_0": K_0})


def heat(T=1000.0, debye_T=767.0):
    """burnman.eos.debye.molar_heat_capacity_v"""
    return debye.molar_heat_capacity_v(T, debye_T, 2)


def shear(volume=1.0e-5, G_0=131.0e9):
    """burnman.eos.birch_murnaghan.shear_modulus_third_order"""
    return birch_murnaghan.shear_modulus_third_order(volume, {**PERICLASE, "G_0": G_0})
