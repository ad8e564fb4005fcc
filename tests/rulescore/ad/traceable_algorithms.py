"""Algorithms as people write them in loops over lists and arrays; for traceable."""

from __future__ import annotations

import bisect
import collections
import concurrent.futures
import contextlib
import functools
import heapq
import io
import logging
import math
import queue
import random
import threading

import numpy as np

from tests.rulescore.ad.traceable_patterns import of_array, of_numbers

# ---------------------------------------------------------------- linear algebra


@of_array
def tridiagonal_equations(x):
    below, diagonal, above, right = np.ones(3), np.full(3, 4.0) + x, np.ones(3), x.copy()
    for i in range(1, 3):
        w = below[i] / diagonal[i - 1]
        diagonal[i] -= w * above[i - 1]
        right[i] -= w * right[i - 1]
    y = np.zeros(3)
    y[-1] = right[-1] / diagonal[-1]
    for i in (1, 0):
        y[i] = (right[i] - above[i] * y[i + 1]) / diagonal[i]
    return y


@of_array
def cholesky_by_elements(x):
    a = np.outer(x, x) + np.eye(3)
    lower = np.zeros_like(a)
    for i in range(3):
        for j in range(i + 1):
            s = sum(lower[i][k] * lower[j][k] for k in range(j))
            lower[i][j] = math.sqrt(a[i][i] - s) if i == j else (a[i][j] - s) / lower[j][j]
    return lower


@of_numbers()
def elimination_of_lists(a, b, c):
    rows, right = [[2.0, a, 1.0], [b, 3.0, c], [1.0, 1.0, 4.0]], [a, b, c]
    for i in range(3):
        pivot = max(range(i, 3), key=lambda row: abs(rows[row][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        right[i], right[pivot] = right[pivot], right[i]
        for r in range(i + 1, 3):
            factor = rows[r][i] / rows[i][i]
            for k in range(i, 3):
                rows[r][k] -= factor * rows[i][k]
            right[r] -= factor * right[i]
    y = [0] * 3
    for i in (2, 1, 0):
        y[i] = (right[i] - sum(rows[i][k] * y[k] for k in range(i + 1, 3))) / rows[i][i]
    return sum(v * (i + 1) for i, v in enumerate(y))


# ---------------------------------------------------------------- tables that are filled


@of_array
def time_warping(x):
    table, other = np.full((4, 4), np.inf), [0.1, 0.2, 1.0]
    table[0, 0] = 0
    for i in range(1, 4):
        for j in range(1, 4):
            cost = (x[i - 1] - other[j - 1]) ** 2
            table[i, j] = cost + min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
    return table[-1, -1] * x


@of_array
def values_of_states(x):
    values = np.zeros(4)
    for _ in range(5):
        following = values.copy()
        for state in range(3):
            following[state] = max(x[state] + 0.9 * values[state + 1], 0.5 * values[state] + x[0] / 3)
        values = following
    return values


@of_numbers()
def recursions_that_remember(a, b, c):
    known = {}

    def by_dict(n):
        if n not in known:
            known[n] = a if n < 2 else by_dict(n - 1) * b + by_dict(n - 2)
        return known[n]

    @functools.cache
    def by_cache(i, j):
        if i == 0 or j == 0:
            return c
        return min(by_cache(i - 1, j), by_cache(i, j - 1)) * b + abs(a - j)

    return by_dict(7) + by_cache(3, 3)


# ---------------------------------------------------------------- containers that sort and wait


@of_array
def heaps_and_queues(x):
    heap = list(x)
    heapq.heapify(heap)
    smallest = heapq.heappop(heap)
    heapq.heappush(heap, smallest * x[2] * 3)
    waiting, ring = queue.Queue(), collections.deque(maxlen=2)
    waiting.put(x[0])
    ring.append(waiting.get() * x[1])
    return heapq.nsmallest(2, heap)[1] * smallest + heapq.heappop(heap) * ring[0]


@of_array
def sorted_lists(x):
    found = [0.1, 0.7, 1.0]
    place = bisect.bisect(found, x[1])
    bisect.insort(found, x[0])
    return found[1] * place * x[2] + found[2]


@of_array
def objects_in_arrays(x):
    objects = np.empty(2, object)
    objects[0], objects[1] = x[0], x
    others = np.array([x[0], None, "text"], dtype=object)
    return objects[0] * objects[1] * others[0]


# ---------------------------------------------------------------- beside the numbers


@of_array
def threads_within(x):
    found = [None] * 3

    def work(i):
        found[i] = math.exp(x[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return sum(found) * sum(pool.map(lambda v: math.sin(v), list(x)))


@of_array
def what_is_printed_and_logged(x):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        print(x, f"{x[0]:.2f}", x[1])
    logging.getLogger("of a program").debug("x is %s", x)
    return x * (len(printed.getvalue()) > 5)


@of_array
def random_numbers(x):
    random.seed(0)
    rng = np.random.default_rng(0)
    noise = rng.normal(size=3)
    noise[0] = x[0]
    return random.gauss(x[0], x[1]) * random.uniform(x[1], x[2]) * (noise + x) + x * rng.standard_normal()
