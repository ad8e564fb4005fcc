"""Initial value problems: against closed forms, finite differences and JAX."""

import numpy as np
import pytest
import scipy.integrate

from rulescore import MissingDerivativeError
from rulescore.ad import grad, hessian, jvp, primitives

integrate = primitives(scipy.integrate)
TIMES = np.linspace(0.0, 2.0, 7)
WEIGHTS = np.random.default_rng(0).standard_normal((2, 7))
TIGHT = {"rtol": 1e-10, "atol": 1e-10}
P = np.array([1.5, 1.0, 3.0, 1.0])


def hunters_and_prey(t, y, p):
    return [y[0] * (p[0] - p[1] * y[1]), -y[1] * (p[2] - p[3] * y[0])]


def loss_of(p, y0, method="DOP853", **options):
    solved = integrate.solve_ivp(
        lambda t, y: hunters_and_prey(t, y, p), (0.0, 2.0), y0, method, t_eval=TIMES, **{**TIGHT, **options}
    )
    return np.sum(solved.y * WEIGHTS)


def jax_gradient():
    jax = pytest.importorskip("jax")
    from jax.experimental.ode import odeint

    with jax.enable_x64(True):
        numpy = jax.numpy

        def rate(y, t, p):
            return numpy.stack(hunters_and_prey(t, y, p))

        def loss(p, y0):
            return numpy.sum(odeint(rate, y0, numpy.asarray(TIMES), p, rtol=1e-11, atol=1e-11).T * WEIGHTS)

        return [np.asarray(g) for g in jax.grad(loss, argnums=(0, 1))(numpy.asarray(P), numpy.ones(2))]


@pytest.mark.parametrize("method", ["RK45", "DOP853", "LSODA"])
def test_the_adjoint_agrees_with_jax(method):
    expected = jax_gradient()
    found = grad(lambda p, y0: loss_of(p, y0, method), argnums=(0, 1))(P, np.ones(2))
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-6, atol=1e-6)
    v = np.array([1.0, -2.0, 0.5, 0.3])
    dy = jvp(lambda p: loss_of(p, np.ones(2), method), (P,), (v,))[1]
    np.testing.assert_allclose(dy, expected[0] @ v, rtol=1e-6)


def test_odeint_agrees_with_jax():
    def loss(p, y0):
        return np.sum(integrate.odeint(hunters_and_prey, y0, TIMES, args=(p,), tfirst=True, **TIGHT).T * WEIGHTS)

    found = grad(loss, argnums=(0, 1))(P, np.ones(2))
    for mine, theirs in zip(found, jax_gradient(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-6)


# y' = -p y, so y(t) = y₀ exp(-p (t - t₀))
def end_of_decay(p, y0, t0, t1, **options):
    solved = integrate.solve_ivp(lambda t, y: -p * y, (t0, t1), y0, **TIGHT, **options)
    return solved.y[0, -1]


def closed(p, y0, t0, t1):
    return y0[0] * np.exp(-p * (t1 - t0))


ARGUMENTS = (1.3, np.array([2.0]), 0.5, 2.0)


def test_parameter_state_start_and_end_have_derivatives():
    found = grad(end_of_decay, argnums=(0, 1, 2, 3))(*ARGUMENTS)
    expected = grad(closed, argnums=(0, 1, 2, 3))(*ARGUMENTS)
    for mine, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, right, rtol=1e-7)
    dy = jvp(end_of_decay, ARGUMENTS, (1.0, np.array([0.5]), 0.2, 0.3))[1]
    assert dy == pytest.approx(jvp(closed, ARGUMENTS, (1.0, np.array([0.5]), 0.2, 0.3))[1], rel=1e-7)


def test_second_derivatives():
    found = hessian(lambda x: end_of_decay(x[0], x[1:2], x[2], x[3]))(np.array([1.3, 2.0, 0.5, 2.0]))
    expected = hessian(lambda x: closed(x[0], x[1:2], x[2], x[3]))(np.array([1.3, 2.0, 0.5, 2.0]))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def test_times_that_are_asked_for_move():
    def f(times):
        return np.sum(integrate.solve_ivp(lambda t, y: -1.3 * y, (0.0, 3.0), [2.0], t_eval=times, **TIGHT).y)

    times = np.array([0.5, 1.0, 2.5])
    np.testing.assert_allclose(grad(f)(times), -1.3 * 2 * np.exp(-1.3 * times), rtol=1e-7)


def test_backwards_in_time_with_a_rate_that_depends_on_time():
    def f(p):
        solved = integrate.solve_ivp(lambda t, y: -p * y + np.sin(t), (2.0, 0.0), [1.0], "DOP853", **TIGHT)
        return solved.y[0, -1]

    h = 1e-4
    assert grad(f)(1.0) == pytest.approx((f(1.0 + h) - f(1.0 - h)) / (2 * h), rel=1e-6)


def test_a_stiff_system():
    def f(k):
        def rate(t, y):
            forth, back, merge = k[0] * y[0], k[2] * y[1] * y[2], k[1] * y[1] ** 2
            return np.stack([-forth + back, forth - back - merge, merge])

        return integrate.solve_ivp(rate, (0.0, 40.0), [1.0, 0.0, 0.0], "Radau", rtol=1e-7, atol=1e-10).y[0, -1]

    k = np.array([0.04, 3e7, 1e4])
    found = grad(f)(k)
    for i in range(3):
        e = 1e-3 * k * np.eye(3)[i]
        assert found[i] == pytest.approx((f(k + e) - f(k - e)) / (2 * e[i]), rel=1e-3)


def test_what_is_not_known_is_refused():
    with pytest.raises(TypeError, match="t_eval"):
        grad(lambda p: end_of_decay(p, *ARGUMENTS[1:], dense_output=True))(1.3)
    with pytest.raises(TypeError, match="root_scalar"):
        grad(lambda p: end_of_decay(p, *ARGUMENTS[1:], events=lambda t, y: y[0] - 1))(1.3)


def test_a_jacobian_that_is_given_may_capture_what_moves():
    def f(p):
        jac = lambda t, y: -p * np.ones((1, 1))  # noqa: E731
        return integrate.solve_ivp(lambda t, y: -p * y, (0.0, 1.0), [2.0], "Radau", jac=jac, **TIGHT).y[0, -1]

    assert grad(f)(1.3) == pytest.approx(-2 * np.exp(-1.3), rel=1e-7)


def test_complex_states_and_parameters():
    def distance(p, y0):
        solved = integrate.solve_ivp(lambda t, y: p * y, (0.0, 1.0), y0, "DOP853", **TIGHT)
        return np.abs(solved.y[0, -1] - 1) ** 2

    p, y0 = 0.2 + 1j, np.array([2.0 + 1j])
    found = grad(distance, argnums=(0, 1))(p, y0)
    expected = grad(lambda p, y0: np.abs(y0[0] * np.exp(p) - 1) ** 2, argnums=(0, 1))(p, y0)
    for mine, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, right, rtol=1e-7)


def test_at_the_start_the_solution_is_the_initial_state():
    def f(y0):
        return np.sum(integrate.solve_ivp(lambda t, y: -y, (0.0, 1.0), y0, t_eval=[0.0]).y)

    assert grad(f)(np.array([2.0])).tolist() == [1]
    assert jvp(f, (np.array([2.0]),), (np.array([3.0]),))[1] == 3


def test_a_solver_that_did_not_get_to_the_end_has_no_derivative():
    with pytest.raises(MissingDerivativeError, match="did not get to the end"):
        grad(lambda p: integrate.solve_ivp(lambda t, y: p * y**2, (0.0, 3.0), [1.0]).y[0, -1])(1.0)
