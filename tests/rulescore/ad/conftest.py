"""What the tests of the reference AD share: a function of NumPy code against NumPy and finite differences."""

import numpy as np
import pytest

from rulescore import Tangent
from rulescore.ad import jvp, vjp
from rulescore.ad.system.reference_ad import AD
from testutils import jvp_fd


def pytest_addoption(parser):
    parser.addoption("--without-short-cuts", action="store_true", help="leave rulescore.ad.fast out")


def pytest_configure(config):
    config.addinivalue_line("markers", "short_cuts: what only a short cut promises, such as how many copies are made")
    if config.getoption("--without-short-cuts", default=False):
        AD.short_cuts = False


def pytest_collection_modifyitems(items):
    if not AD.short_cuts:
        items[:] = [item for item in items if item.get_closest_marker("short_cuts") is None]


@pytest.fixture(scope="session")
def check_derivatives():
    """Compare a function's value with NumPy's, its derivatives of both modes and orders with finite differences."""
    return _check_derivatives


def _check_derivatives(f, *primals, second_order=True):
    rng = np.random.default_rng(7)
    directions = [_random_like(rng, x) for x in primals]
    expected = f(*_copies(primals))
    y, dy = jvp(f, _copies(primals), directions)
    _assert_same_values(y, expected)
    _assert_close(dy, jvp_fd(f, primals, directions).value)

    ybar = _map(lambda part: _random_like(rng, part), expected)
    value, vjp_fn = vjp(f, *_copies(primals))
    _assert_same_values(value, expected)
    bars = vjp_fn(ybar)
    for bar, x in zip(bars, primals, strict=True):
        assert np.shape(bar) == np.shape(x)
        assert bar.dtype == np.asarray(x).dtype
    np.testing.assert_allclose(_inner(bars, tuple(directions)), _inner(ybar, dy), rtol=1e-9, atol=1e-9)

    if second_order:

        def gradient(*points):
            return vjp(f, *points)[1](ybar)

        hessian_product = jvp(gradient, primals, directions)[1]
        _assert_close(hessian_product, jvp_fd(gradient, primals, directions).value)
        # The Hessian of a real function is symmetric, so that reverse over reverse has to give the same.
        _assert_close(vjp(gradient, *primals)[1](tuple(directions)), hessian_product)


def _copies(arrays):
    return tuple([np.array(x) if isinstance(x, np.ndarray) else x for x in arrays])


def _random_like(rng, x):
    x = np.asarray(x)
    numbers = rng.standard_normal(x.shape)
    return (numbers + 1j * rng.standard_normal(x.shape) if x.dtype.kind == "c" else numbers).astype(x.dtype)


def _map(function, y):
    return tuple([function(part) for part in y]) if isinstance(y, tuple) else function(y)


def _parts(y):
    return tuple(y) if isinstance(y, (tuple, Tangent)) else (y,)


def _assert_same_values(y, expected):
    for ours, numpys in zip(_parts(y), _parts(expected), strict=True):
        # Python's numbers are NumPy's when they are traced.
        assert type(ours) is {float: np.float64, complex: np.complex128}.get(type(numpys), type(numpys))
        assert np.asarray(ours).dtype == np.asarray(numpys).dtype
        np.testing.assert_allclose(ours, numpys, rtol=1e-12, atol=1e-14, strict=True)


def _assert_close(ours, estimates):
    for part, estimate in zip(_parts(ours), _parts(estimates), strict=True):
        assert np.shape(part) == np.shape(estimate)
        np.testing.assert_allclose(part, estimate, rtol=1e-6, atol=1e-7)


def _inner(a, b):
    return sum(np.vdot(x, y).real for x, y in zip(_parts(a), _parts(b), strict=True))
