"""Tangents and cotangents that are infinite or NaN: what functions of SciPy's refuse, no derivative does."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
import scipy.signal
import scipy.sparse.linalg

from rulescore import MissingDerivativeError
from rulescore.ad import NoRuleError, TracerConversionError, UnrelatedOutputError, grad, jvp, primitive, vjp
from rulescore.ad.values.trees import tree_map
from tests.fuzz.calls import functions, sampled

REFUSED = (NoRuleError, TracerConversionError, UnrelatedOutputError, MissingDerivativeError)

PARTS = ("linalg", "detrend", "welch", "csd", "periodogram", "solve_ivp", "odeint")
"""In the names of functions that refuse what is not finite, or are made of such ones."""

NAMES = [name for name in functions() if any(part in name for part in PARTS)]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def is_moving(x: Any) -> bool:
    is_number = isinstance(x, (np.ndarray, np.inexact, float, complex))
    return is_number and np.asarray(x).dtype.kind in "fc" and np.size(x) > 0


def filled(x: Any, value: float) -> Any:
    """What looks like x, with the same number everywhere."""
    return tree_map(lambda leaf: leaf * 0 + np.asarray(leaf).dtype.type(value) if is_moving(leaf) else leaf, x)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", NAMES)
def test_no_derivative_refuses_what_is_not_finite(name: str, value: float) -> None:
    f, args, kwargs = sampled(name, 0)
    for number, x in enumerate(args):
        if not is_moving(x):
            continue

        def call(x: Any, number: int = number) -> Any:
            return f(*args[:number], x, *args[number + 1 :], **kwargs)

        y = call(x)
        if not isinstance(y, (np.ndarray, np.generic, tuple, list)):  # an account of what was done
            continue
        with contextlib.suppress(*REFUSED):
            vjp(call, x)[1](filled(y, value))
        with contextlib.suppress(*REFUSED):
            jvp(call, (x,), (filled(x, value),))
        if np.isrealobj(x) and isinstance(y, np.ndarray) and "integrate" not in name:  # of systems it takes minutes
            # The cotangent is infinite, and moves.
            with contextlib.suppress(*REFUSED):
                jvp(grad(lambda x, call=call: np.sum(np.sqrt(np.abs(call(x)) * 0.0))), (x,), (filled(x, 1.0),))


A = np.array([[4.0, 1.0, 0.0], [1.0, 5.0, 2.0], [0.0, 2.0, 6.0]])
B = np.arange(1.0, 7.0).reshape(3, 2)


@pytest.mark.parametrize(
    "f",
    [
        lambda b: primitive(scipy.linalg.solve)(A, b),
        lambda b: primitive(scipy.linalg.solve_triangular)(A, b),
        lambda b: primitive(scipy.linalg.lu_solve)(scipy.linalg.lu_factor(A), b),
        lambda b: primitive(scipy.linalg.cho_solve)(scipy.linalg.cho_factor(A), b),
        lambda b: primitive(scipy.linalg.solve_banded)((1, 1), A, b),
        lambda b: primitive(scipy.linalg.solve_toeplitz)(A[0], b),
        lambda b: primitive(scipy.signal.detrend)(b, axis=0),
    ],
    ids=["solve", "solve_triangular", "lu_solve", "cho_solve", "solve_banded", "solve_toeplitz", "detrend"],
)
def test_columns_beside_an_infinite_slope_have_their_derivative(f: Any) -> None:
    root_of_nothing = lambda b: np.sum(np.sqrt(f(b)[:, 0] * 0.0)) + np.sum(f(b)[:, 1] ** 2)  # noqa: E731
    slopes = grad(root_of_nothing)(B)
    np.testing.assert_allclose(slopes[:, 1], grad(lambda b: np.sum(f(b)[:, 1] ** 2))(B)[:, 1])
    assert np.isnan(slopes[:, 0]).any()
    direction = np.stack([np.full(3, np.inf), np.ones(3)], axis=1)
    tangent = jvp(f, (B,), (direction,))[1]
    np.testing.assert_allclose(tangent[:, 1], f(np.ones_like(B))[:, 1], atol=1e-12)
    assert not np.isfinite(tangent[:, 0]).all()


def test_what_was_given_is_still_checked() -> None:
    for f in (scipy.linalg.solve, scipy.linalg.solve_triangular):
        with pytest.raises(ValueError, match="must not contain infs or NaNs"):
            grad(lambda b, f=f: np.sum(primitive(f)(A, b)))(np.array([1.0, np.nan, 0.0]))
        assert np.isfinite(grad(lambda b, f=f: np.sum(primitive(f)(A, b, check_finite=False)))(np.ones(3))).all()
