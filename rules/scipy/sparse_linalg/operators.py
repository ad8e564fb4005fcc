"""What the rules of `scipy.sparse.linalg` share: matrices that are sparse, dense or known by their products alone.

The tangent of a sparse matrix has its pattern, and so has its cotangent: Σ l rᴴ is computed at the entries that the
matrix stores and nowhere else. A `LinearOperator` is a constant: nobody can say what its products depend on.
"""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from rules.numpy.array_like import as_array, seen_by_tracers
from rules.numpy.products import adjoint as dense_adjoint
from rules.scipy.sparse import adjoint as sparse_adjoint
from rules.scipy.sparse import conj, inner_products, product
from rulescore import AbstractZero, NoTangent, frule, not_implemented, project_to, rrule, unthunk
from rulescore.tangents.projection import NON_DIFFERENTIABLE

NO_TANGENT = NoTangent()

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


def matrix_cotangent(project, a, *pairs):
    """Σ l rᴴ over pairs of vectors, or of matrices of columns, in the tangent space of A."""
    if project is NON_DIFFERENTIABLE or isinstance(a, LinearOperator):
        return OPERATOR if isinstance(a, LinearOperator) else NO_TANGENT
    pairs = [(as_columns(left), as_columns(right)) for left, right in pairs]
    if not sparse.issparse(a):
        return project(sum(left @ dense_adjoint(right) for left, right in pairs))
    rows, columns = project.coordinates
    return project.of_entries(sum(inner_products(left, rows, right, columns) for left, right in pairs))


def projector_of_matrix(a):
    """`project_to`, but for operators, whose attributes say nothing of what they do."""
    return NON_DIFFERENTIABLE if isinstance(a, LinearOperator) else project_to(a)


def refuse_moving_operator(a, da):
    """An error where an operator has a tangent."""
    return OPERATOR if isinstance(a, LinearOperator) and not isinstance(da, AbstractZero) else None


# ---------------------------------------------------------------- products with operators


def register_product(f, transposed):
    """The rules of y = A x, linear in x, with x̄ = Aᴴ ȳ."""

    @frule.register(f, LinearOperator)
    def product_frule(tangents, A, x, /):
        _, dA, dx = tangents
        y = seen_by_tracers(f, A, x)
        missing = refuse_moving_operator(A, dA)
        if missing is not None or isinstance(dx, AbstractZero):
            return y, dx if missing is None else missing
        return y, seen_by_tracers(f, A, dx)

    @rrule.register(f, LinearOperator)
    def product_rrule(A, x, /):
        project = project_to(x)

        def product_pullback(ybar):
            ybar = unthunk(ybar)
            if isinstance(ybar, AbstractZero):
                return NO_TANGENT, NO_TANGENT, ybar
            return NO_TANGENT, NO_TANGENT, project(seen_by_tracers(transposed, A, ybar))

        return seen_by_tracers(f, A, x), product_pullback


register_product(LinearOperator.matvec, LinearOperator.rmatvec)
register_product(LinearOperator.rmatvec, LinearOperator.matvec)
register_product(LinearOperator.matmat, LinearOperator.rmatmat)
register_product(LinearOperator.rmatmat, LinearOperator.matmat)

__all__ = [
    "NO_TANGENT",
    "OPERATOR",
    "adjoint",
    "as_columns",
    "conj",
    "matrix_cotangent",
    "projector_of_matrix",
    "refuse_moving_operator",
    "times",
]
