"""Elements selected from the window around each element: where they come from, and the transpose of that.

What is selected has a value; every element of the window that has this value takes part, and all have equal shares;
unless an order tells them apart.
"""

import functools

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import apply_linear, frule, linear_rule, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, Mask, Number, OutputAndPullback, OutputAndTangent, Struct

from .boundaries import extend, fixed, fold, handing_over
from .correlations import reach


class Window:
    """The elements around an element, among which one is selected.

    Attributes
    ----------
    footprint : ndarray of bool
        Which ones; one axis for each of ``axes``, which ascend.
    axes, origins, modes : sequence
        Along which axes, where the window begins, and how the image goes on beyond its edges.
    cval : float
        What is beyond them in the mode ``constant``.
    structure : ndarray or None
        What is added to the elements, in the shape of the footprint.
    order : ndarray or None
        A number for each element of the image: of equal ones, only that with the largest number is selected. What is
        beyond the edges has the number 0.
    """

    order = None

    def __init__(self, footprint, axes, origins, modes, cval, structure=None):
        order = np.argsort(axes)
        self.footprint, self.structure = np.asarray(footprint, bool), structure
        self.axes = [axes[i] for i in order]
        # SciPy takes the axes of the footprint in ascending order, and the others in the order they are given.
        self.origins, self.modes = [origins[i] for i in order], [modes[i] for i in order]
        self.cval = cval
        if self.footprint.ndim != len(self.axes):
            raise MDNotImplementedError  # SciPy says what is wrong

    def reaches(self):
        return [reach(size, int(origin)) for size, origin in zip(self.footprint.shape, self.origins, strict=True)]

    def extended(self, x, cval):
        for axis, (before, after), mode in zip(self.axes, self.reaches(), self.modes, strict=True):
            x = extend(x, axis, before, after, mode, cval)
        return x

    def folded(self, z):
        for axis, (before, after), mode in zip(self.axes, self.reaches(), self.modes, strict=True):
            z = fold(z, axis, before, after, mode)
        return z

    def shifts(self, shape):
        """For each place in the window, its number there and the index of all elements that are there."""
        for places in np.argwhere(self.footprint):
            index = [slice(None)] * len(shape)
            for axis, place in zip(self.axes, places, strict=True):
                index[axis] = slice(place, place + shape[axis])
            yield tuple(places.tolist()), tuple(index)

    def ties(self, x, y):
        """For each place in the window: where it is, the index of all elements there, and which were selected."""
        if self.order is None:
            yield from self.equal(x, y)
            return
        order, largest = self.extended(self.order, 0), self.order_selected(x, y)
        for places, index, is_equal in self.equal(x, y):
            yield places, index, is_equal & (order[index] == largest)

    def order_selected(self, x, y):
        """The order of what is selected."""
        order, largest = self.extended(self.order, 0), np.full(y.shape, -np.inf)
        for _, index, is_equal in self.equal(x, y):
            largest = np.where(is_equal, np.maximum(order[index], largest), largest)
        return largest

    def equal(self, x, y):
        """As `ties`, and which elements have the value that was selected."""
        extended = self.extended(x, self.cval)
        for places, index in self.shifts(y.shape):
            values = extended[index]
            if self.structure is not None:
                # In the double precision in which SciPy adds, and in that of the output.
                values = (values.astype(float) + self.structure[places]).astype(y.dtype)
            yield places, index, values == y

    def counts(self, x, y):
        total = np.zeros(y.shape, np.intp)
        for _, _, is_selected in self.ties(x, y):
            total += is_selected
        return np.maximum(total, 1).astype(np.result_type(y, np.float32))


@handing_over
def gather_ties(dx, x, y, window):
    """The mean, for each element of y, of those elements of ``dx`` in whose place x has the value of y."""
    moved, total = window.extended(np.asarray(dx), 0), np.zeros(y.shape, dx.dtype)
    for _, index, is_selected in window.ties(x, y):
        total += np.where(is_selected, moved[index], 0)
    return total / window.counts(x, y)


@handing_over
def spread_ties(ybar, x, y, window):
    """The transpose of `gather_ties`."""
    share = np.asarray(ybar) / window.counts(x, y)
    zbar = np.zeros(window.extended(x, 0).shape, share.dtype)
    for _, index, is_selected in window.ties(x, y):
        zbar[index] += np.where(is_selected, share, 0)
    return window.folded(zbar)


@handing_over
def gather_structure(dstructure, x, y, window):
    """The mean, for each element of y, of ``dstructure`` at the places that were selected from."""
    total = np.zeros(y.shape, np.result_type(y, dstructure))
    for places, _, is_selected in window.ties(x, y):
        total += np.where(is_selected, dstructure[places], 0)
    return total / window.counts(x, y)


@handing_over
def spread_structure(ybar, x, y, window):
    """The transpose of `gather_structure`."""
    share = np.asarray(ybar) / window.counts(x, y)
    bars = np.zeros(window.footprint.shape, share.dtype)
    for places, _, is_selected in window.ties(x, y):
        bars[places] = np.sum(share, where=is_selected)
    return bars


@handing_over
def selected(x, y, window, cval, structure):
    """y, which SciPy has selected from the windows of x.

    It depends on ``cval`` where that is beyond the edges, and on a structure that is added to what is selected from.
    """
    return y


@frule.register(selected)
@pushforward
def selected_frule(
    dx: Array, dcval: Number, dstructure: Mask, x: Array, y: Array, window: Struct, cval: Number, structure: Mask
) -> OutputAndTangent:
    x, y_again = fixed(x), selected(x, y, window, cval, structure)  # a tracer where x is one

    def along_cval(dcval):
        """What is not from within is from beyond."""
        return (1 - gather_ties(np.ones(np.shape(x), y.dtype), x, y, window)) * dcval

    of_x = apply_linear(lambda dx: gather_ties(dx, x, y, window), dx)
    of_structure = apply_linear(lambda dstructure: gather_structure(dstructure, x, y, window), dstructure)
    return y_again, of_x + apply_linear(along_cval, dcval) + of_structure


@rrule.register(selected)
def selected_rrule(x: Array, y: Array, window: Struct, cval: Number, structure: Mask) -> OutputAndPullback:
    values = fixed(x)  # what was selected does not depend on how far x moves

    @pullback_wrt(x, ..., ..., cval, structure)
    def selected_pullback(ybar):
        xbar = functools.cache(lambda: spread_ties(ybar, values, y, window))
        return xbar, lambda: np.sum(ybar) - np.sum(xbar()), lambda: spread_structure(ybar, values, y, window)

    return selected(x, y, window, cval, structure), selected_pullback  # a tracer where x is one


linear_rule(gather_ties, lambda ybar, dx, x, y, window: spread_ties(ybar, x, y, window))
linear_rule(spread_ties, lambda xbar, ybar, x, y, window: gather_ties(xbar, x, y, window))
linear_rule(gather_structure, lambda ybar, dstructure, x, y, window: spread_structure(ybar, x, y, window))
linear_rule(spread_structure, lambda sbar, ybar, x, y, window: gather_structure(sbar, x, y, window))
