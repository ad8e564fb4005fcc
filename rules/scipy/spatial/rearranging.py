"""Rules of ``squareform`` and ``directed_hausdorff``."""

import numpy as np
from multipledispatch import MDNotImplementedError
from scipy.spatial import distance

from rules.numpy.array_like import as_array, as_array_tangent, seen_by_tracers, shape_of
from rules.numpy.indexing import scatter
from rules.numpy.reduced_axes import NOT_GIVEN
from rules.scipy.spatial.metrics import divided
from rules.scipy.spatial.pairwise import full_matrix
from rulescore import (
    AbstractZero,
    NoTangent,
    Tangent,
    ZeroTangent,
    frule,
    project_to,
    rrule,
    unthunk,
)
from rulescore.tangents.projection import NON_DIFFERENTIABLE

NO_TANGENT = NoTangent()
ZERO_TANGENT = ZeroTangent()

# ---------------------------------------------------------------- squareform


@frule.register(distance.squareform)
def squareform_frule(tangents, X, force="no", checks=True):
    decline_numbers(X)
    dx = as_array_tangent(tangents[1], X)
    y = seen_by_tracers(distance.squareform, X, force, checks)
    if isinstance(dx, AbstractZero):
        return y, dx
    return y, project_to(y)(condensed(dx) if np.ndim(y) == 1 else full_matrix(dx, len(y)))


@rrule.register(distance.squareform)
def squareform_rrule(X, force="no", checks=True):
    """A vector's number stands in two places, and gets the sum of both; of a matrix, the upper triangle is read."""
    decline_numbers(X)
    y, project = seen_by_tracers(distance.squareform, X, force, checks), project_to(X)

    def squareform_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero) or project is NON_DIFFERENTIABLE:
            return NO_TANGENT, project(ybar)
        if np.ndim(y) == 2:
            return NO_TANGENT, project(condensed(ybar + ybar.T))
        n = len(X)
        return NO_TANGENT, project(scatter(ybar, np.triu_indices(n, 1), (n, n), ybar.dtype))

    return y, squareform_pullback


def decline_numbers(X):
    if not np.ndim(X):
        raise MDNotImplementedError


def condensed(x):
    """The upper triangle of a matrix as a vector."""
    return x[np.triu_indices(len(x), 1)]


# ---------------------------------------------------------------- Hausdorff distance


def hausdorff(u, v, third, rng, seed):
    """The distance with the numbers of its two points, and the direction from the second one to the first.

    SciPy reads a third argument as a seed of one kind by position, and of another by its name.
    """
    by_position = () if third is NOT_GIVEN else (third,)
    by_name = {key: x for key, x in (("rng", rng), ("seed", seed)) if x is not NOT_GIVEN}
    distance_, i, j = seen_by_tracers(distance.directed_hausdorff, u, v, *by_position, **by_name)
    return (distance_, i, j), divided(as_array(u)[i] - as_array(v)[j], distance_)


@frule.register(distance.directed_hausdorff)
def directed_hausdorff_frule(tangents, u, v, third=NOT_GIVEN, /, *, rng=NOT_GIVEN, seed=NOT_GIVEN):
    y, direction = hausdorff(u, v, third, rng, seed)
    _, i, j = y
    du, dv = as_array_tangent(tangents[1], u), as_array_tangent(tangents[2], v)
    of_u = ZERO_TANGENT if isinstance(du, AbstractZero) else np.sum(direction * du[i])
    of_v = ZERO_TANGENT if isinstance(dv, AbstractZero) else np.sum(direction * dv[j])
    return y, Tangent(tuple, of_u - of_v, NO_TANGENT, NO_TANGENT)


@rrule.register(distance.directed_hausdorff)
def directed_hausdorff_rrule(u, v, third=NOT_GIVEN, /, *, rng=NOT_GIVEN, seed=NOT_GIVEN):
    """The distance of two points alone moves with them; of several pairs that far apart, of the one SciPy found."""
    y, direction = hausdorff(u, v, third, rng, seed)
    project_u, project_v, shapes = project_to(u), project_to(v), (shape_of(u), shape_of(v))

    def directed_hausdorff_pullback(ybar):
        bar = ybar if isinstance(ybar, AbstractZero) else unthunk(ybar[0])
        if isinstance(bar, AbstractZero):
            return NO_TANGENT, project_u(bar), project_v(bar)
        _, i, j = y
        step = bar * direction
        return (
            NO_TANGENT,
            project_u(scatter(step, (i,), shapes[0], np.float64)),
            project_v(scatter(-step, (j,), shapes[1], np.float64)),
        )

    return y, directed_hausdorff_pullback
