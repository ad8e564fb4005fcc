"""What the rules of scipy.linalg take for matrices, and for vectors that make one."""

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy

from ...numpy.array_like import shape_of

SCIPY = np.lib.NumpyVersion(scipy.__version__)
TOEPLITZ_FLATTENS = SCIPY < "1.17.0"
CHO_FACTOR_CLEANS = SCIPY >= "1.18.0"
"""Whether it puts zeros where LAPACK leaves the elements of the matrix."""


def up_to_the_last(*matrices):
    """Without those at the end that are None: SciPy 1.16 takes items of them where others are stacks."""
    count = max(i for i, a in enumerate(matrices, 1) if a is not None)
    return matrices[:count]


def decline_unless_matrices(*arrays):
    """SciPy takes numbers and vectors in the place of some matrices, each function in its own way."""
    if any(len(shape_of(a)) < 2 for a in arrays):
        raise MDNotImplementedError


def decline_matrices(*vectors):
    """What SciPy will soon take for stacks of vectors, and flattens still."""
    if any(len(shape_of(x)) > 1 for x in vectors if x is not None):
        raise MDNotImplementedError


def decline_flattened_toeplitz(c, r):
    """The columns and rows of Toeplitz matrices, which SciPy takes for stacks of vectors since 1.17."""
    if TOEPLITZ_FLATTENS:
        decline_matrices(c, r)
