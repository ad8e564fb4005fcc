"""What the geometric transforms of `scipy.ndimage` consist of: spline coefficients, and splines taken at coordinates.

An image becomes spline coefficients by a linear filter. Taking the spline at coordinates is linear in the coefficients,
and its derivative with respect to a coordinate is that of the B-spline along its axis, so that derivatives of any order
are made of the same two functions: `sample_spline` and its transpose, `spread_spline`.

At a kink or step (a spline of order 1 at a pixel, an edge) the derivative is that on the right of it, or that within.
"""

import numpy as np

from rulescore import apply_linear, frule, linear_rule, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, Axis, Choice, Count, OutputAndPullback, OutputAndTangent, Shape
from scipy import ndimage, sparse

from .boundaries import fold, handing_over, sources

# ---------------------------------------------------------------- coefficients


def in_doubles(x):
    return np.asarray(x, np.complex128 if np.iscomplexobj(x) else np.float64)


@handing_over
def spline_coefficients(x, order, axes, mode):
    """``ndimage.spline_filter`` along some axes, in double precision."""
    x = in_doubles(x)
    for axis in axes if order > 1 else ():
        x = ndimage.spline_filter1d(x, order, axis, x.dtype, mode)
    return x


@handing_over
def spline_coefficients_spread(ybar, order, axes, mode):
    """The transpose of `spline_coefficients`.

    The filter inverts the matrix B that takes a spline at the pixels, continued beyond the edges. Where that repeats
    the pixels at the edges, or wraps around, B is symmetric. Where it does not, every pixel but those at the edges
    occurs twice in it, so that it is W⁻¹ B W that is B's transpose, with W = diag(2, 1, ..., 1, 2).
    """
    ybar = in_doubles(ybar)
    for axis in axes if order > 1 else ():
        length = ybar.shape[axis]
        if length <= SHORT:
            matrix = ndimage.spline_filter1d(np.eye(length), order, 0, np.float64, mode)
            ybar = np.moveaxis(np.tensordot(matrix, ybar, (0, axis)), 0, axis)
        elif mode in ("reflect", "grid-mirror", "nearest", "grid-wrap"):
            ybar = ndimage.spline_filter1d(ybar, order, axis, ybar.dtype, mode)
        else:
            edges = np.ones(length)
            edges[[0, -1]] = 2
            edges = np.reshape(edges, (-1,) + (1,) * (ybar.ndim - 1 - axis % ybar.ndim))
            ybar = ndimage.spline_filter1d(ybar * edges, order, axis, ybar.dtype, mode) / edges
    return ybar


SHORT = 32
"""Up to this length, the filter is taken as a matrix: SciPy's is not the inverse of B in a few pixels that reflect."""

linear_rule(
    spline_coefficients,
    lambda ybar, x, order, axes, mode: spline_coefficients_spread(ybar, order, axes, mode),
)
linear_rule(
    spline_coefficients_spread,
    lambda xbar, ybar, order, axes, mode: spline_coefficients(xbar, order, axes, mode),
)

MARGIN = 12
"""By how many pixels SciPy enlarges an image before it filters it, where the filter has no boundary of that kind."""


def margin_of(order, mode, prefilter):
    return MARGIN if prefilter and order > 1 and mode in ("nearest", "grid-constant") else 0


@handing_over
def enlarged(x, width, mode):
    """The image with a margin: copies of the pixels at the edges, or zeros."""
    return np.pad(x, width, "edge" if mode == "nearest" else "constant")


@handing_over
def enlarged_spread(ybar, width, mode):
    for axis in range(ybar.ndim):
        ybar = fold(ybar, axis, width, width, mode)
    return ybar


linear_rule(enlarged, lambda ybar, x, width, mode: enlarged_spread(ybar, width, mode))
linear_rule(enlarged_spread, lambda xbar, ybar, width, mode: enlarged(xbar, width, mode))


def coefficients_of(x, order, mode, prefilter):
    """The coefficients that a geometric transform takes an image by."""
    width = margin_of(order, mode, prefilter)
    x = enlarged(x, width, mode) if width else x
    return spline_coefficients(x, order, range(np.ndim(x)), mode) if prefilter and order > 1 else x


def coefficients_bar(cbar, order, mode, prefilter):
    """The cotangent of an image, from that of its coefficients."""
    xbar = spline_coefficients_spread(cbar, order, range(np.ndim(cbar)), mode) if prefilter and order > 1 else cbar
    width = margin_of(order, mode, prefilter)
    return enlarged_spread(xbar, width, mode) if width else xbar


# ---------------------------------------------------------------- B-splines at coordinates


def basis(u, order, derivative):
    """The values of those B-splines that do not vanish at u in [0, 1), or their derivatives.

    Of a higher order from the lower one by the recurrence of Cox and de Boor; a derivative is a difference of two
    B-splines of the lower order.
    """
    if derivative > order:
        return [np.zeros_like(u)] * (order + 1)
    if derivative:
        lower = basis(u, order - 1, derivative - 1)
        return [(lower[i - 1] if i else 0) - (lower[i] if i < order else 0) for i in range(order + 1)]
    values = [np.ones_like(u)]
    for n in range(1, order + 1):
        left, right = [0, *values], [*values, 0]
        values = [((u + n - i) * left[i] + (i + 1 - u) * right[i]) / n for i in range(n + 1)]
    return values


def brought_inside(x, length, mode):
    """Coordinates within the image that stand for those anywhere, and the derivative of the ones by the others."""
    sign, last = np.ones_like(x), length - 1
    if mode in ("nearest", "grid-constant"):  # it is the coefficients that are continued
        return np.clip(x, -MARGIN, last + MARGIN), sign
    if length == 1 and mode != "constant":
        return np.zeros_like(x), np.zeros_like(x)
    if mode == "constant":
        outside = ~((x >= 0) & (x <= last))
        return np.clip(x, 0, last), np.where(outside, 0.0, sign)
    if mode == "wrap":
        x = np.where(x < 0, x + last * (np.floor(-x / last) + 1), x)
        return np.where(x > last, x - last * np.floor(x / last), x), sign
    if mode == "grid-wrap":
        return x % length, sign
    # In SciPy's order of operations, which decides between two pixels where a coordinate is in the middle of them.
    period, edge = (2 * last, 0) if mode == "mirror" else (2 * length, 1)
    left = period * np.floor(np.maximum(-x, 0) / period) + x
    is_turned = left > -last if mode == "mirror" else left >= -length
    left, left_sign = np.where(is_turned, -left - edge, left + period), np.where(is_turned, -1.0, 1.0)
    right = x - period * np.floor(np.maximum(x, 0) / period)
    is_back = right >= length
    right, right_sign = np.where(is_back, period - right - edge, right), np.where(is_back, -1.0, 1.0)
    is_right = x > last
    inner = np.where(is_right, right, x), np.where(is_right, right_sign, sign)
    return tuple([np.where(x < 0, a, b) for a, b in zip((left, left_sign), inner, strict=True)])


def along_axis(x, length, order, mode, derivatives):
    """For coordinates along one axis: the places of the order + 1 coefficients around each, and their factors.

    Returns
    -------
    places : list of array
        By neighbour.
    factors : dict of list of array
        By derivative, and neighbour. Zero where there is nothing to take.
    """
    x, sign = brought_inside(np.asarray(x, float), length, mode)
    nearest = np.floor(x if order % 2 else x + 0.5)
    if order == 1 and mode != "grid-constant":
        nearest = np.where(
            (x == length - 1) & (length > 1), nearest - 1, nearest
        )  # the last pixel has a left side alone
    u = x - nearest + (0.0 if order % 2 else 0.5)
    start = nearest.astype(np.intp) - order // 2
    places, factors = [start + i for i in range(order + 1)], {k: basis(u, order, k) for k in derivatives}
    factors = {k: [value * sign**k for value in values] if k else values for k, values in factors.items()}
    if mode == "constant":
        inside = sign != 0
        factors = {k: [np.where(inside, value, 0) for value in values] for k, values in factors.items()}
    if mode == "grid-constant":
        inside = [(place >= 0) & (place < length) for place in places]
        factors = {
            k: [np.where(here, value, 0) for here, value in zip(inside, values, strict=True)]
            for k, values in factors.items()
        }
        return [np.clip(place, 0, length - 1) for place in places], factors
    beyond = {"constant": "mirror", "wrap": "mirror"}.get(mode, mode)
    return [sources(place, length, beyond) for place in places], factors


CHUNK = 1 << 14
"""How many points are taken at a time, so that what is computed for them stays in the cache."""


def neighbours(coordinates, shape, order, mode, derivatives):
    """For each coefficient around the points in turn: its place in the flattened array, and its factors.

    Parameters
    ----------
    derivatives : tuple of tuple of int
        Which derivatives are asked for; each says how often it is taken along each axis.
    """
    axes = [
        along_axis(x, length, order, mode, {several[axis] for several in derivatives})
        for axis, (x, length) in enumerate(zip(coordinates, shape, strict=True))
    ]

    def around(axis, place, factors):
        if axis == len(shape):
            yield place, factors
            return
        places, of_axis = axes[axis]
        for i in range(order + 1):
            here = places[i] if place is None else place * shape[axis] + places[i]
            by_derivative = [of_axis[several[axis]][i] for several in derivatives]
            products = (
                by_derivative if factors is None else [a * b for a, b in zip(factors, by_derivative, strict=True)]
            )
            yield from around(axis + 1, here, products)

    return around(0, None, None)


@handing_over
def sample_spline(c, coordinates, order, mode, derivatives):
    """Derivatives of the spline with coefficients ``c``, at coordinates.

    Parameters
    ----------
    c : array
        Real or complex, with d axes.
    coordinates : array
        The first axis has length d.
    order : int
        Of the spline, 0 to 5.
    mode : str
        How it goes on beyond the edges; beyond those of ``constant`` it is zero.
    derivatives : tuple of tuple of int
        Which derivatives; each says how often it is taken along each axis.

    Returns
    -------
    y : array
        One row for each derivative; a row has the shape of a coordinate.
    """
    c, flat = in_doubles(c), np.reshape(coordinates, (len(coordinates), -1))
    coefficients, y = c.reshape(-1), np.zeros((len(derivatives), flat.shape[1]), in_doubles(c).dtype)
    for start in range(0, flat.shape[1], CHUNK):
        part = slice(start, start + CHUNK)
        for place, factors in neighbours(flat[:, part], c.shape, order, mode, derivatives):
            values = coefficients[place]
            for row, factor in zip(y, factors, strict=True):
                row[part] += factor * values
    return y.reshape(len(derivatives), *np.shape(coordinates)[1:])


@handing_over
def spread_spline(ybar, coordinates, order, mode, derivatives, shape):
    """The transpose of `sample_spline`: ȳ added to the coefficients, of this shape, that y is made of."""
    flat = np.reshape(coordinates, (len(coordinates), -1))
    ybar = in_doubles(ybar).reshape(len(derivatives), -1)
    size, parts = int(np.prod(shape)), [ybar.real, ybar.imag] if np.iscomplexobj(ybar) else [ybar]
    sums = [np.zeros(size) for _ in parts]
    for start in range(0, flat.shape[1], CHUNK):
        part = slice(start, start + CHUNK)
        for place, factors in neighbours(flat[:, part], shape, order, mode, derivatives):
            for total, bar in zip(sums, parts, strict=True):
                weights = sum(factor * row for factor, row in zip(factors, bar[:, part], strict=True))
                add_at_places(total, place, weights)
    return np.reshape(sums[0] if len(sums) == 1 else sums[0] + 1j * sums[1], shape)


def add_at_places(total, place, weights):
    """``np.add.at``; by `np.bincount` within the range of the places, which is several times faster."""
    if not len(place):
        return
    first = place.min()
    counted = np.bincount(place - first, weights)
    total[first : first + len(counted)] += counted


def once_more(derivatives, axis):
    """The derivatives, each taken once more along an axis."""
    return tuple([(*several[:axis], several[axis] + 1, *several[axis + 1 :]) for several in derivatives])


def gradient_at(c, coordinates, order, mode, derivatives):
    """By axis, the derivatives of all rows of `sample_spline` with respect to the coordinate along it."""
    count = len(coordinates)
    every = sum([once_more(derivatives, axis) for axis in range(count)], ())
    rows = sample_spline(c, coordinates, order, mode, every)
    return np.reshape(rows, (count, len(derivatives), *np.shape(coordinates)[1:]))


@frule.register(sample_spline)
@pushforward
def sample_spline_frule(
    dc: Array, dcoordinates: Array, c: Array, coordinates: Array, order: Choice, mode: Choice, derivatives: Count
) -> OutputAndTangent:
    def along(dx):
        return np.sum(gradient_at(c, coordinates, order, mode, derivatives) * dx[:, None], axis=0)

    of_c = apply_linear(lambda dc: sample_spline(dc, coordinates, order, mode, derivatives), dc)
    return sample_spline(c, coordinates, order, mode, derivatives), of_c + apply_linear(along, dcoordinates)


@rrule.register(sample_spline)
def sample_spline_rrule(
    c: Array, coordinates: Array, order: Choice, mode: Choice, derivatives: Count
) -> OutputAndPullback:
    shape = np.shape(c)

    def c_bar(ybar):
        return spread_spline(ybar, coordinates, order, mode, derivatives, shape)

    def coordinates_bar(ybar):
        return np.sum(np.real(np.conj(gradient_at(c, coordinates, order, mode, derivatives)) * ybar), axis=1)

    y = sample_spline(c, coordinates, order, mode, derivatives)
    return y, pullback_wrt(c, coordinates)(c_bar, coordinates_bar)


@frule.register(spread_spline)
@pushforward
def spread_spline_frule(
    dybar: Array,
    dcoordinates: Array,
    ybar: Array,
    coordinates: Array,
    order: Choice,
    mode: Choice,
    derivatives: Count,
    shape: Shape,
) -> OutputAndTangent:
    c = spread_spline(ybar, coordinates, order, mode, derivatives, shape)
    dc = apply_linear(lambda dybar: spread_spline(dybar, coordinates, order, mode, derivatives, shape), dybar)
    for axis in range(len(coordinates)):
        moved = coordinates, order, mode, once_more(derivatives, axis), shape
        dc = dc + apply_linear(lambda bar, moved=moved: spread_spline(bar, *moved), ybar * dcoordinates[axis])
    return c, dc


@rrule.register(spread_spline)
def spread_spline_rrule(
    ybar: Array, coordinates: Array, order: Choice, mode: Choice, derivatives: Count, shape: Shape
) -> OutputAndPullback:
    def ybar_bar(cbar):
        return sample_spline(cbar, coordinates, order, mode, derivatives)

    def coordinates_bar(cbar):
        return np.sum(np.real(np.conj(gradient_at(cbar, coordinates, order, mode, derivatives)) * ybar), axis=1)

    c = spread_spline(ybar, coordinates, order, mode, derivatives, shape)
    return c, pullback_wrt(ybar, coordinates)(ybar_bar, coordinates_bar)


# ---------------------------------------------------------------- one axis after the other


def sampling_matrix(x, length, order, mode, derivative):
    places, factors = along_axis(x, length, order, mode, {derivative})
    rows = np.tile(np.arange(len(x)), order + 1)
    entries = np.concatenate(factors[derivative]), (rows, np.concatenate(places))
    return sparse.csr_array(entries, shape=(len(x), length))


def times_along(matrix, c, axis):
    """The product of a sparse matrix with every vector along an axis."""
    moved = np.moveaxis(in_doubles(c), axis, 0)
    others = moved.shape[1:]
    product = matrix @ np.ascontiguousarray(moved.reshape(moved.shape[0], int(np.prod(others))))
    return np.moveaxis(product.reshape(matrix.shape[0], *others), 0, axis)


@handing_over
def sample_axis(c, x, axis, order, mode, derivative):
    """The spline along one axis at the coordinates ``x``, a vector, or a derivative of it."""
    return times_along(sampling_matrix(x, c.shape[axis], order, mode, derivative), c, axis)


@handing_over
def spread_axis(ybar, x, axis, order, mode, derivative, length):
    """The transpose of `sample_axis`."""
    return times_along(sampling_matrix(x, length, order, mode, derivative).T, ybar, axis)


def beside(x, axis, ndim):
    """A vector in the place of one axis among several."""
    return np.reshape(x, (-1,) + (1,) * (ndim - 1 - axis % ndim))


def sum_beside(a, axis):
    return np.sum(np.real(a), axis=tuple([i for i in range(np.ndim(a)) if i != axis % np.ndim(a)]))


@frule.register(sample_axis)
@pushforward
def sample_axis_frule(
    dc: Array, dx: Array, c: Array, x: Array, axis: Axis, order: Choice, mode: Choice, derivative: Count
) -> OutputAndTangent:
    def along(dx):
        return sample_axis(c, x, axis, order, mode, derivative + 1) * beside(dx, axis, np.ndim(c))

    of_c = apply_linear(lambda dc: sample_axis(dc, x, axis, order, mode, derivative), dc)
    return sample_axis(c, x, axis, order, mode, derivative), of_c + apply_linear(along, dx)


@rrule.register(sample_axis)
def sample_axis_rrule(
    c: Array, x: Array, axis: Axis, order: Choice, mode: Choice, derivative: Count
) -> OutputAndPullback:
    length = np.shape(c)[axis]
    pullback = pullback_wrt(c, x)(
        lambda ybar: spread_axis(ybar, x, axis, order, mode, derivative, length),
        lambda ybar: sum_beside(np.conj(sample_axis(c, x, axis, order, mode, derivative + 1)) * ybar, axis),
    )
    return sample_axis(c, x, axis, order, mode, derivative), pullback


@frule.register(spread_axis)
@pushforward
def spread_axis_frule(
    dybar: Array,
    dx: Array,
    ybar: Array,
    x: Array,
    axis: Axis,
    order: Choice,
    mode: Choice,
    derivative: Count,
    length: Count,
) -> OutputAndTangent:
    def along(dx):
        return spread_axis(ybar * beside(dx, axis, np.ndim(ybar)), x, axis, order, mode, derivative + 1, length)

    of_ybar = apply_linear(lambda dybar: spread_axis(dybar, x, axis, order, mode, derivative, length), dybar)
    return spread_axis(ybar, x, axis, order, mode, derivative, length), of_ybar + apply_linear(along, dx)


@rrule.register(spread_axis)
def spread_axis_rrule(
    ybar: Array, x: Array, axis: Axis, order: Choice, mode: Choice, derivative: Count, length: Count
) -> OutputAndPullback:
    pullback = pullback_wrt(ybar, x)(
        lambda cbar: sample_axis(cbar, x, axis, order, mode, derivative),
        lambda cbar: sum_beside(np.conj(sample_axis(cbar, x, axis, order, mode, derivative + 1)) * ybar, axis),
    )
    return spread_axis(ybar, x, axis, order, mode, derivative, length), pullback
