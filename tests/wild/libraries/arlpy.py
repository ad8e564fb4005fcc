"""arlpy: underwater acoustics."""

import arlpy
from arlpy import bf, uwa


def sound_speed(temperature=27.0, salinity=35.0, depth=10.0):
    """arlpy.uwa.soundspeed"""
    return uwa.soundspeed(temperature, salinity, depth)


def absorption(frequency=50000.0, temperature=18.0, salinity=35.0):
    """arlpy.uwa.absorption"""
    return uwa.absorption(frequency, temperature=temperature, salinity=salinity)


def bubbles(void_fraction=1e-5, c=1520.0):
    """arlpy.uwa.bubble_soundspeed"""
    return uwa.bubble_soundspeed(void_fraction, c)


def reflection(angle=0.3, rho=1200.0, c=1600.0):
    """arlpy.uwa.reflection_coeff"""
    return abs(uwa.reflection_coeff(angle, rho, c, alpha=0.01))


def steering(positions=(0.0, 1.1, 2.3), theta=(0.2, 0.5)):
    """arlpy.bf.steering_plane_wave"""
    return bf.steering_plane_wave(positions, 1500.0, theta)


def decibels(x=(0.5, 2.0)):
    """arlpy.utils.mag2db"""
    return arlpy.utils.mag2db(x)
