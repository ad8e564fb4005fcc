"""Half precision, which LAPACK has not: SciPy computes it in single, and `np.linalg` refuses it."""

import numpy as np

from ..numpy.array_like import as_array


def in_working_precision(x):
    """An array, or its tangent, in the precision that SciPy computes it in: half precision in single."""
    x = as_array(x)
    return x.astype(np.float32) if getattr(x, "dtype", None) == np.float16 else x
