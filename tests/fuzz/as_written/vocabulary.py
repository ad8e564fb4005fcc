"""What modules are made of: definitions and statements, with places for names in them.

In a text, ``{a}`` and ``{b}`` stand for an array of one axis, ``{m}`` for one of two, ``{s}`` and ``{t}`` for a number,
``{l}`` for a list of numbers, ``{L}`` for a list of arrays, ``{o}`` for a `Box`, ``{c}`` for a number that is written
down, ``{i}`` and ``{j}`` for a place; ``{v}`` and ``{w}`` for new names, and ``{n}`` for a number that nobody else has.
``{f}`` is a function of one number, and others as `WORDS` has it. What does not run where it has been put is left out.
What ``np.empty`` makes is filled in the same line, so that nobody reads what was in the memory.
"""

HEADS = (
    ("import math\n\nimport numpy as np", {"N": "np", "M": "math"}),
    ("import math\nimport math as m\n\nimport numpy\nimport numpy as np", {"N": "numpy", "M": "m"}),
    ("import math\n\nimport numpy as np\nfrom numpy import *", {"N": "np", "M": "math"}),
)
"""Ways to import what every module has, and by what names."""

IMPORTS = """import cmath
import copy
import functools
import itertools
import operator
import statistics
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import exp, hypot
from typing import NamedTuple
"""

PRELUDE = '''
LOG = []
TABLE = np.array([0.3, -0.6, 0.9, 1.2])


def say(k, x):
    """Says that it was evaluated."""
    LOG.append(k)
    return x


def said():
    """A number for what was said, in this order."""
    total = 0.0
    for k, e in enumerate(LOG):
        total += (k + 1) * e
    return total


class Box:
    scale = 0.5

    def __init__(self, x):
        self.x = x
        self.y = np.zeros(4)
        self.count = 0

    @property
    def total(self):
        self.count += 1
        return self.x.sum() + self.y.sum()

    @total.setter
    def total(self, value):
        self.y[0] = value

    def put(self, i, value):
        self.x[i] = value
        return self

    def __getitem__(self, i):
        return self.y[i]

    def __setitem__(self, i, value):
        self.y[i] = value * self.scale

    def __len__(self):
        return len(self.y)

    def __iter__(self):
        yield from self.y

    def __iadd__(self, other):
        self.y += other
        return self

    def __mul__(self, other):
        return Box(self.x * other)

    def __enter__(self):
        self.x = self.x * 0.5
        return self.x

    def __exit__(self, kind, *error):
        self.y[-1] = 0.25
        return kind is ZeroDivisionError


class Boxed(Box):
    def __init__(self, x, scale=0.25):
        super().__init__(x)
        self.scale = scale

    def put(self, i, value):
        super().put(i, value * self.scale)
        return self

    def __getattr__(self, name):
        if name != "ghost":
            raise AttributeError(name)
        return self.y


def fill(x, value, start=0):
    for i in range(start, len(x)):
        x[i] = value * (i + 1)


def bump(x, value, out=None):
    out = x if out is None else out
    out += value
    return out


def first(x):
    return x[:2]


def math_of(u, w, *rest):
    return math.atan2(u, abs(w) + 1.0) + math.hypot(u, 2.0)


def running(x):
    total = np.zeros(2)
    for value in x:
        total[0] += value
        total[1] = value
        yield total
'''

WORDS = {
    "math": ("{M}.sin", "{M}.cos", "{M}.tanh", "{M}.atan", "np.sin", "{M}.erf", "abs", "float", "np.tanh", "{M}.fabs"),
    "zeros": (
        "{N}.zeros(len(x))",
        "{N}.zeros_like(x)",
        "{N}.zeros(x.shape, x.dtype)",
        "{N}.ones(shape=x.shape)",
        "{N}.full(len(x), 0.5)",
        "[0.0] * len(x)",
        "np.array([0.0] * len(x))",
        "list(np.zeros(len(x)))",
        "{N}.copy({N}.zeros(len(x)))",
        "{N}.zeros((2, len(x)))[0]",
        "{N}.zeros(2 * len(x))[::2]",
        "{N}.arange(float(len(x)))",
        "{N}.linspace(0.0, 1.0, len(x))",
        "np.zeros(len(x)) + 1.0",
        "np.r_[0.0, np.zeros(len(x) - 1)]",
        "np.concatenate([np.zeros(1), np.zeros(len(x) - 1)])",
    ),
    "asarray": (
        "{N}.asarray(x)",
        "{N}.array(x)",
        "{N}.asarray(x, dtype=float)",
        "{N}.array(x, float, copy=True)",
        "{N}.atleast_1d(x)",
        "{N}.asanyarray(x, float)",
        "{N}.ascontiguousarray(x)",
        "{N}.array([float(e) for e in x])",
        "np.asarray(x).ravel()",
        "np.asarray(list(x), float)",
        "np.squeeze(np.array([x]))",
        "np.fromiter((float(e) for e in x), float)",
        "{N}.asfarray(x) if hasattr({N}, 'asfarray') else {N}.asarray(x, float)",
        "np.r_[tuple(x)]",
        "x.copy()",
        "np.array(x, ndmin=1)",
    ),
    "f": ("{M}.sin", "{M}.atan", "float", "abs", "lambda u: u * 0.5", "np.float64", "operator.neg", "{M}.tanh"),
}
"""What one of these places may hold; ``{M}`` and ``{N}`` are the modules `math` and `numpy`."""

NEW = (
    "{v} = np.zeros(4)",
    "{v} = np.zeros(4)",
    "{v} = np.ones(4)",
    "{v} = np.empty(4); {v}[:] = {c}",
    "{v} = np.empty(shape=(4,), dtype=float); {v}.fill({c})",
    "{v} = np.zeros_like({a})",
    "{v} = np.full(4, {s})",
    "{v} = np.full(4, {c})",
    "{v} = np.arange(4.0)",
    "{v} = np.linspace(0.0, 1.0, 4)",
    "{v} = np.array([{s}, {t}, {c}, 0.0])",
    "{v} = np.array([{c}, 0.5, 0.0, 1.0])",
    "{v} = np.zeros((3, 4))",
    "{v} = np.ones((4, 3)).T",
    "{v} = np.arange(12.0).reshape(3, 4) * 0.1",
    "{v} = np.zeros((2, 3, 4))[1]",
    "{v} = np.eye(3, 4)",
    "{v} = np.zeros(8)[::2]",
    "{v} = np.random.default_rng(0).normal(size=4)",
    "{v} = {w} = np.zeros(4)",
    "{v}, {w} = np.zeros(4), np.ones(4)",
    "{v}, {w} = np.zeros((2, 4))",
    "{v} = [0.0] * 4",
    "{v} = [np.zeros(4) for _ in range(2)]",
    "{v} = [np.zeros(4)] * 2",
    "{v} = Box(np.zeros(4))",
    "{v} = Boxed({a})",
    "{v} = Box({a})",
    "{v} = np.stack([np.zeros(4), {a}])",
    "{v} = np.zeros(4) + 0.5",
    "{v} = 2.0 * np.arange(4.0)",
    "{v} = -np.ones(4)",
    "{v} = np.copy(TABLE)",
    "{v} = TABLE.copy()",
    "{v} = TABLE * 1.0",
    "{v} = np.array(TABLE)",
    "{v} = np.asarray([float(k) for k in range(4)])",
    "{v} = np.add(np.zeros(4), 1.0, out=np.empty(4))",
    "{v} = np.concatenate([np.zeros(2), np.ones(2)])",
    "{v} = (lambda: np.zeros(4))()",
    "{v} = np.zeros(4).view()",
    "{v} = copy.copy(np.zeros(4))",
    "{v} = copy.deepcopy({a})",
    "{v} = np.vstack((np.zeros(4), TABLE))",
    "{v} = np.tile(np.zeros(2), 2)",
    "{v} = np.zeros(4).tolist()",
)

ALIASES = (
    "{v} = {a}",
    "{v} = {a}",
    "{v} = {m}",
    "{v} = {a}[1:]",
    "{v} = {a}[::-1]",
    "{v} = {a}[:3]",
    "{v} = {m}[0]",
    "{v} = {m}[:, 1]",
    "{v} = {m}[1:, ::2]",
    "{v} = {m}.T",
    "{v} = {m}.ravel()",
    "{v} = {m}.reshape(-1)[:4]",
    "{v} = {m}.flatten()[:4]",
    "{v} = {a}.reshape(2, -1)",
    "{v} = {a}[None, :]",
    "{v} = np.asarray({a})",
    "{v} = np.asarray({a}, dtype=float)",
    "{v} = np.asanyarray({m})",
    "{v} = np.ascontiguousarray({a})",
    "{v} = np.array({a}, copy=None)",
    "{v} = np.atleast_1d({a})",
    "{v} = np.atleast_2d({a})",
    "{v} = {a}[...]",
    "{v} = {a}.view()",
    "{v} = {a}.real",
    "{v} = np.ravel({a})",
    "{v} = np.squeeze({a}[None])",
    "{v} = np.transpose({m})",
    "{v} = np.diagonal({m})",
    "{v} = np.flip({a})",
    "{v} = np.split({a}, 2)[0]",
    "{v}, {w} = np.split({a}, [2])",
    "{v}, {w} = {a}, {b}",
    "{v} = [{a}, {b}]",
    "{v} = [{a}[:2], {a}]",
    "{v} = list({m})",
    "{v} = {{'p': {a}, 'q': {b}}}['p']",
    "{v} = ({a},)[0]",
    "{o}.x = {a}",
    "{o}.y = {a}",
    "{v} = {o}.x",
    "{v} = {o}.y[1:]",
    "{v} = Box({a})",
    "{v} = {L}[0]",
    "{v} = {L}[-1]",
    "{L}.append({a})",
    "{v} = {L}[:]",
    "{v} = (lambda u: u)({a})",
    "{v} = first({a})",
    "{v} = next(iter([{a}]))",
    "{v} = say(1, {a})",
    "{v} = {a} if {s} > {c} else {b}",
    "{v} = getattr({o}, 'x')",
    "setattr({o}, 'y', {a})",
    "{v} = vars({o})['y']",
    "{v} = ({w} := {a})",
    "{v} = {a} or {b}",
    # Copies.
    "{v} = {a}.copy()",
    "{v} = np.copy({a})",
    "{v} = np.array({a})",
    "{v} = {a} * 1.0",
    "{v} = +{a}",
    "{v} = {a} + TABLE[:len({a})]",
    "{v} = {a}.astype(float)",
    "{v} = {a}[[0, -1]]",
    "{v} = {m}.copy()",
    "{v} = copy.copy({a})",
    "{v} = list({a})",
    "{v} = {a}.tolist()",
    "{v} = copy.deepcopy({o})",
    "{v} = [u.copy() for u in {L}]",
    "{v} = np.where({a} > 0, {a}, 0.0)",
)

WRITES = (
    "{a}[{i}] = {s}",
    "{a}[{i}] = {s}",
    "{a}[{i}] = {s}",
    "{a}[{i}] = {c}",
    "{a}[{i}] = {c}",
    "{a}[{i}] += {s}",
    "{a}[{i}] += {c}",
    "{a}[{i}] *= {c}",
    "{a}[{i}] -= {b}[{j}]",
    "{a}[{i}] = {a}[{j}] * {s}",
    "{a}[:2] = {s}",
    "{a}[:2] = {b}[:2]",
    "{a}[1:] = {a}[:-1]",
    "{a}[1:] += {a}[:-1]",
    "{a}[::-1] = {a}",
    "{a}[:] = {b}",
    "{a}[...] = {s}",
    "{a}[{a} > {c}] = {s}",
    "{a}[{a} > {c}] *= 0.5",
    "{a}[[0, -1]] += {s}",
    "{a}[[0, 0]] += {s}",
    "{a}[np.arange(2)] = {b}[:2]",
    "{a} += {s}",
    "{a} += {c}",
    "{a} += {b}",
    "{a} *= {s}",
    "{a} *= {c}",
    "{a} -= {a}[{i}]",
    "{a} /= 2",
    "{a} **= 2",
    "{m}[{i}] = {s}",
    "{m}[{i}] = {a}",
    "{m}[{i}, {j}] = {s}",
    "{m}[{i}][{j}] = {s}",
    "{m}[{i}][{j}] += {c}",
    "{m}[:, {j}] += {s}",
    "{m}[{i}, 1:] = {s}",
    "{m} += {a}",
    "{m} *= {s}",
    "{m}.T[{j}] = {s}",
    "{m}.reshape(-1)[{i}] = {s}",
    "{m}.ravel()[{i}] += {s}",
    "{a}.fill({c})",
    "{a}.fill({s})",
    "{a}.sort()",
    "{a}.put([0], {s})",
    "np.put({a}, [0, 1], {s})",
    "np.copyto({a}, {b})",
    "np.copyto({a}, {c})",
    "np.fill_diagonal({m}, {s})",
    "np.add.at({a}, [0, 0], {s})",
    "np.add({a}, {s}, out={a})",
    "np.multiply({a}, {b}, out={a})",
    "np.sin({a}, {a})",
    "np.add({a}, {c}, out={b})",
    "np.cumsum({a}, out={a})",
    "np.clip({a}, -1.0, {s}, out={a})",
    "np.maximum({a}, {c}, out={a}, where={a} > 0)",
    "np.put_along_axis({a}, np.array([0]), {s}, 0)",
    "np.place({a}, {a} > {c}, [0.5])",
    "np.putmask({a}, {a} > {c}, {b})",
    "{a}.flat[{i}] = {s}",
    "{a}.flat = {s}",
    "{a}[{i}], {a}[{j}] = {a}[{j}], {a}[{i}]",
    "{a}[{i}], {b}[{j}] = {s}, {c}",
    "{a}, {b} = {b}, {a}",
    "{a}[{i}] = {b}[{j}] = {s}",
    "{v} = {a}[{i}] = {s}",
    "({a}[0], *{v}), {w} = ({s}, {c}, {c}), {t}",
    "for {v}, {a}[{i}] in enumerate([{s}, {c}]):\n    pass",
    "[{a}[0], {a}[1]] = {s}, {t}",
    "fill({a}, {s})",
    "fill({a}, {c}, start=1)",
    "fill({m}[{i}], {s})",
    "fill({a}[1:], {s})",
    "bump({a}, {s})",
    "{v} = bump({a}, {s})",
    "bump({a}, {c}, out={b})",
    "{v} = bump({a}[:2], {c})",
    "{o}.x[{i}] = {s}",
    "{o}.y[{i}] += {s}",
    "{o}.x += {s}",
    "{o}.y *= {c}",
    "{o}.x = {o}.x + {s}",
    "{o}[{i}] = {s}",
    "{o}[{i}] += {s}",
    "{o} += {s}",
    "{o}.total = {s}",
    "{o}.total += {s}",
    "{v} = {o}.put({i}, {s}).total",
    "{o}.put({i}, {c})",
    "{o}.scale *= {s}",
    "{o}.ghost[{i}] = {s}",
    "with {o} as {v}:\n    {v}[{i}] = {s}",
    "with {o} as {v}:\n    {o}.y[{i}] = {s}\n    1 / 0",
    "{L}[0][{i}] = {s}",
    "{L}[-1] += {s}",
    "{L}[0] = {L}[0] * {s}",
    "for u in {L}:\n    u[{i}] = {s}",
    "for k, u in enumerate({L}):\n    u += k * {s}",
    "for row in {m}:\n    row[{i}] = {s}",
    "for row in {m}:\n    row += {s}",
    "for k in range(len({m})):\n    {m}[k] = {m}[k - 1] * {s}",
    "[u.fill({c}) for u in {L}]",
    "{l}[{i}] = {s}",
    "{l}[{i}] += {s}",
    "{l}.append({s})",
    "{l}[1:3] = [{s}, {c}]",
    "{l} += [{s}]",
    "{v} = {l}.pop()",
    "del {L}[0]",
    "for k, {v} in enumerate(running({a})):\n    {v}[1] = {c} * k",
    "{v} = list(running({a}))",
    "for i in range(len({a})):\n    {a}[i] = i * {s}",
    "for i in range(len({a})):\n    if {a}[i] > {c}:\n        {a}[i] = {s}\n        break\nelse:\n    {a}[0] = {t}",
    "i = 0\nwhile i < len({a}):\n    {a}[i] += {s}\n    i += 1\n    if i > 2:\n        continue\n    {a}[-1] = {c}",
    "try:\n    {a}[99] = {s}\nexcept IndexError:\n    {a}[0] = {s}",
    "try:\n    {a}[{i}] = {s}\n    raise KeyError('lost')\n"
    "except KeyError as error:\n    {a}[{j}] = {c}\nfinally:\n    {a}[0] += 1.0",
    "try:\n    {a}[{i}] += say(1, {s}) * (1 // say(2, 0))\nexcept ZeroDivisionError:\n    {a}[{i}] += {c}",
    "{v} = {a}\n{v}[{i}] = {s}\n{w} = {v}.sum() + {a}[{i}]",
    "{v} = {a}[1:]\n{v} *= {s}",
    "{v} = {a}.copy()\n{v}[{i}] = {s}",
    "{v} = {a} * 1.0\n{w} = {v}\n{v}[{i}] = {s}",
    "{v} = {a}\n{a} = {a} + {s}\n{v}[{i}] = {c}",
    "{v} = {a}\n{v} += {s}\n{a} = {a} * 0.5",
    "{v} = {a} * {b}[:len({a})]\n{b}[{i}] = {c}\n{w} = {v} * {s}",
    "{v} = {s} * {a}\n{a}[{i}] = {c}",
    "{v} = np.sin({a})\n{a}[{i}] = {s}",
    "{v} = {a}[{i}]\n{a}[{i}] = {s}",
    "{v} = [{a}[0], {a}]\n{v}[1][0] = {s}",
    "{v} = lambda: {a}.sum()\n{a}[{i}] = {s}\n{w} = {v}()",
    "(lambda u: u.__setitem__(0, {s}))({a})",
    "operator.setitem({a}, {i}, {s})",
    "{v} = operator.iadd({a}, {s})",
    "{a}.__setitem__({i}, {s})",
    "{a}.itemset({i}, {s})",
    "functools.reduce(lambda u, k: u.__setitem__(k, {s}) or u, range(2), {a})",
    "list(map(lambda k: {a}.__setitem__(k, {s}), range(2)))",
    "functools.partial(fill, {a})({s})",
    "(fill if {s} > {c} else bump)({a}, {t})",
    "np.random.default_rng(1).shuffle({a})",
    "{v} = next(iter({o}), {s})\n{a}[{i}] = {v}",
    "{v} = {a}\n{w} = np.squeeze({v})\n{v}[{i}] = {s}",
    "{v} = np.zeros(4)\n{w} = np.asarray({v})\n{v}[{i}] = {s}",
    "{v} = {b} > {c}\n{w} = np.where({v}, {b}, {s})\n{v}[:] = False",
    "TABLE[{i}] = {c}",
    "TABLE[{i}] += {c}",
    "{v} = TABLE\n{v}[0] += 1.0",
)

ORDER = (
    "say(1, {a})[say(2, {i})] = say(3, {s})",
    "say(1, {a})[say(2, {i})] += say(3, {s})",
    "{a}[say(1, {i})], {b}[say(2, {j})] = say(3, {s}), say(4, {c})",
    "{a}[say(1, {i})] = {v} = say(2, {s})",
    "k = 0\n{a}[k], k = {s}, 1",
    "k = 1\nk, {a}[k] = 0, {s}",
    "k = 0\n{a}[k] = k = 1",
    "say(1, {o}).x = say(2, {a})",
    "say(1, {o}).scale += say(2, {s})",
    "say(1, {o}).y[say(2, {i})] -= say(3, {s})",
    "say(1, {o})[say(2, {i})] *= say(3, {s})",
    "say(1, {o}).x[say(2, 0):say(3, 2)] = say(4, {s})",
    "say(1, {o}).scale, {a}[say(2, {i})] = say(3, {s}), say(4, {c})",
    "{v} = say(1, {s}) + say(2, {t}) * say(3, {s})",
    "{v} = say(1, {s}) < say(2, {t}) < say(3, {c})",
    "{v} = say(1, {s}) if say(2, {t}) > 0 else say(3, {s})",
    "{v} = [say(1, {s}), *say(2, [{t}]), say(3, {c})]",
    "{v} = {{say(1, 'p'): say(2, {s}), **say(3, {{'q': {t}}})}}['q']",
    "{v} = bump(say(1, {a}), say(2, {s}), out=say(3, {a}))",
    "{v} = bump(*say(1, ({a}, {s})), **say(2, {{'out': {a}}}))",
    "{v} = say(1, {s}) and say(2, {t}) or say(3, {s})",
    "{v} = {a}[say(1, 0):say(2, 3):say(3, 1)]",
    "{v} = {a}.copy() + ({w} := say(1, {s})) * say(2, {c})",
    "{v} = {s} + {o}.total * {o}.count",
    "{v} = [say(k, e) for k, e in enumerate({a}) if say(9, e) > {c}]",
    "{v} = {a}[0] + bump({a}, {s})[0]",
    "{v} = {a}[0] + bump({a}, {s})[0] + {a}[0]",
    "{v} = {a} + bump({a}, {s})",
    "{v} = {a} * {a}.__setitem__({i}, {s}) if False else {a} + 0.0",
    "{a}[{i}] = bump({a}, {s})[{j}]",
    "{a}[{i}] += bump({a}, {s})[{j}]",
    "{a} += bump({a}, {s})",
    "{o}.x += bump({o}.x, {s})",
    "{o}.scale += {o}.put({i}, {s}).scale",
    "{v} = f'{{say(1, 2)}}{{say(2, 3)}}'\n{w} = float({v}) * 0.01 + {s}",
    "assert say(1, {s}) == say(2, {s}), say(3, 0)",
    "del {{say(1, 'p'): 1}}[say(2, 'p')]",
    "{v} = (say(k, {s}) for k in range(2))\n{w} = next({v}) + next({v})",
)

VALUES = (
    "{v} = {a}.sum()",
    "{v} = {a}[{i}]",
    "{v} = float({a}[{i}])",
    "{v} = {a}[{i}].item()",
    "{v} = {a}.item({i})",
    "{v} = {m}[{i}, {j}]",
    "{v} = {m}.mean(axis=0)",
    "{v} = {m} @ {a}",
    "{v} = {a} @ {b}",
    "{v} = np.dot({m}, {a})",
    "{v} = np.einsum('i,i->', {a}, {b})",
    "{v} = {f}({s})",
    "{v} = {math}({s})",
    "{v} = {math}({s} * {t})",
    "{v} = sum({a})",
    "{v} = sum({a}, {s})",
    "{v} = sum(e * e for e in {a})",
    "{v} = max({a})",
    "{v} = min({s}, {t})",
    "{v} = max({s}, *{a}, key=lambda e: -e)",
    "{v} = round({s}, 3) * 0.0 + {t}",
    "{v} = int({s}) + {t}",
    "{v} = np.linalg.norm({a} + 0.1)",
    "{v} = functools.reduce(lambda u, e: 0.5 * u + e, {a})",
    "{v} = functools.reduce(operator.add, {a}, {s})",
    "{v} = np.array(list(itertools.accumulate({a})))",
    "{v} = [u * w for u, w in zip({a}, {b})]",
    "{v} = [u - w for u, w in itertools.pairwise({a})]",
    "{v} = [e for e in itertools.chain({a}, [{s}, {c}])]",
    "{v} = list(map({f}, {a}))",
    "{v} = list(filter(lambda e: e > {c}, {a}))",
    "{v} = np.array([{f}(e) for e in {a}])",
    "{v} = np.array([[{s}, {c}], [{t}, 1.0]])",
    "{v} = np.array([{a}, {b}])",
    "{v} = np.array([{a}, np.zeros(4)])",
    "{v} = statistics.mean({a})",
    "{v} = statistics.{statistic}(list({a}))",
    "{v} = math_of({s}, {t})",
    "{v} = {s} + {t}",
    "{v} = {s} * {t}",
    "{v} = {s} / (1.5 + {t} * {t})",
    "{v} = ({s} * {s} + 0.5) ** {c}",
    "{v} = {a} * {s}",
    "{v} = {s} - {a}",
    "{v} = abs({a})",
    "{v} = divmod({s}, 1.5)[1]",
    "{v} = {s} // 1.5 + {t}",
    "{v} = pow({s}, 2)",
    "{v} = np.concatenate([{a}, [{s}]])",
    "{v} = np.r_[{s}, {a}]",
    "{v} = np.c_[{a}, {a}]",
    "{v} = np.hstack(({s}, {a}))",
    "{v} = np.append({a}, {s})",
    "{v} = np.outer({a}, {b})",
    "{v} = np.vectorize(lambda u: u * {s})({a})",
    "{v} = np.interp({s}, {b}.cumsum() * 0 + np.arange(len({b})), {b})",
    "{v} = np.polyval([{s}, {c}, {t}], {c})",
    "{v} = np.searchsorted(np.sort({a}), {s}) + {t}",
    "{v} = sorted({a})",
    "{v} = np.sum([{s}, {t}, {c}])",
    "{v} = np.max([{s}, {t}])",
    "{v} = np.mean([e for e in {a}])",
    "{v} = exp(-abs({s})) + hypot({s}, {t} + 2.0)",
    "{v} = cmath.exp(1j * {s}).real",
    "{v} = abs(complex({s}, {t} + 2.0))",
    "{v} = math_of(*{a}[:2])",
    "{v} = next(e for e in {a})",
    "{v} = {{k: e for k, e in enumerate({a})}}[1]",
    "{v} = (lambda *u, k={c}: sum(u) * k)(*{a})",
    "{v} = '%.2f' % {s} == '' or {t}",
    "{v} = {s} if {a}.any() else {t}",
    "{v} = len({a}) * {s}",
    "{v} = {o}.total",
    "{v} = {o}[{i}]",
    "{v} = ({o} * {s}).x",
    "{v} = sum({o})",
    "{v} = list({o})",
    "{v} = len({o}) * {s}",
    "{v} = np.array({l})",
    "{v} = np.asarray({l}) * {s}",
    "{v} = {l}[{i}]",
    "{v} = sum({l})",
    "{v}, *{w} = {a}",
    "{v}, {w} = {a}[:2]",
    "{v}, {w} = {l}[:2]",
    "for {v} in {a}:\n    pass",
    "for {v}, {w} in zip({a}, {l}):\n    if {v} > {c}:\n        break",
    "{v} = [{a}[k] for k in range(len({a})) if k % 2 == 0]",
    "{v} = np.sum({L}, axis=0)",
    "{v} = np.array({L})",
    "{v} = sum({L})",
    "{v} = {a} > {c}\n{v} = {v} * {s}",
    "{v} = TABLE * {s}",
    "{v} = TABLE[{i}] * {s}",
    "{v} = isinstance({s}, float) * 0.5 + {s}",
    "{v} = (type({a}) is np.ndarray) * {s}",
    "{v} = {s}\n{v} += {t}\n{v} *= {c}",
)

BLOCKS = (
    "for _ in range(2):\n{block}",
    "if {s} > {c}:\n{block}\nelse:\n{other}",
    "try:\n{block}\nfinally:\n{other}",
    "try:\n{block}\n    raise ValueError\nexcept ValueError:\n{other}",
    "while True:\n{block}\n    break",
    "with Box(np.zeros(4)) as {v}:\n{block}",
    "def inner{n}({a}, {s}):\n{block}\n    return {news}\n\n\n{news} = inner{n}({a}, {t})",
    "def inner{n}():\n{block}\n    return {news}\n\n\n{news} = inner{n}()",
    "def inner{n}(u={a}):\n    {a} = u\n{block}\n    yield {news}\n\n\n[{news}] = inner{n}()",
    "class Local{n}:\n{block}\n    kept = {news}\n\n\n{news} = Local{n}.kept",
    "if True:\n{block}",
)
"""Statements around others, which are indented."""

CONSTANTS = ("0.5", "-0.3", "1.5", "0.0", "2", "0.25", "-1.0", "np.float64(0.7)", "True")
PLACES = ("0", "1", "-1")
STATISTICS = ("mean", "fmean", "median", "pvariance", "variance")
SPECIAL = ("erf", "expit", "j0", "gammaln", "log_ndtr", "i0e", "ndtr")
