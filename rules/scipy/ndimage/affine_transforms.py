"""Rules of the transforms of `scipy.ndimage` that sample an image at affine coordinates: shift, zoom, rotation.

With respect to the image, and to matrix, offset, shift and angle. The coordinates are computed in SciPy's order of
operations, so that what lies outside lies outside here too. How far an image is zoomed is decided by the number of
pixels that its zoom is rounded to, which is constant almost everywhere.
"""

import functools

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import (
    apply_linear,
    frule,
    is_differentiable,
    no_tangent_pullback,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
)
from rulescore.typing import Array, Axis, Choice, Count, Flag, Number, OutputAndPullback, OutputAndTangent, Shape
from scipy import ndimage, special

from ...numpy.array_like import as_array, as_array_tangent, shape_of
from ...numpy.reduced_axes import NOT_GIVEN, decline_out
from .boundaries import fixed
from .transforms import AlongAxes, AtPoints, Transform, decline_empty


def for_each_axis(x, count):
    """A number for all axes, or one for each, as an array with one for each."""
    x = as_array(x) * 1.0
    return x * np.ones(count) if np.ndim(x) == 0 else x


def sum_for(x, bar):
    """The transpose of `for_each_axis`."""
    return np.sum(bar) if shape_of(x) == () else bar


# ---------------------------------------------------------------- matrix and offset


class Affine:
    """The coordinates of ``ndimage.affine_transform``, for a matrix of each kind that it takes.

    Attributes
    ----------
    ndim : int
        The number of axes of the image.
    shape : tuple of int
        That of the output.
    is_diagonal : bool
        Whether the matrix is given by its diagonal.
    is_homogeneous : bool
        Whether the offset stands in the last column of the matrix.
    """

    def __init__(self, matrix, offset, ndim, shape):
        size = shape_of(matrix)
        self.matrix, self.offset, self.ndim, self.shape = matrix, offset, ndim, shape
        self.is_diagonal = len(size) == 1
        self.is_homogeneous = len(size) == 2 and size[1] == ndim + 1 and size[0] in (ndim, ndim + 1)
        right = size == (ndim,) if self.is_diagonal else self.is_homogeneous or size == (ndim, len(shape))
        if not right or (self.is_diagonal and len(shape) != ndim):
            raise MDNotImplementedError  # SciPy says what is wrong

    def coordinates(self):
        matrix, n = as_array(self.matrix), self.ndim
        if self.is_diagonal:
            offset = for_each_axis(self.offset, n)
            return [(np.arange(length) + offset[i] / matrix[i]) * matrix[i] for i, length in enumerate(self.shape)]
        offset = matrix[:n, n] if self.is_homogeneous else for_each_axis(self.offset, n)
        return self.linear(matrix[:n, :n] if self.is_homogeneous else matrix, np.reshape(offset, self.column))

    @property
    def column(self):
        return (-1,) + (1,) * len(self.shape)

    def linear(self, matrix, start):
        """Matrix times place, for every place, added to what there is."""
        for i, place in enumerate(np.ogrid[tuple([slice(length) for length in self.shape])]):
            start = start + np.reshape(matrix[:, i], self.column) * place
        return start

    def tangent(self, dmatrix, doffset):
        """The tangents of the coordinates."""
        dmatrix, n = as_array_tangent(dmatrix, self.matrix), self.ndim
        doffset = apply_linear(lambda d: for_each_axis(d, n), as_array_tangent(doffset, self.offset))
        if self.is_diagonal:
            return [np.arange(length) * dmatrix[i] + doffset[i] for i, length in enumerate(self.shape)]
        if self.is_homogeneous:
            dmatrix, doffset = dmatrix[:n, :n], dmatrix[:n, n]
        return self.linear(dmatrix, np.zeros(self.shape) + np.reshape(doffset, self.column))

    def matrix_bar(self, bar):
        """The cotangent of the matrix, from those of the coordinates."""
        if self.is_diagonal:
            return np.stack([np.sum(np.arange(len(x)) * x) for x in bar])
        axes = range(1, 1 + len(self.shape))
        columns = []
        for i, length in enumerate(self.shape):
            others = tuple([axis for axis in axes if axis != i + 1])
            columns.append(np.sum(bar, axis=others) @ np.arange(length, dtype=float))
        linear = np.stack(columns, axis=1)
        if not self.is_homogeneous:
            return linear
        whole = np.concatenate([linear, np.reshape(np.sum(bar, axis=tuple(axes)), (-1, 1))], axis=1)
        missing = len(as_array(self.matrix)) - self.ndim
        return np.concatenate([whole, np.zeros((missing, self.ndim + 1))]) if missing else whole

    def offset_bar(self, bar):
        if self.is_homogeneous:
            return np.zeros(shape_of(self.offset))
        sums = [np.sum(x) for x in bar]
        return sum(sums[1:], sums[0]) if shape_of(self.offset) == () else np.stack(sums)


def affine(input, matrix, offset, output_shape, order, mode, cval, prefilter):
    """The coordinates of the call, and how they sample the image."""
    decline_empty(input)

    def function(x, cval):
        return seen_by_tracers(
            ndimage.affine_transform, x, matrix, offset, output_shape, None, order, mode, cval, prefilter
        )

    shape = shape_of(input)
    where = Affine(matrix, offset, len(shape), shape if output_shape is None else tuple(output_shape))
    sampling = (AlongAxes if where.is_diagonal else AtPoints)(order, mode, prefilter)
    return where, Transform(function, input, cval, sampling, where.coordinates())


@frule.register(ndimage.affine_transform)
@pushforward
def affine_transform_frule(
    dinput: Array,
    dmatrix: Array,
    doffset: Count,
    dcval: Number,
    input: Array,
    matrix: Array,
    offset: Count = 0.0,
    output_shape: Shape = None,
    output: Choice = None,
    order: Choice = 3,
    mode: Choice = "constant",
    cval: Number = 0.0,
    prefilter: Flag = True,
) -> OutputAndTangent:
    decline_out(output)
    where, transform = affine(input, matrix, offset, output_shape, order, mode, cval, prefilter)
    moving = apply_linear(where.tangent, dmatrix, doffset)
    return transform.y, transform.tangent(dinput, dcval) + transform.along(moving)


@rrule.register(ndimage.affine_transform)
def affine_transform_rrule(
    input: Array,
    matrix: Array,
    offset: Count = 0.0,
    output_shape: Shape = None,
    output: Choice = None,
    order: Choice = 3,
    mode: Choice = "constant",
    cval: Number = NOT_GIVEN,
    prefilter: Flag = True,
) -> OutputAndPullback:
    """The coordinates are M o + b, hence M̄ = Σₒ c̄ₒ oᵀ and b̄ = Σₒ c̄ₒ with c̄ as in `map_coordinates`."""
    decline_out(output)
    where, transform = affine(input, matrix, offset, output_shape, order, mode, cval, prefilter)
    if not is_differentiable(transform.y):
        return transform.y, no_tangent_pullback

    @pullback_wrt(input, matrix, offset, ..., ..., ..., ..., cval)
    def affine_transform_pullback(ybar):
        bar = functools.cache(lambda: transform.coordinates_bar(ybar))
        return (
            lambda: transform.image_bar(ybar),
            lambda: where.matrix_bar(bar()),
            lambda: where.offset_bar(bar()),
            lambda: transform.cval_bar(ybar),
        )

    return transform.y, affine_transform_pullback


# ---------------------------------------------------------------- shift and zoom


def shifted(input, shift, order, mode, cval, prefilter):
    def function(x, cval):
        return seen_by_tracers(ndimage.shift, x, shift, None, order, mode, cval, prefilter)

    shape = shape_of(input)
    by = for_each_axis(shift, len(shape))
    coordinates = [np.arange(n) - by[i] for i, n in enumerate(shape)]
    return Transform(function, input, cval, AlongAxes(order, mode, prefilter), coordinates)


@frule.register(ndimage.shift)
@pushforward
def shift_frule(
    dinput: Array,
    dshift: Array,
    dcval: Number,
    input: Array,
    shift: Array,
    output: Choice = None,
    order: Choice = 3,
    mode: Choice = "constant",
    cval: Number = 0.0,
    prefilter: Flag = True,
) -> OutputAndTangent:
    decline_out(output)
    transform, shape = shifted(input, shift, order, mode, cval, prefilter), shape_of(input)

    def coordinates_along(dshift):
        by = for_each_axis(dshift, len(shape))
        return [-by[i] * np.ones(n) for i, n in enumerate(shape)]

    moving = apply_linear(coordinates_along, as_array_tangent(dshift, shift))
    return transform.y, transform.tangent(dinput, dcval) + transform.along(moving)


@rrule.register(ndimage.shift)
def shift_rrule(
    input: Array,
    shift: Array,
    output: Choice = None,
    order: Choice = 3,
    mode: Choice = "constant",
    cval: Number = NOT_GIVEN,
    prefilter: Flag = True,
) -> OutputAndPullback:
    """The coordinates are o - s, hence s̄ = -Σₒ c̄ₒ."""
    decline_out(output)
    transform = shifted(input, shift, order, mode, cval, prefilter)
    if not is_differentiable(transform.y):
        return transform.y, no_tangent_pullback

    def shift_bar(ybar):
        return sum_for(shift, -np.stack([np.sum(x) for x in transform.coordinates_bar(ybar)]))

    bars = transform.image_bar, shift_bar, transform.cval_bar
    return transform.y, pullback_wrt(input, shift, ..., ..., ..., cval)(*bars)


def zoomed(input, zoom, order, mode, cval, prefilter, grid_mode):
    def function(x, cval):
        return seen_by_tracers(ndimage.zoom, x, zoom, None, order, mode, cval, prefilter, grid_mode=grid_mode)

    shape, factors = shape_of(input), fixed(zoom)
    factors = [factors] * len(shape) if shape_of(factors) == () else list(factors)
    lengths = [round(n * factor) for n, factor in zip(shape, factors, strict=True)]
    if all(factor == 1 for factor in factors) and prefilter:  # SciPy copies the image
        return Transform(function, input, cval, AlongAxes(0, "nearest", False), [np.arange(float(n)) for n in shape])
    coordinates = []
    for n, length in zip(shape, lengths, strict=True):
        # Of complex images, SciPy forgets about grid_mode.
        by_area = grid_mode and not np.iscomplexobj(as_array(input))
        old, new = (n, length) if by_area else (n - 1, length - 1)
        step = old / new if new else 1.0
        places = np.arange(length)
        coordinates.append((places + 0.5) * step - 0.5 if by_area else places * step)
    return Transform(function, input, cval, AlongAxes(order, mode, prefilter), coordinates)


@frule.register(ndimage.zoom)
@pushforward
def zoom_frule(
    dinput: Array,
    _dzoom: Array,
    dcval: Number,
    input: Array,
    zoom: Array,
    output: Choice = None,
    order: Choice = 3,
    mode: Choice = "constant",
    cval: Number = 0.0,
    prefilter: Flag = True,
    *,
    grid_mode: Flag = False,
) -> OutputAndTangent:
    decline_out(output)
    transform = zoomed(input, zoom, order, mode, cval, prefilter, grid_mode)
    return transform.y, transform.tangent(dinput, dcval)


@rrule.register(ndimage.zoom)
def zoom_rrule(
    input: Array,
    zoom: Array,
    output: Choice = None,
    order: Choice = 3,
    mode: Choice = "constant",
    cval: Number = NOT_GIVEN,
    prefilter: Flag = True,
    *,
    grid_mode: Flag = False,
) -> OutputAndPullback:
    """With respect to the image. The zoom is rounded to a number of pixels, and so has derivative zero."""
    decline_out(output)
    transform, shape = zoomed(input, zoom, order, mode, cval, prefilter, grid_mode), shape_of(zoom)
    if not is_differentiable(transform.y):
        return transform.y, no_tangent_pullback
    bars = transform.image_bar, lambda ybar: np.zeros(shape), transform.cval_bar
    return transform.y, pullback_wrt(input, zoom, ..., ..., ..., cval)(*bars)


# ---------------------------------------------------------------- rotation


class InPlanes(AtPoints):
    """Sampling in the planes of two axes, one plane after the other, at the same coordinates in each."""

    __slots__ = ("axes",)

    def __init__(self, order, mode, prefilter, axes):
        super().__init__(order, mode, prefilter)
        self.axes = axes

    def planes(self, x):
        """The planes, one by one, and the shape of the other axes."""
        moved = np.moveaxis(x, self.axes, (0, 1))
        flat = np.reshape(moved, (*np.shape(moved)[:2], -1))
        return [flat[:, :, i] for i in range(np.shape(flat)[2])], np.shape(moved)[2:]

    def joined(self, planes, others):
        joined = np.stack(planes, axis=2)
        return np.moveaxis(np.reshape(joined, (*np.shape(joined)[:2], *others)), (0, 1), self.axes)

    def sample(self, x, coordinates):
        planes, others = self.planes(x)
        return self.joined([AtPoints.sample(self, plane, coordinates) for plane in planes], others)

    def spread(self, ybar, coordinates, shape):
        planes, others = self.planes(ybar)
        of_plane = tuple([shape[axis] for axis in self.axes])
        return self.joined([AtPoints.spread(self, plane, coordinates, of_plane) for plane in planes], others)

    def tangent(self, x, coordinates, dcoordinates, cval):
        planes, others = self.planes(x)
        tangents = [AtPoints.tangent(self, plane, coordinates, dcoordinates, cval) for plane in planes]
        return self.joined(tangents, others)

    def coordinates_bar(self, ybar, x, coordinates, cval):
        pairs = zip(self.planes(ybar)[0], self.planes(x)[0], strict=True)
        bars = [AtPoints.coordinates_bar(self, bar, plane, coordinates, cval) for bar, plane in pairs]
        return sum(bars[1:], bars[0])


DEGREE = np.pi / 180


class Rotation:
    """The coordinates of ``ndimage.rotate``: R (o - m) + n, with the middles m and n of output and input."""

    def __init__(self, angle, shape, output_shape, axes):
        self.angle, (self.height, self.width) = angle, [output_shape[axis] for axis in axes]
        self.middle = [(shape[axis] - 1) / 2 for axis in axes]
        self.middle_of_output = [(output_shape[axis] - 1) / 2 for axis in axes]

    def turned(self, c, s, i, j):
        return np.stack([c * i + s * j, c * j - s * i])

    def coordinates(self):
        c, s = special.cosdg(self.angle), special.sindg(self.angle)
        i, j = np.ogrid[: self.height, : self.width]
        (a, b), (m, n) = self.turned(c, s, *self.middle_of_output), self.middle
        return np.stack([((m - a) + i * c) + j * s, ((n - b) + i * -s) + j * c])

    def slopes(self):
        """The derivative of the coordinates with respect to the angle."""
        c, s = special.cosdg(self.angle), special.sindg(self.angle)
        i, j = np.ogrid[: self.height, : self.width]
        return DEGREE * self.turned(-s, c, i - self.middle_of_output[0], j - self.middle_of_output[1])


def rotated(input, angle, axes, reshape, order, mode, cval, prefilter):
    decline_empty(input)

    def function(x, cval):
        return seen_by_tracers(ndimage.rotate, x, angle, axes, reshape, None, order, mode, cval, prefilter)

    shape = shape_of(input)
    plane = sorted([int(axis) % len(shape) for axis in axes])
    output_shape = list(shape)
    if reshape:
        c, s = special.cosdg(fixed(angle)), special.sindg(fixed(angle))
        height, width = (shape[axis] for axis in plane)
        bounds = np.array([[c, s], [-s, c]]) @ [[0, 0, height, height], [0, width, 0, width]]
        for axis, length in zip(plane, (np.ptp(bounds, axis=1) + 0.5).astype(int), strict=True):
            output_shape[axis] = int(length)
    where, sampling = Rotation(angle, shape, output_shape, plane), InPlanes(order, mode, prefilter, tuple(plane))
    return where, Transform(function, input, cval, sampling, where.coordinates())


@frule.register(ndimage.rotate)
@pushforward
def rotate_frule(
    dinput: Array,
    dangle: Number,
    dcval: Number,
    input: Array,
    angle: Number,
    axes: Axis = (1, 0),
    reshape: Flag = True,
    output: Choice = None,
    order: Choice = 3,
    mode: Choice = "constant",
    cval: Number = 0.0,
    prefilter: Flag = True,
) -> OutputAndTangent:
    decline_out(output)
    where, transform = rotated(input, angle, axes, reshape, order, mode, cval, prefilter)
    return transform.y, transform.tangent(dinput, dcval) + transform.along(where.slopes() * dangle)


@rrule.register(ndimage.rotate)
def rotate_rrule(
    input: Array,
    angle: Number,
    axes: Axis = (1, 0),
    reshape: Flag = True,
    output: Choice = None,
    order: Choice = 3,
    mode: Choice = "constant",
    cval: Number = NOT_GIVEN,
    prefilter: Flag = True,
) -> OutputAndPullback:
    """The coordinates are R(α) (o - m) + n, hence ᾱ = Σₒ c̄ₒ · R'(α) (o - m); the shape of the output is a constant."""
    decline_out(output)
    where, transform = rotated(input, angle, axes, reshape, order, mode, cval, prefilter)
    if not is_differentiable(transform.y):
        return transform.y, no_tangent_pullback

    def angle_bar(ybar):
        return np.sum(transform.coordinates_bar(ybar) * where.slopes())

    bars = transform.image_bar, angle_bar, transform.cval_bar
    return transform.y, pullback_wrt(input, angle, ..., ..., ..., ..., ..., cval)(*bars)
