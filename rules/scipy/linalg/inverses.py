"""Rules of ``inv``, and of the pseudoinverses ``pinv`` and ``pinvh``."""

import numpy as np

import scipy.linalg
from rulescore import NoTangent, frule, ignore_derivatives, pullback_wrt, pushforward, rrule, seen_by_tracers
from rulescore.typing import Array, Choice, Flag, Number, OutputAndPullback, OutputAndTangent

from ...numpy.array_like import as_array_tangent
from ...numpy.linalg.cholesky import cotangent_of_triangle, hermitian_from
from ...numpy.linalg.inverses import left_out, pinv_cotangent, pinv_tangent
from ...numpy.products import adjoint
from ...numpy.reduced_axes import given
from ..working_precision import in_working_precision
from .structures import Structure

# ---------------------------------------------------------------- inv


def inverted(a, check_finite, assume_a, lower):
    """What SciPy returns, told of a structure only where the caller names one: before 1.17 it knows of none."""
    structure = given(assume_a=assume_a, lower=lower or None)
    return seen_by_tracers(scipy.linalg.inv, a, check_finite=check_finite, **structure)


@frule.register(scipy.linalg.inv)
@pushforward
def inv_frule(
    da: Array,
    a: Array,
    overwrite_a: Flag = False,
    check_finite: Flag = True,
    *,
    assume_a: Choice = None,
    lower: Flag = False,
) -> OutputAndTangent:
    """d(A⁻¹) = -A⁻¹ dA A⁻¹."""
    da, structure = as_array_tangent(da, a), Structure(assume_a, lower)
    y = inverted(a, check_finite, assume_a, lower)
    inverse = clean_inverse(y, assume_a)
    return y, -inverse @ structure.read(da) @ inverse


@rrule.register(scipy.linalg.inv)
def inv_rrule(
    a: Array, overwrite_a: Flag = False, check_finite: Flag = True, *, assume_a: Choice = None, lower: Flag = False
) -> OutputAndPullback:
    """d(A⁻¹) = -A⁻¹ dA A⁻¹, hence Ā = -A⁻ᴴ Ȳ A⁻ᴴ (Giles 2008, §2.2.3), of what ``assume_a`` makes SciPy read."""
    y = inverted(a, check_finite, assume_a, lower)
    structure = Structure(assume_a, lower)

    @pullback_wrt(a)
    def inv_pullback(ybar):
        y_h = adjoint(clean_inverse(y, assume_a))
        return structure.cotangent(-y_h @ ybar @ y_h)

    return y, inv_pullback


def clean_inverse(y, assume_a):
    """The inverse of a diagonal matrix, around which SciPy leaves the argument's other elements."""
    return Structure("diagonal", lower=False).read(y) if assume_a == "diagonal" else y


# ---------------------------------------------------------------- pseudoinverses


def relative_cutoff(a, atol, rtol):
    """Which singular values count as zero, as a fraction of the largest one."""
    numbers = in_working_precision(ignore_derivatives(a))
    if rtol is None:
        rtol = max(numbers.shape[-2:]) * np.finfo(np.result_type(numbers, np.float32)).eps
    if not atol:
        return rtol
    return rtol + atol / np.maximum(np.linalg.norm(numbers, 2, axis=(-2, -1)), np.finfo(float).tiny)


class Pseudoinverse:
    """What SciPy returns, with the rank or without, and its derivative; see the rule of `np.linalg.pinv` for that.

    ``read`` gives the matrix that SciPy computes with, and ``transposed`` is its transpose.
    """

    def __init__(self, f, a, atol, rtol, return_rank, check_finite, read, transposed, **keywords):
        keywords |= {"atol": atol, "rtol": rtol, "return_rank": return_rank, "check_finite": check_finite}
        self.y, self.a, self.return_rank = seen_by_tracers(f, a, **keywords), a, return_rank
        self.p = self.y[0] if return_rank else self.y
        self.cutoff, self.read, self.transposed = relative_cutoff(a, atol, rtol), read, transposed

    def tangent(self, da):
        a, da = self.read(in_working_precision(self.a)), self.read(as_array_tangent(da, self.a))
        dp = pinv_tangent(a, self.p, da, left_out(a, self.cutoff))
        return (dp, NoTangent()) if self.return_rank else dp

    def cotangent(self, ybar):
        a, pbar = self.read(in_working_precision(self.a)), ybar[0] if self.return_rank else ybar
        return self.transposed(pinv_cotangent(a, self.p, pbar, left_out(a, self.cutoff)))


def general_pseudoinverse(a, atol, rtol, return_rank, check_finite):
    def unchanged(a):
        return a

    return Pseudoinverse(scipy.linalg.pinv, a, atol, rtol, return_rank, check_finite, unchanged, unchanged)


@frule.register(scipy.linalg.pinv)
@pushforward
def pinv_frule(
    da: Array,
    a: Array,
    *,
    atol: Number = None,
    rtol: Number = None,
    return_rank: Flag = False,
    check_finite: Flag = True,
) -> OutputAndTangent:
    inverse = general_pseudoinverse(a, atol, rtol, return_rank, check_finite)
    return inverse.y, inverse.tangent(da)


@rrule.register(scipy.linalg.pinv)
def pinv_rrule(
    a: Array, *, atol: Number = None, rtol: Number = None, return_rank: Flag = False, check_finite: Flag = True
) -> OutputAndPullback:
    inverse = general_pseudoinverse(a, atol, rtol, return_rank, check_finite)
    return inverse.y, pullback_wrt(a)(inverse.cotangent)


def hermitian_pseudoinverse(a, atol, rtol, lower, return_rank, check_finite):
    """That of the Hermitian matrix of which one triangle is read."""

    def read(a):
        return hermitian_from(a, upper=not lower)

    def transposed(abar):
        return cotangent_of_triangle(0.5 * (abar + adjoint(abar)), upper=not lower)

    return Pseudoinverse(scipy.linalg.pinvh, a, atol, rtol, return_rank, check_finite, read, transposed, lower=lower)


@frule.register(scipy.linalg.pinvh)
@pushforward
def pinvh_frule(
    da: Array,
    _datol: Number,
    _drtol: Number,
    a: Array,
    atol: Number = None,
    rtol: Number = None,
    lower: Flag = True,
    return_rank: Flag = False,
    check_finite: Flag = True,
) -> OutputAndTangent:
    inverse = hermitian_pseudoinverse(a, atol, rtol, lower, return_rank, check_finite)
    return inverse.y, inverse.tangent(da)


@rrule.register(scipy.linalg.pinvh)
def pinvh_rrule(
    a: Array,
    atol: Number = None,
    rtol: Number = None,
    lower: Flag = True,
    return_rank: Flag = False,
    check_finite: Flag = True,
) -> OutputAndPullback:
    inverse = hermitian_pseudoinverse(a, atol, rtol, lower, return_rank, check_finite)
    return inverse.y, pullback_wrt(a)(inverse.cotangent)
