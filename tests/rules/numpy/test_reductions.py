"""The rules of sum, mean, prod, max, min and ptp: exact values where finite differences have nothing to say."""

import gc
import warnings
import weakref
from fractions import Fraction

import numpy as np
import pytest

from rules.numpy.reduced_axes import chosen
from rulescore import NoTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, jacfwd, jacrev
from testutils.samples.sampling import samples_of
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


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble, np.complex64, ">f8"])
@pytest.mark.parametrize("step", [1, 2, -1])
def test_what_a_mask_leaves_out_is_zero_and_what_it_chooses_is_kept_to_the_last_bit(dtype, step):
    x = np.array([1.5, np.nan, np.inf, -np.inf, -0.0, 1e-7, -2.5, 3.0], dtype)[::step]
    mask = np.array([True, True, False, True, True, False, False, True])[::step]
    y = chosen(mask, x)
    assert y.dtype == np.dtype(dtype).newbyteorder("=")
    np.testing.assert_array_equal(y, np.where(mask, x, np.zeros((), dtype)))
    np.testing.assert_array_equal(np.signbit(y.real), np.signbit(np.where(mask, x.real, 0)))


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


EXTREMES = {
    "large and small": [1e200, 1e-200, 3.0],
    "small and large": [1e-200, 1e200, 3.0],
    "an overflow on the way": [1e200, 1e200, 1e-200, 1e-200, 3.0],
    "an underflow on the way": [1e-200, 1e-200, 1e200, 1e200, 3.0],
    "digits lost on the way": [1e-160, 1.1e-160, 1e200, 7.0],
    "one zero": [1e200, 0.0, 1e-200, 2.0],
    "a zero, and an underflow of the others": [0.0, 1e-200, 1e-200, 1e200, 1e200],
    "two zeros": [2.0, 0.0, 1e200, 1e200, 0.0],
    "up to the ends of the range": [1e-300, 1e300, 1e-300, 1e300],
    "subnormal": [1e-310, 1e300, 2.0, 4.0],
    "many": [1.5] * 3000 + [0.6666] * 3000,
}


def without_each(x):
    """Products of all but one. A product is linear in each factor, so a difference is a derivative without error."""
    x = [Fraction(value) for value in x]
    with_one_more, product = [], Fraction(1)
    after = [Fraction(1)]
    for value in reversed(x):
        after.append(after[-1] * value)
    for value, rest in zip(x, after[-2::-1], strict=True):
        with_one_more.append(product * (value + 1) * rest)
        product *= value
    return np.array([float(y - product) for y in with_one_more])


@pytest.mark.parametrize("x", [np.array(x) for x in EXTREMES.values()], ids=EXTREMES)
@pytest.mark.filterwarnings("ignore:overflow")
def test_prod_of_extreme_numbers_has_no_error_but_of_rounding(x):
    expected = without_each(x[:: x.size // 60 + 1])
    x = x[:: x.size // 60 + 1]
    close = {"rtol": 1e-12, "atol": np.finfo(float).tiny}
    np.testing.assert_allclose(cotangent(np.prod, x, 1.0), expected, **close)
    np.testing.assert_allclose([tangent(np.prod, x, unit) for unit in np.eye(x.size)], expected, **close)
    rows = np.stack([np.linspace(1, 2, x.size), x, np.full(x.size, 1.5)])
    np.testing.assert_allclose(cotangent(np.prod, rows, np.array([1.0, 1.0, 0.0]), axis=1)[1], expected, **close)
    np.testing.assert_allclose(cotangent(np.prod, rows.T, np.array([1.0, 1.0, 0.0]), axis=0)[:, 1], expected, **close)


def test_what_overflows_beside_a_zero_is_not_multiplied_with_a_tangent_or_cotangent_of_zero():
    x = np.array([0.0, 1e200, 1e200])
    with np.errstate(over="ignore"):
        assert [tangent(np.prod, x, unit) for unit in np.eye(3)] == [np.inf, 0, 0]
        rows = np.array([[0.0, 1e200, 1e200], [1.0, 2.0, 3.0], [0.0, 2.0, 3.0]])
        expected = [[0, 0, 0], [6, 3, 2], [6, 0, 0]]
        assert cotangent(np.prod, rows, np.array([0.0, 1.0, 1.0]), axis=1).tolist() == expected


def test_prod_of_so_many_numbers_that_it_is_far_out_of_range():
    x = np.concatenate([np.full(5000, 2.0), np.full(5000, 0.5), [3.0]])
    with np.errstate(over="ignore"):
        y, pullback = rrule(np.prod, x)
    assert y == np.inf
    np.testing.assert_array_equal(pullback(1.0)[1], 3 / np.where(x == 3, 3, x))


@pytest.mark.parametrize("zeros", [(), (1,), (0, 2), (1, 2, 3)], ids=str)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_second_derivatives_of_prod_are_exact_with_any_number_of_zeros(zeros, kind):
    x = np.array([2.0, -3.0, 0.5, 4.0], kind)
    x[list(zeros)] = 0
    expected = [[0 if i == j else np.prod(np.delete(x, [i, j])) for j in range(4)] for i in range(4)]
    for outer in (jacrev, jacfwd):
        hessian = outer(grad(np.prod))(x)
        assert hessian.dtype == kind
        np.testing.assert_array_equal(hessian, expected)


def test_second_derivatives_of_prod_where_elements_are_large_and_small():
    x = np.array([1e200, 1e-200, 3.0, 2.0])
    expected = [[0, 6, 2e-200, 3e-200], [6, 0, 2e200, 3e200], [2e-200, 2e200, 0, 1], [3e-200, 3e200, 1, 0]]
    for outer in (jacrev, jacfwd):
        np.testing.assert_allclose(outer(grad(np.prod))(x), expected, rtol=1e-14)


def test_row_sums_of_the_second_derivatives_as_in_the_table_of_edge_cases():
    x = np.array([2.0, 0.0, 3.0])
    assert grad(lambda x: np.sum(grad(np.prod)(x)))(x).tolist() == [3, 5, 2]


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2), (2, 0, 1)])
def test_prod_of_rows_with_and_without_zeros(axis):
    x = np.random.default_rng(0).standard_normal((3, 4, 2))
    x[0, 1, 0] = x[1, 1, 0] = x[2, 3, 1] = 0
    y = np.prod(x, axis=axis)
    ybar = np.cos(np.arange(y.size)).reshape(y.shape)[()]
    ones = np.full(x.shape, 1.0)
    # Through scans of all the elements, which know nothing of zeros.
    expected = cotangent(np.prod, x, ybar, axis=axis, initial=1.0)
    np.testing.assert_allclose(cotangent(np.prod, x, ybar, axis=axis), expected, rtol=1e-13)
    np.testing.assert_allclose(
        tangent(np.prod, x, ones, axis=axis), tangent(np.prod, x, ones, axis=axis, initial=1.0), rtol=1e-13
    )


def test_the_pullback_of_prod_raises_no_warning_where_the_product_raises_none():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in ([1e-200, 1e-200, 1e200], [0.0, 2.0], [1e-320, 3.0], [np.inf, 2.0], [np.nan, 2.0], [0.0, 0.0]):
            cotangent(np.prod, np.array(x))


def test_an_underflow_is_treated_as_the_caller_wants_it_treated():
    with np.errstate(under="raise"), pytest.raises(FloatingPointError, match="underflow"):
        rrule(np.prod, np.array([1e-200, 1e-200]))
    with np.errstate(under="warn"), pytest.warns(RuntimeWarning, match="underflow"):
        rrule(np.prod, np.array([1e-200, 1e-200]))


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


@pytest.mark.parametrize("f", [np.max, np.min, np.ptp], ids=lambda f: f.__name__)
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (2, 1, 0)], ids=str)
def test_many_cotangents_at_once_and_arrays_of_any_layout(f, axis):
    x = np.random.default_rng(0).standard_normal((3, 4, 2))
    expected = jacfwd(lambda x: f(x, axis=axis))(x)
    np.testing.assert_array_equal(jacrev(lambda x: f(x, axis=axis))(x), expected)
    fortran = np.asfortranarray(x)
    ybar = np.ones_like(f(x, axis=axis))
    np.testing.assert_array_equal(cotangent(f, fortran, ybar, axis=axis), cotangent(f, x, ybar, axis=axis))
    assert np.sum(np.abs(cotangent(f, x, ybar, axis=axis))) == (2 if f is np.ptp else 1) * ybar.size


def test_a_tie_in_one_row_and_a_nan_in_another():
    x = np.array([[2.0, 2.0], [np.nan, 1.0], [3.0, 4.0]])
    assert cotangent(np.max, x, np.ones(3), axis=1).tolist() == [[0.5, 0.5], [1, 0], [0, 1]]


def test_the_maximum_of_nothing_is_numpys_error():
    with pytest.raises(ValueError, match="zero-size array"):
        rrule(np.max, np.zeros(0))
    with pytest.raises(ValueError, match="zero-size array"):
        grad(np.max)(np.zeros(0))


# ---------------------------------------------------------------- ptp


@pytest.mark.parametrize(
    ("x", "xbar"),
    [
        ([1, 1, 1], [0, 0, 0]),
        ([3], [0]),
        ([1, 3, 2], [-1, 1, 0]),
        ([1, 3, 3, 2], [-1, 0.5, 0.5, 0]),
        ([1, 1, 3], [-0.5, -0.5, 1]),
        ([1, np.nan, 3], [0, 0, 0]),
    ],
)
def test_ptp_is_the_maximum_less_the_minimum(x, xbar):
    x = np.array(x, float)
    assert cotangent(np.ptp, x).tolist() == xbar
    assert [tangent(np.ptp, x, unit) for unit in np.eye(x.size)] == xbar
    assert grad(np.ptp)(x).tolist() == xbar


def test_ptp_row_by_row():
    x = np.array([[1.0, 5.0, 2.0], [7.0, 7.0, 7.0]])
    ybar = np.array([[2.0], [3.0]])
    assert cotangent(np.ptp, x, ybar, axis=1, keepdims=True).tolist() == [[-2, 2, 0], [0, 0, 0]]
    assert ybar.tolist() == [[2], [3]]


def test_ptp_keeps_precision_and_has_no_tangent_for_integers():
    x = np.array([1, 3, 2], np.float32)
    assert cotangent(np.ptp, x, np.float32(1)).dtype == tangent(np.ptp, x, x).dtype == np.float32
    y, pullback = rrule(np.ptp, np.array([3, 1, 2]))
    assert (y, pullback(1.0)) == (2, (NoTangent(),))


def test_ptp_with_out_or_an_unknown_keyword_has_no_rule():
    assert rrule(np.ptp, np.ones((2, 3)), axis=0, out=np.zeros(3)) is None
    assert rrule(np.ptp, np.ones(3), initial=1.0) is None
    assert frule((NoTangent(), np.ones(3)), np.ptp, np.ones(3), where=np.ones(3, bool)) is None
