"""Rules of eigenvalues and eigenvectors of real symmetric matrices that are given by their diagonals."""

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy.linalg
from rulescore import (
    AbstractZero,
    ZeroTangent,
    frule,
    ignore_derivatives,
    is_traced,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
    unbroadcast,
)
from rulescore.typing import Array, Choice, Count, Flag, Index, Number, OutputAndPullback, OutputAndTangent

from ...numpy.array_like import as_array, as_array_tangent, shape_of
from ...numpy.linalg.eigenvalues import eigh_cotangent, eigh_tangents
from ..working_precision import in_working_precision
from .banded_systems import HermitianBand, dense, diagonals

# ---------------------------------------------------------------- one diagonal, and one beside it


def decline_some_vectors(select, values_only):
    """The derivative of some vectors takes the others, which have not been computed."""
    if select not in ("a", "all", 0) and not values_only:
        raise MDNotImplementedError


def spectrum_of_matrix(matrix, uplo, select, select_range):
    """The eigenvalues that were asked for and their vectors, of a whole matrix, when their rule is differentiated.

    That takes all other vectors too, and their phases.
    """
    w, v = np.linalg.eigh(in_working_precision(matrix), uplo)
    if select in ("a", "all", 0):
        return w, v
    if select in ("i", "index", 2):
        first, last = map(int, select_range)
        return w[..., first : last + 1], v[..., first : last + 1]
    numbers = ignore_derivatives(w)
    if numbers.ndim > 1:
        raise MDNotImplementedError
    places = np.flatnonzero((select_range[0] < numbers) & (numbers <= select_range[1]))
    return w[places], v[:, places]


class TridiagonalSpectrum:
    """w and V of the matrix with the diagonal d and e on both sides of it."""

    def __init__(self, d, e, values_only, select, select_range, check_finite, tol, lapack_driver):
        decline_some_vectors(select, values_only)
        # The driver for values alone gives no vectors, which their derivative needs.
        driver = "stevd" if lapack_driver == "sterf" else lapack_driver
        keywords = {"check_finite": check_finite, "tol": tol, "lapack_driver": driver}
        if is_traced(d, e) and select not in ("a", "all", 0):
            matrix = dense(np.stack([as_array(d), with_zero_behind(as_array(e))], axis=-2), 0)
            self.both = spectrum_of_matrix(matrix, "L", select, select_range)
        else:
            self.both = seen_by_tracers(scipy.linalg.eigh_tridiagonal, d, e, False, select, select_range, **keywords)
        self.w, self.v = self.both
        self.values_only = values_only
        self.y = self.w if values_only else self.both

    def tangents(self, dd, de):
        v = self.v

        def beside(de):
            zeros = np.zeros((*np.shape(v)[:-2], 1, np.shape(v)[-1]), v.dtype)
            above = np.concatenate([de[..., :, None] * v[..., 1:, :], zeros], axis=-2)
            below = np.concatenate([zeros, de[..., :, None] * v[..., :-1, :]], axis=-2)
            return above, below

        dm_v = dd[..., :, None] * v
        if not isinstance(de, AbstractZero):
            above, below = beside(de)
            dm_v = dm_v + above + below
        if self.values_only:
            return np.sum(v * dm_v, axis=-2)
        # In the basis of the vectors; `eigh_tangents` goes there by itself.
        return eigh_tangents(self.w, v, dm_v @ np.swapaxes(v, -1, -2), "L")

    def cotangents(self, wbar, vbar):
        """Functions for d̄ and ē."""
        v = self.v
        if isinstance(vbar, AbstractZero):
            weighted = v * wbar[..., None, :]
            return (
                lambda: np.sum(weighted * v, axis=-1),
                lambda: 2 * np.sum(weighted[..., :-1, :] * v[..., 1:, :], axis=-1),
            )
        x = eigh_cotangent(self.w, v, wbar, vbar, "L")
        return lambda: np.diagonal(x, 0, -2, -1), lambda: 2 * np.diagonal(x, 1, -2, -1)


def with_zero_behind(e):
    return np.concatenate([e, np.zeros((*np.shape(e)[:-1], 1), e.dtype)], axis=-1)


def tridiagonal_and_tangents(spectrum, dd, de, d, e):
    return spectrum.y, spectrum.tangents(as_array_tangent(dd, d), as_array_tangent(de, e))


def tridiagonal_and_pullback(spectrum, d, e):
    shape_d, shape_e = shape_of(d), shape_of(e)

    @pullback_wrt(d, e)
    def eigh_tridiagonal_pullback(ybar):
        d_bar, e_bar = spectrum.cotangents(*((ybar, ZeroTangent()) if spectrum.values_only else ybar))
        return lambda: unbroadcast(d_bar(), shape_d), lambda: unbroadcast(e_bar(), shape_e)

    return spectrum.y, eigh_tridiagonal_pullback


@frule.register(scipy.linalg.eigh_tridiagonal)
@pushforward
def eigh_tridiagonal_frule(
    dd: Array,
    de: Array,
    _dtol: Number,
    d: Array,
    e: Array,
    eigvals_only: Flag = False,
    select: Choice = "a",
    select_range: Index = None,
    check_finite: Flag = True,
    tol: Number = 0.0,
    lapack_driver: Choice = "auto",
) -> OutputAndTangent:
    spectrum = TridiagonalSpectrum(d, e, eigvals_only, select, select_range, check_finite, tol, lapack_driver)
    return tridiagonal_and_tangents(spectrum, dd, de, d, e)


@rrule.register(scipy.linalg.eigh_tridiagonal)
def eigh_tridiagonal_rrule(
    d: Array,
    e: Array,
    eigvals_only: Flag = False,
    select: Choice = "a",
    select_range: Index = None,
    check_finite: Flag = True,
    tol: Number = 0.0,
    lapack_driver: Choice = "auto",
) -> OutputAndPullback:
    """As the rule of `np.linalg.eigh`; d̄ᵢ = Σ w̄ₖ vᵢₖ² and ēᵢ = 2 Σ w̄ₖ vᵢₖ vᵢ₊₁ₖ of the values alone."""
    spectrum = TridiagonalSpectrum(d, e, eigvals_only, select, select_range, check_finite, tol, lapack_driver)
    return tridiagonal_and_pullback(spectrum, d, e)


@frule.register(scipy.linalg.eigvalsh_tridiagonal)
@pushforward
def eigvalsh_tridiagonal_frule(
    dd: Array,
    de: Array,
    _dtol: Number,
    d: Array,
    e: Array,
    select: Choice = "a",
    select_range: Index = None,
    check_finite: Flag = True,
    tol: Number = 0.0,
    lapack_driver: Choice = "auto",
) -> OutputAndTangent:
    spectrum = TridiagonalSpectrum(d, e, True, select, select_range, check_finite, tol, lapack_driver)
    return tridiagonal_and_tangents(spectrum, dd, de, d, e)


@rrule.register(scipy.linalg.eigvalsh_tridiagonal)
def eigvalsh_tridiagonal_rrule(
    d: Array,
    e: Array,
    select: Choice = "a",
    select_range: Index = None,
    check_finite: Flag = True,
    tol: Number = 0.0,
    lapack_driver: Choice = "auto",
) -> OutputAndPullback:
    spectrum = TridiagonalSpectrum(d, e, True, select, select_range, check_finite, tol, lapack_driver)
    return tridiagonal_and_pullback(spectrum, d, e)


# ---------------------------------------------------------------- several diagonals


class BandedSpectrum:
    """w and V of a Hermitian matrix with the diagonals of one side.

    LAPACK leaves to chance by which phases complex vectors are turned, so that they are left out here.
    """

    def __init__(self, a_band, lower, values_only, select, select_range, max_ev, check_finite):
        decline_some_vectors(select, values_only)
        self.a_band = as_array(a_band)
        if 0 in np.shape(self.a_band):
            raise MDNotImplementedError
        if np.iscomplexobj(self.a_band) and not values_only:
            raise MDNotImplementedError
        keywords = {"select": select, "select_range": select_range, "max_ev": max_ev, "check_finite": check_finite}
        if is_traced(a_band) and values_only:
            matrix = dense(self.a_band, 0 if lower else np.shape(self.a_band)[-2] - 1)
            self.both = spectrum_of_matrix(matrix, "L" if lower else "U", select, select_range)
        else:
            self.both = seen_by_tracers(scipy.linalg.eig_banded, a_band, lower, False, **keywords)
        self.w, self.v = self.both
        self.values_only, self.y = values_only, self.w if values_only else self.both
        self.band = HermitianBand(np.shape(self.a_band)[-2], lower)

    def tangents(self, da):
        moved = self.band.product(da, self.v)
        if self.values_only:
            return np.real(np.sum(np.conjugate(self.v) * moved, axis=-2))
        return eigh_tangents(self.w, self.v, moved @ np.swapaxes(self.v, -1, -2), "L")

    def cotangent(self, wbar, vbar):
        if isinstance(vbar, AbstractZero):
            return self.band.cotangent(-self.v * wbar[..., None, :], self.v)
        x = eigh_cotangent(self.w, self.v, wbar, vbar, "L")
        return self.band.with_half_diagonal(2 * diagonals(x, self.band.count, self.band.upper))


def banded_and_pullback(spectrum, a_band):
    @pullback_wrt(a_band)
    def eig_banded_pullback(ybar):
        return spectrum.cotangent(*((ybar, ZeroTangent()) if spectrum.values_only else ybar))

    return spectrum.y, eig_banded_pullback


@frule.register(scipy.linalg.eig_banded)
@pushforward
def eig_banded_frule(
    da_band: Array,
    a_band: Array,
    lower: Flag = False,
    eigvals_only: Flag = False,
    overwrite_a_band: Flag = False,
    select: Choice = "a",
    select_range: Index = None,
    max_ev: Count = 0,
    check_finite: Flag = True,
) -> OutputAndTangent:
    spectrum = BandedSpectrum(a_band, lower, eigvals_only, select, select_range, max_ev, check_finite)
    return spectrum.y, spectrum.tangents(as_array_tangent(da_band, a_band))


@rrule.register(scipy.linalg.eig_banded)
def eig_banded_rrule(
    a_band: Array,
    lower: Flag = False,
    eigvals_only: Flag = False,
    overwrite_a_band: Flag = False,
    select: Choice = "a",
    select_range: Index = None,
    max_ev: Count = 0,
    check_finite: Flag = True,
) -> OutputAndPullback:
    """As the rule of `np.linalg.eigh`, on the diagonals that are given."""
    spectrum = BandedSpectrum(a_band, lower, eigvals_only, select, select_range, max_ev, check_finite)
    return banded_and_pullback(spectrum, a_band)


@frule.register(scipy.linalg.eigvals_banded)
@pushforward
def eigvals_banded_frule(
    da_band: Array,
    a_band: Array,
    lower: Flag = False,
    overwrite_a_band: Flag = False,
    select: Choice = "a",
    select_range: Index = None,
    check_finite: Flag = True,
) -> OutputAndTangent:
    spectrum = BandedSpectrum(a_band, lower, True, select, select_range, 0, check_finite)
    return spectrum.y, spectrum.tangents(as_array_tangent(da_band, a_band))


@rrule.register(scipy.linalg.eigvals_banded)
def eigvals_banded_rrule(
    a_band: Array,
    lower: Flag = False,
    overwrite_a_band: Flag = False,
    select: Choice = "a",
    select_range: Index = None,
    check_finite: Flag = True,
) -> OutputAndPullback:
    return banded_and_pullback(BandedSpectrum(a_band, lower, True, select, select_range, 0, check_finite), a_band)
