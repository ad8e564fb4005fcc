"""What the rules of padding answer, exactly: where the padding comes from, ties, constants, and what has no rule."""

import numpy as np
import pytest

from rulescore import NoTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, jvp

NO = NoTangent()
LINEAR = ("constant", "edge", "linear_ramp", "reflect", "symmetric", "wrap")


def cotangents(*args, ybar, **kwargs):
    _, pullback = rrule(np.pad, *args, **kwargs)
    return [unthunk(bar) for bar in pullback(np.asarray(ybar, float))[1:]]


def matrix_of(x, *args, **kwargs):
    """The matrix of a padding that is linear, one column for each element: NumPy's answers to unit vectors."""
    units = np.eye(x.size).reshape(x.size, *x.shape)
    return np.stack([np.ravel(np.pad(unit, *args, **kwargs)) for unit in units], axis=1)


# ---------------------------------------------------------------- linear modes


@pytest.mark.parametrize(
    ("mode", "options"),
    [*[(mode, {}) for mode in LINEAR], *[(mode, {"reflect_type": "odd"}) for mode in ("reflect", "symmetric")]],
)
@pytest.mark.parametrize("width", [1, (2, 0), (0, 7), ((3, 4), (9, 8))])
@pytest.mark.parametrize("shape", [(2, 3), (1, 4), (5, 1)])
def test_pullbacks_are_the_transposes_of_what_numpy_does(mode, options, width, shape):
    x = np.zeros(shape)
    a = matrix_of(x, width, mode, **options)
    ybar = np.cos(np.arange(np.pad(x, width, mode).size, dtype=float)).reshape(np.pad(x, width, mode).shape)
    (xbar,) = cotangents(x, width, mode, ybar=ybar, **options)[:1]
    np.testing.assert_allclose(np.ravel(xbar), a.T @ np.ravel(ybar), atol=1e-12)


def test_copies_give_their_cotangents_to_what_they_are_copies_of():
    x = np.array([1.0, 2.0, 3.0])
    assert cotangents(x, (2, 1), "edge", ybar=[1, 2, 4, 8, 16, 32])[0].tolist() == [7, 8, 48]
    assert cotangents(x, (2, 1), "reflect", ybar=[1, 2, 4, 8, 16, 32])[0].tolist() == [4, 42, 17]
    assert cotangents(x, (2, 1), "symmetric", ybar=[1, 2, 4, 8, 16, 32])[0].tolist() == [6, 9, 48]
    assert cotangents(x, (2, 1), "wrap", ybar=[1, 2, 4, 8, 16, 32])[0].tolist() == [36, 9, 18]


def test_the_edges_of_an_array_padded_twice_get_the_sum():
    assert grad(lambda x: np.sum(np.pad(x, 1, mode="edge")))(np.array([1.0, 2.0])).tolist() == [2, 2]


def test_undefined_padding_has_no_derivative():
    x = np.array([1.0, 2.0])
    assert cotangents(x, 2, "empty", ybar=[1, 2, 4, 8, 16, 32])[0].tolist() == [4, 8]
    dy = frule((NO, x, NO, NO), np.pad, x, 2, "empty")[1]
    assert dy.tolist() == [0, 0, 1, 2, 0, 0]


# ---------------------------------------------------------------- constants


def test_each_constant_gets_the_sum_over_its_own_padding():
    ybar = np.arange(12.0).reshape(3, 4)
    *_, bar = cotangents(np.zeros((1, 2)), 1, "constant", ((1.0, 2.0), (3.0, 4.0)), ybar=ybar)
    # The second axis is padded last, and so has the corners.
    assert [[float(b) for b in pair] for pair in bar] == [[1 + 2, 9 + 10], [0 + 4 + 8, 3 + 7 + 11]]


def test_a_constant_for_all_sides_gets_the_sum_over_all_padding():
    ybar = np.arange(12.0).reshape(3, 4)
    *_, bar = cotangents(np.zeros((1, 2)), 1, constant_values=1.5, ybar=ybar)
    assert bar == ybar.sum() - 5 - 6


def test_end_values_get_the_larger_part_of_the_steps_near_them():
    xbar, *_, bar = cotangents(np.ones(1), (2, 4), "linear_ramp", end_values=(0.0, 5.0), ybar=np.ones(7))
    assert xbar.tolist() == [(0 + 0.5) + 1 + (0.75 + 0.5 + 0.25 + 0)]
    assert [float(b) for b in bar] == [1.5, 2.5]


def test_a_constant_alone_can_be_moved():
    y, dy = frule((NO, ZeroTangent(), NO, NO, 2.0), np.pad, np.ones(2), 1, "constant", 5.0)
    assert y.tolist() == [5, 1, 1, 5]
    assert dy.tolist() == [2, 0, 0, 2]


def test_constants_of_an_outer_derivative_beside_an_array_of_an_inner_one():
    def f(c):
        return grad(lambda x: np.sum(np.pad(c * x, 1, constant_values=c) ** 2))(np.ones(2))[0]

    assert grad(f)(3.0) == 12  # f(c) = 2 c²
    assert jvp(f, (3.0,), (1.0,)) == (18, 12)


# ---------------------------------------------------------------- statistics


def test_ties_of_the_maximum_share_the_cotangent_of_the_padding():
    (xbar,) = cotangents(np.array([2.0, 1.0, 2.0]), (1, 1), "maximum", ybar=[10, 0, 0, 0, 20])
    assert xbar.tolist() == [15, 0, 15]


def test_each_side_has_the_statistic_of_its_own_end():
    x = np.array([4.0, 1.0, 2.0, 3.0])
    (xbar,) = cotangents(x, (1, 1), "minimum", stat_length=(2, 3), ybar=[10, 0, 0, 0, 0, 20])
    assert xbar.tolist() == [0, 30, 0, 0]
    (xbar,) = cotangents(x, (1, 1), "mean", stat_length=2, ybar=[10, 0, 0, 0, 0, 20])
    assert xbar.tolist() == [5, 5, 10, 10]
    (xbar,) = cotangents(x, (1, 0), "median", stat_length=3, ybar=[10, 0, 0, 0, 0])
    assert xbar.tolist() == [0, 0, 10, 0]


def test_statistics_of_zero_elements_raise_as_in_numpy():
    x = np.ones(3)
    with pytest.raises(ValueError, match=r"zero-size|stat_length of 0"):
        rrule(np.pad, x, 1, "maximum", stat_length=0)


# ---------------------------------------------------------------- all modes


@pytest.mark.parametrize(
    ("mode", "dtype"),
    [(mode, dtype) for mode in (*LINEAR, "mean") for dtype in (np.float16, np.float32, np.complex64, np.longdouble)]
    + [(mode, dtype) for mode in ("maximum", "median") for dtype in (np.float16, np.float32, np.longdouble)],
)
def test_precision_is_kept_both_ways(mode, dtype):
    x = np.array([3, 1, 2], dtype)
    y, pullback = rrule(np.pad, x, 2, mode)
    assert y.dtype == dtype
    assert unthunk(pullback(np.ones_like(y))[1]).dtype == dtype
    assert frule((NO, x, NO, NO), np.pad, x, 2, mode)[1].dtype == dtype


@pytest.mark.parametrize("mode", [*LINEAR, "empty", "mean", "median"])
def test_integers_have_no_derivative(mode):
    y, pullback = rrule(np.pad, np.array([1, 2, 4]), 1, mode)
    assert y.dtype == int
    assert pullback(np.ones(5)) == (NO,)


@pytest.mark.parametrize("mode", LINEAR)
@pytest.mark.parametrize(("width", "error"), [(-1, ValueError), (1.5, TypeError), ((1, 2, 3), ValueError)])
def test_errors_are_those_of_numpy(mode, width, error):
    with pytest.raises(error):
        np.pad(np.ones(3), width, mode)
    with pytest.raises(error):
        rrule(np.pad, np.ones(3), width, mode)


@pytest.mark.parametrize("width", [-1, 1.5])
def test_a_call_that_numpy_refuses_has_no_rule_where_numpy_is_not_called(width):
    assert rrule(np.pad, np.ones(3), width, "maximum") is None
    with pytest.raises((ValueError, TypeError), match=r"pad_width|index"):
        grad(lambda x: np.sum(np.pad(x, width, "maximum")))(np.ones(3))


def test_an_unknown_keyword_has_no_rule():
    assert rrule(np.pad, np.ones(3), 1, flavour="sweet") is None


def test_an_option_of_another_mode_is_refused():
    with pytest.raises(ValueError, match="unsupported keyword arguments"):
        rrule(np.pad, np.ones(3), 1, "mean", constant_values=2.0)
    with pytest.raises(ValueError, match="unsupported keyword arguments"):
        rrule(np.pad, np.ones(3), 1, "edge", reflect_type="odd")


def pad_with_squares(vector, width, axis, options):
    factor = options.get("factor", 1)
    vector[: width[0]] = factor * vector[width[0]] ** 2
    vector[-width[1] :] = vector[-width[1] - 1] ** 3


def test_a_function_that_pads_is_followed_by_the_ad():
    x = np.array([2.0, 3.0])
    assert rrule(np.pad, x, 1, pad_with_squares) is None
    assert frule((NO, x, NO, NO), np.pad, x, 1, pad_with_squares) is None
    weights = np.array([1.0, 10.0, 100.0, 1000.0])
    found = grad(lambda x: np.sum(weights * np.pad(x, 1, pad_with_squares, factor=5)))(x)
    assert found.tolist() == [10 + 5 * 2 * 2, 100 + 1000 * 27]
    second = grad(lambda x: np.sum(grad(lambda x: np.sum(weights * np.pad(x, 1, pad_with_squares)))(x)))(x)
    assert second.tolist() == [2, 6 * 3 * 1000]


def test_padding_costs_a_few_passes_and_no_dense_matrix():
    # A matrix of the padding would have 10¹² entries.
    x = np.ones(1_000_000)
    for mode in LINEAR:
        _, pullback = rrule(np.pad, x, 3, mode)
        assert unthunk(pullback(np.ones(1_000_006))[1]).shape == x.shape
