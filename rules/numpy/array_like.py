"""What NumPy reads as an array: lists and tuples of numbers, in the place of arrays and beside their tangents."""

import numpy as np

from rulescore import AbstractZero, Tangent


def as_array(x):
    """The array that NumPy makes of a list or tuple; anything else is returned as it is."""
    return np.asarray(x) if isinstance(x, (list, tuple)) else x


def as_array_tangent(dx, x):
    """The tangent of ``as_array(x)``: a structural tangent of a list or tuple as an array, anything else as it is."""
    if not isinstance(x, (list, tuple)) or isinstance(dx, AbstractZero):
        return dx
    parts = dx if isinstance(dx, Tangent) else list(dx)
    return np.stack([_with_shape(as_array_tangent(part, item), item) for part, item in zip(parts, x, strict=True)])


def _with_shape(dx, x):
    return np.zeros(np.shape(x)) if isinstance(dx, AbstractZero) else dx
