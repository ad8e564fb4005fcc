"""Rules of phases without jumps: `numpy.unwrap`.

What it adds to a phase is a whole number of periods, which jumps where two neighbours are half a period or ``discont``
apart and is constant elsewhere. So the derivative in the phases is the identity, in the jumps too.
"""

import numpy as np
from rulescore import ZeroTangent, apply_linear, frule, is_differentiable, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, Axis, Number, OutputAndPullback, OutputAndTangent

from .array_like import as_array, as_array_tangent
from .reduced_axes import NOT_GIVEN, given


def whole_periods(y, p, period):
    """How many periods were added to each phase."""
    return np.round((y - as_array(p)) / period)


@frule.register(np.unwrap)
@pushforward
def unwrap_frule(
    dp: Array,
    _ddiscont: Number,
    dperiod: Number,
    p: Array,
    discont: Number = None,
    axis: Axis = -1,
    period: Number = NOT_GIVEN,
) -> OutputAndTangent:
    y = np.unwrap(p, discont, axis, **given(period=period))
    of_period = apply_linear(lambda dperiod: whole_periods(y, p, period) * dperiod, dperiod)
    return y, as_array_tangent(dp, p) + of_period


@rrule.register(np.unwrap)
def unwrap_rrule(p: Array, discont: Number = None, axis: Axis = -1, period: Number = NOT_GIVEN) -> OutputAndPullback:
    """y = p + k · period with whole numbers k, hence p̄ = ȳ and the cotangent of the period is Σ k ȳ."""
    y = np.unwrap(p, discont, axis, **given(period=period))
    return y, pullback_wrt(p, discont, ..., period if is_differentiable(period) else None)(
        lambda ybar: ybar,
        lambda ybar: ZeroTangent(),
        lambda ybar: np.sum(whole_periods(y, p, period) * ybar),
    )
