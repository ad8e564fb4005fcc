"""The functions whose rules are got wrong, with the derivatives they should have."""

import dataclasses

import numpy as np

from corpora import multiprecision as mp
from corpora.corpus import Differentiable, elementwise
from rulescore import NoTangent, Tangent, unbroadcast

# ------------------------------------------------------------------ elementwise

SINE = elementwise(np.sin, np.cos)
COSINE = elementwise(np.cos, lambda x: -np.sin(x))
EXP = elementwise(np.exp, np.exp)
LOG = elementwise(np.log, lambda x: 1 / x)
LOG10 = elementwise(np.log10, lambda x: 1 / (x * np.log(10.0)))
SQUARE = elementwise(np.square, lambda x: 2 * x)
SQRT = elementwise(np.sqrt, lambda x: 0.5 / np.sqrt(x))
RECIPROCAL = elementwise(np.reciprocal, lambda x: -1 / x**2)
TANH = elementwise(np.tanh, lambda x: 1 / np.cosh(x) ** 2)
ADD = elementwise(np.add, lambda a, b: 1.0, lambda a, b: 1.0)
SUBTRACT = elementwise(np.subtract, lambda a, b: 1.0, lambda a, b: -1.0)
MULTIPLY = elementwise(np.multiply, lambda a, b: b, lambda a, b: a)
DIVIDE = elementwise(np.divide, lambda a, b: 1 / b, lambda a, b: -a / b**2)
HYPOT = elementwise(
    np.hypot,
    lambda a, b: a / np.hypot(a, b),
    lambda a, b: b / np.hypot(a, b),
    real=True,
    twin=lambda a, b: (a * a + b * b) ** 0.5,
)
POWER = elementwise(
    np.power,
    lambda x, p: p * x ** (p - 1),
    lambda x, p: x**p * np.log(x),
    real=True,
    twin=lambda x, p: x**p,
)


def radians(degrees):
    return degrees * (np.pi / 180)


def softplus(x):
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def leaky_relu(x, slope=0.1):
    return np.where(x > 0, x, slope * x)


def cubed_magnitude(x):
    return np.abs(x) ** 3


def decay(x, rate=1.0):
    return np.exp(-rate * x)


def logistic(x):
    return 0.5 * (1 + np.tanh(0.5 * x))


RADIANS = elementwise(radians, lambda x: np.pi / 180)
SOFTPLUS = elementwise(softplus, logistic, real=True, twin=lambda x: mp.log(1 + mp.exp(x)))
LEAKY_RELU = elementwise(leaky_relu, lambda x, slope=0.1: np.where(x > 0, 1.0, slope), real=True, twin=leaky_relu)
CUBED_MAGNITUDE = elementwise(cubed_magnitude, lambda x: 3 * x * np.abs(x), real=True, twin=cubed_magnitude)
DECAY = elementwise(decay, lambda x, rate=1.0: -rate * np.exp(-rate * x))
EXPM1 = elementwise(np.expm1, np.exp)


def scaled_sine(scale):
    """``scale * sin`` as a function, which may also have a scale for each component."""

    def scaled(x):
        return scale * np.sin(x)

    scaled.__name__ = f"sine_of_scale_{scale}"
    return elementwise(scaled, lambda x: scale * np.cos(x))


# ------------------------------------------------------------------ reductions and scans


def spread(ybar, x, axis=None, keepdims=False):
    """The cotangent of a reduction, copied along the axes that it summed."""
    if axis is not None and not keepdims:
        ybar = np.expand_dims(ybar, axis)
    return np.broadcast_to(ybar, np.shape(x)).copy()


def mean_vjp(ybar, x, **kwargs):
    return spread(ybar, x, **kwargs) * np.size(ybar) / max(np.size(x), 1)


SUM = Differentiable(np.sum, jvp=lambda dx, x, **kwargs: np.sum(dx, **kwargs), vjp=spread)
MEAN = Differentiable(np.mean, jvp=lambda dx, x, **kwargs: np.mean(dx, **kwargs), vjp=mean_vjp)


def sum_of_squares(x):
    return np.sum(x * x)


def half_sum_of_squares(x):
    return 0.5 * np.sum(x * x)


def mean_square(x):
    return np.mean(x * x)


SUM_OF_SQUARES = Differentiable(
    sum_of_squares, jvp=lambda dx, x: 2 * np.sum(x * dx), vjp=lambda ybar, x: 2 * np.conj(x) * ybar
)
HALF_SUM_OF_SQUARES = Differentiable(
    half_sum_of_squares, jvp=lambda dx, x: np.sum(x * dx), vjp=lambda ybar, x: np.conj(x) * ybar
)
MEAN_SQUARE = Differentiable(
    mean_square,
    jvp=lambda dx, x: 2 * np.mean(x * dx),
    vjp=lambda ybar, x: 2 * np.conj(x) * ybar / max(np.size(x), 1),
)


def length(x, axis=None, keepdims=False):
    return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))


def length_jvp(dx, x, axis=None, keepdims=False):
    unit = x / length(x, axis, keepdims=True)
    return np.sum(unit * dx, axis=axis, keepdims=keepdims)


def length_vjp(ybar, x, axis=None, keepdims=False):
    return np.conj(x / length(x, axis, keepdims=True)) * spread(ybar, x, axis, keepdims)


LENGTH = Differentiable(length, length_jvp, length_vjp)


def variance(x, ddof=0):
    return np.sum((x - np.mean(x)) ** 2) / (np.size(x) - ddof)


VARIANCE = Differentiable(
    variance,
    jvp=lambda dx, x, ddof=0: 2 * np.sum((x - np.mean(x)) * dx) / (np.size(x) - ddof),
    vjp=lambda ybar, x, ddof=0: 2 * np.conj(x - np.mean(x)) / (np.size(x) - ddof) * ybar,
)


def logsumexp(x, axis=None, keepdims=False):
    return np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims))


def softmax(x, axis=None):
    exponentials = np.exp(x)
    return exponentials / np.sum(exponentials, axis=axis, keepdims=True)


LOGSUMEXP = Differentiable(
    logsumexp,
    jvp=lambda dx, x, axis=None, keepdims=False: np.sum(softmax(x, axis) * dx, axis=axis, keepdims=keepdims),
    vjp=lambda ybar, x, axis=None, keepdims=False: np.conj(softmax(x, axis)) * spread(ybar, x, axis, keepdims),
)


def softmax_jvp(dx, x, axis=None):
    y = softmax(x, axis)
    return y * (dx - np.sum(y * dx, axis=axis, keepdims=True))


SOFTMAX = Differentiable(
    softmax,
    softmax_jvp,
    vjp=lambda ybar, x, axis=None: softmax_jvp(ybar, np.conj(x), axis),  # Jᵀ = J
)


def running_sum(x, axis=0):
    return np.cumsum(x, axis=axis)


def remaining_sum(x, axis=0):
    return np.flip(np.cumsum(np.flip(x, axis), axis=axis), axis)


def masked_sum(x, where):
    return np.sum(x, where=where)


def integer_power(x, exponent):
    return x**exponent


MASKED_SUM = Differentiable(
    masked_sum,
    jvp=lambda dx, x, where: np.sum(dx, where=where),
    vjp=lambda ybar, x, where: np.where(where, ybar, 0.0) + np.zeros(np.shape(x)),
)
INTEGER_POWER = elementwise(integer_power, lambda x, exponent: exponent * x ** (exponent - 1))
RUNNING_SUM = Differentiable(
    running_sum,
    jvp=lambda dx, x, axis=0: running_sum(dx, axis),
    vjp=lambda ybar, x, axis=0: remaining_sum(ybar, axis),
)
REMAINING_SUM = Differentiable(
    remaining_sum,
    jvp=lambda dx, x, axis=0: remaining_sum(dx, axis),
    vjp=lambda ybar, x, axis=0: running_sum(ybar, axis),
)


def differences_vjp(ybar, x):
    xbar = np.zeros(np.shape(x), np.result_type(ybar, 1.0))
    xbar[1:] += ybar
    xbar[:-1] -= ybar
    return xbar


DIFFERENCES = Differentiable(lambda x: x[1:] - x[:-1], jvp=lambda dx, x: dx[1:] - dx[:-1], vjp=differences_vjp)


# ------------------------------------------------------------------ linear algebra


def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


def dot(a, b):
    return a @ b


def transform(a, x):
    return a @ x


def bilinear_form(x, a, y):
    return x @ a @ y


def quadratic_form(a, x):
    return x @ a @ x


def trace_of_product(a, b):
    return np.trace(a @ b)


DOT = Differentiable(
    dot,
    jvp=lambda da, db, a, b: da @ b + a @ db,
    vjp=lambda ybar, a, b: (ybar * np.conj(b), ybar * np.conj(a)),
)
TRANSFORM = Differentiable(
    transform,
    jvp=lambda da, dx, a, x: da @ x + a @ dx,
    vjp=lambda ybar, a, x: (np.outer(ybar, np.conj(x)), adjoint(a) @ ybar),
)
MATMUL = Differentiable(
    np.matmul,
    jvp=lambda da, db, a, b: da @ b + a @ db,
    vjp=lambda ybar, a, b: (ybar @ adjoint(b), adjoint(a) @ ybar),
)
BILINEAR_FORM = Differentiable(
    bilinear_form,
    jvp=lambda dx, da, dy, x, a, y: dx @ a @ y + x @ da @ y + x @ a @ dy,
    vjp=lambda ybar, x, a, y: (ybar * np.conj(a @ y), ybar * np.conj(np.outer(x, y)), ybar * np.conj(x @ a)),
)
QUADRATIC_FORM = Differentiable(
    quadratic_form,
    jvp=lambda da, dx, a, x: x @ da @ x + x @ (a + a.T) @ dx,
    vjp=lambda ybar, a, x: (ybar * np.conj(np.outer(x, x)), ybar * np.conj((a + a.T) @ x)),
)
TRACE_OF_PRODUCT = Differentiable(
    trace_of_product,
    jvp=lambda da, db, a, b: np.sum(da * b.T) + np.sum(a.T * db),
    vjp=lambda ybar, a, b: (ybar * adjoint(b), ybar * adjoint(a)),
)


def inv_vjp(ybar, a):
    """Giles 2008, §2.2.3."""
    y_h = adjoint(np.linalg.inv(a))
    return -y_h @ ybar @ y_h


INV = Differentiable(np.linalg.inv, jvp=lambda da, a: -np.linalg.inv(a) @ da @ np.linalg.inv(a), vjp=inv_vjp)
DET = Differentiable(
    np.linalg.det,
    jvp=lambda da, a: np.linalg.det(a) * np.trace(np.linalg.inv(a) @ da),
    vjp=lambda ybar, a: ybar * np.conj(np.linalg.det(a)) * adjoint(np.linalg.inv(a)),
)


def solve(a, b):
    """The solution of a x = b for one right-hand side."""
    return np.linalg.solve(a, b[:, None])[:, 0]


def solve_vjp(ybar, a, b):
    """Giles 2008, §2.3.1."""
    bbar = solve(adjoint(a), ybar)
    return -np.outer(bbar, np.conj(solve(a, b))), bbar


SOLVE = Differentiable(solve, jvp=lambda da, db, a, b: solve(a, db - da @ solve(a, b)), vjp=solve_vjp)
CONVOLVE = Differentiable(
    np.convolve,
    jvp=lambda da, db, a, b: np.convolve(da, b) + np.convolve(a, db),
    vjp=lambda ybar, a, b: (np.correlate(ybar, b, "valid"), np.correlate(ybar, a, "valid")),
)


def next_channels(x):
    """In the place of each channel the one before, and of the first the last."""
    return np.roll(x, 1, -1)


def from_the_end(x):
    return x[::-1]


FROM_THE_END = Differentiable(from_the_end, jvp=lambda dx, x: dx[::-1], vjp=lambda ybar, x: ybar[::-1])
NEXT_CHANNELS = Differentiable(
    next_channels, jvp=lambda dx, x: np.roll(dx, 1, -1), vjp=lambda ybar, x: np.roll(ybar, -1, -1)
)


# ------------------------------------------------------------------ indexing


def rows(x, indices):
    return x[indices]


def rows_vjp(ybar, x, indices):
    xbar = np.zeros(np.shape(x), np.result_type(ybar, 1.0))
    np.add.at(xbar, indices, ybar)
    return xbar, NoTangent()


def places(x, row_indices, column_indices):
    return x[row_indices, column_indices]


def places_vjp(ybar, x, row_indices, column_indices):
    return *rows_vjp(ybar, x, (row_indices, column_indices)), NoTangent()


def edge_differences(x, tails, heads):
    """The difference of a potential along each edge of a graph."""
    return x[heads] - x[tails]


def edge_differences_vjp(ybar, x, tails, heads):
    return rows_vjp(ybar, x, heads)[0] - rows_vjp(ybar, x, tails)[0], NoTangent(), NoTangent()


def segment_sum(values, segments, count):
    """The sum of the values of each of ``count`` segments."""
    sums = np.zeros((count, *values.shape[1:]), values.dtype)
    np.add.at(sums, segments, values)
    return sums


ROWS = Differentiable(rows, jvp=lambda dx, _, x, indices: dx[indices], vjp=rows_vjp)
PLACES = Differentiable(places, jvp=lambda dx, _, __, x, i, j: dx[i, j], vjp=places_vjp)
EDGE_DIFFERENCES = Differentiable(
    edge_differences, jvp=lambda dx, _, __, x, tails, heads: dx[heads] - dx[tails], vjp=edge_differences_vjp
)
SEGMENT_SUM = Differentiable(
    segment_sum,
    jvp=lambda dvalues, _, __, values, segments, count: segment_sum(dvalues, segments, count),
    vjp=lambda ybar, values, segments, count: (ybar[segments], NoTangent(), NoTangent()),
)
WHERE = Differentiable(
    np.where,
    jvp=lambda _, da, db, condition, a, b: np.where(condition, da, db),
    vjp=lambda ybar, condition, a, b: (
        NoTangent(),
        unbroadcast(np.where(condition, ybar, 0.0), np.shape(a)),
        unbroadcast(np.where(condition, 0.0, ybar), np.shape(b)),
    ),
)


def repeated_rows(rng):
    """Seven rows of a table of five: some are taken twice, and the last one never."""
    return (rng.standard_normal((5, 3)), np.array([0, 2, 2, 3, 0, 1, 0])), {}


def repeated_places(rng):
    return (rng.standard_normal((4, 3)), np.array([0, 0, 1, 3, 3, 3]), np.array([2, 2, 0, 1, 1, 1])), {}


def edges_of_a_graph(rng):
    """Seven edges between five nodes, two of which have several edges."""
    return (rng.standard_normal(5), np.array([0, 0, 0, 1, 2, 3, 3]), np.array([1, 2, 4, 4, 4, 0, 2])), {}


def three_segments(rng):
    return (rng.standard_normal((6, 2)), np.array([0, 0, 1, 2, 2, 2]), 3), {}


# ------------------------------------------------------------------ complex numbers


def squared_modulus(z):
    return (z * np.conj(z)).real


def imaginary_part(z):
    return np.imag(z)


def phase(x):
    return np.exp(1j * x)


MODULUS = Differentiable(
    np.abs,
    jvp=lambda dz, z: np.real(np.conj(np.sign(z)) * dz),
    vjp=lambda ybar, z: np.sign(z) * np.real(ybar),
    twin=np.abs,
)
SQUARED_MODULUS = Differentiable(
    squared_modulus,
    jvp=lambda dz, z: 2 * np.real(np.conj(z) * dz),
    vjp=lambda ybar, z: 2 * z * np.real(ybar),
    twin=lambda z: abs(z) ** 2,
)
CONJ = Differentiable(np.conj, jvp=lambda dz, z: np.conj(dz), vjp=lambda ybar, z: np.conj(ybar), twin=np.conj)
IMAGINARY_PART = Differentiable(
    imaginary_part,
    jvp=lambda dz, z: np.imag(dz),
    vjp=lambda ybar, z: 1j * ybar,
    twin=mp.imag,
)
PHASE = elementwise(phase, lambda x: 1j * np.exp(1j * x), twin=lambda x: mp.exp(mp.i * x))
VDOT = Differentiable(
    np.vdot,
    jvp=lambda da, db, a, b: np.vdot(da, b) + np.vdot(a, db),
    vjp=lambda ybar, a, b: (np.conj(ybar) * b, ybar * a),
    twin=lambda a, b: np.sum(np.conj(a) * b),
)


# ------------------------------------------------------------------ containers


def dense_layer(parameters, x):
    """The affine map of a layer whose parameters are in a dict."""
    return x @ parameters["weight"] + parameters["bias"]


def dense_layer_vjp(ybar, parameters, x):
    weight_bar = np.outer(np.conj(x), ybar)
    return {"weight": weight_bar, "bias": ybar}, np.conj(parameters["weight"]) @ ybar


def a_layer(rng):
    parameters = {"weight": rng.standard_normal((4, 4)), "bias": rng.standard_normal(4)}
    return (parameters, rng.standard_normal(4)), {}


DENSE_LAYER = Differentiable(
    dense_layer,
    jvp=lambda dp, dx, p, x: dx @ p["weight"] + x @ dp["weight"] + dp["bias"],
    vjp=dense_layer_vjp,
)


@dataclasses.dataclass
class Wave:
    """A sine with an amplitude and a frequency for each component."""

    amplitude: np.ndarray
    frequency: np.ndarray


def wave_at(wave, t):
    return wave.amplitude * np.sin(wave.frequency * t)


def wave_jvp(dwave, dt, wave, t):
    angle_dot = dwave.frequency * t + wave.frequency * dt
    return dwave.amplitude * np.sin(wave.frequency * t) + wave.amplitude * np.cos(wave.frequency * t) * angle_dot


def wave_vjp(ybar, wave, t):
    amplitude_bar = np.conj(np.sin(wave.frequency * t)) * ybar
    angle_bar = np.conj(wave.amplitude * np.cos(wave.frequency * t)) * ybar
    wave_bar = Tangent(Wave, amplitude=amplitude_bar, frequency=np.conj(t) * angle_bar)
    return wave_bar, np.sum(np.conj(wave.frequency) * angle_bar)


def a_wave(rng):
    return (Wave(rng.uniform(1, 2, 4), rng.uniform(2, 3, 4)), float(rng.uniform(0.5, 1.0))), {}


WAVE = Differentiable(wave_at, wave_jvp, wave_vjp)


def from_polar(radius, angle):
    return radius * np.cos(angle), radius * np.sin(angle)


def from_polar_jvp(dradius, dangle, radius, angle):
    x, y = from_polar(radius, angle)
    return np.cos(angle) * dradius - y * dangle, np.sin(angle) * dradius + x * dangle


def from_polar_vjp(cotangents, radius, angle):
    xbar, ybar = cotangents
    x, y = np.conj(from_polar(radius, angle))
    return np.conj(np.cos(angle)) * xbar + np.conj(np.sin(angle)) * ybar, x * ybar - y * xbar


FROM_POLAR = Differentiable(from_polar, from_polar_jvp, from_polar_vjp)


def join(pieces):
    """The pieces of a list, one after another."""
    return np.concatenate(pieces)


def join_vjp(ybar, pieces):
    ends = np.cumsum([len(piece) for piece in pieces])
    return np.split(ybar, ends[:-1])


def three_pieces(rng):
    return ([rng.standard_normal(2), rng.standard_normal(3), rng.standard_normal(2)],), {}


JOIN = Differentiable(join, jvp=lambda dpieces, pieces: np.concatenate(dpieces), vjp=join_vjp)
