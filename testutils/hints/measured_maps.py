"""The pullback and the pushforward of a function at one point, as finite differences measure them and as the rule has
them. Nothing is judged here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from rulescore import NoTangent

from ..cases.arguments import Argument
from ..cases.case import Case
from ..cases.reverse import entry_of
from ..cases.rule_calls import force, vector_of
from ..cases.search_budget import SearchBudget
from ..evidence.finite_differences import derivative_along
from ..evidence.vector_function import VectorFunction
from ..evidence.vectorisation import (
    Layout,
    NumericLayout,
    Vector,
    entries_of,
    layout_of,
    tangent_to_vector,
    vector_to_tangent,
)
from ..samples.random_tangents import PrimalWithTangent, rand_tangent

EVALUATIONS = 1000
"""How often the function may be evaluated for all hints about one argument together."""

DEAREST = 50
"""More evaluations than one directional derivative takes."""

STEP = 1e-3
"""Step of the quick difference, in units of the scale of the direction."""

QUICK_ENOUGH = 1e-6
"""Error of a quick difference, relative to the largest derivative beside it, that needs no better one."""

MOST_COLUMNS = 32
"""Largest argument whose whole Jacobian is measured for a single row of it."""

MOVE = 2e-3
"""How far away the second point is, relative to each entry."""

SHORTER = 0.7
"""Length of the other vector, where the test prescribes the direction."""

T = TypeVar("T")


class BudgetSpentError(Exception):
    """A measurement would take more evaluations than are left."""


def attempt(compute: Callable[[], T]) -> T | None:
    """The value of ``compute()``, or None where it raises.

    The rule is known to be wrong and may raise anywhere, and the function may do so at other points than its own.
    """
    try:
        return compute()
    except Exception:
        return None


class Budget:
    """The evaluations that are left for the hints about one argument, of those that are left for the whole search."""

    def __init__(self, search: SearchBudget) -> None:
        self._search = search
        self.left = EVALUATIONS

    @contextmanager
    def spending(self, function: VectorFunction) -> Iterator[None]:
        """Count what ``function`` is evaluated inside of the block."""
        if self.left < DEAREST or not self._search.affords(DEAREST):
            raise BudgetSpentError
        before = function.evaluations
        try:
            with self._search.spending(function):
                yield
        finally:
            self.left -= function.evaluations - before


@dataclass(frozen=True, eq=False)
class Measured:
    """Numbers with the errors that finite differences left in them."""

    value: Vector
    error: Vector

    def times(self, factor: Any) -> Measured:
        return Measured(factor * self.value, np.abs(factor) * self.error)


def case_at(case: Case, values: Mapping[int, Any] | None = None, keywords: Mapping[str, Any] | None = None) -> Case:
    """The same case with other values at some positions, or of some keywords."""
    values = values or {}

    def given(argument: Argument) -> Any:
        value = values.get(argument.position, argument.value)
        return PrimalWithTangent(value, argument.tangent) if argument.given else value

    function, *positional = case.arguments[: 1 + len(case.args)]
    bound = {a.keyword: given(a) for a in case.arguments if a.keyword is not None}
    return Case(
        given(function),
        tuple(map(given, positional)),
        fkwargs={**case.kwargs, **bound, **(keywords or {})},
        modes=case.modes,
        rrule_f=case.rules["rrule"],
        frule_f=case.rules["frule"],
        config=case.config,
        output_tangent=case.given_output_tangent,
        fdm=case.fdm,
        rng=1,
    )


def case_nearby(case: Case) -> Case | None:
    """The same case at a second point, at which numbers that are equal by coincidence are equal no more.

    Zeros stay, since many functions are special there, unless nothing but zeros could move. None where nothing can: the
    only tangents that are given are zero, or the function is an object with numbers and has no other argument.
    """
    return _case_moved(case, 0.0) or _case_moved(case, 1.0)


def _case_moved(case: Case, size_of_zero: float) -> Case | None:
    generator = np.random.default_rng(2)
    moved = {}
    has_moved = False
    for argument in case.differentiable_arguments:
        if argument.position == 0:  # a rule may know the very object
            continue
        layout = layout_of(argument.value)
        x = entries_of(layout)
        if argument.given:
            dx = np.asarray(tangent_to_vector(argument.value, argument.tangent))
            step = MOVE * dx * (np.linalg.norm(x) or 1.0) / (np.linalg.norm(dx) or 1.0)
        else:
            step = (
                MOVE
                * np.where(x == 0, size_of_zero, x)
                * generator.choice((-1.0, 1.0), x.size)
                * generator.uniform(0.5, 1.5, x.size)
            )
        there = _as_symmetric_as(argument.value, layout.rebuild(x + step, False))
        has_moved |= not np.array_equal(entries_of(layout_of(there)), x, equal_nan=True)
        moved[argument.position] = there
    return case_at(case, moved) if has_moved else None


def _as_symmetric_as(x: Any, moved: Any) -> Any:
    """A moved matrix that is symmetric or Hermitian where it was before, since a function may be defined there only."""
    if not isinstance(x, np.ndarray) or x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        return moved
    for turn in (np.asarray, np.conj):
        if np.array_equal(x, turn(np.swapaxes(x, -1, -2))):
            return ((moved + turn(np.swapaxes(moved, -1, -2))) / 2).astype(x.dtype)
    return moved


def have_same_numbers(a: Layout, b: Layout) -> bool:
    """Whether the arrays and numbers in two objects have the same shapes and realness."""
    return [(n.shape, n.is_complex) for n in a.leaves()] == [(n.shape, n.is_complex) for n in b.leaves()]


class MeasuredMap(ABC):
    """A linear map from vectors in the layout ``source`` to vectors in the layout ``target``.

    Parameters
    ----------
    case : Case
        Only read: all evaluations are those of copies of it.
    position : int
        Of the argument whose derivative it is.
    budget : Budget
    """

    of_vector: str
    """What the map is applied to, in the words of a hint."""

    result: str
    """What the map gives."""

    rows_are_free: bool
    """Whether one row of the matrix costs one directional derivative, and not as many as there are columns."""

    def __init__(self, case: Case, position: int, budget: Budget) -> None:
        self.case, self.position, self.budget = case, position, budget
        self.argument = next(argument for argument in case.arguments if argument.position == position)
        budget.left -= 3  # the output, and the vector function's own output in up to two precisions
        self.source, self.target = self._layouts()

    @abstractmethod
    def _layouts(self) -> tuple[Layout, Layout]:
        """Source and target."""

    @property
    @abstractmethod
    def primal(self) -> Any:
        """What the results are tangents of."""

    @abstractmethod
    def true(self, v: Vector, entries: Any) -> Measured:
        """Some entries of the result for ``v`` according to finite differences."""

    @abstractmethod
    def row(self, entry: int) -> Measured:
        """The row of the matrix that belongs to one entry of the target."""

    @abstractmethod
    def answer(self, v: Vector) -> Any:
        """What the rule gives for ``v``, as it gives it, but for thunks."""

    def rule(self, v: Vector) -> Vector:
        """What the rule gives for ``v``, as a result of this map."""
        return self.projected(vector_of(self.primal, self.answer(v)))

    def projected(self, tangent: Vector) -> Vector:
        """A tangent of the primal as a result of this map."""
        return np.asarray(tangent, dtype=float)

    @abstractmethod
    def is_constant(self, v: Vector, entries: Any) -> bool:
        """Whether some entries of the result for ``v`` are zero since nothing changes, and not at this point alone."""

    def _stays(self, direction: Vector, outputs: Any) -> bool:
        """Whether entries of the output are the same numbers, some way along a direction of the argument."""
        function, joint = self.case.vector_function, self._joint(direction)
        joint = np.where(np.isfinite(function.x), joint, 0.0)
        if not joint.any():
            return True
        with self.budget.spending(function), np.errstate(all="ignore"):
            h = STEP * function.line(joint).scale
            here, *there = (function.at(function.x + k * h * joint)[outputs] for k in (0.0, 1.0, -1.0, 0.3))
            return all(np.array_equal(here, y, equal_nan=True) for y in there)

    @abstractmethod
    def other_vectors(self) -> list[Vector]:
        """Vectors that the rule may be applied to, other than the one that the test is about."""

    @property
    def takes_any_vector(self) -> bool:
        """Whether finite differences along other vectors of the source are inside of the domain."""
        return True

    def at(self, case: Case, position: int | None = None) -> MeasuredMap:
        """The same map of another case, or with respect to another argument."""
        return type(self)(case, self.position if position is None else position, self.budget)

    def _derivative(self, direction: Vector) -> Measured:
        """The derivative along a direction of the argument, as cheaply as it can be had."""
        function, joint = self.case.vector_function, self._joint(direction)
        joint = np.where(np.isfinite(function.x), joint, 0.0)  # an infinity or NaN does not move
        if not joint.any():
            return Measured(np.zeros(function.y.size), np.zeros(function.y.size))
        with self.budget.spending(function):
            quick = None if self.case.fdm is not None else _quick_derivative(function, joint)
            if quick is not None and np.all(quick.error <= QUICK_ENOUGH * np.max(np.abs(quick.value), initial=0.0)):
                return quick
            found = derivative_along(function, joint, self.case.fdm)
            return Measured(np.asarray(found.value, dtype=float), np.asarray(found.error, dtype=float))

    def _joint(self, direction: Vector) -> Vector:
        """A direction of the argument as one of all arguments."""
        joint = np.zeros(self.case.vector_function.x.size)
        joint[self.case.directions.part_of(self.argument)] = direction
        return joint


def _quick_derivative(function: VectorFunction, direction: Vector) -> Measured:
    """A central difference of fourth order in four evaluations; its error is seen in that of second order."""
    h = STEP * function.line(direction).scale
    with np.errstate(all="ignore"):
        up, down, far_up, far_down = (
            function.at(function.x + k * h * direction).astype(float) for k in (1.0, -1.0, 2.0, -2.0)
        )
        short, long = (up - down) / (2 * h), (far_up - far_down) / (4 * h)
        value = (4 * short - long) / 3
        rounding = 4 * function.epsilon * np.maximum(np.abs(up), np.abs(down)) / h
        error = 0.02 * np.abs(value - short) + rounding
    constant = (up == down) & (far_up == far_down) & (up == far_up)
    return Measured(value, np.where(constant, 0.0, error))


class MeasuredPullback(MeasuredMap):
    """x̄ = Jᵀ ȳ with respect to one argument: a row of the matrix is a column of J.

    Where the argument's tangent is given, other directions may leave the domain: then the only entry of the result is
    ⟨x̄, ẋ⟩ along it, or along the given tangent of the argument that ``along`` tells.
    """

    of_vector = "ybar"
    result = "cotangent"
    rows_are_free = True

    def __init__(self, case: Case, position: int, budget: Budget, along: Vector | None = None) -> None:
        self.along = along
        super().__init__(case, position, budget)
        self._columns: dict[int, Measured] = {}

    def _layouts(self) -> tuple[Layout, Layout]:
        if self.argument.given and self.along is None:
            self.along = np.asarray(tangent_to_vector(self.argument.value, self.argument.tangent))
        target = layout_of(self.argument.value if self.along is None else 0.0)
        return layout_of(self.case.expected), target

    def at(self, case: Case, position: int | None = None) -> MeasuredMap:
        return MeasuredPullback(case, self.position if position is None else position, self.budget, self.along)

    def true(self, v: Vector, entries: Any) -> Measured:
        rows = [self.row(int(entry)) for entry in entries]
        used = v != 0  # a zero cotangent is a strong zero
        value = np.array([row.value[used] @ v[used] for row in rows])
        return Measured(value, np.array([row.error[used] @ np.abs(v[used]) for row in rows]))

    def row(self, entry: int) -> Measured:
        if entry not in self._columns:
            direction = self.along
            if direction is None:
                direction = np.zeros(self.target.size)
                direction[entry] = 1.0
            self._columns[entry] = self._derivative(direction)
        return self._columns[entry]

    def is_constant(self, v: Vector, entries: Any) -> bool:
        if self.along is not None:
            return self._stays(self.along, slice(None))
        direction, x = np.zeros(self.target.size), entries_of(self.target)[entries]
        direction[entries] = np.where(np.isfinite(x) & (x != 0), np.abs(x), 1.0)
        return self._stays(direction, slice(None))

    @property
    def primal(self) -> Any:
        return self.argument.value

    def answer(self, v: Vector) -> Any:
        case = self.case
        ybar = case.as_output_tangent(vector_to_tangent(case.expected, v))
        return force(entry_of(case.reverse.pull(case.reverse.run().derivative, ybar), self.argument))

    def projected(self, tangent: Vector) -> Vector:
        xbar = super().projected(tangent)
        return xbar if self.along is None else np.array([xbar @ self.along])

    def other_vectors(self) -> list[Vector]:
        if self.case.given_output_tangent is not None:
            return [SHORTER * self.case.output_cotangent_vector]
        return _random_vectors(self.case.expected)


class MeasuredPushforward(MeasuredMap):
    """ẏ = J ẋ where one argument moves: every entry of the result comes with one directional derivative.

    With ``moving``, a vector of ones and zeros, the rule is asked about some entries of the argument only.
    """

    of_vector = "the tangent"
    result = "tangent"
    rows_are_free = False

    def __init__(self, case: Case, position: int, budget: Budget, moving: Vector | None = None) -> None:
        super().__init__(case, position, budget)
        self.moving = np.ones(self.source.size) if moving is None else moving
        self._along: dict[bytes, Measured] = {}

    def at(self, case: Case, position: int | None = None) -> MeasuredMap:
        other = position is not None and position != self.position
        position = self.position if position is None else position
        return MeasuredPushforward(case, position, self.budget, None if other else self.moving)

    def _layouts(self) -> tuple[Layout, Layout]:
        return layout_of(self.argument.value), layout_of(self.case.expected)

    @property
    def takes_any_vector(self) -> bool:
        return not self.argument.given

    def true(self, v: Vector, entries: Any) -> Measured:
        found = self._measured_along(v)
        return Measured(found.value[entries], found.error[entries])

    def row(self, entry: int) -> Measured:
        if not self.takes_any_vector or self.source.size > MOST_COLUMNS:
            raise BudgetSpentError
        columns = [self._measured_along(unit) for unit in np.eye(self.source.size)]
        return Measured(np.array([c.value[entry] for c in columns]), np.array([c.error[entry] for c in columns]))

    def _measured_along(self, v: Vector) -> Measured:
        key = np.asarray(v, dtype=float).tobytes()
        if key not in self._along:
            self._along[key] = self._derivative(v)
        return self._along[key]

    def know(self, v: Vector, found: Measured) -> None:
        """Take a derivative that was measured before."""
        self._along[np.asarray(v, dtype=float).tobytes()] = found

    def is_constant(self, v: Vector, entries: Any) -> bool:
        return self._stays(v, entries)

    @property
    def primal(self) -> Any:
        return self.case.expected

    def answer(self, v: Vector) -> Any:
        joint, case = self._joint(v), self.case
        tangents = [
            vector_to_tangent(argument.value, joint[case.directions.part_of(argument)])
            if argument.differentiable
            else NoTangent()
            for argument in case.arguments
        ]
        return force(case.forward.run(tuple(tangents)).derivative)

    def other_vectors(self) -> list[Vector]:
        x = self.argument.value
        if self.argument.given:
            return [SHORTER * np.asarray(tangent_to_vector(x, self.argument.tangent), dtype=float)]
        return [self.moving * v for v in _random_vectors(x)]


class MeasuredJointPushforward(MeasuredPushforward):
    """ẏ = J ẋ where all arguments move."""

    def __init__(self, case: Case, budget: Budget) -> None:
        super().__init__(case, 0, budget)

    def _layouts(self) -> tuple[Layout, Layout]:
        return layout_of([argument.value for argument in self.case.arguments]), layout_of(self.case.expected)

    def _joint(self, direction: Vector) -> Vector:
        return direction

    @property
    def takes_any_vector(self) -> bool:
        return not any(argument.given for argument in self.case.arguments)

    @property
    def tangent(self) -> Vector:
        """The tangents of all arguments as one vector."""
        parts = [tangent_to_vector(argument.value, argument.tangent) for argument in self.case.arguments]
        return np.concatenate([np.zeros(0), *parts]).astype(float)

    def other_vectors(self) -> list[Vector]:
        return [SHORTER * self.tangent]


def _random_vectors(x: Any) -> list[Vector]:
    generator = np.random.default_rng(3)
    return [np.asarray(tangent_to_vector(x, rand_tangent(generator, x)), dtype=float) for _ in range(2)]


def single_array(layout: Layout) -> NumericLayout | None:
    """The layout itself where the object is one array or number."""
    return layout if isinstance(layout, NumericLayout) else None
