"""The pytest plugin: the fixture ``rule_tester``, and ``pytest --rules MODULE,...``, which tests registered rules.

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
        metavar="MODULE[,MODULE...]",
        help="test the derivative rules of these modules, one test for each sample input: --rules numpy,mypkg.rules",
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


@pytest.hookimpl(tryfirst=True)  # before -k and -m choose among the items
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    names = [name.strip() for given in config.getoption("--rules") for name in given.split(",") if name.strip()]
    for name in dict.fromkeys(names):
        items.extend(session.genitems(RuleModule.from_parent(session, name=name, nodeid=name)))


@pytest.fixture
def rule_tester(request: pytest.FixtureRequest) -> Any:
    """The testers of ``testutils``, seeded by the test's name: ``rule_tester(f, *args)`` tests both rules of ``f``.

    ``rule_tester.frule``, ``.rrule``, ``.scalar`` and ``.check`` are `test_frule`, `test_rrule`, `test_scalar` and
    `check_rule`; all take the keywords of those. In the place of arguments they also take hypothesis strategies, as
    those of `testutils.strategies`, and then test the rule on many drawn inputs.
    """
    testing = _imported("testutils.runs.pytest_support")
    return testing.RuleTester(zlib.crc32(request.node.nodeid.encode()), request.config.getoption("--rules-seed"))


class RuleModule(pytest.Collector):
    """The rules of one module."""

    def collect(self) -> Iterator[pytest.Item]:
        running = _imported("testutils.runs.running")
        try:
            targets = running.collect_targets([self.name], seed=self.config.getoption("--rules-seed"))
        except running.TargetError as error:
            raise self.CollectError(f"--rules {self.name}: {error}") from None
        for target in targets:
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
        self.target.test(self.sample, thorough=self.config.getoption("--rules-thorough"))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        # The report says all there is to say; a traceback through our own code would only hide it.
        if isinstance(excinfo.value, AssertionError) and hasattr(excinfo.value, "report"):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        return self.target.file, max(self.target.line - 1, 0), self.name


def _imported(name: str) -> Any:
    """A module of ours, whoever else has one of its name."""
    return importlib.import_module("rulescore.shipped").import_shipped(name)
