"""vmdpy: variational decomposition of signals into modes."""

import numpy as np
from vmdpy import VMD

T = np.linspace(0.0, 1.0, 32, endpoint=False)
SIGNAL = np.cos(4 * np.pi * T) + 0.4 * np.cos(18 * np.pi * T)


def modes(f=SIGNAL, alpha=200.0):
    """vmdpy.VMD"""
    return VMD(f, alpha, 0.0, 2, 0, 1, 1e-3)[0]


def frequencies(f=SIGNAL):
    """vmdpy.VMD(omega)"""
    return VMD(f, 200.0, 0.1, 2, 0, 1, 1e-2)[2][-1]
