"""Programs that call Python's own functions and SciPy's, one for each; for traceable."""

# ruff: noqa: B008, B009, B905, C405, C406, C408, C409, C410, I001, RUF015, RUF017, UP018 -- as people write

from __future__ import annotations

import cmath
import copy
import dataclasses
import functools
import itertools
import math
import operator
import statistics
import types

import numpy as np
import scipy
import scipy.integrate
import scipy.ndimage
import scipy.signal
import scipy.spatial.transform
import scipy.interpolate
import scipy.optimize
import scipy.special as sc
from scipy import linalg, special, stats
from scipy.linalg import solve_triangular
from scipy.linalg._basic import solve as private_solve
from scipy.special import erfc, gammaln
from scipy.special._ufuncs import gamma as private_gamma
from scipy.special import expit as logistic
from scipy.stats import norm as normal

from tests.rulescore.ad.traceable_patterns import NUMBERS, PATTERNS, of_array, of_numbers

# ---------------------------------------------------------------- Python's builtins

BUILTINS = {
    "abs": lambda a, b, c: abs(-a) * abs(b) + abs(complex(a, c)),
    "all": lambda a, b, c: a * c if all([a, b, c]) and all(v > 0 for v in (a, b)) else b,
    "any": lambda a, b, c: a * c if any(v > 1 for v in (a, b, c)) else b,
    "bool": lambda a, b, c: a * b * bool(c),
    "callable": lambda a, b, c: b if callable(a) else a * c,
    "complex": lambda a, b, c: (complex(a, b) * complex(c) * complex(2, imag=a)).imag,
    "delattr": lambda a, b, c: (lambda o: (setattr(o, "x", a), delattr(o, "x"), b * c)[2])(_Bag()),
    "dict": lambda a, b, c: dict(x=a, y=b)["x"] * dict([("z", c)])["z"] + dict(zip("ab", (b, c)))["b"] ** 2,
    "divmod": lambda a, b, c: divmod(c, a)[1] * b + divmod(c, a)[0],
    "enumerate": lambda a, b, c: sum(i * v for i, v in enumerate([a, b, c**2], 1)),
    "filter": lambda a, b, c: sum(filter(lambda v: v > 0.7, [a, b, c])) * sum(filter(None, (a, b))),
    "float": lambda a, b, c: float(a) * float(b) + float(np.array([c])[0]) * float() + float("2.5") * c,
    "frozenset": lambda a, b, c: a * len(frozenset([1, 2])) * b,
    "getattr": lambda a, b, c: getattr(_Bag(x=a), "x") * getattr(_Bag(), "y", b) * getattr(c, "real"),
    "hasattr": lambda a, b, c: a * b if hasattr(_Bag(x=c), "x") and not hasattr(a, "nothing") else c,
    "id": lambda a, b, c: a * b if id(a) == id(a) else c,
    "int": lambda a, b, c: a * int(3 * c) + int(2.0) * b**2,
    "isinstance": lambda a, b, c: a * b if isinstance(c, float) and not isinstance(c, int) else c,
    "issubclass": lambda a, b, c: a * b if issubclass(type(c), float) else c,
    "iter": lambda a, b, c: next(iter([a, b])) * c + sum(iter(lambda it=iter([a, b, 0.0]): next(it), 0.0)),
    "len": lambda a, b, c: len([a, b]) * a * c,
    "list": lambda a, b, c: list((a, b))[0] * list(np.array([b, c]))[1],
    "map": lambda a, b, c: (
        sum(map(math.exp, [a, b])) + sum(map(np.asarray, (a, c))) + sum(map(lambda u, v: u * v, [a], [b]))
    ),
    "max": lambda a, b, c: max(a, b, c) * max([a, b], key=lambda v: -v) + max([], default=b),
    "min": lambda a, b, c: min(a, b, c) * min(iter([b, c])) + min([a, c], key=math.cos),
    "next": lambda a, b, c: next(v for v in (a, b, c) if v > 0.7) * next(iter(()), c),
    "pow": lambda a, b, c: pow(a, b) * pow(c, 2),
    "range": lambda a, b, c: sum(a**i * b for i in range(1, 4)) + c * range(5)[2],
    "reversed": lambda a, b, c: sum(i * v for i, v in enumerate(reversed([a, b, c**2]))),
    "round": lambda a, b, c: a * b + round(c) * a + round(1.26, 1),
    "set": lambda a, b, c: len({1, 2} | set([3])) * a * b * c,
    "setattr": lambda a, b, c: (lambda o: (setattr(o, "x", a * b), o.x * c)[1])(_Bag()),
    "slice": lambda a, b, c: sum([a, b, c][slice(1, 3)]) * a,
    "sorted": lambda a, b, c: (
        sorted([c, a, b])[1] * sorted((a, b), reverse=True)[0] + sorted([b, c], key=lambda v: -v)[0]
    ),
    "sum": lambda a, b, c: sum([a, b]) * sum((a, c), start=2.0) + sum([[a], [b]], [])[1] + sum(v * c for v in (a, b)),
    "tuple": lambda a, b, c: tuple([a, b])[0] * tuple(np.array([b, c]))[1],
    "type": lambda a, b, c: a * b if type(a) is not int and type([a]) is list else c,
    "vars": lambda a, b, c: vars(_Bag(x=a))["x"] * b * c,
    "zip": lambda a, b, c: sum(u * v for u, v in zip([a, b], (b, c), strict=True)) + list(zip(*[(a, b), (c, a)]))[0][1],
    **{name: lambda a, b, c, f=f: a * b * len(f(int(9 * c))) for name, f in (("bin", bin), ("hex", hex), ("oct", oct))},
    **{
        name: lambda a, b, c, f=f: a * b * len(f([c])) ** 0
        for name, f in (("repr", repr), ("str", str), ("ascii", ascii))
    },
    "format": lambda a, b, c: a * b * len(format(2.5, ".3f")),
    "hash": lambda a, b, c: a * b if hash("x") == hash("x") else c,
    "print": lambda a, b, c: a * b if print(end="") is None else c,
    "object": lambda a, b, c: a * b if object() is not None else c,
    "chr": lambda a, b, c: a * b * ord(chr(65)),
}


class _Bag:
    def __init__(self, **fields):
        self.__dict__.update(fields)


# ---------------------------------------------------------------- math and cmath

_OF_ONE = (
    *("acos", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "degrees", "erf", "erfc", "exp", "exp2"),
    *("expm1", "fabs", "gamma", "lgamma", "log10", "log1p", "log2", "radians", "sin", "sinh", "sqrt", "tan", "tanh"),
)
_OF_TWO = ("atan2", "copysign", "fmod", "pow", "remainder")
_CONSTANT = ("ceil", "floor", "trunc", "isfinite", "isinf", "isnan", "ulp")
_OF_INTEGERS = ("comb", "gcd", "lcm", "perm")


def _of_one(f):
    return lambda a, b, c: f(a) * c + f(b / 2) ** 2


def _of_two(f):
    return lambda a, b, c: f(c, a) * b + f(2.0, a) * f(b, 0.7)


def _of_constants(f):
    return lambda a, b, c: a * b * f(c) + c


def _of_integers(f):
    return lambda a, b, c: a * f(int(6 * a), int(2 * b)) * b


MATH = {
    **{name: _of_one(getattr(math, name)) for name in _OF_ONE if hasattr(math, name)},
    **{name: _of_two(getattr(math, name)) for name in _OF_TWO},
    **{name: _of_constants(getattr(math, name)) for name in _CONSTANT},
    **{name: _of_integers(getattr(math, name)) for name in _OF_INTEGERS},
    "acosh": lambda a, b, c: math.acosh(c) * a + math.acosh(1 + b),
    "dist": lambda a, b, c: math.dist([a, b], (c, 1.0)) + math.dist((a,), [b]),
    "factorial": lambda a, b, c: a * math.factorial(int(4 * b)) * b,
    "frexp": lambda a, b, c: math.frexp(a)[0] * b * math.frexp(c)[1],
    "nextafter": lambda a, b, c: math.nextafter(a, 2.0) * b,
    "fsum": lambda a, b, c: math.fsum([a, b * c]) * math.fsum((a, a**2)),
    "hypot": lambda a, b, c: math.hypot(a, b, c) * math.hypot(a, 2) + math.hypot(b),
    "isclose": lambda a, b, c: a * b if math.isclose(c, c, rel_tol=1e-3) and not math.isclose(a, b) else c,
    "isqrt": lambda a, b, c: a * math.isqrt(int(9 * b)) * b,
    "ldexp": lambda a, b, c: math.ldexp(a, 3) * b,
    "log": lambda a, b, c: math.log(a) * math.log(b, c) + math.log(3, a),
    "modf": lambda a, b, c: math.modf(c)[0] * a + math.modf(c + b)[1],
    "prod": lambda a, b, c: math.prod([a, b, 2.0]) * math.prod((a, c), start=b),
}
if hasattr(math, "sumprod"):
    MATH["sumprod"] = lambda a, b, c: math.sumprod([a, b], (c, 2.0)) * math.sumprod([a], [b])
if hasattr(math, "fma"):
    MATH["fma"] = lambda a, b, c: math.fma(a, b, c) * math.fma(2.0, a, b)

_COMPLEX = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "log10", "sin", "sinh", "sqrt"),
    *("tan", "tanh"),
)


def _of_complex(f):
    def program(a, b, c):
        z = f(complex(a, b)) + f(c * 0.5 + 0.3j) * f(b * 0.5)
        return z.real * a + z.imag

    return program


CMATH = {
    **{name: _of_complex(getattr(cmath, name)) for name in _COMPLEX},
    **{name: _of_constants(getattr(cmath, name)) for name in ("isfinite", "isinf", "isnan")},
    "isclose": lambda a, b, c: a * b if cmath.isclose(c * 1j, c * 1j) else c,
    "log": lambda a, b, c: (cmath.log(complex(a, b)) * cmath.log(complex(a, c), 2.0)).real,
    "phase": lambda a, b, c: cmath.phase(complex(a, b)) * c,
    "polar": lambda a, b, c: cmath.polar(complex(a, b))[0] * c + cmath.polar(complex(b, c))[1],
    "rect": lambda a, b, c: cmath.rect(a, b).real * c + cmath.rect(2.0, c).imag,
}

# ---------------------------------------------------------------- operator


def _by_operator(f):
    return lambda a, b, c: f(a, c) * b + f(b, 2)


def _compared(f):
    return lambda a, b, c: a * b if f(a, c) else b * c


OPERATOR = {
    **{f.__name__: _by_operator(f) for f in (operator.add, operator.mul, operator.sub, operator.truediv, operator.pow)},
    **{f.__name__: _by_operator(f) for f in (operator.floordiv, operator.mod, operator.iadd, operator.imul)},
    **{f.__name__: _by_operator(f) for f in (operator.isub, operator.itruediv, operator.ipow, operator.ifloordiv)},
    "imod": lambda a, b, c: operator.imod(c, a) * b,
    **{
        f.__name__: _compared(f) for f in (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge)
    },
    **{f.__name__: _compared(f) for f in (operator.is_, operator.is_not)},
    "abs": lambda a, b, c: operator.abs(-a) * b,
    "neg": lambda a, b, c: operator.neg(a) * b,
    "pos": lambda a, b, c: operator.pos(a) * b,
    "not_": lambda a, b, c: a * b if not operator.not_(c) else c,
    "truth": lambda a, b, c: a * b if operator.truth(c) else c,
    "concat": lambda a, b, c: sum(operator.concat([a], [b, c])) * a,
    "iconcat": lambda a, b, c: sum(operator.iconcat([a], [b, c])) * a,
    "contains": lambda a, b, c: a * b if operator.contains([a, 5.0], 5.0) else c,
    "countOf": lambda a, b, c: a * b * operator.countOf([1.0, a, 1.0], 1.0),
    "indexOf": lambda a, b, c: a * b * operator.indexOf([0.0, 1.0], 1.0),
    "length_hint": lambda a, b, c: a * b * operator.length_hint([a, c]),
    "getitem": lambda a, b, c: operator.getitem([a, b], 0) * operator.getitem({"k": c}, "k"),
    "setitem": lambda a, b, c: (lambda v: (operator.setitem(v, 0, a * b), v[0] * c)[1])([0.0]),
    "delitem": lambda a, b, c: (lambda v: (operator.delitem(v, 0), v[0] * c)[1])([a, a * b]),
    "attrgetter": lambda a, b, c: (
        operator.attrgetter("x")(_Bag(x=a)) * operator.attrgetter("x", "y.z")(_Bag(x=b, y=_Bag(z=c)))[1]
    ),
    "itemgetter": lambda a, b, c: operator.itemgetter(1)([a, b]) * sum(operator.itemgetter(0, 2)((a, b, c))),
    "methodcaller": lambda a, b, c: (
        operator.methodcaller("conjugate")(a) * operator.methodcaller("get", "k", b)({"k": c})
    ),
    "matmul": lambda a, b, c: operator.matmul(np.array([a, b]), np.array([c, 1.0])),
    "imatmul": lambda a, b, c: operator.imatmul(np.array([[a, b], [c, 1.0]]), np.array([[a, 1.0], [1.0, c]])).sum(),
    **{
        f.__name__: lambda a, b, c, f=f: a * f(int(9 * b), 2) * b
        for f in (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift)
    },
    **{
        f.__name__: lambda a, b, c, f=f: a * f(int(9 * b), 2) * b
        for f in (operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift)
    },
    **{f: lambda a, b, c, f=getattr(operator, f): a * f(int(9 * b)) * b for f in ("inv", "invert", "index")},
}

if hasattr(operator, "call"):
    OPERATOR["call"] = lambda a, b, c: operator.call(math.exp, a) * operator.call(lambda u, v: u * v, b, v=c)

# ---------------------------------------------------------------- itertools, functools, copy, statistics

ITERTOOLS = {
    "accumulate": lambda a, b, c: (
        sum(itertools.accumulate([a, b, c])) + list(itertools.accumulate([a, b], operator.mul, initial=c))[2]
    ),
    "chain": lambda a, b, c: (
        math.prod(itertools.chain([a], (b, c))) + sum(itertools.chain.from_iterable([[a**2], [b]]))
    ),
    "combinations": lambda a, b, c: sum(u * v for u, v in itertools.combinations([a, b, c], 2)),
    "combinations_with_replacement": lambda a, b, c: sum(
        u * v for u, v in itertools.combinations_with_replacement([a, b, c], 2)
    ),
    "compress": lambda a, b, c: math.prod(itertools.compress([a, b, c], [1, 0, 1])),
    "count": lambda a, b, c: (
        sum(next(itertools.count(1)) * v for v in (a * b, c)) + next(itertools.islice(itertools.count(a, b), 2, 3))
    ),
    "cycle": lambda a, b, c: math.prod(v for _, v in zip(range(5), itertools.cycle([a, b, c]))),
    "dropwhile": lambda a, b, c: math.prod(itertools.dropwhile(lambda v: v < 0.7, [a, b, c])),
    "filterfalse": lambda a, b, c: math.prod(itertools.filterfalse(lambda v: v < 0.7, [a, b, c])),
    "groupby": lambda a, b, c: sum(math.prod(vs) for _, vs in itertools.groupby([a, b, c], key=lambda v: v > 1)),
    "islice": lambda a, b, c: math.prod(itertools.islice((v * a for v in (a, b, c)), 1, 3)),
    "pairwise": lambda a, b, c: sum(u * v for u, v in itertools.pairwise([a, b, c])),
    "permutations": lambda a, b, c: sum(u * v**2 for u, v in itertools.permutations([a, b, c], 2)),
    "product": lambda a, b, c: sum(u * math.sin(v) for u, v in itertools.product([a, b], repeat=2)) * c,
    "repeat": lambda a, b, c: sum(itertools.repeat(a * b, 3)) * c,
    "starmap": lambda a, b, c: sum(itertools.starmap(math.hypot, [(a, b), (b, c)])),
    "takewhile": lambda a, b, c: math.prod(itertools.takewhile(lambda v: v < 1, [a, b, c])),
    "tee": lambda a, b, c: sum(u * v for u, v in zip(*itertools.tee([a, b, c]))),
    "zip_longest": lambda a, b, c: sum(u * v for u, v in itertools.zip_longest([a, b], [c], fillvalue=a)),
}
if hasattr(itertools, "batched"):
    ITERTOOLS["batched"] = lambda a, b, c: sum(math.prod(v) for v in itertools.batched([a, b, c], 2))


@functools.singledispatch
def _scaled(x):
    return x


@_scaled.register
def _(x: float):
    return math.exp(x)


@_scaled.register(list)
def _(x):
    return [_scaled(v) for v in x]


@functools.cache
def _cached(n):
    return [math.sqrt(n), n]


@dataclasses.dataclass
class _Record:
    first: float
    second: float


FUNCTOOLS = {
    "cache": lambda a, b, c: _cached(3)[0] * a * functools.cache(lambda k: b * k)(2),
    "cmp_to_key": lambda a, b, c: sorted([c, a, b], key=functools.cmp_to_key(lambda u, v: 1 if u > v else -1))[1] * a,
    "lru_cache": lambda a, b, c: functools.lru_cache(maxsize=8)(lambda k: math.sin(a) * k)(2) * b * c,
    "partial": lambda a, b, c: (
        functools.partial(math.hypot, a)(b) * functools.partial(lambda u, v: u * math.log(v), v=c)(a)
    ),
    "reduce": lambda a, b, c: (
        functools.reduce(lambda u, v: math.hypot(u, v), [a, b, c]) + functools.reduce(operator.mul, (a, b), c)
    ),
    "singledispatch": lambda a, b, c: _scaled(a) * sum(_scaled([b, c])),
    "wraps": lambda a, b, c: functools.wraps(math.exp)(lambda v: math.exp(v))(a) * b * c,
    "update_wrapper": lambda a, b, c: functools.update_wrapper(lambda v: math.exp(v), math.exp)(a) * b * c,
}

COPY = {
    "copy": lambda a, b, c: copy.copy([a, b])[0] * copy.copy(_Bag(x=c)).x * copy.copy(a),
    "deepcopy": lambda a, b, c: (
        copy.deepcopy({"k": [a, b]})["k"][0] * copy.deepcopy(_Bag(x=c)).x * copy.deepcopy(np.array([b]))[0]
    ),
}

if hasattr(copy, "replace"):  # since Python 3.13
    COPY["replace"] = lambda a, b, c: copy.replace(_Record(a, b), second=c).second * copy.replace(_Record(a, b)).first

STATISTICS = {
    "correlation": lambda a, b, c: statistics.correlation([a, b, c, 2.0], [c, a * b, 1.0, b]),
    "covariance": lambda a, b, c: statistics.covariance([a, b, c], [c, a * b, 1.0]),
    "fmean": lambda a, b, c: statistics.fmean([a, b]) * statistics.fmean((a, c), weights=[b, 1.0]),
    "geometric_mean": lambda a, b, c: statistics.geometric_mean([a, b, c]),
    "harmonic_mean": lambda a, b, c: (
        statistics.harmonic_mean([a, b]) * statistics.harmonic_mean([a, c], weights=[b, 2.0])
    ),
    "linear_regression": lambda a, b, c: sum(statistics.linear_regression([a, b, c], [1.0, a, 2.0])),
    "mean": lambda a, b, c: statistics.mean([a, b, c]) * statistics.mean(v**2 for v in (a, b)),
    "median": lambda a, b, c: statistics.median([c, a, b]) * statistics.median([a, c]),
    "median_grouped": lambda a, b, c: statistics.median_grouped([c, a, b]) * a,
    "median_high": lambda a, b, c: statistics.median_high([a, c]) * b,
    "median_low": lambda a, b, c: statistics.median_low([a, c]) * b,
    "pstdev": lambda a, b, c: statistics.pstdev([a, b, c]),
    "pvariance": lambda a, b, c: statistics.pvariance([a, b, c]) * statistics.pvariance([a, b], b),
    "quantiles": lambda a, b, c: sum(v**2 for v in statistics.quantiles([a, b, c, 2.0], n=4)),
    "stdev": lambda a, b, c: statistics.stdev([a, b, c]) * statistics.stdev([a, c], xbar=b),
    "variance": lambda a, b, c: statistics.variance([a, b, c]) * statistics.variance([a, c]),
    "NormalDist": lambda a, b, c: statistics.NormalDist(a, b).pdf(c) * statistics.NormalDist(a, b).cdf(0.3),
}
if hasattr(statistics, "kde"):
    STATISTICS["kde"] = lambda a, b, c: statistics.kde([a, b], h=c)(0.5)

FAMILIES = {
    "builtins": BUILTINS,
    "math": MATH,
    "cmath": CMATH,
    "operator": OPERATOR,
    "itertools": ITERTOOLS,
    "functools": FUNCTOOLS,
    "copy": COPY,
    "statistics": STATISTICS,
}
for _module, _programs in FAMILIES.items():
    PATTERNS.update({f"{_module}.{_name}": (_f, NUMBERS) for _name, _f in _programs.items()})

# ---------------------------------------------------------------- SciPy, by whatever name


@of_array
def scipy_by_its_module(x):
    return scipy.special.gamma(x) * special.erf(x) + sc.jv(1, x) * scipy.special.logsumexp(x)


@of_array
def scipy_by_name(x):
    return gammaln(x) * erfc(x[0]) + logistic(list(x))


@of_numbers()
def scipy_of_numbers(a, b, c):
    return special.gammainc(2.0, a) * sc.beta(b, c) + sc.expit(a) * sc.xlogy(a, b)


@of_array
def scipy_by_an_import_within(x):
    from scipy.special import i0 as bessel

    import scipy.special as within

    return bessel(x) * within.digamma(x)


@of_array
def scipy_linear_algebra(x):
    m = np.diag(x + 1) + np.tril(np.outer(x, x))
    return solve_triangular(m, x, lower=True) * linalg.det(m) + scipy.linalg.expm(m * 0.1)[0]


@of_numbers()
def scipy_linear_algebra_of_lists(a, b, c):
    return linalg.solve([[a + 2, b], [b, c + 2]], [a, 1.0]) * linalg.norm([a, b, c])


@of_numbers()
def scipy_quad(a, b, c):
    return scipy.integrate.quad(lambda t: math.exp(-a * t) * b, 0, c)[0]


@of_numbers()
def tolerances_of_solvers(a, b, c):
    return scipy.integrate.solve_ivp(lambda t, y: -a * y, (0, 1), [b], rtol=c * 1e-3).y[0, -1]


@of_numbers()
def scipy_brentq(a, b, c):
    return scipy.optimize.brentq(lambda t: t**3 + a * t - b, 0, 2) * c


@of_array
def scipy_solve_ivp(x):
    def slope(t, y):
        return [y[1] * x[0], -math.sin(y[0]) * x[1]]

    return scipy.integrate.solve_ivp(slope, (0, 0.5), [x[2], 0.1], atol=1.0, max_step=0.1).y[:, -1]


@of_numbers()
def scipy_distributions(a, b, c):
    return normal.pdf(a, b, scale=c) * stats.norm.cdf(a, loc=b) + stats.gamma.logpdf(a, 2.0 + b) * stats.expon.sf(
        c, scale=b
    )


@of_numbers()
def scipy_frozen_distributions(a, b, c):
    frozen = stats.norm(loc=a, scale=b)
    return frozen.pdf(c) * frozen.cdf(0.3) + stats.gamma(2.0 + b).logpdf(a) + stats.norm(a, c).ppf(0.4)


@of_numbers()
def scipy_distributions_by_their_class(a, b, c):
    distribution = getattr(stats, "beta")
    return distribution(2.0, 3.0).pdf(a) * b + stats.uniform.logpdf(0.3, scale=c) + stats.t(5).pdf(a)


@of_numbers()
def scipy_by_private_names(a, b, c):
    return private_gamma(a) * private_solve(np.eye(2) * b, [c, 1.0])[0]


@of_numbers()
def scipy_methods_of_distributions(a, b, c):
    frozen = stats.norm(a, b)
    moments = frozen.mean() * stats.gamma(a, scale=b).var() + stats.expon(scale=c).std()
    return frozen.logpdf(c) + stats.norm.logcdf(a) + frozen.sf(1.0) + stats.gamma(a=b).cdf(a) * moments


@of_numbers()
def scipy_discrete_distributions(a, b, c):
    return stats.poisson.pmf(2, a) + stats.poisson(b).logpmf(3) * c + stats.binom.pmf(2, 5, a)


@of_numbers()
def scipy_likelihoods(a, b, c):
    observed = [1.0, 2.0, 2.5]
    return sum(stats.norm.logpdf(y, a, b) for y in observed) + stats.halfcauchy.logpdf(c) + stats.beta(a, b).logpdf(0.3)


@of_array
def scipy_statistics(x):
    return stats.zscore(x) * stats.skew(x) + stats.gmean(x) * stats.entropy(x) + stats.linregress([0, 1, 2.0], x)[0]


@of_array
def scipy_interpolation(x):
    spline = scipy.interpolate.CubicSpline([0, 1, 2.0], x)
    return scipy.interpolate.interp1d([0, 1, 2.0], x)(0.7) * spline(x[0]) + scipy.interpolate.PchipInterpolator(
        [0, 1, 2.0], x
    )(0.7)


@of_numbers()
def scipy_roots(a, b, c):
    cube = scipy.optimize.newton(lambda t: t**3 - a * t - b, 1.5, tol=1e-13)
    both = scipy.optimize.root(lambda t: [t[0] ** 2 - a, t[0] * t[1] - b], [1.0, 1.0], tol=1e-13).x
    return cube * c + both.sum() * scipy.optimize.root_scalar(lambda t: t**3 - a, bracket=[0, 2]).root


@of_array
def scipy_signals(x):
    filtered = scipy.signal.lfilter([1.0, x[0]], [1.0, x[1]], [1, 2, x[2]])
    return scipy.signal.convolve(x, [1, 2.0])[:3] * filtered + scipy.ndimage.gaussian_filter1d(x, 1.0)


@of_array
def scipy_decompositions(x):
    solved = linalg.cho_solve(linalg.cho_factor(np.eye(3) * x[0] + 0.1), x)
    return (
        solved * linalg.lu_solve(linalg.lu_factor(np.diag(x) + 0.1), [1.0, x[1], 2.0])
        + linalg.eigh(np.diag(x) + 0.1)[0]
    )


@of_array
def scipy_distances(x):
    return scipy.spatial.distance.cdist([x, [1.0, 2.0, 3.0]], [[0, x[2], 1.0]])[
        :, 0
    ] * scipy.spatial.distance.euclidean(x, [1, 2, 3.0])


if isinstance(scipy.spatial.transform.Rotation.from_rotvec, types.FunctionType):  # older ones are compiled

    @of_array
    def scipy_rotations(x):
        return scipy.spatial.transform.Rotation.from_rotvec(x).apply([1, 2, 3.0])
