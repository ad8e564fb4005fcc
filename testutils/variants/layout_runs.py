"""Running rules on the same values in other memory, and with cotangents of other types: the outcome must not change.

All variants are run together, in two calls of each rule; only where those show a difference, each is run by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..cases.case import Case
from ..cases.rule_calls import NotReachedError, RuleRaisedError, force, is_pair, vector_of
from ..checks.questions import CotangentComparison, TangentComparison
from ..comparison.copies import deep_copy, written_to
from ..comparison.spaces import value_problem
from ..comparison.verdicts import ERROR_ESTIMATES, FAIL, differing, magnitude
from ..evidence.vectorisation import Vector, labels, tangent_to_vector
from ..evidence.warnings_here import warnings_here
from ..reports.names import description_of
from ..reports.numbers import told_apart
from ..reports.places import RulePlace
from ..reports.results import CheckResult
from .catalogue import LAYOUT_VARIANTS, checked_skip, result_name, skipped_results
from .layouts import (
    Form,
    arrays_with_forms,
    broadcast,
    constant,
    exists,
    has_strides,
    in_fortran_order,
    is_constant,
    is_not_in_fortran_order,
    of_other_types,
    read_only,
    relaid,
    strided,
    without_imaginary_part,
)

_FORMS: dict[str, tuple[Callable[[Any], bool], Form]] = {
    "Fortran order": (is_not_in_fortran_order, in_fortran_order),
    "strides": (has_strides, strided),
    "read-only": (exists, read_only),
}
BROADCAST, ANOTHER_TYPE, DETERMINISTIC = "tangents: broadcast", "tangents: another type", "deterministic"

TOGETHER = (
    ("Fortran order", "tangents: strides"),
    ("strides", "read-only", "tangents: Fortran order", "tangents: read-only", BROADCAST, ANOTHER_TYPE),
)
"""Which variants share a call. Writing to read-only memory raises; writing to other memory is seen afterwards."""

ALIKE = (("Fortran order", "tangents: Fortran order"), ("strides", "tangents: strides"))
"""Arguments and cotangents that lie in memory alike, for a thorough check."""


@dataclass(frozen=True)
class Difference:
    """How the outcome of a call differs from that of the plain call, and in what."""

    message: str
    argument: str | None = None
    in_memory: bool = False


def run_layout_variants(case: Case, skip: Mapping[str, str] | None = None, thorough: bool = False) -> list[CheckResult]:
    """Run the rules of a case on the same values in other memory, and with cotangents of other types.

    The outcome (output, cotangents, tangent) has to agree to rounding with that of the plain call. To rounding and not
    bitwise, since sums may go through memory in another order, and some BLAS libraries round by alignment.

    Parameters
    ----------
    case : Case
        Its other checks may have been run before; nothing is computed twice then.
    skip : mapping of str to str, optional
        Variants to be left out, with the reasons; see `VARIANTS`.
    thorough : bool
        Whether arguments and cotangents are in the same unusual memory, too.

    Returns
    -------
    list of CheckResult
        For each mode one for each variant that changes something here, called ``"variant: Fortran order"`` and so on;
        ``"not run"`` with the reason for each that is left out. Nothing for a rule without an outcome on the plain
        input, and nothing for a variant that the function itself does not take or answers otherwise.
    """
    skip, groups = checked_skip(skip), (*TOGETHER, *ALIKE) if thorough else TOGETHER
    results = list(skipped_results(skip, LAYOUT_VARIANTS))
    with np.errstate(all="ignore"), warnings_here("ignore", RuntimeWarning):
        for mode in case.modes:
            with suppress(NotReachedError):
                results += _results(ReverseRuns(case) if mode == "rrule" else ForwardRuns(case), skip, groups)
    return results


def _results(runs: Runs, skip: Collection[str], groups: Sequence[Sequence[str]]) -> list[CheckResult]:
    active = [name for name in runs.applicable if name not in skip]
    groups = [[name for name in group if name in active] for group in groups]
    if DETERMINISTIC not in skip:
        active.append(DETERMINISTIC)
    results: list[CheckResult] = []
    # Without arrays there is nothing to change, but a rule may still answer otherwise when it is called again.
    for group in [group for group in groups if group] or [[]] * (DETERMINISTIC not in skip):
        if runs.differences(group):
            results += runs.explained(group, skip)
            active = [name for name in active if name not in group]
            if any(result.name == result_name(DETERMINISTIC) for result in results):
                return results
    return results + [CheckResult(result_name(name), "pass", mode=runs.mode) for name in active]


class Runs:
    """Calls of one rule of a case in other layouts, compared with its plain call."""

    mode = ""
    tangents = ""
    """What is given to the rule or pullback, in words."""

    def __init__(self, case: Case) -> None:
        self.case = case

    @cached_property
    def applicable(self) -> list[str]:
        """The variants that change something.

        Raises
        ------
        NotReachedError
            When the plain call has no outcome to compare with.
        """
        arguments = list(arrays_with_forms((*self.case.args, self.case.kwargs)))
        names = [name for name, (differs, _) in _FORMS.items() if any(map(differs, arguments))]
        given = list(arrays_with_forms(self.given))
        names += [f"tangents: {name}" for name, (differs, _) in _FORMS.items() if any(map(differs, given))]
        return names + self.further_variants()

    @property
    def given(self) -> Any:
        """The cotangent, or the tangents, of the plain call."""
        raise NotImplementedError

    @property
    def plain_output(self) -> Any:
        """The rule's output of the plain call."""
        raise NotImplementedError

    def further_variants(self) -> list[str]:
        """The variants of the (co)tangent beside its memory that change something."""
        raise NotImplementedError

    def outcome_differences(self, names: Collection[str], patient: bool) -> Iterator[Difference]:
        """Call the rule in these variants, and compare."""
        raise NotImplementedError

    def differences(self, names: Collection[str], patient: bool = False) -> list[Difference]:
        """How the outcome differs when these variants are all in force; ``patient`` looks again before it says so."""
        found: list[Difference] = []
        try:
            for difference in self.outcome_differences(names, patient):
                found.append(difference)
        except RuleRaisedError as error:
            found.append(Difference(str(error)))
        return found

    def explained(self, names: Sequence[str], skip: Collection[str]) -> list[CheckResult]:
        """Which variant it is that makes a difference, found by running each by itself."""
        # No patience here: the same numbers in the same memory are rounded alike.
        plain = self.differences(())
        if plain:
            # What the plain call writes to other checks report.
            again = [difference for difference in plain if not difference.in_memory]
            return self._not_deterministic(again) if again and DETERMINISTIC not in skip else []
        results: list[CheckResult] = []
        accepted = [name for name in names if self._is_accepted((name,))]
        for name in accepted:
            results += self._failures(name, (name,))
        together = [name for name in accepted if name not in (BROADCAST, ANOTHER_TYPE)]
        if not results and len(together) > 1 and self._is_accepted(together):
            results += self._failures(together[0], together)
        failed = {result.name for result in results}
        passed = [name for name in accepted if result_name(name) not in failed]
        return results + [CheckResult(result_name(name), "pass", mode=self.mode) for name in passed]

    def _failures(self, name: str, names: Sequence[str]) -> list[CheckResult]:
        words = " and ".join(self._in_words(name) for name in names)
        return [
            CheckResult(
                result_name(name),
                "fail",
                f"with {words}, {found.message}",
                self.mode,
                found.argument,
                places=self.places,
            )
            for found in self.differences(names, patient=True)
        ]

    @property
    def places(self) -> tuple[RulePlace, ...]:
        """Where the rule is defined."""
        return self.case.places((self.mode,))

    def _in_words(self, name: str) -> str:
        return LAYOUT_VARIANTS[name].replace("a cotangent, or tangents,", self.tangents)

    def _not_deterministic(self, found: list[Difference]) -> list[CheckResult]:
        name = result_name(DETERMINISTIC)
        function, args, kwargs = self.case.copies()
        if (
            value_problem(self.case.expected, function(*args, **kwargs), self.case.precision.output_tolerance)
            is not None
        ):
            message = (
                "the function itself is random: called again with the same arguments, it returns something else, so "
                "that nothing can be said about its derivative; give it a seed"
            )
            return [CheckResult(name, "inconclusive", message, self.mode, places=self.places)]
        again = "called again with the same arguments"
        return [
            CheckResult(name, "fail", f"{again}, {d.message}", self.mode, d.argument, places=self.places) for d in found
        ]

    def _is_accepted(self, names: Collection[str]) -> bool:
        """Whether the function itself answers on such arguments, and as it does on the plain ones."""
        function, args, kwargs = self.inputs(names)
        try:
            output = function(*args, **kwargs)
        except Exception:  # whatever the function has against it, a rule may have too
            return False
        return value_problem(self.case.expected, output, self.case.precision.output_tolerance) is None

    def inputs(self, names: Collection[str]) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        """Fresh copies of function, arguments and keywords in the memory of these variants."""
        function, args, kwargs = self.case.copies()
        return function, _in_forms(args, names), _in_forms(kwargs, names)

    def given_in(self, names: Collection[str]) -> Any:
        """A fresh copy of the cotangent, or the tangents, in the memory of these variants."""
        return _in_forms(deep_copy(self.given), [name.removeprefix("tangents: ") for name in names if ":" in name])

    def written(self, inputs: tuple[Any, ...], given: Any, names: Collection[str]) -> Iterator[Difference]:
        """Whether the rule has written to what it was given."""
        if "read-only" not in names and written_to((self.case.function, self.case.args, self.case.kwargs), inputs):
            yield Difference(f"the {self.mode} writes to an argument; work on a copy", None, True)
        if "tangents: read-only" not in names and written_to(self.given, given):
            yield Difference(f"the {self.mode} writes to {self.tangents}; work on a copy", None, True)

    def output_difference(self, output: Any) -> Iterator[Difference]:
        """Whether the rule's output is not that of the plain call."""
        expected = self.plain_output
        if type(output) is np.ndarray and type(expected) is np.ndarray and np.array_equal(output, expected):
            return
        problem = value_problem(expected, output, self.case.precision.output_tolerance)
        if problem is not None:
            yield Difference(f"the output {problem}", "the output")


def _in_forms(x: Any, names: Collection[str]) -> Any:
    for name, (_, form) in _FORMS.items():
        if name in names:
            x = relaid(x, form)
    return x


def _apart(wanted: Vector, found: Vector, primal: Any, tolerance: Any, what: str) -> str | None:
    """How two vectors differ, in words."""
    wrong = np.flatnonzero(differing(found, wanted, tolerance))
    if not wrong.size:
        return None
    first = int(wrong[0])
    where = f"{labels(primal)[first]} being " if wanted.size > 1 else ""
    here, plain = told_apart(found[first], wanted[first])
    return (
        f"{what} differs from that of the plain call in {wrong.size} of {wanted.size} entries, {where}"
        f"{here} instead of {plain}"
    )


class ReverseRuns(Runs):
    """Calls of the rrule and its pullback."""

    mode = "rrule"
    tangents = "a cotangent"

    @property
    def given(self) -> Any:
        return self.case.output_tangent

    @property
    def plain_output(self) -> Any:
        return self.case.reverse.primal.output

    @cached_property
    def plain(self) -> dict[str, Vector]:
        """The cotangents of the plain call, by the label of their argument."""
        return self.case.reverse.cotangent_vectors(self.case.reverse.cotangents)

    def further_variants(self) -> list[str]:
        _ = self.plain
        fixed = self.case.given_output_tangent is not None
        spread = any(array.size > 1 for array in arrays_with_forms(self.given))
        names = [BROADCAST] if spread and (not fixed or is_constant(self.given)) else []
        return names + [ANOTHER_TYPE] * any(True for _ in self._other_cotangents())

    def _other_cotangents(self) -> Iterator[tuple[str, Any, Any]]:
        """Cotangents of other types: in words, one of the same values in the ordinary type (or None), and it."""
        for words, ybar in of_other_types(self.case.expected, self.given):
            yield words, None, ybar
        pair = without_imaginary_part(self.given) if self.case.given_output_tangent is None else None
        if pair is not None:
            yield "a real cotangent of a complex output", *pair

    def outcome_differences(self, names: Collection[str], patient: bool) -> Iterator[Difference]:
        case = self.case
        inputs, output, pullback = self._run(names)
        if pullback is None:
            return
        yield from self.output_difference(output)
        ybar = self.given_in(names)
        yield from self._compared(case.reverse.pull(pullback, ybar), self.plain, self.given, patient)
        yield from self.written(inputs, ybar, names)

        def pull(ybar: Any) -> tuple[Any, ...]:
            # Another check says when a pullback can be called only once.
            return case.reverse.pull(self._run(())[2] if patient else pullback, ybar)

        if BROADCAST in names:
            dense = constant(self.given)
            plain = case.reverse.cotangent_vectors(pull(dense))
            yield from self._compared(pull(broadcast(dense)), plain, dense, patient)
        for words, ordinary, other in self._other_cotangents() if ANOTHER_TYPE in names else ():
            plain = self.plain if ordinary is None else case.reverse.cotangent_vectors(pull(ordinary))
            try:
                found = list(self._compared(pull(other), plain, self.given if ordinary is None else ordinary, patient))
            except RuleRaisedError as error:
                found = [Difference(str(error))]
            yield from (Difference(f"namely {words}, {d.message}", d.argument) for d in found)

    def _run(self, names: Collection[str]) -> tuple[Any, Any, Any]:
        inputs, result = self.case.run_rule("rrule", inputs=self.inputs(names))
        if result is None:  # a rule may decline what it does not serve
            return inputs, None, None
        if not is_pair(result) or not callable(result[1]):
            raise RuleRaisedError(f"the rrule returned {description_of(result)}")
        return inputs, *result

    def _compared(
        self, cotangents: tuple[Any, ...], plain: dict[str, Vector], ybar: Any, patient: bool
    ) -> Iterator[Difference]:
        case = self.case
        found = case.reverse.cotangent_vectors(cotangents)
        differences: list[Difference] = []
        for argument in case.reverse.answered_arguments:
            wanted, vector = plain.get(argument.label), found.get(argument.label)
            if wanted is None:
                continue
            if vector is None:
                differences.append(Difference("the cotangent is missing or has another shape", argument.label))
            elif not np.array_equal(vector, wanted):
                noise: Any = 0.0
                if patient:  # another memory may be another loop, that rounds otherwise
                    noise = case.cancellation.of_cotangent(argument, wanted, self._weights(ybar))
                    noise = noise + self._noise_of(argument.label)
                tolerance = (
                    case.precision.rounding * magnitude(wanted) + case.precision.noise(self._weights(ybar)) + noise
                )
                problem = _apart(wanted, vector, argument.value, tolerance, "the cotangent")
                differences += [Difference(problem, argument.label)] if problem is not None else []
        if differences and patient and found.keys() == plain.keys() and self._is_another_member(found, ybar):
            return
        yield from differences

    def _weights(self, ybar: Any) -> Vector:
        return np.asarray(tangent_to_vector(self.case.expected, ybar))

    def _noise_of(self, label: str) -> Any:
        """How far rounding in the arguments may move the entries of a cotangent."""
        noise: Any = 0.0
        for cotangents in self.case.reverse.nearby(self.case.output_cotangent_vector):
            with suppress(NotReachedError, RuleRaisedError):
                near = self.case.reverse.cotangent_vectors(cotangents).get(label)
                if near is not None:
                    gap = np.abs(near - self.plain[label])
                    noise = np.maximum(noise, np.where(np.isfinite(gap), gap, 0.0))
        return ERROR_ESTIMATES * noise

    def _is_another_member(self, found: dict[str, Vector], ybar: Any) -> bool:
        """Whether the point is a kink, where another member of the generalised derivative is as good as the first."""
        case, answered = self.case, self.case.reverse.answered_arguments
        xbar = np.zeros(case.vector_function.x.size)
        for argument in answered:
            xbar[case.directions.part_of(argument)] = found[argument.label]
        special = False
        for index in (0, 1):
            probe = case.directions.probe(answered, index)
            question = CotangentComparison(case, answered, probe.direction, xbar, self._weights(ybar))
            if np.any(probe.answer(question) == FAIL):
                return False
            special |= probe.is_special
        return special


class ForwardRuns(Runs):
    """Calls of the frule."""

    mode = "frule"
    tangents = "tangents"

    @property
    def given(self) -> Any:
        return tuple(argument.tangent for argument in self.case.arguments)

    @property
    def plain_output(self) -> Any:
        return self.case.forward.primal.output

    @cached_property
    def plain(self) -> Vector:
        """The tangent of the plain call."""
        return vector_of(self.case.expected, force(self.case.forward.primal.derivative))

    def further_variants(self) -> list[str]:
        _ = self.plain
        return [ANOTHER_TYPE] * any(of_other is not dx for of_other, dx in zip(self._other(), self.given, strict=True))

    def _other(self) -> tuple[Any, ...]:
        """The tangents, those of numbers in another type."""
        pairs = [(argument.value, argument.tangent) for argument in self.case.arguments]
        return tuple(next((other for _, other in of_other_types(x, dx)), dx) for x, dx in pairs)

    def outcome_differences(self, names: Collection[str], patient: bool) -> Iterator[Difference]:
        case = self.case
        tangents = self.given_in(names)
        if ANOTHER_TYPE in names:
            changed = zip(self._other(), self.given, tangents, strict=True)
            tangents = tuple(dx if other is plain else other for other, plain, dx in changed)
        inputs, result = case.run_rule("frule", case.forward.by_position(tangents), inputs=self.inputs(names))
        if result is None:  # a rule may decline what it does not serve
            return
        if not is_pair(result):
            raise RuleRaisedError(f"{case.in_own_words('the frule')} returned {description_of(result)}")
        yield from self.output_difference(result[0])
        yield from self._compared(force(result[1]), patient)
        if ANOTHER_TYPE not in names:
            yield from self.written(inputs, tangents, names)

    def _compared(self, dy: Any, patient: bool) -> Iterator[Difference]:
        case = self.case
        try:
            found = vector_of(case.expected, dy)
        except NotReachedError:
            yield Difference("the tangent is missing or has another shape", "the output")
            return
        if np.array_equal(found, self.plain):
            return
        direction = case.directions.joint(case.differentiable_arguments, 0)
        noise = case.cancellation.of_tangent(direction, self.plain) + self._noise() if patient else 0.0
        tolerance = case.precision.rounding * magnitude(self.plain) + case.precision.noise(direction) + noise
        problem = _apart(self.plain, found, case.expected, tolerance, "the tangent")
        if problem is not None and not (patient and self._is_another_member(found)):
            yield Difference(problem, "the output")

    def _noise(self) -> Any:
        """How far rounding in the arguments may move the entries of the tangent."""
        noise: Any = 0.0
        for near in self.case.forward.nearby(self.case.directions.joint(self.case.differentiable_arguments, 0)):
            gap = np.abs(near - self.plain)
            noise = np.maximum(noise, np.where(np.isfinite(gap), gap, 0.0))
        return ERROR_ESTIMATES * noise

    def _is_another_member(self, dy: Vector) -> bool:
        """Whether the point is a kink, where another member of the generalised derivative is as good as the first."""
        case = self.case
        probe = case.directions.probe(case.differentiable_arguments, 0)
        verdicts = probe.answer(TangentComparison(case, probe.direction, dy))
        return probe.is_special and not np.any(verdicts == FAIL)
