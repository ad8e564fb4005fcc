"""Rules of ``inv``, and of the pseudoinverses ``pinv`` and ``pinvh``."""

import numpy as np
import scipy.linalg

from rules.numpy.array_like import as_array, as_array_tangent, seen_by_tracers
from rules.numpy.linalg.cholesky import cotangent_of_triangle, hermitian_from
from rules.numpy.linalg.inverses import left_out, pinv_cotangent, pinv_tangent
from rules.numpy.products import adjoint
from rules.scipy.linalg.structures import Structure
from rulescore import (
    AbstractZero,
    NoTangent,
    Tangent,
    frule,
    ignore_derivatives,
    project_to,
    rrule,
    unthunk,
)
from rulescore.tangents.projection import NON_DIFFERENTIABLE

NO_TANGENT = NoTangent()

# ---------------------------------------------------------------- inv


@frule.register(scipy.linalg.inv)
def inv_frule(tangents, a, overwrite_a=False, check_finite=True, *, assume_a=None, lower=False):
    """d(A⁻¹) = -A⁻¹ dA A⁻¹."""
    da, structure = as_array_tangent(unthunk(tangents[1]), a), Structure(assume_a, lower)
    y = seen_by_tracers(scipy.linalg.inv, a, check_finite=check_finite, assume_a=assume_a, lower=lower)
    if isinstance(da, AbstractZero):
        return y, da
    inverse = clean_inverse(y, assume_a)
    return y, project_to(y)(-inverse @ structure.read(da) @ inverse)


@rrule.register(scipy.linalg.inv)
def inv_rrule(a, overwrite_a=False, check_finite=True, *, assume_a=None, lower=False):
    """d(A⁻¹) = -A⁻¹ dA A⁻¹, hence Ā = -A⁻ᴴ Ȳ A⁻ᴴ (Giles 2008, §2.2.3), of what ``assume_a`` makes SciPy read."""
    y = seen_by_tracers(scipy.linalg.inv, a, check_finite=check_finite, assume_a=assume_a, lower=lower)
    project, structure = project_to(a), Structure(assume_a, lower)

    def inv_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero) or project is NON_DIFFERENTIABLE:
            return NO_TANGENT, project(ybar)
        y_h = adjoint(clean_inverse(y, assume_a))
        return NO_TANGENT, project(structure.cotangent(-y_h @ ybar @ y_h))

    return y, inv_pullback


def clean_inverse(y, assume_a):
    """The inverse of a diagonal matrix, around which SciPy leaves the argument's other elements."""
    return Structure("diagonal", lower=False).read(y) if assume_a == "diagonal" else y


# ---------------------------------------------------------------- pseudoinverses


def relative_cutoff(a, atol, rtol):
    """Which singular values count as zero, as a fraction of the largest one."""
    numbers = as_array(ignore_derivatives(a))
    if rtol is None:
        rtol = max(numbers.shape[-2:]) * np.finfo(np.result_type(numbers, np.float32)).eps
    if not atol:
        return rtol
    return rtol + atol / np.maximum(np.linalg.norm(numbers, 2, axis=(-2, -1)), np.finfo(float).tiny)


def of_pseudoinverse(y, value):
    """A tangent of what is returned, with the rank or without."""
    return Tangent(type(y), value, NO_TANGENT) if isinstance(y, (tuple, list)) else value


def inverse_in(y):
    return y[0] if isinstance(y, (tuple, list)) else y


def pseudoinverse_frule(y, tangents, a, cutoff, read):
    da = as_array_tangent(unthunk(tangents[1]), a)
    if isinstance(da, AbstractZero):
        return y, da
    p, a = inverse_in(y), read(as_array(a))
    dp = pinv_tangent(a, p, read(da), left_out(a, cutoff))
    return y, of_pseudoinverse(y, project_to(p)(dp))


def pseudoinverse_rrule(y, a, cutoff, read, cotangent):
    """See the rule of `np.linalg.pinv` for the formula."""
    project, p = project_to(a), inverse_in(y)

    def pinv_pullback(ybar):
        pbar = ybar if isinstance(ybar, AbstractZero) else unthunk(ybar if p is y else ybar[0])
        if isinstance(pbar, AbstractZero) or project is NON_DIFFERENTIABLE:
            return NO_TANGENT, project(pbar)
        matrix = read(as_array(a))
        return NO_TANGENT, project(cotangent(pinv_cotangent(matrix, p, pbar, left_out(matrix, cutoff))))

    return y, pinv_pullback


def unchanged(a):
    return a


@frule.register(scipy.linalg.pinv)
def pinv_frule(tangents, a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    y = pseudoinverse(scipy.linalg.pinv, a, atol, rtol, return_rank, check_finite)
    return pseudoinverse_frule(y, tangents, a, relative_cutoff(a, atol, rtol), unchanged)


@rrule.register(scipy.linalg.pinv)
def pinv_rrule(a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    y = pseudoinverse(scipy.linalg.pinv, a, atol, rtol, return_rank, check_finite)
    return pseudoinverse_rrule(y, a, relative_cutoff(a, atol, rtol), unchanged, unchanged)


def pseudoinverse(f, a, atol, rtol, return_rank, check_finite, **keywords):
    return seen_by_tracers(f, a, atol=atol, rtol=rtol, return_rank=return_rank, check_finite=check_finite, **keywords)


def in_triangle(lower):
    """What ``pinvh`` reads of a matrix, and the transpose of that."""

    def read(a):
        return hermitian_from(a, upper=not lower)

    def cotangent(abar):
        return cotangent_of_triangle(0.5 * (abar + adjoint(abar)), upper=not lower)

    return read, cotangent


@frule.register(scipy.linalg.pinvh)
def pinvh_frule(tangents, a, atol=None, rtol=None, lower=True, return_rank=False, check_finite=True):
    y = pseudoinverse(scipy.linalg.pinvh, a, atol, rtol, return_rank, check_finite, lower=lower)
    return pseudoinverse_frule(y, tangents, a, relative_cutoff(a, atol, rtol), in_triangle(lower)[0])


@rrule.register(scipy.linalg.pinvh)
def pinvh_rrule(a, atol=None, rtol=None, lower=True, return_rank=False, check_finite=True):
    """As `pinv_rrule`, of the Hermitian matrix of which one triangle is read."""
    y = pseudoinverse(scipy.linalg.pinvh, a, atol, rtol, return_rank, check_finite, lower=lower)
    return pseudoinverse_rrule(y, a, relative_cutoff(a, atol, rtol), *in_triangle(lower))
