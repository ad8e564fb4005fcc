"""Keywords of rules that call back into AD: those that carry a tangent are tested, and tolerances are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.optimize

from rulescore import (
    AbstractZero,
    HasForwardMode,
    HasReverseMode,
    NoTangent,
    Tangent,
    ZeroTangent,
    frule,
    frule_via_ad,
    rrule,
    rrule_via_ad,
)
from testutils import check_rule, with_tangent
from testutils.cases.case import Case


def weighted(x: Any, p: Any) -> Any:
    return np.sin(p * x)


def function_with_rules(error: float) -> Callable[..., Any]:
    """A function with a tolerance on which it does not depend smoothly, and rules that are wrong by a factor."""

    def applied(f: Callable[..., Any], x: Any, args: tuple[Any, ...] = (), tol: float = 1e-12) -> Any:
        return f(x, *args) + np.sign(np.sin(1e20 * tol)) * tol

    @rrule.register(applied, config=HasReverseMode)
    def applied_rrule(config: Any, f: Any, x: Any, args: Any = (), tol: Any = 1e-12) -> Any:
        _, pullback = rrule_via_ad(config, f, x, *args)

        def applied_pullback(ybar: Any) -> Any:
            _, xbar, *bars = pullback(ybar)
            return NoTangent(), NoTangent(), xbar, Tangent(tuple, *[error * bar for bar in bars]), ZeroTangent()

        return applied(f, x, args, tol), applied_pullback

    @frule.register(applied, config=HasForwardMode)
    def applied_frule(config: Any, tangents: Any, f: Any, x: Any, args: Any = (), tol: Any = 1e-12) -> Any:
        _, df, dx, *more = tangents
        dargs = more[0] if more else ZeroTangent()
        moved = [ZeroTangent()] * len(args) if isinstance(dargs, AbstractZero) else [error * dp for dp in dargs]
        _, dy = frule_via_ad(config, (df, dx, *moved), f, x, *args)
        return applied(f, x, args, tol), dy

    return applied


@pytest.mark.parametrize(("error", "verdict"), [(1.0, "pass"), (2.0, "fail"), (0.0, "fail")])
@pytest.mark.parametrize("mode", ["rrule", "frule"])
def test_a_wrong_rule_for_args_is_caught(error: float, verdict: str, mode: str) -> None:
    applied, keywords = function_with_rules(error), {"args": with_tangent((0.7,), (1.5,)), "tol": 1e-12}
    report = check_rule(applied, weighted, 0.4, fkwargs=keywords, modes=(mode,))
    assert report.verdict == verdict, str(report)


def cubic(x: Any, p: Any) -> Any:
    return x**3 + p * x - 1.0


def test_a_keyword_of_a_rule_of_scipy_s() -> None:
    keywords = {"args": with_tangent((0.7,), (1.5,)), "xtol": 1e-15, "rtol": 1e-15}
    report = check_rule(scipy.optimize.brentq, cubic, 0.0, 2.0, fkwargs=keywords)
    assert report.verdict == "pass", str(report)


@pytest.mark.parametrize(("args", "tested"), [((0.7,), [2, 3]), (with_tangent((0.7,), (1.5,)), [2, 3, 4])])
def test_keywords_are_tested_that_carry_a_tangent_of_their_own(args: Any, tested: list[int]) -> None:
    case = Case(scipy.optimize.brentq, (cubic, 0.0, 2.0), fkwargs={"args": args, "xtol": 1e-15})
    assert [argument.position for argument in case.differentiable_arguments] == tested
