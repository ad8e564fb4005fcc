"""Functions of order, kinks, and ends of domains."""

import numpy as np

from corpora import multiprecision as mp
from corpora.corpus import Differentiable, elementwise, normal
from corpora.right.elementwise import SQRT, steep
from corpora.right.entry import around, fixed, right


def sharing_among_equals(x, ybar):
    """Entries of a sorted array that are equal share their cotangents equally."""
    _, group = np.unique(x, return_inverse=True)
    totals, counts = np.bincount(group, ybar), np.bincount(group)
    return (totals / counts)[group]


def sorted_jvp(dx, x):
    order = np.argsort(x)
    return sharing_among_equals(x[order], dx[order])


def sorted_vjp(ybar, x):
    order = np.argsort(x)
    xbar = np.zeros(np.shape(x))
    xbar[order] = sharing_among_equals(x[order], ybar)
    return xbar


def extremum_jvp(dx, x, y):
    """The mean of the tangents of the entries that attain the extremum."""
    return np.sum((x == y) * dx) / np.sum(x == y)


def extremum_vjp(ybar, x, y):
    return (x == y) * ybar / np.sum(x == y)


SORT = Differentiable(lambda x: np.sort(x), sorted_jvp, sorted_vjp, real=True, twin=lambda x: np.sort(x))
MAX = Differentiable(
    lambda x: np.max(x),
    jvp=lambda dx, x: extremum_jvp(dx, x, np.max(x)),
    vjp=lambda ybar, x: extremum_vjp(ybar, x, np.max(x)),
    real=True,
    twin=lambda x: np.max(x),
)
MIN = Differentiable(
    lambda x: np.min(x),
    jvp=lambda dx, x: extremum_jvp(dx, x, np.min(x)),
    vjp=lambda ybar, x: extremum_vjp(ybar, x, np.min(x)),
    real=True,
    twin=lambda x: np.min(x),
)


def shuffled(*values):
    """These values in random order."""
    return lambda rng: ((rng.permutation(np.array(values)),), {})


right("a sort without ties", SORT, normal(6))
right("a sort of numbers 1e-6 apart", SORT, lambda rng: ((rng.permutation(1 + 1e-6 * np.arange(5)),), {}))
right("a sort with pairs of ties", SORT, shuffled(1.0, 1.0, 2.0, 3.0, 3.0), at_kink=True)
right("a sort with three equal entries", SORT, shuffled(0.5, 2.0, 2.0, 2.0, 3.0), at_kink=True)
right("a maximum without ties", MAX, normal((3, 4)))
right("a maximum with two ties", MAX, shuffled(1.0, 3.0, 3.0, 2.0), at_kink=True)
right("a maximum with all entries equal", MAX, fixed(np.full(4, 2.0)), at_kink=True)
right("a maximum whose ties are 1e-9 apart", MAX, lambda rng: ((rng.permutation([1.0, 3.0, 3.0 - 1e-9]),), {}))
right("a minimum with three ties", MIN, shuffled(1.0, 1.0, 1.0, 2.0, 5.0), at_kink=True)


def middle_of(x):
    """The weights of the entries in the median: the one or two in the middle, with their ties."""
    ordered = np.sort(np.ravel(x))
    middle = ordered[(np.size(x) - 1) // 2], ordered[np.size(x) // 2]
    return sum(0.5 * (x == value) / np.sum(x == value) for value in middle)


MEDIAN = Differentiable(
    lambda x: np.median(x),
    jvp=lambda dx, x: np.sum(middle_of(x) * dx),
    vjp=lambda ybar, x: middle_of(x) * ybar,
    real=True,
    twin=lambda x: (np.sort(x)[(len(x) - 1) // 2] + np.sort(x)[len(x) // 2]) / 2,
)
right("a median of an odd number of entries", MEDIAN, normal(5))
right("a median of an even number of entries", MEDIAN, normal(6))


ABS = elementwise(lambda x: np.abs(x), np.sign, real=True, twin=abs)
RELU = elementwise(
    lambda x: np.where(x > 0, x, 0),
    lambda x: np.where(x > 0, 1.0, 0.0),
    real=True,
    twin=lambda x: np.where(x > 0, x, 0 * x),
)
MAXIMUM = elementwise(
    np.maximum,
    lambda a, b: np.where(a == b, 0.5, np.where(a > b, 1.0, 0.0)),
    lambda a, b: np.where(a == b, 0.5, np.where(b > a, 1.0, 0.0)),
    real=True,
    twin=np.maximum,
)
CLIP = elementwise(
    lambda x: np.clip(x, -1, 1),
    lambda x: np.where((x > -1) & (x < 1), 1.0, 0.0),
    real=True,
    twin=lambda x: np.minimum(np.maximum(x, -1), 1),
)

right("|x| at 1e-7", ABS, around(0, 1e-7, 5))
right("|x| at 0, beside others", ABS, fixed(np.array([0.0, 1.0, -2.0])), at_kink=True)
right("|x| at 0", ABS, fixed(np.zeros(())), at_kink=True)
right("ReLU at 1e-9", RELU, around(0, 1e-9, 5))
right("ReLU at 0", RELU, fixed(np.array([0.0, -1.0, 2.0])), at_kink=True)
right(
    "a clip off its edges",
    CLIP,
    lambda rng: ((np.array([0.999, 1.001, -0.999, -1.001]) + 1e-4 * rng.uniform(-1, 1, 4),), {}),
)
right("a clip at its edges", CLIP, fixed(np.array([1.0, -1.0, 0.5, 3.0])), at_kink=True)
right("a maximum of two without ties", MAXIMUM, normal(5, 5))


def pairs_with_ties(rng):
    """The first and the third of four pairs are of equal numbers."""
    a = rng.standard_normal(4)
    return (a, np.add(a, [0, 1, 0, -1])), {}


right(
    "a maximum of two with ties",
    MAXIMUM,
    pairs_with_ties,
    at_kink=True,
)
right(
    "floor between its steps",
    elementwise(np.floor, lambda x: 0.0 * x, real=True, twin=mp.floor),
    lambda rng: ((rng.integers(-3, 3, 5) + rng.uniform(0.01, 0.99, 5),), {}),
)
right(
    "the sign of numbers at 1e-5 from 0",
    elementwise(np.sign, lambda x: 0.0 * x, real=True, twin=mp.sign),
    around(0, 1e-5, 4),
)


def huber(x):
    """Quadratic up to 1 and linear beyond: its derivative has a kink, and itself none."""
    return np.where(np.abs(x) < 1, 0.5 * x**2, np.abs(x) - 0.5)


right(
    "x |x| at 0, whose derivative has a kink",
    elementwise(lambda x: x * np.abs(x), lambda x: 2 * np.abs(x), real=True, twin=lambda x: x * abs(x)),
    fixed(np.array([0.0, 1e-8, -1e-5, 1.0])),
)
right(
    "Huber's function at its threshold",
    elementwise(huber, lambda x: np.clip(x, -1, 1), real=True, twin=huber),
    fixed(np.array([1.0, -1.0, 1.0 + 1e-9, 0.3])),
)

# ------------------------------------------------------------------ ends of the domain


right(
    "x^1.5 at 0",
    elementwise(lambda x: x**1.5, lambda x: 1.5 * np.sqrt(x), real=True, twin=lambda x: x * mp.sqrt(x)),
    fixed(np.array([0.0, 1.0, 4.0])),
    at_kink=True,
)
right("sqrt at 0", SQRT, fixed(np.array([0.0, 1.0, 4.0])), at_kink=True)
right(
    "arccos at 1",
    steep(np.arccos, lambda x: -1 / np.sqrt((1 - x) * (1 + x)), mp.arccos),
    fixed(np.array([1.0, 0.5])),
    at_kink=True,
)
