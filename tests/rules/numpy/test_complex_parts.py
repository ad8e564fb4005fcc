"""The rules of real, imag and angle, also where the angle has no derivative."""

import cmath

import numpy as np
import pytest

from rulescore import AbstractZero, NoTangent, ZeroTangent, frule, rrule, unthunk
from testutils.samples.sampling import samples_of
from testutils.testers import check_sample

FUNCTIONS = [np.real, np.imag, np.angle]
BY_NAME = pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)


def cotangent(f, z, ybar=1.0, **keywords):
    _, pullback = rrule(f, z, **keywords)
    return unthunk(pullback(ybar)[1])


@BY_NAME
def test_rules_agree_with_finite_differences(f):
    for sample in samples_of(f, seed=1):
        report = check_sample(f, sample)
        assert report.verdict == "pass", str(report)


@BY_NAME
def test_an_unknown_keyword_has_no_rule(f):
    assert rrule(f, 1j, out=None) is None
    assert frule((NoTangent(), 1j), f, 1j, unknown=1) is None


@BY_NAME
def test_precision_is_kept(f):
    for dtype, real in ((np.complex64, np.float32), (np.clongdouble, np.longdouble)):
        z = np.array([1 + 1j, 2 - 1j], dtype)
        zbar = cotangent(f, z, np.ones(2, real))
        assert (zbar.dtype, zbar.shape) == (dtype, (2,))
        assert frule((NoTangent(), z), f, z)[1].dtype == real
    x = np.ones(2, np.float32)
    assert frule((NoTangent(), x), f, x)[1].dtype == np.float32
    assert isinstance(cotangent(f, 1 + 1j), complex)


def test_cotangents_are_derivatives_by_both_parts():
    z = np.array([1 + 2j])
    np.testing.assert_array_equal(cotangent(np.real, z, np.ones(1)), [1])
    np.testing.assert_array_equal(cotangent(np.imag, z, np.ones(1)), [1j])
    # φ = atan(y/x): ∂φ/∂x = -y/|z|², ∂φ/∂y = x/|z|².
    np.testing.assert_allclose(cotangent(np.angle, z, np.ones(1)), [-0.4 + 0.2j], rtol=1e-15)
    in_degrees = cotangent(np.angle, z, np.ones(1), deg=True)
    np.testing.assert_allclose(in_degrees, [np.rad2deg(-0.4) + 1j * np.rad2deg(0.2)], rtol=1e-15)


def test_real_part_of_real_numbers_is_the_argument_itself():
    x, ybar = np.ones(2), np.ones(2)
    y, pullback = rrule(np.real, x)
    assert y is x
    assert pullback(ybar)[1] is ybar


def test_real_numbers_have_no_imaginary_part_and_no_angle_to_change():
    for x in (np.array([-1.0, 2.0]), 1.5):
        assert cotangent(np.imag, x, np.ones_like(x)) is ZeroTangent()
        assert cotangent(np.angle, x, np.ones_like(x)) is ZeroTangent()
        assert not np.any(frule((NoTangent(), x), np.angle, x)[1])
        assert not np.any(frule((NoTangent(), x), np.imag, x)[1])


@pytest.mark.parametrize("z", [0j, complex(np.inf, 1), complex(-np.inf, np.inf)], ids=str)
def test_angle_is_flat_at_zero_and_at_infinity(z):
    z = np.array([z, 2.0])
    np.testing.assert_array_equal(cotangent(np.angle, z, np.ones(2)), [0, 0.5j])
    np.testing.assert_array_equal(frule((NoTangent(), np.array([1j, 1j])), np.angle, z)[1], [0, 0.5])


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_angle_of_huge_and_tiny_numbers(size):
    z = size * cmath.rect(1, 0.7)
    zbar = cotangent(np.angle, np.array([z]), np.ones(1))
    np.testing.assert_allclose(zbar, [cmath.rect(1, 0.7 + np.pi / 2) / size], rtol=1e-14)


def test_angle_of_nan_is_nan():
    assert np.isnan(cotangent(np.angle, np.array([complex(np.nan, 1)]), np.ones(1))[0])


@BY_NAME
def test_zeros_pass(f):
    assert isinstance(frule((NoTangent(), ZeroTangent()), f, 1j)[1], AbstractZero)
