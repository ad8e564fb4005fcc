"""Rules of eigenvalues and eigenvectors of general matrices, also relative to another one: ``eig``, ``eigvals``."""

import numpy as np
import scipy.linalg
from multipledispatch import MDNotImplementedError

from rules.numpy.array_like import as_array, as_array_tangent, conj, seen_by_tracers, shape_of
from rules.numpy.linalg.eigenvalues import (
    NO_EIGENVECTORS,
    coinciding,
    reciprocal_differences,
    refuse_cotangents_of,
    rounding_of,
    turning,
)
from rules.numpy.linalg.general_eigenvalues import eig_cotangent, eig_tangents, eigvals_cotangent, eigvals_tangents
from rules.numpy.products import adjoint
from rules.numpy.reduced_axes import tangent_at
from rules.scipy.linalg.batches import bars_of, tangents_of
from rulescore import (
    AbstractZero,
    MissingDerivativeError,
    NoTangent,
    NotImplementedTangent,
    Thunk,
    ZeroTangent,
    frule,
    ignore_derivatives,
    project_to,
    rrule,
    unbroadcast,
    unthunk,
)

NO_TANGENT = NoTangent()
ZERO_TANGENT = ZeroTangent()

NO_PHASE = (
    "complex eigenvectors of scipy.linalg.eig(a, b), used in a way that depends on their phases, which LAPACK leaves "
    "to chance there. Use what does not depend on them, such as abs(v), or eig(scipy.linalg.solve(b, a))"
)

INFINITE = (
    "eigenvalues of scipy.linalg.eig(a, b) with a singular b, some of which are infinite and have no derivative. "
    "Exchange a and b, which gives the reciprocals of the eigenvalues"
)


class RelativeMatrix:
    """C = B⁻¹ A, of which A v = w B v is the ordinary problem; dC = B⁻¹ (dA - dB C). Without B, it is A."""

    def __init__(self, a, b):
        self.a, self.b = a, b
        if b is not None:
            try:
                self.c = np.linalg.solve(b, a)
            except np.linalg.LinAlgError:
                raise MissingDerivativeError(INFINITE) from None

    def tangent(self, da, db):
        if self.b is None:
            return da
        right = ZERO_TANGENT if isinstance(da, AbstractZero) else da
        if not isinstance(db, AbstractZero):
            right = right - db @ self.c
        return np.linalg.solve(self.b, right)

    def cotangents(self, cbar):
        if self.b is None:
            return cbar, None
        abar = np.linalg.solve(adjoint(self.b), cbar)
        return abar, -abar @ adjoint(self.c)


class GeneralSpectrum:
    """What ``eig`` returns: w, and right vectors, left vectors, or both of them.

    The left vectors are right ones of Aᴴ (and Bᴴ) with the conjugates of the eigenvalues.
    """

    def __init__(self, a, b, left, right, check_finite, homogeneous):
        if homogeneous and b is not None:
            raise MDNotImplementedError  # pairs of numbers that only have a ratio
        self.left, self.right, self.homogeneous = bool(left), bool(right), homogeneous
        keywords = {"check_finite": check_finite, "homogeneous_eigvals": homogeneous}
        # The right vectors give the derivative of the eigenvalues.
        y = seen_by_tracers(scipy.linalg.eig, a, b, left=self.left, right=True, **keywords)
        self.all, self.is_relative = y, b is not None
        self.w, self.v = (y[0][..., 0, :] if homogeneous else y[0]), y[-1]
        self.vl = y[1] if self.left else None
        self.a, self.b = as_array(a), None if b is None else as_array(b)

    @property
    def y(self):
        kept = self.all[: 1 + self.left + self.right]
        if self.right and not self.left:
            return self.all
        return kept[0] if len(kept) == 1 else type(self.all)(kept)

    def __len__(self):
        return 1 + self.left + self.right

    def with_ones(self, dw):
        """The tangent of homogeneous eigenvalues, w and ones."""
        return np.stack([dw, np.zeros_like(dw)], axis=-2) if self.homogeneous else dw

    def tangents(self, da, db):
        dc = RelativeMatrix(self.a, self.b).tangent(da, db)
        if not self.right:
            dw, dv = eigvals_tangents(self.w, self.v, dc)[1], None
        else:
            dw, dv = self.eig_tangents(self.w, self.v, dc)
        dy = [dw if isinstance(dw, NotImplementedTangent) else self.with_ones(dw)]
        if self.left:
            adjoint_of_b = None if self.b is None else adjoint(self.b)
            dc_h = RelativeMatrix(adjoint(self.a), adjoint_of_b).tangent(adjoint_or_zero(da), adjoint_or_zero(db))
            dy.append(self.eig_tangents(conj(self.w), self.vl, dc_h)[1])
        if self.right:
            dy.append(dv)
        return dy

    def eig_tangents(self, w, v, dc):
        return relative_tangents(w, v, dc) if self.is_relative else eig_tangents(w, v, dc)

    def eig_cotangent(self, w, v, wbar, vbar):
        return relative_cotangent(w, v, wbar, vbar) if self.is_relative else eig_cotangent(w, v, wbar, vbar)

    def cotangents(self, bars):
        """Ā and B̄."""
        wbar = bars[0]
        if self.homogeneous and not isinstance(wbar, AbstractZero):
            wbar = wbar[..., 0, :]
        left_bar = bars[1] if self.left else ZERO_TANGENT
        right_bar = bars[-1] if self.right else ZERO_TANGENT
        abar, bbar = 0, None
        if not (isinstance(wbar, AbstractZero) and isinstance(right_bar, AbstractZero)):
            relative = RelativeMatrix(self.a, self.b)
            abar, bbar = relative.cotangents(self.eig_cotangent(self.w, self.v, wbar, right_bar))
        if not isinstance(left_bar, AbstractZero):
            relative = RelativeMatrix(adjoint(self.a), None if self.b is None else adjoint(self.b))
            cbar = self.eig_cotangent(conj(self.w), self.vl, ZERO_TANGENT, left_bar)
            abar_h, bbar_h = relative.cotangents(cbar)
            abar = abar + adjoint(abar_h)
            if bbar_h is not None:
                bbar = adjoint(bbar_h) if bbar is None else bbar + adjoint(bbar_h)
        return abar, bbar


def relative_tangents(w, v, dc):
    """As `eig_tangents`, for vectors of length 1 whose phases nobody fixes: they move as little as they can."""
    m, dw = eigvals_tangents(w, v, dc)
    pairs = coinciding(w)
    if np.any(pairs):
        return dw, NotImplementedTangent(NO_EIGENVECTORS)
    return dw, without_own_direction(v, v @ (reciprocal_differences(w, pairs) * m))


def relative_cotangent(w, v, wbar, vbar):
    """The transpose of `relative_tangents`."""
    if isinstance(vbar, AbstractZero):
        return eigvals_cotangent(w, v, wbar)
    pairs = coinciding(w)
    refuse_cotangents_of(np.any(pairs, axis=-1), vbar, NO_EIGENVECTORS)
    refuse_phases(ignore_derivatives(v), ignore_derivatives(vbar))
    vbar = without_own_direction(v, vbar)
    return eigvals_cotangent(w, v, wbar, np.conjugate(reciprocal_differences(w, pairs)) * (adjoint(v) @ vbar))


def without_own_direction(v, x):
    return x - v * np.sum(np.conjugate(v) * x, axis=-2, keepdims=True)


def refuse_phases(v, vbar):
    if np.iscomplexobj(v):
        sizes = np.max(np.abs(vbar), initial=0)
        if np.any(np.abs(turning(v, vbar)) > np.sqrt(rounding_of(v)) * sizes):
            raise MissingDerivativeError(NO_PHASE)


def adjoint_or_zero(da):
    return da if isinstance(da, AbstractZero) else adjoint(da)


def spectrum_frule(spectrum, tangents, a, b):
    da, db = as_array_tangent(unthunk(tangents[1]), a), as_array_tangent(unthunk(tangent_at(tangents, 1)), b)
    y = spectrum.y
    if isinstance(da, AbstractZero) and isinstance(db, AbstractZero):
        return y, ZERO_TANGENT
    dy = spectrum.tangents(da, db)
    if len(spectrum) == 1:
        return y, dy[0] if isinstance(dy[0], NotImplementedTangent) else project_to(y)(dy[0])
    return y, tangents_of(y, dy)


def spectrum_rrule(spectrum, a, b):
    project_a, project_b, shape_a = project_to(a), project_to(b), shape_of(a)
    shape_b = None if b is None else shape_of(b)

    def eig_pullback(ybar):
        bars = [unthunk(ybar)] if len(spectrum) == 1 else bars_of(ybar, len(spectrum))
        if bars is None or all(isinstance(bar, AbstractZero) for bar in bars):
            return NO_TANGENT, project_a(ZERO_TANGENT), project_b(ZERO_TANGENT)
        abar, bbar = spectrum.cotangents(bars)
        abar = project_a(unbroadcast(abar, shape_a))
        if b is None:
            return NO_TANGENT, abar
        return NO_TANGENT, abar, Thunk(lambda: project_b(unbroadcast(bbar, shape_b)))

    return spectrum.y, eig_pullback


@frule.register(scipy.linalg.eig)
def eig_frule(
    tangents,
    a,
    b=None,
    left=False,
    right=True,
    overwrite_a=False,
    overwrite_b=False,
    check_finite=True,
    homogeneous_eigvals=False,
):
    return spectrum_frule(GeneralSpectrum(a, b, left, right, check_finite, homogeneous_eigvals), tangents, a, b)


@rrule.register(scipy.linalg.eig)
def eig_rrule(
    a,
    b=None,
    left=False,
    right=True,
    overwrite_a=False,
    overwrite_b=False,
    check_finite=True,
    homogeneous_eigvals=False,
):
    """As the rule of `np.linalg.eig`, of the matrix B⁻¹ A where there is a B; see `GeneralSpectrum`."""
    return spectrum_rrule(GeneralSpectrum(a, b, left, right, check_finite, homogeneous_eigvals), a, b)


@frule.register(scipy.linalg.eigvals)
def eigvals_frule(tangents, a, b=None, overwrite_a=False, check_finite=True, homogeneous_eigvals=False):
    return spectrum_frule(GeneralSpectrum(a, b, False, False, check_finite, homogeneous_eigvals), tangents, a, b)


@rrule.register(scipy.linalg.eigvals)
def eigvals_rrule(a, b=None, overwrite_a=False, check_finite=True, homogeneous_eigvals=False):
    """dw = diag(V⁻¹ dA V), hence Ā = V⁻ᴴ diag(w̄) Vᴴ, whether or not eigenvalues are repeated."""
    return spectrum_rrule(GeneralSpectrum(a, b, False, False, check_finite, homogeneous_eigvals), a, b)
