"""What the rules of einsum answer, against derivatives by hand and against the bare sum over all indices."""

import itertools

import numpy as np
import pytest

from rulescore import NoTangent, ZeroTangent, frule, rrule, unthunk
from testutils.samples.sampling import samples_of
from testutils.testers import check_sample

FUNCTIONS = [f for f in rrule if any(r.module == "rules.numpy.einstein_sums" for r in rrule.records(f))]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_rules_agree_with_finite_differences(f):
    samples = samples_of(f, seed=1)
    assert samples
    for sample in samples:
        report = check_sample(f, sample)
        assert report.verdict == "pass", str(report)


rng = np.random.default_rng(0)


def cotangents(ybar, *operands, **kwargs):
    return [unthunk(bar) for bar in rrule(np.einsum, *operands, **kwargs)[1](ybar)[1:]]


def jacobian(equation, *factors):
    """∂y/∂(factor) of each factor, by putting every basis array in its place."""
    for i, factor in enumerate(factors):
        basis = np.eye(factor.size).reshape(factor.size, *factor.shape)
        columns = [np.einsum(equation, *factors[:i], e, *factors[i + 1 :]) for e in basis]
        yield np.reshape(columns, (*factor.shape, *np.shape(columns[0])))


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", ((2, 3), (3, 4))),
        ("ij,jk", ((2, 3), (3, 4))),
        ("Zb,bA", ((2, 3), (3, 4))),
        ("ii", ((3, 3),)),
        ("iij->j", ((3, 3, 2),)),
        ("ijji,jk->k", ((2, 3, 3, 2), (3, 2))),
        ("ij->", ((2, 3),)),
        ("ij,k->k", ((2, 3), (2,))),
        ("...ij,...j->...i", ((2, 3, 4), (5, 1, 4))),
        ("...i,i...->...", ((2, 3), (3, 1))),
        ("ij,ij->ij", ((2, 3), (1, 3))),
        ("ij,ij->", ((2, 1), (1, 3))),
        ("i,i->", ((3,), (1,))),
        ("i,i,j->j", ((1,), (1,), (2,))),
        (" i j , j -> i ", ((2, 3), (3,))),
        ("i,i,i->i", ((3,), (3,), (3,))),
        ("ii,i->i", ((1, 1), (3,))),
    ],
)
@pytest.mark.parametrize("optimize", [False, True])
def test_cotangents_are_the_transposed_jacobians(equation, shapes, optimize):
    factors = [rng.standard_normal(shape) for shape in shapes]
    y, _ = rrule(np.einsum, equation, *factors, optimize=optimize)
    ybar = rng.standard_normal(np.shape(y))
    bars = cotangents(ybar, equation, *factors, optimize=optimize)
    assert bars[0] is NoTangent()
    for bar, derivative, factor in zip(bars[1:], jacobian(equation, *factors), factors, strict=True):
        assert bar.shape == factor.shape
        np.testing.assert_allclose(bar, np.tensordot(derivative, ybar, np.ndim(ybar)), atol=1e-14)


def test_repeated_indices_leave_zeros_off_the_diagonal_even_of_infinite_cotangents():
    _, bar = cotangents(np.inf, "ii", np.ones((2, 2)))
    np.testing.assert_array_equal(bar, [[np.inf, 0], [0, np.inf]])
    _, bar = cotangents(np.arange(1.0, 4.0), "ii->i", np.ones((3, 3)))
    np.testing.assert_array_equal(bar, np.diag([1.0, 2.0, 3.0]))


def test_a_sum_over_everything_copies_the_cotangent():
    _, bar = cotangents(2.0, "ij->", np.ones((2, 3)))
    np.testing.assert_array_equal(bar, np.full((2, 3), 2.0))
    bar += 1  # memory of its own, not one number seen many times
    np.testing.assert_array_equal(bar, np.full((2, 3), 3.0))


@pytest.mark.parametrize("order", list(itertools.permutations((0, 26, 51))))
def test_lists_in_the_place_of_a_string_order_their_numbers_like_letters(order):
    x = rng.standard_normal((2, 3, 4))
    y, pullback = rrule(np.einsum, x, list(order))
    np.testing.assert_array_equal(y, np.einsum(x, list(order)))
    ybar = rng.standard_normal(y.shape)
    _, bar, sublist_bar = pullback(ybar)
    assert sublist_bar is NoTangent()
    np.testing.assert_array_equal(unthunk(bar), np.transpose(ybar, np.argsort(np.argsort(order))))


def test_lists_with_dots_and_an_output():
    a, b = rng.standard_normal((2, 3)), rng.standard_normal((3, 4))
    by_string = cotangents(np.ones((4, 2)), "...j,jk->k...", a, b)
    by_lists = cotangents(np.ones((4, 2)), a, [..., 1], b, [1, 2], [2, ...])
    np.testing.assert_array_equal(by_lists[0], by_string[1])
    np.testing.assert_array_equal(by_lists[2], by_string[2])
    assert by_lists[1] is by_lists[3] is by_lists[4] is NoTangent()


def test_a_path_through_the_factors_is_not_used_for_other_sums():
    a, b, c = rng.standard_normal((2, 3)), rng.standard_normal((3, 4)), rng.standard_normal((4, 2))
    path = np.einsum_path("ij,jk,kl->il", a, b, c)[0]
    wanted = cotangents(np.ones((2, 2)), "ij,jk,kl->il", a, b, c)
    found = cotangents(np.ones((2, 2)), "ij,jk,kl->il", a, b, c, optimize=path)
    for x, y in zip(found[1:], wanted[1:], strict=True):
        np.testing.assert_allclose(x, y)


def test_the_other_factors_are_conjugated():
    a, b = np.array([1 + 2j]), np.array([3 - 1j])
    _, abar, bbar = cotangents(np.array([2 + 5j]), "i,i->i", a, b)
    assert abar == (2 + 5j) * b.conj()
    assert bbar == (2 + 5j) * a.conj()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.complex64])
def test_precision_is_kept_both_ways(dtype):
    x = np.ones((2, 2), dtype)
    for equation, factors in (("ij,jk", (x, x)), ("ij->", (x,)), ("ii", (x,))):
        y, pullback = rrule(np.einsum, equation, *factors)
        assert all(unthunk(bar).dtype == dtype for bar in pullback(np.ones_like(y))[2:])
        _, dy = frule((NoTangent(), NoTangent(), *factors), np.einsum, equation, *factors)
        assert dy.dtype == dtype


def test_an_integer_factor_has_no_cotangent():
    _, a_bar, b_bar = cotangents(np.ones(2), "i,i->i", np.arange(2), np.ones(2))
    assert a_bar is NoTangent()
    np.testing.assert_array_equal(b_bar, [0, 1])


def test_zero_in_gives_zero_out():
    assert cotangents(ZeroTangent(), "ij->", np.ones((2, 3)))[1] is ZeroTangent()
    _, dy = frule((NoTangent(), NoTangent(), ZeroTangent()), np.einsum, "ij->", np.ones((2, 3)))
    assert dy is ZeroTangent()


def test_out_and_unknown_keywords_have_no_rule():
    x = np.ones((2, 2))
    assert rrule(np.einsum, "ij->ji", x, out=None) is not None
    assert rrule(np.einsum, "ij->ji", x, out=np.empty((2, 2))) is None
    assert rrule(np.einsum, "ij->ji", x, like=x) is None


def test_a_factor_nobody_asks_about_has_no_cotangent():
    x = np.ones((2, 2))
    _, pullback = rrule.call(np.einsum, ("ij,jk", x, x), needs=(False, True, False))
    assert pullback(x)[3] is NoTangent()
    np.testing.assert_array_equal(unthunk(pullback(x)[2]), [[2, 2], [2, 2]])
