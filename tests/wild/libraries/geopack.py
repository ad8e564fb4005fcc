"""geopack: Tsyganenko's models of the magnetosphere."""

from geopack import t89, t96


def tsyganenko_89(ps=-0.53, x=-5.1, y=0.3, z=2.8):
    """geopack.t89.t89"""
    return t89.t89(2, ps, x, y, z)


def tsyganenko_96(ps=-0.53, x=-5.1, y=0.3, z=2.8):
    """geopack.t96.t96"""
    return t96.t96([2.0, -20.0, 1.0, -5.0], ps, x, y, z)
