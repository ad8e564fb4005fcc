"""The derivatives of special functions against mpmath, over their domains: near singularities, small and large."""

import mpmath as mp
import numpy as np
import pytest
from scipy import special

from rules.scipy.special.error_functions import faddeeva
from rulescore import NoTangent, frule, rrule, unthunk


@pytest.fixture(autouse=True)
def _fifty_digits():
    with mp.workdps(50):
        yield


def slope(f, arguments, position):
    """∂f/∂argument by a difference of the fourth order in 120 digits, from the side where f is real."""
    with mp.workdps(120):
        exact = list(map(mp.mpmathify, arguments))
        step = mp.mpf(10) ** -25 * (abs(exact[position]) or 1)

        def at(multiple):
            moved = list(exact)
            moved[position] += multiple * step
            return f(*moved)

        return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * step)


def derivatives(f, arguments, position):
    """By the pullback and by the pushforward."""
    y, pullback = rrule(f, *arguments)
    bar = unthunk(pullback(type(y)(1))[1 + position])
    tangents = [NoTangent()] * (1 + len(arguments))
    tangents[1 + position] = type(arguments[position])(1)
    return np.conj(bar), frule(tuple(tangents), f, *arguments)[1]


def assert_accurate(f, of_mpmath, arguments, position, tolerance):
    truth = slope(of_mpmath, arguments, position)
    for found in derivatives(f, arguments, position):
        assert abs(mp.mpmathify(complex(found)) - truth) <= tolerance * abs(truth), (found, truth)


def normal_cdf(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def log_normal_cdf(x):
    return mp.log1p(-normal_cdf(-x)) if x > 0 else mp.log(normal_cdf(x))


def scaled_erfc(x):
    return mp.exp(x * x) * mp.erfc(x)


def dawson(x):
    return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


SMALL_TO_LARGE = (1e-10, 0.1, 0.5, 1.0, 1.46, 2.3, 10.5, 100.2)
LEFT = (-0.5, -3.3)

OF_ONE_NUMBER = {
    special.gamma: (mp.gamma, SMALL_TO_LARGE + LEFT),
    special.gammaln: (lambda x: mp.log(abs(mp.gamma(x))), SMALL_TO_LARGE + LEFT),
    special.psi: (lambda x: mp.psi(0, x), SMALL_TO_LARGE + LEFT),
    special.rgamma: (mp.rgamma, (*SMALL_TO_LARGE, *LEFT, 0.0, -1.0, -5.0, -1e-9)),
    special.erf: (mp.erf, (-3.0, 0.0, 1e-20, 2.0, 5.0)),
    special.erfc: (mp.erfc, (-3.0, 0.0, 2.0, 5.0)),
    special.erfi: (mp.erfi, (-2.0, 0.4, 5.0)),
    special.erfcx: (scaled_erfc, (-3.0, 0.0, 2.0, 6.9, 7.1, 30.0, 1e3)),
    special.dawsn: (dawson, (-30.0, -3.0, 0.0, 2.0, 6.9, 7.1)),
    special.ndtr: (normal_cdf, (-30.0, -2.0, 0.0, 3.0)),
    special.log_ndtr: (log_normal_cdf, (-40.0, -5.0, -0.1, 0.0, 1.0, 8.0, 20.0, 37.0)),
    special.expit: (lambda x: 1 / (1 + mp.exp(-x)), (-200.0, -30.0, 0.0, 0.3, 40.0)),
    special.log_expit: (lambda x: -mp.log1p(mp.exp(-x)), (-200.0, -30.0, 0.0, 0.3, 40.0)),
    special.logit: (lambda p: mp.log(p / (1 - p)), (1e-300, 0.3, 1 - 1e-10)),
    special.exprel: (lambda x: mp.expm1(x) / x, (-1000.0, -50.0, -1.0, -1e-5, 1e-9, 0.5, 3.0, 100.0)),
    special.i0e: (lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), (0.3, 4.5, -2.0, 39.0, 41.0, 1e3)),
    special.i1e: (lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), (0.3, 4.5, -2.0, 39.0, 41.0, 1e3)),
    special.k0e: (lambda x: mp.besselk(0, x) * mp.exp(x), (1e-6, 0.3, 4.5, 41.0, 1e3)),
    special.k1e: (lambda x: mp.besselk(1, x) * mp.exp(x), (1e-6, 0.3, 4.5, 41.0, 1e3)),
    special.j1: (lambda x: mp.besselj(1, x), (1e-9, 0.0, 3.0, 20.0)),
    special.k1: (lambda x: mp.besselk(1, x), (1e-6, 1.0, 30.0)),
    special.ellipk: (mp.ellipk, (-1e4, -3.0, 0.0, 1e-9, 0.3, 0.9, 1 - 1e-9)),
    special.ellipe: (mp.ellipe, (-1e4, -3.0, 0.0, 1e-9, 0.3, 0.9, 1 - 1e-9)),
    special.spence: (lambda z: mp.polylog(2, 1 - z), (0.3, 0.95, 1.0, 1.05, 1.5)),
    special.expi: (mp.ei, (0.3, -2.0, 5.0)),
    special.zetac: (
        lambda x: mp.zeta(x) - 1,
        (-255.3, -20.5, -4.0, -2.0, -0.1, -1e-9, 0.0, 0.5, 0.999, 1.5, 3.0, 50.0),
    ),
}


@pytest.mark.parametrize("f", OF_ONE_NUMBER, ids=lambda f: f.__name__)
def test_derivatives_of_one_number_are_accurate(f):
    of_mpmath, points = OF_ONE_NUMBER[f]
    for x in points:
        assert_accurate(f, of_mpmath, (np.float64(x),), 0, 1e-13)


PLANE = (0.3 + 0.2j, 1 - 2j, 5 + 1j, -9 + 3j, 3 - 4j)

OF_ONE_COMPLEX_NUMBER = {
    special.gamma: (mp.gamma, (0.3 + 0.2j, -2.2 + 1j)),
    special.loggamma: (mp.loggamma, (1 + 2j, -3.2 + 0.5j, -20 + 3j, 0.1 - 40j)),
    special.psi: (lambda z: mp.psi(0, z), (1 + 2j, -3.2 + 0.5j, 0.1 - 40j, -5 + 20j, 2 + 1e5j)),
    special.rgamma: (mp.rgamma, (1 + 2j, -3.2 + 0.5j, 0j, -2 + 0j)),
    special.erf: (mp.erf, (0.3 + 0.2j, 1 - 2j)),
    special.wofz: (lambda z: scaled_erfc(-1j * z), (*PLANE, 0j, 7.1 - 0.01j, 2 + 20j)),
    special.erfcx: (scaled_erfc, (*PLANE, 10 - 0.5j)),
    special.dawsn: (dawson, (*PLANE, 12 + 2j, -1 - 3j)),
    special.exp1: (mp.e1, (1 + 2j, 0.3 - 0.1j)),
    special.zeta: (mp.zeta, (0.5 + 14j, 2 - 3j, -1.5 + 2j)),
    special.lambertw: (mp.lambertw, (0.5 + 1j, 0j, 1e8 + 0j)),
}


@pytest.mark.parametrize("f", OF_ONE_COMPLEX_NUMBER, ids=lambda f: f.__name__)
def test_derivatives_of_one_complex_number_are_accurate(f):
    of_mpmath, points = OF_ONE_COMPLEX_NUMBER[f]
    for z in points:
        assert_accurate(f, of_mpmath, (np.complex128(z),), 0, 1e-12)


def test_derivatives_of_the_faddeeva_function_are_accurate():
    for z in PLANE:
        for n in (1, 2, 3):
            truth = mp.diff(lambda z: scaled_erfc(-1j * z), z, n)
            assert abs(mp.mpmathify(complex(faddeeva(np.complex128(z), n))) - truth) < 1e-9 * abs(truth)


def boxcox(x, power):
    return (mp.power(x, power) - 1) / power if power else mp.log(x)


def voigt(x, sigma, gamma):
    z = (x + 1j * gamma) / (sigma * mp.sqrt(2))
    return mp.re(scaled_erfc(-1j * z)) / (sigma * mp.sqrt(2 * mp.pi))


def regularised_gamma(a, x):
    """Minus the upper tail where that is the smaller one, in which mpmath keeps its digits."""
    return -mp.gammainc(a, x, mp.inf, regularized=True) if x > a else mp.gammainc(a, 0, x, regularized=True)


def regularised_beta(a, b, x):
    if x < a / (a + b):
        return mp.betainc(a, b, 0, x, regularized=True)
    return -mp.betainc(b, a, 0, 1 - x, regularized=True)


def student(df, t):
    tail = mp.betainc(df / 2, mp.mpf(1) / 2, 0, df / (df + t * t), regularized=True) / 2
    return tail if t < 0 else -tail


GAMMA_POINTS = [
    (a, x)
    for a in (1e-6, 0.01, 0.3, 2.5, 60.0)
    for x in (1.1e-6, 0.011, 0.5, 3.0, 51.0)
    if x < a + 60 and (a, x) != (60.0, 1.1e-6)  # which underflows
] + [(1e3, 990.0), (1e3, 1100.0), (1e4, 9990.0)]
BETA_POINTS = [(a, b, x) for a in (0.1, 1.0, 4.0, 40.0) for b in (0.2, 2.0, 30.0) for x in (1e-5, 0.1, 0.52, 0.9)] + [
    (300.0, 200.0, 0.58),
    (1e3, 10.0, 0.99 + 1e-4),
]
STUDENT_POINTS = [(df, t) for df in (0.01, 1.0, 3.0, 59.0, 61.0, 400.0) for t in (-50.0, -5.0, -1.6, -1.5, -0.1, 2.0)]
ORDERS = [(v, x) for v in (1e-3, 0.5, 1.0, 2.7, 10.0, -2.5) for x in (1e-8, 1e-3, 0.3, 2.0, 15.0, 300.0)]


def principal_elliprj(x, y, z, q):
    """DLMF 19.20.14, for negative q."""
    x, y, z = sorted((x, y, z))
    p = (z * (x + y - q) - x * y) / (z - q)
    last = 3 * mp.sqrt(x * y * z / (x * y - p * q)) * mp.elliprc(x * y - p * q, -p * q)
    return ((p - z) * mp.elliprj(x, y, z, p) - 3 * mp.elliprf(x, y, z) + last) / (z - q)


PRINCIPAL = [(0.3, 0.7, 2.0, -1.0), (2.5, 0.4, 1.1, -40.0), (0.5, 1.5, 3.0, -1e-3)]

OF_SEVERAL_NUMBERS = {
    (special.poch, 0): (mp.rf, [(0.5, 0.3), (30.0, 1e-3), (1e6, 0.5), (-2.0, 4.0), (-3.0, 2.0), (-2.5, 1.3)], 1e-13),
    (special.poch, 1): (mp.rf, [(0.5, 0.3), (30.0, 1e-3), (1e6, 0.5), (-2.5, 1.3)], 1e-13),
    (special.binom, 0): (mp.binomial, [(5.3, 2.1), (10.0, 3.0), (3.0, 5.0), (4.5, 7.0), (3.0, -2.0)], 1e-13),
    (special.binom, 1): (mp.binomial, [(5.3, 2.1), (10.0, 3.0), (3.0, 5.0), (4.5, 7.0), (3.0, -2.0)], 1e-13),
    (special.betaln, 0): (lambda a, b: mp.log(mp.beta(a, b)), [(0.5, 0.3), (1e6, 2.0), (1e10, 1.0)], 1e-14),
    (special.betaln, 1): (lambda a, b: mp.log(mp.beta(a, b)), [(0.5, 0.3), (1e6, 2.0), (1e-3, 1e-3)], 1e-14),
    (special.zeta, 0): (mp.zeta, [(1.0001, 0.3), (2.0, 1.0), (5.5, 3.0), (30.0, 0.2), (1.5, 1e4)], 1e-13),
    (special.zeta, 1): (mp.zeta, [(1.0001, 0.3), (2.0, 1.0), (5.5, 3.0), (30.0, 0.2), (1.5, 1e4)], 1e-13),
    (special.boxcox, 0): (boxcox, [(0.5, 0.3), (3.0, -2.0), (1e5, 0.5)], 1e-14),
    (special.boxcox, 1): (boxcox, [(0.5, 0.3), (3.0, 1e-12), (3.0, -2.0), (1e-200, 2.0), (1.1, 0.3)], 1e-14),
    (special.voigt_profile, 1): (voigt, [(0.5, 0.7, 0.3), (3.0, 0.1, 0.02), (1.0, 1e-4, 0.1)], 1e-12),
    (special.voigt_profile, 2): (voigt, [(0.5, 0.7, 0.3), (3.0, 0.1, 0.02), (1.0, 1e-4, 0.1)], 1e-12),
    (special.gammainc, 0): (regularised_gamma, GAMMA_POINTS, 1e-12),
    (special.gammainc, 1): (regularised_gamma, GAMMA_POINTS, 1e-12),
    (special.betainc, 0): (regularised_beta, BETA_POINTS, 1e-11),
    (special.betainc, 1): (regularised_beta, BETA_POINTS, 1e-11),
    (special.betainc, 2): (regularised_beta, BETA_POINTS, 1e-12),
    (special.stdtr, 0): (student, STUDENT_POINTS, 1e-10),
    (special.stdtr, 1): (student, STUDENT_POINTS, 1e-13),
    (special.kv, 0): (mp.besselk, ORDERS, 1e-11),
    (special.kve, 0): (lambda v, x: mp.besselk(v, x) * mp.exp(x), ORDERS, 1e-11),
    (special.ellipkinc, 1): (mp.ellipf, [(0.3, 0.0), (1.5, 0.9), (7.0, -3.0), (-5.0, 0.4), (0.5, 1.0)], 1e-14),
    (special.ellipeinc, 1): (mp.ellipe, [(0.3, 0.0), (1.5, 0.9), (7.0, -3.0), (-5.0, 0.4), (0.3, 0.99)], 1e-14),
    (special.elliprd, 0): (mp.elliprd, [(0.3, 0.7, 2.0), (1.0, 1.0, 1.0), (1e5, 2e5, 3e4)], 1e-13),
    (special.elliprd, 2): (mp.elliprd, [(0.3, 0.7, 2.0), (1.0, 1.0, 1.0), (1e-3, 50.0, 2.0)], 1e-13),
    (special.elliprg, 0): (mp.elliprg, [(0.3, 0.7, 2.0), (1.0, 1.0, 1.0)], 1e-14),
    (special.elliprc, 1): (mp.elliprc, [(0.3, 0.7), (1.0, 1.0), (2.0, 0.1)], 1e-13),
    (special.elliprj, 3): (mp.elliprj, [(0.3, 0.7, 2.0, 1.0), (1.0, 1.0, 1.0, 1.0)], 1e-13),
    (special.elliprj, 0): (principal_elliprj, PRINCIPAL, 1e-12),
    (special.elliprj, 1): (principal_elliprj, PRINCIPAL, 1e-12),
    (special.agm, 0): (mp.agm, [(0.3, 0.7), (1.0, 1.0), (2.0, 0.01)], 1e-14),
    (special.hyp2f1, 3): (mp.hyp2f1, [(1.5, 0.3, 2.0, 0.5), (2.0, 1.0, 0.5, -5.0)], 1e-14),
    (special.pseudo_huber, 0): (lambda d, r: d * d * (mp.sqrt(1 + (r / d) ** 2) - 1), [(1e5, 0.1), (1e-5, 3.0)], 1e-14),
    (special.owens_t, 1): (
        lambda h, a: mp.quad(lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t) / 2 / mp.pi, [0, a]),
        [(0.5, 0.3), (-2.0, 1.5)],
        1e-13,
    ),
}


def test_the_principal_value_of_the_third_elliptic_integral_has_a_derivative_in_the_last_argument():
    for arguments in (*PRINCIPAL, (0.0, 0.7, 2.0, -1.0)):
        assert_accurate(special.elliprj, principal_elliprj, tuple(map(np.float64, arguments)), 3, 1e-12)


def test_the_derivative_of_zeta_in_single_precision_is_that_in_double():
    for x in np.float32([-64.31, -40.1, -3.3, 100.0]):
        (exact, _), (bar, tangent) = (
            derivatives(special.zetac, (np.float64(x),), 0),
            derivatives(special.zetac, (x,), 0),
        )
        assert bar.dtype == np.float32
        np.testing.assert_allclose([bar, tangent], exact, rtol=2e-7)


@pytest.mark.parametrize(("f", "position"), OF_SEVERAL_NUMBERS, ids=lambda f: getattr(f, "__name__", str(f)))
def test_derivatives_of_several_numbers_are_accurate(f, position):
    of_mpmath, points, tolerance = OF_SEVERAL_NUMBERS[f, position]
    for arguments in points:
        assert_accurate(f, of_mpmath, tuple(map(np.float64, arguments)), position, tolerance)
