"""What the rules of evenly spaced numbers answer: the weights of the ends, the step, roundings."""

import numpy as np
import pytest

from rulescore import NoTangent, Tangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, jvp, primitive

arange = primitive(np.arange)


def cotangents(f, *args, ybar, **kwargs):
    return [unthunk(bar) for bar in rrule(f, *args, **kwargs)[1](ybar)[1:]]


def tangent(f, tangents, *args, **kwargs):
    return frule((NoTangent(), *tangents), f, *args, **kwargs)[1]


# ---------------------------------------------------------------- linspace


def test_each_end_gets_its_share_of_every_number():
    start_bar, stop_bar = cotangents(np.linspace, 0.0, 1.0, num=5, ybar=np.array([1.0, 0, 4, 0, 16]))
    assert (start_bar, stop_bar) == (1 + 2, 2 + 16)
    start_bar, stop_bar = cotangents(np.linspace, 0.0, 1.0, num=4, endpoint=False, ybar=np.array([0, 4.0, 0, 0]))
    assert (start_bar, stop_bar) == (3, 1)


def test_half_of_the_cotangent_of_the_middle_goes_to_an_end_that_is_a_keyword():
    # An edge case of the peers: np.linspace(x[0], stop=x[1], num=3).
    start_bar, stop_bar = cotangents(np.linspace, 1.0, stop=2.0, num=3, ybar=np.ones(3))
    assert (start_bar, stop_bar) == (1.5, 1.5)


def test_the_step_has_a_cotangent_of_its_own():
    start_bar, stop_bar = cotangents(np.linspace, 0.0, 1.0, num=5, retstep=True, ybar=(np.zeros(5), 8.0))
    assert (start_bar, stop_bar) == (-2, 2)
    dy = tangent(np.linspace, [0.0, 4.0], 0.0, 1.0, num=5, retstep=True)
    assert isinstance(dy, Tangent)
    assert dy[0].tolist() == [0, 1, 2, 3, 4]
    assert dy[1] == 1


@pytest.mark.parametrize(("num", "endpoint"), [(1, True), (0, True), (0, False)])
def test_a_step_that_is_nan_has_the_derivative_zero(num, endpoint):
    ybar = np.ones(num), 1.0
    bars = cotangents(np.linspace, 0.5, 2.0, num=num, endpoint=endpoint, retstep=True, ybar=ybar)
    assert [float(np.sum(bar + 0.0)) for bar in bars] == [num, 0]


def test_numbers_rounded_to_integers_are_constant_and_their_step_is_not():
    assert all(
        isinstance(bar, ZeroTangent) for bar in cotangents(np.linspace, 0.5, 9.0, num=4, dtype=int, ybar=np.ones(4))
    )
    bars = cotangents(np.linspace, 0.5, 9.0, num=4, dtype=int, retstep=True, ybar=(NoTangent(), 3.0))
    assert bars == [-1, 1]
    assert tangent(np.linspace, [1.0, 1.0], 0.5, 9.0, num=4, dtype=int) is NoTangent()


def test_ends_of_two_shapes_and_an_axis_in_the_middle():
    start, stop = np.zeros((2, 1)), np.ones(3)
    ybar = np.arange(24.0).reshape(2, 4, 3)
    start_bar, stop_bar = cotangents(np.linspace, start, stop, num=4, axis=1, ybar=ybar)
    weights = np.array([0, 1 / 3, 2 / 3, 1])
    np.testing.assert_allclose(start_bar, np.einsum("k,ikj->i", 1 - weights, ybar)[:, None])
    np.testing.assert_allclose(stop_bar, np.einsum("k,ikj->j", weights, ybar))


@pytest.mark.parametrize("f", [np.linspace, np.logspace, np.geomspace])
def test_single_precision_arguments_get_single_precision_cotangents(f):
    start, stop = np.array([0.5, 1.0], np.float32), np.array([1.5, 2.0], np.float32)
    y, pullback = rrule(f, start, stop, num=4, dtype=np.float32)
    assert y.dtype == np.float32
    assert [unthunk(bar).dtype for bar in pullback(y)[1:3]] == [np.float32] * 2
    assert tangent(f, [start, stop], start, stop, num=4, dtype=np.float32).dtype == np.float32


@pytest.mark.parametrize("f", [np.linspace, np.logspace, np.geomspace])
def test_values_are_numpys_to_the_last_digit(f):
    args = (np.array([0.3, 1.7]), np.array([2.1, 0.2]))
    for options in ({}, {"num": 7, "axis": -1}, {"num": 5, "endpoint": False}, {"num": 1}):
        np.testing.assert_array_equal(rrule(f, *args, **options)[0], f(*args, **options))


# ---------------------------------------------------------------- powers


def test_exponents_move_a_power_by_its_logarithm():
    ybar = np.array([1.0, 0, 1.0])
    start_bar, stop_bar = cotangents(np.logspace, 1.0, 3.0, num=3, ybar=ybar)
    np.testing.assert_allclose([start_bar, stop_bar], [10 * np.log(10), 1000 * np.log(10)])


def test_the_base_has_a_derivative_also_as_an_array():
    base = np.array([2.0, 3.0])
    bars = cotangents(np.logspace, 1.0, 3.0, num=3, base=base, ybar=np.ones((3, 2)))
    np.testing.assert_allclose(bars[4], 1 + 2 * base + 3 * base**2)
    assert np.shape(cotangents(np.logspace, 1.0, 3.0, num=3, base=2.0, ybar=np.ones(3))[4]) == ()


@pytest.mark.parametrize(("start", "stop"), [(2.0, 32.0), (-2.0, -32.0), (1 + 1j, -3 + 2j), (2.0, 3 + 1j)], ids=str)
def test_geometric_sequences_move_with_the_logarithms_of_their_ends(start, stop):
    y = np.geomspace(start, stop, 5)
    ybar = np.array([1.0, 2, 4, 8, 16]) * (1 if y.dtype.kind == "f" else 1 - 2j)
    start_bar, stop_bar = cotangents(np.geomspace, start, stop, num=5, ybar=ybar)
    w = np.linspace(0, 1, 5)
    wanted = [np.sum(np.conj(y * part / end) * ybar) for part, end in ((1 - w, start), (w, stop))]
    wanted = [x if isinstance(end, complex) else x.real for x, end in zip(wanted, (start, stop), strict=True)]
    np.testing.assert_allclose([start_bar, stop_bar], wanted)


def test_a_discarded_imaginary_part_has_no_rule():
    assert rrule(np.geomspace, 1 + 1j, 2.0, 3, dtype=float) is None
    assert rrule(np.logspace, 1 + 1j, 2.0, 3, dtype=float) is None


# ---------------------------------------------------------------- arange


def test_start_moves_all_numbers_and_the_step_the_later_ones_more():
    bars = cotangents(np.arange, 0.5, 2.5, 0.5, ybar=np.array([1.0, 2.0, 4.0, 8.0]))
    assert bars[0] == 15
    assert bars[1] is ZeroTangent()
    assert bars[2] == 2 + 8 + 24
    assert tangent(np.arange, [1.0, 5.0, 2.0], 0.5, 2.5, 0.5).tolist() == [1, 3, 5, 7]


def test_the_stop_alone_only_tells_how_many_numbers_there_are():
    assert cotangents(np.arange, 3.5, ybar=np.ones(4)) == [ZeroTangent()]
    assert not np.any(tangent(np.arange, [1.0], 3.5) + np.zeros(4))


def test_integers_are_constant():
    assert set(rrule(np.arange, 2, 8, 2)[1](np.ones(3))) == {NoTangent()}
    assert tangent(np.arange, [1.0, 1.0, 1.0], 0.5, 8.0, 2.5, dtype=int) is NoTangent()


def test_like_is_for_whoever_makes_the_other_array():
    assert rrule(np.arange, 2.5, like=np.ones(2)) is None


@pytest.mark.parametrize("numbers", [lambda a: arange(a, 2.25, 0.5), lambda a: arange(0.1, 2.25, a)])
def test_second_derivatives_of_arange(numbers):
    def total(a):
        return np.sum(numbers(a) ** 2)

    slope, h = grad(total), 1e-5
    wanted = (slope(0.3 + h) - slope(0.3 - h)) / (2 * h)
    assert wanted > 1
    for found in (grad(slope)(0.3), jvp(slope, (0.3,), (1.0,))[1], grad(lambda a: jvp(total, (a,), (1.0,))[1])(0.3)):
        np.testing.assert_allclose(found, wanted, rtol=1e-8)
