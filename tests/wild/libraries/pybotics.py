"""pybotics: calibration of robots."""

import numpy as np
from pybotics import geometry
from pybotics.predefined_models import ur10
from pybotics.robot import Robot

PARAMETERS = np.asarray(ur10(), float)


def forward(q=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6)):
    """pybotics.robot.Robot.fk"""
    return Robot.from_parameters(ur10()).fk(q)


def jacobian(q=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6)):
    """pybotics.robot.Robot.jacobian_world"""
    return Robot.from_parameters(ur10()).jacobian_world(q)


def torques(q=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6), wrench=(1.0, 2.0, 3.0, 0.1, 0.2, 0.3)):
    """pybotics.robot.Robot.compute_joint_torques"""
    return Robot.from_parameters(ur10()).compute_joint_torques(wrench, q)


def pose(vector=(1.0, 2.0, 3.0, 0.1, 0.2, 0.3)):
    """pybotics.geometry.vector_2_matrix"""
    return geometry.vector_2_matrix(vector)


def back(angle=0.3):
    """pybotics.geometry.matrix_2_vector"""
    return geometry.matrix_2_vector(geometry.rotation_matrix_x(angle) @ geometry.rotation_matrix_y(0.2))


def calibrated(parameters=PARAMETERS):
    """pybotics.robot.Robot.from_parameters"""
    return Robot.from_parameters(parameters).fk(np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]))
