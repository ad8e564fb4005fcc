"""The rule of ``norm``, which is that of `np.linalg.norm`."""

import scipy.linalg

from rules.numpy.array_like import seen_by_tracers
from rules.numpy.linalg.norms import norm_pullback, norm_tangent
from rulescore import frule, pushforward, rrule


@frule.register(scipy.linalg.norm)
@pushforward
def norm_frule(da, dord, a, ord=None, axis=None, keepdims=False, check_finite=True):
    y = seen_by_tracers(scipy.linalg.norm, a, ord, axis, keepdims, check_finite)
    return y, norm_tangent(y, da, dord, a, ord, axis)


@rrule.register(scipy.linalg.norm)
def norm_rrule(a, ord=None, axis=None, keepdims=False, check_finite=True):
    """See `VectorNorm` and `MatrixNorm` for the slopes."""
    y = seen_by_tracers(scipy.linalg.norm, a, ord, axis, keepdims, check_finite)
    return y, norm_pullback(y, a, ord, axis)
