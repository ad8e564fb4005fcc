"""What partial derivatives need to stay in the precision of their arguments: constants, limits, dtypes.

A Python number takes the precision of what it meets; a NumPy scalar imposes its own, and `np.where` and the ufuncs
make one of every Python number they are given.
"""

from __future__ import annotations

import functools

import numpy as np

LN_2 = np.log(np.longdouble(2))
LN_10 = np.log(np.longdouble(10))
DEGREE = np.deg2rad(np.longdouble(1))  # in radians


def constant(value, x):
    """A longdouble constant as precise as ``x`` needs it, and no more than that."""
    return value if getattr(x, "dtype", None) in _LONG_DTYPES else float(value)


_LONG_DTYPES = (np.dtype(np.longdouble), np.dtype(np.clongdouble))


def common_dtype(*arguments):
    """The dtype in which a ufunc computes with these floating-point arguments."""
    return np.result_type(*(getattr(x, "dtype", x) for x in arguments))


def one_like(x):
    """The number 1 in the precision of ``x``."""
    return x.dtype.type(1) if hasattr(x, "dtype") else 1.0


def is_complex(x):
    """Whether ``x`` is a complex number or an array of such."""
    return x.dtype.kind == "c" if hasattr(x, "dtype") else issubclass(type(x), complex)


def inverse(x):
    """1/x; at zero what NumPy makes of it, also for the Python numbers, which would raise."""
    return np.divide(1, x) if issubclass(type(x), (int, float, complex)) and x == 0 else 1 / x


def bounded(x, limit):
    """``x`` where it is between ±limit, else the nearer of the two; NaN stays NaN."""
    return np.maximum(np.minimum(x, limit), -limit)


@functools.cache
def largest(dtype):
    """The largest finite number of a dtype."""
    return np.finfo(dtype).max
