"""What LAPACK has not: of half precision SciPy makes single, of extended precision double; `np.linalg` refuses both."""

import numpy as np

from ..numpy.array_like import as_array

WORKING_TYPES = {
    np.dtype(np.float16): np.float32,
    np.dtype(np.longdouble): np.float64,
    np.dtype(np.clongdouble): np.complex128,
}
if np.dtype(np.longdouble).itemsize == 8:  # on some systems extended precision is double
    del WORKING_TYPES[np.dtype(np.longdouble)], WORKING_TYPES[np.dtype(np.clongdouble)]


def in_working_precision(x):
    """An array, or its tangent, in the precision that SciPy computes it in."""
    x = as_array(x)
    wanted = WORKING_TYPES.get(getattr(x, "dtype", None))
    return x if wanted is None else x.astype(wanted)


def in_double_at_most(x):
    """An array or number for functions that know no extended precision, as most of `scipy.special`."""
    x = as_array(x)
    return x.astype(np.float64) if getattr(x, "dtype", None) == np.longdouble else x


def solve(a, b):
    """`np.linalg.solve` of a system in working precision."""
    return np.linalg.solve(in_working_precision(a), in_working_precision(b))
