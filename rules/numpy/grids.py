"""Rules of what makes grids and matrices of vectors: ``meshgrid``, ``ix_``, ``vander``."""

import numpy as np

from rules.numpy.array_like import as_array, as_array_tangent, conj, shape_of
from rulescore import (
    AbstractZero,
    NoTangent,
    Tangent,
    Thunk,
    ZeroTangent,
    frule,
    project_to,
    rrule,
    unthunk,
)

NO_TANGENT = NoTangent()
ZERO_TANGENT = ZeroTangent()

# ---------------------------------------------------------------- grids: ȳ summed over the other axes


def grids_frule(f, tangents, xi):
    """The pushforward of several grids, each of one vector: the grids of the tangents."""
    y = f(*map(as_array, xi))
    if all(isinstance(dx, AbstractZero) for dx in tangents):
        return y, NO_TANGENT if all(isinstance(dx, NoTangent) for dx in tangents) else ZERO_TANGENT
    moving = [
        np.zeros(shape_of(x)) if isinstance(dx, AbstractZero) else as_array_tangent(dx, x)
        for dx, x in zip(tangents, xi, strict=True)
    ]
    # Without copies a sparse grid is a list.
    return y, Tangent(type(y), *[project_to(grid)(dgrid) for grid, dgrid in zip(y, f(*moving), strict=True)])


def grids_rrule(f, xi, axes):
    """The pullback of several grids, each of which varies along one axis."""
    projects, shapes = [project_to(x) for x in xi], [shape_of(x) for x in xi]

    def bar_of(ybar, i):
        bar = ybar if isinstance(ybar, AbstractZero) else unthunk(ybar[i])
        if isinstance(bar, AbstractZero):
            return bar
        return np.reshape(np.sum(bar, axis=tuple([axis for axis in range(len(axes)) if axis != axes[i]])), shapes[i])

    def grids_pullback(ybar):
        ybar = unthunk(ybar)
        return NO_TANGENT, *[project(Thunk(lambda i=i: bar_of(ybar, i))) for i, project in enumerate(projects)]

    return f(*map(as_array, xi)), grids_pullback


@frule.register(np.meshgrid)
def meshgrid_frule(tangents, *xi, copy=True, sparse=False, indexing="xy"):
    return grids_frule(lambda *xi: np.meshgrid(*xi, copy=copy, sparse=sparse, indexing=indexing), tangents[1:], xi)


@rrule.register(np.meshgrid)
def meshgrid_rrule(*xi, copy=True, sparse=False, indexing="xy"):
    """Every number stands along all axes but its vector's own; "xy" has the first two of them the other way round."""
    axes = list(range(len(xi)))
    if indexing == "xy":
        axes[:2] = axes[:2][::-1]
    return grids_rrule(lambda *xi: np.meshgrid(*xi, copy=copy, sparse=sparse, indexing=indexing), xi, axes)


@frule.register(np.ix_)
def ix_frule(tangents, *args):
    return grids_frule(np.ix_, tangents[1:], args)


@rrule.register(np.ix_)
def ix_rrule(*args):
    return grids_rrule(np.ix_, args, range(len(args)))


# ---------------------------------------------------------------- powers


def powers_and_lower(y, increasing):
    """The powers of the columns of a Vandermonde matrix but that of ones, and for each the column one power below."""
    count = np.shape(y)[1] - 1
    powers = np.arange(1, count + 1)
    return (powers, y[:, :-1]) if increasing else (powers[::-1], y[:, 1:])


@frule.register(np.vander)
def vander_frule(tangents, x, N=None, increasing=False):
    """d(xᵖ) = p xᵖ⁻¹ dx."""
    dx, y = as_array_tangent(tangents[1], x), np.vander(as_array(x), N, increasing)
    if isinstance(dx, AbstractZero) or not np.shape(y)[1]:
        return y, project_to(y)(dx if isinstance(dx, AbstractZero) else np.zeros(np.shape(y), y.dtype))
    powers, lower = powers_and_lower(y, increasing)
    dcolumns, zeros = powers * lower * dx[:, None], np.zeros((len(dx), 1))
    return y, project_to(y)(np.concatenate([zeros, dcolumns] if increasing else [dcolumns, zeros], axis=1))


@rrule.register(np.vander)
def vander_rrule(x, N=None, increasing=False):
    """x̄ᵢ = Σₚ conj(p xᵢᵖ⁻¹) ȳᵢₚ; the powers are in y already."""
    y, project, shape = np.vander(as_array(x), N, increasing), project_to(x), shape_of(x)

    def vander_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero) or not np.shape(y)[1]:
            return NO_TANGENT, project(ybar if isinstance(ybar, AbstractZero) else np.zeros(shape))
        powers, lower = powers_and_lower(y, increasing)
        return NO_TANGENT, project(np.sum(powers * conj(lower) * (ybar[:, 1:] if increasing else ybar[:, :-1]), axis=1))

    return y, vander_pullback
