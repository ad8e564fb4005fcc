"""NumPy itself, and the little that autograd has beside it."""

import sys

import numpy

from rulescore.ad.tracing.tracers import Tracer

from . import linalg

sys.modules[f"{__name__}.fft"] = numpy.fft
sys.modules[f"{__name__}.random"] = numpy.random

row_stack = numpy.vstack  # a name that NumPy deprecates


def __getattr__(name):
    return getattr(numpy, name)


def where(condition, *args, **kwargs):
    """`numpy.where`, with Python's numbers and lists where nothing else was given."""
    y = numpy.where(condition, *args, *[kwargs[name] for name in ("x", "y") if name in kwargs])
    is_python = (args or kwargs) and not any(map(_has_arrays, (condition, *args, *kwargs.values())))
    return y.tolist() if is_python else y


def _has_arrays(x):
    if isinstance(x, (list, tuple)):
        return any(map(_has_arrays, x))
    return isinstance(x, (numpy.ndarray, numpy.generic, Tracer))


def make_diagonal(D, offset=0, axis1=-1, axis2=-2):
    if (offset, axis1, axis2) != (0, -1, -2):
        raise NotImplementedError("diagonals other than the main one of the last two axes")
    return D[..., None] * numpy.eye(D.shape[-1])
