"""What the pytest fixture ``rule_tester`` gives to a test."""

from __future__ import annotations

from typing import Any

import numpy as np

from testutils.report import Report
from testutils.testers import check_rule, test_frule, test_rrule, test_rule, test_scalar


class RuleTester:
    """The testers with a seed that differs from test to test and is the same in every run.

    Parameters
    ----------
    *seed : int
        What the random tangents of this test are drawn from.

    Attributes
    ----------
    rng : numpy.random.Generator
        For the test's own random inputs.
    """

    def __init__(self, *seed: int) -> None:
        self._seed = seed
        self.rng = np.random.default_rng(seed)

    def __call__(self, f: Any, *args: Any, **options: Any) -> Report:
        """Test both rules of ``f``, as `test_rule`."""
        __tracebackhide__ = True
        return test_rule(f, *args, **self._seeded(options))

    def frule(self, f: Any, *args: Any, **options: Any) -> Report:
        """Test the forward rule, as `test_frule`."""
        __tracebackhide__ = True
        return test_frule(f, *args, **self._seeded(options))

    def rrule(self, f: Any, *args: Any, **options: Any) -> Report:
        """Test the reverse rule, as `test_rrule`."""
        __tracebackhide__ = True
        return test_rrule(f, *args, **self._seeded(options))

    def scalar(self, f: Any, z: Any, **options: Any) -> Report:
        """Test the rules of a function of one number, as `test_scalar`."""
        __tracebackhide__ = True
        return test_scalar(f, z, **self._seeded(options))

    def check(self, f: Any, *args: Any, **options: Any) -> Report:
        """Check both rules and return the report without raising, as `check_rule`."""
        return check_rule(f, *args, **self._seeded(options))

    def _seeded(self, options: dict[str, Any]) -> dict[str, Any]:
        return {"rng": np.random.default_rng(self._seed), **options}
