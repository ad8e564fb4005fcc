"""The Sinkhorn distance: the cost of moving one set of weights onto another, smoothed by an entropy.

The plan is P = exp(u + v - K) with the costs K in units of ε. The scalings u and v, which give it its marginals, are
found in `sinkhorn_iteration`.
"""

import functools

import numpy as np

from rulescore import (
    MissingDerivativeError,
    apply_linear,
    frule,
    ignore_derivatives,
    is_traced,
    pullback_wrt,
    pushforward,
    rrule,
    unbroadcast,
)
from rulescore.typing import Array, Choice, Number, OutputAndPullback, OutputAndTangent

from ..numpy.array_like import as_array, as_array_tangent, shape_of
from .operator import operator
from .set_distances import point_sets
from .sinkhorn_iteration import groups, log_sums, solved


@operator()
def sinkhorn_distance(x, y=None, a=None, b=None, epsilon=0.1, metric="sqeuclidean"):
    """The least cost of moving weights from one set of points onto those of another, smoothed by an entropy.

    Parameters
    ----------
    x : array_like, shape (..., n, d), or (..., n, m)
        Points with d coordinates; without ``y``, the costs of moving a unit from each place to each other place.
    y : array_like, shape (..., m, d), optional
        The points of the other set.
    a, b : array_like, shape (n,) and (m,), optional
        Positive weights of the points, of which only the proportions count; by default all are equal.
    epsilon : float
        How much the entropy counts, positive, in the units of the costs.
    metric : {"sqeuclidean", "euclidean", "cityblock", "chebyshev"}
        The cost of moving between two points. For any other, pass the matrix.

    Returns
    -------
    distance : ndarray or scalar, shape (...)

    Raises
    ------
    ValueError
        For shapes that do not fit, unknown metrics, weights or an ``epsilon`` that are not positive, infinite costs.
    TypeError
        For complex numbers.
    ArithmeticError
        Where the iteration does not come to an end, because ``epsilon`` is too small for these costs.

    Notes
    -----
    min ⟨P, C⟩ + ε KL(P | a bᵀ) over the plans P with the marginals a and b (Cuturi 2013; Feydy et al. 2019), by
    Sinkhorn's iteration with logarithms. The derivative with respect to the costs is the plan, since it is optimal;
    that with respect to ε is (W - ⟨P, C⟩) / ε. Of two sets of points the matrix of costs is computed in parts, of which
    one is held at a time; second derivatives need all of it.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[0.0], [1.0]])
    >>> round(float(sinkhorn_distance(x, x + 2, epsilon=0.01)), 3)
    4.007
    """
    problem = Problem(x, y, a, b, epsilon, metric)
    if problem.is_traced:
        return problem.value_of(*scalings(problem.costs() / epsilon, problem.log_a, problem.log_b))
    return problem.value_of(*problem.solved())


class Problem:
    """The arguments of `sinkhorn_distance`, of one kind: costs or points, and logarithms of weights.

    Raises
    ------
    ValueError, TypeError
        Where they do not fit.
    """

    def __init__(self, x, y, a, b, epsilon, metric):
        if y is None:
            self.x, self.y, self.metric = as_array(x), None, None
            shape = shape_of(x)
            if len(shape) < 2 or 0 in shape[-2:]:
                raise ValueError(
                    "sinkhorn_distance(c) takes a matrix of costs with a row and a column at least, and c has the "
                    f"shape {shape}: pass one, or the points of two sets"
                )
            if self.x.dtype.kind == "c":
                raise TypeError("sinkhorn_distance(c) takes real costs, and got complex ones")
            self.x = self.x if self.x.dtype.kind == "f" else self.x.astype(np.float64)
            self.leading, (self.n, self.m) = shape[:-2], shape[-2:]
        else:
            self.x, self.y, self.metric = point_sets("sinkhorn_distance", x, y, metric)
            self.leading, self.n, self.m = self.x.shape[:-2], self.x.shape[-2], self.y.shape[-2]
        self.dtype, self.epsilon = self.x.dtype, epsilon
        if shape_of(epsilon) or not epsilon > 0:
            raise ValueError(
                f"sinkhorn_distance(epsilon={epsilon!r}): how much the entropy counts is a positive number"
            )
        self.a, self.b = weights_of(a, "a", self.n), weights_of(b, "b", self.m)
        self.log_a, self.log_b = (np.log(w / np.sum(w)) for w in (self.a, self.b))
        self.is_traced = any(map(is_traced, (self.x, self.y, self.a, self.b, epsilon)))

    # ------------------------------------------------------------------ in functions that tracers take

    def costs(self):
        """All of them."""
        if self.y is None:
            return self.x
        return self.metric.value(self.x[..., :, None, :] - self.y[..., None, :, :])

    def value_of(self, u, v):
        """ε (⟨a, u - log a⟩ + ⟨b, v - log b⟩)."""
        of_a, of_b = (np.sum(np.exp(log) * (w - log), axis=-1) for log, w in ((self.log_a, u), (self.log_b, v)))
        z = self.epsilon * (of_a + of_b)
        return z.astype(self.dtype) if z.dtype != self.dtype else z

    # ------------------------------------------------------------------ of plain arrays

    def pairs(self):
        """The points of all pairs of sets, or the costs of all."""
        return [None if w is None else np.reshape(w, (-1, *w.shape[-2:])) for w in (self.x, self.y)]

    def solved(self):
        """u and v."""
        u, v = solved(*self.pairs(), self.metric, self.log_a, self.log_b, self.epsilon, self.dtype)
        return np.reshape(u, (*self.leading, self.n)), np.reshape(v, (*self.leading, self.m))


def weights_of(a, name, count):
    """Weights as an array; or an error."""
    if a is None:
        return np.ones(count)
    if shape_of(a) != (count,):
        raise ValueError(
            f"sinkhorn_distance({name}=...) got weights of shape {shape_of(a)} for {count} points: give one to each"
        )
    a = as_array(a)
    if not np.all(a > 0):
        raise ValueError(f"sinkhorn_distance({name}=...): weights are positive; leave out the points that have none")
    return a


# ---------------------------------------------------------------- scalings as a function, for second derivatives


@operator()
def scalings(k, log_a, log_b):
    """The u and v for which exp(u + v - k) has the marginals exp(log_a) and exp(log_b), each divided by its sum.

    Parameters
    ----------
    k : ndarray, shape (..., n, m)
    log_a, log_b : ndarray, shape (n,) and (m,)

    Returns
    -------
    u, v : ndarray, shape (..., n) and (..., m)
        With the same sum.
    """
    # In double precision, since weights that do not add up to the same have no plan.
    log_a, log_b = (w - log_sums(w, 0) for w in (log_a.astype(np.float64), log_b.astype(np.float64)))
    u, v = solved(np.reshape(k, (-1, *k.shape[-2:])), None, None, log_a, log_b, 1.0, np.float64)
    dtype = k.dtype
    return np.reshape(u, k.shape[:-1]).astype(dtype), np.reshape(v, (*k.shape[:-2], k.shape[-1])).astype(dtype)


UNCOUPLED = (
    "the scalings of a plan that falls into parts, all that would couple them being 0 in this precision, have no "
    "derivative: use a larger epsilon"
)


class Marginals:
    """How scalings move: H (du, dv) = (da + (P∘dK) 1, db + (P∘dK)ᵀ 1); the blocks of H are the marginals and P."""

    def __init__(self, u, v, k, log_a, log_b):
        self.plan = np.exp(u[..., :, None] + v[..., None, :] - k)
        self.n, self.m = k.shape[-2:]
        self.a, self.b = (np.exp(log) / np.sum(np.exp(log)) for log in (log_a, log_b))
        rows, cols = np.sum(self.plan, axis=-1), np.sum(self.plan, axis=-2)
        top = np.concatenate([rows[..., None] * np.eye(self.n), self.plan], axis=-1)
        bottom = np.concatenate([np.swapaxes(self.plan, -1, -2), cols[..., None] * np.eye(self.m)], axis=-1)
        # What H takes to 0 is a shift of u against v; with this term, to itself.
        shift = np.concatenate([np.ones(self.n), -np.ones(self.m)])
        self.matrix = np.concatenate([top, bottom], axis=-2) + np.outer(shift, shift) / (self.n + self.m)

    def solved(self, of_rows, of_cols):
        matrix = ignore_derivatives(self.matrix)
        if np.any(np.linalg.cond(matrix) * np.finfo(matrix.dtype).eps > 0.01):
            raise MissingDerivativeError(UNCOUPLED)
        both = np.linalg.solve(self.matrix, np.concatenate([of_rows, of_cols], axis=-1)[..., None])[..., 0]
        return both[..., : self.n], both[..., self.n :]


def centered(weights, x):
    """The derivative of exp(log) divided by its sum, along x, and its transpose."""
    return weights * (x - np.sum(weights * x, axis=-1, keepdims=True))


@frule.register(scalings)
@pushforward
def scalings_frule(dk: Array, dlog_a: Array, dlog_b: Array, k: Array, log_a: Array, log_b: Array) -> OutputAndTangent:
    u, v = scalings(k, log_a, log_b)
    marginals = Marginals(u, v, k, log_a, log_b)
    moved = marginals.plan * dk
    of_rows = np.zeros(np.shape(u), k.dtype) + centered(marginals.a, dlog_a) + np.sum(moved, axis=-1)
    of_cols = np.zeros(np.shape(v), k.dtype) + centered(marginals.b, dlog_b) + np.sum(moved, axis=-2)
    return (u, v), marginals.solved(of_rows, of_cols)


@rrule.register(scalings)
def scalings_rrule(k: Array, log_a: Array, log_b: Array) -> OutputAndPullback:
    """By the implicit function theorem; H is symmetric."""
    u, v = scalings(k, log_a, log_b)

    @pullback_wrt(k, log_a, log_b)
    def scalings_pullback(bars):
        ubar, vbar = (np.zeros(np.shape(w), k.dtype) + bar for w, bar in zip((u, v), bars, strict=True))
        marginals = Marginals(u, v, k, log_a, log_b)
        of_rows, of_cols = marginals.solved(ubar, vbar)
        return (
            lambda: marginals.plan * (of_rows[..., :, None] + of_cols[..., None, :]),
            lambda: unbroadcast(centered(marginals.a, of_rows), np.shape(log_a)),
            lambda: unbroadcast(centered(marginals.b, of_cols), np.shape(log_b)),
        )

    return (u, v), scalings_pullback


# ---------------------------------------------------------------- rules of the distance


class Solution:
    """The distance and what its derivatives consist of, by way of the plan; for tracers in functions that take them."""

    def __init__(self, problem):
        self.problem = problem
        if problem.is_traced:
            self.c = problem.costs()
            self.u, self.v = scalings(self.c / problem.epsilon, problem.log_a, problem.log_b)
        else:
            self.u, self.v = problem.solved()
        self.value = problem.value_of(self.u, self.v)

    def plan(self):
        """All of it, with the costs."""
        c = self.c if self.problem.is_traced else self.problem.costs()
        return np.exp(self.u[..., :, None] + self.v[..., None, :] - c / self.problem.epsilon), c

    def plans(self, per_element):
        """Of some pairs of sets, as (their numbers, costs, rows, that part of the plans, and of the costs)."""
        u, v = np.reshape(self.u, (-1, self.problem.n)), np.reshape(self.v, (-1, self.problem.m))
        for numbers, costs in groups(*self.problem.pairs(), self.problem.metric):
            for rows, c in costs.parts(per_element):
                k = u[numbers, rows, None] + v[numbers, None, :] - c / self.problem.epsilon
                yield numbers, costs, rows, np.exp(k), c

    def by_points(self):
        """The gradients with respect to the points of each set."""
        x, y, metric = self.problem.x, self.problem.y, self.problem.metric
        if self.problem.is_traced:
            slopes = self.plan()[0][..., None] * metric.slope(x[..., :, None, :] - y[..., None, :, :])
            return np.sum(slopes, axis=-2), -np.sum(slopes, axis=-3)
        of_x, of_y = (np.zeros((int(np.prod(self.problem.leading)), *z.shape[-2:]), z.dtype) for z in (x, y))
        for numbers, costs, rows, plan, _ in self.plans(x.shape[-1]):
            slopes = plan[..., None] * metric.slope(costs.x[:, rows, None] - costs.y[:, None])
            of_x[numbers, rows] = np.sum(slopes, axis=2)
            of_y[numbers] -= np.sum(slopes, axis=1)
        return np.reshape(of_x, x.shape), np.reshape(of_y, y.shape)

    def by_epsilon(self):
        """(W - ⟨P, C⟩) / ε."""
        if self.problem.is_traced:
            plan, c = self.plan()
            cost = np.sum(plan * c, axis=(-2, -1))
        else:
            sums = np.zeros(int(np.prod(self.problem.leading)))
            for numbers, _, _, plan, c in self.plans(1):
                sums[numbers] += np.sum(plan * c, axis=(1, 2))
            cost = np.reshape(sums, self.problem.leading)[()]
        return (self.value - cost) / self.problem.epsilon

    def by_weights(self, scaling, log, weights):
        """ε (u - log a), without its mean, since only the proportions of the weights count."""
        potential = self.problem.epsilon * (scaling - log)
        return (potential - np.sum(np.exp(log) * potential, axis=-1, keepdims=True)) / np.sum(weights)

    def by_a(self):
        return self.by_weights(self.u, self.problem.log_a, self.problem.a)

    def by_b(self):
        return self.by_weights(self.v, self.problem.log_b, self.problem.b)


@frule.register(sinkhorn_distance)
@pushforward
def sinkhorn_distance_frule(
    dx: Array,
    dy: Array,
    da: Array,
    db: Array,
    depsilon: Number,
    x: Array,
    y: Array = None,
    a: Array = None,
    b: Array = None,
    epsilon: Number = 0.1,
    metric: Choice = "sqeuclidean",
) -> OutputAndTangent:
    dx, dy, da, db = (as_array_tangent(dw, w) for dw, w in ((dx, x), (dy, y), (da, a), (db, b)))
    solution = Solution(Problem(x, y, a, b, epsilon, metric))

    def along_points(dx, dy):
        if y is None:
            return np.sum(solution.plan()[0] * dx, axis=(-2, -1))
        of_x, of_y = solution.by_points()
        return np.sum(of_x * dx, axis=(-2, -1)) + np.sum(of_y * dy, axis=(-2, -1))

    return solution.value, (
        apply_linear(along_points, dx, dy)
        + apply_linear(lambda da: np.sum(solution.by_a() * da, axis=-1), da)
        + apply_linear(lambda db: np.sum(solution.by_b() * db, axis=-1), db)
        + apply_linear(lambda depsilon: solution.by_epsilon() * depsilon, depsilon)
    )


@rrule.register(sinkhorn_distance)
def sinkhorn_distance_rrule(
    x: Array, y: Array = None, a: Array = None, b: Array = None, epsilon: Number = None, metric: Choice = "sqeuclidean"
) -> OutputAndPullback:
    """C̄ = z̄ P, and by the costs to points; ā = z̄ ε (u - log a), without its mean."""
    solution = Solution(Problem(x, y, a, b, 0.1 if epsilon is None else epsilon, metric))

    @pullback_wrt(x, y, a, b, epsilon)
    def sinkhorn_distance_pullback(zbar):
        by_points = functools.cache(solution.by_points)
        every, wide = tuple(range(np.ndim(zbar))), np.reshape(zbar, (*np.shape(zbar), 1, 1))
        return (
            lambda: wide * solution.plan()[0] if y is None else unbroadcast(wide * by_points()[0], shape_of(x)),
            lambda: unbroadcast(wide * by_points()[1], shape_of(y)),
            lambda: np.sum(wide[..., 0] * solution.by_a(), axis=every),
            lambda: np.sum(wide[..., 0] * solution.by_b(), axis=every),
            lambda: np.sum(zbar * solution.by_epsilon()),
        )

    return solution.value, sinkhorn_distance_pullback
