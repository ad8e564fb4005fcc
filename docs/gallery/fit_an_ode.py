"""
Fitting the coefficients of a differential equation by gradient
===============================================================

Heat spreads through a rod whose conductivity nobody knows: one number for each of 40 places. The temperature is known
at four times. `scipy.integrate.solve_ivp` has a rule, so the gradient of the misfit with respect to all 40 numbers is
one call, and an ordinary optimiser does the rest.
"""

# %%
# The model
# ---------
# `primitive` makes SciPy's function one whose calls a rule serves. Everything else is plain NumPy.

import time

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

from rulescore.ad import primitive, value_and_grad

solve = primitive(solve_ivp)

PLACES = 40
x = np.linspace(0, 1, PLACES)
times = np.array([0.05, 0.2, 0.6, 1.0])
start = np.where(x < 0.5, 1.0, 0.0)


def rate(t, temperature, conductivity):
    """Heat that flows in at the faces of each place; none through the ends."""
    between = (conductivity[1:] + conductivity[:-1]) / 2
    flow = 25.0 * between * np.diff(temperature)
    return np.concatenate([flow[:1], np.diff(flow), -flow[-1:]])


def temperatures(conductivity):
    return solve(rate, (0.0, 1.0), start, args=(conductivity,), t_eval=times, rtol=1e-7, atol=1e-9).y


# %%
# What is to be found
# -------------------

true = 1 + 0.8 * np.exp(-(((x - 0.5) / 0.08) ** 2))
measured = temperatures(true)


def misfit(log_conductivity):
    roughness = np.sum(np.diff(log_conductivity) ** 2)
    return 1e3 * np.sum((temperatures(np.exp(log_conductivity)) - measured) ** 2) + 1e-3 * roughness


# %%
# The gradient is right, and what it costs
# ----------------------------------------

guess = np.zeros(PLACES)
value_and_grad(misfit)(guess)  # the rules of SciPy are loaded when they are first needed
began = time.perf_counter()
misfit(guess)
seconds = time.perf_counter() - began

began = time.perf_counter()
value, gradient = value_and_grad(misfit)(guess)
ratio = (time.perf_counter() - began) / seconds

step = 1e-4
for place in (15, 20, 25):
    moved = step * np.eye(PLACES)[place]
    difference = (misfit(guess + moved) - misfit(guess - moved)) / (2 * step)
    assert np.isclose(gradient[place], difference, rtol=1e-3, atol=1e-4), (gradient[place], difference)

print(f"the gradient costs {ratio:.0f} solutions; central differences would take {2 * PLACES}")

# %%
# JAX has `jax.experimental.ode.odeint` for this. Its gradient recovers the temperatures by solving the equation
# backwards in time; but heat that flows backwards piles up without bound, and the gradient with it: where ours has no
# entry beyond 150, that of JAX 0.10 has entries beyond a billion. Ours starts from the solution at the solver's own
# steps. Where JAX is installed, this compares the two:

try:
    import jax
    import jax.numpy as jnp
    from jax.experimental.ode import odeint
except ImportError:
    print("JAX is not installed")
else:
    with jax.enable_x64(True):

        def jax_rate(temperature, t, conductivity):
            between = (conductivity[1:] + conductivity[:-1]) / 2
            flow = 25.0 * between * jnp.diff(temperature)
            return jnp.concatenate([flow[:1], jnp.diff(flow), -flow[-1:]])

        def jax_misfit(log_conductivity):
            at = jnp.concatenate([jnp.zeros(1), times])
            y = odeint(jax_rate, start, at, jnp.exp(log_conductivity), rtol=1e-7, atol=1e-9)[1:].T
            return 1e3 * jnp.sum((y - measured) ** 2) + 1e-3 * jnp.sum(jnp.diff(log_conductivity) ** 2)

        compiled = jax.jit(jax.value_and_grad(jax_misfit))
        jax.block_until_ready(compiled(guess))
        began = time.perf_counter()
        their_value, theirs = jax.block_until_ready(compiled(guess))
        jax_seconds = time.perf_counter() - began
    assert np.isclose(their_value, value, rtol=1e-4)
    assert np.max(np.abs(theirs)) > 1e6 * np.max(np.abs(gradient))
    print(
        f"the largest entry of the gradient: {np.max(np.abs(gradient)):.4g} here, {np.max(np.abs(theirs)):.4g} in JAX,"
    )
    print(f"in {ratio * seconds * 1e3:.0f} ms here and {jax_seconds * 1e3:.0f} ms there, compiled")

# %%
# The fit
# -------

found = minimize(value_and_grad(misfit), guess, jac=True, method="L-BFGS-B", options={"maxiter": 12})
print(f"misfit {value:.3g} before, {found.fun:.3g} after {found.nit} steps")
assert found.fun < 0.2 * value

# %%

_, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
for time_of_curve, curve in zip(times, measured.T, strict=True):
    left.plot(x, curve, label=f"at time {time_of_curve}")
left.set(xlabel="place, in lengths of the rod", ylabel="temperature, of that at the hot end", title="what is measured")
left.legend()
right.plot(x, true, label="true")
right.plot(x, np.exp(found.x), "--", label="found")
right.set(xlabel="place, in lengths of the rod", ylabel="conductivity, of that at the ends", title="what is found")
right.legend()
