"""Rules that choose between elements by a condition: where."""

import numpy as np

from rules.numpy.array_like import as_array, as_array_tangent, shape_of
from rulescore import AbstractZero, NoTangent, Thunk, frule, project_to, rrule, unbroadcast, unthunk

NO_TANGENT = NoTangent()


@frule.register(np.where)
def where_frule(tangents, condition, x, y, /):
    _, _, dx, dy = tangents
    out = np.where(condition, as_array(x), as_array(y))
    if isinstance(dx, AbstractZero) and isinstance(dy, AbstractZero):
        return out, dx + dy
    # Zeros of the full shape, since the tangent has it also where only one branch moves.
    dx = np.zeros(shape_of(x)) if isinstance(dx, AbstractZero) else as_array_tangent(dx, x)
    dy = np.zeros(shape_of(y)) if isinstance(dy, AbstractZero) else as_array_tangent(dy, y)
    return out, project_to(out)(np.where(condition, dx, dy))


@rrule.register(np.where)
def where_rrule(condition, x, y, /, *, needs=None):
    """x̄ is ȳ where the condition holds and exactly 0 elsewhere, whatever stands there, NaN included; ȳ conversely."""
    out = np.where(condition, as_array(x), as_array(y))
    (project_x, project_y), (shape_x, shape_y) = map(project_to, (x, y)), map(shape_of, (x, y))
    _, needs_x, needs_y = needs or (False, True, True)

    def where_pullback(outbar):
        def masked(where_true, shape):
            bar = unthunk(outbar)
            if isinstance(bar, AbstractZero):
                return bar
            return unbroadcast(np.where(condition, *((bar, 0) if where_true else (0, bar))), shape)

        xbar = Thunk(lambda: masked(True, shape_x))
        ybar = Thunk(lambda: masked(False, shape_y))
        return (
            NO_TANGENT,
            NO_TANGENT,
            project_x(xbar) if needs_x else NO_TANGENT,
            project_y(ybar) if needs_y else NO_TANGENT,
        )

    return out, where_pullback


@frule.register(np.where)
def where_true_frule(tangents, condition, /):
    return np.where(condition), NO_TANGENT


@rrule.register(np.where)
def where_true_rrule(condition, /):
    """With the condition alone the output is the indices of where it holds."""
    return np.where(condition), lambda ybar: (NO_TANGENT,)
