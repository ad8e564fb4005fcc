"""spatialmath-python: poses of robots."""

from spatialmath import SE3, SO3, Twist3, UnitQuaternion, base


def pose(x=1.0, y=2.0, z=3.0, angle=0.4):
    """spatialmath.SE3"""
    return (SE3(x, y, z) * SE3.Rx(angle)).A


def transformed(angle=0.4, p=(1.0, 2.0, 3.0)):
    """spatialmath.SO3.__mul__"""
    return SO3.Rz(angle) * p


def roll_pitch_yaw(roll=0.1, pitch=0.2, yaw=0.3):
    """spatialmath.base.rpy2r"""
    return base.rpy2r(roll, pitch, yaw)


def logarithm(angle=0.4, x=1.0):
    """spatialmath.SE3.log"""
    return (SE3(x, 2.0, 3.0) * SE3.Ry(angle)).log()


def exponential(twist=(1.0, 2.0, 3.0, 0.1, 0.2, 0.3)):
    """spatialmath.Twist3.exp"""
    return Twist3(twist).exp().A


def quaternion(angle=0.4):
    """spatialmath.UnitQuaternion.interp"""
    return UnitQuaternion.Rx(angle).interp(UnitQuaternion.Ry(0.9), 0.3).vec


def interpolated(x=1.0):
    """spatialmath.base.trinterp"""
    return base.trinterp(base.transl(x, 2.0, 3.0), base.trotx(0.5), 0.4)


def jacobian(gamma=(0.1, 0.2, 0.3)):
    """spatialmath.base.rpy2jac"""
    return base.rpy2jac(gamma)
