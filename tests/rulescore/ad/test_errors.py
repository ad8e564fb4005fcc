"""What goes wrong says what to write: misuse as users of HIPS autograd have reported it, and where it came from."""

import cmath
import copy
import functools
import inspect
import itertools
import json
import math
import operator
import pickle
import re
import statistics
import threading

import numpy as np
import pytest
import scipy.fft
import scipy.sparse.linalg

from rulescore import NoTangent, Thunk, frule, ignore_derivatives, not_implemented, rrule, scalar_rule
from rulescore.ad.forward import jvp, linearize
from rulescore.ad.jacobians import hessian
from rulescore.ad.messages import places
from rulescore.ad.messages.errors import (
    LeakedTracerError,
    NoRuleError,
    TracerConversionError,
    UnrelatedOutputError,
    describe,
    full_name,
    no_rule,
)
from rulescore.ad.primitives import primitive, primitives
from rulescore.ad.reverse import grad, value_and_grad, vjp
from rulescore.ad.system.reference_ad import AD
from rulescore.ad.traceable import traceable
from rulescore.ad.variables import backward, variable
from rulescore.tangents.arithmetic import MissingDerivativeError
from testutils import vjp_fd

X = np.array([1.0, 2.0, 3.0])

DIFFERENTIATE = {
    "reverse": lambda f: grad(f)(X.copy()),
    "forward": lambda f: jvp(f, (X.copy(),), (np.ones(3),)),
    "both": lambda f: jvp(grad(f), (X.copy(),), (np.ones(3),)),
}


@pytest.fixture(params=DIFFERENTIATE)
def differentiate(request):
    return DIFFERENTIATE[request.param]


# ---------------------------------------------------------------- values that would lose their derivative


def assigns_an_element(x):
    a = np.zeros(3)  # HIPS/autograd issues 375, 177, 556
    for i in range(3):
        a[i] = x[i] ** 2
    return np.sum(a)


def assigns_a_block(x):
    a = np.zeros((4, 4))  # 58, 515, 559
    a[1, :3] = x
    return np.sum(a)


def assigns_all(x):
    a = np.empty(3)
    a[:] = x
    return np.sum(a)


def assigns_by_a_mask(x):
    a = np.zeros(3)
    a[x > 1] = x[x > 1]
    return np.sum(a)


def adds_in_place(x):
    a = np.zeros(3)
    a += x
    return np.sum(a)


def adds_an_element_in_place(x):
    a = np.zeros(3)
    a[0] += x[0]
    return np.sum(a)


def multiplies_into(x):
    out = np.empty(3)
    np.multiply(x, 2.0, out=out)
    return np.sum(out)


@pytest.mark.parametrize(
    "f",
    [
        assigns_an_element,
        assigns_a_block,
        assigns_all,
        assigns_by_a_mask,
        adds_in_place,
        adds_an_element_in_place,
        multiplies_into,
    ],
)
def test_writing_into_an_ordinary_array_names_the_array_to_make_instead(f, differentiate):
    with pytest.raises(TracerConversionError, match=r"np\.zeros\(n, like=x\)"):
        differentiate(f)


def test_what_the_message_says_about_assigning_works():
    def f(x):
        a = np.zeros(3, like=x)
        for i in range(3):
            a[i] = x[i] ** 2
        a += x
        return np.sum(a * x)

    np.testing.assert_allclose(grad(f)(X), vjp_fd(lambda x: np.sum((x**2 + x) * x), 1.0, (X,)).value[0])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.array([x[0], x[1]])),
        lambda x: np.sum(np.array([[x[0], 0.0], [1.0, x[1]]])),
        lambda x: np.sum(np.asarray([x[0] ** 2, 1.0])),
        lambda x: np.sum(np.array(x, dtype=float)),  # 304
        lambda x: np.sum(np.asarray(x)),  # 571
        lambda x: np.sum(np.array([x, x])),
        lambda x: np.sum([x[0], x[1]]),
        lambda x: np.float64(x[0]) * 2,
        lambda x: np.sum(np.fromiter((x[i] for i in range(3)), float)) * 1.0,
        lambda x: np.sum(np.asanyarray(x)),
        lambda x: np.sum(np.ascontiguousarray([x[0]])),
    ],
)
def test_making_an_ordinary_array_or_number_names_np_stack_or_like(f, differentiate):
    with pytest.raises(TracerConversionError, match=r"np\.stack\(\[\.\.\.\]\)|np\.zeros\(n, like=x\)"):
        differentiate(f)


def test_what_the_message_says_about_arrays_works():
    def f(x):
        made = np.array([x[0], 2 * x[1]], like=x) + np.stack([x[1], x[2]]) + np.asarray(x, like=x)[:2]
        return np.sum(made * x[1:])

    def plain(x):
        return np.sum((np.array([x[0], 2 * x[1]]) + x[1:] + x[:2]) * x[1:])

    np.testing.assert_allclose(grad(f)(X), vjp_fd(plain, 1.0, (X,)).value[0])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: float(x[0]),  # 283
        lambda x: math.sin(x[0]),
        lambda x: math.fsum(x),
        lambda x: math.hypot(*x),
        lambda x: x[0] if math.isnan(x[0]) else x[1],
        lambda x: len("%f" % x[0]) * x[0],  # noqa: UP031
        lambda x: np.sum(np.linspace(0, float(x[0]), 3)),
        lambda x: statistics.fmean(x),
    ],
)
def test_a_python_float_names_numpys_function(f, differentiate):
    with pytest.raises(TracerConversionError, match=r"np\.sin\(x\) for math\.sin\(x\)"):
        differentiate(f)


@pytest.mark.parametrize("f", [lambda x: abs(cmath.exp(x[0])), lambda x: abs(complex(x[0]) ** 2)])
def test_a_python_complex_names_numpys_function(f, differentiate):
    with pytest.raises(TracerConversionError, match=r"np\.sin\(x\) for cmath\.sin\(x\)"):
        differentiate(f)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: pickle.dumps(x),
        lambda x: copy.copy([pickle.dumps({"x": x[0]})]),
    ],
)
def test_pickling_says_what_to_pickle(f, differentiate):
    with pytest.raises(TracerConversionError, match=r"pickle ignore_derivatives\(x\)"):
        differentiate(f)


@pytest.mark.parametrize("name", ["data", "tobytes", "tofile", "ctypes", "__array_interface__"])
def test_attributes_that_hand_out_the_numbers_do_not_exist(name):
    with pytest.raises(AttributeError, match=rf"{name}"):
        grad(lambda x: getattr(x, name))(X)


@pytest.mark.parametrize("f", [lambda x: x[x[0]], lambda x: x[: x[0]], lambda x: np.sum(np.zeros(3)[x[1] :])])
def test_a_real_number_as_an_index_is_an_error(f, differentiate):
    with pytest.raises((TypeError, IndexError)):
        differentiate(f)


@pytest.mark.parametrize(
    "f", [lambda x: range(x[2]), lambda x: [1, 2, 3][x[0]], lambda x: "a" * x[0], lambda x: np.eye(x[0])]
)
def test_a_real_number_where_python_wants_an_integer_says_int(f, differentiate):
    with pytest.raises(TypeError):
        differentiate(f)


def test_integers_from_traced_numbers_are_constants():
    def f(x):
        return sum(x[i] * x[int(x[0])] for i in range(int(x[2]))) + x[np.argmax(x)]

    np.testing.assert_allclose(grad(f)(X), vjp_fd(f, 1.0, (X + 0.25,)).value[0] - np.array([0.25, 1.0, 0.25]))


@pytest.mark.parametrize("f", [lambda x: x[0] if x else x[1], lambda x: x[0] if x > 1 else x[1], lambda x: x and 1.0])
def test_the_truth_of_an_array_is_numpys_error(f, differentiate):
    with pytest.raises(ValueError, match="truth value of an array"):
        differentiate(f)


@pytest.mark.parametrize("f", [lambda x: {x[0]: 1}, lambda x: {x[0], x[1]}, lambda x: {1.0: x[1]}.get(x[0])])
def test_numbers_are_no_keys(f, differentiate):
    with pytest.raises(TracerConversionError, match=r"looked up in a set or a dictionary.*ignore_derivatives"):
        differentiate(f)


@pytest.mark.parametrize(
    ("f", "message"),
    [(lambda x: {x: 1}, "unhashable"), (lambda x: json.dumps(list(x)), "not JSON serializable")],
    ids=["an array as a key", "JSON"],
)
def test_what_arrays_are_not_taken_for_is_an_error(f, message, differentiate):
    with pytest.raises(TypeError, match=message):
        differentiate(f)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.random.default_rng(0).normal(x)),
        lambda x: np.sum(np.random.default_rng(0).normal(0.0, x)),
        lambda x: np.random.default_rng(0).choice(x),
        lambda x: np.sum(np.random.default_rng(0).poisson(x)),
    ],
)
def test_random_numbers_of_a_distribution_say_how_to_draw_them(f, differentiate):
    with pytest.raises(TracerConversionError):
        differentiate(f)


def test_strings_among_the_elements_are_an_error(differentiate):
    with pytest.raises(TracerConversionError):
        differentiate(lambda x: np.array(["a", x[0]]))


# ---------------------------------------------------------------- what works although one may doubt it


@pytest.mark.parametrize(
    ("f", "plain"),
    [
        (lambda x: np.append(np.append(np.array([]), x[0]), x[1:]) @ x, lambda x: x @ x),  # 571
        (lambda x: np.average(X, weights=x), None),
        (lambda x: np.average(x, weights=x), None),
        (lambda x: np.sum(x, where=x > 1.5), None),
        (lambda x: np.sum(x, initial=x[0]), None),
        (lambda x: sum(x) * max(x), None),
        (lambda x: sum(x.tolist()) * sorted(x)[0], None),
        (lambda x: x[0] if x[0] > 0 else x[1] ** 2, None),
        (lambda x: x[0] ** 2 if f"{x[0]:.1f}" == "1.0" and str(x) and repr(x) else x[1], lambda x: x[0] ** 2),
        (lambda x: np.sum(copy.deepcopy({"x": x})["x"] ** 2), None),
        (lambda x: np.sum(np.block([[np.eye(3), x[:, None] ** 2]])), None),  # 476
        (lambda x: x[0] if np.allclose(x, x) and not np.isnan(x[0]) else 0.0, None),
        (lambda x: np.sum(x[np.argsort(-x)] * np.arange(3)), None),
        (lambda x: functools.reduce(operator.mul, x), None),
        (lambda x: np.prod([*map(float, X)] * x), None),
    ],
)
def test_ordinary_python_code_is_differentiated(f, plain):
    np.testing.assert_allclose(grad(f)(X), vjp_fd(plain or f, 1.0, (X,)).value[0], rtol=1e-7)


def test_lists_of_floats_are_trees_whose_elements_are_differentiated():
    assert grad(lambda p: p[0] * p[1] ** 2)([3.0, 2.0]) == [4.0, 12.0]
    # They are no arrays, and become one only in so many words.
    with pytest.raises(TracerConversionError, match=r"np\.stack"):
        grad(lambda p: np.sum(p))([3.0, 2.0])
    assert grad(lambda p: np.sum(np.stack(p)) ** 2)([3.0, 2.0]) == [10.0, 10.0]


def test_object_arrays_never_lose_a_derivative():
    constant = np.array([1.0, 2.0, 3.0], dtype=object)
    try:
        gradient = grad(lambda x: np.sum(x * constant) + x[0])(X)
    except TypeError:
        return
    np.testing.assert_allclose(gradient.astype(float), [2.0, 2.0, 3.0])


# ---------------------------------------------------------------- functions that nothing is known of


scipy_special = pytest.importorskip("scipy.special")
scipy_linalg = pytest.importorskip("scipy.linalg")
scipy_interpolate = pytest.importorskip("scipy.interpolate")
scipy_sparse = pytest.importorskip("scipy.sparse")


def made_array_by(function):
    from rulescore.ad.messages.errors import became_array

    class Array:
        shape, dtype, ndim = (2, 2), np.dtype(float), 2

        def __array__(self, dtype=None, copy=None):
            raise became_array("a value")

    with pytest.raises(TracerConversionError) as caught:
        function(Array())
    return str(caught.value)


def test_functions_of_scipy_name_the_module_of_primitives():
    message = made_array_by(lambda x: scipy_linalg.solve(x, X[:2]))
    assert "scipy.linalg.solve does that" in message
    assert "primitives(scipy.linalg)" in message
    assert "primitive(scipy.linalg.solve)" in message
    assert "np.stack" not in message
    assert "scipy.interpolate.Akima1DInterpolator does that" in made_array_by(
        scipy_interpolate.Akima1DInterpolator(X, X)
    )
    assert "np.stack" in made_array_by(np.array)
    assert "rng.standard_normal" in made_array_by(np.array)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(scipy_linalg.solve(np.eye(3), x)),
        lambda x: scipy_special.logsumexp(x),
        lambda x: np.sum(scipy_sparse.eye_array(3).dot(x)),
    ],
)
def test_functions_that_see_numbers_only_are_errors(f, differentiate):
    with pytest.raises(TypeError):
        differentiate(f)


@primitive
def unknown(x, y=0.0, *, mode="a"):
    return np.array(float(np.sum(np.asarray(x))))


@primitive
def narrow(x, y):
    return x


@rrule.register(narrow)
def narrow_rrule(x: str, y: int):
    raise AssertionError("not for arrays")


@rrule.register(narrow)
def narrow_list_rrule(x: np.ndarray, y: str):
    raise AssertionError("not for two arrays")


def test_a_ufunc_without_a_rule_says_how_to_register_one(differentiate):
    ufunc = np.frompyfunc(lambda x: x, 1, 1)
    with pytest.raises(NoRuleError) as caught:
        differentiate(lambda x: np.sum(ufunc(x)))
    message = str(caught.value)
    assert re.search(r"\(vectorized\)\(.*float64\[3\]\) cannot be differentiated", message)
    assert "@rrule.register" in message
    assert "ignore_derivatives()" in message


def test_the_error_names_function_types_and_the_nearest_signature_first():
    error = no_rule(narrow.__wrapped__, (X, X.astype(np.float32)), {"axis": 0})
    assert isinstance(error, TypeError)
    lines = str(error).splitlines()
    assert lines[0].endswith(
        "narrow(float64[3], float32[3], axis=int) cannot be differentiated: it has no rule for this"
    )
    assert "does not know axis=" in lines[1]
    signatures = lines[1].partition("The registered signatures are ")[2]
    assert signatures.startswith("narrow(x: ndarray, y: str); narrow(x: str, y: int)")


def test_the_error_for_a_traced_keyword_says_that_it_is_held_constant():
    def f(x, *, scale=1.0):
        return x * scale

    rrule.register(f)(lambda x, *, scale=1.0: (f(x, scale=scale), lambda ybar: (NoTangent(), ybar * scale)))
    f = primitive(f)
    messages = []

    def loss(x):
        messages.append(str(no_rule(f, (X,), {"scale": x})))
        return np.sum(x)

    grad(loss)(X)
    assert "holds scale= constant" in messages[0]


@pytest.mark.parametrize(
    ("x", "shown"),
    [
        (X, "float64[3]"),
        (np.float32(1), "float32"),
        (1.5, "float"),
        ([X, 1], "[float64[3], int]"),
        ((X, "a"), "(float64[3], str)"),
        (list(range(9)), "list"),
        (None, "NoneType"),
        (np.array([[True]]), "bool[1, 1]"),
        (slice(1), "slice"),
    ],
)
def test_arguments_are_described_by_type_and_shape(x, shown):
    assert describe(x) == shown


def test_functions_are_named_with_their_module():
    assert full_name(np.sin) == "numpy.sin"
    assert full_name(np.linalg.svd) == "numpy.linalg.svd"
    assert full_name(scipy_special.erf) == "scipy.special.erf"
    assert full_name(scipy_linalg.solve).startswith("scipy.linalg")
    assert full_name(unknown.__wrapped__) == f"{__name__}.unknown"


def test_errors_are_of_the_kind_that_python_would_raise():
    assert issubclass(NoRuleError, TypeError)
    assert issubclass(TracerConversionError, TypeError)
    assert issubclass(LeakedTracerError, RuntimeError)
    assert issubclass(UnrelatedOutputError, ValueError)


def test_errors_of_the_user_are_passed_on_with_their_cause():
    def f(x):
        try:
            {}["missing"]
        except KeyError as error:
            raise ValueError("of the user") from error

    for differentiate in DIFFERENTIATE.values():
        with pytest.raises(ValueError, match="of the user") as caught:
            differentiate(f)
        assert isinstance(caught.value.__cause__, KeyError)


# ---------------------------------------------------------------- where a backward pass failed


class BackwardError(Exception):
    pass


def fail(*args):
    raise BackwardError("in the partial derivative")


@primitive
def fails_backwards(x):
    return x * 2.0


@rrule.register(fails_backwards)
def fails_backwards_rrule(x):
    y = x * 2.0

    def pullback(ybar):
        raise BackwardError("in the pullback")

    return y, pullback


@primitive
def fails_lazily(x, y):
    return x * y


@rrule.register(fails_lazily)
def fails_lazily_rrule(x, y):
    def fail():
        raise BackwardError("in the thunk")

    return x * y, lambda ybar: (NoTangent(), Thunk(fail), ybar * x)


@primitive
def without_derivative(x):
    return x + 1.0


scalar_rule(without_derivative, not_implemented("the derivative of this"))


@primitive
def of_wrong_shape(x):
    return np.concatenate([x, x])


@rrule.register(of_wrong_shape)
def of_wrong_shape_rrule(x):
    return np.concatenate([x, x]), lambda ybar: (NoTangent(), ybar)  # twice as long as x


def here(offset=0):
    return inspect.currentframe().f_back.f_lineno + offset


def places_in(error):
    return [note for note in getattr(error, "__notes__", []) if "backward pass" in note]


def the_place(action, error_type=BackwardError):
    with pytest.raises(error_type) as caught:
        action()
    (note,) = places_in(caught.value)
    assert not hasattr(caught.value, "position")
    return note


LINES = {}


def loss(x):
    y = np.sin(x)
    z = y * 3.0 - x
    LINES["pullback"] = here(1)
    w = fails_backwards(z) + y
    return np.sum(w * w)


RUNS = {
    "grad": lambda f: grad(f)(X),
    "value_and_grad": lambda f: value_and_grad(f)(X),
    "vjp": lambda f: vjp(f, X)[1](1.0),
    "linearize": lambda f: linearize(f, X),
    "grad of grad": lambda f: grad(lambda x: np.sum(grad(f)(x)))(X),
    "jvp of grad": lambda f: jvp(grad(f), (X,), (X,)),
    "has_aux": lambda f: grad(lambda x: (f(x), x), has_aux=True)(X),
    "of several arguments": lambda f: grad(lambda a, x, b: a * f(x) * np.sum(b["b"]), (2, 1))(1.0, X, {"b": X}),
}


@pytest.mark.parametrize("way", RUNS)
def test_an_error_of_a_backward_pass_says_line_and_operation(way):
    note = the_place(lambda: RUNS[way](loss))
    assert note == (
        f"in the backward pass of {__name__}.fails_backwards, called in loss at {__file__}:{LINES['pullback']}: "
        "w = fails_backwards(z) + y"
    )


def test_operations_that_are_recorded_without_their_rule_are_told():
    with rrule.override(np.tanh, None), frule.override(np.tanh, None):
        scalar_rule(np.tanh, lambda y, x: fail(y, x))

        def f(x):
            y = 1.0 + x * 2.0
            LINES["unary"] = here(1)
            z = np.tanh(y)
            return np.sum(z / x)

        note = the_place(lambda: grad(f)(X))
        assert f"of numpy.tanh, called in {f.__qualname__} at {__file__}:{LINES['unary']}: z = np.tanh(y)" in note
    with rrule.override(np.arctan2, None), frule.override(np.arctan2, None):
        scalar_rule(np.arctan2, lambda y, a, b: fail(y, a, b), lambda y, a, b: a)

        def g(x):
            y = np.exp(x)
            LINES["binary"] = here(1)
            return np.sum(np.arctan2(x, y))

        note = the_place(lambda: grad(g)(X))
        assert f"of numpy.arctan2, called in {g.__qualname__} at {__file__}:{LINES['binary']}" in note


@pytest.mark.parametrize(
    ("f", "error_type", "operation"),
    [
        (lambda x: np.sum(fails_lazily(x, x + 1)), BackwardError, "fails_lazily"),
        (lambda x: np.sum(without_derivative(x)), MissingDerivativeError, "without_derivative"),
        (lambda x: np.sum(x * np.sum(of_wrong_shape(x * 2.0) ** 2)), ValueError, "multiply|of_wrong_shape"),
    ],
)
def test_errors_of_thunks_missing_derivatives_and_shapes_have_a_place(f, error_type, operation):
    note = the_place(lambda: grad(f)(X), error_type)
    assert re.search(rf"backward pass of .*({operation}), called in <lambda> at {re.escape(__file__)}:\d+: ", note)


def test_the_line_is_the_users_and_not_one_of_numpys_implementation():
    without = [table.override(np.trapezoid, None) for table in (rrule, frule)]
    with without[0], without[1], rrule.override(np.multiply, None), frule.override(np.multiply, None):
        scalar_rule(np.multiply, lambda y, a, b: fail(b), lambda y, a, b: fail(a))

        def f(x):
            z = x + 2.0
            LINES["implementation"] = here(1)
            return np.trapezoid(z)

        note = the_place(lambda: grad(f)(X))
        assert f"at {__file__}:{LINES['implementation']}: return np.trapezoid(z)" in note


def test_an_operation_deep_in_the_users_code_is_placed_where_it_is_called():
    def layer(x, scale):
        LINES["deep"] = here(1)
        return fails_backwards(x * scale)

    class Model:
        def __call__(self, x):
            return np.sum(layer(x, 2.0)) + np.sum(x)

    note = the_place(lambda: grad(Model())(X))
    assert f"called in {layer.__qualname__} at {__file__}:{LINES['deep']}: return fails_backwards(x * scale)" in note


def test_a_statement_of_several_lines_is_placed_at_the_line_of_the_operation():
    def f(x):
        LINES["several"] = here(2)
        return np.sum(  # a comment that keeps the next one a line of its own
            fails_backwards(x)
        )

    note = the_place(lambda: grad(f)(X))
    assert f":{LINES['several']}: fails_backwards(x)" in note


def test_an_operation_without_a_users_frame_is_placed_at_the_caller():
    with rrule.override(np.sum, lambda x: (np.add.reduce(x), lambda ybar: 1 / 0)):
        note = the_place(lambda: grad(np.sum)(X), ZeroDivisionError)
    assert "of numpy.sum, called in " in note
    assert __file__ in note


def test_an_operation_of_a_users_rule_is_placed_there_and_where_the_rule_served():
    @primitive
    def square(x):
        return x * x

    @rrule.register(square)
    def square_rrule(x):
        return x * x, lambda ybar: (NoTangent(), fails_backwards(2.0 * x) * ybar)

    def f(x):
        y = x + 1.0
        LINES["second"] = here(1)
        return np.sum(square(y))

    for differentiate_twice in (
        lambda: grad(lambda x: np.sum(grad(f)(x)))(X),
        lambda: linearize(grad(f), X),
        lambda: linearize(lambda x: grad(f)(x) * 2.0, X),
    ):
        first, second = the_place(differentiate_twice).splitlines()
        assert f"of {__name__}.fails_backwards, called in " in first
        assert "return x * x, lambda ybar:" in first  # the user's rule
        assert second.startswith("within the backward pass of ")
        assert f"square, called in {f.__qualname__} at {__file__}:{LINES['second']}: return np.sum(square(y))" in second


def test_the_second_derivative_is_placed_at_the_operation_whose_pullback_was_differentiated():
    with rrule.override(np.cos, None), frule.override(np.cos, None):
        scalar_rule(np.cos, lambda y, x: fail(y, x))  # of which the rule of np.sin is made

        def f(x):
            y = x + 1.0
            LINES["second order"] = here(1)
            return np.sum(np.sin(y))

        for differentiate_twice in (lambda: grad(lambda x: np.sum(grad(f)(x)))(X), lambda: linearize(grad(f), X)):
            note = the_place(differentiate_twice)
            assert f"of numpy.sin, called in {f.__qualname__} at {__file__}:{LINES['second order']}: " in note


def test_linearize_places_what_fails_when_its_result_is_called():
    @primitive
    def linear(x):
        return 2.0 * x

    @rrule.register(linear)
    def linear_rrule(x):
        return 2.0 * x, lambda ybar: (NoTangent(), fails_backwards(ybar))

    def f(x):
        LINES["linear"] = here(1)
        return linear(x) + x

    _, f_jvp = linearize(f, X)
    note = the_place(lambda: f_jvp(X))
    assert "fails_backwards(ybar)" in note
    assert f"linear, called in {f.__qualname__} at {__file__}:{LINES['linear']}: return linear(x) + x" in note


def test_a_vjp_that_is_called_later_is_placed_as_well():
    _, vjp_fn = vjp(loss, X)
    assert f"loss at {__file__}:{LINES['pullback']}" in the_place(lambda: vjp_fn(1.0))
    assert f"loss at {__file__}:{LINES['pullback']}" in the_place(lambda: vjp_fn(2.0))


def test_errors_of_the_forward_pass_get_no_note():
    def f(x):
        raise BackwardError("forwards")

    for differentiate in DIFFERENTIATE.values():
        with pytest.raises(BackwardError) as caught:
            differentiate(f)
        assert not places_in(caught.value)


# ---------------------------------------------------------------- when the place cannot be found


def test_a_function_that_does_something_else_when_run_again_is_told_so():
    calls = []

    def f(x):
        calls.append(1)
        for _ in calls:
            x = x * 2.0
        return np.sum(fails_backwards(x))

    note = the_place(lambda: grad(f)(X))
    assert "not known, since the function did something else when it was run again" in note
    assert len(calls) == 2


@pytest.mark.parametrize("error", [ValueError("again"), KeyboardInterrupt(), SystemExit(3), RecursionError()])
def test_an_error_of_the_second_run_never_hides_the_first(error):
    calls = []

    def f(x):
        calls.append(1)
        if len(calls) > 1:
            raise error
        return np.sum(fails_backwards(x))

    with pytest.raises(BackwardError, match="in the pullback") as caught:
        grad(f)(X)
    (note,) = places_in(caught.value)
    assert "not known, since the function failed when it was run again" in note
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_the_function_is_run_again_with_the_same_arguments():
    seen = []

    def f(x, table, *, option):
        seen.append((np.array(x._value), table, option))
        return np.sum(fails_backwards(x))

    table = {"a": 1}
    with pytest.raises(BackwardError):
        grad(f)(X, table, option="o")
    (first, *rest), (second, *same) = seen
    np.testing.assert_array_equal(first, second)
    assert rest[0] is same[0] is table
    assert rest[1] == same[1] == "o"


def test_a_function_whose_backward_pass_works_is_run_once():
    calls = []
    grad(lambda x: calls.append(1) or np.sum(x * x))(X)
    assert len(calls) == 1


def test_tracers_of_the_second_run_leak_as_those_of_the_first():
    kept = []

    def f(x):
        kept.append(x)
        return np.sum(fails_backwards(x))

    with pytest.raises(BackwardError):
        grad(f)(X)
    assert len(kept) == 2
    for tracer in kept:
        with pytest.raises(LeakedTracerError):
            tracer * 2.0
        with pytest.raises(LeakedTracerError):
            np.sum(tracer)


def test_places_are_looked_for_in_several_threads_at_once():
    notes = []

    def work(i):
        def f(x):
            for _ in range(i):
                x = np.sin(x) * 1.5
            return np.sum(fails_backwards(x))

        try:
            grad(f)(X)
        except BackwardError as error:
            notes.append(error.__notes__[0])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(notes) == 8
    assert all("fails_backwards, called in " in note for note in notes)


def programs():
    """Functions that record entries in every way there is."""
    yield lambda x: np.sum(np.sin(x) * 2.0 + x / x[::-1] - 1.0 / x + x**2 + 2.0**x)
    yield lambda x: np.sum(np.abs(x * 1j + x) ** 2) + np.sum(np.conj(x * (1 + 1j))).real
    yield lambda x: np.sum(x.astype(np.float32) * x) + np.sum(x[0] * x) + x[1] * x[2] - x[0]
    yield lambda x: np.sum(np.stack(np.divmod(x, 0.7))) + sum(np.modf(x))[0] + np.linalg.norm(np.outer(x, x))
    yield lambda x: np.sum(np.cov(np.stack([x, x**2]))) + np.var(x) + np.median(x)
    yield lambda x: grad(lambda y: np.sum(np.exp(y) * x))(x)[0] * jvp(lambda y: y * x, (x,), (x,))[1][1]
    yield lambda x: assigns(x) + np.sum(np.where(x > 1, x, 0.0)) + np.sum(np.add(x, 1)) + np.sum(x + np.arange(3))
    yield lambda x: np.sum((np.array([1, 2, 3]) * x) @ np.ones((3, 2))) + np.max(x) + np.floor(x)[0] * x[0]


def assigns(x):
    z = np.zeros(3, like=x)
    z[:2] = x[1:]
    z += x
    z *= 2.0
    part = z[1:]
    part -= 1.0
    return np.sum(z * part[0])


@pytest.mark.parametrize("f", list(programs()))
def test_the_tape_that_knows_places_has_the_entries_of_the_one_that_is_fast(f):
    kinds = []
    for tape in (AD.tape(), AD.placing_tape()):
        f(tape.leaf(X.copy()))
        kinds.append([entry == tape[0] for entry in tape])  # which entries are arguments or constants
    fast, placing = kinds
    assert fast == placing


@pytest.mark.parametrize("f", list(programs()))
def test_every_entry_has_a_place_in_the_users_code(f):
    tape = AD.placing_tape()
    f(tape.leaf(X.copy()))
    assert set(tape.places) == set(range(len(tape)))
    places = [tape.places[i] for i in range(1, len(tape))]
    assert {place.file for place in places} == {__file__}
    unnamed = [i for i, place in tape.places.items() if place.operation == "an operation"]
    assert all(tape[i] == tape[0] for i in unnamed)  # an argument, or a constant like np.zeros(3, like=x)


def test_user_frames_are_those_outside_of_the_package_its_rules_and_numpy():
    assert places.user_frame(inspect.currentframe()) is inspect.currentframe()
    assert places.is_inner(grad.__code__)
    assert places.is_inner(np.gradient.__wrapped__.__code__)
    assert places.is_inner(rrule.records(np.linalg.inv)[0].implementation.__code__)
    assert not places.is_inner(loss.__code__)
    assert not places.is_inner(statistics.mean.__code__)


def test_levels_of_nested_runs_do_not_get_mixed_up():
    # The inner differentiation fails in the outer forward pass, and is placed once, by itself.
    def outer(x):
        return np.sum(grad(loss)(x) * x)

    for run in itertools.chain(RUNS.values(), [lambda f: grad(lambda x: np.sum(f(x) * x))(X)]):
        note = the_place(lambda run=run: run(outer))
        assert f"called in loss at {__file__}:{LINES['pullback']}" in note


def test_an_error_of_a_rule_keeps_its_attributes():
    class RuleError(Exception):
        def __init__(self):
            super().__init__("mine")
            self.key = "mine"

    @primitive
    def f(x):
        return x

    def failing(ybar):
        raise RuleError

    rrule.register(f)(lambda x: (1.0 * x, failing))
    for differentiate in (lambda: grad(f)(2.0), lambda: f(variable(2.0)).backward()):
        with pytest.raises(RuleError) as raised:
            differentiate()
        assert vars(raised.value)["key"] == "mine"
        assert "in the backward pass of" in raised.value.__notes__[0]
        assert list(vars(raised.value)) == ["key", "__notes__"]


# ---------------------------------------------------------------- what about a call its rule does not serve


def test_the_error_names_what_is_differentiated_where_a_rule_serves_less():
    gmres = primitive(scipy.sparse.linalg.gmres)
    a, b = 2 * np.eye(3), np.ones(3)
    message = r"Its rule holds rtol= constant, .* write rtol=ignore_derivatives\(rtol\)\."
    with pytest.raises(NoRuleError, match=message) as caught:
        grad(lambda a, b, rtol: np.sum(gmres(a, b, rtol=rtol)[0]), (0, 1, 2))(a, b, 1e-8)
    assert str(caught.value).startswith("scipy.sparse.linalg.gmres(float64[3, 3], float64[3], rtol=float64) cannot be ")
    assert "The registered signatures are gmres(A, b, x0)." in str(caught.value)
    slopes = grad(lambda a, b, rtol: np.sum(gmres(a, b, rtol=ignore_derivatives(rtol))[0]), (0, 1))(a, b, 1e-8)
    np.testing.assert_allclose(slopes[1], np.full(3, 0.5))


def test_the_error_names_an_argument_of_a_type_that_the_rule_does_not_take():
    def scaled(x, by):
        return np.asarray(x) * by

    @rrule.register(scaled)
    def scaled_rrule(x: np.ndarray, by: int):
        return x * by, lambda ybar: (NoTangent(), ybar * by, NoTangent())

    with pytest.raises(NoRuleError, match=r"Its rule takes no float as by\. The registered signatures are"):
        grad(lambda x: np.sum(primitive(scaled)(x, 2.0)))(np.ones(2))


def test_the_error_for_an_object_of_scipy_gives_advice_that_works():
    x, places = np.ones(3), np.arange(3)
    with pytest.raises(TracerConversionError, match=r"coo_array does that: its objects hold numbers only") as raised:
        grad(lambda x: np.sum(primitives(scipy.sparse).coo_array((x, (places, places))).toarray()))(x)
    assert "primitive(" not in str(raised.value)


def test_the_error_for_complex_elements_gives_advice_that_works():
    def assigned(x, zeros):
        zeros[0] = x[0]
        return np.real(np.sum(zeros))

    with pytest.raises(TracerConversionError, match=r"elements of np\.zeros\(n, complex, like=x\)"):
        grad(lambda x: assigned(x, np.zeros(2, complex)))(np.ones(2))
    np.testing.assert_array_equal(grad(lambda x: assigned(x, np.zeros(2, complex, like=x)))(np.ones(2)), [1, 0])


def test_the_error_for_a_linear_map_names_the_argument():
    with pytest.raises(MissingDerivativeError, match="fht with respect to mu: there is one with respect to a alone"):
        grad(lambda mu: np.sum(primitive(scipy.fft.fht)(np.arange(1.0, 5.0), 0.1, mu)))(0.5)


def test_the_error_says_last_where_the_implementation_stopped_and_names_no_class_of_ours():
    pdist = primitive(scipy.spatial.distance.pdist)
    with pytest.raises(NoRuleError) as caught:
        grad(lambda v: np.sum(pdist(np.eye(3), "seuclidean", V=v)))(np.ones(3))
    first, differs, _, last = str(caught.value).splitlines()
    call = "scipy.spatial.distance.pdist(float64[3, 3], str, V=float64[3])"
    assert first == f"{call} cannot be differentiated: it has no rule for this"
    assert differs.startswith("Its rule holds V= constant, which is being differentiated here.")
    assert last.startswith("Its implementation in Python was tried too, and stopped at __call__, distance.py:")
    assert last.endswith("must be numpy.ndarray, not differentiated ndarray")


def test_the_error_of_an_implementation_within_another_is_told_once():
    svds = primitive(scipy.sparse.linalg.svds)
    with pytest.raises(NoRuleError) as caught:
        grad(lambda v: np.sum(svds(np.diag([3.0, 2.0, 1.0, 0.5]), 2, v0=v)[1]))(np.ones(4))
    assert str(caught.value).count("stopped at") == 1
    assert "arpack" not in str(caught.value)


@pytest.mark.parametrize("name", ["eigs", "eigsh", "svds"])
def test_the_error_says_that_there_are_first_derivatives_only(name):
    f = primitive(getattr(scipy.sparse.linalg, name))
    keyword = "return_singular_vectors" if name == "svds" else "return_eigenvectors"

    def loss(a):
        return np.sum(np.abs(f(a, 2, **{keyword: False})))

    a = np.diag([4.0, 3.0, 2.0, 1.0])
    assert np.isfinite(grad(loss)(a)).all()
    with pytest.raises(MissingDerivativeError, match="eigs, eigsh and svds have first derivatives only"):
        hessian(loss)(a)
    x = variable(a)
    with pytest.raises(MissingDerivativeError, match="have first derivatives only"):
        backward(loss(x), create_graph=True)


def test_the_error_for_a_sparse_array_says_that_linearize_does_not_go_through_it():
    with pytest.raises(MissingDerivativeError, match="second derivatives and `linearize` do not go through"):
        linearize(traceable(lambda x: scipy.sparse.csr_array(np.diag(x)) @ x), np.ones(3))


def test_the_error_of_code_in_c_names_where_it_was_called():
    def read(x):
        return sum(memoryview(x))

    with pytest.raises(TracerConversionError, match=r"^code in C, called in .*read at .*: return sum\(memoryview"):
        grad(read)(np.ones(3))
    with pytest.raises(TracerConversionError, match=r"not 'differentiated ndarray'"):
        jvp(read, (np.ones(3),), (np.ones(3),))


def test_an_array_filled_with_a_value_is_told_of_and_the_advice_works():
    with pytest.raises(TracerConversionError, match=r"where you fill one, np\.full\(n, x, like=x\)"):
        grad(lambda x: np.sum(np.full(3, x)))(2.0)
    assert grad(lambda x: np.sum(np.full(3, x, like=x)))(2.0) == 3.0


def test_solvers_tell_a_breakdown_from_too_few_iterations():
    bicg = primitive(scipy.sparse.linalg.bicg)
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    with pytest.raises(MissingDerivativeError, match=r"broke down \(info=-\d+\): use another one"):
        grad(lambda b: np.sum(bicg(turn, b)[0]))(np.ones(2))
    with pytest.raises(MissingDerivativeError, match=r"has not converged \(info=1\): allow more iterations"):
        grad(lambda b: np.sum(bicg(np.diag([1.0, 2.0]), b, maxiter=1)[0]))(np.ones(2))
