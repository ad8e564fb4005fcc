"""geomeTRIC: internal coordinates of molecules."""

import numpy as np
from geometric import internal, rotate

XYZ = (0.0, 0.0, 0.0, 1.4, 0.1, 0.0, 1.8, 1.4, 0.2, 3.1, 1.7, 0.9)


def distance(xyz=XYZ):
    """geometric.internal.Distance.value"""
    return internal.Distance(0, 1).value(xyz)


def angle(xyz=XYZ):
    """geometric.internal.Angle.value"""
    return internal.Angle(0, 1, 2).value(xyz)


def dihedral(xyz=XYZ):
    """geometric.internal.Dihedral.value"""
    return internal.Dihedral(0, 1, 2, 3).value(xyz)


def derivative(xyz=XYZ):
    """geometric.internal.Dihedral.derivative"""
    return internal.Dihedral(0, 1, 2, 3).derivative(xyz.reshape(-1, 3))


def rotation(xyz=((0.0, 0.0, 0.0), (1.4, 0.1, 0.0), (1.8, 1.4, 0.2), (3.1, 1.7, 0.9))):
    """geometric.rotate.get_rot"""
    return rotate.get_rot(xyz, np.array([[0.1, 0.0, 0.0], [1.3, 0.3, 0.1], [1.5, 1.5, 0.4], [2.9, 1.9, 1.2]]))
