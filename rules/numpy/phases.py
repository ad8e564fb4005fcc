"""Rules of phases without jumps: `numpy.unwrap`.

What it adds to a phase is a whole number of periods, which jumps where two neighbours are half a period or ``discont``
apart and is constant elsewhere. So the derivative in the phases is the identity, in the jumps too.
"""

import numpy as np

from rules.numpy.array_like import as_array, as_array_tangent
from rules.numpy.reduced_axes import NOT_GIVEN, given, tangent_at
from rulescore import ZeroTangent, apply_linear, frule, is_differentiable, project_to, pullback_wrt, rrule


def whole_periods(y, p, period):
    """How many periods were added to each phase."""
    return np.round((y - as_array(p)) / period)


@frule.register(np.unwrap)
def unwrap_frule(tangents, p, discont=None, axis=-1, period=NOT_GIVEN):
    # No `pushforward`, which along zeros calls np.unwrap itself: that takes the period, which has a place here, by
    # keyword alone.
    y = np.unwrap(p, discont, axis, **given(period=period))
    of_period = apply_linear(lambda dperiod: whole_periods(y, p, period) * dperiod, tangent_at(tangents, 3))
    return y, project_to(y)(as_array_tangent(tangents[1], p) + of_period)


@rrule.register(np.unwrap)
def unwrap_rrule(p, discont=None, axis=-1, period=NOT_GIVEN):
    """y = p + k · period with whole numbers k, hence p̄ = ȳ and the cotangent of the period is Σ k ȳ."""
    y = np.unwrap(p, discont, axis, **given(period=period))
    return y, pullback_wrt(p, discont, ..., period if is_differentiable(period) else None)(
        lambda ybar: ybar,
        lambda ybar: ZeroTangent(),
        lambda ybar: np.sum(whole_periods(y, p, period) * ybar),
    )
