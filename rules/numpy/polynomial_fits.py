"""Rules of polynomials fitted to points: `numpy.polyfit`."""

import warnings

from multipledispatch import MDNotImplementedError

import numpy as np
from rulescore import (
    NoTangent,
    ZeroTangent,
    frule,
    pullback_wrt,
    pushforward,
    rrule,
    unthunk,
)
from rulescore.typing import Array, Choice, Count, Flag, Number, OutputAndPullback, OutputAndTangent

from .array_like import as_array, conj, full_tangent
from .polynomials import powers_and_lower_powers


class Fit:
    """The problem of least squares that ``np.polyfit`` solves, as it is solved there.

    The powers V of x, times the weights W, are scaled to columns of length 1: A = W V / s. The coefficients are those
    of A, divided by s.
    """

    __slots__ = ("a", "c", "cov", "inverse", "outputs", "powers", "pullback", "rhs", "s", "spare", "w", "x", "y")

    def __init__(self, x, y, deg, rcond, w, cov):
        self.x, self.y, self.w, self.cov = x, y, w, cov
        self.powers = np.vander(x, int(deg) + 1)
        self.rhs = self.weighted(y).astype(y.dtype)
        lhs = self.weighted(self.powers).astype(self.powers.dtype)
        self.s = np.sqrt(np.sum(lhs * lhs, axis=0))
        self.a = lhs / self.s
        rcond = len(x) * np.finfo(x.dtype).eps if rcond is None else rcond
        (c, squares, rank, singular), self.pullback = rrule(np.linalg.lstsq, self.a, self.rhs, rcond)
        self.c = (c.T / self.s).T
        self.outputs = self.c, squares, rank, singular, rcond
        self.spare = 1 if cov == "unscaled" else len(x) - len(self.s)
        self.inverse = np.linalg.inv(self.a.T @ self.a) / np.outer(self.s, self.s) if cov else None

    def weighted(self, rows):
        return rows if self.w is None else rows * (self.w[:, None] if np.ndim(rows) == 2 else self.w)

    def factor(self):
        """What the covariance has besides the inverse of Aᵀ A."""
        return 1 if self.cov == "unscaled" else self.outputs[1] / self.spare

    def covariance(self):
        return (self.inverse if np.ndim(self.y) == 1 else self.inverse[:, :, None]) * self.factor()

    def tangent(self, dx, dy, dw):
        """The tangents of the five outputs, and of the covariance."""
        dpowers = np.concatenate([self.slopes() * dx[:, None], np.zeros((len(dx), 1), dx.dtype)], 1)
        dlhs, drhs = self.weighted(dpowers), self.weighted(dy)
        if self.w is not None:
            dlhs, drhs = dlhs + self.powers * dw[:, None], drhs + self.y * (dw[:, None] if np.ndim(dy) == 2 else dw)
        ds = np.sum(self.a * dlhs, axis=0)
        da = (dlhs - self.a * ds) / self.s
        *_, dsolution = frule((NoTangent(), da, drhs, NoTangent()), np.linalg.lstsq, self.a, self.rhs, self.outputs[4])
        dc, dsquares, _, dsingular = dsolution
        dc = ((dc.T - self.c.T * ds) / self.s).T
        if not self.cov:
            return (dc, dsquares, NoTangent(), dsingular, NoTangent()), None
        dgram, relative = (da.T @ self.a) * np.outer(self.s, self.s), ds / self.s
        dinverse = -self.inverse @ (dgram + dgram.T) @ self.inverse - self.inverse * np.add.outer(relative, relative)
        dfactor = ZeroTangent() if self.cov == "unscaled" else dsquares / self.spare
        of_inverse = (dinverse if np.ndim(self.y) == 1 else dinverse[:, :, None]) * self.factor()
        inverse = self.inverse if np.ndim(self.y) == 1 else self.inverse[:, :, None]
        return (dc, dsquares, NoTangent(), dsingular, NoTangent()), of_inverse + inverse * dfactor

    def slopes(self):
        """The derivatives of the columns of V, but for the last, which is constant."""
        exponents, lower = powers_and_lower_powers(self.powers, increasing=False)
        return exponents * lower

    def cotangents(self, cbar, squares_bar, singular_bar, cov_bar):
        """x̄, ȳ and w̄."""
        sbar, abar = np.zeros(len(self.s)), np.zeros(self.a.shape)
        if self.cov:
            inverse_bar, factor_bar = self._inverse_bar(cov_bar)
            squares_bar = squares_bar + factor_bar
            both = inverse_bar + inverse_bar.T
            sbar = sbar - np.sum(both * self.inverse, axis=1) / self.s
            scales = np.outer(self.s, self.s)
            abar = -self.a @ (self.inverse * scales) @ (both / scales) @ (self.inverse * scales)
        terms = np.real(conj(self.c) * cbar)
        sbar = sbar - np.reshape(terms, (len(self.s), -1)).sum(1) / self.s
        cbar = (cbar.T / self.s).T
        _, of_a, rhs_bar, *_ = self.pullback((cbar, squares_bar, NoTangent(), singular_bar))
        abar = abar + unthunk(of_a) + np.zeros(self.a.shape)
        rhs_bar = unthunk(rhs_bar) + np.zeros_like(self.rhs)
        sbar = sbar - np.sum(abar * self.a, axis=0) / self.s
        lhs_bar = abar / self.s + self.a * sbar
        xbar = np.sum(self.weighted(lhs_bar)[:, :-1] * self.slopes(), axis=1)
        if self.w is None:
            return xbar, rhs_bar, ZeroTangent()
        of_rhs = np.reshape(np.real(conj(self.y) * rhs_bar), (len(self.x), -1))
        return xbar, self.weighted(rhs_bar), np.sum(lhs_bar * self.powers, axis=1) + np.sum(of_rhs, axis=1)

    def _inverse_bar(self, cov_bar):
        columns = cov_bar if np.ndim(self.y) == 2 else cov_bar[:, :, None]
        if self.cov == "unscaled":
            return np.sum(columns, axis=2), ZeroTangent()
        return columns @ self.factor(), np.sum(columns * self.inverse[:, :, None], axis=(0, 1)) / self.spare


def fit_of(x, y, deg, rcond, w, cov):
    """The `Fit` of arguments that NumPy takes, and that are real but for y."""
    x, y, w = as_array(x), as_array(y), None if w is None else as_array(w)
    shapes_fit = np.ndim(x) == 1 and np.ndim(y) in (1, 2) and 0 < len(x) == len(y) and deg >= 0
    if not shapes_fit or (w is not None and np.shape(w) != np.shape(x)) or np.iscomplexobj(x) or np.iscomplexobj(w):
        raise MDNotImplementedError
    if cov and ((cov != "unscaled" and len(x) <= deg + 1) or np.iscomplexobj(y)):
        raise MDNotImplementedError
    return Fit(x + 0.0, y + 0.0, deg, rcond, w if w is None else w + 0.0, cov)


def outputs_of_fit(fit, full):
    """What ``np.polyfit`` returns, with its warning."""
    if full:
        return fit.outputs
    if fit.outputs[2] != len(fit.s):
        warnings.warn("Polyfit may be poorly conditioned", np.exceptions.RankWarning, stacklevel=4)
    return (fit.c, fit.covariance()) if fit.cov else fit.c


@frule.register(np.polyfit)
@pushforward
def polyfit_frule(
    dx: Array,
    dy: Array,
    _drcond: Number,
    dw: Array,
    x: Array,
    y: Array,
    deg: Count,
    rcond: Number = None,
    full: Flag = False,
    w: Array = None,
    cov: Choice = False,
) -> OutputAndTangent:
    fit = fit_of(x, y, deg, rcond, w, False if full else cov)
    outputs, dw = outputs_of_fit(fit, full), None if w is None else full_tangent(dw, w)
    doutputs, dcov = fit.tangent(full_tangent(dx, x), full_tangent(dy, y), dw)
    if full:
        return outputs, doutputs
    return outputs, (doutputs[0], dcov) if cov else doutputs[0]


@rrule.register(np.polyfit)
def polyfit_rrule(
    x: Array, y: Array, deg: Count, rcond: Number = None, full: Flag = False, w: Array = None, cov: Choice = False
) -> OutputAndPullback:
    """The coefficients c solve a problem of least squares, and are differentiated as ``np.linalg.lstsq`` is."""
    fit = fit_of(x, y, deg, rcond, w, False if full else cov)

    @pullback_wrt(x, y, ..., ..., ..., w)
    def polyfit_pullback(ybar):
        cbar, squares_bar, singular_bar, cov_bar = ybar, ZeroTangent(), ZeroTangent(), ZeroTangent()
        if full:
            cbar, squares_bar, _, singular_bar, _ = ybar
        elif fit.cov:
            cbar, cov_bar = ybar
        return fit.cotangents(cbar, squares_bar, singular_bar, cov_bar)

    return outputs_of_fit(fit, full), polyfit_pullback
