"""Primitives: functions whose calls consult the rule tables, and the warning for rules that nobody would use."""

import copy
import functools
import inspect
import math
import pickle
import subprocess
import sys
import types
import warnings

import numpy as np
import pytest

import rulescore.ad
from rulescore import NoTangent, frule, opt_out, rrule, scalar_rule
from rulescore.ad.checkpointing import checkpoint
from rulescore.ad.forward import jvp, linearize
from rulescore.ad.messages.unused_rules import RuleNotUsedWarning
from rulescore.ad.primitives import primitive, primitives
from rulescore.ad.reverse import grad, value_and_grad, vjp
from rulescore.ad.traceable import traceable
from testutils import jvp_fd, vjp_fd

X = np.array([0.5, -1.25, 2.0])


def assert_gradient(f, x):
    np.testing.assert_allclose(grad(f)(x), vjp_fd(f, 1.0, (x,)).value[0], rtol=1e-7)
    np.testing.assert_allclose(jvp(f, (x,), (x,))[1], jvp_fd(f, (x,), (x,)).value, rtol=1e-7)


# ---------------------------------------------------------------- functions


@primitive
def softplus(x, beta=1.0):
    """Smooth maximum of x and 0."""
    return np.array([math.log1p(math.exp(beta * t)) / beta for t in np.ravel(x)]).reshape(np.shape(x))


@rrule.register(softplus)
def softplus_rrule(x, beta=1.0):
    return softplus(x, beta), lambda ybar: (NoTangent(), ybar / (1 + np.exp(-beta * x)))


def test_a_primitive_is_differentiated_by_its_rule():
    assert_gradient(lambda x: np.sum(softplus(x) * x), X)
    assert_gradient(lambda x: np.sum(softplus(x, beta=2.0) * x), X)


def test_a_primitive_calls_the_function_itself_where_nothing_is_differentiated():
    calls = []

    @primitive
    def f(*args, **kwargs):
        calls.append((args, kwargs))
        return "result"

    assert f(X, 1, key="word") == "result"
    assert calls == [((X, 1), {"key": "word"})]


def test_a_primitive_looks_like_its_function():
    assert softplus.__name__ == "softplus"
    assert softplus.__doc__ == "Smooth maximum of x and 0."
    assert list(inspect.signature(softplus).parameters) == ["x", "beta"]
    assert pickle.loads(pickle.dumps(softplus)) is softplus
    assert copy.deepcopy(softplus) is softplus
    assert inspect.isroutine(softplus)  # so that `help` shows its signature


def hardplus(x):
    return max(x, 0.0)


def test_primitives_of_functions_with_names_of_their_own_are_pickled():
    assert pickle.loads(pickle.dumps(primitive(hardplus))) is primitive(hardplus)
    assert pickle.loads(pickle.dumps(primitive(math.gamma))) is primitive(math.gamma)


class Scaled:
    def __init__(self, scale):
        self.scale = scale

    @primitive
    def times(self, x):
        return self.scale * x


def test_a_primitive_within_a_class_is_a_method():
    assert Scaled(2.0).times(3.0) == 6.0
    assert pickle.loads(pickle.dumps(Scaled.times)) is Scaled.times
    assert pickle.loads(pickle.dumps(Scaled(2.0).times))(3.0) == 6.0


def test_a_primitive_of_a_primitive_is_itself():
    assert primitive(softplus) is softplus
    assert primitive(np.sin) is np.sin

    def f(x):
        return x

    assert primitive(f) is primitive(f)


def test_a_decorated_primitive_is_no_primitive():
    @functools.wraps(softplus)
    def twice(x):
        return 2 * softplus(x)

    assert primitive(twice) is not twice
    assert_gradient(lambda x: np.sum(twice(x) * x), X)


@pytest.mark.parametrize("register_for", ["function", "primitive"])
@pytest.mark.parametrize("register_first", [True, False])
def test_rules_of_the_function_and_of_the_primitive_are_one(register_for, register_first):
    def f(x):
        return float(x) ** 3

    def register(g):
        rrule.register(g)(lambda x: (float(x) ** 3, lambda ybar: (NoTangent(), 3 * x**2 * ybar)))
        frule.register(g)(lambda tangents, x: (float(x) ** 3, 3 * x**2 * tangents[1]))

    if register_first and register_for == "function":
        register(f)
        p = primitive(f)
    else:
        p = primitive(f)
        register(f if register_for == "function" else p)
    assert_gradient(lambda x: p(x) * x, 0.7)
    for g in (f, p):
        assert g in rrule
        assert rrule(g, 2.0)[1](1.0)[1] == 12.0


def test_a_primitive_without_a_rule_is_differentiated_through_its_code():
    @primitive
    def f(x, power):
        return np.sum(np.sin(x) ** power)

    assert_gradient(lambda x: f(x, 3), X)
    assert_gradient(lambda x: f(x, power=3), X)


def test_tracers_within_containers_reach_the_rule():
    @primitive
    def total(parts):
        return float(sum(np.sum(np.asarray(part)) for part in parts))

    @rrule.register(total)
    def total_rrule(parts):
        return total(parts), lambda ybar: (NoTangent(), [np.full(np.shape(part), ybar) for part in parts])

    np.testing.assert_array_equal(grad(lambda x: total([x, 2 * x, X]))(X), np.full(3, 3.0))


def test_a_method_is_a_primitive():
    class Spring:
        def __init__(self, stiffness):
            self.stiffness = stiffness

        @primitive
        def energy(self, x):
            return 0.5 * self.stiffness * float(np.sum(np.asarray(x) ** 2))

    @rrule.register(Spring.energy)
    def energy_rrule(spring, x):
        return spring.energy(x), lambda ybar: (NoTangent(), NoTangent(), ybar * spring.stiffness * x)

    assert_gradient(Spring(3.0).energy, X)


@pytest.mark.parametrize("carry", ["method", "partial"])
def test_what_carries_arguments_is_a_primitive_by_the_rule_of_its_function(carry):
    class Power:
        exponent = 3

        def of(self, x):
            return float(x) ** self.exponent

    def power(exponent, x):
        return float(x) ** exponent

    scalar_rule(Power.of, None, lambda y, power, x: 3 * x**2)
    scalar_rule(power, None, lambda y, exponent, x: exponent * x ** (exponent - 1))
    f = primitive(Power().of if carry == "method" else functools.partial(power, 3))
    assert_gradient(lambda x: f(x) * x, 0.7)


def test_functions_of_c_and_of_scipy_are_primitives():
    special = pytest.importorskip("scipy.special")
    expm = pytest.importorskip("scipy.linalg").expm
    log1p = primitive(math.log1p)
    scalar_rule(math.log1p, lambda y, x: 1 / (1 + x))
    assert_gradient(lambda x: log1p(x) * x, 0.7)
    assert_gradient(lambda x: functools.partial(log1p)(x), 0.7)

    p = primitive(expm)
    with rrule.override(expm, lambda a: (expm(a), lambda ybar: (NoTangent(), ybar @ np.eye(len(a))))):
        np.testing.assert_array_equal(grad(lambda a: np.sum(p(a)))(np.zeros((2, 2))), np.ones((2, 2)))
    assert primitive(special.erf) is special.erf  # ufuncs hand over their calls already


def test_derivatives_of_primitives_nest():
    @primitive
    def cube(x):
        return float(x) ** 3

    scalar_rule(cube, lambda y, x: 3 * x**2)
    assert grad(grad(cube))(2.0) == 12.0
    assert grad(lambda x: jvp(cube, (x,), (1.0,))[1])(2.0) == 12.0
    assert jvp(grad(grad(cube)), (2.0,), (1.0,)) == (12.0, 6.0)


@pytest.mark.parametrize("wrong", [3, "sin", None, X, dict, type("Model", (), {"__call__": lambda self: 1})])
def test_what_is_no_function_is_refused(wrong):
    with pytest.raises(TypeError, match=r"primitive\(.*\) got no function"):
        primitive(wrong)


def test_an_unhashable_object_is_a_primitive():
    class Model:
        __hash__ = None

        def __call__(self, x):
            return np.sum(x**2)

    assert_gradient(primitive(Model()), X)


# ---------------------------------------------------------------- modules


@pytest.fixture
def module():
    """A module with functions of Python and C, a class, a constant, a module below it and one beside it."""
    package = types.ModuleType("package", "What it is for.")
    package.inner = types.ModuleType("package.inner")
    package.inner.hypot = math.hypot
    package.np = np
    package.exp = math.exp
    package.sin = np.sin
    package.Error = ValueError
    package.TOLERANCE = 1e-3
    package.sweep = lambda x: np.cumsum(x)
    return package


def test_functions_of_a_module_of_primitives_are_primitives(module):
    wrapped = primitives(module)
    with rrule.override(math.exp, lambda x: (math.exp(x), lambda ybar: (NoTangent(), ybar * math.exp(x)))):
        assert_gradient(lambda x: wrapped.exp(x), 0.7)
    assert wrapped.exp is wrapped.exp
    assert wrapped.exp is primitive(math.exp)
    assert wrapped.exp(0.0) == 1.0
    assert_gradient(lambda x: np.sum(wrapped.sweep(x) * X), X)


def test_everything_else_of_a_module_is_its_own(module):
    wrapped = primitives(module)
    assert isinstance(wrapped, types.ModuleType)
    assert wrapped.__name__ == "package"
    assert wrapped.__doc__ == "What it is for."
    assert wrapped.Error is ValueError
    assert wrapped.TOLERANCE == 1e-3
    assert wrapped.sin is np.sin
    assert wrapped.np is np
    assert dir(wrapped) == dir(module)
    assert "package" in repr(wrapped)
    with pytest.raises(AttributeError, match="nothing"):
        _ = wrapped.nothing


def test_modules_below_are_modules_of_primitives(module):
    assert primitives(module).inner is primitives(module.inner)
    assert primitives(module).inner.hypot is primitive(math.hypot)


def test_modules_of_primitives_are_made_once(module):
    assert primitives(module) is primitives(module)
    assert primitives(primitives(module)) is primitives(module)


@pytest.mark.parametrize("wrong", ["scipy.linalg", np.sin, None])
def test_what_is_no_module_is_refused(wrong):
    with pytest.raises(TypeError, match=r"primitives\(.*\) got no module"):
        primitives(wrong)


def test_the_functions_of_scipy_as_primitives():
    linalg = pytest.importorskip("scipy.linalg")
    scipy = primitives(sys.modules["scipy"])
    assert scipy.linalg is primitives(linalg)
    assert scipy.linalg.LinAlgError is linalg.LinAlgError
    np.testing.assert_array_equal(scipy.linalg.solve(np.eye(3), X), X)


def test_primitives_import_no_scipy():
    code = "import sys, rulescore.ad.primitives, rulescore.ad.reverse; assert 'scipy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# ---------------------------------------------------------------- rules that nobody uses


def with_rule(f, *tables):
    for table in tables or (rrule,):
        if table is rrule:
            rrule.register(f)(lambda x: (f(x), lambda ybar: (NoTangent(), 2 * ybar * x)))
        else:
            frule.register(f)(lambda tangents, x: (f(x), 2 * x * tangents[1]))
    return f


def plain_square(x):
    return x**2


def calls_plain_square(x):
    return np.sum(plain_square(x))


def calls_it_deeper(x):
    return calls_plain_square(2 * x) + 1


namespace = types.ModuleType("namespace")


@pytest.fixture
def fresh_square():
    """`plain_square` as a new function with a rule, of which nobody has been warned."""
    global plain_square
    old = plain_square
    plain_square = types.FunctionType(old.__code__.replace(), globals(), "plain_square")
    namespace.square = plain_square
    yield with_rule(plain_square)
    plain_square = old


def warned(action):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    return [warning for warning in caught if warning.category is RuleNotUsedWarning]


class Model:
    def square(self, x):
        return plain_square(x)

    def __call__(self, x):
        return np.sum(self.square(x))


model = Model()
REACHING = {
    "itself": lambda: plain_square,
    "a global name": lambda: calls_plain_square,
    "a function that calls one": lambda: calls_it_deeper,
    "a lambda": lambda: lambda x: np.sum(plain_square(x)),
    "a function within the function": lambda: lambda x: (lambda y: np.sum(plain_square(y)))(x),
    "a comprehension": lambda: lambda x: sum([plain_square(t) for t in x]),
    "a closure": lambda: (lambda f: lambda x: np.sum(f(x)))(plain_square),
    "a closure of the function within": lambda: (lambda f: lambda x: sum(f(t) for t in x))(plain_square),
    "an attribute of a module": lambda: lambda x: np.sum(namespace.square(x)),
    "a method": lambda: model.__call__,
    "an object that is called": lambda: model,
    "a method of a global object": lambda: lambda x: np.sum(model.square(x)),
    "a partial": lambda: functools.partial(lambda f, x: np.sum(f(x)), plain_square),
    "a wrapped function": lambda: functools.wraps(plain_square)(lambda x: np.sum(plain_square(x))),
}


@pytest.mark.parametrize("way", REACHING)
def test_a_rule_that_would_not_be_used_is_told_once(way, fresh_square):
    f = REACHING[way]()
    x = 2.0 if way == "itself" else X
    (warning,) = warned(lambda: grad(f)(x))
    message = str(warning.message)
    assert "plain_square" in message
    assert "@primitive above def plain_square" in message
    assert "plain_square = primitive(plain_square)" in message
    assert f"{__file__}:" in message  # where the rule is
    assert warning.filename == __file__
    assert not warned(lambda: grad(f)(x))


@pytest.mark.parametrize("name", ["grad", "value_and_grad", "vjp", "jvp", "linearize"])
def test_every_transformation_warns(name, fresh_square):
    action = {
        "grad": lambda: grad(calls_plain_square)(X),
        "value_and_grad": lambda: value_and_grad(calls_plain_square)(X),
        "vjp": lambda: vjp(calls_plain_square, X),
        "jvp": lambda: jvp(calls_plain_square, (X,), (X,)),
        "linearize": lambda: linearize(calls_plain_square, X),
    }[name]
    (warning,) = warned(action)
    assert warning.filename == __file__
    line = inspect.getsourcelines(test_every_transformation_warns)[1]
    assert line < warning.lineno < line + 10


def test_a_forward_rule_is_told_of_as_well():
    def f(x):
        return x**2

    with_rule(f, frule)
    assert len(warned(lambda: grad(lambda x: f(x))(2.0))) == 1


def test_both_rules_of_a_function_are_told_of_once():
    def f(x):
        return x**2

    with_rule(f, rrule, frule)
    assert len(warned(lambda: grad(lambda x: f(x))(2.0))) == 1


def test_a_rule_that_comes_after_the_first_differentiation_is_told_of():
    def f(x):
        return x**2

    def g(x):
        return f(x) + 1

    assert not warned(lambda: grad(g)(2.0))
    with_rule(f)
    assert len(warned(lambda: grad(g)(2.0))) == 1


def test_functions_that_do_not_call_it_do_not_warn(fresh_square):
    def unrelated(x):
        square = np.square(x)  # a local name
        return np.sum(square) + len("plain_square")

    for f in (unrelated, np.sum, lambda x: np.sum(np.square(x)), functools.partial(np.multiply, 2.0)):
        x = 2.0 if isinstance(f, functools.partial) else X
        assert not warned(lambda f=f, x=x: grad(f)(x))
    assert len(warned(lambda: grad(calls_plain_square)(X))) == 1


SERVED = {
    "primitive": lambda: lambda x: np.sum(primitive(plain_square)(x)),
    "primitive of a module": lambda: lambda x: np.sum(rulescore.ad.primitive(plain_square)(x)),
    "primitive of an attribute": lambda: lambda x: np.sum(primitive(namespace.square)(x)),
    "primitive of a closure": lambda: (lambda made, f: lambda x: np.sum(made(f)(x)))(primitive, plain_square),
    "primitive in a comprehension": lambda: lambda x: sum([primitive(plain_square)(t) for t in x]),
    "traceable": lambda: lambda x: np.sum(traceable(plain_square)(x)),
    "the rule itself": lambda: lambda x: np.sum(rrule(plain_square, x)[0]),
}


@pytest.mark.parametrize("way", SERVED)
def test_a_function_that_is_made_a_primitive_where_it_is_called_does_not_warn(way, fresh_square):
    assert not warned(lambda: grad(SERVED[way]())(X))


def test_a_function_that_is_made_a_primitive_in_one_place_and_called_in_another_warns(fresh_square):
    assert len(warned(lambda: grad(lambda x: np.sum(primitive(plain_square)(x) + plain_square(x)))(X))) == 1


@pytest.mark.parametrize("calling", [map, checkpoint])
def test_a_function_that_is_given_to_what_calls_it_as_it_is_warns(calling, fresh_square):
    def f(x):
        return np.sum(checkpoint(plain_square)(x)) if calling is checkpoint else sum(map(plain_square, x))

    assert len(warned(lambda: grad(f)(X))) == 1


def test_primitives_and_what_they_call_do_not_warn(fresh_square):
    @primitive
    def outer(x):
        return plain_square(x)

    with_rule(outer)
    square = primitive(plain_square)
    assert not warned(lambda: grad(lambda x: np.sum(square(x)))(X))
    assert not warned(lambda: grad(lambda x: np.sum(outer(x)))(X))


def test_a_rule_for_a_function_that_has_become_a_primitive_does_not_warn(fresh_square):
    global plain_square
    plain_square = primitive(plain_square)
    assert not warned(lambda: grad(calls_plain_square)(X))


def test_rules_for_the_functions_of_numpy_do_not_warn():
    def hypot3(x):
        return x

    with rrule.override(np.sinc, lambda x: (np.sinc(x), lambda ybar: (NoTangent(), ybar))):
        assert not warned(lambda: grad(lambda x: np.sum(np.sinc(x)))(X))


def test_an_opt_out_does_not_warn():
    def f(x):
        return x**2

    opt_out(rrule, f, object)
    assert not warned(lambda: grad(lambda x: f(x))(2.0))


def test_nothing_runs_while_names_are_followed(fresh_square):
    class Trap:
        def __getattr__(self, name):
            raise AssertionError("an attribute was asked for")

        @property
        def value(self):
            raise AssertionError("a property was computed")

    trap, lazy = Trap(), types.ModuleType("lazy")
    lazy.__getattr__ = trap.__getattr__

    def f(x):
        if x is None:
            trap.value.other(x)
            trap.anything(x)
            lazy.anything(x)
            undefined_name(x)  # noqa: F821
        return np.sum(plain_square(x))

    assert len(warned(lambda: grad(f)(X))) == 1
