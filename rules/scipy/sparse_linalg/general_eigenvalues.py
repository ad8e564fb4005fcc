"""Rules of some eigenvalues of large general matrices: ``eigs``, by what it returns alone.

For an eigenpair λ, v of length 1, the derivatives of both solve one system, which a single eigenvalue makes regular:

    [A - λ  v] [ v̇]   [-Ȧ v]
    [vᴴ     0] [-λ̇] = [  0 ].

So no left eigenvectors are needed: they are what its adjoint gives.
"""

from typing import Any

import numpy as np

from rulescore import MissingDerivativeError, apply_linear, frule, is_traced, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, Choice, Count, Flag, OutputAndPullback, OutputAndTangent
from scipy import sparse
from scipy.sparse import linalg

from ...numpy.linalg.eigenvalues import coinciding, rounding_of, turning
from ..sparse.operations import SPARSE
from .operators import matrix_cotangent, times
from .spectra import decline_generalised

REPEATED = (
    "an eigenvalue of scipy.sparse.linalg.eigs that is repeated, or so close to another one that nothing is left of "
    "its derivative. Use a matrix whose eigenvalues differ, or eigsh for a Hermitian matrix"
)
NO_PHASE = (
    "complex eigenvectors of scipy.sparse.linalg.eigs, used in a way that depends on their phases, which ARPACK leaves "
    "to chance. Use what does not depend on them, such as abs(v), or np.linalg.eig of the dense matrix"
)

OTHER_VALUES = (
    "the values that scipy.sparse.linalg.eigs returns without vectors, which are not those it returns with them (of a "
    "real matrix with a complex shift they are zeros). Write eigs(A, ...)[0]"
)


class GeneralEigenpairs:
    """Some eigenvalues of a matrix, and their vectors in columns."""

    def __init__(self, A, values, vectors):
        self.A, self.values, self.vectors = A, values, vectors
        self.is_repeated = np.any(coinciding(values), axis=-1)

    def refined(self):
        """In double precision: the derivatives of pairs in single precision would have their errors over the gaps."""
        if self.vectors.dtype == complex:
            return self
        A = self.A.astype(np.result_type(self.A.dtype, float))
        values, vectors = self.values.astype(complex), self.vectors.astype(complex)
        exact = GeneralEigenpairs(A, values, vectors)
        if np.any(self.is_repeated):
            return exact
        moved, turned = exact.tangents(A @ vectors - values * vectors)  # one step of Newton's method
        vectors = vectors + turned
        return GeneralEigenpairs(A, values + moved, vectors / np.linalg.norm(vectors, axis=0))

    def tangents(self, moved):
        """λ̇ and v̇, of Ȧ v."""
        below = np.zeros((1, len(self.values)))
        solved = self._solved(np.concatenate([-moved, below]), "N")
        return -solved[-1], solved[:-1]

    def cotangents(self, values_bar, vectors_bar):
        """The p for which Ā is -p vᴴ, in columns."""
        above = apply_linear(self._of_vectors, vectors_bar)
        below = apply_linear(lambda bar: np.concatenate([np.zeros_like(self.vectors), -bar[None]]), values_bar)
        return self._solved(above + below, "H")[:-1]

    def _of_vectors(self, bar):
        self._refuse_phases(bar)
        return np.concatenate([bar, np.zeros((1, len(self.values)))])

    def _solved(self, right, trans):
        columns = [self._solution(i, right[:, i], trans) for i in range(len(self.values))]
        return np.stack(columns, axis=1)

    def _solution(self, i, right, trans):
        """With a border as large as the matrix.

        A second right side, a random one, has a solution that is far larger where the matrix is singular.
        """
        if not is_traced(right) and not np.any(right):  # a zero that is differentiated itself may move
            return right
        size = np.max(abs(self.A))
        if self.is_repeated[i] or size == 0:
            raise MissingDerivativeError(REPEATED)
        matrix, random = self._bordered(i, size), np.random.default_rng(0).standard_normal(len(right))
        both = np.stack([np.concatenate([right[:-1], size * right[-1:]]), random], axis=1).astype(complex)
        try:
            if sparse.issparse(matrix):
                solution = linalg.splu(matrix).solve(both, trans)
            else:
                solution = np.linalg.solve(matrix if trans == "N" else np.conj(matrix.T), both)
        except (RuntimeError, np.linalg.LinAlgError):  # singular
            raise MissingDerivativeError(REPEATED) from None
        if not np.linalg.norm(solution[:, 1]) * size * 64 * rounding_of(solution) < np.linalg.norm(random):
            raise MissingDerivativeError(REPEATED)
        return np.concatenate([solution[:-1, 0], size * solution[-1:, 0]])

    def _bordered(self, i, size):
        v, value = size * self.vectors[:, i : i + 1].astype(complex), self.values[i]
        if not sparse.issparse(self.A):
            shifted = self.A - value * np.eye(len(v))
            return np.block([[shifted, v], [np.conj(v.T), np.zeros((1, 1))]])
        shifted = self.A - value * sparse.eye_array(len(v))
        border = sparse.coo_array(v)
        return sparse.block_array([[shifted, border], [border.conj().T, None]], format="csc")

    def _refuse_phases(self, vectors_bar):
        # Those of real vectors are signs.
        is_free = np.any(np.imag(self.vectors) != 0, axis=0) | (self.A.dtype.kind == "c")
        largest = np.max(np.abs(vectors_bar), initial=0)
        turned = np.abs(turning(self.vectors, vectors_bar)[0]) > np.sqrt(rounding_of(self.vectors)) * largest
        if np.any(is_free & turned):
            raise MissingDerivativeError(NO_PHASE)

    def for_values(self, y):
        """The pairs of the values ``y``, which SciPy gives in another order when it is asked for them alone.

        Of a real matrix it may then give the other one of two conjugates.
        """
        values, vectors = self.values, self.vectors
        if self.A.dtype.kind != "c":
            values = np.concatenate([values, np.conj(values)])
            vectors = np.concatenate([vectors, np.conj(vectors)], axis=1)
        distances = np.abs(values - y[:, None])
        nearest = np.argmin(distances, axis=1)
        if np.any(np.min(distances, axis=1) > np.sqrt(rounding_of(y)) * np.max(np.abs(values))):
            raise MissingDerivativeError(OTHER_VALUES)
        return GeneralEigenpairs(self.A, y, vectors[:, nearest])


def found(A, k, sigma, which, v0, return_eigenvectors, options):
    """What SciPy returns, and the eigenpairs."""
    w, v = linalg.eigs(A, k, None, sigma, which, v0, **options)
    pairs = GeneralEigenpairs(A, w, v)
    if return_eigenvectors:
        return (w, v), pairs.refined()
    y = linalg.eigs(A, k, None, sigma, which, v0, return_eigenvectors=False, **options)
    return y, pairs.for_values(y).refined()


@frule.register(linalg.eigs, (*SPARSE, np.ndarray))
@pushforward
def eigs_frule(
    dA: Array,
    _dsigma: Array,
    _dv0: Array,
    A: Array,
    k: Count = 6,
    M: Count = None,
    sigma: Array = None,
    which: Choice = "LM",
    v0: Array = None,
    *,
    return_eigenvectors: Flag = True,
    **options: Any,
) -> OutputAndTangent:
    decline_generalised(M, A)
    y, pairs = found(A, k, sigma, which, v0, return_eigenvectors, options)
    dw, dv = pairs.tangents(times(dA, pairs.vectors))
    return y, (dw, dv) if return_eigenvectors else dw


@rrule.register(linalg.eigs, (*SPARSE, np.ndarray))
def eigs_rrule(
    A: Array,
    k: Count = 6,
    M: Count = None,
    sigma: Array = None,
    which: Choice = "LM",
    v0: Array = None,
    *,
    return_eigenvectors: Flag = True,
    **options: Any,
) -> OutputAndPullback:
    """Ā = -Σ p vᴴ at the entries of A, where p solves the adjoint system for v̄ and -λ̄.

    Vectors keep their length, and do not turn their phases: only functions that do not depend on these have a
    derivative, but of real vectors of a real matrix, whose signs are those that ARPACK gives them.
    """
    decline_generalised(M, A)
    y, pairs = found(A, k, sigma, which, v0, return_eigenvectors, options)

    @pullback_wrt(A)
    def eigs_pullback(ybar):
        wbar, vbar = ybar if return_eigenvectors else (ybar, np.zeros_like(pairs.vectors))
        return matrix_cotangent(A, (-pairs.cotangents(wbar, vbar), pairs.vectors))

    return y, eigs_pullback
