"""What the rules of distances answer, exactly: where points coincide, at ties, far from the origin; and the cost."""

import tracemalloc

import numpy as np
import pytest
from scipy.spatial import distance

from rules.scipy.spatial.metrics import SLOPES
from rulescore import MissingDerivativeError, NoTangent, NotImplementedTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, hessian, primitive
from testutils import jacobian_fd
from testutils.samples.scipy.spatial.distances import OPTIONS, points

RNG = np.random.default_rng(3)


def cotangents(f, *args, ybar=1.0, **kwargs):
    return [unthunk(bar) for bar in rrule(f, *args, **kwargs)[1](ybar)[1:]]


@pytest.mark.parametrize("metric", sorted(set(SLOPES) - {"jensenshannon"}))
def test_points_that_coincide_have_no_cotangent(metric):
    x = np.array([[0.5, -1.0, 2.0], [0.5, -1.0, 2.0]])
    (xbar,) = cotangents(distance.pdist, x, metric, ybar=np.ones(1), **OPTIONS[metric])
    np.testing.assert_allclose(xbar, 0, atol=1e-15)
    abar, bbar = cotangents(distance.cdist, x, x[:1], metric, ybar=np.ones((2, 1)), **OPTIONS[metric])
    np.testing.assert_allclose(abar, 0, atol=1e-15)
    np.testing.assert_allclose(bbar, 0, atol=1e-15)


@pytest.mark.parametrize("metric", ["euclidean", "minkowski", "chebyshev", "cosine", "correlation", "canberra"])
def test_the_zero_vector_gets_numbers(metric):
    with np.errstate(invalid="ignore", divide="ignore"):
        abar, bbar = cotangents(distance.cdist, np.zeros((1, 3)), np.zeros((1, 3)), metric, ybar=np.ones((1, 1)))
    assert np.isfinite(abar).all()
    assert np.isfinite(bbar).all()


def test_a_distance_that_is_too_small_for_its_precision_does_not_move():
    u, v, w = np.array([1e-3, 2e-3]), np.array([-1e-3, 1e-3]), np.array([1e-3, 2e-3])
    assert distance.minkowski(u, v, 3e-3, w) == 0
    assert all(np.all(bar == 0) for bar in cotangents(distance.minkowski, u, v, 3e-3, w))


@pytest.mark.parametrize("metric", sorted(SLOPES))
def test_all_pairs_have_the_slopes_of_each_pair(metric):
    """What is summed by products of matrices, against the distance of two vectors."""
    a, b, options = points(RNG, metric, 3), points(RNG, metric, 2), OPTIONS[metric]
    ybar = RNG.standard_normal((3, 2))
    abar, bbar = cotangents(distance.cdist, a, b, metric, ybar=ybar, **options)
    wanted_a, wanted_b = np.zeros_like(a), np.zeros_like(b)
    for i in range(3):
        for j in range(2):
            ubar, vbar, *_ = cotangents(getattr(distance, metric), a[i], b[j], *options.values(), ybar=ybar[i, j])
            wanted_a[i] += ubar
            wanted_b[j] += vbar
    np.testing.assert_allclose(abar, wanted_a, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(bbar, wanted_b, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("metric", sorted(SLOPES))
def test_pdist_is_cdist_with_itself(metric):
    x, options = points(RNG, metric, 5), OPTIONS[metric]
    ybar = RNG.standard_normal(10)
    (xbar,) = cotangents(distance.pdist, x, metric, ybar=ybar, **options)
    square = np.triu(distance.squareform(ybar))
    abar, bbar = cotangents(distance.cdist, x, x, metric, ybar=square, **options)
    np.testing.assert_allclose(xbar, abar + bbar, rtol=1e-12, atol=1e-14)


def test_the_largest_difference_is_shared_among_ties():
    ubar, vbar = cotangents(distance.chebyshev, np.array([1.0, -2.0, 2.0]), np.zeros(3))
    assert ubar.tolist() == [0, -0.5, 0.5]
    assert vbar.tolist() == [0, 0.5, -0.5]


def test_the_distance_far_from_the_origin_keeps_its_digits():
    a, b = RNG.standard_normal((4, 3)), RNG.standard_normal((5, 3))
    shift = 2.0**20
    a, b = (a + shift) - shift, (b + shift) - shift  # to digits that the shift leaves
    near, _ = cotangents(distance.cdist, a, b, ybar=np.ones((4, 5)))
    far, _ = cotangents(distance.cdist, a + shift, b + shift, ybar=np.ones((4, 5)))
    np.testing.assert_allclose(far, near, rtol=1e-9)


def test_counting_metrics_have_derivative_zero():
    _, pullback = rrule(distance.cdist, np.eye(2), np.eye(2), "hamming")
    assert pullback(np.ones((2, 2)))[1:] == (ZeroTangent(), ZeroTangent())
    assert set(rrule(distance.jaccard, [True, False], [True, True])[1](1.0)) == {NoTangent()}


def test_a_function_of_the_user_s_has_no_rule():
    assert rrule(distance.cdist, np.eye(2), np.eye(2), lambda u, v: 0.0) is None
    assert rrule(distance.pdist, np.eye(2), "no such metric") is None


def test_what_scipy_computes_from_the_points_has_to_be_given():
    _, pullback = rrule(distance.pdist, RNG.standard_normal((5, 2)), "seuclidean")
    with pytest.raises(MissingDerivativeError, match=r"pass a constant V=, or take .* of X / np\.sqrt\(V\)"):
        unthunk(pullback(np.ones(10))[1])


@pytest.mark.parametrize(
    ("metric", "option", "scaled"),
    [
        ("seuclidean", {"V": np.array([0.7, 2.0])}, lambda x, v: x / np.sqrt(v)),
        ("mahalanobis", {"VI": np.array([[2.0, 0.5], [0.5, 1.0]])}, lambda x, v: x @ np.linalg.cholesky(v)),
    ],
)
def test_the_advice_for_what_scipy_computes_from_the_points_works(metric, option, scaled):
    x = RNG.standard_normal((5, 2))
    (v,) = option.values()
    np.testing.assert_allclose(distance.pdist(scaled(x, v)), distance.pdist(x, metric, **option))
    wanted = jacobian_fd(lambda v: np.sum(distance.pdist(scaled(x, v))), v).value
    gradient = grad(lambda v: np.sum(primitive(distance.pdist)(scaled(x, v), "euclidean")))(v)
    np.testing.assert_allclose(gradient.ravel(), wanted.ravel(), rtol=1e-6)


@pytest.mark.parametrize("metric", [distance.braycurtis, distance.canberra, distance.cityblock])
def test_one_number_stands_for_all_that_are_weighted(metric):
    u, v, w = np.array([1.5]), np.array([-2.5]), np.array([0.5, 0.7, 0.2])
    of_one = grad(primitive(metric), (0, 1, 2))(u, v, w)
    of_three = grad(primitive(metric), (0, 1, 2))(np.repeat(u, 3), np.repeat(v, 3), w)
    for one, three in zip(of_one, of_three, strict=True):
        np.testing.assert_allclose(one, np.sum(three, keepdims=True) if one.size == 1 else three, rtol=1e-14)


def test_parameters_that_the_table_lacks_say_so():
    _, pullback = rrule(distance.jensenshannon, [0.5, 0.5], [0.25, 0.75], 2.0)
    base_bar = unthunk(pullback(1.0)[3])
    assert isinstance(base_bar, NotImplementedTangent)
    assert "base" in base_bar.message


def test_integer_points_have_no_cotangent():
    _, pullback = rrule(distance.cdist, np.array([[0, 0]]), np.array([[3.0, 4.0]]))
    _, abar, bbar = pullback(np.ones((1, 1)))
    assert abar is NoTangent()
    np.testing.assert_allclose(unthunk(bbar), [[0.6, 0.8]])


def test_single_precision_gets_single_precision():
    a = RNG.standard_normal((3, 2)).astype(np.float32)
    abar, bbar = cotangents(distance.cdist, a, a.astype(float) + 1, ybar=np.ones((3, 3)))
    assert abar.dtype == np.float32
    assert bbar.dtype == np.float64


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine", "correlation"])
def test_no_array_has_the_coordinates_of_all_pairs(metric):
    a, b = RNG.standard_normal((300, 40)), RNG.standard_normal((300, 40))
    _, pullback = rrule(distance.cdist, a, b, metric)
    ybar = np.ones((300, 300))
    tracemalloc.start()
    unthunk(pullback(ybar)[1])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 300 * 300 * 8


def test_a_cotangent_nobody_asks_for_is_not_computed(monkeypatch):
    _, pullback = rrule(distance.cdist, np.eye(3), np.eye(3))
    monkeypatch.setattr("rules.scipy.spatial.pairwise.slopes_of", lambda *args: pytest.fail("computed"))
    pullback(np.ones((3, 3)))


def test_the_two_points_of_the_hausdorff_distance_move_it():
    u, v = np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 0.0], [0.0, 0.5]])
    y, pullback = rrule(distance.directed_hausdorff, u, v)
    _, ubar, vbar = map(unthunk, pullback((1.0, NoTangent(), NoTangent())))
    direction = np.array([3.0, 3.5]) / y[0]
    np.testing.assert_allclose(ubar, [[0, 0], direction])
    np.testing.assert_allclose(vbar, [[0, 0], -direction])


@pytest.mark.parametrize("shapes", [((0, 2), (3, 2)), ((3, 2), (0, 2))])
def test_the_hausdorff_distance_of_no_points_has_no_rule(shapes):
    u, v = map(np.ones, shapes)
    assert rrule(distance.directed_hausdorff, u, v) is None
    assert frule((NoTangent(), u, v), distance.directed_hausdorff, u, v) is None


def test_a_vector_s_number_stands_in_two_places_of_the_matrix():
    _, pullback = rrule(distance.squareform, np.array([1.0, 2.0, 3.0]))
    xbar = pullback(np.array([[9.0, 1, 2], [10, 9, 3], [20, 30, 9]]))[1]
    assert xbar.tolist() == [11, 22, 33]
    dy = frule((NoTangent(), np.array([1.0, 2.0, 3.0])), distance.squareform, np.ones(3))[1]
    np.testing.assert_array_equal(dy, distance.squareform(np.array([1.0, 2.0, 3.0])))


def test_second_derivatives_are_those_of_the_norm():
    pdist, x = primitive(distance.pdist), np.array([[0.0, 0.0], [3.0, 4.0]])
    found = hessian(lambda x: np.sum(pdist(x)))(x)
    u = np.array([0.6, 0.8])
    block = (np.eye(2) - np.outer(u, u)) / 5
    np.testing.assert_allclose(found[0, :, 0], block, atol=1e-15)
    np.testing.assert_allclose(found[0, :, 1], -block, atol=1e-15)
    np.testing.assert_allclose(grad(lambda x: np.sum(pdist(x)))(x), [-u, u])


def test_a_metric_that_counts_moves_with_its_weights_alone():
    u, v, w = np.array([1.0, 0.0, 1.0]), np.array([1.0, 1.0, 0.0]), np.array([1.0, 2.0, 3.0])
    ubar, vbar, wbar = cotangents(distance.hamming, u, v, w)
    assert ubar == vbar == ZeroTangent()
    np.testing.assert_allclose(wbar, [-5 / 36, 1 / 36, 1 / 36])  # of (w₁ + w₂) / (w₀ + w₁ + w₂) = 5 / 6
    *_, wbar = cotangents(distance.yule, u, v, w)
    assert isinstance(wbar, NotImplementedTangent)
