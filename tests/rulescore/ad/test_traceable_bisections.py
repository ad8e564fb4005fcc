"""A bisection is refused, since its steps do not have its derivative; what only looks like one is differentiated."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rulescore.ad import grad, jvp, traceable
from rulescore.ad.messages.errors import NoRuleError
from testutils import jacobian_fd

C = 1.3


def of_a_sum(c):
    lower, upper = 0.0, 4.0
    for _ in range(60):
        middle = (lower + upper) / 2
        if middle * middle < c:
            lower = middle
        else:
            upper = middle
    return middle * c


def of_a_difference(c):
    a, b = 0.0, c
    while b - a > 1e-10:
        m = a + (b - a) * 0.5
        if math.exp(m) - 1 < c:
            a = m
        else:
            b = m
    return m


def of_a_step(c):
    x, step = 1.0, 0.5
    while step > 1e-9:
        x += step if x * x < c else -step
        step /= 2
    return x


def of_a_step_assigned(c):
    x, step = 1.0, 0.5
    for _ in range(30):
        x += step * (1 if c - x * x > 0 else -1)
        step = 0.5 * step
    return x


def of_arrays(c):
    lower, upper = np.zeros(2), np.full(2, 4.0)
    for _ in range(50):
        x = 0.5 * (lower + upper)
        is_low = x * x < np.array([c, 2 * c])
        lower, upper = np.where(is_low, x, lower), np.where(is_low, upper, x)
    return x[0]


def of_masks(c):
    lower, upper, x = -8.0, 8.0, 0.0
    for _ in range(50):
        is_low = x**3 <= c
        lower = lower + (x - lower) * is_low
        upper = upper + (x - upper) * (not is_low)
        x = (upper + lower) / 2
    return x


def of_ends_written_into(c):
    upper = np.array([c, 2 * c])
    lower = upper - 1.0
    x = (lower + upper) / 2
    for _ in range(50):
        is_high = x**3 > 1.2
        np.copyto(upper, x, where=is_high)
        np.copyto(lower, x, where=~is_high)
        x = (lower + upper) / 2
    return x[0]


def that_calls_itself(c):
    def root(a, b):
        m = (a + b) / 2
        if b - a < 1e-9:
            return m
        return root(m, b) if m**3 < c else root(a, m)

    return root(0.0, 3.0)


class Search:
    def __init__(self):
        self.lower, self.upper = 0.0, 4.0

    def run(self, c):
        for _ in range(40):
            middle = 0.5 * (self.lower + self.upper)
            if middle * middle > c:
                self.upper = middle
            else:
                self.lower = middle
        return middle


def of_attributes(c):
    return Search().run(c)


@pytest.mark.parametrize(
    "f",
    [
        *(of_a_sum, of_a_difference, of_a_step, of_a_step_assigned, of_arrays, of_masks, of_ends_written_into),
        *(that_calls_itself, of_attributes),
    ],
)
def test_a_bisection_is_refused(f):
    for differentiate in (grad(traceable(f)), lambda c: jvp(traceable(f), (c,), (1.0,))):
        with pytest.raises(NoRuleError, match=r"halves an interval.* \(line \d+ of .*brentq"):
            differentiate(C)


def newton(c):
    x = 1.0
    while abs(x * x - c) > 1e-12:
        x = (x + c / x) / 2
    return x


def adaptive_simpson(c):
    def f(x):
        return math.sqrt(x * c)

    def part(a, b, at_a, at_b, tolerance):
        m = (a + b) / 2
        left, middle, right = f((a + m) / 2), f(m), f((m + b) / 2)
        coarse = (b - a) / 6 * (at_a + 4 * middle + at_b)
        fine = (b - a) / 12 * (at_a + 4 * left + 2 * middle + 4 * right + at_b)
        if abs(fine - coarse) < tolerance:
            return fine
        return part(a, m, at_a, middle, tolerance / 2) + part(m, b, middle, at_b, tolerance / 2)

    return part(1e-9, 1.0, f(1e-9), f(1.0), 1e-9)


def trapezoids(c):
    step, old, total = 1.0, 0.0, 0.5 * (1 + math.exp(c))
    while abs(total - old) > 1e-6:
        old = total
        step /= 2
        total = total / 2 + step * sum(math.exp(c * k * step) for k in range(1, round(1 / step), 2))
    return total


def of_constants(c):
    lower, upper = 0.0, 4.0
    for _ in range(60):
        middle = (lower + upper) / 2
        if middle * middle < 2:
            lower = middle
        else:
            upper = middle
    return middle * c**2


def of_places_in_a_table(c):
    table = np.linspace(0, 4, 10**5)
    lower, upper = 0, len(table) - 1
    while upper - lower > 1:
        middle = int((lower + upper) / 2)
        if table[middle] < c:
            lower = middle
        else:
            upper = middle
    return c**2 * (table[lower] > 1)


def a_search_along_a_line(c):
    step, x = 1024.0, 3.0
    while (x - step * 2 * (x - c) - c) ** 2 > (x - c) ** 2:
        step *= 0.5
    return x - step * 2 * (x - c)


@pytest.mark.parametrize(
    "f", [newton, adaptive_simpson, trapezoids, of_constants, of_places_in_a_table, a_search_along_a_line]
)
def test_what_only_looks_like_one_is_differentiated(f):
    truth = jacobian_fd(f, C).value
    np.testing.assert_allclose(grad(traceable(f))(C), truth, rtol=1e-5)
    np.testing.assert_allclose(jvp(traceable(f), (C,), (1.0,))[1], truth, rtol=1e-5)


class Vector(np.ndarray):
    pass


def of_halves_of_own_arrays(c):
    x = np.array([c, 2 * c]).view(Vector)
    x[x > 1.5] = 0.5 * x[0]
    return (x / 2).sum().item()


def test_nothing_is_kept_of_what_was_halved():
    for _ in range(2):
        np.testing.assert_allclose(grad(traceable(of_halves_of_own_arrays))(C), 0.75)
