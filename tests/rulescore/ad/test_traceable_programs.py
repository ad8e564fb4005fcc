"""Programs in every way of writing them have the derivatives of finite differences under `traceable`."""

from __future__ import annotations

import cmath
import copy
import functools
import itertools
import math
import operator
import statistics

import numpy as np
import pytest

from rulescore.ad import jacfwd, traceable
from tests.rulescore.ad import (  # noqa: F401
    traceable_algorithms,
    traceable_arrays,
    traceable_callbacks,
    traceable_calls,
    traceable_classes,
    traceable_objects,
    traceable_own_classes,
    traceable_protocols,
    traceable_records,
)
from tests.rulescore.ad.traceable_patterns import PATTERNS
from testutils import jacobian_fd


def takes_array(name):
    return isinstance(PATTERNS[name][1][0], np.ndarray)


def of_array(name):
    """A pattern as a function of one array."""
    f, point = PATTERNS[name]
    return (f, *point) if takes_array(name) else (lambda x: f(*x), np.array(point))


def of_numbers(name):
    """A pattern as a function of several numbers."""
    f, point = PATTERNS[name]
    return (lambda *xs: f(np.array(xs)), *point[0].tolist()) if takes_array(name) else (f, *point)


@pytest.mark.parametrize("form", [of_array, of_numbers])
@pytest.mark.parametrize("name", PATTERNS)
def test_derivatives_are_those_of_finite_differences(name, form, check_derivatives):
    f, *point = form(name)
    check_derivatives(traceable(f), *point)


@pytest.mark.parametrize("name", PATTERNS)
def test_many_directions_at_once_are_those_of_finite_differences(name):
    f, x = of_array(name)
    jacobian = jacfwd(traceable(f))(x)
    expected = jacobian_fd(f, x).value
    np.testing.assert_allclose(np.reshape(jacobian, np.shape(expected)), expected, rtol=1e-6, atol=1e-7)


REFUSED = {"statistics.mode", "statistics.multimode"}
"""Which look values up."""
OF_CLASSES = {"cached_property", "partialmethod", "recursive_repr", "singledispatchmethod", "total_ordering"}
NO_PROGRAMS = {f"functools.{name}" for name in (*OF_CLASSES, "get_cache_token")} | {"copy.Error"}
NO_PROGRAMS |= {"statistics.StatisticsError", "statistics.kde_random", "operator.is_none", "operator.is_not_none"}
MODULES = [math, cmath, operator, itertools, functools, copy, statistics]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_function_of_a_module_is_in_a_program(module):
    names = [name for name in getattr(module, "__all__", dir(module)) if not name.startswith("_")]
    public = {f"{module.__name__}.{name}" for name in names if callable(getattr(module, name))}
    assert public - PATTERNS.keys() - REFUSED - NO_PROGRAMS == set()
