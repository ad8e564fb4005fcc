"""What the rules of flipping, rolling, tiling and repeating answer, against the transposed matrix of the map."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from rulescore import NoTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import TracerConversionError, grad, hessian, primitive
from testutils.samples.sampling import samples_of
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


# ---------------------------------------------------------------- resize and windows


def cotangent(f, x, *args, ybar, **kwargs):
    return unthunk(rrule(f, x, *args, **kwargs)[1](np.asarray(ybar, float))[1])


@pytest.mark.parametrize("shape", [5, (2, 2), (3, 5), (0, 3)])
def test_elements_that_a_resized_array_begins_again_with_get_the_sum(shape):
    ybar = np.cos(np.arange(np.prod(shape), dtype=float)).reshape(shape)
    expected = transposed(lambda x: np.resize(x, shape), ybar, (2, 3))
    np.testing.assert_allclose(cotangent(np.resize, np.ones((2, 3)), shape, ybar=ybar), expected)


def test_an_array_resized_from_nothing_is_zero():
    assert cotangent(np.resize, np.zeros((0, 2)), (2, 2), ybar=np.ones((2, 2))).shape == (0, 2)


@pytest.mark.parametrize(("window", "axis"), [((2, 3), None), (2, 0), (4, -1), ((2, 2), (1, 1)), ((1, 2), (1, 0))])
def test_every_element_gets_the_sum_over_the_windows_it_is_in(window, axis):
    def windows(x):
        return sliding_window_view(x, window, axis)

    y = windows(np.ones((3, 4)))
    ybar = np.cos(np.arange(y.size, dtype=float)).reshape(y.shape)
    xbar = cotangent(sliding_window_view, np.ones((3, 4)), window, axis, ybar=ybar)
    np.testing.assert_allclose(xbar, transposed(windows, ybar, (3, 4)))


def test_windows_through_the_ad_to_second_order():
    x = np.array([1.0, 2.0, 3.0])
    h = hessian(lambda x: np.sum(np.prod(sliding_window_view(x, 2), axis=1)))(x)
    assert h.tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


STRIDED = [
    (lambda x: x, (3, 4), (8, 8)),
    (lambda x: x[::-1], (3, 2), (-16, -8)),
    (lambda x: x[::2], (2, 3), (0, 16)),
    (lambda x: x[::2], (2,), None),
    (lambda x: x.reshape(2, 3).T, (3, 2), (8, 8)),
    (lambda x: x.reshape(2, 3), (2, 2), None),
    (lambda x: x, (), ()),
]


@pytest.mark.parametrize(("view", "shape", "strides"), STRIDED)
def test_every_element_gets_the_sum_over_the_places_where_a_strided_view_shows_it(view, shape, strides):
    x = view(np.arange(1.0, 7.0))
    y, pullback = rrule(as_strided, x, shape, strides)
    np.testing.assert_array_equal(y, as_strided(x, shape, strides))
    ybar = np.cos(np.arange(y.size, dtype=float)).reshape(y.shape)
    expected = [np.sum(ybar[y == value]) for value in x.ravel()]
    np.testing.assert_allclose(unthunk(pullback(ybar)[1]), np.reshape(expected, x.shape))
    dy = frule((NoTangent(), np.copy(x), NoTangent(), NoTangent()), as_strided, x, shape, strides)[1]
    np.testing.assert_array_equal(dy, y)


def test_a_strided_view_beyond_the_array_is_refused():
    x = np.arange(10.0)[2:5]
    for strides in (-8, 16):
        with pytest.raises(ValueError, match="the array itself does not have"):
            rrule(as_strided, x, (3,), (strides,))


def test_strided_views_are_differentiated_where_they_are_called_as_primitives():
    x = np.array([1.0, 2.0, 3.0])
    windows = primitive(as_strided)
    assert grad(lambda x: np.sum(windows(x, (2, 2), (8, 8)) ** 2))(x).tolist() == [2, 8, 6]
    h = hessian(lambda x: np.sum(np.prod(windows(x, (2, 2), (8, 8)), axis=0)))(x)
    assert h.tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    with pytest.raises(TracerConversionError):
        grad(lambda x: np.sum(as_strided(x, (2, 2), (8, 8))))(x)
