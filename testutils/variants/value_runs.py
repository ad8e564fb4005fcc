"""Checking rules on arguments of other dtypes, magnitudes, signs and axes, where function and rule take them."""

from __future__ import annotations

import dataclasses
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np

from ..cases.arguments import SampleError
from ..cases.case import Case
from ..cases.precision import ROUNDING
from ..cases.rule_calls import RuleRaisedError, force, is_pair
from ..comparison.spaces import value_problem
from ..evidence.vectorisation import entries_of, layout_of, tangent_to_vector, vector_to_tangent
from ..evidence.warnings_here import warnings_here
from ..reports.results import CheckResult
from .catalogue import VALUE_VARIANTS, checked_skip, result_name, skipped_results
from .values import Altered, altered_arguments

ONCE = ("0-d", "float32", "larger", "smaller", "negated")
"""Variants in which an argument need not change alone when it has changed together with others."""

TOLD_APART = ("complex", "Fortran order")
"""Variants that say something only where the function sees the difference."""

WELL_CONDITIONED = 1e-3
"""How far, relatively, an output in single precision may be from that in double precision to say something."""

_LIBRARIES = ("numpy", "scipy", "rulescore")


def run_value_variants(
    case: Case,
    check: Callable[[Case], Iterable[CheckResult]],
    skip: Mapping[str, str] | None = None,
    known: Iterable[CheckResult] = (),
) -> list[CheckResult]:
    """Check the rules of a case on variants of its arguments that change numbers, shapes or dtypes.

    A variant does not apply, and has no result, where the function itself raises, warns of invalid numbers or returns
    something that is not finite, and where there is no rule: it answers None, or says by raising that it does not
    serve such arguments. A rule need not serve complex numbers, but where it does it has to be right.

    Parameters
    ----------
    case : Case
    check : callable
        Runs the checks on another case: `run_checks`.
    skip : mapping of str to str, optional
        Variants to be left out, with the reasons; see `VARIANTS`.
    known : iterable of CheckResult
        What the checks found on the case itself. A mode in which it failed is left out, since its variants would fail
        for the same reason.

    Returns
    -------
    list of CheckResult
        The failures of each variant that has any, called ``"variant: complex"`` and so on; a pass for each other one
        that applies; ``"not run"`` with the reason for each that is left out. What finite differences cannot decide on
        a variant is not reported.
    """
    skip = checked_skip(skip)
    failed = {result.mode for result in known if result.verdict == "fail"}
    modes = tuple(mode for mode in case.modes if mode not in failed)
    results = list(skipped_results(skip, VALUE_VARIANTS))
    seed = int(case.rng.integers(2**32))
    with np.errstate(all="ignore"), warnings_here("ignore", RuntimeWarning):
        for number, name in enumerate([*VALUE_VARIANTS, "Fortran order"]):
            if modes and name not in skip:
                results += _ValueVariant(case, modes, name, np.random.default_rng([seed, number])).results(check)
    return results


@dataclasses.dataclass(frozen=True)
class _ValueVariant:
    """One variant of a case, in those modes that are worth it."""

    case: Case
    modes: tuple[str, ...]
    name: str
    rng: np.random.Generator

    def results(self, check: Callable[[Case], Iterable[CheckResult]]) -> list[CheckResult]:
        """The failures on the first arguments that bring any, a pass where none do."""
        covered: frozenset[int] = frozenset()
        for altered in altered_arguments(self.case, self.name, self.rng):
            if self.name in ONCE and altered.positions <= covered:
                continue
            variant = self._applicable(altered)
            if variant is None:
                continue
            covered |= altered.positions
            failures = self._confirmed(_failures(variant, check), altered, check)
            if failures:
                return [self._renamed(result, variant, altered) for result in failures]
        return [CheckResult(result_name(self.name), "pass", mode=" and ".join(self.modes))] if covered else []

    def _confirmed(
        self, failures: list[CheckResult], altered: Altered, check: Callable[[Case], Iterable[CheckResult]]
    ) -> list[CheckResult]:
        """The failures that are found again with other tangents: a bonus must not add false alarms."""
        variant = self._applicable(altered) if failures else None
        if variant is None:
            return []
        again = {(result.mode, result.name) for result in _failures(variant, check)}
        return [result for result in failures if (result.mode, result.name) in again]

    def _renamed(self, result: CheckResult, variant: Case, altered: Altered) -> CheckResult:
        message = (
            f"{variant.call}, with {altered.words}: {result.name}: {result.message}\n"
            "Where the rule is not meant for this, let it raise multipledispatch's MDNotImplementedError, or leave the "
            f"variant out: skip={{{self.name!r}: reason}}"
        )
        return dataclasses.replace(result, name=result_name(self.name), message=message)

    def _applicable(self, altered: Altered) -> Case | None:
        """The case of these arguments with the modes that have a rule; None where the variant does not apply."""
        variant = _case_of(self.case, altered, self.rng)
        if variant is None or not _keeps_given_cotangent(self.case, variant):
            return None
        if self.name in TOLD_APART and not _tells_apart(self.case, variant):
            return None
        if self.name == "empty" and not _writes_its_output(variant):
            return None
        if self.name == "float32" and not _is_well_conditioned(self.case, variant):
            return None
        variant.modes = tuple(mode for mode in self.modes if _is_served(variant, mode, altered.optional))
        return variant if variant.modes else None


def _failures(variant: Case, check: Callable[[Case], Iterable[CheckResult]]) -> list[CheckResult]:
    return [result for result in check(variant) if result.verdict == "fail"]


def _case_of(case: Case, altered: Altered, rng: np.random.Generator) -> Case | None:
    """A case of these arguments; None where the function does not take them, or not to a sound output."""
    try:
        variant = Case(
            case.function,
            altered.args,
            fkwargs=altered.kwargs,
            modes=case.modes,
            rrule_f=case.rules["rrule"],
            frule_f=case.rules["frule"],
            config=case.config,
            atol=case.given_atol,
            fdm=case.fdm,
            rng=rng,
        )
        with np.errstate(all="warn", under="ignore"), warnings_here("error", RuntimeWarning):
            layout = layout_of(variant.expected)
    except SampleError:
        return None
    if case.given_rtol is not None:
        # What was allowed for in double precision is too little in single precision.
        variant.given_rtol = max(case.given_rtol, ROUNDING * variant.epsilon if variant.epsilon > 1e-8 else 0.0)
    has_numbers = any(True for _ in layout.leaves())
    return variant if has_numbers and np.all(np.isfinite(entries_of(layout))) else None


def _is_well_conditioned(case: Case, variant: Case) -> bool:
    """Whether the output in single precision is about that in double precision."""
    return value_problem(case.expected, variant.expected, WELL_CONDITIONED) is None


def _writes_its_output(variant: Case) -> bool:
    """Whether an output that is not empty is a result, and not memory that nobody has written to.

    With nothing to read, a loop over the input may leave the output as it came from the allocator, which hands out
    again what was freed last; or it reads what lies beside an empty input, as NumPy's irfft does. Memory that held
    addresses looks like subnormal numbers.
    """
    function, args, kwargs = variant.copies()
    leaves = list(layout_of(variant.expected).leaves())
    entries = np.abs(entries_of(layout_of(variant.expected)))
    if np.any((entries > 0) & (entries < np.finfo(np.float64).tiny)):
        return False
    leftovers = [np.full(leaf.shape, np.nan, leaf.dtype) for _ in range(16) for leaf in leaves]
    del leftovers
    return value_problem(variant.expected, function(*args, **kwargs), 0.0) is None


def _keeps_given_cotangent(case: Case, variant: Case) -> bool:
    """Give the variant the cotangent that was given for the case; whether it fits."""
    if case.given_output_tangent is None:
        return True
    if layout_of(variant.expected).signature != layout_of(case.expected).signature:
        return False
    ybar = np.asarray(tangent_to_vector(case.expected, case.given_output_tangent))
    variant.given_output_tangent = variant.as_output_tangent(vector_to_tangent(variant.expected, ybar))
    return True


def _tells_apart(case: Case, variant: Case) -> bool:
    """Whether the function answers otherwise than on the plain arguments, and does not drop what was changed."""
    if layout_of(variant.expected).signature != layout_of(case.expected).signature:
        return True
    return value_problem(case.expected, variant.expected, case.precision.output_tolerance) is not None


def _is_served(variant: Case, mode: str, optional: bool) -> bool:
    """Whether there is a rule for these arguments, be it a wrong one."""
    try:
        if mode == "frule":
            return variant.forward.attempt[1] is not None
        result = variant.reverse.attempt[1]
        if is_pair(result) and callable(result[1]):
            cotangents = variant.reverse.pullback_attempt
            for cotangent in cotangents if isinstance(cotangents, tuple) else ():
                force(cotangent)
        return result is not None
    except RuleRaisedError as error:
        return not (optional or _is_refusal(error))


def _is_refusal(error: RuleRaisedError) -> bool:
    """Whether a rule raised on purpose: `NotImplementedError`, or by a ``raise`` of its own."""
    cause = error.__cause__
    if cause is None or isinstance(cause, NotImplementedError):
        return cause is not None
    frame = traceback.extract_tb(cause.__traceback__)[-1]
    return (frame.line or "").lstrip().startswith("raise ") and not any(
        folder in Path(frame.filename).parents for folder in _folders_of_libraries()
    )


def _folders_of_libraries() -> Iterator[Path]:
    """The folders of code that raises because it was misused."""
    yield Path(__file__).parents[1]
    for name in _LIBRARIES:
        with suppress(KeyError, TypeError):
            yield Path(sys.modules[name].__file__ or "").parent
