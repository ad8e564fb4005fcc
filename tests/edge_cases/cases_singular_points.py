"""Singular points: a derivative is infinite, or 0/0 in the formula that comes to mind first."""

import math

import mpmath as mp
import numpy as np
import scipy.special
from edge_case import case, slope

from rulescore.ad import primitives

special = primitives(scipy.special)  # those of its functions that are no ufuncs do not see what is differentiated

nan, inf = np.nan, np.inf
ROOT_HALF = math.sqrt(0.5)
INFINITE = "an infinite derivative is inf"
AT_ZERO = "the norm at 0 gives 0"
UNDETERMINED = "∞ · 0: the derivative of the root at 0 is ∞; `abs` has 0"
TO_EACH = "the limit along a = b, as for ties"
SLOPE_OF_NORM_3 = [slope(lambda a, b: (a**3 + b**3) ** (1 / 3), 3.0, 4.0, argument=i) for i in (0, 1)]


def log_of_gamma(x):
    return mp.log(abs(mp.gamma(x)))


def softmax(a, b):
    return mp.exp(a) / (mp.exp(a) + mp.exp(b))


TITLE = "Singular points"
CASES = [
    case("sqrt(0)", np.sqrt, 0.0, gradient=inf, why=INFINITE),
    case("sqrt(x**2) at 0", lambda x: np.sqrt(x**2), 0.0, gradient=nan, also=(0,), why=UNDETERMINED),
    case("x**0.5 at 0", lambda x: x**0.5, 0.0, gradient=inf, why=INFINITE),
    case("cbrt(0)", np.cbrt, 0.0, gradient=inf, why=INFINITE),
    case("log(0)", np.log, 0.0, gradient=inf, why=INFINITE),
    case("1/x at 0", lambda x: 1 / x, 0.0, gradient=-inf, why=INFINITE),
    case("reciprocal(0)", np.reciprocal, 0.0, gradient=-inf, why=INFINITE),
    case("arcsin(1)", np.arcsin, 1.0, gradient=inf, why=INFINITE),
    case("arccosh(1)", np.arccosh, 1.0, gradient=inf, why=INFINITE),
    case("arctan2(0,0) wrt both", np.arctan2, 0.0, 0.0, gradient=(0, 0), why="the mean over all directions"),
    case(
        "hypot(0,0) wrt both",
        np.hypot,
        0.0,
        0.0,
        gradient=(0, 0),
        also=((0.5, 0.5), (ROOT_HALF, ROOT_HALF)),
        why=AT_ZERO,
    ),
    case("sinc(0)", np.sinc, 0.0, gradient=0, why="sinc is even"),
    case(
        "d2 sinc at 0 (= -π²/3 = -3.2899)",
        np.sinc,
        0.0,
        second=-(math.pi**2) / 3,
        why="its series is 1 - π²x²/6 + ...",
    ),
    case("sinc(1e-8)", np.sinc, 1e-8, gradient=-(math.pi**2) / 3 * 1e-8),
    case("norm(zeros(3))", np.linalg.norm, [0.0, 0.0, 0.0], gradient=[0, 0, 0], why=AT_ZERO),
    case(
        "norm(zeros(3),ord=1)",
        lambda x: np.linalg.norm(x, ord=1),
        [0.0, 0.0, 0.0],
        gradient=[0, 0, 0],
        also=([1, 1, 1],),
        why=AT_ZERO,
    ),
    case(
        "norm([3,3,0],ord=inf)",
        lambda x: np.linalg.norm(x, ord=inf),
        [3.0, 3.0, 0.0],
        gradient=[0.5, 0.5, 0],
        also=([1, 0, 0], [0, 1, 0]),
        why="ties share equally",
    ),
    case(
        "norm([3,0,4],ord=3)",
        lambda x: np.linalg.norm(x, ord=3),
        [3.0, 0.0, 4.0],
        gradient=[3**2 / 91 ** (2 / 3), 0, 4**2 / 91 ** (2 / 3)],
        why="xᵢ² / ‖x‖²",
    ),
    case(
        "norm([3,0,4],ord=1.5)",
        lambda x: np.linalg.norm(x, ord=1.5),
        [3.0, 0.0, 4.0],
        gradient=[math.sqrt(3) / (3**1.5 + 8) ** (1 / 3), 0, 2 / (3**1.5 + 8) ** (1 / 3)],
        why="√(xᵢ / ‖x‖)",
    ),
    case(
        "norm([3,0],ord=1)",
        lambda x: np.linalg.norm(x, ord=1),
        [3.0, 0.0],
        gradient=[1, 0],
        also=([1, 1], [1, -1]),
        why="0 of [-1, 1], as for `abs`",
    ),
    case(
        "norm rows, one zero row",
        lambda x: np.linalg.norm(x, axis=1),
        [[3.0, 4.0], [0.0, 0.0]],
        gradient=[[0.6, 0.8], [0, 0]],
        tangent=[1.4, 0],
        why=AT_ZERO,
    ),
    case("std(ones(3))", np.std, [1.0, 1.0, 1.0], gradient=[0, 0, 0], why="a norm of the deviations, at 0"),
    case("var(ones(3))", np.var, [1.0, 1.0, 1.0], gradient=[0, 0, 0]),
    case("std of 1 elt", np.std, [1.0], gradient=[0], why="it is 0 for every x"),
    case(
        "std ddof=1 of 1 elt",
        lambda x: np.std(x, ddof=1),
        [1.0],
        gradient=[0],
        also=([nan],),
        why="the value is 0/0 for every x, and so it is constant",
    ),
    case(
        "logaddexp(-inf,-inf) wrt both",
        np.logaddexp,
        -inf,
        -inf,
        gradient=(0.5, 0.5),
        why=TO_EACH,
    ),
    case("logaddexp(0,-inf) wrt both", np.logaddexp, 0.0, -inf, gradient=(1, 0)),
    case(
        "logaddexp(inf,inf) wrt both",
        np.logaddexp,
        inf,
        inf,
        gradient=(0.5, 0.5),
        why="the limit along a = b; the two must sum to 1",
    ),
    case("logaddexp(1e3,-1e3) wrt both", np.logaddexp, 1e3, -1e3, gradient=(1, 0)),
    case("logsumexp([-inf,-inf])", special.logsumexp, [-inf, -inf], gradient=[0.5, 0.5], why=TO_EACH),
    case("logsumexp([0,-inf])", special.logsumexp, [0.0, -inf], gradient=[1, 0]),
    case(
        "xlogy(0,0) wrt both",
        scipy.special.xlogy,
        0.0,
        0.0,
        gradient=(-inf, 0),
        why="log 0 by x; by y it is constant, since xlogy(0, y) is 0",
    ),
    case("erfinv(1)", scipy.special.erfinv, 1.0, gradient=inf, why=INFINITE),
    case("gammaln(0)", scipy.special.gammaln, 0.0, gradient=-inf, why="of -log x, from above as 0 is not -0"),
    case("gammaln(-1.5)", scipy.special.gammaln, -1.5, gradient=slope(log_of_gamma, -1.5)),
    case("gamma(-1.5)", scipy.special.gamma, -1.5, gradient=slope(mp.gamma, -1.5)),
    case("digamma(0)", scipy.special.digamma, 0.0, gradient=inf, why="of -1/x, from both sides"),
    case("tanh(1000)", np.tanh, 1000.0, gradient=0),
    case("expit(-1000)", scipy.special.expit, -1000.0, gradient=0, why="exp(-1000), which float64 has not"),
    case("log1p(-1)", np.log1p, -1.0, gradient=inf, why=INFINITE),
    case("xlogy(0,3) wrt both", scipy.special.xlogy, 0.0, 3.0, gradient=(math.log(3), 0)),
    case("entr(0)", scipy.special.entr, 0.0, gradient=inf, why=INFINITE),
    case("logit(0)", scipy.special.logit, 0.0, gradient=inf, why=INFINITE),
    case("i0(0)", np.i0, 0.0, gradient=0, why="I₀′ = I₁, and I₁(0) = 0"),
    case("i1(0)", scipy.special.i1, 0.0, gradient=0.5, why="its series is x/2 + x³/16 + ..."),
    case(
        "logsumexp([0,5],b=[1,0]) / where",
        lambda x: special.logsumexp(x, b=np.array([1.0, 0.0])),
        [0.0, 5.0],
        gradient=[1, 0],
        why="it is log exp x₀",
    ),
    case(
        "softmax([1000,0])[0]",
        lambda x: special.softmax(x)[0],
        [1000.0, 0.0],
        gradient=[slope(softmax, 1000.0, 0.0, argument=i) for i in (0, 1)],
        why="∓exp(-1000), which float64 has not",
    ),
    case("norm(complex zeros)", np.linalg.norm, [0j, 0j], gradient=[0, 0], tangent=0, why=AT_ZERO),
    case("std complex const", np.std, [1 + 1j, 1 + 1j], gradient=[0, 0], tangent=0, why=AT_ZERO),
    case("sqrt(0+0j)", np.sqrt, 0j, gradient=complex(inf, nan), tangent=complex(inf, nan), why=INFINITE),
    case("power(0j, 2)", lambda z: np.power(z, 2), 0j, gradient=0, tangent=0),
    case("log(-1+0j)", np.log, -1 + 0j, gradient=-1, tangent=-1),
]
