"""Programs whose imports are replaced by those of HIPS autograd are differentiated by it."""

from __future__ import annotations

import math
import types

import numpy as np
import pytest

from tests.wild.replaced_imports import replace_imports

PROGRAM = """
import math
import numpy as np
import numpy
import scipy
import scipy.optimize
from math import atan2, log
from numpy import exp
from numpy.linalg import norm
from scipy import special, stats
from scipy.stats import norm as normal

def f(x):
    y = exp(x) * numpy.linalg.norm(np.array([x, 2.0])) + norm(x * np.ones(2))
    y = y + math.sqrt(x) + atan2(x, 2.0) + log(x, 10) + math.erf(x)
    return y + special.gammaln(x) + scipy.special.erf(x) + normal.cdf(x) + stats.norm.pdf(x)
"""


@pytest.fixture
def program() -> types.ModuleType:
    module = types.ModuleType("program")
    exec(PROGRAM, vars(module))
    return module


def test_numpy_scipy_and_math_are_replaced_however_they_are_imported(program: types.ModuleType) -> None:
    autograd = pytest.importorskip("autograd")
    expected = (program.f(1.3 + 1e-5) - program.f(1.3 - 1e-5)) / 2e-5
    replace_imports([program])
    assert autograd.grad(program.f)(1.3) == pytest.approx(expected, rel=1e-8)


def test_what_autograd_does_not_have_stays_as_it_is(program: types.ModuleType) -> None:
    pytest.importorskip("autograd")
    replace_imports([program])
    assert program.scipy.optimize.brentq(program.np.cos, 1.0, 2.0) == pytest.approx(np.pi / 2)
    assert program.normal(1.0, 2.0).median() == 1.0
    assert program.math.factorial(3) == math.factorial(3)


def test_numpy_itself_is_not_changed(program: types.ModuleType) -> None:
    pytest.importorskip("autograd")
    before = dict(vars(np)), dict(vars(math))
    replace_imports([program])
    assert (dict(vars(np)), dict(vars(math))) == before
