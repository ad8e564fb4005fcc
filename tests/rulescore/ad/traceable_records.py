"""Programs of dataclasses and other containers with names; for traceable."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import math
import types
import typing

import attrs
import numpy as np

from tests.rulescore.ad.traceable_patterns import of_numbers

# ---------------------------------------------------------------- records


@dataclasses.dataclass
class Point:
    x: float
    y: float = 2.0
    rest: list = dataclasses.field(default_factory=list)
    norm: float = dataclasses.field(init=False)
    factor: dataclasses.InitVar[float] = 1.0

    def __post_init__(self, factor):
        self.x = float(self.x)
        self.norm = math.hypot(self.x, self.y) * factor

    def __add__(self, other):
        return Point(self.x + other.x, math.exp(other.y))


@dataclasses.dataclass(frozen=True, order=True)
class Frozen:
    x: float
    y: float = 1.5

    @property
    def norm(self):
        return math.hypot(self.x, self.y)

    @functools.cached_property
    def product(self):
        return math.prod([self.x, self.y])


@dataclasses.dataclass(frozen=True)
class FrozenWithMore(Frozen):
    z: float = 0.0

    def __post_init__(self):
        object.__setattr__(self, "z", math.exp(self.x))


@dataclasses.dataclass(slots=True, kw_only=True)
class Slim:
    x: float
    y: float = 0.5

    def __post_init__(self):
        self.y = self.x**2


@of_numbers()
def dataclass(a, b, c):
    point = Point(a, y=b, factor=c)
    point.rest.append(math.exp(c))
    total = point + Point(c)
    return point.norm * point.rest[0] + total.norm * total.y + (a if point == point else b)


@of_numbers()
def frozen_dataclass(a, b, c):
    frozen, more = Frozen(a, y=b), FrozenWithMore(c, a)
    return frozen.norm * frozen.product + more.z * more.norm + (a if frozen < Frozen(c) else b)


@of_numbers()
def slim_dataclass(a, b, c):
    slim = Slim(x=a)
    slim.x += b
    return slim.x * slim.y * c


@of_numbers()
def dataclass_functions(a, b, c):
    frozen = dataclasses.replace(Frozen(a, b), x=c)
    point = dataclasses.replace(Point(a, b), y=c, factor=a)
    values = dataclasses.asdict(Frozen(a, math.exp(b)))
    names = [field.name for field in dataclasses.fields(Frozen)]
    return frozen.norm * values["y"] * sum(dataclasses.astuple(frozen)) + getattr(frozen, names[0]) + point.norm


@attrs.define
class Ball:
    r: float = attrs.field(converter=float)
    mass: float = attrs.field(default=1.0, validator=attrs.validators.gt(0))
    volume: float = attrs.field(init=False)

    def __attrs_post_init__(self):
        self.volume = 4 / 3 * math.pi * math.pow(self.r, 3)

    @property
    def density(self):
        return math.fabs(self.mass / self.volume)


@attrs.frozen
class Spring:
    k: float
    x: float = attrs.Factory(lambda: 0.5)

    def energy(self):
        return 0.5 * self.k * math.pow(self.x, 2)


@of_numbers()
def attrs_classes(a, b, c):
    ball = Ball(a, mass=b)
    ball.mass *= c
    spring = attrs.evolve(Spring(a), x=b)
    return ball.density * spring.energy() * Spring(c).energy() + attrs.asdict(spring)["x"]


Pair = collections.namedtuple("Pair", ["x", "y"], defaults=[2.0])


class Named(typing.NamedTuple):
    x: float
    y: float = 1.0

    def norm(self):
        return math.hypot(*self)

    @property
    def product(self):
        return math.prod([*self])


@of_numbers()
def named_tuples(a, b, c):
    pair, named = Pair(a, b), Named(b, y=c)
    x, y = pair
    return (
        x * y
        + named.norm() * named.product
        + pair._replace(x=c).x
        + Named._make([a, b]).norm()
        + Pair(a).y * named._asdict()["y"]
    )


class Unit(enum.Enum):
    METRE = 1.0
    FOOT = 0.3048

    def of(self, x):
        return math.fabs(x) * self.value

    @property
    def root(self):
        return math.sqrt(self.value)


class Axis(enum.IntEnum):
    X = 0
    Y = 1


@of_numbers()
def enum_members(a, b, c):
    unit = Unit.FOOT if a < b else Unit.METRE
    return (
        unit.of(a) * Unit["METRE"].of(c)
        + sum(u.root for u in Unit) * a
        + np.array([a, b])[Axis.Y] * (c if Unit(1.0) is Unit.METRE else a)
    )


@of_numbers()
def other_containers(a, b, c):
    default = collections.defaultdict(lambda: math.exp(a))
    queue = collections.deque([a, b], maxlen=2)
    queue.append(c)
    counter = collections.Counter({"x": 2})
    chain = collections.ChainMap({"u": a}, {"u": b, "v": c})
    ordered = collections.OrderedDict(x=a)
    simple = types.SimpleNamespace(x=math.sin(b))
    ordered.update(y=b)
    return default["k"] * queue.popleft() + queue[0] * counter["x"] + chain["v"] * chain["u"] + ordered["y"] * simple.x


@of_numbers()
def classes_of_containers(a, b, c):
    class Table(dict):
        def __missing__(self, key):
            return math.exp(a)

        def total(self):
            return sum(map(math.exp, self.values()))

    class Stack(list):
        def __getitem__(self, i):
            return math.sin(super().__getitem__(i))

        def total(self):
            return sum(self) * self[0]

    class Mapped(collections.UserDict):
        def __setitem__(self, key, value):
            super().__setitem__(key, math.sqrt(value))

    table, stack, mapped = Table(x=b, y=c), Stack([a, b]), Mapped(x=c)
    mapped["y"] = a
    return table["z"] * table.total() + stack.total() + mapped["x"] * mapped["y"]
