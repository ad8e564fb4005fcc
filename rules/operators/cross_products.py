"""The cross product of vectors in three dimensions."""

import numpy as np

from rulescore import frule, pullback_wrt, pushforward, rrule, unbroadcast
from rulescore.typing import Array, OutputAndPullback, OutputAndTangent

from ..numpy.array_like import as_array, conj
from ..numpy.products import bilinear_and_tangent
from .operator import operator


@operator(tensorflow="tf.linalg.cross")
def cross(a, b):
    """The cross product of the vectors in the last axis.

    Parameters
    ----------
    a, b : array_like, shape (..., 3)
        Leading axes broadcast.

    Returns
    -------
    y : ndarray, shape (..., 3)
        (a₂b₃ - a₃b₂, a₃b₁ - a₁b₃, a₁b₂ - a₂b₁).

    Raises
    ------
    ValueError
        When the last axis has another length than 3, or leading axes do not broadcast.

    Examples
    --------
    >>> import numpy as np
    >>> cross([1.0, 0.0, 0.0], [[0.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    array([[ 0.,  0.,  1.],
           [ 0., -2.,  0.]])
    """
    a, b = np.asarray(a), np.asarray(b)
    if a.shape[-1:] != (3,) or b.shape[-1:] != (3,):
        raise ValueError(f"cross of arrays of shapes {a.shape} and {b.shape}: give vectors of three numbers, (..., 3)")
    return np.cross(a, b)


@frule.register(cross, tags=cross.tags)
@pushforward
def cross_frule(da: Array, db: Array, a: Array, b: Array) -> OutputAndTangent:
    return bilinear_and_tangent(cross, da, db, a, b)


@rrule.register(cross, tags=cross.tags)
def cross_rrule(a: Array, b: Array) -> OutputAndPullback:
    """z · (a × b) is the same for all cyclic orders, hence ā = b × ȳ and b̄ = ȳ × a."""
    y, u, v = cross(a, b), as_array(a), as_array(b)
    return y, pullback_wrt(a, b)(
        lambda ybar: unbroadcast(cross(conj(v), ybar), np.shape(u)),
        lambda ybar: unbroadcast(cross(ybar, conj(u)), np.shape(v)),
    )
