"""`check_derivative`: derivatives written by hand, as functions of all forms, and by name on the command line."""

import json
import os
import re

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse

from rulescore import NoTangent, Tangent
from testutils import check_derivative, with_tangent
from testutils.cases.arguments import SampleError
from testutils.runs.command_line import main

X = np.array([0.3, -1.2, 2.0])


def weighted(x, a):
    return np.sum(a * x**2)


def weighted_vjp(ybar, x, a):
    return 2 * a * x * ybar, np.sum(x**2) * ybar


def weighted_jvp(tangents, x, a):
    dx, da = tangents
    return 2 * a * x @ dx + np.sum(x**2) * da


def pairs(x):
    return np.array([x[0] * x[1], np.sin(x[0]), x[1] * x[2], 1.0])


def pairs_jac(x):
    return np.array([[x[1], x[0], 0], [np.cos(x[0]), 0, 0], [0, x[2], x[1]], [0, 0, 0]])


def verdict(*args, **options):
    return check_derivative(*args, **options).verdict


# ---------------------------------------------------------------- right


def test_each_form_of_a_right_derivative_passes():
    assert verdict(weighted, X, 2.0, vjp=weighted_vjp) == "pass"
    assert verdict(weighted, X, 2.0, jvp=weighted_jvp) == "pass"
    assert verdict(weighted, X, 2.0, vjp=weighted_vjp, jvp=weighted_jvp) == "pass"
    assert verdict(weighted, X, 2.0, jac=lambda x, a: 2 * a * x) == "pass"
    assert verdict(pairs, X, jac=pairs_jac) == "pass"
    assert verdict(pairs, X, jac=lambda x: scipy.sparse.csr_array(pairs_jac(x))) == "pass"
    assert verdict(np.sin, X, vjp=lambda ybar, x: np.cos(x) * ybar) == "pass"


@pytest.mark.parametrize("name", ["rosen", "rosen_hess"])
def test_what_scipy_ships_passes(name):
    functions = {"rosen": (scipy.optimize.rosen, scipy.optimize.rosen_der)}
    functions["rosen_hess"] = scipy.optimize.rosen_der, scipy.optimize.rosen_hess
    f, jac = functions[name]
    assert verdict(f, X, jac=jac) == "pass"


def test_numbers_matrices_containers_and_keywords():
    assert verdict(lambda x: x**3, 2.0, jac=lambda x: 3 * x**2) == "pass"
    assert verdict(np.linalg.det, np.eye(3) + 0.1, jac=lambda a: np.linalg.det(a) * np.linalg.inv(a).T) == "pass"
    assert verdict(np.outer, X, X[:2], vjp=lambda ybar, x, y: (ybar @ y, x @ ybar)) == "pass"
    assert (
        verdict(lambda x, scale=1.0: scale * x, X, fkwargs={"scale": 3.0}, jac=lambda x, scale: scale * np.eye(3))
        == "pass"
    )

    def both(point):
        return point["a"] * point["b"], point["b"]

    def both_vjp(ybar, point):
        first, second = ybar
        return Tangent(dict, a=first * point["b"], b=first * point["a"] + second)

    assert verdict(both, {"a": 2.0, "b": 3.0}, vjp=both_vjp) == "pass"


def test_arguments_without_a_derivative_have_none_as_cotangent_and_tangent():
    def power(x, n):
        return x**n

    def power_jvp(tangents, x, n):
        dx, dn = tangents
        assert dn is None
        return n * x ** (n - 1) * dx

    assert verdict(power, X, 3, vjp=lambda ybar, x, n: (n * x ** (n - 1) * ybar, None), jvp=power_jvp) == "pass"


def test_arguments_can_be_held_constant():
    held = with_tangent(2.0, NoTangent())
    assert verdict(weighted, X, held, vjp=lambda ybar, x, a: (2 * a * x * ybar, None), jvp=only_x) == "pass"
    assert verdict(weighted, X, held, vjp=weighted_vjp) == "pass"  # what it says for the other is its own affair


def only_x(tangents, x, a):
    assert tangents[1] == 0
    return 2 * a * x @ tangents[0]


def test_complex_numbers_follow_the_conventions_of_rules():
    z = X + 0.5j
    assert (
        verdict(np.exp, z, vjp=lambda ybar, z: np.conj(np.exp(z)) * ybar, jvp=lambda dz, z: np.exp(z) * dz[0]) == "pass"
    )
    assert verdict(np.exp, z, vjp=lambda ybar, z: np.exp(z) * ybar) == "fail"


# ---------------------------------------------------------------- wrong


@pytest.mark.parametrize(
    "wrong",
    [
        {"vjp": lambda ybar, x, a: (2 * x * ybar, np.sum(x**2) * ybar)},
        {"vjp": lambda ybar, x, a: (2 * a * x * ybar, 0.0)},
        {"vjp": lambda ybar, x, a: (2 * a * x * ybar, None)},
        {"vjp": lambda ybar, x, a: (2 * a * x, np.sum(x**2))},  # the cotangent left out
        {"jvp": lambda tangents, x, a: 2 * a * x @ tangents[0]},
        {"jac": lambda x, a: -2 * a * x},
        {"jac": lambda x, a: 2 * a * x * [1, 1, 0]},
    ],
)
def test_a_wrong_derivative_fails(wrong):
    assert verdict(weighted, X, 2.0, **wrong) == "fail"


def test_both_forms_are_compared_where_one_is_wrong():
    report = check_derivative(weighted, X, 2.0, vjp=weighted_vjp, jvp=lambda t, x, a: 2 * weighted_jvp(t, x, a))
    assert {result.mode for result in report.failures} == {"frule", "frule and rrule"}


@pytest.mark.parametrize(
    ("f", "options", "message"),
    [
        (
            pairs,
            {"jac": lambda x: pairs_jac(x).T},
            "for an output of shape (4,) and an argument of shape (3,) it is (4, 3)",
        ),
        (pairs, {"jac": lambda x: pairs_jac(x)[0]}, "jac returned an array of shape (3,)"),
        (np.multiply, {"vjp": lambda ybar, x, y: y * ybar}, "vjp returned 1 cotangent for 2 arguments"),
        (np.sin, {"vjp": lambda ybar, x: np.ones(7)}, "(7,)"),
        (np.sin, {"vjp": lambda ybar, x: 1 / 0}, "ZeroDivisionError"),
        (np.sin, {"jvp": lambda tangents, x: np.ones(7)}, "jvp returned float64[7] as the tangent of float64[3]"),
    ],
)
def test_what_does_not_fit_is_a_failure_that_says_so(f, options, message):
    args = (X, X) if f is np.multiply else (X,)
    report = check_derivative(f, *args, **options)
    assert report.verdict == "fail"
    assert message in str(report)


@pytest.mark.parametrize("x", [X, 2.0], ids=["array", "number"])
def test_a_jac_that_returns_several_gradients_is_told_of_vjp(x):
    report = check_derivative(weighted, x, 2.0, jac=lambda x, a: weighted_vjp(1.0, x, a))
    assert report.verdict == "fail"
    text = str(report)
    assert "jac returned tuple[" in text
    assert "the derivative with respect to the first argument alone" in text
    assert "give vjp=" in text
    assert "inhomogeneous" not in text


def test_a_report_of_jac_says_which_argument_was_compared():
    report = check_derivative(weighted, X, 2.0, jac=lambda x, a: 2 * a * x)
    told = "jac with respect to argument 0 (x) alone; argument 1 (a) was held constant: vjp="
    assert report.verdict == "pass"
    assert told in str(report)
    assert "held constant" not in str(check_derivative(pairs, X, jac=pairs_jac))
    assert "held constant" not in str(check_derivative(weighted, X, 2, jac=lambda x, a: 2 * a * x))
    two = with_tangent(2.0, NoTangent())
    held = check_derivative(weighted, X, two, vjp=lambda ybar, x, a: (2 * a * x * ybar, None))
    assert "vjp with respect to argument 0 (x) alone; argument 1 (a) was held constant" in str(held)


def test_how_an_argument_is_held_constant_is_told_where_its_cotangent_is_missing():
    for vjp in (lambda ybar, x, a: 2 * a * x * ybar, lambda ybar, x, a: (2 * a * x * ybar, None)):
        report = check_derivative(weighted, X, 2.0, vjp=vjp)
        assert report.verdict == "fail"
        assert "with_tangent(x, NoTangent())" in str(report)
    assert "the vjp returned None for it" in str(report)


@pytest.mark.parametrize(
    "wrong",
    [
        {"vjp": lambda ybar, x, a: (2 * x * ybar, np.sum(x**2) * ybar)},
        {"vjp": lambda ybar, x, a: (2 * a * x + ybar, np.sum(x**2))},
        {"vjp": lambda ybar, x, a: (x.__imul__(ybar), np.sum(x**2))},
        {"vjp": lambda ybar, x, a: 1 / 0},
        {"vjp": lambda ybar, x, a: np.ones((3, 1))},
        {"jvp": lambda tangents, x, a: 2 * a * x @ tangents[0]},
        {"jvp": lambda tangents, x, a: 2 * a * x @ tangents[0] + 1},
        {"jvp": lambda tangents, x, a: tangents[0].__imul__(2) @ x},
        {"jvp": lambda tangents, x, a: 1 / 0},
        {"jvp": weighted_jvp, "vjp": lambda ybar, x, a: (2 * x * ybar, np.sum(x**2) * ybar)},
        {"jac": lambda x, a: -2 * a * x},
        {"jac": lambda x, a: 1 / 0},
        {"jac": lambda x, a: x.__imul__(2)},
    ],
)
def test_a_report_speaks_of_the_functions_that_were_given(wrong):
    text = str(check_derivative(weighted, X, 2.0, **wrong))
    assert not re.search(r"\b(frule|rrule|pullback|thunk)\b", text)
    assert "testutils" + os.sep + "bare_functions.py" not in text
    assert all(name in text for name in wrong)


def test_a_made_up_point_that_a_derivative_is_not_meant_for_is_left_out():
    def f_vjp(ybar, x):
        return np.where(x < 0, 0.0, 2 * x) * ybar  # which forgets the numbers below zero

    text = str(check_derivative(lambda x: np.sum(x**2), np.abs(X), vjp=f_vjp))
    assert "Where the vjp is not meant for this, leave the variant out: skip={" in text
    assert "MDNotImplementedError" not in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give vjp=, jvp= or jac="),
        ({"jac": True}, "lambda *args: f(*args)[1]"),
        ({"jac": np.cos, "vjp": np.cos}, "check one after the other"),
    ],
)
def test_a_call_that_means_nothing_is_an_error(options, message):
    with pytest.raises(TypeError) as error:
        check_derivative(np.sin, X, **options)
    assert message in str(error.value)


def test_a_jacobian_of_nothing_is_an_error():
    with pytest.raises(TypeError, match="give the one to differentiate, after f"):
        check_derivative(np.sin, jac=np.cos)


def test_a_function_that_raises_is_an_error_of_the_call():
    with pytest.raises(SampleError, match="the function itself raises"):
        check_derivative(np.linalg.inv, np.zeros((2, 2)), jac=np.asarray)


# ---------------------------------------------------------------- the command line

MODULE = """
import numpy as np

SCALE = 2.0

def f(x, a):
    return np.sum(a * x**2)

def f_vjp(ybar, x, a):
    return 2 * a * x * ybar, np.sum(x**2) * ybar

def gradient(x, a):
    return a * x
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "bare_example.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path / "bare_example.py"


def test_the_command_names_functions_of_a_module_or_a_file(module, tmp_path, capsys):
    at = ["--at", "np.ones(3), SCALE"]
    assert main(["check", "bare_example:f", "--vjp", "bare_example:f_vjp", *at]) == 0
    assert "pass: bare_example.f(float64[3], float)" in capsys.readouterr().out
    assert main(["check", f"{module}:f", "--jac", f"{module}:gradient", *at, "--json", str(tmp_path / "j.json")]) == 1
    assert "a factor 1/2" in capsys.readouterr().out
    written = json.loads((tmp_path / "j.json").read_text())
    assert written["verdicts"] == {"fail": 1}
    assert (written["functions"][0]["file"], written["functions"][0]["line"]) == (str(module), 6)
    assert written["functions"][0]["samples"][0]["id"] == "np.ones(3), SCALE"


def test_the_command_can_hold_an_argument_constant(module, capsys):
    at = ["--at", "np.ones(3), with_tangent(SCALE, NoTangent())"]
    assert main(["check", f"{module}:f", "--vjp", f"{module}:f_vjp", *at]) == 0
    assert "argument 1 (a) was held constant" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["bare_example:f", "--vjp", "bare_example:f_vjp"],
            "--at is missing: at which arguments is bare_example:f to be checked? Write them in Python, as in: "
            "rulescore check bare_example:f --vjp bare_example:f_vjp --at 'np.ones(3), 2.0'",
        ),
        (["--vjp", "bare_example:f_vjp", "--at", "1.0"], "check mymodule:f"),
        (["bare_example:g", "--vjp", "bare_example:f_vjp", "--at", "1.0"], "bare_example has no 'g'"),
        (["bare_example:f", "--vjp", "bare_example:f_vjp", "--at", "np.ones("], "SyntaxError"),
        (
            ["bare_example:f", "--vjp", "bare_example:f_vjp", "--at", "1.0", "--only", "f"],
            "--only does not go with --vjp",
        ),
        (["bare_example:f", "--vjp", "bare_example:f_vjp", "--at", "'text', 1"], "the function itself raises"),
    ],
)
@pytest.mark.usefixtures("module")
def test_a_command_that_means_nothing_exits_4_and_says_why(arguments, message, capsys):
    assert main(["check", *arguments]) == 4
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.usefixtures("module")
def test_of_a_function_without_rules_a_derivative_is_asked_for(capsys):
    assert main(["check", "bare_example:f", "--at", "np.ones(3), 2.0"]) == 5
    assert "or give a derivative that is not registered with --vjp, --jvp or --jac" in capsys.readouterr().err
