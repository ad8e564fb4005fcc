"""Functions with rules whose arguments and results are objects, and programs of arrays that go through them.

Each function computes in a way that no tracer withstands, so that a program is differentiated by the rules alone.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import attrs
import numpy as np

from rulescore import NoTangent, Tangent, frule, rrule
from rulescore.ad import primitive


@dataclass
class Plain:
    mean: Any
    scale: Any


@dataclass(frozen=True)
class Frozen:
    mean: Any
    scale: Any
    name: str = "frozen"


@dataclass(slots=True)
class Slotted:
    mean: Any
    scale: Any
    count: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordOnly:
    mean: Any
    scale: Any
    nothing: None = None


class Inherited(Plain):
    """Has the fields of the class above."""


class Named(NamedTuple):
    mean: Any
    scale: Any
    name: str = "named"


class Pair(NamedTuple):
    mean: Any
    scale: Any


@attrs.define
class Attrs:
    mean: Any
    scale: Any


@attrs.frozen(slots=False)
class FrozenAttrs:
    mean: Any
    scale: Any
    edges: Any = attrs.field(factory=lambda: np.array([[0, 1], [1, 2]]))


class Object:
    def __init__(self, mean: Any, scale: Any) -> None:
        self.mean = mean
        self.scale = scale
        self.itself = self


class SlottedObject:
    __slots__ = ("mean", "scale")

    def __init__(self, mean: Any, scale: Any) -> None:
        self.mean = mean
        self.scale = scale


def as_dict(mean: Any, scale: Any) -> dict[str, Any]:
    return {"mean": mean, "scale": scale}


def as_ordered_dict(mean: Any, scale: Any) -> Any:
    return collections.OrderedDict(mean=mean, scale=scale)


def as_tuple(mean: Any, scale: Any) -> tuple[Any, ...]:
    return mean, scale


def as_list(mean: Any, scale: Any) -> list[Any]:
    return [mean, scale]


MAKERS: list[Callable[..., Any]] = [
    *(Plain, Frozen, Slotted, KeywordOnly, Inherited, Named, Pair, Attrs, FrozenAttrs, Object, SlottedObject),
    *(as_dict, as_ordered_dict, as_tuple, as_list),
]


def numbers(x: Any) -> Any:
    """What code in C would get."""
    return np.frombuffer(np.ascontiguousarray(np.asarray(x, float)).tobytes()).reshape(np.shape(x))


class Kind:
    """Four functions of objects that hold a vector and a number, and their rules."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self.make = lambda mean, scale: make(mean=mean, scale=scale)
        self.cls = type(self.make(1.0, 1.0))
        self.is_ordered = self.cls in (tuple, list)
        kind = self

        def made(x: Any) -> Any:
            x = numbers(x)
            return kind.make(x**2, np.sum(np.sin(x)))

        def moved(s: Any, x: Any) -> Any:
            m, k = map(numbers, kind.parts(s))
            x = numbers(x)
            return kind.make(m + x, k * np.sum(x))

        def between(s: Any, t: Any) -> Any:
            (m, k), (n, j) = map(numbers, kind.parts(s)), map(numbers, kind.parts(t))
            return np.sum((m - n) ** 2) / (1 + k**2 + j**2)

        def whitened(x: Any, s: Any) -> Any:
            m, k = map(numbers, kind.parts(s))
            return (numbers(x) - m) / (1 + k**2)

        @rrule.register(made)
        def made_rrule(x: Any) -> Any:
            def made_pullback(ybar: Any) -> Any:
                mbar, kbar = kind.parts(ybar)
                return NoTangent(), mbar * (2 * x) + kbar * np.cos(x)

            return kind.make(x**2, np.sum(np.sin(x))), made_pullback

        @frule.register(made)
        def made_frule(tangents: Any, x: Any) -> Any:
            dx = tangents[1]
            return kind.make(x**2, np.sum(np.sin(x))), kind.tangent(2 * x * dx, np.sum(np.cos(x) * dx))

        @rrule.register(moved)
        def moved_rrule(s: Any, x: Any) -> Any:
            m, k = kind.parts(s)

            def moved_pullback(ybar: Any) -> Any:
                mbar, kbar = kind.parts(ybar)
                return NoTangent(), kind.tangent(mbar, kbar * np.sum(x)), mbar + kbar * k * np.ones_like(x)

            return kind.make(m + x, k * np.sum(x)), moved_pullback

        @frule.register(moved)
        def moved_frule(tangents: Any, s: Any, x: Any) -> Any:
            (m, k), (dm, dk), dx = kind.parts(s), kind.parts(tangents[1]), tangents[2]
            return kind.make(m + x, k * np.sum(x)), kind.tangent(dm + dx, dk * np.sum(x) + k * total(dx))

        @rrule.register(between)
        def between_rrule(s: Any, t: Any) -> Any:
            (m, k), (n, j) = kind.parts(s), kind.parts(t)
            d, q = m - n, 1 + k**2 + j**2
            y = np.sum(d**2) / q

            def between_pullback(ybar: Any) -> Any:
                mbar = 2 * d / q * ybar
                return (
                    NoTangent(),
                    kind.tangent(mbar, -2 * k * y / q * ybar),
                    kind.tangent(-mbar, -2 * j * y / q * ybar),
                )

            return y, between_pullback

        @frule.register(between)
        def between_frule(tangents: Any, s: Any, t: Any) -> Any:
            (m, k), (n, j) = kind.parts(s), kind.parts(t)
            (dm, dk), (dn, dj) = kind.parts(tangents[1]), kind.parts(tangents[2])
            d, q = m - n, 1 + k**2 + j**2
            y = np.sum(d**2) / q
            return y, total((dm - dn) * (2 * d)) / q - (dk * (2 * k) + dj * (2 * j)) * (y / q)

        @rrule.register(whitened)
        def whitened_rrule(x: Any, s: Any) -> Any:
            m, k = kind.parts(s)
            q = 1 + k**2
            y = (x - m) / q

            def whitened_pullback(ybar: Any) -> Any:
                return NoTangent(), ybar / q, kind.tangent(-ybar / q, -2 * k / q * np.sum(ybar * y))

            return y, whitened_pullback

        @frule.register(whitened)
        def whitened_frule(tangents: Any, x: Any, s: Any) -> Any:
            (m, k), (dm, dk) = kind.parts(s), kind.parts(tangents[2])
            q = 1 + k**2
            y = (x - m) / q
            return y, (tangents[1] - dm) / q - dk * (2 * k / q * y)

        self.functions = made, moved, between, whitened
        self.made, self.moved, self.between, self.whitened = map(primitive, self.functions)

    def parts(self, s: Any) -> tuple[Any, Any]:
        """The vector and the number of an object, or their tangents in its tangent."""
        if self.is_ordered:
            return s[0], s[1]
        return (s["mean"], s["scale"]) if issubclass(self.cls, dict) else (s.mean, s.scale)

    def tangent(self, dmean: Any, dscale: Any) -> Any:
        if self.is_ordered:
            return Tangent(self.cls, dmean, dscale)
        if issubclass(self.cls, dict):
            return Tangent(self.cls, {"mean": dmean, "scale": dscale})
        return Tangent(self.cls, mean=dmean, scale=dscale)


def total(dx: Any) -> Any:
    """The sum of a tangent, which may be a zero."""
    return np.sum(dx) if np.ndim(dx) else dx


KINDS = {make.__name__: Kind(make) for make in MAKERS}

CONSTANT = np.array([0.4, -0.9, 0.2])


def from_one_to_another(kind: Kind, x: Any) -> Any:
    s = kind.made(x)
    return kind.between(s, kind.moved(s, 0.5 * x))


def beside_an_array(kind: Kind, x: Any) -> Any:
    return np.sum(kind.whitened(x, kind.moved(kind.made(x), x)) ** 2)


def one_part_of_the_result(kind: Kind, x: Any) -> Any:
    return np.sum(kind.parts(kind.moved(kind.made(x), x))[0] ** 3)


def the_other_part(kind: Kind, x: Any) -> Any:
    return kind.parts(kind.moved(kind.made(x), x))[1] ** 2


def beside_a_constant_object(kind: Kind, x: Any) -> Any:
    s = kind.make(CONSTANT, 0.7)
    return kind.between(s, kind.moved(s, x)) + np.sum(kind.whitened(x, s) ** 2)


def a_constant_array(kind: Kind, x: Any) -> Any:
    return kind.between(kind.moved(kind.made(x), CONSTANT), kind.make(CONSTANT, 0.3))


def made_by_hand(kind: Kind, x: Any) -> Any:
    return kind.between(kind.make(x * 2, x[0] * x[1]), kind.make(CONSTANT, np.sum(x)))


def half_made_by_hand(kind: Kind, x: Any) -> Any:
    return np.sum(kind.whitened(CONSTANT, kind.make(2 * CONSTANT, np.sum(x) ** 2)) ** 2)


def within_containers(kind: Kind, x: Any) -> Any:
    pair = {"both": [kind.made(x), kind.made(2 * x)]}
    return kind.between(*pair["both"]) * np.sum(x)


PROGRAMS: list[Callable[[Kind, Any], Any]] = [
    *(from_one_to_another, beside_an_array, one_part_of_the_result, the_other_part, beside_a_constant_object),
    *(a_constant_array, made_by_hand, half_made_by_hand, within_containers),
]


# ---------------------------------------------------------------- objects within objects


@dataclass
class Mixture:
    weights: Any
    parts: list[Any]
    label: str = "mixture"


@dataclass
class Graph:
    nodes: dict[str, Any]
    edges: Any
    inner: Any


def mixture(w: Any, m: Any) -> Any:
    w, m = numbers(w), numbers(m)
    return Mixture(w * w, [Plain(m, w[0]), Named(m * w[1], w[2])])


@rrule.register(mixture)
def mixture_rrule(w: Any, m: Any) -> Any:
    def mixture_pullback(ybar: Any) -> Any:
        first, second = ybar.parts[0], ybar.parts[1]
        wbar = ybar.weights * (2 * w)
        beside = np.stack([plain(first.scale), plain(np.sum(plain(second.mean) * m)), plain(second.scale)])
        return NoTangent(), wbar + beside, plain(first.mean) + plain(second.mean) * w[1]

    return Mixture(w * w, [Plain(m, w[0]), Named(m * w[1], w[2])]), mixture_pullback


@frule.register(mixture)
def mixture_frule(tangents: Any, w: Any, m: Any) -> Any:
    _, dw, dm = tangents
    first = Tangent(Plain, mean=dm, scale=dw[0])
    second = Tangent(Named, mean=dm * w[1] + m * dw[1], scale=dw[2])
    dy = Tangent(Mixture, weights=2 * w * dw, parts=Tangent(list, first, second))
    return Mixture(w * w, [Plain(m, w[0]), Named(m * w[1], w[2])]), dy


def graph(x: Any, mix: Any) -> Any:
    numbers(mix.parts[1].mean)
    return Graph({"a": numbers(x) * 2, "b": numbers(mix.weights)}, np.array([[0, 1]]), mix.parts[0])


@rrule.register(graph)
def graph_rrule(x: Any, mix: Any) -> Any:
    def graph_pullback(ybar: Any) -> Any:
        nodes = ybar.nodes
        mixbar = Tangent(Mixture, weights=nodes["b"], parts=Tangent(list, ybar.inner, NoTangent()))
        return NoTangent(), 2 * nodes["a"], mixbar

    return Graph({"a": x * 2, "b": mix.weights}, np.array([[0, 1]]), mix.parts[0]), graph_pullback


@frule.register(graph)
def graph_frule(tangents: Any, x: Any, mix: Any) -> Any:
    _, dx, dmix = tangents
    dy = Tangent(Graph, nodes=Tangent(dict, {"a": 2 * dx, "b": dmix.weights}), inner=dmix.parts[0])
    return Graph({"a": x * 2, "b": mix.weights}, np.array([[0, 1]]), mix.parts[0]), dy


def energy(g: Any) -> Any:
    return np.sum(numbers(g.nodes["a"]) * numbers(g.nodes["b"])) * numbers(g.inner.scale) + np.sum(
        numbers(g.inner.mean)
    )


@rrule.register(energy)
def energy_rrule(g: Any) -> Any:
    a, b, k = g.nodes["a"], g.nodes["b"], g.inner.scale

    def energy_pullback(ybar: Any) -> Any:
        nodes = Tangent(dict, {"a": b * k * ybar, "b": a * k * ybar})
        inner = Tangent(Plain, mean=ybar * np.ones_like(g.inner.mean), scale=np.sum(a * b) * ybar)
        return NoTangent(), Tangent(Graph, nodes=nodes, inner=inner)

    return np.sum(a * b) * k + np.sum(g.inner.mean), energy_pullback


@frule.register(energy)
def energy_frule(tangents: Any, g: Any) -> Any:
    a, b, k, dg = g.nodes["a"], g.nodes["b"], g.inner.scale, tangents[1]
    da, db = dg.nodes["a"], dg.nodes["b"]
    return np.sum(a * b) * k + np.sum(g.inner.mean), (
        total(da * b + db * a) * k + dg.inner.scale * np.sum(a * b) + total(dg.inner.mean)
    )


def plain(ybar: Any) -> Any:
    """A cotangent as numbers."""
    return 0.0 if isinstance(ybar, (NoTangent, type(zero))) else ybar


zero = Tangent(Plain).mean

mixture_, graph_, energy_ = map(primitive, (mixture, graph, energy))


def nested(x: Any) -> Any:
    return energy_(graph_(x, mixture_(x * 2, np.sin(x))))


def nested_in_part(x: Any) -> Any:
    mix = mixture_(x, x**2)
    return np.sum(mix.parts[1].mean ** 2) * mix.parts[0].scale + np.sum(mix.weights)


NESTED: list[Callable[[Any], Any]] = [nested, nested_in_part]
