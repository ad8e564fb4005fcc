"""Programs of classes of every kind, and with every method that Python calls by itself; for traceable."""

# ruff: noqa: B009, RUF015, RUF046, UP031 -- as people write

from __future__ import annotations

import abc
import functools
import math
import operator
import typing
from math import exp as exponential

import numpy as np

from tests.rulescore.ad.traceable_patterns import of_numbers

# ---------------------------------------------------------------- classes


class Shape:
    scale = 2.0

    def __init__(self, x, y=1.0, *, z=0.5):
        self.x, self.y = float(x), math.fabs(y)
        self.z = z
        self.__hidden = [x]

    def moved(self, by=1.0):
        return type(self)(self.x + math.sin(by), self.y)

    def area(self):
        return math.hypot(self.x, self.y) * self.scale + self.z

    @property
    def hidden(self):
        return math.fsum(self.__hidden)

    @hidden.setter
    def hidden(self, value):
        self.__hidden = self.__checked(value)

    @hidden.deleter
    def hidden(self):
        self.__hidden = [0.0, self.x]

    def __checked(self, value):
        return [float(v) for v in np.asarray(value)]

    @classmethod
    def of(cls, *xs):
        return [cls(math.sqrt(x)) for x in xs]

    @staticmethod
    def halved(x):
        return math.ldexp(x, -1)

    @functools.cached_property
    def squared(self):
        return math.pow(self.x, 2)


@of_numbers()
def methods(a, b, c):
    shape = Shape(a, b, z=c)
    moved = shape.moved
    return moved(b).area() * shape.area() + Shape.area(shape) + Shape.moved(shape, by=c).x


@of_numbers()
def class_and_static_methods(a, b, c):
    return math.prod(s.x for s in Shape.of(a, b)) * Shape.halved(c) + Shape(a).halved(b) + Shape(a).of(c)[0].area()


@of_numbers()
def properties(a, b, c):
    shape = Shape(a)
    before = shape.hidden
    shape.hidden = [a * b, c]
    after = shape.hidden
    del shape.hidden
    return before * after * shape.hidden


@of_numbers()
def cached_properties(a, b, c):
    shape = Shape(a * b)
    first = shape.squared
    shape.x = c
    return first + shape.squared * shape.x


class Round(Shape):
    def __init__(self, r, y=None):
        super().__init__(r, y=math.sqrt(r) if y is None else y)
        self.r = r

    def area(self):
        def doubled():
            return super(Round, self).area() * 2

        return (
            super().area()
            + math.exp(self.r)
            + doubled()
            + __class__.scale * sum(super(Round, self).area() for _ in range(2))
        )

    def moved(self, by=2.0):
        return Round(Shape(super().area() + by).x)

    @property
    def hidden(self):
        return math.exp(self.r)

    @classmethod
    def of(cls, *xs):
        return [*super().of(*xs), cls(1.0)]


@of_numbers()
def supers(a, b, c):
    r = Round(a)
    return r.area() * r.moved(b).area() + r.hidden + sum(s.area() for s in Round.of(c, a))


@of_numbers()
def several_bases(a, b, c):
    class Left(Shape):
        def area(self):
            return math.sin(super().area())

    class Right(Shape):
        def area(self):
            return math.exp(super().area() / 9)

    class Both(Left, Right):
        def area(self):
            return super().area() * self.x

    return Both(a, b).area() * c


class Line:
    def __init__(self, slope, offset):
        self.slope, self.offset = slope, offset

    def __call__(self, x, *, power=1):
        return math.pow(self.slope, power) * x + self.offset


@of_numbers()
def objects_that_are_called(a, b, c):
    line = Line(a, b)
    return line(c) * line(a, power=2) + sum(map(line, [a, b])) + Line.__call__(line, b)


class Vector:
    def __init__(self, *items):
        self.items = [float(v) for v in items]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return Vector(*self.items[i]) if isinstance(i, slice) else math.sin(self.items[i])

    def __setitem__(self, i, value):
        self.items[i] = math.exp(value)

    def __delitem__(self, i):
        del self.items[i]

    def __contains__(self, x):
        return any(math.isclose(x, v) for v in self.items)

    def __iter__(self):
        return map(math.sqrt, self.items)

    def __reversed__(self):
        return (math.exp(v) for v in self.items[::-1])


@of_numbers()
def containers(a, b, c):
    v = Vector(a, b, c)
    v[0] = c * a
    v[1] += v[2]
    del v[2]
    found = v[0] * v[1] if a in v or b not in v else c
    total = found * math.prod([*v]) + sum(reversed(v)) + len(v) * a + v[:1][0] + list(v)[0]
    first, second = v
    return total + first * second + np.array([*v])[1] + max(v)


class Quantity:
    """A number with every operator."""

    def __init__(self, x):
        self.x = x

    @staticmethod
    def _value(other):
        return other.x if isinstance(other, Quantity) else float(other)

    def __add__(self, other):
        return Quantity(math.hypot(self.x, self._value(other)))

    def __radd__(self, other):
        return Quantity(math.hypot(self.x, self._value(other)) + 1)

    def __iadd__(self, other):
        self.x = math.fsum([self.x, 2 * self._value(other)])
        return self

    def __sub__(self, other):
        return Quantity(math.sin(self.x) - self._value(other))

    def __rsub__(self, other):
        return Quantity(self._value(other) - math.cos(self.x))

    def __mul__(self, other):
        if not isinstance(other, (Quantity, float)):
            return NotImplemented
        return Quantity(math.prod([self.x, self._value(other)]))

    def __rmul__(self, other):
        return Quantity(math.prod([self.x, self._value(other)]) * 2)

    def __imul__(self, other):
        return Quantity(math.prod([self.x, self._value(other), 3.0]))

    def __truediv__(self, other):
        return Quantity(math.fabs(self.x) / self._value(other))

    def __rtruediv__(self, other):
        return Quantity(self._value(other) / math.fabs(self.x))

    def __floordiv__(self, other):
        return Quantity(math.floor(self.x / self._value(other)) * self.x)

    def __rfloordiv__(self, other):
        return Quantity(math.floor(self._value(other) / self.x) * self.x)

    def __mod__(self, other):
        return Quantity(math.fmod(self.x, self._value(other)))

    def __rmod__(self, other):
        return Quantity(math.fmod(self._value(other), self.x))

    def __pow__(self, other, modulus=None):
        return Quantity(math.pow(self.x, self._value(other)))

    def __rpow__(self, other):
        return Quantity(math.pow(self._value(other), self.x))

    def __matmul__(self, other):
        return Quantity(math.exp(self.x) * self._value(other))

    def __rmatmul__(self, other):
        return Quantity(math.exp(self.x) + self._value(other))

    def __lshift__(self, other):
        return Quantity(math.ldexp(self.x, int(other)))

    def __rlshift__(self, other):
        return Quantity(math.exp(self.x) * other)

    def __rshift__(self, other):
        return Quantity(math.ldexp(self.x, -int(other)))

    def __and__(self, other):
        return Quantity(min(self.x, self._value(other)))

    def __or__(self, other):
        return Quantity(max(self.x, self._value(other)))

    def __xor__(self, other):
        return Quantity(math.atan2(self.x, self._value(other)))

    def __rxor__(self, other):
        return Quantity(math.atan2(self._value(other), self.x))

    def __neg__(self):
        return Quantity(-math.sin(self.x))

    def __pos__(self):
        return Quantity(math.sqrt(self.x))

    def __invert__(self):
        return Quantity(math.cos(self.x))

    def __abs__(self):
        return Quantity(math.fabs(self.x) * 2)

    def __round__(self, digits=0):
        return Quantity(math.sqrt(self.x) + digits)

    def __float__(self):
        return math.exp(self.x)

    def __complex__(self):
        return complex(math.exp(self.x), self.x)

    def __int__(self):
        return int(math.floor(self.x))

    def __index__(self):
        return int(math.ceil(self.x))

    def __lt__(self, other):
        return math.sin(self.x) < math.sin(self._value(other))

    def __le__(self, other):
        return not self > other

    def __gt__(self, other):
        return math.sin(self.x) > math.sin(self._value(other))

    def __ge__(self, other):
        return not self < other

    def __eq__(self, other):
        return isinstance(other, Quantity) and self.x == other.x

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return 1

    def __str__(self):
        return f"{self.x:.3f}"

    def __format__(self, specification):
        return f"{self.x:.3f}"


OPERATORS = {
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")},
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}


@of_numbers()
def operators_of_two(a, b, c):
    p, q = Quantity(a), Quantity(b)
    sums = [p + q, p - q, p * q, p / q, p // q, p % q, p**q, p @ q, p & q, p | q, p ^ q, p << 2, p >> 1]
    return sum(s.x * (i + 1) for i, s in enumerate(sums)) * c


@of_numbers()
def operators_that_are_reflected(a, b, c):
    p = Quantity(a)
    sums = [1 + p, 2.0 - p, 3 * p, 2 / p, 2 // p, 2.0 % p, 3.0**p, 2.0 @ p, 2.0 ^ p, 2 << p]
    return sum(s.x * (i + 1) for i, s in enumerate(sums)) * c


@of_numbers()
def operators_with_numbers(a, b, c):
    p = Quantity(a)
    sums = [p + b, p - 1, p * b, p / 2, p % 0.4, p**c, p @ b, p ^ b]
    return sum(s.x * (i + 1) for i, s in enumerate(sums)) * c


@of_numbers()
def operators_in_place(a, b, c):
    p = same = Quantity(a)
    p += b
    p -= Quantity(b)
    p *= c
    p /= b
    p **= 2.0
    p @= c
    p |= 0.1
    return p.x + same.x


@of_numbers()
def operators_of_one(a, b, c):
    p = Quantity(a)
    found = (-p).x + (+p).x * (~p).x + abs(p).x * round(p).x + round(p, 2).x + float(p) * complex(p).imag
    return found + int(Quantity(c)) * b + [a, b, c][Quantity(b)]


@of_numbers()
def comparisons(a, b, c):
    p, q = Quantity(a), Quantity(b)
    order = sorted([q, p, Quantity(c)])
    chosen = a if p < q and p <= q and not p > q and not p >= q and p != q and p == Quantity(a) else b
    return chosen * order[0].x + max(p, q).x * min([p, q]).x + (c if p in [q, p] else a)


@of_numbers()
def operators_by_function(a, b, c):
    p, q = Quantity(a), Quantity(b)
    return sum(f(p, q).x for f in OPERATORS.values()) * c + sum([p, q], Quantity(c)).x + sum([p, q]).x


@of_numbers()
def texts_of_objects(a, b, c):
    p = Quantity(a)
    return a * b * c + 0.0 * len(f"{p} {p:.2f} {p!s}" + str(p) + "%s" % p + format(p, ".2f"))


class Lazy:
    def __init__(self, **values):
        self.values = values

    def __getattr__(self, name):
        if name.startswith("_") or name not in self.values:
            raise AttributeError(name)
        return math.exp(self.values[name])


@of_numbers()
def attributes_by_getattr(a, b, c):
    lazy = Lazy(u=a, v=b)
    return lazy.u * getattr(lazy, "v") * getattr(lazy, "w", c) + (a if hasattr(lazy, "u") else b)


class Watched:
    def __init__(self, x):
        self.x = x

    def __getattribute__(self, name):
        found = object.__getattribute__(self, name)
        return math.sin(found) if name == "x" else found

    def __setattr__(self, name, value):
        object.__setattr__(self, name, math.sqrt(value))

    def twice(self):
        return self.x * 2


@of_numbers()
def attributes_by_getattribute(a, b, c):
    watched = Watched(a)
    first = watched.x * watched.twice()
    watched.x = b
    watched.y = c
    second = watched.x * watched.y
    return first + second * a


class Positive:
    """A descriptor for an attribute."""

    def __set_name__(self, owner, name):
        self.name = f"_{name}"

    def __get__(self, instance, owner=None):
        return self if instance is None else math.exp(getattr(instance, self.name))

    def __set__(self, instance, value):
        if not float(value) > 0:
            raise ValueError(value)
        setattr(instance, self.name, math.log(value) * 2)


class Unset:
    """One that is only read."""

    def __get__(self, instance, owner=None):
        return self if instance is None else math.sqrt(instance.width)


class Box:
    width = Positive()
    root = Unset()

    def __init__(self, width):
        self.width = width


@of_numbers()
def descriptors(a, b, c):
    box = Box(a)
    first = box.width * box.root
    box.width = b
    box.root = c
    return first * box.width * box.root


class Slotted:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = math.exp(x), y

    def area(self):
        return math.fabs(self.x * self.y)


@of_numbers()
def slots(a, b, c):
    slotted = Slotted(a, b)
    slotted.y *= c
    return slotted.area()


class Interned:
    made = 0

    def __new__(cls, x):
        made = super().__new__(cls)
        made.root = math.sqrt(x)
        return made

    def __init__(self, x):
        self.x = x * self.root


@of_numbers()
def objects_made_by_new(a, b, c):
    class Number(float):
        def __new__(cls, x):
            return super().__new__(cls, 2.0)

    return Interned(a).x * Interned(b).root * Number(3.0) + c


# ---------------------------------------------------------------- classes of classes


class Registered(type):
    made: typing.ClassVar[list] = []

    def __new__(mcs, name, bases, names, factor=1.0):
        names["factor"] = factor**2
        return super().__new__(mcs, name, bases, names)

    def __init__(cls, name, bases, names, factor=1.0):
        super().__init__(name, bases, names)
        cls.made.append(name)

    def __call__(cls, *args):
        made = super().__call__(*args)
        made.called = math.fabs(made.x) * 2
        return made

    def __getitem__(cls, x):
        return math.sin(x) * cls.factor

    @property
    def doubled(cls):
        return math.ldexp(cls.factor, 1)


class OfMeta(metaclass=Registered, factor=0.3):
    def __init__(self, x):
        self.x = math.sqrt(x)


@of_numbers()
def metaclasses(a, b, c):
    made = OfMeta(a)

    class Within(OfMeta, factor=b):
        pass

    return made.x * made.called + OfMeta[b] + Within(c).x * Within.factor + Within[a] + OfMeta.doubled


def with_area(cls):
    cls.area = lambda self: math.hypot(self.x, self.factor)
    cls.factor = 2.0
    return cls


@with_area
class Decorated:
    def __init__(self, x):
        self.x = x


@of_numbers()
def class_decorators(a, b, c):
    @functools.total_ordering
    class Ordered:
        def __init__(self, x):
            self.x = x

        def __eq__(self, other):
            return math.isclose(self.x, other.x)

        def __lt__(self, other):
            return math.sin(self.x) < math.sin(other.x)

    larger = a if Ordered(a) >= Ordered(b) else b
    return Decorated(a).area() * larger * c


class Model(abc.ABC):
    @abc.abstractmethod
    def value(self, x): ...

    @property
    @abc.abstractmethod
    def offset(self): ...

    def __call__(self, x):
        return self.value(math.sqrt(x)) + self.offset


class Quadratic(Model):
    offset = 0.5

    def value(self, x):
        return math.pow(x, 3)


class Exponential(Model):
    def __init__(self, rate):
        self.rate = rate

    @property
    def offset(self):
        return math.sin(self.rate)

    def value(self, x):
        return exponential(self.rate * x)


@of_numbers()
def abstract_classes(a, b, c):
    return sum(model(b) for model in (Quadratic(), Exponential(a))) * c


@of_numbers()
def nested_classes(a, b, c):
    class Outer:
        factor = a * 2

        class Inner:
            def __init__(self, x):
                self.x = math.exp(x)

            def times(self, y):
                def inner(z):
                    return self.x * y * z * b

                return inner

        def __init__(self):
            self.inner = self.Inner(c)

        @classmethod
        def made(cls):
            return cls().inner.times(cls.factor)(a)

    return Outer.made() + Outer.Inner(a).x


@of_numbers()
def classes_with_hooks(a, b, c):
    class Base:
        def __init_subclass__(cls, factor=1.0, **more):
            super().__init_subclass__(**more)
            cls.factor = math.exp(factor)

        def __class_getitem__(cls, x):
            return math.sin(x)

    class Derived(Base, factor=a):
        pass

    return Derived.factor * b + Derived[c]


@of_numbers()
def callbacks(a, b, c):
    class Solver:
        def __init__(self, f, *, steps=4):
            self.f, self.steps = f, steps
            self.history = []

        def run(self, x):
            for _ in range(self.steps):
                x = x - self.f(x) / self.slope(x)
                self.history.append(x)
            return x

        def slope(self, x, h=0.1):
            return (self.f(x + h) - self.f(x - h)) / (2 * h)

    solver = Solver(lambda x: math.exp(x) - a * b)
    return solver.run(0.0) * c + solver.history[0]


@of_numbers()
def partial_methods(a, b, c):
    class Scaled:
        def times(self, x, factor):
            return math.exp(x) * factor

        twice = functools.partialmethod(times, factor=2.0)
        named = lambda self, x: math.sqrt(x)  # noqa: E731

    return Scaled().twice(a) * Scaled().named(b) * c


@of_numbers()
def methods_by_kind_of_argument(a, b, c):
    class Area:
        @functools.singledispatchmethod
        def of(self, x):
            return math.exp(x)

        @of.register
        def _(self, x: list):
            return math.prod(x)

    return Area().of(a) * Area().of([b, c])


@of_numbers()
def iterators(a, b, c):
    class Steps:
        def __init__(self, x, n):
            self.x, self.n = x, n

        def __iter__(self):
            return self

        def __next__(self):
            if self.n == 0:
                raise StopIteration
            self.n -= 1
            self.x = math.sin(self.x)
            return self.x

    class Items:
        def __getitem__(self, i):
            if i > 2:
                raise IndexError
            return math.exp(i * a)

    steps = Steps(c, 5)
    first = next(steps)
    return (
        first + sum(steps) * b + sum(Items()) + [*Items()][1] + math.prod(v for v in Steps(a, 2)) + list(Steps(b, 2))[1]
    )


@of_numbers()
def objects_as_arrays(a, b, c):
    class Samples:
        def __init__(self, *values):
            self.values = values

        def __array__(self, dtype=None, copy=None):
            return np.array([math.exp(v) for v in self.values], dtype=dtype)

    samples = Samples(a, b)
    return np.asarray(samples) * c + np.array(samples)[::-1]
