"""Elements that a filter picks by comparing them: it is run on their ranks, which tells where they come from.

A filter that only compares (a median, a maximum of minima) commutes with every increasing map of the values, and so
with that of each value to its rank. Of an image of ranks it gives the ranks of the elements that it picks.

Equal elements are ranked by their places, once in ascending and once in descending order. That is what they are right
beside this image, where it has no equal elements and the filter a derivative. The mean of the two derivatives is a
member of the generalised one, and is the derivative where there is one. Equal shares are not, even if every element
that has the value gets one: a median of (a, b, b), of which b is twice there, is b; and so is max(b, min(a, b)).
"""

import functools

import numpy as np

from rulescore import apply_linear, frule, linear_rule, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, OutputAndPullback, OutputAndTangent, Struct

from ...numpy.array_like import as_array
from ...numpy.indexing import scatter
from .boundaries import fixed, handing_over


class Picks:
    """Which elements a filter picks, counted through an image and, as the next one, what is beyond its edges.

    Parameters
    ----------
    filtered : callable
        ``filtered(x, cval)`` is the output, of plain arrays. It has to do nothing but compare.
    x, cval : ndarray and float
        The image, and what is beyond its edges in the mode ``constant``.
    """

    def __init__(self, filtered, x, cval):
        self.filtered, self.x, self.cval = filtered, x, cval

    @functools.cached_property
    def numbers(self):
        """One array in the shape of the output for each order of equal elements; one for all where none are equal."""
        values = np.append(self.x, self.cval)
        ascending = np.argsort(values, kind="stable")
        in_order = values[ascending]
        orders = [ascending]
        if np.any(in_order[1:] == in_order[:-1]):
            orders.append(len(values) - 1 - np.argsort(values[::-1], kind="stable"))
        return np.stack([self.picked_in(order, np.isnan(values)) for order in orders])

    def picked_in(self, order, is_nan):
        """The numbers of what is picked where the elements ascend in an order; a NaN has that of nothing.

        A NaN has no rank. It stays one, so that SciPy's comparisons go as they went.
        """
        ranks = np.empty(len(order))
        ranks[order] = np.arange(len(order))
        ranks[is_nan] = np.nan
        picked = self.filtered(np.reshape(ranks[:-1], self.x.shape), ranks[-1])
        nothing = np.isnan(picked)
        return np.where(nothing, len(order), order[np.where(nothing, 0, picked).astype(np.intp)])


@handing_over
def gather_picked(dvalues, picks):
    """The mean, over the orders of equal elements, of what was picked."""
    moved = np.append(dvalues, np.zeros(1, dvalues.dtype))  # a zero for what comes from nothing
    return np.sum(moved[picks.numbers], axis=0) / np.asarray(len(picks.numbers), dvalues.dtype)


@handing_over
def spread_picked(ybar, picks):
    """The transpose of `gather_picked`."""
    ybar, numbers = np.asarray(ybar), picks.numbers
    share = np.broadcast_to(ybar / np.asarray(len(numbers), ybar.dtype), numbers.shape)
    return scatter(share, (numbers,), (picks.x.size + 2,), share.dtype)[:-1]


@handing_over
def picked(values, y, picks):
    """y, which SciPy has picked from the values."""
    return y


@frule.register(picked)
@pushforward
def picked_frule(dvalues: Array, values: Array, y: Array, picks: Struct) -> OutputAndTangent:
    of_values = apply_linear(lambda dvalues: gather_picked(dvalues, picks), dvalues)
    return picked(values, y, picks), of_values  # a tracer where the values are


@rrule.register(picked)
def picked_rrule(values: Array, y: Array, picks: Struct) -> OutputAndPullback:
    return picked(values, y, picks), pullback_wrt(values)(lambda ybar: spread_picked(ybar, picks))


linear_rule(gather_picked, lambda ybar, dvalues, picks: spread_picked(ybar, picks))
linear_rule(spread_picked, lambda vbar, ybar, picks: gather_picked(vbar, picks))


def picked_by(filtered, x, cval):
    """``filtered(x, cval)``, where what it does is comparing elements and picking some of them."""
    x = as_array(x)
    y = filtered(fixed(x), fixed(cval))
    values = np.concatenate([np.ravel(x), np.reshape(cval, (1,)).astype(x.dtype)])
    return picked(values, y, Picks(filtered, fixed(x), fixed(cval)))
