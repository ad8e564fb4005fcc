"""Operations with sparse arrays: right numbers, cotangents in the pattern and nowhere else, and no silent mistake."""

import operator
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse.linalg
from scipy import sparse

from rulescore import MissingDerivativeError, NoTangent, NotImplementedTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import (
    NoRuleError,
    TracerConversionError,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    primitive,
    traceable,
    vjp,
)
from testutils import check_rule, jacobian_fd, jvp_fd
from testutils import test_rule_tables as check_tables
from testutils.samples.sampling import samples_of
from testutils.samples.scipy.sparse import FORMATS, KINDS, stored
from testutils.samples.versions import SCIPY
from testutils.testers import check_sample

CSR = sparse.csr_array
METHODS = [
    *(CSR.__matmul__, CSR.__add__, CSR.__sub__, CSR.__mul__, CSR.multiply, CSR.__truediv__, CSR.__neg__),
    *(CSR.sum, CSR.transpose, CSR.toarray),
]
CLASSES = [f"{name}_{kind}" for name in FORMATS for kind in KINDS]
A = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("f", METHODS, ids=lambda f: f.__name__)
def test_rules_agree_with_finite_differences(f):
    samples = samples_of(f, seed=5)
    assert samples
    for sample in samples:
        report = check_sample(f, sample)
        assert report.verdict == "pass", str(report)


# ---------------------------------------------------------------- the pattern


@pytest.mark.parametrize("name", CLASSES)
def test_the_cotangent_of_a_sparse_array_is_one_of_its_class_and_pattern(name):
    a = getattr(sparse, name)(A)
    _, pullback = rrule(operator.matmul, a, random(3))
    abar = unthunk(pullback(np.array([10.0, 100.0]))[1])
    assert type(abar) is type(a)
    wanted = np.outer([10.0, 100.0], random(3)) * (A != 0)
    np.testing.assert_allclose(abar.toarray(), wanted, rtol=1e-15)
    assert abar.nnz <= a.nnz


def test_a_stored_zero_has_a_cotangent_and_a_missing_entry_has_none():
    a = CSR((np.array([0.0, 1.0]), ([0, 1], [1, 1])), shape=(2, 2))
    _, pullback = rrule(operator.matmul, a, np.array([2.0, 3.0]))
    abar = unthunk(pullback(np.ones(2))[1])
    np.testing.assert_array_equal(abar.toarray(), [[0.0, 3.0], [0.0, 3.0]])
    assert abar.nnz == 2


@pytest.mark.parametrize(
    ("operation", "b"),
    [
        (operator.matmul, CSR(stored(np.random.default_rng(1), 3, 2))),
        (operator.add, CSR(stored(np.random.default_rng(2), 2, 3))),
        (operator.sub, random(2, 3)),
        (operator.mul, CSR(stored(np.random.default_rng(3), 2, 3))),
        (operator.mul, random(2, 3)),
        (operator.truediv, 2.0),
    ],
)
def test_the_cotangents_are_those_of_the_dense_arrays_at_the_entries(operation, b):
    a, dense_b = CSR(A), b.toarray() if sparse.issparse(b) else b
    y, pullback = rrule(operation, a, b)
    dense_y, dense_pullback = rrule(operation, A, dense_b)
    np.testing.assert_allclose(y.toarray() if sparse.issparse(y) else y, dense_y)
    ybar = random(*dense_y.shape, seed=9)
    _, abar, bbar = map(unthunk, pullback(ybar))
    _, wanted_a, wanted_b = map(unthunk, dense_pullback(ybar))
    np.testing.assert_allclose(abar.toarray(), wanted_a * (A != 0))
    if sparse.issparse(b):
        np.testing.assert_allclose(bbar.toarray(), wanted_b * (dense_b != 0))
    elif np.ndim(b):
        np.testing.assert_allclose(bbar, wanted_b)
    else:
        np.testing.assert_allclose(bbar, np.sum(-ybar * A / b**2))


def test_integers_have_no_cotangent():
    y, pullback = rrule(operator.matmul, CSR(A.astype(int)), np.ones(3))
    np.testing.assert_array_equal(y, [3.0, 3.0])
    assert pullback(np.ones(2))[1] is NoTangent()


def test_a_zero_cotangent_stays_zero():
    _, pullback = rrule(operator.matmul, CSR(A), np.ones(3))
    assert pullback(ZeroTangent())[1:] == (ZeroTangent(), ZeroTangent())


def test_the_cotangent_of_the_array_is_not_computed_when_nobody_asks(monkeypatch):
    _, pullback = rrule(operator.matmul, CSR(A), random(3))
    monkeypatch.setattr("rules.scipy.sparse.operations.inner_products", lambda *args: pytest.fail("computed"))
    _, _, xbar = pullback(np.ones(2))
    np.testing.assert_array_equal(unthunk(xbar), A.T @ np.ones(2))


def test_no_dense_array_of_the_shape_of_a_sparse_one_is_made():
    n = 20_000
    a = sparse.diags_array(np.ones(n), format="csr")
    x = np.ones((n, 2))
    y, pullback = rrule(operator.matmul, a, x)
    tracemalloc.start()
    _, abar, xbar = map(unthunk, pullback(y))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert abar.nnz == n
    np.testing.assert_array_equal(xbar, y)
    assert peak < 100 * 8 * n  # a dense one has 20 000 · 8 n bytes


def test_single_precision_stays_single():
    a = CSR(A.astype(np.float32))
    y, pullback = rrule(operator.matmul, a, np.ones(3, np.float32))
    _, abar, xbar = map(unthunk, pullback(y))
    assert {y.dtype, abar.dtype, xbar.dtype} == {np.dtype(np.float32)}
    y, dy = frule((NoTangent(), a, np.ones(3, np.float32)), operator.matmul, a, np.ones(3, np.float32))
    assert dy.dtype == np.float32


def test_a_real_array_gets_the_real_part():
    _, pullback = rrule(operator.matmul, CSR(A), np.array([1j, 2.0, 1.0]))
    abar = unthunk(pullback(np.array([1j, 1.0]))[1])
    np.testing.assert_array_equal(abar.toarray(), [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])


# ---------------------------------------------------------------- how calls get here


@pytest.mark.parametrize(
    "call",
    [
        lambda a, x: (operator.matmul, a, x),
        lambda a, x: (a.__matmul__, x),
        lambda a, x: (a.dot, x),
        lambda a, x: (operator.mul, sparse.csc_matrix(a), x),
        lambda a, x: (operator.matmul, x, a.T),
    ],
)
def test_every_way_to_write_a_product_reaches_the_rule(call):
    a, x = CSR(A), random(3)
    f, *args = call(a, x)
    np.testing.assert_allclose(rrule(f, *args)[0], A @ x)
    assert check_rule(f, *args).verdict == "pass"


def test_operands_and_arrays_may_be_given_by_keyword():
    a, b = CSR(A), CSR(A + 1)
    y, pullback = rrule(CSR.multiply, a, other=b)
    np.testing.assert_array_equal(y.toarray(), A * (A + 1))
    np.testing.assert_array_equal(unthunk(pullback(b)[1]).toarray(), (A + 1) ** 2 * (A != 0))
    assert rrule(a.multiply, other=b) is not None
    assert rrule(np.sum, a=a)[0] == np.sum(A)
    y, dy = frule((NoTangent(), a), CSR.sum, a, axis=0)
    np.testing.assert_array_equal(dy, np.sum(A, axis=0))


def test_the_rule_tables_are_sound():
    check_tables("scipy.sparse", samples=True)


def test_the_star_of_the_older_classes_is_the_product_of_matrices():
    m = sparse.csr_matrix(A)
    y, pullback = rrule(operator.mul, m, m.T)
    np.testing.assert_array_equal(y.toarray(), A @ A.T)
    y, pullback = rrule(operator.mul, m, 2.0)
    np.testing.assert_array_equal(y.toarray(), 2 * A)
    assert unthunk(pullback(m)[2]) == np.sum(A * A)


@pytest.mark.parametrize("name", CLASSES)
def test_sums_are_those_of_the_entries(name):
    a = getattr(sparse, name)(A)
    for axis, weights in ((None, 5.0), (0, np.array([1.0, 10.0, 100.0])), (1, np.array([1.0, 10.0]))):
        y, pullback = rrule(np.sum, a, axis)
        ybar = weights if axis is None else np.reshape(weights, np.shape(y))
        wanted = np.broadcast_to(weights if axis != 1 else weights[:, None], A.shape) * (A != 0)
        np.testing.assert_array_equal(pullback(ybar)[1].toarray(), wanted)


def test_what_makes_a_matrix_of_numpy_s_is_right_too():
    m = sparse.csr_matrix(A)
    y, pullback = rrule(operator.add, m, random(2, 3))
    assert isinstance(y, np.matrix)
    _, mbar, dbar = map(unthunk, pullback(y))
    np.testing.assert_array_equal(mbar.toarray(), np.asarray(y) * (A != 0))
    np.testing.assert_array_equal(dbar, np.asarray(y))


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (np.exp, (CSR(A),)),
        (np.dot, (CSR(A), np.ones(3))),
        (np.power, (CSR(A), 2)),
        (np.mean, (CSR(A),)),
        (np.sum, (CSR(A), 0, None, None, True)),
    ],
)
def test_the_rules_of_numpy_do_not_serve_sparse_arrays(f, args):
    assert rrule(f, *args) is None


def test_numpy_s_constants_serve_them():
    assert rrule(np.shape, CSR(A))[0] == (2, 3)


# ---------------------------------------------------------------- in the AD


def test_the_ad_differentiates_a_product_that_is_a_primitive_twice():
    a, x = CSR(A), np.array([1.0, 2.0, 3.0])
    matmul = primitive(operator.matmul)

    def cubed(x):
        return np.sum(matmul(a, x) ** 3)

    np.testing.assert_allclose(grad(cubed)(x), 3 * A.T @ (A @ x) ** 2)
    np.testing.assert_allclose(hessian(cubed)(x), 6 * A.T @ np.diag(A @ x) @ A)
    y, dy = jvp(lambda x: matmul(x, a.T), (x,), (np.ones(3),))
    np.testing.assert_allclose(y, A @ x)
    np.testing.assert_allclose(dy, A @ np.ones(3))


OPERATIONS = {
    "a @ x": (lambda a, x: a @ x, np.ones(3), A @ np.ones(3)),
    "x @ a": (lambda a, x: x @ a, np.ones(2), A.T @ np.ones(2)),
    "a + x": (lambda a, x: a + x, np.ones((2, 3)), np.ones((2, 3))),
    "x + a": (lambda a, x: x + a, np.ones((2, 3)), np.ones((2, 3))),
    "a - x": (lambda a, x: a - x, np.ones((2, 3)), -np.ones((2, 3))),
    "x - a": (lambda a, x: x - a, np.ones((2, 3)), np.ones((2, 3))),
    "a * x": (lambda a, x: a * x, np.ones((2, 3)), A),
    "x * a": (lambda a, x: x * a, np.ones((2, 3)), A),
    "a * number": (lambda a, x: a * x, 2.0, 2 * A),
    "np.matmul": (lambda a, x: np.matmul(a, x), np.ones(3), A @ np.ones(3)),
    "np.add": (lambda a, x: np.add(a, x), np.ones((2, 3)), np.ones((2, 3))),
    "np.multiply": (lambda a, x: np.multiply(a, x), np.ones((2, 3)), A),
    "np.dot": (lambda a, x: np.dot(a, x), np.ones(3), A @ np.ones(3)),
    "a.dot": (lambda a, x: a.dot(x), np.ones(3), A @ np.ones(3)),
    "a.multiply": (lambda a, x: a.multiply(x), np.ones((2, 3)), A),
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("make", [sparse.csr_array, sparse.coo_array, sparse.csc_array])
def test_a_traced_array_beside_a_sparse_one_is_right_or_refused(operation, make):
    compute, x, wanted = OPERATIONS[operation]
    try:
        _, dy = jvp(lambda x: compute(make(A), x), (x,), (x,))
    except (TypeError, TracerConversionError) as error:
        dy, message = None, str(error)
    if dy is None:
        assert any(words in message for words in ("sparse", "ordinary array", "cannot be differentiated"))
    else:
        np.testing.assert_allclose(dy.toarray() if sparse.issparse(dy) else dy, wanted)


# ---------------------------------------------------------------- loading


def test_importing_the_rules_of_scipy_imports_no_scipy_and_a_lookup_without_sparse_none_of_its_rules():
    code = (
        "import sys, numpy, rulescore, rules.scipy\n"
        "assert not any(name.partition('.')[0] == 'scipy' for name in sys.modules)\n"
        "rulescore.rrule(numpy.matmul, numpy.eye(2), numpy.eye(2))\n"
        "assert 'rules.scipy.sparse' not in sys.modules\n"
        "import scipy.sparse\n"
        "y, pullback = rulescore.rrule(numpy.matmul, scipy.sparse.csr_array(numpy.eye(2)), numpy.ones(2))\n"
        "assert 'rules.scipy.sparse' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


# ---------------------------------------------------------------- what makes sparse arrays


def test_numbers_that_are_named_twice_get_the_cotangent_of_their_sum():
    places = np.array([0, 1, 0, 0]), np.array([1, 2, 1, 0])
    numbers = np.array([1.0, 2.0, 3.0, 4.0])
    for make in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        y, pullback = rrule(make, (numbers, places), (2, 3))
        bar = unthunk(pullback(np.array([[1.0, 10.0, 0.0], [0.0, 0.0, 100.0]]))[1])
        assert y.toarray().tolist() == [[4.0, 4.0, 0.0], [0.0, 0.0, 2.0]]
        assert bar[0].tolist() == [10.0, 100.0, 10.0, 1.0]


def test_whole_numbers_beside_others_are_constants():
    """Their places are counted as those of numbers that move would be."""
    a, b = sparse.csr_array(A), sparse.csr_array(np.array([[1, 0], [2, 3]]))
    _, pullback = rrule(sparse.hstack, [a, b], "csr")
    ybar = np.arange(10.0).reshape(2, 5)
    bar = unthunk(pullback(ybar)[1])
    np.testing.assert_array_equal(unthunk(bar[0]).toarray(), ybar[:, :3] * (A != 0))
    dy = frule((NoTangent(), [2 * a, NoTangent()], NoTangent()), sparse.hstack, [a, b], "csr")[1]
    np.testing.assert_array_equal(dy.toarray(), np.hstack([2 * A, np.zeros((2, 2))]))


@pytest.mark.parametrize("number", [np.float32, np.complex64])
def test_many_entries_of_single_precision_are_told_apart(number):
    """Their numbers would be rounded in their own precision, of which the fraction has 23 bits."""
    a = sparse.csr_array(np.ones((1, 3), number))
    places = np.zeros(1 << 16, int), np.arange(1 << 16)
    wide = sparse.csr_array((np.ones(1 << 16, number), places), shape=(1, 1 << 16))
    ybar = np.arange((1 << 16) + 3, dtype=number)[None]
    _, pullback = rrule(sparse.hstack, [a, wide])
    bars = unthunk(pullback(ybar)[1])
    assert bars[1].dtype == number
    np.testing.assert_array_equal(unthunk(bars[1]).data, ybar[0, 3:])


def test_a_system_is_assembled_and_solved():
    rows, columns = np.array([0, 0, 1, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 2, 1, 2])

    def solution(stiffness):
        values = np.stack([stiffness[0], -stiffness[0], -stiffness[0], stiffness[0] + stiffness[1]])
        values = np.concatenate([values, [-stiffness[1], -stiffness[1], stiffness[1] + stiffness[2]]])
        matrix = sparse.coo_array((values, (rows, columns)), shape=(3, 3)).tocsc()
        matrix = matrix + sparse.diags_array(0.1 * stiffness)
        return scipy.sparse.linalg.spsolve(matrix.tocsc(), np.array([1.0, 2.0, 3.0]))

    x = np.array([1.0, 2.0, 0.5])
    expected = jacobian_fd(solution, x).value
    np.testing.assert_allclose(jacfwd(traceable(solution))(x), expected, rtol=1e-7)
    np.testing.assert_allclose(jacrev(traceable(solution))(x), expected, rtol=1e-7)


@pytest.mark.parametrize(
    "constant",
    [2, np.uint8(3), np.int64(2), 2.0, np.float32(2.0), [1, 2, 3, 4], [1.0, 2, 3, 4], np.uint8([1, 2, 3, 4])],
    ids=repr,
)
def test_a_number_beside_what_moves_is_a_constant_of_any_type(constant):
    def diagonals(x):
        return sparse.diags_array([constant, x], offsets=[0, 2], shape=(4, 4)).toarray()

    expected = np.eye(4, k=2)
    np.testing.assert_array_equal(jvp(traceable(diagonals), (0.5,), (1.0,))[1], expected)
    ybar = np.arange(16.0).reshape(4, 4)
    assert vjp(traceable(diagonals), 0.5)[1](ybar) == (np.sum(expected * ybar),)


def test_blocks_of_whole_numbers_are_constants():
    def blocks(x):
        return sparse.block_diag([3, x, [[1, 2]]]).toarray()

    x = np.array([[0.5, 0.7]])
    expected = np.zeros((3, 5))
    expected[1, 1:3] = 1.0
    np.testing.assert_array_equal(jvp(traceable(blocks), (x,), (np.ones((1, 2)),))[1], expected)
    np.testing.assert_array_equal(vjp(traceable(blocks), x)[1](np.arange(15.0).reshape(3, 5))[0], [[6.0, 7.0]])


def test_a_block_whose_derivative_is_missing_is_said_to_be():
    dx = [NotImplementedTangent("of this block"), ZeroTangent()]
    with pytest.raises(MissingDerivativeError, match="of this block"):
        frule((NoTangent(), dx, NoTangent()), sparse.hstack, [A, sparse.csr_array(A)], "csr")


OF_CONSTRUCTIONS = {
    "diagonals": lambda x: sparse.diags(x).toarray(),
    "several diagonals": lambda x: sparse.diags_array([x, x[1:]], offsets=[0, 1]).toarray(),
    "rows": lambda x: sparse.spdiags(x[None], [0], 3, 3).toarray(),
    "numbers and places": lambda x: CSR((x, ([0, 1, 2], [1, 2, 0])), shape=(3, 3)).toarray(),
    "blocks": lambda x: sparse.block_diag([np.outer(x, x), np.outer(x, x)]).toarray(),
    "a format": lambda x: CSR(np.outer(x, x)).tocsc().toarray(),
    "a part": lambda x: sparse.tril(np.outer(x, x)).diagonal(),
}


@pytest.mark.parametrize("name", OF_CONSTRUCTIONS)
def test_second_derivatives_of_what_makes_sparse_arrays_are_refused_by_name(name):
    f, x = traceable(OF_CONSTRUCTIONS[name]), random(3)
    tangent = jvp(f, (x,), (np.ones(3),))[1]
    np.testing.assert_allclose(tangent, jvp_fd(OF_CONSTRUCTIONS[name], (x,), (np.ones(3),)).value, atol=1e-9)
    for of_first in (
        lambda x: jvp(f, (x,), (np.ones(3),))[1],
        lambda x: jvp(f, (np.ones(3),), (x,))[1],
        lambda x: vjp(f, x)[1](tangent),
        lambda x: vjp(f, np.ones(3))[1](tangent * x[0])[0],
    ):
        with pytest.raises(MissingDerivativeError, match="a sparse array"):
            jvp(of_first, (x,), (x,))
        with pytest.raises(MissingDerivativeError, match="a sparse array"):
            vjp(of_first, x)[1](np.ones(3))


@pytest.mark.skipif(SCIPY < "1.15.0", reason="SciPy 1.15 takes blocks of more than two axes")
def test_blocks_of_more_than_two_axes_whose_entries_scipy_adds_up_have_no_rule():
    blocks = [[np.ones((2, 2, 2)), None], [None, np.eye(2)]]
    assert sparse.bmat(blocks).shape[0] == 4
    with pytest.raises(NoRuleError):
        grad(lambda x: primitive(sparse.bmat)([[x, None], [None, np.eye(2)]]).sum())(blocks[0][0])
