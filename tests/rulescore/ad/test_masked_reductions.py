"""Outputs that a mask leaves out, whose slopes are infinite, of rules that are not elementwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.spatial import distance

from rulescore import NoTangent, rrule
from rulescore.ad import grad, jvp, primitive, vjp

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of what is masked

ROWS = np.array([[0.5, 1.5, 0.7], [0.8, 0.0, 1.2], [0.3, 0.9, 2.0]])
OTHERS = np.array([[0.2, 0.5, 0.3], [0.1, 0.6, 0.3], [0.4, 0.4, 0.2]])

REDUCTIONS: dict[str, Callable[[Any], Any]] = {
    "gmean": lambda x: primitive(stats.gmean)(x, axis=1),
    "pmean": lambda x: primitive(stats.pmean)(x, 0.5, axis=1),
    "entropy": lambda x: primitive(stats.entropy)(x, axis=1),
    "jensenshannon": lambda x: primitive(distance.jensenshannon)(x, OTHERS, axis=1),
    "boxcox": lambda x: primitive(stats.boxcox)(x.reshape(-1), 0.3),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_what_is_masked_has_no_part_in_either_mode(name: str) -> None:
    function = REDUCTIONS[name]
    y = function(ROWS)
    left_out = np.arange(y.size) == (1 if y.shape == (3,) else 4)

    def masked(x: Any) -> Any:
        return np.where(left_out, 0.0, function(x))

    dx, ybar = np.random.default_rng(0).uniform(0.5, 1.5, ROWS.shape), np.arange(1.0, 1.0 + y.size)
    assert not np.isfinite(jvp(function, (ROWS,), (dx,))[1][left_out]).any()
    _, dy = jvp(masked, (ROWS,), (dx,))
    _, pull = vjp(masked, ROWS)
    (xbar,) = pull(ybar)
    assert np.isfinite(xbar).all()
    np.testing.assert_array_equal(xbar[1, 1], 0.0)
    np.testing.assert_allclose(np.sum(xbar * dx), ybar @ dy)


def root_and_triple(x: Any) -> Any:
    return np.array([np.sqrt(x[0]), 3.0 * x[0]])


@pytest.mark.parametrize("x", [0.0, 4.0])
def test_what_is_reached_beside_an_infinite_slope_does_not_become_zero(x: float) -> None:
    def rule(x: Any) -> Any:
        slopes = np.array([0.5 / np.sqrt(x[0]), 3.0])
        return root_and_triple(x), lambda ybar: (NoTangent(), np.array([slopes @ ybar]))

    with rrule.override(root_and_triple, rule), np.errstate(divide="ignore", invalid="ignore"):
        found = grad(lambda x: np.sum(np.where([False, True], primitive(root_and_triple)(x), 0.0)))(np.array([x]))
    assert found[0] == 3.0 if x else np.isnan(found[0])
