"""Rules of filters that select: minimum, maximum, median, percentile, rank, and the morphology of grey images.

The element that is selected gets the cotangent; elements of the same value in one window share it equally. A minimum or
maximum over a box is taken one axis after the other, as SciPy does it, and ties are shared axis by axis.
"""

import numpy as np
from multipledispatch import MDNotImplementedError

from scipy import ndimage

from ...numpy.array_like import as_array
from ...numpy.reduced_axes import decline_out
from ..linear_maps import composed
from .boundaries import axes_of, fixed, one_for_each
from .windows import Window, selected

# ---------------------------------------------------------------- rank


def rank_selected(function, args, x, size, footprint, output, mode, cval, origin, axes):
    decline_out(output)
    x = as_array(x)
    some = {} if axes is None else {"axes": axes}
    y = function(fixed(x), *args, size, footprint, None, mode, fixed(cval), origin, **some)
    numbers = axes_of(axes, np.ndim(x))
    count = len(numbers)
    if footprint is None:
        footprint = np.ones([int(n) for n in one_for_each(size, count)], bool)
    modes = one_for_each(mode, count)
    window = Window(footprint, numbers, one_for_each(origin, count), modes, fixed(cval))
    return selected(x, y, window, cval, None)


@composed(ndimage.median_filter)
def median_filter(input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    return rank_selected(ndimage.median_filter, (), input, size, footprint, output, mode, cval, origin, axes)


@composed(ndimage.rank_filter)
def rank_filter(input, rank, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    return rank_selected(ndimage.rank_filter, (rank,), input, size, footprint, output, mode, cval, origin, axes)


@composed(ndimage.percentile_filter)
def percentile_filter(
    input, percentile, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    """Of an element of a whole rank, which the percentile only decides on."""
    args = (fixed(percentile),)
    return rank_selected(ndimage.percentile_filter, args, input, size, footprint, output, mode, cval, origin, axes)


# ---------------------------------------------------------------- extrema

ALONG_ONE_AXIS = {True: ndimage.minimum_filter1d, False: ndimage.maximum_filter1d}


def extremum_along(is_minimum, x, size, axis, mode, cval, origin):
    """One pass of a minimum or maximum filter."""
    if size <= 1:
        return x
    y = ALONG_ONE_AXIS[is_minimum](fixed(x), size, axis, None, mode, fixed(cval), origin)
    window = Window(np.ones(size, bool), [axis % np.ndim(x)], [origin], [mode], fixed(cval))
    return selected(x, y, window, cval, None)


def extremum(is_minimum, x, size, footprint, structure, mode, cval, origin, axes, with_structure=None):
    """What is behind all of these; of a ``structure``, SciPy's result is given by a function of the image."""
    x = as_array(x)
    if np.iscomplexobj(x) or (size is None and footprint is None and structure is None):
        raise MDNotImplementedError  # SciPy says what is wrong
    numbers = axes_of(axes, np.ndim(x))
    count = len(numbers)
    origins, modes = one_for_each(origin, count), one_for_each(mode, count)
    if structure is None and (footprint is None or np.all(footprint)):
        sizes = one_for_each(size, count) if footprint is None else list(np.shape(footprint))
        for i, axis in enumerate(numbers):
            x = extremum_along(is_minimum, x, int(sizes[i]), axis, modes[i], cval, int(origins[i]))
        return x
    some = {} if axes is None else {"axes": axes}
    given = fixed(x), None, footprint
    if structure is None:
        function = ndimage.minimum_filter if is_minimum else ndimage.maximum_filter
        y = function(*given, None, mode, fixed(cval), origin, **some)
        added = None
    else:
        numeric = np.asarray(fixed(structure), float)
        footprint = np.ones(numeric.shape, bool) if footprint is None else footprint
        y = with_structure(fixed(x))
        structure = -as_array(structure) if is_minimum else as_array(structure)
        added = -numeric if is_minimum else numeric
    window = Window(footprint, numbers, origins, modes, fixed(cval), added)
    return selected(x, y, window, cval, structure)


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
    return extremum(True, input, size, footprint, None, mode, cval, origin, axes)


@composed(ndimage.maximum_filter)
def maximum_filter(input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    decline_out(output)
    return extremum(False, input, size, footprint, None, mode, cval, origin, axes)


# ---------------------------------------------------------------- morphology


def turned_around(x):
    return None if x is None else as_array(x)[(slice(None, None, -1),) * np.ndim(x)]


def eroded(x, size, footprint, structure, mode, cval, origin, axes):
    def by_scipy(x):
        some = {} if axes is None else {"axes": axes}
        return ndimage.grey_erosion(x, None, footprint, fixed(structure), None, mode, fixed(cval), origin, **some)

    return extremum(True, x, size, footprint, structure, mode, cval, origin, axes, by_scipy)


def dilated(x, size, footprint, structure, mode, cval, origin, axes):
    """The maximum of a window that is turned around."""

    def by_scipy(x):
        some = {} if axes is None else {"axes": axes}
        return ndimage.grey_dilation(x, None, footprint, fixed(structure), None, mode, fixed(cval), origin, **some)

    count = len(axes_of(axes, np.ndim(as_array(x))))
    shaped = footprint if footprint is not None else structure
    lengths = one_for_each(size, count) if shaped is None else np.shape(shaped)
    origins = [-int(o) - (not n % 2) for o, n in zip(one_for_each(origin, count), lengths, strict=True)]
    turned = turned_around(footprint), turned_around(structure)
    return extremum(False, x, size, *turned, mode, cval, origins, axes, by_scipy)


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
        return of(as_array(input), size, footprint, structure, mode, cval, origin, axes)


def opened(x, *how):
    return dilated(eroded(x, *how), *how)


def closed(x, *how):
    return eroded(dilated(x, *how), *how)


register_morphology(ndimage.grey_erosion, eroded)
register_morphology(ndimage.grey_dilation, dilated)
register_morphology(ndimage.grey_opening, opened)
register_morphology(ndimage.grey_closing, closed)
register_morphology(ndimage.white_tophat, lambda x, *how: x - opened(x, *how))
register_morphology(ndimage.black_tophat, lambda x, *how: closed(x, *how) - x)
register_morphology(ndimage.morphological_gradient, lambda x, *how: dilated(x, *how) - eroded(x, *how))
register_morphology(ndimage.morphological_laplace, lambda x, *how: dilated(x, *how) + eroded(x, *how) - x - x)
