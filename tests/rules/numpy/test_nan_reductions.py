"""The rules of what leaves out NaN: each is that of the function without "nan" in its name, of the numbers alone."""

import warnings

import numpy as np
import pytest

from rulescore import NoTangent, frule, rrule, unthunk
from rulescore.ad import grad, hessian, jacfwd, jacrev
from testutils.samples.sampling import samples_of
from testutils.testers import check_sample

nan, inf = np.nan, np.inf

PLAIN = {
    np.nansum: np.sum,
    np.nanprod: np.prod,
    np.nanmean: np.mean,
    np.nanvar: np.var,
    np.nanstd: np.std,
    np.nanmax: np.max,
    np.nanmin: np.min,
}
SCANS = {np.nancumsum: np.cumsum, np.nancumprod: np.cumprod}
REDUCTIONS = pytest.mark.parametrize("f", PLAIN, ids=lambda f: f.__name__)
ALL = pytest.mark.parametrize("f", [*PLAIN, *SCANS], ids=lambda f: f.__name__)


def cotangent(f, a, ybar=1.0, **keywords):
    _, pullback = rrule(f, a, **keywords)
    return unthunk(pullback(ybar)[1])


def tangent(f, a, da, **keywords):
    return frule((NoTangent(), da), f, a, **keywords)[1]


@ALL
def test_rules_agree_with_finite_differences(f):
    for sample in samples_of(f, seed=1):
        report = check_sample(f, sample)
        assert report.verdict == "pass", str(report)


# ---------------------------------------------------------------- what is left out

X = np.array([[2.0, nan, 3.0, -1.0], [nan, 0.5, 4.0, nan], [1.0, -2.0, 0.25, 5.0]])


@REDUCTIONS
@pytest.mark.parametrize("ddof", [0, 1])
def test_derivatives_are_those_of_the_numbers_alone(f, ddof):
    options = {"ddof": ddof} if f in (np.nanvar, np.nanstd) else {}
    ybar = np.array([1.0, -2.0, 0.5])
    xbar, dy = cotangent(f, X, ybar, axis=1, **options), tangent(f, X, np.cos(X), axis=1, **options)
    for i, row in enumerate(X):
        is_number = ~np.isnan(row)
        np.testing.assert_allclose(
            xbar[i, is_number], cotangent(PLAIN[f], row[is_number], ybar[i], **options), rtol=1e-13
        )
        assert xbar[i, ~is_number].tolist() == [0] * np.sum(~is_number)
        np.testing.assert_allclose(
            dy[i], tangent(PLAIN[f], row[is_number], np.cos(row[is_number]), **options), rtol=1e-13
        )


@pytest.mark.parametrize("f", SCANS, ids=lambda f: f.__name__)
def test_derivatives_of_scans_are_those_of_the_numbers_alone(f):
    row, ybar = np.array([nan, 2.0, 3.0, nan, 0.0, nan, 5.0]), np.arange(1.0, 8)
    is_number = ~np.isnan(row)
    dense = np.where(is_number, row, 0 if f is np.nancumsum else 1)
    xbar = cotangent(f, row, ybar)
    np.testing.assert_allclose(xbar[is_number], cotangent(SCANS[f], dense, ybar)[is_number], rtol=1e-13)
    assert xbar[~is_number].tolist() == [0, 0, 0]
    dy = tangent(f, row, np.where(is_number, 1.0, 9.0))
    np.testing.assert_allclose(dy, tangent(SCANS[f], dense, is_number.astype(float)), rtol=1e-13)


@ALL
def test_what_is_left_out_gets_exactly_zero_whatever_the_cotangent(f):
    x = np.array([1.0, nan, 2.0])
    assert cotangent(f, x, np.full(3, inf) if f in SCANS else inf)[1] == 0
    assert np.all(np.isfinite(tangent(f, x, np.array([1.0, nan, 2.0]))))


@REDUCTIONS
def test_a_mask_leaves_out_more(f):
    options = {"initial": 0.1} if f in (np.nanmax, np.nanmin) else {}
    x, mask = np.array([1.0, nan, 2.0, 4.0]), np.array([True, True, False, True])
    xbar = cotangent(f, x, where=mask, **options)
    np.testing.assert_allclose(xbar[[0, 3]], cotangent(PLAIN[f], x[[0, 3]], **options), rtol=1e-14)
    assert xbar[1:3].tolist() == [0, 0]


def test_rows_of_the_table_of_edge_cases():
    assert cotangent(np.nansum, np.array([1.0, nan])).tolist() == [1, 0]
    assert cotangent(np.nanmax, np.array([1.0, nan, 3.0])).tolist() == [0, 0, 1]
    assert tangent(np.nansum, np.array([1.0, nan]), np.ones(2)) == 1
    assert tangent(np.nanmax, np.array([1.0, nan, 3.0]), np.ones(3)) == 1


def test_ties_share_the_cotangent_beside_a_nan():
    assert cotangent(np.nanmax, np.array([3.0, nan, 3.0])).tolist() == [0.5, 0, 0.5]
    assert cotangent(np.nanmin, np.array([[nan, 2.0], [1.0, 2.0]]), np.ones(2), axis=0).tolist() == [[0, 0.5], [1, 0.5]]


def test_zeros_are_exact_beside_a_nan():
    assert cotangent(np.nanprod, np.array([2.0, nan, 0.0, 3.0])).tolist() == [0, 0, 6, 0]
    assert cotangent(np.nanprod, np.array([2.0, nan, 0.0, 0.0])).tolist() == [0, 0, 0, 0]
    extreme = np.array([1e-200, nan, 1e-200, 1e200, 1e200])
    np.testing.assert_allclose(cotangent(np.nanprod, extreme), [1e200, 0, 1e200, 1e-200, 1e-200], rtol=1e-14)
    assert cotangent(np.nancumprod, np.array([2.0, nan, 0.0, 3.0]), np.ones(4)).tolist() == [2, 0, 8, 0]


@pytest.mark.parametrize("f", [np.nanmean, np.nanvar, np.nanstd, np.nanmax, np.nanmin], ids=lambda f: f.__name__)
def test_what_there_are_no_numbers_for_is_nan_and_constant(f):
    x = np.array([[nan, nan, nan], [1.0, 2.0, 5.0]])
    with pytest.warns(RuntimeWarning):
        y, pullback = rrule(f, x, axis=1)
    assert np.isnan(y[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        xbar = unthunk(pullback(np.array([7.0, 1.0]))[1])
    assert xbar[0].tolist() == [0, 0, 0]
    np.testing.assert_allclose(xbar[1], cotangent(PLAIN[f], x[1]), rtol=1e-15)
    with pytest.warns(RuntimeWarning):
        dy = tangent(f, x, np.ones((2, 3)), axis=1)
    assert dy[0] == 0


@pytest.mark.parametrize("f", [np.nanvar, np.nanstd], ids=lambda f: f.__name__)
def test_without_a_degree_of_freedom_the_variance_is_constant(f):
    x = np.array([[nan, 3.0, nan], [1.0, 2.0, 5.0]])
    with pytest.warns(RuntimeWarning, match="Degrees of freedom"):
        y, pullback = rrule(f, x, axis=1, ddof=1)
    xbar = unthunk(pullback(np.ones(2))[1])
    assert np.isnan(y[0])
    assert xbar[0].tolist() == [0, 0, 0]
    assert np.all(np.isfinite(xbar))


def test_a_given_mean_is_differentiated():
    x, mean = np.array([1.0, nan, 6.0]), np.array([2.0])
    _, pullback = rrule(np.nanvar, x, mean=mean)
    bars = [unthunk(bar) for bar in pullback(3.0)]
    assert bars[1].tolist() == [-3, 0, 12]  # 3 · 2 (x - mean) / 2
    assert bars[7].tolist() == [-9]
    assert grad(lambda m: np.nanvar(x + 0 * m, mean=m)[()])(mean).tolist() == [-3]


def test_initial_is_differentiated():
    _, pullback = rrule(np.nansum, np.array([[3.0, nan]]), axis=0, initial=2.0)
    bars = pullback(np.array([1.0, 10.0]))
    assert (unthunk(bars[1]).tolist(), unthunk(bars[6])) == ([[1, 0]], 11)
    _, pullback = rrule(np.nanprod, np.array([3.0, nan]), initial=2.0)
    bars = pullback(1.0)
    assert (unthunk(bars[1]).tolist(), unthunk(bars[6])) == ([2, 0], 3)
    _, pullback = rrule(np.nanmax, np.array([3.0, nan]), initial=5.0)
    bars = pullback(1.0)
    assert (unthunk(bars[1]).tolist(), unthunk(bars[5])) == ([0, 0], 1)


# ---------------------------------------------------------------- second order


@ALL
def test_second_derivatives_are_those_of_the_numbers_alone(f):
    is_number = np.array([True, False, True, True, False])
    values, plain = np.array([2.0, 9.0, -1.5, 0.5, 9.0]), {**PLAIN, **SCANS}[f]

    def with_nan(x):
        y = f(np.where(is_number, x, nan))
        return np.sum(y[is_number] ** 2) if f in SCANS else y**2

    expected = hessian(lambda x: np.sum(plain(x) ** 2))(values[is_number])
    for outer in (jacfwd, jacrev):
        found = outer(grad(with_nan))(values)
        np.testing.assert_allclose(found[np.ix_(is_number, is_number)], expected, rtol=1e-12, atol=1e-14)
        assert not np.any(found[~is_number])
        assert not np.any(found[:, ~is_number])


# ---------------------------------------------------------------- types, keywords


@ALL
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble, np.complex64])
def test_precision_is_kept(f, dtype):
    x = np.array([[1, nan], [3, 4]], dtype)
    for options in ({}, {"axis": 0}):
        y, pullback = rrule(f, x, **options)
        assert unthunk(pullback(np.ones_like(y))[1]).dtype == dtype
        assert tangent(f, x, np.ones_like(x), **options).dtype == y.dtype


@ALL
def test_integers_have_no_tangent(f):
    y, pullback = rrule(f, np.array([1, 2, 4]))
    np.testing.assert_array_equal(y, f([1, 2, 4]))
    assert set(pullback(np.ones_like(y, float))[1:]) <= {NoTangent()}


@ALL
def test_a_call_with_out_or_with_an_unknown_keyword_has_no_rule(f):
    x = np.ones((2, 3))
    assert rrule(f, x, axis=0, out=np.zeros(x.shape if f in SCANS else 3)) is None
    assert frule((NoTangent(), x), f, x, axis=0, out=np.zeros(x.shape if f in SCANS else 3)) is None
    assert rrule(f, x, flavour="sweet") is None
    assert rrule(f, x, out=None) is not None


@ALL
def test_the_argument_is_not_written_to(f):
    x = np.array([1.0, nan, 3.0])
    y, pullback = rrule(f, x)
    pullback(np.ones_like(y))
    tangent(f, x, np.ones(3))
    np.testing.assert_array_equal(x, [1, nan, 3])
