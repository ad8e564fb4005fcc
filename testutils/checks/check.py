"""What a check is, and how a list of them is run on a case."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from ..cases.case import Case
from ..cases.rule_calls import NotReachedError, RuleRaisedError
from ..reports.results import CheckResult
from .approximations import tolerance_that_helps
from .findings import Finding

__all__ = ["Check", "Finding", "check"]


@dataclass(frozen=True, slots=True)
class Check:
    """One question about one rule: a name, the modes it needs, and a function from a case to findings."""

    name: str
    modes: tuple[str, ...]
    find: Callable[[Case], Iterable[Finding]]
    order: int = 1
    """1, or 2 for checks that run when second derivatives are asked for."""
    takes_rtol: bool = False
    """Whether a tolerance that is given decides about it."""

    def suits(self, case: Case) -> bool:
        """Whether the modes and the order of the case ask for the check."""
        return set(self.modes) <= set(case.modes) and self.order <= case.order

    def run(self, case: Case) -> Iterator[CheckResult]:
        """The results of the check: one per finding, or a pass."""
        mode = " and ".join(self.modes)
        try:
            findings = list(self.find(case))
        except NotReachedError:
            yield CheckResult(self.name, "not run", mode=mode)
            return
        except RuleRaisedError as error:
            findings = [Finding(str(error))]
        else:
            findings = [replace(found, message=case.in_own_words(found.message, self.modes)) for found in findings]
        concerns = any(found.verdict in ("fail", "inconclusive") for found in findings)
        places = case.places(self.modes) if concerns else ()
        rtol = tolerance_that_helps(self.find, case, findings) if concerns and self.takes_rtol else None
        for found in findings:
            yield CheckResult(
                self.name,
                found.verdict,
                found.message,
                mode,
                found.argument,
                found.details,
                found.hints,
                found.curves,
                places if found.verdict in ("fail", "inconclusive") else (),
                rtol if found.verdict == "fail" else None,
            )
        if not findings:
            yield CheckResult(self.name, "pass", mode=mode)


def check(
    name: str, *modes: str, order: int = 1, takes_rtol: bool = False
) -> Callable[[Callable[[Case], Iterable[Finding]]], Check]:
    """Make a `Check` of a function from a case to findings, for the modes that it needs."""

    def decorate(find: Callable[[Case], Iterable[Finding]]) -> Check:
        return Check(name, modes, find, order, takes_rtol)

    return decorate
