"""Sample inputs for the ufuncs: from two tables that say where each function is smooth, and a few of their own.

All numbers keep their distance from kinks, steps, poles and branch cuts, so that finite differences can decide; what
the rules answer at those is in the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rulescore import NoTangent

from ..random_tangents import with_tangent
from ..sampling import Sample, sample, sample_inputs

Rng = np.random.Generator
Domain = Callable[[Rng, tuple[int, ...]], Any]
"""Makes random real numbers of a shape where a function is smooth."""


def _between(low: float, high: float) -> Domain:
    return lambda rng, shape: rng.uniform(low, high, shape)


def _of_either_sign(domain: Domain) -> Domain:
    return lambda rng, shape: rng.choice([-1.0, 1.0], shape) * domain(rng, shape)


def _near(*centres: float, within: float) -> Domain:
    return lambda rng, shape: rng.choice(centres, shape) + rng.uniform(-within, within, shape)


def _between_powers_of_two(rng: Rng, shape: tuple[int, ...]) -> Any:
    return np.ldexp(rng.choice([-1.0, 1.0], shape) * rng.uniform(0.55, 0.95, shape), rng.integers(-3, 4, shape))


_ANY = _between(-2, 2)
_POSITIVE = _between(0.4, 2)
_NONZERO = _of_either_sign(_POSITIVE)
_INTEGERS = _near(-2, -1, 0, 1, 2, within=0.2)
_HALF_INTEGERS = _near(-1.5, -0.5, 0.5, 1.5, within=0.2)
# The quotient of these is no integer.
_DIVIDENDS = _near(-3, -1, 1, 3, within=0.4)
_DIVISORS = _near(-2, 2, within=0.1)


def _complex(rng: Rng, shape: tuple[int, ...]) -> Any:
    """Numbers off both axes, where the branch cuts of NumPy's functions are."""
    return _NONZERO(rng, shape) + 1j * _NONZERO(rng, shape)


# ---------------------------------------------------------------------- functions of one argument

_UNARY: dict[Domain, tuple[np.ufunc, ...]] = {
    _ANY: (
        np.positive,
        np.negative,
        np.conjugate,
        np.square,
        np.exp,
        np.exp2,
        np.expm1,
        np.sin,
        np.cos,
        np.sinh,
        np.cosh,
        np.tanh,
        np.arctan,
        np.arcsinh,
        np.degrees,
        np.rad2deg,
        np.radians,
        np.deg2rad,
    ),
    _between(-1, 1): (np.tan,),
    _between(-0.8, 0.8): (np.arcsin, np.arccos, np.arctanh, np.log1p),
    _POSITIVE: (np.sqrt, np.log, np.log2, np.log10),
    _between(1.5, 3): (np.arccosh,),
    _NONZERO: (np.reciprocal, np.cbrt, np.absolute, np.fabs, np.sign),
    _HALF_INTEGERS: (np.modf,),
    _between_powers_of_two: (np.frexp,),
}


def _takes_complex(f: np.ufunc) -> bool:
    return any("D" in signature.split("->")[0] for signature in f.types)


def _register_unary(f: np.ufunc, domain: Domain) -> None:
    @sample_inputs(f)
    def _(rng: Rng) -> Iterator[Sample]:
        yield sample(domain(rng, (3, 2)))
        yield sample(float(domain(rng, ())))
        yield sample(np.array(domain(rng, ())), _name="0-d")
        yield sample(np.zeros((0, 2)) + domain(rng, ()), _name="empty")
        for dtype in (np.float16, np.float32, np.longdouble):
            yield sample(domain(rng, (3,)).astype(dtype))
        yield sample(np.float32(domain(rng, ())))
        if _takes_complex(f):
            yield sample(_complex(rng, (3, 2)))
            yield sample(complex(_complex(rng, ())))
            yield sample(_complex(rng, (3,)).astype(np.complex64))


for _domain, _functions in _UNARY.items():
    for _function in _functions:
        _register_unary(_function, _domain)


# ---------------------------------------------------------------------- functions of two arguments

_BINARY: dict[tuple[Domain, Domain], tuple[np.ufunc, ...]] = {
    (_ANY, _ANY): (np.add, np.subtract, np.multiply, np.logaddexp, np.logaddexp2, np.nextafter),
    (_NONZERO, _NONZERO): (np.divide, np.arctan2, np.hypot, np.copysign),
    (_NONZERO, _ANY): (np.heaviside,),
    (_POSITIVE, _ANY): (np.power, np.float_power),
    (_DIVIDENDS, _DIVISORS): (np.remainder, np.fmod, np.divmod),
    (_INTEGERS, _HALF_INTEGERS): (np.maximum, np.minimum, np.fmax, np.fmin),
}


def _register_binary(f: np.ufunc, first: Domain, second: Domain) -> None:
    @sample_inputs(f)
    def _(rng: Rng) -> Iterator[Sample]:
        yield sample(first(rng, (3,)), second(rng, (3,)))
        yield sample(first(rng, (3, 1)), second(rng, (1, 4)))
        yield sample(first(rng, (3,)), second(rng, (2, 3)))
        yield sample(float(first(rng, ())), second(rng, (3,)))
        yield sample(first(rng, (3,)), float(second(rng, ())))
        yield sample(float(first(rng, ())), float(second(rng, ())))
        yield sample(np.array(first(rng, ())), np.array(second(rng, ())), _name="0-d")
        yield sample(np.zeros((0, 2)) + first(rng, ()), second(rng, (2,)), _name="empty")
        yield sample(first(rng, (3,)).astype(np.float32), second(rng, (3,)).astype(np.float32))
        yield sample(first(rng, (3,)).astype(np.float32), second(rng, (2, 3)))
        yield sample(first(rng, (3,)).astype(np.float32), float(second(rng, ())))
        yield sample(first(rng, (3,)).astype(np.longdouble), second(rng, (3,)).astype(np.longdouble))
        if _takes_complex(f):
            yield sample(_complex(rng, (3, 1)), _complex(rng, (1, 2)))
            yield sample(first(rng, (3,)), _complex(rng, (3,)))
            yield sample(_complex(rng, (3,)), second(rng, (3,)))
            yield sample(complex(_complex(rng, ())), float(second(rng, ())))
            yield sample(_complex(rng, (3,)).astype(np.complex64), second(rng, (3,)).astype(np.float32))


for (_first, _second), _functions in _BINARY.items():
    for _function in _functions:
        _register_binary(_function, _first, _second)


# ---------------------------------------------------------------------- functions without derivative

_STEPS: dict[Domain, tuple[np.ufunc, ...]] = {
    _HALF_INTEGERS: (np.floor, np.ceil, np.trunc),
    _INTEGERS: (np.rint,),
    _between_powers_of_two: (np.spacing,),
    _NONZERO: (np.signbit, np.isfinite, np.isinf, np.isnan, np.logical_not),
}

_STEPS_OF_TWO: dict[tuple[Domain, Domain], tuple[np.ufunc, ...]] = {
    (_DIVIDENDS, _DIVISORS): (np.floor_divide,),
    (_INTEGERS, _HALF_INTEGERS): (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal),
    (_NONZERO, _NONZERO): (np.logical_and, np.logical_or, np.logical_xor),
}


def _register_steps(f: np.ufunc, *domains: Domain) -> None:
    @sample_inputs(f)
    def _(rng: Rng) -> Iterator[Sample]:
        yield sample(*(domain(rng, shape) for domain, shape in zip(domains, ((3, 1), (4,)), strict=False)))
        yield sample(*(float(domain(rng, ())) for domain in domains))
        yield sample(*(domain(rng, (3,)).astype(np.float32) for domain in domains))


for _domain, _functions in _STEPS.items():
    for _function in _functions:
        _register_steps(_function, _domain)

for (_first, _second), _functions in _STEPS_OF_TWO.items():
    for _function in _functions:
        _register_steps(_function, _first, _second)


# ---------------------------------------------------------------------- what the tables leave out


@sample_inputs(np.add, np.subtract, np.multiply, np.divide, np.hypot)
def _integers_beside_floats(rng: Rng) -> Iterator[Sample]:
    yield sample(2, _NONZERO(rng, (3,)))
    yield sample(_NONZERO(rng, (3,)), np.array([[1], [-2]]))
    yield sample(_NONZERO(rng, (3,)).astype(np.float32), 3)


@sample_inputs(np.power, np.float_power)
def _powers(rng: Rng) -> Iterator[Sample]:
    for exponent in (0, 1, 2, 3, -1, -2):
        yield sample(_NONZERO(rng, (3,)), exponent, _name=f"exponent {exponent}")
        yield sample(_complex(rng, (2,)), exponent, _name=f"complex base, exponent {exponent}")
    yield sample(_POSITIVE(rng, (3,)), np.float64(0.5), _name="exponent one half")
    yield sample(_NONZERO(rng, (3, 1)), np.array([-1, 0, 1, 2, 3]), _name="integer exponents")
    yield sample(_NONZERO(rng, (3, 1)).astype(np.float32), np.array([0, 3], np.uint8), _name="unsigned exponents")
    yield sample(2, _ANY(rng, (3,)), _name="integer base")
    yield sample(np.array([1, 2, 3]), _ANY(rng, (3,)).astype(np.float32), _name="integer bases")
    yield sample(
        np.zeros(3),
        with_tangent(np.array([1.0, 2.0, 3.0]), np.ones(3)),
        _name="base zero",
        _skip={
            "smaller": "with an exponent below 1 the slope is infinite at base 0, and zero times it is anything",
            "second order": "∂²xᵖ/∂x∂p = xᵖ⁻¹ (1 + p log x) is infinite at x = 0, p = 1; times 0 it is NaN",
        },
    )
    yield sample(-1.5, _complex(rng, (2,)), _name="negative base, complex exponent")


@sample_inputs(np.ldexp)
def _ldexp(rng: Rng) -> Iterator[Sample]:
    yield sample(_ANY(rng, (3,)), np.array([-2, 0, 3]))
    yield sample(_ANY(rng, (3, 1)), np.array([-2, 0, 3, 4]))
    yield sample(1.5, np.array([-2, 0, 3]))
    yield sample(1.5, 2)
    yield sample(np.array(1.5), 2, _name="0-d")
    yield sample(np.zeros((0, 2)), 2, _name="empty")
    yield sample(_ANY(rng, (3,)).astype(np.float32), np.int32(2))


@sample_inputs(np.heaviside)
def _heaviside_at_the_step(rng: Rng) -> Iterator[Sample]:
    x = np.array([-1.0, 0.0, 2.0])
    yield sample(with_tangent(x, NoTangent()), _ANY(rng, (3,)), _name="at the step")
    yield sample(with_tangent(x, NoTangent()), 0.5, _name="at the step, scalar")


@sample_inputs(np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.left_shift, np.right_shift, np.gcd, np.lcm)
def _two_integers(rng: Rng) -> Iterator[Sample]:
    yield sample(rng.integers(0, 9, (3, 1)), rng.integers(0, 9, (2,)))
    yield sample(12, 3)


@sample_inputs(np.invert, np.bitwise_count)
def _one_integer(rng: Rng) -> Iterator[Sample]:
    yield sample(rng.integers(0, 9, (3,)))
    yield sample(12)


@sample_inputs(np.isnat)
def _dates(rng: Rng) -> Iterator[Sample]:
    yield sample(np.array(["2001-01-01", "NaT"], "datetime64[D]"))
