"""The Sinkhorn distance: the cost of moving one set of weights onto another, smoothed by an entropy.

The plan is P = exp(u + v - K) with the costs K in units of ε. What is called scalings here are the u and v that give it
its marginals. Of two sets of points, costs are computed some rows at a time, again in each iteration.
"""

import contextlib

import numpy as np

from rules.numpy.array_like import as_array, as_array_tangent, shape_of
from rules.operators.operator import arguments_given, operator
from rules.operators.set_distances import AT_ONCE, point_sets
from rulescore import AbstractZero, NoTangent, Thunk, frule, project_to, rrule, unbroadcast, unthunk
from rulescore.closures import is_traced

NO_TANGENT = NoTangent()

MOST_ITERATIONS = 10_000

COARSE = 0.01
"""How far marginals may be off, of 1, before the entropy counts for less."""


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

    # ------------------------------------------------------------------ of plain arrays, some rows at a time

    def each(self):
        """The costs of one pair of sets after the other."""
        shape = (-1, *self.x.shape[-2:])
        if self.y is None:
            return [Costs(c, None, None) for c in np.reshape(self.x, shape)]
        of_y = np.reshape(self.y, (-1, *self.y.shape[-2:]))
        return [Costs(x, y, self.metric) for x, y in zip(np.reshape(self.x, shape), of_y, strict=True)]

    def solved(self):
        """u and v."""
        found = [sinkhorn(costs, self.log_a, self.log_b, self.epsilon, self.dtype) for costs in self.each()]
        u, v = (
            np.stack(w) if w else np.zeros((0, k))
            for w, k in ([[f[0] for f in found], self.n], [[f[1] for f in found], self.m])
        )
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


class Costs:
    """The costs between two sets, or a matrix of them, some rows at a time."""

    def __init__(self, x, y, metric):
        self.x, self.y, self.metric = x, y, metric
        self.n, self.m = len(x), x.shape[-1] if y is None else len(y)
        self._all = np.asarray(x, np.float64) if y is None else None
        self.are_held = self.n * self.m <= AT_ONCE

    def parts(self, per_element=1):
        """Slices of rows, and their costs, with room for so many numbers for each."""
        height = max(1, AT_ONCE // (self.m * per_element))
        if self._all is None and self.n <= height:
            self._all = self.metric.matrix(self.x, self.y)
        for top in range(0, self.n, height):
            rows = slice(top, top + height)
            yield rows, self.metric.matrix(self.x[rows], self.y) if self._all is None else self._all[rows]

    def spread(self):
        """The difference of the largest and the smallest."""
        extremes = [(c.min(), c.max()) for _, c in self.parts()]
        difference = max(high for _, high in extremes) - min(low for low, _ in extremes)
        if not np.isfinite(difference):
            raise ValueError("sinkhorn_distance: costs are finite numbers, and some of these are not: give a large one")
        return difference


def log_sums(k, axis):
    """log Σ exp along an axis."""
    largest = k.max(axis, keepdims=True)
    return np.log(np.exp(k - largest).sum(axis)) + largest.squeeze(axis)


def sinkhorn(costs, log_a, log_b, epsilon, dtype):
    """The scalings u and v, with the same sum.

    Small ε are approached by halves, since the iteration would take too many steps to get there from afar (Schmitzer
    2019, ε-scaling). Where all costs are held, Newton's method does the rest: close to a plan without choices the
    iteration hardly moves.
    """
    u, v = np.zeros(costs.n), np.zeros(costs.m)
    current = max(epsilon, costs.spread())
    tolerance = 1e-6 if np.dtype(dtype).itemsize <= 4 else 1e-13 if costs.are_held else 1e-9
    for _ in range(MOST_ITERATIONS):
        u, v, error = updated(costs, u, v, log_a, log_b, current)
        rounding = 4 * np.finfo(float).eps * (np.abs(u).max() + np.abs(v).max())
        if current > epsilon and error < COARSE:
            finer = max(epsilon, current / 2)
            u, v, current = u * (current / finer), v * (current / finer), finer
            continue
        if current == epsilon and error < COARSE and costs.are_held:
            u, v, error = by_newton(costs, u, v, log_a, log_b, epsilon)
        if current == epsilon and error < rounding + tolerance:
            shift = (np.sum(u) - np.sum(v)) / (costs.n + costs.m)
            return u - shift, v + shift
    raise ArithmeticError(
        f"sinkhorn_distance did not come to an end in {MOST_ITERATIONS} iterations: epsilon={epsilon} is small beside "
        "the costs; give a larger one, or divide costs and epsilon by the same number"
    )


def by_newton(costs, u, v, log_a, log_b, epsilon):
    """Newton's method for the marginals of the plan, as long as it gets closer to them, and how far they are off."""
    ((_, c),) = costs.parts()
    a, b, best = np.exp(log_a), np.exp(log_b), None
    while True:
        plan = np.exp(u[:, None] + v - c / epsilon)
        rows, cols = a - plan.sum(1), b - plan.sum(0)
        error = np.sum(np.abs(rows)) + np.sum(np.abs(cols))
        if best is not None and not error < best[2]:
            return best
        best = u, v, error
        matrix = np.block([[np.diag(a - rows), plan], [plan.T, np.diag(b - cols)]])
        shift = np.concatenate([np.ones(len(a)), -np.ones(len(b))])
        with contextlib.suppress(np.linalg.LinAlgError):
            step = np.linalg.solve(matrix + np.outer(shift, shift) / len(shift), np.concatenate([rows, cols]))
            u, v = u + step[: len(a)], v + step[len(a) :]


def updated(costs, u, v, log_a, log_b, epsilon):
    """One step of the iteration, in one pass over the costs, and how far its row sums were off before."""
    new_u, of_cols = np.empty(costs.n), np.full(costs.m, -np.inf)
    for rows, c in costs.parts():
        k = -c / epsilon
        new_u[rows] = log_a[rows] - log_sums(k + v, 1)
        of_cols = np.logaddexp(of_cols, log_sums(k + new_u[rows, None], 0))
    # The plan of the old u and of v has the column sums b and these row sums.
    with np.errstate(over="ignore"):
        error = np.sum(np.exp(log_a) * np.abs(np.expm1(u - new_u)))
    return new_u, log_b - of_cols, error


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
    log_a, log_b = log_a - log_sums(log_a, 0), log_b - log_sums(log_b, 0)
    found = [sinkhorn(Costs(c, None, None), log_a, log_b, 1.0, np.float64) for c in np.reshape(k, (-1, *k.shape[-2:]))]
    u, v = np.stack([f[0] for f in found]), np.stack([f[1] for f in found])
    dtype = k.dtype
    return np.reshape(u, k.shape[:-1]).astype(dtype), np.reshape(v, (*k.shape[:-2], k.shape[-1])).astype(dtype)


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
        both = np.linalg.solve(self.matrix, np.concatenate([of_rows, of_cols], axis=-1)[..., None])[..., 0]
        return both[..., : self.n], both[..., self.n :]


def centered(weights, x):
    """The derivative of exp(log) divided by its sum, along x, and its transpose."""
    return weights * (x - np.sum(weights * x, axis=-1, keepdims=True))


@frule.register(scalings)
def scalings_frule(tangents, k, log_a, log_b):
    _, dk, dlog_a, dlog_b = tangents
    u, v = scalings(k, log_a, log_b)
    marginals = Marginals(u, v, k, log_a, log_b)
    of_rows, of_cols = np.zeros(np.shape(u), k.dtype), np.zeros(np.shape(v), k.dtype)
    if not isinstance(dlog_a, AbstractZero):
        of_rows = of_rows + centered(marginals.a, dlog_a)
    if not isinstance(dlog_b, AbstractZero):
        of_cols = of_cols + centered(marginals.b, dlog_b)
    if not isinstance(dk, AbstractZero):
        moved = marginals.plan * dk
        of_rows, of_cols = of_rows + np.sum(moved, axis=-1), of_cols + np.sum(moved, axis=-2)
    return (u, v), tuple([project_to(w)(dw) for w, dw in zip((u, v), marginals.solved(of_rows, of_cols), strict=True)])


@rrule.register(scalings)
def scalings_rrule(k, log_a, log_b):
    """By the implicit function theorem; H is symmetric."""
    projects = [project_to(w) for w in (k, log_a, log_b)]
    u, v = scalings(k, log_a, log_b)

    def scalings_pullback(bars):
        bars = unthunk(bars)
        ubar, vbar = (AbstractZero, AbstractZero) if isinstance(bars, AbstractZero) else map(unthunk, bars)
        ubar, vbar = (
            np.zeros(np.shape(w), k.dtype) if isinstance(bar, AbstractZero) or bar is AbstractZero else bar
            for w, bar in ((u, ubar), (v, vbar))
        )
        marginals = Marginals(u, v, k, log_a, log_b)
        of_rows, of_cols = marginals.solved(ubar, vbar)
        kbar = marginals.plan * (of_rows[..., :, None] + of_cols[..., None, :])
        abar = unbroadcast(centered(marginals.a, of_rows), np.shape(log_a))
        bbar = unbroadcast(centered(marginals.b, of_cols), np.shape(log_b))
        return NO_TANGENT, *[project(bar) for project, bar in zip(projects, (kbar, abar, bbar), strict=True)]

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
        """Of each pair of sets, as (number, costs, rows, part of the plan, part of the costs)."""
        u, v = np.reshape(self.u, (-1, self.problem.n)), np.reshape(self.v, (-1, self.problem.m))
        for i, costs in enumerate(self.problem.each()):
            for rows, c in costs.parts(per_element):
                yield i, costs, rows, np.exp(u[i, rows, None] + v[i] - c / self.problem.epsilon), c

    def by_points(self):
        """The gradients with respect to the points of each set."""
        x, y, metric = self.problem.x, self.problem.y, self.problem.metric
        if self.problem.is_traced:
            slopes = self.plan()[0][..., None] * metric.slope(x[..., :, None, :] - y[..., None, :, :])
            return np.sum(slopes, axis=-2), -np.sum(slopes, axis=-3)
        of_x, of_y = (np.zeros((int(np.prod(self.problem.leading)), *z.shape[-2:]), z.dtype) for z in (x, y))
        for i, costs, rows, plan, _ in self.plans(x.shape[-1]):
            slopes = plan[..., None] * metric.slope(costs.x[rows, None] - costs.y)
            of_x[i, rows] = np.sum(slopes, axis=1)
            of_y[i] -= np.sum(slopes, axis=0)
        return np.reshape(of_x, x.shape), np.reshape(of_y, y.shape)

    def by_epsilon(self):
        """(W - ⟨P, C⟩) / ε."""
        if self.problem.is_traced:
            plan, c = self.plan()
            cost = np.sum(plan * c, axis=(-2, -1))
        else:
            sums = np.zeros(int(np.prod(self.problem.leading)))
            for i, _, _, plan, c in self.plans(1):
                sums[i] += np.sum(plan * c)
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


def is_moving(dx):
    return not isinstance(dx, AbstractZero)


@frule.register(sinkhorn_distance)
def sinkhorn_distance_frule(tangents, x, y=None, a=None, b=None, epsilon=0.1, metric="sqeuclidean"):
    dx, dy, da, db, depsilon = (*tangents[1:], *[NO_TANGENT] * 4)[:5]
    dx, dy, da, db = (as_array_tangent(dw, w) for dw, w in ((dx, x), (dy, y), (da, a), (db, b)))
    solution = Solution(Problem(x, y, a, b, epsilon, metric))
    terms = []
    if y is None and is_moving(dx):
        terms.append(np.sum(solution.plan()[0] * dx, axis=(-2, -1)))
    elif is_moving(dx) or is_moving(dy):
        for dw, gradient in zip((dx, dy), solution.by_points(), strict=True):
            if is_moving(dw):
                terms.append(np.sum(gradient * dw, axis=(-2, -1)))
    if is_moving(da):
        terms.append(np.sum(solution.by_a() * da, axis=-1))
    if is_moving(db):
        terms.append(np.sum(solution.by_b() * db, axis=-1))
    if is_moving(depsilon):
        terms.append(solution.by_epsilon() * depsilon)
    z = solution.value
    return z, project_to(z)(sum(terms) if terms else dx)


@rrule.register(sinkhorn_distance)
def sinkhorn_distance_rrule(x, y=None, a=None, b=None, epsilon=None, metric="sqeuclidean"):
    """C̄ = z̄ P, and by the costs to points; ā = z̄ ε (u - log a), without its mean."""
    projects = [project_to(w) for w in (x, y, a, b, epsilon)]
    shapes = [shape_of(w) for w in (x, y)]
    count = arguments_given(x, y, a, b, epsilon)
    solution = Solution(Problem(x, y, a, b, 0.1 if epsilon is None else epsilon, metric))

    def sinkhorn_distance_pullback(zbar):
        zbar = unthunk(zbar)
        if isinstance(zbar, AbstractZero):
            return NO_TANGENT, *[project(zbar) for project in projects[:count]]
        wide = np.reshape(zbar, (*np.shape(zbar), 1, 1))
        every = tuple(range(np.ndim(zbar)))
        gradients = Thunk(solution.by_points)

        def of_points(i):
            return Thunk(lambda: projects[i](unbroadcast(wide * unthunk(gradients)[i], shapes[i])))

        xbar = Thunk(lambda: projects[0](wide * solution.plan()[0])) if y is None else of_points(0)
        ybar = NO_TANGENT if y is None else of_points(1)
        abar = (
            NO_TANGENT if a is None else Thunk(lambda: projects[2](np.sum(wide[..., 0] * solution.by_a(), axis=every)))
        )
        bbar = (
            NO_TANGENT if b is None else Thunk(lambda: projects[3](np.sum(wide[..., 0] * solution.by_b(), axis=every)))
        )
        epsilon_bar = Thunk(lambda: projects[4](np.sum(zbar * solution.by_epsilon())))
        return NO_TANGENT, *(xbar, ybar, abar, bbar, epsilon_bar)[:count]

    return solution.value, sinkhorn_distance_pullback
