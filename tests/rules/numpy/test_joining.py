"""What the rules of joining, splitting and broadcasting answer: exact cotangents, and outputs that are not used."""

import operator

import numpy as np
import pytest

from rulescore import NoTangent, Tangent, ZeroTangent, frule, rrule
from rulescore.ad import TracerConversionError, grad, hessian, primitive
from testutils.samples.sampling import samples_of
from testutils.testers import check_sample

FUNCTIONS = [f for f in rrule if any(r.module == "rules.numpy.joining" for r in rrule.records(f))]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_rules_agree_with_finite_differences(f):
    samples = samples_of(f, seed=1)
    assert samples
    for sample in samples:
        report = check_sample(f, sample)
        assert report.verdict == "pass", str(report)


# ---------------------------------------------------------------- joining


@pytest.mark.parametrize("f", [np.hstack, np.vstack, np.dstack, np.column_stack])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 2)])
@pytest.mark.parametrize("kind", [list, tuple])
def test_joining_the_tangents_of_a_cotangent_gives_it_back(f, shape, kind):
    """The transpose of a permutation is its inverse."""
    arrays = kind([np.zeros(shape), np.ones(shape), np.ones(shape)])
    y, pullback = rrule(f, arrays)
    ybar = np.random.default_rng(0).standard_normal(y.shape)
    _, bars = pullback(ybar)
    assert isinstance(bars, Tangent)
    assert bars.primal_type is kind
    assert [np.shape(bar) for bar in bars] == [shape] * 3
    np.testing.assert_array_equal(f(list(bars)), ybar)


def test_each_piece_keeps_its_own_precision():
    pieces = [np.ones((2, 1), np.float32), np.ones((2, 2)), np.ones((2, 1), np.complex64), np.ones((2, 1), int)]
    y, pullback = rrule(np.hstack, pieces)
    single, double, complex_, integers = pullback(np.full_like(y, 1 + 2j))[1]
    np.testing.assert_array_equal(single, np.ones((2, 1), np.float32), strict=True)
    np.testing.assert_array_equal(double, np.ones((2, 2)), strict=True)
    np.testing.assert_array_equal(complex_, np.full((2, 1), 1 + 2j, np.complex64), strict=True)
    assert integers is NoTangent()


def test_pushforward_fills_in_zeros_for_pieces_that_stand_still():
    x = np.ones(2)
    _, dy = frule((NoTangent(), Tangent(list, ZeroTangent(), 3 * x)), np.vstack, [x, x])
    np.testing.assert_array_equal(dy, [[0, 0], [3, 3]])


@pytest.mark.parametrize("axis", [None, 0, -1])
def test_append_cuts_the_cotangent_in_two(axis):
    a, b = np.arange(4.0).reshape(2, 2), np.arange(4.0, 8.0).reshape(2, 2)
    _, pullback = rrule(np.append, np.zeros((2, 2), np.float32), np.zeros((2, 2)), axis)
    _, abar, bbar = pullback(np.append(a, b, axis))
    np.testing.assert_array_equal(abar, a.astype(np.float32), strict=True)
    np.testing.assert_array_equal(bbar, b, strict=True)


@pytest.mark.parametrize(
    "arrays",
    [
        [[np.zeros((2, 2)), np.zeros((2, 3))], [np.zeros((1, 4)), np.zeros((1, 1))], [np.zeros(5)]],
        [np.zeros((2, 3, 1)), np.zeros((2, 3, 2))],
        [[[np.zeros(())], [np.zeros(1)]], [[np.zeros((1, 1))], [np.zeros((1, 1, 1))]]],
    ],
)
def test_block_of_the_cotangents_is_the_cotangent(arrays):
    y, pullback = rrule(np.block, arrays)
    ybar = np.random.default_rng(0).standard_normal(y.shape)

    def plain(bars, primal):
        return [plain(*pair) for pair in zip(bars, primal, strict=True)] if isinstance(primal, list) else bars

    bars = plain(pullback(ybar)[1], arrays)
    np.testing.assert_array_equal(np.block(bars), ybar)


def test_block_pushes_a_list_that_stands_still_as_zeros():
    x = np.ones(2)
    dx = Tangent(list, ZeroTangent(), Tangent(list, 2 * x, ZeroTangent()))
    y, dy = frule((NoTangent(), dx), np.block, [[x, x], [x, x]])
    np.testing.assert_array_equal(y, np.ones((2, 4)))
    np.testing.assert_array_equal(dy, [[0, 0, 0, 0], [2, 2, 0, 0]])


# ---------------------------------------------------------------- splitting


def test_pieces_that_are_not_used_leave_zeros():
    _, pullback = rrule(np.array_split, np.ones(7, np.float32), 3)
    wanted = np.array([0, 0, 0, 1, 2, 0, 0], np.float32)
    piece = np.array([1, 2], np.float32)
    for ybar in ([ZeroTangent(), piece, NoTangent()], Tangent(list, ZeroTangent(), piece, ZeroTangent())):
        np.testing.assert_array_equal(pullback(ybar)[1], wanted, strict=True)


def test_nothing_used_at_all_is_zero():
    _, pullback = rrule(np.split, np.ones(4), 2)
    assert pullback(ZeroTangent())[1] is ZeroTangent()
    assert pullback([ZeroTangent(), ZeroTangent()])[1] is ZeroTangent()


def test_empty_pieces():
    y, pullback = rrule(np.array_split, np.ones((2, 2)), 4, -1)
    assert [piece.shape for piece in y] == [(2, 1), (2, 1), (2, 0), (2, 0)]
    ybar = [np.full((2, 1), 1.0), np.full((2, 1), 2.0), np.zeros((2, 0)), ZeroTangent()]
    np.testing.assert_array_equal(pullback(ybar)[1], [[1, 2], [1, 2]])


def test_overlapping_pieces_add_up():
    """Indices that go back give pieces [0:3], [3:1] and [1:4]."""
    y, pullback = rrule(np.split, np.ones(4), [3, 1])
    assert [piece.size for piece in y] == [3, 0, 3]
    ybar = [np.array([1.0, 2.0, 3.0]), np.zeros(0), np.array([10.0, 20.0, 30.0])]
    np.testing.assert_array_equal(pullback(ybar)[1], [1, 12, 23, 30])


@pytest.mark.parametrize(
    "indices", [[-1], [1, -1], [0, 0, 9], [9, 9], [], [2, 2], np.array([1, 3]), [-9, 2], [3, 2, 1]]
)
def test_every_kind_of_index_gives_the_number_of_pieces_each_element_is_in(indices):
    y, pullback = rrule(np.split, np.ones((4, 2)), indices)
    places = np.split(np.arange(4), indices)
    wanted = np.bincount(np.concatenate(places), minlength=4)
    np.testing.assert_array_equal(pullback([np.ones_like(p) for p in y])[1], np.stack([wanted, wanted], 1))


@pytest.mark.parametrize(
    ("f", "shape"), [(np.hsplit, (4,)), (np.hsplit, (2, 4)), (np.vsplit, (4, 2)), (np.dsplit, (1, 2, 4))]
)
def test_splits_along_a_fixed_axis(f, shape):
    x = np.random.default_rng(0).standard_normal(shape)
    _, pullback = rrule(f, np.zeros(shape), [1, 3])
    np.testing.assert_array_equal(pullback(f(x, [1, 3]))[1], x)
    _, dy = frule((NoTangent(), x, NoTangent()), f, np.zeros(shape), 2)
    assert len(dy) == 2
    np.testing.assert_array_equal(dy[1], f(x, 2)[1])


if hasattr(np, "unstack"):  # NumPy 2.1

    def test_unstack_puts_the_layers_together():
        x = np.random.default_rng(0).standard_normal((2, 3, 2)).astype(np.float32)
        _, pullback = rrule(np.unstack, np.zeros_like(x), axis=1)
        _, xbar = pullback((x[:, 0], ZeroTangent(), x[:, 2]))
        np.testing.assert_array_equal(xbar, x * np.array([1, 0, 1], np.float32)[:, None], strict=True)
        assert pullback(ZeroTangent())[1] is ZeroTangent()


# ---------------------------------------------------------------- broadcasting, and calls without rule


def test_broadcast_arrays_sums_over_the_copies():
    y, pullback = rrule(np.broadcast_arrays, np.zeros((2, 1)), 1.5, np.zeros(3, np.float32), np.arange(3))
    _, column, number, row, integers = pullback(tuple(np.ones_like(part) for part in y))
    np.testing.assert_array_equal(column, [[3], [3]])
    assert number == 6
    np.testing.assert_array_equal(row, np.full(3, 2, np.float32), strict=True)
    assert integers is NoTangent()
    assert pullback((ZeroTangent(), *y[1:]))[1] is ZeroTangent()


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (np.hstack, ([np.ones(2)],)),
        (np.vstack, ([np.ones(2)],)),
        (np.dstack, ([np.ones(2)],)),
        (np.column_stack, ([np.ones(2)],)),
        (np.append, (np.ones(2), np.ones(2))),
        (np.split, (np.ones(2), 2)),
        (np.hsplit, (np.ones(2), 2)),
        (np.block, ([np.ones(2)],)),
        (np.broadcast_arrays, (np.ones(2),)),
    ],
)
def test_unknown_keyword_has_no_rule(f, args):
    assert rrule(f, *args) is not None
    assert rrule(f, *args, out=np.ones(2)) is None
    assert frule((NoTangent(), *[ZeroTangent()] * len(args)), f, *args, out=np.ones(2)) is None


# ---------------------------------------------------------------- r_ and c_


def test_every_piece_of_an_index_gets_the_part_that_it_filled():
    x = np.array([1.0, 2.0])
    y, pullback = rrule(operator.getitem, np.r_, (x, 5.0, slice(0, 3), x))
    np.testing.assert_array_equal(y, np.r_[x, 5.0, 0:3, x])
    _, _, bars = pullback(np.arange(8.0))
    assert bars[0].tolist() == [0, 1]
    assert bars[1] == 2
    assert bars[2] is NoTangent()
    assert bars[3].tolist() == [6, 7]


def test_a_single_piece_gets_an_array():
    x = np.array([1.0, 2.0])
    assert rrule(operator.getitem, np.c_, x)[1](np.array([[3.0], [4.0]]))[2].tolist() == [3, 4]
    assert frule((NoTangent(), NoTangent(), x), operator.getitem, np.c_, x)[1].tolist() == [[1], [2]]


@pytest.mark.parametrize("directive", [(), ("0",), ("-1",), ("0,2",), ("1,2,0",), ("0,3,-1",)])
@pytest.mark.parametrize("concatenator", [np.r_, np.c_])
def test_pieces_that_are_joined_otherwise_get_their_parts_too(concatenator, directive):
    x, z = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    y, pullback = rrule(operator.getitem, concatenator, (*directive, x, z))
    np.testing.assert_array_equal(y, concatenator[(*directive, x, z)])
    bars = pullback(y)[2]
    assert [bars[len(directive)].tolist(), bars[len(directive) + 1].tolist()] == [[1, 2], [3, 4]]


def test_matrices_and_names_have_no_rule():
    assert rrule(operator.getitem, np.r_, ("r", np.ones(2))) is None
    assert rrule(operator.getitem, np.r_, "x, y") is None


def test_indices_are_differentiated_where_they_are_primitives():
    join = primitive(operator.getitem)
    x = np.array([1.0, 2.0])
    assert grad(lambda x: np.sum(join(np.r_, (x, 3.0, x**2)) ** 2))(x).tolist() == [2 + 4, 4 + 32]
    np.testing.assert_allclose(hessian(lambda x: np.sum(join(np.c_, (x, 2 * x)) ** 3))(x), np.diag([54.0, 108.0]))
    with pytest.raises(TracerConversionError, match="stack"):
        grad(lambda x: np.sum(np.r_[x, 3.0]))(x)
