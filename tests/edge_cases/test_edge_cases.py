"""Every row of the table of edge cases has the mathematically right answer, in both modes."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import cases_tracing
import numpy as np
import pytest
from edge_case import SECOND_ORDER, Case, assert_right, copies, forward, leaves_as_in, reverse, second, without_warnings
from tables import CASES, SECTIONS, read_peers

from rulescore import AbstractZero
from rulescore.ad import vjp

OF_FIRST_ORDER = [case for _, case in CASES if case.gradient is not None]
WITH_FORWARD = [case for case in OF_FIRST_ORDER if not case.with_grad]
OF_SECOND_ORDER = [case for _, case in CASES if case.second is not None]
ERRORS = [case for _, case in CASES if case.raises is not None]
OF_NUMBERS = [case for case in OF_FIRST_ORDER if all(type(x) is float for x in case.args)]
ELEMENTWISE = [case for case in WITH_FORWARD if isinstance(case.f, np.ufunc) and np.ndim(case.args[0]) == 0]


def each(cases: list[Case]) -> Any:
    """A test for each of the cases."""
    return pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in cases])


@each(OF_FIRST_ORDER)
def test_gradient(case: Case) -> None:
    y, bars = reverse(case)
    assert_value(y, case)
    for x, bar, right in zip(case.args, bars, case.gradients(), strict=True):
        for xi, found, wanted in zip(leaves_as_in(x, x), leaves_as_in(x, bar), leaves_as_in(x, right), strict=True):
            assert found.shape == np.shape(xi)
            assert found.dtype == (case.dtype or np.asarray(xi).dtype)
            assert_right(found, wanted, case)


@each(WITH_FORWARD)
def test_jvp(case: Case) -> None:
    y, dys = forward(case)
    assert_value(y, case)
    for dy, right in zip(dys, case.tangents(), strict=True):
        assert isinstance(dy, AbstractZero) or np.shape(dy) == np.shape(y)
        assert_right(0 if isinstance(dy, AbstractZero) else dy, right, case)


@each(OF_SECOND_ORDER)
@pytest.mark.parametrize("mode", SECOND_ORDER)
def test_second_derivative(case: Case, mode: str) -> None:
    assert_right(*second(case, mode), case)


@each(ERRORS)
def test_error(case: Case) -> None:
    assert case.raises is not None
    error, message = case.raises
    for mode in (reverse,) if case.with_grad else (reverse, forward):
        with pytest.raises(error, match=message):
            mode(case)


@each(OF_NUMBERS)
@pytest.mark.parametrize("kind", [np.float64, np.asarray], ids=["scalar", "0-d"])
def test_numbers_of_numpy(case: Case, kind: Any) -> None:
    _, bars = reverse(dataclasses.replace(case, args=tuple(map(kind, case.args))))
    for bar, right in zip(bars, case.gradients(), strict=True):
        assert_right(bar, right, case)


@each(ELEMENTWISE)
def test_elements_of_arrays(case: Case) -> None:
    _, bars = reverse(dataclasses.replace(case, args=tuple(np.array([x, x]) for x in case.args)))
    for bar, right in zip(bars, case.gradients(), strict=True):
        assert_right(bar, right, case)


@pytest.mark.parametrize("case", cases_tracing.CASES, ids=lambda case: case.name)
def test_arguments_of_the_caller_stay_as_they_were(case: Case) -> None:
    args = copies(case.args)
    with contextlib.suppress(case.raises[0] if case.raises else ()):
        vjp(case.f, *args)
    for arg, before in zip(args, case.args, strict=True):
        np.testing.assert_array_equal(arg, before)


def test_every_row_of_the_table_is_a_case() -> None:
    _, peers = read_peers()
    cases = {(section, case.name) for section, case in CASES}
    assert len(cases) == len(CASES)
    assert cases == set(peers)
    assert {section for section, _ in peers} == set(SECTIONS)


def assert_value(y: Any, case: Case) -> None:
    """The value is what NumPy computes without us."""
    if case.with_grad:
        return
    arrays = (np.asarray(x) if isinstance(x, (float, complex)) else x for x in copies(case.args))
    plain = without_warnings(case.f)(*arrays)
    np.testing.assert_array_equal(y, plain)
    assert np.asarray(y).dtype == np.asarray(plain).dtype
