"""transforms3d: conversions between descriptions of rotations."""

import numpy as np
from transforms3d import affines, axangles, euler, quaternions, reflections


def euler_to_matrix(ai=0.1, aj=0.2, ak=0.3):
    """transforms3d.euler.euler2mat"""
    return euler.euler2mat(ai, aj, ak, "syxz")


def matrix_to_euler(ai=0.1, aj=0.2, ak=0.3):
    """transforms3d.euler.mat2euler"""
    return euler.mat2euler(euler.euler2mat(ai, aj, ak), "rzyx")


def multiply(p=(0.8, 0.2, 0.4, 0.4), q=(0.5, 0.5, -0.5, 0.5)):
    """transforms3d.quaternions.qmult"""
    return quaternions.qmult(p, q)


def axis_angle(axis=(1.0, 2.0, 0.5), theta=0.6):
    """transforms3d.axangles.axangle2mat"""
    return axangles.axangle2mat(axis, theta)


def compose(T=(1.0, 2.0, 3.0), Z=(1.1, 0.9, 1.3), S=(0.1, 0.2, 0.3)):
    """transforms3d.affines.compose"""
    return affines.compose(T, np.eye(3), Z, S)


def decompose(A=((1.1, 0.1, 0.2, 1.0), (0.0, 0.9, 0.3, 2.0), (0.1, 0.0, 1.3, 3.0), (0.0, 0.0, 0.0, 1.0))):
    """transforms3d.affines.decompose44"""
    return affines.decompose44(A)[1:]


def mirror(normal=(0.6, 0.5, 0.3), point=(1.0, 2.0, 3.0)):
    """transforms3d.reflections.rfnorm2aff"""
    return reflections.rfnorm2aff(normal, point)
