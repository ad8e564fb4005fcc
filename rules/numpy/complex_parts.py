"""Rules of the parts of complex numbers: real, imag and angle. The ufuncs of complex numbers are in `ufuncs`.

They are linear over ℝ only; with ⟨a, b⟩ = Re(ā b) the adjoint of dz ↦ Re(conj(c) dz) is ȳ ↦ c ȳ.
"""

import numpy as np

from rules.numpy.array_like import as_array, as_array_tangent
from rulescore import AbstractZero, NoTangent, ZeroTangent, frule, project_to, rrule

NO_TANGENT = NoTangent()


@frule.register(np.real)
def real_frule(tangents, val):
    dval = as_array_tangent(tangents[1], val)
    return np.real(val), dval if isinstance(dval, AbstractZero) else np.real(dval)


@rrule.register(np.real)
def real_rrule(val):
    project = project_to(val)
    return np.real(val), lambda ybar: (NO_TANGENT, project(ybar))


@frule.register(np.imag)
def imag_frule(tangents, val):
    dval = as_array_tangent(tangents[1], val)
    return np.imag(val), dval if isinstance(dval, AbstractZero) else np.imag(dval)


@rrule.register(np.imag)
def imag_rrule(val):
    """z̄ = i ȳ; real numbers have no imaginary part to change."""
    project, is_complex = project_to(val), np.iscomplexobj(val)
    return np.imag(val), lambda ybar: (NO_TANGENT, project(1j * ybar if is_complex else ZeroTangent()))


DEGREES_PER_RADIAN = 180 / np.pi


def angle_slope(z, deg):
    """The c of dφ = Re(conj(c) dz): c = i z / |z|², and 0 at 0, where the angle jumps, and at infinity."""
    size = np.abs(z)
    is_regular = (size != 0) & ~np.isinf(size)
    divisor = np.where(is_regular, size, 1)
    # Divided twice, since |z|² would overflow or vanish long before z does.
    with np.errstate(invalid="ignore"):  # NaN stays NaN
        c = 1j * np.where(is_regular, z, 0) / divisor / divisor
    return c * DEGREES_PER_RADIAN if deg else c


@frule.register(np.angle)
def angle_frule(tangents, z, deg=False):
    y = np.angle(z, deg)
    dz = as_array_tangent(tangents[1], z)
    if isinstance(dz, AbstractZero):
        return y, dz
    if not np.iscomplexobj(z):
        return y, project_to(y)(np.zeros_like(y))
    return y, project_to(y)((angle_slope(as_array(z), deg).conjugate() * dz).real)


@rrule.register(np.angle)
def angle_rrule(z, deg=False):
    """z̄ = c ȳ with c of `angle_slope`; the angle of real numbers is a step."""
    project, is_complex = project_to(z), np.iscomplexobj(z)

    def angle_pullback(ybar):
        return NO_TANGENT, project(angle_slope(as_array(z), deg) * ybar if is_complex else ZeroTangent())

    return np.angle(z, deg), angle_pullback
