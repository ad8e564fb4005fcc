"""What the rules of copying and converting answer: precision, reality, axes, and what has no derivative."""

import warnings

import numpy as np
import pytest

from rulescore import NoTangent, Tangent, ZeroTangent, frule, rrule
from rulescore.ad import grad, hessian, primitive
from testutils.samples.sampling import samples_of
from testutils.testers import check_sample

FUNCTIONS = [f for f in rrule if any(r.module == "rules.numpy.copies" for r in rrule.records(f))]
BY_TYPE = [np.ndarray.astype, np.astype, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.array]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__qualname__)
def test_rules_agree_with_finite_differences(f):
    samples = samples_of(f, seed=1)
    assert samples
    for sample in samples:
        report = check_sample(f, sample)
        assert report.verdict == "pass", str(report)


def pullback_of(f, *args, **kwargs):
    y, pullback = rrule(f, *args, **kwargs)
    return y, lambda ybar: pullback(ybar)[1] if len(pullback(ybar)) > 1 else NoTangent()


@pytest.mark.parametrize("f", BY_TYPE, ids=lambda f: f.__qualname__)
class TestConversions:
    def test_cotangent_has_the_precision_of_what_was_converted(self, f):
        y, pullback = pullback_of(f, np.ones(2, np.float32), np.float64)
        assert y.dtype == np.float64
        np.testing.assert_array_equal(pullback(np.array([1.0, 2.0])), np.array([1, 2], np.float32), strict=True)

    def test_tangent_has_the_precision_of_the_result(self, f):
        x = np.array([1.0, 2.0])
        _, dy = frule((NoTangent(), x, NoTangent()), f, x, np.float32)
        np.testing.assert_array_equal(dy, x.astype(np.float32), strict=True)

    def test_real_numbers_made_complex_get_a_real_cotangent(self, f):
        _, pullback = pullback_of(f, np.ones(2), complex)
        np.testing.assert_array_equal(pullback(np.array([1 + 5j, 2 - 3j])), np.array([1.0, 2.0]), strict=True)

    def test_floats_made_integers_have_no_derivative(self, f):
        y, pullback = pullback_of(f, np.array([1.5, 2.5]), int)
        assert y.tolist() == [1, 2]
        assert pullback(np.array([1.0, 1.0])) is NoTangent()
        assert frule((NoTangent(), np.ones(2), NoTangent()), f, np.array([1.5, 2.5]), int)[1] is NoTangent()

    def test_floats_made_objects_have_no_rule(self, f):
        assert rrule(f, np.ones(2), object) is None
        assert frule((NoTangent(), np.ones(2), NoTangent()), f, np.ones(2), object) is None

    def test_an_unknown_keyword_has_no_rule(self, f):
        assert rrule(f, np.ones(2), float, flavour="sweet") is None


@pytest.mark.parametrize("f", [np.ndarray.astype, np.astype], ids=["method", "function"])
def test_complex_numbers_made_real_lose_the_cotangent_of_the_imaginary_part(f):
    z = np.array([1 + 2j, 3 - 1j])
    with pytest.warns(np.exceptions.ComplexWarning):
        y, pullback = pullback_of(f, z, float)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the warning is NumPy's, for the primal, and comes once
        np.testing.assert_array_equal(pullback(np.array([5.0, 6.0])), np.array([5 + 0j, 6 + 0j]), strict=True)
    with pytest.warns(np.exceptions.ComplexWarning):
        _, dy = frule((NoTangent(), z, NoTangent()), f, z, float)
    np.testing.assert_array_equal(dy, y, strict=True)


def test_only_a_conversion_that_returns_its_argument_gives_an_alias():
    x = np.ones(2)
    assert rrule(np.asarray, x)[0] is x
    assert rrule(np.ndarray.astype, x, float, copy=False)[0] is x
    assert not np.shares_memory(rrule(np.ndarray.astype, x, float)[0], x)
    assert not np.shares_memory(rrule(np.copy, x)[0], x)


def test_each_array_of_a_list_gets_its_row():
    y, pullback = pullback_of(np.array, [np.array([1.0, 2.0]), [3.0, 4]])
    assert y.tolist() == [[1, 2], [3, 4]]
    bar = pullback(np.array([[10.0, 20.0], [30.0, 40.0]]))
    assert isinstance(bar, Tangent)
    np.testing.assert_array_equal(bar[0], [10, 20])
    assert bar[1][0] == 30
    assert bar[1][1] is NoTangent()


def test_new_axes_are_taken_away_from_the_cotangent():
    y, pullback = pullback_of(np.array, np.ones(2), ndmin=3)
    assert y.shape == (1, 1, 2)
    np.testing.assert_array_equal(pullback(np.array([[[3.0, 4.0]]])), np.array([3.0, 4.0]), strict=True)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__qualname__)
def test_a_zero_cotangent_stays_a_zero(f):
    args = (np.ones(2), float) if f in (np.astype, np.ndarray.astype) else (np.ones(2),)
    assert pullback_of(f, *args)[1](ZeroTangent()) is ZeroTangent()


def test_the_memory_layout_is_the_one_asked_for():
    x = np.ones((2, 3))
    assert rrule(np.copy, x, "F")[0].flags.f_contiguous
    assert rrule(np.asfortranarray, x)[0].flags.f_contiguous
    assert rrule(np.ascontiguousarray, x.T)[0].flags.c_contiguous


# ---------------------------------------------------------------- conversions with a condition


def test_what_is_not_finite_is_refused_as_numpy_refuses_it():
    x = np.array([1.0, np.nan])
    with pytest.raises(ValueError, match="must not contain infs or NaNs"):
        rrule(np.asarray_chkfinite, x)
    with pytest.raises(ValueError, match="must not contain infs or NaNs"):
        frule((NoTangent(), x), np.asarray_chkfinite, x)


def test_a_requirement_that_holds_already_gives_the_array_itself():
    x = np.ones((2, 3))
    assert rrule(np.require, x, None, "C")[0] is x
    y, pullback = rrule(np.require, x, np.float32, ["F", "W"])
    assert y.flags.f_contiguous
    assert pullback(np.ones((2, 3), np.float32))[1].dtype == np.float64


def test_conversions_that_numpy_hands_over_to_nobody_are_differentiated_as_primitives():
    x = np.array([1.0, 2.0])
    for f in (np.asarray_chkfinite, np.require):
        convert = primitive(f)
        np.testing.assert_array_equal(hessian(lambda x, f=convert: np.sum(f(x) ** 3))(x), np.diag([6.0, 12.0]))
    found = grad(lambda x: np.sum(np.require(x, None, "C", like=x) ** 2))(x)
    assert found.tolist() == [2, 4]


def test_numbers_that_are_real_if_close_get_real_cotangents():
    z = np.array([1.0, 2.0]) + 1e-16j
    y, pullback = rrule(np.real_if_close, z)
    assert y.dtype == float
    zbar = pullback(np.array([3.0, 4.0]))[1]
    assert zbar.dtype == complex
    assert zbar.tolist() == [3, 4]
    y, pullback = rrule(np.real_if_close, 1j * z)
    assert pullback(np.array([3j, 4.0]))[1].tolist() == [3j, 4]
    dy = frule((NoTangent(), np.array([1 + 5j, 2.0])), np.real_if_close, z)[1]
    assert dy.dtype == float
    assert dy.tolist() == [1, 2]


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="a new keyword")
def test_a_limited_number_of_axes():
    y, pullback = rrule(np.array, [[1.0, 2.0], [3.0, 4.0]], ndmax=2)
    assert y.shape == (2, 2)
    assert [row[1] for row in pullback(y)[1]] == [2, 4]
