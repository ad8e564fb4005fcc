"""itur: propagation of radio waves (astropy units around plain numbers)."""

from itur.models import itu453, itu618, itu676, itu835, itu838


def rain(R=20.0, f=12.0, el=40.0):
    """itur.models.itu838.rain_specific_attenuation"""
    return itu838.rain_specific_attenuation(R, f, el, 30.0).value


def dry_air(f=15.0, P=1013.0, T=290.0):
    """itur.models.itu676.gamma0_exact"""
    return itu676.gamma0_exact(f, P, 7.5, T).value


def refractive_index(Pd=1000.0, e=15.0, T=290.0):
    """itur.models.itu453.radio_refractive_index"""
    return itu453.radio_refractive_index(Pd, e, T).value


def standard_air(h=3.0):
    """itur.models.itu835.standard_temperature"""
    return itu835.standard_temperature(h).value, itu835.standard_pressure(h).value


def fit(f=14.0, el=30.0):
    """itur.models.itu618.rain_cross_polarization_discrimination"""
    return itu618.rain_cross_polarization_discrimination(10.0, f, el, 0.1, 45.0).value
