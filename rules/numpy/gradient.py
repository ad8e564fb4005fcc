"""The rule of ``np.gradient``: the slopes between neighbours, averaged at each point.

Along one axis with the intervals hᵢ, the slopes are mᵢ = (fᵢ₊₁ - fᵢ) / hᵢ and their jumps Jᵢ = mᵢ - mᵢ₋₁. With the
weights wᵢ = hᵢ₋₁ / (hᵢ₋₁ + hᵢ), which are ½ for equal intervals, the output is mᵢ₋₁ + wᵢ Jᵢ inside; at the edges it is
m₀ and the last m, and to second order m₀ - w₁ J₁ and m + (1 - w) J, all of them the last.
"""

import functools

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple
from rulescore import ZeroTangent, apply_linear, frule, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, Arrays, Axis, Count, OutputAndPullback, OutputAndTangent

from .array_like import as_array, as_array_tangent, conj
from .differences import difference_adjoint, slab


class GradientAlongAxis:
    """The gradient of ``f`` along one axis, which is moved to the end, and its linearisation.

    ``spacing`` is one interval for all, or the coordinates of the points.
    """

    def __init__(self, f, spacing, axis, edge_order):
        self.axis, self.edge_order, self.length = axis, edge_order, f.shape[axis]
        self.is_uniform = np.ndim(spacing) == 0
        self.h = spacing if self.is_uniform else np.diff(spacing)
        self.w = 0.5 if self.is_uniform else self.h[:-1] / (self.h[:-1] + self.h[1:])
        self.f = f

    @functools.cached_property
    def m(self):
        """The slopes, which only the derivative with respect to the spacing needs."""
        return np.diff(np.moveaxis(self.f, self.axis, -1)) / self.h

    def tangent(self, df, dspacing):
        """ẏ from ṁ = (Δḟ - m ḣ) / h and ẇ."""
        dh = dspacing if self.is_uniform else np.diff(dspacing)
        dm = np.diff(np.moveaxis(df, self.axis, -1)) / self.h - apply_linear(lambda dh: self.m * dh / self.h, dh)
        dw = ZeroTangent() if self.is_uniform else apply_linear(self.weights_tangent, dh)
        return np.moveaxis(apply_linear(self.averages, dm, dw), -1, self.axis)

    def weights_tangent(self, dh):
        """ẇ from ḣ."""
        a, b = self.h[:-1], self.h[1:]
        return (b * dh[:-1] - a * dh[1:]) / (a + b) ** 2

    def averages(self, dm, dw):
        """ẏ from ṁ and ẇ."""
        dsteps = self.w * np.diff(dm) + apply_linear(lambda dw: np.diff(self.m) * dw, dw)
        at_first, inside, at_last = dm[..., :1], dm[..., :-1] + dsteps, dm[..., -1:]
        if self.edge_order == 2:
            at_first = at_first - dsteps[..., :1]
            at_last = at_last + np.diff(dm)[..., -1:] - dsteps[..., -1:]
        return np.concatenate([at_first, inside, at_last], -1)

    def differences_bar(self, ybar):
        """m̄ / h, the cotangent of the differences of neighbours.

        Inside, y is (1 - wᵢ) mᵢ₋₁ + wᵢ mᵢ; at the edges (1 + w₁) m₀ - w₁ m₁ to second order, and likewise the last.
        """
        axis, w, h = self.axis, self._beside(conj(self.w)), self._beside(conj(self.h))
        if self.is_uniform:
            ybar = ybar / h
        first, inside, last = slab(ybar, axis, 0, 1), slab(ybar, axis, 1, -1), slab(ybar, axis, -1, None)
        of_right = w * inside
        of_left = of_right if self.is_uniform else inside - of_right
        if self.edge_order == 2:
            at_first, at_last = (w, w) if self.is_uniform else (slab(w, axis, 0, 1), slab(w, axis, -1, None))
            second = slab(of_right, axis, 0, 1) - at_first * first
            before_last = slab(of_left, axis, -1, None) - (1 - at_last) * last
            of_right_parts, of_left_parts = (
                [second, slab(of_right, axis, 1, None)],
                [slab(of_left, axis, 0, -1), before_last],
            )
            first, last = (1 + at_first) * first, (2 - at_last) * last
        else:
            of_right_parts, of_left_parts = [of_right], [of_left]
        bar = np.concatenate([*of_left_parts, last], axis) + np.concatenate([first, *of_right_parts], axis)
        return bar if self.is_uniform else bar / h

    def f_bar(self, differences_bar):
        return difference_adjoint(differences_bar, self.axis, self.length)

    def _beside(self, x):
        """Numbers along the axis, as they stand beside the array."""
        return x if self.is_uniform else np.reshape(x, [-1 if i == self.axis else 1 for i in range(self.f.ndim)])

    def spacing_bar(self, differences_bar, ybar):
        """From h̄ = -conj(m) m̄ / h, and w̄ = conj(J) times the cotangent of the steps w J."""
        differences_bar = np.moveaxis(differences_bar, self.axis, -1)
        if self.is_uniform:
            return -np.sum(conj(self.m) * differences_bar)
        ybar, others = np.moveaxis(ybar, self.axis, -1), tuple(range(ybar.ndim - 1))
        hbar = -np.sum(conj(self.m) * differences_bar, others)
        steps_bar = ybar[..., 1:-1]
        if self.edge_order == 2:  # which have a part in the values at the edges too
            none = np.zeros_like(ybar[..., 2:-1])
            steps_bar = (
                steps_bar - np.concatenate([ybar[..., :1], none], -1) - np.concatenate([none, ybar[..., -1:]], -1)
            )
        wbar = np.sum(conj(np.diff(self.m)) * steps_bar, others)
        a, b = conj(self.h[:-1]), conj(self.h[1:])
        none = np.zeros_like(hbar[:1])
        hbar = hbar + np.concatenate([wbar * b / (a + b) ** 2, none]) - np.concatenate([none, wbar * a / (a + b) ** 2])
        return difference_adjoint(hbar, 0, self.length)


def along_each_axis(f, varargs, axis, edge_order):
    """For each axis of the gradient: the `GradientAlongAxis`, and which of ``varargs`` is its spacing, None for 1."""
    f = as_array(f)
    # NumPy takes whole numbers to floating point too, so that unsigned ones do not wrap around.
    f = f if f.dtype.kind in "fc" else f.astype(float)
    axes = range(f.ndim) if axis is None else normalize_axis_tuple(axis, f.ndim)
    for i, one_axis in enumerate(axes):
        which = None if not varargs else 0 if len(varargs) == 1 else i
        spacing = 1.0 if which is None else as_array(varargs[which])
        if np.ndim(spacing) and spacing.dtype.kind not in "fc":
            spacing = spacing.astype(float)
        yield GradientAlongAxis(f, spacing, one_axis, edge_order), which


@frule.register(np.gradient)
@pushforward
def gradient_frule(
    df: Array, dvarargs: Arrays, f: Array, /, *varargs: Arrays, axis: Axis = None, edge_order: Count = 1
) -> OutputAndTangent:
    y = np.gradient(f, *varargs, axis=axis, edge_order=edge_order)
    df = as_array_tangent(df, f)
    dspacings = list(map(as_array_tangent, dvarargs, varargs))
    dy = tuple(
        along.tangent(df, ZeroTangent() if which is None else dspacings[which])
        for along, which in along_each_axis(f, varargs, axis, edge_order)
    )
    return y, dy if isinstance(y, tuple) else dy[0]


@rrule.register(np.gradient)
def gradient_rrule(f: Array, /, *varargs: Arrays, axis: Axis = None, edge_order: Count = 1) -> OutputAndPullback:
    """The outputs are one array for each axis, all of the same ``f``; a single spacing serves all axes."""
    y = np.gradient(f, *varargs, axis=axis, edge_order=edge_order)
    has_several = isinstance(y, tuple)

    @pullback_wrt(f, *varargs)
    def gradient_pullback(ybar):
        parts = [
            (along, which, part, functools.cache(functools.partial(apply_linear, along.differences_bar, part)))
            for (along, which), part in zip(
                along_each_axis(f, varargs, axis, edge_order), ybar if has_several else [ybar], strict=True
            )
        ]

        def f_bar():
            return sum((apply_linear(along.f_bar, bar()) for along, _, _, bar in parts), ZeroTangent())

        def spacing_bar(i):
            mine = ((along, part, bar) for along, which, part, bar in parts if which == i)
            return sum((apply_linear(along.spacing_bar, bar(), part) for along, part, bar in mine), ZeroTangent())

        return (f_bar, *[functools.partial(spacing_bar, i) for i in range(len(varargs))]) if varargs else f_bar()

    return y, gradient_pullback
