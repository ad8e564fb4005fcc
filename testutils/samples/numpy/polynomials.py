"""Sample inputs for polynomials given by their coefficients."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal


@sample_inputs(np.polyval)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    v = rng.standard_normal
    yield sample(v(4), v(3))
    yield sample(v(3), v((2, 3)))
    yield sample(v(4), 1.5, _name="number")
    yield sample(v(3), np.array(1.5), _name="0-d array")
    yield sample(v(1), v(3), _name="constant")
    yield sample(np.zeros(0), v(3), _name="no coefficients")
    yield sample(v((4, 3)), v(3), _name="a polynomial for each number")
    yield sample(v((4, 2, 1)), v(3), _name="several polynomials of all numbers")
    yield sample(complex_normal(rng, 3), complex_normal(rng, 2))
    yield sample(v(3), complex_normal(rng, 2))
    yield sample(complex_normal(rng, 3), v(2))
    yield sample(v(3).astype(np.float32), v(4).astype(np.float32))
    yield sample([1.5, -0.5, 2.0], [0.5, 1.5], _name="lists")
    yield sample(v(8)[::-2], v((3, 4)).T[::2], _name="strided")
    yield sample(np.arange(3), v(2), _name="integer coefficients")
    yield sample(v(3), np.arange(3), _name="integer numbers")
    yield sample(v(3), np.zeros((0, 2)), _name="empty")
    yield sample(v(3), np.zeros(2), _name="zero")
    yield sample(v(5), v(2))


@sample_inputs(np.polyadd, np.polysub, np.polymul)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    v = rng.standard_normal
    yield sample(v(3), v(3))
    yield sample(v(4), v(2))
    yield sample(v(1), v(3))
    yield sample(1.5, v(3), _name="number")
    yield sample(v(3), np.array(1.5), _name="0-d array")
    yield sample(complex_normal(rng, 3), v(2))
    yield sample(complex_normal(rng, 2), complex_normal(rng, 3))
    yield sample(v(3).astype(np.float32), v(2).astype(np.float32))
    yield sample(v(4)[::-2], v(6)[1::2], _name="strided")
    yield sample([1.5, 2.5], [0.5, -1.5, 2.0], _name="lists")
    yield sample(np.arange(1, 3), v(3), _name="integers and floats")
    yield sample(v(2), v(5))


ROUNDED = {"float32": "the length of the remainder is a matter of rounding"}


@sample_inputs(np.polydiv)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    v = rng.standard_normal
    yield sample(v(5), v(3), _skip=ROUNDED)
    yield sample(v(4), v(4), _skip=ROUNDED)
    yield sample(v(3), v(1), _skip=ROUNDED)
    yield sample(v(2), v(4), _name="divisor of a higher degree", _skip=ROUNDED)
    yield sample(v(6), np.concatenate([[1.5], v(1)]), _skip=ROUNDED)
    yield sample(complex_normal(rng, 4), complex_normal(rng, 2), _skip=ROUNDED)
    yield sample(complex_normal(rng, 4), v(3), _skip=ROUNDED)
    yield sample([1.5, 2.5, -1.0], [0.5, -1.5], _name="lists", _skip=ROUNDED)
    yield sample(v(4), 1.5, _name="number", _skip=ROUNDED)
    yield sample(np.arange(1, 5), v(2), _name="integers and floats", _skip=ROUNDED)


@sample_inputs(np.polyder)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    v = rng.standard_normal
    yield sample(v(5))
    for m in (0, 2, 4, 5, 7):
        yield sample(v(5), m)
    yield sample(complex_normal(rng, 4), m=2)
    yield sample(v(4).astype(np.float32))
    yield sample(v(1))
    yield sample(v(8)[::-2], _name="strided")


# Some without constants, since NumPy hands over the call for the coefficients alone.
@sample_inputs(np.polyint)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    v = rng.standard_normal
    yield sample(v(4))
    yield sample(v(3), 2, v(2))
    yield sample(v(3), 3, 1.5, _name="one constant for all")
    yield sample(v(3), 2, v(1), _name="one constant for all, in an array")
    yield sample(v(4), 0)
    yield sample(v(3), m=1, k=v(3), _name="more constants than integrals")
    yield sample(v(3), 2, [1.5, 2.5], _name="list of constants")
    yield sample(complex_normal(rng, 3), 2, complex_normal(rng, 2))
    yield sample(v(3), 2, complex_normal(rng, 2))
    yield sample(complex_normal(rng, 3), 2)
    yield sample(v(3).astype(np.float32), 1, np.float32(1.5))
    yield sample(np.zeros(0), 1, 1.5, _name="no coefficients")
    yield sample(v(3), k=0.5)
    yield sample([1.5, 2.5], _name="list")


@sample_inputs(np.poly)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    v = rng.standard_normal
    yield sample(v(4))
    yield sample(v((3, 3)), _name="matrix")
    yield sample(v(1))
    yield sample(np.array([0.0, 1.5, 1.5, 0.0]), _name="equal roots")
    yield sample(complex_normal(rng, 3))
    yield sample(complex_normal(rng, 3, 3), _name="complex matrix")
    yield sample(v(3).astype(np.float32))
    yield sample([1.5, -0.5], _name="list")
    yield sample(np.zeros(0), _name="no roots")
    yield sample(v((1, 1)), _name="matrix of one number")
    yield sample(np.arange(3), _constant=True, _name="integers")
    yield sample(v(6)[::-2], _name="strided")


@sample_inputs(np.roots)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(np.poly(np.arange(1, 5) + rng.uniform(-0.3, 0.3, 4)), _name="real roots")
    yield sample(np.array([1.0, 0.5, 2.0, -3.0]), _name="a pair of complex roots")
    yield sample(complex_normal(rng, 4))
    yield sample(np.array([2.0, -3.0, 0.5, 0.0]), _name="root at zero")
    yield sample(np.array([2.0, -3.0]), _name="one root")
    yield sample(np.array([1.0, -3.0, 2.0], np.float32))
    yield sample([1.5, 0.5, -2.0], _name="list")
    yield sample(np.array([1.5]), _name="no roots")
    yield sample(np.array([1, -3, 2]), _constant=True, _name="integers")
    yield sample(np.array([1.5, 3.0, 1.5 + 1e-2]), _name="roots that are close")


@sample_inputs(np.vander)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    v = rng.standard_normal
    yield sample(v(4))
    yield sample(v(3), 5)
    yield sample(v(3), 2, True)
    for n in (0, 1, 4):
        yield sample(v(3), N=n, increasing=True)
        yield sample(v(2), n)
    yield sample(complex_normal(rng, 3))
    yield sample(v(3).astype(np.float32), 3)
    yield sample([1.5, 0.5], _name="list")
    yield sample(np.array([0.0, 1.5]), 4, _name="zero")
    yield sample(np.zeros(0), 3, _name="empty")
    yield sample(v(6)[::-2], 3, _name="strided")
