"""Functions with rules as functions of HIPS autograd: what they answer is compared with its own, and by its tester."""

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("autograd", reason="HIPS autograd is not installed")

import autograd.numpy as anp
from autograd import core as autograd_core
from autograd import elementwise_grad, grad, hessian, jacobian, make_hvp, make_jvp, make_vjp
from autograd.test_util import check_grads

from rulescore import NoTangent, Thunk, rrule
from rulescore.ad import grad as our_grad
from rulescore.ad import hessian as our_hessian
from rulescore.ad import jvp as our_jvp
from rulescore.backends.autograd import AutogradConfig, extend_autograd, from_autograd, to_autograd
from rulescore.config import rrule_via_ad
from testutils import check_rule


@pytest.fixture(autouse=True)
def directions_do_not_change():
    """Autograd's tester draws them."""
    np.random.seed(0)  # noqa: NPY002


def by_numpy(x, y):
    return np.sin(x) * np.exp(y) + x**3


def by_autograd(x, y):
    return anp.sin(x) * anp.exp(y) + x**3


OURS = to_autograd(by_numpy)
X, Y = np.array([0.3, 0.7, 1.1]), np.array([0.2, -0.4, 0.5])


def loss(f):
    return lambda x, y: anp.sum(f(x, y) ** 2)


OPERATORS = {
    "call": lambda f: f,
    "grad": lambda f: grad(loss(f), 1),
    "elementwise grad": elementwise_grad,
    "jacobian": lambda f: jacobian(f),
    "hessian": lambda f: hessian(loss(f)),
    "third order": lambda f: jacobian(hessian(loss(f))),
    "vjp": lambda f: lambda x, y: make_vjp(f)(x, y)[0](y),
    "jvp": lambda f: lambda x, y: make_jvp(f)(x, y)(y)[1],
    "jvp of grad": lambda f: lambda x, y: make_jvp(grad(loss(f)))(x, y)(y)[1],
    "grad of jvp": lambda f: grad(lambda x, y: anp.sum(make_jvp(f)(x, y)(y)[1])),
    "Hessian-vector product": lambda f: lambda x, y: make_hvp(loss(f))(x, y)[0](y),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_all_operators_work(name):
    operator = OPERATORS[name]
    np.testing.assert_allclose(operator(OURS)(X, Y), operator(by_autograd)(X, Y), rtol=1e-12)


CHECKED = {
    "two arguments": (by_numpy, (X, Y)),
    "a matrix": (np.linalg.inv, (np.array([[2.0, 1.0], [0.3, 3.0]]),)),
    "of complex": (lambda z: np.sin(z) * np.conj(z), (np.array([0.3 + 0.2j, 1 - 0.5j]),)),
    "to real": (lambda z: np.real(z) ** 2 * np.abs(z), (np.array([0.3 + 0.2j, 1 - 0.5j]),)),
    "a number": (lambda x: np.sin(x) * x, (0.7,)),
}


@pytest.mark.parametrize("case", CHECKED)
def test_its_own_tester_agrees(case):
    f, args = CHECKED[case]
    check_grads(to_autograd(f), modes=["fwd", "rev"], order=2)(*args)


def test_complex_cotangents_follow_autograd():
    z = np.array([0.3 + 0.2j, 1 - 0.5j])
    found = make_vjp(to_autograd(lambda z: np.sin(z) * np.conj(z)))(z)[0](z)
    np.testing.assert_allclose(found, make_vjp(lambda z: anp.sin(z) * anp.conj(z))(z)[0](z))


def test_the_rule_computes_the_primal_and_only_once():
    runs = []

    def costly(x):
        raise AssertionError("the rule computes it")

    @rrule.register(costly)
    def costly_rrule(x):
        runs.append(1)
        return np.sum(x**2), lambda ybar: (NoTangent(), 20 * ybar * x)

    np.testing.assert_array_equal(grad(to_autograd(costly))(X), 20 * X)
    assert runs == [1]


def test_only_what_is_needed_is_computed():
    computed = []

    def scaled(x, y):
        return x * y

    @rrule.register(scaled)
    def scaled_rrule(x, y):
        def bar(which, value):
            return Thunk(lambda: computed.append(which) or value)

        return x * y, lambda zbar: (NoTangent(), bar("x", zbar * y), bar("y", zbar * x))

    grad(lambda x: anp.sum(to_autograd(scaled)(x, Y)))(X)
    assert computed == ["x"]


def test_a_value_used_twice_and_calls_within_calls():
    ours = to_autograd(np.sin)
    np.testing.assert_allclose(
        elementwise_grad(lambda x: ours(ours(x)) * ours(x) + x)(X),
        elementwise_grad(lambda x: anp.sin(anp.sin(x)) * anp.sin(x) + x)(X),
    )


def test_containers_settings_and_constant_results():
    def f(tree, scale=1.0):
        return {"y": scale * tree["a"] * np.sum(tree["b"][0]), "best": np.argmax(tree["a"])}

    ours = to_autograd(f)

    def best(tree):
        result = ours(tree, scale=2.0)
        assert int(result["best"]) == 2
        return anp.sum(result["y"])

    gradient = grad(best)({"a": X, "b": [Y]})
    np.testing.assert_allclose(gradient["a"], np.full(3, 2 * Y.sum()))
    np.testing.assert_allclose(gradient["b"][0], np.full(3, 2 * X.sum()))
    stack = to_autograd(np.stack)
    check_grads(lambda x, y: stack([x, y], axis=1), modes=["fwd", "rev"], order=2)(X, Y)
    eigh = to_autograd(np.linalg.eigh)
    check_grads(lambda a: eigh(a + a.T).eigenvalues, modes=["fwd", "rev"], order=2)(np.diag(X))


# ---------------------------------------------------------------- what autograd lacks


@pytest.fixture(scope="module")
def added():
    return extend_autograd()


EXTENDED = {
    "median": (lambda x: anp.median(x), (X,)),
    "interp": (lambda x, f: anp.interp(x, np.array([0.0, 0.5, 2.0]), f), (X, Y)),
    "dstack": (lambda x, y: anp.dstack([x, y]) ** 2, (X, Y)),
    "cumprod": (lambda x: anp.cumprod(x), (X,)),
    "cholesky": (lambda a: anp.linalg.cholesky(a @ a.T + np.eye(2)), (np.array([[2.0, 1.0], [0.3, 3.0]]),)),
    "trapezoid": (lambda x, y: anp.trapezoid(y, x), (X, Y)),
}


@pytest.mark.parametrize("case", EXTENDED)
def test_functions_that_autograd_lacks_are_added_in_both_modes(added, case):
    f, args = EXTENDED[case]
    check_grads(f, modes=["fwd", "rev"], order=2)(*args)


def test_what_was_added_is_told_and_nothing_is_added_twice(added):
    assert added["numpy.median"] == "both"
    assert added["numpy.linalg.cholesky"] == "forward"
    assert "numpy.sin" not in added
    assert extend_autograd() == {}


# ---------------------------------------------------------------- errors


def test_bad_calls_say_what_to_write():
    with pytest.raises(TypeError, match="got no function"):
        to_autograd(X)
    with pytest.raises(TypeError, match="neither an array nor hashable"):
        to_autograd(np.sum)(X, {1})


def test_without_autograd_the_error_names_the_extra():
    program = "import sys; sys.modules['autograd'] = None; import rulescore.backends.autograd"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode != 0
    assert "pip install 'rulescore[autograd]'" in result.stderr


def test_autograd_keeps_nothing_of_functions_made_in_a_loop():
    before = len(autograd_core.primitive_vjps)
    for number in range(3):
        f = to_autograd(lambda x, number=number: (number * x, x > 0))
        np.testing.assert_array_equal(grad(lambda x, f=f: f(x)[0].sum())(X), number * np.ones_like(X))
    assert len(autograd_core.primitive_vjps) == before


# ---------------------------------------------------------------- the other direction


def test_functions_of_autograd_pass_the_tester():
    assert check_rule(from_autograd(by_autograd), X, Y).verdict == "pass"
    z = np.array([0.3 + 0.2j, 1 - 0.5j])
    assert check_rule(from_autograd(lambda z: anp.sin(z) * anp.conj(z)), z).verdict == "pass"


@pytest.mark.parametrize("x", [0.7, np.float64(0.7), np.array(0.7)], ids=["float", "NumPy's", "array"])
def test_functions_of_one_number_pass_the_tester(x):
    report = check_rule(from_autograd(lambda x: anp.sin(x) * x), x)
    assert report.verdict == "pass"
    assert check_rule(from_autograd(lambda x: (anp.sin(x), x * x)), x).verdict == "pass"


def test_a_function_of_autograd_has_derivatives_of_every_order():
    f = from_autograd(by_autograd)
    expected = hessian(lambda x: anp.sum(by_autograd(x, Y)))(X)
    np.testing.assert_allclose(our_hessian(lambda x: f(x, Y).sum())(X), expected)
    _, moved = our_jvp(our_grad(lambda x: f(x, Y).sum()), (X,), (Y,))
    np.testing.assert_allclose(moved, expected @ Y)


def test_containers_and_settings_go_to_autograd():
    f = from_autograd(lambda tree, n, *, scale: {"y": scale * tree["x"][n], "n": np.argmax(tree["c"])})
    gradient = our_grad(lambda x: f({"x": x, "c": Y}, 1, scale=3.0)["y"])(X)
    np.testing.assert_array_equal(gradient, [0, 3, 0])


def test_rules_that_call_back_into_ad_can_use_autograd():
    y, pullback = rrule_via_ad(AutogradConfig(), lambda x: anp.sum(x**3), X)
    np.testing.assert_allclose(y, np.sum(X**3))
    np.testing.assert_allclose(pullback(2.0)[1], 6 * X**2)


@pytest.mark.parametrize("name", ["slogdet", "eigh", "eig", "qr"])
def test_forward_mode_of_what_returns_named_tuples(name):
    extend_autograd()
    f = getattr(anp.linalg, name)
    x = np.array([[2.0, 0.5], [0.5, 1.5]])
    dx = np.array([[0.3, 0.1], [0.1, -0.2]])
    for place in range(2):

        def number(x, place=place):
            return anp.sum(anp.abs(f(x)[place]) * np.array([1.0, 0.7]))

        _, tangent = make_jvp(number)(x)(dx)
        difference = (number(x + 1e-6 * dx) - number(x - 1e-6 * dx)) / 2e-6
        np.testing.assert_allclose(tangent, difference, atol=1e-8)
    assert name == "qr" or tangent != 0
