"""The rules of sum, mean, prod, max and min: exact values where finite differences have nothing to say."""

import gc
import weakref

import numpy as np
import pytest

from rulescore import NoTangent, ZeroTangent, frule, rrule, unthunk
from testutils.sampling import samples_of
from testutils.testers import check_rule, check_sample

FUNCTIONS = {f.__name__: f for f in (np.sum, np.mean, np.prod, np.max, np.min)}
BY_NAME = pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)


def cotangent(f, a, ybar=1.0, **keywords):
    _, pullback = rrule(f, a, **keywords)
    _, *bars = pullback(ybar)
    return unthunk(bars[0]) if bars else NoTangent()


def tangent(f, a, da, **keywords):
    return frule((NoTangent(), da), f, a, **keywords)[1]


@BY_NAME
def test_rules_agree_with_finite_differences(f):
    for sample in samples_of(f, seed=1):
        report = check_sample(f, sample)
        assert report.verdict == "pass", str(report)


# ---------------------------------------------------------------- what all have in common


@BY_NAME
def test_a_call_with_out_or_with_an_unknown_keyword_has_no_rule(f):
    x = np.ones((2, 3))
    assert rrule(f, x, axis=0, out=np.zeros(3)) is None
    assert rrule(f, x, axis=0, flavour="sweet") is None
    assert frule((NoTangent(), x), f, x, axis=0, out=np.zeros(3)) is None


def test_max_has_no_dtype_and_mean_no_initial():
    assert rrule(np.max, np.ones(2), dtype=np.float32) is None
    assert rrule(np.mean, np.ones(2), initial=1.0) is None


@BY_NAME
def test_out_may_be_none(f):
    assert rrule(f, np.ones(3), out=None) is not None


@BY_NAME
def test_the_method_is_served_by_the_rules_of_the_function(f):
    x = np.array([[1.0, 4.0], [3.0, 2.0]])
    ybar = np.array([10.0, 100.0])
    y, pullback = rrule(getattr(np.ndarray, f.__name__), x, 1)
    np.testing.assert_array_equal(y, f(x, 1))
    np.testing.assert_array_equal(unthunk(pullback(ybar)[1]), cotangent(f, x, ybar, axis=1))
    y, pullback = rrule(getattr(x, f.__name__), axis=1)
    np.testing.assert_array_equal(pullback(ybar)[0]["__self__"], cotangent(f, x, ybar, axis=1))


def test_amax_and_amin_are_max_and_min():
    x = np.array([1.0, 5.0, 2.0])
    assert cotangent(np.amax, x).tolist() == [0, 1, 0]
    assert cotangent(np.amin, x).tolist() == [1, 0, 0]


@BY_NAME
@pytest.mark.parametrize("kind", [np.int64, np.uint8, bool])
def test_integers_have_no_tangent(f, kind):
    x = np.array([[1, 0], [1, 1]], kind)
    np.testing.assert_array_equal(rrule(f, x, axis=0)[0], f(x, axis=0))
    assert cotangent(f, x, np.ones(2) if f is np.mean else NoTangent(), axis=0) is NoTangent()
    assert tangent(f, x, NoTangent(), axis=0) is NoTangent()


def test_max_of_dates_has_no_tangent():
    y, pullback = rrule(np.max, np.array(["2020-01-01", "2021-01-01"], "datetime64[D]"))
    assert y == np.datetime64("2021-01-01")
    assert pullback(NoTangent()) == (NoTangent(),)


@BY_NAME
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble, np.complex64])
@pytest.mark.parametrize("keywords", [{}, {"axis": 0}, {"axis": (0, 1), "keepdims": True}], ids=str)
def test_precision_is_kept(f, dtype, keywords):
    x = np.array([[1, 2], [3, 4]], dtype)
    y, pullback = rrule(f, x, **keywords)
    xbar = unthunk(pullback(np.ones_like(y))[1])
    assert y.dtype == xbar.dtype == dtype
    assert tangent(f, x, x, **keywords).dtype == dtype


@BY_NAME
def test_the_pullback_owns_what_it_returns(f):
    x, ybar = np.array([[1.0, 4.0], [3.0, 2.0]]), np.array([[10.0], [100.0]])
    _, pullback = rrule(f, x, axis=1, keepdims=True)
    xbar = unthunk(pullback(ybar)[1])
    assert ybar.tolist() == [[10.0], [100.0]]
    assert xbar.flags.writeable
    assert not np.shares_memory(xbar, ybar)
    assert not np.shares_memory(xbar, x)


@BY_NAME
def test_a_zero_cotangent_gives_zero(f):
    x = np.array([[1.0, 4.0], [3.0, 2.0]])
    xbar = cotangent(f, x, ZeroTangent(), axis=1)
    assert isinstance(xbar, ZeroTangent) or not np.any(xbar)


@BY_NAME
def test_a_zero_tangent_gives_zero(f):
    assert tangent(f, np.ones((2, 2)), ZeroTangent(), axis=0) is ZeroTangent()


@pytest.mark.parametrize("f", [np.sum, np.mean, np.max, np.min])
@pytest.mark.parametrize("keywords", [{}, {"axis": 0}], ids=str)
def test_the_pullback_does_not_keep_the_array_alive(f, keywords):
    class Array(np.ndarray):
        """An ndarray that can be referred to weakly."""

    x = np.arange(6.0).reshape(2, 3).view(Array)
    alive = weakref.ref(x)
    y, pullback = rrule(f, x, **keywords)
    del x, y
    gc.collect()
    assert alive() is None
    assert unthunk(pullback(np.ones(3) if keywords else 1.0)[1]).shape == (2, 3)


@BY_NAME
def test_elements_outside_the_mask_get_exactly_zero_even_where_they_are_nan(f):
    x = np.array([[1.0, np.nan, 3.0], [np.inf, 5.0, np.nan]])
    mask = np.array([[True, False, True], [False, True, False]])
    given = {"initial": 0.0} if f in (np.max, np.min) else {}
    xbar = cotangent(f, x, np.array([np.inf, 2.0]), axis=1, where=mask, **given)
    assert xbar[~mask].tolist() == [0, 0, 0]
    dx = np.where(mask, 1.0, np.nan)
    assert np.isfinite(tangent(f, x, dx, axis=1, where=mask, **given)).all()


# ---------------------------------------------------------------- sum


def test_cotangent_of_a_sum_is_copied_along_the_summed_axes():
    xbar = cotangent(np.sum, np.zeros((2, 2, 3)), np.array([[1.0, 2.0, 3.0]]), axis=(0, -2), keepdims=False)
    assert xbar.tolist() == [[[1, 2, 3]] * 2] * 2


def test_sum_over_no_axis_is_the_identity():
    assert cotangent(np.sum, np.zeros((1, 2)), np.array([[3.0, 4.0]]), axis=()).tolist() == [[3, 4]]


def test_initial_is_differentiated_and_does_not_enter_the_tangent():
    x = np.ones((2, 3))
    _, pullback = rrule(np.sum, x, axis=0, initial=5.0)
    bars = pullback(np.array([1.0, 10.0, 100.0]))
    assert unthunk(bars[6]) == 111.0
    assert tangent(np.sum, x, x, axis=0, initial=5.0).tolist() == [2, 2, 2]


def test_sum_as_an_integer_has_no_derivative():
    x = np.array([1.5, 2.5])
    assert rrule(np.sum, x, dtype=np.int64)[0] == 3
    assert cotangent(np.sum, x, NoTangent(), dtype=np.int64) is NoTangent()
    assert tangent(np.sum, x, x, dtype=np.int64) is NoTangent()


def test_sum_of_complex_numbers_as_a_real_number_is_the_sum_of_the_real_parts():
    z = np.array([1 + 2j, 3 - 1j])
    with pytest.warns(np.exceptions.ComplexWarning):
        assert cotangent(np.sum, z, 2.0, dtype=np.float64).tolist() == [2 + 0j, 2 + 0j]


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("f", [np.sum, np.prod, np.max, np.min], ids=lambda f: f.__name__)
def test_a_number_has_the_axes_that_numpy_grants_it(f, axis):
    assert check_rule(f, np.array(3.0), fkwargs={"axis": axis}).verdict == "pass"
    assert check_rule(f, 3.0, fkwargs={"axis": axis}).verdict == "pass"


def test_sum_of_nothing():
    assert cotangent(np.sum, np.zeros(0)).shape == (0,)
    assert cotangent(np.sum, np.zeros((0, 3)), np.ones(3), axis=0).shape == (0, 3)
    assert tangent(np.sum, np.zeros((0, 3)), np.zeros((0, 3)), axis=0).tolist() == [0, 0, 0]


# ---------------------------------------------------------------- mean


def test_mean_of_a_selection_divides_by_its_size():
    x, mask = np.array([1.0, 100.0, 3.0]), np.array([True, False, True])
    assert cotangent(np.mean, x, where=mask).tolist() == [0.5, 0, 0.5]
    assert tangent(np.mean, x, np.ones(3), where=mask) == 1


def test_mask_of_a_mean_may_broadcast():
    xbar = cotangent(np.mean, np.ones((2, 4)), 1.0, where=np.array([[True], [False]]))
    assert xbar.tolist() == [[0.25] * 4, [0] * 4]


def test_mean_of_nothing_has_an_empty_cotangent_and_no_further_warning():
    with pytest.warns(RuntimeWarning):
        _, pullback = rrule(np.mean, np.zeros(0))
    assert pullback(1.0)[1].shape == (0,)


def test_mean_of_a_slice_without_selected_elements_has_cotangent_zero():
    mask = np.array([[True, True], [False, False]])
    with pytest.warns(RuntimeWarning):
        _, pullback = rrule(np.mean, np.ones((2, 2)), axis=1, where=mask)
    assert pullback(np.array([1.0, 1.0]))[1].tolist() == [[0.5, 0.5], [0, 0]]


def test_mean_of_more_float16_numbers_than_float16_can_count():
    xbar = cotangent(np.mean, np.ones(100_000, np.float16), np.float16(1000))
    assert xbar[0] == np.float16(0.01)


# ---------------------------------------------------------------- prod


@pytest.mark.parametrize(
    ("x", "xbar", "dy"),
    [
        ([2, 0, 3], [0, 6, 0], 6),
        ([0, 0, 3], [0, 0, 0], 0),
        ([2, 3, 4], [12, 8, 6], 26),
        ([-0.0, 5], [5, 0], 5),
        ([7], [1], 1),
        ([], [], 0),
    ],
)
def test_prod_is_exact_with_any_number_of_zeros(x, xbar, dy):
    x = np.array(x, float)
    assert cotangent(np.prod, x).tolist() == xbar
    assert tangent(np.prod, x, np.ones_like(x)) == dy


def test_prod_along_an_axis_with_a_zero():
    x = np.array([[2.0, 0.0], [3.0, 4.0]])
    assert cotangent(np.prod, x, np.ones(2), axis=1).tolist() == [[0, 2], [4, 3]]
    assert tangent(np.prod, x, np.ones((2, 2)), axis=1).tolist() == [2, 7]


def test_prod_over_several_axes():
    x = np.array([[2.0, 1.0], [3.0, 4.0]])
    assert cotangent(np.prod, x, axis=(0, 1)).tolist() == [[12, 24], [8, 6]]
    assert tangent(np.prod, x, np.ones((2, 2)), axis=(0, 1)) == 50
    y = np.arange(1.0, 9.0).reshape(2, 2, 2)
    assert cotangent(np.prod, y, np.ones((1, 2, 1)), axis=(0, 2), keepdims=True)[0, 0, 0] == 2 * 5 * 6


def test_prod_where_the_whole_product_underflows():
    x = np.array([1e-5, 1e-10, 1e-15, 1e-20], np.float32)
    np.testing.assert_allclose(cotangent(np.prod, x), [1e-45, 1e-40, 1e-35, 1e-30], rtol=0.5)
    assert (cotangent(np.prod, x) > 0).all()


def test_prod_where_a_zero_meets_an_overflow():
    with np.errstate(over="ignore"):
        assert cotangent(np.prod, np.array([0.0, 1e200, 1e200, 1e200])).tolist() == [np.inf, 0, 0, 0]


def test_prod_with_nan_gives_nan_except_to_the_nan_itself():
    np.testing.assert_array_equal(cotangent(np.prod, np.array([2.0, np.nan, 3.0])), [np.nan, 6, np.nan])


def test_prod_of_complex_numbers_conjugates():
    x = np.array([1 + 1j, 2 - 1j, 3j])
    expected = [((2 - 1j) * 3j).conjugate(), ((1 + 1j) * 3j).conjugate(), ((1 + 1j) * (2 - 1j)).conjugate()]
    assert cotangent(np.prod, x, 1 + 0j).tolist() == expected


def test_initial_is_one_more_factor():
    x = np.array([[2.0, 3.0], [0.0, 5.0]])
    _, pullback = rrule(np.prod, x, axis=1, initial=10.0)
    bars = [unthunk(bar) for bar in pullback(np.array([1.0, 1.0]))]
    assert bars[1].tolist() == [[30, 20], [50, 0]]
    assert bars[6] == 6


def test_prod_leaves_out_what_the_mask_does():
    x, mask = np.array([2.0, 100.0, 3.0]), np.array([True, False, True])
    assert cotangent(np.prod, x, where=mask).tolist() == [3, 0, 2]


def test_prod_of_complex_numbers_as_a_real_number_has_no_rule():
    z = np.array([1j, 2])
    assert rrule(np.prod, z, dtype=np.float64) is None
    assert frule((NoTangent(), z), np.prod, z, dtype=np.float64) is None


# ---------------------------------------------------------------- max and min


@pytest.mark.parametrize(
    ("f", "x", "xbar"),
    [
        (np.max, [1, 3, 3, 2], [0, 0.5, 0.5, 0]),
        (np.max, [2, 2, 2, 2], [0.25, 0.25, 0.25, 0.25]),
        (np.min, [1, 1, 3], [0.5, 0.5, 0]),
        (np.max, [-np.inf, -np.inf], [0.5, 0.5]),
        (np.max, [1, np.inf], [0, 1]),
        (np.max, [0.0, -0.0], [0.5, 0.5]),
    ],
)
def test_pullback_of_a_tie_shares_the_cotangent(f, x, xbar):
    x = np.array(x, float)
    assert cotangent(f, x).tolist() == xbar
    for i in range(x.size):
        assert tangent(f, x, np.eye(x.size)[i]) == xbar[i]


def test_ties_are_shared_slice_by_slice():
    x = np.array([[2.0, 2.0], [1.0, 5.0]])
    assert cotangent(np.max, x, np.array([1.0, 1.0]), axis=1).tolist() == [[0.5, 0.5], [0, 1]]
    assert cotangent(np.max, x, np.array([[4.0]]), axis=(0, 1), keepdims=True).tolist() == [[0, 0], [0, 4]]


def test_a_maximum_that_is_nan_belongs_to_the_nans():
    x = np.array([1.0, np.nan, 2.0])
    assert cotangent(np.max, x).tolist() == [0, 1, 0]
    assert tangent(np.max, x, np.array([10.0, 20.0, 30.0])) == 20
    rows = np.array([[1.0, np.nan], [np.nan, np.nan], [3.0, 4.0]])
    assert cotangent(np.min, rows, np.ones(3), axis=1).tolist() == [[0, 1], [0.5, 0.5], [1, 0]]


def test_an_infinite_cotangent_makes_no_nan_elsewhere():
    assert cotangent(np.max, np.array([1.0, 2.0]), np.inf).tolist() == [0, np.inf]


def test_initial_takes_part_in_the_maximum():
    x = np.array([[1.0, 2.0], [7.0, 7.0], [3.0, 5.0]])
    _, pullback = rrule(np.max, x, axis=1, initial=5.0)
    bars = pullback(np.array([1.0, 1.0, 1.0]))
    assert bars[1].tolist() == [[0, 0], [0.5, 0.5], [0, 0.5]]
    assert unthunk(bars[5]) == 1.5
    tangents = (NoTangent(), x, NoTangent(), NoTangent(), NoTangent(), 10.0)
    assert frule(tangents, np.max, x, 1, None, False, 5.0)[1].tolist() == [10, 7, 7.5]


def test_initial_that_rounding_makes_the_maximum():
    x = np.zeros(2, np.float32)
    _, pullback = rrule(np.max, x, initial=np.float64(0.1))
    bars = pullback(np.float32(1))
    assert bars[1].tolist() == [0, 0]
    assert unthunk(bars[5]) == 1


def test_maximum_of_nothing_is_initial():
    _, pullback = rrule(np.max, np.zeros((0, 2)), axis=0, initial=3.0)
    bars = pullback(np.array([1.0, 10.0]))
    assert bars[1].shape == (0, 2)
    assert unthunk(bars[5]) == 11


def test_maximum_within_a_mask():
    x, mask = np.array([9.0, 2.0, 1.0]), np.array([False, True, True])
    assert cotangent(np.max, x, where=mask, initial=-9.0).tolist() == [0, 1, 0]


def test_complex_numbers_are_ordered_by_real_part_first():
    z = np.array([1 + 5j, 2 - 1j, 2 + 1j, 2 + 1j])
    assert cotangent(np.max, z, 1 + 1j).tolist() == [0, 0, 0.5 + 0.5j, 0.5 + 0.5j]
    assert cotangent(np.min, z, 1 + 1j).tolist() == [1 + 1j, 0, 0, 0]
