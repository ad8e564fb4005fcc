"""The imperative interface: variables, their graph, and going back through it."""

import copy
import gc
import operator
import pickle
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import svds

from rulescore import MissingDerivativeError, NoTangent, frule, ignore_derivatives, rrule
from rulescore.ad import TracerConversionError, UnrelatedOutputError, grad, jvp, primitive, vjp
from rulescore.ad.tracing.tracers import apply
from rulescore.ad.values.trees import flatten, unflatten
from rulescore.ad.variables import backward, gradients, variable
from testutils import conformance, jvp_fd, vjp_fd

A = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -0.3], [0.5, -0.3, 2.0]])
B = np.array([0.7, -1.1, 0.4])


@pytest.fixture
def no_collector():
    """Without the garbage collector, so that what is freed was freed by reference counting."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


# ---------------------------------------------------------------- first derivatives


def mlp(x, w1, w2):
    return np.sum(np.tanh(x @ w1) @ w2)


def in_place(x, y):
    z = x * y
    z += y
    z[1:] = z[:-1] * x[1:]
    z *= 2.0
    top = z[0:2]
    top[0] = y[2]
    return z @ x


def made_with_like(x, y):
    z = np.zeros(3, like=x)
    for i in range(3):
        z[i] = np.sin(x[i]) * y[2 - i]
    return np.sum(z**2)


def of_several_outputs(a, b):
    sign, logarithm = np.linalg.slogdet(a)
    left, right = np.split(b * 2.0, [1])
    fraction, whole = np.modf(b * logarithm)
    return sign * logarithm**2 + left[0] * right[0] + np.sum(fraction**2 * whole)


def of_containers(x, y):
    return np.sum(np.concatenate([x, y * x, np.stack([x[0], y[1]])]) ** 3)


def through_keywords(x, y):
    return np.average(x, weights=y) + np.sum(np.sum(np.outer(x, y), axis=0, keepdims=True) * y)


def of_every_side(x, y):
    return np.sum(2.0 - x) + np.sum(3.0 / y - B * x + (x / y) ** 2.0 + 2.0**x + B**2 * np.exp(y) + x ** B[2])


def of_broadcast(x, a):
    return np.sum((x + a) * (x[:, None] - a) / (2.0 + a**2) * x[0])


def of_lists(x, y):
    return np.sum(np.hypot([x[0], 2.0, y[1]], y) * [1.0, 2.0, 3.0]) + np.sum([2.0, 1.0, 0.0] * x)


FUNCTIONS = {
    "mlp": (mlp, (A, A * 0.1, B)),
    "in place": (in_place, (B, B**2 + 0.3)),
    "made with like": (made_with_like, (B, B + 2.0)),
    "several outputs": (of_several_outputs, (A, B)),
    "containers": (of_containers, (B, B * 0.3)),
    "lists": (of_lists, (B, B * 0.3)),
    "keywords": (through_keywords, (B, B + 3.0)),
    "constants on every side": (of_every_side, (np.abs(B), B + 3.0)),
    "broadcasting": (of_broadcast, (B, A)),
    "a number": (lambda x, y: x * np.sin(y) / (x + y * y), (0.7, 1.9)),
    "zero dimensions": (lambda x, y: np.exp(x) * y + x, (np.array(0.3), np.array(1.2))),
    "single precision": (lambda x, y: np.sum(x * np.tanh(y) + x), (B.astype(np.float32), A.astype(np.float32))),
    "two precisions": (lambda x, y: np.sum(x * np.tanh(y) + x), (B.astype(np.float32), A)),
    "complex numbers": (lambda x, z: np.sum(np.abs(np.exp(z) * x + z**2)), (B, B + 1j * B[::-1])),
    "linear algebra": (lambda a, b: b @ np.linalg.solve(a, b) + np.linalg.slogdet(a)[1], (A, B)),
}


@pytest.mark.parametrize(("f", "primals"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_backward_finds_the_gradient(f, primals):
    xs = [variable(np.copy(x)[()] if isinstance(x, float) else np.copy(x)) for x in primals]
    y = f(*xs)
    np.testing.assert_allclose(y.value, f(*map(np.copy, primals)), rtol=1e-6)
    y.backward()
    exact = all(np.asarray(x).dtype != np.float32 for x in primals)
    for x, primal, expected in zip(xs, primals, vjp_fd(f, 1.0, _in_double(primals)).value, strict=True):
        assert np.shape(x.grad) == np.shape(primal)
        assert x.grad.dtype == np.asarray(primal).dtype
        # In single precision the gradient has seven digits, which are lost in part where its terms cancel.
        np.testing.assert_allclose(x.grad, expected, rtol=1e-7 if exact else 1e-4, atol=1e-8 if exact else 1e-5)


def _in_double(primals):
    return tuple([np.asarray(x).astype(np.result_type(x, float))[()] for x in primals])


@pytest.mark.parametrize(("f", "primals"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_gradients_agree_with_those_of_grad(f, primals):
    expected = grad(f, argnums=(0, 1))(*primals)
    xs = [variable(x) for x in primals]
    for x, ours, theirs in zip(xs, gradients(f(*xs), xs[:2]), expected, strict=False):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5 if x.dtype == np.float32 else 1e-12, atol=1e-7)
        assert x.grad is None


def is_variable(x):
    return hasattr(x, "is_leaf")


def vjp_of_variables(f, *primals):
    """As `vjp`, by the imperative interface; at variables, its results are variables."""
    xs = [x if is_variable(x) else variable(x) for x in primals]
    is_inner = any(map(is_variable, primals))
    outputs, structure = flatten(f(*xs))

    def pullback(ybar):
        bars = flatten(ybar)[0]
        create_graph = is_inner or any(map(is_variable, bars))
        pairs = [(out, bar) for out, bar in zip(outputs, bars, strict=True) if is_variable(out)]
        pairs += [(0.0 * np.sum(x), 1.0) for x in xs]  # they may be linear, and their slope depend on no x
        outs, bars = zip(*pairs, strict=True)
        return tuple(gradients(outs, xs, bars, retain_graph=True, create_graph=create_graph))

    return unflatten(structure, [y if is_inner or not is_variable(y) else y.value for y in outputs]), pullback


# One of each kind of node: fast elementwise ones, other elementwise ones, linear ones, those called again, with views,
# with several outputs.
KINDS = ("np.sinc", "np.hypot", "np.transpose", "np.linalg.inv", "np.modf", "np.linalg.slogdet")


@pytest.mark.parametrize("order", [1, 2])
def test_each_kind_of_node_conforms(order):
    def has_lists(name, sample):  # NumPy makes arrays of them
        return any(isinstance(x, list) for x in sample.args)

    report = conformance(vjp_of_variables, names=KINDS, order=order, skip=has_lists)
    assert {function.name.rpartition(".")[2]: function.verdict for function in report.functions} == {
        name.rpartition(".")[2]: "right" for name in KINDS
    }


@given(seed=st.integers(0, 2**32 - 1), length=st.integers(1, 12))
@settings(deadline=None, derandomize=True, max_examples=40)
def test_random_programs_have_the_gradient_that_grad_finds(seed, length):
    def program(x, y):
        rng = np.random.default_rng(seed)
        values = [x, y]
        unary = (np.sin, np.tanh, np.negative, np.transpose, lambda a: a[::-1], lambda a: a.sum() * np.ones(3))
        binary = (np.add, np.subtract, np.multiply, operator.add, operator.mul, lambda a, b: a / (2.0 + b * b))
        for _ in range(length):
            a, b = (values[i] for i in rng.integers(len(values), size=2))
            values.append(
                unary[rng.integers(len(unary))](a) if rng.random() < 0.4 else binary[rng.integers(len(binary))](a, b)
            )
            if rng.random() < 0.2:
                values[-1] = values[-1] * 1.0
                values[-1] += x
                values[-1][0] = b[2]
        return np.sum(np.sin(sum(values)))

    x, y = variable(B), variable(B[::-1] * 2.0)
    program(x, y).backward()
    for ours, theirs in zip((x.grad, y.grad), grad(program, argnums=(0, 1))(x.value, y.value), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_a_variable_can_be_gone_back_from_itself():
    x = variable(2.0)
    x.backward()
    assert x.grad == 1.0


def test_a_view_of_a_variable_shares_its_gradient():
    x = variable(B)
    part = x[1:]
    np.sum(part**2).backward()
    np.testing.assert_allclose(x.grad, [0.0, 2 * B[1], 2 * B[2]])


# ---------------------------------------------------------------- grad


def test_gradients_accumulate_over_passes():
    x = variable(B)
    np.sum(x**2).backward()
    first = x.grad
    np.sum(x**3).backward()
    np.testing.assert_allclose(x.grad, 2 * B + 3 * B**2)
    np.testing.assert_allclose(first, 2 * B)  # what was handed out before stays what it was
    x.grad = None
    np.sum(x).backward()
    np.testing.assert_array_equal(x.grad, np.ones(3))


def test_grad_is_none_before_the_first_pass_and_can_be_set():
    x = variable(B)
    assert x.grad is None
    x.grad = np.full(3, 10.0)
    np.sum(x).backward()
    np.testing.assert_array_equal(x.grad, np.full(3, 11.0))
    with pytest.raises(
        ValueError, match=r"the gradient of a variable \(float64\[3\]\) was about to become float64\[2\]"
    ):
        x.grad = np.ones(2)


def test_a_gradient_has_its_own_memory():
    x, y = variable(B), variable(B * 2)
    cotangent = np.ones(3)
    (x + y).backward(cotangent)
    x.grad *= 5.0
    np.testing.assert_array_equal(y.grad, np.ones(3))
    np.testing.assert_array_equal(cotangent, np.ones(3))
    (x * 1.0).backward(cotangent)
    assert not np.shares_memory(x.grad, cotangent)


def test_several_outputs_count_with_their_cotangents():
    x = variable(B)
    backward([np.sin(x), np.sum(x**2), x[0]], [A[0], None, 3.0])
    expected = vjp_fd(lambda x: (np.sin(x), np.sum(x**2), x[0]), (A[0], 1.0, 3.0), (B,)).value[0]
    np.testing.assert_allclose(x.grad, expected, rtol=1e-8)


def test_a_cotangent_is_brought_to_the_type_of_the_output():
    x = variable(B.astype(np.float32))
    (x * 2).backward(np.array([1, 2, 3]))
    assert x.grad.dtype == np.float32
    np.testing.assert_array_equal(x.grad, [2, 4, 6])


def test_what_only_a_constant_function_reads_adds_zero():
    x = variable(B)
    y = np.sum(np.where(x > 10.0, x, 1.0) * 2.0)
    y.backward()
    np.testing.assert_array_equal(x.grad, np.zeros(3))


def test_a_second_pass_goes_through_a_retained_graph():
    x = variable(B)
    y = np.sum(np.exp(x))
    y.backward(retain_graph=True)
    y.backward()
    np.testing.assert_allclose(x.grad, 2 * np.exp(B))
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        y.backward()


def test_an_error_leaves_gradients_alone():
    x = variable(B)
    h = np.exp(x)
    np.sum(h).backward()
    y = np.sum(h * x)  # goes through what has been freed
    before = x.grad
    with pytest.raises(RuntimeError, match=r"that of numpy.exp, called in .*: h = np.exp\(x\)"):
        y.backward()
    assert x.grad is before


# ---------------------------------------------------------------- gradients()


def test_gradients_touch_no_grad():
    x = variable(B)
    x.grad = np.ones(3)
    np.testing.assert_allclose(gradients(np.sum(x**2), x), 2 * B)
    np.testing.assert_array_equal(x.grad, np.ones(3))


def test_gradients_can_clear_the_grads_they_supersede():
    x, w = variable(B), variable(B)
    x.grad = w.grad = np.ones(3)
    h = x * w
    np.testing.assert_allclose(gradients(np.sum(h), [x, h], retain_grads=False)[0], B)
    assert x.grad is None
    assert w.grad is not None


def test_gradients_with_respect_to_results():
    x = variable(B)
    h = np.sin(x)
    k = h * x
    of_h, of_k = gradients(np.sum(k * h), [h, k])
    np.testing.assert_allclose(of_k, np.sin(B))
    np.testing.assert_allclose(of_h, vjp_fd(lambda h: np.sum(h * B * h), 1.0, (np.sin(B),)).value[0], rtol=1e-8)


def test_gradients_have_the_form_of_the_inputs():
    parameters = {"w": variable(A), "b": [variable(B), (variable(2.0),)]}
    y = np.sum(parameters["w"] @ parameters["b"][0]) * parameters["b"][1][0]
    found = gradients(y, parameters)
    assert found.keys() == parameters.keys()
    np.testing.assert_allclose(found["b"][1][0], np.sum(A @ B))
    np.testing.assert_allclose(found["b"][0], 2.0 * A.sum(axis=0))


def test_gradients_free_only_what_they_walk_through():
    x = variable(B)
    h = np.sin(x)
    y = np.sum(h**2)
    gradients(y, h)
    np.sum(h).backward()  # the way from h to x is still there
    np.testing.assert_allclose(x.grad, np.cos(B))
    with pytest.raises(RuntimeError, match="retain_graph"):
        gradients(y, x)


def test_gradients_do_not_pass_over_a_way_that_was_freed():
    x = variable(B)
    h = np.exp(x)
    np.sum(h).backward()
    y = np.sum(h * x)  # depends on x in two ways, of which one is known no longer
    with pytest.raises(RuntimeError, match=r"that of numpy.exp, called in"):
        gradients(y, x)
    np.testing.assert_allclose(gradients(y, h), B)


def test_an_input_that_the_output_does_not_depend_on_is_an_error_that_names_it():
    x, w = variable(B), variable(A)
    with pytest.raises(UnrelatedOutputError, match=r"inputs\['w'\], which the outputs were not computed from"):
        gradients(np.sum(x), {"x": x, "w": w})
    found = gradients(np.sum(x) + 0.0 * np.sum(w), {"x": x, "w": w})
    np.testing.assert_array_equal(found["w"], np.zeros((3, 3)))


# ---------------------------------------------------------------- derivatives of derivatives


def test_a_penalty_on_the_gradient_has_a_gradient():
    def penalty(x, w):
        (g,) = gradients([np.sum(np.tanh(w @ x) ** 2)], [x], create_graph=True)
        return np.sum(g**2)

    def value(x, w):
        return penalty(variable(x), w).value

    x, w = variable(B), variable(A)
    penalty(x, w).backward()
    np.testing.assert_allclose(x.grad, vjp_fd(lambda x: value(x, A), 1.0, (B,)).value[0], rtol=1e-7)
    np.testing.assert_allclose(w.grad, vjp_fd(lambda w: value(B, w), 1.0, (A,)).value[0], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(("f", "primals"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_second_derivatives_agree_with_those_of_grad(f, primals):
    def slope(gradient, *xs):
        bars = gradient(*xs)
        return sum(np.sum(np.abs(bar) ** 2 * 0.5) for bar in bars)

    positions = tuple(range(len(primals)))
    expected = grad(lambda *xs: slope(grad(f, argnums=positions), *xs), argnums=positions)(*primals)
    xs = [variable(x) for x in primals]
    y = slope(lambda *xs: gradients(f(*xs), list(xs), create_graph=True), *xs)
    found = gradients(y, xs)
    exact = all(x.dtype != np.float32 for x in xs)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9 if exact else 1e-4, atol=1e-11 if exact else 1e-5)


def test_the_grad_of_create_graph_is_a_variable():
    x = variable(0.7)
    (x**3).backward(create_graph=True)
    first = x.grad
    assert repr(first).startswith("variable(")
    x.grad = None
    first.backward(create_graph=True)
    second = x.grad
    x.grad = None
    second.backward()
    np.testing.assert_allclose([first.value, second.value, x.grad], [3 * 0.7**2, 6 * 0.7, 6.0])


def test_a_constant_gradient_is_a_variable_too():
    x = variable(B)
    slope = gradients(np.sum(3.0 * x), x, create_graph=True)
    np.testing.assert_array_equal(slope.value, np.full(3, 3.0))
    with pytest.raises(UnrelatedOutputError, match="does not depend on a variable"):
        np.sum(slope).backward()


def test_what_has_no_second_derivative_is_named():
    A = variable(np.diag([3.0, 2.0, 1.0]))
    singular_value = np.sum(primitive(svds)(A, 1, return_singular_vectors=False))
    with pytest.raises(MissingDerivativeError, match=r"svds have first derivatives only"):
        singular_value.backward(create_graph=True)
    singular_value.backward()
    np.testing.assert_allclose(A.grad, np.diag([1.0, 0.0, 0.0]), atol=1e-12)


def test_fourth_derivatives():
    x = variable(0.7)
    y = np.exp(x) * np.sin(x)
    for _ in range(4):
        y = gradients(y, x, create_graph=True)

    def f(x):
        return np.exp(x) * np.sin(x)

    np.testing.assert_allclose(y.value, grad(grad(grad(grad(f))))(0.7), rtol=1e-12)


def test_a_derivative_is_that_at_the_time_of_the_operation():
    # The value that an array has later, and what is assigned to it, do not count.
    x = variable(B)
    h = x * 1.0
    y = np.sum(np.exp(h))
    h[0] = 100.0
    (slope,) = gradients([y], [x], create_graph=True)
    np.testing.assert_allclose(slope.value, np.exp(B))
    np.testing.assert_allclose(gradients(np.sum(slope), x), np.exp(B))


def test_hessian_products_along_a_direction():
    def f(x):
        return np.sum(np.linalg.inv(np.outer(x, x) + A) @ x)

    def gradient(x):
        return gradients(f(variable(x) if type(x) is np.ndarray else x), x, create_graph=True)

    x = variable(B)
    (product,) = gradients([gradient(x)], [x], [A[0]])
    expected = jvp_fd(lambda x: vjp_fd(f, 1.0, (x,)).value[0], (B,), (A[0],)).value
    np.testing.assert_allclose(product, expected, rtol=1e-5, atol=1e-6)  # finite differences of finite differences


# ---------------------------------------------------------------- with the transformations


def test_a_variable_is_a_constant_to_grad_and_its_result_a_result_of_the_variable():
    w = variable(2.0)
    slope = grad(lambda x: np.sin(w * x))(0.3)
    slope.backward()
    np.testing.assert_allclose(slope.value, 2.0 * np.cos(0.6))
    np.testing.assert_allclose(w.grad, vjp_fd(lambda w: w * np.cos(w * 0.3), 1.0, (2.0,)).value[0], rtol=1e-8)


def test_grad_at_a_variable_is_a_result_of_it():
    x = variable(B)
    np.sum(grad(lambda x: np.sum(x**3))(x)).backward()
    np.testing.assert_allclose(x.grad, 6 * B)


def test_forward_mode_at_a_variable():
    x = variable(B)
    y, dy = jvp(lambda x: np.sum(np.sin(x) ** 2), (x,), (A[0],))
    backward([y, dy])
    expected = vjp_fd(lambda x: np.sum(np.sin(x) ** 2) + np.sum(np.sin(2 * x) * A[0]), 1.0, (B,)).value[0]
    np.testing.assert_allclose(x.grad, expected, rtol=1e-8)


def test_perturbations_are_not_confused():
    # d/dx (x * d/dw (w + x)) = 1, where confusing x and w gives 2.
    x = variable(5.0)
    inner = variable(1.0)
    (x * gradients(inner + x, inner)).backward()
    assert x.grad == 1.0
    assert grad(lambda t: t * gradients(variable(1.0) * 1.0 + x, x))(3.0) == 1.0


def test_gradients_pull_a_cotangent_that_is_being_differentiated():
    x = variable(B)
    y = np.sin(x)
    product = grad(lambda ybar: np.sum(gradients(y, x, ybar, retain_graph=True) * A[0]))(A[1])
    np.testing.assert_allclose(product, np.cos(B) * A[0])


def test_a_rule_that_calls_back_a_function_that_uses_variables():
    def twice(g, x):
        return g(g(x))

    @rrule.register(twice)
    def twice_rrule(g, x):
        # As rules that differentiate g by the AD of their caller do.
        y, first = vjp(g, x)
        z, second = vjp(g, y)
        return z, lambda zbar: (NoTangent(), NoTangent(), first(*second(zbar))[0])

    x, w = variable(B), variable(B + 1.0)
    y = np.sum(apply(twice, (lambda t: np.sin(t) * w, x)))
    y.backward(retain_graph=True)
    expected = vjp_fd(lambda x, w: np.sum(np.sin(np.sin(x) * w) * w), 1.0, (B, B + 1.0)).value
    np.testing.assert_allclose(x.grad, expected[0], rtol=1e-7)
    np.testing.assert_allclose(w.grad, expected[1], rtol=1e-7)
    assert type(x.grad) is np.ndarray


# ---------------------------------------------------------------- values


def test_the_array_of_a_variable_is_neither_copied_nor_written_to():
    array = B.copy()
    x = variable(array)
    assert x.value is array
    y = x * 2.0
    y += 1.0
    y[0] = 5.0
    np.sum(y * x).backward()
    np.testing.assert_array_equal(array, B)


def test_a_training_loop_learns():
    rng = np.random.default_rng(0)
    inputs = rng.uniform(-1, 1, (64, 2))
    targets = np.sign(inputs[:, :1] * inputs[:, 1:])
    parameters = [variable(rng.standard_normal(shape)) for shape in ((2, 16), (16,), (16, 1), (1,))]
    losses = []
    for _ in range(300):
        w1, b1, w2, b2 = parameters
        loss = np.mean((np.tanh(inputs @ w1 + b1) @ w2 + b2 - targets) ** 2)
        loss.backward()
        for p in parameters:
            p.value -= 0.1 * p.grad
            p.grad = None
        losses.append(float(loss.value))
    assert losses[-1] < 0.3 * losses[0]
    assert all(p.is_leaf for p in parameters)


def test_a_new_value_is_outside_of_the_graph():
    x = variable(B)
    y = np.sum(x**2)
    x.value = x.value - 1.0
    np.testing.assert_array_equal((x * 1.0).value, B - 1.0)
    y.backward()  # at the value that it was computed from
    np.testing.assert_allclose(x.grad, 2 * B)


def test_a_value_updated_in_place_spoils_what_was_computed_from_it():
    x, w = variable(B.copy()), variable(A[0])
    y = np.sum(x**2 * w)
    x.grad = np.ones(3)
    x.value -= 1.0
    for walk in (y.backward, lambda: gradients(y, x), lambda: gradients(y, w)):
        with pytest.raises(RuntimeError, match=r"a variable \(float64\[3\]\) whose array has been written to since"):
            walk()
    np.testing.assert_array_equal(x.grad, np.ones(3))
    np.sum(x**2).backward()
    np.testing.assert_allclose(x.grad, 1.0 + 2 * (B - 1.0))


def test_a_new_value_has_the_shape_and_dtype_of_the_old_one():
    x = variable(B.astype(np.float32))
    x.value = x.value - 0.5 * np.ones(3)
    assert x.value.dtype == np.float32
    for new in (np.ones(2), 1.0, [1.0, 2.0, 3.0], np.ones(3, complex), None):
        with pytest.raises(ValueError, match="the value of a variable"):
            x.value = new
    number = variable(2.0)
    number.value = 3
    assert type(number.value) is np.float64


def test_a_value_that_is_a_variable_is_refused():
    x = variable(B)
    y = x * 2.0
    with pytest.raises(TracerConversionError, match=r"write x\.value = y\.detach\(\)"):
        x.value = y
    x.value = y.detach()
    x.value -= B
    np.testing.assert_allclose(x.value, B)
    np.testing.assert_allclose(y.value, 2.0 * B)


def test_values_of_results_cannot_be_written_to():
    x = variable(B)
    y = np.tanh(x)
    for array in (y.value, y.detach(), x.detach()):
        assert type(array) is np.ndarray
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(RuntimeError, match=r"the value of a result of numpy\.tanh was about to be set"):
        y.value = B


@pytest.mark.parametrize("detached", [lambda x: x.detach(), lambda x: x.value, lambda x: x.value.copy()])
def test_what_is_detached_is_a_constant(detached):
    x = variable(B)
    np.sum(detached(x) * x).backward()
    np.testing.assert_array_equal(x.grad, B)


def test_ignored_derivatives_are_those_of_a_constant():
    x = variable(B)
    np.sum(apply(ignore_derivatives, (x,)) * x).backward()
    np.testing.assert_array_equal(x.grad, B)


def test_facts():
    x = variable(B)
    assert x.is_leaf
    assert not (x * 2).is_leaf
    assert not np.zeros_like(x).is_leaf
    assert (x.shape, x.dtype, len(x)) == ((3,), np.float64, 3)
    assert repr(variable(np.array([1.0, 2.0]))) == "variable(array([1., 2.]))"
    assert repr(variable(2.0) * 2.0) == "variable(np.float64(4.0))"


def test_a_number_updates_as_numbers_do():
    x = variable(2.0)
    y = x
    y += 1.0  # another number, as for NumPy's scalars
    y.backward()
    assert (x.value, y.value, x.grad) == (2.0, 3.0, 1.0)


def test_copies_and_pickles_are_variables_of_their_own():
    x = variable(B)
    for other in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert other.is_leaf
        np.sum(other * x).backward()
        np.testing.assert_array_equal(other.grad, B)
        assert not np.shares_memory(other.value, x.value)


# ---------------------------------------------------------------- misuse


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (3, r"variable\(\) got int: integers and booleans have no derivative. Pass a float"),
        (np.arange(3), r"variable\(\) got int64\[3\]: integers"),
        (np.array([True]), "integers and booleans"),
        ([1.0, 2.0], r"a variable holds a float or an array of floats. Write variable\(np.array\(...\)\)"),
        ("x", r"variable\(\) got str"),
        (None, r"variable\(\) got NoneType"),
        (np.array([None]), "a variable holds a float"),
        (variable(1.0), r"got a variable: write variable\(x.detach\(\)\)"),
    ],
)
def test_what_cannot_be_a_variable(value, message):
    with pytest.raises(TypeError, match=message):
        variable(value)


def test_no_variables_of_what_grad_differentiates():
    with pytest.raises(TypeError, match=r"variables are constants. Compute with x itself, or"):
        grad(lambda x: variable(x) * 2)(1.0)


def write(x):
    x[0] = 1.0


def write_to_view(x):
    x[1:][0] = 1.0


def write_flat(x):
    x.flat[0] = 1.0


IN_PLACE = {
    "x += 1": lambda x: operator.iadd(x, 1.0),
    "x @= a": lambda x: operator.imatmul(x, A),
    "x[0] =": write,
    "x[1:][0] =": write_to_view,
    "x.flat[0] =": write_flat,
    "out=x": lambda x: np.add(x, 1.0, out=x),
    "np.add.at": lambda x: np.add.at(x, [0], 1.0),
    "x.sort()": lambda x: x.sort(),
    "x.fill()": lambda x: x.fill(1.0),
    "x.shape =": lambda x: setattr(x, "shape", (3, 1)),
}


@pytest.mark.parametrize("update", IN_PLACE.values(), ids=IN_PLACE)
def test_a_variable_cannot_be_written_to(update):
    x = variable(B.copy())
    y = np.sum(x * x)
    with pytest.raises(RuntimeError, match=r"Write y = x \+ .* to update the variable outside of the graph, write"):
        update(x)
    np.testing.assert_array_equal(x.value, B)
    y.backward()
    np.testing.assert_array_equal(x.grad, 2 * B)


def test_backward_from_an_array_needs_a_cotangent():
    x = variable(B)
    with pytest.raises(TypeError, match=r"array of shape \(3,\) without a cotangent.*Reduce it to one \(np.sum\(y\)\)"):
        (x * 2).backward()
    with pytest.raises(TypeError, match=r"a complex number without a cotangent.*np.abs\(y\) or y.real"):
        np.sum(x * 1j).backward()
    with pytest.raises(ValueError, match=r"has the shape \(2,\) and should have \(3,\)"):
        (x * 2).backward(np.ones(2))
    with pytest.raises(TypeError, match="give a number or an array"):
        (x * 2).backward("abc")
    with pytest.raises(TypeError, match="is complex, and the value it belongs to is real"):
        (x * 2).backward(np.ones(3) * 1j)
    with pytest.raises(ValueError, match="got 2 outputs, and the cotangents"):
        backward([x, x * 2], [np.ones(3)])


def test_backward_from_what_is_no_result_of_variables():
    x = variable(B)
    with pytest.raises(UnrelatedOutputError, match=r"backward\(\) of float, which was not computed from a variable"):
        backward(3.0)
    with pytest.raises(
        UnrelatedOutputError, match=r"backward\(\) of int64, which was not computed from a variable, or only"
    ):
        backward(np.argmax(x))
    with pytest.raises(UnrelatedOutputError, match="does not depend on a variable"):
        np.sum(np.zeros(3, like=x)).backward()
    with pytest.raises(TypeError, match="got no output"):
        backward([])
    with pytest.raises(TypeError, match=r"with respect to inputs\[1\], which is float64\[3\] and no variable"):
        gradients(np.sum(x), [x, B])
    with pytest.raises(TypeError, match="no inputs"):
        gradients(np.sum(x), [])


def test_backward_within_grad():
    v = variable(B)

    def goes_back(t):
        backward(np.sum(v * t))
        return t

    with pytest.raises(TypeError, match=r"variables are constants\. Go back outside of it"):
        grad(goes_back)(1.0)

    def keeps_a_gradient(t):
        (v * 2).backward(t * B)
        return t

    with pytest.raises(TypeError, match=r"cannot be kept in x.grad. Write gradients\(y, x, cotangent\)"):
        grad(keeps_a_gradient)(1.0)
    assert v.grad is None


def test_results_have_no_grad():
    y = np.tanh(variable(B))
    with pytest.raises(RuntimeError, match=r"a result of numpy.tanh was asked for.*Write gradients\(loss, y\)"):
        _ = y.grad
    with pytest.raises(RuntimeError, match="only variables have one"):
        y.grad = None


def test_conversions_say_where_the_numbers_are():
    x = variable(2.0)
    for convert in (float, complex, np.asarray):
        with pytest.raises(TracerConversionError, match=r"a variable \(float64; its numbers are x.value\)"):
            convert(x)
    assert f"{x:.1f}" == "2.0"


def failing(x):
    return np.sum(x)


@rrule.register(failing)
def failing_rrule(x):
    def failing_pullback(ybar):
        raise ZeroDivisionError("in the rule")

    return np.sum(x), failing_pullback


@pytest.mark.parametrize("create_graph", [False, True])
def test_an_error_in_a_rule_says_which_line_called_it(create_graph):
    x = variable(B)
    y = apply(failing, (x * 2.0,))  # this line
    with pytest.raises(ZeroDivisionError) as caught:
        y.backward(create_graph=create_graph)
    (note,) = caught.value.__notes__
    line = test_an_error_in_a_rule_says_which_line_called_it.__code__.co_firstlineno + 3
    assert "failing, called in test_an_error_in_a_rule_says_which_line_called_it at" in note
    assert f"{__file__}:{line}: y = apply(failing, (x * 2.0,))  # this line" in note


def test_lines_of_numpy_itself_are_passed_over():
    x = variable(B)
    y = np.sum(np.vander(x, 3))  # through NumPy's own code
    y.backward()
    with pytest.raises(RuntimeError, match=r"at .*test_variables.py:\d+: y = np.sum\(np.vander\(x, 3\)\)"):
        y.backward()


# ---------------------------------------------------------------- memory


@pytest.mark.usefixtures("no_collector")
def test_a_dropped_graph_is_freed():
    x = variable(B)
    h = np.exp(x * 2.0)
    held = weakref.ref(h._value)
    y = np.sum(np.linalg.inv(np.outer(h, h) + A) @ np.stack([h, h])[0])
    del h
    assert held() is not None
    del y
    assert held() is None


@pytest.mark.usefixtures("no_collector")
def test_a_pass_frees_what_was_saved():
    x = variable(B)
    h = np.exp(x * 2.0)
    held = weakref.ref(h._value)
    y = np.sum(h**2)
    del h
    y.backward(retain_graph=True)
    assert held() is not None
    y.backward()
    assert held() is None
    assert y.value > 0


@pytest.mark.short_cuts
@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize(
    ("use", "is_kept"),
    [
        (lambda h: h + B, False),
        (lambda h: B - h, False),
        (lambda h: h * B, False),
        (lambda h: np.exp(h), False),
        (lambda h: np.sin(h), True),
        (lambda h: np.hypot(h, 1.0), True),
        (lambda h: np.roll(h, 1), False),
        (lambda h: np.cumsum(h + h), False),
        (lambda h: h[h.value > 0] + 0.0, True),
    ],
)
def test_nodes_keep_what_derivatives_read(use, is_kept):
    h = np.exp(variable(B)) * 1.5
    held = weakref.ref(h._value)
    y = use(h) * 1.0
    del h
    assert (held() is not None) == is_kept
    del y
    assert held() is None


@pytest.mark.usefixtures("no_collector")
def test_an_exponential_keeps_its_output():
    y = np.exp(variable(B))
    held = weakref.ref(y._value)
    z = y + 1.0
    del y
    assert held() is not None
    del z
    assert held() is None


@pytest.mark.short_cuts
@pytest.mark.usefixtures("no_collector")
def test_second_derivatives_leave_no_cycle_but_that_of_grad():
    x = variable(B)
    y = np.sum(np.exp(x) * x)
    held = weakref.ref(y._node.parents[0].entry[2])
    slope = gradients(y, x, create_graph=True)
    np.sum(slope).backward()
    del y, slope
    assert held() is None


@pytest.mark.parametrize("step", [np.sin, lambda y: y + 1.0, lambda y: y * y, lambda y: np.roll(y, 1)])
def test_long_chains_neither_recurse_nor_overflow(step):
    length = 100_000 if step is np.sin else 3_000
    x = variable(np.full(1, 0.5))
    y = x
    for _ in range(length):
        y = step(y)
    y.backward(np.ones(1))
    assert np.isfinite(x.grad)
    y = x
    for _ in range(length):
        y = step(y)
    del y  # without a pass


def test_a_long_chain_is_differentiated_again():
    x = variable(0.5)
    y = x
    for _ in range(3_000):
        y = y + 1e-4 * np.sin(y)
    slope = gradients(y, x, create_graph=True)
    assert np.isfinite(gradients(slope, x))


# ---------------------------------------------------------------- threads


def test_threads_build_and_walk_graphs_at_once():
    shared = variable(B)
    root = np.exp(shared)
    own = [variable(B * (i + 1)) for i in range(4)]
    errors = []

    def work(x):
        try:
            for _ in range(50):
                y = np.sum(np.tanh(root * x) + shared)
                y.backward(retain_graph=True)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(x,)) for x in own]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    expected = np.zeros(3)
    for i, x in enumerate(own):
        of_shared, of_own = grad(lambda s, x: np.sum(np.tanh(np.exp(s) * x) + s), argnums=(0, 1))(B, B * (i + 1))
        np.testing.assert_allclose(x.grad, 50 * of_own, rtol=1e-10)
        expected += 50 * of_shared
    np.testing.assert_allclose(shared.grad, expected, rtol=1e-10)


def test_a_rule_of_forward_mode_alone_serves():
    def cube(x):
        return x**3

    @frule.register(cube)
    def cube_frule(tangents, x):
        return cube(x), 3 * x**2 * tangents[1]

    x = variable(B)
    slope = gradients(np.sum(apply(cube, (x,))), x, create_graph=True)
    np.testing.assert_allclose(slope.value, 3 * B**2)
    np.testing.assert_allclose(gradients(np.sum(slope), x), 6 * B)


def test_none_as_an_index_is_not_taken_for_a_missing_argument() -> None:
    x = variable(np.ones(3))
    y = x * 2.0
    np.negative.at(y, None)
    np.testing.assert_array_equal(y.value, [-2.0, -2.0, -2.0])
    np.sum(y).backward()
    np.testing.assert_array_equal(x.grad, [-2.0, -2.0, -2.0])
