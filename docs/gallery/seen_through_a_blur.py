"""
An inverse problem through a sparse solve and an image transform
================================================================

A plate is heated in the middle. A camera sees its temperature through a blur. What is the conductivity of the plate,
at each of some hundred places? The model is a sparse linear system (`scipy.sparse.linalg.spsolve`) whose solution goes
through an image filter (`scipy.ndimage.gaussian_filter`). Both have rules; the assembly of the matrix gets one of a few
lines, which uses the rule of the solver.
"""

# %%

import time

import matplotlib.pyplot as plt
import numpy as np
from scipy import ndimage, sparse
from scipy.optimize import minimize
from scipy.sparse.linalg import spsolve

from rulescore import pullback_wrt, rrule, unthunk
from rulescore.ad import primitive, value_and_grad

blur = primitive(ndimage.gaussian_filter)
SIDE = 20
index = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
first = np.concatenate([index[:, :-1].ravel(), index[:-1].ravel()])
second = np.concatenate([index[:, 1:].ravel(), index[1:].ravel()])
source = np.zeros((SIDE, SIDE))
source[8:12, 8:12] = 1.0

# %%
# A solution with a rule
# ----------------------
# ``A`` has the conductivity of each face at four entries. The rule of `spsolve` gives the cotangent of ``A`` in its
# sparsity pattern, and the same four entries of it make the cotangent of the conductivity. The factors of ``A`` are
# used again.


def assembled(faces):
    """The conductivity of each face between its two places; the plate loses heat everywhere."""
    values = np.concatenate([faces, faces, -faces, -faces, np.full(SIDE * SIDE, 0.1)])
    rows = np.concatenate([first, second, first, second, index.ravel()])
    columns = np.concatenate([first, second, second, first, index.ravel()])
    return sparse.coo_array((values, (rows, columns))).tocsc()


@primitive
def temperature(faces):
    return spsolve(assembled(faces), source.ravel()).reshape(SIDE, SIDE)


@rrule.register(temperature)
def temperature_rrule(faces):
    u, solve_pullback = rrule(spsolve, assembled(faces), source.ravel())

    @pullback_wrt(faces)
    def temperature_pullback(ubar):
        abar = sparse.csc_array(unthunk(solve_pullback(np.ravel(ubar))[1]))
        return abar[first, first] + abar[second, second] - abar[first, second] - abar[second, first]

    return u.reshape(SIDE, SIDE), temperature_pullback


# %%
# The model, in plain NumPy
# -------------------------


def picture(log_conductivity):
    conductivity = np.exp(np.ravel(log_conductivity))
    return blur(temperature((conductivity[first] + conductivity[second]) / 2), 1.0)


rows, columns = np.mgrid[:SIDE, :SIDE]
true = np.where((rows - 6) ** 2 + (columns - 13) ** 2 < 16, 1.0, 0.0)
seen = picture(true)


def misfit(z):
    z = np.reshape(z, (SIDE, SIDE))
    roughness = np.sum(np.diff(z, axis=0) ** 2) + np.sum(np.diff(z, axis=1) ** 2)
    return 1e4 * np.sum((picture(z) - seen) ** 2) + 1e-3 * roughness


# %%
# The gradient is right, and what it costs
# ----------------------------------------

guess = np.zeros(SIDE * SIDE)
value_and_grad(misfit)(guess)  # the rules of SciPy are loaded when they are first needed
began = time.perf_counter()
misfit(guess)
seconds = time.perf_counter() - began
began = time.perf_counter()
value, gradient = value_and_grad(misfit)(guess)
ratio = (time.perf_counter() - began) / seconds

step = 1e-5
for place in (index[6, 13], index[10, 10], index[3, 15]):
    moved = step * np.eye(SIDE * SIDE)[place]
    difference = (misfit(guess + moved) - misfit(guess - moved)) / (2 * step)
    assert np.isclose(gradient[place], difference, rtol=1e-5, atol=1e-6), (gradient[place], difference)

print(f"the gradient costs {ratio:.1f} evaluations; central differences would take {2 * SIDE * SIDE}")

# %%
# The plate
# ---------

found = minimize(value_and_grad(misfit), guess, jac=True, method="L-BFGS-B", options={"maxiter": 150})
print(f"misfit {value:.3g} before, {found.fun:.3g} after {found.nit} steps")
assert found.fun < 1e-2 * value

# %%

figure, axes = plt.subplots(1, 3, figsize=(9.5, 3), layout="constrained", sharey=True)
images = {"what the camera sees": seen, "the plate": true, "the plate as found": found.x.reshape(SIDE, SIDE)}
for ax, (title, image) in zip(axes, images.items(), strict=True):
    limits = {} if image is seen else {"vmin": -0.3, "vmax": 1.2, "cmap": "cividis"}
    drawn = ax.imshow(image, **limits)
    figure.colorbar(drawn, ax=ax, shrink=0.8, label="temperature" if image is seen else "logarithm of the conductivity")
    ax.set(title=title, xlabel="column")
axes[0].set_ylabel("row")
