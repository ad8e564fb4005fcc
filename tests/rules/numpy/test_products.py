"""The rules of the products: hand-countable values, what is computed and kept, and how they are reached."""

import gc
import operator
import weakref

import numpy as np
import pytest

from rulescore import NoTangent, Thunk, ZeroTangent, frule, rrule, unthunk
from testutils.samples.sampling import samples_of
from testutils.testers import check_sample

FUNCTIONS = [np.matmul, np.dot, np.inner, np.vdot, np.vecdot]
FUNCTIONS += [np.matvec, np.vecmat] if hasattr(np, "matvec") else []
EACH = pytest.mark.parametrize("f", FUNCTIONS)


class Array(np.ndarray):
    """An ndarray that can be referred to weakly."""


def cotangents(f, a, b, ybar=1.0, **keywords):
    _, pullback = rrule(f, a, b, **keywords)
    return [unthunk(bar) for bar in pullback(ybar)[1:]]


@EACH
def test_rules_agree_with_finite_differences(f):
    for sample in samples_of(f, seed=1):
        report = check_sample(f, sample)
        assert report.verdict == "pass", str(report)


def test_matrix_times_matrix():
    a, b = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0], [7.0, 8.0]])
    abar, bbar = cotangents(np.matmul, a, b, np.array([[1.0, 0.0], [0.0, 10.0]]))
    assert abar.tolist() == [[5, 7], [60, 80]]
    assert bbar.tolist() == [[1, 30], [2, 40]]


def test_one_vector_times_a_stack_of_matrices_sums_over_the_stack():
    abar, _ = cotangents(np.matmul, np.ones(3), np.ones((2, 3, 2)), np.ones((2, 2)))
    assert abar.tolist() == [4, 4, 4]


def test_real_and_complex_factors_are_conjugated_and_projected():
    abar, bbar = cotangents(np.dot, np.array([1.0, 2.0]), np.array([1j, 3 + 1j]), 1 + 1j)
    assert abar.tolist() == [1, 4]  # Re(ȳ conj(b))
    assert bbar.tolist() == [1 + 1j, 2 + 2j]


def test_vecdot_and_vdot_conjugate_their_first_factor():
    a, b = np.array([1j, 2.0]), np.array([3.0, 4j])
    for f in (np.vecdot, np.vdot):
        abar, bbar = cotangents(f, a, b, 1j)
        assert abar.tolist() == [-3j, 4]  # conj(ȳ) b
        assert bbar.tolist() == [-1, 2j]  # ȳ a


def test_dot_with_a_number():
    abar, bbar = cotangents(np.dot, 2.0, np.array([3.0, 4.0]), np.array([1.0, 10.0]))
    assert abar == 43
    assert isinstance(abar, float)
    assert bbar.tolist() == [2, 20]


def test_products_over_nothing_give_zeros():
    abar, bbar = cotangents(np.matmul, np.zeros((0, 3)), np.ones((3, 2)), np.zeros((0, 2)))
    assert abar.shape == (0, 3)
    assert bbar.tolist() == [[0, 0]] * 3


@EACH
def test_precision_is_that_of_each_factor(f):
    a, b = np.ones((2, 2), np.float32), np.ones((2, 2))
    y, pullback = rrule(f, a, b)
    abar, bbar = (unthunk(bar) for bar in pullback(np.ones_like(y))[1:])
    assert (y.dtype, abar.dtype, bbar.dtype) == (np.float64, np.float32, np.float64)


@EACH
def test_an_integer_factor_has_no_tangent_and_the_other_factor_is_not_kept(f):
    a, b = np.ones((2, 2)).view(Array), np.ones((2, 2), int)
    alive = weakref.ref(a)
    y, pullback = rrule(f, a, b)
    del a
    gc.collect()
    abar, bbar = pullback(np.ones_like(y))[1:]
    assert bbar is NoTangent()
    assert unthunk(abar).shape == (2, 2)
    assert alive() is None
    assert frule((NoTangent(), ZeroTangent(), NoTangent()), f, np.ones((2, 2)), b)[1] is ZeroTangent()


@EACH
def test_a_cotangent_that_is_not_needed_is_not_computed_and_keeps_nothing(f):
    a, b = np.ones((2, 2)).view(Array), np.ones((2, 2))
    alive = weakref.ref(a)
    y, pullback = rrule.call(f, (a, b), needs=(True, False))
    del a
    gc.collect()
    assert alive() is None
    abar, bbar = pullback(np.ones_like(y))[1:]
    assert bbar is NoTangent()
    assert unthunk(abar).shape == (2, 2)


@EACH
def test_cotangents_are_computed_only_when_they_are_looked_at(f):
    y, pullback = rrule(f, np.ones((2, 2)), np.ones((2, 2)))
    assert all(isinstance(bar, Thunk) for bar in pullback(np.ones_like(y))[1:])


@EACH
def test_a_call_with_out_or_with_an_unknown_keyword_has_no_rule(f):
    a = np.ones((2, 2))
    assert rrule(f, a, a, flavour="sweet") is None
    assert rrule(f, a, a, out=np.zeros((2, 2))) is None
    assert rrule(f, a, a, np.zeros((2, 2))) is None


def test_matmul_with_axes_has_no_rule_and_vecdot_with_axis_has():
    a = np.ones((2, 2))
    assert rrule(np.matmul, a, a, axes=[(0, 1), (0, 1), (0, 1)]) is None
    assert rrule(np.vecdot, a, a, axis=0) is not None


def test_aliases():
    a, b = np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]])
    for f in (operator.matmul, np.ndarray.dot):
        assert [bar.tolist() for bar in cotangents(f, a, b, np.ones((1, 1)))] == [[[3, 4]], [[1], [2]]]
    _, pullback = rrule(a.dot, b)
    fbar, bbar = pullback(np.ones((1, 1)))
    assert fbar["__self__"].tolist() == [[3, 4]]
    assert unthunk(bbar).tolist() == [[1], [2]]
    assert [float(bar) for bar in cotangents(np.dot, a=2.0, b=3.0)] == [3, 2]


@EACH
def test_the_pullback_leaves_factors_and_cotangent_alone(f):
    a, b = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0], [7.0, 8.0]])
    y, pullback = rrule(f, a, b)
    ybar = np.ones_like(y)
    for bar in pullback(ybar)[1:]:
        assert not np.shares_memory(unthunk(bar), a)
        assert not np.shares_memory(unthunk(bar), b)
    assert np.all(ybar == 1)
    assert a.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("f", [np.matmul, np.dot, np.kron])
def test_a_zero_cotangent_stays_a_zero(f):
    _, pullback = rrule(f, np.ones((2, 2)), np.ones((2, 2)))
    assert pullback(ZeroTangent()) == (NoTangent(), ZeroTangent(), ZeroTangent())
