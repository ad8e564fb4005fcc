"""The rules of what rearranges elements: every cotangent goes back to the place that its element came from."""

import gc
import weakref

import numpy as np
import pytest

from rulescore import NoTangent, Tangent, ZeroTangent, frule, rrule, unthunk
from testutils.samples.sampling import samples_of
from testutils.testers import check_sample

REARRANGING = {
    "transpose": np.transpose,
    "ndarray.transpose": np.ndarray.transpose,
    "matrix_transpose": np.matrix_transpose,
    "swapaxes": np.swapaxes,
    "moveaxis": np.moveaxis,
    "expand_dims": np.expand_dims,
    "squeeze": np.squeeze,
    "reshape": np.reshape,
    "ndarray.reshape": np.ndarray.reshape,
    "ravel": np.ravel,
    "flatten": np.ndarray.flatten,
}
FUNCTIONS = {**REARRANGING, "broadcast_to": np.broadcast_to, "concatenate": np.concatenate, "stack": np.stack}


def cotangent(f, *args, ybar, **keywords):
    _, pullback = rrule(f, *args, **keywords)
    return unthunk(pullback(ybar)[1])


@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
def test_rules_agree_with_finite_differences(f):
    for sample in samples_of(f, seed=1):
        report = check_sample(f, sample)
        assert report.verdict == "pass", str(report)


@pytest.mark.parametrize("f", REARRANGING.values(), ids=REARRANGING)
def test_every_element_gets_its_own_cotangent_back(f):
    # A rearrangement of x, taken as the cotangent, is x again.
    for sample in samples_of(f, seed=2):
        x = sample.args[0]
        y, pullback = rrule(f, *sample.args, **sample.fkwargs)
        np.testing.assert_array_equal(unthunk(pullback(y)[1]), x)


# ---------------------------------------------------------------- axes and lengths


def test_a_permutation_of_three_axes_is_undone_by_its_inverse():
    assert cotangent(np.transpose, np.zeros((2, 3, 4)), (2, 0, 1), ybar=np.zeros((4, 2, 3))).shape == (2, 3, 4)


def test_methods_are_served():
    x = np.arange(6.0).reshape(2, 3)
    for bound, args in [
        (x.transpose, ()),
        (x.transpose, (1, 0)),
        (x.transpose, ((-1, 0),)),
        (x.reshape, (3, 2)),
        (x.reshape, ((3, -1),)),
        (x.ravel, ()),
        (x.flatten, ("F",)),
        (x.swapaxes, (0, 1)),
        (x.squeeze, ()),
    ]:
        y, pullback = rrule(bound, *args)
        np.testing.assert_array_equal(y, bound(*args))
        np.testing.assert_array_equal(pullback(y)[0]["__self__"], x)


def test_permute_dims_and_concat_are_transpose_and_concatenate():
    assert rrule.canonical(np.permute_dims) is np.transpose
    assert rrule.canonical(np.concat) is np.concatenate


def test_ravel_in_fortran_order():
    xbar = cotangent(np.ravel, np.zeros((2, 2)), order="F", ybar=np.array([1.0, 2.0, 3.0, 4.0]))
    assert xbar.tolist() == [[1, 3], [2, 4]]


def test_order_a_follows_the_memory_of_the_argument_and_not_of_the_cotangent():
    x, ybar = np.asfortranarray(np.zeros((2, 2))), np.array([1.0, 2.0, 3.0, 4.0])
    assert cotangent(np.reshape, x, 4, "A", ybar=ybar).tolist() == [[1, 3], [2, 4]]
    assert cotangent(np.reshape, x.copy("C"), 4, "A", ybar=ybar).tolist() == [[1, 2], [3, 4]]
    dx = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert frule((NoTangent(), dx, NoTangent(), NoTangent()), np.reshape, x, 4, "A")[1].tolist() == [1, 3, 2, 4]


@pytest.mark.parametrize("seed", range(20))
def test_order_k_reads_as_memory_lies(seed):
    rng = np.random.default_rng(seed)
    steps = tuple(slice(None, None, step) for step in rng.choice([-2, -1, 1, 2], 3))
    x = rng.standard_normal((4, 3, 5))[steps].transpose(rng.permutation(3))
    y, pullback = rrule(np.ravel, x, "K")
    np.testing.assert_array_equal(pullback(y)[1], x)
    tangents = (NoTangent(), x.copy(), NoTangent())
    np.testing.assert_array_equal(frule(tangents, np.ravel, x, "K")[1], y)


def test_the_output_is_a_view_where_that_of_the_function_is():
    x = np.arange(6.0).reshape(2, 3)
    for f, args in [(np.transpose, ()), (np.reshape, (6,)), (np.ravel, ()), (np.expand_dims, (0,)), (np.squeeze, ())]:
        assert np.shares_memory(rrule(f, x, *args)[0], x)
    assert not np.shares_memory(rrule(np.ndarray.flatten, x)[0], x)


def test_broadcasting_is_summed_over():
    assert cotangent(np.broadcast_to, np.zeros(3), (2, 3), ybar=np.ones((2, 3))).tolist() == [2, 2, 2]
    assert cotangent(np.broadcast_to, 1.0, (2, 3), ybar=np.ones((2, 3))) == 6


@pytest.mark.parametrize("f", [np.transpose, np.ravel, np.squeeze])
def test_the_pullback_does_not_keep_the_array_alive(f):
    class Array(np.ndarray):
        """An ndarray that can be referred to weakly."""

    x = np.zeros((2, 3)).view(Array)
    alive = weakref.ref(x)
    y, pullback = rrule(f, x)
    ybar = np.ones(y.shape)
    del x, y
    gc.collect()
    assert alive() is None
    assert pullback(ybar)[1].shape == (2, 3)


def test_integers_have_no_tangent():
    for f, args in [(np.transpose, ()), (np.reshape, ((3, 2),)), (np.ravel, ())]:
        _, pullback = rrule(f, np.ones((2, 3), int), *args)
        assert pullback(NoTangent())[1:] in ((), (NoTangent(),))


def test_an_unknown_keyword_has_no_rule():
    x = np.ones((2, 3))
    assert rrule(np.transpose, x, flavour="sweet") is None
    assert rrule(np.concatenate, [x], out=np.ones((2, 3))) is None
    assert rrule(np.stack, [x], 0, np.ones((1, 2, 3))) is None


# ---------------------------------------------------------------- joining


def test_each_piece_gets_its_slice():
    _, pullback = rrule(np.concatenate, [np.zeros(2), np.zeros(1), np.zeros(3)])
    bars = pullback(np.arange(6.0))[1]
    assert bars.primal_type is list
    assert [bar.tolist() for bar in bars] == [[0, 1], [2], [3, 4, 5]]


def test_pieces_keep_their_container_type_and_precision():
    pieces = (np.zeros(2, np.float32), np.zeros(2, np.complex64), np.zeros(2))
    for f in (np.concatenate, np.stack):
        y, pullback = rrule(f, pieces)
        bars = pullback(np.full(y.shape, 1 + 1j))[1]
        assert bars.primal_type is tuple
        assert [bar.dtype for bar in bars] == [np.float32, np.complex64, np.float64]
        assert [bar[0] for bar in bars] == [1, 1 + 1j, 1]


def test_an_integer_piece_has_no_tangent():
    for f in (np.concatenate, np.stack):
        y, pullback = rrule(f, [np.zeros(2), np.array([1, 2])])
        bars = pullback(np.ones(y.shape))[1]
        assert bars[1] is NoTangent()
        dy = frule((NoTangent(), Tangent(list, np.ones(2), NoTangent())), f, [np.zeros(2), np.array([1, 2])])[1]
        assert dy.ravel().tolist() == [1, 1, 0, 0]


def test_integers_alone_have_no_tangent():
    y, pullback = rrule(np.concatenate, [np.array([1]), np.array([2])])
    assert pullback(NoTangent())[1] is NoTangent()
    for integers in ([np.array([1]), np.array([2])], np.array([[1], [2]])):
        y, pullback = rrule(np.concatenate, integers, dtype=float)
        assert pullback(np.ones(2))[1] is NoTangent()
    y, pullback = rrule(np.concatenate, [np.array([1.5])], dtype=np.int64, casting="unsafe")
    assert y.tolist() == [1]
    assert (
        frule((NoTangent(), [np.ones(1)]), np.concatenate, [np.ones(1)], dtype=int, casting="unsafe")[1] is NoTangent()
    )


def test_tangents_of_pieces_may_be_zero_or_a_plain_list():
    a, b = np.zeros((1, 2)), np.zeros((2, 2))
    dy = frule((NoTangent(), Tangent(tuple, ZeroTangent(), np.ones((2, 2)))), np.concatenate, (a, b))[1]
    assert dy.tolist() == [[0, 0], [1, 1], [1, 1]]
    assert frule((NoTangent(), [a + 3, b + 4]), np.concatenate, [a, b])[1].tolist() == [[3, 3], [4, 4], [4, 4]]
    assert frule((NoTangent(), ZeroTangent()), np.concatenate, [a, b])[1] is ZeroTangent()


def test_pieces_of_a_flattening_concatenation_get_their_shape_back():
    _, pullback = rrule(np.concatenate, [np.zeros((2, 2)), 1.5], axis=None)
    square, number = pullback(np.arange(5.0))[1]
    assert square.tolist() == [[0, 1], [2, 3]]
    assert number == 4
    assert isinstance(number, float)


def test_an_array_may_be_the_sequence():
    _, pullback = rrule(np.concatenate, np.zeros((2, 1, 3)))
    assert pullback(np.arange(6.0).reshape(2, 3))[1].tolist() == [[[0, 1, 2]], [[3, 4, 5]]]
