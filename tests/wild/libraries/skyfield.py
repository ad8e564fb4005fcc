"""skyfield: positions of stars and places."""

import numpy as np
from skyfield.api import Star, load, wgs84
from skyfield.earthlib import refraction
from skyfield.functions import angle_between, to_spherical
from skyfield.keplerlib import propagate

TIME = load.timescale(builtin=True).utc(2024, 3, 1, 12, 30)


def place(latitude=40.0, longitude=-75.0, elevation=100.0):
    """skyfield.api.wgs84.latlon"""
    return wgs84.latlon(latitude, longitude, elevation_m=elevation).at(TIME).position.km


def sidereal_time(longitude=-75.0):
    """skyfield.toposlib.GeographicPosition.lst_hours_at"""
    return wgs84.latlon(40.0, longitude).lst_hours_at(TIME)


def refracted(altitude=12.0, temperature=10.0, pressure=1010.0):
    """skyfield.earthlib.refraction"""
    return refraction(altitude, temperature, pressure)


def spherical(xyz=(1.0, 2.0, 3.0)):
    """skyfield.functions.to_spherical"""
    return to_spherical(xyz)


def between(u=(1.0, 2.0, 3.0), v=(0.3, -0.4, 1.0)):
    """skyfield.functions.angle_between"""
    return angle_between(u, v)


def orbit(position=(1.0, 0.1, 0.2), velocity=(0.1, 0.9, 0.1)):
    """skyfield.keplerlib.propagate"""
    return propagate(position, velocity, 0.0, np.array([1.0, 2.0]), 1.0)


def star(ra=6.7525, dec=-16.7161):
    """skyfield.api.Star"""
    return Star(ra_hours=ra, dec_degrees=dec, parallax_mas=379.0)._position_au
