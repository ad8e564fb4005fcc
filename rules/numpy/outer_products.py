"""Rules of the products of arrays of any number of axes: outer, kron, tensordot, cross, and einsum in `einstein_sums`.

Products of vectors and matrices live in `products`, and the same conventions hold here.
"""

import functools
import math

import numpy as np
from rulescore import frule, pushforward, rrule, unbroadcast
from rulescore.typing import Array, Axis, Needs, OutputAndPullback, OutputAndTangent

from .array_like import conj
from .products import bilinear_and_pullback, bilinear_and_tangent
from .reduced_axes import decline_out
from .shape import inverse_permutation

# ---------------------------------------------------------------- outer and kron


def outer_a_bar(ybar, b, shape):
    """ā = Ȳ conj(b), where y = a bᵀ of the flattened factors."""
    return np.reshape(ybar @ conj(np.ravel(b)), shape)


def outer_b_bar(ybar, a, shape):
    """b̄ = Ȳᵀ conj(a)."""
    return np.reshape(conj(np.ravel(a)) @ ybar, shape)


@frule.register(np.outer)
@pushforward
def outer_frule(da: Array, db: Array, a: Array, b: Array, out: Array = None) -> OutputAndTangent:
    decline_out(out)
    return bilinear_and_tangent(np.outer, da, db, a, b)


@rrule.register(np.outer)
def outer_rrule(a: Array, b: Array, out: Array = None, *, needs: Needs = None) -> OutputAndPullback:
    decline_out(out)
    return bilinear_and_pullback(np.outer, outer_a_bar, outer_b_bar, a, b, needs and needs[:2])


@frule.register(np.linalg.outer)
@pushforward
def linalg_outer_frule(dx1: Array, dx2: Array, x1: Array, x2: Array, /) -> OutputAndTangent:
    return bilinear_and_tangent(np.linalg.outer, dx1, dx2, x1, x2)


@rrule.register(np.linalg.outer)
def linalg_outer_rrule(x1: Array, x2: Array, /, *, needs: Needs = None) -> OutputAndPullback:
    """It takes vectors alone, hence no alias of ``np.outer``."""
    return bilinear_and_pullback(np.linalg.outer, outer_a_bar, outer_b_bar, x1, x2, needs)


def as_outer(y, shape_a, shape_b):
    """The outer product of the flattened factors that a Kronecker product is a rearrangement of.

    Along each axis of the Kronecker product, the place in ``a`` counts the blocks and that in ``b`` the places in one.
    """
    ndim = max(len(shape_a), len(shape_b))
    lengths_a, lengths_b = ((1,) * (ndim - len(shape)) + shape for shape in (shape_a, shape_b))
    apart = np.reshape(y, [length for pair in zip(lengths_a, lengths_b, strict=True) for length in pair])
    sorted_by_factor = np.transpose(apart, [*range(0, 2 * ndim, 2), *range(1, 2 * ndim, 2)])
    return np.reshape(sorted_by_factor, (math.prod(shape_a), math.prod(shape_b)))


def kron_a_bar(ybar, b, shape):
    return outer_a_bar(as_outer(ybar, shape, np.shape(b)), b, shape)


def kron_b_bar(ybar, a, shape):
    return outer_b_bar(as_outer(ybar, np.shape(a), shape), a, shape)


@frule.register(np.kron)
@pushforward
def kron_frule(da: Array, db: Array, a: Array, b: Array) -> OutputAndTangent:
    return bilinear_and_tangent(np.kron, da, db, a, b)


@rrule.register(np.kron)
def kron_rrule(a: Array, b: Array, *, needs: Needs = None) -> OutputAndPullback:
    return bilinear_and_pullback(np.kron, kron_a_bar, kron_b_bar, a, b, needs)


# ---------------------------------------------------------------- tensordot


def contracted_axes(axes, ndim_a, ndim_b):
    """The axes of both factors that ``tensordot`` sums over, in pairs."""
    if np.iterable(axes):
        axes_a, axes_b = (np.atleast_1d(each).astype(int).tolist() for each in axes)
        return [axis % ndim_a for axis in axes_a], [axis % ndim_b for axis in axes_b]
    return list(range(ndim_a - axes, ndim_a)), list(range(axes))


def other_axes(axes, ndim):
    return [axis for axis in range(ndim) if axis not in axes]


def partners_in_order(partners, axes):
    """The axes paired with ``axes``, in the order in which the latter stand in their array."""
    return [partner for _, partner in sorted(zip(axes, partners, strict=True))]


def tensordot_a_bar(axes, ybar, b, shape):
    """ȳ times conj(b) over the axes that b has left in y; what remains are the axes of ``a``, to be put in order."""
    axes_a, axes_b = contracted_axes(axes, len(shape), np.ndim(b))
    free_a, free_b = other_axes(axes_a, len(shape)), other_axes(axes_b, np.ndim(b))
    places = list(range(len(free_a), len(free_a) + len(free_b)))
    abar = np.tensordot(ybar, np.conjugate(b), (places, free_b))
    return np.transpose(abar, inverse_permutation(free_a + partners_in_order(axes_a, axes_b)))


def tensordot_b_bar(axes, ybar, a, shape):
    """conj(a) times ȳ over the axes that a has left in y."""
    axes_a, axes_b = contracted_axes(axes, np.ndim(a), len(shape))
    free_a, free_b = other_axes(axes_a, np.ndim(a)), other_axes(axes_b, len(shape))
    bbar = np.tensordot(np.conjugate(a), ybar, (free_a, list(range(len(free_a)))))
    return np.transpose(bbar, inverse_permutation(partners_in_order(axes_b, axes_a) + free_b))


@frule.register(np.tensordot)
@pushforward
def tensordot_frule(da: Array, db: Array, a: Array, b: Array, axes: Axis = 2) -> OutputAndTangent:
    return bilinear_and_tangent(functools.partial(np.tensordot, axes=axes), da, db, a, b)


@rrule.register(np.tensordot)
def tensordot_rrule(a: Array, b: Array, axes: Axis = 2, *, needs: Needs = None) -> OutputAndPullback:
    f = functools.partial(np.tensordot, axes=axes)
    a_bar, b_bar = functools.partial(tensordot_a_bar, axes), functools.partial(tensordot_b_bar, axes)
    return bilinear_and_pullback(f, a_bar, b_bar, a, b, needs and needs[:2])


# ---------------------------------------------------------------- cross


class CrossProduct:
    """The geometry of y = a × b: which axes hold the vectors, whose length is 3, or 2 with a third entry of zero."""

    def __init__(self, axisa, axisb, axisc):
        self.axisa, self.axisb, self.axisc = axisa, axisb, axisc

    def a_bar(self, ybar, b, shape):
        """ā = conj(b) × ȳ."""
        ybar = self.vectors_of_output(ybar, shape[self.axisa] == np.shape(b)[self.axisb] == 2)
        return in_place(np.cross(conj(vectors(b, self.axisb)), ybar), shape, self.axisa)

    def b_bar(self, ybar, a, shape):
        """b̄ = ȳ × conj(a)."""
        ybar = self.vectors_of_output(ybar, shape[self.axisb] == np.shape(a)[self.axisa] == 2)
        return in_place(np.cross(ybar, conj(vectors(a, self.axisa))), shape, self.axisb)

    def vectors_of_output(self, ybar, is_in_plane):
        """Of two vectors in the plane the output is the third entry alone, and has no axis for the vectors."""
        if not is_in_plane:
            return np.moveaxis(ybar, self.axisc, -1)
        third = np.expand_dims(ybar, -1)
        return np.concatenate([np.zeros((*np.shape(ybar), 2), third.dtype), third], -1)


def vectors(x, axis):
    """The vectors in the last axis, and of length 3."""
    x = np.moveaxis(x, axis, -1)
    return x if x.shape[-1] == 3 else np.concatenate([x, np.zeros((*x.shape[:-1], 1), x.dtype)], -1)


def in_place(xbar, shape, axis):
    """The cotangent of an argument from that of its broadcast vectors."""
    place = axis % len(shape)
    moved_shape = (*shape[:place], *shape[place + 1 :], shape[place])
    return np.moveaxis(unbroadcast(xbar[..., : shape[place]], moved_shape), -1, place)


@frule.register(np.cross)
@pushforward
def cross_frule(
    da: Array, db: Array, a: Array, b: Array, axisa: Axis = -1, axisb: Axis = -1, axisc: Axis = -1, axis: Axis = None
) -> OutputAndTangent:
    f = functools.partial(np.cross, axisa=axisa, axisb=axisb, axisc=axisc, axis=axis)
    return bilinear_and_tangent(f, da, db, a, b)


@rrule.register(np.cross)
def cross_rrule(
    a: Array, b: Array, axisa: Axis = -1, axisb: Axis = -1, axisc: Axis = -1, axis: Axis = None, *, needs: Needs = None
) -> OutputAndPullback:
    """y·(a × b) is the volume of a parallelepiped, which turning the three factors does not change."""
    f = functools.partial(np.cross, axisa=axisa, axisb=axisb, axisc=axisc, axis=axis)
    product = CrossProduct(axisa, axisb, axisc) if axis is None else CrossProduct(axis, axis, axis)
    return bilinear_and_pullback(f, product.a_bar, product.b_bar, a, b, needs and needs[:2])


@frule.register(np.linalg.cross)
@pushforward
def linalg_cross_frule(dx1: Array, dx2: Array, x1: Array, x2: Array, /, *, axis: Axis = -1) -> OutputAndTangent:
    return bilinear_and_tangent(functools.partial(np.linalg.cross, axis=axis), dx1, dx2, x1, x2)


@rrule.register(np.linalg.cross)
def linalg_cross_rrule(x1: Array, x2: Array, /, *, axis: Axis = -1, needs: Needs = None) -> OutputAndPullback:
    f, product = functools.partial(np.linalg.cross, axis=axis), CrossProduct(axis, axis, axis)
    return bilinear_and_pullback(f, product.a_bar, product.b_bar, x1, x2, needs)


# ---------------------------------------------------------------- the same functions in numpy.linalg

rrule.alias(np.linalg.matmul, np.matmul)
rrule.alias(np.linalg.tensordot, np.tensordot)
rrule.alias(np.linalg.vecdot, np.vecdot)
