"""What the rules of `scipy.sparse.linalg` share: matrices that are sparse, dense or known by their products alone.

The tangent of a sparse matrix has its pattern, and so has its cotangent: Σ l rᴴ is computed at the entries that the
matrix stores and nowhere else. A `LinearOperator` is a constant: nobody can say what its products depend on.
"""

import numpy as np

from rulescore import (
    ZeroTangent,
    apply_linear,
    frule,
    not_implemented,
    project_to,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
)
from rulescore.typing import Array, OutputAndPullback, OutputAndTangent
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from ...numpy.array_like import as_array
from ...numpy.products import adjoint as dense_adjoint
from ..sparse.operations import adjoint as sparse_adjoint
from ..sparse.operations import conj, inner_products, product

OPERATOR = not_implemented(
    "what the products of a scipy.sparse.linalg.LinearOperator depend on: pass the matrix itself, sparse or dense"
)


def adjoint(a):
    """Aᴴ, of whatever kind the matrix is; None for what has not been given."""
    if isinstance(a, LinearOperator):
        # Not `a.H`, which is kept within the operator.
        return LinearOperator(a.shape[::-1], matvec=a.rmatvec, rmatvec=a.matvec, dtype=a.dtype)
    if a is None:
        return None
    return sparse_adjoint(a) if sparse.issparse(a) else dense_adjoint(as_array(a))


def times(a, x):
    """A x, where x may be a tracer."""
    if isinstance(a, LinearOperator):
        return seen_by_tracers(LinearOperator.matvec if np.ndim(x) == 1 else LinearOperator.matmat, a, x)
    return product(a, x) if sparse.issparse(a) else as_array(a) @ x


def as_columns(x):
    return x[:, None] if np.ndim(x) == 1 else x


def matrix_cotangent(a, *pairs):
    """Σ l rᴴ over pairs of vectors, or of matrices of columns, at the entries of A; a pair with a zero adds nothing."""
    if isinstance(a, LinearOperator):
        return OPERATOR
    if not sparse.issparse(a):
        return sum_of_products(lambda left, right: as_columns(left) @ dense_adjoint(as_columns(right)), pairs)
    onto_a = project_to(a)
    rows, columns = onto_a.coordinates
    return onto_a.of_entries(
        sum_of_products(
            lambda left, right: inner_products(as_columns(left), rows, as_columns(right), columns),
            pairs,
        )
    )


def sum_of_products(product, pairs):
    """The sum of a bilinear function over pairs."""

    def of_pair(left, right):
        return apply_linear(lambda left: apply_linear(lambda right: product(left, right), right), left)

    return sum(of_pair(left, right) for left, right in pairs)


def cotangent_of_operator_or(a, pairs):
    """`matrix_cotangent` by a function that returns the pairs, which an operator has no use for."""
    return OPERATOR if isinstance(a, LinearOperator) else matrix_cotangent(a, *pairs())


def primal_of_matrix(a):
    """What `pullback_wrt` takes for a matrix: for an operator, whose attributes say nothing of what it does, a number.

    So its cotangent is asked for, and says that it is missing.
    """
    return 1.0 if isinstance(a, LinearOperator) else a


def moving_matrix(a, da):
    """The tangent of a matrix, and what it adds to every output: of an operator, a derivative that is missing."""
    return (ZeroTangent(), OPERATOR * da) if isinstance(a, LinearOperator) else (da, ZeroTangent())


# ---------------------------------------------------------------- products with operators


def register_product(f, transposed):
    """The rules of y = A x, linear in x, with x̄ = Aᴴ ȳ."""

    @frule.register(f, LinearOperator)
    @pushforward
    def product_frule(dA: Array, dx: Array, A: Array, x: Array, /) -> OutputAndTangent:
        return seen_by_tracers(f, A, x), apply_linear(lambda dx: seen_by_tracers(f, A, dx), dx) + OPERATOR * dA

    @rrule.register(f, LinearOperator)
    def product_rrule(A: Array, x: Array, /) -> OutputAndPullback:
        return seen_by_tracers(f, A, x), pullback_wrt(..., x)(lambda ybar: seen_by_tracers(transposed, A, ybar))


register_product(LinearOperator.matvec, LinearOperator.rmatvec)
register_product(LinearOperator.rmatvec, LinearOperator.matvec)
register_product(LinearOperator.matmat, LinearOperator.rmatmat)
register_product(LinearOperator.rmatmat, LinearOperator.matmat)

__all__ = [
    "OPERATOR",
    "adjoint",
    "as_columns",
    "conj",
    "cotangent_of_operator_or",
    "matrix_cotangent",
    "moving_matrix",
    "primal_of_matrix",
    "times",
]
