"""The Taylor remainder test: does what a rule's derivative leaves of its function vanish like h², or only like h?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rulescore import NoTangent, frule, rrule

from ..cases import MODES
from ..cases.arguments import Argument
from ..cases.case import Case
from ..cases.rule_calls import NotReachedError, RuleRaisedError, force, vector_of
from ..evidence.vectorisation import Vector, layout_of, tangent_to_vector
from ..evidence.warnings_here import warnings_here
from ..reports.names import name_of
from ..samples.random_tangents import PrimalWithTangent, with_tangent
from .remainders import ABOVE_NOISE, ProjectedLine, Remainders, norm_of, remainders

RIGHT, WRONG = 1.75, 1.25
"""Orders above the first are those of right derivatives, below the second of wrong ones. In between are derivatives
that are wrong by little more than shows, and functions whose slopes change faster than any line, like |x|^1.5 at 0."""


@dataclass(frozen=True, eq=False, repr=False)
class TaylorResult:
    """What `taylor_test` has measured.

    Attributes
    ----------
    call : str
        The function with the types of its arguments.
    mode : str
        Where the derivative came from: ``"frule"`` or ``"rrule"``.
    derivative : float
        d, what the rule says about the derivative of φ(t) = ⟨ȳ, f(x + t ẋ)⟩ at 0. NaN where the rule says nothing.
    steps : ndarray
        The steps h, from the shortest up.
    r0, r1 : ndarray
        |φ(±h) - φ(0)| and |φ(±h) - φ(0) ∓ h d| for each step, the larger of both directions, which differ at kinks;
        that of the direction inside the domain where the other is not, NaN where neither is.
    noise : ndarray
        How much of r1 may be round-off.
    order0, order : float
        p where r0 and r1 vanish like hᵖ. With the right derivative of a smooth function, ``order`` is 2 (more where
        the curvature is zero), with a wrong one 1. It is fitted where r1 is above its round-off, at the shortest such
        steps, over two decades at most. Infinite where r1 is nothing but round-off, as it is for linear functions, and
        that confirms the derivative to four digits at least; NaN where nothing can be said.
    order_error : float
        Standard error of ``order``.
    fitted : tuple of float
        The shortest and the longest step that ``order`` was fitted to.
    resolution : float
        An error of ``derivative`` smaller than this does not show in r1. It is seldom less than 1e-8 of the derivative:
        ask `check_rule` for more.
    evaluations : int
        How often the function was called at other points.
    note : str
        Why ``order`` is NaN.
    """

    call: str
    mode: str
    derivative: float
    steps: Vector = field(default_factory=lambda: np.zeros(0))
    r0: Vector = field(default_factory=lambda: np.zeros(0))
    r1: Vector = field(default_factory=lambda: np.zeros(0))
    noise: Vector = field(default_factory=lambda: np.zeros(0))
    order0: float = math.nan
    order: float = math.nan
    order_error: float = math.nan
    fitted: tuple[float, float] = (math.nan, math.nan)
    resolution: float = math.nan
    evaluations: int = 0
    note: str = ""

    @property
    def exact(self) -> bool:
        """Whether the remainder is nothing but round-off, as it is for a linear function and its right derivative."""
        return math.isinf(self.order)

    @property
    def passed(self) -> bool:
        """Whether the order is that of a right derivative: above 1.75.

        False also where the order is NaN: nothing was found then that speaks for the rule.
        """
        return self.order > RIGHT

    @property
    def summary(self) -> str:
        """One line: the call, the order, and what it says."""
        return f"{self.mode} of {self.call}: {self._finding()}"

    def __repr__(self) -> str:
        return f"<TaylorResult {self.summary}>"

    def __str__(self) -> str:
        return "\n".join([self.summary, *(f"  {line}" for line in self._lines())])

    def _finding(self) -> str:
        if self.exact:
            return "order ∞, the remainder is nothing but round-off"
        if math.isnan(self.order):
            return f"no order, {self.note}"
        if self.passed:
            return f"order {self.order:.2f}, as with a right derivative"
        if self.order > WRONG:
            return f"order {self.order:.2f}, between those of a wrong derivative (1) and a right one (2)"
        return f"order {self.order:.2f}, as with a wrong derivative (2 with a right one)"

    def _lines(self) -> Iterator[str]:
        yield f"derivative along the direction: {self.derivative:.10g}"
        if math.isfinite(self.resolution):
            yield f"an error of it below {self.resolution:.1g} would not show"
        if not self.steps.size:
            return
        rows = [("h", "|f(h) - f(0)|", "|f(h) - f(0) - h d|", "order"), *self._rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        for row in rows:
            yield "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip()

    def _rows(self) -> Iterator[tuple[str, str, str, str]]:
        """One row of the table for every second step (a decade), from the longest down, and what r1 loses by it."""
        steps, r0, r1, noise = (row.tolist() for row in (self.steps, self.r0, self.r1, self.noise))
        for place in range(len(steps) - 1, -1, -2):
            order = ""
            if not r1[place] > ABOVE_NOISE * noise[place]:
                order = "outside of the domain" if math.isnan(r1[place]) else "round-off"
            elif place >= 2 and r1[place - 2] > 0:
                order = f"{math.log(r1[place] / r1[place - 2]) / math.log(steps[place] / steps[place - 2]):.2f}"
            yield f"{steps[place]:.1e}", f"{r0[place]:.1e}", f"{r1[place]:.1e}", order


def taylor_test(
    f: Any,
    *primals: Any,
    tangents: Sequence[Any] | None = None,
    mode: str = "rrule",
    rrule_f: Callable[..., Any] = rrule,
    frule_f: Callable[..., Any] = frule,
    fkwargs: Mapping[str, Any] | None = None,
    cotangent: Any = None,
    config: Any = None,
    rng: np.random.Generator | int | None = None,
    steps: Sequence[float] | None = None,
) -> TaylorResult:
    """Measure how fast what a rule's derivative leaves of its function vanishes with the step.

    With φ(t) = ⟨ȳ, f(x + t ẋ)⟩ and the derivative d that the rule gives along ẋ, Taylor's theorem says that
    |φ(h) - φ(0)| is of order h, and |φ(h) - φ(0) - h d| of order h² if and only if d is right; with a wrong d it is of
    order h. The order is read off a row of steps, so no step has to be chosen. This is a measurement: whatever the
    rule does, nothing is raised, and `check_rule` gives a verdict with smaller errors.

    Parameters
    ----------
    f : callable
    *primals
        Its positional arguments: numbers, arrays, containers, anything.
    tangents : sequence, optional
        One tangent for each primal, ``NoTangent()`` where it stays as it is; ``f`` then stays as it is, too, unless it
        was given `with_tangent`. Random by default.
    mode : {"rrule", "frule"}
        The rule that gives the derivative.
    rrule_f, frule_f : callable, optional
        What to test in place of the rule tables: an AD system's function with the signature of `rrule` or `frule`.
    fkwargs : mapping, optional
        Keyword arguments; those that the rule takes by position move as well, unless ``tangents`` are given.
    cotangent : object, optional
        ȳ, a tangent of the output. Random by default.
    config : RuleConfig, optional
        As for `check_rule`.
    rng : numpy.random.Generator or int, optional
        Where random tangents come from. The same ones in every run by default.
    steps : sequence of float, optional
        The steps h; x + h ẋ and x - h ẋ are evaluated. By default 26 over 12 decades, the longest half of what makes a
        typical entry of x - h ẋ zero; and up to 26 longer ones where these decide nothing.

    Returns
    -------
    TaylorResult
        Both remainders, their orders, and ``passed``: whether the order is above 1.75.

    Raises
    ------
    ValueError
        For an unknown mode, another number of tangents than of primals, a tangent or cotangent that does not fit,
        steps that are not positive, tangents that are all zero, a call without a rule, and when ``f`` itself raises.

    References
    ----------
    Farrell, Ham, Funke, Rognes 2013, Automated derivation of the adjoint of high-level transient finite element
    programs, SIAM J. Sci. Comput. 35(4), C369-C393.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore import pullback_wrt
    >>> x = np.array([0.5, 1.0, 2.0])
    >>> result = taylor_test(np.sin, x)
    >>> round(result.order, 2), result.passed
    (2.0, True)
    >>> def wrong_rrule(f, x):
    ...     return f(x), pullback_wrt(x)(lambda ybar: -np.cos(x) * ybar)
    >>> taylor_test(np.sin, x, rrule_f=wrong_rrule)
    <TaylorResult rrule of numpy.sin(float64[3]): order 1.00, as with a wrong derivative (2 with a right one)>
    """
    if mode not in MODES:
        raise ValueError(f"mode={mode!r}: this is no mode of differentiation; write 'frule' or 'rrule'")
    function, arguments, keywords = _moving(f, primals, tangents, fkwargs or {})
    case = Case(
        function,
        arguments,
        fkwargs=keywords,
        modes=(mode,),
        rrule_f=rrule_f,
        frule_f=frule_f,
        config=config,
        output_tangent=cotangent,
        rng=rng,
    )
    with np.errstate(all="ignore"), warnings_here("ignore", RuntimeWarning):
        # As in `run_checks`: infinite derivatives come with NumPy's own warning, which is no mistake of the rule.
        _check(case, cotangent, steps)
        return _measured(case, steps)


def _moving(
    f: Any, primals: tuple[Any, ...], tangents: Sequence[Any] | None, fkwargs: Mapping[str, Any]
) -> tuple[Any, tuple[Any, ...], Mapping[str, Any]]:
    """Function, primals and keywords, each with its tangent where tangents are given."""
    if tangents is None:
        return f, primals, fkwargs
    if len(tangents) != len(primals):
        raise ValueError(
            f"taylor_test({name_of(f)}, ...): {len(tangents)} tangents were given for {len(primals)} primals; give one "
            "for each, NoTangent() for those that stay as they are"
        )
    moving = []
    for position, (primal, tangent) in enumerate(zip(primals, tangents, strict=True)):
        if isinstance(primal, PrimalWithTangent):
            raise ValueError(
                f"taylor_test({name_of(f)}, ...): argument {position} has two tangents, with_tangent and one in "
                "tangents=; give one of them"
            )
        try:
            moving.append(with_tangent(primal, tangent))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"taylor_test({name_of(f)}, ...): the tangent of argument {position} does not fit: {error}"
            ) from error
    function = f if isinstance(f, PrimalWithTangent) else with_tangent(f, NoTangent())
    return function, tuple(moving), {name: _still(value) for name, value in fkwargs.items()}


def _still(value: Any) -> Any:
    return value if isinstance(value, PrimalWithTangent) else with_tangent(value, NoTangent())


def _check(case: Case, cotangent: Any, steps: Sequence[float] | None) -> None:
    """Raise what is wrong with the arguments of `taylor_test`."""
    if cotangent is not None:
        try:
            tangent_to_vector(case.expected, cotangent)
        except (TypeError, ValueError) as error:
            raise ValueError(f"taylor_test of {case.call}: cotangent= does not fit the output: {error}") from error
    if not np.any(case.output_cotangent_vector):
        zero = "cotangent= is zero" if layout_of(case.expected).size else "the output has no numbers with a derivative"
        raise ValueError(f"taylor_test of {case.call}: {zero}, so there is nothing to measure; give another output")
    if not any(np.any(tangent_to_vector(a.value, a.tangent)) for a in case.arguments):
        raise ValueError(
            f"taylor_test of {case.call}: nothing moves; give floating-point arguments and tangents that are not zero"
        )
    if steps is None:
        return
    given = np.asarray(steps)
    valid = given.ndim == 1 and given.dtype.kind in "iuf" and np.isfinite(given).all() and bool((given > 0).all())
    if not valid or np.unique(given).size < 3:
        raise ValueError(f"taylor_test of {case.call}: steps={steps!r}; give three different positive numbers or more")


def _derivative_of(case: Case) -> tuple[float, float]:
    """The rule's derivative of ⟨ȳ, f⟩ along the case's tangents, and the norm of the terms of that sum."""
    (mode,) = case.modes
    _, result = case.forward.attempt if mode == "frule" else case.reverse.attempt
    if result is None:
        other = "frule" if mode == "rrule" else "rrule"
        raise ValueError(
            f"taylor_test of {case.call}: there is no {mode} for this call; register one with @{mode}.register(...), "
            f"or write mode={other!r} or {mode}_f= to test another derivative"
        )
    if mode == "frule":
        terms = case.output_cotangent_vector * vector_of(case.expected, force(case.forward.primal.derivative))
        terms = np.where(case.output_cotangent_vector == 0, 0.0, terms)
    else:
        terms = np.concatenate([np.zeros(0), *(_terms(case, a) for a in case.arguments if a.differentiable)])
    return float(terms.sum()), norm_of(terms)


def _terms(case: Case, argument: Argument) -> Vector:
    direction = np.asarray(tangent_to_vector(argument.value, argument.tangent))
    return np.where(direction == 0, 0.0, case.reverse.cotangent_vector(argument) * direction)


def _reason(mode: str, problem: Exception) -> str:
    """Why a rule gives no number."""
    causes = problem, problem.__cause__
    known = next((str(cause) for cause in causes if cause is not None and str(cause)), "")
    return f"the {mode} gives no number: " + (known or "it does not return what its kind of rule returns")


def _measured(case: Case, steps: Sequence[float] | None) -> TaylorResult:
    (mode,) = case.modes
    try:
        derivative, magnitude = _derivative_of(case)
    except (RuleRaisedError, NotReachedError) as problem:
        return TaylorResult(case.call, mode, math.nan, note=_reason(mode, problem))
    if not math.isfinite(derivative):
        return TaylorResult(case.call, mode, derivative, note=f"the derivative that the {mode} gives is {derivative}")
    line = ProjectedLine(case, case.vector_function.direction([argument.tangent for argument in case.arguments]))
    return _result(case, derivative, remainders(line, derivative, magnitude, case.epsilon, steps), line.evaluations)


def _result(case: Case, derivative: float, found: Remainders, evaluations: int) -> TaylorResult:
    order, note = found.order, ""
    if math.isnan(order.value):
        seen = np.isfinite(found.r1).any()
        note = (
            "the remainder is round-off and the derivative too small to be seen in it"
            if seen
            else ("the function is not finite near its arguments")
        )
    return TaylorResult(
        case.call,
        case.modes[0],
        derivative,
        found.row.steps,
        found.r0,
        found.r1,
        found.noise,
        found.order0.value,
        order.value,
        order.error,
        (order.shortest, order.longest),
        order.resolution,
        evaluations,
        note,
    )
