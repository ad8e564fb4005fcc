"""Rules of weighted averages, and of the covariances and correlations made of them: average, cov, corrcoef."""

import numpy as np
from multipledispatch import MDNotImplementedError
from numpy.lib.array_utils import normalize_axis_tuple

from rules.numpy.array_like import as_array, as_array_tangent, conj
from rules.numpy.products import adjoint
from rules.numpy.reduced_axes import (
    NO_TANGENT,
    NOT_GIVEN,
    ReducedAxes,
    decline_discarded_imaginary_part,
    given,
    projector_of,
    stop_early,
    tangent_at,
)
from rulescore import (
    AbstractZero,
    Thunk,
    ZeroTangent,
    frule,
    ignore_derivatives,
    not_implemented,
    project_to,
    rrule,
    unbroadcast,
    unthunk,
)

ZERO_TANGENT = ZeroTangent()

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
        if isinstance(dy, AbstractZero):
            return dy
        return project_to(y)(np.reshape(np.broadcast_to(dy, self.axes.kept), np.shape(y)))

    def share(self, ybar):
        """ȳ / conj(S)."""
        return self.axes.restore(ybar) / conj(self.total)


@frule.register(np.average)
def average_frule(tangents, a, axis=None, weights=None, returned=False, keepdims=NOT_GIVEN):
    da, dw = as_array_tangent(tangents[1], a), as_array_tangent(tangent_at(tangents, 2), weights)
    a, weights = as_array(a), as_array(weights)
    y = np.average(a, axis, weights, returned, **given(keepdims=keepdims))
    if weights is None:
        dy = da if isinstance(da, AbstractZero) else np.mean(da, axis, **given(keepdims=keepdims))
        return (y, (dy, ZERO_TANGENT)) if returned else (y, dy)
    value, total = y if returned else (y, None)
    mean = WeightedMean(a, weights, axis, value)
    dy, dtotal = ZERO_TANGENT, ZERO_TANGENT
    if not isinstance(da, AbstractZero):
        dy = mean.sum(mean.w * da) / mean.total
    if not isinstance(dw, AbstractZero):
        dw = weights_beside(dw, np.shape(a), axis)
        dy, dtotal = dy + mean.sum((mean.a - mean.y) * dw) / mean.total, mean.sum(dw)
    dy = mean.output_tangent(dy, value)
    return (y, (dy, mean.output_tangent(dtotal, total))) if returned else (y, dy)


@rrule.register(np.average)
def average_rrule(a, axis=None, weights=None, returned=False, keepdims=NOT_GIVEN):
    """With the weights w and their sum S, y = Σ w a / S, ā = conj(w / S) ȳ and w̄ = conj((a - y) / S) ȳ + S̄."""
    project, project_weights = project_to(a), projector_of(weights)
    a, weights = as_array(a), as_array(weights)
    y = np.average(a, axis, weights, returned, **given(keepdims=keepdims))
    shape, weights_shape = np.shape(a), np.shape(weights)
    value = y[0] if returned else y

    def average_pullback(bars):
        ybar, total_bar = (bars if not isinstance(bars, AbstractZero) else (bars, bars)) if returned else (bars, None)
        ybar, axes = unthunk(ybar), ReducedAxes(shape, axis)
        if weights is None:
            return NO_TANGENT, project(axes.spread(axes.share(ybar, max(axes.length, 1))))
        mean = WeightedMean(a, weights, axis, value)

        def weights_bar():
            wbar = ZERO_TANGENT
            if not isinstance(ybar, AbstractZero):
                wbar = unbroadcast(conj(mean.a - mean.y) * mean.share(ybar), np.shape(mean.w))
            if returned and not isinstance(total_bar, AbstractZero):
                # The sum of the weights is given once for each output, however many share these weights.
                of_sum = unbroadcast(np.reshape(unthunk(total_bar), axes.kept), np.shape(mean.total))
                wbar = wbar + np.broadcast_to(of_sum, np.shape(mean.w))
            return wbar if isinstance(wbar, AbstractZero) else weights_back(wbar, weights_shape, axis, len(shape))

        abar = Thunk(lambda: conj(mean.w) * mean.share(ybar))
        return stop_early(NO_TANGENT, project(abar), NO_TANGENT, project_weights(Thunk(weights_bar)))

    return y, average_pullback


# ---------------------------------------------------------------- variables


class Variables:
    """The variables of cov and corrcoef as the rows of a matrix: those of ``m``, and then those of ``y``."""

    def __init__(self, m, y, rowvar, dtype):
        self.given = [m] if y is None else [m, y]
        self.parts = [as_array(part) for part in self.given]
        self.shapes = [np.shape(part) for part in self.parts]
        of_parts = [getattr(part, "dtype", type(part)) for part in self.parts]
        self.dtype = np.result_type(*of_parts, np.float64) if dtype is None else np.dtype(dtype)
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
        dparts = (dm, dy)[: len(self.parts)]
        if all(isinstance(dx, AbstractZero) for dx in dparts):
            return ZERO_TANGENT
        return np.concatenate(
            [
                self._rows(i, np.zeros(self.shapes[i]) if isinstance(dx, AbstractZero) else as_array_tangent(dx, part))
                for i, (dx, part) in enumerate(zip(dparts, self.given, strict=True))
            ]
        )

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
        self.ddof = ddof if ddof is not None else 0 if bias else 1
        self.frequencies = 1.0 if fweights is None else np.asarray(ignore_derivatives(fweights), float)
        self.aweights = None if aweights is None else as_array(aweights)
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
        dc = ZERO_TANGENT
        if not isinstance(dx, AbstractZero):
            half = (dx * self.w) @ adjoint(self.x)
            dc = half + adjoint(half)
        if not isinstance(daweights, AbstractZero):
            dw, df = self.frequencies * daweights, np.sum(self.slopes_of_f * daweights)
            dc = dc + (self.x * (dw - self.w * (df / self.f))) @ adjoint(self.x)
        return dc if isinstance(dc, AbstractZero) else dc / self.f

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
def cov_frule(tangents, m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    variables = Variables(m, y, rowvar, dtype)
    c = np.cov(*variables.arguments, rowvar, bias, ddof, fweights, as_array(aweights), **given(dtype=dtype))
    decline_unusual_variables(variables, c)
    if not isinstance(tangent_at(tangents, 5), AbstractZero):
        return c, not_implemented(FREQUENCIES)
    dx, daweights = variables.tangent(tangents[1], tangent_at(tangents, 1)), tangent_at(tangents, 6)
    covariances = Covariances(variables, bias, ddof, fweights, aweights)
    dc = covariances.tangent(dx, as_array_tangent(daweights, aweights))
    return c, dc if isinstance(dc, AbstractZero) else project_to(c)(np.reshape(dc, np.shape(c)))


@rrule.register(np.cov)
def cov_rrule(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    """As `Covariances` says; the cotangent of the matrix of all variables is cut in that of ``m`` and that of ``y``."""
    variables = Variables(m, y, rowvar, dtype)
    c = np.cov(*variables.arguments, rowvar, bias, ddof, fweights, as_array(aweights), **given(dtype=dtype))
    decline_unusual_variables(variables, c)
    projects, project_frequencies, project_weights = (
        [project_to(m), project_to(y)],
        *map(project_to, (fweights, aweights)),
    )

    def cov_pullback(cbar):
        covariances = Covariances(variables, bias, ddof, fweights, aweights)
        cbar = square_of(cbar, len(covariances.x))
        xbar = Thunk(lambda: cbar if isinstance(cbar, AbstractZero) else covariances.variables_bar(cbar))
        weights_bar = Thunk(lambda: cbar if isinstance(cbar, AbstractZero) else covariances.aweights_bar(cbar))
        of_variables = cotangents_of(variables, xbar, projects)
        of_frequencies = project_frequencies(not_implemented(FREQUENCIES))
        return stop_early(NO_TANGENT, *of_variables, *[NO_TANGENT] * 3, of_frequencies, project_weights(weights_bar))

    return c, cov_pullback


def square_of(cbar, count):
    """The cotangent of a matrix that NumPy may have made a number of."""
    cbar = unthunk(cbar)
    return cbar if isinstance(cbar, AbstractZero) else np.reshape(cbar, (count, count))


def cotangents_of(variables, xbar, projects):
    """Of ``m`` and ``y``, from that of the matrix of their variables."""

    def part(i):
        bar = unthunk(xbar)
        return bar if isinstance(bar, AbstractZero) else variables.cotangent(bar, i)

    of_m, of_y = Thunk(lambda: part(0)), NO_TANGENT if len(variables.parts) == 1 else Thunk(lambda: part(1))
    return projects[0](of_m), projects[1](of_y)


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
def corrcoef_frule(tangents, x, y=None, rowvar=True, *, dtype=None):
    variables = Variables(x, y, rowvar, dtype)
    r = np.corrcoef(*variables.arguments, rowvar, **given(dtype=dtype))
    decline_unusual_variables(variables, r)
    dx = variables.tangent(tangents[1], tangent_at(tangents, 1))
    if isinstance(dx, AbstractZero) or not np.ndim(r):  # one variable has the correlation 1 with itself
        return r, ZERO_TANGENT
    directions = Directions(variables)
    half = directions.across(dx - np.mean(dx, 1, keepdims=True)) @ adjoint(directions.z)
    return r, project_to(r)(np.reshape(half + adjoint(half), np.shape(r)))


@rrule.register(np.corrcoef)
def corrcoef_rrule(x, y=None, rowvar=True, *, dtype=None):
    """R = Z Zᴴ, hence Z̄ = (R̄ + R̄ᴴ) Z, and X̄ is what of it is across Z, over the norms of the deviations.

    NumPy's clip to ±1 takes rounding away and no derivative: at ±1 a correlation has an extremum.
    """
    variables = Variables(x, y, rowvar, dtype)
    r = np.corrcoef(*variables.arguments, rowvar, **given(dtype=dtype))
    decline_unusual_variables(variables, r)
    projects = [project_to(x), project_to(y)]

    def corrcoef_pullback(rbar):
        directions = Directions(variables)

        def matrix_bar():
            bar = unthunk(rbar)
            if isinstance(bar, AbstractZero) or not np.ndim(r):
                return ZERO_TANGENT
            return directions.across((bar + adjoint(bar)) @ directions.z)

        return stop_early(NO_TANGENT, *cotangents_of(variables, Thunk(matrix_bar), projects))

    return r, corrcoef_pullback
