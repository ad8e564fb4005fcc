"""Rules of ``squareform`` and ``directed_hausdorff``."""

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import NoTangent, frule, pullback_wrt, pushforward, rrule, seen_by_tracers
from rulescore.typing import Array, Choice, OutputAndPullback, OutputAndTangent
from scipy.spatial import distance

from ...numpy.array_like import as_array, as_array_tangent, shape_of
from ...numpy.indexing import scatter
from ...numpy.reduced_axes import NOT_GIVEN
from .metrics import divided
from .pairwise import full_matrix

# ---------------------------------------------------------------- squareform


@frule.register(distance.squareform)
@pushforward
def squareform_frule(dX: Array, X: Array, force: Choice = "no", checks: Choice = True) -> OutputAndTangent:
    decline_numbers(X)
    dx, y = as_array_tangent(dX, X), seen_by_tracers(distance.squareform, X, force, checks)
    return y, condensed(dx) if np.ndim(y) == 1 else full_matrix(dx, len(y))


@rrule.register(distance.squareform)
def squareform_rrule(X: Array, force: Choice = "no", checks: Choice = True) -> OutputAndPullback:
    """A vector's number stands in two places, and gets the sum of both; of a matrix, the upper triangle is read."""
    decline_numbers(X)
    y, n = seen_by_tracers(distance.squareform, X, force, checks), len(X)

    @pullback_wrt(X)
    def squareform_pullback(ybar):
        if np.ndim(y) == 2:
            return condensed(ybar + ybar.T)
        return scatter(ybar, np.triu_indices(n, 1), (n, n), ybar.dtype)

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
    if not len(u) or not len(v):  # SciPy's answer is what happens to lie in memory
        raise MDNotImplementedError
    by_position = () if third is NOT_GIVEN else (third,)
    by_name = {key: x for key, x in (("rng", rng), ("seed", seed)) if x is not NOT_GIVEN}
    distance_, i, j = seen_by_tracers(distance.directed_hausdorff, u, v, *by_position, **by_name)
    return (distance_, i, j), divided(as_array(u)[i] - as_array(v)[j], distance_)


@frule.register(distance.directed_hausdorff)
@pushforward
def directed_hausdorff_frule(
    du: Array,
    dv: Array,
    u: Array,
    v: Array,
    third: Choice = NOT_GIVEN,
    /,
    *,
    rng: Choice = NOT_GIVEN,
    seed: Choice = NOT_GIVEN,
) -> OutputAndTangent:
    (d, i, j), direction = hausdorff(u, v, third, rng, seed)
    du, dv = as_array_tangent(du, u), as_array_tangent(dv, v)
    dd = np.sum(direction * du[i]) - np.sum(direction * dv[j])
    return (d, i, j), (dd, NoTangent(), NoTangent())


@rrule.register(distance.directed_hausdorff)
def directed_hausdorff_rrule(
    u: Array, v: Array, third: Choice = NOT_GIVEN, /, *, rng: Choice = NOT_GIVEN, seed: Choice = NOT_GIVEN
) -> OutputAndPullback:
    """The distance of two points alone moves with them; of several pairs that far apart, of the one SciPy found."""
    (d, i, j), direction = hausdorff(u, v, third, rng, seed)
    shape_u, shape_v = shape_of(u), shape_of(v)

    @pullback_wrt(u, v)
    def directed_hausdorff_pullback(ybar):
        step = ybar[0] * direction
        return scatter(step, (i,), shape_u, np.float64), scatter(-step, (j,), shape_v, np.float64)

    return (d, i, j), directed_hausdorff_pullback
