"""nelson-siegel-svensson: curves of interest rates."""

import numpy as np
from nelson_siegel_svensson import NelsonSiegelCurve, NelsonSiegelSvenssonCurve
from nelson_siegel_svensson.calibrate import betas_ns_ols

T = np.array([0.5, 1.0, 2.0, 5.0, 10.0])


def zero_rates(beta0=0.028, beta1=-0.03, beta2=-0.009, beta3=-0.015, tau1=1.1, tau2=2.0):
    """nelson_siegel_svensson.NelsonSiegelSvenssonCurve"""
    return NelsonSiegelSvenssonCurve(beta0, beta1, beta2, beta3, tau1, tau2)(T)


def forward(beta0=0.028, beta1=-0.03, beta2=-0.009, tau=1.1):
    """nelson_siegel_svensson.NelsonSiegelCurve.forward"""
    return NelsonSiegelCurve(beta0, beta1, beta2, tau).forward(T)


def calibrated(tau=1.1, y=(0.01, 0.011, 0.013, 0.019, 0.02)):
    """nelson_siegel_svensson.calibrate.betas_ns_ols"""
    curve = betas_ns_ols(tau, T, y)[0]
    return curve.beta0, curve.beta1, curve.beta2
