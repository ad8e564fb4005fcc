"""What the rules of ufuncs answer where the derivative has several values, is infinite, or could turn into NaN."""

import numpy as np
import pytest
from numpy.lib.mixins import NDArrayOperatorsMixin

from rulescore import AbstractZero, NoTangent, ZeroTangent, frule, rrule, unthunk

inf, nan = np.inf, np.nan


def gradient(f, *args):
    """∂f/∂x of each argument by the rrule, after a look at whether the frule says the same."""
    args = tuple(x if isinstance(x, int) else np.asarray(x)[()] for x in args)
    y, pullback = rrule(f, *args)
    bars = [as_number(bar) for bar in pullback(np.ones_like(y))[1:]]
    bars += [0.0] * (len(args) - len(bars))
    for position, (x, bar) in enumerate(zip(args, bars, strict=True)):
        tangents = [NoTangent()] * (1 + len(args))
        tangents[1 + position] = NoTangent() if isinstance(x, int) else np.ones_like(x)
        forward = as_number(frule(tuple(tangents), f, *args)[1])
        np.testing.assert_array_equal(np.conj(forward), bar)
    return tuple(bars)


def as_number(tangent):
    return 0.0 if isinstance(tangent, AbstractZero) else unthunk(tangent)


# ---------------------------------------------------------------------- powers

POWERS_AT_ZERO = [  # ChainRules.jl, test/rulesets/Base/fastmath_able.jl, POWERGRADS
    ((0.0, 2.0), (0.0, 0.0)),
    ((-0.0, 2.0), (0.0, 0.0)),
    ((0.0, 1.0), (1.0, 0.0)),
    ((-0.0, 1.0), (1.0, 0.0)),
    ((0.0, 0.0), (0.0, nan)),
    ((-0.0, 0.0), (0.0, nan)),
    ((0.0, -1.0), (-inf, nan)),
    ((-0.0, -1.0), (-inf, nan)),
    ((0.0, -2.0), (-inf, nan)),
    ((-0.0, -2.0), (inf, nan)),
    ((0.0, 0.5), (inf, 0.0)),
    ((0.0, 3.5), (0.0, 0.0)),
]


@pytest.mark.parametrize("f", [np.power, np.float_power], ids=lambda f: f.__name__)
@pytest.mark.parametrize(("point", "wanted"), POWERS_AT_ZERO, ids=str)
def test_powers_of_zero(f, point, wanted):
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(gradient(f, *point), wanted)


@pytest.mark.parametrize(("point", "wanted"), POWERS_AT_ZERO, ids=str)
def test_powers_of_zero_in_arrays_and_float32(point, wanted):
    x, p = (np.full(2, number, np.float32) for number in point)
    with np.errstate(divide="ignore"):
        _, pullback = rrule(np.power, x, p)
        xbar, pbar = (unthunk(bar) for bar in pullback(np.ones(2, np.float32))[1:])
    np.testing.assert_array_equal((xbar, pbar), np.transpose([wanted, wanted]))


def test_powers_of_zero_with_ordinary_exponents_warn_of_nothing():
    x, p = np.zeros(5), np.array([0.0, 1.0, 2.0, 3.5, 0.0])
    _, pullback = rrule(np.power, x, p)
    np.testing.assert_array_equal(unthunk(pullback(np.ones(5))[1]), [0, 1, 0, 0, 0])
    np.testing.assert_array_equal(unthunk(pullback(np.ones(5))[2]), [nan, 0, 0, 0, nan])


@pytest.mark.parametrize(
    ("p", "wanted"), [(0, 0), (1, 1), (2, 0), (3, 0), (-1, -inf), (np.uint8(0), 0), (np.int8(2), 0)]
)
def test_integer_powers_of_zero(p, wanted):
    for exponent in (p, np.array(p), np.array([p])):
        with np.errstate(divide="ignore"):
            _, pullback = rrule(np.power, np.zeros(1), exponent)
            _, xbar, *rest = pullback(np.ones(1))
        np.testing.assert_array_equal(xbar, [wanted])
        assert all(bar is NoTangent() for bar in rest)


def test_negative_bases():
    assert gradient(np.power, -2.0, 3) == (12.0, 0.0)
    np.testing.assert_allclose(gradient(np.power, -2.0, 3.0), (12.0, -8 * np.log(2)), rtol=1e-15)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(gradient(np.power, -2.0, 0.5), (nan, nan))
    xbar = rrule(np.power, np.array([-1.5, -1.5, 2.0]), np.array([2.0, -1.0, 0.0]))[1](np.ones(3))[1]
    np.testing.assert_allclose(xbar + 0, [-3.0, -1 / 2.25, 0.0], rtol=1e-15)


def test_a_zero_exponent_of_any_base():
    for x in (3.0, -3.0, 1e-300, 1e300, inf):
        assert gradient(np.power, x, 0)[0] == 0
        assert gradient(np.power, x, 0.0)[0] == 0


def test_powers_of_complex_zero():
    assert gradient(np.power, 0j, 2)[0] == 0
    assert gradient(np.power, 0j, 1)[0] == 1
    assert gradient(np.power, 0j, 0)[0] == 0
    assert gradient(np.power, np.complex128(0), np.complex128(2))[1] == 0


def test_a_negative_base_with_a_complex_exponent_has_the_complex_logarithm():
    p = np.complex128(0.5 + 0.25j)
    y, dy = frule((NoTangent(), NoTangent(), np.complex128(1)), np.power, np.float64(-2.0), p)
    assert dy == pytest.approx(y * (np.log(2) + 1j * np.pi), rel=1e-14)


# ---------------------------------------------------------------------- ties and NaN

EXTREMA = [
    (np.maximum, 2.0, 2.0, (0.5, 0.5)),
    (np.minimum, 2.0, 2.0, (0.5, 0.5)),
    (np.fmax, 2.0, 2.0, (0.5, 0.5)),
    (np.fmin, 2.0, 2.0, (0.5, 0.5)),
    (np.maximum, 0.0, -0.0, (0.5, 0.5)),
    (np.maximum, inf, inf, (0.5, 0.5)),
    (np.maximum, 1.0, 2.0, (0.0, 1.0)),
    (np.minimum, 1.0, 2.0, (1.0, 0.0)),
    (np.fmax, 1.0, 2.0, (0.0, 1.0)),
    (np.fmin, 1.0, 2.0, (1.0, 0.0)),
    (np.maximum, nan, 2.0, (1.0, 0.0)),
    (np.maximum, 2.0, nan, (0.0, 1.0)),
    (np.minimum, nan, 2.0, (1.0, 0.0)),
    (np.minimum, 2.0, nan, (0.0, 1.0)),
    (np.fmax, nan, 2.0, (0.0, 1.0)),
    (np.fmax, 2.0, nan, (1.0, 0.0)),
    (np.fmin, nan, 2.0, (0.0, 1.0)),
    (np.fmin, 2.0, nan, (1.0, 0.0)),
    (np.maximum, nan, nan, (0.5, 0.5)),
    (np.fmax, nan, nan, (0.5, 0.5)),
    (np.fmin, nan, nan, (0.5, 0.5)),
]


@pytest.mark.parametrize(("f", "a", "b", "wanted"), EXTREMA)
def test_ties_share_the_derivative_and_nan_has_an_owner(f, a, b, wanted):
    assert gradient(f, a, b) == wanted
    if a == a and b == b:
        assert gradient(f, complex(a, 1), complex(b, 1)) == wanted


def test_the_maximum_of_a_number_with_itself_has_derivative_one():
    assert sum(gradient(np.maximum, 2.0, 2.0)) == 1


def test_complex_numbers_are_ordered_by_real_then_by_imaginary_part():
    assert gradient(np.maximum, 1 + 5j, 2 + 0j) == (0, 1)
    assert gradient(np.maximum, 1 + 5j, 1 + 0j) == (1, 0)
    assert gradient(np.minimum, 1 + 5j, 1 + 0j) == (0, 1)
    assert gradient(np.fmin, 1 - 5j, 1 + 0j) == (1, 0)


# ---------------------------------------------------------------------- kinks, steps, singular points

AT_KINKS = [
    (np.absolute, (0.0,), (0.0,)),
    (np.absolute, (-0.0,), (0.0,)),
    (np.absolute, (-3.0,), (-1.0,)),
    (np.absolute, (0j,), (0.0,)),
    (np.absolute, (-inf,), (-1.0,)),
    (np.fabs, (0.0,), (0.0,)),
    (np.fabs, (-3.0,), (-1.0,)),
    (np.sign, (0.0,), (0.0,)),
    (np.sign, (-3.0,), (0.0,)),
    (np.sign, (0j,), (0.0,)),
    (np.floor, (1.0,), (0.0,)),
    (np.rint, (2.5,), (0.0,)),
    (np.rint, (2.5 + 1j,), (0.0,)),
    (np.floor_divide, (4.0, 2.0), (0.0, 0.0)),
    (np.remainder, (4.0, 2.0), (1.0, -2.0)),
    (np.remainder, (-3.5, 2.0), (1.0, 2.0)),
    (np.remainder, (3.5, -2.0), (1.0, 2.0)),
    (np.remainder, (3.0, inf), (1.0, 0.0)),
    (np.remainder, (0.3, 0.1), (1.0, -2.0)),
    (np.remainder, (7.5, 2), (1.0, 0.0)),
    (np.fmod, (4.0, 2.0), (1.0, -2.0)),
    (np.fmod, (-3.5, 2.0), (1.0, 1.0)),
    (np.fmod, (3.5, -2.0), (1.0, 1.0)),
    (np.fmod, (0.3, 0.1), (1.0, -2.0)),
    (np.copysign, (2.0, -1.0), (-1.0, 0.0)),
    (np.copysign, (-2.0, -1.0), (1.0, 0.0)),
    (np.copysign, (-2.0, 0.0), (-1.0, 0.0)),
    (np.copysign, (2.0, -0.0), (-1.0, 0.0)),
    (np.copysign, (0.0, -1.0), (0.0, 0.0)),
    (np.heaviside, (0.0, 0.5), (0.0, 1.0)),
    (np.heaviside, (2.0, 0.5), (0.0, 0.0)),
    (np.heaviside, (-2.0, 0.5), (0.0, 0.0)),
    (np.nextafter, (1.0, 2.0), (1.0, 0.0)),
    (np.ldexp, (1.5, 3), (8.0, 0.0)),
    (np.ldexp, (0.0, -3), (0.125, 0.0)),
    (np.hypot, (0.0, 0.0), (0.0, 0.0)),
    (np.hypot, (-0.0, 3.0), (0.0, 1.0)),
    (np.hypot, (3.0, -4.0), (0.6, -0.8)),
    (np.hypot, (inf, 1.0), (1.0, 0.0)),
    (np.hypot, (-2.0, -inf), (0.0, -1.0)),
    (np.hypot, (inf, -inf), (np.sqrt(0.5), -np.sqrt(0.5))),
    (np.arctan2, (0.0, 0.0), (0.0, 0.0)),
    (np.arctan2, (0.0, -2.0), (-0.5, 0.0)),
    (np.arctan2, (2.0, 0.0), (0.0, -0.5)),
    (np.arctan2, (inf, 1.0), (0.0, 0.0)),
    (np.arctan2, (1.0, -inf), (0.0, 0.0)),
    (np.arctan2, (-inf, inf), (0.0, 0.0)),
    (np.arctan2, (1e-200, 1e-200), (5e199, -5e199)),
    (np.logaddexp, (-inf, -inf), (0.5, 0.5)),
    (np.logaddexp, (inf, inf), (0.5, 0.5)),
    (np.logaddexp, (2.0, 2.0), (0.5, 0.5)),
    (np.logaddexp, (0.0, -inf), (1.0, 0.0)),
    (np.logaddexp, (-inf, 0.0), (0.0, 1.0)),
    (np.logaddexp, (inf, 0.0), (1.0, 0.0)),
    (np.logaddexp, (inf, -inf), (1.0, 0.0)),
    (np.logaddexp, (1e3, -1e3), (1.0, 0.0)),
    (np.logaddexp, (1e307, -1e307), (1.0, 0.0)),
    (np.logaddexp2, (-inf, -inf), (0.5, 0.5)),
    (np.logaddexp2, (inf, inf), (0.5, 0.5)),
    (np.logaddexp2, (-inf, 0.0), (0.0, 1.0)),
    (np.logaddexp2, (5000.0, -5000.0), (1.0, 0.0)),
    (np.tanh, (1000.0,), (0.0,)),
    (np.tanh, (-inf,), (0.0,)),
    (np.tanh, (1000 + 1j,), (0.0,)),
    (np.tanh, (0.0,), (1.0,)),
    (np.tan, (1 + 1000j,), (0.0,)),
    (np.arctan, (inf,), (0.0,)),
    (np.arctan, (-1e300,), (0.0,)),
    (np.arcsinh, (1e300,), (1e-300,)),
    (np.exp, (-inf,), (0.0,)),
    (np.exp2, (-inf,), (0.0,)),
    (np.log, (inf,), (0.0,)),
    (np.divide, (0.0, 2.0), (0.5, -0.0)),
]


@pytest.mark.parametrize(("f", "args", "wanted"), AT_KINKS)
def test_one_member_of_the_generalised_derivative_and_never_nan(f, args, wanted):
    assert gradient(f, *args) == wanted


INFINITE = [
    (np.sqrt, 0.0, inf),
    (np.sqrt, -0.0, inf),
    (np.cbrt, 0.0, inf),
    (np.cbrt, -0.0, inf),
    (np.log, 0.0, inf),
    (np.log2, 0.0, inf),
    (np.log10, 0.0, inf),
    (np.log1p, -1.0, inf),
    (np.reciprocal, 0.0, -inf),
    (np.arcsin, 1.0, inf),
    (np.arcsin, -1.0, inf),
    (np.arccos, 1.0, -inf),
    (np.arccosh, 1.0, inf),
    (np.arctanh, 1.0, inf),
]


@pytest.mark.parametrize("number", [float, np.float64, np.float32, np.float16])
@pytest.mark.parametrize(("f", "x", "wanted"), INFINITE)
def test_an_infinite_derivative_is_infinite_in_every_type(f, x, wanted, number):
    with np.errstate(divide="ignore"):
        _, pullback = rrule(f, number(x))
        assert pullback(number(1))[1] == wanted
        assert frule((NoTangent(), number(1)), f, number(x))[1] == wanted


@pytest.mark.parametrize("zero", [0, 0.0, np.float64(0)])
def test_division_by_zero_is_infinite_and_does_not_raise(zero):
    with np.errstate(divide="ignore"):
        _, pullback = rrule(np.divide, 3.0, zero)
        assert unthunk(pullback(1.0)[1]) == inf


def test_several_outputs():
    q_and_r, pullback = rrule(np.divmod, 7.5, 2.0)
    assert q_and_r == (3.0, 1.5)
    assert [unthunk(bar) for bar in pullback((100.0, 1.0))[1:]] == [1.0, -3.0]
    assert frule((NoTangent(), 1.0, 10.0), np.divmod, 7.5, 2.0)[1] == (NoTangent(), -29.0)
    _, pullback = rrule(np.modf, -2.75)
    assert pullback((1.0, 100.0))[1] == 1.0
    _, pullback = rrule(np.frexp, np.array([12.0, -0.3, 0.0]))
    np.testing.assert_array_equal(pullback((np.ones(3), NoTangent()))[1], [1 / 16, 2.0, 1.0])


@pytest.mark.parametrize("f", [np.modf, np.frexp, np.divmod], ids=lambda f: f.__name__)
def test_an_unused_output_has_a_zero_cotangent(f):
    args = (2.75, 2.0)[: f.nin]
    _, pullback = rrule(f, *args)
    for ybar in (ZeroTangent(), (ZeroTangent(), ZeroTangent())):
        assert all(isinstance(unthunk(bar), AbstractZero) for bar in pullback(ybar))


# ---------------------------------------------------------------------- differentiated again


class Dual(NDArrayOperatorsMixin):
    """A number with a tangent, as an array type of its own: forward mode in twenty lines, to any order."""

    def __init__(self, value, tangent, level):
        self.value, self.tangent, self.level = value, tangent, level
        self.shape, self.dtype = value.shape, value.dtype

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        values, tangents, level = split(inputs)
        y, dy = frule((NoTangent(), *tangents), ufunc, *values)
        return y if isinstance(dy, AbstractZero) else Dual(y, dy, level)

    def __array_function__(self, function, types, args, kwargs):
        if function is np.real:
            return np.real(self.value)
        assert function is np.where
        condition, *branches = args
        values, tangents, level = split(branches)
        numbers = [np.float64(0) if isinstance(dx, AbstractZero) else dx for dx in tangents]
        return Dual(np.where(condition, *values), np.where(condition, *numbers), level)


def split(xs):
    """Values and tangents of the highest level."""
    level = max(x.level for x in xs if isinstance(x, Dual))
    moving = [isinstance(x, Dual) and x.level == level for x in xs]
    values = [x.value if moves else x for x, moves in zip(xs, moving, strict=True)]
    tangents = [x.tangent if moves else ZeroTangent() for x, moves in zip(xs, moving, strict=True)]
    return values, tangents, level


def derivative(f, level=1):
    def df(x):
        y = f(Dual(np.float64(x) if not isinstance(x, Dual) else x, np.float64(1), level))
        return y.tangent if isinstance(y, Dual) and y.level == level else np.float64(0)

    return df


HIGHER = [
    # function, point, second derivative, third derivative
    (np.tanh, 0.0, 0.0, -2.0),
    (np.tanh, 1000.0, 0.0, 0.0),
    (np.arctan, 0.0, 0.0, -2.0),
    (np.arcsinh, 0.0, 0.0, -1.0),
    (np.arcsinh, 1.0, -(2**-1.5), 2**-1.5 / 2),
    (np.arcsin, 0.0, 0.0, 1.0),
    (np.tan, 0.0, 0.0, 2.0),
    (np.expm1, 0.5, np.exp(0.5), np.exp(0.5)),
    (np.log1p, 1.0, -0.25, 0.25),
    (np.exp2, 1.0, 2 * np.log(2) ** 2, 2 * np.log(2) ** 3),
    (np.sqrt, 4.0, -1 / 32, 3 / 256),
    (np.cbrt, 8.0, -2 / 9 / 32, 10 / 27 / 256),
    (np.reciprocal, 2.0, 1 / 4, -3 / 8),
    (lambda x: np.power(x, 2), 0.0, 2.0, 0.0),
    (lambda x: np.power(x, 1), 0.0, 0.0, 0.0),
    (lambda x: np.power(x, 0), 0.0, 0.0, 0.0),
    (lambda x: np.power(x, 3.0), 0.0, 0.0, 6.0),
    (lambda x: np.power(x, np.array(3.0)), 0.0, 0.0, 6.0),
    (lambda x: np.power(2.0, x), 3.0, 8 * np.log(2) ** 2, 8 * np.log(2) ** 3),
    (lambda x: np.power(x, x), 1.0, 2.0, 3.0),
    (lambda x: np.divide(1.0, x), 2.0, 1 / 4, -3 / 8),
    (lambda x: np.divide(x, x * x), 2.0, 1 / 4, -3 / 8),
    (lambda x: np.hypot(x, 3.0), 4.0, 9 / 125, -108 / 3125),
    (lambda x: np.arctan2(x, 1.0), 0.0, 0.0, -2.0),
    (lambda x: np.arctan2(x, 1.0), 1.0, -0.5, 0.5),
    (lambda x: np.arctan2(1.0, x), 1.0, 0.5, -0.5),
    (lambda x: np.logaddexp(x, 0.0), 0.0, 0.25, 0.0),
    (lambda x: np.logaddexp(0.0, x), 0.0, 0.25, 0.0),
    (lambda x: np.logaddexp(x, 0.0), 1000.0, 0.0, 0.0),
    (lambda x: np.logaddexp(0.0, 2 * x), 0.0, 1.0, 0.0),
    (lambda x: np.logaddexp(np.log(3.0) + x, 0.0), 0.0, 3 / 16, -3 / 32),
    (np.absolute, 0.0, 0.0, 0.0),
    (lambda x: np.maximum(x, 0.0), 0.0, 0.0, 0.0),
    (lambda x: np.remainder(x * x, 2.0), 1.5, 2.0, 0.0),
    (lambda x: np.fmod(2.0, x * x), 0.8, -6.0, 0.0),
]


@pytest.mark.parametrize(("f", "x", "second", "third"), HIGHER)
def test_partial_derivatives_can_be_differentiated_again(f, x, second, third):
    assert derivative(derivative(f), level=2)(x) == pytest.approx(second, rel=1e-13, abs=1e-13)
    assert derivative(derivative(derivative(f), level=2), level=3)(x) == pytest.approx(third, rel=1e-12, abs=1e-12)


def test_the_mixed_derivative_of_a_power_at_exponent_zero():
    """∂²xᵖ/∂p∂x = xᵖ⁻¹ (1 + p log x) = 1/x at p = 0."""
    x = np.float64(2.0)
    of_x = frule((NoTangent(), np.float64(1), NoTangent()), np.power, x, Dual(np.float64(0.0), np.float64(1.0), 1))[1]
    assert of_x.value == 0
    assert of_x.tangent == 0.5
