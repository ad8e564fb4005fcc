"""What the testers do: every check on a case and its variants, a report of the results, and what to raise for it."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any, Literal

import numpy as np

from .cases import MODES
from .cases.case import Case
from .checks import (
    CHECKS,
    CHECKS_AT_FULL_SIZE,
    DERIVATIVE_CHECKS,
    POINT_CHECKS,
    SCALAR_CHECKS,
    VACUITY_CHECKS,
    Check,
    suitable,
)
from .evidence.warnings_here import warnings_here
from .reports.names import name_of
from .reports.report import InconclusiveError, InconclusiveWarning, Report, RuleTestError
from .reports.results import CheckResult
from .samples.random_tangents import with_tangent
from .variants import (
    FURTHER_POINTS,
    MADE_UP_POINTS,
    POINTS_OF_MANY_ENTRIES,
    checked_claims,
    checked_skip,
    run_layout_variants,
    run_made_up_points,
    run_value_variants,
    with_fewer_entries,
)

Inconclusive = Literal["raise", "warn"]


def report_on(
    f: Any,
    args: tuple[Any, ...],
    thorough: bool = False,
    strict: bool | Collection[str] = False,
    skip: Mapping[str, str] | None = None,
    points: Collection[str] = MADE_UP_POINTS,
    of_sample: bool = False,
    **options: Any,
) -> Report:
    """What all checks find about the rules of one call; the arguments are those of `check_rule`, and the points."""
    options["of_sample"] = of_sample
    case, skip, strict = Case(f, args, **options), checked_skip(skip, of_sample), checked_claims(strict)
    if strict and not thorough:
        raise ValueError(f"strict={strict!r} is about the variants of a thorough check: write thorough=True beside it")
    points = (*points, *FURTHER_POINTS) if thorough else points
    every = partial(_every_check, thorough=thorough, strict=strict, skip=skip, points=points)
    results = _with_smaller_arguments(case, every) if case.is_large else every(case)
    if isinstance(results, str):
        case = Case(f, args, **options)
        case.may_be_shortened = False
        note, results = results, every(case, points=[name for name in points if name in POINTS_OF_MANY_ENTRIES])
        left_out = ", ".join(name for name in points if name not in POINTS_OF_MANY_ENTRIES)
        if left_out:
            note = f"{note}, so that these points were not visited: {left_out}"
            results.append(CheckResult("smaller arguments", "pass", note))
    return Report(name_of(case.function), case.call, tuple(results), of_sample)


def _every_check(
    case: Case, thorough: bool, strict: bool | Collection[str], skip: Mapping[str, str], points: Collection[str]
) -> list[CheckResult]:
    """What all checks find about a case and its variants."""
    results = [*run_checks(case), *run_layout_variants(case, skip, thorough)]
    results += run_checks(case, VACUITY_CHECKS)  # not of variants: of whole numbers, nothing is what they ask for
    results += run_made_up_points(case, partial(run_checks, checks=POINT_CHECKS), skip, results, points)
    if thorough:
        results += run_value_variants(case, partial(run_with_layouts, skip=skip), skip, results, strict)
    return results


def _with_smaller_arguments(case: Case, every: Callable[[Case], list[CheckResult]]) -> list[CheckResult] | str:
    """What the derivative checks find about a large case, and all others about the same call with fewer entries.

    Where that shows already what is wrong, nobody searches for it in the large one. In words why not, where nothing can
    be said of many entries by means of few.
    """
    smaller = with_fewer_entries(case)
    if smaller is None:
        return "function or rules do not serve fewer entries"
    of_smaller = every(smaller)
    verdict = Report("", "", tuple(of_smaller)).verdict
    if verdict == "inconclusive":
        return f"{smaller.call} decides nothing"
    case.directions.begin_with(smaller.directions, is_wrong=verdict == "fail")
    if verdict == "fail":
        case.search.end()
    of_first_calls, of_numbers = CHECKS_AT_FULL_SIZE
    results = run_checks(case, of_first_calls)
    case.forget_first_calls()
    results = [*run_checks(case, of_numbers), *results]
    by_name = {(result.mode, result.name): result.verdict for result in results}
    wrong = [result for result in of_smaller if result.verdict == "fail"]
    if any(by_name.get((result.mode, result.name)) not in (None, "fail", "not run") for result in wrong):
        return f"what is wrong with {smaller.call} does not show at once here and was looked for at full size"
    results += [result for result in of_smaller if (result.mode, result.name) not in by_name and result not in wrong]
    results += [dataclasses.replace(result, message=f"{smaller.call}: {result.message}") for result in wrong]
    note = f"the checks that are not about numbers, and the variants, were run on {smaller.call}"
    return [*results, CheckResult("smaller arguments", "pass", note)]


def run_with_layouts(case: Case, skip: Mapping[str, str] | None = None) -> list[CheckResult]:
    """The results of every check, and of the variants that change no number."""
    return [*run_checks(case), *run_layout_variants(case, skip)]


def run_checks(case: Case, checks: Iterable[Check] = CHECKS) -> list[CheckResult]:
    """The results of every check that the modes of the case allow."""
    with np.errstate(all="ignore"), warnings_here("ignore", RuntimeWarning):
        # Infinite derivatives and empty means come with NumPy's own warning, which is no mistake of the rule.
        _ = case.expected  # a function that raises is an error of the caller, not of the rule
        return [result for check in suitable(tuple(checks), case.modes, case.order) for result in check.run(case)]


def report_on_scalar(f: Any, z: Any, modes: tuple[str, ...], options: Mapping[str, Any]) -> Report:
    """What the checks find about the rules of a function of one number, in every direction there is."""
    _require_scalar(f, z)
    skip, options = options.get("skip"), {name: value for name, value in options.items() if name != "skip"}
    case = Case(f, (z,), modes=modes, **options)
    results: list[CheckResult] = []
    if "frule" in modes:
        for count, dz in enumerate(_units(z)):
            one = Case(f, (with_tangent(z, type(z)(dz)),), modes=("frule",), **options)
            results += _labelled(run_checks(one, DERIVATIVE_CHECKS if count else CHECKS), f"dz = {dz}")
        if np.iscomplexobj(z):
            results += run_checks(case, SCALAR_CHECKS[:1])
    if "rrule" in modes:
        for count, ybar in enumerate(_units(case.expected)):
            one = Case(f, (z,), modes=("rrule",), **{**options, "output_tangent": ybar})
            results += _labelled(run_checks(one, DERIVATIVE_CHECKS if count else CHECKS), f"ybar = {ybar}")
        if np.iscomplexobj(case.expected):
            results += run_checks(case, SCALAR_CHECKS[1:])
    if set(modes) == set(MODES):
        results += run_checks(case, [check for check in CHECKS if len(check.modes) == 2])
    results += run_made_up_points(case, partial(run_checks, checks=POINT_CHECKS), skip, results)
    return Report(name_of(case.function), case.call, tuple(results))


def _require_scalar(f: Any, z: Any) -> None:
    if isinstance(z, (float, complex, np.inexact)):
        return
    if isinstance(z, (bool, int, np.integer, np.bool_)):
        raise TypeError(
            f"test_scalar({name_of(f)}, {z!r}): {z!r} has no derivative, integers and booleans being constants; "
            f"write {float(z)!r}"
        )
    raise TypeError(
        f"test_scalar({name_of(f)}, ...): expected a real or complex number, not a {type(z).__name__}; "
        "for arrays and containers there is test_rule"
    )


def _units(x: Any) -> list[Any]:
    """The tangents that span a number's tangent space, or one random tangent of anything else."""
    if not isinstance(x, (float, complex, np.inexact)):
        return [None]
    kind: Any = type(x)
    return [kind(unit) for unit in ((1, 1j) if np.iscomplexobj(x) else (1,))]


def _labelled(results: list[CheckResult], label: str) -> list[CheckResult]:
    return [dataclasses.replace(r, message=f"{r.message} ({label})") if r.message else r for r in results]


def settle(report: Report, inconclusive: Inconclusive = "raise") -> Report:
    """Raise what a report says, or return it.

    Raises
    ------
    RuleTestError, InconclusiveError
        See `test_rule`.
    """
    __tracebackhide__ = True
    if inconclusive not in ("raise", "warn"):
        raise ValueError(f"inconclusive={inconclusive!r}: write 'raise' or 'warn'")
    if report.verdict == "fail":
        raise RuleTestError(report)
    if report.verdict == "inconclusive":
        if inconclusive == "raise":
            raise InconclusiveError(report)
        warnings.warn(str(report), InconclusiveWarning, stacklevel=3)
    return report
