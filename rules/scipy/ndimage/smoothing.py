"""Rules of filters made of correlations along single axes: Gaussian, uniform, Sobel, Prewitt, Laplace.

Each is a sum of chains, and a chain is one correlation after the other, so the transpose of a chain is the transposes
in opposite order, boundaries included. With respect to ``sigma`` the derivative is that of the weights, at the number
of weights that SciPy takes: where that number changes, a filter has a jump, of the size of what it cuts off.
"""

from typing import Any, NamedTuple

import numpy as np
from multipledispatch import MDNotImplementedError
from scipy import ndimage

from rules.numpy.array_like import as_array, as_array_tangent, conj, seen_by_tracers, shape_of
from rules.numpy.reduced_axes import NOT_GIVEN, decline_out, projector_of, stop_early, tangent_at
from rules.scipy.ndimage.boundaries import axes_of, fixed, fold, handing_over, one_for_each
from rules.scipy.ndimage.correlations import correlation_spread, opposite_origin, reach
from rulescore import (
    AbstractZero,
    NoTangent,
    Tangent,
    Thunk,
    ZeroTangent,
    frule,
    linear_rule,
    project_to,
    rrule,
    unthunk,
)
from rulescore.tangents.projection import NON_DIFFERENTIABLE

NO_TANGENT = NoTangent()
ZERO_TANGENT = ZeroTangent()

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


def along_slope(x, chain, parameter, cval):
    """The derivative of `run` with respect to a sigma: one term for each step that depends on it."""
    terms = []
    for i, step in enumerate(chain):
        if step.parameter == parameter:
            before = run(x, chain[:i], cval)
            here = run(before, [step._replace(weights=step.slope)], cval)
            terms.append(run(here, chain[i + 1 :]))
    return sum(terms[1:], terms[0]) if terms else None


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
        """The cotangent of sigma as it was given, from functions that compute those of its values."""
        if self.is_one:
            return sum(bar() for bar in bars)
        if isinstance(self.sigma, (list, tuple)):
            return Tangent(type(self.sigma), *[Thunk(bar) for bar in bars])
        return np.stack([bar() for bar in bars])

    def tangents(self, dsigma):
        if self.is_one:
            return [dsigma] * len(self.values)
        return list(dsigma) if isinstance(dsigma, Tangent) else [dsigma[i] for i in range(len(self.values))]


def chains_frule(y, chains, x, dx, cval, dcval, sigmas=None, dsigma=NO_TANGENT):
    """The tangent of y, the sum of all chains."""
    project, given_cval = project_to(y), 0.0 if cval is NOT_GIVEN else cval
    if project is NON_DIFFERENTIABLE:
        return y, NO_TANGENT
    dx, terms = as_array_tangent(dx, x), []
    for chain in chains:
        if not isinstance(dx, AbstractZero):
            terms.append(run(dx, chain))
        if not isinstance(dcval, AbstractZero):
            terms.append(along_cval(np.shape(y), chain) * dcval)
        if not isinstance(dsigma, AbstractZero):
            slopes = [
                (along_slope(as_array(x), chain, i, given_cval), ds) for i, ds in enumerate(sigmas.tangents(dsigma))
            ]
            terms += [slope * ds for slope, ds in slopes if slope is not None and not isinstance(ds, AbstractZero)]
    return y, project(sum(terms[1:], terms[0])) if terms else ZERO_TANGENT


def chains_bars(y, chains, x, cval, sigmas=None):
    """A function of ȳ that gives the cotangents of image, sigma and ``cval`` for the sum of all chains.

    It may be given the cotangent of each chain besides, where y is something else than their sum.
    """
    sigma_project = NON_DIFFERENTIABLE if sigmas is None else project_to(sigmas.sigma)
    projects, is_constant = (project_to(x), sigma_project, projector_of(cval)), project_to(y) is NON_DIFFERENTIABLE
    x, given_cval = as_array(x), 0.0 if cval is NOT_GIVEN else cval

    def bars_of(ybar, of_each=None):
        ybar = unthunk(ybar)
        if is_constant or isinstance(ybar, AbstractZero):
            bars = [NO_TANGENT if is_constant else ybar] * 3
        else:
            pairs = list(zip(chains, [ybar] * len(chains) if of_each is None else of_each, strict=True))

            def sigma_bar():
                return sigmas.cotangent([lambda i=i: of_sigma(i) for i in range(len(sigmas.values))])

            def of_sigma(i):
                terms = [(along_slope(x, chain, i, given_cval), of_chain) for chain, of_chain in pairs]
                return sum(np.sum(np.real(conj(slope) * of_chain)) for slope, of_chain in terms if slope is not None)

            bars = [
                Thunk(lambda: total([run_back(of_chain, chain) for chain, of_chain in pairs])),
                Thunk(sigma_bar),
                Thunk(lambda: total([np.sum(along_cval(np.shape(y), chain) * of_chain) for chain, of_chain in pairs])),
            ]
        return [
            NO_TANGENT if project is NON_DIFFERENTIABLE else project(bar)
            for project, bar in zip(projects, bars, strict=True)
        ]

    return bars_of


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
def gaussian_filter1d_frule(
    tangents, input, sigma, axis=-1, order=0, output=None, mode="reflect", cval=NOT_GIVEN, truncate=4.0, *, radius=None
):
    decline_out(output)
    _, dx, dsigma, *_ = tangents
    y, sigmas, chain = filtered_by_gaussian_1d(input, sigma, axis, order, mode, cval, truncate, radius)
    return chains_frule(y, [chain], input, dx, cval, tangent_at(tangents, 6), sigmas, dsigma)


@rrule.register(ndimage.gaussian_filter1d)
def gaussian_filter1d_rrule(
    input, sigma, axis=-1, order=0, output=None, mode="reflect", cval=NOT_GIVEN, truncate=4.0, *, radius=None
):
    decline_out(output)
    y, sigmas, chain = filtered_by_gaussian_1d(input, sigma, axis, order, mode, cval, truncate, radius)
    bars_of = chains_bars(y, [chain], input, cval, sigmas)

    def gaussian_filter1d_pullback(ybar):
        xbar, sigma_bar, cbar = bars_of(ybar)
        return stop_early(NO_TANGENT, xbar, sigma_bar, *[NO_TANGENT] * 4, cbar)

    return y, gaussian_filter1d_pullback


def filtered_by_gaussian_1d(x, sigma, axis, order, mode, cval, truncate, radius):
    given_cval, ndim = 0.0 if cval is NOT_GIVEN else cval, len(shape_of(x))
    y = seen_by_tracers(
        ndimage.gaussian_filter1d, x, sigma, axis, order, None, mode, given_cval, truncate, radius=radius
    )
    sigmas = Sigmas(sigma, 1)
    return y, sigmas, [gaussian_step(sigma, int(axis) % ndim, order, mode, truncate, radius, 0)]


@frule.register(ndimage.gaussian_filter)
def gaussian_filter_frule(
    tangents,
    input,
    sigma,
    order=0,
    output=None,
    mode="reflect",
    cval=NOT_GIVEN,
    truncate=4.0,
    *,
    radius=None,
    axes=None,
):
    decline_out(output)
    y, sigmas, chain = filtered_by_gaussian(input, sigma, order, mode, cval, truncate, radius, axes)
    return chains_frule(y, [chain], input, tangents[1], cval, tangent_at(tangents, 5), sigmas, tangents[2])


@rrule.register(ndimage.gaussian_filter)
def gaussian_filter_rrule(
    input, sigma, order=0, output=None, mode="reflect", cval=NOT_GIVEN, truncate=4.0, *, radius=None, axes=None
):
    """One axis after the other; σ̄ is the inner product of ȳ with the image filtered with ∂w/∂σ in place of w."""
    decline_out(output)
    y, sigmas, chain = filtered_by_gaussian(input, sigma, order, mode, cval, truncate, radius, axes)
    bars_of = chains_bars(y, [chain], input, cval, sigmas)

    def gaussian_filter_pullback(ybar):
        xbar, sigma_bar, cbar = bars_of(ybar)
        return stop_early(NO_TANGENT, xbar, sigma_bar, *[NO_TANGENT] * 3, cbar)

    return y, gaussian_filter_pullback


def filtered_by_gaussian(x, sigma, order, mode, cval, truncate, radius, axes):
    given_cval, some = 0.0 if cval is NOT_GIVEN else cval, {} if axes is None else {"axes": axes}
    y = seen_by_tracers(
        ndimage.gaussian_filter, x, sigma, order, None, mode, given_cval, truncate, radius=radius, **some
    )
    numbers = axes_of(axes, len(shape_of(x)))
    sigmas = Sigmas(sigma, len(numbers))
    return y, sigmas, gaussian_chain(sigmas, numbers, order, mode, truncate, radius)


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
def gaussian_laplace_frule(tangents, input, sigma, output=None, mode="reflect", cval=NOT_GIVEN, *, axes=None, **kwargs):
    decline_out(output)
    y = of_gaussian_derivatives(ndimage.gaussian_laplace, input, sigma, mode, cval, axes, kwargs)
    sigmas, chains = gaussian_derivatives(input, sigma, 2, mode, axes, kwargs)
    return chains_frule(y, chains, input, tangents[1], cval, tangent_at(tangents, 4), sigmas, tangents[2])


@rrule.register(ndimage.gaussian_laplace)
def gaussian_laplace_rrule(input, sigma, output=None, mode="reflect", cval=NOT_GIVEN, *, axes=None, **kwargs):
    decline_out(output)
    y = of_gaussian_derivatives(ndimage.gaussian_laplace, input, sigma, mode, cval, axes, kwargs)
    sigmas, chains = gaussian_derivatives(input, sigma, 2, mode, axes, kwargs)
    bars_of = chains_bars(y, chains, input, cval, sigmas)

    def gaussian_laplace_pullback(ybar):
        xbar, sigma_bar, cbar = bars_of(ybar)
        return stop_early(NO_TANGENT, xbar, sigma_bar, NO_TANGENT, NO_TANGENT, cbar)

    return y, gaussian_laplace_pullback


def of_gaussian_derivatives(function, x, sigma, mode, cval, axes, keywords):
    given_cval, some = 0.0 if cval is NOT_GIVEN else cval, {} if axes is None else {"axes": axes}
    return seen_by_tracers(function, x, sigma, None, mode, given_cval, **some, **keywords)


def magnitude(x, chains, cval):
    """The length of the vector of what all chains make of an image, and that vector divided by it; zero by zero."""
    parts = [run(as_array(x), chain, 0.0 if cval is NOT_GIVEN else cval) for chain in chains]
    y = np.sqrt(total([part * part for part in parts]))
    divisor = np.where(y == 0, 1, y)
    return y, [part / divisor for part in parts]


@frule.register(ndimage.gaussian_gradient_magnitude)
def gaussian_gradient_magnitude_frule(
    tangents, input, sigma, output=None, mode="reflect", cval=NOT_GIVEN, *, axes=None, **kwargs
):
    decline_out(output)
    decline_complex(input, cval)
    y, directions, sigmas, chains = gradient_magnitude(input, sigma, mode, cval, axes, kwargs)
    if project_to(y) is NON_DIFFERENTIABLE:
        return y, NO_TANGENT
    args = cval, tangent_at(tangents, 4), sigmas, tangents[2]
    parts = [chains_frule(y, [chain], input, tangents[1], *args)[1] for chain in chains]
    terms = [d * part for d, part in zip(directions, parts, strict=True) if not isinstance(part, AbstractZero)]
    return y, total(terms) if terms else ZERO_TANGENT


@rrule.register(ndimage.gaussian_gradient_magnitude)
def gaussian_gradient_magnitude_rrule(
    input, sigma, output=None, mode="reflect", cval=NOT_GIVEN, *, axes=None, **kwargs
):
    """y = √Σ gₐ², hence ḡₐ = ȳ gₐ / y for the derivative along each axis; 0 where y is 0."""
    decline_out(output)
    decline_complex(input, cval)
    y, directions, sigmas, chains = gradient_magnitude(input, sigma, mode, cval, axes, kwargs)
    bars_of = chains_bars(y, chains, input, cval, sigmas)

    def gradient_magnitude_pullback(ybar):
        ybar = unthunk(ybar)
        of_each = None if isinstance(ybar, AbstractZero) else [ybar * direction for direction in directions]
        xbar, sigma_bar, cbar = bars_of(ybar, of_each)
        return stop_early(NO_TANGENT, xbar, sigma_bar, NO_TANGENT, NO_TANGENT, cbar)

    return y, gradient_magnitude_pullback


def gradient_magnitude(x, sigma, mode, cval, axes, keywords):
    sigmas, chains = gaussian_derivatives(x, sigma, 1, mode, axes, keywords)
    if np.result_type(as_array(x)).kind not in "f":  # of integers, SciPy rounds what is in between
        y = of_gaussian_derivatives(ndimage.gaussian_gradient_magnitude, x, sigma, mode, cval, axes, keywords)
        return y, [], sigmas, chains
    return *magnitude(x, chains, cval), sigmas, chains


def decline_complex(*values):
    if any(value is not NOT_GIVEN and np.iscomplexobj(as_array(value)) for value in values):
        raise MDNotImplementedError


# ---------------------------------------------------------------- filters without a parameter


def chains_rrule(y, chains, x, cval, position):
    """Output and pullback of a filter whose ``cval`` has this position among the arguments."""
    bars_of = chains_bars(y, chains, x, cval)

    def chains_pullback(ybar):
        xbar, _, cbar = bars_of(ybar)
        return stop_early(NO_TANGENT, xbar, *[NO_TANGENT] * (position - 1), cbar)

    return y, chains_pullback


def register_differences(function, across):
    """The rules of a difference along one axis, with these weights along all others."""

    def filtered(x, axis, output, mode, cval):
        decline_out(output)
        y = seen_by_tracers(function, x, axis, None, mode, 0.0 if cval is NOT_GIVEN else cval)
        ndim = len(shape_of(x))
        axis, modes = int(axis) % ndim, one_for_each(mode, ndim)
        steps = [Step(np.array([-1.0, 0.0, 1.0]), axis, modes[axis])]
        return y, [steps + [Step(np.array(across), i, modes[i]) for i in range(ndim) if i != axis]]

    @frule.register(function)
    def difference_frule(tangents, input, axis=-1, output=None, mode="reflect", cval=NOT_GIVEN):
        y, chains = filtered(input, axis, output, mode, cval)
        return chains_frule(y, chains, input, tangents[1], cval, tangent_at(tangents, 4))

    @rrule.register(function)
    def difference_rrule(input, axis=-1, output=None, mode="reflect", cval=NOT_GIVEN):
        return chains_rrule(*filtered(input, axis, output, mode, cval), input, cval, 4)


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
    return y, [[Step(np.array([1.0, -2.0, 1.0]), axis, here)] for axis, here in zip(numbers, modes, strict=True)]


@frule.register(ndimage.laplace)
def laplace_frule(tangents, input, output=None, mode="reflect", cval=NOT_GIVEN, *, axes=None):
    y, chains = filtered_by_laplace(input, output, mode, cval, axes)
    return chains_frule(y, chains, input, tangents[1], cval, tangent_at(tangents, 3))


@rrule.register(ndimage.laplace)
def laplace_rrule(input, output=None, mode="reflect", cval=NOT_GIVEN, *, axes=None):
    return chains_rrule(*filtered_by_laplace(input, output, mode, cval, axes), input, cval, 3)


def filtered_by_uniform_1d(x, size, axis, output, mode, cval, origin):
    decline_out(output)
    y = seen_by_tracers(ndimage.uniform_filter1d, x, size, axis, None, mode, 0.0 if cval is NOT_GIVEN else cval, origin)
    return y, [[Step(int(size), int(axis) % len(shape_of(x)), mode, int(origin))]]


@frule.register(ndimage.uniform_filter1d)
def uniform_filter1d_frule(tangents, input, size, axis=-1, output=None, mode="reflect", cval=NOT_GIVEN, origin=0):
    y, chains = filtered_by_uniform_1d(input, size, axis, output, mode, cval, origin)
    return chains_frule(y, chains, input, tangents[1], cval, tangent_at(tangents, 5))


@rrule.register(ndimage.uniform_filter1d)
def uniform_filter1d_rrule(input, size, axis=-1, output=None, mode="reflect", cval=NOT_GIVEN, origin=0):
    return chains_rrule(*filtered_by_uniform_1d(input, size, axis, output, mode, cval, origin), input, cval, 5)


def filtered_by_uniform(x, size, output, mode, cval, origin, axes):
    decline_out(output)
    some = {} if axes is None else {"axes": axes}
    y = seen_by_tracers(ndimage.uniform_filter, x, size, None, mode, 0.0 if cval is NOT_GIVEN else cval, origin, **some)
    numbers = axes_of(axes, len(shape_of(x)))
    sizes, modes, origins = (one_for_each(option, len(numbers)) for option in (size, mode, origin))
    steps = [Step(int(sizes[i]), numbers[i], modes[i], int(origins[i])) for i in range(len(numbers))]
    return y, [[step for step in steps if step.weights > 1]]


@frule.register(ndimage.uniform_filter)
def uniform_filter_frule(tangents, input, size=3, output=None, mode="reflect", cval=NOT_GIVEN, origin=0, *, axes=None):
    y, chains = filtered_by_uniform(input, size, output, mode, cval, origin, axes)
    return chains_frule(y, chains, input, tangents[1], cval, tangent_at(tangents, 4))


@rrule.register(ndimage.uniform_filter)
def uniform_filter_rrule(input, size=3, output=None, mode="reflect", cval=NOT_GIVEN, origin=0, *, axes=None):
    return chains_rrule(*filtered_by_uniform(input, size, output, mode, cval, origin, axes), input, cval, 4)
