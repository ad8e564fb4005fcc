"""Rules that choose between arrays by several conditions: ``select``. ``piecewise`` is in `higher_order`."""

import numpy as np

from rules.numpy.array_like import as_array, as_array_tangent, shape_of, who_converts
from rules.numpy.reduced_axes import stop_early, tangent_at
from rules.numpy.sorting import items_of
from rulescore import AbstractZero, NoTangent, Tangent, Thunk, frule, project_to, rrule, unbroadcast, unthunk
from rulescore.tangents.projection import NON_DIFFERENTIABLE

NO_TANGENT = NoTangent()


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
def select_frule(tangents, condlist, choicelist, default=0):
    dchoices, ddefault = tangents[2], tangent_at(tangents, 2)
    y = selected(condlist, choicelist, default)
    project = project_to(y)
    if project is NON_DIFFERENTIABLE or (isinstance(dchoices, AbstractZero) and isinstance(ddefault, AbstractZero)):
        return y, project(dchoices + ddefault)
    if isinstance(dchoices, AbstractZero):
        dchoices = [dchoices] * len(choicelist)
    dchoices = dchoices if isinstance(dchoices, Tangent) else list(dchoices)
    dy = moving_part(ddefault, default, y.dtype)
    for condition, dx, x in reversed(list(zip(condlist, dchoices, choicelist, strict=True))):
        dy = np.where(condition, moving_part(dx, x, y.dtype), dy)
    return y, project(np.broadcast_to(dy, np.shape(y)))


def moving_part(dx, x, dtype):
    """A tangent that stands in an array, 0 where there is none."""
    return np.zeros((), dtype) if isinstance(dx, AbstractZero) else as_array_tangent(dx, x)


@rrule.register(np.select)
def select_rrule(condlist, choicelist, default=0):
    """Each choice gets ȳ where its condition is the first one that holds, and exactly 0 elsewhere, NaN or not."""
    y = selected(condlist, choicelist, default)
    project, project_default = project_to(choicelist), project_to(default)
    if project_to(y) is NON_DIFFERENTIABLE or project is project_default is NON_DIFFERENTIABLE:
        return y, lambda ybar: (NO_TANGENT,)
    moves = [project_to(choice) is not NON_DIFFERENTIABLE for choice in choicelist]
    shapes, default_shape = [shape_of(choice) for choice in choicelist], shape_of(default)
    masks, is_left = where_chosen(condlist)

    def masked(mask, shape, ybar):
        return unbroadcast(np.where(mask, ybar, 0), shape)

    def select_pullback(ybar):
        def choices_bar():
            bar = unthunk(ybar)
            if isinstance(bar, AbstractZero):
                return bar
            parts = zip(moves, masks, shapes, strict=True)
            bars = [masked(mask, shape, bar) if is_moving else NO_TANGENT for is_moving, mask, shape in parts]
            return items_of(choicelist, bars)

        def default_bar():
            bar = unthunk(ybar)
            return bar if isinstance(bar, AbstractZero) else masked(is_left, default_shape, bar)

        return stop_early(NO_TANGENT, NO_TANGENT, project(Thunk(choices_bar)), project_default(Thunk(default_bar)))

    return y, select_pullback
