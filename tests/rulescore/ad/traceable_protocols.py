"""Programs whose objects have methods that Python and NumPy call by themselves, in harder forms; for traceable."""

# ruff: noqa: B009, B010 -- as people write

from __future__ import annotations

import collections
import collections.abc
import contextlib
import enum
import functools
import math
import operator
import statistics
import types
import typing

import numpy as np

from tests.rulescore.ad.traceable_classes import Shape, Vector
from tests.rulescore.ad.traceable_patterns import of_array, of_numbers


class Reflected:
    """What a number gives depends on the number in another way than the operator says."""

    def __init__(self, x):
        self.x = x

    def __radd__(self, other):
        return math.exp(other) * self.x

    __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = __rmatmul__ = __rxor__ = __radd__

    def __rdivmod__(self, other):
        return math.exp(other) * self.x, math.sin(other)

    def __gt__(self, other):
        return math.exp(other) > self.x

    __lt__ = __ge__ = __le__ = __gt__


@of_numbers()
def numbers_before_objects(a, b, c):
    r = Reflected(2.0)
    quotient, rest = divmod(a, r)
    return (a + r) * (b * r) + (c - r) * a**r + (b / r) * (a // r) + (a % r) * quotient * rest + (a @ r) * (b ^ r)


@of_numbers()
def numbers_before_objects_of_differentiated_numbers(a, b, c):
    r = Reflected(c)
    return (a + r) * (b * r) + (c - r) * a**r + np.float64(2) * r + 3 @ r


@of_numbers()
def numbers_compared_to_objects(a, b, c):
    r = Reflected(1.0)
    return a * b if a < r and b > r and c <= r and a >= r else c


@of_numbers()
def sums_of_objects(a, b, c):
    return sum([a, Reflected(b)]) + sum([Reflected(c)]) * b + functools.reduce(operator.add, [c, Reflected(a)])


class Length:
    __array_priority__ = 10

    def __init__(self, x):
        self.x = np.asarray(x, float)

    def __mul__(self, other):
        return Length(self.x * other)

    __rmul__ = __mul__

    def to(self, unit):
        return float(self.x) / {"m": 1.0, "km": 1e3}[unit]


@of_numbers()
def numbers_of_units(a, b, c):
    return (a * Length(b)).to("m") * (Length(c) * 2).to("km") + (np.float64(2) * Length(a)).to("m")


class NoUfunc:
    __array_ufunc__ = None

    def __init__(self, x):
        self.x = np.asarray(x)

    def __rmul__(self, other):
        return np.array([math.exp(v) for v in np.asarray(other)]) * self.x


@of_array
def arrays_before_objects_without_ufuncs(x):
    return (x * NoUfunc(x)) + (np.ones(3) * NoUfunc(x)) * (x * NoUfunc(np.ones(3)))


class Number:
    def __init__(self, x):
        self.x = x

    def __float__(self):
        return math.exp(self.x)

    def __complex__(self):
        return complex(math.sin(self.x), self.x)


@of_numbers()
def conversions_by_methods(a, b, c):
    return np.float64(Number(a)) * b + float(Number(c)) * complex(Number(b)).real


@of_numbers()
def complex_by_keywords(a, b, c):
    return (
        abs(complex(real=a, imag=b)) * complex(imag=c, real=a).imag
        + complex(real=a, imag=2.0).real * complex(imag=c).imag
    )


@of_numbers()
def sums_of_iterators(a, b, c):
    first = math.fsum(v**2 for v in (a, b)) + math.fsum({"x": c}.values()) * math.fsum(collections.deque([a, b]))
    return first + math.prod(v for v in (a, b, c)) * math.dist(iter([a]), iter([b])) if first < 0 else first


class Pair(typing.NamedTuple):
    x: float
    y: float


@of_numbers()
def functions_of_containers(a, b, c):
    named = math.prod(Pair(a, b)) * math.fsum(Pair(b, c)) + math.hypot(*Pair(a, c)) + statistics.mean(Pair(a, b))
    return named + math.prod(Vector(a, b)) * math.fsum(Vector(b, c))


class Switch:
    def __init__(self, x):
        self.x = x

    def __bool__(self):
        return math.exp(self.x) > 1


class Counted:
    def __init__(self, x):
        self.x = x

    def __len__(self):
        return int(math.exp(self.x))


@of_numbers()
def truth_by_methods(a, b, c):
    on, off, counted, steps = Switch(a), Switch(-b), Counted(c), 0
    while on and steps < 3:
        steps += 1
    assert on
    chosen = (a if on else b) * (b if not counted else c) * (c if not off else a)
    return chosen * steps + sum(v.x for v in [on, off] if v) * bool(on)


class Close:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return isinstance(other, Close) and math.isclose(self.x, other.x)

    def __hash__(self):
        return 1


@of_numbers()
def equality_by_methods(a, b, c):
    p, q = Close(a), Close(b)
    return (a if p == q else b) * (c if Close(a) == p else a) * (b if operator.eq(p, Close(a)) else c)


class Store:
    """Everything about attributes and items is done by methods."""

    def __init__(self):
        object.__setattr__(self, "values", {})

    def __setattr__(self, name, value):
        self.values[name] = math.exp(value)

    def __getattr__(self, name):
        return self.values[name]

    def __setitem__(self, name, value):
        self.values[name] = math.sin(value)


@of_numbers()
def attributes_and_items_that_are_set(a, b, c):
    store = Store()
    setattr(store, "x", a)
    store.y = store.u = b
    store["z"] = c
    store.p, store["q"] = b, a
    store.x += store.u
    return store.x * store.y + store.z * store.p + store.q


@of_numbers()
def properties_that_are_set_by_name(a, b, c):
    shape = Shape(a)
    setattr(shape, "hidden", [a * b, c])
    shape.hidden = [shape.hidden, b]
    return shape.hidden


class Doubled(Shape):
    @property
    def hidden(self):
        return super().hidden * 2

    @hidden.setter
    def hidden(self, value):
        Shape.hidden.fset(self, value)


@of_numbers()
def properties_of_super(a, b, c):
    doubled = Doubled(a)
    doubled.hidden = [b, c]
    return doubled.hidden * a


class Divided:
    def __init__(self, x):
        self.x = x

    def __divmod__(self, other):
        return math.exp(self.x) * other, self.x

    def __rdivmod__(self, other):
        return math.sin(self.x) * other, self.x


@of_numbers()
def divisions_with_remainder(a, b, c):
    return math.prod(divmod(Divided(a), b)) + math.prod(divmod(c, Divided(b))) + sum(divmod(2, Divided(b)))


class Root:
    def __get__(self, instance, owner=None):
        return math.sqrt(instance.width)


class Box:
    root = Root()

    def __init__(self, width):
        self.width = width


@of_numbers()
def descriptors_that_want_an_object(a, b, c):
    return Box(a).root * Box(b).root + c * getattr(Box(c), "root")


class Written:
    def __init__(self, x):
        self.x = x

    def __format__(self, specification):
        return format(math.exp(self.x), ".3f")

    def __str__(self):
        return str(math.exp(self.x))

    def __repr__(self):
        return repr(math.sin(self.x))


@of_numbers()
def texts_by_methods(a, b, c):
    text = f"{Written(c):.2f} {Written(c)!s} {Written(c)!r} {Written(a)}" + str(Written(b)) + format(Written(a), ".3f")
    return a * b * c * (len(text) > 10)


class Items:
    def __init__(self, *items):
        self.items = items

    def __iter__(self):
        return (math.exp(v) for v in self.items)


@of_numbers()
def iterables_everywhere(a, b, c):
    items = Items(a, b, c)
    arrays = np.array(list(items)).sum() + np.fromiter(items, float).prod()
    chosen = max(items) * min(*items) + [*items][2] * sorted(items)[1] + dict(zip("abc", items, strict=True))["a"]
    return arrays + chosen + math.fsum(items) * sum(map(math.log, items)) + functools.reduce(operator.mul, items)


class Timed(contextlib.ContextDecorator):
    def __init__(self, x):
        self.x = x

    def __enter__(self):
        self.x = math.exp(self.x)
        return self

    def __exit__(self, *error):
        self.x = math.sin(self.x)
        return False


@of_numbers()
def contexts_as_decorators(a, b, c):
    @Timed(a)
    def root(x):
        return math.sqrt(x)

    with Timed(a) as timed:
        entered = timed.x * b
    with contextlib.closing(types.SimpleNamespace(close=lambda: math.exp(a), x=math.exp(c))) as closed:
        entered += closed.x
    return entered * timed.x + root(c)


class Functions:
    exp = math.exp
    sin = staticmethod(math.sin)
    root = np.sqrt


@of_numbers()
def functions_as_attributes(a, b, c):
    return Functions.exp(a) * Functions().exp(b) * Functions.sin(c) + Functions().sin(a) * Functions().root(b)


@of_numbers()
def functions_in_tables(a, b, c):
    table = {"exp": math.exp, "sin": np.sin, "own": lambda v: math.sqrt(v), "float": float}
    functions = [math.exp, math.sin, lambda v: v]
    each = sum(f(a) for f in functions) * table["exp"](b) + [f(b) for f in table.values()][3]
    return each + functools.reduce(lambda v, f: f(v), functions, a) * table["own"](c)


@of_numbers()
def functions_that_call_functions(a, b, c):
    def apply(f, *args, **options):
        return f(*args, **options)

    return apply(math.hypot, a, b) * apply(apply, math.exp, c) + apply(max, [a, b], key=math.cos)


class Zero:
    """An object whose special methods do not ask for it."""

    @staticmethod
    def __neg__():
        return 2.0

    @staticmethod
    def __add__(other):
        return math.exp(other)

    @staticmethod
    def __len__():
        return 0


@of_numbers()
def special_methods_without_self(a, b, c):
    zero = Zero()
    return -zero * a + (zero + b) * (c if not zero else a)


class Kind(enum.Enum):
    """A class whose class has attributes written in Python."""

    SQUARE = 1
    SINE = 2

    @classmethod
    def of(cls, x):
        return cls.SQUARE if x > 0.7 else cls.SINE

    @staticmethod
    def doubled(x):
        return math.fabs(x) * 2

    def __call__(self, x):
        return float(x) ** 2 if self is Kind.SQUARE else math.sin(x)


@of_numbers()
def classes_of_enumerations(a, b, c):
    return Kind.of(a)(a) * Kind.of(c)(b) * Kind["SINE"](c) + Kind.doubled(a) * Kind(1)(b)


@of_numbers()
def methods_of_numbers(a, b, c):
    product = float.__mul__(a, b) + float.__rsub__(c, a) + float.__pow__(2.0, b) + float.__neg__(c) + float.__abs__(-a)
    return product + float.__divmod__(c, a)[1] + complex.__mul__(1j, a).imag + float.__float__(b)


class Measured:
    """An object that becomes a number or an array where one is wanted."""

    def __init__(self, value):
        self.value = value

    def __float__(self):
        return float(np.sum(self.value))

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.value, dtype)

    def __rmul__(self, other):
        return Measured(other * self.value)


@of_array
def objects_that_become_numbers_and_arrays(x):
    measured = 2.0 * Measured(x)
    table = np.outer(x, x)
    return math.sqrt(measured) * math.atan2(Measured(x[0]), measured) * (table @ measured) + measured.__array__()


@of_array
def arrays_that_are_asked_for(x):
    return x.__array__() * np.asarray(x).__array__(float) + x.__array__()[0]


class Described(property):
    """A property of a class of its own."""


class Disc:
    def __init__(self, radius):
        self._radius = radius

    @Described
    def radius(self):
        return np.asarray(self._radius)

    @radius.setter
    def radius(self, radius):
        self._radius = math.fabs(radius)


@of_numbers()
def properties_of_another_class(a, b, c):
    disc = Disc(a)
    first = disc.radius
    disc.radius = b * c
    return first * disc.radius


class Unit:
    """Offers an array, and wants to be asked first."""

    __array_priority__ = 10.0

    def __array__(self, dtype=None, copy=None):
        return np.array(1.0, dtype)

    def __mul__(self, other):
        return [np.exp(other), self]

    __rmul__ = __mul__


@of_array
def objects_that_come_before_arrays(x):
    doubled = x.copy()
    doubled *= 2.0
    doubled.setflags(write=False)
    return (x * Unit())[0] * (doubled * Unit())[0]


@of_array
def arrays_of_objects_in_the_shape_of_numpy(x):
    table = np.array([[1.0, 2.0], [x[0], x[1]]], dtype=object)
    rows = np.array([np.ones(3), x], dtype="O")
    ragged = np.empty(2, object)
    ragged[0], ragged[1] = np.ones(1), x
    ones = np.array([np.ones(1), np.ones(1)], dtype=object)
    return table[1, 0] * rows[1, 2] * sum(ones.shape) + ragged[1][1] * sum(table.shape) + rows.sum()


@of_array
def functions_that_are_told_their_types(x):
    y = np.add(x, 1.0, signature="dd->d") * np.multiply(x, x, signature=(np.float64, None, None))
    return y + len(f"{x[0]:.3f} %.2f" % 1.0)


class Roots(collections.abc.Sequence):
    """A class of Python's own, whose methods are frozen into the interpreter."""

    def __init__(self, values):
        self.values = values

    def __getitem__(self, i):
        return math.sqrt(self.values[i])

    def __len__(self):
        return len(self.values)


class Table(collections.abc.MutableMapping):
    def __init__(self):
        self.items_of_it = {}

    def __getitem__(self, key):
        return math.exp(self.items_of_it[key])

    def __setitem__(self, key, value):
        self.items_of_it[key] = float(value)

    def __delitem__(self, key):
        del self.items_of_it[key]

    def __iter__(self):
        return iter(self.items_of_it)

    def __len__(self):
        return len(self.items_of_it)


@of_numbers()
def classes_of_collections(a, b, c):
    table = Table()
    table.update({"a": a}, b=b)
    table.setdefault("c", c)
    roots = Roots([a, b, c])
    total = sum(roots) * sum(i * v for i, v in enumerate(reversed(roots)))
    return total + sum(table.values()) * table.get("a") + table.pop("b") * math.prod(v for _, v in table.items())


class Unchanging:
    """An object whose copy is itself."""

    def __init__(self, value):
        self.value = np.array([value, 2.0])

    def __copy__(self):
        return self


@of_numbers()
def objects_that_are_their_own_copies(a, b, c):
    held = Unchanging(a)
    asked = np.isscalar(held) or np.iterable(held)
    return held.value[0] * b if not asked else c


class Squaring:
    """A descriptor that a class answers with something else."""

    def __get__(self, x, kind=None):
        return 3.0 if x is None else x.squared

    def __set__(self, x, value):
        x.squared = math.pow(value, 2)


class Squared:
    value = Squaring()


@of_numbers()
def descriptors_that_classes_answer_for(a, b, c):
    squared = Squared()
    squared.value = a
    return squared.value * Squared.value * b + c
