"""Rules of eigenvalues and eigenvectors of general matrices, also relative to another one: ``eig``, ``eigvals``."""

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy.linalg
from rulescore import (
    MissingDerivativeError,
    NotImplementedTangent,
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
from rulescore.typing import Array, Flag, Number, OutputAndPullback, OutputAndTangent

from ...numpy.array_like import as_array, as_array_tangent, conj, shape_of
from ...numpy.linalg.eigenvalues import (
    NO_EIGENVECTORS,
    coinciding,
    reciprocal_differences,
    refuse_cotangents_of,
    rounding_of,
    turning,
)
from ...numpy.linalg.general_eigenvalues import eig_cotangent, eig_tangents, eigvals_cotangent, eigvals_tangents
from ...numpy.products import adjoint
from ..working_precision import in_working_precision, solve
from .operands import up_to_the_last

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
        self.a, self.b = in_working_precision(a), in_working_precision(b)
        if b is not None:
            try:
                self.c = solve(self.b, self.a)
            except np.linalg.LinAlgError:
                raise MissingDerivativeError(INFINITE) from None

    def tangent(self, da, db):
        if self.b is None:
            return in_working_precision(da)
        return solve(self.b, da - db @ self.c)

    def cotangents(self, cbar):
        if self.b is None:
            return cbar, ZeroTangent()
        abar = apply_linear(lambda cbar: solve(adjoint(self.b), cbar), cbar)
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
        y = seen_by_tracers(scipy.linalg.eig, *up_to_the_last(a, b), left=self.left, right=True, **keywords)
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
            moved = apply_linear(adjoint, da), apply_linear(adjoint, db)
            dc_h = RelativeMatrix(adjoint(self.a), adjoint_of_b).tangent(*moved)
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
        wbar = bars[0][..., 0, :] if self.homogeneous else bars[0]
        left_bar = bars[1] if self.left else ZeroTangent()
        right_bar = bars[-1] if self.right else ZeroTangent()

        def of_right(wbar, right_bar):
            return self.eig_cotangent(self.w, self.v, wbar, right_bar)

        def of_left(left_bar):
            return self.eig_cotangent(conj(self.w), self.vl, ZeroTangent(), left_bar)

        abar, bbar = RelativeMatrix(self.a, self.b).cotangents(apply_linear(of_right, wbar, right_bar))
        if self.left:
            relative = RelativeMatrix(adjoint(self.a), None if self.b is None else adjoint(self.b))
            abar_h, bbar_h = relative.cotangents(apply_linear(of_left, left_bar))
            abar, bbar = abar + apply_linear(adjoint, abar_h), bbar + apply_linear(adjoint, bbar_h)
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

    def vectors_part(vbar):
        pairs = coinciding(w)
        refuse_cotangents_of(np.any(pairs, axis=-1), vbar, NO_EIGENVECTORS)
        refuse_phases(ignore_derivatives(v), ignore_derivatives(vbar))
        vbar = without_own_direction(v, vbar)
        return np.conjugate(reciprocal_differences(w, pairs)) * (adjoint(v) @ vbar)

    return eigvals_cotangent(w, v, wbar, apply_linear(vectors_part, vbar))


def without_own_direction(v, x):
    return x - v * np.sum(np.conjugate(v) * x, axis=-2, keepdims=True)


def refuse_phases(v, vbar):
    if np.iscomplexobj(v):
        sizes = np.max(np.abs(vbar), initial=0)
        if np.any(np.abs(turning(v, vbar)) > np.sqrt(rounding_of(v)) * sizes):
            raise MissingDerivativeError(NO_PHASE)


def spectrum_and_tangents(spectrum, da, db, a, b):
    dy = spectrum.tangents(as_array_tangent(da, a), as_array_tangent(db, b))
    return spectrum.y, dy[0] if len(spectrum) == 1 else tuple(dy)


def spectrum_and_pullback(spectrum, a, b):
    shape_a, shape_b = shape_of(a), None if b is None else shape_of(b)

    @pullback_wrt(a, b)
    def eig_pullback(ybar):
        abar, bbar = spectrum.cotangents([ybar] if len(spectrum) == 1 else ybar)
        return unbroadcast(abar, shape_a), lambda: unbroadcast(bbar, shape_b)

    return spectrum.y, eig_pullback


@frule.register(scipy.linalg.eig)
@pushforward
def eig_frule(
    da: Array,
    db: Array,
    a: Array,
    b: Array = None,
    left: Number = False,
    right: Number = True,
    overwrite_a: Flag = False,
    overwrite_b: Flag = False,
    check_finite: Flag = True,
    homogeneous_eigvals: Flag = False,
) -> OutputAndTangent:
    spectrum = GeneralSpectrum(a, b, left, right, check_finite, homogeneous_eigvals)
    return spectrum_and_tangents(spectrum, da, db, a, b)


@rrule.register(scipy.linalg.eig)
def eig_rrule(
    a: Array,
    b: Array = None,
    left: Number = False,
    right: Number = True,
    overwrite_a: Flag = False,
    overwrite_b: Flag = False,
    check_finite: Flag = True,
    homogeneous_eigvals: Flag = False,
) -> OutputAndPullback:
    """As the rule of `np.linalg.eig`, of the matrix B⁻¹ A where there is a B; see `GeneralSpectrum`."""
    return spectrum_and_pullback(GeneralSpectrum(a, b, left, right, check_finite, homogeneous_eigvals), a, b)


@frule.register(scipy.linalg.eigvals)
@pushforward
def eigvals_frule(
    da: Array,
    db: Array,
    a: Array,
    b: Array = None,
    overwrite_a: Flag = False,
    check_finite: Flag = True,
    homogeneous_eigvals: Flag = False,
) -> OutputAndTangent:
    spectrum = GeneralSpectrum(a, b, False, False, check_finite, homogeneous_eigvals)
    return spectrum_and_tangents(spectrum, da, db, a, b)


@rrule.register(scipy.linalg.eigvals)
def eigvals_rrule(
    a: Array, b: Array = None, overwrite_a: Flag = False, check_finite: Flag = True, homogeneous_eigvals: Flag = False
) -> OutputAndPullback:
    """dw = diag(V⁻¹ dA V), hence Ā = V⁻ᴴ diag(w̄) Vᴴ, whether or not eigenvalues are repeated."""
    return spectrum_and_pullback(GeneralSpectrum(a, b, False, False, check_finite, homogeneous_eigvals), a, b)
