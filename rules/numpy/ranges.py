"""Rules of numbers evenly spaced between two ends: `numpy.linspace`, `logspace`, `geomspace` and `arange`."""

import functools
import operator

from multipledispatch import MDNotImplementedError

import numpy as np
from rulescore import (
    ZeroTangent,
    apply_linear,
    derivatives_given_output,
    frule,
    ignore_derivatives,
    is_differentiable,
    project_to,
    pullback_wrt,
    pushforward,
    rrule,
    unbroadcast,
)
from rulescore.typing import (
    Array,
    Axis,
    Choice,
    Count,
    DType,
    Flag,
    Number,
    OutputAndPullback,
    OutputAndTangent,
    Tangents,
)

from .array_like import as_array, as_array_tangent, conj, full_tangent, shape_of
from .reduced_axes import NOT_GIVEN, decline_discarded_imaginary_part, tangent_at


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


# ---------------------------------------------------------------- linspace


@frule.register(np.linspace)
@pushforward
def linspace_frule(
    dstart: Array,
    dstop: Array,
    start: Array,
    stop: Array,
    num: Count = 50,
    endpoint: Flag = True,
    retstep: Flag = False,
    dtype: DType = None,
    axis: Axis = 0,
    *,
    device: Choice = None,
) -> OutputAndTangent:
    decline_device(device)
    y = np.linspace(start, stop, num, endpoint, retstep, dtype, axis)
    dstart, dstop = full_tangent(dstart, start), full_tangent(dstop, stop)
    dy, dstep = np.linspace(dstart, dstop, num, endpoint, True, None, axis)
    if not retstep:
        return y, dy
    # Of one number or none there is no step, but NaN.
    return y, (dy, dstep if Fractions(num, endpoint, axis).intervals > 0 else ZeroTangent())


@rrule.register(np.linspace)
def linspace_rrule(
    start: Array,
    stop: Array,
    num: Count = 50,
    endpoint: Flag = True,
    retstep: Flag = False,
    dtype: DType = None,
    axis: Axis = 0,
    *,
    device: Choice = None,
) -> OutputAndPullback:
    """y = (1 - w) start + w stop with the weights w, hence start̄ = Σ (1 - w) ȳ and stop̄ = Σ w ȳ."""
    decline_device(device)
    result = np.linspace(start, stop, num, endpoint, retstep, dtype, axis)
    shapes, fractions = (shape_of(start), shape_of(stop)), Fractions(num, endpoint, axis)
    is_rounded = not is_differentiable(result[0] if retstep else result)

    @pullback_wrt(start, stop)
    def linspace_pullback(ybar):
        ybar, step_bar = ybar if retstep else (ybar, ZeroTangent())
        ybar = ZeroTangent() if is_rounded else ybar
        step_bar = step_bar / fractions.intervals if fractions.intervals > 0 else ZeroTangent()

        def end_bar(of_numbers, sign, shape):
            return apply_linear(lambda ybar: of_numbers(ybar, shape), ybar) + sign * unbroadcast(step_bar, shape)

        return lambda: end_bar(fractions.start_bar, -1, shapes[0]), lambda: end_bar(fractions.stop_bar, 1, shapes[1])

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
@pushforward
def logspace_frule(
    dstart: Array,
    dstop: Array,
    dbase: Array,
    start: Array,
    stop: Array,
    num: Count = 50,
    endpoint: Flag = True,
    base: Array = 10.0,
    dtype: DType = None,
    axis: Axis = 0,
) -> OutputAndTangent:
    decline_discarded_imaginary_part(as_array(start) + as_array(stop), dtype)
    powers = Powers(start, stop, num, endpoint, base, axis)

    def of_ends(dstart, dstop):
        dstart, dstop = full_tangent(dstart, start), full_tangent(dstop, stop)
        if np.ndim(base):
            _, dstart, dstop = powers.aligned(axis, base, dstart, dstop)
        return powers.slope() * np.linspace(dstart, dstop, num, endpoint, axis=axis)

    def of_base(dbase):
        dbase = as_array_tangent(dbase, base)
        return powers.slope_of_base() * (np.reshape(dbase, np.shape(powers.base)) if np.ndim(base) else dbase)

    return powers.rounded(dtype), apply_linear(of_ends, dstart, dstop) + apply_linear(of_base, dbase)


@rrule.register(np.logspace)
def logspace_rrule(
    start: Array,
    stop: Array,
    num: Count = 50,
    endpoint: Flag = True,
    base: Array = NOT_GIVEN,
    dtype: DType = None,
    axis: Axis = 0,
) -> OutputAndPullback:
    """y = bᵗ with evenly spaced t, hence t̄ = conj(y log b) ȳ, and from there as `linspace_rrule`."""
    decline_discarded_imaginary_part(as_array(start) + as_array(stop), dtype)
    powers = Powers(start, stop, num, endpoint, 10.0 if base is NOT_GIVEN else base, axis)
    shapes, fractions = (shape_of(start), shape_of(stop)), Fractions(num, endpoint, axis)

    @pullback_wrt(start, stop, ..., ..., base)
    def logspace_pullback(ybar):
        exponents_bar = functools.cache(lambda: unbroadcast(conj(powers.slope()) * ybar, np.shape(powers.exponents)))

        def base_bar():
            of_powers = unbroadcast(conj(powers.slope_of_base()) * ybar, np.shape(powers.base))
            return np.reshape(of_powers, shape_of(base))

        return (
            lambda: fractions.start_bar(exponents_bar(), shapes[0]),
            lambda: fractions.stop_bar(exponents_bar(), shapes[1]),
            base_bar,
        )

    return powers.rounded(dtype), logspace_pullback


# ---------------------------------------------------------------- geometric sequences


@frule.register(np.geomspace)
@pushforward
def geomspace_frule(
    dstart: Array,
    dstop: Array,
    start: Array,
    stop: Array,
    num: Count = 50,
    endpoint: Flag = True,
    dtype: DType = None,
    axis: Axis = 0,
) -> OutputAndTangent:
    decline_discarded_imaginary_part(as_array(start) + as_array(stop), dtype)
    y = np.geomspace(start, stop, num, endpoint, dtype, axis)
    ratios = [full_tangent(tangent, end) / as_array(end) for tangent, end in ((dstart, start), (dstop, stop))]
    return y, y * np.linspace(*ratios, num, endpoint, axis=axis)


@rrule.register(np.geomspace)
def geomspace_rrule(
    start: Array, stop: Array, num: Count = 50, endpoint: Flag = True, dtype: DType = None, axis: Axis = 0
) -> OutputAndPullback:
    """log y = (1 - w) log start + w log stop, hence ẏ / y = (1 - w) dstart / start + w dstop / stop.

    For negative and complex ends too, where NumPy takes that branch of log stop which is nearest to log start.
    """
    decline_discarded_imaginary_part(as_array(start) + as_array(stop), dtype)
    y = np.geomspace(start, stop, num, endpoint, dtype, axis)
    shapes, fractions = (shape_of(start), shape_of(stop)), Fractions(num, endpoint, axis)

    @pullback_wrt(start, stop)
    def geomspace_pullback(ybar):
        logs_bar = conj(y) * ybar
        return (
            lambda: fractions.start_bar(logs_bar, shapes[0]) / np.conjugate(start),
            lambda: fractions.stop_bar(logs_bar, shapes[1]) / np.conjugate(stop),
        )

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
        is_traced = any(x is not constant for x, constant in zip(arguments, constants, strict=True))
        if y.dtype.kind in "iu" or not is_traced:
            return y
        # NumPy hands over no calls of arange: of what is being differentiated it is written out.
        return (self.start + np.arange(len(y)) * self.step).astype(y.dtype)


@frule.register(np.arange)
def arange_frule(
    tangents: Tangents,
    start: Array,
    stop: Array = None,
    step: Number = None,
    dtype: DType = None,
    *,
    device: Choice = None,
    like: Array = None,
) -> OutputAndTangent:
    # No `pushforward`, which along zeros calls np.arange itself: what an AD system traces, that takes for no number.
    steps = Steps(start, stop, step, like)
    y = steps.numbers(dtype, device)

    def along(dstart, dstep):
        return np.zeros(len(y), y.dtype) + dstart + np.arange(len(y)) * dstep

    dstart = tangents[1] if steps.has_start else ZeroTangent()
    return y, project_to(y)(apply_linear(along, dstart, tangent_at(tangents, 2)))


@rrule.register(np.arange)
def arange_rrule(
    start: Array,
    stop: Array = None,
    step: Number = None,
    dtype: DType = None,
    *,
    device: Choice = None,
    like: Array = None,
) -> OutputAndPullback:
    """yᵢ = start + i · step, hence start̄ = Σ ȳ and step̄ = Σ i ȳᵢ; the stop only tells how many numbers there are."""
    steps = Steps(start, stop, step, like)
    y = steps.numbers(dtype, device)
    return y, pullback_wrt(start, stop, step)(
        lambda ybar: np.sum(ybar) if steps.has_start else ZeroTangent(),
        lambda ybar: ZeroTangent(),
        lambda ybar: np.sum(np.arange(len(y)) * ybar),
    )
