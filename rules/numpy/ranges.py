"""Rules of numbers evenly spaced between two ends: `numpy.linspace`, `logspace`, `geomspace` and `arange`."""

import operator

import numpy as np
from multipledispatch import MDNotImplementedError

from rules.numpy.array_like import as_array, as_array_tangent, conj, shape_of
from rules.numpy.differences import array_tangent_or_zeros
from rules.numpy.reduced_axes import NOT_GIVEN, decline_discarded_imaginary_part, projector_of, stop_early, tangent_at
from rulescore import (
    AbstractZero,
    NoTangent,
    Tangent,
    Thunk,
    ZeroTangent,
    derivatives_given_output,
    frule,
    ignore_derivatives,
    project_to,
    rrule,
    unbroadcast,
    unthunk,
)
from rulescore.tangents.projection import NON_DIFFERENTIABLE

NO_TANGENT = NoTangent()
ZERO_TANGENT = ZeroTangent()


class Fractions:
    """How far each of ``num`` numbers is from the start to the stop, from 0 to 1: the weights w of the stop."""

    __slots__ = ("axis", "count", "intervals")

    def __init__(self, num, endpoint, axis):
        self.count, self.axis = operator.index(num), axis
        self.intervals = self.count - 1 if endpoint else self.count

    def weights(self, dtype):
        return np.arange(self.count, dtype=dtype) / max(self.intervals, 1)

    def start_bar(self, ybar, shape):
        """Σ (1 - w) ȳ."""
        return self.at_end(self.weighted_sum(1 - self.weights(ybar.real.dtype), ybar), shape)

    def stop_bar(self, ybar, shape):
        """Σ w ȳ."""
        return self.at_end(self.weighted_sum(self.weights(ybar.real.dtype), ybar), shape)

    def weighted_sum(self, weights, ybar):
        if np.ndim(ybar) == 1:
            return np.sum(weights * ybar)
        return np.tensordot(weights, ybar, ((0,), (self.axis,)))

    def at_end(self, total, shape):
        """The cotangent of an end, which may have less axes than the other."""
        return unbroadcast(total, shape) if np.ndim(total) >= len(shape) else np.reshape(total, shape)


def decline_device(device):
    if device not in (None, "cpu"):
        raise MDNotImplementedError


def both_parts(ybar):
    """The cotangents of a pair of outputs."""
    return (ybar, ybar) if isinstance(ybar, AbstractZero) else map(unthunk, ybar)


# ---------------------------------------------------------------- linspace


@frule.register(np.linspace)
def linspace_frule(tangents, start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    decline_device(device)
    result = np.linspace(start, stop, num, endpoint, retstep, dtype, axis)
    y = result[0] if retstep else result
    dstart, dstop = as_array_tangent(tangents[1], start), as_array_tangent(tangents[2], stop)
    dy, *dstep = [dstart + dstop] * (2 if retstep else 1)
    if not isinstance(dy, AbstractZero):
        dstart, dstop = array_tangent_or_zeros(dstart, start), array_tangent_or_zeros(dstop, stop)
        ends = np.linspace(dstart, dstop, num, endpoint, True, None, axis)
        dy = project_to(y)(ends[0])
        # Of one number or none there is no step, but NaN.
        dstep = [ends[1] if Fractions(num, endpoint, axis).intervals > 0 else ZERO_TANGENT] if retstep else []
    return result, Tangent(tuple, dy, *dstep) if retstep else dy


@rrule.register(np.linspace)
def linspace_rrule(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """y = (1 - w) start + w stop with the weights w, hence start̄ = Σ (1 - w) ȳ and stop̄ = Σ w ȳ."""
    decline_device(device)
    result = np.linspace(start, stop, num, endpoint, retstep, dtype, axis)
    y = result[0] if retstep else result
    project_y, projects = project_to(y), (project_to(start), project_to(stop))
    shapes, fractions = (shape_of(start), shape_of(stop)), Fractions(num, endpoint, axis)

    def linspace_pullback(ybar):
        ybar, step_bar = both_parts(unthunk(ybar)) if retstep else (unthunk(ybar), ZERO_TANGENT)
        ybar = ybar if project_y is not NON_DIFFERENTIABLE else ZERO_TANGENT  # rounded to integers
        step_bar = step_bar / fractions.intervals if fractions.intervals > 0 else ZERO_TANGENT

        def end_bar(of_numbers, sign, shape):
            of_numbers = ybar if isinstance(ybar, AbstractZero) else of_numbers(ybar, shape)
            return of_numbers + sign * unbroadcast(step_bar, shape)

        bars = (
            Thunk(lambda: end_bar(fractions.start_bar, -1, shapes[0])),
            Thunk(lambda: end_bar(fractions.stop_bar, 1, shapes[1])),
        )
        return NO_TANGENT, *[project(bar) for project, bar in zip(projects, bars, strict=True)]

    return result, linspace_pullback


# ---------------------------------------------------------------- powers of a base


class Powers:
    """The numbers y = bᵗ of ``np.logspace``, whose exponents t are evenly spaced, and its derivatives in b and t."""

    __slots__ = ("base", "exponents", "unrounded")

    def __init__(self, start, stop, num, endpoint, base, axis):
        self.base = as_array(base)
        if np.ndim(self.base):
            self.base, start, stop = self.aligned(axis, base, start, stop)
        self.exponents = np.linspace(start, stop, num, endpoint, axis=axis)
        self.unrounded = np.power(self.base, self.exponents)

    @staticmethod
    def aligned(axis, base, *ends):
        """As NumPy has them where the base is an array: all with as many axes, the base with one more."""
        parts = [as_array(part) for part in (base, *ends)]
        ndim = max(map(np.ndim, parts))
        base, *ends = (np.reshape(part, (1,) * (ndim - np.ndim(part)) + np.shape(part)) for part in parts)
        return np.expand_dims(base, axis), *ends

    def slope_of_base(self):
        """∂y/∂b."""
        return derivatives_given_output(np.power, self.unrounded, self.base, self.exponents)[0][0]

    def slope(self):
        """∂y/∂t = y log b, and 0 for the base 0."""
        return self.unrounded * np.log(np.where(self.base == 0, 1, self.base))

    def rounded(self, dtype):
        return self.unrounded if dtype is None else self.unrounded.astype(dtype, copy=False)


@frule.register(np.logspace)
def logspace_frule(tangents, start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    decline_discarded_imaginary_part(as_array(start) + as_array(stop), dtype)
    powers = Powers(start, stop, num, endpoint, base, axis)
    y, tangents = powers.rounded(dtype), (*tangents, *[NO_TANGENT] * 3)
    dstart, dstop, dbase = (as_array_tangent(tangents[i], part) for i, part in ((1, start), (2, stop), (5, base)))
    dy, of_ends = ZERO_TANGENT, dstart + dstop
    if not isinstance(of_ends, AbstractZero):
        dstart, dstop = array_tangent_or_zeros(dstart, start), array_tangent_or_zeros(dstop, stop)
        if np.ndim(base):
            _, dstart, dstop = powers.aligned(axis, base, dstart, dstop)
        dy = dy + powers.slope() * np.linspace(dstart, dstop, num, endpoint, axis=axis)
    if not isinstance(dbase, AbstractZero):
        dy = dy + powers.slope_of_base() * (np.reshape(dbase, np.shape(powers.base)) if np.ndim(base) else dbase)
    return y, project_to(y)(dy)


@rrule.register(np.logspace)
def logspace_rrule(start, stop, num=50, endpoint=True, base=NOT_GIVEN, dtype=None, axis=0):
    """y = bᵗ with evenly spaced t, hence t̄ = conj(y log b) ȳ, and from there as `linspace_rrule`."""
    decline_discarded_imaginary_part(as_array(start) + as_array(stop), dtype)
    powers = Powers(start, stop, num, endpoint, 10.0 if base is NOT_GIVEN else base, axis)
    y, fractions = powers.rounded(dtype), Fractions(num, endpoint, axis)
    is_rounded = project_to(y) is NON_DIFFERENTIABLE
    projects, shapes = [projector_of(part) for part in (start, stop, base)], (shape_of(start), shape_of(stop))

    def logspace_pullback(ybar):
        ybar = unthunk(ybar)
        if is_rounded or isinstance(ybar, AbstractZero):
            start_bar, stop_bar, base_bar = (project(ZERO_TANGENT) for project in projects)
        else:
            exponents_bar = Thunk(lambda: unbroadcast(conj(powers.slope()) * ybar, np.shape(powers.exponents)))
            start_bar = projects[0](Thunk(lambda: fractions.start_bar(unthunk(exponents_bar), shapes[0])))
            stop_bar = projects[1](Thunk(lambda: fractions.stop_bar(unthunk(exponents_bar), shapes[1])))
            base_bar = projects[2](Thunk(lambda: of_base(powers.slope_of_base(), ybar)))
        return stop_early(NO_TANGENT, start_bar, stop_bar, NO_TANGENT, NO_TANGENT, base_bar)

    def of_base(slope, ybar):
        return np.reshape(unbroadcast(conj(slope) * ybar, np.shape(powers.base)), shape_of(base))

    return y, logspace_pullback


# ---------------------------------------------------------------- geometric sequences


@frule.register(np.geomspace)
def geomspace_frule(tangents, start, stop, num=50, endpoint=True, dtype=None, axis=0):
    decline_discarded_imaginary_part(as_array(start) + as_array(stop), dtype)
    y = np.geomspace(start, stop, num, endpoint, dtype, axis)
    project, dstart, dstop = project_to(y), as_array_tangent(tangents[1], start), as_array_tangent(tangents[2], stop)
    if isinstance(dstart + dstop, AbstractZero) or project is NON_DIFFERENTIABLE:
        return y, project(dstart + dstop)
    ratios = [array_tangent_or_zeros(tangent, end) / as_array(end) for tangent, end in ((dstart, start), (dstop, stop))]
    return y, project(y * np.linspace(*ratios, num, endpoint, axis=axis))


@rrule.register(np.geomspace)
def geomspace_rrule(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """log y = (1 - w) log start + w log stop, hence ẏ / y = (1 - w) dstart / start + w dstop / stop.

    For negative and complex ends too, where NumPy takes that branch of log stop which is nearest to log start.
    """
    decline_discarded_imaginary_part(as_array(start) + as_array(stop), dtype)
    y = np.geomspace(start, stop, num, endpoint, dtype, axis)
    projects, shapes = (project_to(start), project_to(stop)), (shape_of(start), shape_of(stop))
    is_rounded, fractions = project_to(y) is NON_DIFFERENTIABLE, Fractions(num, endpoint, axis)

    def geomspace_pullback(ybar):
        ybar = unthunk(ybar)
        if is_rounded or isinstance(ybar, AbstractZero):
            return NO_TANGENT, *[project(ZERO_TANGENT) for project in projects]
        logs_bar = Thunk(lambda: conj(y) * ybar)
        start_bar = Thunk(lambda: fractions.start_bar(unthunk(logs_bar), shapes[0]) / np.conjugate(start))
        stop_bar = Thunk(lambda: fractions.stop_bar(unthunk(logs_bar), shapes[1]) / np.conjugate(stop))
        return NO_TANGENT, projects[0](start_bar), projects[1](stop_bar)

    return y, geomspace_pullback


# ---------------------------------------------------------------- arange


def without_derivative(x):
    """The number beneath what an AD system traces; anything else as it is."""
    while hasattr(type(x), "__rule_type__"):
        x = ignore_derivatives(x)
    return x


class Steps:
    """The arguments of ``np.arange`` in their places, since a single one is the stop."""

    __slots__ = ("has_start", "start", "step", "stop")

    def __init__(self, start, stop, step, like):
        if like is not None:
            raise MDNotImplementedError
        self.has_start = stop is not None
        self.start, self.stop = (start, stop) if self.has_start else (0, start)
        self.step = 1 if step is None else step

    def numbers(self, dtype, device):
        arguments = (self.start, self.stop, self.step)
        constants = tuple(map(without_derivative, arguments))
        y = np.arange(*constants, dtype, device=device)
        if y.dtype.kind in "iu" or constants == arguments:
            return y
        # NumPy hands over no calls of arange: of what is being differentiated it is written out.
        return (self.start + np.arange(len(y)) * self.step).astype(y.dtype)


@frule.register(np.arange)
def arange_frule(tangents, start, stop=None, step=None, dtype=None, *, device=None, like=None):
    steps = Steps(start, stop, step, like)
    y, dstep = steps.numbers(dtype, device), tangent_at(tangents, 2)
    dstart, project = tangents[1] if steps.has_start else ZERO_TANGENT, project_to(y)
    if project is NON_DIFFERENTIABLE or (isinstance(dstart, AbstractZero) and isinstance(dstep, AbstractZero)):
        return y, project(ZERO_TANGENT)
    dy = np.zeros(len(y), y.dtype)
    dy = dy if isinstance(dstart, AbstractZero) else dy + dstart
    return y, project(dy if isinstance(dstep, AbstractZero) else dy + np.arange(len(y)) * dstep)


@rrule.register(np.arange)
def arange_rrule(start, stop=None, step=None, dtype=None, *, device=None, like=None):
    """yᵢ = start + i · step, hence start̄ = Σ ȳ and step̄ = Σ i ȳᵢ; the stop only tells how many numbers there are."""
    steps = Steps(start, stop, step, like)
    y = steps.numbers(dtype, device)
    is_integer, projects = project_to(y) is NON_DIFFERENTIABLE, [project_to(part) for part in (start, stop, step)]

    def arange_pullback(ybar):
        ybar = unthunk(ybar)
        bars = [ZERO_TANGENT] * 3
        if not is_integer and not isinstance(ybar, AbstractZero):
            bars[0] = Thunk(lambda: np.sum(ybar)) if steps.has_start else ZERO_TANGENT
            bars[2] = Thunk(lambda: np.sum(np.arange(len(y)) * ybar))
        return stop_early(NO_TANGENT, *[project(bar) for project, bar in zip(projects, bars, strict=True)])

    return y, arange_pullback
