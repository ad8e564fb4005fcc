"""filterpy: Kalman filters."""

import numpy as np
from filterpy.common import Q_continuous_white_noise, Q_discrete_white_noise, van_loan_discretization
from filterpy.gh import GHFilter
from filterpy.kalman import KalmanFilter, MerweScaledSigmaPoints, UnscentedKalmanFilter, unscented_transform
from filterpy.stats import gaussian, mahalanobis


def kalman(z=(1.0, 1.9, 3.2), dt=1.0, q=0.1):
    """filterpy.kalman.KalmanFilter"""
    kf = KalmanFilter(dim_x=2, dim_z=1)
    kf.F = np.array([[1.0, dt], [0.0, 1.0]])
    kf.H = np.array([[1.0, 0.0]])
    kf.Q = Q_discrete_white_noise(dim=2, dt=dt, var=q)
    for measurement in z:
        kf.predict()
        kf.update(measurement)
    return kf.x, kf.P, kf.log_likelihood


def _swing(x, dt):
    return x + dt * np.sin(x)


def _range_and_height(x):
    return np.array([np.hypot(x[0], x[1] + 2), x[1]])


def unscented(z=((1.0, 0.1), (1.2, 0.3))):
    """filterpy.kalman.UnscentedKalmanFilter"""
    points = MerweScaledSigmaPoints(2, 0.1, 2.0, 1.0)
    ukf = UnscentedKalmanFilter(dim_x=2, dim_z=2, dt=0.1, hx=_range_and_height, fx=_swing, points=points)
    ukf.x = np.array([1.0, 0.2])
    for measurement in z:
        ukf.predict()
        ukf.update(measurement)
    return ukf.x, ukf.P


def sigma_points(x=(1.0, 2.0), P=((2.0, 0.3), (0.3, 1.0))):
    """filterpy.kalman.MerweScaledSigmaPoints.sigma_points"""
    points = MerweScaledSigmaPoints(2, 0.1, 2.0, 1.0)
    return unscented_transform(points.sigma_points(x, P), points.Wm, points.Wc)


def smoothed(xs=((1.0, 0.5), (1.6, 0.6), (2.1, 0.5)), q=0.1):
    """filterpy.kalman.KalmanFilter.rts_smoother"""
    kf = KalmanFilter(dim_x=2, dim_z=1)
    kf.F = np.array([[1.0, 1.0], [0.0, 1.0]])
    kf.Q = np.eye(2) * q
    return kf.rts_smoother(xs, np.array([np.eye(2)] * 3))[:2]


def discretized(F=((0.0, 1.0), (-1.0, -0.2)), dt=0.1):
    """filterpy.common.van_loan_discretization"""
    return van_loan_discretization(F, np.array([[0.0], [1.0]]), dt)


def noise(dt=0.5, spectral_density=0.3):
    """filterpy.common.Q_continuous_white_noise"""
    return Q_continuous_white_noise(3, dt, spectral_density)


def gh(z=(1.0, 2.1, 2.9), g=0.6, h=0.2):
    """filterpy.gh.GHFilter"""
    return GHFilter(x=0.0, dx=0.5, dt=1.0, g=g, h=h).batch_filter(z)


def distance(x=(1.0, 2.0), P=((2.0, 0.3), (0.3, 1.0))):
    """filterpy.stats.mahalanobis"""
    return mahalanobis(x, np.array([0.4, 1.5]), P)


def density(x=1.0, mean=0.4, var=2.0):
    """filterpy.stats.gaussian"""
    return gaussian(x, mean, var)
