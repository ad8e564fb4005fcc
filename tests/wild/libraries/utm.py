"""utm: the Universal Transverse Mercator projection."""

import utm


def forward(latitude=51.2, longitude=7.5):
    """utm.from_latlon"""
    return utm.from_latlon(latitude, longitude)[:2]


def backward(easting=395201.3, northing=5673135.2):
    """utm.to_latlon"""
    return utm.to_latlon(easting, northing, 32, "U")


def many(latitudes=(51.2, 49.0), longitudes=(7.5, 8.4)):
    """utm.from_latlon(arrays)"""
    return utm.from_latlon(latitudes, longitudes)[:2]
