"""PYPOWER: flows in power grids."""

from pypower import idx_brch, idx_bus
from pypower.api import case9, ext2int, makeBdc, makeSbus, makeYbus, ppoption, runpf

REACTANCES = tuple(case9()["branch"][:, idx_brch.BR_X])
LOADS = tuple(case9()["bus"][:, idx_bus.PD])


def admittances(reactances=REACTANCES):
    """pypower.api.makeYbus"""
    grid = ext2int(case9())
    grid["branch"][:, idx_brch.BR_X] = reactances
    return abs(makeYbus(grid["baseMVA"], grid["bus"], grid["branch"])[0].toarray())


def power_flow(loads=LOADS):
    """pypower.api.runpf"""
    grid = case9()
    grid["bus"][:, idx_bus.PD] = loads
    solved, _ = runpf(grid, ppoption(VERBOSE=0, OUT_ALL=0))
    return solved["bus"][:, idx_bus.VM]


def susceptances(reactances=REACTANCES):
    """pypower.api.makeBdc"""
    grid = ext2int(case9())
    grid["branch"][:, idx_brch.BR_X] = reactances
    return makeBdc(grid["baseMVA"], grid["bus"], grid["branch"])[0].toarray()


def injections(loads=LOADS):
    """pypower.api.makeSbus"""
    grid = ext2int(case9())
    grid["bus"][:, idx_bus.PD] = loads
    return makeSbus(grid["baseMVA"], grid["bus"], grid["gen"]).real
