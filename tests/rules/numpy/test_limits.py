"""The rules of clip and nan_to_num: at the bounds, beyond them, and for what is not finite."""

import numpy as np
import pytest

from rulescore import NoTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad
from testutils.samples.sampling import samples_of
from testutils.testers import check_sample

inf, nan = np.inf, np.nan
HAS_MIN_AND_MAX = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


def number(bar):
    bar = unthunk(bar)
    return 0.0 if isinstance(bar, (ZeroTangent, NoTangent)) else bar


def derivatives(f, *args):
    """∂f/∂x of each argument by the rrule, after a look at whether the frule says the same."""
    y, pullback = rrule(f, *args)
    bars = [number(bar) for bar in pullback(np.ones_like(y))[1:]]
    for i, bar in enumerate(bars):
        tangents = [NoTangent()] * (1 + len(args))
        tangents[1 + i] = np.ones_like(args[i])
        if isinstance(args[i], float):
            assert number(frule(tuple(tangents), f, *args)[1]) == bar
    return tuple(bars)


@pytest.mark.parametrize("f", [np.clip, np.ndarray.clip, np.nan_to_num], ids=lambda f: f.__qualname__)
def test_rules_agree_with_finite_differences(f):
    for sample in samples_of(f, seed=1):
        report = check_sample(f, sample)
        assert report.verdict == "pass", str(report)


# ---------------------------------------------------------------- clip

CLIPS = [
    ((0.5, 0.0, 1.0), (1, 0, 0)),
    ((-0.5, 0.0, 1.0), (0, 1, 0)),
    ((1.5, 0.0, 1.0), (0, 0, 1)),
    ((0.0, 0.0, 1.0), (0, 1, 0)),
    ((1.0, 0.0, 1.0), (0, 0, 1)),
    ((0.5, 0.5, 0.5), (0, 0, 1)),
    ((0.5, 1.0, 0.0), (0, 0, 1)),
    ((-0.5, 1.0, 0.0), (0, 0, 1)),
    ((nan, 0.0, 1.0), (1, 0, 0)),
    ((0.5, nan, 1.0), (0, 1, 0)),
    ((0.5, 0.0, nan), (0, 0, 1)),
    ((nan, nan, 1.0), (0, 1, 0)),
    ((nan, 0.0, nan), (0, 0, 1)),
    ((nan, nan, nan), (0, 0, 1)),
    ((inf, 0.0, 1.0), (0, 0, 1)),
    ((-inf, -inf, inf), (0, 1, 0)),
]


@pytest.mark.parametrize(("point", "wanted"), CLIPS, ids=str)
def test_the_derivative_of_clip_goes_to_what_stands_in_the_output(point, wanted):
    assert derivatives(np.clip, *point) == wanted


@pytest.mark.parametrize(("point", "wanted"), [((0.0, 0.0), (0, 1)), ((0.5, 0.0), (1, 0)), ((-1.0, 0.0), (0, 1))])
def test_clip_from_one_side(point, wanted):
    x, bound = point
    assert derivatives(np.clip, x, bound, None)[:2] == wanted
    assert tuple(np.array(derivatives(np.clip, -x, None, -bound))[[0, 2]]) == wanted


def test_clip_without_bounds_is_the_identity():
    assert derivatives(np.clip, 0.5, None, None) == (1,)


def test_bounds_are_summed_over_the_axes_that_they_were_broadcast_along():
    x = np.array([[-1.0, 0.5, 2.0], [-1.0, -1.0, 2.0]])
    _, pullback = rrule(np.clip, x, np.zeros((2, 1)), 1.0)
    _, xbar, lower_bar, upper_bar = map(unthunk, pullback(np.arange(6.0).reshape(2, 3)))
    np.testing.assert_array_equal(xbar, [[0, 1, 0], [0, 0, 0]])
    np.testing.assert_array_equal(lower_bar, [[0], [3 + 4]])
    assert upper_bar == 2 + 5


def test_an_infinite_cotangent_stays_out_of_the_branch_not_taken():
    _, pullback = rrule(np.clip, np.array([0.5, 5.0]), 0.0, 1.0)
    np.testing.assert_array_equal(unthunk(pullback(np.array([1.0, inf]))[1]), [1, 0])


def test_a_mask_without_a_pattern_chooses_to_the_last_bit():
    x, ybar = (np.random.default_rng(seed).standard_normal((50, 7)) for seed in range(2))
    ybar[0, :3] = nan, inf, -0.0
    _, pullback = rrule(np.clip, x, -0.5, 0.5)
    _, xbar, lower_bar, upper_bar = map(unthunk, pullback(ybar))
    np.testing.assert_array_equal(xbar, np.where(np.abs(x) < 0.5, ybar, 0))
    np.testing.assert_allclose(lower_bar, np.sum(ybar[x <= -0.5]), rtol=1e-14)
    np.testing.assert_allclose(upper_bar, np.sum(ybar[x >= 0.5]), rtol=1e-14)


def test_clip_keeps_single_precision():
    x = np.array([0.5, 2.0], np.float32)
    y, pullback = rrule(np.clip, x, 0.0, 1.0)
    assert y.dtype == unthunk(pullback(y)[1]).dtype == np.float32
    assert frule((NoTangent(), x, 1.0, 1.0), np.clip, x, 0.0, 1.0)[1].dtype == np.float32


@pytest.mark.parametrize("keywords", [{"out": np.zeros(2)}, {"where": np.array([True, False])}, {"dtype": float}])
def test_clip_with_a_keyword_of_ufuncs_has_no_rule(keywords):
    x = np.array([0.5, 2.0])
    assert rrule(np.clip, x, 0.0, 1.0, **keywords) is None
    assert frule((NoTangent(), x, 1.0, 1.0), np.clip, x, 0.0, 1.0, **keywords) is None
    assert rrule(np.ndarray.clip, x, 0.0, 1.0, **keywords) is None
    assert rrule(np.clip, x, 0.0, 1.0, out=None) is not None


def test_the_method_names_its_bounds_differently():
    _, pullback = rrule(np.ndarray.clip, np.array([0.5, 2.0]), max=1.0)
    _, xbar, lower_bar, upper_bar = map(unthunk, pullback(np.array([1.0, 10.0])))
    np.testing.assert_array_equal(xbar, [1, 0])
    assert lower_bar is NoTangent()
    assert upper_bar == 10


if HAS_MIN_AND_MAX:

    def test_bounds_by_keyword_get_their_cotangents():
        x = np.array([-1.0, 0.5, 2.0])
        _, pullback = rrule(np.clip, x, min=0.0, max=1.0)
        bars = [number(bar) for bar in pullback(np.array([1.0, 10.0, 100.0]))[1:]]
        np.testing.assert_array_equal(bars[0], [0, 10, 0])
        assert bars[1:] == [0, 0, 0, 1, 100]

    def test_both_names_of_a_bound_together_are_numpys_error():
        with pytest.raises(ValueError, match="Passing `min` or `max`"):
            rrule(np.clip, np.ones(2), 0.0, 1.0, min=0.0)


# ---------------------------------------------------------------- nan_to_num


def test_what_is_replaced_gets_zero():
    x = np.array([nan, inf, -inf, 1.0])
    np.testing.assert_array_equal(derivatives(np.nan_to_num, x)[0], [0, 0, 0, 1])
    y, dy = frule((NoTangent(), np.full(4, nan)), np.nan_to_num, x)
    np.testing.assert_array_equal(dy, [0, 0, 0, nan])
    np.testing.assert_array_equal(y, np.nan_to_num(x))


def test_replacements_get_what_they_replace():
    x = np.array([[nan, inf, -inf], [1.0, nan, 2.0]])
    _, pullback = rrule(np.nan_to_num, x, nan=0.5, posinf=1.5, neginf=2.5)
    _, xbar, copy_bar, *bars = map(unthunk, pullback(np.array([[1.0, 2, 4], [8, 16, 32]])))
    np.testing.assert_array_equal(xbar, [[0, 0, 0], [8, 0, 32]])
    assert copy_bar is NoTangent()
    assert bars == [1 + 16, 2, 4]
    tangents = NoTangent(), ZeroTangent(), NoTangent(), 1.0, 10.0, 100.0
    _, dy = frule(tangents, np.nan_to_num, x, True, 0.5, 1.5, 2.5)
    np.testing.assert_array_equal(dy, [[1, 10, 100], [0, 1, 0]])


def test_bounds_reach_the_rule_also_from_the_method_of_a_plain_array():
    x = np.array([0.5, 2.0, 4.0])
    assert grad(lambda low: np.sum(x.clip(low, 3.0)))(1.0) == 1
    assert grad(lambda high: np.sum(x.clip(1.0, high)))(3.0) == 1
    assert grad(lambda low: np.sum(x.astype(int).clip(low, 3.0) ** 2))(1.5) == 3


def test_the_parts_of_complex_numbers_are_replaced_one_by_one():
    z = np.array([complex(nan, 1), complex(2, inf), 1 + 1j])
    _, pullback = rrule(np.nan_to_num, z, nan=0.5, posinf=1.5)
    _, zbar, _, nan_bar, posinf_bar, *_ = map(unthunk, pullback(np.array([1 + 2j, 3 + 4j, 5 + 6j])))
    np.testing.assert_array_equal(zbar, [2j, 3, 5 + 6j])
    assert (nan_bar, posinf_bar) == (1, 4)
    tangents = NoTangent(), np.array([1 + 2j, 3 + 4j, 5 + 6j]), NoTangent(), 10.0, 100.0
    _, dy = frule(tangents, np.nan_to_num, z, True, 0.5, 1.5)
    np.testing.assert_array_equal(dy, [10 + 2j, 3 + 100j, 5 + 6j])


def test_nan_to_num_in_place_has_no_rule_and_is_not_run():
    x = np.array([nan, 1.0], np.float32)
    assert rrule(np.nan_to_num, x, copy=False) is None
    assert frule((NoTangent(), x), np.nan_to_num, x, copy=False) is None
    assert rrule(np.nan_to_num, x, unknown=1) is None
    assert np.isnan(x[0])
    y, pullback = rrule(np.nan_to_num, x)
    assert unthunk(pullback(y)[1]).dtype == np.float32
