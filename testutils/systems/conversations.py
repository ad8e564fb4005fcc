"""One sample through somebody's AD system, which stands in the place of the rule tables: finite differences judge it.

At first order the system's derivatives are judged; at second order those of its own first derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from types import MethodDescriptorType
from typing import Any

import numpy as np

from rulescore import NoTangent
from rulescore.tangents.spaces import zero_tangent
from rulescore.tangents.structure import rebuild, structure_of

from ..cases.arguments import SampleError
from ..cases.case import Case
from ..checking import run_checks
from ..checks import CHECKS
from ..comparison.spaces import precision_of
from ..evidence.vectorisation import Vector, layout_of, tangent_to_vector, unraveller, vector_to_tangent
from ..evidence.warnings_here import warnings_here
from ..reports.names import description_of, name_of
from ..reports.report import Report
from ..reports.results import CheckResult
from ..samples.random_tangents import with_tangent
from ..samples.sampling import Sample
from .conformance_report import SampleResult, Verdict

ASKED_OF_A_SYSTEM = (
    "rule runs",
    "primal type",
    "primal value",
    "pullback runs",
    "cotangent type",
    "derivative",
    "tangent type",
    "arguments unchanged",
)
"""The checks that mean something for an AD system; the others ask for what only rules have, as thunks."""

RTOL = 1e-6
"""How far numbers may be apart in double precision: the mathematics are asked for, not the last digits."""

TABLES = {"vjp": "rrule", "jvp": "frule"}
"""Which rule table a mode stands in for."""

CANCELLED = 1e4
"""What a second derivative of exactly 0 may come out as, in machine epsilons of the largest first derivative."""


class FunctionOfPrimals:
    """A function of the differentiable arguments of a call alone: what an AD system is asked to differentiate.

    Attributes
    ----------
    function : callable
        The function that the samples are for, as ``np.sum``.
    positions : tuple of int
        Which positional arguments of ``function`` the primals are.
    """

    def __init__(
        self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], positions: tuple[int, ...], twin: Any
    ) -> None:
        self.function = function
        self.positions = positions
        self._args, self._kwargs, self._twin = args, kwargs, twin
        # Systems name what they trace.
        self.__name__ = self.__qualname__ = getattr(function, "__name__", type(function).__name__)

    def arguments(self, *primals: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """All arguments and the keywords of the call with other primals in it."""
        args = list(self._args)
        for position, primal in zip(self.positions, primals, strict=True):
            args[position] = primal
        return tuple(args), dict(self._kwargs)

    def __call__(self, *primals: Any) -> Any:
        args, kwargs = self.arguments(*primals)
        return self._twin(*args, **kwargs)


@dataclass(frozen=True, slots=True)
class ADSystem:
    """An AD system, as given to `conformance`."""

    vjp: Callable[..., Any] | None
    jvp: Callable[..., Any] | None
    find_twin: Callable[[Any], Any] | None
    conjugate: bool

    def pull(self, f: FunctionOfPrimals, primals: tuple[Any, ...]) -> Any:
        """Output and pullback."""
        assert self.vjp is not None
        return _pair(self.vjp(f, *primals), "vjp= returned {}; it has to return (y, pullback)")

    def push(self, f: FunctionOfPrimals, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
        """Output and its tangent."""
        assert self.jvp is not None
        return _pair(self.jvp(f, primals, tangents), "jvp= returned {}; it has to return (y, ydot)")

    def twin(self, function: Any) -> Any:
        """The system's own function; `NotImplementedError` where there is none."""
        if self.find_twin is None:
            return _method_of_argument(function) if isinstance(function, MethodDescriptorType) else function
        try:
            found = self.find_twin(function)
        except Exception as error:
            raise NotImplementedError(f"no twin: {type(error).__name__}: {error}") from error
        if found is None:
            raise NotImplementedError(f"{name_of(function)} has no twin")
        return found


def combinations_of(modes: tuple[str, ...]) -> tuple[str, ...]:
    """The modes of second order: ``"jvp of vjp"`` and so on."""
    return tuple(f"{outer} of {inner}" for inner in modes for outer in modes)


class Conversation:
    """An AD system in the place of the rule tables, for one sample; what it raises is remembered."""

    def __init__(
        self,
        system: ADSystem,
        function: Any,
        sample: Sample,
        modes: tuple[str, ...],
        rtol: float | None,
        atol: float | None,
    ) -> None:
        self._system = system
        self._function = function if sample.function is None else sample.function
        self._sample = sample
        self._modes, self._rtol, self._atol = modes, rtol, atol
        self._raised: dict[str, Exception] = {}
        self._misfits: dict[str, str] = {}
        self._case: Case

    def results(self) -> list[SampleResult]:
        """What the system does with the sample in each mode; none where there is nothing to differentiate."""
        try:
            self._case = self._new_case()
            if self._has_nothing_to_differentiate():
                return []
            checks = [check for check in CHECKS if check.name in ASKED_OF_A_SYSTEM and len(check.modes) == 1]
            found = run_checks(self._case, checks)
        except SampleError as error:
            return [self._result(mode, "inconclusive", str(error)) for mode in self._modes]
        except Exception as error:  # of the checks themselves; one function must not stop the run
            message = f"checking it raised {type(error).__name__}: {error}"
            return [self._result(mode, "inconclusive", message) for mode in self._modes]
        return [self._judged(mode, [result for result in found if result.mode == TABLES[mode]]) for mode in self._modes]

    def second_order_results(self) -> list[SampleResult]:
        """What the system does with its own first derivatives in each combination of modes."""
        try:
            self._case = self._new_case()
            if self._has_nothing_to_differentiate():
                return []
        except SampleError as error:
            return [self._result(mode, "inconclusive", str(error)) for mode in combinations_of(self._modes)]
        return list(chain.from_iterable(map(self._results_of_derivative, self._modes)))

    def _results_of_derivative(self, inner: str) -> list[SampleResult]:
        derivative = self._derivative(inner)
        try:
            with self._asking(inner):
                slopes = [np.asarray(slope) for slope in derivative(*self._case.args, **self._case.kwargs)]
        except Exception:
            judged = self._judged(inner, [])
            return [replace(judged, mode=f"{outer} of {inner}") for outer in self._modes]
        kept = [i for i, slope in enumerate(slopes) if zero_tangent(slope) is not NoTangent()]

        def of_system(*args: Any, **kwargs: Any) -> list[Any]:
            found = derivative(*args, **kwargs)
            return [found[i] for i in kept]

        def in_numpy(*args: Any, **kwargs: Any) -> list[Any]:
            with warnings_here("ignore"):
                return [np.asarray(slope) for slope in of_system(*args, **kwargs)]

        in_numpy.__name__ = in_numpy.__qualname__ = f"{inner} of {name_of(self._function)}"
        talk = Conversation(
            replace(self._system, find_twin=lambda _: of_system),
            in_numpy,
            replace(self._sample, function=None, output_tangent=None),
            self._modes,
            self._rtol,
            _rounding_of([slopes[i] for i in kept]) if self._atol is None else self._atol,
        )
        return [replace(result, mode=f"{result.mode} of {inner}") for result in talk.results()]

    def _derivative(self, mode: str) -> Callable[..., list[Any]]:
        """The numbers and arrays of the system's first derivative in a direction, as a function of all arguments."""
        function, positions, system = self._function, self._positions, self._system
        twin = system.twin(function)
        if mode == "vjp":
            direction = _numbers_of(self._case.expected, self._case.output_tangent)
        else:
            tangents = {argument.position - 1: argument.tangent for argument in self._case.arguments}
            direction = tuple(_numbers_of(self._case.args[position], tangents[position]) for position in positions)

        def derivative(*args: Any, **kwargs: Any) -> list[Any]:
            f = FunctionOfPrimals(function, args, kwargs, positions, twin)
            primals = tuple(args[position] for position in positions)
            if mode == "jvp":
                return _leaves_of(system.push(f, primals, direction)[1])
            y, pullback = system.pull(f, primals)
            return _leaves_of(_one_each(pullback(_in_the_form_of(y, direction)), len(primals)))

        return derivative

    def _new_case(self) -> Case:
        sample, function = self._sample, self._function
        primals = [getattr(arg, "primal", arg) for arg in sample.args]
        default = max(RTOL, 2e3 * precision_of(*primals), sample.rtol or 0.0)
        return Case(
            with_tangent(function, NoTangent()),
            sample.args,
            fkwargs=sample.fkwargs,
            modes=tuple(TABLES[mode] for mode in self._modes),
            rrule_f=self._rrule,
            frule_f=self._frule,
            output_tangent=sample.output_tangent,
            rtol=default if self._rtol is None else self._rtol,
            atol=sample.atol if self._atol is None else self._atol,
            rng=sample.rng(),
        )

    def _has_nothing_to_differentiate(self) -> bool:
        return not self._positions or not layout_of(self._case.expected).size

    @property
    def _positions(self) -> tuple[int, ...]:
        """The positional arguments that are differentiated."""
        return tuple(a.position - 1 for a in self._case.differentiable_arguments if a.position and a.keyword is None)

    def _judged(self, mode: str, found: list[CheckResult]) -> SampleResult:
        report = Report(name_of(self._case.function), self._case.call, tuple(found))
        if mode in self._raised:
            error = self._raised[mode]
            declined = isinstance(error, (NotImplementedError, TypeError))
            message = f"{type(error).__name__}: {error}"
            return self._result(mode, "unsupported" if declined else "raises", message, report)
        if mode in self._misfits:
            return self._result(mode, "wrong", self._misfits[mode], report)
        problems = report.failures or report.inconclusive
        if not problems:
            return self._result(mode, "right", report=report)
        where = f"{problems[0].argument}: " if problems[0].argument else ""
        return self._result(mode, "wrong" if report.failures else "inconclusive", where + problems[0].message, report)

    def _result(self, mode: str, verdict: Verdict, message: str = "", report: Report | None = None) -> SampleResult:
        return SampleResult(self._sample.id, mode, verdict, message, report)

    # What stands in the place of the tables.

    def _rrule(self, function: Any, *args: Any, **kwargs: Any) -> tuple[Any, Callable[[Any], Any]]:
        with self._asking("vjp"):
            f, primals = self._restricted(function, args, kwargs)
            y, first_pullback = self._system.pull(f, primals)
        pullbacks = [first_pullback]

        def pullback(ybar: Any) -> tuple[Any, ...]:
            given = _in_the_form_of(y, _numbers_of(self._case.expected, ybar, self._system.conjugate))
            with self._asking("vjp"):
                # A pullback may serve once only; for another cotangent the system is asked again.
                system_pullback = pullbacks.pop() if pullbacks else self._system.pull(f, primals)[1]
                found = _one_each(system_pullback(given), len(primals))
            cotangents: list[Any] = [NoTangent()] * (1 + len(args))
            for position, primal, xbar in zip(f.positions, primals, found, strict=True):
                vector = self._vector("vjp", f"the cotangent of argument {position}", primal, xbar)
                vector = _conjugated(primal, vector) if self._system.conjugate else vector
                cotangents[1 + position] = vector_to_tangent(primal, vector)
            return tuple(cotangents)

        return self._output("vjp", y), pullback

    def _frule(self, tangents: tuple[Any, ...], function: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        with self._asking("jvp"):
            f, primals = self._restricted(function, args, kwargs)
        pairs = zip(f.positions, primals, strict=True)
        moving = tuple(_numbers_of(primal, tangents[1 + position]) for position, primal in pairs)
        with self._asking("jvp"):
            y, ydot = self._system.push(f, primals, moving)
        vector = self._vector("jvp", "the tangent of the output", self._case.expected, ydot)
        return self._output("jvp", y), vector_to_tangent(self._case.expected, vector)

    def _output(self, mode: str, y: Any) -> Any:
        """A system's output in the type of the function's own, so that only its numbers count."""
        expected = self._case.expected
        return unraveller(layout_of(expected))(self._vector(mode, "the output", expected, y))

    def _vector(self, mode: str, what: str, primal: Any, answer: Any) -> Vector:
        """The numbers in an answer; where it has another shape or structure than its primal, that is remembered."""
        try:
            return tangent_to_vector(primal, _where_differentiable(primal, answer))
        except (TypeError, ValueError) as error:
            self._misfits.setdefault(mode, f"{what} does not fit: {error}")
            raise

    def _restricted(
        self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[FunctionOfPrimals, tuple[Any, ...]]:
        """The call as a function of its primals, and these."""
        f = FunctionOfPrimals(function, args, kwargs, self._positions, self._system.twin(function))
        return f, tuple(args[position] for position in self._positions)

    @contextmanager
    def _asking(self, mode: str) -> Iterator[None]:
        """Around what the system does: what it raises is remembered, since it says that the system does not do this."""
        try:
            with warnings_here("ignore"):
                yield
        except Exception as error:
            self._raised.setdefault(mode, error)
            raise


# Between our tangents and the system's.


def _pair(answer: Any, complaint: str) -> Any:
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise TypeError(complaint.format(description_of(answer)))
    return answer


def _one_each(cotangents: Any, count: int) -> Any:
    if not isinstance(cotangents, (tuple, list)) or len(cotangents) != count:
        raise TypeError(
            f"the pullback returned {description_of(cotangents)} for {count} primals; it has to return a tuple of one "
            "cotangent per primal"
        )
    return cotangents


def _leaves_of(answer: Any) -> list[Any]:
    """The numbers and arrays in a system's answer, which may be an object with parameters."""
    fields = structure_of(answer)
    if fields is not None or isinstance(answer, (tuple, list, dict)):
        return [leaf for part in (fields or {}).values() for leaf in _leaves_of(part)]
    return [] if answer is None or answer is NoTangent() else [answer]


def _rounding_of(slopes: list[Any]) -> float:
    """What a derivative of these that is exactly 0 may come out as."""
    largest = max((float(np.max(np.abs(slope), initial=0)) for slope in slopes), default=0.0)
    return CANCELLED * precision_of(*slopes) * largest if np.isfinite(largest) else 0.0


def _method_of_argument(method: Any) -> Callable[..., Any]:
    """An unbound method as a function of whatever has a method of that name."""

    def call(x: Any, /, *args: Any, **kwargs: Any) -> Any:
        return getattr(x, method.__name__)(*args, **kwargs)

    return call


def _numbers_of(primal: Any, tangent: Any, conjugate: bool = False) -> Any:
    """A tangent as a plain object like its primal: arrays, numbers and containers of them."""
    vector = tangent_to_vector(primal, tangent)
    return _with_zero_integers(unraveller(layout_of(primal))(_conjugated(primal, vector) if conjugate else vector))


def _with_zero_integers(x: Any) -> Any:
    """The integers in a container have no tangent; a system that wants one for each number gets zeros."""
    if isinstance(x, (tuple, list, dict)):
        return rebuild(x, {key: _with_zero_integers(value) for key, value in (structure_of(x) or {}).items()})
    if isinstance(x, (bool, int, np.integer, np.bool_)):
        return type(x)(0)
    return np.zeros_like(x) if isinstance(x, np.ndarray) and x.dtype.kind in "biu" else x


def _conjugated(x: Any, vector: Vector) -> Vector:
    vector = np.array(vector)
    start = 0
    for leaf in layout_of(x).leaves():
        if leaf.is_complex:
            vector[start + leaf.count : start + leaf.size] *= -1
        start += leaf.size
    return vector


def _in_the_form_of(like: Any, value: Any) -> Any:
    """A cotangent in the containers and precision of the output that it is for, in which systems want it."""
    if isinstance(like, (tuple, list, dict)) and isinstance(value, (tuple, list, dict)):
        ours, theirs = structure_of(value) or {}, structure_of(like) or {}
        if len(ours) != len(theirs):
            return value
        pairs = zip(theirs.items(), ours.values(), strict=True)
        return rebuild(like, {key: _in_the_form_of(inner, own) for (key, inner), own in pairs})
    wanted, given = getattr(like, "dtype", None), np.asarray(value).dtype
    is_in_another_precision = isinstance(wanted, np.dtype) and wanted != given and wanted.kind == given.kind in "fc"
    return np.asarray(value).astype(wanted) if is_in_another_precision else value


def _where_differentiable(primal: Any, answer: Any) -> Any:
    """A system's answer without what it says of integers and the like; None stands for zero."""
    if answer is None or zero_tangent(primal) is NoTangent():
        return NoTangent()
    if not isinstance(primal, (tuple, list, dict)) or not isinstance(answer, (tuple, list, dict)):
        return answer
    if isinstance(primal, dict):
        return {key: _where_differentiable(value, answer[key]) for key, value in primal.items() if key in answer}
    items = list(answer.values() if isinstance(answer, dict) else answer)
    if len(items) != len(primal):
        return answer
    return [_where_differentiable(own, item) for own, item in zip(primal, items, strict=True)]
