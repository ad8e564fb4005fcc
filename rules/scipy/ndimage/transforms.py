"""Rules of the geometric transforms of `scipy.ndimage`, with respect to the image and to where it is sampled.

Each takes the spline of an image at coordinates, which are given, or affine in the places of the pixels. Where those of
each axis depend on the places along that axis alone, everything is done one axis after the other.
"""

import functools
from typing import Any

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import (
    apply_linear,
    frule,
    is_differentiable,
    no_tangent_pullback,
    not_implemented,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
)
from rulescore.typing import (
    Array,
    Arrays,
    Axis,
    Choice,
    Flag,
    Function,
    Number,
    OutputAndPullback,
    OutputAndTangent,
    Shape,
)
from scipy import ndimage

from ...numpy.array_like import as_array, as_array_tangent, shape_of
from ...numpy.reduced_axes import NOT_GIVEN, decline_out
from .spline_sampling import (
    beside,
    coefficients_bar,
    coefficients_of,
    gradient_at,
    margin_of,
    sample_axis,
    sample_spline,
    spline_coefficients,
    spline_coefficients_spread,
    spread_axis,
    spread_spline,
    sum_beside,
)

# ---------------------------------------------------------------- the spline filters


def decline_other_output(output):
    """The type of the output may be given; only the default is served."""
    if output is not np.float64:
        raise MDNotImplementedError


@frule.register(ndimage.spline_filter1d)
@pushforward
def spline_filter1d_frule(
    dinput: Array,
    input: Array,
    order: Choice = 3,
    axis: Axis = -1,
    output: Choice = np.float64,
    mode: Choice = "mirror",
) -> OutputAndTangent:
    decline_other_output(output)
    y = seen_by_tracers(ndimage.spline_filter1d, input, order, axis, output, mode)
    return y, spline_coefficients(as_array_tangent(dinput, input), order, (axis,), mode)


@rrule.register(ndimage.spline_filter1d)
def spline_filter1d_rrule(
    input: Array, order: Choice = 3, axis: Axis = -1, output: Choice = np.float64, mode: Choice = "mirror"
) -> OutputAndPullback:
    """The transposed filter is the filter itself, but for the weight of the edges."""
    decline_other_output(output)
    y = seen_by_tracers(ndimage.spline_filter1d, input, order, axis, output, mode)
    return y, pullback_wrt(input)(lambda ybar: spline_coefficients_spread(ybar, order, (axis,), mode))


@frule.register(ndimage.spline_filter)
@pushforward
def spline_filter_frule(
    dinput: Array, input: Array, order: Choice = 3, output: Choice = np.float64, mode: Choice = "mirror"
) -> OutputAndTangent:
    decline_other_output(output)
    y = seen_by_tracers(ndimage.spline_filter, input, order, output, mode)
    return y, spline_coefficients(as_array_tangent(dinput, input), order, range(np.ndim(y)), mode)


@rrule.register(ndimage.spline_filter)
def spline_filter_rrule(
    input: Array, order: Choice = 3, output: Choice = np.float64, mode: Choice = "mirror"
) -> OutputAndPullback:
    """Along all axes."""
    decline_other_output(output)
    y = seen_by_tracers(ndimage.spline_filter, input, order, output, mode)
    return y, pullback_wrt(input)(lambda ybar: spline_coefficients_spread(ybar, order, range(np.ndim(y)), mode))


# ---------------------------------------------------------------- an image and where it is sampled


class Sampling:
    """How an image is continued and interpolated.

    Attributes
    ----------
    order, mode, prefilter
        As SciPy takes them.
    margin : int
        By how many pixels the image is enlarged.
    """

    __slots__ = ("margin", "mode", "order", "prefilter")

    def __init__(self, order, mode, prefilter):
        self.order, self.mode = int(order), "reflect" if mode == "grid-mirror" else mode
        self.prefilter, self.margin = prefilter, margin_of(order, mode, prefilter)

    def coefficients(self, x):
        return coefficients_of(x, self.order, self.mode, self.prefilter)

    def coefficients_without(self, x, cval):
        """Those that the derivative with respect to a coordinate is made of, where ``cval`` is what lies outside."""
        return self.coefficients(x - cval if self.mode == "grid-constant" else x)

    def image_bar(self, cbar):
        return coefficients_bar(cbar, self.order, self.mode, self.prefilter)

    def shape_of_coefficients(self, shape):
        return tuple([length + 2 * self.margin for length in shape])


class AtPoints(Sampling):
    """Sampling at coordinates of any kind: an array whose first axis has an entry for each axis of the image."""

    __slots__ = ()

    def sample(self, x, coordinates):
        """What the image gives; nothing where it is outside."""
        none = ((0,) * len(coordinates),)
        return sample_spline(self.coefficients(x), coordinates + self.margin, self.order, self.mode, none)[0]

    def spread(self, ybar, coordinates, shape):
        """The transpose of `sample`."""
        none, shape = ((0,) * len(coordinates),), self.shape_of_coefficients(shape)
        where = coordinates + self.margin
        return self.image_bar(spread_spline(ybar[None], where, self.order, self.mode, none, shape))

    def slopes(self, x, coordinates, cval):
        """The derivative of each output with respect to each of its coordinates."""
        none, c = ((0,) * len(coordinates),), self.coefficients_without(x, cval)
        return gradient_at(c, coordinates + self.margin, self.order, self.mode, none)[:, 0]

    def tangent(self, x, coordinates, dcoordinates, cval):
        return np.sum(self.slopes(x, coordinates, cval) * dcoordinates, axis=0)

    def coordinates_bar(self, ybar, x, coordinates, cval):
        return np.real(np.conj(self.slopes(x, coordinates, cval)) * ybar)


class AlongAxes(Sampling):
    """Sampling at the grid that one vector of coordinates for each axis makes."""

    __slots__ = ()

    def along(self, c, coordinates, derivatives=None):
        for axis, x in enumerate(coordinates):
            times = 0 if derivatives is None else derivatives[axis]
            c = sample_axis(c, x + self.margin, axis, self.order, self.mode, times)
        return c

    def sample(self, x, coordinates):
        return self.along(self.coefficients(x), coordinates)

    def spread(self, ybar, coordinates, shape):
        lengths = self.shape_of_coefficients(shape)
        for axis, x in enumerate(coordinates):
            ybar = spread_axis(ybar, x + self.margin, axis, self.order, self.mode, 0, lengths[axis])
        return self.image_bar(ybar)

    def slopes(self, x, coordinates, cval):
        """By axis, the derivative of each output with respect to its coordinate along it."""
        c, count = self.coefficients_without(x, cval), len(coordinates)
        return [self.along(c, coordinates, [int(i == axis) for i in range(count)]) for axis in range(count)]

    def tangent(self, x, coordinates, dcoordinates, cval):
        slopes = self.slopes(x, coordinates, cval)
        moved = [
            slope * beside(dx, i, len(slopes)) for i, (slope, dx) in enumerate(zip(slopes, dcoordinates, strict=True))
        ]
        return sum(moved[1:], moved[0])

    def coordinates_bar(self, ybar, x, coordinates, cval):
        slopes = self.slopes(x, coordinates, cval)
        return [sum_beside(np.conj(slope) * ybar, axis) for axis, slope in enumerate(slopes)]


def along_cval(function, shape):
    """The derivative of a transform with respect to what lies outside: what it makes of a black image before white."""
    return function(np.zeros(shape), 1.0)


class Transform:
    """y = function(x, cval): an image that is sampled at coordinates.

    Attributes
    ----------
    image, cval : object
        As they were given.
    sampling : Sampling
        What the function does with an image and coordinates.
    coordinates : object
        As the sampling takes them; None where none of the methods that need them is called.
    """

    def __init__(self, function, image, cval, sampling, coordinates):
        self.function, self.image, self.cval = function, image, 0.0 if cval is NOT_GIVEN else cval
        self.sampling, self.coordinates = sampling, coordinates
        self.x, self.y = as_array(image), function(image, self.cval)

    def tangent(self, dimage, dcval):
        """Where the coordinates do not move."""
        dx = as_array_tangent(dimage, self.image)
        of_image = apply_linear(lambda dx: self.sampling.sample(dx, self.coordinates), dx)
        return of_image + apply_linear(lambda dcval: self.of_white_beyond() * dcval, dcval)

    def along(self, dcoordinates):
        """What moving the coordinates adds."""
        return apply_linear(lambda dc: self.sampling.tangent(self.x, self.coordinates, dc, self.cval), dcoordinates)

    def of_white_beyond(self):
        """The derivative with respect to what lies outside: what the function makes of a black image before white."""
        return self.function(np.zeros(np.shape(self.x)), 1.0)

    def image_bar(self, ybar):
        return self.sampling.spread(ybar, self.coordinates, np.shape(self.x))

    def coordinates_bar(self, ybar):
        return self.sampling.coordinates_bar(ybar, self.x, self.coordinates, self.cval)

    def cval_bar(self, ybar):
        return np.sum(self.of_white_beyond() * ybar)


def decline_empty(x):
    """An image without pixels, of which SciPy takes what lies beside it in memory."""
    if 0 in shape_of(x):
        raise MDNotImplementedError


# ---------------------------------------------------------------- coordinates that are given


def mapped(input, coordinates, order, mode, cval, prefilter):
    decline_empty(input)

    def function(x, cval):
        return seen_by_tracers(ndimage.map_coordinates, x, coordinates, None, order, mode, cval, prefilter)

    return Transform(function, input, cval, AtPoints(order, mode, prefilter), as_array(coordinates))


@frule.register(ndimage.map_coordinates)
@pushforward
def map_coordinates_frule(
    dinput: Array,
    dcoordinates: Array,
    dcval: Number,
    input: Array,
    coordinates: Array,
    output: Choice = None,
    order: Choice = 3,
    mode: Choice = "constant",
    cval: Number = 0.0,
    prefilter: Flag = True,
) -> OutputAndTangent:
    decline_out(output)
    transform = mapped(input, coordinates, order, mode, cval, prefilter)
    dy = transform.tangent(dinput, dcval) + transform.along(as_array_tangent(dcoordinates, coordinates))
    return transform.y, dy


@rrule.register(ndimage.map_coordinates)
def map_coordinates_rrule(
    input: Array,
    coordinates: Array,
    output: Choice = None,
    order: Choice = 3,
    mode: Choice = "constant",
    cval: Number = NOT_GIVEN,
    prefilter: Flag = True,
) -> OutputAndPullback:
    """ȳ is added to the coefficients around each point, by their weights, and filtered as the image was.

    The derivative with respect to a coordinate is that of the spline.
    """
    decline_out(output)
    transform = mapped(input, coordinates, order, mode, cval, prefilter)
    if not is_differentiable(transform.y):
        return transform.y, no_tangent_pullback
    bars = transform.image_bar, transform.coordinates_bar, transform.cval_bar
    return transform.y, pullback_wrt(input, coordinates, ..., ..., ..., cval)(*bars)


OF_MAPPING = not_implemented(
    "geometric_transform with respect to what its mapping depends on; compute the coordinates and use map_coordinates"
)


def mapped_by_function(input, mapping, output_shape, order, mode, prefilter, arguments, keywords):
    decline_empty(input)

    def function(x, cval):
        return seen_by_tracers(
            ndimage.geometric_transform,
            x,
            mapping,
            output_shape,
            None,
            order,
            mode,
            cval,
            prefilter,
            arguments,
            keywords,
        )

    return function


def coordinates_by_function(mapping, shape, arguments, keywords):
    """Where the pixels of the output come from, one by one, as SciPy asks for them."""
    if 0 in shape:
        raise MDNotImplementedError
    columns = [mapping(place, *arguments, **(keywords or {})) for place in np.ndindex(*shape)]
    return np.reshape(np.array(columns, float).T, (-1, *shape))


@frule.register(ndimage.geometric_transform)
@pushforward
def geometric_transform_frule(
    dinput: Array,
    dmapping: Function,
    dcval: Number,
    dextra_arguments: Arrays,
    dextra_keywords: Any,
    input: Array,
    mapping: Function,
    output_shape: Shape = None,
    output: Choice = None,
    order: Choice = 3,
    mode: Choice = "constant",
    cval: Number = 0.0,
    prefilter: Flag = True,
    extra_arguments: Arrays = (),
    extra_keywords: Any = None,
) -> OutputAndTangent:
    decline_out(output)
    shape = shape_of(input) if output_shape is None else output_shape
    coordinates = coordinates_by_function(mapping, shape, extra_arguments, extra_keywords)
    function = mapped_by_function(input, mapping, output_shape, order, mode, prefilter, extra_arguments, extra_keywords)
    transform = Transform(function, input, cval, AtPoints(order, mode, prefilter), coordinates)
    of_mapping = apply_linear(lambda *dmapping: OF_MAPPING, dmapping, dextra_arguments, dextra_keywords)
    return transform.y, transform.tangent(dinput, dcval) + of_mapping


@rrule.register(ndimage.geometric_transform)
def geometric_transform_rrule(
    input: Array,
    mapping: Function,
    output_shape: Shape = None,
    output: Choice = None,
    order: Choice = 3,
    mode: Choice = "constant",
    cval: Number = NOT_GIVEN,
    prefilter: Flag = True,
    extra_arguments: Arrays = (),
    extra_keywords: Any = None,
) -> OutputAndPullback:
    """With respect to the image; for coordinates that depend on something, there is `map_coordinates`."""
    decline_out(output)
    shape = shape_of(input) if output_shape is None else tuple(output_shape)
    function = mapped_by_function(input, mapping, output_shape, order, mode, prefilter, extra_arguments, extra_keywords)
    transform = Transform(function, input, cval, AtPoints(order, mode, prefilter), None)
    if not is_differentiable(transform.y):
        return transform.y, no_tangent_pullback
    by_function = functools.partial(coordinates_by_function, mapping, shape, extra_arguments, extra_keywords)

    @pullback_wrt(input, mapping, ..., ..., ..., ..., cval, ..., extra_arguments, extra_keywords)
    def geometric_transform_pullback(ybar):
        def image_bar():
            return transform.sampling.spread(ybar, by_function(), np.shape(transform.x))

        return image_bar, OF_MAPPING, lambda: transform.cval_bar(ybar), OF_MAPPING, OF_MAPPING

    return transform.y, geometric_transform_pullback
