"""Smoothing by penalised differences, whose results are objects."""

import numpy as np
import pytest
import scipy.signal

from rulescore import MissingDerivativeError, rrule
from rulescore.ad import grad, hessian, primitive
from testutils import vjp_fd

pytestmark = pytest.mark.skipif(
    not hasattr(scipy.signal, "whittaker_henderson"), reason="SciPy has whittaker_henderson since 1.18"
)

Y = np.random.default_rng(0).standard_normal(12)
WEIGHTS = np.where(np.arange(12) % 4 == 1, 0.0, np.linspace(0.5, 2.0, 12))


def loss(f, order=2):
    return lambda y, lamb, weights: np.sum(np.sin(f(y, lamb=lamb, order=order, weights=weights).x))


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("count", [4, 12])
def test_signal_penalty_and_weights_have_derivatives(count, order):
    primals = Y[:count], 2.0, WEIGHTS[:count]
    found = grad(loss(primitive(scipy.signal.whittaker_henderson), order), argnums=(0, 1, 2))(*primals)
    expected = vjp_fd(loss(scipy.signal.whittaker_henderson, order), 1.0, primals).value
    for mine, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, right, rtol=1e-7, atol=1e-8)


def test_the_penalty_has_a_second_derivative():
    smoothed = loss(primitive(scipy.signal.whittaker_henderson))
    h = 1e-4
    slopes = [grad(smoothed, argnums=1)(Y, 2.0 + step, WEIGHTS) for step in (h, -h)]
    second = hessian(smoothed, argnums=1)(Y, 2.0, WEIGHTS)
    np.testing.assert_allclose(second, (slopes[0] - slopes[1]) / (2 * h), rtol=1e-6)


def test_what_is_missing_without_weight_does_not_matter():
    y = np.where(WEIGHTS == 0, np.nan, Y)
    made, _ = rrule(scipy.signal.whittaker_henderson, y, lamb=2.0, weights=WEIGHTS)
    theirs = scipy.signal.whittaker_henderson(y, lamb=2.0, weights=WEIGHTS)
    assert type(made) is type(theirs)
    np.testing.assert_allclose(made.x, theirs.x, rtol=1e-12)
    found = grad(loss(primitive(scipy.signal.whittaker_henderson)))(y, 2.0, WEIGHTS)
    np.testing.assert_array_equal(found[WEIGHTS == 0], 0)


def test_a_penalty_that_is_searched_for_is_refused_and_one_beyond_all_bounds_has_no_rule():
    with pytest.raises(MissingDerivativeError, match="give a number"):
        rrule(scipy.signal.whittaker_henderson, Y)
    assert rrule(scipy.signal.whittaker_henderson, Y, lamb=1e18) is None
