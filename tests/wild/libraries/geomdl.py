"""geomdl: B-splines and NURBS."""

from geomdl import NURBS, BSpline, operations, utilities

POINTS = ((0.0, 0.0, 0.1), (1.0, 0.5, 0.2), (1.5, 2.0, 0.4), (3.0, 1.8, 0.1), (4.0, 0.3, 0.5))


def _curve(kind, points):
    curve = kind()
    curve.degree = 3
    curve.ctrlpts = [list(point) for point in points]
    curve.knotvector = utilities.generate_knot_vector(3, len(points))
    return curve


def curve(points=POINTS, u=0.3):
    """geomdl.BSpline.Curve.evaluate_single"""
    return _curve(BSpline.Curve, points).evaluate_single(u)


def derivatives(points=POINTS):
    """geomdl.BSpline.Curve.derivatives"""
    return _curve(BSpline.Curve, points).derivatives(0.3, 2)


def rational(points=POINTS, weights=(1.0, 2.0, 0.5, 1.0, 1.5)):
    """geomdl.NURBS.Curve.evaluate_single"""
    curve = _curve(NURBS.Curve, points)
    curve.weights = list(weights)
    return curve.evaluate_single(0.4)


def tangent(points=POINTS):
    """geomdl.operations.tangent"""
    return operations.tangent(_curve(BSpline.Curve, points), 0.3)
