"""Functions that are ordinary where they are given, and not at points that one might make up instead.

At zeros, ties, other signs or other magnitudes they have a kink or a pole, refuse by raising, or answer NaN; others are
smooth there by a limit that their rules know. All of these rules are right.
"""

import functools

import numpy as np
from scipy import special

from corpora import multiprecision as mp
from corpora.corpus import Differentiable, elementwise, normal, positive, uniform
from corpora.right.elementwise import expit, sinc_derivative
from corpora.right.entry import right
from corpora.right.kinks import ABS, CLIP, MAX, MAXIMUM, MEDIAN, MIN, RELU, SORT, extremum_jvp, extremum_vjp
from corpora.right.linear_algebra import CHOLESKY, INV, LOOKUP, SOLVE, adjoint, with_eigenvalues
from corpora.right.precision import gradients
from corpora.right.reductions import CUMPROD, LENGTH, PROD
from rulescore import NoTangent


def quietly(function):
    """Poles and domains that have ended are answered with inf and NaN, without a warning."""

    @functools.wraps(function)
    def quiet(*args, **kwargs):
        with np.errstate(all="ignore"):
            return function(*args, **kwargs)

    return quiet


def refusing(function, is_refused, what):
    """The function, which raises where ``is_refused(*args)``, by their real parts, says so."""

    @functools.wraps(function)
    def strict(*args):
        if is_refused(*map(np.real, args)):
            raise ValueError(what)
        return function(*args)

    return strict


def separated(size):
    """Numbers in random order that are at least 1/2 apart."""

    def inputs(rng):
        return (rng.permutation(0.75 + np.arange(size) - size // 2 + 0.2 * rng.uniform(-1, 1, size)),), {}

    return inputs


# ------------------------------------------------------------------ kinks elsewhere


def unit(x):
    """x / ‖x‖ along the last axis."""
    return x / np.sqrt(np.sum(x * x, axis=-1, keepdims=True))


def unit_derivative(dx, x):
    """(dx - u (u·dx)) / ‖x‖, and 0 where x is 0."""
    lengths = np.sqrt(np.sum(x * x, axis=-1, keepdims=True))
    is_zero = lengths == 0
    lengths = np.where(is_zero, 1, lengths)
    u = x / lengths
    return np.where(is_zero, 0, (dx - u * np.sum(u * dx, axis=-1, keepdims=True)) / lengths)


def row_maxima(x):
    return np.max(x, axis=1)


def row_norms(x):
    return np.sqrt(np.sum(x * x, axis=1))


def row_norms_vjp(ybar, x):
    lengths = row_norms(x)[:, None]
    return x / np.where(lengths == 0, 1, lengths) * ybar[:, None]


def cosine(a, b):
    return np.sum(unit(a) * unit(b))


def mean_distance(x):
    """The mean of |x_i - x_j| over all pairs."""
    return np.mean(np.abs(x[:, None] - x))


def mp_unit(x):
    return x / mp.sqrt(np.sum(x * x, axis=-1, keepdims=True))


UNIT = Differentiable(quietly(unit), unit_derivative, unit_derivative, real=True)
ROW_MAXIMA = Differentiable(
    row_maxima,
    jvp=lambda dx, x: np.array([extremum_jvp(d, row, np.max(row)) for d, row in zip(dx, x, strict=True)]),
    vjp=lambda ybar, x: np.array([extremum_vjp(bar, row, np.max(row)) for bar, row in zip(ybar, x, strict=True)]),
    real=True,
    twin=row_maxima,
)
ROW_NORMS = Differentiable(
    row_norms, jvp=lambda dx, x: np.sum(row_norms_vjp(np.ones(len(x)), x) * dx, axis=1), vjp=row_norms_vjp, real=True
)
COSINE = Differentiable(
    quietly(cosine), **gradients(lambda a, b: unit_derivative(unit(b), a), lambda a, b: unit_derivative(unit(a), b))
)
MEAN_DISTANCE = Differentiable(
    mean_distance,
    **gradients(lambda x: 2 * np.sum(np.sign(x[:, None] - x), axis=1) / x.size**2),
    real=True,
    twin=mean_distance,
)
SELECTED = elementwise(
    lambda x, y: np.where(x > y, x * y, x + y),
    lambda x, y: np.where(x > y, y, 1.0),
    lambda x, y: np.where(x > y, x, 1.0),
    real=True,
    twin=lambda x, y: np.where(x > y, x * y, x + y),
)

for name, derivative, inputs in (
    ("a unit vector", UNIT, normal(4)),
    ("unit rows", UNIT, normal((3, 2))),
    ("absolute values of ordinary numbers", ABS, normal((2, 3))),
    ("a maximum of ordinary numbers", MAX, normal(5)),
    ("maxima of rows", ROW_MAXIMA, normal((3, 3))),
    ("a minimum of a matrix", MIN, normal((2, 3))),
    ("a sort of ordinary numbers", SORT, normal(5)),
    ("a median of ordinary numbers", MEDIAN, separated(6)),
    ("ReLU of ordinary numbers", RELU, normal(5)),
    (
        "a clip of numbers inside and outside",
        CLIP,
        lambda rng: ((np.array([0.5, -0.4, 1.7]) + 0.1 * rng.random(3),), {}),
    ),
    ("the larger of two numbers", MAXIMUM, normal(4, 4)),
    ("a length of ordinary numbers", LENGTH, normal(4)),
    ("lengths of rows", ROW_NORMS, normal((3, 2))),
    ("a cosine of two vectors", COSINE, normal(4, 4)),
    ("the mean distance between numbers", MEAN_DISTANCE, separated(5)),
    ("a function chosen by comparison", SELECTED, normal(5, 5)),
):
    right(name, derivative, inputs, kind="point")

# ------------------------------------------------------------------ refusals


def logit(p):
    return np.log(p / (1 - p))


def slopes(x):
    """(x_{i+1}² - x_i²) / (x_{i+1} - x_i) of neighbours, written as people do."""
    return (x[1:] ** 2 - x[:-1] ** 2) / (x[1:] - x[:-1])


def slopes_vjp(ybar, x):
    xbar = np.zeros(x.shape)
    xbar[1:] += ybar
    xbar[:-1] += ybar
    return xbar


def integral_of_sorted(x):
    """The integral of exp over the intervals between sorted numbers, each by its left end."""
    return np.sum(np.exp(x[:-1]) * (x[1:] - x[:-1]))


def integral_of_sorted_gradient(x):
    e = np.exp(x[:-1])
    gradient = np.zeros(x.shape)
    gradient[:-1] += e * (x[1:] - x[:-1]) - e
    gradient[1:] += e
    return gradient


def surprise(p):
    """Σ p log p."""
    return np.sum(p * np.log(p))


def geometric_mean(x):
    return np.exp(np.mean(np.log(x)))


def angle_between(a, b):
    return np.arccos(np.sum(a * b) / np.sqrt(np.sum(a * a) * np.sum(b * b)))


def angle_gradient(a, b):
    """-(b̂ - cos φ â) / (‖a‖ sin φ), of the unit vectors â and b̂ with the angle φ."""
    la, lb = np.sqrt(np.sum(a * a)), np.sqrt(np.sum(b * b))
    c = np.sum(a * b) / (la * lb)
    return -(b / lb - c * a / la) / (la * np.sqrt(1 - c**2))


def probabilities(size):
    def inputs(rng):
        weights = rng.uniform(0.2, 1, size)
        return (weights / np.sum(weights),), {}

    return inputs


for name, derivative, inputs in (
    (
        "a logarithm that refuses zeros and negative numbers",
        elementwise(refusing(np.log, lambda x: np.any(x <= 0), "log of what is not positive"), lambda x: 1 / x),
        positive(5),
    ),
    (
        "a square root that refuses negative numbers",
        elementwise(
            refusing(np.sqrt, lambda x: np.any(x < 0), "sqrt of a negative number"),
            lambda x: 0.5 / np.sqrt(x),
            real=True,
            twin=mp.sqrt,
        ),
        positive((2, 2)),
    ),
    (
        "a reciprocal that refuses zeros",
        elementwise(refusing(lambda x: 1 / x, lambda x: np.any(x == 0), "division by zero"), lambda x: -1 / x**2),
        normal(4),
    ),
    (
        "log odds that refuse what is no probability",
        elementwise(
            refusing(logit, lambda p: np.any((p <= 0) | (p >= 1)), "no probability"), lambda p: 1 / (p * (1 - p))
        ),
        uniform(0.1, 0.9, 5),
    ),
    (
        "arcsin that refuses numbers beyond 1",
        elementwise(
            refusing(np.arcsin, lambda x: np.any(np.abs(x) > 1), "no sine"),
            lambda x: 1 / np.sqrt((1 - x) * (1 + x)),
            real=True,
            twin=mp.arcsin,
        ),
        uniform(-0.9, 0.9, 4),
    ),
    (
        "an exponential that refuses to overflow",
        elementwise(refusing(np.exp, lambda x: np.any(x > 5), "too large an exponent"), np.exp),
        normal(5),
    ),
    (
        "slopes between neighbours that refuse ties",
        Differentiable(
            refusing(slopes, lambda x: np.any(np.diff(x) == 0), "two equal neighbours"),
            jvp=lambda dx, x: dx[1:] + dx[:-1],
            vjp=slopes_vjp,
            real=True,
        ),
        separated(5),
    ),
    (
        "an integral that refuses unsorted numbers",
        Differentiable(
            refusing(integral_of_sorted, lambda x: np.any(np.diff(x) <= 0), "numbers that do not increase"),
            **gradients(integral_of_sorted_gradient),
        ),
        lambda rng: ((np.cumsum(rng.uniform(0.3, 1, 5)),), {}),
    ),
    (
        "a negative entropy that refuses what does not sum to about 1",
        Differentiable(
            refusing(surprise, lambda p: np.any(p <= 0) or abs(np.sum(p) - 1) > 0.1, "no distribution"),
            **gradients(lambda p: np.log(p) + 1),
        ),
        probabilities(5),
    ),
    (
        "a geometric mean that refuses zeros",
        Differentiable(
            refusing(geometric_mean, lambda x: np.any(x <= 0), "a number that is not positive"),
            **gradients(lambda x: geometric_mean(x) / (x.size * x)),
        ),
        positive(5),
    ),
    (
        "an angle that refuses the zero vector",
        Differentiable(
            refusing(angle_between, lambda a, b: not (np.any(a) and np.any(b)), "a vector without direction"),
            **gradients(angle_gradient, lambda a, b: angle_gradient(b, a)),
        ),
        lambda rng: (
            (np.array([1.0, 0.2, -0.4]) + 0.2 * rng.random(3), np.array([0.3, 1.5, 0.8]) + 0.2 * rng.random(3)),
            {},
        ),
    ),
    (
        "an inverse, which refuses singular matrices",
        INV,
        lambda rng: ((3 * np.eye(3) + rng.uniform(-1, 1, (3, 3)),), {}),
    ),
    (
        "a linear system, which refuses singular matrices",
        SOLVE,
        lambda rng: ((3 * np.eye(3) + rng.uniform(-1, 1, (3, 3)), rng.standard_normal(3)), {}),
    ),
    ("a Cholesky factor, which refuses what is not positive", CHOLESKY, with_eigenvalues(1.0, 2.0, 3.0)),
):
    right(name, derivative, inputs, kind="point")

# ------------------------------------------------------------------ poles, NaN and infinities elsewhere


def log_of_magnitude(x):
    return np.log(np.abs(x))


def tangent(x):
    return np.tan(x)


def gamma(x):
    return special.gamma(x)


def double_exponential(x):
    return np.exp(np.exp(x))


def power_of_half(x):
    return x**1.5


def inverse_square_law(x):
    """x / ‖x‖³."""
    return x / np.sum(x * x) ** 1.5


def inverse_square_law_derivative(dx, x):
    """dx / r³ - 3 x (x·dx) / r⁵."""
    r2 = np.sum(x * x)
    return dx / r2**1.5 - 3 * x * np.sum(x * dx) / r2**2.5


def softmax_without_shift(x):
    """Which overflows at large numbers."""
    e = np.exp(x)
    return e / np.sum(e)


def softmax_without_shift_derivative(dx, x):
    y = softmax_without_shift(x)
    return y * (dx - np.sum(y * dx))


for name, derivative, inputs in (
    (
        "a logarithm that is NaN below 0",
        elementwise(quietly(lambda x: np.log(x)), quietly(lambda x: 1 / x), real=True, twin=mp.log),
        positive(5),
    ),
    (
        "arccosh, which is NaN below 1",
        elementwise(
            quietly(lambda x: np.arccosh(x)),
            quietly(lambda x: 1 / np.sqrt((x - 1) * (x + 1))),
            real=True,
            twin=lambda x: mp.log(x + mp.sqrt((x - 1) * (x + 1))),
        ),
        uniform(1.5, 3, 4),
    ),
    (
        "x^1.5, which is NaN below 0",
        elementwise(
            quietly(power_of_half), quietly(lambda x: 1.5 * np.sqrt(x)), real=True, twin=lambda x: x * mp.sqrt(x)
        ),
        positive((2, 2)),
    ),
    (
        "log|x| with its pole at 0",
        elementwise(quietly(log_of_magnitude), quietly(lambda x: 1 / x), real=True, twin=lambda x: mp.log(abs(x))),
        normal(4),
    ),
    (
        "a quotient with its pole at 0",
        elementwise(quietly(lambda a, b: a / b), quietly(lambda a, b: 1 / b), quietly(lambda a, b: -a / b**2)),
        positive(3, 3),
    ),
    (
        "tan between two of its poles",
        elementwise(quietly(tangent), lambda x: 1 + np.tan(x) ** 2, real=True, twin=mp.tan),
        uniform(-1.2, 1.2, 4),
    ),
    (
        "the gamma function with poles at 0, -1, -2, ...",
        elementwise(
            quietly(gamma),
            quietly(lambda x: special.gamma(x) * special.digamma(x)),
            real=True,
            twin=lambda x: mp.exp(mp.gammaln(x)),
        ),
        uniform(0.6, 3, 4),
    ),
    (
        "exp(exp x), which overflows soon",
        elementwise(quietly(double_exponential), quietly(lambda x: np.exp(x + np.exp(x)))),
        uniform(-1, 1, 5),
    ),
    (
        "an inverse square law",
        Differentiable(
            quietly(inverse_square_law), quietly(inverse_square_law_derivative), quietly(inverse_square_law_derivative)
        ),
        normal(3),
    ),
    (
        "a softmax without a shift, which overflows",
        Differentiable(
            quietly(softmax_without_shift),
            quietly(softmax_without_shift_derivative),
            quietly(softmax_without_shift_derivative),
            real=True,
        ),
        normal(4),
    ),
):
    right(name, derivative, inputs, kind="point", accuracy=1e-11)

# ------------------------------------------------------------------ smooth there, by a limit or by care


def sinc_of_half_turns_derivative(x):
    return np.pi * sinc_derivative(np.pi * x)


def softplus(x):
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def log_cosh(x):
    return np.abs(x) + np.log1p(np.exp(-2 * np.abs(x))) - np.log(2.0)


def bump_of_length(x):
    """1 / (1 + ‖x‖⁴)."""
    return 1 / (1 + np.sum(x * x) ** 2)


def huber_norm(x):
    """sqrt(1 + ‖x‖²) - 1."""
    return np.sqrt(1 + np.sum(x * x)) - 1


def ordered_products(x, order):
    """Products of neighbours in an order given by indices, which may repeat or count from the end."""
    return x[order[1:]] * x[order[:-1]]


def ordered_products_jvp(dx, _, x, order):
    return dx[order[1:]] * x[order[:-1]] + x[order[1:]] * dx[order[:-1]]


def ordered_products_vjp(ybar, x, order):
    xbar = np.zeros(x.shape)
    np.add.at(xbar, order[1:], x[order[:-1]] * ybar)
    np.add.at(xbar, order[:-1], x[order[1:]] * ybar)
    return xbar, NoTangent()


def gram(x):
    """X Xᵀ, of an array that may lie in memory as it likes."""
    return x @ x.T


for name, derivative, inputs in (
    ("a product without division", PROD, normal(5)),
    ("a running product without division", CUMPROD, normal(5)),
    (
        "sin(πx)/(πx)",
        elementwise(np.sinc, sinc_of_half_turns_derivative, real=True, twin=mp.sinc_of_half_turns),
        normal(5),
    ),
    (
        "a softplus by |x| and max(x, 0)",
        elementwise(softplus, expit, real=True, twin=lambda x: mp.log(1 + mp.exp(x))),
        uniform(-2, 2, (2, 2)),
    ),
    (
        "log cosh by |x|",
        elementwise(log_cosh, np.tanh, real=True, twin=lambda x: mp.log((mp.exp(x) + mp.exp(-x)) / 2)),
        normal(4),
    ),
    (
        "x |x|",
        elementwise(lambda x: x * np.abs(x), lambda x: 2 * np.abs(x), real=True, twin=lambda x: x * abs(x)),
        normal(5),
    ),
    (
        "a bump around 0",
        Differentiable(bump_of_length, **gradients(lambda x: -4 * np.sum(x * x) * x * bump_of_length(x) ** 2)),
        uniform(-1, 1, 3),
    ),
    ("a smooth length", Differentiable(huber_norm, **gradients(lambda x: x / (1 + huber_norm(x)))), normal(4)),
    (
        "products of neighbours in an order by indices, some of them twice or from the end",
        Differentiable(ordered_products, ordered_products_jvp, ordered_products_vjp),
        lambda rng: ((rng.standard_normal(4), np.array([0, -1, 1, 1, -4, 2])), {}),
    ),
    (
        "a lookup by indices from the end",
        LOOKUP,
        lambda rng: ((rng.standard_normal((4, 2)), np.array([-1, 0, -1, 2])), {}),
    ),
    (
        "a Gram matrix in any memory",
        Differentiable(
            gram,
            jvp=lambda dx, x: dx @ x.T + x @ dx.T,
            vjp=lambda ybar, x: (ybar + adjoint(ybar)) @ np.conj(x),
            real=True,
        ),
        lambda rng: ((np.asfortranarray(rng.standard_normal((3, 4)))[::-1],), {}),
    ),
):
    right(name, derivative, inputs, kind="point", accuracy=1e-11)
