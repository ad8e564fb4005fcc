"""Masked arrays, matrices and sparse arrays: rules written for arrays do not serve them, rules that name them do."""

import operator

import numpy as np
import pytest

from rulescore import NoTangent, frule, project_to, rrule
from rulescore.ad import grad, jvp, primitive
from rulescore.tangents.foreign_arrays import foreign_kind

MASKED = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
X = np.ones(3)


def matrix(x):
    return np.asarray(x).view(np.matrix)


def test_kinds():
    sparse = pytest.importorskip("scipy.sparse")
    assert foreign_kind(np.ma.MaskedArray) == foreign_kind(type("Child", (np.ma.MaskedArray,), {})) == "masked"
    assert foreign_kind(np.matrix) == "matrix"
    assert foreign_kind(sparse.csr_array) == foreign_kind(sparse.coo_matrix) == "sparse"
    assert foreign_kind(np.ndarray) is foreign_kind(float) is foreign_kind(object) is None


@pytest.mark.parametrize(
    ("f", "args", "kwargs"),
    [
        (np.sum, (MASKED,), {}),
        (np.sin, (MASKED,), {}),
        (np.multiply, (X, MASKED), {}),
        (operator.add, (MASKED, 1.0), {}),
        (np.average, (X,), {"weights": MASKED}),
        (np.where, (MASKED, X, X), {}),
        (operator.getitem, (MASKED, 0), {}),
    ],
)
def test_a_masked_array_is_refused_in_both_tables_at_every_call(f, args, kwargs):
    for _ in range(2):
        with pytest.raises(TypeError, match=r"one argument is a MaskedArray.*np\.where\(a\.mask, 0, a\.data\)"):
            rrule(f, *args, **kwargs)
        with pytest.raises(TypeError, match="one argument is a MaskedArray"):
            frule((NoTangent(), *args), f, *args, **kwargs)


def test_nothing_is_wrong_with_the_same_call_of_arrays_after_an_error():
    with pytest.raises(TypeError):
        rrule(np.sum, MASKED)
    assert rrule(np.sum, X)[0] == 3.0


@pytest.mark.parametrize("f", [operator.mul, np.multiply, operator.matmul])
def test_a_matrix_is_refused(f):
    with pytest.raises(TypeError, match=r"one argument is a matrix.*np\.asarray\(m\)"):
        rrule(f, matrix(np.eye(2)), np.eye(2))


def test_constants_are_for_all():
    assert rrule(np.shape, MASKED)[0] == (3,)
    assert rrule(np.argmax, MASKED)[0] == 2


def test_a_rule_that_names_the_class_serves_it():
    def total(x):
        return x.sum()

    rrule.register(total)(lambda x: (total(x), lambda ybar: (NoTangent(), ybar)))
    assert rrule(total, MASKED)[0] == 4.0  # a rule for a function that is not NumPy's is its author's business
    before = rrule.records(np.cosh)
    with rrule.override(np.cosh, None):
        rrule.register(np.cosh, np.ma.MaskedArray)(lambda x: ("served", None))
        assert rrule(np.cosh, MASKED)[0] == "served"
    assert rrule.records(np.cosh) == before


def test_a_masked_array_in_a_list_is_refused_when_it_would_get_a_cotangent():
    _, pullback = rrule(np.stack, [MASKED, X])
    with pytest.raises(TypeError, match="a masked array was about to get a cotangent"):
        pullback(np.ones((2, 3)))


def test_a_masked_cotangent_is_refused():
    with pytest.raises(TypeError, match=r"dx\.filled\(0\)"):
        project_to(X)(MASKED)
    _, pullback = rrule(np.sin, X)
    with pytest.raises(TypeError, match=r"dx\.filled\(0\)"):
        pullback(MASKED)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x * MASKED),
        lambda x: np.sum(MASKED * x),
        lambda x: np.ma.sum(x),
        lambda x: np.sum(np.ma.array(x, mask=[True, False, False])),
        lambda x: np.sum(np.stack([x, MASKED])),
        lambda x: np.sum(np.add(x, x, out=MASKED.copy())),
        lambda x: np.sum(x, where=MASKED > 0),
        lambda x: np.sum(np.where(MASKED > 0, x, 0)),
        lambda x: np.sum(primitive(operator.mul)(x, MASKED)),
        lambda x: np.sum(x[np.ma.array([0, 1], mask=[False, True])]),
    ],
)
def test_the_ad_refuses_a_masked_array_beside_what_it_differentiates(f):
    with pytest.raises(TypeError, match=r"MaskedArray|masked|ordinary array"):
        grad(f)(X)
    with pytest.raises(TypeError, match=r"MaskedArray|masked|ordinary array"):
        jvp(f, (X,), (X,))


def test_the_ad_refuses_to_differentiate_a_masked_array():
    with pytest.raises(TypeError, match="MaskedArray"):
        grad(np.sum)(MASKED)


def test_what_is_computed_of_masked_arrays_alone_is_a_constant():
    np.testing.assert_array_equal(grad(lambda x: np.sum(MASKED.sum() * x))(X), [4.0, 4.0, 4.0])
