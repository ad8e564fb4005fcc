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

from rules.numpy.array_like import as_array, as_array_tangent, conj, seen_by_tracers, shape_of
from rules.scipy.linear_maps import reference_ad
from rules.scipy.signal.convolutions import thunks
from rules.scipy.signal.lags import sums_over_lags
from rulescore import AbstractZero, NoTangent, ZeroTangent, frule, project_to, rrule, unbroadcast, unthunk

NO_TANGENT = NoTangent()


def filtered(b, a, x, axis=-1, zi=None):
    """The output of `scipy.signal.lfilter`; with an initial state, a tuple of it and the final state."""
    keywords = {} if zi is None else {"zi": zi}
    return seen_by_tracers(scipy.signal.lfilter, b, a, x, axis=axis, **keywords)


def coefficients(b):
    """As an array of one dimension."""
    return np.atleast_1d(as_array(b))


def padded(b, count):
    """Coefficients with zeros behind them."""
    return b if len(b) == count else np.concatenate([b, np.zeros(count - len(b), b.dtype)])


class BackwardFilter:
    """What the cotangents of a filter's arguments are made of: the filter running backwards in time, from ȳ and z̄_f.

    Time is the last axis of all that it holds.
    """

    def __init__(self, b, a, axis, ybar, zf_bar):
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
def lfilter_rrule(b, a, x, axis=-1, zi=None):
    """See above for the formulas; a₀ stands in the initial and the final state too."""
    output = filtered(b, a, x, axis, zi)
    y, zf = (output, None) if zi is None else output
    projects = [project_to(argument) for argument in (b, a, x, zi)]
    shapes = [shape_of(argument) for argument in (b, a)]
    b, a, x, zi = coefficients(b), coefficients(a), as_array(x), as_array(zi)

    def lfilter_pullback(bars):
        ybar, zf_bar = (bars, ZeroTangent()) if zi is None or isinstance(bars, AbstractZero) else bars
        ybar, zf_bar = unthunk(ybar), unthunk(zf_bar)
        if isinstance(ybar, AbstractZero):
            if isinstance(zf_bar, AbstractZero):
                all_bars = [project(ybar) for project in projects]
                return (NO_TANGENT, *all_bars[:3], NO_TANGENT, all_bars[3])[: 4 if zi is None else 6]
            ybar = np.zeros(np.shape(y), y.dtype)
        backward = BackwardFilter(b, a, axis, ybar, zf_bar)

        def b_bar():
            return np.reshape(backward.b_bar(x), shapes[0])

        def a_bar():
            abar = backward.a_bar(y)
            if zi is not None:
                of_first = np.sum(conj(zi) * backward.at_the_beginning())
                if not isinstance(zf_bar, AbstractZero):
                    of_first = of_first - np.vdot(zf, zf_bar) / conj(a[0])
                abar = np.concatenate([abar[:1] + of_first, abar[1:]])
            return np.reshape(abar, shapes[1])

        def zi_bar():
            return unbroadcast(conj(a[0]) * backward.at_the_beginning(), np.shape(zi))

        *of_three, of_zi = thunks(projects, [b_bar, a_bar, backward.x_bar, zi_bar])
        return (NO_TANGENT, *of_three) if zi is None else (NO_TANGENT, *of_three, NO_TANGENT, of_zi)

    return output, lfilter_pullback


@frule.register(scipy.signal.lfilter)
def lfilter_frule(tangents, b, a, x, axis=-1, zi=None):
    """The derivative of the equation above: a ∗ ẏ + u̇ = ḃ ∗ x + b ∗ ẋ - ȧ ∗ y + ȧ₀ zᵢ + a₀ żᵢ, by the same filter."""
    _, db, da, dx, _, dzi = (*tangents, *[NO_TANGENT] * (6 - len(tangents)))
    output = filtered(b, a, x, axis, zi)
    y, zf = (output, None) if zi is None else output
    db, da, dx, dzi = (as_array_tangent(d, argument) for d, argument in ((db, b), (da, a), (dx, x), (dzi, zi)))
    b, a, x, zi = coefficients(b), coefficients(a), as_array(x), as_array(zi)
    count = max(len(b), len(a))
    terms = []

    def add(numerator, signal, state=None):
        """What a filter with the denominator a makes of one of the terms; the states are as long as ``zi``."""
        if zi is None:
            terms.append(filtered(numerator, a, signal, axis))
        else:
            state = np.zeros(np.shape(zf), y.dtype) if state is None else state
            terms.append(filtered(padded(numerator, count), padded(a, count), signal, axis, state))

    if not isinstance(db, AbstractZero):
        add(np.atleast_1d(db), x)
    if not isinstance(dx, AbstractZero):
        add(b, dx)
    if not isinstance(da, AbstractZero):
        da = np.atleast_1d(da)
        add(-da, y, None if zi is None else da[0] / a[0] * np.broadcast_to(zi, np.shape(zf)))
    if not isinstance(dzi, AbstractZero):
        add(np.zeros(1, y.dtype), np.zeros(np.shape(y), y.dtype), np.broadcast_to(dzi, np.shape(zf)))
    if not terms:
        return output, ZeroTangent() if zi is None else (ZeroTangent(), ZeroTangent())
    if zi is None:
        return output, project_to(y)(sum(terms[1:], terms[0]))
    dy, dzf = (sum(parts[1:], parts[0]) for parts in zip(*terms, strict=True))
    if not isinstance(da, AbstractZero):
        dzf = dzf - da[0] / a[0] * zf
    return output, (project_to(y)(dy), project_to(zf)(dzf))


# ---------------------------------------------------------------- second-order sections


def denominator(section):
    """The coefficients a of a section, the first of which SciPy wants to be 1 and then takes for 1."""
    return np.concatenate([np.ones(1, section.dtype), section[4:]])


def cascade(sos, x, axis=-1, zi=None):
    """What `scipy.signal.sosfilt` computes: one filter after the other."""
    sos, x = as_array(sos), as_array(x)
    states = []
    for i in range(len(sos)):
        x = filtered(sos[i, :3], denominator(sos[i]), x, axis, None if zi is None else zi[i])
        if zi is not None:
            x, zf = x
            states.append(zf)
    return x if zi is None else (x, np.stack(states))


def sosfilt_call(sos, x, axis=-1, zi=None):
    return seen_by_tracers(scipy.signal.sosfilt, sos, x, axis=axis, **({} if zi is None else {"zi": zi}))


def backwards_in_time(sos, ybar, axis):
    """The transpose of the sections without states, whose order does not matter."""
    return np.flip(sosfilt_call(conj(as_array(sos)), np.flip(ybar, axis), axis), axis)


def beginnings(sos, ybar, axis):
    """The cotangents of the initial states, from what the sections behind each make of ȳ backwards in time."""
    states = []
    for i in reversed(range(len(sos))):
        backward = BackwardFilter(sos[i, :3], denominator(sos[i]), axis, ybar, ZeroTangent())
        states.append(backward.at_the_beginning())
        ybar = backward.x_bar() if i else None
    return np.stack(states[::-1])


@rrule.register(scipy.signal.sosfilt)
def sosfilt_rrule(sos, x, axis=-1, zi=None):
    """x̄ and z̄ᵢ are made of ȳ backwards in time; s̄, and what z̄_f adds, need the signals between the sections too."""
    output = sosfilt_call(sos, x, axis, zi)
    projects = [project_to(argument) for argument in (sos, x, zi)]

    def sosfilt_pullback(bars):
        if isinstance(bars, AbstractZero):
            sos_bar, xbar, zi_bar = (project(bars) for project in projects)
            return (NO_TANGENT, sos_bar, xbar) if zi is None else (NO_TANGENT, sos_bar, xbar, NO_TANGENT, zi_bar)
        ybar, zf_bar = (bars, ZeroTangent()) if zi is None else bars
        has_only_y = isinstance(unthunk(zf_bar), AbstractZero) and not isinstance(unthunk(ybar), AbstractZero)

        @functools.cache
        def by_cascade():
            arguments = (sos, x, axis) if zi is None else (sos, x, axis, zi)
            _, pullback = reference_ad().rrule_via_ad(cascade, *arguments)
            return [unthunk(bar) for bar in pullback(bars)]

        def x_bar():
            return backwards_in_time(sos, unthunk(ybar), axis) if has_only_y else by_cascade()[2]

        def zi_bar():
            return beginnings(as_array(sos), unthunk(ybar), axis) if has_only_y else by_cascade()[4]

        sos_bar, xbar, zi_bar = thunks(projects, [lambda: by_cascade()[1], x_bar, zi_bar])
        return (NO_TANGENT, sos_bar, xbar) if zi is None else (NO_TANGENT, sos_bar, xbar, NO_TANGENT, zi_bar)

    return output, sosfilt_pullback


@frule.register(scipy.signal.sosfilt)
def sosfilt_frule(tangents, sos, x, axis=-1, zi=None):
    _, dsos, dx, _, dzi = (*tangents, *[NO_TANGENT] * (5 - len(tangents)))
    if zi is None and isinstance(dsos, AbstractZero):
        y = sosfilt_call(sos, x, axis)
        return y, ZeroTangent() if isinstance(dx, AbstractZero) else sosfilt_call(sos, as_array_tangent(dx, x), axis)
    tangents = (NO_TANGENT, dsos, dx, NO_TANGENT, dzi)
    return reference_ad().frule_via_ad(tangents, cascade, sos, x, axis, zi)
