"""Functions in every way in which Python lets one write them, each with what it is called with; for the conversion."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import operator
from math import hypot

PATTERNS = {}
FACTOR = 3.0


def called_with(*args, **kwargs):
    """Note a function, and the arguments of a call."""

    def note(f):
        PATTERNS[f.__qualname__] = f, args, kwargs
        return f

    return note


# ---------------------------------------------------------------- arguments and names


@called_with(2.0, b=3.0)
def defaults(a, b=1.0, *rest, c=4.0, **more):
    return a * b + c + sum(rest) + sum(more.values()) + FACTOR


@called_with(1, 2, 3, 4, k=5)
def stars(a, /, b, *rest, k, **more):
    return max(*rest, a, b), dict(k=k, **more), [*rest, *(a, b)]


@called_with(3)
def closures(n):
    total = 0

    def add(k):
        nonlocal total
        total += k
        return add if k else total

    def by_default(k, _n=n, *, also=n + 1):
        return k * _n + also

    for k in range(n):
        add(k)
    return total, by_default(2), (lambda x, y=n: x * y)(5)


@called_with(4)
def recursion(n):
    def down(k):
        return 1 if k == 0 else k * down(k - 1)

    return down(n) + (recursion(n - 1) if n else 0)


@called_with(5)
def globals_are_set(n):
    global FACTOR
    before = FACTOR
    FACTOR = before + n
    after, FACTOR = FACTOR, before
    return after


@called_with(2, 3)
def names_of_its_own(a, b):
    return sorted(locals()), "hypot" in globals(), "a" in dir(), [vars().get("a"), eval("a + b")]


SHORT, SHORTER = (lambda x: abs(x) + 1), (lambda x: abs(x) + 2)
called_with(-4)(SHORT)
PATTERNS["SHORTER"] = SHORTER, (-4,), {}
PATTERNS["in a call"] = [lambda x, f: f(x), lambda x: [math.sqrt(x) for _ in range(2)]][1], (4.0,), {}


# ---------------------------------------------------------------- statements


@called_with([3, 1, 2])
def loops(xs):
    found = []
    for i, x in enumerate(xs):
        if x == 1:
            continue
        while len(found) < x:
            found.append((i, x))
            if len(found) > 4:
                break
        else:
            found += [("else", x)]
    else:
        found.insert(0, "all")
    return found


@called_with({"a": [1, 2], "b": [3]})
def comprehensions(table):
    return (
        [x * y for x in range(3) for y in range(x) if x != y],
        {k: {abs(v) for v in vs} for k, vs in table.items()},
        sum(len(vs) for vs in table.values()),
        [[i * j for i in range(2)] for j in range(3)],
        [f(2) for f in [lambda x, k=k: x + k for k in range(3)]],
    )


@called_with(4)
def generators(n):
    def squares(k):
        sent = yield "start"
        for i in range(k):
            sent = yield i * i + (sent or 0)
        return "end"

    def around(k):
        result = yield from squares(k)
        yield result

    g = around(n)
    return [next(g), g.send(None), g.send(10), *g]


@called_with(3)
def coroutines_within(n):
    async def counted(k: abs(n)) -> abs(n):
        return [abs(i) async for i in counting(k)], [-i for i in range(k)]

    async def counting(k):
        for i in range(k):
            yield i + 1

    running = counted(n)
    try:
        running.send(None)
    except StopIteration as end:
        return end.value, counted.__annotations__


@called_with([1.0, "x", None, 0])
def exceptions(xs):
    found = []
    for x in xs:
        try:
            found.append(math.sqrt(1 / x))
        except ZeroDivisionError as error:
            found.append(str(error))
        except (TypeError, ValueError):
            found.append("type")
        else:
            found.append("fine")
        finally:
            found.append("finally")
    with contextlib.suppress(KeyError):
        raise KeyError(found[0])
    return found


@called_with(3)
def contexts(n):
    @contextlib.contextmanager
    def twice(x):
        log.append(f"in {x!r}")
        yield 2 * x
        log.append("out")

    log = []
    with twice(n) as a, twice(a) as b:
        log.append(a + b)
    with contextlib.ExitStack() as stack:
        log.append(stack.enter_context(twice(1)))
    return log


@called_with([{"kind": "circle", "r": 2.0}, (1, 2, 3), [4, [5]], "text", 7, 3.5])
def matches(things):
    found = []
    for thing in things:
        match thing:
            case {"kind": "circle", "r": r} if abs(r) > 1:
                found.append(math.pi * r)
            case (1, *rest) | [4, *rest]:
                found.append(rest)
            case str() as text:
                found.append(text.upper())
            case int(n) if n > Level.LOW:
                found.append(-n)
            case _:
                found.append(None)
    return found


class Level:
    LOW = 5


@called_with(6)
def walrus(n):
    found = [y for x in range(n) if (y := x % 4) > 1]
    while (n := n - 2) > 0:
        found.append(n)
    return found, n


@called_with(3.14159, 12)
def texts(x, n):
    width = 8
    return f"{x:{width}.{n // 6}f}|{n!r:>4}|{'é' + str(n)}|{max(x, n)=}", "-".join(map(str, (n, x))), f"{x:.1f}"


@called_with([1, 2, 3, 4, 5])
def operations(xs):
    a, b, *rest = xs
    a += b
    b **= 2
    xs[0] -= 1
    xs[1:3] = [9, 8]
    first = xs[0] if xs[-1] > xs[0] else xs[1]
    chained = 0 < a <= b < 100 and a not in rest and not b - a
    return a, b, first, chained, -a, ~b, xs[::-1], xs[1:4:2], (a, b)[1], a if a is not None else b, a // 2 % 3 << 2 | 1


# ---------------------------------------------------------------- classes


class Base:
    scale = 2.0

    def __init__(self, x):
        self.x = x
        self.__hidden = [x]

    def moved(self, by=1.0):
        return type(self)(self.x + by)

    @property
    def hidden(self):
        return self.__hidden

    @hidden.setter
    def hidden(self, value):
        self.__hidden = self.__checked(value)

    def __checked(self, value):
        return [float(v) for v in value]

    @classmethod
    def of(cls, *xs):
        return [cls(x) for x in xs]

    @staticmethod
    def halved(x):
        return x / 2

    def __add__(self, other):
        return Base(self.x + getattr(other, "x", other))

    __radd__ = __add__

    def __getitem__(self, i):
        return self.x * i

    def __iter__(self):
        yield from (self.x, self.scale)

    def __lt__(self, other):
        return self.x < other.x

    def __call__(self, x):
        return self.x * x


@dataclasses.dataclass(order=True)
class Derived(Base):
    x: float
    more: list = dataclasses.field(default_factory=list)

    def __post_init__(self):
        super().__init__(self.x)
        self.more.append(self.halved(self.x))

    def moved(self, by=2.0):
        moved = super().moved(by)

        def inner():
            return super(Derived, self).moved(by).x + __class__.scale

        return moved.x, inner(), [super(Derived, self).moved().x for _ in range(1)]

    @functools.cached_property
    def squared(self):
        return self.x**2


@called_with(3.0)
def objects(x):
    base, derived = Base(x), Derived(x)
    base.hidden = ["1", "2"]
    added = [base + 1, 1 + base, base + derived, sum([base, base], Base(0))]
    return (
        base.moved().x,
        base.hidden,
        derived.moved(),
        derived.squared,
        derived.more,
        [o.x for o in Base.of(1, 2)],
        [o.x for o in added],
        base[4],
        list(derived),
        min(base, Base(1)).x,
        base(5),
    )


PATTERNS["a method"] = Derived.moved, (Derived(1.5),), {}
PATTERNS["a private method"] = Base._Base__checked, (Base(1.0), "12"), {}
PATTERNS["a setter"] = Base.hidden.fset, (Base(1.0), "12"), {}


def decorated(factor):
    def decorate(f):
        @functools.wraps(f)
        def call(*args, **kwargs):
            return factor * f(*args, **kwargs)

        return call

    return decorate


@called_with(2.0)
@decorated(3)
@decorated(factor=5)
def with_decorators(x):
    @decorated(x)
    @functools.lru_cache
    def inner(y):
        return hypot(x, y)

    class Local(Base):
        def twice(self, *, of=x):
            return 2 * self(of)

    return inner(4.0) + operator.attrgetter("x")(Local(x)) + Local(x).twice()
