"""checkpoint: the same derivatives from less memory."""

import functools
import gc
import itertools
import tracemalloc
import weakref
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from rulescore.ad.checkpointing import checkpoint
from rulescore.ad.forward import jvp, linearize
from rulescore.ad.primitives import primitive
from rulescore.ad.reverse import grad, value_and_grad, vjp
from testutils import jvp_fd, vjp_fd

X = np.array([0.5, -1.25, 2.0])
W = np.array([[0.2, -0.4, 0.1], [0.3, 0.5, -0.2], [-0.1, 0.2, 0.6]])


def counted(f):
    @functools.wraps(f)
    def counting(*args, **kwargs):
        counting.calls += 1
        return f(*args, **kwargs)

    counting.calls = 0
    return counting


def curve(x):
    return np.sin(x) * np.exp(0.5 * x) + x**3 / (1 + x * x)


WAYS = {
    "grad": grad,
    "vjp": lambda f: lambda x: vjp(f, x)[1](1.0)[0],
    "jvp": lambda f: lambda x: jvp(f, (x,), (1.0,))[1],
    "linearize": lambda f: lambda x: linearize(f, x)[1](1.0),
}


@pytest.mark.parametrize("ways", [w for n in (1, 2, 3) for w in itertools.product(WAYS, repeat=n)], ids="-".join)
def test_derivatives_of_every_order_and_mixture_are_those_without(ways):
    def derived(f):
        return functools.reduce(lambda f, way: WAYS[way](f), ways, f)

    assert derived(checkpoint(curve))(0.7) == pytest.approx(derived(curve)(0.7), rel=1e-13)
    assert derived(lambda x: checkpoint(curve)(x * x) * x)(0.7) == pytest.approx(
        derived(lambda x: curve(x * x) * x)(0.7), rel=1e-13
    )


def test_gradient_agrees_with_finite_differences():
    def loss(w, x):
        for _ in range(3):
            x = checkpoint(lambda w, x: np.tanh(w @ x) * x)(w, x)
        return np.sum(x**2)

    for found, estimate in zip(grad(loss, (0, 1))(W, X), vjp_fd(loss, 1.0, (W, X)).value, strict=True):
        np.testing.assert_allclose(found, estimate, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(jvp(loss, (W, X), (W, X))[1], jvp_fd(loss, (W, X), (W, X)).value, rtol=1e-8)


def test_the_function_runs_once_forwards_and_once_backwards():
    f = counted(curve)
    value, vjp_fn = vjp(checkpoint(f), 0.7)
    assert f.calls == 1
    assert value == curve(0.7)
    vjp_fn(1.0)
    assert f.calls == 2
    vjp_fn(2.0)
    assert f.calls == 3


def test_forward_mode_runs_it_once():
    f = counted(curve)
    jvp(checkpoint(f), (0.7,), (1.0,))
    assert f.calls == 1


def test_there_is_no_effect_outside_of_a_differentiation():
    f = counted(lambda x, **kwargs: x)
    marker = object()
    assert checkpoint(f)(marker) is marker
    assert checkpoint(f)(X, key=1) is X
    assert f.calls == 2
    constant = counted(np.sin)
    assert grad(lambda x: x * np.sum(checkpoint(constant)(X)))(1.0) == np.sum(np.sin(X))
    assert constant.calls == 1


def test_what_nobody_differentiates_is_not_run_again():
    f = counted(np.sin)
    assert grad(lambda x: x * np.floor(checkpoint(f)(x)))(1.0) == 0.0
    assert f.calls == 1


def test_the_arguments_alone_are_kept():
    size, depth = 20_000, 20

    def block(x):
        for _ in range(depth):
            x = np.tanh(x * 1.1)
        return x

    def memory_held(f):
        gc.collect()
        tracemalloc.start()
        kept = vjp(lambda x: f(f(f(x))), np.linspace(-1, 1, size))
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert len(kept) == 2
        return held / (8 * size)  # in arrays

    plain, checkpointed = memory_held(block), memory_held(checkpoint(block))
    assert plain > 3 * depth
    assert checkpointed < 6  # the argument of each call, and the result


def test_the_backward_pass_holds_the_intermediate_results_of_one_call():
    size, depth, calls = 20_000, 10, 10

    def block(x):
        for _ in range(depth):
            x = np.tanh(x * 1.1)
        return x

    def peak(f):
        gc.collect()
        tracemalloc.start()
        grad(lambda x: np.sum(functools.reduce(lambda x, _: f(x), range(calls), x)))(np.linspace(-1, 1, size))
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found / (8 * size)

    assert peak(checkpoint(block)) < calls + 3 * depth < peak(block) / 2


def test_the_second_order_saves_memory_too():
    size, depth = 20_000, 15

    def block(x):
        for _ in range(depth):
            x = np.tanh(x * 1.1)
        return x

    def memory_held(f):
        def gradient(x):
            return grad(lambda x: np.sum(f(f(x))))(x)

        gc.collect()
        tracemalloc.start()
        kept = vjp(gradient, np.linspace(-1, 1, size))
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert len(kept) == 2
        return held / (8 * size)

    assert memory_held(checkpoint(block)) < memory_held(block) / 4


def test_the_tape_does_not_contain_itself():
    class Watched(np.ndarray):
        """An array that can be referred to weakly."""

    gc.collect()
    gc.disable()
    try:
        x = np.linspace(0, 1, 5).view(Watched)
        watch = weakref.ref(x)
        _, vjp_fn = vjp(lambda x: checkpoint(np.sin)(x), x)
        vjp_fn(np.ones(5))
        del x, vjp_fn, _
        assert watch() is None  # without the help of the garbage collector
    finally:
        gc.enable()


# ---------------------------------------------------------------- arguments and results


@dataclass(frozen=True)
class Layer:
    w: np.ndarray
    scale: float
    name: str = "layer"

    def __call__(self, x):
        return np.tanh(self.w @ x) * self.scale

    def apply(self, x, power=1):
        return self(x) ** power


def test_trees_are_arguments_and_results():
    def f(layers, x, *, options):
        hidden = {"first": layers[0](x), "last": (layers[1](x), options["shift"] + x), "count": len(layers)}
        return hidden, None, [x * options["factor"]]

    def loss(f, layers, x):
        hidden, nothing, (scaled,) = f(layers, x, options={"shift": 2.0 * x, "factor": 3, "names": ["a"]})
        assert nothing is None
        assert hidden["count"] == 2
        return np.sum(hidden["first"] * hidden["last"][0]) + np.sum(hidden["last"][1] * scaled)

    layers = [Layer(W, 0.5), Layer(W.T, 2.0)]
    plain, with_checkpoint = (grad(functools.partial(loss, g), (0, 1))(layers, X) for g in (f, checkpoint(f)))
    for ours, theirs in zip(with_checkpoint[0], plain[0], strict=True):
        assert type(ours) is Layer
        np.testing.assert_allclose(ours.w, theirs.w)
        np.testing.assert_allclose(ours.scale, theirs.scale)
    np.testing.assert_allclose(with_checkpoint[1], plain[1])


@pytest.mark.parametrize(
    "carrying",
    [
        lambda w, x: checkpoint(Layer(w, 0.5))(x),
        lambda w, x: checkpoint(Layer(w, 0.5).apply)(x, power=2),
        lambda w, x: checkpoint(functools.partial(np.matmul, w))(x),
        lambda w, x: checkpoint(functools.partial(Layer(w, 0.5).apply, power=3))(x),
        lambda w, x: checkpoint(functools.partial(functools.partial(lambda a, b, c: a @ b * c, w), c=w[0]))(x),
        lambda w, x: checkpoint(lambda w, *, x: w @ x)(w, x=x),
    ],
)
def test_what_a_function_carries_is_differentiated(carrying):
    def loss(w, x):
        return np.sum(carrying(w, x) * x)

    for found, estimate in zip(grad(loss, (0, 1))(W, X), vjp_fd(loss, 1.0, (W, X)).value, strict=True):
        np.testing.assert_allclose(found, estimate, rtol=1e-7, atol=1e-9)


def test_a_method_is_checkpointed_in_its_class():
    class Model:
        factor = 2.0

        @checkpoint
        def loss(self, x):
            return np.sum(np.sin(x) * self.factor)

    np.testing.assert_allclose(grad(Model().loss)(X), 2 * np.cos(X))
    assert Model.loss.__name__ == "loss"


def test_python_numbers_integers_and_constants_among_the_results():
    def f(x):
        return x * 2.0, 3.0, 7, "text", np.arange(2), X

    def loss(x):
        doubled, number, count, text, indices, constant = checkpoint(f)(x)
        assert (number, count, text) == (3.0, 7, "text")
        return np.sum(doubled[indices] * number * constant[:2]) * count

    np.testing.assert_allclose(grad(loss)(X), vjp_fd(loss, 1.0, (X,)).value[0])


def test_types_and_precision_are_kept():
    x = X.astype(np.float32)
    assert grad(lambda x: np.sum(checkpoint(np.sin)(x)))(x).dtype == np.float32
    z = X + 1j * X[::-1]
    assert_same = np.testing.assert_allclose
    assert_same(grad(lambda z: np.sum(np.abs(checkpoint(np.exp)(z))))(z), grad(lambda z: np.sum(np.abs(np.exp(z))))(z))


def test_checkpoints_nest():
    inner = counted(lambda x: np.tanh(x * 1.1))
    outer = counted(lambda x: checkpoint(inner)(checkpoint(inner)(x)))
    np.testing.assert_allclose(
        grad(lambda x: np.sum(checkpoint(outer)(x)))(X), vjp_fd(lambda x: outer(x), np.ones(3), (X,)).value[0]
    )


def test_views_that_a_checkpointed_function_returns():
    def loss(x):
        part = checkpoint(lambda x: x[1:])(x)
        return np.sum(part * x[:-1])

    np.testing.assert_allclose(grad(loss)(X), vjp_fd(loss, 1.0, (X,)).value[0])


# ---------------------------------------------------------------- what cannot work


FORWARD_AND_REVERSE = [lambda f: grad(f)(1.5), lambda f: jvp(f, (1.5,), (1.0,)), lambda f: linearize(f, 1.5)]


@pytest.mark.parametrize("differentiate", FORWARD_AND_REVERSE)
@pytest.mark.parametrize(
    "f",
    [
        lambda w: checkpoint(lambda x: w * x)(w),
        lambda w: checkpoint(lambda x: (x, w))(w)[0],
        lambda w: checkpoint(lambda x: {"y": x * 2, "z": np.sin(w)})(w)["y"],
        lambda w: w * checkpoint(lambda x: checkpoint(lambda y: y * w)(x))(w),
    ],
)
def test_closing_over_what_is_differentiated_is_an_error(differentiate, f):
    with pytest.raises(ValueError, match=r"without getting it as an argument.*Pass it as an argument"):
        differentiate(f)


def test_assigning_to_what_is_closed_over_is_an_error():
    def f(x):
        z = np.zeros(2, like=x)

        def store(x):
            z[0] = x
            return x * 1.0

        y = checkpoint(store)(x)
        return y + z[0]

    with pytest.raises(ValueError, match="without getting it as an argument"):
        grad(f)(1.5)


def test_closing_over_an_inner_differentiation_is_an_error():
    with pytest.raises(ValueError, match="without getting it as an argument"):
        grad(lambda w: grad(lambda x: checkpoint(lambda w: w * x * x)(w))(3.0))(2.0)


def test_closing_over_an_outer_differentiation_works():
    def f(g):
        return lambda w: grad(lambda x: g(lambda x: np.sin(w * x) * w)(x))(0.4)

    for way in WAYS.values():
        assert way(f(checkpoint))(0.9) == pytest.approx(way(f(lambda g: g))(0.9), rel=1e-13)


def test_random_numbers_within_are_an_error():
    rng = np.random.default_rng(0)
    with pytest.raises(RuntimeError, match="draw random numbers outside"):
        grad(lambda x: np.sum(checkpoint(lambda x: x * rng.standard_normal(3))(x)))(X)
    noise = rng.standard_normal(3)
    np.testing.assert_array_equal(grad(lambda x: np.sum(checkpoint(np.multiply)(x, noise)))(X), noise)


def test_another_number_of_results_is_an_error():
    results = []

    def f(x):
        results.append(x)
        return [x] * len(results)

    with pytest.raises(RuntimeError, match="returned something else"):
        grad(lambda x: checkpoint(f)(x)[0])(1.0)


def test_a_function_that_is_less_precise_without_a_derivative_is_no_error():
    base = np.int8(2)  # of which SciPy takes the logarithm in half precision

    def f(x):
        return primitive(jensenshannon)(np.array([0.2, 0.5, 0.3]), X**2 * x**2 + 1.0, base)

    expected = grad(f)(1.3)
    assert grad(checkpoint(f))(1.3) == pytest.approx(expected, rel=1e-6)
    curvature = grad(grad(f))(1.3)
    for again in (grad(grad(checkpoint(f))), grad(checkpoint(grad(checkpoint(f))))):
        assert again(1.3) == pytest.approx(curvature, rel=1e-6)


def test_results_that_are_not_finite_are_no_error():
    with np.errstate(all="ignore"):
        gradient = grad(lambda x: np.sum(checkpoint(lambda x: np.log(x))(x)))(np.array([0.0, 1.0]))
    np.testing.assert_array_equal(gradient, [np.inf, 1.0])


@pytest.mark.parametrize("differentiate", [lambda f: grad(f)(X), lambda f: jvp(f, (X,), (X,)), lambda f: vjp(f, X)])
def test_assigning_to_an_argument_is_an_error(differentiate):
    x = X.copy()

    def f(x):
        x[0] = 1.0
        return np.sum(x)

    with pytest.raises(ValueError, match=r"read-only|is checkpointed and assigns to one of its arguments"):
        differentiate(checkpoint(f))
    np.testing.assert_array_equal(x, X)


def test_an_argument_that_is_assigned_to_says_what_to_write():
    def f(x):
        x *= 2
        return np.sum(x)

    with pytest.raises(ValueError, match="read-only") as caught:
        value_and_grad(checkpoint(f))(X)
    assert any("x = x.copy()" in note for note in caught.value.__notes__)

    def g(x):
        x = x.copy()
        x *= 2
        return np.sum(x * x)

    np.testing.assert_allclose(grad(checkpoint(g))(X), 8 * X)


def test_broadcast_and_read_only_arrays_are_arguments():
    broadcast, _ = np.broadcast_arrays(np.array([2.0]), X)
    fixed = X.copy()
    fixed.flags.writeable = False
    for constant in (broadcast, fixed):
        np.testing.assert_array_equal(grad(lambda x, c=constant: np.sum(checkpoint(np.multiply)(x, c)))(X), constant)


def test_a_generator_is_refused():
    with pytest.raises(TypeError, match="returned a generator"):
        grad(lambda x: sum(checkpoint(lambda x: (x * i for i in range(3)))(x)))(1.0)


@pytest.mark.parametrize("wrong", [3, "f", X, None])
def test_what_is_no_function_is_refused(wrong):
    with pytest.raises(TypeError, match="no function"):
        checkpoint(wrong)
