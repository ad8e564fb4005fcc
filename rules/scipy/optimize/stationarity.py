"""What minimises a function: where its gradient vanishes, on the bounds and constraints that hold it (KKT conditions).

With the multipliers μ of the active constraints, z = (x, μ) solves ∇f(x) - Σ μₖ ∇cₖ(x) = 0 in the free variables,
xᵢ = bound in the others, and cₖ(x) = limit. Where a constraint is active with multiplier 0, the minimiser has a kink;
the derivative is that of the side on which it stays active.
"""

import numpy as np

import scipy.optimize
from rulescore import ZeroTangent

from ...numpy.array_like import as_array
from ..named_arguments import differentiated, filled
from .implicit import implicit_pullback, implicit_pushforward

# How near to a limit a solver's iterate counts as on it.
NEAR = 1e-5


def gradient(config, objective, x, *parameters):
    """The gradient of ``objective(x, *parameters)``, which is a number."""
    y, pull = differentiated(config, objective, x, *parameters)
    return filled(pull(np.ones(np.shape(y))[()])[0], x)


class Stationarity:
    """The conditions of a minimum, with what is active there.

    Parameters
    ----------
    config : RuleConfig
        The AD system.
    gradient : callable
        ``gradient(x, *parameters)``.
    x : array
        The minimum.
    parameters : tuple
        Of the objective.
    bounds, constraints
        As `scipy.optimize.minimize` takes them.
    near : float
        How near to a limit the solver's iterate counts as on it, relative to the limit.
    """

    def __init__(self, config, gradient, x, parameters, bounds=None, constraints=(), near=NEAR):
        self.config, self.gradient, self.near = config, gradient, near
        self.constraints = [constraints] if is_one_constraint(constraints) else list(constraints)
        self.parameters = (tuple(parameters), bounds, self.constraints)
        self.size = np.size(x)
        g = gradient(x, *parameters)
        self.selections = [self._active_rows(c, x) for c in self.constraints]
        self._at_lower = self._at_upper = np.zeros(np.shape(x), bool)
        multipliers = []
        if any(len(rows) for rows, _ in self.selections):
            g, multipliers = self._with_multipliers(g, x, bounds)
        self._at_lower, self._at_upper = on_bounds(x, bounds, g, near)
        self.z = np.concatenate([np.reshape(x, -1), *multipliers]) if len(multipliers) else x

    def conditions(self, z, parameters, bounds, constraints):
        """An array of zeros at the minimum."""
        n = self.size
        x, multipliers = (np.reshape(z, -1)[:n], z[n:]) if self.selections else (z, None)
        g = self.gradient(x, *parameters)
        residuals = []
        for c, (rows, limits) in zip(constraints, self.selections, strict=True):
            if len(rows):
                values, pull = differentiated(self.config, constraint_values, x, c)
                mine, multipliers = multipliers[: len(rows)], multipliers[len(rows) :]
                g = g - filled(pull(mine @ np.eye(len(values))[rows])[0], x)
                residuals.append(values[rows] - limits_of(c, len(values), limits)[rows])
        if bounds is not None:
            lower, upper = limits_of_bounds(bounds, np.shape(x))
            g = np.where(self._at_lower, x - lower, np.where(self._at_upper, x - upper, g))
        return np.concatenate([g, *residuals]) if residuals else g

    def pullback(self, xbar):
        """The cotangents of the parameters, the bounds and the constraints."""
        return implicit_pullback(self.config, self._function(), self.z, self.parameters, self._padded(xbar))

    def pushforward(self, dparameters, dbounds, dconstraints):
        """The tangent of the minimum."""
        tangents = (dparameters, dbounds, dconstraints)
        dz = implicit_pushforward(self.config, self._function(), self.z, self.parameters, tangents)
        return dz if dz is ZeroTangent() or np.size(self.z) == self.size else dz[: self.size]

    def _function(self):
        # Not a method, of which an AD system would differentiate the object too.
        return lambda *args: self.conditions(*args)

    def _padded(self, xbar):
        extra = np.size(self.z) - self.size
        return xbar if xbar is ZeroTangent() or not extra else np.concatenate([xbar, np.zeros(extra)])

    def _active_rows(self, c, x):
        """Which of the values of a constraint are at a limit, and at which (0 for the lower one)."""
        values = constraint_values(x, c)
        lower, upper = (limits_of(c, len(values), side) for side in (np.zeros(len(values)), np.ones(len(values))))
        below = is_near(values - lower, lower, self.near)
        above = is_near(upper - values, upper, self.near)
        (rows,) = np.nonzero(below | above)
        return rows, np.where(below, 0.0, 1.0)

    def _with_multipliers(self, g, x, bounds):
        """The gradient of the Lagrangian, and the multipliers that make it smallest in the free variables."""
        normals = []
        for c, (rows, _) in zip(self.constraints, self.selections, strict=True):
            values, pull = differentiated(self.config, constraint_values, x, c)
            normals += [filled(pull(np.eye(len(values))[row])[0], x) for row in rows]
        a = np.stack(normals)
        free = np.ones(np.shape(x))
        if bounds is not None:
            lower, upper = limits_of_bounds(bounds, np.shape(x))
            free = 1.0 - (is_near(x - lower, lower, self.near) | is_near(upper - x, upper, self.near))
        multipliers = np.linalg.solve((a * free) @ a.T, (a * free) @ g)
        return g - multipliers @ a, [multipliers]


# ---------------------------------------------------------------- bounds


def limits_of_bounds(bounds, shape):
    """Lower and upper bounds as arrays; a number that is never reached where there is none."""
    if isinstance(bounds, scipy.optimize.Bounds):
        lower, upper = bounds.lb, bounds.ub
    else:
        pairs = [tuple(pair) for pair in bounds]
        lower = np.stack([as_array(-np.inf if low is None else low) for low, _ in pairs])
        upper = np.stack([as_array(np.inf if high is None else high) for _, high in pairs])
    return np.broadcast_to(lower, shape), np.broadcast_to(upper, shape)


def on_bounds(x, bounds, g, near=NEAR):
    """At which of the lower and upper bounds the gradient pushes outwards."""
    if bounds is None:
        none = np.zeros(np.shape(x), bool)
        return none, none
    lower, upper = limits_of_bounds(bounds, np.shape(x))
    return _is_held(x - lower, lower, g, near), _is_held(upper - x, upper, -g, near)


def is_near(distance, limit, near):
    """Whether something at a distance from a limit counts as on it."""
    return np.isfinite(limit) & np.asarray(distance <= near * (1 + np.abs(limit)))


def _is_held(distance, bound, g, near):
    # An iterate that stopped beside the bound by chance has next to no gradient there.
    return is_near(distance, bound, near) & np.where(
        np.asarray(distance <= 0), np.asarray(g >= 0), np.asarray(g > 1e-6)
    )


# ---------------------------------------------------------------- constraints


def is_one_constraint(constraints):
    return isinstance(constraints, (dict, scipy.optimize.LinearConstraint, scipy.optimize.NonlinearConstraint))


def constraint_values(x, c):
    """The values of a constraint, as a vector."""
    if isinstance(c, scipy.optimize.LinearConstraint):
        return np.reshape(c.A @ x, -1)
    values = c["fun"](x, *c.get("args", ())) if isinstance(c, dict) else c.fun(x)
    return np.reshape(as_array(values), -1)


def limits_of(c, size, side):
    """The limits of the values of a constraint: the lower ones where ``side`` is 0, the upper ones where it is 1."""
    if isinstance(c, dict):
        return np.where(side == 0, 0.0, 0.0 if c["type"] == "eq" else np.inf)
    return np.where(side == 0, np.broadcast_to(c.lb, (size,)), np.broadcast_to(c.ub, (size,)))
