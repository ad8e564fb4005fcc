"""geopy: distances between places."""

from geopy import distance


def great_circle(lat=41.49008, lon=-71.312796):
    """geopy.distance.great_circle"""
    return distance.great_circle((lat, lon), (41.499498, -81.695391)).km


def geodesic(lat=41.49008, lon=-71.312796):
    """geopy.distance.geodesic"""
    return distance.geodesic((lat, lon), (41.499498, -81.695391)).km


def destination(lat=34.0, lon=148.0, km=220.0, bearing=90.0):
    """geopy.distance.great_circle.destination"""
    point = distance.great_circle(kilometers=km).destination((lat, lon), bearing)
    return point.latitude, point.longitude
