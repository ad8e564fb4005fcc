"""Rules that are right at ordinary inputs and wrong at points that nobody writes down.

Such points have another sign or magnitude, a zero or two equal entries, an index twice or from the end, or their array
lies in memory in another order. `revealed_by` goes to one of them; the truth is the limit where a formula has none.
"""

import mpmath
import numpy as np
from scipy import special

from corpora import multiprecision as mp
from corpora.corpus import (
    BOTH,
    Differentiable,
    elementwise,
    elementwise_jvp,
    elementwise_vjp,
    normal,
    positive,
    uniform,
)
from corpora.right.linear_algebra import DET
from corpora.right.points import quietly, separated, sinc_of_half_turns_derivative
from corpora.right.precision import LOGSUMEXP, gradients, softmax
from corpora.right.reductions import CUMPROD, PROD, products_of_others
from corpora.wrong.entry import wrong, wrong_slopes
from corpora.wrong.functions import COSINE, EXP, PLACES, ROWS, SINE, SOFTPLUS, SQUARE, VARIANCE, logistic
from rulescore import NoTangent

# ------------------------------------------------------------------ where the mistakes show


def times(factor):
    """The first argument scaled."""
    return lambda x, *others: (factor * x, *others)


def with_zero(*position):
    """One entry, or one row, of the first argument is zero."""

    def varied(x, *others):
        x = np.array(x, copy=True)
        x[position] = 0
        return x, *others

    return varied


def with_equal(first, second):
    """Two entries, or two rows, of the first argument are equal."""

    def varied(x, *others):
        x = np.array(x, copy=True)
        x[second] = x[first]
        return x, *others

    return varied


def all_zero(*args):
    return tuple(np.zeros_like(x) for x in args)


def in_fortran_order(*args):
    return tuple(np.asfortranarray(x) for x in args)


def reversed_in_memory(x):
    """The same numbers, from the end of their memory to its beginning."""
    return (np.flip(np.flip(x).copy()),)


# ================================================================== exactly zero


def product_by_division(ybar, x):
    return np.prod(x) / x * ybar


def row_products(x):
    return np.prod(x, axis=1)


def others_in_rows(x):
    return np.array([products_of_others(row) for row in x])


ROW_PRODUCTS = Differentiable(
    row_products,
    jvp=lambda dx, x: np.sum(others_in_rows(x) * dx, axis=1),
    vjp=lambda ybar, x: others_in_rows(x) * ybar[:, None],
    real=True,
)
wrong(
    "a product divided by its factor, which is zero",
    "point",
    PROD,
    normal(5),
    vjp=quietly(product_by_division),
    revealed_by=with_zero(2),
    made_up=True,
    source="https://github.com/pytorch/pytorch/issues/773",
)
wrong(
    "products of rows divided by their factors, one of which is zero",
    "point",
    ROW_PRODUCTS,
    normal((2, 3)),
    jvp=quietly(lambda dx, x: np.sum(row_products(x)[:, None] / x * dx, axis=1)),
    vjp=quietly(lambda ybar, x: row_products(x)[:, None] / x * ybar[:, None]),
    revealed_by=with_zero(0, 1),
    made_up=True,
    source="https://github.com/apache/mxnet/issues/18078",
)
wrong(
    "a running product divided by its factors, one of which is zero",
    "point",
    CUMPROD,
    positive(5),
    vjp=quietly(lambda ybar, x: np.cumsum((ybar * np.cumprod(x))[::-1])[::-1] / x),
    revealed_by=with_zero(1),
    made_up=True,
    source="https://github.com/tensorflow/tensorflow/issues/3862",
)


def cubed(x):
    return x**3


def squared_length(x):
    return np.sum(x * x)


def length(x):
    return np.sqrt(np.sum(x * x))


def radial_bell(x):
    """exp(-‖x‖²)."""
    return np.exp(-np.sum(x * x))


wrong(
    "a cube whose derivative is 3 y / x",
    "point",
    elementwise(cubed, lambda x: 3 * x**2, real=True, twin=cubed),
    normal(4),
    jvp=quietly(elementwise_jvp(lambda x: 3 * x**3 / x)),
    vjp=quietly(elementwise_vjp(lambda x: 3 * x**3 / x)),
    revealed_by=with_zero(3),
    made_up=True,
    source="https://github.com/torch/DEPRECEATED-torch7-distro/issues/60",
)
wrong(
    "a squared length by the derivative of the length, at 0",
    "point",
    Differentiable(squared_length, **gradients(lambda x: 2 * x), real=True, twin=squared_length),
    normal(4),
    vjp=quietly(gradients(lambda x: 2 * length(x) * (x / length(x)))["vjp"]),
    revealed_by=all_zero,
    source="https://github.com/jax-ml/jax/issues/4177",
)
wrong(
    "a bell around 0 by the derivative of the length, at 0",
    "point",
    Differentiable(
        radial_bell,
        **gradients(lambda x: -2 * x * radial_bell(x)),
        real=True,
        twin=lambda x: mp.exp(-np.sum(x * x)),
    ),
    uniform(-1, 1, (2, 1)),
    **{
        name: quietly(rule)
        for name, rule in gradients(lambda x: -2 * length(x) * radial_bell(x) * (x / length(x))).items()
    },
    revealed_by=all_zero,
    source="https://github.com/HIPS/autograd/issues/183",
)


def sinc_derivative_by_formula(x):
    """(πx cos πx - sin πx) / (πx²)."""
    return (np.pi * x * np.cos(np.pi * x) - np.sin(np.pi * x)) / (np.pi * x * x)


def whole_powers(x, exponents):
    return x**exponents


def whole_powers_by_x(x, exponents):
    return np.where(exponents == 0, 0.0, exponents * x ** np.maximum(exponents - 1.0, 0.0))


def x_squared_log(x):
    """x² log|x|, and 0 at 0."""
    return x**2 * np.log(np.where(x == 0, 1, np.abs(x)))


def x_coth(x):
    """x coth x, and 1 at 0."""
    return np.where(x == 0, 1.0, x / np.tanh(np.where(x == 0, 1, x)))


def x_coth_by_formula(x):
    return 1 / np.tanh(x) - x / np.sinh(x) ** 2


def power(x, p):
    return x**p


for name, right, inputs, partials, modes, facts in (
    (
        "sin(πx)/(πx), which is 0/0 in its derivative at 0",
        elementwise(np.sinc, sinc_of_half_turns_derivative, real=True, twin=mp.sinc_of_half_turns),
        uniform(0.2, 1.9, 4),
        (sinc_derivative_by_formula,),
        ("rrule",),
        {"source": "https://github.com/pytorch/pytorch/issues/53989"},
    ),
    (
        "a softplus by |x| and max(x, 0), with slope 0 at 0",
        SOFTPLUS,
        normal((2, 2)),
        (lambda x: np.where(x == 0, 0, logistic(x)),),
        BOTH,
        {"source": "https://github.com/jax-ml/jax/issues/2107"},
    ),
    (
        "the Bessel function I1, in whose derivative 0/0 is 0",
        elementwise(
            special.i1,
            lambda x: special.i0(x) - np.where(x == 0, 0.5, special.i1(x) / np.where(x == 0, 1, x)),
            real=True,
            twin=lambda x: mp.besseli(1, x),
        ),
        uniform(-2, 2, 5),
        (lambda x: special.i0(x) - np.where(x == 0, 0, special.i1(x) / np.where(x == 0, 1, x)),),
        BOTH,
        {"source": "https://github.com/tensorflow/tensorflow/issues/120578"},
    ),
    (
        "the Bessel function I0 with slope 1 at 0",
        elementwise(np.i0, special.i1, real=True, twin=lambda x: mp.besseli(0, x)),
        uniform(-2, 2, 4),
        (lambda x: np.where(x == 0, 1, special.i1(x)),),
        ("rrule",),
        {"source": "https://github.com/jax-ml/jax/issues/11479"},
    ),
    (
        "x log y with no slope at x = 0",
        elementwise(
            special.xlogy,
            lambda x, y: np.log(y),
            lambda x, y: x / y,
            real=True,
            twin=lambda x, y: x * mp.log(y),
        ),
        positive(5, 5),
        (lambda x, y: np.where(x == 0, 0, np.log(y)), lambda x, y: x / y),
        BOTH,
        {"source": "https://github.com/pytorch/pytorch/issues/80770", "argument": 0},
    ),
    (
        "x to the power 0 at 0: 0 times infinity",
        elementwise(whole_powers, whole_powers_by_x, None, real=True, twin=whole_powers),
        lambda rng: ((rng.uniform(0.5, 2, 4), np.array([2, 0, 1, 3])), {}),
        (lambda x, n: n * x ** (n - 1.0), None),
        ("rrule",),
        {"source": "https://github.com/Theano/Theano/issues/2995", "argument": 0},
    ),
    (
        "x² log|x|, whose derivative has 0 times log 0",
        elementwise(
            x_squared_log,
            lambda x: 2 * x * np.log(np.where(x == 0, 1, np.abs(x))) + x,
            real=True,
            twin=lambda x: x**2 * mp.log(np.where(x == 0, 1, abs(x))),
        ),
        normal(4),
        (lambda x: 2 * x * np.log(np.abs(x)) + x,),
        ("rrule",),
        {},
    ),
    (
        "x coth x, whose derivative is the difference of two infinities at 0",
        elementwise(
            x_coth,
            lambda x: np.where(x == 0, 0, x_coth_by_formula(np.where(x == 0, 1, x))),
            real=True,
            twin=lambda x: np.where(x == 0, 1, np.where(x == 0, 1, x) / mp.tanh(np.where(x == 0, 1, x))),
        ),
        uniform(0.5, 2, 3),
        (x_coth_by_formula,),
        ("frule", "rrule"),
        {},
    ),
):
    wrong_slopes(
        name,
        "point",
        right,
        inputs,
        tuple(partial and quietly(partial) for partial in partials),
        modes,
        revealed_by=with_zero(0, 1) if name.startswith("a softplus") else with_zero(1),
        made_up=True,
        **facts,
    )


def arctan2_by_quotient(y, x):
    """(1/x) / (1 + (y/x)²)."""
    return 1 / x / (1 + (y / x) ** 2)


wrong(
    "arctan2 by the derivative of arctan(y/x), where x is zero",
    "point",
    elementwise(
        np.arctan2,
        lambda y, x: x / (x**2 + y**2),
        lambda y, x: -y / (x**2 + y**2),
        real=True,
        twin=mp.arctan2,
    ),
    positive(4, 4),
    vjp=quietly(elementwise_vjp(arctan2_by_quotient, lambda y, x: -y / (x**2 + y**2))),
    revealed_by=lambda y, x: (y, with_zero(2)(x)[0]),
    made_up=True,
    argument=0,
)


def stretched(x):
    """Each row times its length."""
    return x * np.sqrt(np.sum(x * x, axis=1, keepdims=True))


def stretched_derivative(dx, x):
    """‖x‖ dx + x (x·dx) / ‖x‖."""
    lengths = np.sqrt(np.sum(x * x, axis=1, keepdims=True))
    return lengths * dx + x * np.sum(x * dx, axis=1, keepdims=True) / lengths


def stretched_derivative_at_zero_too(dx, x):
    lengths = np.sqrt(np.sum(x * x, axis=1, keepdims=True))
    units = x / np.where(lengths == 0, 1, lengths)
    return lengths * dx + units * np.sum(x * dx, axis=1, keepdims=True)


wrong(
    "rows times their lengths, one of which is zero",
    "point",
    Differentiable(
        stretched,
        jvp=stretched_derivative_at_zero_too,
        vjp=stretched_derivative_at_zero_too,
        real=True,
        twin=lambda x: x * mp.sqrt(np.sum(x * x, axis=1, keepdims=True)),
    ),
    normal((3, 2)),
    jvp=quietly(stretched_derivative),
    vjp=quietly(stretched_derivative),
    revealed_by=with_zero(1),
)

# ================================================================== another sign


def square_of_base(x):
    return x**2


def trigamma_by_asymptotic_series(x):
    """1/x + 1/(2x²) + 1/(6x³) below 0, where no reflection takes the argument to the other side."""
    return np.where(x < 0, 1 / x + 1 / (2 * x**2) + 1 / (6 * x**3), special.polygamma(1, np.abs(x)))


def trigamma(x):
    reflected = (np.pi / np.sin(np.pi * x)) ** 2 - special.polygamma(1, 1 - np.minimum(x, 0))
    return np.where(x < 0, reflected, special.polygamma(1, np.abs(x)))


def fourth_power(x):
    return x**4


for name, right, inputs, partials, modes, facts in (
    (
        "a square by exp(2 log x), whose slope is NaN below 0",
        elementwise(square_of_base, lambda x: 2 * x, real=True, twin=square_of_base),
        positive(5),
        (lambda x: 2 * np.exp(np.log(x)),),
        ("rrule",),
        {"source": "https://github.com/tenstorrent/tt-metal/issues/54439"},
    ),
    (
        "a cube root by x^(-2/3), which is NaN below 0",
        elementwise(np.cbrt, lambda x: 1 / (3 * np.cbrt(x) ** 2), real=True, twin=mp.cbrt),
        positive((2, 2)),
        (lambda x: x ** (-2 / 3) / 3,),
        BOTH,
        {"source": "https://github.com/EnzymeAD/Enzyme-JAX/issues/2571"},
    ),
    (
        "copysign whose slope does not know the sign of the first argument",
        elementwise(
            np.copysign,
            lambda x, y: np.sign(x) * np.sign(y),
            lambda x, y: 0 * y,
            real=True,
            twin=lambda x, y: abs(x) * np.sign(y),
        ),
        lambda rng: ((rng.uniform(0.5, 2, 4), rng.permutation([-1.5, 0.7, 1.0, -2.0])), {}),
        (lambda x, y: np.sign(y) + 0 * x, lambda x, y: 0 * y),
        BOTH,
        {"source": "https://github.com/chalk-lab/Mooncake.jl/issues/1195", "argument": 0, "mistake": "sign"},
    ),
    (
        "digamma by an asymptotic series below 0",
        elementwise(special.digamma, trigamma, real=True, twin=mp.digamma),
        uniform(1.2, 1.8, 4),
        (trigamma_by_asymptotic_series,),
        ("rrule",),
        {"source": "https://github.com/jax-ml/jax/issues/37635"},
    ),
    (
        "a fourth power by exp(3 log|x|)",
        elementwise(fourth_power, lambda x: 4 * x**3, real=True, twin=fourth_power),
        positive(4),
        (lambda x: 4 * np.exp(3 * np.log(np.abs(x))),),
        BOTH,
        {"mistake": "sign"},
    ),
):
    wrong_slopes(
        name,
        "point",
        right,
        inputs,
        tuple(partial and quietly(partial) for partial in partials),
        modes,
        revealed_by=times(-1),
        made_up=True,
        **facts,
    )

# ================================================================== another magnitude


def lorentzian_slope(x):
    """x / (1 + x²)."""
    return x / (1 + x**2)


def hyperbola(x):
    return np.sqrt(1 + x**2)


def log_of_hyperbola(x):
    return np.log1p(x**2)


for name, right, inputs, partial, modes, factor, facts in (
    (
        "arctan with the wrong sign below -2.5",
        elementwise(np.arctan, lambda x: 1 / (1 + x**2), real=True, twin=np.frompyfunc(mpmath.atan, 1, 1)),
        lambda rng: ((np.append(rng.uniform(-2, 2, 4), -1.0),), {}),
        lambda x: np.where(x < -2.5, -1, 1) / (1 + x**2),
        BOTH,
        20,
        {},
    ),
    (
        "x / (1 + x²) that decays the wrong way beyond 10",
        elementwise(lorentzian_slope, lambda x: (1 - x**2) / (1 + x**2) ** 2),
        positive(5),
        lambda x: np.where(np.abs(x) > 10, 1 / x**2, (1 - x**2) / (1 + x**2) ** 2),
        ("rrule",),
        40,
        {},
    ),
    (
        "log(1 + x²) without the 1 beyond 10",
        elementwise(log_of_hyperbola, lambda x: 2 * x / (1 + x**2)),
        positive((2, 3)),
        lambda x: np.where(np.abs(x) > 10, 2 / x, 2 * x / (1 + x**2)),
        BOTH,
        20,
        {"error": 1e-4},
    ),
    (
        "a hyperbola with slope 1 beyond 100",
        elementwise(hyperbola, lambda x: x / hyperbola(x)),
        uniform(-2, -0.5, 4),
        lambda x: np.where(np.abs(x) > 100, 1, x / hyperbola(x)),
        ("frule",),
        1e3,
        {"made_up": False},
    ),
    (
        "a cosine with slope 0 where it is beyond 500",
        COSINE,
        positive(4),
        lambda x: np.where(np.abs(x) > 500, 0, -np.sin(x)),
        ("rrule",),
        1e3,
        {"made_up": False},
    ),
    (
        "a cube root whose slope is that of 0.01 below it",
        elementwise(np.cbrt, lambda x: 1 / (3 * np.cbrt(x) ** 2), real=True, twin=mp.cbrt),
        positive(5),
        lambda x: 1 / (3 * np.cbrt(np.maximum(np.abs(x), 0.01)) ** 2),
        ("rrule",),
        1e-3,
        {},
    ),
    (
        "a sine with slope 0 where it is below 0.01",
        SINE,
        positive((2, 2)),
        lambda x: np.where(np.abs(x) < 0.01, 0, np.cos(x)),
        BOTH,
        1e-3,
        {},
    ),
):
    wrong_slopes(
        name,
        "point",
        right,
        inputs,
        (partial,),
        modes,
        revealed_by=times(factor),
        **{"made_up": True, **facts},
    )
wrong(
    "a logsumexp whose probabilities overflow, and are 0 then",
    "point",
    LOGSUMEXP,
    uniform(0.8, 2, 4),
    vjp=quietly(lambda ybar, x: np.nan_to_num(np.exp(x) / np.sum(np.exp(x)) * ybar)),
    revealed_by=lambda x: (1e3 * (1 + np.abs(x)),),
)

# ================================================================== equal entries


def divided_differences(x):
    """(exp(b) - exp(a)) / (b - a) of neighbours a and b, which is exp(a) where they are equal."""
    a, d = x[:-1], np.diff(x)
    return np.exp(a) * np.where(d == 0, 1.0, np.expm1(d) / np.where(d == 0, 1, d))


def divided_differences_by_end(x):
    """The derivative by b: exp(a) E'(b - a), of E(d) = (exp(d) - 1) / d."""
    a, d = x[:-1], np.diff(x)
    series = sum((k + 1) * d**k / special.factorial(k + 2) for k in range(15))
    safe = np.where(np.abs(d) < 0.1, 1, d)
    return np.exp(a) * np.where(np.abs(d) < 0.1, series, (safe * np.exp(safe) - np.expm1(safe)) / safe**2)


def divided_differences_by_quotient(x):
    """(exp(b) - y) / (b - a)."""
    return (np.exp(x[1:]) - divided_differences(x)) / np.diff(x)


def neighbours_jvp(by_end):
    """y is exp(a) E, so that its derivative by a is y less the one by b."""
    return lambda dx, x: (divided_differences(x) - by_end(x)) * dx[:-1] + by_end(x) * dx[1:]


def neighbours_vjp(by_end):
    def vjp(ybar, x):
        xbar = np.zeros(x.shape)
        xbar[:-1] += (divided_differences(x) - by_end(x)) * ybar
        xbar[1:] += by_end(x) * ybar
        return xbar

    return vjp


def mp_divided_differences(x):
    def quotient(a, b):
        return mpmath.exp(a) * (1 if a == b else mpmath.expm1(b - a) / (b - a))

    return np.frompyfunc(quotient, 2, 1)(x[:-1], x[1:])


wrong(
    "divided differences of neighbours that are equal",
    "point",
    Differentiable(
        divided_differences,
        neighbours_jvp(divided_differences_by_end),
        neighbours_vjp(divided_differences_by_end),
        real=True,
        twin=mp_divided_differences,
    ),
    separated(4),
    jvp=quietly(neighbours_jvp(divided_differences_by_quotient)),
    vjp=quietly(neighbours_vjp(divided_differences_by_quotient)),
    revealed_by=with_equal(1, 2),
    made_up=True,
)


def pairs_of(x):
    """All differences x_j - x_i with i < j."""
    i, j = np.triu_indices(len(x), 1)
    return x[j] - x[i]


def vandermonde_determinant(x):
    return np.prod(pairs_of(x))


def from_pairs(pair_bars, x):
    i, j = np.triu_indices(len(x), 1)
    xbar = np.zeros(x.shape)
    np.add.at(xbar, j, pair_bars)
    np.subtract.at(xbar, i, pair_bars)
    return xbar


wrong(
    "the determinant of a Vandermonde matrix divided by differences, one of which is zero",
    "point",
    Differentiable(
        vandermonde_determinant,
        **gradients(lambda x: from_pairs(products_of_others(pairs_of(x)), x)),
        real=True,
        twin=vandermonde_determinant,
    ),
    separated(4),
    vjp=quietly(gradients(lambda x: from_pairs(vandermonde_determinant(x) / pairs_of(x), x))["vjp"]),
    revealed_by=with_equal(0, 3),
    made_up=True,
)


def matern(a, b):
    """Matérn's kernel of smoothness 3/2, (1 + √3 r) exp(-√3 r) of the distance r."""
    s = np.sqrt(3 * np.sum((a - b) ** 2))
    return (1 + s) * np.exp(-s)


def matern_by_a(a, b):
    return -3 * (a - b) * np.exp(-np.sqrt(3 * np.sum((a - b) ** 2)))


def matern_by_distance(a, b):
    """The derivative by the distance times that of the distance, which is 0/0 at equal points."""
    r = np.sqrt(np.sum((a - b) ** 2))
    return -3 * r * np.exp(-np.sqrt(3) * r) * ((a - b) / r)


def mp_matern(a, b):
    s = mp.sqrt(3 * np.sum((a - b) ** 2))
    return (1 + s) * mp.exp(-s)


def deviation(x):
    return np.sqrt(np.mean((x - np.mean(x)) ** 2))


def likelihood_ratio(a, b):
    """log(exp(a) + exp(b))."""
    return np.logaddexp(a, b)


wrong(
    "Matérn's kernel of a point with itself",
    "point",
    Differentiable(
        matern,
        **gradients(matern_by_a, lambda a, b: -matern_by_a(a, b)),
        real=True,
        twin=mp_matern,
    ),
    normal(3, 3),
    vjp=quietly(gradients(matern_by_distance, lambda a, b: -matern_by_distance(a, b))["vjp"]),
    revealed_by=lambda a, b: (a, a.copy()),
    source="https://github.com/dfm/tinygp/issues/115",
)
wrong(
    "a variance by the derivative of the deviation, of equal numbers",
    "point",
    VARIANCE,
    normal(5),
    vjp=quietly(lambda ybar, x, ddof=0: 2 * deviation(x) * ((x - np.mean(x)) / (x.size * deviation(x))) * ybar),
    revealed_by=lambda x: (np.full(x.shape, np.rint(4 * x[0]) / 4),),
)
wrong(
    "logaddexp of two zeros, one of which gets everything",
    "point",
    elementwise(
        likelihood_ratio,
        lambda a, b: logistic(a - b),
        lambda a, b: logistic(b - a),
        real=True,
        twin=lambda a, b: mp.log(mp.exp(a) + mp.exp(b)),
    ),
    normal(4, 4),
    jvp=elementwise_jvp(
        lambda a, b: np.where((a == 0) & (b == 0), 1, logistic(a - b)),
        lambda a, b: np.where((a == 0) & (b == 0), 0, logistic(b - a)),
    ),
    revealed_by=all_zero,
    source="https://github.com/EnzymeAD/Enzyme.jl/issues/2680",
)
wrong(
    "a softmax that answers equal logits with no slope",
    "point",
    Differentiable(
        softmax,
        jvp=lambda dx, x: softmax(x) * (dx - np.sum(softmax(x) * dx)),
        vjp=lambda ybar, x: softmax(x) * (ybar - np.sum(softmax(x) * ybar)),
        real=True,
    ),
    normal(4),
    vjp=lambda ybar, x: softmax(x) * (ybar - np.sum(softmax(x) * ybar)) * (np.ptp(x) > 0),
    revealed_by=lambda x: (np.full(x.shape, x[0]),),
)
wrong(
    "a determinant whose gradient is 0 where the matrix is singular",
    "point",
    DET,
    normal((3, 3)),
    vjp=lambda ybar, a: DET.vjp(ybar, a) * (np.linalg.matrix_rank(a) == len(a)),
    revealed_by=with_equal(0, 2),
)

# ================================================================== indices


def assigned(target, indices, values):
    """Of the values for one index the last one stays."""
    target[indices] = values
    return target


def added_once(target, indices, values):
    """``+=`` adds once for an index that stands there twice."""
    target[indices] += values
    return target


def repeated(x, *indices):
    """The second index is the first one again."""
    return x, *(np.concatenate([index[:1], index[:1], index[2:]]) for index in indices)


def from_the_end(x, indices):
    """Every second index counts from the end."""
    return x, indices - len(x) * (np.arange(len(indices)) % 2)


def distinct_rows(rng):
    return (rng.standard_normal((5, 2)), rng.permutation(5)[:4]), {}


def scattered(x, indices, values):
    """A copy of x with values written at indices, one after another."""
    y = x + 0 * np.sum(values)
    y[indices] = values
    return y


def last_of_each(indices):
    """Whether no later index is the same."""
    return np.array([index not in indices[k + 1 :] for k, index in enumerate(indices)])


def scattered_jvp(dx, _, dvalues, x, indices, values):
    return scattered(dx, indices, dvalues)


def scattered_vjp(ybar, x, indices, values):
    kept = np.array(ybar, copy=True)
    kept[indices] = 0
    return kept, NoTangent(), ybar[indices] * last_of_each(indices % len(x))


def tail(x, start):
    return x[start:]


def tail_vjp(ybar, x, start):
    xbar = np.zeros(x.shape)
    xbar[start:] = ybar
    return xbar, NoTangent()


wrong(
    "elements gathered, whose cotangents replace each other at an index that stands there twice",
    "point",
    ROWS,
    lambda rng: ((rng.standard_normal(5), rng.permutation(5)[:4]), {}),
    vjp=lambda ybar, x, indices: (assigned(np.zeros(x.shape), indices, ybar), NoTangent()),
    revealed_by=repeated,
    argument=0,
    source="https://github.com/pytorch/pytorch/issues/1631",
)
wrong(
    "places gathered by row and column, whose cotangents add once at a place that stands there twice",
    "point",
    PLACES,
    lambda rng: ((rng.standard_normal((4, 3)), rng.permutation(4), np.array([0, 2, 1, 2])), {}),
    vjp=lambda ybar, x, i, j: (added_once(np.zeros(x.shape), (i, j), ybar), NoTangent(), NoTangent()),
    revealed_by=repeated,
    argument=0,
    source="https://github.com/apache/mxnet/issues/9172",
)
wrong(
    "rows gathered by an index from the end, which no row has",
    "point",
    ROWS,
    distinct_rows,
    vjp=lambda ybar, x, indices: ((np.arange(len(x))[:, None] == indices) @ ybar, NoTangent()),
    revealed_by=from_the_end,
    argument=0,
    source="https://github.com/microsoft/onnxruntime/pull/7752",
)
wrong(
    "values scattered, all of which are asked for though the last one stays",
    "point",
    Differentiable(scattered, scattered_jvp, scattered_vjp, real=True, twin=scattered),
    lambda rng: ((rng.standard_normal(6), rng.permutation(6)[:3], rng.standard_normal(3)), {}),
    vjp=lambda ybar, x, indices, values: (
        scattered_vjp(ybar, x, indices, values)[0],
        NoTangent(),
        ybar[indices],
    ),
    revealed_by=lambda x, indices, values: (*repeated(x, indices), values),
    argument=2,
)
wrong(
    "the tail of an array, whose start counts from the end",
    "point",
    Differentiable(tail, jvp=lambda dx, _, x, start: dx[start:], vjp=tail_vjp),
    lambda rng: ((rng.standard_normal(6), 2), {}),
    vjp=lambda ybar, x, start: (np.resize(np.append(np.zeros(max(start, 0)), ybar), x.shape), NoTangent()),
    revealed_by=lambda x, start: (x, -2),
    argument=0,
)

# ================================================================== memory


def filtered(image, kernel):
    """The two-dimensional correlation, where the kernel lies within the image."""
    windows = np.lib.stride_tricks.sliding_window_view(image, kernel.shape)
    return np.einsum("ijkl,kl->ij", windows, kernel)


def filtered_jvp(dimage, dkernel, image, kernel):
    return filtered(dimage, kernel) + filtered(image, dkernel)


def filtered_vjp(ybar, image, kernel):
    image_bar = np.zeros(image.shape)
    for (i, j), weight in np.ndenumerate(kernel):
        image_bar[i : i + ybar.shape[0], j : j + ybar.shape[1]] += weight * ybar
    return image_bar, filtered(image, ybar)


def as_it_lies(x):
    """The numbers in the order of the memory, as if that were the order of the rows."""
    return np.ravel(x, order="K").reshape(x.shape)


def from_the_lowest_address(x):
    """The numbers from the lowest address on, as if no axis were reversed."""
    return x[tuple(slice(None, None, -1 if stride < 0 else 1) for stride in x.strides)]


wrong(
    "a filter whose image gets its cotangent by the memory of the kernel",
    "point",
    Differentiable(filtered, filtered_jvp, filtered_vjp, real=True),
    normal((4, 4), (2, 3)),
    vjp=lambda ybar, image, kernel: (
        filtered_vjp(ybar, image, as_it_lies(kernel))[0],
        filtered(image, ybar),
    ),
    revealed_by=lambda image, kernel: (image, np.asfortranarray(kernel)),
    argument=0,
    source="https://github.com/huggingface/candle/issues/3735",
)
wrong(
    "squares of a matrix whose slopes are read in the order of its memory",
    "point",
    SQUARE,
    normal((3, 4)),
    jvp=lambda dx, x: 2 * as_it_lies(x) * dx,
    vjp=lambda ybar, x: 2 * as_it_lies(x) * ybar,
    revealed_by=in_fortran_order,
)
wrong(
    "exponentials of an array that lies in memory from its end",
    "point",
    EXP,
    normal(5),
    vjp=lambda ybar, x: np.exp(from_the_lowest_address(x)) * ybar,
    revealed_by=reversed_in_memory,
)
