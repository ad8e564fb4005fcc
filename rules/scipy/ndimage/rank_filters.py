"""Rules of filters that select: minimum, maximum, median, percentile, rank, and the morphology of grey images.

The element that is selected gets the cotangent. Elements of the same value in the window of a minimum or maximum share
it equally; over a box one axis is taken after the other, as SciPy does it, and ties are shared axis by axis. Filters
that select in other ways, as by a minimum of maxima, share ties as `ranks` tells.
"""

import numpy as np
from multipledispatch import MDNotImplementedError

from scipy import ndimage

from ...numpy.array_like import as_array
from ...numpy.reduced_axes import decline_out
from ..linear_maps import composed
from .boundaries import axes_of, fixed, one_for_each
from .ranks import picked_by
from .windows import Window, selected

# ---------------------------------------------------------------- rank


def by_keyword(axes):
    """The axes, for a function of SciPy; nothing where none are given, since not all of its versions take them."""
    return {} if axes is None else {"axes": axes}


def rank_picked(function, args, x, size, footprint, output, mode, cval, origin, axes):
    decline_out(output)
    x, footprint = as_array(x), fixed(footprint)
    axes_of(axes, np.ndim(x))

    def filtered(x, cval):
        return function(x, *args, size, footprint, None, mode, cval, origin, **by_keyword(axes))

    return picked_by(filtered, x, cval)


@composed(ndimage.median_filter)
def median_filter(input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    return rank_picked(ndimage.median_filter, (), input, size, footprint, output, mode, cval, origin, axes)


@composed(ndimage.rank_filter)
def rank_filter(input, rank, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    return rank_picked(ndimage.rank_filter, (rank,), input, size, footprint, output, mode, cval, origin, axes)


@composed(ndimage.percentile_filter)
def percentile_filter(
    input, percentile, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    """Of an element of a whole rank, which the percentile only decides on."""
    args = (fixed(percentile),)
    return rank_picked(ndimage.percentile_filter, args, input, size, footprint, output, mode, cval, origin, axes)


# ---------------------------------------------------------------- extrema

ALONG_ONE_AXIS = {True: ndimage.minimum_filter1d, False: ndimage.maximum_filter1d}


def extremum_along(is_minimum, x, size, axis, mode, cval, origin):
    """One pass of a minimum or maximum filter."""
    if size <= 1:
        return x
    y = ALONG_ONE_AXIS[is_minimum](fixed(x), size, axis, None, mode, fixed(cval), origin)
    window = Window(np.ones(size, bool), [axis % np.ndim(x)], [origin], [mode], fixed(cval))
    return selected(x, y, window, cval, None)


def extremum(is_minimum, x, size, footprint, mode, cval, origin, axes):
    """What is behind the extrema to which nothing is added."""
    x, footprint = as_array(x), fixed(footprint)
    if np.iscomplexobj(x) or (size is None and footprint is None):
        raise MDNotImplementedError  # SciPy says what is wrong
    numbers = axes_of(axes, np.ndim(x))
    count = len(numbers)
    origins, modes = one_for_each(origin, count), one_for_each(mode, count)
    if footprint is None or np.all(footprint):
        sizes = one_for_each(size, count) if footprint is None else list(np.shape(footprint))
        for i, axis in enumerate(numbers):
            x = extremum_along(is_minimum, x, int(sizes[i]), axis, modes[i], cval, int(origins[i]))
        return x
    function = ndimage.minimum_filter if is_minimum else ndimage.maximum_filter
    y = function(fixed(x), None, footprint, None, mode, fixed(cval), origin, **by_keyword(axes))
    return selected(x, y, Window(footprint, numbers, origins, modes, fixed(cval)), cval, None)


@composed(ndimage.minimum_filter1d)
def minimum_filter1d(input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    decline_out(output)
    return extremum_along(True, as_array(input), int(size), int(axis), mode, cval, int(origin))


@composed(ndimage.maximum_filter1d)
def maximum_filter1d(input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    decline_out(output)
    return extremum_along(False, as_array(input), int(size), int(axis), mode, cval, int(origin))


@composed(ndimage.minimum_filter)
def minimum_filter(input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    decline_out(output)
    return extremum(True, input, size, footprint, mode, cval, origin, axes)


@composed(ndimage.maximum_filter)
def maximum_filter(input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    decline_out(output)
    return extremum(False, input, size, footprint, mode, cval, origin, axes)


# ---------------------------------------------------------------- morphology


def turned_around(x):
    return None if x is None else as_array(x)[(slice(None, None, -1),) * np.ndim(x)]


def origins_turned_around(origin, lengths):
    return [-int(o) - (not n % 2) for o, n in zip(one_for_each(origin, len(lengths)), lengths, strict=True)]


def with_structure(function, x, footprint, structure, mode, cval, origin, axes):
    """What `selected` takes, of an erosion or a dilation that adds a structure."""
    if np.iscomplexobj(x):
        raise MDNotImplementedError  # SciPy says what is wrong
    numbers = axes_of(axes, np.ndim(x))
    given = fixed(structure), None, mode, fixed(cval), origin
    y = function(fixed(x), None, footprint, *given, **by_keyword(axes))
    structure, origins = as_array(structure), one_for_each(origin, len(numbers))
    if structure.dtype.kind in "biu":  # of which -structure is none, or another one
        structure = structure.astype(float)
    footprint = np.ones(np.shape(structure), bool) if footprint is None else footprint
    if function is ndimage.grey_erosion:
        structure = -structure
    else:  # the maximum of a window that is turned around
        footprint, structure = turned_around(footprint), turned_around(structure)
        origins = origins_turned_around(origins, np.shape(footprint))
    added = np.asarray(fixed(structure), float)
    window = Window(footprint, numbers, origins, one_for_each(mode, len(numbers)), fixed(cval), added)
    return y, window, cval, structure


def eroded(x, size, footprint, structure, *how):
    if structure is not None:
        return selected(x, *with_structure(ndimage.grey_erosion, x, footprint, structure, *how))
    return extremum(True, x, size, footprint, *how)


def dilated(x, size, footprint, structure, mode, cval, origin, axes):
    if structure is not None:
        how = mode, cval, origin, axes
        return selected(x, *with_structure(ndimage.grey_dilation, x, footprint, structure, *how))
    count = len(axes_of(axes, np.ndim(x)))
    lengths = one_for_each(size, count) if footprint is None else np.shape(footprint)
    origins = origins_turned_around(one_for_each(origin, count), lengths)
    return extremum(False, x, size, turned_around(footprint), mode, cval, origins, axes)


def flat(function, x, size, footprint, mode, cval, origin, axes):
    """The output of a function that adds no structure, and so only compares."""
    if np.iscomplexobj(x) or (size is None and footprint is None):
        raise MDNotImplementedError  # SciPy says what is wrong
    axes_of(axes, np.ndim(x))
    size = size if footprint is None else None

    def filtered(x, cval):
        return function(x, size, footprint, None, None, mode, cval, origin, **by_keyword(axes))

    return picked_by(filtered, x, cval)


def one_after_the_other(functions, x, order, *how):
    """Erosions and dilations that add a structure, of an image whose equal elements have an order."""
    for function in functions:
        y, window, cval, structure = with_structure(function, x, *how)
        # Of equal elements a minimum selects the first.
        sign = -1 if function is ndimage.grey_erosion else 1
        window.order, values = sign * order, fixed(x)
        x, order = selected(x, y, window, cval, structure), sign * window.order_selected(values, y)
    return x


def beside_ties(function, *functions):
    """A function that does what ``functions`` do, one after the other, with the derivative beside equal elements.

    Without a structure `ranks` finds it. With one, too, equal elements are told apart by their places, in ascending and
    in descending order, and what is selected from them by where it came from. What is beyond the edges is the first of
    the ascending order.
    """

    def of(x, size, footprint, structure, *how):
        if structure is None:
            return flat(function, x, size, footprint, *how)
        places = np.reshape(np.arange(1.0, 1 + np.size(x)), np.shape(x))
        how = footprint, structure, *how
        both = [one_after_the_other(functions, x, order, *how) for order in (places, -places)]
        return ((both[0] + both[1]) / 2).astype(x.dtype)

    return of


def register_morphology(function, of):
    """The rules of a function with the arguments that all of morphology has."""

    @composed(function)
    def morphology(
        input,
        size=None,
        footprint=None,
        structure=None,
        output=None,
        mode="reflect",
        cval=0.0,
        origin=0,
        *,
        axes=None,
    ):
        decline_out(output)
        return of(as_array(input), size, fixed(footprint), structure, mode, cval, origin, axes)


lowest = beside_ties(ndimage.grey_erosion, ndimage.grey_erosion)
highest = beside_ties(ndimage.grey_dilation, ndimage.grey_dilation)
opened = beside_ties(ndimage.grey_opening, ndimage.grey_erosion, ndimage.grey_dilation)
closed = beside_ties(ndimage.grey_closing, ndimage.grey_dilation, ndimage.grey_erosion)

register_morphology(ndimage.grey_erosion, eroded)
register_morphology(ndimage.grey_dilation, dilated)
register_morphology(ndimage.grey_opening, opened)
register_morphology(ndimage.grey_closing, closed)
register_morphology(ndimage.white_tophat, lambda x, *how: x - opened(x, *how))
register_morphology(ndimage.black_tophat, lambda x, *how: closed(x, *how) - x)
register_morphology(ndimage.morphological_gradient, lambda x, *how: highest(x, *how) - lowest(x, *how))
register_morphology(ndimage.morphological_laplace, lambda x, *how: highest(x, *how) + lowest(x, *how) - x - x)
