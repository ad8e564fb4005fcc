"""Copies and writes, the type a tangent must have, and when numbers agree."""

from __future__ import annotations

import dataclasses
from collections import namedtuple
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from rulescore import NoTangent, NotImplementedTangent, Tangent, Thunk, ZeroTangent
from testutils.comparison.copies import arrays_in, deep_copy, shared_arrays, written_to
from testutils.comparison.spaces import (
    missing_in,
    precision_of,
    tangent_type_problem,
    value_problem,
    value_type_problem,
)
from testutils.comparison.verdicts import FAIL, INCONCLUSIVE, PASS, Tolerance

Point = namedtuple("Point", "x y")


@dataclasses.dataclass
class Layer:
    weights: Any
    name: str = "layer"


def nested() -> Any:
    return {
        "a": np.arange(3.0),
        "b": [np.ones((2, 2)), (1.0, np.zeros(1))],
        "layer": Layer(np.ones(2)),
        "point": Point(np.ones(1), 2.0),
        "sparse": scipy.sparse.csr_array(np.eye(2)),
        "function": np.sin,
        "name": "x",
    }


def test_copies_share_no_array_and_keep_functions() -> None:
    x = nested()
    y = deep_copy(x)
    assert written_to(x, y) == []
    assert y["function"] is np.sin
    assert not shared_arrays(x, y)
    assert isinstance(y["point"], Point)
    assert isinstance(y["layer"], Layer)


def test_copies_of_tangents_share_no_array_and_keep_zeros_and_thunks() -> None:
    thunk = Thunk(lambda: np.ones(2))
    t = Tangent(tuple, np.ones(2), ZeroTangent(), NoTangent(), thunk)
    copied = deep_copy(t)
    assert copied.fields[0] is not t.fields[0]
    assert copied.fields[1] is ZeroTangent()
    assert copied.fields[3] is thunk


@pytest.mark.parametrize(
    ("write", "path"),
    [
        (lambda x: x["a"].__setitem__(1, 9), "['a']"),
        (lambda x: x["b"][1][1].__setitem__(0, np.nan), "['b'][1][1]"),
        (lambda x: x["layer"].weights.fill(0), "['layer'].weights"),
        (lambda x: x["point"].x.fill(0), "['point'].x"),
        (lambda x: x["sparse"].data.fill(0), "['sparse'].data"),
        (lambda x: x["b"][0].reshape(-1)[:1].fill(0), "['b'][0]"),
        (lambda x: x.update(new=np.ones(1)), "['new']"),
    ],
)
def test_writes_are_found_where_they_happened(write: Any, path: str) -> None:
    before, after = nested(), nested()
    write(after)
    assert written_to(before, after) == [path]


def test_negative_zero_and_nan_count_as_they_are_stored() -> None:
    assert written_to(np.array([0.0]), np.array([-0.0])) == [""]
    assert written_to(np.array([np.nan]), np.array([np.nan])) == []


def test_shared_memory_is_found_through_views_and_containers() -> None:
    x = np.zeros((4, 4))
    assert shared_arrays((x.T, x.copy()), [x]) == {("[0]", "[0]")}
    assert shared_arrays({"y": x[::2]}, (1.0, x[1::2])) == set()
    assert shared_arrays({"y": x[::2]}, (1.0, x[2])) == {("['y']", "[1]")}


def test_memory_overlap_too_hard_to_decide_counts_as_shared() -> None:
    base = np.zeros(20000, np.int8)
    strides = [(3, 5, 7, 11, 13, 17), (19, 23, 29, 31, 37, 41)]
    a, b = (np.lib.stride_tricks.as_strided(base, (8,) * 6, s) for s in strides)
    assert shared_arrays(a, b) == {("", "")}


def test_arrays_inside_tangents_and_thunks_are_found() -> None:
    t = Tangent(dict, {"w": Thunk(lambda: np.ones(2)), "b": np.zeros(1)})
    assert [path for path, _ in arrays_in(t)] == [".w", ".b"]


def test_coarsest_precision_counts() -> None:
    assert precision_of(1.0, "x", 3) == np.finfo(float).eps
    assert precision_of(np.ones(2), [np.float32(1)]) == np.finfo(np.float32).eps
    assert precision_of(np.complex64(1)) == np.finfo(np.float32).eps
    assert precision_of(np.longdouble(1)) == np.finfo(np.longdouble).eps
    assert precision_of(3) == np.finfo(float).eps


@pytest.mark.parametrize(
    ("expected", "value", "problem"),
    [
        (np.ones(2), np.ones(2), None),
        (1.0, np.float64(1), None),
        (np.float64(1), 1.0, "is a float, not a float64"),
        (np.ones(2), [1.0, 1.0], "is a list, not a ndarray"),
        (np.ones(2), np.ones(2, np.float32), "has dtype float32, not float64"),
        (np.ones(2), np.ones((1, 2)), "has shape (1, 2), not (2,)"),
        (np.float64(1), np.array(1.0, np.float32), "has dtype float32, not float64"),
        ((1.0, np.ones(2)), (1.0, np.ones(3)), "has shape (3,), not (2,) (at [1])"),
        ((1.0, 2.0), (1.0,), "has the entries [0], not [0, 1]"),
        ({"w": 1.0}, {"v": 1.0}, "has the entries ['v'], not ['w']"),
    ],
)
def test_type_of_a_value(expected: Any, value: Any, problem: str | None) -> None:
    assert value_type_problem(expected, value) == problem


@pytest.mark.parametrize(
    ("expected", "value", "problem"),
    [
        (np.ones(2), np.ones(2) + 1e-12, None),
        (np.array([np.nan, np.inf]), np.array([np.nan, np.inf]), None),
        (np.ones(2), np.array([1.0, 2.0]), "differs in 1 of 2 entries, as in 2.0 instead of 1.0"),
        (1.0, 2.0, "is 2.0 instead of 1.0"),
        ((1.0, {"w": np.ones(1)}), (1.0, {"w": np.zeros(1)}), "entries, as in 0.0 instead of 1.0 (at ['w']) (at [1])"),
        (scipy.sparse.csr_array(np.eye(2)), scipy.sparse.csr_array(2 * np.eye(2)), "in 2 of 4 entries"),
        ("left", "right", "is 'right', not 'left'"),
        (np.ones(2), np.ones(3), None),
    ],
)
def test_value_of_an_output(expected: Any, value: Any, problem: str | None) -> None:
    found = value_problem(expected, value, 1e-9)
    assert found is None if problem is None else found is not None and problem in found


@pytest.mark.parametrize(
    ("primal", "tangent"),
    [
        (1.0, 2.0),
        (1.0, np.float64(2)),
        (np.float64(1), 2.0),
        (np.float32(1), np.float32(2)),
        (np.ones(2), np.ones(2)),
        (np.ones(2), ZeroTangent()),
        (np.ones(2), NoTangent()),
        (np.ones(2), Thunk(lambda: np.ones(2))),
        (np.ones(2), NotImplementedTangent("later")),
        (3, NoTangent()),
        (np.arange(3), NoTangent()),
        ((1.0, "name"), Tangent(tuple, 2.0, NoTangent())),
        (Layer(np.ones(2)), Tangent(Layer, weights=np.ones(2))),
        (Point(1.0, 2.0), Tangent(Point, 1.0, 2.0)),
        (Point(1.0, 2.0), Tangent(Point, x=1.0)),
        ({"w": np.ones(2)}, Tangent(dict, {})),
        (scipy.sparse.csr_array(np.eye(2)), scipy.sparse.csr_array(np.eye(2))),
    ],
)
def test_tangents_of_the_right_type(primal: Any, tangent: Any) -> None:
    assert tangent_type_problem(primal, tangent) is None


@pytest.mark.parametrize(
    ("primal", "tangent", "problem"),
    [
        (np.ones(5), np.ones((1, 5)), "has shape (1, 5), not (5,)"),
        (np.ones(5), 1.0, "has shape (), not (5,)"),
        (np.ones(2, np.float32), np.ones(2), "has dtype float64, not float32"),
        (np.ones(2), np.ones(2, complex), "has dtype complex128, not float64"),
        (np.ones(2, complex), np.ones(2), "has dtype float64, not complex128"),
        (np.ones(2), np.ones(2, int), "has dtype int64, not float64"),
        (np.array(1.0), 1.0, "is a scalar (float), not a 0-d array"),
        (1.0, np.array(1.0), "is a 0-d array, not a scalar"),
        (np.float32(1), 1.0, "has dtype float64, not float32"),
        (np.ones(2), [1.0, 1.0], "is a list, not float64[2]"),
        (np.ones(2), Tangent(tuple, 1.0, 1.0), "is a Tangent, not float64[2]"),
        (np.ones(2), None, "is a NoneType, not float64[2]"),
        (3, 1.0, "although 3 has no derivative; return NoTangent()"),
        ([1.0, 2.0], [1.0, 2.0], "is a plain list, which an AD system cannot add"),
        ([1.0, 2.0], Tangent(tuple, 1.0, 2.0), "is the tangent of a tuple, not of a list"),
        ([1.0, 2.0], Tangent(list, 1.0), "has 1 entries, not the 2 of its primal"),
        ([1.0, 2.0], np.ones(2), "is float64[2], not the tangent of a list"),
        ((1.0, np.ones(2)), Tangent(tuple, 1.0, np.ones(3)), "has shape (3,), not (2,) as its primal has (at [1])"),
        ({"w": 1.0}, Tangent(dict, {"v": 1.0}), "has a field 'v' that its primal has not"),
        (scipy.sparse.csr_array(np.eye(2)), np.eye(2), "is float64[2, 2], not csr_array of float64[2, 2]"),
    ],
)
def test_tangents_of_the_wrong_type(primal: Any, tangent: Any, problem: str) -> None:
    found = tangent_type_problem(primal, tangent)
    assert found is not None
    assert problem in found


def test_plain_containers_may_stand_for_the_tangents_of_outputs() -> None:
    assert tangent_type_problem((1.0, 2.0), (1.0, ZeroTangent()), plain_containers=True) is None
    assert tangent_type_problem({"w": 1.0}, {"w": 1.0}, plain_containers=True) is None
    assert tangent_type_problem((1.0, 2.0), (1.0,), plain_containers=True) == "has 1 entries, not the 2 of its primal"


def test_missing_derivatives_are_found_inside_containers() -> None:
    missing = NotImplementedTangent("later")
    assert missing_in(Tangent(tuple, 1.0, missing)) == [missing]
    assert missing_in((1.0, [missing])) == [missing]
    assert missing_in(1.0) == []


@pytest.mark.parametrize(
    ("rule", "difference", "error", "verdict"),
    [
        (1.0, 1.0, 1e-12, PASS),
        (1.0, 1.0 + 5e-10, 1e-12, PASS),
        (1.0, 1.0 + 1e-7, 1e-12, FAIL),
        (1.0, 1.0 + 3e-7, 1e-7, PASS),
        (1.0, -1.0, 1e-3, FAIL),
        (1.0, 1.0, 1e-3, INCONCLUSIVE),
        (1.0, 2.0, 1.0, INCONCLUSIVE),
        (1.0, np.nan, np.nan, INCONCLUSIVE),
        (1.0, 1.0, np.inf, INCONCLUSIVE),
        (np.nan, 1.0, 1e-12, FAIL),
        (np.inf, 1.0, 1e-12, FAIL),
        (np.inf, 1e9, 1e9, INCONCLUSIVE),
        (np.nan, np.nan, np.inf, INCONCLUSIVE),
        (np.inf, np.inf, np.nan, PASS),
        (0.0, 0.0, 1e-10, PASS),
        (0.0, 0.0, 1e-3, INCONCLUSIVE),
        (0.0, 1e-12, 1e-12, PASS),
        (0.0, 1e-9, 1e-12, FAIL),
        (1e-8, -1e-8, 1e-20, FAIL),
    ],
)
def test_when_a_rule_and_a_finite_difference_agree(rule: float, difference: float, error: float, verdict: int) -> None:
    scale = max(abs(rule), abs(difference)) if np.isfinite(rule + difference) else 0.0
    assert Tolerance(1e-9, 0.0).judge(rule, difference, difference, error, scale=scale, unit=1.0) == verdict


@np.errstate(invalid="ignore")
def test_many_entries_are_judged_as_each_is_alone() -> None:
    """Those that agree are looked for first, which is to change no verdict."""
    rng = np.random.default_rng(0)
    sizes = rng.choice([0.0, 1e-300, 1e-12, 1.0, 1e6, np.inf, np.nan], (4, 5000))
    lower = sizes[0] * rng.choice([-1.0, 1.0], 5000)
    rule = lower * (1 + rng.choice([0.0, 1e-12, 1e-10, 1e-6, 1e-3, 2.0], 5000))
    upper = np.where((rng.random(5000) < 0.7) | np.isinf(lower), lower, lower + sizes[1])
    error = sizes[2] * rng.choice([0.0, 1e-14, 1e-9, 1e-4, 0.1], 5000)
    scale, rounding = np.maximum(np.abs(lower), sizes[3]), rng.choice([0.0, 1e-9], 5000)
    for unit in (0.0, 1.0):
        judge = partial(Tolerance(1e-11, 0.0).judge, unit=unit, unseen=1e-13)
        together = judge(rule, lower, upper, error, scale=scale, rounding=rounding)
        numbers = zip(rule, lower, upper, error, scale, rounding, strict=True)
        apart = [int(judge(*each[:4], scale=each[4], rounding=each[5])) for each in numbers]
        assert together.tolist() == apart
        assert set(apart) == {PASS, INCONCLUSIVE, FAIL}


def test_entries_are_judged_one_by_one() -> None:
    difference = np.array([1.0, 2.0, np.nan])
    verdicts = Tolerance(1e-9, 0.0).judge(np.ones(3), difference, difference, 1e-12, scale=np.ones(3), unit=1.0)
    assert verdicts.tolist() == [PASS, FAIL, INCONCLUSIVE]


def test_absolute_tolerance_decides_small_numbers() -> None:
    assert Tolerance(1e-9, 1e-3).judge(0.0, 5e-4, 5e-4, 1e-4, scale=5e-4, unit=1.0) == PASS


@pytest.mark.parametrize(
    ("rule", "verdict"), [(-1.0, PASS), (0.3, PASS), (1.0, PASS), (1.1, FAIL), (-1.1, FAIL), (np.nan, FAIL)]
)
def test_at_a_kink_everything_between_the_one_sided_derivatives_is_right(rule: float, verdict: int) -> None:
    assert Tolerance(1e-9, 0.0).judge(rule, -1.0, 1.0, 1e-12, scale=1.0, unit=1.0) == verdict


@pytest.mark.parametrize(("rule", "verdict"), [(np.inf, PASS), (-np.inf, INCONCLUSIVE), (1.0, INCONCLUSIVE)])
def test_an_infinite_derivative_agrees_with_the_same_infinity_alone(rule: float, verdict: int) -> None:
    assert Tolerance(1e-9, 0.0).judge(rule, np.inf, np.inf, 0.0, scale=0.0, unit=1.0) == verdict
