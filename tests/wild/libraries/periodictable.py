"""periodictable: scattering of neutrons and X-rays by materials."""

import periodictable
from periodictable import cromermann, fasta, xsf


def neutrons(density=0.99, wavelength=5.0):
    """periodictable.neutron_scattering"""
    sld, cross_sections, depth = periodictable.neutron_scattering("C6H12O6", density=density, wavelength=wavelength)
    return sld, cross_sections, depth


def xray_refraction(density=2.33, energy=8.0):
    """periodictable.xsf.index_of_refraction"""
    n = xsf.index_of_refraction("Si", density=density, energy=energy)
    return n.real, n.imag


def mirror(density=8.9, angle=(0.15, 0.3)):
    """periodictable.xsf.mirror_reflectivity"""
    return xsf.mirror_reflectivity("Ni", density=density, energy=[7.5, 9.3], angle=angle, roughness=3.0)


def form_factor(Q=(0.5, 1.0, 3.0)):
    """periodictable.cromermann.fxrayatq"""
    return cromermann.fxrayatq("Fe", Q)


def contrast(density=1.35):
    """periodictable.fasta.Sequence"""
    return fasta.Molecule("glucose", "C6H12O6", density=density).sld
