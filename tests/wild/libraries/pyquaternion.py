"""pyquaternion: quaternions."""

import numpy as np
from pyquaternion import Quaternion

OTHER = Quaternion(0.5, 0.5, -0.5, 0.5)


def product(q=(0.8, 0.2, 0.4, 0.4)):
    """pyquaternion.Quaternion.__mul__"""
    return (Quaternion(q) * OTHER).elements


def rotated(angle=0.7, v=(1.0, 2.0, 3.0)):
    """pyquaternion.Quaternion.rotate"""
    return Quaternion(axis=[0.3, 0.4, 0.86], angle=angle).rotate(v)


def slerp(w=0.9, x=0.2, y=0.4, z=0.4, amount=0.3):
    """pyquaternion.Quaternion.slerp"""
    return Quaternion.slerp(Quaternion(w, x, y, z), OTHER, amount).elements


def matrix(q=(0.9, 0.2, 0.4, 0.4)):
    """pyquaternion.Quaternion.rotation_matrix"""
    return Quaternion(q).rotation_matrix


def logarithm(q=(0.8, 0.2, 0.4, 0.4)):
    """pyquaternion.Quaternion.log"""
    return Quaternion.log(Quaternion(q)).elements


def from_matrix(angle=0.7):
    """pyquaternion.Quaternion(matrix)"""
    c, s = np.cos(angle), np.sin(angle)
    return Quaternion(matrix=np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])).yaw_pitch_roll[0]
