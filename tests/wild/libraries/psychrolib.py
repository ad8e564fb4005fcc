"""PsychroLib: moist air."""

import psychrolib

psychrolib.SetUnitSystem(psychrolib.SI)


def dew_point(T=25.0, RH=0.6):
    """psychrolib.GetTDewPointFromRelHum"""
    return psychrolib.GetTDewPointFromRelHum(T, RH)


def from_wet_bulb(T=25.0, wet_bulb=19.0, P=95000.0):
    """psychrolib.GetRelHumFromTWetBulb"""
    return psychrolib.GetRelHumFromTWetBulb(T, wet_bulb, P)


def enthalpy(T=25.0, W=0.01):
    """psychrolib.GetMoistAirEnthalpy"""
    return psychrolib.GetMoistAirEnthalpy(T, W)


def saturation(T=25.0):
    """psychrolib.GetSatVapPres"""
    return psychrolib.GetSatVapPres(T)


def density(T=25.0, W=0.01, P=95000.0):
    """psychrolib.GetMoistAirDensity"""
    return psychrolib.GetMoistAirDensity(T, W, P)
