"""ambiance: the standard atmosphere."""

from ambiance import Atmosphere


def state(h=(3000.0, 15000.0, 25000.0)):
    """ambiance.Atmosphere"""
    air = Atmosphere(h)
    return air.temperature, air.pressure, air.density


def speed_of_sound(h=5000.0):
    """ambiance.Atmosphere.speed_of_sound"""
    return Atmosphere(h).speed_of_sound


def altitude(p=54000.0):
    """ambiance.Atmosphere.from_pressure"""
    return Atmosphere.from_pressure(p).h
