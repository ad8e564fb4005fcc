"""The pytest plugin: the fixture ``rule_tester``, and ``pytest --rules TARGET,...``, which tests registered rules.

It lives outside ``testutils`` and imports nothing of ours before it is used, so that it costs other people's test runs
nothing and does not mind their own modules named ``testutils`` or ``rules``.
"""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Iterator
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rulescore", "derivative rules")
    group.addoption(
        "--rules",
        action="append",
        default=[],
        metavar="TARGET[,TARGET...]",
        help="test the derivative rules of these modules, files, folders or functions, named as for `rulescore check`, "
        "one test for each sample input: --rules numpy,mypkg.rules,my_rules.py,other.py:f",
    )
    group.addoption(
        "--rules-seed",
        type=int,
        default=0,
        metavar="N",
        help="seed of the random inputs and tangents of rule tests (default: 0)",
    )
    group.addoption(
        "--rules-thorough",
        action="store_true",
        help="test the rules on variants of every sample input too, as `rulescore check --thorough` does",
    )
    group.addoption(
        "--rules-strict",
        action="store_true",
        help="with --rules-thorough, fail too where a rule is wrong for what it does not claim to serve",
    )
    parser.addini(
        "rules_inconclusive",
        "what an inconclusive verdict about a rule does: raise (the default) or warn",
        default="raise",
    )


@pytest.hookimpl(tryfirst=True)  # before -k and -m choose among the items
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--rules-strict") and not config.getoption("--rules-thorough"):
        raise pytest.UsageError("--rules-strict is about the variants of a thorough check: write --rules-thorough too")
    names = [name.strip() for given in config.getoption("--rules") for name in given.split(",") if name.strip()]
    seen: set[int] = set()
    for name in dict.fromkeys(names):
        items.extend(session.genitems(RuleModule.from_parent(session, name=name, nodeid=name, names=names, seen=seen)))


@pytest.fixture
def rule_tester(request: pytest.FixtureRequest) -> Any:
    """The testers of ``testutils``, seeded by the test's name: ``rule_tester(f, *args)`` tests both rules of ``f``.

    ``rule_tester.frule``, ``.rrule``, ``.scalar`` and ``.check`` are `test_frule`, `test_rrule`, `test_scalar` and
    `check_rule`; all take the keywords of those. In the place of arguments they also take hypothesis strategies, as
    those of `testutils.strategies`, and then test the rule on many drawn inputs.
    """
    testing = _imported("testutils.runs.pytest_support")
    seed = zlib.crc32(request.node.nodeid.encode()), request.config.getoption("--rules-seed")
    return testing.RuleTester(*seed, inconclusive=_inconclusive(request.config))


class RuleModule(pytest.Collector):
    """The rules of one module, file, folder or function.

    Parameters
    ----------
    names : list of str
        All that were asked for: sample inputs of one may be for the rules of another.
    seen : set of int
        The identities of the functions that others have tests for already.
    """

    def __init__(self, *, names: list[str], seen: set[int], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.names, self.seen = names, seen

    def collect(self) -> Iterator[pytest.Item]:
        running = _imported("testutils.runs.running")
        running.see_project()
        running.load(self.names)
        try:
            targets = running.collect_targets([self.name], seed=self.config.getoption("--rules-seed"))
        except running.TargetError as error:
            raise self.CollectError(f"--rules {self.name}: {error}") from None
        for target in targets:
            if id(target.function) in self.seen:
                continue
            self.seen.add(id(target.function))
            if not target.samples:
                yield RuleItem.from_parent(
                    self, name=f"{target.short_name}[no sample inputs]", target=target, sample=None
                )
            for sample in target.samples:
                yield RuleItem.from_parent(self, name=f"{target.short_name}[{sample.id}]", target=target, sample=sample)


class RuleItem(pytest.Item):
    """The rules of one function, tested on one of its sample inputs."""

    def __init__(self, *, target: Any, sample: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.target = target
        self.sample = sample

    def runtest(self) -> None:
        thorough, strict = (self.config.getoption(f"--rules-{name}") for name in ("thorough", "strict"))
        report = self.target.test(self.sample, _inconclusive(self.config), thorough, strict)
        for result in report.not_claimed:  # for JUnit's file, and for -rP
            self.user_properties.append(("not claimed", result.message))
            self.add_report_section("call", "rulescore", f"{result.title}: {result.message}\n")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        # The report says all there is to say; a traceback through our own code would only hide it.
        if isinstance(excinfo.value, AssertionError) and hasattr(excinfo.value, "report"):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        return self.target.file, max(self.target.line - 1, 0), self.name


def _inconclusive(config: pytest.Config) -> Any:
    chosen = config.getini("rules_inconclusive")
    if chosen not in ("raise", "warn"):
        raise pytest.UsageError(f"rules_inconclusive = {chosen}: write raise or warn")
    return chosen


def _imported(name: str) -> Any:
    """A module of ours, whoever else has one of its name."""
    return importlib.import_module("rulescore.shipped").import_shipped(name)
