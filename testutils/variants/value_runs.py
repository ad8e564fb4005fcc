"""Checking rules on arguments of other dtypes, magnitudes, signs and axes, where function and rule take them."""

from __future__ import annotations

import dataclasses
import sys
import time
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np

from ..cases.arguments import SampleError
from ..cases.case import Case
from ..cases.precision import ROUNDING
from ..cases.rule_calls import RuleRaisedError, force, is_pair
from ..cases.rule_places import PlacedRule
from ..checks.points import agrees_at_a_glance
from ..checks.questions import TangentComparison
from ..comparison.spaces import value_problem
from ..evidence.vectorisation import entries_of, layout_of, tangent_to_vector, vector_to_tangent
from ..evidence.warnings_here import warnings_here
from ..reports.names import option_of
from ..reports.results import CheckResult
from .catalogue import (
    CLAIMED,
    FURTHER_POINTS,
    MADE_UP_POINTS,
    VALUE_VARIANTS,
    checked_skip,
    result_name,
    skipped_results,
)
from .claims import claims_of, not_claimed
from .values import Altered, altered_arguments, shortened, small_with_zeros_and_equal_entries

_POINTS = (*MADE_UP_POINTS, *FURTHER_POINTS)

ONCE = ("0-d", "float32", "float16", *_POINTS)
"""Variants in which an argument need not change alone when it has changed together with others."""

AT_ONCE = ("smaller", "zero entry", "equal entries")
"""Points that are one where nothing is to be said of it; each by itself tells what is wrong there."""

TOLD_APART = ("complex", "Fortran order")
"""Variants that say something only where the function sees the difference."""

WELL_CONDITIONED = 1e-3
"""How far, relatively, an output in single precision may be from that in double precision to say something."""

MOST_TIMES = 100
"""How many times as many entries an output may have at a point that nobody has asked for as at the given one."""

TOO_SLOW, NOTICED = 5, 0.05
"""How many times as long function and rules may take there, and from how many seconds on that matters."""

Checking = Callable[[Case], Iterable[CheckResult]]
"""Runs the checks on a case."""

_LIBRARIES = ("numpy", "scipy", "rulescore")


def run_made_up_points(
    case: Case,
    check: Checking,
    skip: Mapping[str, str] | None = None,
    known: Iterable[CheckResult] = (),
    points: Collection[str] = MADE_UP_POINTS,
) -> list[CheckResult]:
    """Check the derivative of a case at a few points that nobody writes down; see `run_value_variants`.

    Modes are left out in which the derivative of the case itself is undecided: that of other points would be too. Of
    arguments with very many entries, with fewer of them, if function and rules serve that. Where a method or a
    tolerance was given, none is visited: they are about the point they were given for.
    """
    options = {"fdm": case.fdm, "rtol": case.given_rtol, "atol": case.given_atol}
    given = [name for name, value in options.items() if value is not None]
    if given:
        return [
            CheckResult(result_name(name), "not run", f"left out: {given[0]}= is about one point") for name in points
        ]
    skip = checked_skip(skip)
    smaller = None if skip.keys() >= set(points) else with_fewer_entries(case)
    visited = case if smaller is None else smaller
    return _run(visited, check, points, skip, _modes_without(case, known, "fail", "inconclusive"), frozenset())


def _modes_without(case: Case, known: Iterable[CheckResult], *verdicts: str) -> tuple[str, ...]:
    spoilt = {result.mode for result in known if result.verdict in verdicts}
    return tuple(mode for mode in case.modes if mode not in spoilt)


def with_fewer_entries(case: Case) -> Case | None:
    """The same call with shorter axes, where one argument has very many entries and function and rules serve that."""
    if not case.may_be_shortened:
        return None
    with np.errstate(all="ignore"), warnings_here("ignore", Warning):
        for altered in shortened(case):
            with suppress(SampleError):
                small = _case_of(case, altered, case.rng)
                fits = small is not None and _keeps_given_cotangent(case, small)
                if small is not None and fits and all(_is_served(small, mode, True) for mode in case.modes):
                    return small
    return None


def run_value_variants(
    case: Case,
    check: Checking,
    skip: Mapping[str, str] | None = None,
    known: Iterable[CheckResult] = (),
    strict: bool | Collection[str] = False,
) -> list[CheckResult]:
    """Check the rules of a case on variants of its arguments that change numbers, shapes or dtypes.

    A variant does not apply where the function itself raises, warns of invalid numbers or returns something that is
    not finite, and where there is no rule: it answers None, or says by raising that it does not serve such arguments.
    A rule need not serve complex numbers, but where it does, and claims to, it has to be right.

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
    strict : bool or collection of str
        Whether the rules claim every kind of `CLAIMED`, or which; see `testutils.variants.claims`.

    Returns
    -------
    list of CheckResult
        The failures of each variant that has any, called ``"variant: complex"`` and so on, or ``"not claimed"`` in
        their place; a pass for each other one that applies; ``"refused"`` where the function does not take it;
        ``"not run"`` with the reason for each that is left out. What finite differences cannot decide on a variant is
        not reported, and where there is no derivative at another point, a failure is a note.
    """
    names = [*VALUE_VARIANTS, "Fortran order"]
    return _run(case, check, names, checked_skip(skip), _modes_without(case, known, "fail"), claims_of(case, strict))


def _run(
    case: Case,
    check: Checking,
    names: Iterable[str],
    skip: Mapping[str, str],
    modes: tuple[str, ...],
    claims: frozenset[str],
) -> list[CheckResult]:
    results = list(skipped_results(skip, dict.fromkeys(names, "")))
    seed = int(case.rng.integers(2**32))
    with np.errstate(all="ignore"), warnings_here("ignore", Warning):  # nobody has asked for these arguments
        at_once: Collection[str] = ()
        if modes and set(AT_ONCE) <= set(names) - skip.keys():
            variant = _ValueVariant(case, modes, AT_ONCE[0], True, np.random.default_rng(seed))
            if variant.passes_at_once(check):
                at_once = AT_ONCE
        for number, name in enumerate(names):
            if name in at_once:
                results.append(CheckResult(result_name(name), "pass", mode=" and ".join(modes)))
                continue
            # Where the other sign serves at a larger magnitude, it is known well enough.
            is_known = name == "negated" and any(
                result.name == result_name("larger, negated") and result.verdict != "refused" for result in results
            )
            if modes and name not in skip and not is_known:
                is_claimed = name not in CLAIMED or name in claims
                variant = _ValueVariant(case, modes, name, is_claimed, np.random.default_rng([seed, number]))
                results += variant.results(check)
    return results


@dataclasses.dataclass(frozen=True)
class _ValueVariant:
    """One variant of a case, in those modes that are worth it."""

    case: Case
    modes: tuple[str, ...]
    name: str
    is_claimed: bool
    rng: np.random.Generator

    def passes_at_once(self, check: Checking) -> bool:
        """Whether all is well, with nothing to be said, where the arguments are changed in several ways at once."""
        for altered in small_with_zeros_and_equal_entries(self.case):
            with suppress(SampleError):
                variant = self._applicable(altered)
                return (
                    variant is not None
                    and not any(result.message or result.verdict == "fail" for result in check(variant))
                    and agrees_at_a_glance(variant)
                )
        return False

    def results(self, check: Checking) -> list[CheckResult]:
        """The failures on the first arguments that bring any, a pass where none do."""
        covered: frozenset[int] = frozenset()
        refusal = ""
        notes: list[CheckResult] = []
        if self.name == "thousandfold" and self._grows():
            return [CheckResult(result_name(self.name), "refused", "the output grows with the arguments")]
        for altered in altered_arguments(self.case, self.name, self.rng):
            if self.name in ONCE and altered.positions <= covered:
                continue
            start = time.process_time()
            try:
                variant = self._applicable(altered)
            except SampleError as error:
                refusal = refusal or str(error)
                continue
            seconds = time.process_time() - start
            if self.name in _POINTS and seconds > NOTICED and seconds > TOO_SLOW * self._seconds():
                refusal = refusal or f"with {altered.words} it takes {seconds:.1g} s"
                break
            if variant is None:
                continue
            covered |= altered.positions
            found = list(check(variant))
            failures = [result for result in found if result.verdict == "fail"]
            if failures and self.name in _POINTS and not _is_smooth(variant):
                notes = notes or [
                    self._note(f"there is no derivative; {failures[0].message}", failures[0], variant, altered)
                ]
            elif failures := self._confirmed(failures, altered, check):
                return self._told(failures, variant, altered)
            elif self.name in _POINTS:
                notes = notes or [self._note(r.message, r, variant, altered) for r in found if r.message][:1]
        if covered:
            return notes or [CheckResult(result_name(self.name), "pass", mode=" and ".join(self.modes))]
        return [CheckResult(result_name(self.name), "refused", refusal)] if refusal else []

    def _seconds(self) -> float:
        """How long function and rules take for one call each at the given point."""
        start = time.process_time()
        again = _case_of(self.case, Altered(self.case.args, self.case.kwargs, frozenset(), ""), self.rng)
        if again is not None:
            for mode in self.modes:
                _is_served(again, mode, True)
        return time.process_time() - start

    def _grows(self) -> bool:
        """Whether larger arguments make an output of more entries, as a zoom or a range does: of too many, soon."""
        for altered in altered_arguments(self.case, "larger", self.rng):
            with suppress(SampleError):
                variant = _case_of(self.case, altered, self.rng)
                if variant is not None and _size_of(variant) > _size_of(self.case):
                    return True
        return False

    def _confirmed(self, failures: list[CheckResult], altered: Altered, check: Checking) -> list[CheckResult]:
        """The failures that are found again with other tangents: a bonus must not add false alarms."""
        variant = self._applicable(altered) if failures else None
        if variant is None:
            return []
        again = {(result.mode, result.name) for result in check(variant) if result.verdict == "fail"}
        return [result for result in failures if (result.mode, result.name) in again]

    def _told(self, failures: list[CheckResult], variant: Case, altered: Altered) -> list[CheckResult]:
        renamed = [self._renamed(result, variant, altered) for result in failures]
        if self.is_claimed:
            return renamed
        first, told = renamed[0], not_claimed(self.name, self.case.of_sample)
        return [dataclasses.replace(first, verdict="not claimed", message=f"{told}\n{first.message}")]

    def _renamed(self, result: CheckResult, variant: Case, altered: Altered) -> CheckResult:
        message = f"{variant.call}, with {altered.words}: {result.name}: {result.message}"
        if self.is_claimed:
            is_bare = any(isinstance(self.case.rules[mode], PlacedRule) for mode in self.modes)
            what = " or ".join(self.case.in_own_words(mode) for mode in self.modes) if is_bare else "rule"
            decline = "" if is_bare else "let it raise multipledispatch's MDNotImplementedError, or "
            skipped = option_of(f"skip={{{self.name!r}: reason}}", self.case.of_sample)
            message += f"\nWhere the {what} is not meant for this, {decline}leave the variant out: {skipped}"
        return dataclasses.replace(result, name=result_name(self.name), message=message)

    def _note(self, text: str, result: CheckResult, variant: Case, altered: Altered) -> CheckResult:
        values = ", ".join(_in_short(argument.value) for argument in variant.arguments if argument.position > 0)
        message = f"{variant.call}, with {altered.words}: {text}; this is at ({values})"
        return CheckResult(result_name(self.name), "pass", message, result.mode, result.argument, result.details)

    def _applicable(self, altered: Altered) -> Case | None:
        """The case of these arguments with the modes that have a rule; None where the variant does not apply.

        Raises
        ------
        SampleError
            Where the function itself does not take the arguments.
        """
        variant = _case_of(self.case, altered, self.rng)
        if variant is None or not _keeps_given_cotangent(self.case, variant):
            return None
        if (self.name in TOLD_APART and not _tells_apart(self.case, variant)) or (
            altered.same_output and _tells_apart(self.case, variant)
        ):
            return None
        if self.name == "empty" and not _writes_its_output(variant):
            return None
        size = _size_of(variant)
        if self.name in _POINTS and not size:
            return None
        if self.name in _POINTS and size > MOST_TIMES * _size_of(self.case):
            raise SampleError(f"{variant.call}: the output has {size} entries with {altered.words}")
        if self.name in _POINTS and _is_complex(variant) and not _is_complex(self.case):
            raise SampleError(f"{variant.call}: the function returns complex numbers with {altered.words}")
        if self.name in ("float32", "float16") and not _is_well_conditioned(self.case, variant):
            return None
        optional = altered.optional or not self.is_claimed
        variant.modes = tuple(mode for mode in self.modes if _is_served(variant, mode, optional))
        return variant if variant.modes else None


def _in_short(x: object) -> str:
    with np.printoptions(threshold=8, edgeitems=1, precision=4):
        return " ".join(str(x).split())


def _is_smooth(variant: Case) -> bool:
    """Whether the function has a derivative at these arguments, in every direction and well resolved."""
    arguments = variant.differentiable_arguments
    for index in (0, 1):
        probe = variant.directions.probe(arguments, index)
        # No rule answers so, which makes the probe find out all it can.
        nothing = np.zeros(probe.bracket.lower.shape)
        probe.answer(TangentComparison(variant, probe.direction, nothing))
        is_known = probe.bracket.resolved(float(np.linalg.norm(probe.direction)))
        if probe.is_special or probe.is_kink or not np.all(is_known):
            return False
    return True


def _case_of(case: Case, altered: Altered, rng: np.random.Generator) -> Case | None:
    """A case of these arguments, None where nothing of its output has a derivative.

    Raises
    ------
    SampleError
        Where the function does not take them, or not to a sound output.
    """
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
        max_evaluations=case.max_evaluations,
        max_bytes=case.max_bytes,
        of_sample=case.of_sample,
    )
    with np.errstate(all="warn", under="ignore"), warnings_here("error", RuntimeWarning):
        layout = layout_of(variant.expected)
    if case.given_rtol is not None:
        # What was allowed for in double precision is too little in single precision.
        variant.given_rtol = max(case.given_rtol, ROUNDING * variant.epsilon if variant.epsilon > 1e-8 else 0.0)
    if not any(True for _ in layout.leaves()):
        return None
    if not np.all(np.isfinite(entries_of(layout))):
        raise SampleError(f"{variant.call}: the function returns no finite numbers with {altered.words}")
    return variant


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


def _size_of(case: Case) -> int:
    return layout_of(case.expected).size


def _is_complex(case: Case) -> bool:
    return any(leaf.is_complex for leaf in layout_of(case.expected).leaves())


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
    """Whether a rule raised on purpose: `NotImplementedError`, a matrix is singular, or by a ``raise`` of its own."""
    cause = error.__cause__
    if cause is None or isinstance(cause, (NotImplementedError, np.linalg.LinAlgError)):
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
