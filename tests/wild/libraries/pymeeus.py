"""PyMeeus: astronomical algorithms."""

from pymeeus.Angle import Angle
from pymeeus.base import TOL  # noqa: F401 - imports what the others stand on
from pymeeus.Coordinates import angular_separation, equatorial2ecliptical, kepler_equation
from pymeeus.Earth import Earth
from pymeeus.Epoch import Epoch
from pymeeus.Interpolation import Interpolation
from pymeeus.Sun import Sun


def kepler(e=0.1, M=5.0):
    """pymeeus.Coordinates.kepler_equation"""
    E, v = kepler_equation(e, Angle(M))
    return E(), v()


def ecliptical(ra=116.328942, dec=28.026183):
    """pymeeus.Coordinates.equatorial2ecliptical"""
    longitude, latitude = equatorial2ecliptical(Angle(ra), Angle(dec), Angle(23.4392911))
    return longitude(), latitude()


def separation(ra=213.9154, dec=19.1825):
    """pymeeus.Coordinates.angular_separation"""
    return angular_separation(Angle(ra), Angle(dec), Angle(201.2983), Angle(-11.1614))()


def sun(jde=2448908.5):
    """pymeeus.Sun.Sun.apparent_longitude_coarse"""
    longitude, distance = Sun.apparent_longitude_coarse(Epoch(jde))
    return longitude(), distance


def earth(lat=50.0, lon=2.3):
    """pymeeus.Earth.Earth.distance"""
    return Earth().distance(Angle(lon), Angle(lat), Angle(77.0), Angle(38.9))[0]


def interpolation(x=29.5, y=(0.9, 0.884, 0.877)):
    """pymeeus.Interpolation.Interpolation"""
    return Interpolation([29.0, 30.0, 31.0], list(y))(x)
