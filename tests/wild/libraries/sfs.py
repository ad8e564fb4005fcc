"""sfs: synthesis of sound fields."""

import sfs

GRID = sfs.util.xyz_grid([-1, 1], [-1, 1], 0, spacing=0.5)


def point(omega=800.0, x0=(0.3, 2.0, 0.1)):
    """sfs.fd.source.point"""
    return sfs.fd.source.point(omega, x0, GRID)


def plane(omega=800.0, n=(0.6, 0.8, 0.0)):
    """sfs.fd.source.plane"""
    return sfs.fd.source.plane(omega, [0.0, 0.0, 0.0], n, GRID)


def line(omega=800.0, x0=(0.3, 2.0, 0.1)):
    """sfs.fd.source.line"""
    return sfs.fd.source.line(omega, x0, GRID)


def synthesis(omega=800.0, source=(0.2, 2.5, 0.0)):
    """sfs.fd.wfs.point_25d"""
    array = sfs.array.circular(8, 1.5)
    d, selection, secondary = sfs.fd.wfs.point_25d(omega, array.x, array.n, source)
    return sfs.fd.synthesize(d, selection, array, secondary, grid=GRID)


def directions(azimuth=0.4, colatitude=1.1):
    """sfs.util.direction_vector"""
    return sfs.util.direction_vector(azimuth, colatitude)
