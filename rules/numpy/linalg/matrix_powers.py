"""Rules of powers of a matrix and products of several: ``matrix_power`` and ``multi_dot``."""

import functools
import operator

from multipledispatch import MDNotImplementedError

import numpy as np
from rulescore import (
    Tangent,
    ZeroTangent,
    frule,
    pullback_wrt,
    pushforward,
    rrule,
)
from rulescore.typing import Array, Arrays, Count, OutputAndPullback, OutputAndTangent

from ..array_like import as_array, as_array_tangent
from ..products import adjoint
from ..reduced_axes import decline_out

# ---------------------------------------------------------------- matrix_power


def tangent_of_power(a, da, n):
    """Σ Aⁱ Ȧ Aⁿ⁻¹⁻ⁱ for n > 0, in about 2 log₂ n steps: each square brings its tangent Ż Z + Z Ż."""
    z, dz, result, dresult = a, da, None, None
    while True:
        n, is_odd = divmod(n, 2)
        if is_odd:
            dresult = dz if result is None else dresult @ z + result @ dz
            if not n:
                return dresult
            result = z if result is None else result @ z
        dz, z = dz @ z + z @ dz, z @ z if n > 1 or result is not None else None


@frule.register(np.linalg.matrix_power)
@pushforward
def matrix_power_frule(da: Array, a: Array, n: Count) -> OutputAndTangent:
    a, n, da = as_array(a), operator.index(n), as_array_tangent(da, a)
    if n == 0:
        return np.linalg.matrix_power(a, n), ZeroTangent()
    if n < 0:
        a = np.linalg.inv(a)
        da = -a @ da @ a
    y = np.linalg.matrix_power(a, abs(n))
    return y, tangent_of_power(a, da, abs(n))


@rrule.register(np.linalg.matrix_power)
def matrix_power_rrule(a: Array, n: Count) -> OutputAndPullback:
    """Ẏ = Σ Aⁱ Ȧ Aⁿ⁻¹⁻ⁱ, hence Ā is the same sum with Aᴴ and Ȳ. A negative power is one of the inverse."""
    n = operator.index(n)
    base = np.linalg.inv(a) if n < 0 else as_array(a)
    y = np.linalg.matrix_power(base, abs(n))

    @pullback_wrt(a)
    def matrix_power_pullback(ybar):
        if n == 0:
            return ZeroTangent()
        base_h = adjoint(base)
        abar = tangent_of_power(base_h, ybar, abs(n))
        return -base_h @ abar @ base_h if n < 0 else abar

    return y, matrix_power_pullback


# ---------------------------------------------------------------- multi_dot


class Chain:
    """A product of matrices, as a tree of products of two in the order that takes the fewest multiplications."""

    __slots__ = ("left", "right", "value")

    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right

    @classmethod
    def of(cls, matrices):
        split = cheapest_splits([np.shape(matrix)[0] for matrix in matrices] + [np.shape(matrices[-1])[1]])

        def product(i, j):
            if i == j:
                return cls(matrices[i])
            left, right = product(i, split(i, j)), product(split(i, j) + 1, j)
            return cls(left.value @ right.value, left, right)

        return product(0, len(matrices) - 1)

    def tangent(self, tangents):
        """d(L R) = L̇ R + L Ṙ, where ``tangents`` gives the matrices' one after the other."""
        if self.left is None:
            return next(tangents)
        dleft, dright = self.left.tangent(tangents), self.right.tangent(tangents)
        return dleft @ self.right.value + self.left.value @ dright

    def cotangents(self, ybar):
        """L̄ = Ȳ Rᴴ and R̄ = Lᴴ Ȳ; those of the matrices one after the other."""
        if self.left is None:
            return [ybar]
        left = self.left.cotangents(ybar @ adjoint(self.right.value))
        return left + self.right.cotangents(adjoint(self.left.value) @ ybar)


def cheapest_splits(lengths):
    """Where to split the product of the matrices i to j, which have these numbers of rows, and the last of columns."""

    @functools.cache
    def cheapest(i, j):
        if i == j:
            return 0, i
        return min((cost(i, k) + cost(k + 1, j) + lengths[i] * lengths[k + 1] * lengths[j + 1], k) for k in range(i, j))

    def cost(i, j):
        return cheapest(i, j)[0]

    return lambda i, j: cheapest(i, j)[1]


def as_matrices(arrays):
    """What a chain multiplies: a vector in front is a row, one at the end a column."""
    arrays = [as_array(array) for array in arrays]
    ndims = [np.ndim(array) for array in arrays]
    if len(arrays) < 2 or ndims[0] not in (1, 2) or ndims[-1] not in (1, 2) or any(n != 2 for n in ndims[1:-1]):
        raise MDNotImplementedError  # NumPy has the errors; of two arrays of any shape it makes an np.dot
    first = arrays[0] if ndims[0] == 2 else arrays[0][None, :]
    last = arrays[-1] if ndims[-1] == 2 else arrays[-1][:, None]
    return [first, *arrays[1:-1], last]


def shape_of_product(arrays):
    return (*np.shape(arrays[0])[:-1], *np.shape(arrays[-1])[1:])


@frule.register(np.linalg.multi_dot)
@pushforward
def multi_dot_frule(darrays: Arrays, arrays: Arrays, *, out: Array = None) -> OutputAndTangent:
    decline_out(out)
    matrices = as_matrices(arrays)
    parts = zip(darrays, arrays, matrices, strict=True)
    dmatrices = [np.reshape(as_array_tangent(dx, x), np.shape(matrix)) for dx, x, matrix in parts]
    chain, shape = Chain.of(matrices), shape_of_product(arrays)
    return np.reshape(chain.value, shape)[()], np.reshape(chain.tangent(iter(dmatrices)), shape)


@rrule.register(np.linalg.multi_dot)
def multi_dot_rrule(arrays: Arrays, *, out: Array = None) -> OutputAndPullback:
    """The pullbacks of the products of two that it is made of, which are kept."""
    decline_out(out)
    matrices, shape = as_matrices(arrays), shape_of_product(arrays)
    chain = Chain.of(matrices)
    kind, shapes = type(arrays), [np.shape(array) for array in arrays]

    @pullback_wrt(arrays)
    def multi_dot_pullback(ybar):
        bars = chain.cotangents(np.reshape(ybar, np.shape(chain.value)))
        bars = [np.reshape(bar, shape) for bar, shape in zip(bars, shapes, strict=True)]
        return Tangent(kind, *bars) if issubclass(kind, (list, tuple)) else np.stack(bars)

    return np.reshape(chain.value, shape)[()], multi_dot_pullback
