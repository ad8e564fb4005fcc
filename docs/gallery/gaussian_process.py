"""
A Gaussian process, fitted by gradient
======================================

The length scales, the amplitude and the noise of a Gaussian process are those under which the observations are most
likely. The likelihood is a few lines with `scipy.linalg`, and `primitives` lets the rules serve its functions: the
gradient goes through the Cholesky factorisation.
"""

# %%
# The model
# ---------
# Six inputs, of which two matter. A length scale for each says so once they are fitted.

import time

import matplotlib.pyplot as plt
import numpy as np
import scipy.linalg
from scipy.optimize import minimize

from rulescore.ad import primitives, value_and_grad

linalg = primitives(scipy.linalg)

rng = np.random.default_rng(0)
OBSERVATIONS, INPUTS = 200, 6
x = rng.uniform(-2, 2, (OBSERVATIONS, INPUTS))


def wanted(x):
    return np.sin(2 * x[:, 0]) + 0.5 * x[:, 1] ** 2


noise = 0.1
y = wanted(x) + noise * rng.standard_normal(OBSERVATIONS)
mean = y.mean()


def kernel(a, b, scales, amplitude):
    a, b = a / scales, b / scales
    squares = np.sum(a**2, 1)[:, None] + np.sum(b**2, 1) - 2 * a @ b.T
    return amplitude**2 * np.exp(-0.5 * squares)


def unlikelihood(logs):
    """Minus the logarithm of the marginal likelihood (Rasmussen and Williams 2006, eq. 2.30), but for a constant."""
    scales, amplitude, noise = np.exp(logs[:INPUTS]), np.exp(logs[INPUTS]), np.exp(logs[INPUTS + 1])
    K = kernel(x, x, scales, amplitude) + noise**2 * np.eye(OBSERVATIONS)
    L = linalg.cholesky(K, lower=True)
    alpha = linalg.cho_solve((L, True), y - mean)
    return 0.5 * (y - mean) @ alpha + np.sum(np.log(np.diagonal(L)))


# %%
# The gradient is right, and what it costs
# ----------------------------------------

guess = np.zeros(INPUTS + 2)
value, gradient = value_and_grad(unlikelihood)(guess)  # the rules of SciPy are loaded when they are first needed


def fastest(f):
    found = []
    for _ in range(5):
        began = time.perf_counter()
        f(guess)
        found.append(time.perf_counter() - began)
    return min(found)


ratio = fastest(value_and_grad(unlikelihood)) / fastest(unlikelihood)

step = 1e-5
for place, moved in enumerate(step * np.eye(len(guess))):
    difference = (unlikelihood(guess + moved) - unlikelihood(guess - moved)) / (2 * step)
    assert np.isclose(gradient[place], difference, rtol=1e-5, atol=1e-5), (gradient[place], difference)

print(f"the gradient costs {ratio:.1f} likelihoods; central differences would take {2 * len(guess)}")

# %%
# The fit
# -------

found = minimize(value_and_grad(unlikelihood), guess, jac=True, method="L-BFGS-B", bounds=[(-4, 5)] * len(guess))
scales, fitted_noise = np.exp(found.x[:INPUTS]), np.exp(found.x[-1])
print(f"{found.nfev} likelihoods with gradients; noise {fitted_noise:.3f}, where {noise} is true")
print("length scales:", *(f"{scale:.3g}" for scale in scales))
assert set(np.argsort(scales)[:2]) == {0, 1}

# %%
# What it says elsewhere
# ----------------------
# On a line through the inputs, with all but the first at 0.

line = np.zeros((200, INPUTS))
line[:, 0] = np.linspace(-2, 2, 200)
amplitude = np.exp(found.x[INPUTS])
K = kernel(x, x, scales, amplitude) + fitted_noise**2 * np.eye(OBSERVATIONS)
factor = scipy.linalg.cho_factor(K, lower=True)
across = kernel(line, x, scales, amplitude)
expected = mean + across @ scipy.linalg.cho_solve(factor, y - mean)
variance = amplitude**2 - np.sum(across * scipy.linalg.cho_solve(factor, across.T).T, axis=1)
deviation = np.sqrt(np.maximum(variance, 0))

# %%

_, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
left.bar(range(1, INPUTS + 1), 1 / scales)
left.set(xlabel="input, by its number", ylabel="1 / length scale", title="which inputs matter")
right.fill_between(
    line[:, 0], expected - 2 * deviation, expected + 2 * deviation, color="0.85", label="two standard deviations"
)
right.plot(line[:, 0], expected, label="expected")
right.plot(line[:, 0], wanted(line), "--", label="true")
right.set(xlabel="first input", ylabel="output", title="along a line", ylim=(-1.3, 2.2))  # room for the legend
right.legend(loc="upper center", ncols=3, fontsize=8)
