"""Rules of the QR and RQ decompositions."""

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy.linalg
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
)
from rulescore.typing import Array, Choice, Count, Flag, OutputAndPullback, OutputAndTangent

from ...numpy.array_like import as_array_tangent
from ...numpy.linalg.qr import Complete, OrthogonalFactors, Raw, Reduced
from ...numpy.products import adjoint
from ...numpy.reduced_axes import given
from ..working_precision import in_working_precision

# ---------------------------------------------------------------- qr


class Decomposition:
    """A = Q R, or A P = Q R with pivoting, as ``qr`` returns it in each mode.

    Attributes
    ----------
    y : tuple or list
        What SciPy returns, the order of the columns behind it.
    columns : ndarray of int or None
        That order.
    """

    def __init__(self, a, mode, pivoting, lwork, check_finite):
        self.mode = mode
        # SciPy 1.18 warns of ``lwork``, whatever it is.
        keywords = {**given(lwork=lwork), "pivoting": pivoting, "check_finite": check_finite}
        if mode == "raw" and np.ndim(a) > 2:
            raise MDNotImplementedError  # of which SciPy makes no stacks
        # In the mode 'r' R is returned alone, but Q is what it moves by.
        computed = seen_by_tracers(scipy.linalg.qr, a, mode="economic" if mode == "r" else mode, **keywords)
        self.columns = np.asarray(ignore_derivatives(computed[-1])) if pivoting else None
        if mode == "raw":
            (packed, tau), _ = computed[:2]
            self.returned = Raw(np.swapaxes(packed, -1, -2), tau)
        else:
            q, r = computed[:2]
            self.returned = Complete(q, r) if q.shape[-1] > r.shape[-1] else Reduced(q, r)
        self.y = self._of_r(computed, np.shape(a)) if mode == "r" else computed

    def _of_r(self, computed, shape):
        r = self.with_rows(computed[1], shape[-2])
        rest = (r, *computed[2:])
        return rest if isinstance(computed, tuple) else rest[0] if len(rest) == 1 else list(rest)

    def with_rows(self, r, rows):
        """R with rows of zeros below, as many as A has."""
        missing = rows - r.shape[-2]
        return np.concatenate([r, np.zeros((*r.shape[:-2], missing, r.shape[-1]), r.dtype)], -2) if missing else r

    def factors(self):
        return OrthogonalFactors(self.returned.q, self.returned.r)

    def in_order(self, a):
        """A P."""
        if self.columns is None:
            return a
        return np.take_along_axis(a, np.broadcast_to(self.columns[..., None, :], np.shape(a)), axis=-1)

    def back(self, abar):
        if self.columns is None:
            return abar
        order = np.argsort(self.columns, axis=-1)
        return np.take_along_axis(abar, np.broadcast_to(order[..., None, :], np.shape(abar)), axis=-1)

    def tangent(self, da):
        """Of what is returned."""
        dy = self.factors().tangents(self.in_order(in_working_precision(da)))
        order = () if self.columns is None else (NoTangent(),)
        if self.mode == "raw":
            dpacked, dtau = self.returned.tangents(*dy)
            rows = np.shape(self.y[1])[-2]
            return (np.swapaxes(dpacked, -1, -2), dtau), self.with_rows(dy[1], rows), *order
        dq, dr = self.returned.tangents(*dy)
        if self.mode != "r":
            return dq, dr, *order
        r = self.y[0] if isinstance(self.y, (tuple, list)) else self.y
        dr = self.with_rows(dr, np.shape(r)[-2])
        return (dr, *order) if isinstance(self.y, (tuple, list)) else dr

    def cotangent(self, ybar):
        """Of A."""
        k = np.shape(self.returned.r)[-2]
        if self.mode == "r":
            rbar = ybar[0] if isinstance(self.y, (tuple, list)) else ybar
            return self._from_factors(ZeroTangent(), rbar[..., :k, :])
        first, rbar = ybar[0], ybar[1]
        if self.mode != "raw":
            return self._from_factors(*self.returned.cotangents(first, rbar))
        packed_bar, tau_bar = first[0], first[1]
        r_bar = np.triu(rbar[..., :k, :])
        if isinstance(first, AbstractZero):  # there may be no reflections, which only what LAPACK packs is made of
            return self._from_factors(first, r_bar)
        q_bar, of_packed = self.returned.cotangents(np.swapaxes(packed_bar, -1, -2), tau_bar)
        return self._from_factors(q_bar, of_packed + r_bar)

    def _from_factors(self, q_bar, r_bar):
        return apply_linear(lambda *bars: self.back(self.factors().cotangent(*bars)), q_bar, r_bar)


def decline_unknown_mode(mode, modes):
    if mode not in modes:
        raise MDNotImplementedError


@frule.register(scipy.linalg.qr)
@pushforward
def qr_frule(
    da: Array,
    a: Array,
    overwrite_a: Flag = False,
    lwork: Count = None,
    mode: Choice = "full",
    pivoting: Flag = False,
    check_finite: Flag = True,
) -> OutputAndTangent:
    decline_unknown_mode(mode, ("full", "r", "economic", "raw"))
    decomposition = Decomposition(a, mode, pivoting, lwork, check_finite)
    return decomposition.y, decomposition.tangent(as_array_tangent(da, a))


@rrule.register(scipy.linalg.qr)
def qr_rrule(
    a: Array,
    overwrite_a: Flag = False,
    lwork: Count = None,
    mode: Choice = "full",
    pivoting: Flag = False,
    check_finite: Flag = True,
) -> OutputAndPullback:
    """As the rule of `np.linalg.qr`, of the matrix with its columns in the order that pivoting puts them in."""
    decline_unknown_mode(mode, ("full", "r", "economic", "raw"))
    decomposition = Decomposition(a, mode, pivoting, lwork, check_finite)
    return decomposition.y, pullback_wrt(a)(decomposition.cotangent)


# ---------------------------------------------------------------- rq


def turned_around(a):
    """The rows and the columns in the opposite order, of the adjoint: A = R Q makes Q' R' of it."""
    return adjoint(a)[..., ::-1, ::-1]


class ReverseDecomposition:
    """A = R Q with an upper triangular R: turned around, it is the QR decomposition of the turned A.

    Its diagonal is real in LAPACK's too, so that the derivative is the same.
    """

    def __init__(self, r, q):
        q, r = turned_around(q), turned_around(r)
        self.returned = Complete(q, r) if q.shape[-1] > r.shape[-1] else Reduced(q, r)
        self.factors = OrthogonalFactors(self.returned.q, self.returned.r)

    def tangents(self, da):
        dq, dr = self.returned.tangents(*self.factors.tangents(turned_around(in_working_precision(da))))
        return turned_around(dr), turned_around(dq)

    def cotangent(self, rbar, qbar):
        bars = apply_linear(turned_around, qbar), apply_linear(turned_around, rbar)
        return turned_around(self.factors.cotangent(*self.returned.cotangents(*bars)))


def both_factors(a, mode, lwork, check_finite):
    """R and Q, also where R alone is asked for."""
    mode = "economic" if mode == "r" else mode
    return seen_by_tracers(scipy.linalg.rq, a, mode=mode, check_finite=check_finite, **given(lwork=lwork))


@frule.register(scipy.linalg.rq)
@pushforward
def rq_frule(
    da: Array,
    a: Array,
    overwrite_a: Flag = False,
    lwork: Count = None,
    mode: Choice = "full",
    check_finite: Flag = True,
) -> OutputAndTangent:
    decline_unknown_mode(mode, ("full", "economic"))
    y = both_factors(a, mode, lwork, check_finite)
    return y, ReverseDecomposition(*y).tangents(as_array_tangent(da, a))


@rrule.register(scipy.linalg.rq)
def rq_rrule(
    a: Array, overwrite_a: Flag = False, lwork: Count = None, mode: Choice = "full", check_finite: Flag = True
) -> OutputAndPullback:
    """See `ReverseDecomposition`."""
    decline_unknown_mode(mode, ("full", "economic"))
    y = both_factors(a, mode, lwork, check_finite)
    return y, pullback_wrt(a)(lambda ybar: ReverseDecomposition(*y).cotangent(*ybar))
