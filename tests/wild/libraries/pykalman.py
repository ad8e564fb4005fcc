"""pykalman: Kalman filters and smoothers."""

import numpy as np
from pykalman import KalmanFilter, UnscentedKalmanFilter

OBSERVATIONS = ((1.0, 0.1), (0.3, 0.2), (0.2, -0.4), (0.5, 0.1))


def filtered(observations=OBSERVATIONS, F=((1.0, 0.2), (0.1, 1.0))):
    """pykalman.KalmanFilter.filter"""
    return KalmanFilter(transition_matrices=F, observation_matrices=[[0.1, 0.5], [-0.3, 0.2]]).filter(observations)


def smoothed(observations=OBSERVATIONS):
    """pykalman.KalmanFilter.smooth"""
    return KalmanFilter(transition_matrices=[[1, 1], [0, 1]], observation_matrices=[[0.1, 0.5], [-0.3, 0.2]]).smooth(
        observations
    )[0]


def likelihood(observations=OBSERVATIONS, R=((1.0, 0.1), (0.1, 2.0))):
    """pykalman.KalmanFilter.loglikelihood"""
    return KalmanFilter(transition_matrices=[[1, 1], [0, 1]], observation_covariance=R).loglikelihood(observations)


def unscented(observations=((0.5,), (0.7,), (0.2,))):
    """pykalman.UnscentedKalmanFilter.filter"""
    return UnscentedKalmanFilter(lambda x, w: x + np.sin(w), lambda x, v: x + v, random_state=0).filter(observations)
