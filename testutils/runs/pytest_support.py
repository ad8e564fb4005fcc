"""What the pytest fixture ``rule_tester`` gives to a test."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..reports.names import name_of
from ..reports.report import Report
from ..testers import check_rule, test_frule, test_rrule, test_rule, test_scalar
from .properties import has_strategies, run_property

if TYPE_CHECKING:
    from ..checking import Inconclusive


class RuleTester:
    """The testers with a seed that differs from test to test and is the same in every run.

    Where an argument or a value of ``fkwargs`` is a hypothesis strategy (see `rulescore.testing.strategies`), the rules
    are tested on many drawn inputs, 50 or ``max_examples``, the same ones in every run of the same code. A wrong rule
    is shown with the smallest arguments found for which it is wrong. Where more than a fifth of the inputs, or
    ``max_inconclusive``, is inconclusive, the test fails too. A strategy that draws `rulescore.testing.sample` stands
    for the whole call, so that arguments can depend on each other::

        @st.composite
        def sums(draw):
            x = draw(strategies.arrays())
            return sample(x, axis=draw(strategies.axes(x.ndim)))

        def test_sum(rule_tester):
            rule_tester(np.sum, sums())

    In a test that draws values itself, with ``@given``, give it the values. Hypothesis then complains that the fixture
    is made once for all examples; that is right here, since no example changes it, so either suppress that in this
    test, with ``@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)``, or call
    `test_rule`, which needs no fixture.

    Parameters
    ----------
    *seed : int
        What the random tangents of this test are drawn from.
    inconclusive : {"raise", "warn"}
        What an inconclusive verdict does where a test does not say.

    Attributes
    ----------
    rng : numpy.random.Generator
        For the test's own random inputs.
    """

    def __init__(self, *seed: int, inconclusive: Inconclusive = "raise") -> None:
        self._seed, self._inconclusive = seed, inconclusive
        self.rng = np.random.default_rng(seed)

    def __call__(self, f: Any, *args: Any, **options: Any) -> Any:
        """Test both rules of ``f``, as `test_rule`; returns a `Report`, of strategies a `PropertyReport`."""
        __tracebackhide__ = True
        return self._test(test_rule, f, args, options)

    def frule(self, f: Any, *args: Any, **options: Any) -> Any:
        """Test the forward rule, as `test_frule`."""
        __tracebackhide__ = True
        return self._test(test_frule, f, args, options)

    def rrule(self, f: Any, *args: Any, **options: Any) -> Any:
        """Test the reverse rule, as `test_rrule`."""
        __tracebackhide__ = True
        return self._test(test_rrule, f, args, options)

    def scalar(self, f: Any, z: Any, **options: Any) -> Any:
        """Test the rules of a function of one number, as `test_scalar`."""
        __tracebackhide__ = True
        return self._test(test_scalar, f, (z,), options)

    def check(self, f: Any, *args: Any, **options: Any) -> Report:
        """Check both rules and return the report without raising, as `check_rule`."""
        if has_strategies(args, options.get("fkwargs")):
            raise TypeError(
                f"rule_tester.check({name_of(f)}, ...): strategies were given, and check() reports on one input: write "
                f"rule_tester({name_of(f)}, ...) to test many, or draw with @given and check the values"
            )
        _reject_options_of_properties(options)
        return check_rule(f, *args, **self._seeded(options))

    def _test(self, tester: Callable[..., Report], f: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        __tracebackhide__ = True
        if not has_strategies(args, options.get("fkwargs")):
            _reject_options_of_properties(options)
            return tester(f, *args, **{"inconclusive": self._inconclusive, **self._seeded(options)})
        if isinstance(options.get("rng"), np.random.Generator):
            raise TypeError(
                "rng= with strategies: each example has to be tested in the same way whenever it comes again, which a "
                "generator in use is not; give a number"
            )
        return run_property(tester, f, args, seed=self._seed_of_strategies(), **{"rng": self._seed, **options})

    def _seeded(self, options: dict[str, Any]) -> dict[str, Any]:
        return {"rng": np.random.default_rng(self._seed), **options}

    def _seed_of_strategies(self) -> int:
        return int(np.random.SeedSequence(self._seed).generate_state(1)[0])


def _reject_options_of_properties(options: dict[str, Any]) -> None:
    for name in ("max_examples", "max_inconclusive"):
        if name in options:
            raise TypeError(
                f"{name}={options[name]}: that counts drawn inputs, and no argument is a strategy; give one of "
                f"rulescore.testing.strategies, or leave {name}= out"
            )
