"""Every contest that a commit is compared in, by the name of its suite: what it calls, and how it has to be timed.

The workloads are those of ``test_ad.py``, ``test_rules.py``, ``test_lookup.py`` and ``test_backends.py``. This module
is imported by the workers of ``compare.py``, once beside the packages of each tree.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Call = Callable[[], Any]


@dataclass(frozen=True)
class Contest:
    """A call that can be made when it is its turn.

    Attributes
    ----------
    make : callable
        Returns what is timed.
    all_collected : bool
        Whether Python's garbage collector passes over everything meanwhile, as it does unless told otherwise.
    """

    make: Callable[[], Call]
    all_collected: bool = False


@dataclass
class Suite:
    """The contests of a suite by name, and by a part of their names why some cannot be had."""

    contests: dict[str, Contest] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)


def ad() -> Suite:
    """Value and gradient by `grad` and by variables, and products of Hessians with vectors."""
    from ad_systems import Ours, Variables
    from ad_workloads import HESSIANS, WORKLOADS

    suite = Suite()
    ours, variables = Ours(), Variables()
    for name, workload in WORKLOADS.items():
        suite.contests[name] = Contest(lambda w=workload: w.gradient(ours), workload.all_collected)
        if not workload.all_collected:
            suite.contests[f"{name}, {variables.name}"] = Contest(lambda w=workload: w.gradient(variables))
    for name, workload in HESSIANS.items():
        suite.contests[f"{name}, Hessian-vector product"] = Contest(lambda w=workload: w.hessian_product(ours))
    return suite


def rules() -> Suite:
    """Primal plus pullback of every rule of NumPy's."""
    import numpy as np
    from rule_calls import calls
    from rule_contests import by_rule, function_named

    return Suite(
        {
            name: Contest(lambda name=name, given=given: by_rule(function_named(np, name), given))
            for name, given in calls().items()
        }
    )


def lookup() -> Suite:
    """Reaching a rule that does nothing, in one call."""
    from lookup_contests import CONTESTS, TABLES

    def make(contest: str, table: str) -> Call:
        call, args = CONTESTS[contest]().calls(TABLES[table])["table"]
        return lambda: [call(*args) for _ in range(100)]

    return Suite(
        {
            f"{table}, {contest}, 100 times": Contest(lambda c=contest, t=table: make(c, t))
            for table in TABLES
            for contest in CONTESTS
        }
    )


def backends() -> Suite:
    """What of ours other systems call, not their own functions; and each rule itself, once."""
    from backend_contests import CASES, CONTESTANTS, RULE, contestants_of, is_ours

    suite = Suite()
    for system in CONTESTANTS:
        if importlib.util.find_spec(system) is None:
            suite.problems[system] = "it is not installed"
            continue
        for case in CASES:
            try:
                found = contestants_of(system, CASES[case])
            except Exception as error:  # an adapter that cannot be made is no reason to leave out the others
                suite.problems[f"{system}, {case}"] = described(error)
                continue
            for contestant, call in found.items():
                if is_ours(contestant):
                    name = f"{case}, {RULE}" if contestant == RULE else f"{system}, {case}, {contestant}"
                    suite.contests.setdefault(name, Contest(lambda c=call: c))
    return suite


SUITES: dict[str, Callable[[], Suite]] = {"ad": ad, "rules": rules, "lookup": lookup, "backends": backends}


def described(error: BaseException) -> str:
    lines = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:120]}"
