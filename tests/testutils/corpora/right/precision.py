"""Rules in low precision and at points where formulas cancel: right to the rounding that such a formula has.

Many reuse the function's output, as libraries do: y (1 - y) for the logistic function, 1 - y² for tanh. What is lost
that way is lost in proportion to the output, not to the derivative; how much `accuracy` says for single entries, and
the norms of whole cotangents are bounded in `test_corpora_of_precision_and_points.py`.
"""

import numpy as np
from scipy import special

from corpora import multiprecision as mp
from corpora.corpus import Differentiable, elementwise
from corpora.right.elementwise import expit
from corpora.right.entry import right
from rulescore import NoTangent

HALF, SINGLE, DOUBLE = np.float16, np.float32, np.float64

# ------------------------------------------------------------------ random inputs in a precision


def drawn(dtype, *draws, **fkwargs):
    """Arguments drawn in double precision by ``draw(rng)`` and rounded to another."""
    return lambda rng: (tuple(np.asarray(draw(rng), dtype)[()] for draw in draws), fkwargs)


def gaussian(*shape, mean=0.0, scale=1.0):
    return lambda rng: mean + scale * rng.standard_normal(shape)


def between(low, high, *shape):
    return lambda rng: rng.uniform(low, high, shape)


def either_side(low, high, *shape):
    """Numbers whose magnitude is between ``low`` and ``high``."""
    return lambda rng: rng.choice([-1, 1], shape) * rng.uniform(low, high, shape)


def log_uniform(low, high, *shape):
    """Numbers of all magnitudes between two, of either sign."""
    return lambda rng: rng.choice([-1, 1], shape) * np.exp(rng.uniform(np.log(low), np.log(high), shape))


def distribution(*shape):
    """Probabilities, none of them tiny, whose sum along the last axis is 1."""

    def draw(rng):
        weights = rng.uniform(0.1, 1, shape)
        return weights / np.sum(weights, axis=-1, keepdims=True)

    return draw


def gradients(*partials):
    """The pushforward and the pullback of a function to one number, by its gradients ``partial(*args)``.

    None stands for an argument without derivative.
    """

    def jvp(*tangents_and_args):
        tangents, args = tangents_and_args[: len(partials)], tangents_and_args[len(partials) :]
        pairs = zip(partials, tangents, strict=True)
        return sum(np.sum(partial(*args) * tangent) for partial, tangent in pairs if partial is not None)

    def vjp(ybar, *args):
        return tuple(NoTangent() if partial is None else np.conj(partial(*args)) * ybar for partial in partials)

    return {"jvp": jvp, "vjp": vjp}


def symmetric_jacobian(jvp):
    """Of a function of one array whose Jacobian is symmetric the pullback is the pushforward."""
    return {"jvp": jvp, "vjp": jvp}


# ================================================================== activations, by their output


def logistic_by_output(x):
    y = expit(x)
    return y * (1 - y)


def tanh_by_output(x):
    return 1 - np.tanh(x) ** 2


def softplus(x):
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def silu(x):
    return x * expit(x)


def silu_derivative(x):
    s = expit(x)
    return s * (1 + x * (1 - s))


def mish(x):
    return x * np.tanh(softplus(x))


def mish_derivative(x):
    """tanh(sp) + x sech²(sp) σ(x), of the softplus sp of x."""
    t = np.tanh(softplus(x))
    return t + x * (1 - t**2) * expit(x)


def gelu(x):
    return 0.5 * x * special.erfc(-x * np.sqrt(0.5).astype(x.dtype))


def gelu_derivative(x):
    """Φ(x) + x φ(x)."""
    density = np.exp(-0.5 * x**2) * np.asarray(1 / np.sqrt(2 * np.pi), x.dtype)
    return 0.5 * special.erfc(-x * np.sqrt(0.5).astype(x.dtype)) + x * density


def gelu_angle(x):
    return 0.7978845608028654 * (x + 0.044715 * x**3)


def gelu_by_tanh(x):
    return 0.5 * x * (1 + np.tanh(gelu_angle(x)))


def gelu_by_tanh_derivative(x):
    t = np.tanh(gelu_angle(x))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t**2) * 0.7978845608028654 * (1 + 3 * 0.044715 * x**2)


def elu(x):
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


LOGISTIC = elementwise(expit, logistic_by_output, real=True, twin=lambda x: 1 / (1 + mp.exp(-x)))
TANH = elementwise(np.tanh, tanh_by_output, real=True, twin=mp.tanh)
SOFTPLUS = elementwise(softplus, lambda x: -np.expm1(-softplus(x)), real=True, twin=lambda x: mp.log(1 + mp.exp(x)))
SILU = elementwise(silu, silu_derivative, real=True, twin=lambda x: x / (1 + mp.exp(-x)))
MISH = elementwise(mish, mish_derivative, real=True, twin=lambda x: x * mp.tanh(mp.log(1 + mp.exp(x))))
GELU = elementwise(gelu, gelu_derivative, real=True, twin=lambda x: x / 2 * (1 + mp.erf(x / mp.sqrt(2))))
GELU_BY_TANH = elementwise(
    gelu_by_tanh, gelu_by_tanh_derivative, real=True, twin=lambda x: x / 2 * (1 + mp.tanh(gelu_angle(x)))
)
ELU = elementwise(
    elu,
    lambda x: np.where(x > 0, 1.0, elu(x) + 1).astype(np.result_type(x)),
    real=True,
    twin=lambda x: np.where(x > 0, x, mp.exp(x) - 1),
)

for name, derivative, dtype, draw, accuracy in (
    ("a saturated logistic function by its output, single", LOGISTIC, SINGLE, either_side(4, 15, 6), 0.5),
    ("a saturated logistic function by its output, double", LOGISTIC, DOUBLE, either_side(4, 30, 6), 0.05),
    ("a saturated logistic function by its output, half", LOGISTIC, HALF, either_side(1, 6, 5), 0.5),
    ("a saturated tanh by its output, single", TANH, SINGLE, either_side(3, 7.5, 2, 3), 0.5),
    ("a saturated tanh by its output, double", TANH, DOUBLE, either_side(3, 12, 6), 1e-05),
    ("a saturated tanh by its output, half", TANH, HALF, either_side(1, 3, 4), 0.2),
    ("softplus in both its tails, single", SOFTPLUS, SINGLE, either_side(2, 30, 6), 1e-5),
    ("softplus in half precision", SOFTPLUS, HALF, either_side(0.5, 6, 5), 2e-2),
    ("SiLU in both its tails, single", SILU, SINGLE, either_side(2, 12, 6), 1e-5),
    ("SiLU in half precision", SILU, HALF, gaussian(4, scale=2), 0.1),
    ("Mish, single", MISH, SINGLE, gaussian(6, scale=4), 0.001),
    ("GELU by the error function, single", GELU, SINGLE, gaussian(6, scale=2), 1e-05),
    ("GELU by the error function at 5, double", GELU, DOUBLE, either_side(3, 6, 5), 1e-12),
    ("GELU by tanh, single", GELU_BY_TANH, SINGLE, gaussian(3, 2, scale=1.5), 0.1),
    ("GELU by tanh, half", GELU_BY_TANH, HALF, gaussian(5), 0.2),
    ("ELU by its output, single", ELU, SINGLE, either_side(0.5, 12, 6), 0.01),
):
    right(name, derivative, drawn(dtype, draw), kind="precision", accuracy=accuracy)

# ================================================================== other elementwise functions


def inverse_square_root_of_pi(x):
    return np.asarray(2 / np.sqrt(np.pi), np.result_type(x))


def half_circle(x):
    """sqrt(1 - x²), with its factors taken apart for the sake of x near 1."""
    return np.sqrt((1 - x) * (1 + x))


def x_minus_sine(x):
    return x - np.sin(x)


def versine(x):
    return 1 - np.cos(x)


def sinc(x):
    return np.sin(x) / x


def sinc_derivative(x):
    """(cos x - sin x / x) / x, which cancels as the function's own value does not."""
    return (np.cos(x) - np.sin(x) / x) / x


def log_cosh(x):
    return np.abs(x) + np.log1p(np.exp(-2 * np.abs(x))) - np.asarray(np.log(2.0), np.result_type(x))


def bernoulli(x):
    """x / (exp(x) - 1), the generating function of Bernoulli's numbers."""
    return x / np.expm1(x)


def bernoulli_derivative(x):
    e = np.expm1(x)
    return (e - x * np.exp(x)) / e**2


def shifted_sine(x):
    return 4096 + np.sin(x)


def tiny_bell(x):
    return 1e-30 * np.exp(-0.5 * x**2)


def huge_exp(x):
    return 1e30 * np.exp(x)


def horner(x):
    """1 - 3 x + 2 x³ - x⁵."""
    return 1 + x * (-3 + x**2 * (2 - x**2))


def gaussian_tail(x):
    return 0.5 * special.erfc(x * np.sqrt(0.5).astype(np.result_type(x)))


def gaussian_density(x):
    return np.exp(-0.5 * x**2) * np.asarray(1 / np.sqrt(2 * np.pi), np.result_type(x))


def langevin(x):
    """coth x - 1/x."""
    return 1 / np.tanh(x) - 1 / x


ERF = elementwise(special.erf, lambda x: inverse_square_root_of_pi(x) * np.exp(-(x**2)), real=True, twin=mp.erf)
GAUSSIAN_TAIL = elementwise(
    gaussian_tail, lambda x: -gaussian_density(x), real=True, twin=lambda x: (1 - mp.erf(x / mp.sqrt(2))) / 2
)
HALF_CIRCLE = elementwise(half_circle, lambda x: -x / half_circle(x), real=True)
ARCCOS = elementwise(np.arccos, lambda x: -1 / np.sqrt((1 - x) * (1 + x)), real=True, twin=mp.arccos)
ARTANH = elementwise(
    np.arctanh, lambda x: 1 / ((1 - x) * (1 + x)), real=True, twin=lambda x: mp.log((1 + x) / (1 - x)) / 2
)
X_MINUS_SINE = elementwise(x_minus_sine, lambda x: 2 * np.sin(x / 2) ** 2)
VERSINE = elementwise(versine, np.sin)
EXPM1 = elementwise(np.expm1, lambda x: np.expm1(x) + 1)
LOG1P = elementwise(np.log1p, lambda x: 1 / (1 + x))
COSH = elementwise(np.cosh, np.sinh)
SINH = elementwise(np.sinh, np.cosh)
SINC = elementwise(sinc, sinc_derivative, real=True, twin=lambda x: mp.sin(x) / x)
LOG_COSH = elementwise(log_cosh, np.tanh, real=True, twin=lambda x: mp.log((mp.exp(x) + mp.exp(-x)) / 2))
BERNOULLI = elementwise(bernoulli, bernoulli_derivative, real=True, twin=lambda x: x / (mp.exp(x) - 1))
SHIFTED_SINE = elementwise(shifted_sine, np.cos)
TINY_BELL = elementwise(tiny_bell, lambda x: -x * tiny_bell(x))
HUGE_EXP = elementwise(huge_exp, huge_exp)
HORNER = elementwise(horner, lambda x: -3 + x**2 * (6 - 5 * x**2))
CUBE_ROOT = elementwise(np.cbrt, lambda x: np.cbrt(x) / (3 * x), real=True, twin=mp.cbrt)
LOG = elementwise(np.log, lambda x: 1 / x, real=True, twin=mp.log)
EXP = elementwise(np.exp, np.exp)
LANGEVIN = elementwise(
    langevin,
    lambda x: 1 / x**2 - 1 / np.sinh(x) ** 2,
    real=True,
    twin=lambda x: 1 / mp.tanh(x) - 1 / x,
)

for name, derivative, dtype, draw, accuracy in (
    ("the error function far out, single", ERF, SINGLE, either_side(2, 3.8, 6), 1e-5),
    ("the tail of a Gaussian, single", GAUSSIAN_TAIL, SINGLE, between(3, 8, 5), 2e-5),
    ("a half circle near its end, single", HALF_CIRCLE, SINGLE, lambda rng: 1 - 10.0 ** rng.uniform(-5, -2, 6), 1e-6),
    ("arccos near 1, single", ARCCOS, SINGLE, lambda rng: 1 - 10.0 ** rng.uniform(-6, -2, 6), 1e-6),
    ("artanh near -1, double", ARTANH, DOUBLE, lambda rng: 10.0 ** rng.uniform(-9, -2, 5) - 1, 1e-12),
    ("x - sin x at 1/100, single", X_MINUS_SINE, SINGLE, either_side(5e-3, 5e-2, 6), 1e-6),
    ("1 - cos x at 1/1000, single", VERSINE, SINGLE, either_side(5e-4, 5e-3, 6), 1e-6),
    ("expm1 by its output, single", EXPM1, SINGLE, between(-12, 0.1, 6), 0.2),
    ("log1p near -1, single", LOG1P, SINGLE, lambda rng: 10.0 ** rng.uniform(-4, -1, 6) - 1, 1e-6),
    ("log1p of tiny numbers, half", LOG1P, HALF, either_side(1e-3, 1e-1, 5), 1e-2),
    ("cosh of large arguments, single", COSH, SINGLE, either_side(5, 40, 6), 1e-06),
    ("sinh in half precision", SINH, HALF, gaussian(5, scale=2), 1e-2),
    ("sin(x)/x at 1/100 by the formula that cancels, single", SINC, SINGLE, either_side(5e-3, 5e-2, 6), 0.1),
    ("sin(x)/x at 1e-4 by the formula that cancels, double", SINC, DOUBLE, either_side(5e-5, 5e-4, 5), 1e-06),
    ("log cosh far out, single", LOG_COSH, SINGLE, either_side(4, 60, 6), 1e-6),
    ("x / (exp(x) - 1) near 0, single", BERNOULLI, SINGLE, either_side(1e-2, 0.2, 6), 0.001),
    ("4096 + sin x, single", SHIFTED_SINE, SINGLE, gaussian(6), 1e-6),
    ("a bell of height 1e-30, single", TINY_BELL, SINGLE, gaussian(5), 1e-5),
    ("1e30 exp x, single", HUGE_EXP, SINGLE, gaussian(2, 2), 1e-6),
    ("a polynomial by Horner's scheme, single", HORNER, SINGLE, between(-1.5, 1.5, 6), 1e-05),
    ("a polynomial by Horner's scheme, half", HORNER, HALF, between(-0.6, 0.6, 4), 2e-2),
    ("a cube root of numbers of all magnitudes, single", CUBE_ROOT, SINGLE, log_uniform(1e-20, 1e20, 6), 1e-6),
    ("log of numbers of all magnitudes, half", LOG, HALF, lambda rng: np.exp(rng.uniform(-6, 9, 6)), 1e-2),
    ("coth x - 1/x at 1/2, single", LANGEVIN, SINGLE, either_side(0.4, 1.0, 5), 0.0001),
    ("one NumPy scalar of single precision", EXPM1, SINGLE, gaussian(), 1e-5),
    ("one NumPy scalar of half precision", EXP, HALF, gaussian(), 1e-2),
):
    right(name, derivative, drawn(dtype, draw), kind="precision", accuracy=accuracy)

# ================================================================== functions that cancel, and rules that do not


def one_minus_tanh(x):
    return 1 - np.tanh(x)


def naive_softplus(x):
    return np.log(1 + np.exp(-x))


def naive_erfc(x):
    return 1 - special.erf(x)


def one_minus_sigmoid(x):
    return 1 - 1 / (1 + np.exp(-x))


def root_beside_one(x):
    return np.sqrt(1 + x) - 1


def log_beside_one(x):
    return np.log(1 + x)


def naive_gelu(x):
    return 0.5 * x * (1 + special.erf(x / np.sqrt(2)))


def gelu_tail_derivative(x):
    return 0.5 * special.erfc(-x / np.sqrt(2)) + x * np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi)


ONE_MINUS_TANH = elementwise(one_minus_tanh, lambda x: -1 / np.cosh(x) ** 2, real=True, twin=lambda x: 1 - mp.tanh(x))
NAIVE_SOFTPLUS = elementwise(
    naive_softplus, lambda x: -1 / (1 + np.exp(x)), real=True, twin=lambda x: mp.log(1 + mp.exp(-x))
)
NAIVE_ERFC = elementwise(
    naive_erfc, lambda x: -2 / np.sqrt(np.pi) * np.exp(-(x**2)), real=True, twin=lambda x: 1 - mp.erf(x)
)
ONE_MINUS_SIGMOID = elementwise(
    one_minus_sigmoid,
    lambda x: -np.exp(-x) / (1 + np.exp(-x)) ** 2,
    real=True,
    twin=lambda x: 1 - 1 / (1 + mp.exp(-x)),
)
ROOT_BESIDE_ONE = elementwise(
    root_beside_one, lambda x: 0.5 / np.sqrt(1 + x), real=True, twin=lambda x: mp.sqrt(1 + x) - 1
)
LOG_BESIDE_ONE = elementwise(log_beside_one, lambda x: 1 / (1 + x), real=True, twin=lambda x: mp.log(1 + x))
NAIVE_GELU = elementwise(
    naive_gelu, gelu_tail_derivative, real=True, twin=lambda x: x / 2 * (1 + mp.erf(x / mp.sqrt(2)))
)

for name, derivative, draw in (
    ("1 - tanh x far out, double", ONE_MINUS_TANH, between(5, 16, 4)),
    ("log(1 + exp(-x)) far out, double", NAIVE_SOFTPLUS, between(10, 33, 4)),
    ("1 - erf x far out, double", NAIVE_ERFC, between(2, 5, 4)),
    ("1 - 1 / (1 + exp(-x)) far out, double", ONE_MINUS_SIGMOID, between(5, 33, 4)),
    ("sqrt(1 + x) - 1 of tiny numbers, double", ROOT_BESIDE_ONE, either_side(1e-9, 1e-6, 4)),
    ("log(1 + x) of tiny numbers, double", LOG_BESIDE_ONE, either_side(1e-9, 1e-6, 4)),
    ("1 - cos x at 1e-6, double", VERSINE, either_side(1e-6, 1e-5, 4)),
    ("GELU by the error function in its tail, double", NAIVE_GELU, between(-6, -4, 4)),
):
    right(name, derivative, drawn(DOUBLE, draw), kind="precision", accuracy=1e-12)

# ================================================================== several arguments, elementwise


def logaddexp(a, b):
    return np.logaddexp(a, b)


LOGADDEXP = elementwise(
    logaddexp,
    lambda a, b: np.exp(a - logaddexp(a, b)),
    lambda a, b: np.exp(b - logaddexp(a, b)),
    real=True,
    twin=lambda a, b: mp.log(mp.exp(a) + mp.exp(b)),
)
HYPOT = elementwise(
    np.hypot,
    lambda a, b: a / np.hypot(a, b),
    lambda a, b: b / np.hypot(a, b),
    real=True,
    twin=lambda a, b: mp.sqrt(a**2 + b**2),
)
ARCTAN2 = elementwise(
    np.arctan2,
    lambda y, x: x / np.hypot(x, y) / np.hypot(x, y),
    lambda y, x: -y / np.hypot(x, y) / np.hypot(x, y),
    real=True,
    twin=mp.arctan2,
)
POWER = elementwise(
    np.power,
    lambda x, p: p * x**p / x,
    lambda x, p: x**p * np.log(x),
    real=True,
    twin=lambda x, p: mp.exp(p * mp.log(x)),
)


def huber(x, threshold):
    """Quadratic up to a threshold and linear beyond."""
    return np.where(np.abs(x) < threshold, 0.5 * x**2, threshold * (np.abs(x) - 0.5 * threshold))


HUBER = elementwise(
    huber,
    lambda x, threshold: np.where(np.abs(x) < threshold, x, threshold * np.sign(x)),
    lambda x, threshold: np.where(np.abs(x) < threshold, 0, np.abs(x) - threshold),
    real=True,
    twin=huber,
)


def binary_cross_entropy(x, target):
    """The loss of logits, max(x, 0) - x t + log(1 + exp(-|x|))."""
    return softplus(x) - x * target


BINARY_CROSS_ENTROPY = elementwise(
    binary_cross_entropy,
    lambda x, target: expit(x) - target,
    lambda x, target: -x,
    real=True,
    twin=lambda x, target: mp.log(1 + mp.exp(x)) - x * target,
)

right(
    "logaddexp by its output, single",
    LOGADDEXP,
    drawn(SINGLE, gaussian(6, scale=5), gaussian(6, scale=5)),
    kind="precision",
    accuracy=1e-05,
)
right("a hypotenuse, half", HYPOT, drawn(HALF, gaussian(4), gaussian(4)), kind="precision", accuracy=1e-2)
right(
    "arctan2 of tiny numbers, single",
    ARCTAN2,
    drawn(SINGLE, log_uniform(1e-16, 1e-14, 4), log_uniform(1e-16, 1e-14, 4)),
    kind="precision",
    accuracy=1e-5,
)
right(
    "powers by their output, single",
    POWER,
    drawn(SINGLE, between(0.1, 4, 5), between(-3, 3, 5)),
    kind="precision",
    accuracy=1e-5,
)
right(
    "Huber's function off its threshold, single",
    HUBER,
    drawn(SINGLE, lambda rng: rng.permutation([0.3, -0.7, 1.6, -2.5, 30.0]), between(0.9, 1.1, 1)),
    kind="precision",
    accuracy=1e-06,
)
for name, dtype, accuracy in (("single", SINGLE, 1e-3), ("half", HALF, 5e-2)):
    right(
        f"the cross entropy of two classes from logits, {name}",
        BINARY_CROSS_ENTROPY,
        drawn(dtype, either_side(1, 8 if dtype is SINGLE else 4, 5), between(0.2, 0.8, 5)),
        kind="precision",
        accuracy=accuracy,
    )

# ================================================================== softmax and its kin


def maximum_of(x):
    return np.max(np.real(x), axis=-1, keepdims=True)


def softmax(x):
    """Along the last axis."""
    e = np.exp(x - maximum_of(x))
    return e / np.sum(e, axis=-1, keepdims=True)


def softmax_by_output(dx, y):
    return y * (dx - np.sum(y * dx, axis=-1, keepdims=True))


def log_softmax(x):
    shifted = x - maximum_of(x)
    return shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))


def logsumexp(x):
    top = maximum_of(x)
    return np.log(np.sum(np.exp(x - top), axis=-1)) + top[..., 0]


SOFTMAX = Differentiable(softmax, **symmetric_jacobian(lambda dx, x: softmax_by_output(dx, softmax(x))), real=True)
LOG_SOFTMAX = Differentiable(
    log_softmax,
    jvp=lambda dx, x: dx - np.sum(softmax(x) * dx, axis=-1, keepdims=True),
    vjp=lambda ybar, x: ybar - softmax(x) * np.sum(ybar, axis=-1, keepdims=True),
    real=True,
)
LOGSUMEXP = Differentiable(
    logsumexp,
    jvp=lambda dx, x: np.sum(np.exp(x - logsumexp(x)[..., None]) * dx, axis=-1),
    vjp=lambda ybar, x: np.exp(x - logsumexp(x)[..., None]) * ybar[..., None],
    real=True,
)

for deviation, dtype, accuracy in ((1, SINGLE, 1e-5), (10, SINGLE, 1.0), (40, DOUBLE, 1.0), (2, HALF, 0.1)):
    right(
        f"a softmax by its output, of logits of standard deviation {deviation}",
        SOFTMAX,
        drawn(dtype, gaussian(2, 4, scale=deviation)),
        kind="precision",
        accuracy=accuracy,
    )
for deviation, dtype, accuracy in ((1, HALF, 3e-2), (8, SINGLE, 1.0)):
    right(
        f"a log-softmax of logits of standard deviation {deviation}",
        LOG_SOFTMAX,
        drawn(dtype, gaussian(2, 5, scale=deviation)),
        kind="precision",
        accuracy=accuracy,
    )
for deviation, dtype, accuracy in ((4, SINGLE, 1e-5), (40, SINGLE, 1e-4), (2, HALF, 5e-2)):
    right(
        f"a logsumexp by its output, of logits of standard deviation {deviation}",
        LOGSUMEXP,
        drawn(dtype, gaussian(3, 4, scale=deviation)),
        kind="precision",
        accuracy=accuracy,
    )


def attention(q, k, v):
    """softmax(Q Kᵀ) V."""
    return softmax(q @ np.swapaxes(k, -1, -2)) @ v


def attention_jvp(dq, dk, dv, q, k, v):
    p = softmax(q @ k.T)
    return softmax_by_output(dq @ k.T + q @ dk.T, p) @ v + p @ dv


def attention_vjp(ybar, q, k, v):
    p = softmax(q @ k.T)
    logits_bar = softmax_by_output(ybar @ v.T, p)
    return logits_bar @ k, logits_bar.T @ q, p.T @ ybar


ATTENTION = Differentiable(attention, attention_jvp, attention_vjp, real=True)
for name, dtype, scale, accuracy in (
    ("single", SINGLE, 1.0, 1e-4),
    ("single, sharp", SINGLE, 1.5, 0.1),
    ("double, sharp", DOUBLE, 2.0, 1e-5),
):
    right(
        f"attention, {name}",
        ATTENTION,
        drawn(dtype, gaussian(2, 3, scale=scale), gaussian(4, 3, scale=scale), gaussian(4, 2)),
        kind="precision",
        accuracy=accuracy,
    )


def cross_entropy(logits, classes):
    """The mean loss of rows of logits, of which each has its class."""
    return -np.mean(log_softmax(logits)[np.arange(len(classes)), classes])


def cross_entropy_gradient(logits, classes):
    return (softmax(logits) - np.eye(logits.shape[1], dtype=logits.dtype)[classes]) / len(classes)


def focal_loss(logits, classes):
    """-mean((1 - p)² log p), of the probability p of each row's class."""
    log_p = log_softmax(logits)[np.arange(len(classes)), classes]
    return -np.mean((1 - np.exp(log_p)) ** 2 * log_p)


def focal_loss_gradient(logits, classes):
    log_p = log_softmax(logits)[np.arange(len(classes)), classes]
    p = np.exp(log_p)
    by_log_p = (2 * (1 - p) * p * log_p - (1 - p) ** 2) / len(classes)
    return by_log_p[:, None] * (np.eye(logits.shape[1], dtype=logits.dtype)[classes] - softmax(logits))


def with_classes(dtype, rows, columns, scale):
    return lambda rng: (
        (np.asarray(scale * rng.standard_normal((rows, columns)), dtype), rng.integers(0, columns, rows)),
        {},
    )


CROSS_ENTROPY = Differentiable(cross_entropy, **gradients(cross_entropy_gradient, None), real=True)
FOCAL_LOSS = Differentiable(focal_loss, **gradients(focal_loss_gradient, None), real=True)
right(
    "a cross entropy of sure logits, single",
    CROSS_ENTROPY,
    with_classes(SINGLE, 4, 5, 6.0),
    kind="precision",
    accuracy=0.001,
)
right("a focal loss, single", FOCAL_LOSS, with_classes(SINGLE, 5, 3, 2.0), kind="precision", accuracy=1e-4)
right(
    "a focal loss of sure logits, double",
    FOCAL_LOSS,
    with_classes(DOUBLE, 3, 4, 8.0),
    kind="precision",
    accuracy=1e-9,
)


def entropy(p):
    return -np.sum(p * np.log(p))


def divergence(p, q):
    """Kullback and Leibler's Σ p log(p / q)."""
    return np.sum(p * np.log(p / q))


ENTROPY = Differentiable(entropy, **gradients(lambda p: -np.log(p) - 1))
DIVERGENCE = Differentiable(divergence, **gradients(lambda p, q: np.log(p / q) + 1, lambda p, q: -p / q))
right("an entropy, single", ENTROPY, drawn(SINGLE, distribution(8)), kind="precision", accuracy=1e-06)
right("an entropy, half", ENTROPY, drawn(HALF, distribution(5)), kind="precision", accuracy=1.0)
right(
    "a divergence of near distributions, single",
    DIVERGENCE,
    lambda rng: (
        (lambda p: (np.float32(p), np.float32(p * (1 + 1e-3 * rng.standard_normal(6)))))(distribution(6)(rng)),
        {},
    ),
    kind="precision",
    accuracy=1e-5,
)

# ================================================================== norms and normalisations


def centred(x, axis=-1):
    """x - mean(x), from which a second subtraction takes the rounding error of the first mean."""
    rough = x - np.mean(x, axis=axis, keepdims=True)
    return rough - np.mean(rough, axis=axis, keepdims=True)


def standardised(x, axis, epsilon):
    deviations = centred(x, axis)
    scale = np.sqrt(np.mean(deviations**2, axis=axis, keepdims=True) + epsilon)
    return deviations / scale, scale


def standardised_derivative(dx, x, axis, epsilon):
    """(dx - mean(dx) - y mean(y dx)) / σ, of the output y; the Jacobian is symmetric."""
    y, scale = standardised(x, axis, epsilon)
    return (centred(dx, axis) - y * np.mean(y * dx, axis=axis, keepdims=True)) / scale


def layer_norm(x):
    return standardised(x, -1, 1e-5)[0]


def batch_norm(x):
    return standardised(x, 0, 1e-5)[0]


def rms_norm(x, weight):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True)) * weight


def rms_norm_jvp(dx, dweight, x, weight):
    scale = np.sqrt(np.mean(x * x, axis=-1, keepdims=True))
    y = x / scale
    return (dx - y * np.mean(y * dx, axis=-1, keepdims=True)) / scale * weight + y * dweight


def rms_norm_vjp(ybar, x, weight):
    scale = np.sqrt(np.mean(x * x, axis=-1, keepdims=True))
    y = x / scale
    inner = np.asarray(ybar, x.dtype) * weight
    xbar = (inner - y * np.mean(y * inner, axis=-1, keepdims=True)) / scale
    return xbar, np.sum(y * ybar, axis=0, dtype=np.result_type(x, np.float32))


def unit(x):
    """x / ‖x‖, along the last axis, scaled by the largest entry so that no square leaves the range."""
    largest = maximum_of(np.abs(np.real(x)))
    x = x / largest
    return x / np.sqrt(np.sum(x * x, axis=-1, keepdims=True))


def unit_derivative(dx, x):
    y = unit(x)
    length = np.sum(y * x, axis=-1, keepdims=True)
    return (dx - y * np.sum(y * dx, axis=-1, keepdims=True)) / length


LAYER_NORM = Differentiable(
    layer_norm, **symmetric_jacobian(lambda dx, x: standardised_derivative(dx, x, -1, 1e-5)), real=True
)
BATCH_NORM = Differentiable(
    batch_norm, **symmetric_jacobian(lambda dx, x: standardised_derivative(dx, x, 0, 1e-5)), real=True
)
RMS_NORM = Differentiable(rms_norm, rms_norm_jvp, rms_norm_vjp)
UNIT = Differentiable(unit, **symmetric_jacobian(unit_derivative), real=True)
for name, derivative, inputs, accuracy in (
    ("a layer norm, single", LAYER_NORM, drawn(SINGLE, gaussian(2, 8)), 1e-5),
    ("a layer norm of a large mean, single", LAYER_NORM, drawn(SINGLE, gaussian(2, 6, mean=1000)), 1e-5),
    ("a layer norm, half", LAYER_NORM, drawn(HALF, gaussian(1, 6)), 5e-2),
    (
        "a layer norm of 300 features, single",
        LAYER_NORM,
        drawn(SINGLE, lambda rng: 3 + rng.standard_normal((300, 4)).T),
        1e-5,
    ),
    ("a batch norm, single", BATCH_NORM, drawn(SINGLE, gaussian(6, 3, mean=10)), 1e-05),
    ("a root-mean-square norm with weights, single", RMS_NORM, drawn(SINGLE, gaussian(3, 6), gaussian(6)), 1e-5),
    ("a root-mean-square norm with weights, half", RMS_NORM, drawn(HALF, gaussian(2, 5), between(0.5, 2, 5)), 2e-2),
    ("unit vectors, single", UNIT, drawn(SINGLE, gaussian(2, 5)), 1e-5),
    ("unit vectors of length 1e-20, single", UNIT, drawn(SINGLE, gaussian(2, 4, scale=1e-20)), 1e-5),
    ("unit vectors of length 1e3, half", UNIT, drawn(HALF, gaussian(5, scale=1e3)), 3e-2),
):
    right(name, derivative, inputs, kind="precision", accuracy=accuracy)


def cosine_similarity(a, b):
    return np.sum(unit(a) * unit(b))


def cosine_gradient(a, b):
    """(b̂ - (â·b̂) â) / ‖a‖."""
    u, v = unit(a), unit(b)
    return (v - np.sum(u * v) * u) / np.sum(u * a)


COSINE = Differentiable(
    cosine_similarity,
    **gradients(cosine_gradient, lambda a, b: cosine_gradient(b, a)),
    real=True,
)


def nearly_parallel(dtype, size, angle):
    def inputs(rng):
        a = rng.standard_normal(size)
        return (np.asarray(a, dtype), np.asarray(2 * a + angle * rng.standard_normal(size), dtype)), {}

    return inputs


right(
    "the cosine of nearly parallel vectors, single",
    COSINE,
    nearly_parallel(SINGLE, 6, 1e-2),
    kind="precision",
    accuracy=0.1,
)
right(
    "the cosine of nearly parallel vectors, double",
    COSINE,
    nearly_parallel(DOUBLE, 5, 1e-5),
    kind="precision",
    accuracy=1e-8,
)


def variance(x):
    return np.mean(centred(x) ** 2)


def deviation(x):
    return np.sqrt(variance(x))


def length(x):
    largest = np.max(np.abs(np.real(x)))
    return largest * np.sqrt(np.sum((x / largest) ** 2))


VARIANCE = Differentiable(variance, **gradients(lambda x: 2 * centred(x) / x.size))
DEVIATION = Differentiable(deviation, **gradients(lambda x: centred(x) / (x.size * deviation(x))))
LENGTH = Differentiable(length, **gradients(lambda x: x / length(x)))
for name, derivative, inputs, accuracy in (
    ("a variance of a large mean, single", VARIANCE, drawn(SINGLE, gaussian(8, mean=300)), 1e-12),
    ("a variance of 5000 numbers, single", VARIANCE, drawn(SINGLE, gaussian(5000, mean=5)), 1e-5),
    ("a standard deviation of a large mean, single", DEVIATION, drawn(SINGLE, gaussian(7, mean=-50)), 1e-5),
    ("a standard deviation, half", DEVIATION, drawn(HALF, gaussian(5)), 0.1),
    ("a length of 1e18, single", LENGTH, drawn(SINGLE, gaussian(6, scale=1e18)), 1e-06),
    ("a length of numbers of all magnitudes, single", LENGTH, drawn(SINGLE, log_uniform(1e-3, 1e3, 6)), 1e-06),
    ("a length, half", LENGTH, drawn(HALF, gaussian(6, scale=100)), 1e-2),
):
    right(name, derivative, inputs, kind="precision", accuracy=accuracy)

# ================================================================== distances


def distances(a, b):
    """Between each point of ``a`` and each of ``b``."""
    return np.sqrt(np.sum((a[:, None] - b[None]) ** 2, axis=-1))


def distances_jvp(da, db, a, b):
    units = (a[:, None] - b[None]) / distances(a, b)[..., None]
    return np.sum(units * (da[:, None] - db[None]), axis=-1)


def distances_vjp(ybar, a, b):
    units = (a[:, None] - b[None]) / distances(a, b)[..., None]
    return np.sum(units * ybar[..., None], axis=1), -np.sum(units * ybar[..., None], axis=0)


def soft_minimum(x, sharpness):
    """The smooth minimum -log(Σ exp(-s x)) / s along the last axis."""
    return -logsumexp(-sharpness * x) / sharpness


def soft_hausdorff(a, b):
    """The mean smooth distance from the points of ``a`` to the set ``b``."""
    return np.mean(soft_minimum(distances(a, b), 4.0))


def soft_hausdorff_bars(a, b):
    weights = softmax(-4.0 * distances(a, b)) / len(a)
    return distances_vjp(weights, a, b)


DISTANCES = Differentiable(distances, distances_jvp, distances_vjp)
SOFT_HAUSDORFF = Differentiable(
    soft_hausdorff,
    **gradients(lambda a, b: soft_hausdorff_bars(a, b)[0], lambda a, b: soft_hausdorff_bars(a, b)[1]),
)


def close_points(dtype, m, n, separation):
    """Points within ``separation`` of each other, at 10 from the origin."""

    def inputs(rng):
        centre = 10 + rng.standard_normal(3)
        a, b = (centre + separation * rng.standard_normal((k, 3)) for k in (m, n))
        return (np.asarray(a, dtype), np.asarray(b, dtype)), {}

    return inputs


right(
    "distances of close points, single",
    DISTANCES,
    close_points(SINGLE, 2, 3, 1e-2),
    kind="precision",
    accuracy=1e-6,
)
right(
    "distances of points, half", DISTANCES, drawn(HALF, gaussian(2, 2), gaussian(2, 2)), kind="precision", accuracy=1e-2
)
right(
    "a smooth Hausdorff distance, single",
    SOFT_HAUSDORFF,
    drawn(SINGLE, gaussian(3, 2), gaussian(4, 2)),
    kind="precision",
    accuracy=0.001,
)

# ================================================================== linear maps and linear algebra


def rotary(x, positions):
    """Pairs of features rotated by angles that grow with the position (Su et al. 2021)."""
    half = x.shape[-1] // 2
    angles = positions[:, None] * 10000.0 ** (-np.arange(half) / half)
    cosine, sine = (np.asarray(f(angles), np.result_type(np.real(x))) for f in (np.cos, np.sin))
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * cosine - b * sine, a * sine + b * cosine], axis=-1)


ROTARY = Differentiable(
    rotary,
    jvp=lambda dx, _, x, positions: rotary(np.asarray(dx, x.dtype), positions),
    vjp=lambda ybar, x, positions: (rotary(np.asarray(ybar, x.dtype), -positions), NoTangent()),
    real=True,
)
for name, dtype, accuracy in (("single", SINGLE, 1e-6), ("half", HALF, 1e-2)):
    right(
        f"a rotary embedding of far positions, {name}",
        ROTARY,
        lambda rng, dtype=dtype: ((np.asarray(rng.standard_normal((3, 6)), dtype), rng.integers(0, 2048, 3)), {}),
        kind="precision",
        accuracy=accuracy,
    )


def average_pool(x):
    """Means of windows of four with stride two."""
    return np.mean(np.lib.stride_tricks.sliding_window_view(x, 4)[::2], axis=-1)


def average_pool_vjp(ybar, x):
    xbar = np.zeros(x.shape)
    for k, bar in enumerate(ybar):
        xbar[2 * k : 2 * k + 4] += bar / 4
    return xbar


AVERAGE_POOL = Differentiable(average_pool, jvp=lambda dx, x: average_pool(dx), vjp=average_pool_vjp)
right("an average pooling, half", AVERAGE_POOL, drawn(HALF, gaussian(10)), kind="precision", accuracy=1e-12)

MATMUL = Differentiable(
    lambda a, b: a @ b,
    jvp=lambda da, db, a, b: da @ b + a @ db,
    vjp=lambda ybar, a, b: (ybar @ np.conj(b).T, np.conj(a).T @ ybar),
)
DOT = Differentiable(lambda a, b: np.sum(a * b), **gradients(lambda a, b: b, lambda a, b: a))
INVERSE = Differentiable(
    lambda a: np.linalg.inv(a),
    jvp=lambda da, a: -np.linalg.inv(a) @ da @ np.linalg.inv(a),
    vjp=lambda ybar, a: -np.conj(np.linalg.inv(a)).T @ ybar @ np.conj(np.linalg.inv(a)).T,
)


def solved(a, b):
    return np.linalg.solve(a, b[:, None])[:, 0]


def solved_vjp(ybar, a, b):
    bbar = solved(np.conj(a).T, np.asarray(ybar))
    return -np.outer(bbar, np.conj(solved(a, b))), bbar


SOLVE = Differentiable(
    lambda a, b: solved(a, b), jvp=lambda da, db, a, b: solved(a, db - da @ solved(a, b)), vjp=solved_vjp
)
QUADRATIC_FORM = Differentiable(
    lambda a, x: x @ a @ x, **gradients(lambda a, x: np.outer(x, x), lambda a, x: (a + a.T) @ x)
)


def well_conditioned(dtype, size, *others):
    """A matrix with singular values from 1/2 to 2, and other arguments drawn."""

    def inputs(rng):
        u, v = (np.linalg.qr(rng.standard_normal((size, size)))[0] for _ in range(2))
        a = u * np.geomspace(0.5, 2, size) @ v
        return (np.asarray(a, dtype), *(np.asarray(draw(rng), dtype) for draw in others)), {}

    return inputs


for name, derivative, inputs, accuracy in (
    ("a matrix product, single", MATMUL, drawn(SINGLE, gaussian(3, 4), gaussian(4, 2)), 1e-12),
    ("a matrix product, half", MATMUL, drawn(HALF, gaussian(2, 3), gaussian(3, 2)), 1e-12),
    ("a dot product of 5000 numbers, single", DOT, drawn(SINGLE, gaussian(5000), gaussian(5000)), 1e-5),
    ("an inverse, single", INVERSE, well_conditioned(SINGLE, 4), 1e-05),
    ("a linear system, single", SOLVE, well_conditioned(SINGLE, 4, gaussian(4)), 1e-05),
    ("a quadratic form, single", QUADRATIC_FORM, drawn(SINGLE, gaussian(4, 4), gaussian(4)), 1e-5),
):
    right(name, derivative, inputs, kind="precision", accuracy=accuracy)

# ================================================================== sums, scans and filters


def running_product(x):
    return np.cumprod(x)


def running_product_jvp(dx, x):
    """dy_i = dy_{i-1} x_i + y_{i-1} dx_i, which divides by nothing."""
    before = np.append(1, np.cumprod(x)[:-1]).astype(x.dtype)
    dy = np.zeros_like(x)
    for i in range(x.size):
        dy[i] = before[i] * dx[i] + (dy[i - 1] * x[i] if i else 0)
    return dy


def running_product_vjp(ybar, x):
    """The same backwards: what reaches y_i is its own cotangent and x_{i+1} times what reaches y_{i+1}."""
    before = np.append(1, np.cumprod(x)[:-1]).astype(x.dtype)
    xbar, reached = np.zeros_like(x), 0
    for i in range(x.size)[::-1]:
        reached = ybar[i] + reached
        xbar[i] = np.conj(before[i]) * reached
        reached = np.conj(x[i]) * reached
    return xbar


def sum_of_sines(x):
    return np.sum(np.sin(x))


def sum_of_cubes(x):
    return np.sum(x**3)


def trapezoids(x, values):
    """The integral of a piecewise linear function with these values at the places x."""
    return np.sum(0.5 * (x[1:] - x[:-1]) * (values[1:] + values[:-1]))


def trapezoids_by_x(x, values):
    slabs = 0.5 * (values[1:] + values[:-1])
    return np.concatenate([[-slabs[0]], slabs[:-1] - slabs[1:], [slabs[-1]]])


def trapezoids_by_values(x, values):
    widths = 0.5 * (x[1:] - x[:-1])
    return np.concatenate([[widths[0]], widths[:-1] + widths[1:], [widths[-1]]])


def between_knots(t, values):
    """The piecewise linear function through values at 0, 1, 2, ..., at the places t."""
    k = np.floor(np.real(t)).astype(int)
    return values[k] + (t - k) * (values[k + 1] - values[k])


def between_knots_jvp(dt, dvalues, t, values):
    k = np.floor(t).astype(int)
    return (values[k + 1] - values[k]) * dt + between_knots(t, dvalues)


def between_knots_vjp(ybar, t, values):
    k = np.floor(t).astype(int)
    bars = np.zeros(values.shape)
    np.add.at(bars, k, (1 - (t - k)) * ybar)
    np.add.at(bars, k + 1, (t - k) * ybar)
    return (values[k + 1] - values[k]) * ybar, bars


def exponential_filter(x):
    """y_i = 0.9 y_{i-1} + 0.1 x_i."""
    y = [0.1 * x[0]]
    for value in x[1:]:
        y.append(0.9 * y[-1] + 0.1 * value)
    return np.stack(y)


def softened_loss(x, slopes):
    """log(1 + exp(-x·slope)) summed over rows: the loss of a logistic regression."""
    z = -(x @ slopes)
    return np.sum(np.log1p(np.exp(-z * np.sign(np.real(z)))) + np.where(np.real(z) > 0, z, 0))


RUNNING_PRODUCT = Differentiable(running_product, running_product_jvp, running_product_vjp)
SUM_OF_SINES = Differentiable(sum_of_sines, **gradients(np.cos))
SUM_OF_CUBES = Differentiable(sum_of_cubes, **gradients(lambda x: 3 * x**2))
TRAPEZOIDS = Differentiable(trapezoids, **gradients(trapezoids_by_x, trapezoids_by_values))
CONVOLUTION = Differentiable(
    lambda a, b: np.convolve(a, b),
    jvp=lambda da, db, a, b: np.convolve(da, b) + np.convolve(a, db),
    vjp=lambda ybar, a, b: (np.correlate(ybar, b, "valid"), np.correlate(ybar, a, "valid")),
)
INTERPOLATION = Differentiable(between_knots, between_knots_jvp, between_knots_vjp, real=True)
EXPONENTIAL_FILTER = Differentiable(
    exponential_filter,
    jvp=lambda dx, x: exponential_filter(dx),
    vjp=lambda ybar, x: exponential_filter(ybar[::-1])[::-1],
)
LOGISTIC_REGRESSION = Differentiable(
    softened_loss,
    **gradients(
        lambda x, slopes: -np.outer(expit(-(x @ slopes)), slopes), lambda x, slopes: -x.T @ expit(-(x @ slopes))
    ),
    real=True,
)
for name, derivative, inputs, accuracy in (
    ("a running product, single", RUNNING_PRODUCT, drawn(SINGLE, between(0.5, 1.8, 8)), 1e-5),
    ("a sum of 4000 sines, single", SUM_OF_SINES, drawn(SINGLE, gaussian(4000)), 0.0001),
    ("cubes of numbers of all magnitudes, single", SUM_OF_CUBES, drawn(SINGLE, log_uniform(1e-5, 1e5, 8)), 1e-6),
    (
        "an integral by trapezoids, single",
        TRAPEZOIDS,
        drawn(SINGLE, lambda rng: np.cumsum(rng.uniform(0.1, 1, 7)), gaussian(7)),
        1e-5,
    ),
    ("a convolution, single", CONVOLUTION, drawn(SINGLE, gaussian(7), gaussian(3)), 1e-12),
    (
        "an interpolation between knots, single",
        INTERPOLATION,
        drawn(SINGLE, lambda rng: rng.integers(0, 5, 4) + rng.uniform(0.05, 0.95, 4), gaussian(6)),
        1e-06,
    ),
    ("an exponential filter, half", EXPONENTIAL_FILTER, drawn(HALF, gaussian(6)), 2e-2),
    (
        "the loss of a logistic regression, single",
        LOGISTIC_REGRESSION,
        drawn(SINGLE, gaussian(5, 3), gaussian(3, scale=2)),
        1e-4,
    ),
):
    right(name, derivative, inputs, kind="precision", accuracy=accuracy)
