"""nashpy: games of two players."""

import nashpy
import numpy as np

A = ((1.0, 2.5), (3.0, 0.5))
B = ((2.0, 1.2), (0.3, 1.9))


def payoff(A=A, B=B, row=(0.3, 0.7)):
    """nashpy.Game.__getitem__"""
    return nashpy.Game(A, B)[row, np.array([0.4, 0.6])]


def equilibrium(A=A, B=B):
    """nashpy.Game.support_enumeration"""
    return list(nashpy.Game(A, B).support_enumeration())[-1]


def replicator(A=A):
    """nashpy.Game.replicator_dynamics"""
    return nashpy.Game(A).replicator_dynamics(y0=np.array([0.3, 0.7]), timepoints=np.linspace(0, 0.5, 3))


def lemke_howson(A=A, B=B):
    """nashpy.Game.lemke_howson"""
    return nashpy.Game(A, B).lemke_howson(0)
