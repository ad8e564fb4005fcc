"""What is true of an entry is found by finite differences, and notices wrong values, wrong derivatives, and none."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.wild.systems import rulescore_as_it_is
from tests.wild.truth import NoTruthError, Truth, WrongError

X = np.array([0.3, 1.2])


def wave(x: Any, a: Any) -> Any:
    return {"real": [np.sin(a * x), 3], "complex": np.exp(1j * x)}


def another_value(x: Any, a: Any) -> Any:
    return wave(x, a + 1e-4)


def another_derivative(x: Any, a: Any) -> Any:
    return wave(2 * np.array(getattr(x, "_value", x)) - x, a)


def none_of_one_argument(x: Any, a: Any) -> Any:
    return wave(x, float(getattr(a, "_value", a)))


def another_shape(x: Any, a: Any) -> Any:
    y = wave(x, a)
    return {**y, "complex": y["complex"][:1]}


def test_a_system_that_is_right_passes() -> None:
    rulescore_as_it_is(Truth.of(wave, (X, 1.5)))


@pytest.mark.parametrize("wrong", [another_value, another_derivative, none_of_one_argument, another_shape])
def test_numbers_that_are_wrong_are_noticed(wrong: Callable[..., Any]) -> None:
    truth = dataclasses.replace(Truth.of(wave, (X, 1.5)), function=wrong)
    with pytest.raises(WrongError):
        rulescore_as_it_is(truth)


def test_what_is_pulled_back_is_checked_for_itself() -> None:
    truth = Truth.of(wave, (X, 1.5))
    with pytest.raises(WrongError, match="reverse, argument 1"):
        truth.check_pulled([_pulled_back(truth), 0.0])


def _pulled_back(truth: Truth) -> Any:
    from rulescore.ad import vjp

    _, pullback = vjp(truth.outputs(wave), *truth.primals)
    return pullback(tuple(truth.cotangents))[0]


@pytest.mark.parametrize(
    "function",
    [lambda x: np.floor(x), lambda x: np.sum(np.abs(x - X)), lambda x: np.nan * x, lambda x: 3],
    ids=["constant", "kink", "nan", "integer"],
)
def test_entries_without_a_derivative_have_no_truth(function: Callable[..., Any]) -> None:
    with pytest.raises(NoTruthError):
        Truth.of(function, (X,))
