"""The rule of ``norm``, which is that of `np.linalg.norm`."""

import scipy.linalg

from rules.numpy.array_like import seen_by_tracers
from rules.numpy.linalg.norms import norm_frule_of, norm_rrule_of
from rulescore import frule, rrule


def computed_by(ord, axis, keepdims, check_finite):
    return lambda x: seen_by_tracers(scipy.linalg.norm, x, ord, axis, keepdims, check_finite)


@frule.register(scipy.linalg.norm)
def norm_frule(tangents, a, ord=None, axis=None, keepdims=False, check_finite=True):
    return norm_frule_of(computed_by(ord, axis, keepdims, check_finite), tangents, a, ord, axis)


@rrule.register(scipy.linalg.norm)
def norm_rrule(a, ord=None, axis=None, keepdims=False, check_finite=True):
    """See `VectorNorm` and `MatrixNorm` for the slopes."""
    return norm_rrule_of(computed_by(ord, axis, keepdims, check_finite), a, ord, axis)
