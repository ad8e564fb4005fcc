"""boule: reference ellipsoids and their gravity."""

import boule


def normal_gravity(latitude=(10.0, 45.0), height=(100.0, 2000.0)):
    """boule.Ellipsoid.normal_gravity"""
    return boule.WGS84.normal_gravity((None, latitude, height))


def spherical(latitude=45.0, height=1000.0):
    """boule.Ellipsoid.geodetic_to_spherical"""
    return boule.WGS84.geodetic_to_spherical((10.0, latitude, height))[1:]


def geodetic(latitude=(45.0, -30.0), radius=(6.38e6, 6.4e6)):
    """boule.Ellipsoid.spherical_to_geodetic"""
    return boule.WGS84.spherical_to_geodetic(([10.0, 20.0], latitude, radius))[1:]


def ellipsoid(a=6378137.0, f=1 / 298.257):
    """boule.Ellipsoid"""
    planet = boule.Ellipsoid("earth", a, f, 3986004.418e8, 7292115e-11)
    return planet.gravity_equator, planet.area, planet.volume
