"""The factors of one ordinary matrix of a known structure, kept from a primal for its derivative."""

import numpy as np

from scipy.linalg import bandwidth, get_lapack_funcs, ishermitian

from ...numpy.linalg.lu_factors import WORTHWHILE
from .structures import HERMITIAN, SYMMETRIC

GENERAL = ("gen", "general")


def kept_factors(a, structure):
    """The factors of a matrix, or None where they are left to SciPy.

    That is of stacks, of small matrices, of other kinds of arrays, of structures that need none, and of matrices of
    which SciPy has something to say: that they are singular, not positive definite or ill-conditioned.
    """
    if type(a) is not np.ndarray or a.ndim != 2 or a.dtype.char not in "fdFD" or a.shape[0] != a.shape[1]:
        return None
    if len(a) < WORTHWHILE or not np.all(np.isfinite(a)):
        return None
    for factorise in candidates(a, structure):
        factors = factorise(a, structure.lower)
        if factors is not None:
            return factors
    return None


def candidates(a, structure):
    """How to factorise a matrix, in the order in which to try it."""
    if structure.name in GENERAL:
        return [OfGeneral.of]
    if structure.name in SYMMETRIC or (structure.name in HERMITIAN and structure.name.startswith("pos")):
        return [OfSymmetric.of if structure.name in SYMMETRIC else OfPositiveDefinite.of]
    if structure.name in HERMITIAN:
        return [OfSymmetric.of_hermitian]
    if structure.name is not None or min(bandwidth(a)) == 0 or max(bandwidth(a)) == 1:
        return []  # which needs no factors, or none that take long
    is_candidate = np.all(np.diagonal(a).real > 0) and ishermitian(a)
    return [OfPositiveDefinite.of, OfGeneral.of] if is_candidate else [OfGeneral.of]


class Factors:
    """``_solve(b, adjoint)`` by LAPACK, for the right sides it can take; others find None."""

    def __init__(self, a, lower):
        self.dtype, self.n, self.lower = a.dtype, len(a), lower

    def can_solve_for(self, b):
        is_plain = type(b) is np.ndarray and b.dtype == self.dtype and b.ndim in (1, 2)
        return is_plain and len(b) == self.n and b.size > 0

    def solve(self, b):
        """X of A X = B."""
        return np.ascontiguousarray(self._solve(b, adjoint=False))

    def solve_adjoint(self, b):
        """X of Aᴴ X = B."""
        return np.ascontiguousarray(self._solve(b, adjoint=True))


def is_well_conditioned(rcond, dtype):
    return rcond >= np.finfo(dtype).eps


def largest_sum(a):
    return np.max(np.sum(np.abs(a), axis=0))


class OfGeneral(Factors):
    """P A = L U."""

    @classmethod
    def of(cls, a, lower):
        getrf, gecon = get_lapack_funcs(("getrf", "gecon"), (a,))
        lu, pivots, info = getrf(a)
        if info or not is_well_conditioned(gecon(lu, largest_sum(a))[0], a.dtype):
            return None
        self = cls(a, lower)
        self.lu, self.pivots = lu, pivots
        return self

    def _solve(self, b, adjoint):
        (getrs,) = get_lapack_funcs(("getrs",), (self.lu,))
        return getrs(self.lu, self.pivots, b, trans=2 if adjoint else 0)[0]

    def inverse(self):
        (getri,) = get_lapack_funcs(("getri",), (self.lu,))
        return np.ascontiguousarray(getri(self.lu, self.pivots, lwork=64 * self.n)[0])


class OfPositiveDefinite(Factors):
    """A = L Lᴴ or Uᴴ U."""

    @classmethod
    def of(cls, a, lower):
        potrf, pocon = get_lapack_funcs(("potrf", "pocon"), (a,))
        factor, info = potrf(a, lower=lower, clean=False)
        if info:
            return None
        half = np.tril(a) if lower else np.triu(a)
        # The sums of one triangle are at least half of those of the whole.
        if not is_well_conditioned(pocon(factor, 2 * largest_sum(half), uplo="L" if lower else "U")[0], a.dtype):
            return None
        self = cls(a, lower)
        self.factor = factor
        return self

    def _solve(self, b, adjoint):
        (potrs,) = get_lapack_funcs(("potrs",), (self.factor,))
        return potrs(self.factor, b, lower=self.lower)[0]


class OfSymmetric(Factors):
    """A = L D Lᵀ, or L D Lᴴ of a Hermitian matrix, with blocks of one or two rows in D."""

    @classmethod
    def of(cls, a, lower, kind="sy"):
        trf, work, con = get_lapack_funcs((f"{kind}trf", f"{kind}trf_lwork", f"{kind}con"), (a,))
        length = int(work(len(a), lower=lower)[0].real)
        factor, pivots, info = trf(a, lower=lower, lwork=length)
        half = np.tril(a) if lower else np.triu(a)
        if info or not is_well_conditioned(con(factor, pivots, 2 * largest_sum(half), lower=lower)[0], a.dtype):
            return None
        self = cls(a, lower)
        self.kind, self.factor, self.pivots = kind, factor, pivots
        return self

    @classmethod
    def of_hermitian(cls, a, lower):
        return cls.of(a, lower, "he" if np.iscomplexobj(a) else "sy")

    def _solve(self, b, adjoint):
        (trs,) = get_lapack_funcs((f"{self.kind}trs",), (self.factor,))
        turned = adjoint and self.kind == "sy" and np.iscomplexobj(b)  # where the adjoint is the conjugate
        x = trs(self.factor, self.pivots, b.conj() if turned else b, lower=self.lower)[0]
        return x.conj() if turned else x
