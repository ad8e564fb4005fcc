"""Random tangents: of the primal's type, easy to read, never zero; and primals with a fixed tangent."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import FrozenInstanceError, dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse

from rulescore import NoTangent, Tangent, Thunk, ZeroTangent
from testutils.evidence.vectorisation import TangentMismatchError
from testutils.samples.random_tangents import PrimalWithTangent, rand_tangent, with_tangent

Point = namedtuple("Point", "x y")


@dataclass
class Layer:
    weights: Any
    name: str = "layer"


@pytest.mark.parametrize(
    "x",
    [
        np.ones(3),
        np.ones((2, 3), np.float32),
        np.ones(2, np.float16),
        np.ones(2, np.longdouble),
        np.ones((2, 2), complex),
        np.ones(2, np.complex64),
        np.array(1.0),
        np.array(1j),
        np.zeros((0, 2)),
        np.ones((4, 4), order="F")[::2],
        np.float32(1),
        np.float64(1),
        np.complex64(1),
        np.longdouble(1),
    ],
)
def test_a_tangent_has_shape_and_dtype_of_its_primal(rng, x):
    dx = rand_tangent(rng, x)
    assert type(dx) is type(x)
    assert dx.dtype == x.dtype
    assert np.shape(dx) == np.shape(x)


def test_python_numbers_have_python_tangents(rng):
    assert type(rand_tangent(rng, 1.0)) is float
    assert type(rand_tangent(rng, 1j)) is complex


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def test_real_tangents_are_hundredths_spread_over_minus_9_to_9(rng):
    dx = rand_tangent(rng, np.ones(20_000))
    np.testing.assert_array_equal(dx, np.round(dx, 2))
    assert len(np.unique(dx)) == 1800
    assert np.min(dx) == -9
    assert np.max(dx) == 9
    assert np.all(dx != 0)


def test_complex_tangents_have_tenths_in_both_parts(rng):
    dx = rand_tangent(rng, np.ones(20_000, complex))
    for part in (dx.real, dx.imag):
        np.testing.assert_array_equal(part, np.round(part, 1))
        assert len(np.unique(part)) == 180
        assert np.all(part != 0)
    assert abs(np.corrcoef(dx.real, dx.imag)[0, 1]) < 0.05


@pytest.mark.parametrize(
    "x",
    [
        3,
        True,
        "text",
        None,
        np.sin,
        len,
        np.int64(3),
        np.arange(3),
        np.array([True]),
        slice(3),
        np.dtype(float),
        float,
        (),
        (1, "a"),
        {"n": [1, 2]},
        Layer(3),
        NoTangent(),
        sparse.csr_array(np.eye(2, dtype=int)),
    ],
)
def test_what_has_no_derivative_has_no_tangent(rng, x):
    assert rand_tangent(rng, x) is NoTangent()


def test_containers_and_objects_have_structural_tangents(rng):
    x = {"a": [1.0, "text"], "p": Point(np.ones(2), 3), "l": Layer(1j)}
    dx = rand_tangent(rng, x)
    assert isinstance(dx, Tangent)
    assert dx.primal_type is dict
    assert dx["a"].primal_type is list
    assert type(dx["a"][0]) is float
    assert dx["a"][1] is NoTangent()
    assert dx["p"].primal_type is Point
    assert dx["p"].x.shape == (2,)
    assert dx["p"].y is NoTangent()
    assert dx["l"].primal_type is Layer
    assert type(dx["l"].weights) is complex


def test_the_tangent_of_a_thunk_is_that_of_its_value(rng):
    assert rand_tangent(rng, Thunk(lambda: np.ones((2, 1)))).shape == (2, 1)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "dia", "lil", "dok", "bsr"])
def test_sparse_tangents_have_the_pattern_of_their_primal(rng, kind):
    if kind == "dia":  # stores whole diagonals
        x = sparse.diags_array([np.ones(4), np.ones(5)], offsets=[1, -2], shape=(7, 5))
    else:
        x = sparse.random_array((5, 6), density=0.3, rng=rng, dtype=np.float64).asformat(kind)
    dx = rand_tangent(rng, x)
    assert type(dx) is type(x)
    np.testing.assert_array_equal(dx.toarray() != 0, x.toarray() != 0)


def test_the_same_seed_gives_the_same_tangent_and_another_seed_another(rng):
    x = (np.ones(3), 1j)
    one, two, three = (rand_tangent(np.random.default_rng(seed), x) for seed in (5, 5, 6))
    assert one == two
    assert one != three


@pytest.mark.parametrize(
    ("x", "dx"),
    [
        (1.0, 2.0),
        (np.ones(2), np.array([1.0, 2.0])),
        (np.ones(2), NoTangent()),
        (np.ones(2), ZeroTangent()),
        (3, NoTangent()),
        ((1.0, 2.0), Tangent(tuple, 1.0, 2.0)),
    ],
)
def test_a_primal_keeps_the_tangent_it_is_given(x, dx):
    argument = with_tangent(x, dx)
    assert isinstance(argument, PrimalWithTangent)
    assert argument.primal is x
    assert argument.tangent is dx


def test_a_primal_with_tangent_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        with_tangent(1.0, 2.0).tangent = 3.0


@pytest.mark.parametrize(
    ("x", "dx"),
    [(np.ones(2), np.ones(3)), (1.0, 1j), (3, 1.0), ((1.0, 2.0), (1.0,)), (np.ones(2), 1.0)],
)
def test_a_tangent_that_does_not_fit_is_refused(x, dx):
    with pytest.raises(TangentMismatchError):
        with_tangent(x, dx)
