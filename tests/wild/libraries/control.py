"""control: feedback systems."""

import control
import numpy as np


def gain(k=3.0, scale=2.0):
    """control.dcgain"""
    return control.dcgain(control.tf([scale], [2.0, 0.5, k]))


def frequency_response(m=2.0, b=0.5, k=3.0):
    """control.frequency_response"""
    response = control.frequency_response(control.tf([1], [m, b, k]), np.array([0.1, 0.7, 2.0]))
    return response.magnitude, response.phase


def feedback(kp=2.0, ki=0.5):
    """control.feedback"""
    loop = control.feedback(control.tf([kp, ki], [1, 0]) * control.tf([1], [1, 2, 1]))
    return abs(loop(1j * 0.8))


def step(zeta=0.3, omega=2.0):
    """control.step_response"""
    return control.step_response(control.tf([omega**2], [1, 2 * zeta * omega, omega**2]), np.linspace(0, 3, 7)).outputs


def regulator(A=((0.0, 1.0), (-2.0, -0.3)), B=((0.0,), (1.0,)), q=2.0):
    """control.lqr"""
    K, S, _ = control.lqr(A, B, q * np.eye(2), np.eye(1))
    return K, S


def lyapunov(A=((-1.0, 0.5), (0.2, -2.0)), q=2.0):
    """control.lyap"""
    return control.lyap(A, q * np.eye(2))


def state_space(A=((-1.0, 0.5), (0.2, -2.0))):
    """control.ss"""
    return abs(control.ss(A, [[0.0], [1.0]], [[1.0, 0.0]], 0)(1j))


def norm(A=((-1.0, 0.5), (0.2, -2.0))):
    """control.norm"""
    return control.norm(control.ss(A, [[0.0], [1.0]], [[1.0, 0.0]], 0), 2)
