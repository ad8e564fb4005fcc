"""vg: vector geometry."""

import numpy as np
import vg

U = (1.0, 2.0, 3.0)
V = (0.3, -0.4, 1.0)


def angle(u=U, v=V):
    """vg.angle"""
    return vg.angle(u, v)


def signed_angle(u=U, v=V):
    """vg.signed_angle"""
    return vg.signed_angle(u, v, look=vg.basis.z)


def rotated(u=U, angle=30.0):
    """vg.rotate"""
    return vg.rotate(u, np.array([0.6, 0.0, 0.8]), angle)


def rejected(u=U, v=V):
    """vg.reject"""
    return vg.reject(u, from_v=v)


def normalized(u=(U, V)):
    """vg.normalize"""
    return vg.normalize(u)


def axes(points=((0.0, 0.0, 0.1), (1.0, 0.2, 0.0), (0.3, 1.2, 0.1), (1.1, 2.3, 0.9))):
    """vg.principal_components"""
    return vg.principal_components(points)
