"""pyloudnorm: the loudness of audio."""

import numpy as np
import pyloudnorm
from pyloudnorm import normalize

SIGNAL = np.random.default_rng(0).standard_normal(4000) * 0.3


def loudness(signal=SIGNAL):
    """pyloudnorm.Meter.integrated_loudness"""
    return pyloudnorm.Meter(8000).integrated_loudness(signal)


def peak(signal=SIGNAL):
    """pyloudnorm.normalize.peak"""
    return normalize.peak(signal, -1.0)


def normalized(signal=SIGNAL[:64], loudness=-20.0):
    """pyloudnorm.normalize.loudness"""
    return normalize.loudness(signal, loudness, -24.0)


def filtered(signal=SIGNAL[:64]):
    """pyloudnorm.IIRfilter.apply_filter"""
    return pyloudnorm.IIRfilter(4.0, 1 / np.sqrt(2), 500.0, 2000, "high_shelf").apply_filter(signal)


def shelf(gain=4.0, frequency=500.0):
    """pyloudnorm.IIRfilter.generate_coefficients"""
    return pyloudnorm.IIRfilter(gain, 1 / np.sqrt(2), frequency, 2000, "high_shelf").generate_coefficients()
