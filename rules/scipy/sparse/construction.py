"""Rules of what makes sparse arrays: their classes, conversions of format, parts, and what joins several.

Each entry of the output is one of an argument, and nothing is computed. Which one is known by calling the function with
the numbers 1, 2, 3, … in the place of the entries: that makes the transpose of such a map. Where entries that are named
twice are summed, as of ``csr_array((data, (row, column)))``, each of them gets the cotangent of its place.
"""

import operator
from typing import Any

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import (
    AbstractZero,
    MissingDerivativeError,
    NoTangent,
    NotImplementedTangent,
    frule,
    is_differentiable,
    is_traced,
    project_to,
    pullback_wrt,
    rrule,
    unthunk,
)
from rulescore.typing import Axis, Count, Index, OutputAndPullback, OutputAndTangent, Tangents
from scipy import sparse

from ...numpy.indexing import scatter
from ..linear_maps import TANGENTS, Arguments
from .operations import CLASS_NAMES, SPARSE, method

NO_TANGENT = NoTangent()

# ---------------------------------------------------------------- numbers in the place of entries


def is_entry(x):
    """Whether something has entries that are differentiated: a sparse or dense array, or a number."""
    return is_differentiable(x) and (sparse.issparse(x) or isinstance(x, (np.ndarray, np.generic, float, complex)))


def mapped(function, x):
    """Lists and tuples with a function applied to what is in them."""
    return type(x)([mapped(function, part) for part in x]) if type(x) in (list, tuple) else function(x)


class Numbering:
    """The entries of some arguments, in lists and tuples too, counted from 1 on."""

    def __init__(self, x):
        self.count = 0
        self.numbered = mapped(self._number, x)

    def _number(self, x):
        """Of a constant, which is no part of what moves, zeros."""
        if sparse.issparse(x):
            if not is_entry(x):
                return x * 0.0
            # Not in single precision, which has too few digits.
            onto = project_to((x.real if x.dtype.kind == "c" else x).astype(np.float64))
            return onto.of_entries(self._next(len(onto.coordinates[0])))
        if is_entry(x):
            return np.reshape(self._next(np.size(x)), np.shape(x))
        is_number = isinstance(x, (np.ndarray, np.generic, int)) and np.asarray(x).dtype.kind in "iub"
        return np.zeros(np.shape(x))[()] if is_number else x

    def _next(self, n):
        self.count += n
        return np.arange(self.count - n + 1.0, self.count + 1.0)


def parted(values, x):
    """A vector with a number for each entry as cotangents of the arguments."""
    values = iter(np.split(values, np.cumsum(mapped_sizes(x))[:-1]))

    def part(leaf):
        if not is_entry(leaf):
            return NO_TANGENT
        own = next(values)
        return project_to(leaf).of_entries(own) if sparse.issparse(leaf) else np.reshape(own, np.shape(leaf))

    return mapped(part, x)


def mapped_sizes(x):
    """How many entries each part has."""
    if type(x) in (list, tuple):
        return [n for part in x for n in mapped_sizes(part)]
    if not is_entry(x):
        return []
    return [len(project_to(x).coordinates[0]) if sparse.issparse(x) else np.size(x)]


def entries_beside(numbers, ybar):
    """The numbers in an output, and the elements of a cotangent at the same places, as vectors."""
    if sparse.issparse(numbers):
        onto = project_to(numbers)
        numbers, ybar = onto.entries_of(numbers), onto.entries_of(ybar)
    else:
        numbers = np.asarray(numbers)
        ybar = np.reshape(ybar.toarray() if sparse.issparse(ybar) else ybar, numbers.shape)
    return numbers[numbers != 0], ybar[numbers != 0]


def as_places(numbers):
    return np.round(np.real(numbers)).astype(np.intp) - 1


def moved_back(make, x, ybar):
    """The cotangent of x, where ``make(x)`` moves its entries."""
    numbering = Numbering(x)
    numbers, values = entries_beside(make(numbering.numbered), ybar)
    return parted(scatter(values, as_places(numbers), (numbering.count,), values.dtype), x)


def moved_forward(make, dx, x, y):
    """The tangent of ``y = make(x)``, which has entries where y has."""
    dy = make(tangent_of(dx, x))
    return project_to(y)(dy) if sparse.issparse(y) else dy


def tangent_of(dx, x):
    """A tangent in the structure of x, with zeros where nothing moves."""
    dx = unthunk(dx)
    refuse_traced(dx)
    if isinstance(dx, NotImplementedTangent):
        dx.fail()
    if type(x) in (list, tuple):
        return type(x)([tangent_of(dx if isinstance(dx, AbstractZero) else dx[i], part) for i, part in enumerate(x)])
    if sparse.issparse(x) or is_entry(x):
        return x * 0.0 if isinstance(dx, AbstractZero) else dx
    return Numbering(x).numbered


def refuse_traced(x):
    if is_traced(x):
        raise MissingDerivativeError(
            "second derivatives and `linearize` do not go through a sparse array made of values that are being "
            "differentiated, since it holds ordinary numbers: make a dense array by NumPy's functions"
        )


class Moving:
    """A call ``f(x, ...)``, and what a definition, which moves the entries of x as f does, makes of others."""

    def __init__(self, f, arguments, definition, args, kwargs):
        (self.x, *self._rest), kwargs = arguments.bind(args, kwargs)
        if kwargs or any(map(is_entry, self._rest)):
            raise MDNotImplementedError
        self._definition = definition
        refuse_traced(args)
        self.y = self._value(arguments)

    def _value(self, arguments):
        return arguments.value((self.x, *self._rest), {})

    def make(self, x):
        return self._definition(x, *self._rest)

    def pushed(self, dx):
        return moved_forward(self.make, dx, self.x, self.y)

    def pulled(self, ybar):
        return moved_back(self.make, self.x, ybar)


def moving(f, call_of=Moving):
    """Define both rules of ``f(x, ...)`` by the decorated function, which moves the entries of x as f does.

    It knows nothing of the type of the output, since it is called with numbers of double precision; its signature
    decides which calls the rules serve.
    """

    def decorate(definition):
        arguments = Arguments(f, definition)

        def moving_rrule(*args: Any, **kwargs: Any) -> OutputAndPullback:
            call = call_of(f, arguments, definition, args, kwargs)
            return call.y, pullback_wrt(call.x)(call.pulled)

        def moving_frule(tangents: Tangents, *args: Any, **kwargs: Any) -> OutputAndTangent:
            call = call_of(f, arguments, definition, args, kwargs)
            return call.y, call.pushed(tangents[1])

        rrule.add_rule(f, arguments.give_to(moving_rrule), tags={"linear"}, defined_by=definition)
        frule.add_rule(f, arguments.give_to(moving_frule, [TANGENTS]), tags={"linear"}, defined_by=definition)
        return definition

    return decorate


# ---------------------------------------------------------------- the classes


class Making(Moving):
    """A call of a class: with an array, or with a tuple of numbers and where they are, which is not moved."""

    def __init__(self, cls, *call):
        super().__init__(cls, *call)
        self._is_by_rows = {"csr": True, "csc": False}.get(cls.__name__[:3])
        self._has_places = type(self.x) is tuple and len(self.x) in (2, 3) and np.ndim(self.x[0]) > 0

    def _of_numbers(self, numbers):
        return self.make((numbers, *self.x[1:]))

    def pushed(self, dx):
        if not self._has_places:
            return super().pushed(dx)
        dx = unthunk(dx)
        return moved_forward(self._of_numbers, dx if isinstance(dx, AbstractZero) else dx[0], self.x[0], self.y)

    def pulled(self, ybar):
        if not self._has_places:
            return super().pulled(ybar)
        places = self._places()
        bar = moved_back(self._of_numbers, self.x[0], ybar) if places is None else self._of_each(places, ybar)
        return bar, *[NO_TANGENT] * (len(self.x) - 1)

    def _places(self):
        """Row and column of each number; None in formats in which none can be named twice."""
        numbers, *rest = self.x
        if len(rest) == 1 and type(rest[0]) in (tuple, list) and np.ndim(numbers) == 1:
            return tuple(map(np.asarray, rest[0]))
        if len(rest) == 2 and self._is_by_rows is not None:
            minor, starts = map(np.asarray, rest)
            major = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
            return (major, minor[: starts[-1]]) if self._is_by_rows else (minor[: starts[-1]], major)
        return None

    def _of_each(self, places, ybar):
        """The cotangent of each number: that of its place, whose entry is the sum of all that have it."""
        shape = np.shape(self.x[0])
        onto = project_to(self._of_numbers(np.ones(shape)))
        bars = onto.entries_of(ybar)
        numbers = onto.of_entries(np.arange(1.0, len(bars) + 1)).tocsr()
        bars = bars[as_places(np.asarray(numbers[places]).reshape(-1))]
        return np.concatenate([bars, np.zeros(shape[0] - len(bars), bars.dtype)])  # what lies behind the last row


def class_of(name):
    cls = getattr(sparse, name)

    @moving(cls, Making)
    def make(arg1, shape=None, dtype=None, copy=False):
        return cls(arg1, shape)


for name in CLASS_NAMES:
    class_of(name)

# ---------------------------------------------------------------- other formats, and parts


class MovingMethod(Moving):
    """A call of a method, of which each class has its own, which the definition calls."""

    def _value(self, arguments):
        return self.make(self.x)


def register_method(name, definition):
    moving(method(name), MovingMethod)(definition)


def to_format(name):
    def converted(self, copy=False):
        return getattr(self, name)(copy=copy)

    return converted


for name in ("tocsr", "tocsc", "tocoo", "todia", "todok", "tolil"):
    register_method(name, to_format(name))


def tobsr(self, blocksize=None, copy=False):
    return self.tobsr(blocksize, copy)


def asformat(self, format, copy=False):
    return self.asformat(format, copy)


def diagonal(self, k=0):
    return self.diagonal(k)


def reshaped(self, shape, order="C", copy=False):
    return self.reshape(shape, order=order, copy=copy)


for definition in (tobsr, asformat, diagonal):
    register_method(definition.__name__, definition)
register_method("reshape", reshaped)


@frule.register(np.diagonal, SPARSE)
def numpys_diagonal_frule(
    tangents: Tangents, a: Any, offset: Count = 0, axis1: Axis = 0, axis2: Axis = 1
) -> OutputAndTangent:
    """The method of an array that is being differentiated calls NumPy's function."""
    make = numpys_diagonal(offset, axis1, axis2)
    y = make(a)
    return y, moved_forward(make, tangents[1], a, y)


@rrule.register(np.diagonal, SPARSE)
def numpys_diagonal_rrule(a: Any, offset: Count = 0, axis1: Axis = 0, axis2: Axis = 1) -> OutputAndPullback:
    make = numpys_diagonal(offset, axis1, axis2)
    return make(a), pullback_wrt(a)(lambda ybar: moved_back(make, a, ybar))


def numpys_diagonal(offset, axis1, axis2):
    if (axis1, axis2) != (0, 1):
        raise MDNotImplementedError
    return operator.methodcaller("diagonal", offset)


OR_A_DICT = (*SPARSE, sparse.dok_array, sparse.dok_matrix)
"""Those of one format are dicts too, whose items are others."""


@frule.register(operator.getitem, OR_A_DICT, object)
def getitem_frule(tangents: Tangents, x: Any, index: Index) -> OutputAndTangent:
    y = x[index]
    return y, moved_forward(operator.itemgetter(index), tangents[1], x, y)


@rrule.register(operator.getitem, OR_A_DICT, object)
def getitem_rrule(x: Any, index: Index) -> OutputAndPullback:
    return x[index], pullback_wrt(x)(lambda ybar: moved_back(operator.itemgetter(index), x, ybar))


@moving(sparse.tril)
def tril(A, k=0, format=None):
    return sparse.tril(A, k, format)


@moving(sparse.triu)
def triu(A, k=0, format=None):
    return sparse.triu(A, k, format)


# ---------------------------------------------------------------- of several


class Joining(Moving):
    """A call with several blocks; SciPy adds up the entries of one with more than two axes."""

    def __init__(self, *call):
        super().__init__(*call)
        mapped(self._decline_more_axes, self.x)

    @staticmethod
    def _decline_more_axes(block):
        if is_entry(block) and np.ndim(block) > 2:
            raise MDNotImplementedError


@moving(sparse.hstack, Joining)
def hstack(blocks, format=None, dtype=None):
    return sparse.hstack(blocks, format)


@moving(sparse.vstack, Joining)
def vstack(blocks, format=None, dtype=None):
    return sparse.vstack(blocks, format)


@moving(sparse.bmat, Joining)
def bmat(blocks, format=None, dtype=None):
    return sparse.bmat(blocks, format)


@moving(sparse.block_array, Joining)
def block_array(blocks, format=None, dtype=None):
    return sparse.block_array(blocks, format=format)


@moving(sparse.block_diag, Joining)
def block_diag(mats, format=None, dtype=None):
    return sparse.block_diag(mats, format)


@moving(sparse.diags)
def diags(diagonals, offsets=0, shape=None, format=None, dtype=None):
    return sparse.diags(diagonals, offsets, shape, format)


@moving(sparse.diags_array)
def diags_array(diagonals, offsets=0, shape=None, format=None, dtype=None):
    return sparse.diags_array(diagonals, offsets=offsets, shape=shape, format=format)


@moving(sparse.spdiags)
def spdiags(data, diags, m=None, n=None, format=None):
    return sparse.spdiags(data, diags, m, n, format)
