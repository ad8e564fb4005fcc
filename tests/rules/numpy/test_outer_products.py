"""What the rules of outer, kron, tensordot and cross answer, against sums written out with einsum."""

import numpy as np
import pytest

from rulescore import NoTangent, frule, rrule, unthunk
from testutils.samples.sampling import samples_of
from testutils.testers import check_sample

FUNCTIONS = [f for f in rrule if any(r.module == "rules.numpy.outer_products" for r in rrule.records(f))]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_rules_agree_with_finite_differences(f):
    samples = samples_of(f, seed=1)
    assert samples
    for sample in samples:
        report = check_sample(f, sample)
        assert report.verdict == "pass", str(report)


rng = np.random.default_rng(0)
a23, b23, b34 = rng.standard_normal((2, 3)), rng.standard_normal((2, 3)), rng.standard_normal((3, 4))


def cotangents(f, a, b, ybar, *args, **kwargs):
    return [unthunk(bar) for bar in rrule(f, a, b, *args, **kwargs)[1](ybar)[1:3]]


def test_kron_sums_over_the_other_factor():
    ybar = rng.standard_normal((6, 12))
    abar, bbar = cotangents(np.kron, a23, b34, ybar)
    blocks = ybar.reshape(2, 3, 3, 4)  # row of a, row of b, column of a, column of b
    np.testing.assert_allclose(abar, np.einsum("irjc,rc->ij", blocks, b34))
    np.testing.assert_allclose(bbar, np.einsum("irjc,ij->rc", blocks, a23))


def test_kron_of_a_matrix_and_a_vector():
    b = rng.standard_normal(2)
    ybar = rng.standard_normal((2, 6))
    abar, bbar = cotangents(np.kron, a23, b, ybar)
    np.testing.assert_allclose(abar, np.einsum("ijc,c->ij", ybar.reshape(2, 3, 2), b))
    np.testing.assert_allclose(bbar, np.einsum("ijc,ij->c", ybar.reshape(2, 3, 2), a23))


def test_outer_flattens_both_factors():
    ybar = rng.standard_normal((6, 12))
    abar, bbar = cotangents(np.outer, a23, b34, ybar)
    np.testing.assert_allclose(abar, (ybar @ b34.ravel()).reshape(2, 3))
    np.testing.assert_allclose(bbar, (a23.ravel() @ ybar).reshape(3, 4))


def test_the_complex_convention():
    """ā = ȳ conj(b), which is what the pairing Re Σ conj(ȳ) dy says."""
    a, b, ybar = np.array([1 + 2j]), np.array([3 - 1j]), np.array([[2 + 5j]])
    for f in (np.outer, np.linalg.outer, np.kron):
        y = f(a, b)
        abar, bbar = cotangents(f, a, b, ybar.reshape(y.shape))
        assert abar == ybar * b.conj()
        assert bbar == ybar * a.conj()
    abar, _ = cotangents(np.outer, a.real, b, ybar)
    np.testing.assert_array_equal(abar, [(ybar * b.conj()).real.item()], strict=True)


@pytest.mark.parametrize(
    ("shapes", "axes", "equation"),
    [
        (((3, 4, 5), (4, 5, 2)), 2, "ijk,jkl->il"),
        (((3,), (2,)), 0, "i,j->ij"),
        (((3, 4, 5), (5, 2, 4)), ([1, 2], [2, 0]), "ijk,klj->il"),
        (((3, 4, 5), (5, 2, 4)), ([-1, 1], [0, -1]), "ijk,klj->il"),
        (((3, 4, 2), (2, 4, 3)), ((2, 0), (0, 2)), "ijk,kli->jl"),
        (((3, 4), (5, 4)), (1, 1), "ij,kj->ik"),
        (((2, 3), (3, 2)), ([0, 1], [1, 0]), "ij,ji->"),
    ],
)
@pytest.mark.parametrize("f", [np.tensordot, np.linalg.tensordot])
def test_tensordot_is_the_einstein_sum(f, shapes, axes, equation):
    a, b = map(rng.standard_normal, shapes)
    y, _ = rrule(f, a, b, axes=axes)
    ybar = rng.standard_normal(y.shape)
    abar, bbar = cotangents(f, a, b, ybar, axes=axes)
    (of_a, of_b), of_y = equation.split("->")[0].split(","), equation.split("->")[1]
    np.testing.assert_allclose(y, np.einsum(equation, a, b))
    np.testing.assert_allclose(abar, np.einsum(f"{of_y},{of_b}->{of_a}", ybar, b))
    np.testing.assert_allclose(bbar, np.einsum(f"{of_y},{of_a}->{of_b}", ybar, a))


# ---------------------------------------------------------------- cross

LEVI_CIVITA = np.zeros((3, 3, 3))
for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    LEVI_CIVITA[i, j, k], LEVI_CIVITA[i, k, j] = 1, -1


def test_cross_is_the_contraction_with_levi_civita():
    a, b, ybar = (rng.standard_normal((4, 3)) for _ in range(3))
    abar, bbar = cotangents(np.cross, a, b, ybar)
    np.testing.assert_allclose(abar, np.einsum("ijk,nk,ni->nj", LEVI_CIVITA, b, ybar))
    np.testing.assert_allclose(bbar, np.einsum("ijk,nj,ni->nk", LEVI_CIVITA, a, ybar))


def test_the_axes_of_cross_only_say_where_the_vectors_are():
    a, b, ybar = (rng.standard_normal((4, 3)) for _ in range(3))
    wanted = cotangents(np.cross, a, b, ybar)
    abar, bbar = cotangents(np.cross, a.T, b, ybar.T, axisa=0, axisb=1, axisc=0)
    np.testing.assert_allclose((abar.T, bbar), wanted)
    abar, bbar = cotangents(np.cross, a.T, b.T, ybar.T, axis=0, axisa=7)
    np.testing.assert_allclose((abar.T, bbar.T), wanted)
    abar, bbar = cotangents(np.linalg.cross, a.T, b.T, ybar.T, axis=-2)
    np.testing.assert_allclose((abar.T, bbar.T), wanted)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) >= "2.5.0", reason="vectors in space alone have a product")
@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors are deprecated")
def test_vectors_in_the_plane():
    """Gone in NumPy 2.5. The third entry of such a vector is zero, of two such the output is the third entry."""
    a, b = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0], [7.0, 9.0]])
    abar, bbar = cotangents(np.cross, a, b, np.array([1.0, 2.0]))
    np.testing.assert_array_equal(abar, [[6, -5], [18, -14]])
    np.testing.assert_array_equal(bbar, [[-2, 1], [-8, 6]])
    c = np.array([5.0, 6.0, 7.0])
    y, _ = rrule(np.cross, a, c)
    np.testing.assert_array_equal(y, np.cross(np.array([[1.0, 2.0, 0.0], [3.0, 4.0, 0.0]]), c))
    abar, cbar = cotangents(np.cross, a, c, np.ones((2, 3)))
    wanted_a, wanted_c = cotangents(np.cross, np.concatenate([a, np.zeros((2, 1))], 1), c, np.ones((2, 3)))
    np.testing.assert_array_equal(abar, wanted_a[:, :2])
    np.testing.assert_array_equal(cbar, wanted_c)
    _, dy = frule((NoTangent(), np.ones((2, 2)), NoTangent()), np.cross, a, b)
    np.testing.assert_array_equal(dy, [1, 2])


# ---------------------------------------------------------------- all of them


@pytest.mark.parametrize("f", [np.outer, np.linalg.outer, np.kron, np.cross, np.linalg.cross, np.tensordot])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.complex64])
def test_precision_is_kept_both_ways(f, dtype):
    x, kwargs = np.ones(3, dtype), {"axes": 1} if f is np.tensordot else {}
    y, pullback = rrule(f, x, x, **kwargs)
    assert [unthunk(bar).dtype for bar in pullback(np.ones_like(y))[1:3]] == [dtype, dtype]
    assert frule((NoTangent(), x, x), f, x, x, **kwargs)[1].dtype == dtype


@pytest.mark.parametrize("f", [np.outer, np.linalg.outer, np.kron, np.cross, np.linalg.cross])
def test_out_and_unknown_keywords_have_no_rule(f):
    x = np.ones(3)
    assert rrule(f, x, x) is not None
    assert rrule(f, x, x, out=np.ones((3, 3))) is None
    assert frule((NoTangent(), x, x), f, x, x, out=np.ones((3, 3))) is None


def test_an_out_that_is_none_is_no_out():
    assert rrule(np.outer, np.ones(2), np.ones(2), None) is not None
    assert rrule(np.outer, np.ones(2), np.ones(2), out=None) is not None


def test_linalg_outer_takes_vectors_alone():
    with pytest.raises(ValueError, match="one-dimensional"):
        rrule(np.linalg.outer, a23, b23)


def test_a_factor_nobody_asks_about_is_not_kept():
    _, pullback = rrule.call(np.kron, (a23, b34), needs=(True, False))
    assert pullback(np.ones((6, 12)))[2] is NoTangent()
