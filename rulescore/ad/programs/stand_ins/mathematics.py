"""Functions of numbers in Python's own modules: `math`, `cmath`, `statistics`."""

from __future__ import annotations

import cmath
import functools
import importlib
import json
import math
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore.ad.programs.stand_ins.builtins import method_of
from rulescore.ad.programs.stand_ins.table import (
    STAND_INS,
    as_array,
    stands_in_program_for,
    stands_in_where_traced,
    tracer_in,
    values_beneath,
)
from rulescore.ad.programs.texts import check_text
from rulescore.ad.tracing.tracers import LEAF_TYPES, Tracer, top_trace, value_beneath


def _array(x: Any) -> Any:
    return as_array(x if hasattr(x, "dtype") else list(x))


def _special(name: str) -> Callable[..., Any]:
    def called(x: Any) -> Any:
        return getattr(importlib.import_module("scipy.special"), name)(x)  # when it is asked for

    return called


def _log(x: Any, *base: Any) -> Any:
    return np.log(x) / np.log(base[0]) if base else np.log(x)


def _hypot(*xs: Any) -> Any:
    return functools.reduce(np.hypot, xs) if len(xs) > 1 else np.abs(xs[0])


def _frexp(x: Any) -> tuple[Any, int]:
    _, exponent = math.frexp(value_beneath(x))
    return x * 2.0**-exponent, exponent


def _nextafter(x: Any, y: Any, **options: Any) -> Any:
    value = value_beneath(x)
    return x + (math.nextafter(value, value_beneath(y), **options) - value)


_NUMPYS = (
    *("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "exp2", "expm1", "log10", "log2", "log1p", "sqrt", "cbrt"),
    *("fmod", "copysign", "radians", "degrees", "modf"),
)
_OF_NUMBERS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in _NUMPYS},
    **{f"a{name}": getattr(np, f"arc{name}") for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{name: _special(name) for name in ("erf", "erfc", "gamma")},
    "atan2": np.arctan2,
    "fabs": np.abs,
    "fma": lambda x, y, z: x * y + z,
    "hypot": _hypot,
    "ldexp": lambda x, i: x * 2.0**i,
    "lgamma": _special("gammaln"),
    "log": _log,
    "pow": np.power,
    "remainder": lambda x, y: x - y * np.round(x / y),
    "frexp": lambda x: (x * 2.0 ** -math.frexp(value_beneath(x))[1], math.frexp(value_beneath(x))[1]),
    "nextafter": lambda x, y, **options: (
        x + (math.nextafter(value_beneath(x), value_beneath(y), **options) - value_beneath(x))
    ),
}
_OF_ITERABLES: dict[str, Callable[..., Any]] = {
    "dist": lambda p, q: np.linalg.norm(_array(p) - _array(q)),
    "fsum": lambda xs: np.sum(_array(xs)),
    "prod": lambda xs, *, start=1: start * np.prod(_array(xs)),
    "sumprod": lambda p, q: np.sum(_array(p) * _array(q)),
}
_QUESTIONS = ("isclose", "isfinite", "isinf", "isnan", "floor", "ceil", "trunc", "ulp")
"""Which are constant between jumps."""


def _of_number(f: Any, of_arrays: Callable[..., Any]) -> Callable[..., Any]:
    """A function of numbers by one of arrays; where the numbers are outside its domain, the error that it raises."""

    @functools.wraps(f, updated=())
    def called(program: Any, *args: Any, **options: Any) -> Any:
        if LEAF_TYPES.issuperset(map(type, args)):
            return f(*args, **options)
        args = tuple([_number_of(program, x) for x in args])
        if top_trace(args, options.values()) is None:
            return f(*args, **options)
        values = [values_beneath(x) for x in args]
        if all(np.ndim(x) == 0 for x in values) or any(np.ndim(x) for x in args):  # else it is a batch of numbers
            f(*values, **{name: values_beneath(x) for name, x in options.items()})
        return of_arrays(*args, **options)

    return called


def _number_of(program: Any, x: Any) -> Any:
    """What an object becomes where a number is wanted; an array of one number as that number."""
    if isinstance(x, Tracer):
        return x.reshape(())[()] if x.ndim and x.size == 1 else x
    return program.callee(float)(x) if method_of(x, "__float__") is not None else x


for _name, _of_arrays in _OF_NUMBERS.items():
    _f = getattr(math, _name, None)  # some are not there in every version of Python
    stands_in_program_for(_f)(_f and _of_number(_f, _of_arrays))


def _of_iterables(f: Any, of_arrays: Callable[..., Any]) -> Callable[..., Any]:
    """The same of what is iterated over."""

    @functools.wraps(f, updated=())
    def called(program: Any, *args: Any, **options: Any) -> Any:
        given = [x if isinstance(x, Tracer) else list(program.iterate(x)) for x in args]
        if tracer_in([given, list(options.values())]) is None:
            return f(*given, **options)
        f(*map(values_beneath, given), **values_beneath(options))
        return of_arrays(*given, **options)

    return called


for _name, _of_arrays in _OF_ITERABLES.items():
    _f = getattr(math, _name, None)
    stands_in_program_for(_f)(_f and _of_iterables(_f, _of_arrays))


def _of_values(f: Any) -> Callable[..., Any]:
    @functools.wraps(f, updated=())
    def called(*args: Any, **options: Any) -> Any:
        return f(*map(values_beneath, args), **options)

    return called


for _name in _QUESTIONS:
    _f = getattr(math, _name)
    stands_in_where_traced(_f)(_of_values(_f))


# ---------------------------------------------------------------- complex numbers

_COMPLEX: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in ("exp", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{f"a{name}": getattr(np, f"arc{name}") for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "log": _log,
}


def _of_complex(f: Any, of_arrays: Callable[..., Any]) -> Callable[..., Any]:
    return _of_number(f, lambda z, *args: of_arrays(z + 0j, *args))


for _name, _of_arrays in _COMPLEX.items():
    _f = getattr(cmath, _name)
    stands_in_program_for(_f)(_of_complex(_f, _of_arrays))
for _name in ("isclose", "isfinite", "isinf", "isnan"):
    _f = getattr(cmath, _name)
    stands_in_where_traced(_f)(_of_values(_f))

stands_in_program_for(cmath.phase)(_of_number(cmath.phase, np.angle))
stands_in_program_for(cmath.polar)(_of_number(cmath.polar, lambda z: (np.abs(z), np.angle(z))))
stands_in_program_for(cmath.rect)(_of_number(cmath.rect, lambda r, phi: r * np.cos(phi) + 1j * (r * np.sin(phi))))

# ---------------------------------------------------------------- numbers read from texts


def _reading(f: Any) -> Callable[..., Any]:
    @functools.wraps(f, updated=())
    def called(text: Any, *args: Any, **options: Any) -> Any:
        return f(check_text(text), *args, **options)

    return called


STAND_INS.update({f: _reading(f) for f in (json.loads, np.fromstring)})


# ---------------------------------------------------------------- statistics


def _stands_in_for_statistics(f: Any) -> Callable[[Any], Any]:
    """Let a function of arrays stand in where there are tracers in the data, which may come from an iterator."""

    def register(of_arrays: Any) -> Any:
        @functools.wraps(f, updated=())
        def called(*args: Any, **options: Any) -> Any:
            args = tuple([list(x) if hasattr(x, "__iter__") and not isinstance(x, Tracer) else x for x in args])
            if tracer_in(list(args)) is None and tracer_in(list(options.values())) is None:
                return f(*args, **options)
            f(*map(values_beneath, args), **{name: values_beneath(x) for name, x in options.items()})
            return of_arrays(*args, **options)

        STAND_INS[f] = called
        return of_arrays

    return register


@_stands_in_for_statistics(statistics.mean)
@_stands_in_for_statistics(statistics.fmean)
def mean(data: Any, weights: Any = None) -> Any:
    """Σ wₖ xₖ / Σ wₖ."""
    return (
        np.mean(_array(data)) if weights is None else np.sum(_array(data) * _array(weights)) / np.sum(_array(weights))
    )


@_stands_in_for_statistics(statistics.geometric_mean)
def geometric_mean(data: Any) -> Any:
    """exp of the mean of the logarithms."""
    return np.exp(np.mean(np.log(_array(data))))


@_stands_in_for_statistics(statistics.harmonic_mean)
def harmonic_mean(data: Any, weights: Any = None) -> Any:
    """Σ wₖ / Σ (wₖ / xₖ)."""
    x = _array(data)
    w = np.ones(x.shape) if weights is None else _array(weights)
    return np.sum(w) / np.sum(w / x)


@_stands_in_for_statistics(statistics.median)
def median(data: Any) -> Any:
    """The middle one, or the mean of the two in the middle."""
    return np.median(_array(data))


def _variance(ddof: int) -> Callable[..., Any]:
    def variance(data: Any, *around: Any, **named: Any) -> Any:
        x = _array(data)
        center = next((c for c in (*around, *named.values()) if c is not None), None)
        x = x - (np.mean(x) if center is None else center)
        return np.sum(x * x) / (len(x) - ddof)

    return variance


def _deviation(ddof: int) -> Callable[..., Any]:
    variance = _variance(ddof)
    return lambda *args, **named: np.sqrt(variance(*args, **named))


for _f, _of_data in (
    (statistics.variance, _variance(1)),
    (statistics.pvariance, _variance(0)),
    (statistics.stdev, _deviation(1)),
    (statistics.pstdev, _deviation(0)),
):
    _stands_in_for_statistics(_f)(_of_data)


@_stands_in_for_statistics(statistics.covariance)
def covariance(x: Any, y: Any, /) -> Any:
    """Σ (xₖ - x̄)(yₖ - ȳ) / (n - 1)."""
    x, y = _array(x), _array(y)
    return np.sum((x - np.mean(x)) * (y - np.mean(y))) / (len(x) - 1)


@_stands_in_for_statistics(statistics.correlation)
def correlation(x: Any, y: Any, /, **options: Any) -> Any:
    """The covariance of both, over the roots of their variances."""
    if options.get("method", "linear") != "linear":  # of ranks, which are constant between jumps
        return statistics.correlation(values_beneath(x), values_beneath(y), **options)
    return covariance(x, y) / np.sqrt(covariance(x, x) * covariance(y, y))


@_stands_in_for_statistics(statistics.linear_regression)
def linear_regression(x: Any, y: Any, /, *, proportional: bool = False) -> Any:
    """Slope and intercept of the line with the least squares."""
    x, y = _array(x), _array(y)
    slope = np.sum(x * y) / np.sum(x * x) if proportional else covariance(x, y) / covariance(x, x)
    return statistics.LinearRegression(slope, 0.0 if proportional else np.mean(y) - slope * np.mean(x))
