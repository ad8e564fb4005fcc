"""seawater: properties of the sea."""

import seawater


def density(s=(34.7, 34.5), t=(12.0, 5.0), p=(1000.0, 3000.0)):
    """seawater.dens"""
    return seawater.dens(s, t, p)


def potential_temperature(s=34.7, t=12.0, p=1000.0):
    """seawater.ptmp"""
    return seawater.ptmp(s, t, p)


def sound(s=34.7, t=12.0, p=1000.0):
    """seawater.svel"""
    return seawater.svel(s, t, p)


def buoyancy(s=((34.1, 34.2), (34.4, 34.5), (34.6, 34.7)), t=((14.0, 13.5), (11.0, 10.0), (7.0, 6.5))):
    """seawater.bfrq"""
    return seawater.bfrq(s, t, [[100.0], [200.0], [300.0]], lat=45.0)[0]


def salinity(r=0.9, t=15.5, p=500.0):
    """seawater.salt"""
    return seawater.salt(r, t, p)


def geopotential(s=((34.1, 34.2), (34.4, 34.5), (34.6, 34.7)), t=((14.0, 13.5), (11.0, 10.0), (7.0, 6.5))):
    """seawater.gpan"""
    return seawater.gpan(s, t, [[100.0], [200.0], [300.0]])


def conductivity(s=34.7, t=12.0, p=1000.0):
    """seawater.cndr"""
    return seawater.cndr(s, t, p)
