"""ase: energies and geometry of atoms."""

import ase.geometry
import ase.units
import numpy as np
from ase import Atoms
from ase.calculators.emt import EMT
from ase.calculators.lj import LennardJones
from ase.calculators.morse import MorsePotential
from ase.calculators.tip3p import TIP3P
from ase.eos import EquationOfState
from ase.thermochemistry import IdealGasThermo

CLUSTER = ((0.0, 0.0, 0.0), (1.1, 0.1, 0.0), (0.2, 1.2, 0.1), (0.3, 0.4, 1.15))
WATER = ((0.0, 0.0, 0.0), (0.957, 0.0, 0.0), (-0.24, 0.927, 0.0), (3.0, 0.2, 0.1), (3.9, 0.3, 0.1), (2.7, 1.1, 0.2))


def lennard_jones(positions=CLUSTER):
    """ase.calculators.lj.LennardJones"""
    return Atoms("Ar4", positions=positions, calculator=LennardJones()).get_potential_energy()


def morse(positions=CLUSTER):
    """ase.calculators.morse.MorsePotential"""
    return Atoms("Ar4", positions=positions, calculator=MorsePotential()).get_potential_energy()


def effective_medium(d=2.6):
    """ase.calculators.emt.EMT"""
    return Atoms("Cu2", positions=[[0, 0, 0], [0, 0, d]], calculator=EMT()).get_potential_energy()


def angle(positions=CLUSTER):
    """ase.Atoms.get_angle"""
    atoms = Atoms("Ar4", positions=positions)
    return atoms.get_angle(0, 1, 2), atoms.get_dihedral(0, 1, 2, 3)


def cell_parameters(cell=((3.0, 0.1, 0.2), (0.0, 3.5, 0.3), (0.1, 0.2, 4.0))):
    """ase.geometry.cell_to_cellpar"""
    return ase.geometry.cell_to_cellpar(cell)


def water(positions=WATER):
    """ase.calculators.tip3p.TIP3P"""
    return Atoms("OH2OH2", positions=positions, calculator=TIP3P(rc=9.0)).get_potential_energy()


def ideal_gas(energies=(0.05, 0.2, 0.4, 0.45), temperature=300.0):
    """ase.thermochemistry.IdealGasThermo"""
    atoms = Atoms("CO2", positions=[[0, 0, 0], [0, 0, 1.16], [0, 0, -1.16]])
    gas = IdealGasThermo(vib_energies=energies, geometry="linear", atoms=atoms, symmetrynumber=2, spin=0)
    return gas.get_gibbs_energy(temperature, 101325.0, verbose=False)


def equation_of_state(energies=(-1.0, -1.3, -1.4, -1.32, -1.05)):
    """ase.eos.EquationOfState"""
    return EquationOfState(np.array([14.0, 15.0, 16.0, 17.0, 18.0]), energies, eos="sj").fit(warn=False)[:2]
