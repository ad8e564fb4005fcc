"""Rules of the parts of complex numbers: real, imag and angle. The ufuncs of complex numbers are in `ufuncs`.

They are linear over ℝ only; with ⟨a, b⟩ = Re(ā b) the adjoint of dz ↦ Re(conj(c) dz) is ȳ ↦ c ȳ.
"""

import numpy as np
from rulescore import ZeroTangent, frule, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, Flag, OutputAndPullback, OutputAndTangent

from .array_like import as_array, as_array_tangent


@frule.register(np.real)
@pushforward
def real_frule(dval: Array, val: Array) -> OutputAndTangent:
    return np.real(val), np.real(as_array_tangent(dval, val))


@rrule.register(np.real)
def real_rrule(val: Array) -> OutputAndPullback:
    return np.real(val), pullback_wrt(val)(lambda ybar: ybar)


@frule.register(np.imag)
@pushforward
def imag_frule(dval: Array, val: Array) -> OutputAndTangent:
    return np.imag(val), np.imag(as_array_tangent(dval, val))


@rrule.register(np.imag)
def imag_rrule(val: Array) -> OutputAndPullback:
    """z̄ = i ȳ; real numbers have no imaginary part to change."""
    is_complex = np.iscomplexobj(val)
    return np.imag(val), pullback_wrt(val)(lambda ybar: 1j * ybar if is_complex else ZeroTangent())


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
@pushforward
def angle_frule(dz: Array, z: Array, deg: Flag = False) -> OutputAndTangent:
    y = np.angle(z, deg)
    if not np.iscomplexobj(z):
        return y, np.zeros_like(y)
    return y, (angle_slope(as_array(z), deg).conjugate() * as_array_tangent(dz, z)).real


@rrule.register(np.angle)
def angle_rrule(z: Array, deg: Flag = False) -> OutputAndPullback:
    """z̄ = c ȳ with c of `angle_slope`; the angle of real numbers is a step."""
    is_complex = np.iscomplexobj(z)

    @pullback_wrt(z, elementwise=True)
    def angle_pullback(ybar):
        return ybar * angle_slope(as_array(z), deg) if is_complex else ZeroTangent()

    return np.angle(z, deg), angle_pullback
