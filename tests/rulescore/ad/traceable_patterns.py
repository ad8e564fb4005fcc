"""Programs in every way in which Python lets one write them, where they have derivatives; for traceable."""

# ruff: noqa: B905, N818, PIE804, PT018, UP028, UP031, UP032, UP033 -- as people write

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import functools
import math
from math import hypot

import numpy as np

PATTERNS = {}
"""By name: a program, and the numbers, or the array, at which it is differentiated. Modules beside this add theirs."""
NUMBERS = (0.6, 0.9, 1.3)
ARRAY = (np.array(NUMBERS),)
SCALE = 3.0


def of_numbers(*point):
    """Note a function of several numbers."""

    def note(f):
        PATTERNS[f.__qualname__] = f, point or NUMBERS
        return f

    return note


def of_array(f):
    """Note a function of an array of three numbers."""
    PATTERNS[f.__qualname__] = f, ARRAY
    return f


# ---------------------------------------------------------------- arguments and names


@of_numbers()
def defaults(a, b, c, d=SCALE, *rest, e=4.0, **more):
    def inner(u, v=a, /, *, w=b):
        return math.exp(u) * v * w

    return inner(c) * d + inner(a, b, w=e) + sum(rest) + sum(more.values())


@of_numbers()
def stars(a, b, c):
    def inner(first, *rest, last, **more):
        return first * math.prod(rest) + last * sum(map(math.exp, more.values()))

    return inner(*[a, b, c], **{"last": a, "x": b, "y": c}) + inner(a, *(b,), last=2.0)


@of_numbers()
def keyword_only(a, b, c):
    def inner(*, u, v=2.0):
        return math.sin(u) / v

    return inner(u=a) * inner(v=b, u=c)


@of_numbers()
def closures(a, b, c):
    def adding(k):
        def add(x):
            return math.exp(x) + k * b

        return add

    return adding(a)(c) * (lambda x, y=a: math.sqrt(x) * y)(b)


@of_numbers()
def nonlocals(a, b, c):
    total = 0.0

    def add(x):
        nonlocal total
        total += math.sin(x)
        total *= x

    for v in (a, b, c):
        add(v)
    return total


@of_numbers()
def globals_that_are_set(a, b, c):
    global SCALE
    before = SCALE
    SCALE = a * b
    after, SCALE = SCALE, before
    return after * c * SCALE


@of_numbers()
def names_of_its_own(a, b, c):
    here = locals()
    return here["a"] * eval("b * c") + (math.exp(a) if "SCALE" in globals() else b)


@of_numbers()
def recursion(a, b, c):
    def power(x, n):
        return 1.0 if n == 0 else math.fabs(x) * power(x, n - 1)

    return power(a, 4) * b + c


def _even(x, n):
    return math.exp(x) if n == 0 else _odd(math.sin(x), n - 1)


def _odd(x, n):
    return x if n == 0 else _even(math.cos(x), n - 1)


@of_numbers()
def mutual_recursion(a, b, c):
    return _even(a, 5) * _odd(b, 4) + c


SEVERAL = [lambda a, b, c: math.exp(a) * b, lambda a, b, c: math.sin(a) * c + sum(x * x for x in (a, b))]
PATTERNS["a lambda of several in a line"] = SEVERAL[1], NUMBERS
PATTERNS["a partial"] = functools.partial(lambda k, a, b, c: math.exp(k * a) * b + c, 0.5), NUMBERS


# ---------------------------------------------------------------- statements


@of_array
def loops(x):
    total = 0.0
    for i, v in enumerate(x):
        if i == 0:
            continue
        n = 0
        while n < 3:
            total = total + math.sin(v) * n
            n += 1
            if total > 100:
                break
        else:
            total *= v
    else:
        total += x[0]
    return total


@of_array
def comprehensions(x):
    squares = [v * v for v in x if v > 0.7]
    table = {i: math.exp(v) for i, v in enumerate(x)}
    nested = [[u * v for u in x] for v in x]
    functions = [lambda u, k=k: u * k for k in x]
    return (
        sum(squares)
        + sum(table.values())
        + nested[0][2]
        + functions[1](x[0])
        + sum(u + v * w for u in x for v, w in zip(x, x))
    )


@of_array
def generators(x):
    def squares():
        for v in x:
            yield math.pow(v, 2)

    def around():
        yield x[0]
        yield from squares()
        return

    return sum(u * i for i, u in enumerate(around()))


@of_array
def generators_that_are_sent_to(x):
    def averaging():
        total, n = 0.0, 0
        while True:
            sent = yield total
            total, n = (total * n + math.exp(sent)) / (n + 1), n + 1

    def outer():
        result = yield from inner()
        yield result * 2

    def inner():
        got = yield x[0]
        return math.sin(got)

    averages = averaging()
    next(averages)
    means = [averages.send(v) for v in x]
    g = outer()
    return means[-1] * next(g) + g.send(x[1])


@of_array
def generators_that_are_closed(x):
    log = []

    def items():
        try:
            for v in x:
                yield v
        except KeyError:
            yield math.exp(x[2])
        finally:
            log.append(math.sin(x[0]))

    g = items()
    first = next(g)
    thrown = g.throw(KeyError())
    g.close()
    return first * thrown * log[0]


@of_numbers()
def tries(a, b, c):
    found = []
    for x in (a, -b, "c", 0.0):
        try:
            found.append(math.sqrt(x) / (1.0 if x else x))
        except ValueError:
            found.append(c * math.fabs(x))
        except (TypeError, KeyError) as error:
            found.append(len(error.args) * a)
        except ZeroDivisionError:
            found.append(b)
        else:
            found.append(c)
        finally:
            found.append(a * b)
    return sum(v * i for i, v in enumerate(found))


@of_numbers()
def errors_that_carry_values(a, b, c):
    class Found(Exception):
        def __init__(self, value):
            super().__init__("found")
            self.value = math.exp(value)

    try:
        raise Found(a * b)
    except Found as error:
        return error.value * c


@of_numbers()
def raised_from_within(a, b, c):
    try:
        try:
            {}["missing"]
        except KeyError as error:
            raise RuntimeError(a) from error
    except RuntimeError as error:
        return math.exp(error.args[0]) * b + c


@of_numbers()
def contexts(a, b, c):
    @contextlib.contextmanager
    def scaled(x):
        log.append(math.sin(x))
        yield x * 2
        log.append(math.cos(x))

    class Doubling:
        def __init__(self, x):
            self.x = x

        def __enter__(self):
            return math.exp(self.x)

        def __exit__(self, *error):
            log.append(math.sqrt(self.x))
            return error[0] is KeyError

    log = []
    with scaled(a) as u, Doubling(b) as v:
        log.append(u * v)
    with Doubling(c):
        raise KeyError
    with contextlib.ExitStack() as stack:
        log.append(stack.enter_context(Doubling(a)) * stack.enter_context(scaled(c)))
    with np.errstate(all="ignore"), contextlib.suppress(ValueError):
        log.append(math.log(a))
    return sum(v * (i + 1) for i, v in enumerate(log))


@of_numbers()
def context_variables(a, b, c):
    variable = contextvars.ContextVar("variable")
    token = variable.set(math.exp(a))
    found = variable.get() * b
    variable.reset(token)
    return found * variable.get(c)


@of_numbers()
def matches(a, b, c):
    @dataclasses.dataclass
    class Circle:
        r: float

    total = 0.0
    for thing in ({"kind": "circle", "r": a}, (1, b, c), [4, [b]], Circle(c), b, 7, None):
        match thing:
            case {"kind": "circle", "r": r} if math.fabs(r) > 0.1:
                total += math.pi * math.pow(r, 2)
            case (1, *rest) | [4, [*rest]]:
                total += math.prod(rest)
            case Circle(r=r):
                total += math.exp(r)
            case float(x) if x > 0:
                total += math.sin(x)
            case int(n):
                total += n * a
            case _:
                total *= c
    return total


@of_array
def walrus(x):
    found = [y for v in x if (y := math.exp(v)) > 2]
    n = 3
    while (n := n - 1) > 0:
        found.append(x[n] * n)
    return math.prod(found) * (y if (first := x[0]) < 1 else first)


@of_numbers()
def texts(a, b, c):
    width = 6
    text = f"{a:{width}.3f}|{b!r}|{c=:.2f}|" + "%s and %.3f" % (a, b) + "{:.2e} {x}".format(a, x=c) + str(b) + repr(c)
    return a * b * c + 0.0 * len(text)


@of_numbers()
def numbers_that_are_read_from_text(a, b, c):
    return a * float(f"{2.5:.1f}") * b + c * int("3")


@of_numbers()
def conditions(a, b, c):
    first = a if a > b else b
    chained = 0 < a <= b < 100 and not b > c
    return (first or c) * (a and b) * (c if chained else a) * (not a or 2.0)


@of_array
def unpacked(x):
    (a, b), *rest = (x[0], x[1]), *x
    c, [d, *e] = x[2], list(x)
    for i, (u, v) in enumerate(zip(x, x**2)):
        a = a + u * v * i
    return a * b + c * d + math.prod(e) + rest[1]


@of_numbers()
def deleted(a, b, c):
    values, table = [a, b, c], {"x": a, "y": b}
    del values[0], table["x"]
    d = math.exp(c)
    del c
    return values[0] * table["y"] * d


@of_numbers()
def asserted(a, b, c):
    assert a < b, "message"
    assert isinstance(c, float) and np.isscalar(c)
    return math.exp(a) * b * c


@of_array
def sliced(x):
    rows = np.outer(x, x)
    rows[0, 1:] = x[:2] ** 2
    rows[:, -1] *= x
    rows[rows > 1] -= x[0]
    rows[[0, 2], 1] = x[1]
    return rows[::-1, ::2] @ rows[..., None, 0][:2] + rows[-1]


@of_array
def augmented(x):
    y = x * 1.0
    y += x
    y *= x[0]
    y -= math.exp(x[1])
    y /= x
    y **= 2
    y[0] += x[2]
    y[1:] *= 3
    total = 1.0
    total //= 2.0
    total %= 3.0
    total += y[0]
    return y * total


# ---------------------------------------------------------------- decorators


def scaled_by(factor):
    def decorate(f):
        @functools.wraps(f)
        def call(*args, **kwargs):
            return math.exp(factor) * f(*args, **kwargs)

        return call

    return decorate


def validated(f):
    def check(*args):
        for x in args:
            if not np.isscalar(x) or not math.isfinite(x) or float(x) < 0:
                raise ValueError(x)
        return f(*args)

    return check


class Counted:
    def __init__(self, f):
        self.f, self.calls = f, 0
        functools.update_wrapper(self, f)

    def __call__(self, *args):
        self.calls += 1
        return self.f(*args)


@of_numbers()
@scaled_by(0.5)
@scaled_by(factor=0.2)
@validated
def decorators(a, b, c):
    @scaled_by(a)
    @Counted
    def inner(x):
        return hypot(x, b)

    return inner(c) * inner.__wrapped__(a)


@of_numbers()
def caches(a, b, c):
    @functools.lru_cache
    def fibonacci(n):
        return a if n < 2 else fibonacci(n - 1) + b * fibonacci(n - 2)

    @functools.lru_cache(maxsize=None)
    def of_number(x):
        return math.exp(x)

    return fibonacci(6) * of_number(c) + of_number(c) * of_number(a)
