"""Somebody's AD system, run on the sample inputs of all rules, to learn which functions it differentiates rightly.

The system stands in the place of the rule tables, and finite differences judge it as they judge rules.
"""

from __future__ import annotations

import fnmatch
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from types import MethodDescriptorType
from typing import Any

import numpy as np

from rulescore import NoTangent
from rulescore.tangents import rebuild, structure_of, zero_tangent
from testutils.cases import Case, SampleError
from testutils.checks import CHECKS
from testutils.comparison import precision_of
from testutils.conformance_report import ConformanceReport, FunctionResult, SampleResult, Verdict
from testutils.random_tangents import with_tangent
from testutils.report import CheckResult, Report, description_of, name_of
from testutils.running import Target, collect_targets
from testutils.sampling import Sample
from testutils.testers import run_checks
from testutils.vectorisation import Vector, layout_of, tangent_to_vector, unraveller, vector_to_tangent

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


def conformance(
    vjp: Callable[..., Any] | None = None,
    jvp: Callable[..., Any] | None = None,
    *,
    names: str | Iterable[str] = (),
    twin: Callable[[Any], Any] | None = None,
    conjugate: bool = False,
    skip: Iterable[str] | Mapping[str, str] | Callable[[str, Sample], bool] = (),
    order: int = 1,
    seed: int = 0,
    rtol: float | None = None,
    atol: float | None = None,
    on_function: Callable[[FunctionResult], None] = lambda result: None,
) -> ConformanceReport:
    """Run an AD system on the sample inputs of all installed rules, and judge it by finite differences.

    Parameters
    ----------
    vjp : callable, optional
        Reverse mode, as `jax.vjp`: ``vjp(f, *primals)`` returns ``(y, pullback)``, and ``pullback(ybar)`` a tuple of
        one cotangent per primal, None standing for zero.
    jvp : callable, optional
        Forward mode, as `jax.jvp`: ``jvp(f, primals, tangents)`` with two tuples returns ``(y, ydot)``.
    names : str or iterable of str
        Modules or functions, as ``rulescore check`` takes them: ``"numpy"``, ``"np.linalg.inv"``. All by default.
    twin : callable, optional
        From a function, as ``np.sin``, to the system's own. What it raises, or a None, says that there is none. A
        system that traces NumPy itself needs no twins: its arrays are passed to NumPy's functions, and an unbound
        method as ``np.ndarray.round``, which takes no arrays but NumPy's own, is called as a method of theirs.
    conjugate : bool
        Whether the cotangents of complex numbers are the conjugates of ours, as those of JAX and HIPS autograd are.
        Ours are ∂L/∂Re x + i ∂L/∂Im x.
    skip : iterable of str, mapping from str to str, or callable
        Functions to leave out, by name or pattern (``"numpy.fft.*"``), with the reasons where it is a mapping. Or
        ``skip(name, sample)``, which says for each `Sample` of a function whether to leave it out.
    order : int
        2 to have the system's own first derivatives differentiated, in each mode given the derivatives in each: the
        modes of the report are then ``"vjp of vjp"``, ``"jvp of vjp"`` and so on. Finite differences of these first
        derivatives judge, so that they say something about a system that is right at first order.
    seed : int
        Another seed gives other numbers in samples and tangents.
    rtol, atol : float, optional
        As for `check_rule`; by default ``rtol`` is 1e-6, more for samples of lower precision. A system that computes in
        single precision whatever it is given needs 1e-3. At second order, ``atol`` is by default the rounding of the
        first derivative.
    on_function : callable, optional
        Called with each result as it comes, for progress.

    Returns
    -------
    ConformanceReport

    Raises
    ------
    TypeError
        When neither ``vjp`` nor ``jvp`` is given.
    TargetError
        When a name means nothing.
    ValueError
        When ``skip`` names a function that would not have run, or ``order`` is neither 1 nor 2.

    Notes
    -----
    ``f`` is a function of the call's differentiable positional arguments alone (arrays, numbers, and lists, tuples or
    dicts with any); all others and the keywords are fixed in it. A system that looks functions up finds in it
    ``f.function``, ``f.positions`` and ``f.arguments(*primals)``, which returns the whole call; see
    `FunctionOfPrimals`.

    Numbers, shapes and realness are judged; dtypes are not, since systems have their own. No error of the system ends
    the run.

    Examples
    --------
    >>> from rulescore import rrule, unthunk
    >>> def vjp(f, *primals):
    ...     args, kwargs = f.arguments(*primals)
    ...     y, pullback = rrule(f.function, *args, **kwargs)
    ...     return y, lambda ybar: [-unthunk(pullback(ybar)[1 + i]) for i in f.positions]
    >>> report = conformance(vjp, names=["np.sinc", "np.argmax"])
    >>> [(function.name, function.verdict) for function in report.functions]
    [('numpy.sinc', 'wrong'), ('numpy.argmax', 'not differentiable')]
    """
    given = {"vjp": vjp, "jvp": jvp}
    modes = tuple(mode for mode, function in given.items() if function is not None)
    if not modes:
        raise TypeError("conformance(): no AD system was given; give its vjp=, its jvp= or both")
    if order not in (1, 2):
        raise ValueError(f"conformance(order={order!r}): write 1, or 2 for derivatives of derivatives")
    targets = collect_targets([names] if isinstance(names, str) else names, seed)
    chosen = _choice(skip, targets)
    system = ADSystem(vjp, jvp, twin, conjugate)
    results: list[FunctionResult] = []
    for target in targets:
        samples, reason = chosen(target)
        conversations = [_Conversation(system, target, sample, modes, rtol, atol) for sample in samples]
        answers = [talk.results() if order == 1 else talk.second_order_results() for talk in conversations]
        results.append(FunctionResult(target.name, target.module, tuple(chain.from_iterable(answers)), reason))
        on_function(results[-1])
    return ConformanceReport(tuple(results), modes if order == 1 else _combinations(modes))


def _combinations(modes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{outer} of {inner}" for inner in modes for outer in modes)


def _choice(skip: Any, targets: list[Target]) -> Callable[[Target], tuple[list[Sample], str]]:
    """From a target to the samples that are run, and why there are none."""
    if callable(skip):

        def with_chosen_samples(target: Target) -> tuple[list[Sample], str]:
            left = [sample for sample in target.samples if not skip(target.name, sample)]
            return left, "all samples skipped" if target.samples and not left else ""

        return with_chosen_samples
    reasons = _reasons_to_skip(skip, targets)
    return lambda target: ([], reasons[target.name]) if target.name in reasons else (target.samples, "")


def _reasons_to_skip(skip: Iterable[str] | Mapping[str, str], targets: list[Target]) -> dict[str, str]:
    patterns = [skip] if isinstance(skip, str) else skip
    given = patterns if isinstance(patterns, Mapping) else dict.fromkeys(patterns, "skipped")
    reasons: dict[str, str] = {}
    for pattern, reason in given.items():
        names = [target.name for target in targets if fnmatch.fnmatchcase(target.name, pattern)]
        if not names:
            raise ValueError(f"skip={pattern!r}: no function of that name would run; names are like 'numpy.linalg.inv'")
        reasons.update(dict.fromkeys(names, reason))
    return reasons


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


class _Conversation:
    """An AD system in the place of the rule tables, for one sample; what it raises is remembered."""

    def __init__(
        self,
        system: ADSystem,
        target: Target,
        sample: Sample,
        modes: tuple[str, ...],
        rtol: float | None,
        atol: float | None,
    ) -> None:
        self._system = system
        self._target, self._sample = target, sample
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
            return [self._result(mode, "inconclusive", str(error)) for mode in _combinations(self._modes)]
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
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return [np.asarray(slope) for slope in of_system(*args, **kwargs)]

        in_numpy.__name__ = in_numpy.__qualname__ = f"{inner} of {name_of(self._function)}"
        talk = _Conversation(
            replace(self._system, find_twin=lambda _: of_system),
            replace(self._target, function=in_numpy),
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
    def _function(self) -> Any:
        return self._target.function if self._sample.function is None else self._sample.function

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
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
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
    """The numbers and arrays in a system's answer."""
    if isinstance(answer, (tuple, list, dict)):
        return [leaf for part in (structure_of(answer) or {}).values() for leaf in _leaves_of(part)]
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
