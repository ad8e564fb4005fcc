"""The rules of var and std: exact values, and the constants where the standard deviation has its kink."""

import numpy as np
import pytest

from rulescore import NoTangent, ZeroTangent, frule, rrule, unthunk
from testutils.samples.sampling import samples_of
from testutils.testers import check_sample

BOTH = pytest.mark.parametrize("f", [np.var, np.std])


def cotangent(f, a, ybar=1.0, **keywords):
    _, pullback = rrule(f, a, **keywords)
    return unthunk(pullback(ybar)[1])


def tangent(f, a, da, **keywords):
    return frule((NoTangent(), da), f, a, **keywords)[1]


@BOTH
def test_rules_agree_with_finite_differences(f):
    for sample in samples_of(f, seed=1):
        report = check_sample(f, sample)
        assert report.verdict == "pass", str(report)


def test_variance_over_two_axes():
    x = np.array([[1.0, 2.0], [4.0, 3.0]])
    assert cotangent(np.var, x, axis=(0, 1)).tolist() == [[-0.75, -0.25], [0.75, 0.25]]
    assert tangent(np.var, x, np.ones((2, 2)), axis=(0, 1)) == 0


def test_standard_deviation_with_degrees_of_freedom():
    assert cotangent(np.std, np.array([1.0, 2.0, 3.0]), ddof=1).tolist() == [-0.5, 0, 0.5]
    assert cotangent(np.std, np.array([1.0, 2.0, 3.0]), correction=1).tolist() == [-0.5, 0, 0.5]


@pytest.mark.parametrize("dtype", [float, np.float32, complex])
@pytest.mark.parametrize("keywords", [{}, {"axis": 0}, {"axis": 1, "keepdims": True}, {"ddof": 1}], ids=str)
def test_standard_deviation_of_a_constant_has_derivative_zero(dtype, keywords):
    x = np.full((3, 4), 2, dtype)
    y, pullback = rrule(np.std, x, **keywords)
    assert not np.any(y)
    xbar = unthunk(pullback(np.ones_like(y))[1])
    assert xbar.tolist() == np.zeros((3, 4)).tolist()
    assert not np.any(tangent(np.std, x, np.arange(12).reshape(3, 4).astype(dtype), **keywords))


def test_a_constant_row_does_not_disturb_the_others():
    x = np.array([[2.0, 2.0, 2.0], [1.0, 2.0, 3.0]])
    xbar = cotangent(np.std, x, np.ones(2), axis=1, ddof=1)
    assert xbar.tolist() == [[0, 0, 0], [-0.5, 0, 0.5]]


def test_variance_of_one_number_is_constant():
    assert cotangent(np.var, np.array([3.0])).tolist() == [0]
    assert cotangent(np.std, np.array([3.0])).tolist() == [0]


@BOTH
def test_without_a_degree_of_freedom_the_output_is_nan_and_constant(f):
    with pytest.warns(RuntimeWarning):
        y, pullback = rrule(f, np.array([3.0]), ddof=1)
    with pytest.warns(RuntimeWarning):
        dy = tangent(f, np.array([3.0]), np.array([1.0]), ddof=1)
    assert np.isnan(y)
    assert dy == 0
    assert pullback(1.0)[1].tolist() == [0]
    with pytest.warns(RuntimeWarning):
        _, pullback = rrule(f, np.array([1.0, 2.0]), ddof=2)
    assert pullback(1.0)[1].tolist() == [0, 0]


@BOTH
def test_a_row_without_a_degree_of_freedom_does_not_disturb_the_others(f):
    x, mask = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 4.0]]), np.array([[True, False, False], [True, True, True]])
    with pytest.warns(RuntimeWarning):
        _, pullback = rrule(f, x, axis=1, ddof=1, where=mask)
    xbar = unthunk(pullback(np.array([0.0, 1.0]))[1])
    assert xbar[0].tolist() == [0, 0, 0]
    np.testing.assert_allclose(xbar[1], cotangent(f, x[1], ddof=1), rtol=1e-15)
    with pytest.warns(RuntimeWarning):
        dy = tangent(f, x, np.ones((2, 3)), axis=1, ddof=1, where=mask)
    assert dy[0] == 0


@BOTH
def test_elements_outside_the_mask_get_zero_also_from_an_infinite_cotangent(f):
    assert cotangent(f, np.array([1.0, 5.0, 2.0]), np.inf, where=np.array([True, False, True]))[1] == 0


def test_variance_of_complex_numbers_is_that_of_both_parts():
    z = np.array([1 + 2j, 3 - 1j, -1 + 2j])
    expected = cotangent(np.var, z.real) + 1j * cotangent(np.var, z.imag)
    np.testing.assert_allclose(cotangent(np.var, z), expected, rtol=1e-15)
    assert cotangent(np.var, z).dtype == complex
    assert not np.iscomplexobj(tangent(np.var, z, z))


def test_a_given_mean_is_differentiated():
    x, mean = np.array([1.0, 2.0, 6.0]), np.array([2.0])
    _, pullback = rrule(np.var, x, mean=mean)
    bars = [unthunk(bar) for bar in pullback(3.0)]
    assert bars[1].tolist() == [-2, 0, 8]  # 2 (x - mean)
    assert bars[7].tolist() == [-6]
    tangents = (NoTangent(), ZeroTangent(), *[NoTangent()] * 5, np.array([1.0]))
    assert frule(tangents, np.var, x, None, None, None, 0, False, mean)[1] == -2


@pytest.mark.parametrize("f", [np.var, np.std], ids=lambda f: f.__name__)
@pytest.mark.parametrize(("shape", "of_mean"), [((1, 4), (3, 1)), ((3, 4), (1, 1, 4))])
def test_a_mean_that_broadcasts_the_array_has_no_rule(f, shape, of_mean):
    a, mean = np.ones(shape), np.zeros(of_mean)
    f(a, axis=1, mean=mean)  # NumPy itself takes it
    assert rrule(f, a, axis=1, mean=mean) is None
    assert frule((NoTangent(), a), f, a, axis=1, mean=mean) is None


def test_the_mean_itself_may_be_given():
    x = np.array([1.0, 2.0, 3.0])
    xbar = cotangent(np.var, x, mean=np.mean(x, keepdims=True))
    np.testing.assert_allclose(xbar, [-2 / 3, 0, 2 / 3], rtol=1e-15)


def test_degrees_of_freedom_are_differentiated_where_they_are_a_float():
    x = np.array([1.0, 2.0, 6.0])  # Σ d² = 14
    _, pullback = rrule(np.var, x, None, None, None, 1.0)
    assert unthunk(pullback(1.0)[5]) == 14 / 2**2
    _, pullback = rrule(np.var, x, None, None, None, 1)
    assert len(pullback(1.0)) == 2


@BOTH
def test_elements_outside_the_mask_get_exactly_zero(f):
    x = np.array([[1.0, np.nan, 3.0], [2.0, 5.0, np.inf]])
    mask = np.isfinite(x)
    xbar = cotangent(f, x, np.array([1.0, 2.0]), axis=1, where=mask)
    assert xbar[~mask].tolist() == [0, 0]
    inside = [cotangent(f, row[chosen], ybar) for row, chosen, ybar in zip(x, mask, (1.0, 2.0), strict=True)]
    np.testing.assert_allclose(xbar[mask], np.concatenate(inside), rtol=1e-15)
    assert np.isfinite(tangent(f, x, x, axis=1, where=mask)).all()


def test_float16_is_computed_as_precisely_as_by_numpy():
    x = (1000 + np.array([0, 1, 2, 3])).astype(np.float16)
    assert cotangent(np.var, x, np.float16(1)).tolist() == [-0.75, -0.25, 0.25, 0.75]


@BOTH
def test_a_call_with_out_or_with_an_unknown_keyword_has_no_rule(f):
    x = np.ones((2, 3))
    assert rrule(f, x, axis=0, out=np.zeros(3)) is None
    assert rrule(f, x, initial=1.0) is None


@BOTH
def test_mixtures_of_real_and_complex_that_numpy_treats_in_its_own_way_have_no_rule(f):
    z = np.array([1j, 2])
    assert rrule(f, z, dtype=np.float64) is None
    assert rrule(f, z.real, mean=np.array([1j])) is None


@BOTH
def test_integers_have_no_tangent(f):
    y, pullback = rrule(f, np.array([1, 2, 4]))
    assert y == f([1, 2, 4])
    assert set(pullback(1.0)[1:]) <= {NoTangent()}


@BOTH
def test_the_method_is_served_by_the_rules_of_the_function(f):
    x = np.array([[1.0, 4.0], [3.0, 2.0]])
    _, pullback = rrule(getattr(x, f.__name__), 0, ddof=1)
    np.testing.assert_array_equal(pullback(np.ones(2))[0]["__self__"], cotangent(f, x, np.ones(2), axis=0, ddof=1))
