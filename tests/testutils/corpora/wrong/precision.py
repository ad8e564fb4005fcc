"""Rules that are wrong where the precision is low or the point is hard, by more than cancellation excuses.

They compute in a lower precision than their arguments have, lose a quantity to overflow that the derivative itself
does not have, guard what needs no guard, or approximate where the approximation does not hold.
"""

import functools

import numpy as np
from scipy import special

from corpora import multiprecision as mp
from corpora.corpus import BOTH, Differentiable, elementwise, elementwise_jvp, elementwise_vjp
from corpora.right import precision as accurate
from corpora.right.elementwise import expit, expit_derivative, tanh_derivative
from corpora.right.points import quietly
from corpora.right.precision import (
    DOUBLE,
    HALF,
    SINGLE,
    between,
    centred,
    close_points,
    distribution,
    drawn,
    either_side,
    gaussian,
    gradients,
    nearly_parallel,
    well_conditioned,
    with_classes,
)
from corpora.wrong.entry import wrong, wrong_slopes
from corpora.wrong.functions import SQRT, TRANSFORM, adjoint
from rulescore import NoTangent

# ------------------------------------------------------------------ arithmetic in a lower precision


def truncated_to(bits):
    """Single precision rounded to so many bits of the mantissa: 7 of bfloat16, 10 of TensorFloat-32."""
    dropped = 23 - bits

    def truncate(x):
        pattern = np.array(x, SINGLE).view(np.uint32)
        rounded = pattern + np.uint32((1 << (dropped - 1)) - 1) + ((pattern >> np.uint32(dropped)) & np.uint32(1))
        return (rounded & np.uint32(0xFFFFFFFF ^ ((1 << dropped) - 1))).view(SINGLE)

    return truncate


bfloat16 = truncated_to(7)
tensor_float = truncated_to(10)


def sum_in_half(x):
    """The sum along the first axis, rounded to half precision after each term."""
    return np.cumsum(np.asarray(x, HALF), axis=0)[-1]


def sum_in_bfloat16(x):
    """The sum along the first axis, rounded to bfloat16 after each term."""
    return functools.reduce(lambda total, term: bfloat16(total + bfloat16(term)), x, np.zeros(x.shape[1:], SINGLE))


def powers_of_ten(low, high, *shape):
    return lambda rng: 10.0 ** rng.uniform(low, high, shape)


# ================================================================== overflow within the rule


def softplus_by_exp(x):
    """exp(x) / (1 + exp(x)), whose infinity over infinity the device answers with 0."""
    e = np.exp(x)
    return np.where(np.isinf(e), 0, e / (1 + e))


wrong(
    "a softplus whose exponential overflows, and its gradient to 0",
    "precision",
    accurate.SOFTPLUS,
    drawn(SINGLE, between(90, 120, 5)),
    vjp=quietly(elementwise_vjp(softplus_by_exp)),
    error=0.9,
    source="https://github.com/tenstorrent/tt-metal/pull/56397",
)
ARCSINH = elementwise(np.arcsinh, lambda x: 1 / np.hypot(np.ones_like(x), x), real=True, twin=mp.arcsinh)
wrong(
    "an arcsinh whose square overflows",
    "precision",
    ARCSINH,
    drawn(SINGLE, powers_of_ten(20, 30, 5)),
    jvp=quietly(elementwise_jvp(lambda x: 1 / np.sqrt(1 + x**2))),
    vjp=quietly(elementwise_vjp(lambda x: 1 / np.sqrt(1 + x**2))),
    error=0.9,
    source="https://github.com/jax-ml/jax/issues/40634",
)


def large_over(x):
    return 1e20 / x


wrong(
    "a quotient whose derivative inverts the square of the divisor",
    "precision",
    elementwise(large_over, lambda x: -(large_over(x) / x)),
    drawn(SINGLE, powers_of_ten(20, 24, 2, 3)),
    vjp=quietly(elementwise_vjp(lambda x: -1e20 * (1 / (x * x)))),
    error=0.9,
    source="https://github.com/tenstorrent/tt-metal/issues/52376",
)
wrong(
    "a logistic function whose pushforward squares an exponential",
    "precision",
    accurate.LOGISTIC,
    drawn(SINGLE, between(-85, -50, 6)),
    jvp=quietly(elementwise_jvp(lambda x: np.exp(-x) / (1 + np.exp(-x)) ** 2)),
    error=0.9,
    source="https://github.com/huggingface/candle/pull/1722",
)


def firing_rate(x):
    """The surrogate of a spike: a logistic function of slope 25."""
    return 1 / (1 + np.exp(-25 * x))


wrong(
    "the surrogate of a spike below its threshold, half",
    "precision",
    elementwise(firing_rate, lambda x: 25 * firing_rate(x) * (1 - firing_rate(x))),
    drawn(HALF, between(-0.36, -0.24, 4)),
    vjp=quietly(elementwise_vjp(lambda x: np.exp(-25 * x) / (np.exp(-25 * x) + 1) ** 2 * 25)),
    error=0.9,
    source="https://github.com/jeshraghian/snntorch/pull/433",
)


def unit_vjp_by_squares(ybar, x):
    length = np.sqrt(np.sum(x * x, axis=-1, keepdims=True, dtype=x.dtype))
    y = x / length
    return (ybar - y * np.sum(y * ybar, axis=-1, keepdims=True)) / length


wrong(
    "unit vectors whose squares leave the range of half precision",
    "precision",
    accurate.UNIT,
    drawn(HALF, lambda rng: 1000 * rng.choice([-1, 1], 5) * rng.uniform(0.5, 2, 5)),
    vjp=quietly(unit_vjp_by_squares),
    error=0.9,
    source="https://github.com/keras-team/keras/pull/23093",
)


def scale_free_norm(x):
    """Zero mean and unit variance along the last axis, of numbers of any magnitude."""
    return accurate.standardised(x / accurate.maximum_of(np.abs(np.real(x))), -1, 0.0)[0]


def scale_free_norm_derivative(dx, x):
    largest = accurate.maximum_of(np.abs(x))
    return accurate.standardised_derivative(dx, x / largest, -1, 0.0) / largest


SCALE_FREE_NORM = Differentiable(scale_free_norm, **accurate.symmetric_jacobian(scale_free_norm_derivative), real=True)
wrong(
    "a layer norm of numbers of 1e25, whose variance overflows",
    "precision",
    SCALE_FREE_NORM,
    drawn(SINGLE, gaussian(2, 6, scale=1e25)),
    vjp=quietly(lambda ybar, x: accurate.standardised_derivative(ybar, x, -1, 0.0)),
    error=0.9,
    source="https://github.com/pytorch/pytorch/pull/178123",
)
wrong(
    "arctan2 whose squares overflow in half precision",
    "precision",
    accurate.ARCTAN2,
    drawn(HALF, either_side(190, 250, 4), between(190, 250, 4)),
    vjp=quietly(elementwise_vjp(lambda y, x: x * (1 / (x * x + y * y)), lambda y, x: -y * (1 / (x * x + y * y)))),
    error=0.9,
    source="https://github.com/pytorch/pytorch/issues/193040",
)
MEAN = Differentiable(lambda x: np.mean(x), **gradients(lambda x: np.full(x.shape, 1 / x.size)))
wrong(
    "a mean that counts its terms in half precision, up to 65504",
    "precision",
    MEAN,
    drawn(HALF, between(0.5, 1.5, 70_000)),
    vjp=quietly(lambda ybar, x: np.ones(x.shape) * ybar / np.float64(np.float16(x.size))),
    error=0.9,
    source="https://github.com/tinygrad/tinygrad/issues/12296",
)

# ================================================================== guards, clamps and thresholds


def loss_of_probabilities(p, target):
    return -(target * np.log(p) + (1 - target) * np.log1p(-p))


PROBABILITY_LOSS = elementwise(
    loss_of_probabilities, lambda p, target: (p - target) / (p * (1 - p)), lambda p, target: np.log1p(-p) - np.log(p)
)
wrong(
    "a cross entropy of probabilities that divides by at least 1e-12",
    "precision",
    PROBABILITY_LOSS,
    drawn(DOUBLE, powers_of_ten(-18, -13, 5), between(0.2, 0.8, 5)),
    vjp=elementwise_vjp(
        lambda p, target: (p - target) / np.maximum(p * (1 - p), 1e-12), lambda p, target: np.log1p(-p) - np.log(p)
    ),
    argument=0,
    error=0.5,
    source="https://github.com/pytorch/pytorch/issues/103316",
)
NEGATIVE_LOG = elementwise(lambda p: -np.log(p), lambda p: -1 / p)
wrong(
    "a log-likelihood whose probability is clipped at 1e-7, in the gradient",
    "precision",
    NEGATIVE_LOG,
    drawn(SINGLE, powers_of_ten(-12, -9, 2, 2)),
    vjp=elementwise_vjp(lambda p: np.where(p < 1e-7, 0, -1 / p)),
    error=0.9,
    source="https://github.com/keras-team/keras/issues/9664",
)
wrong(
    "a square root whose gradient is taken at x + 0.001",
    "precision",
    SQRT,
    drawn(DOUBLE, powers_of_ten(-4, -2, 6)),
    vjp=elementwise_vjp(lambda x: 0.5 / np.sqrt(x + 0.001)),
    error=0.1,
    source="https://github.com/deel-ai/deel-lip/pull/11",
)


def guarded_unit(x):
    """x / (‖x‖ + 1e-5)."""
    return x / (np.sqrt(np.sum(x * x)) + 1e-5)


def guarded_unit_derivative(dx, x):
    length = np.sqrt(np.sum(x * x))
    u = x / length
    return (dx - u * np.sum(u * dx) * (length / (length + 1e-5))) / (length + 1e-5)


def guarded_unit_by_output(dx, x):
    y = guarded_unit(x)
    return (dx - y * np.sum(y * dx)) / (np.sqrt(np.sum(x * x)) + 1e-5)


GUARDED_UNIT = Differentiable(guarded_unit, **accurate.symmetric_jacobian(guarded_unit_derivative), real=True)
wrong(
    "a normalised vector that takes its guarded output for a unit vector",
    "precision",
    GUARDED_UNIT,
    drawn(SINGLE, gaussian(5, scale=3e-5)),
    vjp=guarded_unit_by_output,
    error=4e-5,
    source="https://github.com/chainer/chainer/pull/4190",
)


STEADY_LOGISTIC = elementwise(expit, expit_derivative)
STEADY_TANH = elementwise(np.tanh, tanh_derivative, real=True, twin=mp.tanh)


def bernoulli_likelihood(theta, signs):
    """log σ(s θ), of signs 1 and -1."""
    return -accurate.softplus(-signs * theta)


def likelihood_beyond_cutoff(theta, signs):
    """The sign is forgotten above the cutoff."""
    return np.where(signs * theta > 20, -np.exp(-signs * theta), signs * expit(-signs * theta))


BERNOULLI_LIKELIHOOD = elementwise(
    bernoulli_likelihood,
    lambda theta, signs: signs * expit(-signs * theta),
    None,
    real=True,
    twin=lambda theta, signs: -mp.log(1 + mp.exp(-signs * theta)),
)
wrong(
    "the likelihood of a sure event, whose sign is lost above a cutoff",
    "precision",
    BERNOULLI_LIKELIHOOD,
    lambda rng: ((rng.uniform(21, 30, 5), np.ones(5, int)), {}),
    jvp=elementwise_jvp(likelihood_beyond_cutoff, None),
    vjp=elementwise_vjp(likelihood_beyond_cutoff, None),
    argument=0,
    error=1.9,
    source="https://github.com/stan-dev/math/pull/3370",
)
for name, right, inputs, partial, modes, error in (
    (
        "a logistic function whose derivative is at least 1/1000",
        STEADY_LOGISTIC,
        drawn(SINGLE, either_side(8, 12, 6)),
        lambda x: np.maximum(accurate.logistic_by_output(x), 1e-3),
        BOTH,
        0.5,
    ),
    (
        "a logarithm whose derivative is 1 / (x + 1e-6)",
        accurate.LOG,
        drawn(SINGLE, between(5e-4, 2e-3, 5)),
        lambda x: 1 / (x + 1e-6),
        ("rrule",),
        4e-4,
    ),
    (
        "the error function with no slope beyond 3",
        accurate.ERF,
        drawn(SINGLE, either_side(3.05, 3.6, 5)),
        lambda x: np.where(np.abs(x) > 3, 0, accurate.inverse_square_root_of_pi(x) * np.exp(-(x**2))),
        ("frule",),
        0.9,
    ),
    (
        "log cosh with slope 1 beyond 2.9",
        accurate.LOG_COSH,
        drawn(SINGLE, either_side(3, 4, 2, 3)),
        lambda x: np.where(np.abs(x) > 2.9, np.sign(x), np.tanh(x)),
        BOTH,
        6e-4,
    ),
    (
        "a softplus with slope 1 beyond 5",
        accurate.SOFTPLUS,
        drawn(DOUBLE, between(5, 8, 5)),
        lambda x: np.where(x > 5, 1.0, -np.expm1(-accurate.softplus(x))),
        ("rrule",),
        3e-4,
    ),
    (
        "the tail of a Gaussian whose slope is at least 1e-7",
        accurate.GAUSSIAN_TAIL,
        drawn(SINGLE, between(5.7, 7, 5)),
        lambda x: -np.maximum(accurate.gaussian_density(x), 1e-7),
        ("frule",),
        1.0,
    ),
    (
        "artanh whose denominator is at least 1e-6",
        accurate.ARTANH,
        drawn(DOUBLE, lambda rng: rng.choice([-1, 1], 5) * (1 - 10.0 ** rng.uniform(-9, -7, 5))),
        lambda x: 1 / np.maximum((1 - x) * (1 + x), 1e-6),
        ("rrule",),
        0.5,
    ),
    (
        "SiLU as if it were 0 below -6",
        accurate.SILU,
        drawn(SINGLE, between(-10, -6.1, 5)),
        lambda x: np.where(x < -6, 0, accurate.silu_derivative(x)),
        ("rrule",),
        0.9,
    ),
    (
        "a saturated tanh with the square left out",
        STEADY_TANH,
        drawn(DOUBLE, either_side(4, 8, 5)),
        lambda x: 1 - np.abs(np.tanh(x)),
        BOTH,
        0.4,
    ),
):
    wrong_slopes(
        name,
        "precision",
        right,
        inputs,
        (partial,),
        modes,
        error=error,
    )


def length_gradient_with_guard(x):
    return x / (accurate.length(x) + np.asarray(1e-2, x.dtype))


def distances_vjp_with_guard(ybar, a, b):
    units = (a[:, None] - b[None]) / (accurate.distances(a, b) + np.float32(1e-3))[..., None]
    return np.sum(units * ybar[..., None], axis=1), -np.sum(units * ybar[..., None], axis=0)


wrong(
    "a length with 1/100 added to the denominator of its gradient",
    "precision",
    accurate.LENGTH,
    drawn(SINGLE, gaussian(6)),
    **gradients(length_gradient_with_guard),
    error=2e-3,
)
wrong(
    "distances of close points with 1/1000 added to the denominators",
    "precision",
    accurate.DISTANCES,
    close_points(SINGLE, 2, 3, 3e-2),
    vjp=distances_vjp_with_guard,
    error=5e-3,
)
wrong(
    "a logsumexp that drops probabilities below 1/1000",
    "precision",
    accurate.LOGSUMEXP,
    drawn(DOUBLE, lambda rng: np.array([0.0, -8.0, -1.0, -7.5]) + 0.3 * rng.standard_normal((3, 4))),
    vjp=lambda ybar, x: np.where(accurate.softmax(x) < 1e-3, 0, accurate.softmax(x)) * ybar[..., None],
    error=5e-5,
)

# ================================================================== a lower precision within the rule


def logsumexp_by_half_sum(x):
    """Probabilities whose denominator is summed in half precision, in which it sticks at 2048."""
    e = np.exp(x - np.max(x))
    return e / sum_in_half(e)


LONG_LOGSUMEXP = Differentiable(
    lambda x: accurate.logsumexp(x), **gradients(lambda x: accurate.softmax(np.asarray(x, float))), real=True
)
wrong(
    "a logsumexp of 5000 halves, whose probabilities do not sum to 1",
    "precision",
    LONG_LOGSUMEXP,
    drawn(HALF, gaussian(5000, mean=8, scale=0.05)),
    vjp=gradients(logsumexp_by_half_sum)["vjp"],
    error=0.5,
    source="https://github.com/huggingface/candle/issues/3727",
)
ROWS_NORM = Differentiable(accurate.rms_norm, accurate.rms_norm_jvp, accurate.rms_norm_vjp)


def rms_norm_vjp_with_bfloat16_weights(ybar, x, weight):
    xbar, _ = accurate.rms_norm_vjp(ybar, x, weight)
    y = x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True))
    return xbar, sum_in_bfloat16(y * np.asarray(ybar, SINGLE))


wrong(
    "weights of a norm whose cotangent is summed over the rows in bfloat16",
    "precision",
    ROWS_NORM,
    drawn(SINGLE, gaussian(40, 4), gaussian(4)),
    vjp=rms_norm_vjp_with_bfloat16_weights,
    argument=1,
    error=1e-3,
    source="https://github.com/linkedin/Liger-Kernel/pull/950",
)


@quietly
def rotary_with_half_angles(x, positions):
    """Frequencies and positions are halves, and so are the angles."""
    half = x.shape[-1] // 2
    angles = positions[:, None].astype(HALF) * (10000.0 ** (-np.arange(half) / half)).astype(HALF)
    cosine, sine = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * cosine - b * sine, a * sine + b * cosine], axis=-1)


wrong(
    "a rotary embedding whose table of angles is of half precision",
    "precision",
    accurate.ROTARY,
    lambda rng: ((np.asarray(rng.standard_normal((4, 8)), SINGLE), rng.integers(1100, 2047, 4)), {}),
    jvp=lambda dx, _, x, positions: rotary_with_half_angles(np.asarray(dx, x.dtype), positions),
    vjp=lambda ybar, x, positions: (rotary_with_half_angles(np.asarray(ybar, x.dtype), -positions), NoTangent()),
    argument=0,
    error=3e-3,
    source="https://github.com/EleutherAI/gpt-neox/issues/1003",
)


def gelu_derivative_in_single(x):
    x = np.asarray(x, SINGLE)
    cdf = 0.5 + 0.5 * special.erf(np.float32(0.7071067811) * x)
    return cdf + np.float32(0.3989422803) * x * np.exp(-0.5 * x * x)


def gelu_by_tanh_with_short_constants(x):
    t = np.tanh(0.797885 * x + 0.0356774 * x**3)
    return 0.5 + (0.398942 * x + 0.0535161 * x**3) * (1 - t**2) + 0.5 * t


wrong(
    "GELU of doubles, with its gradient in single precision",
    "precision",
    accurate.GELU,
    drawn(DOUBLE, gaussian(6, scale=1.5)),
    vjp=elementwise_vjp(gelu_derivative_in_single),
    error=5e-9,
    source="https://github.com/flagos-ai/FlagGems/pull/159",
)
wrong(
    "GELU by tanh with constants of six digits",
    "precision",
    accurate.GELU_BY_TANH,
    drawn(DOUBLE, either_side(0.3, 2, 5)),
    vjp=elementwise_vjp(gelu_by_tanh_with_short_constants),
    error=5e-8,
    source="https://github.com/huggingface/candle/pull/1160",
)


def sine_of_half_turns(x):
    return np.sin(np.pi * x)


SINGLE_PI = float(np.float32(np.pi))
wrong(
    "sin(πx) of doubles with π of single precision",
    "precision",
    elementwise(sine_of_half_turns, lambda x: np.pi * np.cos(np.pi * x)),
    drawn(DOUBLE, gaussian(5, scale=3)),
    jvp=elementwise_jvp(lambda x: SINGLE_PI * np.cos(SINGLE_PI * x)),
    vjp=elementwise_vjp(lambda x: SINGLE_PI * np.cos(SINGLE_PI * x)),
    error=2e-8,
    source="https://github.com/NVIDIA/warp/issues/485",
)
VARIANCE_OF_HALVES = Differentiable(
    accurate.variance, **gradients(lambda x: 2 * centred(np.asarray(x, np.result_type(x, 1.0))) / x.size)
)
wrong(
    "a variance of 4000 halves, whose mean is summed in half precision",
    "precision",
    VARIANCE_OF_HALVES,
    drawn(HALF, gaussian(4000, mean=1.5, scale=0.5)),
    vjp=gradients(lambda x: 2 * (x - np.float32(sum_in_half(x)) / x.size) / x.size)["vjp"],
    error=0.1,
    source="https://github.com/ml-explore/mlx/pull/3909",
)


def mean_square_error(predicted, target):
    return np.mean((predicted - target) ** 2)


def error_in_single(predicted, target):
    return 2 * (np.asarray(predicted, SINGLE) - np.asarray(target, SINGLE)) / predicted.size


MEAN_SQUARE_ERROR = Differentiable(
    mean_square_error,
    **gradients(lambda p, t: 2 * (p - t) / p.size, lambda p, t: -2 * (p - t) / p.size),
)
wrong(
    "a mean square error that rounds doubles to single precision",
    "precision",
    MEAN_SQUARE_ERROR,
    lambda rng: ((lambda target: (target + 1e-2 * rng.standard_normal(6), target))(rng.standard_normal(6)), {}),
    **gradients(error_in_single, lambda p, t: -error_in_single(p, t)),
    error=1e-7,
    source="https://github.com/keras-team/keras/issues/15791",
)


def inverse_vjp_in_tensor_floats(ybar, a):
    y_h = tensor_float(adjoint(np.linalg.inv(a)))
    return -tensor_float(y_h @ tensor_float(ybar)) @ y_h


wrong(
    "an inverse whose pullback multiplies in TensorFloat-32",
    "precision",
    accurate.INVERSE,
    well_conditioned(SINGLE, 5),
    vjp=inverse_vjp_in_tensor_floats,
    error=5e-5,
    source="https://github.com/pytorch/pytorch/issues/68020",
)
wrong(
    "a matrix times a vector, differentiated in bfloat16",
    "precision",
    TRANSFORM,
    drawn(SINGLE, gaussian(4, 6), gaussian(6)),
    jvp=lambda da, dx, a, x: bfloat16(da) @ bfloat16(x) + bfloat16(a) @ bfloat16(dx),
    vjp=lambda ybar, a, x: (np.outer(bfloat16(ybar), bfloat16(x)), adjoint(bfloat16(a)) @ bfloat16(ybar)),
    error=3e-4,
    source="https://github.com/jax-ml/jax/issues/11069",
)

NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)


def integral_over(x):
    """The integral from -1 to 1 of a function with the values x at Gauss' nodes."""
    return WEIGHTS @ x


wrong(
    "a quadrature of doubles with a table of weights in single precision",
    "precision",
    Differentiable(integral_over, **gradients(lambda x: WEIGHTS)),
    drawn(DOUBLE, gaussian(8)),
    **gradients(lambda x: WEIGHTS.astype(SINGLE)),
    error=5e-10,
)
wrong(
    "the error function with its slope at numbers of bfloat16",
    "precision",
    accurate.ERF,
    drawn(SINGLE, gaussian(6)),
    vjp=elementwise_vjp(lambda x: accurate.inverse_square_root_of_pi(x) * np.exp(-(bfloat16(x) ** 2))),
    error=1e-4,
)
wrong(
    "a convolution of doubles whose filter gets its cotangent in single precision",
    "precision",
    accurate.CONVOLUTION,
    drawn(DOUBLE, gaussian(9), gaussian(4)),
    vjp=lambda ybar, a, b: (
        np.correlate(ybar, b, "valid"),
        np.correlate(np.asarray(ybar, SINGLE), np.asarray(a, SINGLE), "valid"),
    ),
    argument=1,
    error=5e-9,
)
wrong(
    "a variance that subtracts a mean of half precision",
    "precision",
    accurate.VARIANCE,
    drawn(SINGLE, gaussian(7, mean=300)),
    **gradients(lambda x: 2 * (x - np.mean(x).astype(HALF)) / x.size),
    error=8e-5,
)
wrong(
    "a running product whose ratios are of bfloat16",
    "precision",
    accurate.RUNNING_PRODUCT,
    drawn(SINGLE, between(0.5, 1.8, 8)),
    jvp=lambda dx, x: np.cumprod(x) * np.cumsum(bfloat16(dx / x)),
    error=1e-4,
)
wrong(
    "an interpolation whose weights are of half precision",
    "precision",
    accurate.INTERPOLATION,
    drawn(SINGLE, lambda rng: rng.integers(0, 5, 4) + rng.uniform(0.05, 0.95, 4), gaussian(6)),
    vjp=lambda ybar, t, values: (
        accurate.between_knots_vjp(ybar, t, values)[0],
        accurate.between_knots_vjp(ybar, np.asarray(t, HALF).astype(SINGLE), values)[1],
    ),
    argument=1,
    error=2e-5,
)
wrong(
    "a linear system solved with a matrix of half precision, in the pullback",
    "precision",
    accurate.SOLVE,
    well_conditioned(SINGLE, 4, gaussian(4)),
    vjp=lambda ybar, a, b: (lambda bbar: (-np.outer(bbar, np.conj(accurate.solved(a, b))), bbar))(
        accurate.solved(adjoint(a).astype(HALF).astype(SINGLE), np.asarray(ybar, SINGLE))
    ),
    error=3e-5,
)

# ================================================================== approximations and formulas that cancel


def normal_log_probability(x):
    return special.log_ndtr(x)


def normal_hazard(x):
    """φ(x) / Φ(x) by Abramowitz and Stegun 7.1.26, whose absolute error is 1.5e-7."""
    t = 1 / (1 + 0.3275911 * (-x * np.sqrt(0.5)))
    scaled = t * np.polyval([1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592], t)
    return np.sqrt(2 / np.pi) / scaled


LOG_NDTR = elementwise(
    normal_log_probability,
    lambda x: np.sqrt(2 / np.pi) / special.erfcx(-x * np.sqrt(0.5)),
    real=True,
    twin=lambda x: mp.log((1 + mp.erf(x / mp.sqrt(2))) / 2),
)
wrong(
    "the logarithm of a normal distribution with a gradient of six digits",
    "precision",
    LOG_NDTR,
    drawn(DOUBLE, between(-6, -1, 6)),
    vjp=elementwise_vjp(normal_hazard),
    error=1e-7,
    source="https://github.com/stan-dev/math/pull/3406",
)


def i0_of_twelve_terms(x):
    return sum((x / 2) ** (2 * k) / special.factorial(k) ** 2 for k in range(12))


BESSEL_I1 = elementwise(
    special.i1,
    lambda x: special.i0(x) - special.i1(x) / x,
    real=True,
    twin=lambda x: mp.besseli(1, x),
)
wrong(
    "the derivative of a Bessel function, I0 - I1/x, with I0 of twelve terms",
    "precision",
    BESSEL_I1,
    drawn(DOUBLE, between(15, 24, 5)),
    vjp=elementwise_vjp(lambda x: i0_of_twelve_terms(x) - special.i1(x) / x),
    error=1e-2,
    source="https://github.com/tenstorrent/tt-metal/issues/50465",
)


def silu_derivative_by_complement(x):
    s = np.where(x < 0, 1 - expit(-x), expit(x))
    return s * (1 + x * (1 - s))


wrong(
    "SiLU of negative numbers by 1 - σ(-x)",
    "precision",
    accurate.SILU,
    drawn(SINGLE, between(-15, -11, 6)),
    vjp=elementwise_vjp(silu_derivative_by_complement),
    error=1e-4,
    source="https://github.com/skyzh/tiny-llm/pull/164",
)


def real_part_of_rotation(w):
    """cos(‖w‖/2), the real part of the quaternion of a rotation vector."""
    return np.cos(np.sqrt(np.sum(w * w)) / 2)


def real_part_gradient(w):
    angle = np.sqrt(np.sum(w * w))
    return -np.sin(angle / 2) / (2 * angle) * w


wrong(
    "the quaternion of a small rotation with a series of the whole angle in the place of the half",
    "precision",
    Differentiable(real_part_of_rotation, **gradients(real_part_gradient)),
    drawn(DOUBLE, gaussian(3, scale=1e-4)),
    **gradients(lambda w: -w if np.sum(w * w) < 1e-6 else real_part_gradient(w)),
    error=1.0,
    source="https://github.com/strasdat/Sophus/issues/108",
)


def log_of_complement(x):
    """log(1 - exp(x)), of negative x."""
    return np.log(-np.expm1(x))


wrong(
    "log(1 - exp x) near 0, with 1 - exp x in its gradient",
    "precision",
    elementwise(log_of_complement, lambda x: -1 / np.expm1(-x), real=True, twin=lambda x: mp.log(1 - mp.exp(x))),
    drawn(SINGLE, lambda rng: -(10.0 ** rng.uniform(-6, -5, 6))),
    vjp=elementwise_vjp(lambda x: -np.exp(x) / (1 - np.exp(x))),
    error=1e-3,
    source="https://github.com/aesara-devs/aesara/pull/725",
)


def batch_norm_vjp_by_moments(ybar, x):
    """The variance as E[x²] - E[x]²."""
    mean = np.mean(x, axis=0)
    spread = np.maximum(np.mean(x * x, axis=0) - mean * mean, 0)
    scale = np.sqrt(spread + 1e-5)
    y = (x - mean) / scale
    return (ybar - np.mean(ybar, axis=0) - y * np.mean(y * ybar, axis=0)) / scale


wrong(
    "a batch norm of a large mean, by E[x²] - E[x]²",
    "precision",
    accurate.BATCH_NORM,
    drawn(SINGLE, gaussian(9, 4, mean=300, scale=0.3)),
    vjp=batch_norm_vjp_by_moments,
    error=1e-3,
    source="https://github.com/tenstorrent/tt-metal/issues/45968",
)


def distances_vjp_by_products(ybar, a, b):
    """The squares of the distances as |a|² + |b|² - 2 a·b."""
    squares = np.sum(a * a, axis=1)[:, None] + np.sum(b * b, axis=1)[None] - 2 * (a @ b.T)
    units = (a[:, None] - b[None]) / np.sqrt(np.maximum(squares, 1e-12))[..., None]
    return np.sum(units * ybar[..., None], axis=1), -np.sum(units * ybar[..., None], axis=0)


wrong(
    "distances of close points by their scalar products",
    "precision",
    accurate.DISTANCES,
    close_points(SINGLE, 3, 4, 5e-2),
    vjp=distances_vjp_by_products,
    error=2e-4,
    source="https://github.com/pytorch/pytorch/issues/37734",
)
for name, right, inputs, partial, modes, error in (
    (
        "a half circle near its end with 1e-6 under the root",
        accurate.HALF_CIRCLE,
        drawn(SINGLE, lambda rng: rng.choice([-1, 1], 6) * (1 - 10.0 ** rng.uniform(-5, -4, 6))),
        lambda x: -x / np.sqrt((1 - x) * (1 + x) + np.float32(1e-6)),
        BOTH,
        1e-3,
    ),
    (
        "expm1 with slope 1 near 0",
        accurate.EXPM1,
        drawn(SINGLE, either_side(2e-3, 9e-3, 5)),
        lambda x: np.where(np.abs(x) < 1e-2, 1.0, np.exp(x)),
        ("rrule",),
        2e-3,
    ),
    (
        "sin(x)/x with a wrong coefficient in its series",
        accurate.SINC,
        drawn(DOUBLE, either_side(0.1, 0.4, 5)),
        lambda x: -x / 3 * (1 - x**2 / 5),
        BOTH,
        1e-3,
    ),
    (
        "x - sin x by the first term of its series",
        accurate.X_MINUS_SINE,
        drawn(SINGLE, either_side(0.1, 0.3, 5)),
        lambda x: x**2 / 2,
        ("frule",),
        1e-3,
    ),
    (
        "the density of a Gaussian with 0.3985",
        accurate.GAUSSIAN_TAIL,
        drawn(SINGLE, gaussian(2, 3)),
        lambda x: np.float32(-0.3985) * np.exp(-0.5 * x**2),
        BOTH,
        1e-3,
    ),
    (
        "x / (exp(x) - 1) with slope -1/2 near 0",
        accurate.BERNOULLI,
        drawn(DOUBLE, either_side(0.03, 0.09, 5)),
        lambda x: np.where(np.abs(x) < 0.1, -0.5, accurate.bernoulli_derivative(x)),
        ("rrule",),
        5e-3,
    ),
    (
        "coth x - 1/x with a wrong coefficient in its series",
        accurate.LANGEVIN,
        drawn(DOUBLE, either_side(0.3, 0.6, 5)),
        lambda x: 1 / 3 - x**2 / 5,
        BOTH,
        1e-2,
    ),
):
    wrong_slopes(
        name,
        "precision",
        right,
        inputs,
        (partial,),
        modes,
        error=error,
    )

# ================================================================== terms and factors, in single and half precision


def cosine_gradient_without_projection(a, b):
    u, v = accurate.unit(a), accurate.unit(b)
    return (v - u) / np.sum(u * a)


def smoothed_cross_entropy_gradient(logits, classes):
    """The gradient for labels smoothed by 1/100."""
    return accurate.cross_entropy_gradient(logits, classes) + np.float32(1e-2) * (
        np.eye(logits.shape[1], dtype=SINGLE)[classes] - np.float32(1 / logits.shape[1])
    )


def focal_loss_gradient_without_log(logits, classes):
    log_p = accurate.log_softmax(logits)[np.arange(len(classes)), classes]
    by_log_p = -((1 - np.exp(log_p)) ** 2) / len(classes)
    return by_log_p[:, None] * (np.eye(logits.shape[1], dtype=SINGLE)[classes] - accurate.softmax(logits))


def layer_norm_derivative_of_n_minus_1(dx, x):
    y, scale = accurate.standardised(x, -1, 1e-5)
    n = x.shape[-1]
    return (centred(dx) - y * np.sum(y * dx, axis=-1, keepdims=True) / (n - 1)) / scale


def layer_norm_derivative_without_output(dx, x):
    return centred(dx) / accurate.standardised(x, -1, 1e-5)[1]


def rms_norm_vjp_with_guard(ybar, x, weight):
    """1/1000 is added to the mean square, in the derivative only."""
    scale = np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + np.float32(1e-3))
    y = x / scale
    inner = ybar * weight
    return (inner - y * np.mean(y * inner, axis=-1, keepdims=True)) / scale, accurate.rms_norm_vjp(ybar, x, weight)[1]


def hausdorff_bars_of_equal_sharpness(a, b):
    return accurate.distances_vjp(accurate.softmax(-accurate.distances(a, b)) / len(a), a, b)


def exponential_filter_vjp_with_slow_decay(ybar, x):
    """The filter runs back with a decay of 0.99 in the place of 0.9."""
    bars = [0.1 * ybar[-1]]
    for bar in ybar[-2::-1]:
        bars.insert(0, 0.99 * bars[0] + 0.1 * bar)
    return np.stack(bars)


for name, right, inputs, rules, facts in (
    (
        "the cosine of nearly parallel vectors with the second one not projected",
        accurate.COSINE,
        nearly_parallel(DOUBLE, 6, 0.2),
        gradients(cosine_gradient_without_projection, lambda a, b: cosine_gradient_without_projection(b, a)),
        {"error": 1e-3},
    ),
    (
        "a cross entropy whose gradient is of smoothed labels",
        accurate.CROSS_ENTROPY,
        with_classes(SINGLE, 4, 5, 3.0),
        gradients(smoothed_cross_entropy_gradient, None),
        {"error": 2e-3, "argument": 0},
    ),
    (
        "a focal loss whose factor is taken for a constant",
        accurate.FOCAL_LOSS,
        with_classes(SINGLE, 5, 3, 2.0),
        gradients(focal_loss_gradient_without_log, None),
        {"error": 5e-3, "argument": 0},
    ),
    (
        "a layer norm whose output's share is divided by n - 1",
        accurate.LAYER_NORM,
        drawn(SINGLE, gaussian(2, 8)),
        accurate.symmetric_jacobian(layer_norm_derivative_of_n_minus_1),
        {"error": 3e-3},
    ),
    (
        "a layer norm that takes the deviation for a constant",
        accurate.LAYER_NORM,
        drawn(SINGLE, gaussian(2, 5)),
        accurate.symmetric_jacobian(layer_norm_derivative_without_output),
        {"error": 0.05},
    ),
    (
        "a root-mean-square norm guarded in its derivative only",
        ROWS_NORM,
        drawn(SINGLE, gaussian(3, 6), gaussian(6)),
        {"vjp": rms_norm_vjp_with_guard},
        {"error": 1e-4, "argument": 0},
    ),
    (
        "a divergence of near distributions without its constant term",
        accurate.DIVERGENCE,
        lambda rng: (
            (lambda p: (np.float32(p), np.float32(p * (1 + 1e-2 * rng.standard_normal(6)))))(distribution(6)(rng)),
            {},
        ),
        gradients(lambda p, q: np.log(p / q), lambda p, q: -p / q),
        {"error": 0.9, "argument": 0},
    ),
    (
        "a smooth Hausdorff distance whose weights are not sharpened",
        accurate.SOFT_HAUSDORFF,
        drawn(SINGLE, gaussian(3, 2), gaussian(4, 2)),
        gradients(
            lambda a, b: hausdorff_bars_of_equal_sharpness(a, b)[0],
            lambda a, b: hausdorff_bars_of_equal_sharpness(a, b)[1],
        ),
        {"error": 3e-2},
    ),
    (
        "a rotary embedding of halves rotated on in the pullback",
        accurate.ROTARY,
        lambda rng: ((np.asarray(rng.standard_normal((3, 6)), HALF), rng.integers(1, 2048, 3)), {}),
        {"vjp": lambda ybar, x, positions: (accurate.rotary(np.asarray(ybar, x.dtype), positions), NoTangent())},
        {"error": 0.3, "argument": 0},
    ),
    (
        "an exponential filter pulled back with 0.99",
        accurate.EXPONENTIAL_FILTER,
        drawn(SINGLE, gaussian(8)),
        {"vjp": exponential_filter_vjp_with_slow_decay},
        {"error": 5e-2},
    ),
    (
        "an integral by trapezoids whose last weight is not halved",
        accurate.TRAPEZOIDS,
        drawn(SINGLE, lambda rng: np.cumsum(rng.uniform(0.1, 1, 7)), gaussian(7)),
        gradients(
            accurate.trapezoids_by_x,
            lambda x, values: (
                accurate.trapezoids_by_values(x, values) + np.where(np.arange(7) == 6, 0.5 * (x[-1] - x[-2]), 0)
            ),
        ),
        {"error": 2e-4, "argument": 1},
    ),
):
    wrong(name, "precision", right, inputs, **rules, **facts)
