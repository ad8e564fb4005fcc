"""Which functions a tape records without a call of their rule."""

from __future__ import annotations

import numpy as np
import pytest

from rulescore import NoTangent, rrule
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
