"""The rule of ``np.gradient``: the slopes between neighbours, averaged at each point.

Along one axis with the intervals hᵢ, the slopes are mᵢ = (fᵢ₊₁ - fᵢ) / hᵢ and their jumps Jᵢ = mᵢ - mᵢ₋₁. With the
weights wᵢ = hᵢ₋₁ / (hᵢ₋₁ + hᵢ), which are ½ for equal intervals, the output is mᵢ₋₁ + wᵢ Jᵢ inside; at the edges it is
m₀ and the last m, and to second order m₀ - w₁ J₁ and m + (1 - w) J, all of them the last.
"""

import functools
import itertools

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from rules.numpy.array_like import as_array, as_array_tangent
from rules.numpy.differences import difference_adjoint
from rulescore import AbstractZero, NoTangent, ZeroTangent, frule, project_to, rrule

NO_TANGENT = NoTangent()


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
        dh = dspacing if self.is_uniform or isinstance(dspacing, AbstractZero) else np.diff(dspacing)
        dm, dw = ZeroTangent(), ZeroTangent()
        if not isinstance(df, AbstractZero):
            dm = np.diff(np.moveaxis(df, self.axis, -1)) / self.h
        if not isinstance(dh, AbstractZero):
            dm = dm - self.m * dh / self.h
            if not self.is_uniform:
                a, b = self.h[:-1], self.h[1:]
                dw = (b * dh[:-1] - a * dh[1:]) / (a + b) ** 2
        if isinstance(dm, AbstractZero):
            return dm
        return np.moveaxis(self.averages(dm, dw), -1, self.axis)

    def averages(self, dm, dw):
        """ẏ from ṁ and ẇ."""
        dsteps = self.w * np.diff(dm)
        if not isinstance(dw, AbstractZero):
            dsteps = dsteps + np.diff(self.m) * dw
        at_first, inside, at_last = dm[..., :1], dm[..., :-1] + dsteps, dm[..., -1:]
        if self.edge_order == 2:
            at_first = at_first - dsteps[..., :1]
            at_last = at_last + np.diff(dm)[..., -1:] - dsteps[..., -1:]
        return np.concatenate([at_first, inside, at_last], -1)

    def cotangents(self, ybar):
        """f̄, and a function that gives the cotangent of the spacing."""
        ybar = np.moveaxis(ybar, self.axis, -1)
        first, inside, last = ybar[..., :1], ybar[..., 1:-1], ybar[..., -1:]
        # The outermost slopes also are the output at the edges.
        mbar = np.concatenate([inside, last], -1) + followed_by_zeros(first, self.length - 1)
        steps_bar, jumps_bar = inside, 0
        if self.edge_order == 2:
            jumps_bar = np.flip(followed_by_zeros(last, self.length - 2), -1)
            steps_bar = inside - followed_by_zeros(first, self.length - 2) - jumps_bar
        jumps_bar = jumps_bar + np.conjugate(self.w) * steps_bar
        mbar = mbar + difference_adjoint(jumps_bar, -1, self.length - 1)
        fbar = difference_adjoint(mbar / np.conjugate(self.h), -1, self.length)
        return np.moveaxis(fbar, -1, self.axis), lambda: self.spacing_bar(mbar, steps_bar)

    def spacing_bar(self, mbar, steps_bar):
        """From h̄ = -conj(m) m̄ / h, and w̄ = conj(J) times the cotangent of the steps w J."""
        if self.is_uniform:
            return np.sum(-np.conjugate(self.m / self.h) * mbar)
        others = tuple(range(mbar.ndim - 1))
        hbar = np.sum(-np.conjugate(self.m / self.h) * mbar, others)
        wbar = np.sum(np.conjugate(np.diff(self.m)) * steps_bar, others)
        a, b = np.conjugate(self.h[:-1]), np.conjugate(self.h[1:])
        none = np.zeros_like(hbar[:1])
        hbar = hbar + np.concatenate([wbar * b / (a + b) ** 2, none]) - np.concatenate([none, wbar * a / (a + b) ** 2])
        return difference_adjoint(hbar, 0, self.length)


def followed_by_zeros(ybar, length):
    """``ybar``, continued to this length along the last axis."""
    return np.concatenate([ybar, np.zeros((*ybar.shape[:-1], length - ybar.shape[-1]), ybar.dtype)], -1)


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
def gradient_frule(tangents, f, /, *varargs, axis=None, edge_order=1):
    _, df, *dvarargs = tangents
    y = np.gradient(f, *varargs, axis=axis, edge_order=edge_order)
    df = as_array_tangent(df, f)
    dy = [
        along.tangent(df, ZeroTangent() if which is None else as_array_tangent(dvarargs[which], varargs[which]))
        for along, which in along_each_axis(f, varargs, axis, edge_order)
    ]
    if isinstance(y, tuple):
        return y, tuple(project_to(part)(dpart) for part, dpart in zip(y, dy, strict=True))
    return y, project_to(y)(dy[0])


@rrule.register(np.gradient)
def gradient_rrule(f, /, *varargs, axis=None, edge_order=1):
    """The outputs are one array for each axis, all of the same ``f``; a single spacing serves all axes."""
    y = np.gradient(f, *varargs, axis=axis, edge_order=edge_order)
    project, projects = project_to(f), [project_to(spacing) for spacing in varargs]
    has_several = isinstance(y, tuple)

    def gradient_pullback(ybar):
        fbar, spacing_bars = ZeroTangent(), [ZeroTangent() for _ in varargs]
        ybars = ybar if has_several and not isinstance(ybar, AbstractZero) else itertools.repeat(ybar)
        for (along, which), part in zip(along_each_axis(f, varargs, axis, edge_order), ybars, strict=False):
            if isinstance(part, AbstractZero):
                continue
            fbar_here, spacing_bar = along.cotangents(part)
            fbar = fbar + fbar_here
            if which is not None:
                spacing_bars[which] = spacing_bars[which] + spacing_bar()
        return NO_TANGENT, project(fbar), *(p(bar) for p, bar in zip(projects, spacing_bars, strict=True))

    return y, gradient_pullback
