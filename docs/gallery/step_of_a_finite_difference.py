"""
The error of a finite difference against its step
=================================================

A finite difference is wrong in two ways: a large step misses the curvature, a small one drowns in rounding. In between
is a best step, and it depends on the function. That is why a tester that takes one fixed step for all functions misses
mistakes in some and cries wolf in others. `rulescore`'s chooses the step by what it sees, and says how far off the
result may be.
"""

# %%
# Three functions
# ---------------
# A smooth one, the same a million times faster, and the same with a constant that eats the digits.

import matplotlib.pyplot as plt
import numpy as np

from rulescore import frule
from rulescore.testing import central_fdm

x = 0.7
functions = {
    "sin(x)": (np.sin, np.cos(x)),
    "sin(10⁶ x)": (lambda x: np.sin(1e6 * x), 1e6 * np.cos(1e6 * x)),
    "10⁶ + sin(x)": (lambda x: 1e6 + np.sin(x), np.cos(x)),
}
assert frule((None, 1.0), np.sin, x)[1] == np.cos(x)  # what all this is measured against

# %%
# Every step, and two orders
# --------------------------

steps = 10.0 ** np.arange(-14, 0.01, 0.1)


def errors(f, slope, order):
    """Of central differences with two and with four points, relative to the slope."""
    d1 = (f(x + steps) - f(x - steps)) / (2 * steps)
    d2 = (f(x + 2 * steps) - f(x - 2 * steps)) / (4 * steps)
    return np.abs({2: d1, 4: (4 * d1 - d2) / 3}[order] - slope) / np.abs(slope)


# %%
# What the step that is right for one function does to another
# ------------------------------------------------------------

fixed = np.argmin(errors(*functions["sin(x)"], 2))
for name, (f, slope) in functions.items():
    found = errors(f, slope, 2)
    print(f"{name}: error {found[fixed]:.1e} with the step {steps[fixed]:.0e}, at best {found.min():.1e}")

# %%
# The adaptive difference
# -----------------------

adaptive = {}
for name, (f, slope) in functions.items():
    estimate = central_fdm(5, 1)(f, x)
    adaptive[name] = abs(float(estimate.value) - slope) / abs(slope)
    bound = float(estimate.error) / abs(slope)
    print(f"{name}: error {adaptive[name]:.1e}, estimated at {bound:.1e}, in {estimate.evaluations} evaluations")
    assert adaptive[name] < bound

# %%

_, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained", sharey=True)
for ax, (name, (f, slope)) in zip(axes, functions.items(), strict=True):
    for order in (2, 4):
        ax.loglog(steps, np.maximum(errors(f, slope, order), 1e-17), label=f"order {order}")
    ax.axhline(max(adaptive[name], 1e-17), color="0.5", ls="--", label="adaptive")
    ax.set(xlabel="step", title=name, ylim=(1e-17, 1e2), xticks=[1e-12, 1e-8, 1e-4, 1])
axes[0].set_ylabel("relative error")
axes[0].legend()
