"""What the rules of sorting and picking answer, exactly: ties, repetitions, other ranges, what is left out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rulescore import NoTangent, Tangent, ZeroTangent, frule, rrule, unthunk
from testutils.samples.sampling import samples_of
from testutils.testers import check_sample

FUNCTIONS = [f for f in rrule if any(r.module == "rules.numpy.sorting" for r in rrule.records(f))]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__qualname__)
def test_rules_agree_with_finite_differences(f):
    samples = samples_of(f, seed=1)
    assert samples
    for sample in samples:
        report = check_sample(f, sample)
        assert report.verdict == "pass", str(report)


def cotangents(f, *args, ybar, **kwargs):
    _, pullback = rrule(f, *args, **kwargs)
    return [unthunk(bar) for bar in pullback(ybar)[1:]]


def tangent(f, tangents, *args, **kwargs):
    return frule((NoTangent(), *tangents), f, *args, **kwargs)[1]


# ---------------------------------------------------------------- order of size


def test_every_element_gets_the_cotangent_of_the_place_where_it_went():
    (xbar,) = cotangents(np.sort, np.array([3.0, 1.0, 2.0]), ybar=np.array([10.0, 20.0, 30.0]))
    assert xbar.tolist() == [30, 10, 20]


def test_ties_share_the_cotangents_of_their_places():
    (xbar,) = cotangents(np.sort, np.array([2.0, 1.0, 2.0]), ybar=np.array([1.0, 2.0, 4.0]))
    assert xbar.tolist() == [3, 1, 3]
    dy = tangent(np.sort, [np.array([1.0, 5.0, 2.0])], np.array([2.0, 1.0, 2.0]))
    assert dy.tolist() == [5, 1.5, 1.5]


small_numbers = arrays(float, st.tuples(st.integers(1, 3), st.integers(1, 6)), elements=st.sampled_from([0.0, 1, 2, 3]))


@settings(deadline=None, derandomize=True, max_examples=40)
@given(small_numbers, st.integers(0, 5), st.sampled_from([np.sort, np.partition]))
def test_the_last_element_has_the_derivative_of_max_and_the_first_that_of_min(x, place, f):
    args = (0,) if f is np.partition else ()
    dx = np.cos(np.arange(x.size)).reshape(x.shape)
    y, dy = frule((NoTangent(), dx, *[NoTangent()] * len(args)), f, x, *args)
    np.testing.assert_allclose(dy[:, 0], tangent(np.min, [dx], x, axis=1))
    if f is np.sort:
        np.testing.assert_allclose(dy[:, -1], tangent(np.max, [dx], x, axis=1))
    np.testing.assert_array_equal(y, f(x, *args))


@settings(deadline=None, derandomize=True, max_examples=40)
@given(small_numbers, st.sampled_from([0, 1, None]), st.sampled_from([np.sort, np.partition]))
def test_pushforward_and_pullback_are_transposes(x, axis, f):
    args = (0, axis) if f is np.partition else (axis,)
    rng = np.random.default_rng(0)
    dx, ybar = rng.standard_normal(x.shape), rng.standard_normal(f(x, *args).shape)
    dy = tangent(f, [dx, *[NoTangent()] * len(args)], x, *args)
    (xbar,) = cotangents(f, x, *args, ybar=ybar)
    np.testing.assert_allclose(np.sum(ybar * dy), np.sum(xbar * dx), atol=1e-12)


def test_nan_goes_to_the_end_with_its_cotangent():
    (xbar,) = cotangents(np.sort, np.array([np.nan, 1.0, np.nan, 0.0]), ybar=np.array([1.0, 2.0, 3.0, 4.0]))
    assert xbar.tolist() == [3, 2, 4, 1]


def test_a_partitioned_array_has_the_elements_where_numpy_put_them():
    x = np.random.default_rng(3).permutation(50).astype(float)
    y, dy = frule((NoTangent(), 10 * x, NoTangent()), np.partition, x, 20)
    np.testing.assert_array_equal(y, np.partition(x, 20))
    np.testing.assert_array_equal(dy, 10 * y)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.complex64, np.longdouble])
@pytest.mark.parametrize(("f", "args"), [(np.sort, ()), (np.partition, (1,)), (np.take, ([0, 0, 1],))])
def test_precision_is_kept_both_ways_also_at_ties(f, args, dtype):
    x = np.array([2, 1, 2, 1, 2], dtype)
    y, pullback = rrule(f, x, *args)
    assert unthunk(pullback(np.ones_like(y))[1]).dtype == dtype
    dy = tangent(f, [x, *[NoTangent()] * len(args)], x, *args)
    assert dy.dtype == dtype


def test_sorting_by_fields_has_no_rule():
    x = np.array([(1.0, 2.0)], [("a", float), ("b", float)])
    assert rrule(np.sort, x, order="b") is None
    assert rrule(np.partition, x, 0, order="b") is None
    assert frule((NoTangent(), ZeroTangent()), np.sort, x, order="b") is None


# ---------------------------------------------------------------- picking


def test_what_is_taken_twice_gets_the_sum_and_what_is_left_out_zero():
    (xbar, *_) = cotangents(np.take, np.zeros(4), [1, 1, -1], ybar=np.array([1.0, 2.0, 4.0]))
    assert xbar.tolist() == [0, 3, 0, 4]


def test_numbers_beyond_the_ends_begin_again_or_stand_for_the_ends():
    x, ybar = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0])
    assert cotangents(np.take, x, [3, -2, 7], ybar=ybar, mode="wrap")[0].tolist() == [1, 6, 0]
    assert cotangents(np.take, x, [3, -2, 7], ybar=ybar, mode="clip")[0].tolist() == [2, 0, 5]


@pytest.mark.parametrize(
    ("f", "args"),
    [(np.take, ([0],)), (np.choose, ([np.ones(2)] * 3,)), (np.compress, None)],
    ids=["take", "choose", "compress"],
)
def test_a_call_with_out_has_no_rule(f, args):
    x = np.zeros(2, int) if f is np.choose else np.ones(2)
    args = ([True, False], x) if args is None else (x, *args)
    assert rrule(f, *args) is not None
    assert rrule(f, *args, out=np.zeros(f(*args).shape)) is None
    assert frule((NoTangent(),) + (ZeroTangent(),) * len(args), f, *args, out=np.zeros(f(*args).shape)) is None


def test_a_condition_shorter_than_the_array_leaves_the_rest_out():
    condition_bar, xbar = cotangents(np.compress, [False, True], np.zeros(4), ybar=np.array([5.0]))
    assert condition_bar is NoTangent()
    assert xbar.tolist() == [0, 5, 0, 0]


def test_the_methods_have_the_rules_of_the_functions():
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert cotangents(np.ndarray.take, x, [1], 0, ybar=np.array([[5.0, 6.0]]))[0].tolist() == [[0, 0], [5, 6]]
    assert cotangents(np.ndarray.compress, x, [False, True], 0, ybar=np.array([[5.0, 6.0]]))[0].tolist() == [
        [0, 0],
        [5, 6],
    ]


def test_nan_in_the_cotangent_stays_with_what_was_chosen_there():
    _, bar = cotangents(
        np.choose, np.array([0, 1]), [np.array([1.0, 2.0]), np.array([3.0, 4.0])], ybar=np.array([np.nan, 1.0])
    )
    assert isinstance(bar, Tangent)
    assert bar[1].tolist() == [0, 1]


def test_an_array_of_choices_gets_one_array():
    _, bar = cotangents(np.choose, np.array([0, 1, 1]), np.ones((2, 3)), ybar=np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(bar, [[1, 0, 0], [0, 2, 3]])


# ---------------------------------------------------------------- inserting and deleting


def test_values_get_the_cotangents_of_their_places():
    arr_bar, obj_bar, values_bar = cotangents(np.insert, np.zeros(2), [0, 2], [7.0, 8.0], ybar=np.arange(4.0))
    assert arr_bar.tolist() == [1, 2]
    assert obj_bar is NoTangent()
    assert (values_bar[0], values_bar[1]) == (0, 3)


def test_a_value_that_fills_a_column_gets_the_sum():
    *_, value_bar = cotangents(np.insert, np.zeros((3, 2)), 1, 7.0, 1, ybar=np.arange(9.0).reshape(3, 3))[:3]
    assert value_bar == 1 + 4 + 7


def test_values_inserted_into_integers_have_no_derivative():
    y, pullback = rrule(np.insert, np.arange(2), 1, 2.5)
    assert y.tolist() == [0, 2, 1]
    assert pullback(np.ones(3)) == (NoTangent(),)
    assert tangent(np.insert, [NoTangent(), NoTangent(), 1.0], np.arange(2), 1, 2.5) is NoTangent()


def test_what_is_deleted_gets_zero():
    (xbar, *_) = cotangents(np.delete, np.zeros(4), [1, -1], ybar=np.array([5.0, 6.0]))
    assert xbar.tolist() == [5, 0, 6, 0]


@pytest.mark.parametrize(
    ("f", "args"),
    [(np.sort, ()), (np.partition, (0,)), (np.take, ([0],)), (np.delete, (0,)), (np.insert, (0, 1.0))],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_an_unknown_keyword_has_no_rule(f, args):
    assert rrule(f, np.ones(3), *args) is not None
    assert rrule(f, np.ones(3), *args, flavour="sweet") is None


# ---------------------------------------------------------------- sort_complex


def test_sorted_real_numbers_become_complex_and_get_real_cotangents():
    y, pullback = rrule(np.sort_complex, np.array([3.0, 1.0, 2.0]))
    assert y.dtype == complex
    xbar = unthunk(pullback(np.array([1 + 9j, 2, 4]))[1])
    assert xbar.dtype == float
    assert xbar.tolist() == [4, 1, 2]
    dy = tangent(np.sort_complex, [np.array([1.0, 2.0, 4.0])], np.array([3.0, 1.0, 2.0]))
    assert dy.dtype == complex
    assert dy.tolist() == [2, 4, 1]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble, np.complex64, np.int8, np.int64])
def test_the_complex_type_is_the_one_that_numpy_chooses(dtype):
    x = np.array([3, 1, 2], dtype)
    y, pullback = rrule(np.sort_complex, x)
    assert y.dtype == np.sort_complex(x).dtype
    if x.dtype.kind != "i":
        assert unthunk(pullback(np.ones_like(y))[1]).dtype == dtype
