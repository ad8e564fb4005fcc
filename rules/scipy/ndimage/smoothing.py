"""Rules of filters made of correlations along single axes: Gaussian, uniform, Sobel, Prewitt, Laplace.

Each is a sum of chains, and a chain is one correlation after the other, so the transpose of a chain is the transposes
in opposite order, boundaries included. With respect to ``sigma`` the derivative is that of the weights, at the number
of weights that SciPy takes: where that number changes, a filter has a jump, of the size of what it cuts off.
"""

from typing import Any, NamedTuple

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import (
    Tangent,
    apply_linear,
    frule,
    is_differentiable,
    linear_rule,
    no_tangent_pullback,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
)
from rulescore.typing import Array, Axis, Choice, Count, Number, OutputAndPullback, OutputAndTangent, Shape
from scipy import ndimage

from ...numpy.array_like import as_array, as_array_tangent, conj, shape_of
from ...numpy.reduced_axes import NOT_GIVEN, decline_out
from .boundaries import axes_of, fixed, fold, handing_over, one_for_each
from .correlations import correlation_spread, opposite_origin, reach

# ---------------------------------------------------------------- chains


class Step(NamedTuple):
    """A correlation along one axis.

    Attributes
    ----------
    weights : array or int
        The weights; a number stands for so many equal ones.
    slope : array or None
        Their derivative with respect to a sigma.
    parameter : int or None
        Which sigma that is.
    """

    weights: Any
    axis: int
    mode: str
    origin: int = 0
    slope: Any = None
    parameter: int | None = None


def run(x, chain, cval=0.0):
    for step in chain:
        if isinstance(step.weights, int):
            size, axis, mode, origin = step[:4]
            x = seen_by_tracers(ndimage.uniform_filter1d, x, size, axis, None, mode, cval, origin)
        else:
            x = seen_by_tracers(ndimage.correlate1d, x, step.weights, step.axis, None, step.mode, cval, step.origin)
    return x


def run_back(ybar, chain):
    """The transpose of `run`."""
    for step in reversed(chain):
        if isinstance(step.weights, int):
            ybar = uniform_spread(ybar, step.weights, step.axis, step.mode, step.origin)
        else:
            ybar = correlation_spread(ybar, step.weights, (step.axis,), [step.origin], step.mode)
    return ybar


def along_slope(x, chain, i, cval):
    """The derivative of `run` with respect to the sigma of the i-th step."""
    before = run(x, chain[:i], cval)
    here = run(before, [chain[i]._replace(weights=chain[i].slope)], cval)
    return run(here, chain[i + 1 :])


def along_cval(shape, chain):
    """The derivative of `run` with respect to what is beyond the edges, of an image of this shape."""
    return run(np.zeros(shape), chain, 1.0)


@handing_over
def uniform_spread(ybar, size, axis, mode, origin):
    """The transpose of ``ndimage.uniform_filter1d``, whose running sums take the same time for every size."""
    if not np.size(ybar):
        return ybar
    before, after = reach(size, origin)
    widths = [(0, 0)] * np.ndim(ybar)
    widths[axis] = before, after
    opposite = opposite_origin(size, origin)
    xbar = ndimage.uniform_filter1d(np.pad(ybar, widths), size, axis, None, "constant", 0.0, opposite)
    return fold(xbar, axis, before, after, mode)


def uniform_gather(xbar, ybar, size, axis, mode, origin):
    return seen_by_tracers(ndimage.uniform_filter1d, xbar, size, axis, None, mode, 0.0, origin)


linear_rule(uniform_spread, uniform_gather)

# ---------------------------------------------------------------- rules of sums of chains


class Sigmas:
    """The widths of a Gaussian filter, given once for all axes or one by one."""

    __slots__ = ("is_one", "sigma", "values")

    def __init__(self, sigma, count):
        self.sigma = sigma
        self.is_one = not (isinstance(sigma, (list, tuple)) or np.ndim(sigma))
        self.values = one_for_each(sigma, count)

    def cotangent(self, bars):
        """The cotangent of sigma as it was given, from those of its values."""
        if self.is_one:
            return sum(bars)
        return Tangent(type(self.sigma), *bars) if isinstance(self.sigma, (list, tuple)) else np.stack(bars)

    def tangents(self, dsigma):
        if self.is_one:
            return [dsigma] * len(self.values)
        return list(dsigma) if isinstance(dsigma, Tangent) else [dsigma[i] for i in range(len(self.values))]


class SumOfChains:
    """The sum of what several chains make of an image.

    Attributes
    ----------
    chains : list of list of Step
    image, cval : object
        The image as it was given, and what is beyond its edges.
    sigmas : Sigmas or None
        What the weights depend on.
    """

    def __init__(self, chains, x, cval, sigmas=None):
        self.chains, self.image, self.sigmas = chains, x, sigmas
        self.x, self.shape, self.cval = as_array(x), shape_of(x), 0.0 if cval is NOT_GIVEN else cval

    def tangent(self, dimage, dcval, dsigma=None):
        return total([term for chain in self.chains for term in self.tangents_of(chain, dimage, dcval, dsigma)])

    def tangents_of(self, chain, dimage, dcval, dsigma=None):
        """What the tangents of image, ``cval`` and each sigma make of what one chain makes of the image."""
        dsigmas = None if self.sigmas is None else self.sigmas.tangents(dsigma)
        return [
            apply_linear(lambda dx: run(dx, chain), as_array_tangent(dimage, self.image)),
            apply_linear(lambda dcval: along_cval(self.shape, chain) * dcval, dcval),
            *[
                apply_linear(lambda ds, i=i: along_slope(self.x, chain, i, self.cval) * ds, dsigmas[step.parameter])
                for i, step in enumerate(chain)
                if step.parameter is not None
            ],
        ]

    def each(self, ybar):
        """Of all chains, the cotangent of what they make of the image: that of their sum."""
        return [ybar] * len(self.chains)

    def image_bar(self, ybar):
        return total([run_back(bar, chain) for chain, bar in zip(self.chains, self.each(ybar), strict=True)])

    def cval_bar(self, ybar):
        pairs = zip(self.chains, self.each(ybar), strict=True)
        return total([np.sum(along_cval(self.shape, chain) * bar) for chain, bar in pairs])

    def sigma_bar(self, ybar):
        bars = [0] * len(self.sigmas.values)
        for chain, bar in zip(self.chains, self.each(ybar), strict=True):
            for i, step in enumerate(chain):
                if step.parameter is not None:
                    slope = along_slope(self.x, chain, i, self.cval)
                    bars[step.parameter] = bars[step.parameter] + np.sum(np.real(conj(slope) * bar))
        return self.sigmas.cotangent(bars)


def total(terms):
    return sum(terms[1:], terms[0])


# ---------------------------------------------------------------- the Gaussian


def hermite(u, order):
    """Heₙ(u) and Heₙ₋₁(u), by their recurrence (DLMF 18.9.1)."""
    before, here = 0 * u, 0 * u + 1
    for n in range(order):
        before, here = here, u * here - n * before
    return here, before


def gaussian_weights(sigma, order, radius):
    """The weights of ``ndimage.gaussian_filter1d`` and their derivative with respect to sigma.

    w = (-σ)⁻ⁿ Heₙ(u) φ with u = x/σ, where φ is proportional to exp(-u²/2) and has the sum 1. So
    ∂φ/∂σ = φ (x² - Σ φ x²) / σ³ and ∂(σ⁻ⁿ Heₙ(u))/∂σ = -n σ⁻ⁿ⁻¹ (Heₙ(u) + u Heₙ₋₁(u)).
    """
    x = np.arange(-radius, radius + 1)
    u = x / sigma
    phi = np.exp(-0.5 * u**2)
    phi = phi / np.sum(phi)
    dphi = phi * (x**2 - np.sum(phi * x**2)) / sigma**3
    here, before = hermite(u, order)
    scale = (-1 / sigma) ** order
    dq = -order / sigma * scale * (here + u * before)
    # SciPy correlates with the weights turned around.
    return (scale * here * phi)[::-1], (scale * here * dphi + dq * phi)[::-1]


def gaussian_step(sigma, axis, order, mode, truncate, radius, parameter):
    sigma_in_doubles = sigma * np.ones((), np.float64)
    radius = int(truncate * float(fixed(sigma)) + 0.5) if radius is None else radius
    if not isinstance(radius, (int, np.integer)) or radius < 0 or order < 0:
        raise MDNotImplementedError  # SciPy says what is wrong
    weights, slope = gaussian_weights(sigma_in_doubles, int(order), int(radius))
    return Step(weights, axis, mode, 0, slope, parameter)


def gaussian_chain(sigmas, axes, order, mode, truncate=4.0, radius=None):
    """The steps of ``ndimage.gaussian_filter``, which leaves out axes where sigma is zero."""
    count = len(axes)
    orders, modes, radiuses = (one_for_each(option, count) for option in (order, mode, radius))
    return [
        gaussian_step(sigmas.values[i], axes[i], orders[i], modes[i], truncate, radiuses[i], i)
        for i in range(count)
        if float(fixed(sigmas.values[i])) > 1e-15
    ]


@frule.register(ndimage.gaussian_filter1d)
@pushforward
def gaussian_filter1d_frule(
    dinput: Array,
    dsigma: Array,
    dcval: Number,
    _dtruncate: Number,
    input: Array,
    sigma: Array,
    axis: Axis = -1,
    order: Choice = 0,
    output: Choice = None,
    mode: Choice = "reflect",
    cval: Number = 0.0,
    truncate: Number = 4.0,
    *,
    radius: Count = None,
) -> OutputAndTangent:
    decline_out(output)
    y, chains = filtered_by_gaussian_1d(input, sigma, axis, order, mode, cval, truncate, radius)
    return y, chains.tangent(dinput, dcval, dsigma)


@rrule.register(ndimage.gaussian_filter1d)
def gaussian_filter1d_rrule(
    input: Array,
    sigma: Array,
    axis: Axis = -1,
    order: Choice = 0,
    output: Choice = None,
    mode: Choice = "reflect",
    cval: Number = NOT_GIVEN,
    truncate: Number = 4.0,
    *,
    radius: Count = None,
) -> OutputAndPullback:
    decline_out(output)
    y, chains = filtered_by_gaussian_1d(input, sigma, axis, order, mode, cval, truncate, radius)
    if not is_differentiable(y):
        return y, no_tangent_pullback
    bars = chains.image_bar, chains.sigma_bar, chains.cval_bar
    return y, pullback_wrt(input, sigma, ..., ..., ..., ..., cval)(*bars)


def filtered_by_gaussian_1d(x, sigma, axis, order, mode, cval, truncate, radius):
    given_cval, ndim = 0.0 if cval is NOT_GIVEN else cval, len(shape_of(x))
    y = seen_by_tracers(
        ndimage.gaussian_filter1d, x, sigma, axis, order, None, mode, given_cval, truncate, radius=radius
    )
    chain = [gaussian_step(sigma, int(axis) % ndim, order, mode, truncate, radius, 0)]
    return y, SumOfChains([chain], x, cval, Sigmas(sigma, 1))


@frule.register(ndimage.gaussian_filter)
@pushforward
def gaussian_filter_frule(
    dinput: Array,
    dsigma: Array,
    dcval: Number,
    _dtruncate: Number,
    input: Array,
    sigma: Array,
    order: Choice = 0,
    output: Choice = None,
    mode: Choice = "reflect",
    cval: Number = 0.0,
    truncate: Number = 4.0,
    *,
    radius: Count = None,
    axes: Axis = None,
) -> OutputAndTangent:
    decline_out(output)
    y, chains = filtered_by_gaussian(input, sigma, order, mode, cval, truncate, radius, axes)
    return y, chains.tangent(dinput, dcval, dsigma)


@rrule.register(ndimage.gaussian_filter)
def gaussian_filter_rrule(
    input: Array,
    sigma: Array,
    order: Choice = 0,
    output: Choice = None,
    mode: Choice = "reflect",
    cval: Number = NOT_GIVEN,
    truncate: Number = 4.0,
    *,
    radius: Count = None,
    axes: Axis = None,
) -> OutputAndPullback:
    """One axis after the other; σ̄ is the inner product of ȳ with the image filtered with ∂w/∂σ in place of w."""
    decline_out(output)
    y, chains = filtered_by_gaussian(input, sigma, order, mode, cval, truncate, radius, axes)
    if not is_differentiable(y):
        return y, no_tangent_pullback
    bars = chains.image_bar, chains.sigma_bar, chains.cval_bar
    return y, pullback_wrt(input, sigma, ..., ..., ..., cval)(*bars)


def filtered_by_gaussian(x, sigma, order, mode, cval, truncate, radius, axes):
    given_cval, some = 0.0 if cval is NOT_GIVEN else cval, {} if axes is None else {"axes": axes}
    y = seen_by_tracers(
        ndimage.gaussian_filter, x, sigma, order, None, mode, given_cval, truncate, radius=radius, **some
    )
    numbers = axes_of(axes, len(shape_of(x)))
    sigmas = Sigmas(sigma, len(numbers))
    chain = gaussian_chain(sigmas, numbers, order, mode, truncate, radius)
    return y, SumOfChains([chain], x, cval, sigmas)


# ---------------------------------------------------------------- sums of squares and of second derivatives


def gaussian_derivatives(x, sigma, order, mode, axes, keywords):
    """For each axis, the chain that takes the derivative of this order along it and smoothes along the others."""
    if keywords.keys() - {"truncate", "radius"}:
        raise MDNotImplementedError
    ndim = len(shape_of(x))
    numbers = axes_of(axes, ndim)
    modes = one_for_each(mode, len(numbers))
    if order == 2 and len(numbers) < ndim:
        sigmas, places = Sigmas(sigma, len(numbers)), numbers  # the other axes are left alone
    else:
        sigmas, places = Sigmas(sigma, ndim), tuple(range(ndim))
    chains = []
    for axis, mode_here in zip(numbers, modes, strict=True):
        orders = [order if place == axis else 0 for place in places]
        chains.append(gaussian_chain(sigmas, places, orders, mode_here, **keywords))
    if not chains:
        raise MDNotImplementedError
    return sigmas, chains


@frule.register(ndimage.gaussian_laplace)
@pushforward
def gaussian_laplace_frule(
    dinput: Array,
    dsigma: Array,
    dcval: Number,
    input: Array,
    sigma: Array,
    output: Choice = None,
    mode: Choice = "reflect",
    cval: Number = 0.0,
    *,
    axes: Axis = None,
    **kwargs: Any,
) -> OutputAndTangent:
    decline_out(output)
    y = of_gaussian_derivatives(ndimage.gaussian_laplace, input, sigma, mode, cval, axes, kwargs)
    sigmas, chains = gaussian_derivatives(input, sigma, 2, mode, axes, kwargs)
    return y, SumOfChains(chains, input, cval, sigmas).tangent(dinput, dcval, dsigma)


@rrule.register(ndimage.gaussian_laplace)
def gaussian_laplace_rrule(
    input: Array,
    sigma: Array,
    output: Choice = None,
    mode: Choice = "reflect",
    cval: Number = NOT_GIVEN,
    *,
    axes: Axis = None,
    **kwargs: Any,
) -> OutputAndPullback:
    decline_out(output)
    y = of_gaussian_derivatives(ndimage.gaussian_laplace, input, sigma, mode, cval, axes, kwargs)
    sigmas, chains = gaussian_derivatives(input, sigma, 2, mode, axes, kwargs)
    if not is_differentiable(y):
        return y, no_tangent_pullback
    chains = SumOfChains(chains, input, cval, sigmas)
    bars = chains.image_bar, chains.sigma_bar, chains.cval_bar
    return y, pullback_wrt(input, sigma, ..., ..., cval)(*bars)


def of_gaussian_derivatives(function, x, sigma, mode, cval, axes, keywords):
    given_cval, some = 0.0 if cval is NOT_GIVEN else cval, {} if axes is None else {"axes": axes}
    return seen_by_tracers(function, x, sigma, None, mode, given_cval, **some, **keywords)


class Magnitude(SumOfChains):
    """The length of the vector of what all chains make of an image."""

    def __init__(self, chains, x, cval, sigmas):
        super().__init__(chains, x, cval, sigmas)
        parts = [run(self.x, chain, self.cval) for chain in chains]
        self.y = np.sqrt(total([part * part for part in parts]))
        divisor = np.where(self.y == 0, 1, self.y)
        self.directions = [part / divisor for part in parts]  # zero by zero

    def tangent(self, dimage, dcval, dsigma=None):
        parts = [total(self.tangents_of(chain, dimage, dcval, dsigma)) for chain in self.chains]
        return total([d * part for d, part in zip(self.directions, parts, strict=True)])

    def each(self, ybar):
        return [ybar * direction for direction in self.directions]


def gradient_magnitude(x, sigma, mode, cval, axes, keywords):
    """The output, and the `Magnitude`; of integers None, as SciPy rounds what is in between."""
    sigmas, chains = gaussian_derivatives(x, sigma, 1, mode, axes, keywords)
    if np.result_type(as_array(x)).kind not in "f":
        return of_gaussian_derivatives(ndimage.gaussian_gradient_magnitude, x, sigma, mode, cval, axes, keywords), None
    magnitude = Magnitude(chains, x, cval, sigmas)
    return magnitude.y, magnitude


@frule.register(ndimage.gaussian_gradient_magnitude)
@pushforward
def gaussian_gradient_magnitude_frule(
    dinput: Array,
    dsigma: Array,
    dcval: Number,
    input: Array,
    sigma: Array,
    output: Choice = None,
    mode: Choice = "reflect",
    cval: Number = 0.0,
    *,
    axes: Axis = None,
    **kwargs: Any,
) -> OutputAndTangent:
    decline_out(output)
    decline_complex(input, cval)
    y, magnitude = gradient_magnitude(input, sigma, mode, cval, axes, kwargs)
    return y, np.zeros(np.shape(y)) if magnitude is None else magnitude.tangent(dinput, dcval, dsigma)


@rrule.register(ndimage.gaussian_gradient_magnitude)
def gaussian_gradient_magnitude_rrule(
    input: Array,
    sigma: Array,
    output: Choice = None,
    mode: Choice = "reflect",
    cval: Number = NOT_GIVEN,
    *,
    axes: Axis = None,
    **kwargs: Any,
) -> OutputAndPullback:
    """y = √Σ gₐ², hence ḡₐ = ȳ gₐ / y for the derivative along each axis; 0 where y is 0."""
    decline_out(output)
    decline_complex(input, cval)
    y, magnitude = gradient_magnitude(input, sigma, mode, cval, axes, kwargs)
    if magnitude is None:
        return y, no_tangent_pullback
    bars = magnitude.image_bar, magnitude.sigma_bar, magnitude.cval_bar
    return y, pullback_wrt(input, sigma, ..., ..., cval)(*bars)


def decline_complex(*values):
    if any(value is not NOT_GIVEN and np.iscomplexobj(as_array(value)) for value in values):
        raise MDNotImplementedError


# ---------------------------------------------------------------- filters without a parameter


def register_differences(function, across):
    """The rules of a difference along one axis, with these weights along all others."""

    def filtered(x, axis, output, mode, cval):
        decline_out(output)
        y = seen_by_tracers(function, x, axis, None, mode, 0.0 if cval is NOT_GIVEN else cval)
        ndim = len(shape_of(x))
        axis, modes = int(axis) % ndim, one_for_each(mode, ndim)
        steps = [Step(np.array([-1.0, 0.0, 1.0]), axis, modes[axis])]
        steps += [Step(np.array(across), i, modes[i]) for i in range(ndim) if i != axis]
        return y, SumOfChains([steps], x, cval)

    @frule.register(function)
    @pushforward
    def difference_frule(
        dinput: Array,
        dcval: Number,
        input: Array,
        axis: Axis = -1,
        output: Choice = None,
        mode: Choice = "reflect",
        cval: Number = 0.0,
    ) -> OutputAndTangent:
        y, chains = filtered(input, axis, output, mode, cval)
        return y, chains.tangent(dinput, dcval)

    @rrule.register(function)
    def difference_rrule(
        input: Array, axis: Axis = -1, output: Choice = None, mode: Choice = "reflect", cval: Number = NOT_GIVEN
    ) -> OutputAndPullback:
        y, chains = filtered(input, axis, output, mode, cval)
        if not is_differentiable(y):
            return y, no_tangent_pullback
        return y, pullback_wrt(input, ..., ..., ..., cval)(chains.image_bar, chains.cval_bar)


register_differences(ndimage.sobel, [1.0, 2.0, 1.0])
register_differences(ndimage.prewitt, [1.0, 1.0, 1.0])


def filtered_by_laplace(x, output, mode, cval, axes):
    decline_out(output)
    some = {} if axes is None else {"axes": axes}
    y = seen_by_tracers(ndimage.laplace, x, None, mode, 0.0 if cval is NOT_GIVEN else cval, **some)
    numbers = axes_of(axes, len(shape_of(x)))
    modes = one_for_each(mode, len(numbers))
    if not numbers:
        raise MDNotImplementedError
    weights = np.array([1.0, -2.0, 1.0])
    return y, SumOfChains([[Step(weights, axis, here)] for axis, here in zip(numbers, modes, strict=True)], x, cval)


@frule.register(ndimage.laplace)
@pushforward
def laplace_frule(
    dinput: Array,
    dcval: Number,
    input: Array,
    output: Choice = None,
    mode: Choice = "reflect",
    cval: Number = 0.0,
    *,
    axes: Axis = None,
) -> OutputAndTangent:
    y, chains = filtered_by_laplace(input, output, mode, cval, axes)
    return y, chains.tangent(dinput, dcval)


@rrule.register(ndimage.laplace)
def laplace_rrule(
    input: Array, output: Choice = None, mode: Choice = "reflect", cval: Number = NOT_GIVEN, *, axes: Axis = None
) -> OutputAndPullback:
    y, chains = filtered_by_laplace(input, output, mode, cval, axes)
    if not is_differentiable(y):
        return y, no_tangent_pullback
    return y, pullback_wrt(input, ..., ..., cval)(chains.image_bar, chains.cval_bar)


def filtered_by_uniform_1d(x, size, axis, output, mode, cval, origin):
    decline_out(output)
    y = seen_by_tracers(ndimage.uniform_filter1d, x, size, axis, None, mode, 0.0 if cval is NOT_GIVEN else cval, origin)
    return y, SumOfChains([[Step(int(size), int(axis) % len(shape_of(x)), mode, int(origin))]], x, cval)


@frule.register(ndimage.uniform_filter1d)
@pushforward
def uniform_filter1d_frule(
    dinput: Array,
    dcval: Number,
    input: Array,
    size: Shape,
    axis: Axis = -1,
    output: Choice = None,
    mode: Choice = "reflect",
    cval: Number = 0.0,
    origin: Count = 0,
) -> OutputAndTangent:
    y, chains = filtered_by_uniform_1d(input, size, axis, output, mode, cval, origin)
    return y, chains.tangent(dinput, dcval)


@rrule.register(ndimage.uniform_filter1d)
def uniform_filter1d_rrule(
    input: Array,
    size: Shape,
    axis: Axis = -1,
    output: Choice = None,
    mode: Choice = "reflect",
    cval: Number = NOT_GIVEN,
    origin: Count = 0,
) -> OutputAndPullback:
    y, chains = filtered_by_uniform_1d(input, size, axis, output, mode, cval, origin)
    if not is_differentiable(y):
        return y, no_tangent_pullback
    return y, pullback_wrt(input, ..., ..., ..., ..., cval)(chains.image_bar, chains.cval_bar)


def filtered_by_uniform(x, size, output, mode, cval, origin, axes):
    decline_out(output)
    some = {} if axes is None else {"axes": axes}
    y = seen_by_tracers(ndimage.uniform_filter, x, size, None, mode, 0.0 if cval is NOT_GIVEN else cval, origin, **some)
    numbers = axes_of(axes, len(shape_of(x)))
    sizes, modes, origins = (one_for_each(option, len(numbers)) for option in (size, mode, origin))
    steps = [Step(int(sizes[i]), numbers[i], modes[i], int(origins[i])) for i in range(len(numbers))]
    return y, SumOfChains([[step for step in steps if step.weights > 1]], x, cval)


@frule.register(ndimage.uniform_filter)
@pushforward
def uniform_filter_frule(
    dinput: Array,
    dcval: Number,
    input: Array,
    size: Shape = 3,
    output: Choice = None,
    mode: Choice = "reflect",
    cval: Number = 0.0,
    origin: Count = 0,
    *,
    axes: Axis = None,
) -> OutputAndTangent:
    y, chains = filtered_by_uniform(input, size, output, mode, cval, origin, axes)
    return y, chains.tangent(dinput, dcval)


@rrule.register(ndimage.uniform_filter)
def uniform_filter_rrule(
    input: Array,
    size: Shape = 3,
    output: Choice = None,
    mode: Choice = "reflect",
    cval: Number = NOT_GIVEN,
    origin: Count = 0,
    *,
    axes: Axis = None,
) -> OutputAndPullback:
    y, chains = filtered_by_uniform(input, size, output, mode, cval, origin, axes)
    if not is_differentiable(y):
        return y, no_tangent_pullback
    return y, pullback_wrt(input, ..., ..., ..., cval)(chains.image_bar, chains.cval_bar)
