"""What the rules of flipping, rolling, tiling and repeating answer, against the transposed matrix of the map."""

import numpy as np
import pytest

from rulescore import NoTangent, ZeroTangent, frule, rrule
from testutils.sampling import samples_of
from testutils.testers import check_rule, check_sample

FUNCTIONS = [f for f in rrule if any(r.module == "rules.numpy.rearranging" for r in rrule.records(f))]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_rules_agree_with_finite_differences(f):
    samples = samples_of(f, seed=1)
    assert samples
    for sample in samples:
        report = check_sample(f, sample)
        assert report.verdict == "pass", str(report)


def transposed(f, ybar, shape):
    """The cotangent of the argument of a linear ``f``: its matrix, column by column, transposed and times ȳ."""
    columns = [f(e.reshape(shape)) for e in np.eye(int(np.prod(shape)))]
    return np.reshape([np.sum(column * ybar) for column in columns], shape)


CALLS = [
    (np.flip, (2, 3), (), {}),
    (np.flip, (2, 3, 2), ((0, -1),), {}),
    (np.rot90, (2, 3, 2), (3,), {"axes": (2, 0)}),
    (np.roll, (3, 4), ((1, -2),), {"axis": (0, 1)}),
    (np.roll, (3, 4), ((1, 2),), {"axis": (0, 0)}),
    (np.roll, (3, 4), (np.uint8(3),), {}),
    (np.rollaxis, (2, 3, 4), (2, 1), {}),
    (np.rollaxis, (2, 3, 4), (0, 2), {}),
    (np.rollaxis, (2, 3, 4), (-1,), {"start": -2}),
    (np.tile, (2, 3), ((2, 1, 2),), {}),
    (np.tile, (2, 3, 1), (2,), {}),
    (np.repeat, (2, 3), (2,), {"axis": -1}),
    (np.repeat, (2, 3), ([0, 3, 1],), {"axis": 1}),
    (np.repeat, (2, 3), ([1, 0, 2, 0, 3, 1],), {}),
]


@pytest.mark.parametrize(("f", "shape", "args", "kwargs"), CALLS)
def test_pullback_is_the_transposed_matrix(f, shape, args, kwargs):
    y, pullback = rrule(f, np.ones(shape), *args, **kwargs)
    ybar = np.random.default_rng(0).standard_normal(y.shape)
    wanted = transposed(lambda x: f(x, *args, **kwargs), ybar, shape)
    np.testing.assert_allclose(pullback(ybar)[1], wanted, atol=1e-14)


@pytest.mark.parametrize(("f", "shape", "args", "kwargs"), CALLS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.complex64, np.longdouble])
def test_precision_is_kept_both_ways(f, shape, args, kwargs, dtype):
    x = np.ones(shape, dtype)
    y, pullback = rrule(f, x, *args, **kwargs)
    assert pullback(np.ones_like(y))[1].dtype == dtype
    _, dy = frule((NoTangent(), x, *[NoTangent()] * len(args)), f, x, *args, **kwargs)
    assert dy.dtype == dtype
    assert dy.shape == y.shape


def test_an_element_that_is_repeated_gets_the_sum_and_one_that_is_left_out_zero():
    _, pullback = rrule(np.repeat, np.array([5.0, 6.0, 7.0]), [2, 0, 3])
    np.testing.assert_array_equal(pullback(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))[1], [3, 0, 12])


@pytest.mark.parametrize("repeats", [2, np.array([3])], ids=["number", "array"])
@pytest.mark.parametrize("axis", [0, -1])
def test_a_number_is_repeated_along_the_axes_that_numpy_grants_it(repeats, axis):
    assert check_rule(np.repeat, np.array(1.5), repeats, fkwargs={"axis": axis}).verdict == "pass"


def test_tiles_of_no_number_at_all():
    y, pullback = rrule(np.tile, np.ones((2, 3)), (0, 2))
    np.testing.assert_array_equal(pullback(np.ones_like(y))[1], np.zeros((2, 3)))


def test_unsigned_numbers_of_turns_and_places():
    _, pullback = rrule(np.rot90, np.zeros((2, 2)), np.uint8(1))
    np.testing.assert_array_equal(pullback(np.rot90([[1.0, 2.0], [3.0, 4.0]], 1))[1], [[1, 2], [3, 4]])
    _, pullback = rrule(np.roll, np.zeros(3), np.uint8(1))
    np.testing.assert_array_equal(pullback(np.array([1.0, 2.0, 3.0]))[1], [2, 3, 1])


def test_the_method_repeat_has_the_rule():
    x = np.array([1.0, 2.0])
    _, pullback = rrule(x.repeat, [1, 2])
    assert pullback is not None
    _, pullback = rrule(np.ndarray.repeat, x, [1, 2])
    np.testing.assert_array_equal(pullback(np.array([1.0, 2.0, 3.0]))[1], [1, 5])


@pytest.mark.parametrize("f", [np.atleast_1d, np.atleast_2d, np.atleast_3d])
def test_atleast_of_several_takes_one_cotangent_for_each(f):
    y, pullback = rrule(f, 1.5, np.ones(3, np.float32), np.arange(2), np.ones((2, 3)))
    ybar = (np.full_like(y[0], 2), ZeroTangent(), NoTangent(), 3 * np.ones_like(y[3]))
    fbar, number, vector, integers, matrix = pullback(ybar)
    assert fbar is NoTangent()
    assert number == 2
    assert np.ndim(number) == 0
    assert vector is ZeroTangent()
    assert integers is NoTangent()
    np.testing.assert_array_equal(matrix, np.full((2, 3), 3))


@pytest.mark.parametrize("f", [np.atleast_1d, np.atleast_2d, np.atleast_3d])
def test_atleast_of_one_and_of_none(f):
    y, pullback = rrule(f, np.ones(3, np.float32))
    np.testing.assert_array_equal(pullback(2 * np.ones_like(y))[1], np.full(3, 2, np.float32), strict=True)
    assert rrule(f)[0] == ()
    assert rrule(f)[1](()) == (NoTangent(),)
    assert rrule(f, 1.0, 2.0)[1](ZeroTangent()) == (NoTangent(), ZeroTangent(), ZeroTangent())


@pytest.mark.parametrize(
    ("f", "args"), [(np.flip, ()), (np.roll, (1,)), (np.tile, (2,)), (np.repeat, (2,)), (np.rot90, ()), (np.fliplr, ())]
)
def test_unknown_keyword_has_no_rule(f, args):
    assert rrule(f, np.ones((2, 2)), *args) is not None
    assert rrule(f, np.ones((2, 2)), *args, like=None) is None
    assert frule((NoTangent(), 1.0, *[NoTangent()] * len(args)), f, np.ones((2, 2)), *args, like=None) is None
