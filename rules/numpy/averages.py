"""Rules of weighted averages, and of the covariances and correlations made of them: average, cov, corrcoef."""

import functools

from multipledispatch import MDNotImplementedError

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple
from rulescore import (
    ZeroTangent,
    apply_linear,
    frule,
    ignore_derivatives,
    not_implemented,
    pullback_wrt,
    pushforward,
    rrule,
    unbroadcast,
)
from rulescore.typing import Array, Axis, Count, DType, Flag, Number, OutputAndPullback, OutputAndTangent

from .array_like import as_array, as_array_tangent, conj, full_tangent
from .products import adjoint
from .reduced_axes import (
    NOT_GIVEN,
    ReducedAxes,
    decline_discarded_imaginary_part,
    given,
)

# ---------------------------------------------------------------- weights


def weights_beside(weights, shape, axis):
    """The weights of an array of this shape as NumPy reads them: along the axes, in their order, beside the array."""
    if np.shape(weights) == shape:
        return weights
    axes = normalize_axis_tuple(axis, len(shape))
    beside = tuple([length if i in axes else 1 for i, length in enumerate(shape)])
    return np.reshape(np.transpose(weights, np.argsort(axes)), beside)


def weights_back(beside, shape, axis, ndim):
    """The inverse of `weights_beside`, to weights of this shape."""
    if np.shape(beside) == shape:
        return beside
    order = np.argsort(normalize_axis_tuple(axis, ndim))
    return np.transpose(np.reshape(beside, [shape[i] for i in order]), np.argsort(order))


# ---------------------------------------------------------------- average


class WeightedMean:
    """The parts of y = Σ w a / S with the sum S of the weights: of both, with length 1 along the reduced axes."""

    def __init__(self, a, weights, axis, y):
        self.axes = ReducedAxes(np.shape(a), axis)
        self.a = a
        self.w = weights_beside(weights, np.shape(a), axis)
        self.total = self.sum(self.w)
        self.y = self.axes.restore(y)

    def sum(self, x):
        return np.sum(x, axis=self.axes.reduced, keepdims=True)

    def output_tangent(self, dy, y):
        """Of an output, from a tangent that has length 1 along the reduced axes, and may have along others."""
        return np.reshape(np.broadcast_to(dy, self.axes.kept), np.shape(y))

    def share(self, ybar):
        """ȳ / conj(S)."""
        return self.axes.restore(ybar) / conj(self.total)


@frule.register(np.average)
@pushforward
def average_frule(
    da: Array,
    dweights: Array,
    a: Array,
    axis: Axis = None,
    weights: Array = None,
    returned: Flag = False,
    keepdims: Flag = NOT_GIVEN,
) -> OutputAndTangent:
    da, dw = as_array_tangent(da, a), as_array_tangent(dweights, weights)
    a, weights = as_array(a), as_array(weights)
    y = np.average(a, axis, weights, returned, **given(keepdims=keepdims))
    if weights is None:
        axes = None if axis is None else normalize_axis_tuple(axis, np.ndim(a))  # of which truth values are some
        dy = np.mean(da, axes, **given(keepdims=keepdims))
        return (y, (dy, ZeroTangent())) if returned else (y, dy)
    value, total = y if returned else (y, None)
    mean = WeightedMean(a, weights, axis, value)
    dw = apply_linear(lambda dw: weights_beside(dw, np.shape(a), axis), dw)
    dy = mean.output_tangent(
        (mean.sum(mean.w * da) / mean.total + mean.sum((mean.a - mean.y) * dw) / mean.total), value
    )
    return (y, (dy, mean.output_tangent(mean.sum(dw), total))) if returned else (y, dy)


@rrule.register(np.average)
def average_rrule(
    a: Array, axis: Axis = None, weights: Array = None, returned: Flag = False, keepdims: Flag = NOT_GIVEN
) -> OutputAndPullback:
    """With the weights w and their sum S, y = Σ w a / S, ā = conj(w / S) ȳ and w̄ = conj((a - y) / S) ȳ + S̄."""
    numbers, w = as_array(a), as_array(weights)
    y = np.average(numbers, axis, w, returned, **given(keepdims=keepdims))
    axes = ReducedAxes(np.shape(numbers), axis)
    if weights is None:

        @pullback_wrt(a)
        def mean_pullback(ybar):
            ybar, _ = ybar if returned else (ybar, None)
            return apply_linear(lambda ybar: axes.spread(axes.share(ybar, max(axes.length, 1))), ybar)

        return y, mean_pullback
    value = y[0] if returned else y

    @pullback_wrt(a, ..., weights)
    def average_pullback(ybar):
        ybar, total_bar = ybar if returned else (ybar, ZeroTangent())
        mean = WeightedMean(numbers, w, axis, value)

        def of_values(ybar):
            return unbroadcast(conj(mean.a - mean.y) * mean.share(ybar), np.shape(mean.w))

        def of_total(total_bar):
            # The sum of the weights is given once for each output, however many share these weights.
            of_sum = unbroadcast(np.reshape(total_bar, axes.kept), np.shape(mean.total))
            return np.broadcast_to(of_sum, np.shape(mean.w))

        def weights_bar():
            wbar = apply_linear(of_values, ybar) + apply_linear(of_total, total_bar)
            return weights_back(wbar, np.shape(w), axis, np.ndim(numbers))

        return lambda: apply_linear(lambda ybar: conj(mean.w) * mean.share(ybar), ybar), weights_bar

    return y, average_pullback


# ---------------------------------------------------------------- variables


class Variables:
    """The variables of cov and corrcoef as the rows of a matrix: those of ``m``, and then those of ``y``."""

    def __init__(self, m, y, rowvar, dtype):
        self.given = [m] if y is None else [m, y]
        self.parts = [as_array(part) for part in self.given]
        self.shapes = [np.shape(part) for part in self.parts]
        of_parts = [getattr(part, "dtype", type(part)) for part in self.parts]
        self.dtype = np.result_type(*of_parts, np.float64) if dtype is None else np.empty(0, dtype).dtype
        # A row of numbers is one variable; for `y` also one in a matrix.
        matrices = [len(shape) == 2 and (i == 0 or shape[0] != 1) for i, shape in enumerate(self.shapes)]
        self.is_turned = [is_matrix and not rowvar for is_matrix in matrices]

    @property
    def arguments(self):
        """``m`` and ``y`` as arrays, for NumPy."""
        return self.parts if len(self.parts) == 2 else [*self.parts, None]

    @property
    def matrix(self):
        return np.concatenate([self._rows(i, part) for i, part in enumerate(self.parts)])

    def tangent(self, dm, dy):
        dparts = zip((dm, dy)[: len(self.parts)], self.given, self.shapes, strict=True)
        return np.concatenate([self._rows(i, full_tangent(dx, x, shape)) for i, (dx, x, shape) in enumerate(dparts)])

    def _rows(self, i, x):
        x = np.reshape(x, (1, -1)) if len(self.shapes[i]) < 2 else x
        return (x.T if self.is_turned[i] else x).astype(self.dtype)

    def cotangent(self, bar, i):
        """The cotangent of ``m`` (0) or ``y`` (1) from that of the matrix."""
        counts = [1 if len(s) < 2 else s[turned] for s, turned in zip(self.shapes, self.is_turned, strict=True)]
        bar = bar[: counts[0]] if i == 0 else bar[counts[0] :]
        return np.reshape(bar.T if self.is_turned[i] else bar, self.shapes[i])


def decline_unusual_variables(variables, c):
    """Versions of NumPy differ in what they take for one variable; of none there is no matrix."""
    for x in variables.parts:
        decline_discarded_imaginary_part(x, variables.dtype)
    if np.size(c) != len(variables.matrix) ** 2 or not np.size(c):
        raise MDNotImplementedError


# ---------------------------------------------------------------- cov


class Covariances:
    """The parts of C = X W Xᴴ / f: the deviations X from the mean, the weights w and the degrees of freedom f.

    That the mean moves with X and w adds nothing to the derivative, since X w = 0.
    """

    def __init__(self, variables, bias, ddof, fweights, aweights):
        self.x = variables.matrix
        self.ddof = float(ddof) if ddof is not None else 0 if bias else 1
        self.frequencies = 1.0 if fweights is None else np.asarray(ignore_derivatives(fweights), float)
        self.aweights = None if aweights is None else as_array(aweights).astype(float)  # as NumPy has them
        self.w = self.frequencies if aweights is None else self.frequencies * self.aweights
        if np.ndim(self.w):
            self.total = np.sum(self.w)
            self.x = self.x - np.sum(self.x * self.w, 1, keepdims=True) / self.total
        else:
            self.total = self.x.shape[1]
            self.x = self.x - np.mean(self.x, 1, keepdims=True)
        self.f = np.maximum(self.total - self.ddof * self.mean_weight, 0)

    @property
    def mean_weight(self):
        """Σ w a / Σ w with the ``aweights`` a, the part in f of one observation; 1 without them, or with ddof = 0."""
        return 1 if self.aweights is None or not self.ddof else np.sum(self.w * self.aweights) / self.total

    def tangent(self, dx, daweights):
        """Ċ = (Ẋ W Xᴴ + X W Ẋᴴ + X Ẇ Xᴴ - ḟ C) / f."""

        def along_variables(dx):
            half = (dx * self.w) @ adjoint(self.x)
            return half + adjoint(half)

        def along_weights(daweights):
            dw, df = self.frequencies * daweights, np.sum(self.slopes_of_f * daweights)
            return (self.x * (dw - self.w * (df / self.f))) @ adjoint(self.x)

        return (apply_linear(along_variables, dx) + apply_linear(along_weights, daweights)) / self.f

    @property
    def slopes_of_f(self):
        """∂f/∂a of f = Σ w - d Σ w a / Σ w, where w = a n with the frequencies n."""
        n = self.frequencies * np.ones_like(self.aweights)
        return n - n * self.ddof * (2 * self.aweights - self.mean_weight) / self.total if self.ddof else n

    def variables_bar(self, cbar):
        """X̄ = (C̄ + C̄ᴴ) X W / f."""
        return (cbar + adjoint(cbar)) @ self.x * (self.w / self.f)

    def aweights_bar(self, cbar):
        """w̄ = Re(xᴴ C̄ x) / f for each column x of X, and f̄ = -⟨C̄, C⟩ / f = -Σ w w̄ / f."""
        wbar = np.sum(np.real(conj(self.x) * (cbar @ self.x)), 0) / self.f
        return self.frequencies * wbar - self.slopes_of_f * np.sum(self.w * wbar) / self.f


FREQUENCIES = "the derivative of numpy.cov with respect to fweights: they are whole numbers; use aweights instead"


@frule.register(np.cov)
@pushforward
def cov_frule(
    dm: Array,
    dy: Array,
    dfweights: Count,
    daweights: Array,
    m: Array,
    y: Array = None,
    rowvar: Flag = True,
    bias: Flag = False,
    ddof: Number = None,
    fweights: Count = None,
    aweights: Array = None,
    *,
    dtype: DType = None,
) -> OutputAndTangent:
    variables = Variables(m, y, rowvar, dtype)
    c = np.cov(*variables.arguments, rowvar, bias, ddof, fweights, as_array(aweights), **given(dtype=dtype))
    decline_unusual_variables(variables, c)
    dx = apply_linear(variables.tangent, dm, dy)
    dc = Covariances(variables, bias, ddof, fweights, aweights).tangent(dx, as_array_tangent(daweights, aweights))
    return c, np.reshape(dc, np.shape(c)) + apply_linear(lambda _: not_implemented(FREQUENCIES), dfweights)


@rrule.register(np.cov)
def cov_rrule(
    m: Array,
    y: Array = None,
    rowvar: Flag = True,
    bias: Flag = False,
    ddof: Number = None,
    fweights: Count = None,
    aweights: Array = None,
    *,
    dtype: DType = None,
) -> OutputAndPullback:
    """As `Covariances` says; the cotangent of the matrix of all variables is cut in that of ``m`` and that of ``y``."""
    variables = Variables(m, y, rowvar, dtype)
    c = np.cov(*variables.arguments, rowvar, bias, ddof, fweights, as_array(aweights), **given(dtype=dtype))
    decline_unusual_variables(variables, c)

    @pullback_wrt(m, y, ..., ..., ..., fweights, aweights)
    def cov_pullback(cbar):
        covariances = Covariances(variables, bias, ddof, fweights, aweights)
        cbar = np.reshape(cbar, (len(covariances.x),) * 2)  # NumPy makes a number of a matrix with one element
        xbar = functools.cache(lambda: covariances.variables_bar(cbar))
        return (
            lambda: variables.cotangent(xbar(), 0),
            lambda: variables.cotangent(xbar(), 1),
            not_implemented(FREQUENCIES),
            lambda: covariances.aweights_bar(cbar),
        )

    return c, cov_pullback


# ---------------------------------------------------------------- corrcoef


class Directions:
    """The deviations of the variables from their mean, divided by their norm: R = Z Zᴴ.

    A variable that does not vary has none, and its correlations are NaN; what they are multiplied with must not be.
    """

    def __init__(self, variables):
        x = variables.matrix
        x = x - np.mean(x, 1, keepdims=True)
        norms = np.sqrt(np.sum(np.real(conj(x) * x), 1, keepdims=True))
        is_constant = norms == 0
        self.inverse_norms = np.where(is_constant, 0, 1 / np.where(is_constant, 1, norms))
        self.z = x * self.inverse_norms

    def across(self, x):
        """Each row without what points along its direction, divided by the norm; a symmetric map of real numbers."""
        return (x - self.z * np.sum(np.real(conj(self.z) * x), 1, keepdims=True)) * self.inverse_norms


@frule.register(np.corrcoef)
@pushforward
def corrcoef_frule(
    dx: Array, dy: Array, x: Array, y: Array = None, rowvar: Flag = True, *, dtype: DType = None
) -> OutputAndTangent:
    variables = Variables(x, y, rowvar, dtype)
    r = np.corrcoef(*variables.arguments, rowvar, **given(dtype=dtype))
    decline_unusual_variables(variables, r)
    if not np.ndim(r):  # one variable has the correlation 1 with itself
        return r, ZeroTangent()
    directions, dx = Directions(variables), variables.tangent(dx, dy)
    half = directions.across(dx - np.mean(dx, 1, keepdims=True)) @ adjoint(directions.z)
    return r, np.reshape(half + adjoint(half), np.shape(r))


@rrule.register(np.corrcoef)
def corrcoef_rrule(x: Array, y: Array = None, rowvar: Flag = True, *, dtype: DType = None) -> OutputAndPullback:
    """R = Z Zᴴ, hence Z̄ = (R̄ + R̄ᴴ) Z, and X̄ is what of it is across Z, over the norms of the deviations.

    NumPy's clip to ±1 takes rounding away and no derivative: at ±1 a correlation has an extremum.
    """
    variables = Variables(x, y, rowvar, dtype)
    r = np.corrcoef(*variables.arguments, rowvar, **given(dtype=dtype))
    decline_unusual_variables(variables, r)

    @pullback_wrt(x, y)
    def corrcoef_pullback(rbar):
        if not np.ndim(r):  # one variable has the correlation 1 with itself
            return ZeroTangent(), ZeroTangent()
        directions = Directions(variables)
        xbar = functools.cache(lambda: directions.across((rbar + adjoint(rbar)) @ directions.z))
        return lambda: variables.cotangent(xbar(), 0), lambda: variables.cotangent(xbar(), 1)

    return r, corrcoef_pullback
