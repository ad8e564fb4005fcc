"""Rules of functions of complex numbers that are not holomorphic: their derivative is linear over ℝ only.

For a real-linear map dx ↦ J dx the cotangent is x̄ = Jᵀ ȳ with respect to ⟨a, b⟩ = Re(ā b). Of real numbers,
`absolute` has the derivative sign(x), 0 at 0, and `sign` none.
"""

import numpy as np
from rulescore import (
    NoTangent,
    frule,
    linear_rule,
    no_tangent_pullback,
    project_to,
    pullback_wrt,
    pushforward,
    rrule,
    static_rule,
)
from rulescore.typing import Array, OutputAndPullback, OutputAndTangent

from .precision import is_complex

linear_rule(np.conjugate, transpose=lambda ybar, x: ybar.conjugate(), tags=("elementwise",))
rrule.alias(np.ndarray.conj, np.conjugate)
rrule.alias(np.ndarray.conjugate, np.conjugate)

# d|x| = Re(conj(sign x) dx), hence x̄ = sign(x) Re ȳ.
static_rule(np.absolute, lambda ybar, y, x: project_to(x)(np.sign(x) * ybar.real), tags=("elementwise",))


@frule.register(np.absolute, tags=("elementwise",))
@pushforward
def absolute_frule(dx: Array, x: Array) -> OutputAndTangent:
    return np.absolute(x), (np.sign(x).conjugate() * dx).real


def _turn(dx, y, x):
    """The part of ``dx`` that turns ``x``, over |x|: i y Im(conj(y) dx) / |x| with y = sign x; 0 at 0."""
    size = np.absolute(x)
    return 1j * y * (y.conjugate() * dx).imag / np.where(size == 0, 1, size)


# The projection onto the tangent of a circle is symmetric: pushforward and pullback are the same map. No static form:
# it could not say that there is nothing to pull back to real numbers, of which the sign is constant as their floor is.
@rrule.register(np.sign, tags=("elementwise",))
def sign_rrule(x: Array) -> OutputAndPullback:
    y = np.sign(x)
    if not is_complex(x):
        return y, no_tangent_pullback
    pullback = pullback_wrt(x)(lambda ybar: _turn(ybar, y, x))
    pullback.keeps_places = True
    return y, pullback


@frule.register(np.sign, tags=("elementwise",))
@pushforward
def sign_frule(dx: Array, x: Array) -> OutputAndTangent:
    y = np.sign(x)
    return y, _turn(dx, y, x) if is_complex(x) else NoTangent()
