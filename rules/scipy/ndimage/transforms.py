"""Rules of the geometric transforms of `scipy.ndimage`, with respect to the image and to where it is sampled.

Each takes the spline of an image at coordinates, which are given, or affine in the places of the pixels. Where those of
each axis depend on the places along that axis alone, everything is done one axis after the other.
"""

import numpy as np
from multipledispatch import MDNotImplementedError
from scipy import ndimage

from rules.numpy.array_like import as_array, as_array_tangent, seen_by_tracers, shape_of
from rules.numpy.reduced_axes import NOT_GIVEN, decline_out, projector_of, stop_early, tangent_at
from rules.scipy.ndimage.spline_sampling import (
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
from rulescore import (
    AbstractZero,
    NoTangent,
    Thunk,
    ZeroTangent,
    frule,
    no_tangent_pullback,
    not_implemented,
    project_to,
    rrule,
    unthunk,
)
from rulescore.tangents.projection import NON_DIFFERENTIABLE

NO_TANGENT = NoTangent()
ZERO_TANGENT = ZeroTangent()

# ---------------------------------------------------------------- the spline filters


def decline_other_output(output):
    """The type of the output may be given; only the default is served."""
    if output is not np.float64:
        raise MDNotImplementedError


def spline_filter_frule(y, x, dx, order, axes, mode):
    dx = as_array_tangent(dx, x)
    return y, dx if isinstance(dx, AbstractZero) else project_to(y)(spline_coefficients(dx, order, axes, mode))


def spline_filter_rrule(y, x, order, axes, mode):
    """The transposed filter is the filter itself, but for the weight of the edges."""
    project = project_to(x)

    def spline_filter_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero) or project is NON_DIFFERENTIABLE:
            return NO_TANGENT, project(ybar)
        return NO_TANGENT, project(spline_coefficients_spread(ybar, order, axes, mode))

    return y, spline_filter_pullback


@frule.register(ndimage.spline_filter1d)
def spline_filter1d_frule(tangents, input, order=3, axis=-1, output=np.float64, mode="mirror"):
    decline_other_output(output)
    y = seen_by_tracers(ndimage.spline_filter1d, input, order, axis, output, mode)
    return spline_filter_frule(y, input, tangents[1], order, (axis,), mode)


@rrule.register(ndimage.spline_filter1d)
def spline_filter1d_rrule(input, order=3, axis=-1, output=np.float64, mode="mirror"):
    decline_other_output(output)
    y = seen_by_tracers(ndimage.spline_filter1d, input, order, axis, output, mode)
    return spline_filter_rrule(y, input, order, (axis,), mode)


@frule.register(ndimage.spline_filter)
def spline_filter_of_all_frule(tangents, input, order=3, output=np.float64, mode="mirror"):
    decline_other_output(output)
    y = seen_by_tracers(ndimage.spline_filter, input, order, output, mode)
    return spline_filter_frule(y, input, tangents[1], order, range(np.ndim(y)), mode)


@rrule.register(ndimage.spline_filter)
def spline_filter_of_all_rrule(input, order=3, output=np.float64, mode="mirror"):
    decline_other_output(output)
    y = seen_by_tracers(ndimage.spline_filter, input, order, output, mode)
    return spline_filter_rrule(y, input, order, range(np.ndim(y)), mode)


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


def transform_frule(function, x, dx, cval, dcval, sampling, coordinates, dcoordinates):
    """The pushforward of ``y = function(x, cval)``.

    Parameters
    ----------
    sampling : Sampling
        What the function does with an image and coordinates.
    coordinates : object
        As the sampling takes them.
    dcoordinates : object
        Their tangents, likewise; None where they do not move.
    """
    given_cval, shape = 0.0 if cval is NOT_GIVEN else cval, shape_of(x)
    y, terms = function(x, given_cval), []
    project = project_to(y)
    if project is NON_DIFFERENTIABLE:
        return y, NO_TANGENT
    if not isinstance(dx, AbstractZero):
        terms.append(sampling.sample(as_array_tangent(dx, x), coordinates))
    if not isinstance(dcval, AbstractZero):
        terms.append(along_cval(function, shape) * dcval)
    if dcoordinates is not None:
        terms.append(sampling.tangent(as_array(x), coordinates, dcoordinates, given_cval))
    return y, project(sum(terms[1:], terms[0])) if terms else ZERO_TANGENT


def transform_rrule(function, x, cval, sampling, coordinates):
    """``y = function(x, cval)`` and a function of ȳ that gives x̄, the cotangents of the coordinates, and that of cval.

    They are thunks; None where y is not differentiable.
    """
    given_cval, shape = 0.0 if cval is NOT_GIVEN else cval, shape_of(x)
    y, projects = function(x, given_cval), (project_to(x), projector_of(cval))
    if project_to(y) is NON_DIFFERENTIABLE:
        return y, None
    x = as_array(x)

    def bars_of(ybar):
        if isinstance(ybar, AbstractZero):
            return projects[0](ybar), ybar, projects[1](ybar)
        bars = (
            Thunk(lambda: sampling.spread(ybar, coordinates, shape)),
            Thunk(lambda: np.sum(along_cval(function, shape) * ybar)),
        )
        xbar, cbar = (
            NO_TANGENT if project is NON_DIFFERENTIABLE else project(bar)
            for project, bar in zip(projects, bars, strict=True)
        )
        return xbar, Thunk(lambda: sampling.coordinates_bar(ybar, x, coordinates, given_cval)), cbar

    return y, bars_of


def of_coordinates(project, bar, transpose):
    """The cotangent of what coordinates are made of, delayed; ``transpose`` is the transpose of what makes them."""
    if project is NON_DIFFERENTIABLE:
        return NO_TANGENT
    return project(bar if isinstance(bar, AbstractZero) else Thunk(lambda: transpose(unthunk(bar))))


def decline_empty(x):
    """An image without pixels, of which SciPy takes what lies beside it in memory."""
    if 0 in shape_of(x):
        raise MDNotImplementedError


# ---------------------------------------------------------------- coordinates that are given


def mapped(input, coordinates, order, mode, prefilter):
    decline_empty(input)

    def function(x, cval):
        return seen_by_tracers(ndimage.map_coordinates, x, coordinates, None, order, mode, cval, prefilter)

    return function


@frule.register(ndimage.map_coordinates)
def map_coordinates_frule(
    tangents, input, coordinates, output=None, order=3, mode="constant", cval=NOT_GIVEN, prefilter=True
):
    decline_out(output)
    _, dx, dcoordinates, *_ = tangents
    moving = None if isinstance(dcoordinates, AbstractZero) else as_array_tangent(dcoordinates, coordinates)
    function, sampling = mapped(input, coordinates, order, mode, prefilter), AtPoints(order, mode, prefilter)
    dcval = tangent_at(tangents, 5)
    return transform_frule(function, input, dx, cval, dcval, sampling, as_array(coordinates), moving)


@rrule.register(ndimage.map_coordinates)
def map_coordinates_rrule(input, coordinates, output=None, order=3, mode="constant", cval=NOT_GIVEN, prefilter=True):
    """ȳ is added to the coefficients around each point, by their weights, and filtered as the image was.

    The derivative with respect to a coordinate is that of the spline.
    """
    decline_out(output)
    project, sampling = project_to(coordinates), AtPoints(order, mode, prefilter)
    function = mapped(input, coordinates, order, mode, prefilter)
    y, bars_of = transform_rrule(function, input, cval, sampling, as_array(coordinates))
    if bars_of is None:
        return y, no_tangent_pullback

    def map_coordinates_pullback(ybar):
        xbar, bar, cbar = bars_of(unthunk(ybar))
        coordinates_bar = of_coordinates(project, bar, lambda bar: bar)
        return stop_early(NO_TANGENT, xbar, coordinates_bar, *[NO_TANGENT] * 3, cbar)

    return y, map_coordinates_pullback


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
def geometric_transform_frule(
    tangents,
    input,
    mapping,
    output_shape=None,
    output=None,
    order=3,
    mode="constant",
    cval=NOT_GIVEN,
    prefilter=True,
    extra_arguments=(),
    extra_keywords=None,
):
    decline_out(output)
    shape = shape_of(input) if output_shape is None else output_shape
    coordinates = coordinates_by_function(mapping, shape, extra_arguments, extra_keywords)
    function = mapped_by_function(input, mapping, output_shape, order, mode, prefilter, extra_arguments, extra_keywords)
    sampling, dcval = AtPoints(order, mode, prefilter), tangent_at(tangents, 6)
    y, dy = transform_frule(function, input, tangents[1], cval, dcval, sampling, coordinates, None)
    of_mapping = (tangents[2], tangent_at(tangents, 8), tangent_at(tangents, 9))
    return y, dy if all(isinstance(dx, AbstractZero) for dx in of_mapping) else OF_MAPPING


@rrule.register(ndimage.geometric_transform)
def geometric_transform_rrule(
    input,
    mapping,
    output_shape=None,
    output=None,
    order=3,
    mode="constant",
    cval=NOT_GIVEN,
    prefilter=True,
    extra_arguments=(),
    extra_keywords=None,
):
    """With respect to the image; for coordinates that depend on something, there is `map_coordinates`."""
    decline_out(output)
    shape = shape_of(input) if output_shape is None else tuple(output_shape)
    coordinates = Thunk(lambda: coordinates_by_function(mapping, shape, extra_arguments, extra_keywords))
    function = mapped_by_function(input, mapping, output_shape, order, mode, prefilter, extra_arguments, extra_keywords)
    sampling = AtPoints(order, mode, prefilter)
    given_cval = 0.0 if cval is NOT_GIVEN else cval
    y, projects = function(input, given_cval), (project_to(input), projector_of(cval))
    if project_to(y) is NON_DIFFERENTIABLE:
        return y, no_tangent_pullback
    of_image = shape_of(input)
    of_mapping = [
        NO_TANGENT if project_to(x) is NON_DIFFERENTIABLE else OF_MAPPING
        for x in (mapping, extra_arguments, extra_keywords)
    ]

    def geometric_transform_pullback(ybar):
        ybar = unthunk(ybar)
        is_zero = isinstance(ybar, AbstractZero)
        xbar = ybar if is_zero else Thunk(lambda: sampling.spread(ybar, unthunk(coordinates), of_image))
        cbar = ybar if is_zero else Thunk(lambda: np.sum(along_cval(function, of_image) * ybar))
        xbar, cbar = (
            NO_TANGENT if project is NON_DIFFERENTIABLE else project(bar)
            for project, bar in zip(projects, (xbar, cbar), strict=True)
        )
        bars = [xbar, of_mapping[0], *[NO_TANGENT] * 4, cbar, NO_TANGENT, *of_mapping[1:]]
        return stop_early(NO_TANGENT, *bars)

    return y, geometric_transform_pullback
