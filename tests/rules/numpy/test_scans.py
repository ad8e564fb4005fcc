"""The rules of running sums and products: counted by hand, exact with zeros, and free of overflow."""

import warnings

import numpy as np
import pytest

from rulescore import NoTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, jacfwd, jacrev
from testutils.samples.sampling import samples_of
from testutils.testers import check_rule, check_sample

SCANS = [np.cumsum, np.cumprod]
STANDARD = [getattr(np, name) for name in ("cumulative_sum", "cumulative_prod") if hasattr(np, name)]


def cotangent(f, a, ybar, **keywords):
    _, pullback = rrule(f, a, **keywords)
    return unthunk(pullback(ybar)[1])


def tangent(f, a, da, **keywords):
    return frule((NoTangent(), da), f, a, **keywords)[1]


def jacobian_of_cumprod(a):
    """∂yₖ/∂aᵢ, each a product without the i-th element, in longdouble, whose range is far wider."""
    a = a.astype(np.longdouble if a.dtype.kind == "f" else np.clongdouble)
    jacobian = np.zeros((a.size, a.size), a.dtype)
    for k in range(a.size):
        for i in range(k + 1):
            jacobian[k, i] = np.prod(np.delete(a[: k + 1], i))
    return jacobian


@pytest.mark.parametrize("f", [*SCANS, *STANDARD], ids=lambda f: f.__name__)
def test_rules_agree_with_finite_differences(f):
    for sample in samples_of(f, seed=1):
        report = check_sample(f, sample)
        assert report.verdict == "pass", str(report)


def test_cumsum_counts_how_often_an_element_is_used():
    x = np.array([[1.0, 2], [3, 4]])
    np.testing.assert_array_equal(cotangent(np.cumsum, x, np.ones(4)), [[4, 3], [2, 1]])
    np.testing.assert_array_equal(cotangent(np.cumsum, x, np.array([[1.0, 2], [3, 4]]), axis=-1), [[3, 2], [7, 4]])
    np.testing.assert_array_equal(cotangent(np.cumsum, x, np.array([[1.0, 2], [3, 4]]), axis=0), [[4, 6], [3, 4]])


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("f", [*SCANS, *STANDARD], ids=lambda f: f.__name__)
def test_a_number_is_scanned_as_an_array_of_length_one(f, axis):
    assert check_rule(f, np.array(3.0), fkwargs={"axis": axis}).verdict == "pass"
    assert check_rule(f, 3.0, fkwargs={"axis": axis}).verdict == "pass"


def test_cumprod_with_one_zero():
    x = np.array([2.0, 0.0, 3.0])
    np.testing.assert_array_equal(cotangent(np.cumprod, x, np.ones(3)), [1, 8, 0])
    np.testing.assert_array_equal(tangent(np.cumprod, x, np.ones(3)), [1, 2, 6])


def test_cumprod_with_two_zeros():
    x = np.array([2.0, 0.0, 5.0, 0.0, 3.0])
    # ∂y₁/∂a₁ = 2, ∂y₂/∂a₁ = 10; behind the second zero nothing depends on anything.
    np.testing.assert_array_equal(cotangent(np.cumprod, x, np.ones(5)), [1, 12, 0, 0, 0])
    np.testing.assert_array_equal(tangent(np.cumprod, x, np.ones(5)), [1, 2, 10, 0, 0])


@pytest.mark.parametrize("zeros", [(), (0,), (3,), (2, 9), (0, 1, 16)])
@pytest.mark.parametrize("is_complex", [False, True])
def test_cumprod_is_exact_to_rounding(zeros, is_complex):
    rng = np.random.default_rng(0)
    a, da, ybar = (rng.standard_normal(17) + 1j * is_complex * rng.standard_normal(17) for _ in range(3))
    a, da, ybar = (x if is_complex else x.real for x in (a, da, ybar))
    a[list(zeros)] = 0
    jacobian = jacobian_of_cumprod(a)
    np.testing.assert_allclose(tangent(np.cumprod, a, da), jacobian @ da, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(cotangent(np.cumprod, a, ybar), jacobian.conj().T @ ybar, rtol=1e-12, atol=1e-15)


EXTREMES = {
    "down and up": [1e-150, 1e-150, 1e150, 1e150, 1e150],
    "up and down": [1e150, 1e150, 1e-150, 1e-150, 1e-150],
    "a zero before what overflows": [0.0, 1.0, 1e150, 1e150],
    "two zeros before what overflows": [2.0, 0.0, 0.0, 1e200, 1e200],
    "almost zero": [1e-300, 1e10, 1e-300, 1e150],
    "a long way down and a longer way up": [1e-10] * 20 + [1e10] * 40,
    "large and small": [1e200, 1e-200, 3.0],
    "small and large": [1e-200, 1e200, 3.0],
    "an underflow on the way": [1e-200, 1e-200, 1e200, 1e200, 3.0],
    "digits lost on the way": [1e-160, 1.1e-160, 1e200, 7.0],
    "up to the ends of the range": [1e-300, 1e300, 1e-300, 1e300],
    "zeros and extremes": [1e200, 0.0, 1e-200, 1e200, 0.0, 1e-200],
    "subnormal": [1e-310, 1e300, 2.0],
}


@pytest.mark.parametrize("a", [np.array(a) for a in EXTREMES.values()], ids=EXTREMES)
def test_cumprod_overflows_only_where_its_derivative_does(a):
    jacobian = jacobian_of_cumprod(a)
    assert np.all(np.abs(jacobian) < np.finfo(float).max)
    close = {"rtol": 1e-11, "atol": np.finfo(float).tiny}
    np.testing.assert_allclose(cotangent(np.cumprod, a, np.ones(a.size)), jacobian.sum(0), **close)
    np.testing.assert_allclose(tangent(np.cumprod, a, np.ones(a.size)), jacobian.sum(1), **close)


@pytest.mark.parametrize("a", [np.array(a) for a in EXTREMES.values()], ids=EXTREMES)
@pytest.mark.filterwarnings("ignore:overflow")
def test_no_element_beside_extremes_loses_its_part(a):
    jacobian = jacobian_of_cumprod(a)
    for i in range(a.size):
        unit = np.eye(a.size)[i]
        close = {"rtol": 1e-11, "atol": np.finfo(float).tiny}
        np.testing.assert_allclose(cotangent(np.cumprod, a, unit), jacobian[i].astype(float), **close)
        np.testing.assert_allclose(tangent(np.cumprod, a, unit), jacobian[:, i].astype(float), **close)


def test_an_overflow_that_nothing_depends_on_leaves_the_rest_alone():
    a = np.array([1e300] * 5 + [0.0, 1e300])
    with np.errstate(over="ignore", invalid="ignore"):
        assert cotangent(np.cumprod, a, np.eye(7)[0]).tolist() == [1, 0, 0, 0, 0, 0, 0]
        assert tangent(np.cumprod, a, np.eye(7)[0])[0] == 1


@pytest.mark.parametrize("zeros", [(), (0,), (2,), (4,), (1, 3), (0, 2, 4)], ids=str)
@pytest.mark.parametrize("weights", [np.ones(5), np.arange(-2.0, 3), *np.eye(5)[[0, 2, 4]]], ids=str)
def test_second_derivatives_of_cumprod_are_exact_with_any_number_of_zeros(zeros, weights):
    a = np.array([2.0, -3.0, 0.5, 4.0, 1.5])
    a[list(zeros)] = 0
    expected = np.zeros((5, 5))
    for i, j, k in np.ndindex(5, 5, 5):
        if i != j and max(i, j) <= k:
            expected[i, j] += weights[k] * np.prod(np.delete(a[: k + 1], [i, j]))

    def f(a):
        return np.sum(weights * np.cumprod(a))

    for hessian in (jacrev(grad(f)), jacfwd(grad(f)), jacfwd(jacfwd(f))):
        np.testing.assert_allclose(hessian(a), expected, rtol=1e-14, atol=1e-14)


def test_second_derivatives_of_cumprod_where_elements_are_large_and_small():
    a = np.array([1e-200, 1e200, 3.0])
    # Of a₀ + a₀ a₁ + a₀ a₁ a₂.
    expected = [[0, 4, 1e200], [4, 0, 1e-200], [1e200, 1e-200, 0]]
    for outer in (jacrev, jacfwd):
        np.testing.assert_allclose(outer(grad(lambda a: np.sum(np.cumprod(a))))(a), expected, rtol=1e-14)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_rows_with_and_without_zeros(axis):
    rng = np.random.default_rng(0)
    a, ybar = rng.standard_normal((4, 5)), rng.standard_normal(20 if axis is None else (4, 5))
    a[1, 2] = a[1, 4] = a[3, 0] = 0
    abar, da = cotangent(np.cumprod, a, ybar, axis=axis), tangent(np.cumprod, a, np.cos(a), axis=axis)
    rows, ybars = (a.reshape(1, -1), ybar.reshape(1, -1)) if axis is None else (a, ybar)
    rows, ybars = (rows.T, ybars.T) if axis == 0 else (rows, ybars)
    jacobians = [jacobian_of_cumprod(row) for row in rows]
    expected = np.stack([jacobian.T @ row for jacobian, row in zip(jacobians, ybars, strict=True)])
    np.testing.assert_allclose(abar, (expected.T if axis == 0 else expected).reshape(4, 5).astype(float), rtol=1e-12)
    expected = np.stack([jacobian @ np.cos(row) for jacobian, row in zip(jacobians, rows, strict=True)])
    np.testing.assert_allclose(da, (expected.T if axis == 0 else expected).reshape(da.shape).astype(float), rtol=1e-12)


def test_a_zero_cotangent_gives_zero():
    for f in SCANS:
        assert isinstance(cotangent(f, np.ones(3), ZeroTangent()), ZeroTangent)


def test_cumprod_of_half_precision_whose_elements_are_further_apart_than_its_range():
    a = np.array([1e-4, 1e3, 1e-4, 1e3], np.float16)
    jacobian = jacobian_of_cumprod(a)
    abar, dy = (f(np.cumprod, a, np.ones(4, np.float16)) for f in (cotangent, tangent))
    assert abar.dtype == dy.dtype == np.float16
    np.testing.assert_allclose(abar, jacobian.sum(0), rtol=1e-3, atol=1e-7)
    np.testing.assert_allclose(dy, jacobian.sum(1), rtol=1e-3, atol=1e-7)


def test_cumprod_of_many_elements_needs_no_python_loop_over_them():
    a = np.exp(np.random.default_rng(0).standard_normal(100_000) * 1e-2)
    y = np.cumprod(a)
    # Without zeros, āᵢ = Σₖ yₖ / aᵢ over k ≥ i.
    np.testing.assert_allclose(cotangent(np.cumprod, a, np.ones_like(a)), np.cumsum(y[::-1])[::-1] / a, rtol=1e-9)


def test_infinities_and_nan_stay_where_they_matter():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        abar = cotangent(np.cumprod, np.array([2.0, 3.0, np.inf]), np.array([1.0, 1.0, 0.0]))
    np.testing.assert_array_equal(abar, [4, 2, 0])
    abar = cotangent(np.cumprod, np.array([[2.0, np.nan], [2.0, 3.0]]), np.ones((2, 2)), axis=1)
    np.testing.assert_array_equal(abar, [[np.nan, 2], [4, 2]])


@pytest.mark.parametrize("f", SCANS, ids=lambda f: f.__name__)
def test_precision_is_kept_and_dtype_obeyed(f):
    for dtype in (np.float16, np.float32, np.longdouble, np.complex64):
        a = np.ones((2, 3), dtype)
        assert cotangent(f, a, a, axis=0).dtype == dtype
        assert tangent(f, a, a, axis=1).dtype == dtype
    a = np.ones(3, np.float32)
    assert tangent(f, a, a, dtype=np.float64).dtype == np.float64
    assert cotangent(f, a, np.ones(3), dtype=np.float64).dtype == np.float32
    _, pullback = rrule(f, a, dtype=int)
    assert pullback(NoTangent())[1:] in ((), (NoTangent(),))
    assert tangent(f, a, a, dtype=int) is NoTangent()


@pytest.mark.parametrize("f", SCANS, ids=lambda f: f.__name__)
def test_a_call_with_out_or_with_an_unknown_keyword_has_no_rule(f):
    a = np.ones(3)
    for keywords in ({"out": np.zeros(3)}, {"where": a > 0}):
        assert rrule(f, a, **keywords) is None
        assert frule((NoTangent(), a), f, a, **keywords) is None
    assert rrule(f, a, out=None) is not None


@pytest.mark.parametrize("f", SCANS, ids=lambda f: f.__name__)
def test_methods_have_the_rules_of_the_functions(f):
    method = getattr(np.ndarray, f.__name__)
    x, ybar = np.array([2.0, 3.0]), np.array([1.0, 10.0])
    np.testing.assert_array_equal(cotangent(method, x, ybar, axis=0), cotangent(f, x, ybar, axis=0))


if STANDARD:  # from NumPy 2.1

    def test_the_initial_value_is_constant():
        x, ybar = np.array([2.0, 3.0]), np.array([100.0, 1.0, 10.0])
        np.testing.assert_array_equal(cotangent(np.cumulative_sum, x, ybar, include_initial=True), [11, 10])
        np.testing.assert_array_equal(cotangent(np.cumulative_prod, x, ybar, include_initial=True), [31, 20])
        np.testing.assert_array_equal(tangent(np.cumulative_prod, x, np.ones(2), include_initial=True), [0, 1, 5])

    @pytest.mark.parametrize("f", STANDARD, ids=lambda f: f.__name__)
    def test_the_standard_names_decline_alike(f):
        assert rrule(f, np.ones(2), out=np.zeros(2)) is None
        assert rrule(f, np.ones(2), unknown=1) is None
        assert rrule(f, np.ones(2), out=None) is not None
