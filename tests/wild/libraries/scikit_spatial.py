"""scikit-spatial: points, lines, planes and spheres."""

from skspatial.objects import Line, Plane, Point, Points, Sphere, Triangle, Vector


def projected(point=(1.0, 2.0, 3.0), normal=(0.2, 0.3, 1.0)):
    """skspatial.objects.Plane.project_point"""
    return Plane(point=[0.1, 0.2, 0.3], normal=normal).project_point(point)


def angle(u=(1.0, 2.0, 3.0), v=(0.3, -0.4, 1.0)):
    """skspatial.objects.Vector.angle_between"""
    return Vector(u).angle_between(v)


def distance(point=(1.0, 2.0, 3.0), direction=(0.2, 0.3, 1.0)):
    """skspatial.objects.Line.distance_point"""
    return Line(point=[0.1, 0.2, 0.3], direction=direction).distance_point(point)


def sphere(radius=2.0, direction=(0.2, 0.3, 1.0)):
    """skspatial.objects.Sphere.intersect_line"""
    return Sphere([0.1, 0.2, 0.3], radius).intersect_line(Line([0.0, 0.0, 0.0], direction))


def triangle(a=(0.0, 0.0, 0.1), b=(1.0, 0.2, 0.0), c=(0.3, 1.2, 0.1)):
    """skspatial.objects.Triangle.area"""
    shape = Triangle(Point(a), Point(b), Point(c))
    return shape.area(), shape.perimeter(), shape.angle("A")


def best_fit(points=((0.0, 0.0, 0.1), (1.0, 0.2, 0.0), (0.3, 1.2, 0.1), (1.1, 1.3, 0.3))):
    """skspatial.objects.Plane.best_fit"""
    return Plane.best_fit(points).normal


def centroid(points=((0.0, 0.0, 0.1), (1.0, 0.2, 0.0), (0.3, 1.2, 0.1))):
    """skspatial.objects.Points.mean_center"""
    return Points(points).mean_center()
