"""A package with a function."""

import numpy as np


def energy(stiffness, x):
    """The energy of springs that are stretched by x."""
    return np.sum(stiffness * x**2) / 2
