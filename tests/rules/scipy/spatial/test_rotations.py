"""Rotations in differentiated functions: what is built there behaves as SciPy's does, and moves as matrices do."""

import copy
import pickle

import numpy as np
import pytest
import scipy.linalg
from scipy import spatial
from scipy.spatial.transform import Rotation

from rules.scipy.spatial import rotations
from rulescore import MissingDerivativeError, NoTangent, NotImplementedTangent, Tangent, frule, rrule, unthunk
from rulescore.ad import grad, hessian, jacfwd, primitive

RNG = np.random.default_rng(4)
V, X = RNG.standard_normal((4, 3)), RNG.standard_normal((4, 3))
BUILT = {
    "from_rotvec": (V,),
    "from_quat": (RNG.standard_normal((4, 4)),),
    "from_mrp": (V,),
    "from_euler": ("ZXY", V),
}


@pytest.mark.parametrize("build", BUILT)
def test_a_rotation_of_ours_is_that_of_scipy(build):
    ours, scipys = (getattr(x, build)(*BUILT[build]) for x in (rotations, Rotation))
    for name in ("as_quat", "as_matrix", "as_rotvec", "as_mrp", "magnitude"):
        np.testing.assert_allclose(getattr(ours, name)(), getattr(scipys, name)(), atol=1e-14)
    np.testing.assert_allclose(ours.apply(X, inverse=True), scipys.apply(X, inverse=True), atol=1e-14)
    product = (scipys * scipys.inv()[::-1]).as_matrix()
    for one, other in ((ours, ours), (ours, scipys), (scipys, ours)):
        np.testing.assert_allclose((one * other.inv()[::-1]).as_matrix(), product, atol=1e-14)
    np.testing.assert_allclose(ours.as_euler("xyz"), scipys.as_euler("xyz"), atol=1e-12)
    for copied in (copy.copy(ours), pickle.loads(pickle.dumps(ours))):
        np.testing.assert_array_equal(copied.as_quat(), ours.as_quat())


BUILT_WITHIN = pytest.mark.skipif(
    not rotations.BUILT_HERE, reason="before SciPy 1.17 a method such as Rotation.from_quat is another object each time"
)


@BUILT_WITHIN
def test_the_rotation_vector_0_has_all_derivatives():
    turn = primitive(Rotation.from_rotvec)
    np.testing.assert_array_equal(grad(lambda v: turn(v).apply([1.0, 0.0, 0.0])[1])(np.zeros(3)), [0, 0, 1])
    second = hessian(lambda v: turn(v).apply([1.0, 0.0, 0.0])[0])(np.zeros(3))
    np.testing.assert_allclose(second, np.diag([0, -1, -1]), atol=1e-12)
    back_and_forth = jacfwd(lambda v: turn(v).as_rotvec())
    np.testing.assert_allclose(back_and_forth(np.zeros(3)), np.eye(3), atol=1e-12)
    np.testing.assert_allclose(back_and_forth(V[0]), np.eye(3), atol=1e-12)


@BUILT_WITHIN
def test_a_rotation_vector_is_an_exponential():
    turn, exponential = primitive(Rotation.from_rotvec), primitive(scipy.linalg.expm)

    def by_matrix(v):
        cross = np.stack([np.cross(v, unit) for unit in np.eye(3)], axis=1)
        return np.sum(np.sin(exponential(cross) @ X[0]))

    gradient = grad(lambda v: np.sum(np.sin(turn(v).apply(X[0]))))(V[0])
    np.testing.assert_allclose(gradient, grad(by_matrix)(V[0]), atol=1e-12)


def test_vectors_are_turned_back_by_the_pullback():
    rotation = Rotation.from_rotvec(V)
    gradient = grad(lambda x: np.sum(V * primitive(Rotation.apply)(rotation, x)))(X)
    np.testing.assert_allclose(gradient, rotation.apply(V, inverse=True), atol=1e-14)
    np.testing.assert_allclose(jacfwd(primitive(rotation[0].apply))(X[0]), rotation[0].as_matrix(), atol=1e-14)


def test_a_rotation_that_is_an_argument_has_a_structural_cotangent_where_it_is_ours():
    rotation, dq = rotations.from_rotvec(V[0]), RNG.standard_normal(4)
    _, rbar, _ = rrule(Rotation.apply, rotation, X)[1](np.ones((4, 3)))
    tangent = Tangent(rotations.Rotation, quaternion=dq)
    _, dy = frule((NoTangent(), tangent, NoTangent()), Rotation.apply, rotation, X)
    assert np.sum(unthunk(rbar.quaternion) * dq) == pytest.approx(np.sum(dy))
    step = 1e-6
    above, below = (rotations.Rotation(rotation.quaternion + s * dq).apply(X) for s in (step, -step))
    np.testing.assert_allclose(dy, (above - below) / (2 * step), atol=1e-8)
    _, dy = frule((NoTangent(), 1.0, NoTangent()), Rotation.apply, Rotation.from_rotvec(V[0]), X)
    assert isinstance(dy, NotImplementedTangent)


@BUILT_WITHIN
def test_what_is_not_known_of_a_moving_rotation_says_so():
    with pytest.raises(MissingDerivativeError, match=r"Rotation\.as_euler"):
        grad(lambda v: primitive(Rotation.from_rotvec)(v).as_euler("xyz")[0])(V[0])
    with pytest.raises(AttributeError, match=r"rotation\.apply\(x\)"):
        grad(lambda v: Rotation.apply(primitive(Rotation.from_rotvec)(v), X)[0, 0])(V[0])


@BUILT_WITHIN
def test_what_scipy_refuses_is_refused():
    with pytest.raises(ValueError, match="zero norm"):
        grad(lambda q: primitive(Rotation.from_quat)(q).as_quat()[0])(np.zeros(4))


# ---------------------------------------------------------------- distances by broadcasting, and shapes


@pytest.mark.parametrize("p", [1, 1.5, 2, np.inf])
def test_points_that_coincide_have_the_slope_0(p):
    gradient = grad(lambda x: np.sum(primitive(spatial.distance_matrix)(x, np.ones((1, 2)), p)))
    np.testing.assert_array_equal(gradient(np.ones((1, 2))), 0)
    np.testing.assert_array_equal(gradient(np.array([[1.0, 3.0]])), [[0, 1]])


def test_shapes_that_differ_by_a_motion_have_a_disparity_that_does_not_move():
    turned = 2 * Rotation.from_rotvec(V[0]).apply(X) + 1
    disparity = grad(lambda x: primitive(spatial.procrustes)(X, x)[2])
    np.testing.assert_allclose(disparity(turned), 0, atol=1e-12)
    radial = disparity(V)
    np.testing.assert_allclose(np.sum(radial, axis=0), 0, atol=1e-12)  # of no influence: where it lies
    assert np.sum(radial * V) == pytest.approx(0)  # and how large it is
    assert np.any(np.abs(radial) > 1e-3)
