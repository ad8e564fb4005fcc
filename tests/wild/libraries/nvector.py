"""nvector: positions on the Earth as normal vectors."""

import numpy as np
import nvector


def from_angles(lat=0.7, lon=0.3):
    """nvector.lat_lon2n_E"""
    return nvector.lat_lon2n_E(lat, lon)


def delta(n_EA_E=((0.7,), (0.5,), (0.51,)), n_EB_E=((0.71,), (0.49,), (0.505,))):
    """nvector.n_EA_E_and_n_EB_E2p_AB_E"""
    return nvector.n_EA_E_and_n_EB_E2p_AB_E(n_EA_E, n_EB_E, 3.0, 6.0)


def height(p_EB_E=((4.0e6,), (3.0e6,), (4.1e6,))):
    """nvector.p_EB_E2n_EB_E"""
    return nvector.p_EB_E2n_EB_E(p_EB_E)


def great_circle(n_EA_E=((0.7,), (0.5,), (0.51,))):
    """nvector.great_circle_distance"""
    return nvector.great_circle_distance(n_EA_E, np.array([[0.1], [0.9], [0.42]]))


def points(latitude=80.0, longitude=5.0, z=10.0):
    """nvector.GeoPoint"""
    frame = nvector.FrameE(name="WGS84")
    a = frame.GeoPoint(latitude=latitude, longitude=longitude, z=z, degrees=True)
    return a.delta_to(frame.GeoPoint(latitude=81.0, longitude=6.0, degrees=True)).pvector


def euler(z=0.1, y=0.2, x=0.3):
    """nvector.zyx2R"""
    return nvector.zyx2R(z, y, x)
