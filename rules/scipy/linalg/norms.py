"""The rule of ``norm``, which is that of `np.linalg.norm`."""

import scipy.linalg
from rulescore import frule, pushforward, rrule, seen_by_tracers
from rulescore.typing import Array, Axis, Choice, Flag, OutputAndPullback, OutputAndTangent

from ...numpy.linalg.norms import norm_pullback, norm_tangent


@frule.register(scipy.linalg.norm)
@pushforward
def norm_frule(
    da: Array,
    dord: Choice,
    a: Array,
    ord: Choice = None,
    axis: Axis = None,
    keepdims: Flag = False,
    check_finite: Flag = True,
) -> OutputAndTangent:
    y = seen_by_tracers(scipy.linalg.norm, a, ord, axis, keepdims, check_finite)
    return y, norm_tangent(y, da, dord, a, ord, axis)


@rrule.register(scipy.linalg.norm)
def norm_rrule(
    a: Array, ord: Choice = None, axis: Axis = None, keepdims: Flag = False, check_finite: Flag = True
) -> OutputAndPullback:
    """See `VectorNorm` and `MatrixNorm` for the slopes."""
    y = seen_by_tracers(scipy.linalg.norm, a, ord, axis, keepdims, check_finite)
    return y, norm_pullback(y, a, ord, axis)
