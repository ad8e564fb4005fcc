"""HydroErr: errors of hydrological models."""

import HydroErr
import numpy as np

OBSERVED = np.array([4.7, 6.0, 10.0, 2.5, 4.0, 6.8])
SIMULATED = (5.0, 7.0, 9.0, 2.0, 4.5, 6.7)


def nash_sutcliffe(simulated=SIMULATED):
    """HydroErr.nse"""
    return HydroErr.nse(simulated, OBSERVED)


def kling_gupta(simulated=SIMULATED):
    """HydroErr.kge_2012"""
    return HydroErr.kge_2012(simulated, OBSERVED)


def spectral_angle(simulated=SIMULATED):
    """HydroErr.sa"""
    return HydroErr.sa(simulated, OBSERVED)


def agreement(simulated=SIMULATED):
    """HydroErr.d"""
    return HydroErr.d(simulated, OBSERVED)


def correlation(simulated=SIMULATED):
    """HydroErr.pearson_r"""
    return HydroErr.pearson_r(simulated, OBSERVED)


def log_error(simulated=SIMULATED):
    """HydroErr.rmsle"""
    return HydroErr.rmsle(simulated, OBSERVED)
