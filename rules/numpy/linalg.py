"""Rules of `numpy.linalg`: the inverse. Products and traces of that namespace live with those of `numpy`."""

import numpy as np

from rules.numpy.array_like import as_array_tangent
from rules.numpy.products import adjoint
from rulescore import AbstractZero, NoTangent, frule, project_to, rrule, unthunk

NO_TANGENT = NoTangent()


@frule.register(np.linalg.inv)
def inv_frule(tangents, a):
    """d(A⁻¹) = -A⁻¹ dA A⁻¹."""
    da = as_array_tangent(unthunk(tangents[1]), a)
    y = np.linalg.inv(a)
    return y, da if isinstance(da, AbstractZero) else project_to(y)(-y @ da @ y)


@rrule.register(np.linalg.inv)
def inv_rrule(a):
    """d(A⁻¹) = -A⁻¹ dA A⁻¹, hence Ā = -A⁻ᴴ Ȳ A⁻ᴴ (Giles 2008, §2.2.3)."""
    y = np.linalg.inv(a)
    y_h, project = adjoint(y), project_to(a)

    def inv_pullback(ybar):
        ybar = unthunk(ybar)
        return NO_TANGENT, project(ybar if isinstance(ybar, AbstractZero) else -y_h @ ybar @ y_h)

    return y, inv_pullback
