"""The rule of sinc against mpmath, from 0 to far away."""

import mpmath
import numpy as np
import pytest

from rulescore import NoTangent, frule, rrule, unthunk
from testutils.samples.sampling import samples_of
from testutils.testers import check_sample


def derivative(x):
    _, pullback = rrule(np.sinc, x)
    return unthunk(pullback(np.ones_like(x))[1])


def exactly(x):
    with mpmath.workdps(150):
        t = mpmath.mpmathify(complex(x) if np.iscomplexobj(x) else float(x)) * mpmath.pi
        return mpmath.pi * (t * mpmath.cos(t) - mpmath.sin(t)) / t**2


def test_rule_agrees_with_finite_differences():
    for sample in samples_of(np.sinc, seed=1):
        report = check_sample(np.sinc, sample)
        assert report.verdict == "pass", str(report)


@pytest.mark.parametrize("zero", [0.0, np.float32(0), np.array([0.0, -0.0]), 0j], ids=repr)
def test_derivative_at_zero_is_zero(zero):
    assert not np.any(derivative(zero))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_derivative_near_zero_is_accurate_to_the_last_digits(dtype):
    # Without a series, the relative error is eps / x².
    x = np.array([1e-30, 1e-12, 1e-8, 1e-5, 1e-3, 0.01, 0.1, 0.2, 0.29, 0.3, 0.31, 0.4, 0.5, 0.9], dtype)
    found, wanted = derivative(x), np.array([exactly(value) for value in x], float)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, wanted, rtol=16 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(derivative(-x), -found)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_derivative_far_away_is_accurate_relative_to_its_amplitude(dtype):
    x = np.array([1.0, 1.5, 2.0, 17.25, 1000.5, 12345.0], dtype)
    wanted = np.array([exactly(value) for value in x], float)
    assert np.max(np.abs(derivative(x) - wanted) * x) < 8 * np.finfo(dtype).eps


def test_derivative_of_complex_numbers():
    z = np.array([1e-9j, 1e-4 + 1e-4j, 0.2 - 0.2j, 0.3j, 1 + 2j, 7.3 - 0.5j])
    wanted = np.array([complex(exactly(value)) for value in z])
    np.testing.assert_allclose(frule((NoTangent(), np.ones(6, complex)), np.sinc, z)[1], wanted, rtol=1e-13)
    np.testing.assert_allclose(derivative(z), wanted.conj(), rtol=1e-13)


def test_longdouble_stays_so():
    x = np.array([0.0, 0.25, 2.0], np.longdouble)
    assert derivative(x).dtype == np.longdouble
