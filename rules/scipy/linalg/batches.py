"""What SciPy returns for stacks of matrices: a list where a single matrix gives a tuple."""

from multipledispatch import MDNotImplementedError

from rules.numpy.array_like import shape_of
from rulescore import AbstractZero, NotImplementedTangent, Tangent, project_to, unthunk


def tangents_of(y, dy):
    """The tangent of several outputs, each in the type of its own."""
    return Tangent(type(y), *[projected(part, dpart) for part, dpart in zip(y, dy, strict=True)])


def projected(y, dy):
    return dy if isinstance(dy, (AbstractZero, NotImplementedTangent)) else project_to(y)(dy)


def bars_of(ybar, count):
    """The cotangents of several outputs, or None where all of them are zero."""
    if isinstance(ybar, AbstractZero):
        return None
    bars = [unthunk(ybar[i]) for i in range(count)]
    return None if all(isinstance(bar, AbstractZero) for bar in bars) else bars


def decline_unless_matrices(*arrays):
    """SciPy takes numbers and vectors in the place of some matrices, each function in its own way."""
    if any(len(shape_of(a)) < 2 for a in arrays):
        raise MDNotImplementedError
