"""What NumPy reads as an array: lists and tuples of numbers, in the place of arrays and beside their tangents."""

import numpy as np
from rulescore import AbstractZero, Tangent


def as_array(x):
    """The array that NumPy makes of a list or tuple; anything else is returned as it is."""
    return np.asarray(x, like=who_converts(x)) if isinstance(x, (list, tuple)) else x


def who_converts(x):
    """The ``like=`` for a conversion: an array of another kind, or one within lists, converts itself."""
    if isinstance(x, (list, tuple)):
        return next((found for found in map(who_converts, x) if found is not None), None)
    return x if hasattr(type(x), "__array_function__") and not issubclass(type(x), (np.ndarray, np.generic)) else None


def shape_of(x):
    """The shape of ``as_array(x)``. Of a list, ``np.shape`` makes an array, which arrays of another kind refuse."""
    if isinstance(x, (list, tuple)):
        return (len(x), *(shape_of(x[0]) if x else ()))
    return np.shape(x)


def as_array_tangent(dx, x):
    """The tangent of ``as_array(x)``: a structural tangent of a list or tuple as an array, anything else as it is."""
    if not isinstance(x, (list, tuple)) or isinstance(dx, AbstractZero):
        return dx
    if not x:
        return np.zeros(0)
    parts = dx if isinstance(dx, Tangent) else list(dx)
    return np.stack([full_tangent(part, item) for part, item in zip(parts, x, strict=True)])


def full_tangent(dx, x, shape=None):
    """`as_array_tangent`, where a zero is an array of zeros: for what has to have its shape, among others."""
    if isinstance(dx, AbstractZero):
        return np.zeros(shape_of(x) if shape is None else shape)
    return as_array_tangent(dx, x)


def conj(x):
    """The complex conjugate: Dask's arrays have no ``conjugate``, and Python's numbers no ``conj``."""
    return x.conj() if hasattr(x, "conj") else x.conjugate()
