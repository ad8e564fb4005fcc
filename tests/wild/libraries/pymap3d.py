"""pymap3d: coordinates on and above the Earth."""

import pymap3d
import pymap3d.vincenty


def ecef(lat=42.0, lon=-82.0, alt=200.0):
    """pymap3d.geodetic2ecef"""
    return pymap3d.geodetic2ecef(lat, lon, alt)


def geodetic(x=660675.25, y=-4700948.68, z=4245737.66):
    """pymap3d.ecef2geodetic"""
    return pymap3d.ecef2geodetic(x, y, z)


def azimuth(lat=42.002, lon=-81.998, alt=1139.7):
    """pymap3d.geodetic2aer"""
    return pymap3d.geodetic2aer(lat, lon, alt, 42.0, -82.0, 200.0)


def east_north_up(az=(33.0, 120.0), el=(70.0, 20.0), srange=(1000.0, 500.0)):
    """pymap3d.aer2enu"""
    return pymap3d.aer2enu(az, el, srange)


def vincenty(lat=10.0, lon=20.0, range=3000.0, azimuth=38.0):
    """pymap3d.vincenty.vreckon"""
    return pymap3d.vincenty.vreckon(lat, lon, range, azimuth)


def distance(lat1=10.0, lon1=20.0, lat2=10.02, lon2=20.03):
    """pymap3d.vincenty.vdist"""
    return pymap3d.vincenty.vdist(lat1, lon1, lat2, lon2)
