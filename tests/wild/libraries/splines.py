"""splines: curves through points."""

import splines
from splines.quaternion import UnitQuaternion, slerp

POINTS = ((0.0, 0.0), (1.0, 0.5), (1.5, 2.0), (3.0, 1.8))


def catmull_rom(points=POINTS, t=1.4):
    """splines.CatmullRom"""
    return splines.CatmullRom(points, endconditions="natural").evaluate(t)


def centripetal(points=POINTS):
    """splines.CatmullRom(alpha)"""
    return splines.CatmullRom(points, alpha=0.5, endconditions="natural").evaluate([0.5, 1.2])


def natural(points=POINTS, t=1.4):
    """splines.Natural"""
    return splines.Natural(points).evaluate(t)


def monotone(values=(0.0, 1.0, 1.5, 3.0)):
    """splines.MonotoneCubic"""
    return splines.MonotoneCubic(values, grid=[0.0, 1.0, 2.5, 3.0]).evaluate(1.4)


def bernstein(points=POINTS, t=0.3):
    """splines.Bernstein"""
    return splines.Bernstein([points]).evaluate(t)


def rotations(t=0.3):
    """splines.quaternion.slerp"""
    one, two = UnitQuaternion.from_unit_xyzw((0.0, 0.0, 0.6, 0.8)), UnitQuaternion.from_unit_xyzw((0.6, 0.0, 0.0, 0.8))
    return slerp(one, two, t).xyzw
