"""Rules of phases without jumps: `numpy.unwrap`.

What it adds to a phase is a whole number of periods, which jumps where two neighbours are half a period or ``discont``
apart and is constant elsewhere. So the derivative in the phases is the identity, in the jumps too.
"""

import numpy as np

from rules.numpy.array_like import as_array, as_array_tangent
from rules.numpy.reduced_axes import NOT_GIVEN, given, projector_of, stop_early, tangent_at
from rulescore import AbstractZero, NoTangent, Thunk, ZeroTangent, frule, project_to, rrule, unthunk
from rulescore.tangents.projection import NON_DIFFERENTIABLE

NO_TANGENT = NoTangent()
ZERO_TANGENT = ZeroTangent()


def whole_periods(y, p, period):
    """How many periods were added to each phase."""
    return np.round((y - as_array(p)) / period)


@frule.register(np.unwrap)
def unwrap_frule(tangents, p, discont=None, axis=-1, period=NOT_GIVEN):
    y, dy, dperiod = np.unwrap(p, discont, axis, **given(period=period)), tangents[1], tangent_at(tangents, 3)
    project, dy = project_to(y), as_array_tangent(dy, p)
    if not isinstance(dperiod, AbstractZero) and project is not NON_DIFFERENTIABLE:
        dy = dy + whole_periods(y, p, period) * dperiod
    return y, project(dy)


@rrule.register(np.unwrap)
def unwrap_rrule(p, discont=None, axis=-1, period=NOT_GIVEN):
    """y = p + k · period with whole numbers k, hence p̄ = ȳ and the cotangent of the period is Σ k ȳ."""
    y = np.unwrap(p, discont, axis, **given(period=period))
    project_p, project_discont, project_period = project_to(p), project_to(discont), projector_of(period)

    def unwrap_pullback(ybar):
        ybar = unthunk(ybar)
        period_bar = Thunk(lambda: np.sum(whole_periods(y, p, period) * ybar))
        of_options = project_discont(ZERO_TANGENT), NO_TANGENT, project_period(period_bar)
        return stop_early(NO_TANGENT, project_p(ybar), *of_options)

    return y, unwrap_pullback
