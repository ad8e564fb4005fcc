"""The derivatives of ufuncs against mpmath: to the last digits, in every precision, out to the ends of the range."""

import mpmath as mp
import numpy as np
import pytest

from rulescore import NoTangent, frule, rrule, unthunk

EPSILONS = 16  # of relative error that a derivative may have


@pytest.fixture(autouse=True)
def _hundred_digits():
    with mp.workdps(100):
        yield


def exactly(x):
    """A float, longdouble or complex number as mpmath's."""
    if np.iscomplexobj(x):
        return mp.mpc(exactly(x.real), exactly(x.imag))
    mantissa, exponent = np.frexp(x)
    head = float(mantissa)
    return mp.ldexp(mp.mpf(head) + mp.mpf(float(mantissa - type(mantissa)(head))), int(exponent))


def slope(f, at, *others, argument=0):
    """∂f/∂argument by a finite difference in 520 digits: as many as cosh has to differ from 1 at 1e-200."""
    with mp.workdps(520):
        step = mp.mpf(10) ** -60 * (abs(at) if at else 1)
        above, below = (f(*others[:argument], t, *others[argument:]) for t in (at + step, at - step))
        return (above - below) / (2 * step)


def cotangents(f, *args):
    y, pullback = rrule(f, *args)
    return [unthunk(bar) for bar in pullback(type(y)(1))[1:]]


def tangent(f, args, argument):
    tangents = [NoTangent()] * len(args)
    tangents[argument] = type(args[argument])(1)
    return frule((NoTangent(), *tangents), f, *args)[1]


def is_ordinary(f, *args):
    """Whether the function itself neither overflows nor leaves its domain there."""
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        try:
            return bool(np.isfinite(f(*args)))
        except FloatingPointError:
            return False


def is_normal(truth, dtype):
    limits = np.finfo(dtype)
    return exactly(limits.smallest_normal) <= abs(truth) <= exactly(limits.max) / 2


def assert_accurate(found, truth, dtype):
    assert np.isfinite(found)
    assert abs(exactly(found) - truth) <= EPSILONS * float(np.finfo(dtype).eps) * abs(truth), (found, truth)


WIDE = (0.0, 1e-8, 0.3, -0.7, 1.0, 2.5, -3.0, 11.0, -40.0, 80.0, 700.0, -1000.0, 1e5, -1e200, 1e-200, 1e-30)
BELOW_ONE = (0.0, 1e-8, 0.3, -0.7, 0.999, -0.99999, 1 - 1e-12, -1 + 1e-15, 1e-200)
LOG2, LOG10 = (lambda x: mp.log(x, 2)), (lambda x: mp.log(x, 10))

UNARY = {
    np.exp: (mp.exp, WIDE),
    np.exp2: (lambda x: mp.power(2, x), WIDE),
    np.expm1: (mp.expm1, WIDE),
    np.log: (mp.log, [x for x in WIDE if x > 0]),
    np.log2: (LOG2, [x for x in WIDE if x > 0]),
    np.log10: (LOG10, [x for x in WIDE if x > 0]),
    np.log1p: (mp.log1p, [x for x in WIDE if x > -1] + [-0.999, -1 + 1e-12]),
    np.sin: (mp.sin, (0.0, 1e-8, 0.3, -0.7, 1.5, 3.0, -4.0, 1e-200)),
    np.cos: (mp.cos, (1e-8, 0.3, -0.7, 1.5, 3.0, -4.0, 1e-200)),
    np.tan: (mp.tan, (0.0, 1e-8, 0.3, -0.7, 1.5, np.pi / 2 - 1e-9, 3.0, -4.0, 1e-200)),
    np.sinh: (mp.sinh, WIDE),
    np.cosh: (mp.cosh, [x for x in WIDE if x]),
    np.tanh: (mp.tanh, (0.0, 1e-8, 0.3, -0.7, 2.5, 4.5, 9.0, -11.0, 20.0, -40.0, 80.0, -350.0)),
    np.arcsin: (mp.asin, BELOW_ONE),
    np.arccos: (mp.acos, BELOW_ONE),
    np.arctan: (mp.atan, (*WIDE, 1e150, 300.0, 1e18)),
    np.arcsinh: (mp.asinh, WIDE),
    np.arccosh: (mp.acosh, (1 + 1e-12, 1.001, 1.5, 40.0, 1e5, 1e200)),
    np.arctanh: (mp.atanh, BELOW_ONE),
    np.sqrt: (mp.sqrt, [x for x in WIDE if x > 0] + [1e-300]),
    np.cbrt: (lambda x: mp.sign(x) * mp.cbrt(abs(x)), [x for x in WIDE if x] + [1e-300]),
    np.square: (lambda x: x * x, [x for x in WIDE if x]),
    np.reciprocal: (lambda x: 1 / x, [x for x in WIDE if x] + [1e-150, 1e150]),
    np.degrees: (mp.degrees, (0.3, -1e200)),
    np.rad2deg: (mp.degrees, (0.3, -1e200)),
    np.radians: (mp.radians, (0.3, -1e200)),
    np.deg2rad: (mp.radians, (0.3, -1e200)),
    np.absolute: (abs, [x for x in WIDE if x] + [1e-300]),
    np.fabs: (abs, [x for x in WIDE if x] + [1e-300]),
}


def rounded(points, dtype):
    """The points in a lower precision, without those that overflow or are rounded to 0 or ±1, singular for some."""
    with np.errstate(over="ignore"):
        pairs = [(x, dtype(x)) for x in points]
    return [r for x, r in pairs if np.isfinite(r) and (r in (0, 1, -1)) == (x in (0, 1, -1))]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
@pytest.mark.parametrize("f", UNARY, ids=lambda f: f.__name__)
def test_unary_derivatives_are_accurate(f, dtype):
    of_mpmath, points = UNARY[f]
    compared = 0
    for x in rounded(points, dtype):
        truth = slope(of_mpmath, exactly(x)) if is_ordinary(f, x) else mp.inf
        if is_normal(truth, dtype):
            (xbar,) = cotangents(f, x)
            assert_accurate(xbar, truth, dtype)
            assert_accurate(tangent(f, (x,), 0), truth, dtype)
            compared += 1
    assert compared


def mp_fmod(a, b):
    quotient = a / b
    return a - b * (mp.floor(quotient) if quotient > 0 else mp.ceil(quotient))


LARGE_AND_SMALL = [
    (0.3, 0.7),
    (-2.0, 0.5),
    (1e200, 1e200),
    (1e-200, 1e-200),
    (-1e-200, 1e-190),
    (1e200, -1.5e199),
    (3.0, 1e-20),
    (1e-20, -3.0),
]
EXPONENTS = [
    (0.3, 0.7),
    (2.0, -2.0),
    (0.0, -50.0),
    (1e3, -50.0 + 1e3),
    (1e10, 1e10 + 1),
    (-700.0, 3.0),
    (-1e4, -1e4 - 1),
]
DIVISIONS = [
    (0.3, 0.7),
    (-0.3, 0.7),
    (7.3, 2.0),
    (-7.3, 2.0),
    (7.3, -2.0),
    (0.3, 0.1),
    (1e6 + 0.5, 1.0),
    (1e-200, 3e-201),
]
POWERS = [
    (0.3, 0.7),
    (2.0, 3.0),
    (2.0, -1.5),
    (1e-100, 2.0),
    (1e-200, 1.25),
    (1e100, 2.5),
    (0.5, 1000.0),
    (1 + 1e-12, 1e6),
]

BINARY = {
    np.add: (lambda a, b: a + b, LARGE_AND_SMALL),
    np.subtract: (lambda a, b: a - b, LARGE_AND_SMALL),
    np.multiply: (lambda a, b: a * b, [(0.3, 0.7), (-2.0, 1e200), (1e-200, 3.0)]),
    np.divide: (lambda a, b: a / b, LARGE_AND_SMALL),
    np.hypot: (mp.hypot, LARGE_AND_SMALL),
    np.arctan2: (mp.atan2, LARGE_AND_SMALL),
    np.logaddexp: (lambda a, b: mp.log(mp.exp(a) + mp.exp(b)), EXPONENTS),
    np.logaddexp2: (lambda a, b: mp.log(mp.power(2, a) + mp.power(2, b), 2), EXPONENTS),
    np.remainder: (lambda a, b: a - b * mp.floor(a / b), DIVISIONS),
    np.fmod: (mp_fmod, DIVISIONS),
    np.power: (mp.power, POWERS),
    np.float_power: (mp.power, POWERS),
    np.maximum: (max, LARGE_AND_SMALL),
    np.fmin: (min, LARGE_AND_SMALL),
}


@pytest.mark.parametrize("argument", [0, 1])
@pytest.mark.parametrize("f", BINARY, ids=lambda f: f.__name__)
def test_binary_derivatives_are_accurate(f, argument):
    of_mpmath, points = BINARY[f]
    for point in points:
        args = tuple(map(np.float64, point))
        exact = list(map(exactly, args))
        at = exact.pop(argument)
        truth = slope(of_mpmath, at, *exact, argument=argument)
        for found in (cotangents(f, *args)[argument], tangent(f, args, argument)):
            if truth == 0 or not is_normal(truth, np.float64):
                assert abs(found) <= np.finfo(np.float64).smallest_normal, (point, found, truth)
            else:
                assert_accurate(found, truth, np.float64)


def test_a_float32_base_does_not_spoil_the_derivative_of_a_float64_exponent():
    base, p = np.array([0.1, 3.0], np.float32), np.array([1.5, -0.3])
    _, pullback = rrule(np.power, base, p)
    pbar = unthunk(pullback(np.ones(2))[2])
    for b, q, found in zip(base, p, pbar, strict=True):
        assert_accurate(found, slope(mp.power, exactly(q), exactly(b), argument=1), np.float64)


def test_a_float16_exponent_does_not_spoil_the_derivative_of_a_float64_base():
    x, p = np.array([0.1, 3.0]), np.array([0.1, 500.25], np.float16)
    _, pullback = rrule(np.power, x, p)
    xbar = unthunk(pullback(np.ones(2))[1])
    for b, q, found in zip(x, p, xbar, strict=True):
        assert_accurate(found, slope(mp.power, exactly(b), exactly(q)), np.float64)


# ---------------------------------------------------------------------- complex numbers

OFF_THE_AXES = (0.3 + 0.4j, -0.7 + 0.2j, 1.5 - 2.0j, -2.5 - 0.3j, 1e-8 + 1e-9j)
FAR_AND_NEAR = (1e100 + 1e100j, 1 + 1e-10 + 1e-12j, -1 + 1e-11j, 1e-12 + 1j, 1e-12 - 1.0000001j, 1e200 - 1e199j)

HOLOMORPHIC = {
    np.exp: (mp.exp, OFF_THE_AXES),
    np.exp2: (lambda z: mp.power(2, z), OFF_THE_AXES),
    np.expm1: (mp.expm1, (*OFF_THE_AXES, -40 + 1j)),
    np.log: (mp.log, OFF_THE_AXES + FAR_AND_NEAR),
    np.log2: (LOG2, OFF_THE_AXES + FAR_AND_NEAR),
    np.log10: (LOG10, OFF_THE_AXES + FAR_AND_NEAR),
    np.log1p: (lambda z: mp.log(1 + z), OFF_THE_AXES + FAR_AND_NEAR),
    np.sin: (mp.sin, OFF_THE_AXES),
    np.cos: (mp.cos, OFF_THE_AXES),
    np.tan: (mp.tan, (*OFF_THE_AXES, 1 + 20j, 1 - 200j)),
    np.sinh: (mp.sinh, OFF_THE_AXES),
    np.cosh: (mp.cosh, OFF_THE_AXES),
    np.tanh: (mp.tanh, (*OFF_THE_AXES, 20 + 1j, -200 + 1j)),
    np.arcsin: (mp.asin, OFF_THE_AXES + FAR_AND_NEAR),
    np.arccos: (mp.acos, OFF_THE_AXES + FAR_AND_NEAR),
    np.arctan: (mp.atan, OFF_THE_AXES + FAR_AND_NEAR[:-1]),
    np.arcsinh: (mp.asinh, OFF_THE_AXES + FAR_AND_NEAR),
    np.arccosh: (mp.acosh, OFF_THE_AXES + FAR_AND_NEAR),
    np.arctanh: (mp.atanh, OFF_THE_AXES + FAR_AND_NEAR[:-1]),
    np.sqrt: (mp.sqrt, OFF_THE_AXES + FAR_AND_NEAR),
    np.square: (lambda z: z * z, OFF_THE_AXES),
    np.reciprocal: (lambda z: 1 / z, OFF_THE_AXES),
}


@pytest.mark.parametrize("f", HOLOMORPHIC, ids=lambda f: f.__name__)
def test_complex_derivatives_are_accurate(f):
    of_mpmath, points = HOLOMORPHIC[f]
    for z in map(np.complex128, points):
        truth = slope(of_mpmath, exactly(z))
        assert_accurate(tangent(f, (z,), 0), truth, np.float64)
        assert_accurate(cotangents(f, z)[0], mp.conj(truth), np.float64)


CUTS = {
    np.arcsin: (mp.asin, (2, -2), 1j),
    np.arccos: (mp.acos, (2, -2), 1j),
    np.arccosh: (mp.acosh, (0.3, -2), 1j),
    np.arcsinh: (mp.asinh, (2j, -2j), 1),
    np.sqrt: (mp.sqrt, (-2,), 1j),
    np.arctan: (mp.atan, (2j, -2j), 1),
    np.arctanh: (mp.atanh, (2, -2), 1j),
    np.log: (mp.log, (-2,), 1j),
}


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("f", CUTS, ids=lambda f: f.__name__)
def test_on_a_branch_cut_the_sign_of_zero_picks_the_side(f, side):
    of_mpmath, points, across = CUTS[f]
    for point in map(complex, points):
        zero = side * 0.0
        z = np.complex128(complex(point.real, zero) if across == 1j else complex(zero, point.imag))
        truth = slope(of_mpmath, mp.mpc(point) + mp.mpc(across) * side * mp.mpf(10) ** -40)
        assert_accurate(tangent(f, (z,), 0), truth, np.float64)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_the_exponent_of_a_power_knows_the_side_of_the_cut(side):
    z, p = np.complex128(complex(-2.0, side * 0.0)), np.complex128(0.5)
    truth = np.sqrt(z) * complex(np.log(2), side * np.pi)
    assert tangent(np.power, (z, p), 1) == pytest.approx(truth, rel=1e-14)


NOT_HOLOMORPHIC = {
    np.absolute: lambda x, y: mp.sqrt(x * x + y * y),
    np.conjugate: lambda x, y: mp.mpc(x, -y),
    np.sign: lambda x, y: mp.mpc(x, y) / mp.sqrt(x * x + y * y),
    np.square: lambda x, y: mp.mpc(x, y) ** 2,
    np.sqrt: lambda x, y: mp.sqrt(mp.mpc(x, y)),
}


@pytest.mark.parametrize("f", NOT_HOLOMORPHIC, ids=lambda f: f.__name__)
@pytest.mark.parametrize("z", [0.3 + 0.4j, -1.5 + 2j, -1e-3 - 2j, 1e150 - 1e149j])
def test_complex_numbers_are_differentiated_as_pairs_of_real_ones(f, z):
    parts, z = NOT_HOLOMORPHIC[f], np.complex128(z)
    x, y = exactly(z.real), exactly(z.imag)
    of_x, of_y = slope(parts, x, y), slope(parts, y, x, argument=1)
    dz, ybar = mp.mpc(0.6, -1.3), mp.mpc(0.9, 0.4) if np.iscomplexobj(f(z)) else mp.mpf(0.9)
    wanted_dy = of_x * dz.real + of_y * dz.imag
    # L = Re(conj(ȳ) f): z̄ = ∂L/∂x + i ∂L/∂y
    wanted_zbar = mp.mpc((mp.conj(ybar) * of_x).real, (mp.conj(ybar) * of_y).real)
    dy = frule((NoTangent(), np.complex128(0.6 - 1.3j)), f, z)[1]
    _, pullback = rrule(f, z)
    zbar = pullback(np.complex128(ybar) if np.iscomplexobj(f(z)) else np.float64(ybar))[1]
    scale = abs(of_x) + abs(of_y)
    assert abs(exactly(dy) - wanted_dy) <= 1e-14 * scale
    assert abs(exactly(zbar) - wanted_zbar) <= 1e-14 * scale
