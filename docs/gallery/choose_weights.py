"""
Differentiating through a constrained fit
=========================================

A spectrum is a mixture of known substances, with amounts that cannot be negative: `scipy.optimize.nnls`. How much
should each wavelength count? That is a question about the *result* of the fit: the weights are chosen by gradient so
that the amounts come out right on mixtures that are known. The gradient goes through the constrained fit, by its
optimality conditions; no adjoint is written by hand. JAX has no such solver.
"""

# %%

import time

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize, nnls

from rulescore.ad import primitive, value_and_grad

fit = primitive(nnls)

rng = np.random.default_rng(0)
WAVELENGTHS, SUBSTANCES, MIXTURES = 300, 25, 12

wavelengths = np.linspace(0, 1, WAVELENGTHS)
centres = np.linspace(0.15, 0.85, SUBSTANCES)
spectra = np.exp(-(((wavelengths[:, None] - centres) / 0.03) ** 2))

# %%
# Some amounts are zero, and a third of the detector is bad: it reports too much.

amounts = np.where(rng.random((MIXTURES, SUBSTANCES)) < 0.4, 0.0, rng.uniform(0.5, 2, (MIXTURES, SUBSTANCES)))
bad = (wavelengths > 0.55) & (wavelengths < 0.85)
noise = 0.01 * rng.standard_normal((MIXTURES, WAVELENGTHS))
signals = amounts @ spectra.T + noise + 0.5 * bad * rng.random((MIXTURES, 1))


def error(log_weights):
    """How far the amounts found are from those that are known."""
    weights = np.exp(log_weights)
    total = 0.0
    for signal, known in zip(signals, amounts, strict=True):
        found, _ = fit(weights[:, None] * spectra, weights * signal)
        total = total + np.sum((found - known) ** 2)
    return total + 1e-4 * np.sum(log_weights**2)


# %%
# The gradient is right, and what it costs
# ----------------------------------------

guess = np.zeros(WAVELENGTHS)
value_and_grad(error)(guess)  # the rules of SciPy are loaded when they are first needed
began = time.perf_counter()
error(guess)
seconds = time.perf_counter() - began
began = time.perf_counter()
value, gradient = value_and_grad(error)(guess)
ratio = (time.perf_counter() - began) / seconds

step = 1e-5
for place in (50, 175, 250):
    moved = step * np.eye(WAVELENGTHS)[place]
    difference = (error(guess + moved) - error(guess - moved)) / (2 * step)
    assert np.isclose(gradient[place], difference, rtol=1e-4, atol=1e-6), (gradient[place], difference)

print(f"the gradient costs {ratio:.0f} evaluations; central differences would take {2 * WAVELENGTHS}")

# %%
# The choice
# ----------
# The bad third is of use all the same: a few narrow bands of it count up to sixty times as much as without weights, and
# what lies between them counts less.

found = minimize(value_and_grad(error), guess, jac=True, method="L-BFGS-B", options={"maxiter": 80})
print(f"error {value:.3g} with equal weights, {found.fun:.3g} with the weights found")
assert found.fun < 0.8 * value
assert bad[np.argmax(found.x)]

# %%

_, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
axes.axvspan(*wavelengths[bad][[0, -1]], color="0.9", label="where the detector is bad")
axes.semilogy(wavelengths, np.exp(found.x), label="weights found")
axes.axhline(1, color="0.5", ls="--", label="equal weights")
axes.set(xlabel="wavelength, as a part of the spectrum", ylabel="weight")
axes.legend(fontsize=8)
