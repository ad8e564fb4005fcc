"""Rules of ``det``, singular matrices among them."""

import numpy as np

import scipy.linalg
from rulescore import frule, pullback_wrt, pushforward, rrule, seen_by_tracers
from rulescore.typing import Array, Flag, OutputAndPullback, OutputAndTangent

from ...numpy.array_like import as_array_tangent
from ...numpy.linalg.determinants import adjugate, as_matrices, trace_of_product
from ...numpy.products import adjoint
from ..working_precision import in_working_precision
from .kept_factors import OfGeneral, kept_factors
from .structures import Structure


class Determinant:
    """det(A), and its adjugate by the same factors where they can be kept.

    SciPy multiplies the pivots in double precision, also those of a matrix in single precision.
    """

    def __init__(self, a, check_finite):
        self.a = in_working_precision(a)
        factors = kept_factors(self.a, Structure("general", lower=False))
        self.factors = factors if isinstance(factors, OfGeneral) else None
        if self.factors is None:
            self.y = seen_by_tracers(scipy.linalg.det, a, check_finite=check_finite)
        else:
            self.y = self._product_of_pivots()

    def _product_of_pivots(self):
        lu, pivots = self.factors.lu, self.factors.pivots
        swaps = np.count_nonzero(pivots != np.arange(len(pivots)))
        diagonal = np.diagonal(lu).astype(np.result_type(lu, np.float64))
        return np.prod(diagonal) * (-1) ** swaps

    def adjugate(self):
        if self.factors is None:
            # That of NumPy, whose pivots are those of its inverse: of a singular matrix they may differ from SciPy's.
            return adjugate(self.a, np.linalg.det(self.a))
        y = self.y.astype(self.a.dtype) if self.a.dtype.char in "fF" else self.y
        return adjugate(self.a, y, self.factors)


@frule.register(scipy.linalg.det)
@pushforward
def det_frule(da: Array, a: Array, overwrite_a: Flag = False, check_finite: Flag = True) -> OutputAndTangent:
    """d det A = tr(adj(A) dA)."""
    determinant = Determinant(a, check_finite)
    return determinant.y, trace_of_product(determinant.adjugate(), as_array_tangent(da, a))


@rrule.register(scipy.linalg.det)
def det_rrule(a: Array, overwrite_a: Flag = False, check_finite: Flag = True) -> OutputAndPullback:
    """d det A = tr(adj(A) dA) (Jacobi), hence Ā = adj(A)ᴴ ȳ."""
    determinant = Determinant(a, check_finite)

    @pullback_wrt(a)
    def det_pullback(ybar):
        return adjoint(determinant.adjugate()) * as_matrices(ybar)

    return determinant.y, det_pullback
