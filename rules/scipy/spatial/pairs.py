"""Rules of the distance between two vectors, for every metric of `scipy.spatial.distance` that has a derivative.

The slopes with respect to the vectors are those of the table in `metrics`; those with respect to the weights and other
parameters are here.
"""

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import (
    ZeroTangent,
    apply_linear,
    frule,
    non_differentiable,
    not_implemented,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
    unbroadcast,
)
from rulescore.typing import Array, Axis, Flag, Number, OutputAndPullback, OutputAndTangent
from scipy.spatial import distance

from ...numpy.array_like import as_array, as_array_tangent, shape_of
from .metrics import CONSTANT, SLOPES, deviations, divided, jensenshannon_slope, lengths

# ---------------------------------------------------------------- slopes of the parameters, of (u, v, d)


def minkowski_slope_of_p(u, v, d, p, w):
    """∂d/∂p = (d/p) Σ w rᵖ log r, for the sizes r = |δ|/d; 0 at coinciding points, and for p = ∞."""
    if p == np.inf:
        return 0.0
    sizes = np.abs(divided(u - v, d))
    sizes = np.where(sizes == 0, 1, sizes)
    terms = sizes**p * np.log(sizes)
    return d / p * np.sum(terms if w is None else w * terms)


def minkowski_slope_of_w(u, v, d, p, w):
    """0 too where the distance is too small for its precision."""
    if p == np.inf:
        return np.zeros_like(u - v)
    return np.where(d == 0, 0, divided(np.abs(u - v) ** p, p * np.where(d == 0, 1, d) ** (p - 1)))


def cosine_slope_of_w(u, v, d, w):
    """Of 1 - Σ w u v / √(Σ w u² Σ w v²)."""
    directions = divided(u, lengths(u, w)), divided(v, lengths(v, w))
    return (1 - d) * (directions[0] ** 2 + directions[1] ** 2) / 2 - directions[0] * directions[1]


def correlation_slope_of_w(u, v, d, w, centered):
    """That of the cosine: the mean moves too, and that adds nothing."""
    if centered:
        u, v = deviations(u, w / np.sum(w)), deviations(v, w / np.sum(w))
    return cosine_slope_of_w(u, v, d, w)


PARAMETERS = {
    "euclidean": {"w": lambda u, v, d, w: divided((u - v) ** 2, 2 * d)},
    "sqeuclidean": {"w": lambda u, v, d, w: (u - v) ** 2},
    "cityblock": {"w": lambda u, v, d, w: np.abs(u - v)},
    "minkowski": {"p": minkowski_slope_of_p, "w": minkowski_slope_of_w},
    "canberra": {"w": lambda u, v, d, w: divided(np.abs(u - v), np.abs(u) + np.abs(v))},
    "braycurtis": {
        "w": lambda u, v, d, w: divided(np.abs(u - v) - d * np.abs(u + v), np.sum(w * np.abs(u + v))),
    },
    "chebyshev": {"w": lambda u, v, d, w: np.zeros_like(w)},
    "cosine": {"w": cosine_slope_of_w},
    "correlation": {"w": correlation_slope_of_w},
    "seuclidean": {"V": lambda u, v, d, V: divided(-((u - v) ** 2) / (2 * as_array(V) ** 2), d)},
    "mahalanobis": {"VI": lambda u, v, d, VI: divided((u - v)[:, None] * (u - v), 2 * d)},
}
"""The slopes with respect to parameters, by metric and name."""


class Distance:
    """d(u, v) and its slopes.

    Attributes
    ----------
    parameters : dict
        By name, in the order of the arguments.
    """

    def __init__(self, name, u, v, **parameters):
        self.name, self.u, self.v = name, as_array(u), as_array(v)
        self.parameters = {key: None if x is None else as_array(x) for key, x in parameters.items()}
        if any(np.iscomplexobj(x) for x in (self.u, self.v, *self.parameters.values())):
            raise MDNotImplementedError
        shape = np.broadcast_shapes(self.u.shape, self.v.shape, shape_of(parameters.get("w", 1.0)))
        if not self.u.shape == self.v.shape == shape:  # SciPy lets one number stand for all coordinates in most metrics
            self.u, self.v = np.broadcast_to(self.u, shape), np.broadcast_to(self.v, shape)
        self.given = (u, v, *parameters.values())

    def value(self):
        return seen_by_tracers(getattr(distance, self.name), *self.given)

    def slopes(self, d):
        """A function for each argument that returns ∂d/∂ of it."""
        slope = SLOPES[self.name]
        yield lambda: slope(self.u, self.v, d, **self.parameters)
        yield lambda: slope(self.v, self.u, d, **self.parameters)
        for key in self.parameters:
            yield lambda key=key: self._slope_of_parameter(key, d)

    def _slope_of_parameter(self, key, d):
        slope = PARAMETERS.get(self.name, {}).get(key)
        if slope is None:
            return not_implemented(f"the distance {self.name} with respect to {key}")
        return slope(self.u, self.v, d, **self.parameters)

    def pushforward(self, *tangents):
        d = self.value()

        def of_argument(x, dx, slope):
            return apply_linear(lambda dx: np.sum(slope() * dx), as_array_tangent(dx, x))

        return d, sum(map(of_argument, self.given, tangents, self.slopes(d)), ZeroTangent())

    def pullback(self):
        d = self.value()

        def of_argument(x, slope):
            shape = shape_of(x)
            return lambda dbar: unbroadcast(dbar * slope(), shape)

        # An infinite p has none beside it.
        primals = [None if is_infinite(x) else x for x in self.given]
        return d, pullback_wrt(*primals)(*map(of_argument, self.given, self.slopes(d)))


def is_infinite(p):
    return isinstance(p, float) and p == np.inf


def register_weighted(name):
    """The rules of a metric with weights and nothing else."""
    f = getattr(distance, name)

    @frule.register(f)
    @pushforward
    def weighted_frule(du: Array, dv: Array, dw: Array, u: Array, v: Array, w: Array = None) -> OutputAndTangent:
        return Distance(name, u, v, w=w).pushforward(du, dv, dw)

    @rrule.register(f)
    def weighted_rrule(u: Array, v: Array, w: Array = None) -> OutputAndPullback:
        return Distance(name, u, v, w=w).pullback()


for _name in ("braycurtis", "canberra", "chebyshev", "cityblock", "cosine", "euclidean", "sqeuclidean"):
    register_weighted(_name)


@frule.register(distance.correlation)
@pushforward
def correlation_frule(
    du: Array, dv: Array, dw: Array, u: Array, v: Array, w: Array = None, centered: Flag = True
) -> OutputAndTangent:
    return Distance("correlation", u, v, w=w, centered=centered).pushforward(du, dv, dw)


@rrule.register(distance.correlation)
def correlation_rrule(u: Array, v: Array, w: Array = None, centered: Flag = True) -> OutputAndPullback:
    return Distance("correlation", u, v, w=w, centered=centered).pullback()


@frule.register(distance.minkowski)
@pushforward
def minkowski_frule(
    du: Array, dv: Array, dp: Number, dw: Array, u: Array, v: Array, p: Number = 2, w: Array = None
) -> OutputAndTangent:
    return Distance("minkowski", u, v, p=p, w=w).pushforward(du, dv, dp, dw)


@rrule.register(distance.minkowski)
def minkowski_rrule(u: Array, v: Array, p: Number = 2, w: Array = None) -> OutputAndPullback:
    return Distance("minkowski", u, v, p=p, w=w).pullback()


@frule.register(distance.seuclidean)
@pushforward
def seuclidean_frule(du: Array, dv: Array, dV: Array, u: Array, v: Array, V: Array) -> OutputAndTangent:
    return Distance("seuclidean", u, v, V=V).pushforward(du, dv, dV)


@rrule.register(distance.seuclidean)
def seuclidean_rrule(u: Array, v: Array, V: Array) -> OutputAndPullback:
    return Distance("seuclidean", u, v, V=V).pullback()


@frule.register(distance.mahalanobis)
@pushforward
def mahalanobis_frule(du: Array, dv: Array, dVI: Array, u: Array, v: Array, VI: Array) -> OutputAndTangent:
    return Distance("mahalanobis", u, v, VI=VI).pushforward(du, dv, dVI)


@rrule.register(distance.mahalanobis)
def mahalanobis_rrule(u: Array, v: Array, VI: Array) -> OutputAndPullback:
    return Distance("mahalanobis", u, v, VI=VI).pullback()


# ---------------------------------------------------------------- along an axis


class JensenShannon:
    """The distance of the distributions along an axis."""

    def __init__(self, p, q, base, axis, keepdims):
        self.given, self.base, self.axis, self.keepdims = (p, q), base, axis, keepdims
        p, q = as_array(p), as_array(q)
        if not p.ndim or not q.ndim or p.shape[axis] != q.shape[axis] or np.iscomplexobj(p) or np.iscomplexobj(q):
            raise MDNotImplementedError
        self.p, self.q = np.moveaxis(p, axis, -1), np.moveaxis(q, axis, -1)

    def value(self):
        return seen_by_tracers(distance.jensenshannon, *self.given, self.base, axis=self.axis, keepdims=self.keepdims)

    def last(self, d):
        """An output beside what has the axis last."""
        return np.moveaxis(d, self.axis, -1) if self.keepdims else np.expand_dims(d, -1)

    def slopes(self, d):
        # The base scales the sum under the root.
        d = self.last(d)
        for x, other in ((self.p, self.q), (self.q, self.p)):
            yield lambda x=x, other=other: jensenshannon_slope(x, other, d, self.base)


@frule.register(distance.jensenshannon)
@pushforward
def jensenshannon_frule(
    dp: Array, dq: Array, p: Array, q: Array, base: Array = None, *, axis: Axis = 0, keepdims: Flag = False
) -> OutputAndTangent:
    pair = JensenShannon(p, q, base, axis, keepdims)
    d = pair.value()

    def of_distribution(x, dx, slope):
        dx = np.moveaxis(as_array_tangent(dx, x), axis, -1)
        return apply_linear(lambda dx: np.sum(slope() * dx, axis=-1), dx)

    of_p, of_q = map(of_distribution, (p, q), (dp, dq), pair.slopes(d))
    return d, np.reshape(of_p + of_q, np.shape(d))


@rrule.register(distance.jensenshannon)
def jensenshannon_rrule(
    p: Array, q: Array, base: Array = None, *, axis: Axis = 0, keepdims: Flag = False
) -> OutputAndPullback:
    """p̄ = d̄ (log(P/M) - Σ P log(P/M)) / (4 d Σp) along the axis; see `jensenshannon_slope`."""
    pair = JensenShannon(p, q, base, axis, keepdims)
    d = pair.value()

    def of_distribution(x, slope):
        shape = shape_of(x)
        return lambda dbar: unbroadcast(np.moveaxis(slope() * pair.last(dbar), -1, axis), shape)

    of_p, of_q = map(of_distribution, (p, q), pair.slopes(d))
    return d, pullback_wrt(p, q, base)(of_p, of_q, lambda dbar: not_implemented("jensenshannon's base"))


# ---------------------------------------------------------------- constants


def register_constant(name):
    """The rules of a metric that counts: it is constant in both vectors, and moves with the weights."""
    f, missing = getattr(distance, name), not_implemented(f"the distance {name} with respect to its weights")
    is_hamming = name == "hamming"

    @frule.register(f)
    @pushforward
    def constant_frule(du: Array, dv: Array, dw: Array, u: Array, v: Array, w: Array = None) -> OutputAndTangent:
        d = seen_by_tracers(f, u, v, w)

        def of_weights(dw):
            return np.sum(hamming_slope_of_w(u, v, d, w) * dw) if is_hamming else missing

        return d, apply_linear(of_weights, as_array_tangent(dw, w))

    @rrule.register(f)
    def constant_rrule(u: Array, v: Array, w: Array = None) -> OutputAndPullback:
        d = seen_by_tracers(f, u, v, w)
        constant_pullback = pullback_wrt(u, v, w)(
            lambda dbar: ZeroTangent(),
            lambda dbar: ZeroTangent(),
            lambda dbar: dbar * hamming_slope_of_w(u, v, d, w) if is_hamming else missing,
        )
        return d, constant_pullback


def hamming_slope_of_w(u, v, d, w):
    """Of the mean Σ w [u ≠ v] / Σ w."""
    return ((as_array(u) != as_array(v)) - d) / np.sum(as_array(w))


for _name in sorted(CONSTANT):
    if hasattr(distance, _name):
        register_constant(_name)

non_differentiable(distance.is_valid_dm, distance.is_valid_y, distance.num_obs_dm, distance.num_obs_y)
