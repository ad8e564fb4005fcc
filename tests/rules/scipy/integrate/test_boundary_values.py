"""Boundary value problems, against closed forms."""

import numpy as np
import pytest
import scipy.integrate

from rules.scipy.interpolate import CubicHermiteSpline
from rulescore import MissingDerivativeError
from rulescore.ad import grad, hessian, jvp, primitives

integrate = primitives(scipy.integrate)
MESH = np.linspace(0.0, 1.0, 21)


def swing(p, a, b, mesh=MESH, tol=1e-7):
    """y'' = -p² y between two values."""
    return integrate.solve_bvp(
        lambda x, y: [y[1], -(p**2) * y[0]],
        lambda first, last: [first[0] - a, last[0] - b],
        mesh,
        np.zeros((2, 21)),
        tol=tol,
    )


def closed(p, a, b, x):
    return a * np.cos(p * x) + (b - a * np.cos(p)) / np.sin(p) * np.sin(p * x)


def test_rate_and_conditions_move_the_solution():
    x = swing(1.3, 1.0, 2.0).x[5]
    found = grad(lambda *args: swing(*args).y[0, 5], argnums=(0, 1, 2))(1.3, 1.0, 2.0)
    assert found == pytest.approx(grad(closed, argnums=(0, 1, 2))(1.3, 1.0, 2.0, x), rel=1e-6)
    _, dy = jvp(lambda p: swing(p, 1.0, 2.0).y[0, 5], (1.3,), (2.0,))
    assert dy == pytest.approx(2 * found[0])


def test_second_derivatives():
    def f(v):
        return swing(*v, tol=1e-3).y[0, 10]

    expected = hessian(lambda v: closed(*v, 0.5))(np.array([1.3, 1.0, 2.0]))
    np.testing.assert_allclose(hessian(f)(np.array([1.3, 1.0, 2.0])), expected, rtol=1e-4, atol=1e-9)


def test_the_mesh_moves_with_that_of_the_call():
    # On [0, L] the slope at the end is p (b cos(pL) - a) / sin(pL).
    found = grad(lambda length: swing(1.3, 1.0, 2.0, length * MESH).yp[0, -1])(1.1)
    expected = grad(lambda length: 1.3 * (2 * np.cos(1.3 * length) - 1) / np.sin(1.3 * length))(1.1)
    assert found == pytest.approx(expected, rel=1e-6)


def test_unknown_parameters_are_part_of_the_solution():
    def frequency(q):
        """k with y'' = -k² q y, y(0) = y(1) = 0 and y'(0) = k, which is π / √q."""
        guess = np.stack([np.sin(3 * MESH), 3 * np.cos(3 * MESH)])
        return integrate.solve_bvp(
            lambda x, y, p: np.stack([y[1], -(p[0] ** 2) * q * y[0]]),
            lambda first, last, p: [first[0], last[0], first[1] - p[0]],
            *(MESH, guess, [3.0]),
        ).p[0]

    assert grad(frequency)(1.2) == pytest.approx(-0.5 * np.pi * 1.2**-1.5, rel=1e-4)


def test_the_interpolant_is_an_error_that_names_the_way_out():
    with pytest.raises(MissingDerivativeError, match="CubicHermiteSpline"):
        grad(lambda p: swing(p, 1.0, 2.0).sol(0.33)[0])(1.3)

    def value(p):
        result = swing(p, 1.0, 2.0)
        return CubicHermiteSpline(result.x, result.y, result.yp, axis=1)(0.33)[0]

    assert grad(value)(1.3) == pytest.approx(grad(closed)(1.3, 1.0, 2.0, 0.33), rel=1e-6)


def test_where_no_solution_was_found_there_is_no_derivative():
    def solved(p):
        return integrate.solve_bvp(
            lambda x, y: [y[1], -p * np.exp(y[0])], lambda a, b: [a[0], b[0]], MESH, np.zeros((2, 21)), max_nodes=30
        ).y[0, 5]

    with pytest.raises(MissingDerivativeError, match="solver has found none"):
        grad(solved)(9.0)  # Bratu's problem, which has a solution up to 3.51
