"""Vector spaces of numbers, arrays and containers of them, which autograd's tester draws directions from."""

import numpy as np

from rulescore.ad.tracing.tracers import value_beneath
from rulescore.ad.values.trees import flatten, unflatten


class VSpace:
    """The space that a value belongs to, over the real numbers: a complex number has two dimensions."""

    def __init__(self, value):
        leaves, self._structure = flatten(value)
        arrays = [np.asarray(value_beneath(leaf)) for leaf in leaves]
        self._kinds = [(array.shape, array.dtype) for array in arrays]

    def __eq__(self, other):
        return (self._structure, self._kinds) == (other._structure, other._kinds)

    def __repr__(self):
        return f"VSpace({self._structure}, {self._kinds})"

    @property
    def size(self):
        return sum(len(_basis_of(dtype)) * int(np.prod(shape)) for shape, dtype in self._kinds)

    def _of(self, leaves):
        return unflatten(self._structure, leaves)

    def zeros(self):
        return self._of([np.zeros(*kind) for kind in self._kinds])

    def ones(self):
        return self._of([np.full(shape, sum(_basis_of(dtype)), dtype) for shape, dtype in self._kinds])

    def randn(self):
        return self._of([_randn(*kind) for kind in self._kinds])

    def standard_basis(self):
        for which, (shape, dtype) in enumerate(self._kinds):
            for index in np.ndindex(*shape):
                for one in _basis_of(dtype):
                    leaves = [np.zeros(*kind) for kind in self._kinds]
                    leaves[which][index] = one
                    yield self._of(leaves)

    def add(self, x, y):
        return self._of([x + y for x, y in _pairs(x, y)])

    def scalar_mul(self, x, a):
        return self._of([x * a for x in flatten(x)[0]])

    def inner_prod(self, x, y):
        return sum(np.real(np.vdot(x, y)) for x, y in _pairs(x, y))

    def covector(self, x):
        return self._of([np.conj(x) for x in flatten(x)[0]])


def _pairs(x, y):
    return zip(flatten(x)[0], flatten(y)[0], strict=True)


def _basis_of(dtype):
    return (1, 1j) if dtype.kind == "c" else (1,)


def _randn(shape, dtype):
    return np.asarray(sum(one * np.random.randn(*shape) for one in _basis_of(dtype))).astype(dtype)


vspace = VSpace
