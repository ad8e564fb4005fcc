"""What the rules of scipy.linalg take for matrices."""

from multipledispatch import MDNotImplementedError

from ...numpy.array_like import shape_of


def decline_unless_matrices(*arrays):
    """SciPy takes numbers and vectors in the place of some matrices, each function in its own way."""
    if any(len(shape_of(a)) < 2 for a in arrays):
        raise MDNotImplementedError
