"""Every way to differentiate a program, each brought to the same two numbers: along one direction, of one sum.

First derivatives are ⟨w, J ẋ⟩ for a cotangent w and a direction ẋ, second ones the derivative of the gradient along ẋ.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from optree import tree_leaves, tree_map

from rulescore import ad

from .calls import is_differentiable
from .program import Program

MOST_ROWS = 64
"""Of how many entries in and out a whole Jacobian is made at most."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a mode gives: the output if it gives one, and the derivative as tangents of the output or as cotangents."""

    value: Any = None
    tangent: Any = None
    cotangents: tuple[Any, ...] | None = None


class Question:
    """A program with a direction of its inputs and a cotangent of its output; and what its output is, plainly."""

    def __init__(self, program: Program, seed: int = 0) -> None:
        self.program = program
        self._rng = np.random.default_rng(seed)
        self.x = program.arguments()
        self.value = self.plain()(*program.arguments())
        self.dx = tuple(self._random(x) for x in self.x)
        leaves = tree_leaves(self.value)
        self.weights = [self._random(y) if is_differentiable(y) else None for y in leaves]

    def _random(self, x: Any) -> Any:
        """Numbers between 0.5 and 1.5 of both signs, as the tangent of an array or number."""
        shape = np.shape(x)

        def real() -> Any:
            return self._rng.choice((-1.0, 1.0), shape) * self._rng.uniform(0.5, 1.5, shape)

        entries = real() + 1j * real() if np.iscomplexobj(x) else real()
        if isinstance(x, np.ndarray):
            return entries.astype(x.dtype)
        return np.asarray(entries)[()].astype(x.dtype) if isinstance(x, np.generic) else type(x)(entries)

    def plain(self) -> Callable[..., Any]:
        """The program with constants that nobody else has written to."""
        return self.program.function()

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """How many entries there are in and out."""
        return sum(map(np.size, self.x)), sum(map(np.size, tree_leaves(self.value)))

    @cached_property
    def has_signed_zeros(self) -> bool:
        """Whether complex inputs have a part of -0, which ``a + 1j * b`` makes 0: the other side of a branch cut."""
        parts = [part for x in self.x if np.iscomplexobj(x) for part in (np.real(x), np.imag(x))]
        return any(np.any((part == 0) & np.signbit(part)) for part in parts)

    def of_sum(self) -> Callable[..., Any]:
        """The program's weighted sum."""
        f = self.plain()
        return lambda *x: self.weighted(f(*x))

    def weighted(self, value: Any) -> Any:
        """⟨w, y⟩, of an output or of its tangent."""
        total: Any = 0.0
        for weight, leaf in zip(self.weights, tree_leaves(value), strict=True):
            if weight is not None:
                total = total + np.real(np.sum(np.conj(weight) * leaf))
        return total

    def paired(self, cotangents: tuple[Any, ...]) -> float:
        """⟨x̄, ẋ⟩."""
        return float(sum(terms.sum() for terms in self.terms(cotangents)))

    def terms(self, cotangents: tuple[Any, ...]) -> list[Any]:
        """What that is summed from."""
        return [np.real(np.conj(xbar) * dx) for xbar, dx in zip(cotangents, self.dx, strict=True)]

    def cotangent(self) -> Any:
        """w, in the structure of the output."""
        weights = iter(self.weights)
        return tree_map(lambda y: next(weights), self.value)

    @property
    def argnums(self) -> tuple[int, ...]:
        return tuple(range(len(self.x)))


# First derivatives.


def _jvp(q: Question) -> Answer:
    value, tangent = ad.jvp(q.plain(), q.program.arguments(), q.dx)
    return Answer(value, tangent)


def _linearize(q: Question) -> Answer:
    value, along = ad.linearize(q.plain(), *q.program.arguments())
    return Answer(value, along(*q.dx))


def _vjp(q: Question) -> Answer:
    value, pullback = ad.vjp(q.plain(), *q.program.arguments())
    return Answer(value, cotangents=pullback(q.cotangent()))


def _grad(q: Question) -> Answer:
    return Answer(cotangents=ad.grad(q.of_sum(), q.argnums)(*q.program.arguments()))


def _checkpointed(q: Question) -> Answer:
    f = ad.checkpoint(q.plain())
    return Answer(cotangents=ad.grad(lambda *x: q.weighted(f(*x)), q.argnums)(*q.program.arguments()))


def _imperative(q: Question) -> Answer:
    variables = [ad.variable(x) for x in q.program.arguments()]
    ad.backward(q.of_sum()(*variables))
    return Answer(cotangents=_grads(variables, q))


def _grads(variables: list[Any], q: Question) -> tuple[Any, ...]:
    return tuple(np.zeros_like(x) if v.grad is None else v.grad for v, x in zip(variables, q.x, strict=True))


def _jacfwd(q: Question) -> Answer:
    return _along(q, ad.jacfwd)


def _jacrev(q: Question) -> Answer:
    return _along(q, ad.jacrev)


def _along(q: Question, jacobian: Any) -> Answer:
    """J ẋ of the output as one vector, from all of J; with real and imaginary parts as numbers of their own."""
    f, x = q.plain(), q.program.arguments()

    def flat(*parts: Any) -> Any:
        leaves = [np.reshape(y, -1) for y in tree_leaves(f(*_joined(x, parts))) if is_differentiable_output(y)]
        return np.concatenate([part for y in leaves for part in (np.real(y), np.imag(y))[: 1 + np.iscomplexobj(y)]])

    rows = jacobian(flat, tuple(range(len(_parts(x)))))(*_parts(x))
    return Answer(tangent=sum(np.tensordot(J, dx, np.ndim(dx)) for J, dx in zip(rows, _parts(q.dx), strict=True)))


def _parts(x: Any) -> list[Any]:
    """Arrays and numbers with the complex ones in two parts."""
    return [part for y in x for part in ((y.real, y.imag) if np.iscomplexobj(y) else (y,))]


def _joined(x: Any, parts: Any) -> list[Any]:
    """The arrays and numbers of such parts."""
    rest, joined = iter(parts), []
    for y in x:
        z = next(rest)
        if np.iscomplexobj(y):
            z = z + np.asarray(1j, np.result_type(y))[()] * next(rest)
        is_array = isinstance(y, np.ndarray) and not np.ndim(y)  # which the sum has made a number of
        joined.append(np.reshape(np.reshape(z, (1,)), ()) if is_array else z)
    return joined


def is_differentiable_output(y: Any) -> bool:
    """Whether an output, which may be traced, has a tangent space."""
    return np.result_type(y).kind in "fc"


# Second derivatives.


def _forward_over_forward(q: Question) -> Answer:
    """⟨ẋ, H ẋ⟩ alone."""
    f = q.of_sum()
    return Answer(tangent=ad.jvp(lambda *x: ad.jvp(f, x, q.dx)[1], q.program.arguments(), q.dx)[1])


def _forward_over_reverse(q: Question) -> Answer:
    gradient = ad.grad(q.of_sum(), q.argnums)
    return Answer(cotangents=ad.jvp(gradient, q.program.arguments(), q.dx)[1])


def _reverse_over_forward(q: Question) -> Answer:
    f = q.of_sum()
    return Answer(cotangents=ad.grad(lambda *x: ad.jvp(f, x, q.dx)[1], q.argnums)(*q.program.arguments()))


def _reverse_over_reverse(q: Question) -> Answer:
    gradient = ad.grad(q.of_sum(), q.argnums)
    return Answer(cotangents=ad.grad(lambda *x: _along_direction(gradient(*x), q), q.argnums)(*q.program.arguments()))


def _along_direction(gradient: tuple[Any, ...], q: Question) -> Any:
    return sum(np.sum(np.real(np.conj(dx) * g)) for g, dx in zip(gradient, q.dx, strict=True))


def _checkpointed_twice(q: Question) -> Answer:
    f = ad.checkpoint(q.plain())
    gradient = ad.grad(lambda *x: q.weighted(f(*x)), q.argnums)
    return Answer(cotangents=ad.grad(lambda *x: _along_direction(gradient(*x), q), q.argnums)(*q.program.arguments()))


def _forward_over_checkpointed(q: Question) -> Answer:
    f = ad.checkpoint(q.plain())
    gradient = ad.grad(lambda *x: q.weighted(f(*x)), q.argnums)
    return Answer(cotangents=ad.jvp(gradient, q.program.arguments(), q.dx)[1])


def _imperative_twice(q: Question) -> Answer:
    variables = [ad.variable(x) for x in q.program.arguments()]
    ad.backward(q.of_sum()(*variables), create_graph=True)
    slope = _along_direction(_grads(variables, q), q)
    for v in variables:
        v.grad = None
    with contextlib.suppress(ad.UnrelatedOutputError):  # where the gradient is constant
        ad.backward(slope)
    return Answer(cotangents=_grads(variables, q))


def _hessian(q: Question) -> Answer:
    f, x = q.of_sum(), q.program.arguments()
    places = tuple(range(len(_parts(x))))
    rows = ad.hessian(lambda *parts: f(*_joined(x, parts)), places)(*_parts(x))
    found = []
    for row in rows:
        found.append(sum(np.tensordot(H, dx, np.ndim(dx)) for H, dx in zip(row, _parts(q.dx), strict=True)))
    return Answer(cotangents=tuple(_joined(x, found)))


FIRST: dict[str, Callable[[Question], Answer]] = {
    "jvp": _jvp,
    "linearize": _linearize,
    "vjp": _vjp,
    "grad": _grad,
    "checkpointed": _checkpointed,
    "imperative": _imperative,
    "jacfwd": _jacfwd,
    "jacrev": _jacrev,
}

SECOND: dict[str, Callable[[Question], Answer]] = {
    "forward over forward": _forward_over_forward,
    "forward over reverse": _forward_over_reverse,
    "reverse over forward": _reverse_over_forward,
    "reverse over reverse": _reverse_over_reverse,
    "checkpointed twice": _checkpointed_twice,
    "forward over checkpointed": _forward_over_checkpointed,
    "imperative twice": _imperative_twice,
    "hessian": _hessian,
}

BATCHED = ("jacfwd", "jacrev", "hessian")
"""Modes that make a whole Jacobian, which are asked where it is small."""
