"""stonesoup: tracking of targets."""

import datetime

import numpy as np
from stonesoup import functions
from stonesoup.models.measurement.nonlinear import CartesianToBearingRange
from stonesoup.models.transition.linear import ConstantVelocity
from stonesoup.types.state import GaussianState, State


def spherical(x=1.0, y=2.0, z=0.5):
    """stonesoup.functions.cart2sphere"""
    return functions.cart2sphere(x, y, z)


def measured(x=1.0, y=2.0):
    """stonesoup.models.measurement.nonlinear.CartesianToBearingRange"""
    model = CartesianToBearingRange(ndim_state=2, mapping=[0, 1], noise_covar=np.diag([0.1, 0.1]))
    return functions.cart2pol(*model.inverse_function(State(model.function(State([[x], [y]]), noise=False))).ravel())


def rotation(angles=((0.1,), (0.2,), (0.3,))):
    """stonesoup.functions.build_rotation_matrix"""
    return functions.build_rotation_matrix(angles)


def noise(coefficient=0.3):
    """stonesoup.models.transition.linear.ConstantVelocity.covar"""
    return ConstantVelocity(coefficient).covar(time_interval=datetime.timedelta(seconds=2))


def sigma_points(mean=((1.0,), (2.0,)), covariance=((2.0, 0.3), (0.3, 1.0))):
    """stonesoup.functions.gauss2sigma"""
    states = functions.gauss2sigma(GaussianState(mean, covariance))[0]
    return states.state_vector


def square_root(matrix=((2.0, 0.3), (0.3, 1.0))):
    """stonesoup.functions.tria"""
    return abs(functions.tria(matrix))
