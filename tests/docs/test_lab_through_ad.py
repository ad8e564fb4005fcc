"""The exercises of the ChainRules lab, differentiated by `rulescore.ad`: by their rules, and through their plain code.

Both ways have to lead to the same derivative, and to that of finite differences.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rulescore import rrule
from rulescore.ad import RuleNotUsedWarning, TracerConversionError, grad, jvp, primitive, vjp
from rulescore.testing import jvp_fd, vjp_fd

# What is differentiated through its plain code has a rule too.
pytestmark = pytest.mark.filterwarnings("ignore::rulescore.ad.RuleNotUsedWarning")

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{name}_through_ad", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


f1 = example("f1").f1
mymaximum = example("mymaximum").mymaximum
sums = example("pool_sum")
pool_sum, segments = sums.pool_sum, sums.segments
pooling = example("pooling")
pool, hausdorff = pooling.pool, pooling.hausdorff
rotary = example("rotary").rotary


def plain(f: Callable[..., Any]) -> Callable[..., Any]:
    """The code of a function without its rules."""
    return lambda *args: f(*args)


# What pool_sum and pool would be with an array that can hold what is being differentiated.


def pool_like(x: Any, rows: Any, cols: Any, f: Callable[..., Any] = np.sum) -> Any:
    return np.array([[f(x[r, c]) for c in cols] for r in rows], like=x)


def pool_stacked(x: Any, rows: Any, cols: Any, f: Callable[..., Any] = np.sum) -> Any:
    return np.stack([np.stack([f(x[r, c]) for c in cols]) for r in rows])


def pool_assigned(x: Any, rows: Any, cols: Any, f: Callable[..., Any] = np.sum) -> Any:
    y = np.zeros((len(rows), len(cols)), like=x)
    for i, r in enumerate(rows):
        for j, c in enumerate(cols):
            y[i, j] = f(x[r, c])
    return y


rng = np.random.default_rng(0)
HALVES = [slice(0, 4), slice(4, 7)]
WINDOWS = [slice(i, i + 3) for i in range(5)]
CASES = {
    "f1 of numbers": (f1, plain(f1), (2.0, 5.0)),
    "f1, broadcast": (f1, plain(f1), (rng.standard_normal((4, 3)), rng.standard_normal(3))),
    "f1, complex": (f1, plain(f1), (1.5 - 2j, 0.5j)),
    "mymaximum": (mymaximum, plain(mymaximum), (rng.standard_normal((4, 5)),)),
    "rotary": (rotary, plain(rotary), (rng.standard_normal((5, 6)), rng.standard_normal(3))),
    **{
        f"{name}, {other.__name__}": (f, other, args)
        for other in (pool_like, pool_stacked, pool_assigned)
        for name, f, *args in [
            ("pool_sum", pool_sum, rng.standard_normal((7, 5)), segments(7, 3), segments(5, 2)),
            ("pool", pool, rng.random((7, 8)), HALVES, [slice(0, 5), slice(5, 8)], hausdorff),
            ("pool, overlapping", pool, rng.random((7, 7)), WINDOWS, WINDOWS, hausdorff),
        ]
    },
}
"""The function with rules, plain code of the same function, and arguments."""


def arrays_of(f: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The function of the leading arguments that are numbers, and these."""
    count = sum(isinstance(x, (float, complex, np.ndarray)) for x in args)
    return lambda *leading: f(*leading, *args[count:]), tuple(args[:count])


def assert_close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_the_rule_and_the_plain_code_have_the_same_derivative(case: str) -> None:
    ruled, plainly, args = CASES[case]
    by_rule, x = arrays_of(primitive(ruled), args)
    by_tracing, _ = arrays_of(plainly, args)
    y, pull_by_rule = vjp(by_rule, *x)
    traced, pull_by_tracing = vjp(by_tracing, *x)
    ybar = np.random.default_rng(1).standard_normal(np.shape(y))[()]
    assert_close(traced, y)  # not the same to the last digit: the rule may sum in another order
    bars = pull_by_rule(ybar), pull_by_tracing(ybar), vjp_fd(arrays_of(ruled, args)[0], ybar, x).value
    for of_rule, of_tracing, of_differences in zip(*bars, strict=True):
        assert_close(of_rule, of_tracing)
        assert_close(of_rule, of_differences)


@pytest.mark.parametrize("case", CASES)
def test_in_forward_mode_too(case: str) -> None:
    ruled, plainly, args = CASES[case]
    by_rule, x = arrays_of(primitive(ruled), args)
    by_tracing, _ = arrays_of(plainly, args)
    draw = np.random.default_rng(2)
    dx = tuple((draw.standard_normal(np.shape(a)) * (1 + 1j if np.iscomplexobj(a) else 1))[()] for a in x)
    y, of_rule = jvp(by_rule, x, dx)
    traced, of_tracing = jvp(by_tracing, x, dx)
    assert_close(traced, y)  # not the same to the last digit: the rule may sum in another order
    assert_close(of_rule, of_tracing)
    assert_close(of_rule, jvp_fd(arrays_of(ruled, args)[0], x, dx).value)


@pytest.mark.parametrize(
    ("f", "args"),
    [(f1, (2.0, 5.0)), (mymaximum, (np.arange(3.0),)), (rotary, (np.ones((2, 4)), np.ones(2)))],
    ids=["f1", "mymaximum", "rotary"],
)
def test_a_primitive_is_differentiated_by_its_rule(f: Any, args: Any) -> None:
    """And not through its code, which would give the same derivative."""
    original, used = rrule.lookup(f, *map(type, args)).implementation, []

    def noted(*given: Any) -> Any:
        used.append(given)
        return original(*given)

    with rrule.override(f, noted):
        vjp(primitive(f), *args)
        assert len(used) == 1
        vjp(plain(f), *args)
        assert len(used) == 1


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (pool_sum, (rng.random((4, 4)), segments(4, 2), segments(4, 2))),
        (pool, (rng.random((4, 4)), segments(4, 2), segments(4, 2), hausdorff)),
    ],
    ids=["pool_sum", "pool"],
)
def test_an_array_of_traced_numbers_says_what_to_write_and_a_rule_needs_no_tracing(f: Any, args: Any) -> None:
    x, *rest = args
    with pytest.raises(TracerConversionError, match=r"np\.stack.*np\.array\(\[\.\.\.\], like=x\)"):
        grad(lambda x: np.sum(plain(f)(x, *rest)))(x)
    by_rule = grad(lambda x: np.sum(primitive(f)(x, *rest)))(x)
    assert_close(by_rule, vjp_fd(lambda x: f(x, *rest), np.ones((2, 2)), (x,)).value[0])


@pytest.mark.filterwarnings("error::rulescore.ad.RuleNotUsedWarning")
def test_a_rule_that_is_not_used_is_warned_of() -> None:
    own = example("f1").f1
    with pytest.warns(RuleNotUsedWarning, match=r"write @primitive above def f1, or f1 = primitive\(f1\) after it"):
        assert grad(lambda x: own(x, 1.0))(2.0) == 4.0
    own = primitive(own)
    assert grad(lambda x: own(x, 1.0))(2.0) == 4.0


def test_one_rule_serves_within_a_program() -> None:
    """A loss that calls three of them, and NumPy's functions between."""
    pooled, turned = primitive(pool_sum), primitive(rotary)
    theta = 10000.0 ** -np.linspace(0, 0.5, 3)

    def loss(pool: Any, rotate: Any, x: Any, theta: Any) -> Any:
        y = rotate(np.tanh(x), theta)
        return np.sum(np.sin(pool(y * y, segments(6, 4), segments(6, 3))))

    x = rng.standard_normal((6, 6))
    by_rule = grad(lambda *args: loss(pooled, turned, *args), argnums=(0, 1))(x, theta)
    by_tracing = grad(lambda *args: loss(pool_like, plain(rotary), *args), argnums=(0, 1))(x, theta)
    differences = vjp_fd(lambda *args: loss(pool_sum, rotary, *args), 1.0, (x, theta)).value
    for of_rule, of_tracing, of_differences in zip(by_rule, by_tracing, differences, strict=True):
        assert_close(of_rule, of_tracing)
        assert_close(of_rule, of_differences)
