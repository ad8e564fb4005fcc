"""Rules that choose between arrays by several conditions: ``select``. ``piecewise`` is in `higher_order`."""

import numpy as np
from rulescore import Selected, frule, pullback_wrt, pushforward, rrule, unbroadcast
from rulescore.typing import Array, Arrays, OutputAndPullback, OutputAndTangent

from .array_like import as_array, as_array_tangent, shape_of, who_converts
from .sorting import items_of


def selected(condlist, choicelist, default):
    """``np.select``, which NumPy hands over for the conditions and choices, and not for the default alone."""
    kind = who_converts(default)
    if kind is None or any(who_converts(choice) is not None for choice in choicelist):
        return np.select(condlist, choicelist, default)
    return np.select(condlist, [np.asarray(choicelist[0], like=kind), *choicelist[1:]], default)


def where_chosen(condlist):
    """For each choice, where its condition is the first one that holds; then where none does."""
    masks, is_left = [], np.True_
    for condition in condlist:
        masks.append(condition & is_left)
        is_left = is_left & ~as_array(condition)
    return masks, is_left


@frule.register(np.select)
@pushforward
def select_frule(
    dchoicelist: Arrays, ddefault: Array, condlist: Arrays, choicelist: Arrays, default: Array = 0
) -> OutputAndTangent:
    y, dy = selected(condlist, choicelist, default), as_array_tangent(ddefault, default)
    for i, (condition, x) in reversed(list(enumerate(zip(condlist, choicelist, strict=True)))):
        dy = np.where(condition, as_array_tangent(dchoicelist[i], x), dy)
    return y, np.broadcast_to(dy, np.shape(y))


@rrule.register(np.select)
def select_rrule(condlist: Arrays, choicelist: Arrays, default: Array = 0) -> OutputAndPullback:
    """Each choice gets ȳ where its condition is the first one that holds, and exactly 0 elsewhere, NaN or not."""
    shapes, default_shape = list(map(shape_of, choicelist)), shape_of(default)
    masks, is_left = where_chosen(condlist)

    def masked(ybar, mask, shape):
        return unbroadcast(Selected(lambda: np.where(mask, ybar, 0), mask), shape)

    def choices_bar(ybar):
        return items_of(choicelist, [masked(ybar, *part) for part in zip(masks, shapes, strict=True)])

    def default_bar(ybar):
        return masked(ybar, is_left, default_shape)

    y = selected(condlist, choicelist, default)
    return y, pullback_wrt(..., choicelist, default)(choices_bar, default_bar)
