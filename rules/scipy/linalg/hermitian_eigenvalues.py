"""Rules of eigenvalues and eigenvectors of Hermitian matrices, also relative to another one: ``eigh``, ``eigvalsh``."""

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy.linalg
from rulescore import (
    AbstractZero,
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
from rulescore.typing import Array, Choice, Flag, Index, Number, OutputAndPullback, OutputAndTangent

from ...numpy.array_like import as_array, as_array_tangent, shape_of
from ...numpy.linalg.cholesky import (
    cotangent_of_triangle,
    hermitian_from,
    lower_cholesky_cotangent,
    lower_cholesky_tangent,
)
from ...numpy.linalg.eigenvalues import eigh_cotangent, eigh_tangents
from ...numpy.products import adjoint
from .operands import up_to_the_last

# ---------------------------------------------------------------- the problems, in the form that LAPACK brings them to


class OrdinaryProblem:
    """A x = w x, of a Hermitian A: its standard form C y = w y is itself."""

    def __init__(self, a, lower):
        self.a, self.upper = hermitian_from(as_array(a), not lower), not lower
        self.matrix = self.a

    def to_standard(self, x):
        """y, of x."""
        return x

    def hermitian_tangent(self, da):
        return apply_linear(lambda da: hermitian_from(da, self.upper), da)

    def standard_tangents(self, da, db):
        """dC, and what else x moves by."""
        return self.hermitian_tangent(da), None

    def vectors_tangent(self, x, y, dy, dfactor):
        """dx, of dy."""
        return dy

    def vectors_cotangents(self, x, y, xbar):
        """ȳ, and the cotangent of what else x moves by."""
        return xbar, ZeroTangent()

    def cotangents(self, cbar, factor_bar):
        """Ā, and a function for B̄, of the triangles that are read."""
        return cotangent_of_triangle(cbar, self.upper), None


class RelativeProblem(OrdinaryProblem):
    """A x = w B x, A B x = w x and B A x = w x, by their numbers in ``type``, of a positive definite B = L Lᴴ.

    Their standard form has C = L⁻¹ A L⁻ᴴ for the first one and Lᴴ A L for the others, and x = L⁻ᴴ y, but L y for the
    third one.
    """

    def __init__(self, a, b, lower, kind):
        super().__init__(a, lower)
        self.kind = kind
        b = hermitian_from(as_array(b), self.upper)
        self.factor = seen_by_tracers(scipy.linalg.cholesky, b, True, check_finite=False)
        self.matrix = self._divided(self.a) if kind == 1 else adjoint(self.factor) @ self.a @ self.factor

    def _over(self, z, trans=0):
        """L⁻¹ Z, or L⁻ᴴ Z for ``trans=2``."""
        return seen_by_tracers(scipy.linalg.solve_triangular, self.factor, z, trans, True, check_finite=False)

    def _divided(self, a, trans=0):
        """L⁻¹ A L⁻ᴴ, or L⁻ᴴ A L⁻¹, of a Hermitian A."""
        return self._over(adjoint(self._over(a, trans)), trans)

    def to_standard(self, x):
        return self._over(x) if self.kind == 3 else adjoint(self.factor) @ x

    def standard_tangents(self, da, db):
        dc = apply_linear(self._standard_of, self.hermitian_tangent(da))
        dfactor = apply_linear(lambda db: lower_cholesky_tangent(self.factor, db), self.hermitian_tangent(db))
        of_factor = apply_linear(self._by_factor, dfactor)
        return dc + of_factor + apply_linear(adjoint, of_factor), dfactor

    def _standard_of(self, da):
        return self._divided(da) if self.kind == 1 else adjoint(self.factor) @ da @ self.factor

    def _by_factor(self, dfactor):
        return self._over(dfactor) @ -self.matrix if self.kind == 1 else self._of_product(dfactor)

    def _of_product(self, dfactor):
        """Lᴴ A dL."""
        return adjoint(self.factor) @ (self.a @ dfactor)

    def vectors_tangent(self, x, y, dy, dfactor):
        if self.kind == 3:
            return self.factor @ dy + dfactor @ y
        return self._over(dy - apply_linear(adjoint, dfactor) @ x, 2)

    def vectors_cotangents(self, x, y, xbar):
        if self.kind == 3:
            return adjoint(self.factor) @ xbar, xbar @ adjoint(y)
        ybar = self._over(xbar)
        return ybar, -x @ adjoint(ybar)

    def cotangents(self, cbar, factor_bar):
        abar = self._divided(cbar, 2) if self.kind == 1 else self.factor @ cbar @ adjoint(self.factor)

        def b_bar():
            of_c = self._over(-2 * cbar @ self.matrix, 2) if self.kind == 1 else 2 * self.a @ (self.factor @ cbar)
            total = unbroadcast(of_c + factor_bar, np.shape(self.factor))
            return cotangent_of_triangle(lower_cholesky_cotangent(self.factor, np.tril(total)), self.upper)

        return cotangent_of_triangle(abar, self.upper), b_bar


# ---------------------------------------------------------------- some of the eigenvalues, or all


class Spectrum:
    """The eigenvalues that were asked for, with their vectors, and the derivatives of both."""

    def __init__(self, a, b, lower, kind, options, subset_by_index, subset_by_value):
        if subset_by_value is not None and len(shape_of(a)) > 2:
            raise MDNotImplementedError  # of which every matrix may have another number
        is_empty = 0 in shape_of(a)  # of which SciPy gives all eigenvalues, whichever were asked for
        self.by_index, self.by_value = (None, None) if is_empty else (subset_by_index, subset_by_value)
        subset = {"subset_by_index": subset_by_index, "subset_by_value": subset_by_value}
        given = up_to_the_last(a, b)
        self.y = seen_by_tracers(scipy.linalg.eigh, *given, lower=lower, type=kind, **options, **subset)
        self.w, self.x = self.y
        self._arguments = a, b, lower, kind
        self.uplo, self._problem = "L" if lower else "U", None

    @property
    def problem(self):
        """Made when it is needed, since a factor of B is."""
        if self._problem is None:
            a, b, lower, kind = self._arguments
            self._problem = OrdinaryProblem(a, lower) if b is None else RelativeProblem(a, b, lower, kind)
        return self._problem

    def completed(self, y):
        """All eigenvalues and vectors in standard form, those that were asked for among them, and their places.

        The others take part in the derivatives of the vectors.
        """
        if self.by_index is None and self.by_value is None:
            return self.w, y, slice(None)
        w, z = seen_by_tracers(scipy.linalg.eigh, self.problem.matrix)
        if self.by_index is not None:
            first = int(self.by_index[0])
        elif np.size(ignore_derivatives(self.w)):
            first = int(np.argmin(np.abs(ignore_derivatives(w) - ignore_derivatives(self.w)[0])))
        else:
            first = 0
        last = first + np.shape(self.w)[-1]
        w = np.concatenate([w[..., :first], self.w, w[..., last:]], axis=-1)
        z = np.concatenate([z[..., :first], y, z[..., last:]], axis=-1)
        return w, z, slice(first, last)

    def values_tangent(self, da, db):
        dc, _ = self.problem.standard_tangents(da, db)
        y = self.problem.to_standard(self.x)
        return np.real(np.sum(np.conjugate(y) * (dc @ y), axis=-2))

    def tangents(self, da, db):
        problem = self.problem
        dc, dfactor = problem.standard_tangents(da, db)
        y = problem.to_standard(self.x)
        w, z, places = self.completed(y)
        dw, dz = eigh_tangents(w, z, dc, self.uplo)
        if not isinstance(dz, NotImplementedTangent):
            dz = problem.vectors_tangent(self.x, y, dz[..., places], dfactor)
        return dw[..., places], dz

    def cotangents(self, wbar, xbar):
        problem = self.problem
        y = problem.to_standard(self.x)
        if isinstance(xbar, AbstractZero):  # nobody has used the vectors, which then need no derivative
            return problem.cotangents((y * wbar[..., None, :]) @ adjoint(y), ZeroTangent())
        ybar, factor_bar = problem.vectors_cotangents(self.x, y, xbar)
        w, z, places = self.completed(y)
        if places != slice(None):
            after = w.shape[-1] - places.stop
            ybar = padded(ybar, places.start, after)
            wbar = apply_linear(lambda wbar: padded(wbar, places.start, after), wbar)
        return problem.cotangents(eigh_cotangent(w, z, wbar, ybar, self.uplo), factor_bar)


def padded(x, before, after):
    """Zeros before and after, in the last axis."""
    rest = x.shape[:-1]
    return np.concatenate([np.zeros((*rest, before), x.dtype), x, np.zeros((*rest, after), x.dtype)], axis=-1)


def spectrum_and_tangents(spectrum, da, db, a, b, values_only):
    da, db = as_array_tangent(da, a), as_array_tangent(db, b)
    if values_only:
        return spectrum.w, spectrum.values_tangent(da, db)
    return spectrum.y, spectrum.tangents(da, db)


def spectrum_and_pullback(spectrum, a, b, values_only):
    shape_a, shape_b = shape_of(a), np.shape(as_array(b))

    @pullback_wrt(a, b)
    def eigh_pullback(ybar):
        abar, b_bar = spectrum.cotangents(*((ybar, ZeroTangent()) if values_only else ybar))
        return unbroadcast(abar, shape_a), lambda: unbroadcast(b_bar(), shape_b)

    return (spectrum.w if values_only else spectrum.y), eigh_pullback


@frule.register(scipy.linalg.eigh)
@pushforward
def eigh_frule(
    da: Array,
    db: Array,
    a: Array,
    b: Array = None,
    *,
    lower: Flag = True,
    eigvals_only: Flag = False,
    overwrite_a: Flag = False,
    overwrite_b: Flag = False,
    type: Choice = 1,
    check_finite: Flag = True,
    subset_by_index: Index = None,
    subset_by_value: Number = None,
    driver: Choice = None,
) -> OutputAndTangent:
    options = {"check_finite": check_finite, "driver": driver}
    spectrum = Spectrum(a, b, lower, type, options, subset_by_index, subset_by_value)
    return spectrum_and_tangents(spectrum, da, db, a, b, eigvals_only)


@rrule.register(scipy.linalg.eigh)
def eigh_rrule(
    a: Array,
    b: Array = None,
    *,
    lower: Flag = True,
    eigvals_only: Flag = False,
    overwrite_a: Flag = False,
    overwrite_b: Flag = False,
    type: Choice = 1,
    check_finite: Flag = True,
    subset_by_index: Index = None,
    subset_by_value: Number = None,
    driver: Choice = None,
) -> OutputAndPullback:
    """As the rule of `np.linalg.eigh`, of the standard form of the problem; see `RelativeProblem`."""
    options = {"check_finite": check_finite, "driver": driver}
    spectrum = Spectrum(a, b, lower, type, options, subset_by_index, subset_by_value)
    return spectrum_and_pullback(spectrum, a, b, eigvals_only)


@frule.register(scipy.linalg.eigvalsh)
@pushforward
def eigvalsh_frule(
    da: Array,
    db: Array,
    a: Array,
    b: Array = None,
    *,
    lower: Flag = True,
    overwrite_a: Flag = False,
    overwrite_b: Flag = False,
    type: Choice = 1,
    check_finite: Flag = True,
    subset_by_index: Index = None,
    subset_by_value: Number = None,
    driver: Choice = None,
) -> OutputAndTangent:
    options = {"check_finite": check_finite, "driver": driver}
    spectrum = Spectrum(a, b, lower, type, options, subset_by_index, subset_by_value)
    return spectrum_and_tangents(spectrum, da, db, a, b, values_only=True)


@rrule.register(scipy.linalg.eigvalsh)
def eigvalsh_rrule(
    a: Array,
    b: Array = None,
    *,
    lower: Flag = True,
    overwrite_a: Flag = False,
    overwrite_b: Flag = False,
    type: Choice = 1,
    check_finite: Flag = True,
    subset_by_index: Index = None,
    subset_by_value: Number = None,
    driver: Choice = None,
) -> OutputAndPullback:
    """dwᵢ = yᵢᴴ dC yᵢ, whether or not eigenvalues are repeated."""
    options = {"check_finite": check_finite, "driver": driver}
    spectrum = Spectrum(a, b, lower, type, options, subset_by_index, subset_by_value)
    return spectrum_and_pullback(spectrum, a, b, values_only=True)
