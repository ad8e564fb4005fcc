"""qc-gbasis: integrals of Gaussian basis functions."""

import numpy as np
from gbasis.contractions import GeneralizedContractionShell
from gbasis.evals.eval import evaluate_basis
from gbasis.integrals.kinetic_energy import kinetic_energy_integral
from gbasis.integrals.nuclear_electron_attraction import nuclear_electron_attraction_integral
from gbasis.integrals.overlap import overlap_integral


def _molecule(centre, exponents):
    coefficients = np.array([0.154, 0.535, 0.444])
    moved = GeneralizedContractionShell(0, centre, coefficients, exponents, "spherical")
    fixed = GeneralizedContractionShell(
        1, np.array([0.0, 0.1, 0.2]), coefficients, np.array([2.9, 0.7, 0.2]), "cartesian"
    )
    return [moved, fixed]


def overlap(centre=(0.0, 0.0, 1.4), exponents=(3.425, 0.624, 0.169)):
    """gbasis.integrals.overlap.overlap_integral"""
    return overlap_integral(_molecule(centre, exponents))


def kinetic(centre=(0.0, 0.0, 1.4), exponents=(3.425, 0.624, 0.169)):
    """gbasis.integrals.kinetic_energy.kinetic_energy_integral"""
    return kinetic_energy_integral(_molecule(centre, exponents))


def attraction(centre=(0.0, 0.0, 1.4)):
    """gbasis.integrals.nuclear_electron_attraction.nuclear_electron_attraction_integral"""
    shells = _molecule(centre, np.array([3.425, 0.624, 0.169]))
    return nuclear_electron_attraction_integral(shells, np.array([[0.0, 0.3, 0.0]]), np.array([1.0]))


def orbitals(points=((0.1, 0.2, 0.3), (0.5, -0.2, 1.0))):
    """gbasis.evals.eval.evaluate_basis"""
    return evaluate_basis(_molecule(np.array([0.0, 0.0, 1.4]), np.array([3.425, 0.624, 0.169])), points)
