"""What the rules of sets of elements answer, exactly: of equal elements the first one takes the cotangent."""

import numpy as np
import pytest

from rulescore import NoTangent, Tangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, hessian, jvp

NO = NoTangent()
X = np.array([3.0, 1.0, 2.0, 1.0])


def cotangents(f, *args, ybar, **kwargs):
    _, pullback = rrule(f, *args, **kwargs)
    return [unthunk(bar) for bar in pullback(ybar)[1:]]


def test_the_first_of_equal_elements_takes_the_whole_cotangent():
    assert cotangents(np.unique, X, ybar=np.array([1.0, 2.0, 4.0]))[0].tolist() == [4, 1, 2, 0]
    y, dy = frule((NO, np.array([1.0, 2.0, 4.0, 8.0])), np.unique, X)
    assert (y.tolist(), dy.tolist()) == ([1, 2, 3], [2, 4, 1])


def test_the_gradient_of_unique_elements_is_not_zero():
    # Zero, silently, in JAX.
    assert grad(lambda x: np.sum(np.unique(x) ** 2))(X).tolist() == [6, 2, 4, 0]
    np.testing.assert_array_equal(hessian(lambda x: np.sum(np.unique(x) ** 3))(X), np.diag([18.0, 6, 12, 0]))


def test_the_first_of_equal_rows_takes_the_whole_cotangent():
    rows = np.array([[2.0, 1.0], [0.5, 3.0], [2.0, 1.0]])
    assert cotangents(np.unique, rows, axis=0, ybar=np.array([[1.0, 2.0], [4.0, 8.0]]))[0].tolist() == [
        [4, 8],
        [1, 2],
        [0, 0],
    ]


FLAGS = [{}, {"return_index": True}, {"return_inverse": True, "return_counts": True}, {"return_counts": True}]


@pytest.mark.parametrize("options", [*FLAGS, {"return_index": True, "return_inverse": True, "return_counts": True}])
@pytest.mark.parametrize("more", [{}, {"axis": 0}, {"equal_nan": False}, {"sorted": False}])
def test_outputs_are_those_of_numpy(options, more):
    x = np.array([3.0, np.nan, 2.0, 3.0, np.nan, -1.0])
    if "sorted" in more and np.lib.NumpyVersion(np.__version__) < "2.3.0":
        pytest.skip("later versions of NumPy")
    expected = np.unique(x, **options, **more)
    y, pullback = rrule(np.unique, x, **options, **more)
    is_tuple = isinstance(expected, tuple)
    assert isinstance(y, tuple) is is_tuple
    for ours, theirs in zip(y if is_tuple else [y], expected if is_tuple else [expected], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    values = y[0] if is_tuple else y
    ybar = np.where(values == 3, 5.0, 0.0)
    bars = pullback((ybar, *[ZeroTangent()] * (len(y) - 1)) if is_tuple else ybar)
    assert unthunk(bars[1]).tolist() == [5, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("f", [np.unique_all, np.unique_counts, np.unique_inverse])
def test_named_outputs_have_structural_tangents(f):
    y, dy = frule((NO, np.array([1.0, 2.0, 4.0, 8.0])), f, X)
    assert type(y) is type(f(X))
    for ours, theirs in zip(y, f(X), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert isinstance(dy, Tangent)
    assert dy.values.tolist() == [2, 4, 1]
    ybar = Tangent(type(y), np.array([1.0, 2.0, 4.0]))
    assert cotangents(f, X, ybar=ybar)[0].tolist() == [4, 1, 2, 0]
    assert grad(lambda x: np.sum(f(x).values ** 2))(X).tolist() == [6, 2, 4, 0]


def test_unique_values_in_whatever_order_numpy_has_them():
    z = np.array([1 + 2j, 3j, 1 + 2j, -1.0])
    y, pullback = rrule(np.unique_values, z)
    np.testing.assert_array_equal(y, np.unique_values(z))
    zbar = unthunk(pullback(np.conj(y))[1])
    np.testing.assert_array_equal(zbar, [1 - 2j, -3j, 0, -1])


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_precision_is_kept_both_ways(dtype):
    x = X.astype(dtype)
    y, pullback = rrule(np.unique, x)
    assert unthunk(pullback(np.ones_like(y))[1]).dtype == dtype
    assert frule((NO, x), np.unique, x)[1].dtype == dtype


def test_integers_have_no_derivative():
    y, dy = frule((NO, NO, NO), np.unique, np.array([3, 1, 3]), True)
    assert y[0].tolist() == [1, 3]
    assert dy is NO
    assert rrule(np.union1d, np.array([1]), np.array([2]))[1](np.ones(2))[1:] == (NO, NO)


# ---------------------------------------------------------------- set operations

A, B = np.array([[3.0, 1.0], [2.0, 1.0]]), np.array([2.0, 7.0, 2.0])


def test_elements_of_both_arrays_are_those_of_the_first():
    bars = cotangents(np.union1d, A, B, ybar=np.array([1.0, 2.0, 4.0, 8.0]))
    assert [bar.tolist() for bar in bars] == [[[4, 1], [2, 0]], [0, 8, 0]]
    abar, bbar = cotangents(np.intersect1d, A, B, ybar=np.array([5.0]))
    assert abar.tolist() == [[0, 0], [5, 0]]
    assert bbar is ZeroTangent()


def test_differences_have_the_elements_that_are_left():
    bars = cotangents(np.setdiff1d, A, B, ybar=np.array([1.0, 2.0]))
    assert [np.asarray(bar).tolist() for bar in bars] == [[[2, 1], [0, 0]], [0, 0, 0]]
    bars = cotangents(np.setxor1d, A, B, ybar=np.array([1.0, 2.0, 4.0]))
    assert [bar.tolist() for bar in bars] == [[[2, 1], [0, 0]], [0, 4, 0]]


def test_what_is_said_to_be_unique_is_not_made_so():
    a = np.array([1.0, 5.0, 1.0])
    assert cotangents(np.setdiff1d, a, B, True, ybar=np.array([1.0, 2.0, 4.0]))[0].tolist() == [1, 2, 4]


@pytest.mark.parametrize("assume_unique", [False, True])
@pytest.mark.parametrize("f", [np.union1d, np.intersect1d, np.setdiff1d, np.setxor1d])
def test_values_are_those_of_numpy(f, assume_unique):
    a, b = np.array([3.0, np.nan, 1.0, 2.0]), np.array([2.0, 7.0, np.nan])
    options = {} if f is np.union1d else {"assume_unique": assume_unique}
    np.testing.assert_array_equal(rrule(f, a, b, **options)[0], f(a, b, **options))
    np.testing.assert_array_equal(rrule(f, a, [], **options)[0], f(a, [], **options))


def test_indices_of_common_elements_are_returned_beside_them():
    (y, ia, ib), pullback = rrule(np.intersect1d, A, B, return_indices=True)
    assert (y.tolist(), ia.tolist(), ib.tolist()) == ([2], [2], [0])
    assert unthunk(pullback((np.array([5.0]), NO, NO))[1]).tolist() == [[0, 0], [5, 0]]
    assert grad(lambda a: np.sum(np.intersect1d(a, B, return_indices=True)[0] ** 2))(A).tolist() == [[0, 0], [4, 0]]


@pytest.mark.parametrize("f", [np.union1d, np.intersect1d, np.setdiff1d, np.setxor1d])
def test_both_modes_agree_through_the_ad_to_second_order(f):
    def loss(a):
        return np.sum(f(a, 2 * a[0]) ** 3)

    a = np.array([1.0, 4.0, 2.0, 1.0])
    np.testing.assert_allclose(jvp(loss, (a,), (a,))[1], np.sum(grad(loss)(a) * a))
    assert np.any(grad(loss)(a))
    np.testing.assert_allclose(hessian(loss)(a), hessian(loss)(a).T)
