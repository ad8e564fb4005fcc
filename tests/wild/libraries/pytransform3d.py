"""pytransform3d: rotations and transformations in space."""

import numpy as np
from pytransform3d import rotations, trajectories, transformations


def from_axis_angle(a=(0.3, 0.4, 0.86, 0.7)):
    """pytransform3d.rotations.matrix_from_axis_angle"""
    return rotations.matrix_from_axis_angle(a)


def from_quaternion(q=(0.8, 0.2, 0.4, 0.4)):
    """pytransform3d.rotations.matrix_from_quaternion"""
    return rotations.matrix_from_quaternion(q)


def slerp(q=(0.8, 0.2, 0.4, 0.4), t=0.3):
    """pytransform3d.rotations.quaternion_slerp"""
    return rotations.quaternion_slerp(q, np.array([0.5, 0.5, 0.5, 0.5]), t)


def exponential(Stheta=(0.3, 0.2, 0.5, 1.0, -0.4, 0.2)):
    """pytransform3d.transformations.transform_from_exponential_coordinates"""
    return transformations.transform_from_exponential_coordinates(Stheta)


def euler(e=(0.3, 0.2, 0.5)):
    """pytransform3d.rotations.active_matrix_from_intrinsic_euler_xyz"""
    return rotations.active_matrix_from_intrinsic_euler_xyz(e)


def adjoint(Stheta=(0.3, 0.2, 0.5, 1.0, -0.4, 0.2)):
    """pytransform3d.transformations.adjoint_from_transform"""
    return transformations.adjoint_from_transform(transformations.transform_from_exponential_coordinates(Stheta))


def batch(P=((1.0, 2.0, 3.0, 0.8, 0.2, 0.4, 0.4), (0.5, 0.1, 0.2, 0.5, 0.5, 0.5, 0.5))):
    """pytransform3d.trajectories.transforms_from_pqs"""
    return trajectories.transforms_from_pqs(P)
