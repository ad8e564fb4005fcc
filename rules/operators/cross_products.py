"""The cross product of vectors in three dimensions."""

import numpy as np

from rules.numpy.array_like import as_array, conj
from rules.numpy.products import bilinear_and_tangent
from rules.operators.cotangents import cotangents
from rules.operators.operator import operator
from rulescore import NoTangent, frule, project_to, pushforward, rrule, unbroadcast, unthunk

NO_TANGENT = NoTangent()


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
def cross_frule(da, db, a, b):
    return bilinear_and_tangent(cross, da, db, a, b)


@rrule.register(cross, tags=cross.tags)
def cross_rrule(a, b):
    """z · (a × b) is the same for all cyclic orders, hence ā = b × ȳ and b̄ = ȳ × a."""
    y, projects, a, b = cross(a, b), (project_to(a), project_to(b)), as_array(a), as_array(b)

    def cross_pullback(ybar):
        def a_bar():
            return unbroadcast(cross(conj(b), unthunk(ybar)), np.shape(a))

        def b_bar():
            return unbroadcast(cross(unthunk(ybar), conj(a)), np.shape(b))

        return NO_TANGENT, *cotangents(ybar, projects, (a_bar, b_bar))

    return y, cross_pullback
