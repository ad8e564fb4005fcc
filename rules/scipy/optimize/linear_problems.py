"""Linear least squares with bounds, and linear programs: which constraints are active does not change nearby.

Where it does (a coefficient that is zero with multiplier zero, a degenerate vertex), the solution has a kink or is not
unique. The first gets the derivative with the constraint kept; the second is an error.
"""

import numpy as np

import scipy.optimize
from rulescore import MissingDerivativeError, Tangent, ZeroTangent, ignore_derivatives

from ...numpy.array_like import as_array, as_array_tangent
from ..named_arguments import filled, rules_by_name
from ..working_precision import in_working_precision, solve
from .implicit import cotangents_of_result, tangent_of_result
from .least_squares import cotangent_of_pair, tangent_of_pair

# ---------------------------------------------------------------- least squares


def are_dependent(gram):
    """Whether a matrix of inner products is singular, up to rounding and whatever the lengths of the vectors are."""
    gram = ignore_derivatives(in_working_precision(gram))
    lengths = np.sqrt(np.diagonal(gram))
    if np.any(lengths == 0):
        return True
    return np.linalg.cond(gram / np.outer(lengths, lengths)) * np.finfo(gram.dtype).eps > 0.01


def free_inverse(a, free, right):
    """The solution of AᵀA v = right in the free variables, 0 in the others."""
    f = np.asarray(free, float)
    gram = f[:, None] * (a.T @ a) * f + np.diag(1 - f)
    if are_dependent(gram):
        raise MissingDerivativeError(
            "the derivative of a least-squares solution was asked for where it is not unique: the columns of A that "
            "belong to free variables are linearly dependent"
        )
    return solve(gram, f * right)


def solution_cotangents(a, b, x, free, xbar):
    """Aᵀ(A x - b) = 0 in the free variables: of A, b, and of the variables that are held."""
    v = free_inverse(a, free, xbar)
    av = a @ v
    r = b - a @ x
    abar = np.outer(r, v) - np.outer(av, x)
    heldbar = np.where(free, 0.0, xbar - a.T @ av)
    return abar, av, heldbar


def solution_tangent(a, b, x, free, da, db, dheld):
    r = b - a @ x
    held = np.where(free, 0.0, filled(dheld, x))
    dr = filled(db, b) - filled(da, a) @ x - a @ held
    return held + free_inverse(a, free, filled(da, a).T @ r + a.T @ dr)


def nnls_cotangents(config, call, y, ybar):
    a, b, x = as_array(call.A), as_array(call.b), y[0]
    xbar, normbar = map(filled, ybar, y)
    r = a @ x - b
    rbar = normbar * direction(r, y[1])
    abar, bbar, _ = solution_cotangents(a, b, x, np.asarray(x > 0), xbar + a.T @ rbar)
    return {"A": abar + np.outer(rbar, x), "b": bbar - rbar}


def nnls_tangent(config, call, y, d):
    a, b, x = as_array(call.A), as_array(call.b), y[0]
    da, db = filled(as_array_tangent(d.A, call.A), a), filled(as_array_tangent(d.b, call.b), b)
    dx = solution_tangent(a, b, x, np.asarray(x > 0), da, db, ZeroTangent())
    return dx, direction(a @ x - b, y[1]) @ (da @ x + a @ dx - db)


def direction(r, norm):
    """The gradient of the norm of the residuals; zero where they are zero."""
    return r / np.where(norm == 0, 1.0, norm)


rules_by_name(scipy.optimize.nnls, nnls_cotangents, nnls_tangent, calls_back=False)


def bounds_as_pair(bounds):
    return (bounds.lb, bounds.ub) if isinstance(bounds, scipy.optimize.Bounds) else tuple(bounds)


def free_of(call, x):
    """Which variables are strictly within their bounds, and which are at the lower one."""
    lower, upper = (np.broadcast_to(as_array(bound), np.shape(x)) for bound in bounds_as_pair(call.bounds))
    near = 1e-8
    at_lower = np.asarray(x - lower <= near * (1 + np.abs(x)))
    at_upper = np.asarray(upper - x <= near * (1 + np.abs(x)))
    return ~(at_lower | at_upper), at_lower


LSQ_FIELDS = ("x", "fun", "cost")


def lsq_linear_cotangents(config, call, y, ybar):
    a, b, x = as_array(call.A), as_array(call.b), y.x
    bars = cotangents_of_result(ybar, y, LSQ_FIELDS)
    xbar, rbar, costbar = map(filled, bars, (x, y.fun, y.cost))
    free, at_lower = free_of(call, x)
    rbar = rbar + costbar * y.fun
    abar, bbar, heldbar = solution_cotangents(a, b, x, free, xbar + a.T @ rbar)
    lower, upper = bounds_as_pair(call.bounds)
    boundsbar = Tangent(
        scipy.optimize.Bounds,
        lb=summed_like(np.where(at_lower, heldbar, 0.0), lower),
        ub=summed_like(np.where(at_lower, 0.0, heldbar), upper),
    )
    return {
        "A": abar + np.outer(rbar, x),
        "b": bbar - rbar,
        "bounds": cotangent_of_pair(boundsbar, call.bounds),
    }


def summed_like(bar, x):
    return np.sum(bar) if np.ndim(as_array(x)) == 0 else bar


def lsq_linear_tangent(config, call, y, d):
    a, b, x = as_array(call.A), as_array(call.b), y.x
    da, db = filled(as_array_tangent(d.A, call.A), a), filled(as_array_tangent(d.b, call.b), b)
    free, at_lower = free_of(call, x)
    dbounds = tangent_of_pair(d.bounds, call.bounds)
    sides = zip(("lb", "ub"), bounds_as_pair(call.bounds), strict=True)
    dlower, dupper = (filled(as_array_tangent(dbounds[name], bound), as_array(bound)) for name, bound in sides)
    dx = solution_tangent(a, b, x, free, da, db, np.where(at_lower, dlower, dupper))
    dr = da @ x + a @ dx - db
    return tangent_of_result(y, {"x": dx, "fun": dr, "cost": y.fun @ dr})


def refuse_operators(call):
    if not hasattr(call.A, "__array_function__") and not isinstance(call.A, (list, tuple)):
        return "A is no array of NumPy; pass A.toarray()"
    return None


rules_by_name(scipy.optimize.lsq_linear, lsq_linear_cotangents, lsq_linear_tangent, refuse_operators, calls_back=False)


# ---------------------------------------------------------------- linear programs


class Vertex:
    """The equations B x = r of the constraints that hold the solution of a linear program.

    With xbar, λ = B⁻ᵀ x̄ gives r̄ = λ and B̄ = -λ xᵀ, row by row for the constraint that the row comes from.
    """

    def __init__(self, call, x):
        if x is None:
            raise MissingDerivativeError(
                "the derivative of the solution of a linear program was asked for where there is none: look at its "
                "status and message"
            )
        self.call, self.x, n = call, x, np.size(x)
        rows, right, self.sources = [], [], []
        for name, limit in (("A_eq", "b_eq"), ("A_ub", "b_ub")):
            if getattr(call, name) is None:
                continue
            a, b = as_array(getattr(call, name)), np.reshape(as_array(getattr(call, limit)), -1)
            is_tight = np.abs(b - a @ x) <= 1e-9 * (1 + np.abs(b))
            for i in range(len(b)):
                if name == "A_eq" or is_tight[i]:
                    rows.append(a[i])
                    right.append(b[i])
                    self.sources.append((name, limit, i))
        lower, upper = limits_of_program(call.bounds, n)
        for i in range(n):
            for side, limit in enumerate((lower[i], upper[i])):
                if limit is not None and abs(x[i] - limit) <= 1e-9 * (1 + abs(limit)):
                    rows.append(np.eye(n)[i])
                    right.append(limit)
                    self.sources.append(("bounds", side, i))
        if len(rows) != n:
            raise MissingDerivativeError(
                f"the derivative of the solution of a linear program was asked for where {len(rows)} constraints hold "
                f"its {n} variables: it is differentiable only at a vertex that as many constraints hold as there are "
                "variables. Perturb the problem, or add a small quadratic term and use minimize"
            )
        self.b = np.stack(rows)

    def cotangents(self, xbar):
        """The cotangents of the arguments."""
        multipliers = solve(self.b.T, xbar)
        bars = {}
        for name, limit in (("A_eq", "b_eq"), ("A_ub", "b_ub")):
            if getattr(self.call, name) is not None:
                a, b = as_array(getattr(self.call, name)), as_array(getattr(self.call, limit))
                rows = self._placed(multipliers, name, len(a))
                bars[name] = -np.outer(rows, self.x)
                bars[limit] = np.reshape(rows, np.shape(b))
        return {**bars, **self._bounds_cotangent(multipliers)}

    def _placed(self, multipliers, name, count):
        """The multiplier of each row of a matrix of constraints; zero where it does not hold the solution."""
        places = np.zeros((count, len(self.sources)))
        for k, (source, _, i) in enumerate(self.sources):
            if source == name:
                places[i, k] = 1
        return places @ multipliers

    def _bounds_cotangent(self, multipliers):
        pairs = {(i, side): multipliers[k] for k, (name, side, i) in enumerate(self.sources) if name == "bounds"}
        bounds = self.call.bounds
        if not pairs or bounds is None or not is_list_of_pairs(bounds):
            return {}
        return {
            "bounds": Tangent(
                type(bounds),
                *[
                    Tangent(type(pair), pairs.get((i, 0), ZeroTangent()), pairs.get((i, 1), ZeroTangent()))
                    for i, pair in enumerate(bounds)
                ],
            )
        }

    def tangent(self, d):
        """ẋ = B⁻¹ (ṙ - Ḃ x)."""
        right = []
        for name, limit, i in self.sources:
            if name == "bounds":
                pair = d.bounds[i] if is_list_of_pairs(self.call.bounds) else ZeroTangent()
                right.append(filled(pair[limit], 0.0))
                continue
            a, b = as_array(getattr(self.call, name)), as_array(getattr(self.call, limit))
            da = filled(as_array_tangent(getattr(d, name), getattr(self.call, name)), a)
            db = np.reshape(filled(as_array_tangent(getattr(d, limit), getattr(self.call, limit)), b), -1)
            right.append(db[i] - da[i] @ self.x)
        return solve(self.b, np.stack(right))


def is_list_of_pairs(bounds):
    return isinstance(bounds, (list, tuple)) and len(bounds) > 0 and isinstance(bounds[0], (list, tuple))


def limits_of_program(bounds, n):
    """Lower and upper bounds of each variable, None where there is none."""
    if bounds is None:
        pairs = [(0, None)] * n
    elif is_list_of_pairs(bounds):
        pairs = list(bounds) * (n if len(bounds) == 1 else 1)
    else:
        pairs = [tuple(bounds)] * n
    finite = [[None if v is None or np.isinf(v) else v for v in pair] for pair in pairs]
    return [low for low, _ in finite], [high for _, high in finite]


def linprog_cotangents(config, call, y, ybar):
    c = as_array(call.c)
    bars = cotangents_of_result(ybar, y, ("x", "fun"))
    vertex = Vertex(call, y.x)
    xbar, valuebar = map(filled, bars, (y.x, y.fun))
    return {"c": valuebar * y.x, **vertex.cotangents(xbar + valuebar * c)}


def linprog_tangent(config, call, y, d):
    c = as_array(call.c)
    dx = Vertex(call, y.x).tangent(d)
    dvalue = filled(as_array_tangent(d.c, call.c), c) @ y.x + c @ dx
    return tangent_of_result(y, {"x": dx, "fun": dvalue})


def refuse_programs(call):
    if call.integrality is not None and np.any(call.integrality):
        return "the solution of an integer program jumps; its derivative says nothing"
    return None


rules_by_name(scipy.optimize.linprog, linprog_cotangents, linprog_tangent, refuse_programs, calls_back=False)
