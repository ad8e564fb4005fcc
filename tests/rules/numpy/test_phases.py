"""What the rule of np.unwrap answers: the identity in the phases, whole numbers in the period."""

import numpy as np
import pytest

from rulescore import NoTangent, ZeroTangent, frule, rrule, unthunk

PHASES = np.array([0.5, 2.1, 0.2, 1.6, 0.0])  # jumps of more than 1 / 2 all over


def cotangents(p, *args, ybar, **kwargs):
    return [unthunk(bar) for bar in rrule(np.unwrap, p, *args, **kwargs)[1](ybar)[1:]]


def test_derivative_in_the_phases_is_the_identity_also_where_it_jumps():
    p, ybar = np.array([0.0, np.pi, -np.pi, 4.0]), np.array([1.0, 2.0, 4.0, 8.0])
    assert cotangents(p, ybar=ybar)[0].tolist() == ybar.tolist()
    assert frule((NoTangent(), ybar), np.unwrap, p)[1].tolist() == ybar.tolist()


@pytest.mark.parametrize("period", [1.0, 1.5, -1.0])
def test_cotangent_of_the_period_counts_the_periods_that_were_added(period):
    y, ybar = np.unwrap(PHASES, period=period), np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    counts = np.round((y - PHASES) / period)
    assert counts.any()
    assert cotangents(PHASES, period=period, ybar=ybar)[3] == np.sum(counts * ybar)
    np.testing.assert_allclose(np.unwrap(PHASES, period=period * (1 + 1e-3)), y + 1e-3 * period * counts, atol=1e-12)


def test_discont_gets_zero_and_an_integer_period_nothing():
    bars = cotangents(PHASES, 0.75, period=1.0, ybar=np.ones(5))
    assert bars[1] is ZeroTangent()
    assert len(cotangents(PHASES, period=1, ybar=np.ones(5))) == 1


def test_integers_get_nothing_and_keep_the_derivative_in_the_period():
    p = np.array([0, 3, 1, 5])
    pbar, _, _, period_bar = cotangents(p, period=2.5, ybar=np.ones(4))
    assert pbar is NoTangent()
    assert period_bar == np.sum(np.round((np.unwrap(p, period=2.5) - p) / 2.5))
    dy = frule((NoTangent(), NoTangent(), NoTangent(), NoTangent(), 1.0), np.unwrap, p, None, -1, 2.5)[1]
    assert dy.tolist() == np.round((np.unwrap(p, period=2.5) - p) / 2.5).tolist()


def test_whole_numbers_of_an_integer_period_have_no_derivative():
    y, pullback = rrule(np.unwrap, np.array([0, 3, 1]), period=4)
    assert y.dtype.kind == "i"
    assert set(pullback(y)) == {NoTangent()}


def test_single_precision_is_kept():
    p = PHASES.astype(np.float32)
    y, dy = frule((NoTangent(), p), np.unwrap, p)
    assert y.dtype == dy.dtype == np.float32
    assert cotangents(p, ybar=y)[0].dtype == np.float32
