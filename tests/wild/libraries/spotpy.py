"""spotpy: calibration of models of the environment."""

from spotpy import likelihoods, objectivefunctions

OBSERVED = [4.7, 6.0, 10.0, 2.5, 4.0, 6.8]
SIMULATED = (5.0, 7.0, 9.0, 2.0, 4.5, 6.7)


def kling_gupta(simulated=SIMULATED):
    """spotpy.objectivefunctions.kge"""
    return objectivefunctions.kge(OBSERVED, simulated)


def log_nash_sutcliffe(simulated=SIMULATED):
    """spotpy.objectivefunctions.lognashsutcliffe"""
    return objectivefunctions.lognashsutcliffe(OBSERVED, simulated)


def correlation(simulated=SIMULATED):
    """spotpy.objectivefunctions.rsquared"""
    return objectivefunctions.rsquared(OBSERVED, simulated)


def decomposed(simulated=SIMULATED):
    """spotpy.objectivefunctions.decomposed_mse"""
    return objectivefunctions.decomposed_mse(OBSERVED, simulated)


def likelihood(simulated=SIMULATED):
    """spotpy.likelihoods.logLikelihood"""
    return likelihoods.logLikelihood(OBSERVED, simulated, measerror=[0.5] * 6)
