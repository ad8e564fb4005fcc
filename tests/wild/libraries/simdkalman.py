"""simdkalman: Kalman filters of many series at once."""

import numpy as np
import simdkalman

DATA = np.cumsum(np.random.default_rng(0).standard_normal((2, 6)), axis=1)


def _filter(q, r):
    return simdkalman.KalmanFilter(
        state_transition=[[1, 1], [0, 1]],
        process_noise=np.diag([0.1, q]),
        observation_model=[[1, 0]],
        observation_noise=r,
    )


def smoothed(data=DATA, q=0.02, r=1.5):
    """simdkalman.KalmanFilter.smooth"""
    return _filter(q, r).smooth(data).states.mean


def predicted(data=DATA):
    """simdkalman.KalmanFilter.predict"""
    return _filter(0.02, 1.5).predict(data, 3).observations.mean


def likelihood(data=DATA, r=1.5):
    """simdkalman.KalmanFilter.compute"""
    return _filter(0.02, r).compute(data, 0, log_likelihood=True).log_likelihood
