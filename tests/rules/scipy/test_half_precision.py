"""Arguments in half precision, which SciPy computes in single: the derivative is that at the same numbers in double."""

import contextlib
import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
from scipy.stats import multivariate_normal

from rules.scipy import interpolate
from rulescore.ad import grad, jvp, primitive, primitives

linalg, optimize = primitives(scipy.linalg), primitives(scipy.optimize)
logpdf, entropy = map(primitive, (multivariate_normal.logpdf, multivariate_normal.entropy))

MATRIX = np.array([[2.5, 0.5, -0.75], [0.25, 1.75, 0.5], [-0.5, 0.25, 3.0]])
SYMMETRIC = MATRIX + MATRIX.T
VECTOR = np.array([0.5, -1.25, 2.0])
POINTS = np.array([[0.0, 0.0], [1.0, 0.25], [0.25, 1.0], [0.75, 0.75], [1.5, 0.5]])


def entries(y):
    """A number made of all entries of all parts of the output."""
    parts = y if isinstance(y, (tuple, list)) else (y,)
    return sum(np.sum(np.sin(np.real(part))) for part in parts if np.size(part))


def bowl(z, a):
    return np.sum((z - a) ** 2) + np.sum(z**4)


FUNCTIONS = {
    "det": (linalg.det, MATRIX),
    "eigvals of a pair": (lambda b: entries(linalg.eigvals(MATRIX, b)), SYMMETRIC),
    "expm": (lambda a: entries(linalg.expm(a / 4)), MATRIX),
    "lstsq": (lambda b: entries(linalg.lstsq(MATRIX, b)[0]), VECTOR),
    "pinv": (lambda a: entries(linalg.pinv(a, rtol=0.3)), MATRIX),
    "pinvh": (lambda a: entries(linalg.pinvh(a, rtol=0.3)), SYMMETRIC),
    "qr": (lambda a: entries(linalg.qr(a)[1]), MATRIX),
    "rq": (lambda a: entries(linalg.rq(a)[0]), MATRIX),
    "the minimum of a bowl": (lambda a: entries(optimize.fmin_bfgs(bowl, VECTOR, args=(a,), disp=0)), VECTOR),
    "radial functions": (
        lambda d: entries(interpolate.RBFInterpolator(POINTS, d)(POINTS[:2] + 0.125)),
        np.arange(5.0) / 4,
    ),
    "a normal density": (lambda cov: logpdf(VECTOR, VECTOR / 2, cov), SYMMETRIC),
    "a normal entropy": (lambda cov: entropy(VECTOR, cov), SYMMETRIC),
}


def with_what_scipy_says(f, x):
    """Expects the warning of SciPy's, from 1.18 on, that half precision will not be taken any more: where it comes."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        f(x.astype(np.float16))
    is_told = any(issubclass(warning.category, DeprecationWarning) for warning in told)
    return pytest.warns(DeprecationWarning, match="float16") if is_told else contextlib.nullcontext()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_gradient_is_that_in_double_precision(name):
    f, x = FUNCTIONS[name]
    with with_what_scipy_says(f, x):
        found = grad(f)(x.astype(np.float16))
    wanted = grad(f)(x)
    assert found.dtype == np.float16
    np.testing.assert_allclose(found, wanted, rtol=1e-2, atol=1e-2 * np.abs(wanted).max())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_tangent_is_that_in_double_precision(name):
    f, x = FUNCTIONS[name]
    dx = np.reshape(np.linspace(1.0, 2.0, x.size), x.shape)
    dx = dx + dx.T if x is SYMMETRIC else dx
    with with_what_scipy_says(f, x):
        _, found = jvp(f, (x.astype(np.float16),), (dx.astype(np.float16),))
    _, wanted = jvp(f, (x,), (dx.astype(np.float16).astype(float),))
    np.testing.assert_allclose(found, wanted, rtol=2e-2, atol=1e-2)
