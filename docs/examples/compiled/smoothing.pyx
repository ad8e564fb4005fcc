# cython: boundscheck=False, wraparound=False
import numpy as np


def smooth(const double[::1] x, double keep):
    """y[i] = keep y[i - 1] + (1 - keep) x[i]."""
    cdef double[::1] y = np.empty(x.shape[0])
    cdef double last = 0.0
    cdef Py_ssize_t i
    for i in range(x.shape[0]):
        last = keep * last + (1 - keep) * x[i]
        y[i] = last
    return np.asarray(y)


def smooth_pullback(const double[::1] ybar, const double[::1] x, const double[::1] y, double keep):
    """The same loop backwards."""
    cdef double[::1] xbar = np.empty(x.shape[0])
    cdef double later = 0.0, keepbar = 0.0
    cdef Py_ssize_t i
    for i in range(x.shape[0] - 1, -1, -1):
        later = ybar[i] + keep * later
        xbar[i] = (1 - keep) * later
        keepbar += later * ((y[i - 1] if i > 0 else 0.0) - x[i])
    return np.asarray(xbar), keepbar
