"""The rules of indexing: repeated indices accumulate, and a cotangent can be added in place."""

import gc
import operator
import weakref

import numpy as np
import pytest

from rules.numpy.indexing import add_at, scatter
from rulescore import InplaceableThunk, NoTangent, Tangent, ZeroTangent, add_inplace, frule, rrule, unthunk
from testutils.samples.sampling import samples_of
from testutils.testers import check_rule, check_sample

getitem = operator.getitem


def cotangent(x, index, ybar):
    return unthunk(rrule(getitem, x, index)[1](ybar)[1])


@pytest.mark.parametrize("f", [getitem, scatter])
def test_rules_agree_with_finite_differences(f):
    for sample in samples_of(f, seed=1):
        report = check_sample(f, sample)
        assert report.verdict == "pass", str(report)


# ---------------------------------------------------------------- arrays


@pytest.mark.parametrize(
    ("index", "xbar"),
    [
        (1, [0, 1, 0]),
        (-1, [0, 0, 1]),
        (slice(None, None, -1), [3, 2, 1]),
        (slice(2, 0, -1), [0, 2, 1]),
        (..., [1, 2, 3]),
        ([0, 0, 1], [3, 3, 0]),
        ([2, -1, 2], [0, 0, 6]),
        (np.array([True, False, True]), [1, 0, 2]),
        ([False, False, True], [0, 0, 1]),
        ([[0, 1], [1, 0]], [5, 5, 0]),
        ((np.array([1, 1, 1]),), [0, 6, 0]),
        (None, [1, 2, 3]),
        (True, [1, 2, 3]),
        ([], [0, 0, 0]),
    ],
    ids=str,
)
def test_cotangents_go_where_the_elements_came_from(index, xbar):
    x = np.zeros(3)
    size = np.size(x[index])
    ybar = np.arange(1.0, 1 + size).reshape(np.shape(x[index]))
    assert cotangent(x, index, ybar if ybar.shape else 1.0).tolist() == xbar


def test_every_index_transposes():
    rng = np.random.default_rng(0)
    for sample in samples_of(getitem, seed=2):
        x, index = sample.args
        if not isinstance(x, np.ndarray) or x.dtype.kind not in "fc":
            continue
        expected = np.zeros(x.shape, x.dtype)
        ybar = rng.standard_normal(np.shape(x[index])).astype(x.dtype)
        np.add.at(expected, index, ybar)
        np.testing.assert_array_equal(cotangent(x, index, ybar), expected, err_msg=sample.id)
        start = rng.integers(0, 9, x.shape).astype(x.dtype)
        added = add_inplace(start.copy(), rrule(getitem, x, index)[1](ybar)[1])
        np.testing.assert_allclose(added, start + expected, rtol=1e-2 if x.dtype == np.float16 else 1e-6)


def test_cotangent_is_added_in_place_and_touches_nothing_else():
    total = np.full(5, 10.0)
    thunk = rrule(getitem, np.zeros(5), [1, 1, 3])[1](np.array([1.0, 2.0, 4.0]))[1]
    assert isinstance(thunk, InplaceableThunk)
    assert add_inplace(total, thunk) is total
    assert total.tolist() == [10, 13, 10, 14, 10]


@pytest.mark.parametrize("count", [3, 5000])
@pytest.mark.parametrize("make", [np.ascontiguousarray, np.asfortranarray])
def test_few_and_many_repeated_rows_are_added_alike(count, make):
    rng = np.random.default_rng(0)
    accumulator, rows = make(np.zeros((50, 8))), rng.integers(0, 50, count)
    ybar = rng.integers(-5, 6, (count, 8)).astype(float)
    expected = np.zeros((50, 8))
    np.add.at(expected, rows, ybar)
    assert add_at(accumulator, rows, ybar) is accumulator
    np.testing.assert_array_equal(accumulator, expected)


def test_a_number_gets_a_number_and_an_array_an_array():
    assert isinstance(cotangent(np.float32(2), (), np.float32(3)), np.float32)
    assert cotangent(np.array(2.0), (), 3.0).shape == ()
    assert isinstance(cotangent(np.array(2.0), (), 3.0), np.ndarray)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble, np.complex64])
def test_precision_is_kept(dtype):
    x = np.arange(4).astype(dtype)
    assert cotangent(x, [0, 0], np.ones(2)).dtype == dtype
    assert frule((NoTangent(), x, NoTangent()), getitem, x, [0, 0])[1].dtype == dtype


def test_the_pullback_does_not_keep_the_array_alive():
    class Array(np.ndarray):
        """An ndarray that can be referred to weakly."""

    x = np.arange(6.0).view(Array)
    alive = weakref.ref(x)
    _, pullback = rrule(getitem, x, 2)
    del x
    gc.collect()
    assert alive() is None
    assert unthunk(pullback(1.0)[1]).tolist() == [0, 0, 1, 0, 0, 0]


def test_the_output_is_a_view_exactly_for_a_basic_index():
    x = np.arange(6.0)
    assert np.shares_memory(rrule(getitem, x, slice(1, 3))[0], x)
    assert not np.shares_memory(rrule(getitem, x, [1, 2])[0], x)


def test_integers_have_no_tangent():
    y, pullback = rrule(getitem, np.arange(3), 1)
    assert y == 1
    assert pullback(NoTangent())[1] is NoTangent()
    assert frule((NoTangent(), NoTangent(), NoTangent()), getitem, np.arange(3), 1)[1] is NoTangent()


def test_the_method_is_served():
    x = np.arange(3.0)
    assert unthunk(rrule(np.ndarray.__getitem__, x, 1)[1](5.0)[1]).tolist() == [0, 5, 0]
    assert rrule(x.__getitem__, 1)[1](5.0)[0]["__self__"].tolist() == [0, 5, 0]


def test_other_objects_have_no_rule():
    assert rrule(getitem, "label", 0) is None
    assert rrule(getitem, range(3), 0) is None


def test_the_pullback_can_be_differentiated_through_scatter():
    # scatter is linear in ȳ: its derivative is itself, its transpose is indexing.
    ybar, index = np.array([1.0, 2.0]), [1, 1]
    xbar, pullback = rrule(scatter, ybar, index, (3,), np.dtype(float))
    assert xbar.tolist() == [0, 3, 0]
    assert pullback(np.array([10.0, 20.0, 30.0]))[1].tolist() == [20, 20]


@pytest.mark.parametrize(
    ("index", "shape"),
    [(slice(1, 4), ()), (slice(1, 4), (1,)), (slice(1, 4), (3, 1)), ([0, 3, 3], ()), ([0, 3, 3], (1, 3, 2))],
)
def test_scatter_of_what_broadcasts_sums_its_cotangent(index, shape):
    ybar = np.arange(1.0, 1.0 + np.prod(shape, dtype=int)).reshape(shape)
    assert check_rule(scatter, ybar, index, (4, 2), ybar.dtype).verdict == "pass"


def test_scatter_asks_the_tracers_of_an_ad_system():
    class Traced:
        __rule_type__ = np.ndarray

        def __array_function__(self, function, types, args, kwargs):
            return function, types, args, kwargs

    traced = Traced()
    assert scatter(traced, 0, (2,), float) == (scatter, (Traced,), (traced, 0, (2,), float), {})


# ---------------------------------------------------------------- lists, tuples and dicts


def test_a_tuple_gets_a_structural_tangent():
    xbar = cotangent((1.0, np.zeros(2), "label"), 1, np.ones(2))
    assert xbar.primal_type is tuple
    assert [type(bar) for bar in xbar] == [ZeroTangent, np.ndarray, ZeroTangent]


def test_a_slice_of_a_list_backwards():
    xbar = cotangent([1.0, 2.0, 3.0], slice(None, None, -2), [30.0, 10.0])
    assert xbar == Tangent(list, 10.0, ZeroTangent(), 30.0)
    dy = frule((NoTangent(), Tangent(list, 1.0, 2.0, 3.0), NoTangent()), getitem, [1.0, 2.0, 3.0], slice(0, 2))[1]
    assert dy == Tangent(list, 1.0, 2.0)


def test_a_dict_gets_a_tangent_for_its_key():
    assert cotangent({"a": 1.0, "b": 2.0}, "b", 5.0) == Tangent(dict, {"b": 5.0})
    dx = Tangent(dict, {"a": 1.0})
    assert frule((NoTangent(), dx, NoTangent()), getitem, {"a": 1.0, "b": 2.0}, "a")[1] == 1
    assert frule((NoTangent(), dx, NoTangent()), getitem, {"a": 1.0, "b": 2.0}, "b")[1] is ZeroTangent()


def test_what_has_no_tangent_within_a_container():
    assert unthunk(rrule(getitem, (1.0, "label"), 1)[1](NoTangent())[1]) is NoTangent()
    assert frule((NoTangent(), ZeroTangent(), NoTangent()), getitem, (1.0, 2.0), 0)[1] is ZeroTangent()
