"""The property that rules are right on whatever is drawn: a tester run on many inputs by hypothesis, which shrinks the
inputs that it finds wrong.

Imports hypothesis only when there are strategies to run.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..evidence.vectorisation import layout_of
from ..reports.names import name_of
from ..reports.report import InconclusiveError, InconclusiveWarning, Report, RuleTestError, Verdict
from ..samples.random_tangents import PrimalWithTangent
from ..samples.sampling import Sample
from ..variants import MADE_UP_POINTS

MAX_EXAMPLES = 50
"""How many inputs are drawn unless told otherwise."""

MAX_INCONCLUSIVE = 0.2
"""The share of examples that finite differences may leave undecided unless told otherwise."""


@dataclass(frozen=True)
class PropertyReport:
    """What a tester found on many drawn inputs, none of which showed a mistake.

    Attributes
    ----------
    function_name : str
        The function, with its module.
    examples : int
        How many inputs were tested.
    inconclusive : tuple of Report
        The reports on those that finite differences could not decide.
    verdict : str
        ``"pass"``, or ``"inconclusive"`` where too many could not be decided.
    """

    function_name: str
    examples: int
    inconclusive: tuple[Report, ...]
    verdict: Verdict

    def __str__(self) -> str:
        undecided = f", {len(self.inconclusive)} of them inconclusive" if self.inconclusive else ""
        return f"{self.verdict}: {self.function_name} on {self.examples} drawn inputs{undecided}"


@dataclass(frozen=True)
class DrawnCall:
    """The arguments of one example, and the function and options of the tester where a sample brings its own."""

    args: tuple[Any, ...]
    fkwargs: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    function: Any = None

    @classmethod
    def of(cls, args: tuple[Any, ...], fkwargs: Mapping[str, Any]) -> DrawnCall:
        """The call of drawn arguments; a `Sample` stands for all of them."""
        if not any(isinstance(arg, Sample) for arg in (*args, *fkwargs.values())):
            return cls(args, fkwargs)
        if len(args) != 1 or fkwargs:
            raise TypeError(
                "a strategy drew rulescore.testing.sample(...) for one of several arguments; a sample stands for the "
                "whole call, keywords included: give that strategy alone"
            )
        sample = args[0]
        own = {name: getattr(sample, name) for name in ("rtol", "atol", "modes", "output_tangent")}
        options = {name: value for name, value in own.items() if value is not None}
        return cls(sample.args, sample.fkwargs, options, sample.function)

    @property
    def size(self) -> int:
        """How many numbers the arguments have."""
        return sum(layout_of(getattr(value, "primal", value)).size for value in (*self.args, *self.fkwargs.values()))

    def lines(self) -> Iterator[str]:
        """The arguments as one would write them, to the last digit."""
        with np.printoptions(floatmode="unique", threshold=200):
            for position, arg in enumerate(self.args):
                yield _indented(f"argument {position} = ", arg)
            for name, value in self.fkwargs.items():
                yield _indented(f"{name} = ", value)


def _indented(label: str, value: Any) -> str:
    text = repr(value).replace("\n", "\n" + " " * (len(label) + 4))
    return f"    {label}{text}{_memory_of(getattr(value, 'primal', value))}"


def _memory_of(x: Any) -> str:
    """How an array lies in memory, where that is not the ordinary way."""
    if not isinstance(x, np.ndarray):
        return ""
    unusual = [] if x.flags.c_contiguous else ["Fortran order" if x.flags.f_contiguous else f"strides {x.strides}"]
    unusual += [] if x.flags.writeable else ["read-only"]
    return f"  # {', '.join(unusual)}" if unusual else ""


def is_strategy(x: Any) -> bool:
    """Whether ``x`` is a hypothesis strategy. Nobody has one who has not imported hypothesis."""
    hypothesis = sys.modules.get("hypothesis.strategies")
    return hypothesis is not None and isinstance(x, hypothesis.SearchStrategy)


def has_strategies(args: tuple[Any, ...], fkwargs: Mapping[str, Any] | None) -> bool:
    """Whether an argument or keyword value is a strategy.

    Raises
    ------
    TypeError
        When one is hidden in a container, where it would be taken for a value.
    """
    values = [*args, *(fkwargs or {}).values()]
    for value in values:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else ()
        if isinstance(value, PrimalWithTangent):
            inner = (value.primal, value.tangent)
        if any(map(is_strategy, inner)):
            raise TypeError(
                f"a strategy was given inside a {type(value).__name__}: write a strategy for the whole, as "
                "hypothesis.strategies.tuples(...), .lists(...), .fixed_dictionaries(...), or "
                "rulescore.testing.strategies.with_tangents(...)"
            )
    return any(map(is_strategy, values))


def run_property(
    tester: Callable[..., Any],
    f: Any,
    args: tuple[Any, ...],
    *,
    seed: int,
    fkwargs: Mapping[str, Any] | None = None,
    max_examples: int = MAX_EXAMPLES,
    max_inconclusive: float = MAX_INCONCLUSIVE,
    inconclusive: str = "raise",
    **options: Any,
) -> PropertyReport:
    """Run a tester on drawn inputs.

    Parameters
    ----------
    tester : callable
        `test_rule` or one of its siblings.
    f : callable
        The function whose rules are tested.
    args : tuple
        Its arguments, or strategies for them. One that draws `rulescore.testing.sample` stands for the whole call.
    seed : int
        What hypothesis draws from. The same inputs come in every run of the same code, so that a test does not fail by
        chance, and nothing has to be remembered from one run to the next: no database of examples is kept. (Hypothesis
        tries numbers from the project's loaded modules too, so inputs may differ where other modules are loaded.)
    fkwargs : mapping, optional
        Keyword arguments, or strategies for them.
    max_examples : int
        How many inputs are drawn.
    max_inconclusive : float
        The share of them that may be inconclusive.
    inconclusive : {"raise", "warn"}
        What to do when more are.
    **options
        As for ``tester``.

    Returns
    -------
    PropertyReport

    Raises
    ------
    RuleTestError
        With the report on the smallest input found for which a rule is wrong; a note names its arguments.
    InconclusiveError
        When too many inputs are inconclusive; with the report on the smallest of them.
    """
    __tracebackhide__ = True
    if inconclusive not in ("raise", "warn"):
        raise ValueError(f"inconclusive={inconclusive!r}: write 'raise' or 'warn'")
    if not 0 <= max_inconclusive < 1:
        raise ValueError(f"max_inconclusive={max_inconclusive}: give a share of the examples, at least 0 and below 1")
    run = _Run(tester, f, options)
    error = run.on_drawn_calls(args, fkwargs or {}, seed, max_examples)
    if error is not None:
        raise error.with_traceback(None) from error.__cause__
    undecided = sorted(run.undecided, key=lambda pair: pair[0].size)
    too_many = len(undecided) > max_inconclusive * run.count
    if too_many:
        message = _inconclusive_note(undecided[0][0], len(undecided), run.count, max_inconclusive)
        if inconclusive == "raise":
            raise _noted(InconclusiveError(undecided[0][1]), message)
        warnings.warn(f"{undecided[0][1]}\n{message}", InconclusiveWarning, stacklevel=3)
    reports = tuple(report for _, report in undecided)
    return PropertyReport(name_of(f), run.count, reports, "inconclusive" if too_many else "pass")


class _Run:
    """A tester called with one drawn input after the other, and what came of it."""

    def __init__(self, tester: Callable[..., Any], f: Any, options: Mapping[str, Any]) -> None:
        self.tester, self.f, self.options = tester, f, dict(options)
        if not options.get("thorough", False):
            drawn = dict.fromkeys(MADE_UP_POINTS, "strategies draw points of their own")
            self.options["skip"] = {**drawn, **(options.get("skip") or {})}
        self.count = 0
        self.undecided: list[tuple[DrawnCall, Report]] = []
        self.failure: tuple[DrawnCall, Exception] | None = None
        """The last input that failed; hypothesis ends with the smallest."""

    def __call__(self, call: DrawnCall) -> None:
        if self.failure is None:
            self.count += 1
        function = self.f if call.function is None else call.function
        try:
            self.tester(function, *call.args, fkwargs=call.fkwargs, **{**call.options, **self.options})
        except InconclusiveError as error:
            self.undecided.append((call, error.report))
        except Exception as error:
            self.failure = call, error
            raise

    def on_drawn_calls(
        self, args: tuple[Any, ...], fkwargs: Mapping[str, Any], seed: int, max_examples: int
    ) -> Exception | None:
        """Run on what the strategies draw; the error of the smallest input that fails, with a note that shows it."""
        import hypothesis

        if hypothesis.currently_in_test_context():
            raise TypeError(
                f"rule_tester({name_of(self.f)}, ...): strategies were given inside a @given test, which draws "
                "values itself; give the values that it drew"
            )
        try:
            self._property(args, fkwargs, seed, max_examples)()
        except Exception as error:
            if self.failure is None:  # of the strategies: they raise, draw nothing, or filter too much
                if isinstance(error, (hypothesis.errors.Unsatisfiable, hypothesis.errors.FailedHealthCheck)):
                    error.add_note("Give rule_tester strategies that draw what is wanted in the place of filtering it.")
                raise
            call, found = self.failure
            note = _failure_note(call, self.count, max_examples, flaky=isinstance(error, hypothesis.errors.Flaky))
            return _noted(RuleTestError(found.report) if isinstance(found, RuleTestError) else found, note)
        return None

    def _property(
        self, args: tuple[Any, ...], fkwargs: Mapping[str, Any], seed: int, max_examples: int
    ) -> Callable[[], None]:
        """What hypothesis runs: each call that the strategies draw is tested."""
        import hypothesis
        from hypothesis import strategies as st

        arguments = st.tuples(*map(_as_strategy, args))
        keywords = st.fixed_dictionaries({name: _as_strategy(value) for name, value in fkwargs.items()})

        @hypothesis.seed(seed)
        @hypothesis.settings(
            max_examples=max_examples,
            deadline=None,
            database=None,
            print_blob=False,
            report_multiple_bugs=False,
            suppress_health_check=[hypothesis.HealthCheck.too_slow],
        )
        @hypothesis.given(st.builds(DrawnCall.of, arguments, keywords))
        def rules_are_right(call: DrawnCall) -> None:
            self(call)

        return rules_are_right


def _as_strategy(value: Any) -> Any:
    from hypothesis import strategies as st

    return value if is_strategy(value) else st.just(value)


def _failure_note(call: DrawnCall, count: int, max_examples: int, flaky: bool) -> str:
    lines = ["The smallest arguments found for which this happens:", *call.lines()]
    lines.append(f"(first seen in example {count} of at most {max_examples})")
    if flaky:
        lines.append(
            "The same arguments gave another result when they were tried again: the function or a rule is not "
            "deterministic."
        )
    return "\n".join(lines)


def _inconclusive_note(call: DrawnCall, undecided: int, count: int, share: float) -> str:
    lines = [
        f"{undecided} of {count} drawn inputs are inconclusive, more than the share of {share:g} that is allowed.",
        "The smallest of them:",
        *call.lines(),
        "Draw arguments on which finite differences work, away from kinks and the ends of the domain (away_from=, "
        "distinct=True, min_value=), or allow more with max_inconclusive=.",
    ]
    return "\n".join(lines)


def _noted(error: Exception, note: str) -> Exception:
    error.__notes__ = [note]  # in the place of hypothesis's own
    return error
