"""Elementwise functions at hard points: poles, noise, tiny and huge scales, all precisions and layouts."""

import numpy as np
from scipy import special

from corpora import multiprecision as mp
from corpora.corpus import Differentiable, elementwise, normal, positive, uniform
from corpora.right.entry import above, around, below, right


# ================================================================== elementwise functions of one argument
def exp_10(x):
    return np.exp(10 * x)


def cube(x):
    return x**3


def sine_100(x):
    return np.sin(100 * x)


def sine_10000(x):
    return np.sin(1e4 * x)


def million_plus_sine(x):
    return 1e6 + np.sin(x)


def hundred_millionth_of_sine(x):
    return 1e-8 * np.sin(x)


def times_infinite(derivative, tangent):
    """The product, in which a zero tangent times an infinite derivative is zero."""
    with np.errstate(invalid="ignore"):
        return np.where(tangent == 0, 0.0, derivative * tangent)


def steep(function, derivative, twin):
    """An elementwise function of real numbers whose derivative is infinite at an end of its domain."""

    def product(tangent, x):
        with np.errstate(divide="ignore"):
            return times_infinite(derivative(x), tangent)

    return Differentiable(function, jvp=product, vjp=product, real=True, twin=twin)


SINE = elementwise(np.sin, np.cos)
TANGENT = elementwise(np.tan, lambda x: 1 + np.tan(x) ** 2, twin=mp.tan)
EXP = elementwise(np.exp, np.exp)
EXP_10 = elementwise(exp_10, lambda x: 10 * np.exp(10 * x))
LOG = elementwise(np.log, lambda x: 1 / x, twin=mp.log)
CUBE = elementwise(cube, lambda x: 3 * x**2)
RECIPROCAL = elementwise(np.reciprocal, lambda x: -1 / x**2)
SQRT = steep(np.sqrt, lambda x: 0.5 / np.sqrt(x), twin=mp.sqrt)

right("exp(10 x)", EXP_10, normal(6))
right("exp(10 x) of large arguments", EXP_10, uniform(15, 25, 4))
right("tan at 1e-3 from its pole", TANGENT, around(np.pi / 2, 1e-3, 4))
right("tan at 1e-6 from its pole", TANGENT, around(np.pi / 2, 1e-6, 4))
right("log at 1e-6", LOG, above(0, 1e-6, 5))
right("log at 1e-300", LOG, above(0, 1e-300, 3))
right("the cube at 1e-8", CUBE, around(0, 1e-8, 5))
right("1/x at 1e-3", RECIPROCAL, around(0, 1e-3, 5))
right("1/x at 1e6", RECIPROCAL, around(0, 1e6, 5))
right("sin(100 x)", elementwise(sine_100, lambda x: 100 * np.cos(100 * x)), normal((2, 3)))
right("sin(1e4 x)", elementwise(sine_10000, lambda x: 1e4 * np.cos(1e4 * x)), normal(4))
right("sine of large arguments", SINE, uniform(1e4, 2e4, 5))
right("1e6 + sin x", elementwise(million_plus_sine, np.cos), normal(5))
right("1e-8 sin x", elementwise(hundred_millionth_of_sine, lambda x: 1e-8 * np.cos(x)), normal((2, 2)))
right("sqrt at 1e-8", SQRT, above(0, 1e-8, 5))
right("sqrt at 1e-300", SQRT, above(0, 1e-300, 3))
right("the square of 1e150", elementwise(np.square, lambda x: 2 * x), around(0, 1e150, 3))


def x_log_x(x):
    return x * np.log(x)


def one_minus_cosine(x):
    return 1 - np.cos(x)


def sine_of_reciprocal(x):
    return np.sin(1 / x)


def runge(x):
    return 1 / (1 + 25 * x**2)


def wilkinson(x):
    """The polynomial with the zeros 1, 2, ..., 12, in its badly conditioned form of powers."""
    return np.polyval(WILKINSON_COEFFICIENTS, x)


def wilkinson_derivative(x):
    """Σ of the products of all factors but one, which has none of the cancellation."""
    zeros = np.arange(1, 13)
    return sum(np.prod([x - z for z in zeros if z != left_out], axis=0) for left_out in zeros)


WILKINSON_COEFFICIENTS = np.poly(np.arange(1, 13))


def expit(x):
    return 1 / (1 + np.exp(-x))


def expit_derivative(x):
    """1 - y loses all its digits where y is 1 to rounding; exp(-|x|) loses none."""
    e = np.exp(-x * np.sign(np.real(x)))
    return e / (1 + e) ** 2


def tanh_derivative(x):
    return 4 * expit_derivative(2 * x)


def sinc_derivative(x):
    """(cos x - sin x / x) / x cancels near 0, where its series takes its place."""
    with np.errstate(invalid="ignore", divide="ignore"):
        far = (np.cos(x) - np.sin(x) / x) / x
    near = -x / 3 * (1 - x**2 / 10 * (1 - x**2 / 28 * (1 - x**2 / 54)))
    return np.where(np.abs(x) < 0.05, near, far)


def sinc(x):
    """sin(x) / x."""
    return np.sinc(x / np.pi)


def flat(x):
    """exp(-1/x²), whose derivatives all vanish at 0."""
    return np.exp(-1 / x**2)


right("x log x near 0", elementwise(x_log_x, lambda x: np.log(x) + 1), above(0, 1e-9, 4))
right("1 - cos x at 1e-4", elementwise(one_minus_cosine, np.sin), around(0, 1e-4, 5))
right("sin(1/x) at 0.01", elementwise(sine_of_reciprocal, lambda x: -np.cos(1 / x) / x**2), around(0, 0.01, 4))
right("Runge's function", elementwise(runge, lambda x: -50 * x * runge(x) ** 2), uniform(-1, 1, 6))
right(
    "a polynomial of degree 12 between its zeros, computed by its powers",
    elementwise(wilkinson, wilkinson_derivative, twin=lambda x: np.prod([x - z for z in range(1, 13)], axis=0)),
    uniform(5, 8, 3),
    accuracy=1e-10,
)
right("a saturated logistic function", elementwise(expit, expit_derivative), around(0, 25, 4))
right("tanh at 20", elementwise(np.tanh, tanh_derivative, twin=mp.tanh), around(0, 20, 4))
right("expm1 at -40", elementwise(np.expm1, np.exp, twin=lambda x: mp.exp(x) - 1), around(-40, 1, 4))
right("log1p near -1", elementwise(np.log1p, lambda x: 1 / (1 + x), twin=lambda x: mp.log(1 + x)), above(-1, 1e-9, 4))
right(
    "arcsin near 1",
    elementwise(np.arcsin, lambda x: 1 / np.sqrt((1 - x) * (1 + x)), real=True, twin=mp.arcsin),
    below(1, 1e-7, 4),
)
right(
    "sin(x)/x at 1e-5",
    elementwise(sinc, sinc_derivative, real=True, twin=lambda x: mp.sin(x) / x),
    around(0, 1e-5, 4),
)
right(
    "a flat function, exp(-1/x²), at 0.2",
    elementwise(flat, lambda x: 2 * flat(x) / x**3),
    around(0, 0.2, 4),
)
right(
    "the error function far out",
    elementwise(special.erf, lambda x: 2 / np.sqrt(np.pi) * np.exp(-(x**2)), twin=mp.erf),
    around(0, 4, 4),
)
right(
    "the logarithm of the gamma function",
    elementwise(special.gammaln, special.digamma, real=True, twin=mp.gammaln),
    uniform(0.1, 20, 5),
    accuracy=1e-11,
)
right("a constant function", elementwise(lambda x: 3.0 + 0 * x, lambda x: 0.0 * x), normal(4))
right("a function of scale 1e-30", elementwise(lambda x: 1e-30 * np.sin(x), lambda x: 1e-30 * np.cos(x)), normal(4))
right("a function of scale 1e30", elementwise(lambda x: 1e30 * np.exp(x), lambda x: 1e30 * np.exp(x)), normal(4))


def raising_below_zero(x):
    """log, which raises instead of answering NaN."""
    if np.any(np.real(x) <= 0):
        raise ValueError("the logarithm of a number that is not positive")
    return np.log(x)


def root_of_unit_interval(x):
    """sqrt(x (1 - x)), of x in the unit interval."""
    if np.any(np.real(x) < 0) or np.any(np.real(x) > 1):
        raise ValueError("an argument outside the unit interval")
    return np.sqrt(x * (1 - x))


right("a function that raises below 0, at 1e-9", elementwise(raising_below_zero, lambda x: 1 / x), above(0, 1e-9, 4))
right(
    "a function that raises outside the unit interval, near both ends",
    elementwise(root_of_unit_interval, lambda x: (0.5 - x) / root_of_unit_interval(x)),
    lambda rng: ((np.concatenate([rng.uniform(1e-7, 1e-5, 2), 1 - rng.uniform(1e-7, 1e-5, 2)]),), {}),
)

# ------------------------------------------------------------------ noise and other precisions


def noisy_sine(x):
    """A sine with a relative error of 1e-12 that looks random and repeats itself: it hangs on the last bits of x."""
    bits = np.asarray(np.real(x), np.float64)
    return np.sin(x) * (1 + 1e-12 * np.sin(1e15 * bits))


def single_precision_sine(x):
    """Computes in single precision, whatever it is given."""
    return np.asarray(np.sin(np.asarray(np.real(x), np.float32)), np.float64)


def rounded_table(x):
    """A value printed with ten digits and read again."""
    return np.round(np.exp(x), 10)


right("a sine with noise of 1e-12", elementwise(noisy_sine, np.cos, real=True, twin=mp.sin), normal(4))
right(
    "single precision inside of a double function",
    elementwise(single_precision_sine, np.cos, real=True, twin=mp.sin),
    normal(4),
)
right("values rounded to ten decimals", elementwise(rounded_table, np.exp, real=True, twin=mp.exp), uniform(0, 1, 4))
right("sine in single precision", SINE, uniform(-2, 2, 5, dtype=np.float32), accuracy=1e-6)
right("exp in single precision", EXP, uniform(-2, 2, (2, 3), dtype=np.float32), accuracy=1e-6)
right("exp(10 x) in single precision", EXP_10, uniform(-1, 1, 4, dtype=np.float32), accuracy=1e-5)
right("log at 1e-6 in single precision", LOG, uniform(1e-6, 2e-6, 4, dtype=np.float32), accuracy=1e-6)
right("sine in half precision", SINE, uniform(-1, 1, 3, dtype=np.float16), accuracy=5e-3)
right("exp in extended precision", EXP, uniform(-1, 1, 3, dtype=np.longdouble))

# ------------------------------------------------------------------ no dimensions, no entries, other layouts

right("a Python number", SINE, lambda rng: ((float(rng.standard_normal()),), {}))
right("a NumPy scalar", EXP, lambda rng: ((np.float64(rng.standard_normal()),), {}))
right("an array of no dimensions", SINE, normal(()))
right("an array of no entries", EXP, normal((0, 3)))
right("an array of one entry", SINE, normal((1, 1)))
right("an array in Fortran order", EXP, lambda rng: ((np.asfortranarray(rng.standard_normal((3, 4))),), {}))
right("an array of every second entry, backwards", SINE, lambda rng: ((rng.standard_normal((4, 6))[::-1, ::-2],), {}))
right("a broadcast array, read-only", EXP, lambda rng: ((np.broadcast_to(rng.standard_normal(3), (2, 3)),), {}))
right("1e5 entries of an elementwise function", SINE, normal(100_000))

# ================================================================== functions of several arguments
MULTIPLY = elementwise(np.multiply, lambda a, b: b, lambda a, b: a)
POWER = elementwise(
    np.power,
    lambda x, p: p * x ** (p - 1),
    lambda x, p: x**p * np.log(x),
    real=True,
    twin=lambda x, p: mp.exp(p * mp.log(x)),
)
LOGADDEXP = elementwise(
    np.logaddexp,
    lambda a, b: expit(a - b),
    lambda a, b: expit(b - a),
    real=True,
    twin=lambda a, b: mp.log(mp.exp(a) + mp.exp(b)),
)
ARCTAN2 = elementwise(
    np.arctan2,
    lambda y, x: x / (x**2 + y**2),
    lambda y, x: -y / (x**2 + y**2),
    real=True,
    twin=mp.arctan2,
)

right("powers with exponents that are not whole", POWER, positive(5, 5))
right(
    "powers of small numbers with large exponents",
    POWER,
    lambda rng: ((rng.uniform(0.01, 0.1, 4), rng.uniform(5, 9, 1)), {}),
)
right(
    "a hypotenuse of legs of far scales",
    elementwise(
        np.hypot,
        lambda a, b: a / np.hypot(a, b),
        lambda a, b: b / np.hypot(a, b),
        real=True,
        twin=lambda a, b: mp.sqrt(a**2 + b**2),
    ),
    lambda rng: ((1e-8 * rng.uniform(1, 2, 4), 1e8 * rng.uniform(1, 2, 4)), {}),
)
right("logaddexp of numbers far apart", LOGADDEXP, lambda rng: ((rng.uniform(0, 1, 4), rng.uniform(-40, 40, 4)), {}))
right("arctan2 in all quadrants", ARCTAN2, normal(8, 8))
right(
    "arctan2 near the origin", ARCTAN2, lambda rng: ((1e-9 * rng.standard_normal(4), 1e-9 * rng.standard_normal(4)), {})
)
right("a product that broadcasts a column and a row", MULTIPLY, normal((3, 1), (1, 4)))
right("a product that broadcasts a number", MULTIPLY, normal((), (2, 3)))
right(
    "a product of a single and a double",
    MULTIPLY,
    lambda rng: ((np.float32(rng.uniform(1, 2, 3)), rng.uniform(1, 2, 3)), {}),
    accuracy=1e-6,
)
right(
    "a quotient of tiny numbers",
    elementwise(np.divide, lambda a, b: 1 / b, lambda a, b: -a / b / b, twin=lambda a, b: a / b),
    lambda rng: ((1e-100 * rng.uniform(1, 2, 3), 1e-100 * rng.uniform(1, 2, 3)), {}),
)


def scaled_by_powers_of_two(x, exponents):
    """ldexp: a float beside an integer."""
    return x * 2.0**exponents


def whole_power(x, n):
    return x**n


right(
    "a float beside integers",
    elementwise(scaled_by_powers_of_two, lambda x, n: 2.0**n, None),
    lambda rng: ((rng.standard_normal(4), rng.integers(-3, 4, 4)), {}),
)
right(
    "whole powers, of negative numbers too",
    elementwise(whole_power, lambda x, n: n * x ** (n - 1), None),
    lambda rng: ((rng.uniform(-2, 2, 5), np.array([1, 2, 3, 4, 5])), {}),
)
