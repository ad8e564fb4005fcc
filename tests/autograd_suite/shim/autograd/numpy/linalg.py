"""`numpy.linalg` itself, and two functions that autograd has beside it."""

import numpy


def __getattr__(name):
    return getattr(numpy.linalg, name)


def T(x):
    return numpy.swapaxes(x, -1, -2)


_dot = numpy.matmul
