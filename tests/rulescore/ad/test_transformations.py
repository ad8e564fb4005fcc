"""grad, value_and_grad, vjp, jvp and linearize: arguments, forms of results, memory, and nesting to any order."""

import collections
import functools
import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from rulescore import NoTangent, ZeroTangent, frule, rrule
from rulescore.ad.forward import jvp, linearize
from rulescore.ad.messages.errors import LeakedTracerError, UnrelatedOutputError
from rulescore.ad.primitives import primitive
from rulescore.ad.reverse import grad, value_and_grad, vjp
from testutils import jvp_fd, vjp_fd

X = np.array([0.5, -1.25, 2.0])
Y = np.array([1.5, 0.25, -0.75])


def fd_gradients(f, *primals):
    return vjp_fd(f, 1.0, primals).value


def fd_derivative(f, x):
    return jvp_fd(f, (x,), (1.0,)).value


def assert_close(ours, expected, rtol=1e-7, atol=1e-9):
    np.testing.assert_allclose(ours, expected, rtol=rtol, atol=atol)


def three(x, y, z):
    return np.sum(np.sin(x) * y**2 * np.exp(0.3 * z))


# ---------------------------------------------------------------- argnums, keywords, aux


@pytest.mark.parametrize("argnums", [0, 1, 2, -1, -3, np.int64(1), np.int8(-1)])
def test_gradient_is_that_of_the_argument_that_argnums_names(argnums):
    primals = (X, Y, Y - X)
    assert_close(grad(three, argnums)(*primals), fd_gradients(three, *primals)[int(argnums)])


@pytest.mark.parametrize("argnums", [(0,), (1, 0), [2, 0], (-1, 0, 1), (np.int64(2), -2), range(3)])
def test_gradient_is_a_tuple_in_the_order_of_several_argnums(argnums):
    primals = (X, Y, Y - X)
    found = grad(three, argnums)(*primals)
    assert type(found) is tuple
    for bar, position in zip(found, argnums, strict=True):
        assert_close(bar, fd_gradients(three, *primals)[position])


@pytest.mark.parametrize("argnums", [3, -4, (0, 3), np.int64(7)])
def test_argnums_beyond_the_arguments_are_told_how_many_there_are(argnums):
    with pytest.raises(ValueError, match="3 positional arguments were given"):
        grad(three, argnums)(X, Y, X)


def test_argnums_that_name_an_argument_twice_are_refused():
    with pytest.raises(ValueError, match="names an argument twice"):
        grad(three, (0, -3))(X, Y, X)


@pytest.mark.parametrize("transformation", [grad, value_and_grad])
@pytest.mark.parametrize("argnums", [X, 1.5, [1.0], "x", True, (0, 1.0), None, {"x": 0}, np.float64(0), np.array([0])])
def test_an_argument_in_the_place_of_argnums_is_recognised_before_anything_runs(transformation, argnums):
    with pytest.raises(TypeError, match=r"and the arguments to the result, \w+\(f\)\(x\)"):
        transformation(three, argnums)


def test_no_argnums_are_refused():
    with pytest.raises(ValueError, match="with respect to nothing"):
        grad(three, ())


def test_a_differentiated_argument_given_by_keyword_is_refused():
    with pytest.raises(ValueError, match="pass what is differentiated by position"):
        grad(three, 2)(X, Y, z=X)


def test_keywords_are_passed_on_and_held_constant():
    seen = []

    def f(x, *, scale, power=2):
        seen.append(scale)
        return np.sum(scale * x**power)

    (expected,) = fd_gradients(functools.partial(f, scale=Y, power=3), X)
    seen.clear()
    assert_close(grad(f)(X, scale=Y, power=3), expected)
    assert seen[0] is Y


def test_arguments_that_are_not_differentiated_reach_the_function_as_they_are():
    marker = object()

    def f(x, y, other):
        assert y is Y
        assert other is marker
        return np.sum(x * y)

    assert_close(grad(f)(X, Y, marker), Y)


def test_value_and_grad_gives_numpys_value():
    value, gradient = value_and_grad(three)(X, Y, X)
    assert value == three(X, Y, X)
    assert type(value) is np.float64
    assert_close(gradient, fd_gradients(three, X, Y, X)[0])


def test_what_stands_beside_the_result_is_handed_through_without_tracers():
    def f(x):
        y = np.sin(x)
        return np.sum(y), {"y": y, "name": "sine", "twice": [2 * y, x[1:]], "step": 3}

    gradient, aux = grad(f, has_aux=True)(X)
    (value, same), _ = value_and_grad(f, has_aux=True)(X)
    for found in (aux, same, vjp(f, X, has_aux=True)[2], jvp(f, (X,), (Y,), has_aux=True)[2]):
        assert type(found["y"]) is np.ndarray
        assert_close(found["y"], np.sin(X))
        assert_close(found["twice"][0], 2 * np.sin(X))
        assert_close(found["twice"][1], X[1:])
        assert (found["name"], found["step"]) == ("sine", 3)
    assert value == np.sum(np.sin(X))
    assert_close(gradient, fd_gradients(lambda x: f(x)[0], X)[0])


@pytest.mark.parametrize("result", [1.0, (1.0,), (1.0, 2.0, 3.0), [1.0, 2.0]])
def test_has_aux_without_a_pair_is_refused(result):
    with pytest.raises(TypeError, match="return a pair"):
        grad(lambda x: result, has_aux=True)(1.0)


def test_the_gradient_function_keeps_name_and_signature():
    def loss(w, x):
        """The loss."""

    for made in (grad(loss), value_and_grad(loss)):
        assert made.__name__ == "loss"
        assert made.__doc__ == "The loss."
        assert made.__wrapped__ is loss


def test_callable_objects_and_methods_are_differentiated():
    class Model:
        def __init__(self):
            self.power = 3

        def __call__(self, x):
            return np.sum(x**self.power)

        def loss(self, x):
            return self(x) ** 2

    model = Model()
    assert_close(grad(model)(X), fd_gradients(model, X)[0])
    assert_close(grad(model.loss)(X), fd_gradients(model.loss, X)[0], rtol=1e-6)
    assert not hasattr(grad(model), "power")


@pytest.mark.parametrize("transformation", [grad, value_and_grad])
def test_something_that_is_no_function_is_refused_at_once(transformation):
    with pytest.raises(TypeError, match=r"with the function first"):
        transformation(X)


@pytest.mark.parametrize("transformation", [vjp, linearize])
def test_transformations_that_take_primals_want_a_function_and_at_least_one_primal(transformation):
    with pytest.raises(TypeError, match="with the function first"):
        transformation(X, three)
    with pytest.raises(ValueError, match="pass them after f"):
        transformation(three)


# ---------------------------------------------------------------- numbers of every kind


@pytest.mark.parametrize("number", [2.0, np.float64(2.0), np.array(2.0), np.float32(2.0), np.array(2.0, np.float32)])
def test_gradient_of_a_number_has_its_type(number):
    gradient = grad(lambda x: x**3 * 1.5)(number)
    assert type(gradient) is (np.float64 if type(number) is float else type(number))
    assert np.shape(gradient) == ()
    assert gradient.dtype == np.asarray(number).dtype
    assert_close(gradient, fd_derivative(lambda x: x**3 * 1.5, 2.0), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble, np.complex64])
def test_precision_of_the_gradient_is_that_of_the_argument(dtype):
    x = np.array([0.5, 1.0, 2.0], dtype)
    weights = np.array([1.0, -2.0, 0.5])  # float64, so that the value is

    def f(x):
        return np.sum(np.abs(x) ** 2 * weights)

    assert grad(f)(x).dtype == dtype
    assert vjp(f, x)[1](1.0)[0].dtype == dtype
    assert jvp(lambda x: x * weights.astype(dtype), (x,), (np.ones(3, dtype),))[1].dtype == dtype
    assert jvp(lambda x: x[:1] * x[0], (x,), (np.ones(3),))[1].dtype == dtype
    assert linearize(lambda x: x * x, x)[1](np.ones(3)).dtype == dtype
    nested = grad(lambda x: np.sum(np.abs(grad(f)(x)) ** 2))(x)
    assert nested.dtype == dtype


@primitive
def tripled(x):
    return 3 * x


@rrule.register(tripled)
def tripled_rrule(x):
    return 3 * x, lambda ybar: (NoTangent(), np.array(3.0) * ybar)  # float64, whatever x is


@pytest.mark.parametrize("x", [np.float32(2.0), np.array(2.0, np.float32), np.array([2.0], np.float32)])
def test_precision_of_a_gradient_within_a_differentiation_is_that_of_the_argument(x):
    seen = []

    def f(x):
        inner = grad(lambda x: np.sum(tripled(x) * x))(x)
        seen.append((inner.dtype, inner.shape, np.result_type(jvp(lambda x: x * x, (x,), (x,))[1])))
        return np.sum(inner * x)

    assert grad(f)(x).dtype == np.float32
    jvp(f, (x,), (x,))
    assert seen == [(np.float32, x.shape, np.float32)] * 2


def test_gradient_with_respect_to_a_complex_number_has_the_derivative_along_i_as_imaginary_part():
    def loss(z):
        return np.abs(z**2 + 1j) ** 2 + (z * np.exp(1j * z)).imag

    z = 0.3 - 0.8j
    along_one, along_i = (fd_derivative(lambda t, step=step: loss(z + t * step), 0.0) for step in (1, 1j))
    assert_close(grad(loss)(z), along_one + 1j * along_i)


def test_gradient_of_a_real_argument_in_a_complex_function_is_real():
    def loss(x):
        return np.abs(np.sum(np.exp(1j * x) * x))

    gradient = grad(loss)(X)
    assert gradient.dtype == float
    assert_close(gradient, fd_gradients(loss, X)[0])


def test_tangents_of_a_complex_output_of_a_real_argument_are_complex():
    def f(x):
        return np.exp(1j * x)

    _, dy = jvp(f, (X,), (Y,))
    assert dy.dtype == complex
    assert_close(dy, jvp_fd(f, (X,), (Y,)).value)
    assert_close(linearize(f, X)[1](Y), dy)


# ---------------------------------------------------------------- forms


Point = collections.namedtuple("Point", "x y")


@dataclass
class Layer:
    w: np.ndarray
    b: float


PARAMETERS = {
    "tuple": (X, 2.0),
    "list": [2.0, X],
    "dict": {"w": X, "b": 2.0},
    "named tuple": Point(X, 2.0),
    "ordered dict": collections.OrderedDict([("z", X), ("a", 2.0)]),
    "deque": collections.deque([X, 2.0]),
    "dataclass": Layer(X, 2.0),
    "nested": {"layers": [Layer(X, 1.0), Layer(2 * X, -1.0)], "scale": (0.5, None)},
    "with strings": {"w": X, "name": "layer", "activation": np.tanh},
}


def total(tree):
    """A function of all numbers in a tree."""
    match tree:
        case dict():
            return sum(total(tree[key]) * (i + 1.5) for i, key in enumerate(tree))
        case Layer():
            return total(tree.w) * total(tree.b)
        case tuple() | list() | collections.deque():
            return sum(total(part) * (i + 0.5) for i, part in enumerate(tree))
        case None | str() | np.ufunc():
            return 0.0
        case _:
            return np.sum(np.sin(tree) * tree)


def numbers_in(tree):
    """The paths of all numbers in a tree, each with a function that gives the tree another number there."""
    match tree:
        case dict():
            for key in tree:
                for value, put in numbers_in(tree[key]):
                    yield value, lambda new, key=key, put=put: type(tree)({**tree, key: put(new)})
        case Layer():
            yield tree.w, lambda new: Layer(new, tree.b)
            yield tree.b, lambda new: Layer(tree.w, new)
        case tuple() | list() | collections.deque():
            make = tree._make if isinstance(tree, Point) else type(tree)
            for i, part in enumerate(tree):
                for value, put in numbers_in(part):
                    yield value, lambda new, i=i, put=put: make([*list(tree)[:i], put(new), *list(tree)[i + 1 :]])
        case None | str() | np.ufunc():
            return
        case _:
            yield tree, lambda new: new


def leaves_of(tree):
    return [value for value, _ in numbers_in(tree) if not isinstance(value, NoTangent)]


@pytest.mark.parametrize("name", PARAMETERS)
def test_gradient_has_the_form_of_the_argument(name):
    tree = PARAMETERS[name]
    gradient = grad(total)(tree)
    assert type(gradient) is type(tree)
    found = leaves_of(gradient)
    places = list(numbers_in(tree))
    assert len(found) == len(places)
    for bar, (value, put) in zip(found, places, strict=True):
        expected = fd_gradients(lambda new, put=put: total(put(new)), value)[0]
        assert_close(bar, expected, rtol=1e-6)


@pytest.mark.parametrize("name", PARAMETERS)
def test_tangents_and_cotangents_have_the_forms_of_primals_and_outputs(name):
    tree = PARAMETERS[name]
    _, vjp_fn = vjp(lambda tree: {"tree": tree, "total": total(tree)}, tree)
    (bars,) = vjp_fn({"tree": grad(total)(tree), "total": 2.0})
    assert type(bars) is type(tree)
    for bar, gradient in zip(leaves_of(bars), leaves_of(grad(total)(tree)), strict=True):
        assert_close(bar, 3 * np.asarray(gradient))
    direction = grad(total)(tree)
    y, dy = jvp(lambda tree: (total(tree), tree), (tree,), (direction,))
    assert y[0] == total(tree)
    assert_close(dy[0], sum(np.sum(bar**2) for bar in leaves_of(direction)))
    assert type(dy[1]) is type(tree)
    assert_close(linearize(total, tree)[1](direction), dy[0])


def test_gradient_of_what_is_not_differentiable_within_an_argument_is_no_tangent():
    gradient = grad(total)(PARAMETERS["with strings"])
    assert gradient["name"] == NoTangent()
    assert gradient["activation"] == NoTangent()
    assert grad(total)(PARAMETERS["nested"])["scale"][1] is None


def test_containers_of_the_caller_are_not_written_to():
    parameters = {"w": X.copy(), "layers": [2.0]}

    def f(p):
        p["new"] = p["w"] * 2
        p["w"] *= 3
        p["layers"].append(5.0)
        return np.sum(p["w"] * p["new"]) * p["layers"][0]

    gradient = grad(f)(parameters)
    assert list(parameters) == ["w", "layers"]
    assert parameters["layers"] == [2.0]
    assert_close(parameters["w"], X)
    assert_close(gradient["w"], fd_gradients(lambda w: np.sum(3 * w * 2 * w) * 2.0, X)[0])


@pytest.mark.parametrize("transformation", ["vjp", "jvp", "linearize"])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": X}, "has the form"),
        ({"a": X, "b": (1.0,)}, "has the form"),
        ([X, 1.0], "has the form"),
        ({"a": X, "b": None}, "has the form"),
        ({"a": X[:2], "b": 1.0}, r"\['a'\].*\(2,\) and should have \(3,\)"),
        ({"a": 1.0, "b": 1.0}, r"\['a'\].*\(\) and should have \(3,\)"),
        ({"a": X, "b": np.ones(1)}, r"\['b'\].*\(1,\) and should have \(\)"),
        ({"a": "abc", "b": 1.0}, r"\['a'\].*is str"),
        ({"a": 1j * X, "b": 1.0}, r"\['a'\].*is complex, and the value it belongs to is real"),
    ],
)
def test_a_tangent_or_cotangent_of_another_form_is_refused_with_its_place(transformation, given, message):
    primal = {"a": X, "b": 2.0}
    calls = []

    def f(tree):
        calls.append(1)
        return {"a": tree["a"] * tree["b"], "b": tree["b"] ** 2}

    if transformation == "jvp":
        with pytest.raises((TypeError, ValueError), match=message):
            jvp(f, (primal,), (given,))
        assert not calls
    else:
        function = vjp(f, primal)[1] if transformation == "vjp" else linearize(f, primal)[1]
        with pytest.raises((TypeError, ValueError), match=message):
            function(given)


def test_zeros_stand_for_tangents_and_cotangents():
    _, vjp_fn = vjp(lambda x, y: (x * y, x + y), X, Y)
    bars = vjp_fn((X, ZeroTangent()))
    assert_close(bars[0], X * Y)
    assert_close(vjp_fn((NoTangent(), ZeroTangent()))[1], np.zeros(3))
    _, dy = jvp(np.multiply, (X, Y), (ZeroTangent(), X))
    assert_close(dy, X * X)
    assert_close(linearize(np.multiply, X, Y)[1](X, ZeroTangent()), X * Y)


def test_integers_are_taken_for_real_tangents():
    assert_close(vjp(lambda x: x**2, 3.0)[1](2)[0], 12.0)
    assert_close(jvp(lambda x: x**2, (3.0,), (2,))[1], 12.0)
    assert_close(vjp(np.sin, X)[1](np.ones(3, int))[0], np.cos(X))


@pytest.mark.parametrize("primals", [X, 2.0, {"x": X}])
def test_primals_and_tangents_of_jvp_are_sequences(primals):
    with pytest.raises(TypeError, match=r"give a tuple, \(x,\) for one"):
        jvp(np.sin, primals, (1.0,))
    with pytest.raises(TypeError, match=r"give a tuple, \(x,\) for one"):
        jvp(np.sin, (X,), primals)
    with pytest.raises(ValueError, match="got 1 primals and 2 tangents"):
        jvp(np.sin, (X,), (X, X))
    with pytest.raises(ValueError, match="got 1 primals and 0 tangents"):
        linearize(np.sin, X)[1]()


# ---------------------------------------------------------------- outputs


def test_constants_among_the_outputs_have_zero_derivatives():
    def f(x):
        return {"y": x**2, "constant": Y, "number": 3.0, "step": 7, "name": "f", "none": None, "floor": np.floor(x)}

    y, vjp_fn = vjp(f, X)
    assert y["constant"] is Y
    assert y["step"] == 7
    cotangent = {**y, "step": NoTangent(), "name": NoTangent()}
    assert_close(vjp_fn(cotangent)[0], X**2 * 2 * X)
    _, dy = jvp(f, (X,), (Y,))
    for derivative in (dy, linearize(f, X)[1](Y)):
        assert_close(derivative["y"], jvp_fd(lambda x: x**2, (X,), (Y,)).value)
        assert_close(derivative["constant"], np.zeros(3))
        assert_close(derivative["floor"], np.zeros(3))
        assert derivative["number"] == 0.0
        assert derivative["step"] == NoTangent()
        assert derivative["name"] == NoTangent()
        assert derivative["none"] is None


def test_an_argument_that_is_returned_is_its_own_derivative():
    assert grad(lambda x: x)(2.0) == 1.0
    _, vjp_fn = vjp(lambda x, y: (x, x, y), X, Y)
    assert_close(vjp_fn((X, Y, X))[0], X + Y)
    _, dy = jvp(lambda x: [x, x], (X,), (Y,))
    assert_close(dy[0], Y)
    assert_close(dy[1], Y)
    assert_close(linearize(lambda x: x, X)[1](Y), Y)


def test_views_of_what_has_changed_since_are_returned_as_numpy_would():
    def f(x):
        x = x + 0.0
        part = x[1:]
        x *= x
        return part, x

    for y in (vjp(f, X)[0], jvp(f, (X,), (Y,))[0], linearize(f, X)[0]):
        assert_close(y[0], f(X)[0])
        assert_close(y[1], f(X)[1])
    assert_close(vjp(f, X)[1]((Y[1:], X))[0], vjp_fd(f, (Y[1:], X), (X,)).value[0])
    assert_close(jvp(f, (X,), (Y,))[1][0], jvp_fd(f, (X,), (Y,)).value[0])
    assert_close(grad(lambda x: f(x)[0][0])(X), fd_gradients(lambda x: f(x)[0][0], X)[0])


@pytest.mark.parametrize("transformation", [vjp, linearize, lambda f, x: jvp(f, (x,), (x,))])
@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: (x * i for i in range(3)), "returned a generator.*list"),
        (lambda x: map(np.sin, x), "returned a map.*list"),
        (lambda x: {"a": iter([x])}, "returned a list_iterator"),
        (lambda x: type("Box", (), {"__init__": lambda self, x: setattr(self, "x", x)})(x), "returned a Box"),
        (lambda x: [functools.partial(np.sin, x)], "returned a partial"),
        (lambda x: {x.shape: [{1, 2.5}]}, "returned a set"),
    ],
)
def test_results_in_which_derivatives_would_get_lost_are_refused(transformation, f, message):
    with pytest.raises(TypeError, match=message):
        transformation(f, X)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (None, "its return statement is missing"),
        ("abc", "returned str"),
        (3, "integers and booleans"),
        (True, "integers and booleans"),
        (np.int64(3), "integers and booleans"),
        ((1.0, 2), "has_aux=True"),
        ([1.0], "return a number computed with NumPy"),
        ({"loss": 1.0}, "return a number computed with NumPy"),
        (X, r"an array of shape \(3,\)"),
        (np.ones((1, 1)), r"an array of shape \(1, 1\).*np\.sum"),
    ],
)
def test_a_loss_that_is_no_real_number_is_refused(result, message):
    with pytest.raises(TypeError, match=message):
        grad(lambda x: result)(1.0)


def test_a_traced_loss_that_is_no_real_number_is_refused():
    with pytest.raises(TypeError, match=r"an array of shape \(3,\).*jacrev"):
        grad(np.sin)(X)
    with pytest.raises(TypeError, match="returned a complex number"):
        grad(lambda x: x * 1j)(1.0)
    with pytest.raises(TypeError, match="integers and booleans"):
        grad(lambda x: np.argmax(x))(X)
    with pytest.raises(TypeError, match="a yield makes the function a generator"):
        grad(_yielding)(X)


def _yielding(x):
    yield np.sum(x)


@pytest.mark.parametrize(
    "f", [lambda x: 3.0, lambda x: np.sum(Y), lambda x: np.sum(np.floor(x)), lambda x: np.float64(1)]
)
def test_a_loss_that_does_not_depend_on_the_argument_is_refused(f):
    with pytest.raises(UnrelatedOutputError, match="does not depend on the arguments"):
        grad(f)(X)


# ---------------------------------------------------------------- memory


def flat_arrays(tree):
    return [leaf for leaf in leaves_of(tree) if isinstance(leaf, np.ndarray)]


def assert_own_memory(found, others):
    arrays = flat_arrays(found)
    for a, b in itertools.combinations(arrays, 2):
        assert not np.shares_memory(a, b)
    for array in arrays:
        assert array.flags.writeable
        for other in others:
            assert not np.shares_memory(array, other)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: x + y,
        lambda x, y: (x + y)[::-1],
        lambda x, y: np.reshape(x + y, (3, 1))[:, 0] + x,
        lambda x, y: np.real(x) + y.T,
        lambda x, y: x,
        lambda x, y: np.concatenate([x, y])[:3],
        lambda x, y: x * y,
    ],
)
def test_gradients_share_no_memory(f):
    x, y, ybar = X.copy(), Y.copy(), np.array([1.0, 2.0, 3.0])
    value, vjp_fn = vjp(f, x, y)
    assert_own_memory(vjp_fn(ybar), [x, y, ybar, value])
    assert_own_memory(vjp_fn(ybar[:]), [x, y, ybar, value])  # a view of what the user holds
    assert_own_memory(grad(lambda x, y: np.sum(f(x, y)), (0, 1))(x, y), [x, y])
    dx, dy = np.array([1.0, 0.0, 2.0]), np.array([0.5, 0.5, 0.0])
    assert_own_memory([jvp(f, (x, y), (dx, dy))[1]], [x, y, dx, dy])
    assert_own_memory([linearize(f, x, y)[1](dx, dy)], [x, y, dx, dy])


def test_gradients_that_rules_hand_out_as_broadcast_views_are_copied():
    @primitive
    def spread(x):
        return x + 0.0

    @rrule.register(spread)
    def spread_rrule(x):
        return x + 0.0, lambda ybar: (NoTangent(), np.broadcast_arrays(ybar[:1], x)[0])

    gradient = vjp(spread, X)[1](X)[0]
    gradient[0] = 7.0
    assert_close(gradient, [7.0, 0.5, 0.5])


def test_two_calls_of_a_vjp_share_no_memory():
    _, vjp_fn = vjp(lambda x: np.concatenate([x, x[:1]]), X)
    first, second = vjp_fn(np.ones(4))[0], vjp_fn(np.ones(4))[0]
    first[:] = 7.0
    assert_close(second, [2.0, 1.0, 1.0])


def test_gradients_within_a_differentiation_share_no_memory_either():
    def f(x):
        first, second = vjp(lambda a, b: a + b, x, x)[1](x)
        first *= 3.0  # would change x, or second, if they were one
        return np.sum(first * second * x)

    assert_close(grad(f)(X), fd_gradients(lambda x: np.sum(3 * x * x * x), X)[0])


def test_arguments_are_not_written_to_by_a_function_that_assigns():
    x = X.copy()

    def f(x):
        x[0] = x[1] * 2
        x *= 3
        return np.sum(x * x)

    gradient = grad(f)(x)
    assert_close(x, X)
    assert_close(gradient, fd_gradients(lambda x: f(x.copy()), X)[0])


# ---------------------------------------------------------------- several calls


def test_vjp_and_linearize_call_the_function_once():
    calls = []

    def f(x):
        calls.append(1)
        return np.sin(x) * x

    _, vjp_fn = vjp(f, X)
    _, f_jvp = linearize(f, X)
    for direction in (X, Y, X):
        assert_close(vjp_fn(direction)[0], vjp_fd(lambda x: np.sin(x) * x, direction, (X,)).value[0])
        assert_close(f_jvp(direction), jvp_fd(lambda x: np.sin(x) * x, (X,), (direction,)).value)
    assert len(calls) == 2


def test_a_linearized_function_is_linear_and_differentiable():
    _, f_jvp = linearize(lambda x: x**3, 2.0)
    assert f_jvp(3.0) == 3 * f_jvp(1.0)
    assert grad(f_jvp)(5.0) == f_jvp(1.0)
    _, vjp_fn = vjp(lambda x: x**3, 2.0)
    assert grad(lambda ybar: vjp_fn(ybar)[0])(5.0) == vjp_fn(1.0)[0]


# ---------------------------------------------------------------- any order, any mixture


def by_grad(f):
    return grad(f)


def by_value_and_grad(f):
    return lambda x: value_and_grad(f)(x)[1]


def by_vjp(f):
    return lambda x: vjp(f, x)[1](1.0)[0]


def by_jvp(f):
    return lambda x: jvp(f, (x,), (1.0,))[1]


def by_linearize(f):
    return lambda x: linearize(f, x)[1](1.0)


WAYS = [by_grad, by_value_and_grad, by_vjp, by_jvp, by_linearize]


def curve(x):
    return np.sin(x) * np.exp(0.5 * x) + x**3 / (1 + x * x)


@pytest.fixture(scope="module")
def derivatives_of_curve():
    """The derivatives of the orders 0 to 4: each a finite difference of the one before, which has been checked so."""
    functions = [curve]
    for _ in range(4):
        functions.append(by_grad(functions[-1]))
        assert_close(functions[-1](0.7), fd_derivative(functions[-2], 0.7), rtol=1e-8)
    return [f(0.7) for f in functions]


@pytest.mark.parametrize("order", [1, 2, 3])
def test_transformations_nest_in_any_mixture(order, derivatives_of_curve):
    for ways in itertools.product(WAYS, repeat=order):
        f = functools.reduce(lambda f, way: way(f), ways, curve)
        assert_close(f(0.7), derivatives_of_curve[order], rtol=1e-12)


@pytest.mark.parametrize(
    "ways", [WAYS[:4], WAYS[::-1][:4], [by_jvp] * 4, [by_linearize, by_jvp, by_grad, by_linearize]]
)
def test_derivatives_of_the_fourth_order(ways, derivatives_of_curve):
    f = functools.reduce(lambda f, way: way(f), ways, curve)
    assert_close(f(0.7), derivatives_of_curve[4], rtol=1e-11)


@pytest.mark.parametrize("inner", WAYS)
@pytest.mark.parametrize("outer", WAYS)
def test_hessians_of_arrays_do_not_depend_on_the_way(outer, inner):
    def f(x):
        return np.sum(np.tanh(x) * x[::-1]) + x[0] * np.prod(x)

    def gradient(x):
        entries = [inner(lambda t, e=e: f(x + t * e))(0.0) for e in np.eye(3)]
        return np.stack(entries)

    found = outer(lambda t: np.sum(gradient(X + t * Y) * X))(0.0)
    expected = fd_derivative(lambda t: np.sum(grad(f)(X + t * Y) * X), 0.0)
    assert_close(found, expected)


def test_derivatives_that_are_constant_have_derivative_zero():
    for outer, inner in itertools.product(WAYS, repeat=2):
        assert outer(inner(lambda x: 3.0 * x))(2.0) == 0.0
        for third in WAYS:
            assert third(outer(inner(lambda x: 3.0 * x)))(2.0) == 0.0
            assert third(outer(inner(lambda x: x * x)))(2.0) == 0.0


def test_derivative_with_respect_to_a_cotangent_that_does_not_matter_is_zero():
    _, vjp_fn = vjp(lambda x, y: x + 0.0 * y, 2.0, 3.0)
    assert grad(lambda ybar: vjp_fn(ybar)[1])(1.0) == 0.0
    _, vjp_fn = vjp(lambda x, y: x, 2.0, 3.0)
    assert grad(lambda ybar: vjp_fn(ybar)[1])(1.0) == 0.0


# ---------------------------------------------------------------- perturbation confusion


@pytest.mark.parametrize("outer", WAYS)
@pytest.mark.parametrize("inner", WAYS)
def test_perturbations_of_nested_derivatives_are_not_confused(outer, inner):
    # Siskind and Pearlmutter (2005): d/dx (x · d/dy (x + y)) is 1, and 2 for whoever confuses the two.
    assert outer(lambda x: x * inner(lambda y: x + y)(1.0))(1.0) == 1.0
    # Manzyuk et al. (2019), amazing bug: a derivative that is handed out as a function of its point.
    assert_close(outer(lambda x: x * inner(lambda y: x * y)(2.0))(3.0), fd_derivative(lambda x: x * x, 3.0))
    assert_close(
        outer(lambda x: inner(lambda y: x**2 * y**3)(x))(1.5), fd_derivative(lambda x: 3 * x**2 * x**2, 1.5), rtol=1e-6
    )
    # The inner point depends on the outer variable, and the function on both.
    expected = fd_derivative(lambda x: by_grad(lambda y: np.sin(x * y) * x)(x**2), 0.8)
    assert_close(outer(lambda x: inner(lambda y: np.sin(x * y) * x)(x**2))(0.8), expected)


@pytest.mark.parametrize("outer", WAYS)
@pytest.mark.parametrize("inner", WAYS)
def test_a_derivative_of_a_function_that_returns_functions_is_not_confused(outer, inner):
    # Manzyuk et al. (2019): s(u)(f)(x) = f(x + u); D s at 0 applied twice is the second derivative.
    def s(u):
        return lambda f: lambda x: f(x + u)

    def d_hat(f):
        return lambda x: inner(lambda u: s(u)(f)(x))(0.0)

    twice = outer(lambda u: d_hat(lambda x: np.exp(2 * x) * x)(0.4 + u))(0.0)
    assert_close(twice, fd_derivative(by_grad(lambda x: np.exp(2 * x) * x), 0.4))


def test_inner_functions_may_close_over_tracers_of_every_level():
    def f(x):
        def g(y):
            def h(z):
                return np.sin(x * y) * z**2 + x * z

            return jvp(h, (y * x,), (y,))[1] * x

        return linearize(g, x)[1](x)

    def numeric(x):
        def g(y):
            return fd_derivative(lambda t: np.sin(x * y) * (y * x + t * y) ** 2 + x * (y * x + t * y), 0.0) * x

        return fd_derivative(lambda t: g(x + t * x), 0.0)

    assert_close(f(0.9), numeric(0.9), rtol=1e-6)
    assert_close(grad(f)(0.9), fd_derivative(f, 0.9))


# ---------------------------------------------------------------- rules of one mode alone


@primitive
def squashed(x):
    return np.tanh(np.asarray(x)) ** 2  # np.asarray: only a rule can differentiate this


@rrule.register(squashed)
def squashed_rrule(x):
    t = np.tanh(x)
    return t**2, lambda ybar: (NoTangent(), ybar * 2 * t * (1 - t**2))


@primitive
def bent(x, y):
    return np.sin(np.asarray(x)) * y


@frule.register(bent)
def bent_frule(tangents, x, y):
    _, dx, dy = tangents
    return np.sin(x) * y, np.cos(x) * y * dx + np.sin(x) * dy


@pytest.mark.parametrize("ways", [*itertools.product(WAYS, repeat=1), *itertools.product(WAYS, repeat=2)])
def test_a_rule_of_one_mode_serves_both_at_any_order(ways):
    for f in (squashed, lambda x: bent(x * x, x)):
        plain = functools.reduce(lambda f, way: way(f), ways[1:], f)
        assert_close(functools.reduce(lambda f, way: way(f), ways, f)(0.6), fd_derivative(plain, 0.6))


def test_a_rule_of_one_mode_serves_arrays_and_arguments_held_constant():
    assert_close(jvp(squashed, (X,), (Y,))[1], jvp_fd(squashed, (X,), (Y,)).value)
    for primals in ((X, Y), (X, 2.0)):
        expected = vjp_fd(bent, Y, primals).value
        for bar, estimate in zip(vjp(bent, *primals)[1](Y), expected, strict=True):
            assert_close(bar, estimate)
    assert_close(grad(lambda x: np.sum(bent(x, Y)))(X), fd_gradients(lambda x: np.sum(bent(x, Y)), X)[0])


# ---------------------------------------------------------------- what ends with a differentiation


def keep_and_use(transform):
    kept = []

    def f(x):
        kept.append(x * 2)
        return np.sum(x)

    transform(f)
    return kept[0]


TRANSFORMS = {
    "grad": lambda f: grad(f)(X),
    "vjp": lambda f: vjp(f, X),
    "jvp": lambda f: jvp(f, (X,), (Y,)),
    "linearize": lambda f: linearize(f, X),
}
USES = [
    lambda x: x + 1,
    lambda x: np.sin(x),
    lambda x: np.sum(x),
    lambda x: x[0],
    lambda x: x.__setitem__(0, 1.0),
    lambda x: 2.0 * x,
    lambda x: x.__iadd__(1.0),
]


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("use", USES)
def test_a_tracer_that_is_used_after_the_function_has_returned_is_an_error(name, use):
    leaked = keep_and_use(TRANSFORMS[name])
    with pytest.raises(LeakedTracerError, match="after the function that was differentiated has returned"):
        use(leaked)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_generator_that_is_run_after_the_function_has_returned_is_an_error(name):
    kept = []

    def f(x):
        kept.append(x * i for i in range(3))
        return np.sum(x)

    TRANSFORMS[name](f)
    with pytest.raises(LeakedTracerError):
        next(kept[0])


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_tracer_of_a_function_that_raised_is_an_error_too(name):
    kept = []

    def f(x):
        kept.append(x)
        raise KeyError("of the user")

    with pytest.raises(KeyError, match="of the user"):
        TRANSFORMS[name](f)
    with pytest.raises(LeakedTracerError):
        kept[0] * 2


def test_a_leaked_tracer_of_an_outer_differentiation_is_an_error_within_another():
    leaked = keep_and_use(TRANSFORMS["grad"])
    with pytest.raises(LeakedTracerError):
        grad(lambda x: np.sum(x * leaked))(X)


def test_an_inner_tracer_that_leaks_into_the_outer_function_is_an_error():
    def outer(x):
        kept = []
        grad(lambda y: kept.append(y * x) or y * x)(2.0)
        return kept[0] * x

    with pytest.raises(LeakedTracerError):
        grad(outer)(3.0)
    with pytest.raises(LeakedTracerError):
        jvp(lambda x: outer(x), (3.0,), (1.0,))


def test_a_differentiation_after_one_that_failed_works():
    with pytest.raises(ZeroDivisionError):
        grad(lambda x: x / 0 if 1 / 0 else x)(1.0)
    assert grad(lambda x: x**2)(3.0) == 6.0
