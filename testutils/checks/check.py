"""What a check is, and how a list of them is run on a case."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property

from ..cases.case import Case
from ..cases.rule_calls import NotReachedError, RuleRaisedError
from ..reports.results import CheckResult
from .approximations import tolerance_that_helps
from .findings import Finding

__all__ = ["Check", "Finding", "check", "suitable"]


@dataclass(frozen=True, eq=False)
class Check:
    """One question about one rule: a name, the modes it needs, and a function from a case to findings."""

    name: str
    modes: tuple[str, ...]
    find: Callable[[Case], Iterable[Finding]]
    order: int = 1
    """1, or 2 for checks that run when second derivatives are asked for."""
    takes_rtol: bool = False
    """Whether a tolerance that is given decides about it."""

    @cached_property
    def mode(self) -> str:
        """The modes in words."""
        return " and ".join(self.modes)

    @cached_property
    def passed(self) -> CheckResult:
        """The result where nothing was found, which is the same for every case."""
        return CheckResult(self.name, "pass", mode=self.mode)

    def run(self, case: Case) -> Iterator[CheckResult]:
        """The results of the check: one per finding, or a pass."""
        try:
            findings = list(self.find(case))
        except NotReachedError:
            yield CheckResult(self.name, "not run", mode=self.mode)
            return
        except RuleRaisedError as error:
            findings = [Finding(str(error))]
        else:
            findings = [replace(found, message=case.in_own_words(found.message, self.modes)) for found in findings]
        if not findings:
            yield self.passed
            return
        concerns = any(found.verdict in ("fail", "inconclusive") for found in findings)
        places = case.places(self.modes) if concerns else ()
        rtol = tolerance_that_helps(self.find, case, findings) if concerns and self.takes_rtol else None
        for found in findings:
            yield CheckResult(
                self.name,
                found.verdict,
                found.message,
                self.mode,
                found.argument,
                found.details,
                found.hints,
                found.curves,
                places if found.verdict in ("fail", "inconclusive") else (),
                rtol if found.verdict == "fail" else None,
            )


@cache
def suitable(checks: tuple[Check, ...], modes: tuple[str, ...], order: int) -> tuple[Check, ...]:
    """Those of some checks that the modes and the order of a case ask for."""
    return tuple([check for check in checks if set(check.modes) <= set(modes) and check.order <= order])


def check(
    name: str, *modes: str, order: int = 1, takes_rtol: bool = False
) -> Callable[[Callable[[Case], Iterable[Finding]]], Check]:
    """Make a `Check` of a function from a case to findings, for the modes that it needs."""

    def decorate(find: Callable[[Case], Iterable[Finding]]) -> Check:
        return Check(name, modes, find, order, takes_rtol)

    return decorate
