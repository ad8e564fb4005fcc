"""The rules of where: what stands in the branch not taken has no influence at all."""

import gc
import weakref

import numpy as np
import pytest

from rulescore import NoTangent, Tangent, Thunk, ZeroTangent, frule, rrule, unthunk
from testutils.samples.sampling import samples_of
from testutils.testers import check_sample


def cotangents(condition, x, y, ybar):
    return [unthunk(bar) for bar in rrule(np.where, condition, x, y)[1](ybar)[1:]]


def test_rules_agree_with_finite_differences():
    for sample in samples_of(np.where, seed=1):
        report = check_sample(np.where, sample)
        assert report.verdict == "pass", str(report)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_cotangent_of_the_branch_not_taken_is_exactly_zero(bad):
    condition = np.array([True, False])
    _, xbar, ybar = cotangents(condition, np.array([1.0, bad]), np.array([bad, 2.0]), np.array([bad, 3.0]))
    np.testing.assert_array_equal(xbar, [bad, 0])
    np.testing.assert_array_equal(ybar, [0, 3])
    assert not np.signbit(ybar[0])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_tangent_of_the_branch_not_taken_does_not_show(bad):
    condition, x = np.array([True, False]), np.ones(2)
    tangents = (NoTangent(), NoTangent(), np.array([1.0, bad]), np.array([bad, 2.0]))
    assert frule(tangents, np.where, condition, x, x)[1].tolist() == [1, 2]


def test_broadcast_branches_are_summed_over():
    condition = np.array([[True, False], [True, True]])
    none, xbar, ybar = cotangents(condition, np.zeros((2, 1)), 0.5, np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert none is NoTangent()
    assert xbar.tolist() == [[1], [7]]
    assert ybar == 2
    assert isinstance(ybar, float)


def test_a_tangent_of_one_branch_has_the_full_shape():
    tangents = (NoTangent(), NoTangent(), 1.0, ZeroTangent())
    _, dy = frule(tangents, np.where, True, 2.0, np.zeros((2, 3), np.float32))
    assert dy.shape == (2, 3)
    assert np.all(dy == 1)


def test_no_tangent_at_all():
    tangents = (NoTangent(), NoTangent(), ZeroTangent(), NoTangent())
    assert isinstance(frule(tangents, np.where, True, 2.0, 3)[1], (ZeroTangent, NoTangent))


def test_precision_is_that_of_each_branch():
    condition = np.array([True, False])
    _, xbar, ybar = cotangents(condition, np.ones(2, np.float32), np.ones(2, complex), np.array([1j, 2j]))
    assert (xbar.dtype, ybar.dtype) == (np.float32, np.complex128)
    assert xbar.tolist() == [0, 0]


def test_the_branches_are_not_kept_alive_and_cotangents_are_delayed():
    class Array(np.ndarray):
        """An ndarray that can be referred to weakly."""

    x = np.ones(2).view(Array)
    alive = weakref.ref(x)
    _, pullback = rrule(np.where, np.array([True, False]), x, np.zeros(2))
    del x
    gc.collect()
    assert alive() is None
    assert all(isinstance(bar, Thunk) for bar in pullback(np.ones(2))[2:])


def test_a_branch_that_is_not_needed():
    _, pullback = rrule.call(np.where, (np.array([True]), np.ones(1), np.ones(1)), needs=(False, True, False))
    bars = pullback(np.ones(1))
    assert unthunk(bars[2]).tolist() == [1]
    assert bars[3:] in ((), (NoTangent(),))


def test_the_condition_alone_gives_indices():
    indices, pullback = rrule(np.where, np.array([0.0, 1.0]))
    assert indices[0].tolist() == [1]
    assert pullback((NoTangent(),)) == (NoTangent(),)
    assert frule((NoTangent(), np.ones(2)), np.where, np.array([0.0, 1.0]))[1] is NoTangent()


def test_integer_branches_have_no_tangent():
    _, xbar, ybar = cotangents(np.array([True, False]), np.array([1, 2]), np.array([0.5, 1.5]), np.array([1.0, 2.0]))
    assert xbar is NoTangent()
    assert ybar.tolist() == [0, 2]


def test_an_unknown_keyword_has_no_rule():
    assert rrule(np.where, np.array([True]), 1.0, 2.0, flavour="sweet") is None


# ---------------------------------------------------------------- trim_zeros


def test_zeros_that_are_left_out_get_zero_and_zeros_that_stay_their_part():
    x = np.array([0.0, 0.0, 1.5, 0.0, -2.5, 0.0])
    ybar = np.array([1.0, 2.0, 4.0])
    assert rrule(np.trim_zeros, x)[1](ybar)[1].tolist() == [0, 0, 1, 2, 4, 0]
    assert rrule(np.trim_zeros, x, "F")[1](np.arange(1.0, 5.0))[1].tolist() == [0, 0, 1, 2, 3, 4]
    assert rrule(np.trim_zeros, x, trim="b")[1](np.arange(1.0, 6.0))[1].tolist() == [1, 2, 3, 4, 5, 0]
    dy = frule((NoTangent(), np.arange(6.0)), np.trim_zeros, x)[1]
    assert dy.tolist() == [2, 3, 4]


def test_nothing_is_left_of_zeros():
    y, pullback = rrule(np.trim_zeros, np.zeros(3))
    assert y.shape == (0,)
    assert pullback(np.zeros(0))[1].tolist() == [0, 0, 0]


def test_of_a_list_zeros_are_trimmed_to_a_list():
    y, pullback = rrule(np.trim_zeros, [0.0, 1.5, 2.5])
    assert y == [1.5, 2.5]
    xbar = pullback(Tangent(list, 3.0, 4.0))[1]
    assert [xbar[i] for i in range(3)] == [0, 3, 4]


SEVERAL_AXES = pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="NumPy trims one axis or all")


@pytest.mark.parametrize(
    "axis", [None, 0, -1, pytest.param((0, 1), marks=SEVERAL_AXES), pytest.param((), marks=SEVERAL_AXES)]
)
@pytest.mark.parametrize("trim", ["fb", "f", "b"])
def test_matrices_are_trimmed_along_axes(axis, trim):
    x = np.zeros((4, 5))
    x[1:3, 2:4] = [[1.0, 0.0], [2.0, 3.0]]
    y, pullback = rrule(np.trim_zeros, x, trim, axis)
    np.testing.assert_array_equal(y, np.trim_zeros(x, trim, axis))
    np.testing.assert_array_equal(pullback(y)[1], x)
    np.testing.assert_array_equal(frule((NoTangent(), x, NoTangent(), NoTangent()), np.trim_zeros, x, trim, axis)[1], y)
