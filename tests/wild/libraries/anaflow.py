"""AnaFlow: flow of groundwater to wells."""

import anaflow
import numpy as np

RADII = np.array([1.0, 2.0, 4.0])


def theis(storage=1e-3, transmissivity=1e-4):
    """anaflow.theis"""
    return anaflow.theis([100.0, 1000.0], RADII, storage, transmissivity, rate=-1e-4)


def thiem(transmissivity=1e-4, rate=-1e-4):
    """anaflow.thiem"""
    return anaflow.thiem(RADII, 10.0, transmissivity, rate=rate)


def upscaled(trans_gmean=1e-4, var=0.5, len_scale=5.0):
    """anaflow.ext_thiem_2d"""
    return anaflow.ext_thiem_2d(RADII, 10.0, trans_gmean, var, len_scale, rate=-1e-4)


def fractional(dim=1.5, conductivity=1e-4):
    """anaflow.ext_grf_steady"""
    return anaflow.ext_grf_steady(RADII, 10.0, conductivity, dim=dim, rate=-1e-4)


def step(values=(0.1, 0.4)):
    """anaflow.step_f"""
    return anaflow.step_f(RADII * 2, np.array([0.0, 5.0, 10.0]), values)
