"""Jacobians and Hessians: in one pass and in many, against finite differences, in the form that JAX gives them."""

import dataclasses
import math

import numpy as np
import pytest

from rulescore import NoTangent, rrule, scalar_rule
from rulescore.ad import UnrelatedOutputError, grad, jvp, vjp
from rulescore.ad.batches import batch
from rulescore.ad.jacobians import hessian, hvp, jacfwd, jacrev
from rulescore.ad.messages.unused_rules import RuleNotUsedWarning
from rulescore.ad.primitives import primitive
from testutils import jacobian_fd

RNG = np.random.default_rng(5)
W, B, V = RNG.standard_normal((4, 6)), RNG.standard_normal(4), RNG.standard_normal(6)
SPD = np.eye(3) * 4 + 0.3
ORDER = np.array([3, 0, 0, 5])
WEIGHTS = RNG.standard_normal(100)
MODES = pytest.mark.parametrize("jacobian", [jacrev, jacfwd], ids=["jacrev", "jacfwd"])


def normal(*shape):
    return np.random.default_rng(len(shape)).standard_normal(shape)


@pytest.fixture
def passes(monkeypatch):
    """How many directions were taken one after the other."""
    counts = []
    one_after_the_other = batch._one_after_the_other

    def counted(linear_map, directions, count):
        counts.append(count)
        return one_after_the_other(linear_map, directions, count)

    monkeypatch.setattr(batch, "_one_after_the_other", counted)
    return counts


# ---------------------------------------------------------------- values

FUNCTIONS = {
    "layer": lambda x: np.tanh(W @ x + B),
    "chain": lambda x: np.exp(np.sin(x) * x) / (1 + x**2) - np.sqrt(x * x + 1.0),
    "softmax": lambda x: np.exp(x - np.max(x)) / np.sum(np.exp(x - np.max(x))),
    "logsumexp": lambda x: np.log(np.sum(np.exp(x.reshape(2, 3)), axis=1)),
    "outer": lambda x: np.outer(x, V),
    "dot": lambda x: np.dot(x.reshape(2, 3), W.reshape(3, 8)),
    "dot from the left": lambda x: np.dot(W.reshape(8, 3), x.reshape(3, 2)),
    "products of stacks": lambda x: x.reshape(3, 1, 2) @ W.reshape(3, 2, 4),
    "inner": lambda x: np.inner(x.reshape(2, 3), W.reshape(8, 3)),
    "vdot": lambda x: np.vdot(x, x) * x,
    "einsum": lambda x: np.einsum("ij,kj->ik", x.reshape(2, 3), W.reshape(8, 3)),
    "tensordot": lambda x: np.tensordot(x.reshape(2, 3), W.reshape(3, 4, 2), axes=1),
    "inv": lambda x: np.linalg.inv(SPD + np.outer(x[:3], x[3:])),
    "solve": lambda x: np.linalg.solve(SPD + np.diag(x[:3]), x[3:]),
    "cholesky": lambda x: np.linalg.cholesky(SPD + np.outer(x[:3], x[:3])),
    "norm": lambda x: x / np.linalg.norm(x),
    "moments": lambda x: np.stack([np.mean(x), np.var(x), np.std(x), np.prod(x), np.max(x), np.min(x)]),
    "reductions with axes": lambda x: (
        np.sum(x.reshape(2, 3), axis=0, keepdims=True) * np.mean(x.reshape(3, 2), 1)[:, None]
    ),
    "scans": lambda x: np.cumsum(x) * np.cumprod(x.reshape(3, 2), axis=0).ravel(),
    "diff": lambda x: np.diff(x, n=2) * np.diff(x.reshape(2, 3), axis=0)[0, 0],
    "sort": lambda x: np.sort(x) * np.flip(x),
    "indexing": lambda x: x[ORDER] * x[1:5] + x.reshape(2, 3)[1, [0, 1, 1, 2]],
    "indices that stand apart": lambda x: x.reshape(1, 2, 3)[[0, 0], :, [2, 1]] ** 2,
    "masks": lambda x: x[np.arange(6) % 2 == 0] * np.where(np.arange(3) > 0, x[:3], 0.0),
    "iteration": lambda x: np.stack([a * b for a, b in zip(x, x[::-1], strict=True)]),
    "joining": lambda x: np.concatenate([x[:2] ** 2, np.ones(2), np.hstack([x[4], x[5:]])]),
    "splitting": lambda x: np.vstack([part * part[0] for part in np.split(x, 3)]),
    "shapes": lambda x: np.broadcast_to(np.squeeze(x[None, :, None]), (2, 6)).T.reshape(3, -1, order="F") ** 2,
    "axes": lambda x: np.moveaxis(x.reshape(1, 2, 3), 0, 2).transpose(1, 0, 2).swapaxes(0, 1) ** 3,
    "rearranging": lambda x: np.roll(x, 2) * np.repeat(x[:2], 3) + np.tile(x[:3], 2) * np.pad(x[1:5], 1),
    "triangles": lambda x: np.tril(np.outer(x, x)) + np.triu(x.reshape(2, 3) @ W.reshape(3, 8), 1)[0, 0],
    "fft": lambda x: np.abs(np.fft.fft(x)) ** 2,
    "complex within": lambda x: np.real((x + 1j * x[::-1]) ** 3) + np.angle(x + 2j),
    "in place": lambda x: _in_place(x),
    "a branch": lambda x: x**2 if x[0] < 100 else x,
    "float32": lambda x: np.sin(x.astype(np.float32)).astype(np.float64),
    "a scalar": lambda x: np.sum(x**3),
    "clip": lambda x: np.clip(x, -0.2, 0.7) * np.maximum(x, 0.1) * np.minimum(x, x[0] + 0.01),
    "kron": lambda x: np.kron(x[:2], x[2:]),
    "interpolation": lambda x: np.interp(0.4, np.arange(6.0), x) * x,
}


def _in_place(x):
    y = np.zeros(8, like=x)
    y[:6] = x * 2
    y[2:] += x**2
    y[ORDER] *= x[2:]
    return y


@MODES
@pytest.mark.parametrize("name", FUNCTIONS)
def test_jacobians_are_those_of_finite_differences_in_one_pass_and_in_many(name, jacobian, passes, monkeypatch):
    f, x = FUNCTIONS[name], normal(6)
    at_once = jacobian(f)(x)
    assert all(count == 1 for count in passes)
    with monkeypatch.context() as patch:
        patch.setattr(batch, "_at_once", None)  # calling it fails
        one_by_one = jacobian(f)(x)
    expected = jacobian_fd(f, x)
    assert at_once.shape == one_by_one.shape == (*np.shape(f(x)), 6)
    assert at_once.dtype == one_by_one.dtype == float
    np.testing.assert_allclose(at_once, one_by_one, rtol=1e-12, atol=1e-13)
    tolerance = 1e-3 if name == "float32" else 1e-6  # the differences of numbers with seven digits
    np.testing.assert_allclose(at_once.reshape(-1, 6), expected.value, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    "name",
    [
        *("layer", "chain", "logsumexp", "products of stacks", "solve", "moments", "sort", "indices that stand apart"),
        *("joining", "splitting", "shapes", "fft", "in place", "clip"),
    ],
)
def test_hessians_are_those_of_finite_differences(name, passes):
    f, x = FUNCTIONS[name], normal(6)

    def loss(x):
        y = f(x)
        return np.sum(y * WEIGHTS[: y.size].reshape(y.shape))

    found = hessian(loss)(x)
    np.testing.assert_allclose(found, jacobian_fd(grad(loss), x).value, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found, found.T, rtol=1e-9, atol=1e-9)
    (product,) = hvp(loss, (x,), (V,))
    np.testing.assert_allclose(product, found @ V, rtol=1e-9, atol=1e-9)
    assert all(count == 1 for count in passes)


@pytest.mark.parametrize("outer", [jacrev, jacfwd])
@pytest.mark.parametrize("inner", [jacrev, jacfwd])
def test_jacobians_nest_in_any_mixture(outer, inner):
    f, x = FUNCTIONS["layer"], normal(6)
    second = outer(inner(f))(x)
    assert second.shape == (4, 6, 6)
    np.testing.assert_allclose(second.reshape(24, 6), jacobian_fd(inner(f), x).value, rtol=1e-6, atol=1e-7)
    third = outer(outer(inner(lambda x: x**4)))(np.array([1.0, 2.0]))
    assert third.shape == (2, 2, 2, 2)
    np.testing.assert_allclose(third[1, 1, 1, 1], 48.0)
    assert np.count_nonzero(third) == 2


@MODES
def test_gradients_of_jacobians(jacobian):
    def loss(x):
        return np.sum(jacobian(FUNCTIONS["softmax"])(x) ** 2)

    x = normal(6)
    np.testing.assert_allclose(grad(loss)(x), jacobian_fd(loss, x).value[0], rtol=1e-6, atol=1e-8)


@MODES
def test_jacobians_of_functions_with_jacobians_in_them(jacobian):
    def step(x):  # of Newton's method
        return x - np.linalg.solve(jacobian(lambda x: x**3 + np.sum(x))(x), x**3 + np.sum(x))

    x = np.array([1.0, 2.0, 0.5])
    np.testing.assert_allclose(jacobian(step)(x), jacobian_fd(step, x).value, rtol=1e-6, atol=1e-8)


@MODES
def test_what_is_captured_from_outside_is_differentiated_too(jacobian):
    def loss(w):
        return np.sum(jacobian(lambda x: np.sin(w * x))(np.array([1.0, 2.0])))

    np.testing.assert_allclose(grad(loss)(0.7), jacobian_fd(loss, 0.7).value[0, 0], rtol=1e-7)


# ---------------------------------------------------------------- forms


@MODES
def test_the_jacobian_has_the_axes_of_the_output_and_then_those_of_the_input(jacobian):
    x = normal(2, 3)
    assert jacobian(lambda x: np.sum(x, axis=0))(x).shape == (3, 2, 3)
    assert jacobian(np.sum)(x).shape == (2, 3)
    assert jacobian(lambda t: np.stack([t, t**2]))(1.0).shape == (2,)
    scalar = jacobian(lambda t: t**2)(3.0)
    assert isinstance(scalar, np.float64)
    assert scalar == 6.0


@MODES
def test_a_tree_of_the_output_has_trees_of_the_argument_at_its_leaves(jacobian):
    def f(p, scale):
        return {"y": p["w"] @ p["b"] * scale, "losses": (np.sum(p["w"] ** 2), [p["b"] * 2])}

    p = {"w": normal(2, 3), "b": normal(3)}
    found = jacobian(f)(p, 2.0)
    assert _shapes(found) == {
        "y": {"w": (2, 2, 3), "b": (2, 3)},
        "losses": ({"w": (2, 3), "b": (3,)}, [{"w": (3, 2, 3), "b": (3, 3)}]),
    }
    np.testing.assert_allclose(found["y"]["b"], 2 * p["w"])
    np.testing.assert_allclose(found["losses"][0]["w"], 2 * p["w"])
    np.testing.assert_array_equal(found["losses"][0]["b"], np.zeros(3))
    np.testing.assert_array_equal(found["losses"][1][0]["b"], 2 * np.eye(3))


def _shapes(tree):
    if isinstance(tree, dict):
        return {key: _shapes(value) for key, value in tree.items()}
    return type(tree)(map(_shapes, tree)) if isinstance(tree, (tuple, list)) else np.shape(tree)


@MODES
def test_argnums_as_in_jax(jacobian):
    def f(x, y, z):
        return x * np.sum(y) + z

    args = np.ones(2), np.ones(3), 1.0
    assert _shapes(jacobian(f)(*args)) == (2, 2)
    assert _shapes(jacobian(f, 1)(*args)) == (2, 3)
    assert _shapes(jacobian(f, (1,))(*args)) == ((2, 3),)
    assert _shapes(jacobian(f, [2, 0])(*args)) == ((2,), (2, 2))
    assert _shapes(jacobian(f, -1)(*args)) == (2,)
    assert _shapes(jacobian(lambda x, y: (x[0] * y, x), (0, 1))(*args[:2])) == (((3, 2), (3, 3)), ((2, 2), (2, 3)))


def test_the_hessian_of_several_arguments_is_a_matrix_of_blocks():
    def f(x, y):
        return np.sum(x**2) * np.sum(y)

    x, y = np.array([1.0, 2.0]), np.ones(3)
    found = hessian(f, (0, 1))(x, y)
    assert _shapes(found) == (((2, 2), (2, 3)), ((3, 2), (3, 3)))
    np.testing.assert_allclose(found[0][0], 6 * np.eye(2))
    np.testing.assert_allclose(found[0][1], np.outer(2 * x, np.ones(3)))
    np.testing.assert_allclose(found[1][0], found[0][1].T)
    np.testing.assert_array_equal(found[1][1], np.zeros((3, 3)))
    assert _shapes(hessian(lambda p: p["a"] * np.sum(p["b"]))({"a": 1.0, "b": y})) == {
        "a": {"a": (), "b": (3,)},
        "b": {"a": (3,), "b": (3, 3)},
    }


def test_the_hessian_of_an_array_has_its_axes_first():
    x = np.array([1.0, 2.0])
    found = hessian(lambda x: np.stack([x[0] * x[1], x[0] ** 3, x[1]]))(x)
    np.testing.assert_array_equal(found, [[[0, 1], [1, 0]], [[6, 0], [0, 0]], [[0, 0], [0, 0]]])


@MODES
def test_keywords_are_handed_on_and_not_differentiated(jacobian):
    np.testing.assert_array_equal(jacobian(lambda x, *, scale: x * scale)(np.ones(2), scale=3.0), 3 * np.eye(2))


@dataclasses.dataclass
class Layer:
    weights: np.ndarray
    bias: np.ndarray
    name: str = "dense"

    def __call__(self, x):
        return np.tanh(self.weights @ x + self.bias)


@MODES
def test_dataclasses_as_arguments_and_results(jacobian):
    layer = Layer(normal(2, 3), np.zeros(2))
    found = jacobian(lambda layer: Layer(layer.weights * 2, layer(np.ones(3)), "other"))(layer)
    assert found.name == "other"
    assert found.weights.weights.shape == (2, 3, 2, 3)
    np.testing.assert_array_equal(found.weights.bias, np.zeros((2, 3, 2)))
    np.testing.assert_allclose(found.bias.bias, np.diag(1 - layer(np.ones(3)) ** 2))


@MODES
def test_leaves_without_a_derivative_have_none(jacobian):
    found = jacobian(lambda p: p["x"] ** 2)({"x": np.ones(2), "name": "x"})
    assert found["name"] == NoTangent()
    np.testing.assert_array_equal(found["x"], 2 * np.eye(2))


@MODES
def test_auxiliary_results_are_handed_through(jacobian):
    found, aux = jacobian(lambda x: (x**2, {"x": x, "note": "hello"}), has_aux=True)(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(found, np.diag([2.0, 4.0]))
    assert type(aux["x"]) is np.ndarray
    np.testing.assert_array_equal(aux["x"], [1.0, 2.0])
    assert aux["note"] == "hello"


def test_the_hessian_hands_auxiliary_results_through():
    found, aux = hessian(lambda x: (np.sum(x**3), x[0]), has_aux=True)(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(found, np.diag([6.0, 12.0]))
    assert aux == 1.0
    assert isinstance(aux, np.float64)


@MODES
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_the_precision_is_kept(jacobian, dtype):
    x = np.array([1.0, 2.0], dtype)
    assert jacobian(lambda x: x * np.max(x))(x).dtype == dtype
    assert jacobian(lambda x: np.max(x) * x[0])(x).dtype == dtype
    assert hessian(lambda x: np.max(x) * np.sum(x))(x).dtype == dtype


def test_jacobians_across_precisions_have_the_dtype_of_the_cotangent_or_the_tangent():
    def f(x):
        return x.astype(np.float64) * 2

    x = np.ones(2, np.float32)
    assert jacrev(f)(x).dtype == np.float32
    assert jacfwd(f)(x).dtype == np.float64


@MODES
def test_arrays_without_elements(jacobian):
    nothing = np.zeros((0, 2))
    assert jacobian(lambda x: x * 2)(nothing).shape == (0, 2, 0, 2)
    assert jacobian(np.sum)(nothing).shape == (0, 2)
    assert jacobian(lambda x: x[:0] * 2)(np.ones(3)).shape == (0, 3)
    assert _shapes(jacobian(lambda x, y: x[:, 0] * np.sum(y), (0, 1))(nothing, np.ones(3))) == ((0, 0, 2), (0, 3))
    assert _shapes(jacobian(lambda x: (x, x[:0]))(np.ones(3))) == ((3, 3), (0, 3))


@MODES
def test_every_part_is_in_its_own_memory(jacobian):
    (a, b) = jacobian(lambda x, y: x + y, (0, 1))(np.ones(2), np.ones(2))
    c = jacobian(lambda x: np.broadcast_to(x, (2, 2)) + 0.0 * x)(1.0)
    for part in (a, b, c):
        assert part.flags.writeable
        assert part.flags.c_contiguous
    a[:] = 5.0
    np.testing.assert_array_equal(b, np.eye(2))


@MODES
def test_the_name_and_the_description_of_the_function_are_kept(jacobian):
    def f(x):
        """What it does."""

    assert (jacobian(f).__name__, jacobian(f).__doc__) == ("f", "What it does.")


# ---------------------------------------------------------------- zeros


@MODES
def test_outputs_that_do_not_depend_on_the_arguments_have_zeros(jacobian):
    found = jacobian(lambda x, y: (x * 2, np.floor(y), 3.0, np.ones(2)), (0, 1))(np.ones(2), np.ones(3))
    assert _shapes(found) == (((2, 2), (2, 3)), ((3, 2), (3, 3)), ((2,), (3,)), ((2, 2), (2, 3)))
    for i, of_output in enumerate(found):
        for j, block in enumerate(of_output):
            assert np.any(block) == (i == j == 0)


def test_the_hessian_of_a_linear_function_is_zero():
    np.testing.assert_array_equal(hessian(lambda x: np.sum(3 * x))(np.ones(3)), np.zeros((3, 3)))
    (product,) = hvp(lambda x: np.sum(3 * x), (np.ones(3),), (np.ones(3),))
    np.testing.assert_array_equal(product, np.zeros(3))


@pytest.mark.parametrize("outer", [jacrev, jacfwd])
@pytest.mark.parametrize("inner", [jacrev, jacfwd])
def test_the_derivative_of_a_constant_jacobian_is_zero(outer, inner):
    np.testing.assert_array_equal(outer(inner(lambda x: W @ x))(V), np.zeros((4, 6, 6)))
    np.testing.assert_array_equal(grad(lambda x: np.sum(inner(lambda x: W @ x)(x)))(V), np.zeros(6))


@MODES
def test_directions_of_other_arrays_do_not_make_nan_of_an_infinite_derivative(jacobian):
    with np.errstate(divide="ignore", invalid="ignore"):
        found = jacobian(lambda x, y: (np.sqrt(x) + y, x * y), (0, 1))(np.zeros(1), np.ones(1))
    assert found[0][0] == math.inf
    assert found[0][1] == 1.0
    assert (found[1][0], found[1][1]) == (1.0, 0.0)


# ---------------------------------------------------------------- complex numbers


def holomorphic(z):
    return np.exp(z[::-1]) * z + np.linalg.solve(np.eye(2) * 3 + 1j, z**2)


@MODES
def test_the_complex_derivative_of_a_holomorphic_function(jacobian):
    z = np.array([1 + 2j, 0.5 - 1j])
    found = jacobian(holomorphic, holomorphic=True)(z)
    along_real = jacobian_fd(
        lambda x: np.stack([holomorphic(x + 1j * z.imag).real, holomorphic(x + 1j * z.imag).imag]), z.real
    )
    expected = along_real.value[:2] + 1j * along_real.value[2:]
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    assert found.dtype == complex
    assert jacobian(lambda z: z**2, holomorphic=True)(1 + 1j) == 2 + 2j


@pytest.mark.parametrize("outer", [jacrev, jacfwd])
def test_higher_complex_derivatives(outer):
    z = np.array([1 + 2j, 0.5 - 1j])
    found = outer(jacrev(lambda z: np.sum(z**3), holomorphic=True), holomorphic=True)(z)
    np.testing.assert_allclose(found, np.diag(6 * z))
    np.testing.assert_allclose(hessian(lambda z: np.sum(z**3), holomorphic=True)(z), np.diag(6 * z))


def test_rows_of_a_real_output_with_respect_to_complex_arguments_are_gradients():
    z = np.array([1 + 2j, 0.5 - 1j])
    found = jacrev(lambda z: np.stack([np.abs(z[0]), np.sum(np.real(z * z))]))(z)
    np.testing.assert_allclose(found[0], grad(lambda z: np.abs(z[0]))(z))
    np.testing.assert_allclose(found[1], grad(lambda z: np.sum(np.real(z * z)))(z))


def test_complex_outputs_of_real_arguments_have_columns():
    found = jacfwd(lambda x: np.exp(1j * x))(np.array([0.5, 1.0]))
    np.testing.assert_allclose(found, np.diag(1j * np.exp(1j * np.array([0.5, 1.0]))))


@pytest.mark.parametrize(
    ("jacobian", "f", "x", "is_holomorphic", "message"),
    [
        (jacfwd, np.abs, 1j, False, r"with respect to complex128: .* If this is one, pass holomorphic=True"),
        (jacrev, lambda z: z**2, 1j, False, r"result is complex128: .* pass complex arguments and holomorphic=True"),
        (jacrev, lambda x: x * 1j, 1.0, False, r"ask for vjp\(f, x\), or for jacfwd\(f\) if the arguments are real"),
        (jacrev, np.abs, 1j, True, "result is float64 with holomorphic=True: return complex numbers"),
        (jacfwd, np.abs, 1j, True, "result is float64 with holomorphic=True: return complex numbers"),
        (jacrev, np.sin, 1.0, True, "with holomorphic=True with respect to float64: .* Pass complex arguments"),
        (jacfwd, np.sin, 1.0, True, "with holomorphic=True with respect to float64: .* Pass complex arguments"),
    ],
)
def test_complex_numbers_where_one_jacobian_does_not_tell_the_derivative(jacobian, f, x, is_holomorphic, message):
    with pytest.raises(TypeError, match=message):
        jacobian(f, holomorphic=is_holomorphic)(x)


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize("transformation", [jacrev, jacfwd, hessian])
def test_bad_input_is_refused_with_advice(transformation):
    with pytest.raises(TypeError, match="with the function first"):
        transformation(np.ones(2))
    with pytest.raises(TypeError, match=r"argument 0, which is int64.*Pass a float"):
        transformation(np.sum)(np.arange(3))
    with pytest.raises(ValueError, match="2 positional arguments were given: count from 0"):
        transformation(np.dot, 2)(np.ones(2), np.ones(2))
    with pytest.raises(TypeError, match="give an integer or a tuple of integers"):
        transformation(np.sum, np.ones(2))
    with pytest.raises(TypeError, match=r"has_aux=True and returned a .*: return a pair"):
        transformation(np.sum, has_aux=True)(np.ones(2))
    with pytest.raises(TypeError, match="no number or array to differentiate"):
        transformation(np.sum)("text")


@MODES
def test_results_without_a_derivative_are_refused(jacobian):
    with pytest.raises(TypeError, match=r"result\[1\] is int64\[2\], which has no derivative: .*has_aux=True"):
        jacobian(lambda x: (x, np.argsort(x)))(np.ones(2))
    with pytest.raises(TypeError, match="returned NoneType: return a number or array"):
        jacobian(lambda x: None)(np.ones(2))


@MODES
def test_a_result_that_does_not_depend_on_the_arguments_is_an_error(jacobian):
    for f in (np.floor, lambda x: np.ones(3), lambda x: (1.0, np.round(x))):
        with pytest.raises(UnrelatedOutputError, match=r"add 0\.0 \* np\.sum\(x\)"):
            jacobian(f)(np.ones(2))


@MODES
def test_errors_of_the_function_come_out_as_they_are(jacobian):
    def f(x):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine") as caught:
        jacobian(f)(np.ones(3))
    assert caught.value.__context__ is None


def test_hvp_refuses_bad_input_with_advice():
    x = np.ones(2)
    with pytest.raises(TypeError, match=r"for its primals: give a tuple, \(x,\) for one"):
        hvp(np.sum, x, (x,))
    with pytest.raises(TypeError, match="for its tangents: give a tuple"):
        hvp(np.sum, (x,), x)
    with pytest.raises(ValueError, match="1 primals and 2 tangents"):
        hvp(np.sum, (x,), (x, x))
    with pytest.raises(ValueError, match=r"has the shape \(3,\) and should have \(2,\)"):
        hvp(np.sum, (x,), (np.ones(3),))
    with pytest.raises(TypeError, match="a gradient is that of a single number"):
        hvp(np.sin, (x,), (x,))
    with pytest.raises(UnrelatedOutputError):
        hvp(lambda x: 3.0, (x,), (x,))
    with pytest.raises(TypeError, match="with the function first"):
        hvp(x, (x,), (x,))


@MODES
def test_rules_that_are_not_used_are_warned_of(jacobian):
    def plain(x):
        return x**2

    scalar_rule(plain, lambda y, x: 2 * x)

    def calls_plain(x):
        return plain(x)

    with pytest.warns(RuleNotUsedWarning, match="plain, which .*calls_plain calls,"):
        assert jacobian(calls_plain)(3.0) == 6.0


# ---------------------------------------------------------------- Hessian-vector products


def test_hvp_of_several_primals_and_containers():
    def loss(p, y):
        return np.sum(np.sin(p["a"]) * y) * p["b"][0] ** 2

    p, y = {"a": normal(3), "b": (2.0, "name")}, normal(3)
    dp, dy = {"a": normal(3), "b": (0.3, "name")}, normal(3)
    of_p, of_y = hvp(loss, (p, y), (dp, dy))

    def flat(a, b, y):
        return grad(lambda a, b, y: np.sum(np.sin(a) * y) * b**2, (0, 1, 2))(a, b, y)

    expected = jvp(flat, (p["a"], 2.0, y), (dp["a"], 0.3, dy))[1]
    np.testing.assert_allclose(of_p["a"], expected[0])
    np.testing.assert_allclose(of_p["b"][0], expected[1])
    assert of_p["b"][1] == NoTangent()
    np.testing.assert_allclose(of_y, expected[2])
    fd = jacobian_fd(lambda a: flat(a, 2.0, y)[0], p["a"]).value
    np.testing.assert_allclose(
        hvp(lambda a: loss({"a": a, "b": (2.0,)}, y), (p["a"],), (dp["a"],))[0], fd @ dp["a"], rtol=1e-6
    )


# ---------------------------------------------------------------- passes


def watched(x):
    """A function whose rules below tell how often, and with what, they were called."""
    return x * 2.0


def test_all_rows_are_had_in_one_pass(monkeypatch):
    calls = []

    def watched_rrule(x):
        def pullback(ybar):
            calls.append(ybar.shape)
            return NoTangent(), 2.0 * ybar

        return watched(x), pullback

    with rrule.override(watched, watched_rrule):
        found = jacrev(primitive(watched))(np.ones(5))
    np.testing.assert_array_equal(found, 2 * np.eye(5))
    assert calls == [(5,)]


@pytest.mark.parametrize(
    "double",
    [
        lambda ybar: np.frombuffer(ybar.tobytes()) * 2,
        lambda ybar: np.array([2 * float(part) for part in ybar]),
        lambda ybar: np.asarray(ybar) * 2,
        lambda ybar: 2 * ybar if ybar[0] > 0 else ybar + ybar,
        lambda ybar: np.add(ybar, ybar, out=np.empty(5)),
        lambda ybar: grad(lambda w: np.sum(w**2))(ybar),
        lambda ybar: vjp(lambda w: 2 * w, ybar)[1](ybar)[0],
    ],
)
def test_rules_that_want_arrays_get_one_row_after_the_other(double):
    calls = []

    def watched_rrule(x):
        def pullback(ybar):
            calls.append(type(ybar))
            return NoTangent(), double(ybar) if np.any(ybar != 0) else ybar

        return watched(x), pullback

    with rrule.override(watched, watched_rrule):
        found = jacrev(primitive(watched))(np.ones(5))
    expected = 2 * np.eye(5)
    np.testing.assert_array_equal(found, expected)
    assert calls[-1] is np.ndarray


def test_what_fails_in_a_batch_is_not_tried_again(monkeypatch):
    monkeypatch.setattr(batch, "BATCH_ELEMENTS", 12)
    attempts = []
    at_once = batch._at_once

    def counted(*args):
        attempts.append(args[-1])
        return at_once(*args)

    monkeypatch.setattr(batch, "_at_once", counted)
    jacrev(lambda x: x * 2.0)(np.ones(6))
    assert attempts == [2, 2, 2]
    attempts.clear()

    def watched_rrule(x):
        return watched(x), lambda ybar: (NoTangent(), np.asarray(ybar) * 2)

    with rrule.override(watched, watched_rrule):
        jacrev(primitive(watched))(np.ones(6))
    assert attempts == [2]


@MODES
@pytest.mark.parametrize("limit", [1, 13, 40])
def test_many_directions_are_taken_in_several_passes(jacobian, limit, monkeypatch):
    def f(x, y):
        return {"a": np.tanh(W[:, :5] @ x) * y, "b": x * y, "c": np.sum(x)}

    args = normal(5), 2.0
    expected = jacobian(f, (0, 1))(*args)
    monkeypatch.setattr(batch, "BATCH_ELEMENTS", limit)
    found = jacobian(f, (0, 1))(*args)
    for key in expected:
        for a, b in zip(found[key], expected[key], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-14)
            assert a.shape == b.shape


def test_columns_need_no_call_for_each(monkeypatch):
    calls = []

    def f(x):
        calls.append(x.shape)
        return np.sin(x)

    jacfwd(f)(np.ones(7))
    assert calls == [(7,)]
    calls.clear()
    jacrev(f)(np.ones(7))
    assert calls == [(7,)]
