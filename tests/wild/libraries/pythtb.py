"""PythTB: tight-binding models of solids."""

import numpy as np
from pythtb import tb_model

PATH = np.array([[0.1, 0.2], [0.3, 0.25]])


def _haldane(delta, t, t2):
    model = tb_model(2, 2, [[1.0, 0.0], [0.5, np.sqrt(3.0) / 2.0]], [[1 / 3, 1 / 3], [2 / 3, 2 / 3]])
    model.set_onsite([-delta, delta])
    for cell in ([0, 0], [-1, 0], [0, -1]):
        model.set_hop(t, 0, 1, cell)
    for i, j, cell in ((0, 0, [1, 0]), (1, 1, [-1, 1]), (1, 1, [0, -1])):
        model.set_hop(t2 * 1j, i, j, cell)
    return model


def bands(delta=0.2, t=-1.0, t2=0.15):
    """pythtb.tb_model.solve_all"""
    return _haldane(delta, t, t2).solve_all(PATH)


def hamiltonian(delta=0.2, t=-1.0):
    """pythtb.tb_model.set_hop"""
    return abs(_haldane(delta, t, 0.15)._gen_ham([0.1, 0.2]))


def velocity(delta=0.2, t=-1.0):
    """pythtb.tb_model.solve_one"""
    return _haldane(delta, t, 0.15).solve_one([0.1, 0.2])
