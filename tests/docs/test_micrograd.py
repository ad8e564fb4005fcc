"""The AD system of docs/for_ad_authors.md: the page shows the file that is tested, and it is right where it answers."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Callable
from pathlib import Path
from types import MethodDescriptorType, ModuleType
from typing import Any

import numpy as np
import pytest

from rulescore import MissingDerivativeError, NoTangent, Thunk, not_implemented, rrule, scalar_rule
from rulescore.testing import conformance

FILE = Path(__file__).with_name("micrograd.py")
PAGE = Path(__file__).parents[2] / "docs" / "for_ad_authors.md"


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


micrograd = load(FILE)
vjp, call, Variable = micrograd.vjp, micrograd.call, micrograd.Variable

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)

# What it does not do, and says so. All else of NumPy's that has a derivative has to be right.
UNSUPPORTED = {
    "a variable is not written into": [
        "numpy.copyto",
        "numpy.fill_diagonal",
        "numpy.place",
        "numpy.put",
        "numpy.put_along_axis",
        "numpy.putmask",
        "numpy.ndarray.fill",
        "numpy.ndarray.partition",
        "numpy.ndarray.put",
        "numpy.ndarray.sort",
    ],
    "what it returns is no array of numbers that could be traced": [
        "numpy.ndarray.item",
        "numpy.ndarray.to_device",
        "numpy.ndarray.tolist",
        "numpy.ndarray.view",
    ],
    "NumPy's own code makes a plain array of its argument": [
        "numpy.apply_along_axis",
        "numpy.apply_over_axes",
        "numpy.fromiter",
        "numpy.piecewise",
    ],
    "an object with parameters is no variable": ["numpy.fromfunction"],
    "the rule of a function that takes a function calls back": ["instances_of(numpy.vectorize)"],
}


def as_a_program(f: Any) -> Callable[..., Any]:
    """A function called as a program calls it; where NumPy does not ask its arguments, handed to the AD system."""

    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            if isinstance(f, MethodDescriptorType):
                return getattr(args[0], f.__name__)(*args[1:], **kwargs)
            return f(*args, **kwargs)
        except TypeError as error:
            if f not in rrule or "plain array" not in str(error):
                raise
            return call(f, args, kwargs)

    return called


def test_the_page_shows_the_file() -> None:
    steps = PAGE.read_text("utf8").partition("## An AD system")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```python\n(.*?)^```$", steps, re.MULTILINE | re.DOTALL)
    assert "\n\n".join(blocks) == FILE.read_text("utf8")


def test_it_has_some_sixty_lines() -> None:
    tree = ast.parse(FILE.read_text("utf8"))
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node):
            del node.body[0]
    code = [node for node in tree.body if not isinstance(node, (ast.Import, ast.ImportFrom))]
    lines = [line for node in code for line in ast.unparse(node).splitlines() if line]
    assert len(lines) <= 65


def test_it_is_right_wherever_it_answers() -> None:
    report = conformance(vjp, names="numpy", twin=as_a_program, skip=lambda name, sample: sample.position >= 4)
    answers = {f.name for f in report.functions if f.verdict not in ("right", "not differentiable", "skipped")}
    assert answers == {name for names in UNSUPPORTED.values() for name in names}, report
    assert len(report.right) > 250
    report.raise_if_wrong()


def test_its_second_derivatives_are_right() -> None:
    names = ["np.exp", "np.multiply", "np.matmul", "np.sum", "np.where", "np.linalg.inv", "np.concatenate", "np.cumsum"]
    report = conformance(vjp, names=names, twin=as_a_program, order=2, skip=lambda name, sample: sample.position >= 6)
    assert [f.verdict for f in report.functions] == ["right"] * len(names), report


def test_a_captured_variable_is_a_constant_of_the_inner_differentiation_and_a_variable_of_the_outer() -> None:
    def outer(x: Any) -> Any:
        _, pullback = vjp(lambda y: x * x * y, np.float64(3.0))
        return pullback(np.float64(1.0))[0]  # x²

    y, pullback = vjp(outer, np.float64(5.0))
    assert (y, pullback(np.float64(1.0))) == (25.0, (10.0,))


def test_a_variable_that_an_argument_captured_is_an_error() -> None:
    def applied(f: Any, x: Any) -> Any:
        return f(x)

    rrule.register(applied)(lambda f, x: (f(x), lambda ybar: (NoTangent(), NoTangent(), ybar)))
    with pytest.raises(NotImplementedError, match="captured"):
        vjp(lambda w, x: call(applied, (lambda t: w * t, x), {}), np.float64(2.0), np.float64(3.0))


def test_cotangents_nobody_needs_are_not_computed() -> None:
    def product(x: Any, y: Any) -> Any:
        return x * y

    computed = []

    @rrule.register(product)
    def product_rrule(x: Any, y: Any) -> Any:
        def bar(name: str, value: Any) -> Any:
            return Thunk(lambda: computed.append(name) or value)

        return x * y, lambda ybar: (NoTangent(), bar("x", ybar * y), bar("y", ybar * x))

    _, pullback = vjp(lambda x: call(product, (x, 4.0), {}), np.float64(3.0))
    assert pullback(1.0) == (4.0,)
    assert computed == ["x"]


def test_a_missing_derivative_stays_missing() -> None:
    def shift(x: Any, y: Any) -> Any:
        return x + y

    scalar_rule(shift, lambda z, x, y: 1, lambda z, x, y: not_implemented("y of shift"))
    _, pullback = vjp(lambda x: call(shift, (x, 4.0), {}), np.float64(3.0))
    assert pullback(1.0) == (1.0,)
    _, pullback = vjp(lambda y: call(shift, (1.0, y * 2), {}), np.float64(3.0))
    with pytest.raises(MissingDerivativeError, match="y of shift"):
        float(pullback(1.0)[0])


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: np.array([x[0], x[1]]), "np.stack"),
        (lambda x: np.add.at(x, [0], 1.0), "no rule here"),
        (lambda x: x.fill(0.0), "no rule here"),
    ],
    ids=["a plain array", "a ufunc that writes", "a method that writes"],
)
def test_what_it_cannot_do_is_an_error(f: Any, message: str) -> None:
    with pytest.raises((TypeError, NotImplementedError), match=re.escape(message)):
        vjp(f, np.array([1.0, 2.0]))
