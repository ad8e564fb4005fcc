"""What the rules of diagonals, traces and triangles answer, against masks written out."""

import itertools

import numpy as np
import pytest

from rulescore import NoTangent, ZeroTangent, frule, rrule
from testutils.samples.sampling import samples_of
from testutils.testers import check_sample

FUNCTIONS = [f for f in rrule if any(r.module == "rules.numpy.diagonals" for r in rrule.records(f))]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_rules_agree_with_finite_differences(f):
    samples = samples_of(f, seed=1)
    assert samples
    for sample in samples:
        report = check_sample(f, sample)
        assert report.verdict == "pass", str(report)


SHAPES = [(3, 3), (2, 4), (4, 2), (1, 3), (0, 3), (3, 0)]
OFFSETS = [0, 1, -1, 3, -3, 9, -9]
SHAPES_AND_OFFSETS = list(itertools.product(SHAPES, OFFSETS))


def on_diagonal(shape, offset):
    """Where column minus row is the offset."""
    rows, columns = np.indices(shape)
    return columns - rows == offset


@pytest.mark.parametrize(("shape", "offset"), SHAPES_AND_OFFSETS)
@pytest.mark.parametrize("f", [np.diag, np.diagonal])
def test_the_cotangent_of_a_diagonal_stands_on_it(f, shape, offset):
    y, pullback = rrule(f, np.ones(shape), offset)
    wanted = np.zeros(shape)
    wanted[on_diagonal(shape, offset)] = np.arange(1.0, 1 + y.size)
    np.testing.assert_array_equal(pullback(np.arange(1.0, 1 + y.size))[1], wanted)


@pytest.mark.parametrize(("shape", "offset"), SHAPES_AND_OFFSETS)
def test_the_cotangent_of_a_trace_is_a_multiple_of_the_diagonal(shape, offset):
    _, pullback = rrule(np.trace, np.ones(shape), offset)
    np.testing.assert_array_equal(pullback(2.5)[1], 2.5 * on_diagonal(shape, offset))


@pytest.mark.parametrize(("axis1", "axis2"), list(itertools.permutations(range(-3, 0), 2)))
def test_traces_and_diagonals_in_any_two_axes(axis1, axis2):
    a = np.ones((2, 3, 4))
    mask = np.moveaxis(np.zeros_like(a), (axis1, axis2), (-2, -1))
    mask[..., on_diagonal(mask.shape[1:], 1)] = 1
    wanted = np.moveaxis(mask, (-2, -1), (axis1, axis2))
    for f in (np.trace, np.diagonal):
        y, pullback = rrule(f, a, offset=1, axis1=axis1, axis2=axis2)
        np.testing.assert_array_equal(pullback(np.ones_like(y))[1], wanted)


def test_the_matrices_of_numpy_linalg_are_in_the_last_two_axes():
    x = np.ones((2, 3, 3))
    for f in (np.linalg.trace, np.linalg.diagonal):
        y, pullback = rrule(f, x)
        np.testing.assert_array_equal(pullback(np.ones_like(y))[1], np.stack([np.eye(3)] * 2))
    for f in (np.trace, np.diagonal):
        assert rrule(f, x)[0].shape[-1] == 3 - (f is np.diagonal)


@pytest.mark.parametrize("k", [0, 2, -1])
def test_diag_of_a_vector_and_diagflat_read_the_diagonal(k):
    y, pullback = rrule(np.diag, np.ones(3), k)
    ybar = np.arange(float(y.size)).reshape(y.shape)
    np.testing.assert_array_equal(pullback(ybar)[1], ybar[on_diagonal(y.shape, k)])
    y, pullback = rrule(np.diagflat, np.ones((2, 2)), k)
    ybar = np.arange(float(y.size)).reshape(y.shape)
    np.testing.assert_array_equal(pullback(ybar)[1], ybar[on_diagonal(y.shape, k)].reshape(2, 2))


@pytest.mark.parametrize(("shape", "k"), SHAPES_AND_OFFSETS)
def test_triangles_keep_the_cotangent_on_their_side_of_the_diagonal(shape, k):
    rows, columns = np.indices(shape)
    for f, side in ((np.tril, columns - rows <= k), (np.triu, columns - rows >= k)):
        _, pullback = rrule(f, np.ones(shape), k)
        np.testing.assert_array_equal(pullback(np.full(shape, 3.0))[1], 3.0 * side)


def test_a_nan_outside_of_a_triangle_stays_out():
    _, pullback = rrule(np.tril, np.ones((2, 2)))
    np.testing.assert_array_equal(pullback(np.array([[1.0, np.nan], [1.0, 1.0]]))[1], [[1, 0], [1, 1]])


def test_a_triangle_made_of_a_vector_sums_over_its_copies():
    y, pullback = rrule(np.tril, np.ones(3))
    assert y.shape == (3, 3)
    np.testing.assert_array_equal(pullback(np.ones((3, 3)))[1], [3, 2, 1])


@pytest.mark.parametrize("f", [np.diag, np.diagonal, np.trace, np.tril, np.linalg.trace])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.complex64])
def test_precision_is_kept_both_ways(f, dtype):
    x = np.ones((2, 3), dtype)
    y, pullback = rrule(f, x)
    assert pullback(np.ones_like(y))[1].dtype == dtype
    assert frule((NoTangent(), x), f, x)[1].dtype == y.dtype == dtype


def test_a_trace_in_another_precision():
    y, pullback = rrule(np.trace, np.ones((2, 2), np.float32), dtype=np.float64)
    assert y.dtype == np.float64
    assert pullback(np.float64(1))[1].dtype == np.float32
    assert rrule(np.trace, np.ones((2, 2)), 0, 0, 1, np.float32)[0].dtype == np.float32


def test_a_trace_of_integers_made_of_floats_has_no_tangent():
    _, dy = frule((NoTangent(), np.ones((2, 2))), np.trace, np.ones((2, 2)), dtype=int)
    assert dy is NoTangent()


@pytest.mark.parametrize("f", [np.diag, np.diagonal, np.trace, np.tril, np.triu, np.diagflat, np.linalg.diagonal])
def test_zero_in_gives_zero_out_and_unknown_keywords_no_rule(f):
    x = np.ones((2, 2))
    assert rrule(f, x)[1](ZeroTangent())[1] is ZeroTangent()
    assert rrule(f, x, out=np.ones(())) is None
    assert frule((NoTangent(), x), f, x, out=np.ones(())) is None


def test_the_methods_have_the_rules():
    x = np.ones((2, 2))
    for method in (np.ndarray.trace, np.ndarray.diagonal):
        y, pullback = rrule(method, x)
        np.testing.assert_array_equal(pullback(np.ones_like(y))[1], np.eye(2))
