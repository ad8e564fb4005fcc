"""impedance: electrochemical impedance spectra."""

import numpy as np
from impedance.models.circuits import CustomCircuit, elements

FREQUENCIES = np.logspace(0, 4, 8)


def randles(R0=0.01, R1=0.05, C1=3.0, Aw=0.03):
    """impedance.models.circuits.CustomCircuit.predict"""
    return CustomCircuit("R0-p(R1,C1)-W1", initial_guess=[R0, R1, C1, Aw]).predict(FREQUENCIES, use_initial=True)


def constant_phase(Q=0.5, alpha=0.8):
    """impedance.models.circuits.elements.CPE"""
    return elements.CPE([Q, alpha], FREQUENCIES)


def warburg(Z0=0.1, tau=10.0):
    """impedance.models.circuits.elements.Wo"""
    return elements.Wo([Z0, tau], FREQUENCIES)


def transmission_line(Rion=1.0, Qs=0.3, gamma=0.9):
    """impedance.models.circuits.elements.TLMQ"""
    return elements.TLMQ([Rion, Qs, gamma], FREQUENCIES)
