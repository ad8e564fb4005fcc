"""AHRS: attitude from gyroscopes, accelerometers and magnetometers."""

import ahrs
import numpy as np
from ahrs.common import orientation
from ahrs.common.frames import geodetic2ecef
from ahrs.filters import EKF, Madgwick, Mahony, Tilt

ACC = (0.3, 0.4, 9.7)
MAG = (22.0, 3.0, -40.0)
Q0 = np.array([0.9, 0.1, 0.3, 0.3])


def madgwick(gyr=(0.1, 0.2, -0.1), acc=ACC):
    """ahrs.filters.Madgwick.updateIMU"""
    return Madgwick().updateIMU(Q0 / np.linalg.norm(Q0), gyr=gyr, acc=acc)


def mahony(gyr=(0.1, 0.2, -0.1), acc=ACC, mag=MAG):
    """ahrs.filters.Mahony.updateMARG"""
    return Mahony().updateMARG(Q0 / np.linalg.norm(Q0), gyr=gyr, acc=acc, mag=mag)


def kalman(gyr=(0.1, 0.2, -0.1), acc=ACC):
    """ahrs.filters.EKF.update"""
    return EKF().update(Q0 / np.linalg.norm(Q0), gyr, acc)


def tilt(acc=ACC):
    """ahrs.filters.Tilt.estimate"""
    return Tilt().estimate(acc)


def compass(acc=ACC, mag=MAG):
    """ahrs.common.orientation.ecompass"""
    return orientation.ecompass(acc, mag)


def quaternion(q=(0.8, 0.2, 0.4, 0.4), v=(1.0, 2.0, 3.0)):
    """ahrs.Quaternion.rotate"""
    return ahrs.Quaternion(q).rotate(v)


def earth(lat=0.8, lon=0.2, h=100.0):
    """ahrs.common.frames.geodetic2ecef"""
    return geodetic2ecef(lat, lon, h)


def matrix(q=(0.8, 0.2, 0.4, 0.4)):
    """ahrs.common.orientation.q2R"""
    return orientation.q2R(q)
