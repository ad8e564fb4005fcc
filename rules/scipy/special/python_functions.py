"""What the rules of SciPy's elementwise functions that are no ufuncs share.

Such a function does not know a tracer, and takes keywords; so its rules are written out, its primal goes by
`seen_by_tracers`, and the two functions here are a term of its pushforward and the cotangent of one argument.
"""

import numpy as np

from rulescore import apply_linear, unbroadcast

from ...numpy.array_like import conj


def pushed(slope, dx):
    """(∂y/∂x) ẋ, a term of ẏ; ``slope()`` is the partial derivative, computed where x moves at all."""
    return apply_linear(lambda dx: slope() * dx, dx)


def pulled(slope, ybar, x):
    """x̄ = conj(∂y/∂x) ȳ, summed where x was broadcast; the partial derivative may be `not_implemented`."""
    return unbroadcast(ybar * conj(slope), np.shape(x))
