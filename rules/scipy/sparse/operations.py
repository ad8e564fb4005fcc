"""Rules of operations with sparse arrays: products, sums, elementwise products, and what makes them dense.

A sparse array has a tangent where it stores an entry and nowhere else: the rest is not small, it is not there. So a
cotangent of one has its pattern, and is computed at these places alone: no rule makes a dense array of the shape of a
sparse one that has not been made by the function itself.

The rules serve the operators of Python (by NumPy's ufuncs, whose rules serve them) and the methods of SciPy's classes.
Of the older classes, as `scipy.sparse.csr_matrix`, ``*`` is the product of matrices.
"""

import functools
import inspect
import operator

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import apply_linear, frule, linear_rule, project_to, pullback_wrt, pushforward, rrule, unbroadcast
from rulescore.typing import Array, Axis, Choice, DType, OutputAndPullback, OutputAndTangent, Sparse
from scipy import sparse

from ...numpy.array_like import as_array_tangent

SPARSE = (sparse.sparray, sparse.spmatrix)
CLASS_NAMES = [
    f"{name}_{kind}" for name in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil") for kind in ("array", "matrix")
]
CLASSES = tuple([getattr(sparse, name) for name in CLASS_NAMES])
WITH_SPARSE = ((SPARSE, SPARSE), (SPARSE, object), (object, SPARSE))
"""The types of two operands of which one is sparse, or both are; those first that say what holds where others meet."""


def method(name):
    """A method of sparse arrays, whose rules serve what other classes of them have for it."""
    served = getattr(sparse.csr_array, name)
    for other in dict.fromkeys(getattr(cls, name) for cls in CLASSES):
        if other is not served:
            rrule.alias(other, served)
    return served


def of_sparse(rule, names=None):
    """A rule with other names for its operands, and with an output of its own along tangents that are zero.

    There a pushforward calls what the rule is registered for: a ufunc, which takes a sparse array for one object, or
    the method of another class.
    """
    of_functions = {} if names is None else names
    of_methods = {name: own for own, name in of_functions.items()}

    @functools.wraps(rule, updated=())
    def of_own(*args, **kwargs):
        return rule(*args, **{of_functions.get(name, name): value for name, value in kwargs.items()})

    signature = inspect.signature(rule)
    parameters = [p.replace(name=of_methods.get(p.name, p.name)) for p in signature.parameters.values()]
    of_own.__signature__ = signature.replace(parameters=parameters)
    return of_own


def of_method(rule):
    """The rule with the names that a method has for its operands: ``self``, and ``other`` for a second one."""
    return of_sparse(rule, {"self": "a", "other": "b"})


def register_for_both(f, name, frule_of_f, rrule_of_f, *others):
    """Register the rules of a function of NumPy's of a sparse array, also for the method of this name."""
    of_arrays = method(name)
    frule.register(f, SPARSE, *others)(of_sparse(frule_of_f))
    rrule.register(f, SPARSE, *others)(rrule_of_f)
    frule.register(of_arrays, SPARSE, *others)(of_method(frule_of_f))
    rrule.register(of_arrays, SPARSE, *others)(of_method(rrule_of_f))


def register_operation(tangent, rrule_of_two, method, ufunc=None):
    """Register the rules of an operation of two operands for SciPy's method, and for the ufunc of its operator.

    ``tangent(da, db, a, b)`` is what `pushforward` takes.
    """
    frule_of_two = pushforward(tangent)
    frule.register(method, SPARSE, object)(of_method(frule_of_two))
    rrule.register(method, SPARSE, object)(of_method(rrule_of_two))
    for types in WITH_SPARSE if ufunc is not None else ():
        frule.register(ufunc, *types)(of_sparse(frule_of_two))
        rrule.register(ufunc, *types)(rrule_of_two)


# ---------------------------------------------------------------- operands


def dense(x):
    """An ordinary array of what a sparse array, a list or one of NumPy's matrices stands for; others as they are."""
    if sparse.issparse(x):
        return x.toarray()
    return np.asarray(x) if isinstance(x, (np.matrix, list, tuple)) else x


def conj(x):
    """The conjugate, without the copy that NumPy and SciPy make of real numbers."""
    if getattr(x, "dtype", None) is not None and x.dtype.kind != "c":
        return x
    return x.conjugate() if sparse.issparse(x) else np.conj(x)


# ---------------------------------------------------------------- products of matrices


def product(a, b):
    """``a @ b``, by the rules where a value is being differentiated, of which sparse arrays know nothing."""
    for x in (a, b):
        if hasattr(type(x), "__rule_type__"):
            return x.__array_function__(operator.matmul, (type(x),), (a, b), {})
    return a @ b


def adjoint(a):
    return conj(a).transpose() if np.ndim(a) == 2 else conj(a)


def decline_other_than_matrices(*operands):
    """Sparse arrays with one axis or more than two, which few have; numbers; and NumPy's matrices."""
    for x in operands:
        if np.ndim(x) != 2 if sparse.issparse(x) else np.ndim(x) not in (1, 2) or isinstance(x, np.matrix):
            raise MDNotImplementedError


def matmul_tangent(da: Array, db: Array, a: Array, b: Array) -> OutputAndTangent:
    decline_other_than_matrices(a, b)
    da, db = as_array_tangent(da, a), as_array_tangent(db, b)
    return product(a, b), apply_linear(lambda da: product(da, b), da) + apply_linear(lambda db: product(a, db), db)


def matmul_rrule(a: Array, b: Array) -> OutputAndPullback:
    """Ā = Ȳ Bᴴ and B̄ = Aᴴ Ȳ."""
    decline_other_than_matrices(a, b)
    onto_a, onto_b = project_to(a), project_to(b)

    def left(ybar):
        if sparse.issparse(a) and not sparse.issparse(b):
            rows, columns = onto_a.coordinates
            return onto_a.of_entries(inner_products(as_columns(ybar), rows, as_columns(b), columns))
        return product(ybar, adjoint(b))

    def right(ybar):
        if sparse.issparse(b) and not sparse.issparse(a):
            rows, columns = onto_b.coordinates
            return onto_b.of_entries(inner_products(as_rows(ybar).T, columns, as_rows(a).T, rows))
        return product(adjoint(a), ybar)

    return product(a, b), pullback_wrt(onto_a, onto_b)(left, right)


BLOCK = 1 << 20
"""How many numbers are gathered at a time."""


def inner_products(a, rows, b, others):
    """Σₖ aᵢₖ conj(bⱼₖ) for pairs (i, j), which are the entries of a sparse array, in blocks of them."""
    if a.shape[1] == 1:
        return np.take(a[:, 0], rows) * conj(np.take(b[:, 0], others))
    length = max(1, BLOCK // max(a.shape[1], 1))
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    values = np.empty(len(rows), np.result_type(a, b))
    for start in range(0, len(rows), length):
        block = slice(start, start + length)
        of_a, of_b = np.take(a, rows[block], axis=0), np.take(b, others[block], axis=0)
        np.einsum("ik,ik->i", of_a, conj(of_b), out=values[block])
    return values


def as_columns(x):
    x = dense(x)
    return x[:, None] if x.ndim == 1 else x


def as_rows(x):
    x = dense(x)
    return x[None, :] if x.ndim == 1 else x


register_operation(matmul_tangent, matmul_rrule, method("__matmul__"), np.matmul)
for _dot in (sparse.csr_array.dot, sparse.coo_array.dot):  # which also takes numbers: such a call has no rule
    rrule.alias(_dot, sparse.csr_array.__matmul__)


# ---------------------------------------------------------------- sums and differences


def signed(x, sign):
    return x if sign == 1 else -x


def register_sum(compute, sign, method, ufunc):
    """The rules of a + b (sign 1) and a - b (sign -1), where a dense operand makes a dense result."""

    def sum_tangent(da: Array, db: Array, a: Array, b: Array) -> OutputAndTangent:
        y = compute(a, b)
        da, db = as_array_tangent(da, a), as_array_tangent(db, b)
        return y, spread(da, y) + spread(signed(db, sign), y)

    def sum_rrule(a: Sparse, b: Array) -> OutputAndPullback:
        pullback = pullback_wrt(a, b)(lambda ybar: gathered(ybar, a), lambda ybar: signed(gathered(ybar, b), sign))
        return compute(a, b), pullback

    register_operation(sum_tangent, sum_rrule, method, ufunc)


def spread(dx, y):
    """A tangent in the shape of the output: dense where that is."""
    return dx if sparse.issparse(y) else np.broadcast_to(dense(dx), y.shape)


def gathered(ybar, x):
    """The cotangent of an operand that was broadcast; a sparse one is not."""
    return ybar if sparse.issparse(x) else unbroadcast(dense(ybar), np.shape(x))


register_sum(operator.add, 1, method("__add__"), np.add)
register_sum(operator.sub, -1, method("__sub__"), np.subtract)


# ---------------------------------------------------------------- products of elements


def elementwise_tangent(da: Array, db: Array, a: Array, b: Array) -> OutputAndTangent:
    da, db = as_array_tangent(da, a), as_array_tangent(db, b)
    return times(a, b), apply_linear(lambda da: times(da, b), da) + apply_linear(lambda db: times(a, db), db)


def elementwise_rrule(a: Array, b: Array) -> OutputAndPullback:
    """ā = ȳ conj(b), summed over the axes along which ``a`` was repeated; the other way round for ``b``."""

    onto_a, onto_b = project_to(a), project_to(b)

    def cotangent(x, other, onto_x, ybar):
        if sparse.issparse(x) and np.shape(x) == np.shape(ybar):
            return onto_x.of_entries(onto_x.entries_of(ybar) * conj(entries_beside(x, other, onto_x)))
        if np.ndim(x) == 0:
            return inner_product(other, ybar)
        # The other one is sparse, or `x` is and is repeated: what multiplies it has entries where the other has.
        return sum_to(times(conj(other), ybar), np.shape(x))

    return times(a, b), pullback_wrt(onto_a, onto_b)(
        lambda ybar: cotangent(a, b, onto_a, ybar), lambda ybar: cotangent(b, a, onto_b, ybar)
    )


def times(a, b):
    """The product of elements, also of the older classes, of which ``*`` is another."""
    if sparse.issparse(a):
        return a.multiply(b)
    return b.multiply(a) if sparse.issparse(b) else a * b


def entries_beside(x, other, onto_x):
    """The elements of an operand, or the number, that the entries of a sparse ``x`` are multiplied with."""
    if np.ndim(other) == 0:
        return other
    if sparse.issparse(other) and other.shape != x.shape:
        other = other.toarray()
    return onto_x.entries_of(other if sparse.issparse(other) else np.broadcast_to(other, x.shape))


def inner_product(a, ybar):
    """Σ conj(a) ȳ over the entries of a sparse array, which may be whole numbers."""
    entries_of = project_to(a if a.dtype.kind in "fc" else a.astype(float)).entries_of
    return np.sum(conj(entries_of(a)) * entries_of(ybar))


def sum_to(x, shape):
    """An array summed over the axes along which one of this shape was repeated, dense."""
    if not sparse.issparse(x):
        return unbroadcast(x, shape)
    x = x.tocoo()
    kept = x.coords[x.ndim - len(shape) :]
    places = [np.zeros_like(place) if n == 1 else place for place, n in zip(kept, shape, strict=True)]
    total = np.zeros(shape, x.dtype)
    np.add.at(total, tuple(places), x.data)
    return total


def multiply_tangent(da: Array, db: Array, a: Array, b: Array) -> OutputAndTangent:
    return (matmul_tangent if is_product_of_matrices(a, b) else elementwise_tangent)(da, db, a, b)


def multiply_rrule(a: Array, b: Array) -> OutputAndPullback:
    """Those of ``@`` where ``*`` is the product of matrices."""
    return (matmul_rrule if is_product_of_matrices(a, b) else elementwise_rrule)(a, b)


def is_product_of_matrices(a, b):
    return any(isinstance(x, sparse.spmatrix) for x in (a, b)) and np.ndim(a) != 0 and np.ndim(b) != 0


register_operation(elementwise_tangent, elementwise_rrule, method("multiply"))
register_operation(multiply_tangent, multiply_rrule, method("__mul__"), np.multiply)


# ---------------------------------------------------------------- one sparse array, and numbers


@pushforward
def scaled_down_frule(da: Array, db: Array, a: Sparse, b: Array) -> OutputAndTangent:
    decline_other_than_numbers(b)
    y = a / b
    return y, da / b + apply_linear(lambda db: -y * (db / b), db)


def scaled_down_rrule(a: Sparse, b: Array) -> OutputAndPullback:
    """ā = ȳ / conj(b) and b̄ = -Σ ȳ conj(a / b²)."""
    decline_other_than_numbers(b)

    onto_a = project_to(a)
    return a / b, pullback_wrt(onto_a, b)(
        lambda ybar: onto_a.of_entries(onto_a.entries_of(ybar) / np.conj(b)),
        lambda ybar: -inner_product(a, ybar) / np.conj(b) ** 2,
    )


def decline_other_than_numbers(x):
    if np.ndim(x):
        raise MDNotImplementedError


register_for_both(np.divide, "__truediv__", scaled_down_frule, scaled_down_rrule, object)

for _function in (np.negative, method("__neg__")):
    linear_rule(_function, lambda ybar, x, /: -ybar, types=(SPARSE,))


@pushforward
def sum_frule(da: Array, a: Sparse, axis: Axis = None, dtype: DType = None) -> OutputAndTangent:
    return a.sum(axis=axis, dtype=dtype), da.sum(axis=axis, dtype=dtype)


def sum_rrule(a: Sparse, axis: Axis = None, dtype: DType = None) -> OutputAndPullback:
    """Every entry gets the cotangent of the sum it is part of."""
    onto_a, shape = project_to(a), a.shape
    axes = range(a.ndim) if axis is None else [i % a.ndim for i in ([axis] if np.ndim(axis) == 0 else axis)]
    kept = [i for i in range(a.ndim) if i not in axes]

    @pullback_wrt(onto_a)
    def sum_pullback(ybar):
        places = onto_a.coordinates
        # NumPy's matrices, which the older classes return, keep the axis.
        ybar = np.reshape(dense(ybar), [shape[i] for i in kept])
        return onto_a.of_entries(
            ybar[tuple([places[i] for i in kept])] if kept else np.broadcast_to(ybar, len(places[0]))
        )

    return a.sum(axis=axis, dtype=dtype), sum_pullback


register_for_both(np.sum, "sum", sum_frule, sum_rrule)


@pushforward
def transpose_frule(da: Array, a: Sparse, axes: Axis = None) -> OutputAndTangent:
    return a.transpose(axes), da.transpose(axes)


def transpose_rrule(a: Sparse, axes: Axis = None) -> OutputAndPullback:
    back = None if axes is None else tuple(np.argsort(np.mod(axes, a.ndim)).tolist())
    return a.transpose(axes), pullback_wrt(a)(lambda ybar: ybar.transpose(back))


register_for_both(np.transpose, "transpose", transpose_frule, transpose_rrule)


@pushforward
def toarray_frule(da: Array, a: Sparse, order: Choice = None) -> OutputAndTangent:
    return a.toarray(order=order), da.toarray(order=order)


def toarray_rrule(a: Sparse, order: Choice = None) -> OutputAndPullback:
    """The entries of ȳ that ``a`` stores."""
    return a.toarray(order=order), pullback_wrt(a)(lambda ybar: ybar)


frule.register(method("toarray"), SPARSE)(of_method(toarray_frule))
rrule.register(sparse.csr_array.toarray, SPARSE)(of_method(toarray_rrule))
# Of the older classes it makes a matrix of NumPy's.
rrule.alias(sparse.csr_array.todense, sparse.csr_array.toarray)
