"""Rules of what makes grids and matrices of vectors: ``meshgrid``, ``ix_``, ``vander``."""

import functools
from typing import Any

import numpy as np
from rulescore import frule, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, Choice, Count, Flag, OutputAndPullback, OutputAndTangent

from .array_like import as_array, as_array_tangent, conj, shape_of
from .shape import tangents_of_items

# ---------------------------------------------------------------- grids: ȳ summed over the other axes


def grids_frule(f, dxi, xi):
    """The pushforward of several grids, each of one vector: the grids of the tangents."""
    return f(*map(as_array, xi)), f(*tangents_of_items(dxi, xi, float))


def grids_pullback(xi, axes):
    """The pullback of several grids, each of which varies along one axis."""
    shapes = list(map(shape_of, xi))

    def bar_of(i):
        others = tuple([axis for axis in range(len(axes)) if axis != axes[i]])
        return lambda ybar: np.reshape(np.sum(ybar[i], axis=others), shapes[i])

    return pullback_wrt(*xi)(*map(bar_of, range(len(xi))))


@frule.register(np.meshgrid)
@pushforward
def meshgrid_frule(
    dxi: Array, *xi: Array, copy: Flag = True, sparse: Flag = False, indexing: Choice = "xy"
) -> OutputAndTangent:
    return grids_frule(functools.partial(np.meshgrid, copy=copy, sparse=sparse, indexing=indexing), dxi, xi)


@rrule.register(np.meshgrid)
def meshgrid_rrule(*xi: Array, copy: Flag = True, sparse: Flag = False, indexing: Choice = "xy") -> OutputAndPullback:
    """Every number stands along all axes but its vector's own; "xy" has the first two of them the other way round."""
    axes = list(range(len(xi)))
    if indexing == "xy":
        axes[:2] = axes[:2][::-1]
    y = np.meshgrid(*map(as_array, xi), copy=copy, sparse=sparse, indexing=indexing)
    return y, grids_pullback(xi, axes)


@frule.register(np.ix_)
@pushforward
def ix_frule(dargs: Any, *args: Any) -> OutputAndTangent:
    return grids_frule(np.ix_, dargs, args)


@rrule.register(np.ix_)
def ix_rrule(*args: Any) -> OutputAndPullback:
    return np.ix_(*map(as_array, args)), grids_pullback(args, range(len(args)))


# ---------------------------------------------------------------- powers


def powers_and_lower(y, increasing):
    """The powers of the columns of a Vandermonde matrix but that of ones, and for each the column one power below."""
    count = np.shape(y)[1] - 1
    powers = np.arange(1, count + 1)
    return (powers, y[:, :-1]) if increasing else (powers[::-1], y[:, 1:])


@frule.register(np.vander)
@pushforward
def vander_frule(dx: Array, x: Array, N: Count = None, increasing: Flag = False) -> OutputAndTangent:
    """d(xᵖ) = p xᵖ⁻¹ dx."""
    dx, y = as_array_tangent(dx, x), np.vander(as_array(x), N, increasing)
    if not np.shape(y)[1]:
        return y, y
    powers, lower = powers_and_lower(y, increasing)
    dcolumns, zeros = powers * lower * dx[:, None], np.zeros((len(dx), 1))
    return y, np.concatenate([zeros, dcolumns] if increasing else [dcolumns, zeros], axis=1)


@rrule.register(np.vander)
def vander_rrule(x: Array, N: Count = None, increasing: Flag = False) -> OutputAndPullback:
    """x̄ᵢ = Σₚ conj(p xᵢᵖ⁻¹) ȳᵢₚ; the powers are in y already."""
    y = np.vander(as_array(x), N, increasing)

    @pullback_wrt(x)
    def vander_pullback(ybar):
        powers, lower = powers_and_lower(y, increasing)
        return np.sum(powers * conj(lower) * (ybar[:, 1:] if increasing else ybar[:, :-1]), axis=1)

    return y, vander_pullback
