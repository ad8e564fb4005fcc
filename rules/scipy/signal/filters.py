"""Rules of the linear filters `scipy.signal.lfilter` and `sosfilt`.

With coefficients b and a, states zᵢ before and z_f after, the filter solves a ∗ y + u = b ∗ x + a₀ zᵢ for y and u. Here
∗ is the full convolution, zᵢ stands at the beginning, and u has nothing but a₀ z_f behind the last sample of y. So with
v the cotangent of both sides (v = z̄_f / a̅₀ behind the last sample), and ⋆ for the correlation,

    a̅ ⋆ v = ȳ,   x̄ = b̅ ⋆ v,   b̄ⱼ = Σₙ vₙ₊ⱼ x̅ₙ,   āⱼ = -Σₙ vₙ₊ⱼ y̅ₙ,   z̄ᵢ = a̅₀ v at the beginning,

the first of which is the filter 1/a̅ running backwards in time.
"""

import functools

import numpy as np

import scipy.signal
from rulescore import (
    AbstractZero,
    NoTangent,
    ZeroTangent,
    apply_linear,
    frule,
    ignore_derivatives,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
    unbroadcast,
)
from rulescore.typing import Array, Axis, OutputAndPullback, OutputAndTangent

from ...numpy.array_like import as_array, as_array_tangent, conj, shape_of
from ..linear_maps import reference_ad
from .lags import sums_over_lags


def filtered(b, a, x, axis=-1, zi=None):
    """The output of `scipy.signal.lfilter`; with an initial state, a tuple of it and the final state."""
    keywords = {} if zi is None else {"zi": zi}
    return seen_by_tracers(scipy.signal.lfilter, b, a, x, axis=axis, **keywords)


def coefficients(b):
    """As an array of one dimension."""
    return np.atleast_1d(as_array(b))


def in_types_of(f, y, *args):
    """What a function returns, in the types in which SciPy returns it: in single precision, each version has others.

    Numbers count as Python's, which have no precision of their own: what is traced does not say whether it was one.
    """
    made = seen_by_tracers(f, *[x.item() if isinstance(x, np.generic) else x for x in map(ignore_derivatives, args)])
    if not isinstance(y, tuple):
        return as_array(y).astype(made.dtype)
    return tuple([as_array(part).astype(np.result_type(part_made)) for part, part_made in zip(y, made, strict=True)])


def padded(b, count):
    """Coefficients with zeros behind them."""
    return b if len(b) == count else np.concatenate([b, np.zeros(count - len(b), b.dtype)])


NO_STATE_BAR = ZeroTangent()
"""Of a state that nobody has used."""


class BackwardFilter:
    """What the cotangents of a filter's arguments are made of: the filter running backwards in time, from ȳ and z̄_f.

    Time is the last axis of all that it holds. There is a tail, and more to do, where z̄_f is not zero.
    """

    def __init__(self, b, a, axis, ybar, zf_bar=NO_STATE_BAR):
        self.b, self.a, self.axis = conj(b), conj(a), axis
        self.order = max(len(b), len(a)) - 1
        self.ybar = np.moveaxis(ybar, axis, -1)
        self.tail = None if isinstance(zf_bar, AbstractZero) else np.moveaxis(zf_bar, axis, -1) / self.a[0]

    @functools.cached_property
    def v(self):
        """The cotangent of both sides of the equation of the filter."""
        if len(self.a) == 1:
            v = self.ybar / self.a[0]
        else:
            one = np.ones(1, self.a.dtype if self.a.dtype.kind in "fc" else float)
            zi = None if self.tail is None else self.state_after(self.tail)
            v = filtered(one, self.a, np.flip(self.ybar, -1), zi=zi)
            v = np.flip(v if zi is None else v[0], -1)
        return v if self.tail is None else np.concatenate([v, self.tail], axis=-1)

    def state_after(self, outputs):
        """The state of the filter 1/a after these outputs, the last one first: zₖ = -Σₘ aₖ₊ₘ₊₁ yₘ / a₀."""
        order = len(self.a) - 1
        numbers = np.add.outer(np.arange(order), np.arange(1, order + 1))
        hankel = padded(self.a / self.a[0], 2 * order + 1)[numbers]
        return -np.matmul(outputs[..., :order], hankel)

    def x_bar(self):
        if self.tail is None:
            xbar = np.flip(filtered(self.b, self.a, np.flip(self.ybar, -1)), -1)
        else:
            # Of the denominators that mean 1, this one has SciPy go through all signals in C.
            one = np.array([1.0, 0.0]).astype(self.ybar.dtype)
            xbar = np.flip(filtered(self.b, one, np.flip(self.v, -1)), -1)[..., : self.ybar.shape[-1]]
        return np.moveaxis(xbar, -1, self.axis)

    def b_bar(self, x):
        return sums_over_lags(self.v, np.moveaxis(x, self.axis, -1), len(self.b))

    def a_bar(self, y):
        return -sums_over_lags(self.v, np.moveaxis(y, self.axis, -1), len(self.a))

    def at_the_beginning(self):
        """v where the initial state stands, with time where the signals have it."""
        v, zeros = self.v, self.order - self.v.shape[-1]
        if zeros > 0:
            v = np.concatenate([v, np.zeros((*v.shape[:-1], zeros), v.dtype)], axis=-1)
        return np.moveaxis(v[..., : self.order], -1, self.axis)


@rrule.register(scipy.signal.lfilter)
def lfilter_rrule(b: Array, a: Array, x: Array, axis: Axis = -1, zi: Array = None) -> OutputAndPullback:
    """See above for the formulas; a₀ stands in the initial and the final state too."""
    output = filtered(b, a, x, axis, zi)
    y, zf = (output, None) if zi is None else output
    numerator, divisor, signal, state = coefficients(b), coefficients(a), as_array(x), as_array(zi)
    shape_of_b, shape_of_a = shape_of(b), shape_of(a)

    @pullback_wrt(b, a, x, ..., zi)
    def lfilter_pullback(bars):
        ybar, zf_bar = (bars, ZeroTangent()) if zi is None else (np.zeros(np.shape(y), y.dtype) + bars[0], bars[1])
        backward = BackwardFilter(numerator, divisor, axis, ybar, zf_bar)

        def b_bar():
            return np.reshape(backward.b_bar(signal), shape_of_b)

        def a_bar():
            abar = backward.a_bar(y)
            if zi is not None:
                of_first = np.sum(conj(state) * backward.at_the_beginning())
                of_first = of_first - apply_linear(lambda zf_bar: np.vdot(zf, zf_bar), zf_bar) / conj(divisor[0])
                abar = np.concatenate([abar[:1] + of_first, abar[1:]])
            return np.reshape(abar, shape_of_a)

        def zi_bar():
            return unbroadcast(conj(divisor[0]) * backward.at_the_beginning(), np.shape(state))

        return b_bar, a_bar, backward.x_bar, zi_bar

    return output, lfilter_pullback


@frule.register(scipy.signal.lfilter)
@pushforward
def lfilter_frule(
    db: Array, da: Array, dx: Array, dzi: Array, b: Array, a: Array, x: Array, axis: Axis = -1, zi: Array = None
) -> OutputAndTangent:
    """The derivative of the equation above: a ∗ ẏ + u̇ = ḃ ∗ x + b ∗ ẋ - ȧ ∗ y + ȧ₀ zᵢ + a₀ żᵢ, by the same filter."""
    output = filtered(b, a, x, axis, zi)
    y, zf = (output, None) if zi is None else output
    db, da, dx, dzi = (as_array_tangent(d, argument) for d, argument in ((db, b), (da, a), (dx, x), (dzi, zi)))
    db, da = (apply_linear(np.atleast_1d, d) for d in (db, da))
    b, a, x, zi = coefficients(b), coefficients(a), as_array(x), as_array(zi)
    count = max(len(b), len(a))

    def term(numerator, signal, state=None):
        """What a filter with the denominator a makes of one of the terms; the states are as long as ``zi``."""
        if zi is None:
            return filtered(numerator, a, signal, axis)
        state = np.zeros(np.shape(zf), y.dtype) if state is None else state
        return filtered(padded(numerator, count), padded(a, count), signal, axis, state)

    def of_a(da):
        return term(-da, y, None if zi is None else da[0] / a[0] * np.broadcast_to(zi, np.shape(zf)))

    def of_zi(dzi):
        return term(np.zeros(1, y.dtype), np.zeros(np.shape(y), y.dtype), np.broadcast_to(dzi, np.shape(zf)))

    along_b, along_x = apply_linear(lambda db: term(db, x), db), apply_linear(lambda dx: term(b, dx), dx)
    along_a, along_zi = apply_linear(of_a, da), apply_linear(of_zi, dzi)
    if zi is None:
        return output, along_b + along_x + along_a
    dy, dzf = (along_b[i] + along_x[i] + along_a[i] + along_zi[i] for i in range(2))
    return output, (dy, dzf - da[0] / a[0] * zf)


# ---------------------------------------------------------------- second-order sections


def denominator(section):
    """The coefficients a of a section, the first of which SciPy wants to be 1 and then takes for 1."""
    return np.concatenate([np.ones(1, section.dtype), section[4:]])


def cascade(sos, x, axis=-1, zi=None):
    """What `scipy.signal.sosfilt` computes: one filter after the other."""
    sos, axis, states = as_array(sos), int(axis), []
    x = np.moveaxis(as_array(x), axis, -1)  # SciPy filters along the last axis too
    for i in range(len(sos)):
        x = filtered(sos[i, :3], denominator(sos[i]), x, -1, None if zi is None else np.moveaxis(zi[i], axis, -1))
        if zi is not None:
            x, zf = x
            states.append(np.moveaxis(zf, -1, axis))
    y = np.moveaxis(x, -1, axis)
    return y if zi is None else (y, np.stack(states))


def sosfilt_call(sos, x, axis=-1, zi=None):
    return seen_by_tracers(scipy.signal.sosfilt, sos, x, axis=axis, **({} if zi is None else {"zi": zi}))


def backwards_in_time(sos, ybar, axis):
    """The transpose of the sections without states, whose order does not matter."""
    return np.flip(sosfilt_call(conj(as_array(sos)), np.flip(ybar, axis), axis), axis)


def beginnings(sos, ybar, axis):
    """The cotangents of the initial states, from what the sections behind each make of ȳ backwards in time."""
    states = []
    for i in reversed(range(len(sos))):
        backward = BackwardFilter(sos[i, :3], denominator(sos[i]), axis, ybar)
        states.append(backward.at_the_beginning())
        ybar = backward.x_bar() if i else None
    return np.stack(states[::-1])


@rrule.register(scipy.signal.sosfilt)
def sosfilt_rrule(sos: Array, x: Array, axis: Axis = -1, zi: Array = None) -> OutputAndPullback:
    """x̄ and z̄ᵢ are made of ȳ backwards in time; s̄, and what z̄_f adds, need the signals between the sections too."""

    @pullback_wrt(sos, x, ..., zi)
    def sosfilt_pullback(bars):
        ybar, has_only_y = (bars, True) if zi is None else (bars[0], isinstance(bars[1], AbstractZero))

        @functools.cache
        def by_cascade():
            arguments = (sos, x, axis) if zi is None else (sos, x, axis, zi)
            return reference_ad().rrule_via_ad(cascade, *arguments)[1](bars)

        def x_bar():
            return backwards_in_time(sos, ybar, axis) if has_only_y else by_cascade()[2]

        def zi_bar():
            return beginnings(as_array(sos), ybar, axis) if has_only_y else by_cascade()[4]

        return lambda: by_cascade()[1], x_bar, zi_bar

    return sosfilt_call(sos, x, axis, zi), sosfilt_pullback


@frule.register(scipy.signal.sosfilt)
@pushforward
def sosfilt_frule(
    dsos: Array, dx: Array, dzi: Array, sos: Array, x: Array, axis: Axis = -1, zi: Array = None
) -> OutputAndTangent:
    if zi is None and isinstance(dsos, AbstractZero):
        return sosfilt_call(sos, x, axis), sosfilt_call(sos, as_array_tangent(dx, x), axis)
    return reference_ad().frule_via_ad((NoTangent(), dsos, dx, NoTangent(), dzi), cascade, sos, x, axis, zi)
