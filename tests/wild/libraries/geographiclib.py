"""geographiclib: geodesics."""

from geographiclib.geodesic import Geodesic


def inverse(lat1=-41.32, lon1=174.81, lat2=40.96, lon2=-5.50):
    """geographiclib.geodesic.Geodesic.Inverse"""
    g = Geodesic.WGS84.Inverse(lat1, lon1, lat2, lon2)
    return g["s12"], g["azi1"], g["azi2"]


def direct(lat1=-32.06, lon1=115.74, azi1=225.0, s12=20000e3):
    """geographiclib.geodesic.Geodesic.Direct"""
    g = Geodesic.WGS84.Direct(lat1, lon1, azi1, s12)
    return g["lat2"], g["lon2"], g["azi2"]


def area(lats=(-63.1, -72.9, -71.9, -74.9), lons=(-58.0, -74.0, -103.5, -102.0)):
    """geographiclib.polygonarea.PolygonArea"""
    polygon = Geodesic.WGS84.Polygon()
    for lat, lon in zip(lats, lons, strict=True):
        polygon.AddPoint(lat, lon)
    return polygon.Compute()[1:]


def line(s=3000e3):
    """geographiclib.geodesicline.GeodesicLine.Position"""
    g = Geodesic.WGS84.InverseLine(40.1, 116.6, 37.6, -122.4).Position(s)
    return g["lat2"], g["lon2"]
