"""Sinkhorn's iteration: the scalings that give plans their marginals, of many pairs of sets at a time.

The plan is P = exp(u + v - C / ε). What is called scalings here are u and v. Of pairs with few points all costs are
held; of one pair with many, they are computed some rows at a time, again in each iteration.
"""

import numpy as np

from .set_distances import AT_ONCE

MOST_ITERATIONS = 10_000

COARSE = 0.01
"""How far marginals may be off, of 1, before the entropy counts for less."""


class Costs:
    """The costs of some pairs of sets.

    Parameters
    ----------
    x : ndarray, shape (pairs, n, d), or (pairs, n, m)
        Points; without ``y``, the costs.
    y : ndarray, shape (pairs, m, d), or None
    metric : Metric or None
    """

    def __init__(self, x, y, metric):
        self.x, self.y, self.metric = x, y, metric
        self.n, self.m = x.shape[1], x.shape[-1] if y is None else y.shape[1]
        self._all = np.asarray(x, np.float64) if y is None else None
        self.are_held = self.n * self.m <= AT_ONCE

    def __len__(self):
        return len(self.x)

    def parts(self, per_element=1):
        """Slices of rows, and their costs in all pairs, with room for so many numbers for each."""
        height = max(1, AT_ONCE // (len(self) * self.m * per_element))
        if self._all is None and self.are_held:
            self._all = self._between(slice(None))
        for top in range(0, self.n, height):
            rows = slice(top, top + height)
            yield rows, self._between(rows) if self._all is None else self._all[:, rows]

    def _between(self, rows):
        return np.stack([self.metric.matrix(x[rows], y) for x, y in zip(self.x, self.y, strict=True)])

    def of(self, pairs):
        """Those of some of the pairs."""
        found = Costs(self.x[pairs], None if self.y is None else self.y[pairs], self.metric)
        found._all = None if self._all is None else self._all[pairs]
        return found

    def spread(self):
        """The differences of the largest and the smallest of each pair."""
        extremes = [(c.min((1, 2)), c.max((1, 2))) for _, c in self.parts()]
        lowest, highest = (f([e[i] for e in extremes], axis=0) for i, f in enumerate((np.min, np.max)))
        if not np.isfinite(highest - lowest).all():
            raise ValueError("sinkhorn_distance: costs are finite numbers, and some of these are not: give a large one")
        return highest - lowest


def groups(x, y, metric):
    """Pairs of sets, as many at a time as have few costs: slices of them, and their `Costs`."""
    m = x.shape[-1] if y is None else y.shape[1]
    count = max(1, AT_ONCE // (x.shape[1] * m))
    for first in range(0, len(x), count):
        numbers = slice(first, first + count)
        yield numbers, Costs(x[numbers], None if y is None else y[numbers], metric)


def solved(x, y, metric, log_a, log_b, epsilon, dtype):
    """The scalings u and v of each pair."""
    found = [sinkhorn(costs, log_a, log_b, epsilon, dtype) for _, costs in groups(x, y, metric)]
    if not found:
        return np.zeros((0, len(log_a))), np.zeros((0, len(log_b)))
    return tuple([np.concatenate(parts) for parts in zip(*found, strict=True)])


def log_sums(k, axis):
    """log Σ exp along an axis."""
    largest = k.max(axis, keepdims=True)
    return np.log(np.exp(k - largest).sum(axis)) + largest.squeeze(axis)


def sinkhorn(costs, log_a, log_b, epsilon, dtype):
    """The scalings u and v of some pairs, with the same sum in each.

    Small ε are approached by halves, since the iteration would take too many steps to get there from afar (Schmitzer
    2019, ε-scaling). Where all costs are held, Newton's method does the rest: close to a plan without choices the
    iteration hardly moves.
    """
    u, v = np.zeros((len(costs), costs.n)), np.zeros((len(costs), costs.m))
    final_u, final_v, waiting = np.empty(u.shape), np.empty(v.shape), np.arange(len(costs))
    current = np.maximum(epsilon, costs.spread())
    tolerance = 1e-6 if np.dtype(dtype).itemsize <= 4 else 1e-13 if costs.are_held else 1e-9
    for _ in range(MOST_ITERATIONS):
        u, v, error = updated(costs, u, v, log_a, log_b, current)
        rounding = 4 * np.finfo(float).eps * (np.abs(u).max(1) + np.abs(v).max(1))
        is_last, is_close = current == epsilon, error < COARSE
        if np.any(is_close & ~is_last):
            finer = np.where(is_close & ~is_last, np.maximum(epsilon, current / 2), current)
            u, v, current = u * (current / finer)[:, None], v * (current / finer)[:, None], finer
        ends = np.flatnonzero(is_close & is_last)
        if costs.are_held and len(ends):
            u[ends], v[ends], error[ends] = by_newton(costs.of(ends), u[ends], v[ends], log_a, log_b, epsilon)
        is_found = is_last & (error < rounding + tolerance)
        if np.any(is_found):
            final_u[waiting[is_found]], final_v[waiting[is_found]] = u[is_found], v[is_found]
            left = ~is_found
            u, v, current, waiting, costs = u[left], v[left], current[left], waiting[left], costs.of(left)
        if not len(waiting):
            shift = (np.sum(final_u, axis=1) - np.sum(final_v, axis=1)) / (costs.n + costs.m)
            return final_u - shift[:, None], final_v + shift[:, None]
    raise ArithmeticError(
        f"sinkhorn_distance did not come to an end in {MOST_ITERATIONS} iterations: epsilon={epsilon} is small beside "
        "the costs; give a larger one, or divide costs and epsilon by the same number"
    )


def updated(costs, u, v, log_a, log_b, epsilon):
    """One step of the iteration, in one pass over the costs, and how far its row sums were off before."""
    new_u, of_cols = np.empty(u.shape), np.full(v.shape, -np.inf)
    for rows, c in costs.parts():
        k = c / -epsilon[:, None, None]
        new_u[:, rows] = log_a[rows] - log_sums(k + v[:, None, :], 2)
        of_cols = np.logaddexp(of_cols, log_sums(k + new_u[:, rows, None], 1))
    # The plan of the old u and of v has the column sums b and these row sums.
    with np.errstate(over="ignore"):
        error = np.sum(np.exp(log_a) * np.abs(np.expm1(u - new_u)), axis=1)
    return new_u, log_b - of_cols, error


def by_newton(costs, u, v, log_a, log_b, epsilon):
    """Newton's method for the marginals of plans, as long as each gets closer to them, and how far they are off."""
    ((_, c),) = costs.parts()
    a, b = np.exp(log_a), np.exp(log_b)
    best_u, best_v, best = u.copy(), v.copy(), np.full(len(u), np.inf)
    moving = np.arange(len(u))
    while True:
        plan = np.exp(u[:, :, None] + v[:, None, :] - c / epsilon)
        rows, cols = a - plan.sum(2), b - plan.sum(1)
        error = np.sum(np.abs(rows), axis=1) + np.sum(np.abs(cols), axis=1)
        is_better = error < best[moving]
        moving = moving[is_better]
        if not len(moving):
            return best_u, best_v, best
        u, v, c, plan, rows, cols = (w[is_better] for w in (u, v, c, plan, rows, cols))
        best_u[moving], best_v[moving], best[moving] = u, v, error[is_better]
        step = newton_step(plan, a - rows, b - cols, np.concatenate([rows, cols], axis=1))
        u, v = u + step[:, : costs.n], v + step[:, costs.n :]


def newton_step(plan, row_sums, column_sums, right):
    """How u and v move; not at all where that cannot be told."""
    n, m = plan.shape[1:]
    matrix = np.zeros((len(plan), n + m, n + m))
    matrix[:, :n, n:], matrix[:, n:, :n] = plan, plan.swapaxes(1, 2)
    diagonal = np.arange(n + m)
    matrix[:, diagonal, diagonal] = np.concatenate([row_sums, column_sums], axis=1)
    shift = np.concatenate([np.ones(n), -np.ones(m)])
    matrix += np.outer(shift, shift) / (n + m)
    try:
        return np.linalg.solve(matrix, right[..., None])[..., 0]
    except np.linalg.LinAlgError:
        if len(plan) == 1:
            return np.zeros_like(right)
        each = [newton_step(*[w[i : i + 1] for w in (plan, row_sums, column_sums, right)]) for i in range(len(plan))]
        return np.concatenate(each)
