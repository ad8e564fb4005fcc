"""Linear functions of SciPy's that refuse what is not finite, applied to tangents and cotangents that may be infinite.

A slope is infinite at the edge of a domain, as that of ``np.sqrt`` at 0, which is no error of the caller's.
"""

import numpy as np


def finite_entries(x):
    """x with zeros in the place of what is infinite or NaN."""
    return np.where(np.isfinite(x), x, 0)


def nan_where_not_finite(y, x, axes=None):
    """y, a linear function of x that mixes entries along these axes: NaN where x was not finite along them.

    By a product, since what y moves by is NaN there too.
    """
    is_known = np.all(np.isfinite(x), axis=axes, keepdims=axes is not None)
    return y * np.where(is_known, 1.0, np.nan).astype(y.dtype)


def of_finite(linear, x, axes=None):
    """``linear(x)``, which is called with `finite_entries` alone; see `nan_where_not_finite`."""
    return nan_where_not_finite(linear(finite_entries(x)), x, axes)
