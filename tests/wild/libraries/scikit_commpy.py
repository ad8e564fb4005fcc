"""scikit-commpy: digital communication."""

from commpy import filters, modulation
from commpy.utilities import signal_power


def root_raised_cosine(alpha=0.35, Ts=1.0):
    """commpy.filters.rrcosfilter"""
    return filters.rrcosfilter(9, alpha, Ts, 3.7)[1]


def gaussian(alpha=0.35):
    """commpy.filters.gaussianfilter"""
    return filters.gaussianfilter(9, alpha, 1.0, 3.7)[1]


def soft_bits(noise=0.4, symbols=(0.5, -0.8, 0.9)):
    """commpy.modulation.PSKModem.demodulate"""
    return modulation.PSKModem(4).demodulate(symbols, "soft", noise)


def power(signal=(0.5, -0.8, 0.9, 0.1)):
    """commpy.utilities.signal_power"""
    return signal_power(signal)
