"""What each mode makes of a program: right, refused, undecided, or a problem that is told."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from optree import tree_leaves, tree_map

from rulescore import MissingDerivativeError, is_traced
from rulescore.ad import NoRuleError, TracerConversionError, UnrelatedOutputError, grad
from rulescore.ad.messages.errors import NoSourceError
from testutils import backward_fdm, forward_fdm, jvp_fd

from .calls import has_wrong_values, is_differentiable, tolerance_of
from .modes import BATCHED, FIRST, MOST_ROWS, SECOND, Answer, Question
from .program import Program, as_it_is

REFUSALS = (NoRuleError, NoSourceError, TracerConversionError, UnrelatedOutputError, MissingDerivativeError)
"""What may be raised for a program that is not supported."""

COVERED = {"Error setting single item of array.", "assignment destination is read-only"}
"""What is raised in the place of a refusal.

By NumPy, without naming it as the cause; and of what was broadcast, to which NumPy still writes, with a warning."""

COMPARED, UNDECIDED, REFUSED, LEFT_OUT = "compared", "undecided", "refused", "left out"

LONGEST = 3.0
"""Seconds of processor time after which the modes that are left are left out."""

SLOW = 0.015
"""Seconds of a program that is differentiated in few modes."""

_QUICK_MODES = ("jvp", "vjp", "forward over reverse")

_AGREEMENT, _OF_SECOND = 1e-9, 1e-6
"""By how much modes may differ in double precision, and in second derivatives."""

_OF_FUNCTION = 1e-5
"""By how much derivatives may differ from finite differences: some functions of SciPy's are no better themselves."""

_OF_SAMPLES = 10.0
"""The same in tolerances of samples: of functions with fewer digits still, as `scipy.special.itairy`, which has six."""

_ROUNDINGS = 2e4
"""The same in rounding errors of what is less precise."""

_OF_CONSTANTS = 64.0
"""The same in rounding errors of constants that are less precise than what is computed with them."""

_OF_HALF = 1e-4
"""Only the rounding error of half precision is larger."""

_COARSE = 1e-12
"""From which rounding error on second derivatives are not compared with finite differences."""

_OF_SINGLE = float(np.finfo(np.float32).eps)
"""The last digit by which inputs are moved at most to see noise: by those of half precision everything is noise."""

_STEP = 1e-3
"""How far the evaluations of a quick difference are apart."""

_ESTIMATES = 20.0
"""How many of its error estimates a finite difference may be off."""

_KNOWN = 1e-3
"""How well a finite difference has to know itself."""

_ANOTHER = 0.1
"""How far, relatively, the numbers of a program are apart from those of one that computes something else."""

_NOISE = 1e3
"""How many times as far as the last digits of the inputs move them two answers may be apart."""

_DIGITS = 1e-6
"""How far, relatively, their last digits move a variable that is not determined by them."""

_JUMP = 0.1
"""By how much, relative to the largest variable, one changes beside a point at which it jumps."""

_SPLITS = 3
"""In how many ways a direction is written as the sum of two others."""

_LEAST = 1e-103
"""The third power of its inverse is infinite."""


@dataclasses.dataclass
class Examination:
    """How every mode ended, and the problems, in words."""

    outcomes: dict[str, str] = dataclasses.field(default_factory=dict)
    problems: list[str] = dataclasses.field(default_factory=list)
    refusals: dict[str, str] = dataclasses.field(default_factory=dict)

    def __str__(self) -> str:
        return "\n".join(self.problems)


def examine(program: Program) -> Examination:
    """Differentiate a program in every mode, and compare."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        examiner = _Examiner(program)
        if examiner.result.problems and program.constants:
            # SciPy may compute in the precision of a small constant, and rules do not.
            of_wide = _Examiner(program.with_wide_constants())
            if not of_wide.result.problems and (examiner.is_unlike(of_wide) or examiner.is_as(of_wide)):
                return of_wide.result
        return examiner.result


class _TookTooLongError(BaseException):
    """Nobody's ``except Exception`` is meant to catch it."""


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raises `_TookTooLongError` after some seconds of processor time; not within code in C.

    And again after as many more, where a callback of the garbage collector was interrupted, which swallows it.
    """

    def stop(*_: Any) -> None:
        raise _TookTooLongError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


class _Examiner:
    def __init__(self, program: Program) -> None:
        self.result = Examination()
        self.answers: dict[str, Answer] = {}
        program.namespace()  # the samples are loaded once, however long that takes
        try:
            with _limited(LONGEST):
                self._examine(program)
        except _TookTooLongError:
            for name in (*FIRST, *SECOND):
                self.result.outcomes.setdefault(name, LEFT_OUT)

    def _examine(self, program: Program) -> None:
        start = time.process_time()
        try:
            self.question = q = Question(program)
            self.has_few_modes = program.has_few_modes or time.process_time() - start > SLOW
            is_deterministic = _same(q.value, q.plain()(*program.arguments()), 0.0)
        except Exception:  # it does not run again, as where `np.cov` has written to its ``fweights``
            is_deterministic = False
        if not is_deterministic:
            self.result.outcomes.update(dict.fromkeys([*FIRST, *SECOND], LEFT_OUT))
            return
        self.precision = _coarsest(program)
        self.agreement = max(_AGREEMENT, _ROUNDINGS * self.precision)
        self.of_function = max(
            _OF_FUNCTION, self.agreement, *[_OF_SAMPLES * tolerance_of(*call) for call in program.calls.values()]
        )
        answers = self._answers(FIRST)
        self._compare_first(answers)
        if "grad" in answers:
            self._compare_second(self._answers(SECOND))
        else:
            self.result.outcomes.update(dict.fromkeys(SECOND, LEFT_OUT))

    # Asking.

    def _answers(self, modes: Any) -> dict[str, Answer]:
        found = {}
        q = self.question
        for name, mode in modes.items():
            is_left_out = name in BATCHED and (max(q.sizes) > MOST_ROWS or q.has_signed_zeros)
            if is_left_out or (self.has_few_modes and name not in _QUICK_MODES):
                self.result.outcomes[name] = LEFT_OUT
                continue
            try:
                found[name] = self.answers[name] = mode(q)
            except REFUSALS as error:
                self.result.outcomes[name] = f"{REFUSED}: {type(error).__name__}"
                self.result.refusals[name] = str(error)
            except Exception as error:
                if _comes_from(error, REFUSALS) or str(error) in COVERED or _writes_to_arguments(error):
                    self.result.outcomes[name] = f"{REFUSED}: {type(error).__name__}"
                    continue
                if isinstance(error, np.linalg.LinAlgError) and self._is_ill_posed:
                    self.result.outcomes[name] = UNDECIDED
                    continue
                self.result.outcomes[name] = "crash"
                self.result.problems.append(f"{name} raises {type(error).__name__}: {error}")
        for name, answer in found.items():
            if answer.value is not None and not self._is_value(answer.value):
                self.result.problems.append(f"{name} returns {answer.value!r}, and the program {q.value!r}")
        return found

    def _is_value(self, found: Any) -> bool:
        """Whether a mode has returned what the program returns, but for as much as the inputs' last digits change."""
        q = self.question
        if _same(found, q.value, 1e-12 + 8 * self.precision):
            return True
        if not _same(tree_map(np.zeros_like, found), tree_map(np.zeros_like, q.value), 0.0):  # of another structure
            return False
        f = q.plain()
        moved = [[_nudged(x, k) for x in q.program.arguments()] for k in (-3, -2, 0, 2, 3)]
        try:
            spread = np.ptp([_vector(f(*q.program.laid_out(x))) for x in moved], axis=0)
        except Exception:
            return False
        gap = np.abs(_vector(found) - _vector(q.value))
        return bool(np.all(gap <= _NOISE * np.max(spread, initial=0.0)))

    def is_unlike(self, other: _Examiner) -> bool:
        """Whether the plain program itself is another one with constants of small types.

        As where whole ones wrap, or where rounding decides how many coefficients of a remainder are left.
        """
        has_whole = any(np.asarray(x).dtype.kind in "iub" for x in self.question.program.constants.values())
        if set(other.result.outcomes.values()) == {LEFT_OUT}:  # it does not run without them
            return has_whole
        ours, theirs = (_vector(examiner.question.program.variables()) for examiner in (self, other))
        if ours.shape != theirs.shape:
            return True
        return has_whole and not np.allclose(ours, theirs, rtol=_ANOTHER, atol=0.0, equal_nan=True)

    def is_as(self, other: _Examiner) -> bool:
        """Whether every mode has answered as in another examination, but for what constants of this one round."""
        rounding = max(map(_rounding_of, self.question.program.constants.values()), default=0.0)
        tolerance = max(_OF_SECOND, _OF_CONSTANTS * rounding)
        # What is summed over the output may cancel, in second derivatives too.
        slopes = np.abs(_vector([answer.tangent for answer in other.answers.values()]))
        slope = float(np.max(slopes, initial=0.0, where=np.isfinite(slopes)))
        for name in (*FIRST, *SECOND):
            outcomes = [examiner.result.outcomes.get(name) for examiner in (self, other)]
            one, another = (examiner.answers.get(name) for examiner in (self, other))
            if LEFT_OUT in outcomes or (one is another is None and outcomes[0] == outcomes[1] != "crash"):
                continue
            if one is None or another is None:
                return False
            found, wanted = (_vector([answer.tangent, answer.cotangents]) for answer in (one, another))
            if found.shape != wanted.shape:
                return False
            scale = max(slope, float(np.max(np.abs(wanted), initial=0.0, where=np.isfinite(wanted))))
            if not np.allclose(found, wanted, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
                return False
        return True

    def _wrong(self, name: str, text: str) -> None:
        if self._is_ill_posed:
            self.result.outcomes[name] = UNDECIDED
            return
        self.result.outcomes[name] = "wrong"
        self.result.problems.append(f"{name}: {text}")

    # First derivatives.

    def _compare_first(self, answers: dict[str, Answer]) -> None:
        q = self.question
        weights = _vector(q.weights)
        numbers = {name: self._number(answer) for name, answer in answers.items()}

        def off(wanted: Any, error: Any) -> set[str]:
            size = self._size(answers, weights * wanted)
            return {name for name in answers if self._is_off(answers[name], numbers[name], wanted, error, size)}

        found = self._difference(
            q.plain(), lambda wanted: wanted.shape == weights.shape and not off(wanted, 0 * wanted)
        )
        # No difference where the output has another shape close by, or another one than it had, as where rounding
        # decides how many coefficients are left.
        if found is None or found[0].shape != weights.shape:
            self.result.outcomes.update(dict.fromkeys(answers, UNDECIDED))
            return
        wanted, error, is_known = found
        self.result.outcomes.update(dict.fromkeys(answers, COMPARED if is_known else UNDECIDED))
        number = float(weights @ wanted)
        for name in sorted(off(wanted, error), key=list(answers).index) if is_known else ():
            if (
                self._has_kink()
                or self._has_wrong_values()
                or self._is_beyond_half(numbers[name])
                or self._is_right_close_by(name)
                or self._is_noise(name, abs(numbers[name] - number))
            ):
                self.result.outcomes[name] = UNDECIDED
            else:
                self._wrong(name, f"{numbers[name]!r} along the direction, a finite difference {number!r}")
        self._compare_each_other(numbers, answers, self._size(answers, weights * wanted))

    def _is_off(self, answer: Answer, number: float, wanted: Any, error: Any, size: float) -> bool:
        """Whether an answer is farther from a difference than the difference may be from the derivative."""
        rounding = self.of_function * max(size, 1e-2)
        found = _vector(answer.tangent) if answer.tangent is not None else None
        if found is not None and found.shape == wanted.shape:
            return bool(np.any(~(np.abs(found - wanted) <= _ESTIMATES * error + rounding) | ~np.isfinite(found)))
        weights = _vector(self.question.weights)
        error_of_number = float(np.abs(weights) @ error)
        return not abs(number - float(weights @ wanted)) <= _ESTIMATES * error_of_number + rounding

    def _difference(self, f: Any, agrees: Callable[[Any], bool]) -> tuple[Any, Any, bool] | None:
        """A finite difference of ``f`` along the direction, its error, and whether that is known; or None.

        One of four evaluations where all answers agree with it, or where the program rounds, and its differences with
        it, so that the modes are compared with each other alone; else one that knows its error.
        """
        q = self.question
        with contextlib.suppress(Exception):
            quick = self._slope(f)
            if self.precision > _COARSE:
                return np.nan_to_num(quick), np.full(quick.shape, np.inf), True
            if agrees(quick):
                return quick, np.zeros(quick.shape), True
        try:
            estimate = jvp_fd(lambda *x: _vector(f(*q.program.laid_out(x))), q.program.arguments(), q.dx)
        except Exception:
            return None
        is_known = self._is_known(estimate.value, estimate.error) and not estimate.note
        return estimate.value, estimate.error, is_known

    def _slope(self, f: Any) -> Any:
        q = self.question

        def at(h: float) -> Any:
            moved = [_like(x, x + h * dx) for x, dx in zip(q.x, q.dx, strict=True)]
            return _vector(f(*q.program.laid_out(tuple(moved))))

        return (8 * (at(_STEP) - at(-_STEP)) - (at(2 * _STEP) - at(-2 * _STEP))) / (12 * _STEP)

    def _number(self, answer: Answer) -> float:
        """⟨w, J ẋ⟩, from either side."""
        q = self.question
        if answer.cotangents is not None:
            return q.paired(answer.cotangents)
        weights, tangent = _vector(q.weights), _vector(answer.tangent)
        return float(weights @ tangent) if weights.shape == tangent.shape else np.nan  # of another structure

    def _size(self, answers: dict[str, Answer], terms: Any) -> float:
        """The magnitude of what the numbers are summed from."""
        sizes = [float(np.sum(np.abs(terms[np.isfinite(terms)])))]
        for answer in answers.values():
            if answer.cotangents is not None:
                sizes.append(float(sum(np.sum(np.abs(part)) for part in self.question.terms(answer.cotangents))))
        return max((s for s in sizes if np.isfinite(s)), default=0.0)

    def _is_zero_times_infinity(self, number: float, other: float) -> bool:
        """Whether one mode has a number and another NaN, with no mask on the way that would keep it out.

        A zero meets an infinite slope there, as of what an index leaves out, or that of a flat piece of a table.
        """
        program = self.question.program
        source = "\n".join([*program.lines_of_result(), program.result]).replace("np.where(True", "")
        has_mask = any(word in source for word in ("where", "select", "choose", "<= 0]"))
        has_nan = any(np.any(np.isnan(x)) for x in self.question.x)  # times a zero
        return (not has_mask or has_nan) and np.isnan(number) != np.isnan(other)

    def _has_infinite_slope_times_zero(self) -> bool:
        """Whether forward and reverse mode differ by that in first derivatives: so second ones are nobody's limit."""
        numbers = [self._number(self.answers[name]) for name in FIRST if name in self.answers]
        return any(self._is_zero_times_infinity(number, other) for number in numbers for other in numbers)

    def _compare_each_other(self, numbers: dict[str, float], answers: dict[str, Answer], size: float) -> None:
        """Forward and reverse modes give one number, and reverse modes one gradient."""
        if not numbers:
            return
        first = next(iter(numbers))
        q = self.question
        # What cancels in a derivative that is zero may be as large as the value.
        least = 1e-3 * float(np.sum(np.abs(_vector(q.value) * _vector(q.weights)), where=np.isfinite(_vector(q.value))))
        for name, number in numbers.items():
            gap = abs(number - numbers[first])
            both_nan = not np.isfinite(number) and not np.isfinite(numbers[first])
            both_nan |= self._is_beyond_half(number) or self._is_beyond_half(numbers[first])
            agree = both_nan or gap <= self.agreement * max(size, 1e-5 if self.precision < _COARSE else 1e-3, least)
            if not agree and self._is_zero_times_infinity(number, numbers[first]):
                self.result.outcomes[name] = UNDECIDED
            elif not agree and self.result.outcomes[name] != "wrong" and not self._is_noise_of_one((name, first), gap):
                self._wrong(name, f"{number!r} along the direction, and {numbers[first]!r} by {first}")
        self._compare_gradients(answers, self.agreement)

    def _is_beyond_half(self, number: float) -> bool:
        """Whether something is infinite, or made of what is, that half precision does not hold from 65520 on."""
        return self.precision > _OF_HALF and not np.isfinite(number)

    def _is_beyond_range(self, numbers: Any) -> bool:
        """Whether something is not finite, and a number of the program so small that second derivatives overflow."""
        if np.all(np.isfinite(numbers)):
            return False
        values = np.abs(_vector(self.question.program.variables()))
        return bool(np.any((values > 0) & (values < _LEAST)))

    def _compare_gradients(self, answers: dict[str, Answer], agreement: float, least: float = 1e-6) -> None:
        gradients = {n: _vector(a.cotangents) for n, a in answers.items() if a.cotangents is not None}
        if not gradients:
            return
        first = next(iter(gradients))
        for name, gradient in gradients.items():
            if self.result.outcomes[name] == "wrong":
                continue
            finite = np.isfinite(gradients[first]) & np.isfinite(gradient)
            scale = float(np.max(np.abs(gradients[first]), initial=0.0, where=finite))
            apart = np.abs(gradient - gradients[first]) > agreement * max(scale, least)
            # Numbers of half precision are infinite from 65520 on, which rounding may decide.
            jump = (np.isfinite(gradient) != np.isfinite(gradients[first])) & (self.precision < _OF_HALF)
            if np.any((apart & finite) | jump):
                gap = float(np.max(np.abs(gradient - gradients[first]), initial=0.0, where=finite))
                # Where the first derivative jumps, there is no second one.
                if name in SECOND and (self._has_kink() or (np.any(jump) and self._has_infinite_slope_times_zero())):
                    self.result.outcomes[name] = UNDECIDED
                elif not self._is_noise_of_one((name, first), gap):
                    self._wrong(name, f"{gradient!r}, and by {first} {gradients[first]!r}")

    # Second derivatives.

    def _compare_second(self, answers: dict[str, Answer]) -> None:
        q = self.question
        if not answers:
            return
        slopes = np.abs(_vector(self.answers["grad"].cotangents))
        slope = float(np.max(slopes, initial=0.0, where=np.isfinite(slopes)))
        # What cancels, as of a linear function, leaves rounding errors of its terms.
        least = max(1e-2 * slope, 1e-3 if self.precision > _COARSE else 1e-6)
        if self.precision > _COARSE:  # the gradient rounds, and its differences with it: modes are compared alone
            self.result.outcomes.update(dict.fromkeys(answers, COMPARED))
            self._compare_gradients(answers, max(_OF_SECOND, self.agreement), least)
            return
        gradient = grad(q.of_sum(), q.argnums)
        along = _vector(q.dx)

        def compared(name: str, wanted: Any, error: Any) -> tuple[Any, Any, Any]:
            """What a mode has found, what is expected of it, and by how much it may differ."""
            scale = max(float(np.max(np.abs(wanted), initial=0.0)), 1e-2 * slope, 1e-9)
            tolerance = _ESTIMATES * error + self.of_function * scale
            if answers[name].cotangents is not None:
                return _vector(answers[name].cotangents), wanted, tolerance
            found = _vector(answers[name].tangent)  # only the curvature along the direction
            return found, np.array([along @ wanted]), np.array([np.abs(along) @ tolerance])

        def is_off(name: str, wanted: Any, error: Any) -> bool:
            found, expected, tolerance = compared(name, wanted, error)
            return bool(np.any(~(np.abs(found - expected) <= tolerance)))

        difference = self._difference(gradient, lambda wanted: not any(is_off(n, wanted, 0 * wanted) for n in answers))
        if difference is None:  # close to the inputs it has another shape, or there is none
            self.result.outcomes.update(dict.fromkeys(answers, UNDECIDED))
            return
        wanted, error, is_known = difference
        self.result.outcomes.update(dict.fromkeys(answers, COMPARED if is_known else UNDECIDED))
        for name in answers if is_known else ():
            if is_off(name, wanted, error):
                found, expected, _ = compared(name, wanted, error)
                if (
                    self._has_kink()
                    or self._has_wrong_values()
                    or self._has_kink_inside()
                    or self._is_at_edge_of_mask()
                    or self._is_beyond_range(found)
                    or (np.any(np.isnan(found)) and self._has_infinite_slope_times_zero())
                    or self._is_noise(name, float(np.max(np.abs(found - expected))))
                ):
                    self.result.outcomes[name] = UNDECIDED
                else:
                    self._wrong(name, f"{found!r}, and a difference of gradients {expected!r}")
        self._compare_gradients(answers, max(_OF_SECOND, self.agreement), least)

    # Doubts.

    def _is_known(self, wanted: Any, error: Any) -> bool:
        scale = float(np.max(np.abs(wanted), initial=0.0))
        return bool(np.all(np.isfinite(wanted)) and np.all(error <= _KNOWN * scale + 1e-9))

    def _has_kink(self) -> bool:
        """Whether the slopes of the program, or of its gradient, differ on the two sides or close by.

        Or the shape or the kind of a variable does, as of what `np.trim_zeros` or `np.real_if_close` leaves, or one
        jumps, as the inverse of a matrix without full rank.
        """
        q = self.question
        try:
            here, *beside = (
                q.program.variables([x + h * dx for x, dx in zip(q.x, q.dx, strict=True)]) for h in (0.0, 1e-7, -1e-7)
            )
            largest = np.max(np.abs(_vector(here)), initial=0.0)
            for there in beside:
                if _kinds_of(there) != _kinds_of(here):
                    return True
                if np.any(np.abs(_vector(there) - _vector(here)) > _JUMP * largest):
                    return True
            x, value, gradient = q.program.arguments(), q.plain(), grad(q.of_sum(), q.argnums)
            return any(_has_two_slopes(lambda *x, f=f: f(*q.program.laid_out(x)), x, q.dx) for f in (value, gradient))
        except Exception:
            return True

    def _has_kink_inside(self) -> bool:
        """Whether a variable of the program has a kink that its result has not, as ``np.abs(x) ** 2`` at 0.

        Or a statement has one where its operands move by themselves, as ``np.abs(v)`` of ``v = x ** 2`` at 0. The slope
        of a kink is one of many, with which second derivatives are no others' limit.
        """
        program, rng = self.question.program, np.random.default_rng(0)
        try:
            names = {n: x for n, x in program.variables().items() if n not in program.inputs and is_differentiable(x)}
            zeros = [np.zeros(np.shape(x), np.asarray(x).dtype) for x in names.values()]
            sizes = [float(np.max(np.abs(x), initial=0.0)) for x in names.values()]
            moves = [_like(x, (s or 1.0) * rng.normal(size=x.shape)) for x, s in zip(zeros, sizes, strict=True)]
            x, dx = program.arguments(), self.question.dx

            def of_inputs(*x: Any) -> Any:
                return list(program.variables(program.laid_out(x)).values())

            def of_offsets(*offsets: Any) -> Any:
                moved = program.variables(x, offsets=dict(zip(names, offsets, strict=True)))
                return list(moved.values())

            return _has_two_slopes(of_inputs, x, dx) or _has_two_slopes(of_offsets, tuple(zeros), tuple(moves))
        except Exception:
            return True

    def _has_wrong_values(self) -> bool:
        """Whether a function on the way to the result has values somewhere that are not its own, as samples say."""
        program = self.question.program
        lines = "\n".join(program.lines_of_result())
        return any(has_wrong_values(*call) for name, call in program.calls.items() if f"{name}(" in lines)

    def _is_at_edge_of_mask(self) -> bool:
        """Whether a comparison of the program comes out another way close by, on both sides of its inputs or on one.

        ``np.where(x**2 > 0, x**2, 0)`` is x² at 0 too, and a number there, of which the second derivative is none.
        """
        q = self.question
        try:
            here, *beside = (
                q.program.conditions([x + h * dx for x, dx in zip(q.x, q.dx, strict=True)]) for h in (0.0, 1e-7, -1e-7)
            )
            return any(not all(map(np.array_equal, here, there)) or len(here) != len(there) for there in beside)
        except Exception:
            return True

    def _is_right_close_by(self, name: str) -> bool:
        """Whether the same mode is right beside this point, which then is a kink of a part that does not show outside.

        As that of ``np.copysign(x, x)`` at 0.
        """
        q = self.question
        rng, before = np.random.default_rng(0), q.program.inputs
        try:
            moved = q.program.laid_out(tuple([_moved(x, rng) for x in before.values()]))
            q.program.inputs = dict(zip(before, moved, strict=True))
            f = q.plain()
            estimate = jvp_fd(lambda *x: _vector(f(*q.program.laid_out(x))), q.program.arguments(), q.dx)
            wanted = float(_vector(q.weights) @ estimate.value)
            off_by = abs(self._number_close_by(name) - wanted)
            return off_by <= 20 * float(np.sum(estimate.error)) + 1e-5 * float(np.sum(np.abs(estimate.value)))
        except Exception:
            return False
        finally:
            q.program.inputs = before

    def _number_close_by(self, name: str) -> float:
        return self._number(FIRST[name](self.question))

    def _is_noise_of_one(self, names: tuple[str, ...], gap: float) -> bool:
        """Whether what tells two answers apart is the noise of either."""
        return any(self._is_noise(name, gap) for name in names)

    def _is_noise(self, name: str, gap: float) -> bool:
        """Whether last digits move an answer about as far.

        Those of the inputs, of directions and weights; or of each argument of a call by itself, where an answer has no
        digits of its own: of ``f(v, v)`` the derivatives by both may cancel. At a tie such an answer is one of two.
        """
        spread = np.sum(self._steps(name, of_calls=False), axis=0)
        if gap <= _NOISE * float(np.max(spread, initial=0.0)):
            return True
        each_another = np.sort(self._steps(name, of_calls=True), axis=0)[1]
        return gap <= _NOISE * float(np.max(each_another, initial=0.0))

    def _steps(self, name: str, of_calls: bool) -> Any:
        """Between the answers of a mode for five choices of last digits, in order; infinite where there is no answer.

        Of a program in single precision those of that, since others do not move its rounding.
        """
        q = self.question
        nudged = functools.partial(_nudged, epsilon=min(self.precision, _OF_SINGLE))
        mode = {**FIRST, **SECOND}[name]
        before, dx, weights = q.program.inputs, q.dx, q.weights
        try:
            numbers = []
            for k in (-3, -2, 0, 2, 3):
                if of_calls:
                    q.program.around = functools.partial(_with_other_digits, seed=k + 3)
                q.program.inputs = {n: nudged(x, k) for n, x in before.items()}
                q.dx = tuple([nudged(x, k) for x in dx])
                q.weights = [None if weight is None else nudged(weight, k) for weight in weights]
                try:
                    q.plain()(*q.program.arguments())
                except Exception:
                    # With other last digits of the inputs, there is no answer at all. A call may want equal arguments.
                    return np.full((4, 1), 0.0 if of_calls else np.inf)
                answer = mode(q)
                numbers.append(_vector(answer.cotangents if answer.cotangents is not None else answer.tangent))
            return np.diff(np.sort(numbers, axis=0), axis=0)
        except Exception:
            return np.zeros((4, 1))
        finally:
            q.program.inputs, q.dx, q.weights, q.program.around = before, dx, weights, as_it_is

    @functools.cached_property
    def _is_ill_posed(self) -> bool:
        """Whether last digits decide how large a variable is, as the solution of a singular equation.

        Those of the inputs, and of each argument of a call by itself: of ``filtfilt(b, b, x)`` the derivatives by both
        may cancel. Each of a few last digits gives another one then, and not one of two, as beside a jump.
        """
        program = self.question.program
        if self.precision > _COARSE:
            return False
        size = max((float(np.max(np.abs(x), initial=0.0)) for x in program.arguments()), default=0.0)
        try:
            of_inputs = [program.variables([_nudged(x, k) for x in program.arguments()]) for k in (-3, -2, 0, 2, 3)]
            of_calls = [
                dataclasses.replace(program, around=functools.partial(_with_other_digits, seed=k)).variables()
                for k in range(5)
            ]
            for runs in (of_inputs, of_calls):
                for name in runs[0]:
                    values = np.array([_vector([run[name]]) for run in runs])
                    scale = max(float(np.max(np.abs(values), initial=0.0)), size)
                    steps = np.diff(np.sort(values, axis=0), axis=0) / scale
                    if np.any(np.sum(steps > _DIGITS, axis=0) > 2):
                        return True
        except np.linalg.LinAlgError:  # with other last digits, there is no answer at all
            return True
        except Exception:  # a variable has another shape
            return False
        return False


def _writes_to_arguments(error: BaseException) -> bool:
    """Whether a checkpointed program has said that it writes to its arguments."""
    return any("is checkpointed" in text for text in (str(error), *getattr(error, "__notes__", ())))


def _comes_from(error: BaseException | None, kinds: tuple[type[Exception], ...]) -> bool:
    while error is not None and not isinstance(error, kinds):
        error = error.__cause__ or error.__context__
    return error is not None


def _like(x: Any, moved: Any) -> Any:
    """A number or array of the type of another."""
    return np.asarray(moved, x.dtype) if isinstance(x, np.ndarray) else type(x)(moved)


def _has_two_slopes(f: Any, x: Any, dx: Any) -> bool:
    """Whether the slopes on the two sides differ, or that along the direction is not the sum of those of its parts.

    As where `np.sort` meets equal numbers, of which the direction decides which is the first.
    """

    def slope(dx: Any, method: Any = forward_fdm) -> tuple[Any, Any]:
        side = jvp_fd(lambda *x: _vector(f(*x)), x, dx, fdm=method(4))
        return side.value, side.error

    right = slope(dx)
    if _differ(right, slope(dx, backward_fdm)):
        return True
    for seed in range(_SPLITS):
        rng = np.random.default_rng(seed)
        part = tuple([_like(d, rng.normal(size=np.shape(d)) * d) for d in dx])
        rest = tuple([_like(d, d - of_it) for d, of_it in zip(dx, part, strict=True)])
        (one, error), (other, its_error) = slope(part), slope(rest)
        if _differ(right, (one + other, error + its_error)):
            return True
    return False


def _differ(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    """Whether two slopes, each with its error, are not the same."""
    (slope, error), (another, its_error) = one, other
    scale = float(np.max(np.abs([slope, another]), initial=0.0))
    return not np.all(np.abs(slope - another) <= 1e-4 * scale + 10 * (error + its_error))


def _moved(x: Any, rng: np.random.Generator) -> Any:
    """Another point close by, at which nothing is equal any more."""
    return _like(x, np.asarray(x) + 1e-3 * rng.uniform(0.5, 1.5, np.shape(x)))


def _nudged(x: Any, k: int, rng: np.random.Generator | None = None, epsilon: float = 0.0) -> Any:
    """The same with other last digits, of each number in its own direction: what they have in common may cancel.

    Digits of at least ``epsilon``.
    """
    dtype = x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype
    factors = 1.0 + k * max(epsilon, float(np.finfo(dtype).eps)) * (rng or np.random.default_rng(abs(k))).choice(
        (-1.0, 1.0), np.shape(x)
    )
    with np.errstate(all="ignore"):
        if is_traced(x):
            return x * factors.astype(np.finfo(dtype).dtype)
        return _like(x, np.asarray(x) * factors)


def _with_other_digits(f: Any, seed: int) -> Any:
    """A function that is called with other last digits of each of its arguments."""
    rng = np.random.default_rng(seed)

    def other(x: Any) -> Any:
        return _nudged(x, 3, rng) if is_differentiable(x) else x

    return lambda *args, **kwargs: f(*tree_map(other, args), **tree_map(other, kwargs))


def _rounding_of(constant: Any) -> float:
    """The rounding error of what NumPy computes with a constant alone, half precision for ``np.log(np.uint8(2))``."""
    dtype = np.asarray(constant).dtype
    if dtype.kind not in "iub":
        return float(np.finfo(dtype).eps) if dtype.kind in "fc" else 0.0
    return float(np.finfo({1: np.float16, 2: np.float32}.get(dtype.itemsize, np.float64)).eps)


def _vector(tree: Any) -> Any:
    """All numbers of a tangent as one real vector."""
    parts = [np.zeros(0)]
    for leaf in tree_leaves(tree):
        if leaf is None or not is_differentiable(leaf):
            continue
        entries = np.asarray(leaf).reshape(-1)
        parts += [entries.real.astype(float)] + ([entries.imag.astype(float)] if np.iscomplexobj(entries) else [])
    return np.concatenate(parts)


def _same(found: Any, wanted: Any, tolerance: float) -> bool:
    """Whether two outputs have one structure and, to rounding, the same numbers of the same types."""
    ours, theirs = tree_leaves(found), tree_leaves(wanted)
    if len(ours) != len(theirs):
        return False
    for a, b in zip(ours, theirs, strict=True):
        if np.shape(a) != np.shape(b) or np.asarray(a).dtype != np.asarray(b).dtype:
            return False
        b = np.asarray(b)
        scale = float(np.max(np.abs(b), initial=0.0, where=np.isfinite(b))) if b.dtype.kind in "fc" else 0.0
        with np.errstate(all="ignore"):
            close = np.abs(np.asarray(a) - np.asarray(b)) <= tolerance * scale
        if not np.all(close | (np.asarray(a) == np.asarray(b)) | (np.isnan(a) & np.isnan(b))):
            return False
    return True


def _kinds_of(variables: dict[str, Any]) -> dict[str, Any]:
    arrays = {name: np.asarray(x) for name, x in variables.items() if is_differentiable(x)}
    return {name: (x.shape, x.dtype.kind) for name, x in arrays.items()}


def _coarsest(program: Program) -> float:
    """The rounding error of the least precise variable."""
    values = [np.asarray(x) for x in program.variables().values() if is_differentiable(x)]
    return max((float(np.finfo(value.dtype).eps) for value in values), default=float(np.finfo(float).eps))
