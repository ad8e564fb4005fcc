"""The largest elements, `top_k`, and sorting that can be differentiated everywhere: `soft_sort` and `soft_rank`."""

import numpy as np

from rulescore import NoTangent, apply_linear, frule, ignore_derivatives, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, Axis, Count, Flag, Number, OutputAndPullback, OutputAndTangent

from ..numpy.array_like import as_array, as_array_tangent
from ..numpy.indexing import scatter
from ..numpy.sorting import Ranks, index_along
from .normalisation import softmax, softmax_map
from .operator import operator
from .windows import per_axis

# ---------------------------------------------------------------- top_k


@operator(onnx="TopK", tensorflow="tf.math.top_k")
def top_k(x, k, axis=-1, largest=True):
    """The k largest elements along an axis, and where they stand.

    Parameters
    ----------
    x : array_like
    k : int
        How many, at most the length of the axis.
    axis : int
    largest : bool
        False for the smallest ones.

    Returns
    -------
    values : ndarray
        In order, the largest one first (or the smallest); in the shape of ``x`` but for the axis, which has length k.
        Equal elements share the cotangents of their places equally, those that were left out included.
    indices : ndarray of int
        Where they stand along the axis; of equal elements the first ones. They have no derivative.

    Raises
    ------
    TypeError, ValueError
        When there is no such axis, or it has fewer elements.

    Notes
    -----
    As ``jax.lax.top_k``, ``torch.topk`` and ``tf.math.top_k``. NaN counts as larger than every number.

    Examples
    --------
    >>> import numpy as np
    >>> top_k(np.array([2.0, 5.0, 3.0, 5.0]), 3)
    (array([5., 5., 3.]), array([1, 3, 2]))
    """
    x = np.asarray(x)
    (k,), (axis,) = per_axis("k", k, 1, 0), per_axis("axis", axis, 1, -x.ndim)
    if axis >= x.ndim or k > x.shape[axis]:
        raise ValueError(f"top_k: {k} elements along axis {axis} of an array of shape {x.shape}, which has not so many")
    rows = np.moveaxis(x, axis, -1)
    indices = places_in_order(rows, k, largest)
    return (
        np.moveaxis(np.take_along_axis(rows, indices, -1), -1, axis),
        np.moveaxis(indices, -1, axis),
    )


def places_in_order(rows, k, largest):
    """Where the first k elements of each row stand when it is sorted, equal ones in the order of their places."""
    n = rows.shape[-1]
    if 0 < k < n // 8 and not np.any(rows != rows):
        # Partitioning takes a fraction of the time of sorting, but leaves equal elements in any order.
        last = n - k if largest else k - 1
        limit = np.partition(rows, last, -1)[..., last : last + 1]
        beyond, equal = rows > limit if largest else rows < limit, rows == limit
        missing = k - np.count_nonzero(beyond, axis=-1, keepdims=True)
        is_among = beyond | (equal & (np.cumsum(equal, -1) <= missing))
        among = np.reshape(np.nonzero(is_among)[-1], (*rows.shape[:-1], k))
        in_order = sorted_places(np.take_along_axis(rows, among, -1), largest)
        return np.take_along_axis(among, in_order, -1)
    return sorted_places(rows, largest)[..., :k]


def sorted_places(rows, largest):
    if not largest:
        return np.argsort(rows, -1, kind="stable")
    # Turned around, so that equal elements keep their order when the result is turned around.
    return (rows.shape[-1] - 1 - np.argsort(rows[..., ::-1], -1, kind="stable"))[..., ::-1]


class TopPlaces:
    """Which elements are the first k along an axis: by number, or with all others in order, where some are equal."""

    def __init__(self, x, values, indices, axis, largest):
        x, values = ignore_derivatives(x), ignore_derivatives(values)
        self.axis, self.shape, self.k = axis, np.shape(np.moveaxis(x, axis, -1)), np.shape(values)[axis]
        self.indices, self.ranks = np.moveaxis(indices, axis, -1), None
        rows, values = np.moveaxis(x, axis, -1), np.moveaxis(values, axis, -1)
        last = values[..., -1:]
        has_ties = np.any(values[..., 1:] == values[..., :-1]) or np.any(
            np.count_nonzero(rows == last, axis=-1) != np.count_nonzero(values == last, axis=-1)
        )
        if has_ties:
            order = sorted_places(rows, largest)
            self.ranks = Ranks(order, np.take_along_axis(rows, order, -1))

    def take(self, dx):
        dx = np.moveaxis(dx, self.axis, -1)
        dy = np.take_along_axis(dx, self.indices, -1) if self.ranks is None else self.ranks.sort(dx)[..., : self.k]
        return np.moveaxis(dy, -1, self.axis)

    def put(self, ybar):
        """The transpose of `take`."""
        ybar = np.moveaxis(ybar, self.axis, -1)
        if self.ranks is None:
            index = index_along(self.indices, self.shape, len(self.shape) - 1)
            xbar = scatter(ybar, index, self.shape, ybar.dtype)
        else:
            rest = np.zeros((*self.shape[:-1], self.shape[-1] - self.k), ybar.dtype)
            xbar = self.ranks.unsort(np.concatenate([ybar, rest], -1))
        return np.moveaxis(xbar, -1, self.axis)


@frule.register(top_k, tags=top_k.tags)
@pushforward
def top_k_frule(dx: Array, x: Array, k: Count, axis: Axis = -1, largest: Flag = True) -> OutputAndTangent:
    values, indices = top_k(x, k, axis, largest)
    dvalues = TopPlaces(as_array(x), values, indices, axis, largest).take(as_array_tangent(dx, x))
    return (values, indices), (dvalues, NoTangent())


@rrule.register(top_k, tags=top_k.tags)
def top_k_rrule(x: Array, k: Count, axis: Axis = -1, largest: Flag = True) -> OutputAndPullback:
    """Each element gets the ȳ of the place where it went."""
    values, indices = top_k(x, k, axis, largest)

    @pullback_wrt(x)
    def top_k_pullback(bars):
        values_bar, _ = bars
        return apply_linear(TopPlaces(as_array(x), values, indices, axis, largest).put, values_bar)

    return (values, indices), top_k_pullback


# ---------------------------------------------------------------- soft sorting

TAU = 1.0
"""The default of the paper. In the rules it is None, which has no tangent."""


@operator()
def soft_sort(x, tau=TAU, axis=-1):
    """The elements in rising order, each replaced by a mean of those about as large.

    Parameters
    ----------
    x : array_like
        Real numbers, with n elements along the axis.
    tau : float
        The temperature. At 0 this would be sorting; the larger it is, the smoother.
    axis : int

    Returns
    -------
    y : ndarray
        ``P x`` in the shape of ``x``, where row i of P is the softmax of -|sort(x)[i] - x| / tau.

    Raises
    ------
    TypeError, ValueError
        When ``tau`` is not positive, or the numbers are complex.

    Notes
    -----
    SoftSort with the absolute value as its distance (Prillo & Eisenschlos 2020, SoftSort: a continuous relaxation for
    the argsort operator, eq. 4), which sorts in falling order there. The matrix P takes memory for n² numbers.

    Examples
    --------
    >>> import numpy as np
    >>> soft_sort(np.array([3.0, 1.0, 2.0]), tau=0.01).round(6)
    array([1., 2., 3.])
    """
    return SoftPermutation("soft_sort", np.asarray(x), tau, axis).sorted()


@operator()
def soft_rank(x, tau=TAU, axis=-1):
    """The rank of each element, from 1 for the smallest, with shares of the ranks of those about as large.

    Parameters
    ----------
    x : array_like
        Real numbers, with n elements along the axis.
    tau : float
        The temperature. At 0 this would be the rank; the larger it is, the smoother.
    axis : int

    Returns
    -------
    y : ndarray
        ``Σᵢ i Q[i, j]`` for element j, where column j of Q is the softmax of -|sort(x) - x[j]| / tau.

    Raises
    ------
    TypeError, ValueError
        When ``tau`` is not positive, or the numbers are complex.

    Notes
    -----
    The matrix of `soft_sort` is normalised along its columns here, so that ranks are means of 1 to n; the paper says
    nothing about ranks.

    Examples
    --------
    >>> import numpy as np
    >>> soft_rank(np.array([3.0, 1.0, 2.0]), tau=0.01).round(6)
    array([3., 1., 2.])
    """
    return SoftPermutation("soft_rank", np.asarray(x), tau, axis).ranks()


class SoftPermutation:
    """Which elements stand for each place in the order, and by how much.

    Attributes
    ----------
    x : ndarray, shape (..., n)
    distances, signs : ndarray, shape (..., n, n)
        |sort(x)ᵢ - xⱼ|, and the sign of the difference.
    weights : ndarray, shape (..., n, n)
        The softmax of -distances / tau: along j for sorting, along i for ranks.
    """

    def __init__(self, name, x, tau, axis):
        tau = TAU if tau is None else tau
        if x.dtype.kind == "c":
            raise TypeError(f"{name} of complex numbers, which have no order: give their absolute values")
        if np.ndim(tau) or not tau > 0:
            raise ValueError(f"{name}: tau={tau}; give a positive number, the smaller the closer to sorting")
        if not np.ndim(x):
            raise ValueError(f"{name} of one number: give an array with an axis to sort along")
        self.axis, self.tau, self.softmax_axis = axis, tau, -1 if name == "soft_sort" else -2
        self.x = np.moveaxis(x if x.dtype.kind == "f" else x.astype(float), axis, -1)
        in_order, self.unsort = rrule(np.sort, self.x)
        differences = in_order[..., :, None] - self.x[..., None, :]
        self.distances, self.signs = np.abs(differences), np.sign(differences)
        self.weights = softmax(-self.distances / tau, self.softmax_axis)

    def as_rows(self, x):
        return np.moveaxis(x, self.axis, -1)

    def as_given(self, x):
        return np.moveaxis(x, -1, self.axis)

    def sorted(self):
        return self.as_given((self.weights @ self.x[..., None])[..., 0])

    def ranks(self):
        return self.as_given(self.places @ self.weights)

    @property
    def places(self):
        return np.arange(1, self.x.shape[-1] + 1, dtype=self.x.dtype)

    def tangent_of_weights(self, dx, dtau):
        """Ṗ is the map of softmax of (distances · τ̇ / τ - tangent of the distances) / τ."""
        _, din_order = frule((NoTangent(), dx), np.sort, self.x)
        dz = -self.signs * (din_order[..., :, None] - dx[..., None, :]) / self.tau
        dz = dz + self.distances * (dtau / self.tau**2)
        return softmax_map(dz, self.weights, self.softmax_axis)

    def x_bar(self, weights_bar):
        """The cotangent of x by way of the weights."""
        differences_bar = -self.signs * softmax_map(weights_bar, self.weights, self.softmax_axis) / self.tau
        _, of_order, *_ = self.unsort(np.sum(differences_bar, axis=-1))
        return of_order - np.sum(differences_bar, axis=-2)

    def tau_bar(self, weights_bar):
        return np.sum(softmax_map(weights_bar, self.weights, self.softmax_axis) * self.distances) / self.tau**2


@frule.register(soft_sort)
@pushforward
def soft_sort_frule(dx: Array, dtau: Number, x: Array, tau: Number = None, axis: Axis = -1) -> OutputAndTangent:
    """ẏ = Ṗ x + P ẋ."""
    form = SoftPermutation("soft_sort", as_array(x), tau, axis)
    dx = form.as_rows(as_array_tangent(dx, x))
    dy = form.tangent_of_weights(dx, dtau) @ form.x[..., None] + form.weights @ dx[..., None]
    return form.sorted(), form.as_given(dy[..., 0])


@rrule.register(soft_sort)
def soft_sort_rrule(x: Array, tau: Number = None, axis: Axis = -1) -> OutputAndPullback:
    """P̄ = ȳ xᵀ, and x̄ is Pᵀ ȳ and what comes from P̄."""
    form = SoftPermutation("soft_sort", as_array(x), tau, axis)

    @pullback_wrt(x, tau)
    def soft_sort_pullback(ybar):
        rows_bar = form.as_rows(ybar)
        weights_bar = rows_bar[..., :, None] * form.x[..., None, :]

        def x_bar():
            direct = (rows_bar[..., None, :] @ form.weights)[..., 0, :]
            return form.as_given(direct + form.x_bar(weights_bar))

        return x_bar, lambda: form.tau_bar(weights_bar)

    return form.sorted(), soft_sort_pullback


@frule.register(soft_rank)
@pushforward
def soft_rank_frule(dx: Array, dtau: Number, x: Array, tau: Number = None, axis: Axis = -1) -> OutputAndTangent:
    """ẏⱼ = Σᵢ i Q̇ᵢⱼ."""
    form = SoftPermutation("soft_rank", as_array(x), tau, axis)
    dweights = form.tangent_of_weights(form.as_rows(as_array_tangent(dx, x)), dtau)
    return form.ranks(), form.as_given(form.places @ dweights)


@rrule.register(soft_rank)
def soft_rank_rrule(x: Array, tau: Number = None, axis: Axis = -1) -> OutputAndPullback:
    """Q̄ᵢⱼ = i ȳⱼ."""
    form = SoftPermutation("soft_rank", as_array(x), tau, axis)

    @pullback_wrt(x, tau)
    def soft_rank_pullback(ybar):
        weights_bar = form.places[:, None] * form.as_rows(ybar)[..., None, :]
        return lambda: form.as_given(form.x_bar(weights_bar)), lambda: form.tau_bar(weights_bar)

    return form.ranks(), soft_rank_pullback
