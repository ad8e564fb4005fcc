"""properscoring: scores of forecasts."""

import numpy as np
import properscoring

MEMBERS = np.random.default_rng(0).standard_normal((3, 5))


def gaussian(x=(0.1, 0.5), mu=(0.3, 0.2), sig=(1.0, 0.7)):
    """properscoring.crps_gaussian"""
    return properscoring.crps_gaussian(x, mu, sig)


def ensemble(observations=(0.1, 0.5, -0.3), forecasts=MEMBERS):
    """properscoring.crps_ensemble"""
    return properscoring.crps_ensemble(observations, forecasts)


def brier(probability=(0.3, 0.8)):
    """properscoring.brier_score"""
    return properscoring.brier_score(np.array([0.0, 1.0]), probability)
