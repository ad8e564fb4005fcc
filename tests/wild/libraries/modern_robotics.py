"""modern-robotics: kinematics and dynamics of robots."""

import modern_robotics as mr
import numpy as np

M = np.array([[-1.0, 0, 0, 0], [0, 1, 0, 6], [0, 0, -1, 2], [0, 0, 0, 1]])
SCREWS = np.array([[0, 0, 1, 4, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, -1, -6, 0, -0.1]], float).T
M01 = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.089159], [0, 0, 0, 1]])
M12 = np.array([[0, 0, 1, 0.28], [0, 1, 0, 0.13585], [-1, 0, 0, 0], [0, 0, 0, 1]])
M23 = np.array([[1, 0, 0, 0], [0, 1, 0, -0.1197], [0, 0, 1, 0.395], [0, 0, 0, 1]])
M34 = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.14225], [0, 0, 0, 1]])
LINKS = np.array([M01, M12, M23, M34])
SHAPES = ((0.01, 0.01, 3.7), (0.2, 0.03, 8.4), (0.05, 0.006, 2.3))
INERTIA = np.array([np.diag([i, i, j, m, m, m]) for i, j, m in SHAPES])
AXES = np.array([[1, 0, 1, 0, 1, 0], [0, 1, 0, -0.089, 0, 0], [0, 1, 0, -0.089, 0, 0.425]]).T
GRAVITY = np.array([0, 0, -9.8])


def forward_kinematics(theta=(1.5, 3.0, 0.7)):
    """modern_robotics.FKinSpace"""
    return mr.FKinSpace(M, SCREWS, theta)


def jacobian(theta=(0.2, 1.1, 0.1)):
    """modern_robotics.JacobianSpace"""
    return mr.JacobianSpace(SCREWS, theta)


def inverse_dynamics(theta=(0.1, 0.2, 0.3), dtheta=(0.1, 0.2, 0.3), ddtheta=(2.0, 1.5, 1.0)):
    """modern_robotics.InverseDynamics"""
    return mr.InverseDynamics(theta, dtheta, ddtheta, GRAVITY, np.ones(6), LINKS, INERTIA, AXES)


def mass_matrix(theta=(0.1, 0.2, 0.3)):
    """modern_robotics.MassMatrix"""
    return mr.MassMatrix(theta, LINKS, INERTIA, AXES)


def forward_dynamics(theta=(0.1, 0.2, 0.3), dtheta=(0.1, 0.2, 0.3), tau=(0.5, 0.6, 0.7)):
    """modern_robotics.ForwardDynamics"""
    return mr.ForwardDynamics(theta, dtheta, tau, GRAVITY, np.ones(6), LINKS, INERTIA, AXES)


def logarithm(angle=0.8):
    """modern_robotics.MatrixLog6"""
    return mr.MatrixLog6(mr.MatrixExp6(mr.VecTose3(np.array([0.3, 0.2, 1.0, 0.5, 0.1, -0.4]) * angle)))


def trajectory(start=(1.0, 0.5, 0.2), end=(1.2, 0.5, -0.4)):
    """modern_robotics.JointTrajectory"""
    return mr.JointTrajectory(start, end, 4, 6, 3)
