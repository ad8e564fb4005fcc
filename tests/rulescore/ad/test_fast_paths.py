"""Which functions a tape records without a call of their rule."""

from __future__ import annotations

import numpy as np
import pytest

from rulescore import NoTangent, rrule, static_rule
from rulescore.ad import grad
from rulescore.ad.fast.forms import binary_form, unary_form

TWO = (np.add, np.subtract, np.multiply, np.true_divide, np.power)


@pytest.mark.parametrize("ufunc", TWO)
def test_rules_for_sparse_arrays_leave_those_of_arrays_as_fast_as_they_are(ufunc: np.ufunc) -> None:
    pytest.importorskip("scipy.sparse")
    rrule(np.add, 1.0, 2.0)  # loads what is due
    assert binary_form(ufunc) is not None


@pytest.mark.parametrize("ufunc", [np.exp, np.sin, np.negative, np.log, np.sqrt, np.tanh])
def test_of_one_argument(ufunc: np.ufunc) -> None:
    assert unary_form(ufunc) is not None


def test_a_rule_for_arrays_of_somebody_s_own_is_called() -> None:
    def tripled(x: np.ndarray) -> object:
        return np.sin(x), lambda ybar: (NoTangent(), 3 * ybar)

    with rrule.override(np.sin, tripled):
        assert unary_form(np.sin) is None
        np.testing.assert_array_equal(grad(lambda x: np.sum(np.sin(x)))(np.ones(2)), [3, 3])
    assert unary_form(np.sin) is not None


def seen_by_tracers(f):
    """A function that hands its calls to the tracer that it is given, as NumPy's do."""

    def call(x):
        return x.__array_function__(call, (type(x),), (x,), {}) if hasattr(type(x), "__rule_type__") else f(x)

    return call


@pytest.mark.filterwarnings("ignore::rulescore.ad.RuleNotUsedWarning")
def test_a_static_form_may_have_several_outputs_or_a_number_of_python_s() -> None:
    both = seen_by_tracers(lambda x: (np.sin(x), 2 * x))
    total = seen_by_tracers(lambda x: float(np.sum(x)))
    static_rule(both, lambda ybar, y, x: ybar[0] * np.cos(x) + 2 * ybar[1])
    static_rule(total, lambda ybar, y, x: ybar * np.ones(x.shape))
    x = np.array([0.5, 1.5])
    np.testing.assert_allclose(grad(lambda x: np.sum(both(x)[0]) + np.sum(both(x)[1]))(x), np.cos(x) + 2)
    np.testing.assert_allclose(grad(total)(x), 1)
